/* SPDX-License-Identifier: MIT */
/* See conv2d.h.  One traversal of all products serves all passes, so that they agree on the
 * elements. */
#include "reference/conv2d.h"
#include <string.h>

guint32
reference_conv2d_oh (const ReferenceConv2d *s)
{
  return (s->h + 2 * s->pad_h - (s->kernel_h - 1) * MAX (s->dilation_h, 1) - 1) / s->stride_h + 1;
}

guint32
reference_conv2d_ow (const ReferenceConv2d *s)
{
  return (s->w + 2 * s->pad_w - (s->kernel_w - 1) * MAX (s->dilation_w, 1) - 1) / s->stride_w + 1;
}

/* Calls visit for every pixel of y and every tap inside x: with the indices of the first channel in
 * x and in y, and the tap. */
typedef void (*Visit) (gsize x_at, gsize y_at, gsize tap, gpointer data);

static void
walk (const ReferenceConv2d *s, Visit visit, gpointer data)
{
  guint32 oh = reference_conv2d_oh (s), ow = reference_conv2d_ow (s);
  for (guint32 n = 0; n < s->n; n++)
    for (guint32 oy = 0; oy < oh; oy++)
      for (guint32 ox = 0; ox < ow; ox++)
        for (guint32 ky = 0; ky < s->kernel_h; ky++)
          for (guint32 kx = 0; kx < s->kernel_w; kx++)
            {
              gint64 y = (gint64) oy * s->stride_h + ky * MAX (s->dilation_h, 1) - s->pad_h,
                     x = (gint64) ox * s->stride_w + kx * MAX (s->dilation_w, 1) - s->pad_w;
              if (y < 0 || x < 0 || y >= s->h || x >= s->w)
                continue;
              visit ((((gsize) n * s->h + y) * s->w + x) * s->c,
                     (((gsize) n * oh + oy) * ow + ox) * s->k, (gsize) ky * s->kernel_w + kx, data);
            }
}

typedef struct {
  const ReferenceConv2d *s;
  const double *x, *weight, *dy;
  double *y, *dx, *dweight;
} Arrays;

static void
visit (gsize x_at, gsize y_at, gsize tap, gpointer data)
{
  const Arrays *a = data;
  gsize taps = (gsize) a->s->kernel_h * a->s->kernel_w;
  guint32 groups = MAX (a->s->groups, 1), inputs = a->s->c / groups, outputs = a->s->k / groups;
  for (guint32 k = 0; k < a->s->k; k++)
    for (guint32 i = 0; i < inputs; i++)
      {
        gsize w_at = ((gsize) k * inputs + i) * taps + tap, c = k / outputs * inputs + i;
        if (a->y)
          a->y[y_at + k] += a->x[x_at + c] * a->weight[w_at];
        if (a->dx)
          a->dx[x_at + c] += a->dy[y_at + k] * a->weight[w_at];
        if (a->dweight)
          a->dweight[w_at] += a->dy[y_at + k] * a->x[x_at + c];
      }
}

void
reference_conv2d_forward (const ReferenceConv2d *s, const double *x, const double *weight,
                          const double *bias, double *y)
{
  gsize rows = (gsize) s->n * reference_conv2d_oh (s) * reference_conv2d_ow (s);
  for (gsize i = 0; i < rows * s->k; i++)
    y[i] = bias ? bias[i % s->k] : 0.0;
  walk (s, visit, &(Arrays){ .s = s, .x = x, .weight = weight, .y = y });
}

void
reference_conv2d_backward (const ReferenceConv2d *s, const double *x, const double *weight,
                           const double *dy, double *dx, double *dweight, double *dbias)
{
  gsize rows = (gsize) s->n * reference_conv2d_oh (s) * reference_conv2d_ow (s);
  if (dx)
    memset (dx, 0, sizeof *dx * s->n * s->h * s->w * s->c);
  if (dweight)
    memset (dweight, 0,
            sizeof *dweight * s->k * (s->c / MAX (s->groups, 1)) * s->kernel_h * s->kernel_w);
  if (dbias)
    {
      memset (dbias, 0, sizeof *dbias * s->k);
      for (gsize i = 0; i < rows * s->k; i++)
        dbias[i % s->k] += dy[i];
    }
  walk (s, visit,
        &(Arrays){ .s = s, .x = x, .weight = weight, .dy = dy, .dx = dx, .dweight = dweight });
}
