/* SPDX-License-Identifier: MIT */
/* The kernels of attention with matrix units.  Private to attention's op. */
#pragma once
#include "lowering.h"

G_BEGIN_DECLS

typedef enum {
  DYNO_ATTENTION_FORWARD,
  DYNO_ATTENTION_QUERIES, /* backward: gradients of queries */
  DYNO_ATTENTION_KEYS,    /* backward: gradients of keys and values */
} DynoAttentionPass;

/* Sets the shader, workgroup and macros of the kernel for heads of head_dim values and t tokens,
 * and returns the rows (queries, or keys) of a workgroup.  0: the device has no matrix units for
 * this dtype and shape, and spec is unchanged. */
guint32 dyno_attention_matrix_spec (const DynoDeviceInfo *info, DynoAttentionPass pass, guint32 t,
                                    guint32 head_dim, DynoDtype dtype, DynoKernelSpec *spec);

G_END_DECLS
