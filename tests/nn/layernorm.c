/* SPDX-License-Identifier: MIT */
/* Layer norm over the last axis compared with a plain implementation in double. */
#include "harness.h"
#include <math.h>

typedef struct {
  guint32 n, w, c;
} Shape;

/* One row, channels that are no multiple of 8, rows longer than a workgroup is wide, more rows than
 * a workgroup takes. */
static const Shape shapes[] = { { 1, 1, 3 }, { 2, 5, 20 }, { 3, 2, 300 }, { 2, 150, 8 } };

/* eps 0: the default value. */
static void
reference (const Shape *s, double eps, const double *x, const double *gamma, const double *beta,
           const double *dy, double *y, double *dx, double *dgamma, double *dbeta)
{
  for (gsize row = 0; row < (gsize) s->n * s->w; row++)
    {
      const double *xr = x + row * s->c, *dyr = dy + row * s->c;
      double mean = 0, variance = 0, sum = 0, product = 0;
      for (guint32 c = 0; c < s->c; c++)
        mean += xr[c] / s->c;
      for (guint32 c = 0; c < s->c; c++)
        variance += (xr[c] - mean) * (xr[c] - mean) / s->c;
      double invstd = 1 / sqrt (variance + (eps > 0 ? eps : 1e-5));
      for (guint32 c = 0; c < s->c; c++)
        {
          double xhat = (xr[c] - mean) * invstd;
          y[row * s->c + c] = xhat * gamma[c] + beta[c];
          dgamma[c] += dyr[c] * xhat;
          dbeta[c] += dyr[c];
          sum += dyr[c] * gamma[c] / s->c;
          product += dyr[c] * gamma[c] * xhat / s->c;
        }
      for (guint32 c = 0; c < s->c; c++)
        dx[row * s->c + c] = invstd * (dyr[c] * gamma[c] - sum - (xr[c] - mean) * invstd * product);
    }
}

/* x is far from zero, so that a variance computed as a mean of squares would be wrong. */
static void
check (const Shape *s, gboolean amp, gboolean accumulate, double eps)
{
  gsize count = (gsize) s->n * s->w * s->c;
  g_autoptr (Harness) h =
      harness_new (&(HarnessParams){ .amp = amp, .training = TRUE, .batch = s->n });
  g_autofree double *x = harness_random (1, count, 1), *dy = harness_random (2, count, 1),
                    *gamma = harness_random (3, s->c, 2), *beta = harness_random (4, s->c, 1),
                    *start = harness_random (5, count, 1), *more = harness_random (6, s->c, 1);
  g_autofree double *y = g_new (double, count), *dx = g_new (double, count),
                    *dgamma = g_new0 (double, s->c), *dbeta = g_new0 (double, s->c);
  for (gsize i = 0; i < count; i++)
    x[i] = harness_round_f16 (x[i] + (amp ? 4 : 32));
  DynoTensor *tx = harness_input (h, "x", s->n, 1, s->w, s->c, x),
             *ty = eps > 0 ? dyno_layer_norm_with_eps (harness_graph (h), tx, "norm", eps)
                           : dyno_layer_norm (harness_graph (h), tx, "norm");
  harness_set_parameter (h, "norm.weight", gamma);
  harness_set_parameter (h, "norm.bias", beta);
  harness_set_gradient (h, ty, dy);
  if (accumulate)
    {
      harness_set_gradient (h, tx, start);
      harness_set_parameter_gradient (h, "norm.weight", more);
    }
  harness_run (h);
  reference (s, eps, x, gamma, beta, dy, y, dx, dgamma, dbeta);
  for (gsize i = 0; i < count && accumulate; i++)
    dx[i] += start[i];
  for (guint32 c = 0; c < s->c && accumulate; c++)
    dgamma[c] += more[c];
  g_autofree double *y_got = harness_read (h, ty), *dx_got = harness_read_gradient (h, tx),
                    *dgamma_got = harness_read_parameter_gradient (h, "norm.weight"),
                    *dbeta_got = harness_read_parameter_gradient (h, "norm.bias");
  harness_assert_close (y_got, y, count, harness_tolerance (h), "y");
  harness_assert_close (dx_got, dx, count, harness_tolerance (h), "dx");
  harness_assert_close (dgamma_got, dgamma, s->c, harness_tolerance (h), "dgamma");
  harness_assert_close (dbeta_got, dbeta, s->c, harness_tolerance (h), "dbeta");
}

static void
test_matches (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    for (guint amp = 0; amp < 2; amp++)
      check (&shapes[i], amp, FALSE, 0);
}

static void
test_accumulates (void)
{
  for (guint amp = 0; amp < 2; amp++)
    check (&shapes[1], amp, TRUE, 0);
}

static void
test_eps (void)
{
  for (guint amp = 0; amp < 2; amp++)
    check (&shapes[1], amp, FALSE, 0.3);
  const double x[8] = { 0 };
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .amp = FALSE });
  g_assert_null (dyno_layer_norm_with_eps (harness_graph (h), harness_input (h, "x", 1, 1, 1, 8, x),
                                           "norm", -1e-5));
  g_autoptr (GError) error = NULL;
  g_assert_false (dyno_graph_check (harness_graph (h), &error));
  g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE);
}

/* Evaluation omits the values for a backward pass; otherwise compilers may contract operations of
 * the other kernel differently. */
static void
test_evaluates (void)
{
  const Shape *s = &shapes[1];
  gsize count = (gsize) s->n * s->w * s->c;
  g_autofree double *x = harness_random (1, count, 1), *first = NULL;
  for (guint training = 0; training < 2; training++)
    {
      g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = training, .batch = s->n });
      DynoTensor *y = dyno_layer_norm (harness_graph (h),
                                       harness_input (h, "x", s->n, 1, s->w, s->c, x), "norm");
      harness_run (h);
      g_autofree double *got = harness_read (h, y);
      for (gsize i = 0; first && i < count; i++)
        g_assert_cmpfloat_with_epsilon (got[i], first[i], 1e-5);
      if (!first)
        first = g_steal_pointer (&got);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/layer-norm/matches-reference", test_matches);
  g_test_add_func ("/nn/layer-norm/gradients-accumulate", test_accumulates);
  g_test_add_func ("/nn/layer-norm/evaluates-as-it-trains", test_evaluates);
  g_test_add_func ("/nn/layer-norm/eps", test_eps);
  return g_test_run ();
}
