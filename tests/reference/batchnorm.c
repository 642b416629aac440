/* SPDX-License-Identifier: MIT */
/* See batchnorm.h. */
#include "reference/batchnorm.h"
#include "reference/elementwise.h"
#include <math.h>

#define EPSILON  1e-5
#define MOMENTUM 0.1

static double
eps_of (const ReferenceBatchNorm *s)
{
  return s->eps > 0 ? s->eps : EPSILON;
}

static void
statistics (const ReferenceBatchNorm *s, guint32 c, double *mean, double *variance)
{
  double sum = 0, square = 0;
  for (gsize r = 0; r < s->rows; r++)
    sum += s->x[r * s->c + c];
  *mean = sum / s->rows;
  for (gsize r = 0; r < s->rows; r++)
    square += (s->x[r * s->c + c] - *mean) * (s->x[r * s->c + c] - *mean);
  *variance = square / s->rows;
}

/* The input of the activation. */
static double
before (const ReferenceBatchNorm *s, gsize at, double mean, double variance)
{
  guint32 c = at % s->c;
  double y = (s->x[at] - mean) / sqrt (variance + eps_of (s)) * s->gamma[c] + s->beta[c];
  if (s->residual)
    y += s->residual[at];
  return y;
}

static double
output (const ReferenceBatchNorm *s, gsize at, double mean, double variance)
{
  return reference_activate_with (s->activation, s->parameter, before (s, at, mean, variance));
}

static double
slope (const ReferenceBatchNorm *s, gsize at, double mean, double variance)
{
  return reference_activation_slope_with (s->activation, s->parameter,
                                          before (s, at, mean, variance));
}

void
reference_batch_norm_train (const ReferenceBatchNorm *s, double *running_mean,
                            double *running_variance, double *y)
{
  double momentum = s->momentum > 0 ? s->momentum : MOMENTUM;
  for (guint32 c = 0; c < s->c; c++)
    {
      double mean, variance;
      statistics (s, c, &mean, &variance);
      for (gsize r = 0; r < s->rows; r++)
        y[r * s->c + c] = output (s, r * s->c + c, mean, variance);
      if (running_mean)
        running_mean[c] = (1 - momentum) * running_mean[c] + momentum * mean;
      if (running_variance)
        running_variance[c] = (1 - momentum) * running_variance[c]
                              + momentum * variance * (double) s->rows / (double) (s->rows - 1);
    }
}

void
reference_batch_norm_evaluate (const ReferenceBatchNorm *s, const double *running_mean,
                               const double *running_variance, double *y)
{
  for (gsize i = 0; i < s->rows * s->c; i++)
    y[i] = output (s, i, running_mean[i % s->c], running_variance[i % s->c]);
}

void
reference_batch_norm_backward (const ReferenceBatchNorm *s, const double *dy, double *dx,
                               double *dresidual, double *dgamma, double *dbeta)
{
  for (guint32 c = 0; c < s->c; c++)
    {
      double mean, variance, sum = 0, product = 0;
      statistics (s, c, &mean, &variance);
      double invstd = 1 / sqrt (variance + eps_of (s));
      for (gsize r = 0; r < s->rows; r++)
        {
          gsize at = r * s->c + c;
          double g = dy[at] * slope (s, at, mean, variance);
          sum += g;
          product += g * (s->x[at] - mean) * invstd;
          if (dresidual)
            dresidual[at] = g;
        }
      for (gsize r = 0; r < s->rows; r++)
        {
          gsize at = r * s->c + c;
          double g = dy[at] * slope (s, at, mean, variance);
          dx[at] = s->gamma[c] * invstd
                   * (g - sum / s->rows - (s->x[at] - mean) * invstd * product / s->rows);
        }
      dgamma[c] = product;
      dbeta[c] = sum;
    }
}
