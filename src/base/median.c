/* SPDX-License-Identifier: MIT */
#include "median.h"
#include <stdlib.h>

static int
compare (gconstpointer a, gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

double
dyno_median (double *values, gsize n)
{
  g_return_val_if_fail (n > 0, 0);
  qsort (values, n, sizeof *values, compare);
  return values[n / 2];
}
