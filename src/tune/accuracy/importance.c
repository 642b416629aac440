/* SPDX-License-Identifier: MIT */
#include "importance.h"
#include <math.h>
#include <stdlib.h>

#define WIDTH_SHARE 0.25 /* kernel width over the range, before the factor n^-1/5 of densities */
#define LITTLE      1e-9 /* weight of the overall mean, for points without a neighbour */

static int
compare_numbers (gconstpointer a, gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

/* The losses, with outliers and failures clipped to the limit of outliers (Tukey 1977: the third
 * quartile plus 1.5 times the distance between first and third); NULL: all losses are equal, or all
 * failed. */
static double *
bound_losses (const double *losses, guint n)
{
  g_autofree double *sorted = g_new (double, n);
  double *bounded = g_new (double, n), most;
  guint n_finite = 0;

  for (guint i = 0; i < n; i++)
    if (isfinite (losses[i]))
      sorted[n_finite++] = losses[i];
  qsort (sorted, n_finite, sizeof *sorted, compare_numbers);
  if (n_finite == 0 || (n_finite == n && sorted[0] == sorted[n - 1]))
    {
      g_free (bounded);
      return NULL;
    }
  most = sorted[n_finite * 3 / 4] + 1.5 * (sorted[n_finite * 3 / 4] - sorted[n_finite / 4]);
  if (most <= sorted[n_finite * 3 / 4])
    most = sorted[n_finite - 1] + (sorted[0] == sorted[n_finite - 1]);
  for (guint i = 0; i < n; i++)
    bounded[i] = isfinite (losses[i]) ? MIN (losses[i], most) : most;
  return bounded;
}

/* The kernel's weight of two values, 0..1; a value without an effect has weight only for another
 * one without. */
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

/* The squared error when each point is predicted from the others; dimension NULL: by their mean. */
static double
sum_errors (const DynoTpeDimension *dimension, const double *values, guint step,
            const double *losses, guint n)
{
  double mean = 0, sum = 0;

  for (guint i = 0; i < n; i++)
    mean += losses[i] / n;

  for (guint i = 0; i < n; i++)
    {
      double others = (mean * n - losses[i]) / (n - 1), weights = LITTLE, at = LITTLE * others,
             error;

      for (guint k = 0; dimension && k < n; k++)
        if (k != i)
          {
            double weight =
                get_weight (dimension, values[(gsize) i * step], values[(gsize) k * step], n);

            weights += weight;
            at += weight * losses[k];
          }
      error = losses[i] - at / weights;
      sum += error * error;
    }
  return sum;
}

void
dyno_importance (const DynoTpeDimension *dimensions, guint n, const double *points,
                 const double *losses, guint n_points, double *shares)
{
  g_autofree double *bounded = NULL;
  double all;

  for (guint i = 0; i < n; i++)
    shares[i] = (double) NAN;
  bounded = n_points < DYNO_IMPORTANCE_LEAST ? NULL : bound_losses (losses, n_points);
  if (!bounded)
    return;
  all = sum_errors (NULL, NULL, 0, bounded, n_points);
  for (guint i = 0; i < n; i++)
    shares[i] =
        CLAMP (1 - sum_errors (&dimensions[i], points + i, n, bounded, n_points) / all, 0, 1);
}
