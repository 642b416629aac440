/* SPDX-License-Identifier: MIT */
/* See resize.h. */
#include "reference/resize.h"
#include <math.h>
#include <string.h>

/* The coordinate of pixel o.  Halves are exact, which a division would not ensure. */
static double
place_of (const char *coordinates, guint32 o, guint32 extent, guint32 out, double scale)
{
  double factor = scale > 0 ? scale : (double) out / extent, place = (o + 0.5) / factor - 0.5;

  if (g_str_equal (coordinates, "align_corners"))
    place = out == 1 ? 0 : o * (extent - 1.0) / (out - 1.0);
  else if (g_str_equal (coordinates, "asymmetric"))
    place = o / factor;
  else if (g_str_equal (coordinates, "pytorch_half_pixel"))
    place = out == 1 ? 0 : place;
  else
    g_assert_cmpstr (coordinates, ==, "half_pixel");
  double half = round (2 * place) / 2;
  return fabs (place - half) < 1e-9 ? half : place;
}

/* The two input pixels of an output pixel; returns the share of the second one. */
static double
pixels_of (const ReferenceResize *s, gboolean rows, guint32 o, guint32 *pixels)
{
  guint32 extent = rows ? s->h : s->w;
  double place = place_of (s->coordinates, o, extent, rows ? s->oh : s->ow,
                           rows ? s->scale_h : s->scale_w),
         before = floor (place), share = place - before;

  if (!g_str_equal (s->mode, "linear"))
    {
      before = g_str_equal (s->mode, "floor")               ? floor (place)
               : g_str_equal (s->mode, "ceil")              ? ceil (place)
               : g_str_equal (s->mode, "round_prefer_ceil") ? floor (place + 0.5)
                                                            : ceil (place - 0.5);
      share = 0;
    }
  pixels[0] = (guint32) CLAMP (before, 0, extent - 1.0);
  pixels[1] = (guint32) CLAMP (before + 1, 0, extent - 1.0);
  return share;
}

/* Iterates over the pixels of y: computes y from x, or dx from dy. */
static void
walk (const ReferenceResize *s, const double *x, double *y, const double *dy, double *dx)
{
  gsize at = 0;

  for (guint32 n = 0; n < s->n; n++)
    for (guint32 oh = 0; oh < s->oh; oh++)
      for (guint32 ow = 0; ow < s->ow; ow++)
        {
          guint32 rows[2], columns[2];
          double down = pixels_of (s, TRUE, oh, rows), along = pixels_of (s, FALSE, ow, columns);
          for (guint32 c = 0; c < s->c; c++, at++)
            for (guint k = 0; k < 4; k++)
              {
                gsize from = (((gsize) n * s->h + rows[k >> 1]) * s->w + columns[k & 1]) * s->c + c;
                double part = (k >> 1 ? down : 1 - down) * (k & 1 ? along : 1 - along);
                if (y)
                  y[at] = (k > 0 ? y[at] : 0) + part * x[from];
                if (dx)
                  dx[from] += part * dy[at];
              }
        }
}

void
reference_resize_forward (const ReferenceResize *s, const double *x, double *y)
{
  walk (s, x, y, NULL, NULL);
}

void
reference_resize_backward (const ReferenceResize *s, const double *dy, double *dx)
{
  memset (dx, 0, (gsize) s->n * s->h * s->w * s->c * sizeof (double));
  walk (s, NULL, NULL, dy, dx);
}
