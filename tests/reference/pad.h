/* SPDX-License-Identifier: MIT */
/* Pads and crops on the CPU in double.  Dense arrays: x (N, H, W, C), and y, whose size follows
 * from the pads. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  guint32 n, h, w, c;
  gint32 top, bottom, left, right, front, back;
  double value;
} ReferencePad;

/* The number of values in y. */
gsize reference_pad_count (const ReferencePad *s);
/* Both overwrite their outputs. */
void reference_pad_forward (const ReferencePad *s, const double *x, double *y);
void reference_pad_backward (const ReferencePad *s, const double *dy, double *dx);

G_END_DECLS
