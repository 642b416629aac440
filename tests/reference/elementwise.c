/* SPDX-License-Identifier: MIT */
/* See elementwise.h. */
#include "reference/elementwise.h"
#include <math.h>
#include <string.h>

/* (1 + erf (x / sqrt (2))) / 2, without loss of digits where it is small */
static double
normal_distribution (double x)
{
  return 0.5 * erfc (-x * G_SQRT2 / 2);
}

/* (1 + tanh (u)) / 2 */
static double
gelu_gate (double x)
{
  return 1 / (1 + exp (-2 * sqrt (2 / G_PI) * (x + 0.044715 * x * x * x)));
}

static double
softplus (double x)
{
  return fmax (x, 0) + log1p (exp (-fabs (x)));
}

double
reference_activate_with (guint activation, double parameter, double x)
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
    case 5:
      return tanh (x);
    case 6:
      return x > 0 ? x : parameter * x;
    case 7:
      return x > 0 ? x : parameter * expm1 (x);
    case 8:
      return x * normal_distribution (x);
    case 9:
      return x * gelu_gate (x);
    case 10:
      return x * fmin (fmax (x + 3, 0), 6) / 6;
    case 11:
      return fmin (fmax (x / 6 + 0.5, 0), 1);
    case 12:
      return softplus (x);
    case 13:
      return x * tanh (softplus (x));
    case 14:
      return exp (x);
    case 15:
      return sqrt (x);
    case 16:
      return 1 / x;
    case 17:
      return log (x);
    case 18:
      return fabs (x);
    case 19:
      return sin (x);
    case 20:
      return cos (x);
    default:
      return x;
    }
}

double
reference_activation_slope_with (guint activation, double parameter, double x)
{
  double s = 1 / (1 + exp (-x)), t = tanh (x), gate;
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
    case 5:
      return 1 - t * t;
    case 6:
      return x > 0 ? 1 : parameter;
    case 7:
      return x > 0 ? 1 : parameter * exp (x);
    case 8:
      return normal_distribution (x) + x * exp (-x * x / 2) / sqrt (2 * G_PI);
    case 9:
      gate = gelu_gate (x);
      return gate + x * gate * (1 - gate) * 2 * sqrt (2 / G_PI) * (1 + 3 * 0.044715 * x * x);
    case 10:
      return x >= 3 ? 1 : x > -3 ? x / 3 + 0.5 : 0;
    case 11:
      return x > -3 && x < 3 ? 1.0 / 6 : 0;
    case 12:
      return s;
    case 13:
      gate = tanh (softplus (x));
      return gate + x * s * (1 - gate * gate);
    case 14:
      return exp (x);
    case 15:
      return 0.5 / sqrt (x);
    case 16:
      return -1 / (x * x);
    case 17:
      return 1 / x;
    case 18:
      return (x > 0) - (x < 0);
    case 19:
      return cos (x);
    case 20:
      return -sin (x);
    default:
      return 1;
    }
}

static double
default_parameter (guint activation)
{
  return activation == 6 ? 0.01 : 1;
}

double
reference_activate (guint activation, double x)
{
  return reference_activate_with (activation, default_parameter (activation), x);
}

double
reference_activation_slope (guint activation, double x)
{
  return reference_activation_slope_with (activation, default_parameter (activation), x);
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
