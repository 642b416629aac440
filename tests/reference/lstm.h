/* SPDX-License-Identifier: MIT */
/* One direction of one layer of an LSTM on the CPU in double, PyTorch's weights and order of gates.
 * Dense arrays: x (N, T, I); y (N, T, pitch), of which this direction has the columns from `column`
 * on; w_ih (4 H, I), w_hh (4 H, H), b_ih and b_hh (4 H). */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  guint32 n, t, in, hidden;
  gboolean reverse;
  const guint32 *valid; /* number of valid steps, for each sequence; NULL: all */
  const double *w_ih, *w_hh, *b_ih, *b_hh;
  guint32 pitch, column;
} ReferenceLstm;

/* Writes the columns of this direction in y; 0 for steps that are not valid. */
void reference_lstm_forward (const ReferenceLstm *s, const double *x, double *y);
/* The gradients of x and of the weights are added to the outputs; db is that of b_ih and of
 * b_hh. */
void reference_lstm_backward (const ReferenceLstm *s, const double *x, const double *dy, double *dx,
                              double *dw_ih, double *dw_hh, double *db);

G_END_DECLS
