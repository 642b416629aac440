/* SPDX-License-Identifier: MIT */
/* See pool.h. */
#include "reference/pool.h"
#include <math.h>
#include <string.h>

guint32
reference_pool_oh (const ReferencePool *s)
{
  return (s->h + 2 * s->pad - s->kernel) / s->stride + 1;
}

guint32
reference_pool_ow (const ReferencePool *s)
{
  return (s->w + 2 * s->pad - s->kernel) / s->stride + 1;
}

/* Index in x of the largest value of a window. */
static gsize
largest (const ReferencePool *s, const double *x, guint32 n, guint32 oh, guint32 ow, guint32 c)
{
  gsize best = G_MAXSIZE;
  for (guint32 r = 0; r < s->kernel; r++)
    for (guint32 q = 0; q < s->kernel; q++)
      {
        gint64 h = (gint64) oh * s->stride + r - s->pad, w = (gint64) ow * s->stride + q - s->pad;
        if (h < 0 || w < 0 || h >= s->h || w >= s->w)
          continue;
        gsize at = (((gsize) n * s->h + h) * s->w + w) * s->c + c;
        if (best == G_MAXSIZE || x[at] > x[best])
          best = at;
      }
  return best;
}

static void
max_pool (const ReferencePool *s, const double *x, const double *dy, double *y, double *dx)
{
  gsize o = 0;
  for (guint32 n = 0; n < s->n; n++)
    for (guint32 oh = 0; oh < reference_pool_oh (s); oh++)
      for (guint32 ow = 0; ow < reference_pool_ow (s); ow++)
        for (guint32 c = 0; c < s->c; c++, o++)
          {
            gsize at = largest (s, x, n, oh, ow, c);
            if (y)
              y[o] = x[at];
            if (dx)
              dx[at] += dy[o];
          }
}

void
reference_max_pool_forward (const ReferencePool *s, const double *x, double *y)
{
  max_pool (s, x, NULL, y, NULL);
}

void
reference_max_pool_backward (const ReferencePool *s, const double *x, const double *dy, double *dx)
{
  memset (dx, 0, (gsize) s->n * s->h * s->w * s->c * sizeof (double));
  max_pool (s, x, dy, NULL, dx);
}

void
reference_avg_pool_forward (const ReferencePool *s, const double *x, double *y)
{
  gsize pixels = (gsize) s->h * s->w;
  memset (y, 0, (gsize) s->n * s->c * sizeof (double));
  for (guint32 n = 0; n < s->n; n++)
    for (gsize i = 0; i < pixels; i++)
      for (guint32 c = 0; c < s->c; c++)
        y[(gsize) n * s->c + c] += x[(n * pixels + i) * s->c + c] / pixels;
}

void
reference_avg_pool_backward (const ReferencePool *s, const double *dy, double *dx)
{
  gsize pixels = (gsize) s->h * s->w;
  for (guint32 n = 0; n < s->n; n++)
    for (gsize i = 0; i < pixels; i++)
      for (guint32 c = 0; c < s->c; c++)
        dx[(n * pixels + i) * s->c + c] = dy[(gsize) n * s->c + c] / pixels;
}
