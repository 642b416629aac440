/* SPDX-License-Identifier: MIT */
/* See pool.h. */
#include "reference/pool.h"
#include <math.h>
#include <string.h>

/* Returns a copy of *s whose members of the width are set. */
static ReferencePool
whole (const ReferencePool *s)
{
  ReferencePool all = *s;

  if (!s->kernel_w)
    {
      all.kernel_w = s->kernel;
      all.stride_w = s->stride;
      all.pad_w = s->pad;
    }
  return all;
}

guint32
reference_pool_oh (const ReferencePool *s)
{
  return s->oh ? s->oh : (s->h + 2 * s->pad - s->kernel) / s->stride + 1;
}

guint32
reference_pool_ow (const ReferencePool *s)
{
  const ReferencePool all = whole (s);

  return s->ow ? s->ow : (s->w + 2 * all.pad_w - all.kernel_w) / all.stride_w + 1;
}

/* Index in x of the largest value of a window. */
static gsize
largest (const ReferencePool *s, const double *x, guint32 n, guint32 oh, guint32 ow, guint32 c)
{
  const ReferencePool all = whole (s);
  gsize best = G_MAXSIZE;
  for (guint32 r = 0; r < s->kernel; r++)
    for (guint32 q = 0; q < all.kernel_w; q++)
      {
        gint64 h = (gint64) oh * s->stride + r - s->pad,
               w = (gint64) ow * all.stride_w + q - all.pad_w;
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

/* The positions of window o along a side, some of them outside of x, and its divisor. */
typedef struct {
  gint64 begin, end, divisor;
} Span;

static Span
span_of (const ReferenceAvgWindow *s, guint32 o, gboolean columns)
{
  gint64 size = columns ? s->w : s->h, count = columns ? s->ow : s->oh,
         kernel = columns ? s->kernel_w : s->kernel_h, stride = columns ? s->stride_w : s->stride_h,
         pad = columns ? s->pad_w : s->pad_h, more = columns ? s->more_w : s->more_h;
  if (s->adaptive)
    {
      Span span = { (gint64) floor ((double) o * size / count),
                    (gint64) ceil ((double) (o + 1) * size / count), 0 };
      span.divisor = span.end - span.begin;
      return span;
    }
  Span span = { o * stride - pad, MIN (o * stride - pad + kernel, size + pad + more), 0 };
  for (gint64 i = span.begin; i < span.end; i++)
    span.divisor += !s->exclude_pad || (i >= 0 && i < size);
  return span;
}

/* Computes y from x, or dx from dy. */
static void
avg_window (const ReferenceAvgWindow *s, const double *x, double *y, const double *dy, double *dx)
{
  gsize at = 0;
  for (guint32 n = 0; n < s->n; n++)
    for (guint32 oh = 0; oh < s->oh; oh++)
      for (guint32 ow = 0; ow < s->ow; ow++)
        for (guint32 c = 0; c < s->c; c++, at++)
          {
            const Span rows = span_of (s, oh, FALSE), columns = span_of (s, ow, TRUE);
            double divisor = (double) (rows.divisor * columns.divisor);
            if (y)
              y[at] = 0;
            for (gint64 h = MAX (rows.begin, 0); h < MIN (rows.end, s->h); h++)
              for (gint64 w = MAX (columns.begin, 0); w < MIN (columns.end, s->w); w++)
                {
                  gsize place = (((gsize) n * s->h + h) * s->w + w) * s->c + c;
                  if (y)
                    y[at] += x[place] / divisor;
                  if (dx)
                    dx[place] += dy[at] / divisor;
                }
          }
}

void
reference_avg_window_forward (const ReferenceAvgWindow *s, const double *x, double *y)
{
  avg_window (s, x, y, NULL, NULL);
}

void
reference_avg_window_backward (const ReferenceAvgWindow *s, const double *dy, double *dx)
{
  memset (dx, 0, (gsize) s->n * s->h * s->w * s->c * sizeof (double));
  avg_window (s, NULL, NULL, dy, dx);
}
