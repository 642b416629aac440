/* SPDX-License-Identifier: MIT */
/* See pad.h. */
#include "reference/pad.h"
#include <string.h>

gsize
reference_pad_count (const ReferencePad *s)
{
  return (gsize) s->n * (gsize) ((gint64) s->h + s->top + s->bottom)
         * (gsize) ((gint64) s->w + s->left + s->right)
         * (gsize) ((gint64) s->c + s->front + s->back);
}

/* Iterates over the elements of y: computes y from x, or dx from dy. */
static void
walk (const ReferencePad *s, const double *x, double *y, const double *dy, double *dx)
{
  gsize at = 0;
  for (guint32 n = 0; n < s->n; n++)
    for (gint64 h = -s->top; h < (gint64) s->h + s->bottom; h++)
      for (gint64 w = -s->left; w < (gint64) s->w + s->right; w++)
        for (gint64 c = -s->front; c < (gint64) s->c + s->back; c++, at++)
          {
            gboolean inside = h >= 0 && h < s->h && w >= 0 && w < s->w && c >= 0 && c < s->c;
            gsize from = inside ? (((gsize) n * s->h + h) * s->w + w) * s->c + c : 0;
            if (y)
              y[at] = inside ? x[from] : s->value;
            if (dx && inside)
              dx[from] = dy[at];
          }
}

void
reference_pad_forward (const ReferencePad *s, const double *x, double *y)
{
  walk (s, x, y, NULL, NULL);
}

void
reference_pad_backward (const ReferencePad *s, const double *dy, double *dx)
{
  memset (dx, 0, (gsize) s->n * s->h * s->w * s->c * sizeof (double));
  walk (s, NULL, NULL, dy, dx);
}
