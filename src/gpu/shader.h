/* SPDX-License-Identifier: MIT */
/* GLSL of the program's GResource to SPIR-V, through a cache on disk.  Private to the gpu layer. */
#pragma once
#include "kernel.h"

G_BEGIN_DECLS

typedef struct _DynoShaderCompiler DynoShaderCompiler;

/* Never fails; without a cache folder it compiles every time anew.  `optimise`: SPIR-V goes through
 * the optimiser, which takes longer than all else of the compilation. */
DynoShaderCompiler *dyno_shader_compiler_new (guint32 api_version, gboolean optimise);
void dyno_shader_compiler_free (DynoShaderCompiler *compiler);

/* SPIR-V of a shader with macros "A=1 B=2" and a workgroup size.  Any thread.  Equal requests are
 * compiled once; the bytes stay with the compiler, the caller gets a reference.  Errors: SHADER. */
GBytes *dyno_shader_compiler_get (DynoShaderCompiler *compiler, const char *shader,
                                  const char *macros, const guint32 local_size[3], GError **error);

G_END_DECLS
