/* SPDX-License-Identifier: MIT */
/* See elementwise.h. */
#include "reference/elementwise.h"
#include <math.h>
#include <string.h>

double
reference_activate (guint activation, double x)
{
  switch (activation)
    {
    case 1:
      return fmax (x, 0);
    case 2:
      return fmin (fmax (x, 0), 6);
    case 3:
      return x / (1 + exp (-x));
    case 4:
      return 1 / (1 + exp (-x));
    default:
      return x;
    }
}

double
reference_activation_slope (guint activation, double x)
{
  double s = 1 / (1 + exp (-x));
  switch (activation)
    {
    case 1:
      return x > 0;
    case 2:
      return x > 0 && x < 6;
    case 3:
      return s + x * s * (1 - s);
    case 4:
      return s * (1 - s);
    default:
      return 1;
    }
}

void
reference_scale_forward (const ReferenceScale *shape, const double *x, const double *s, double *y)
{
  gsize row = (gsize) shape->pixels * shape->c;
  for (gsize i = 0; i < shape->n * row; i++)
    y[i] = x[i] * s[i / row * shape->c + i % shape->c];
}

void
reference_scale_backward (const ReferenceScale *shape, const double *x, const double *s,
                          const double *dy, double *dx, double *ds)
{
  gsize row = (gsize) shape->pixels * shape->c;
  memset (ds, 0, (gsize) shape->n * shape->c * sizeof (double));
  for (gsize i = 0; i < shape->n * row; i++)
    {
      gsize at = i / row * shape->c + i % shape->c;
      dx[i] = dy[i] * s[at];
      ds[at] += dy[i] * x[i];
    }
}
