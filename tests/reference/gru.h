/* SPDX-License-Identifier: MIT */
/* One direction of one layer of a GRU on the CPU in double, PyTorch's weights and order of gates.
 * Dense arrays: x (N, T, I); y (N, T, pitch), of which this direction has the columns from `column`
 * on; w_ih (3 H, I), w_hh (3 H, H), b_ih and b_hh (3 H). */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  guint32 n, t, in, hidden;
  gboolean reverse;
  const guint32 *valid; /* number of valid steps, for each sequence; NULL: all */
  const double *w_ih, *w_hh, *b_ih, *b_hh;
  guint32 pitch, column;
} ReferenceGru;

/* The gradients of the weights. */
typedef struct {
  double *w_ih, *w_hh, *b_ih, *b_hh;
} ReferenceGruGradient;

/* Writes its columns of y; 0 for steps that are not valid. */
void reference_gru_forward (const ReferenceGru *s, const double *x, double *y);
/* The gradients of x and of the weights are added to the outputs. */
void reference_gru_backward (const ReferenceGru *s, const double *x, const double *dy, double *dx,
                             const ReferenceGruGradient *gradient);

G_END_DECLS
