/* SPDX-License-Identifier: MIT */
#include "importance.h"
#include <math.h>

#define WIDTH_SHARE 0.25 /* of the range, less as points become more: n^-1/5, as for a density */
#define LITTLE      1e-9 /* weight of the mean, for points that have no neighbour */

/* The mean place of each loss among all, from 0. */
static double *
rank_losses (const double *losses, guint n)
{
  double *ranks = g_new (double, n);

  for (guint i = 0; i < n; i++)
    {
      double loss = isnan (losses[i]) ? INFINITY : losses[i], rank = 0;

      for (guint k = 0; k < n; k++)
        {
          double other = isnan (losses[k]) ? INFINITY : losses[k];

          rank += other < loss ? 1 : k != i && other == loss ? 0.5 : 0;
        }
      ranks[i] = rank;
    }
  return ranks;
}

/* How near two values are, 0..1; values without an effect are near each other only. */
static double
get_weight (const DynoTpeDimension *d, double a, double b, guint n)
{
  double z;

  if (isnan (a) || isnan (b))
    return isnan (a) && isnan (b);
  if (d->n_choices > 0)
    return a == b;
  z = (a - b) / (WIDTH_SHARE * pow (n, -0.2) * (d->high - d->low));
  return exp (-z * z / 2);
}

/* The squared error of points that are predicted from the others; dimension NULL: by their mean. */
static double
sum_errors (const DynoTpeDimension *dimension, const double *values, guint step,
            const double *ranks, guint n)
{
  double mean = (n - 1) / 2.0, sum = 0;

  for (guint i = 0; i < n; i++)
    {
      double others = (mean * n - ranks[i]) / (n - 1), weights = LITTLE, at = LITTLE * others,
             error;

      for (guint k = 0; dimension && k < n; k++)
        if (k != i)
          {
            double weight =
                get_weight (dimension, values[(gsize) i * step], values[(gsize) k * step], n);

            weights += weight;
            at += weight * ranks[k];
          }
      error = ranks[i] - at / weights;
      sum += error * error;
    }
  return sum;
}

void
dyno_importance (const DynoTpeDimension *dimensions, guint n, const double *points,
                 const double *losses, guint n_points, double *shares)
{
  g_autofree double *ranks = NULL;
  gboolean differ = FALSE;
  double all;

  for (guint i = 0; i < n; i++)
    shares[i] = (double) NAN;
  if (n_points < DYNO_IMPORTANCE_LEAST)
    return;
  ranks = rank_losses (losses, n_points);
  for (guint i = 1; i < n_points; i++)
    differ = differ || ranks[i] != ranks[0];
  if (!differ)
    return;
  all = sum_errors (NULL, NULL, 0, ranks, n_points);
  for (guint i = 0; i < n; i++)
    shares[i] = CLAMP (1 - sum_errors (&dimensions[i], points + i, n, ranks, n_points) / all, 0, 1);
}
