/* SPDX-License-Identifier: MIT */
#include "groupnorm.h"
#include <math.h>

/* The mean over a group of a[i] * b[i]; b NULL: of a[i]. */
static double
group_mean (const ReferenceGroupNorm *s, guint32 n, guint32 group, const double *a, const double *b)
{
  guint32 channels = s->c / s->groups;
  double sum = 0;
  for (guint32 pixel = 0; pixel < s->pixels; pixel++)
    for (guint32 c = group * channels; c < (group + 1) * channels; c++)
      {
        gsize i = ((gsize) n * s->pixels + pixel) * s->c + c;
        sum += a[i] * (b ? b[i] : 1);
      }
  return sum / ((double) s->pixels * channels);
}

/* y = (x - shift - z slope) scale for the values of a group; z NULL: slope is unused. */
static void
move (const ReferenceGroupNorm *s, guint32 n, guint32 group, const double *x, double shift,
      const double *z, double slope, double scale, double *y)
{
  guint32 channels = s->c / s->groups;
  for (guint32 pixel = 0; pixel < s->pixels; pixel++)
    for (guint32 c = group * channels; c < (group + 1) * channels; c++)
      {
        gsize i = ((gsize) n * s->pixels + pixel) * s->c + c;
        y[i] = (x[i] - shift - (z ? z[i] * slope : 0)) * scale;
      }
}

/* Writes the group's normalised values; returns 1 / deviation. */
static double
normalise (const ReferenceGroupNorm *s, guint32 n, guint32 group, const double *x, double *y)
{
  move (s, n, group, x, group_mean (s, n, group, x, NULL), NULL, 0, 1, y);
  double invstd = 1 / sqrt (group_mean (s, n, group, y, y) + s->eps);
  move (s, n, group, y, 0, NULL, 0, invstd, y);
  return invstd;
}

void
reference_group_norm_forward (const ReferenceGroupNorm *s, const double *x, double *y)
{
  for (guint32 n = 0; n < s->n; n++)
    for (guint32 group = 0; group < s->groups; group++)
      normalise (s, n, group, x, y);
}

void
reference_group_norm_backward (const ReferenceGroupNorm *s, const double *x, const double *dy,
                               double *dx)
{
  g_autofree double *xhat = g_new (double, (gsize) s->n * s->pixels * s->c);
  for (guint32 n = 0; n < s->n; n++)
    for (guint32 group = 0; group < s->groups; group++)
      {
        double invstd = normalise (s, n, group, x, xhat);
        move (s, n, group, dy, group_mean (s, n, group, dy, NULL), xhat,
              group_mean (s, n, group, dy, xhat), invstd, dx);
      }
}
