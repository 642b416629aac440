/* SPDX-License-Identifier: MIT */
/* See finite.h. */
#include "reference/finite.h"
#include <string.h>

double
reference_finite_error (ReferenceFunction f, gpointer data, const double *x, gsize n,
                        const double *gradient, double step)
{
  g_autofree double *moved = g_memdup2 (x, n * sizeof (double));
  double error = 0, size = 0;
  for (gsize i = 0; i < n; i++)
    {
      moved[i] = x[i] + step;
      double above = f (moved, data);
      moved[i] = x[i] - step;
      double below = f (moved, data);
      moved[i] = x[i];
      double slope = (above - below) / (2 * step);
      error += (slope - gradient[i]) * (slope - gradient[i]);
      size += slope * slope;
    }
  return size > 0 ? error / size : error;
}
