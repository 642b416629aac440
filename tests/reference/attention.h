/* SPDX-License-Identifier: MIT */
/* Softmax attention on the CPU in double.  Dense arrays: qkv (N, T, 3, heads, D), y (N, T, heads,
 * D). */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  guint32 n, t, heads, d;
  const guint32 *valid; /* number of keys that count, for each sample; NULL: all */
  double scale;         /* of the scores; 0: 1 / sqrt (D) */
} ReferenceAttention;

void reference_attention_forward (const ReferenceAttention *s, const double *qkv, double *y);
/* The gradient is added to dqkv. */
void reference_attention_backward (const ReferenceAttention *s, const double *qkv, const double *dy,
                                   double *dqkv);

G_END_DECLS
