/* SPDX-License-Identifier: MIT */
/* GLSL of the program's GResource to SPIR-V, through a cache on disk.  Private to the gpu layer. */
#pragma once
#include "kernel.h"

G_BEGIN_DECLS

typedef struct _DynoShaderCompiler DynoShaderCompiler;

/* What goes through shaderc's optimiser, which takes longer than all else of a compilation. */
typedef enum {
  DYNO_OPTIMISE_NOTHING,
  DYNO_OPTIMISE_RECURRENT, /* shaders/lstm alone */
  DYNO_OPTIMISE_ALL,
} DynoOptimise;

/* What pays on a device: nothing on Mesa's software one, which optimises NIR by itself; on
 * NVIDIA's own driver what is recurrent (an H200, step rates without it: ResNet-50 fp32 1.015,
 * MobileNetV2 AMP 1.017, cnnlstm 0.977, and cold starts take half the time); elsewhere all, which
 * kernels were looked at with. */
DynoOptimise dyno_shader_get_optimise (const DynoDeviceInfo *info);

/* Never fails; without a cache folder it compiles every time anew. */
DynoShaderCompiler *dyno_shader_compiler_new (guint32 api_version, DynoOptimise optimise);
void dyno_shader_compiler_free (DynoShaderCompiler *compiler);

/* SPIR-V of a shader with macros "A=1 B=2" and a workgroup size.  Any thread.  Equal requests are
 * compiled once; the bytes stay with the compiler, the caller gets a reference.  Errors: SHADER. */
GBytes *dyno_shader_compiler_get (DynoShaderCompiler *compiler, const char *shader,
                                  const char *macros, const guint32 local_size[3], GError **error);

G_END_DECLS
