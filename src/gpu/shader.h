/* SPDX-License-Identifier: MIT */
/* Compiles GLSL of the program's GResource to SPIR-V, through a cache on disk.  Private to the gpu
 * layer. */
#pragma once
#include "kernel.h"

G_BEGIN_DECLS

typedef struct _DynoShaderCompiler DynoShaderCompiler;

/* The shaders that go through shaderc's optimiser, which takes longer than the rest of a
 * compilation. */
typedef enum {
  DYNO_OPTIMISE_NOTHING,
  DYNO_OPTIMISE_RECURRENT, /* only shaders/lstm and shaders/gru */
  DYNO_OPTIMISE_ALL,
} DynoOptimise;

/* The shaders worth optimising on a device: none on a software device, since Mesa's optimises NIR
 * itself; the recurrent ones on NVIDIA's own driver (on an H200 the step rates without the
 * optimiser, relative to those with it, are ResNet-50 fp32 1.015, MobileNetV2 AMP 1.017, cnnlstm
 * 0.977, and cold starts take half the time); all on other devices, as the kernels were examined
 * with the optimiser. */
DynoOptimise dyno_shader_get_optimise (const DynoDeviceInfo *info);

/* Never fails; without a cache folder every start compiles again. */
DynoShaderCompiler *dyno_shader_compiler_new (guint32 api_version, DynoOptimise optimise);
void dyno_shader_compiler_free (DynoShaderCompiler *compiler);

/* SPIR-V of a shader with macros "A=1 B=2" and a workgroup size.  Any thread.  Equal requests are
 * compiled once; the compiler keeps the bytes, and the caller gets a reference.  Errors: SHADER. */
GBytes *dyno_shader_compiler_get (DynoShaderCompiler *compiler, const char *shader,
                                  const char *macros, const guint32 local_size[3], GError **error);

G_END_DECLS
