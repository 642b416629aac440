/* SPDX-License-Identifier: MIT */
#include "paired.h"
#include <math.h>

#define DOUBT 0.05 /* probability that any of the intervals is wrong */

/* The share of Student's distribution between -t and t. */
static double
student_share (guint freedom, double t)
{
  double theta = atan (t / sqrt (freedom)), sine = sin (theta), square = cos (theta) * cos (theta),
         term = 1, sum = 0;

  if (freedom % 2 == 0)
    {
      for (guint k = 0; k < freedom; k += 2)
        {
          sum += term;
          term *= square * (k + 1) / (k + 2);
        }
      return sine * sum;
    }
  term = cos (theta);
  for (guint k = 1; k < freedom; k += 2)
    {
      sum += term;
      term *= square * (k + 1) / (k + 2);
    }
  return 2 / G_PI * (theta + sine * sum);
}

double
dyno_student_quantile (guint freedom, double confidence)
{
  double low = 0, high = 1;

  g_return_val_if_fail (freedom > 0 && confidence > 0 && confidence < 1, (double) NAN);
  while (student_share (freedom, high) < confidence && high < 1e12)
    high *= 2;
  for (guint i = 0; i < 200 && high - low > 1e-12 * high; i++)
    {
      double middle = (low + high) / 2;

      if (student_share (freedom, middle) < confidence)
        low = middle;
      else
        high = middle;
    }
  return (low + high) / 2;
}

void
dyno_paired_compare (const double *a, const double *b, guint n, guint comparisons,
                     DynoPaired *paired)
{
  double sum = 0, squares = 0;

  *paired =
      (DynoPaired){ .mean = (double) NAN, .half = INFINITY, .low = -INFINITY, .high = INFINITY };
  for (guint i = 0; i < n; i++)
    if (isfinite (a[i]) && isfinite (b[i]))
      {
        sum += a[i] - b[i];
        paired->n++;
      }
  if (paired->n == 0)
    return;
  paired->mean = sum / paired->n;
  if (paired->n < 2)
    return;
  for (guint i = 0; i < n; i++)
    if (isfinite (a[i]) && isfinite (b[i]))
      squares += (a[i] - b[i] - paired->mean) * (a[i] - b[i] - paired->mean);
  /* Coarse values, such as an accuracy, may differ by the same amount on each seed. */
  if (sqrt (squares / paired->n) <= 1e-9 * fabs (paired->mean))
    squares = (paired->n - 1) * paired->mean * paired->mean;
  paired->half = dyno_student_quantile (paired->n - 1, 1 - DOUBT / MAX (comparisons, 1))
                 * sqrt (squares / (paired->n - 1) / paired->n);
  paired->low = paired->mean - paired->half;
  paired->high = paired->mean + paired->half;
}
