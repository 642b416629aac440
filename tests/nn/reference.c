/* SPDX-License-Identifier: MIT */
/* The references themselves: their gradients are compared with central differences, and values with
 * results worked out by hand. */
#include "harness.h"
#include "reference/attention.h"
#include "reference/batchnorm.h"
#include "reference/elementwise.h"
#include "reference/finite.h"
#include "reference/groupnorm.h"
#include "reference/gru.h"
#include "reference/loss.h"
#include "reference/optimizer.h"
#include "reference/pad.h"
#include "reference/pool.h"
#include "reference/resize.h"
#include <math.h>

/* sum of y * weight, whose gradient is the backward pass of weight */
static double
weighted (const double *y, const double *weight, gsize n)
{
  double sum = 0;
  for (gsize i = 0; i < n; i++)
    sum += y[i] * weight[i];
  return sum;
}

/* Batch norm ----------------------------------------------------------------------------------- */

typedef struct {
  ReferenceBatchNorm s;
  const double **moved; /* the member of which the differences are taken */
  const double *dy;
} NormCase;

static double
norm_value (const double *x, gpointer data)
{
  NormCase *c = data;
  const double *kept = *c->moved;
  gsize count = c->s.rows * c->s.c;
  g_autofree double *y = g_new (double, count);
  *c->moved = x;
  reference_batch_norm_train (&c->s, NULL, NULL, y);
  *c->moved = kept;
  return weighted (y, c->dy, count);
}

static void
test_batch_norm (void)
{
  const gsize rows = 7;
  const guint32 c = 5;
  g_autofree double *x = harness_random (1, rows * c, 2),
                    *residual = harness_random (2, rows * c, 1);
  g_autofree double *gamma = harness_random (3, c, 1), *beta = harness_random (4, c, 1);
  g_autofree double *dy = harness_random (5, rows * c, 1);
  g_autofree double *dx = g_new (double, rows *c), *dresidual = g_new (double, rows *c);
  g_autofree double *dgamma = g_new (double, c), *dbeta = g_new (double, c);
  static const guint activations[] = { DYNO_ACTIVATION_NONE, DYNO_ACTIVATION_RELU,
                                       DYNO_ACTIVATION_RELU, DYNO_ACTIVATION_SILU,
                                       DYNO_ACTIVATION_ELU };
  for (guint form = 0; form < G_N_ELEMENTS (activations); form++)
    {
      NormCase n = { .s = { rows, c, x, gamma, beta, form >= 2 ? residual : NULL, activations[form],
                            0.6 },
                     .dy = dy };
      reference_batch_norm_backward (&n.s, dy, dx, dresidual, dgamma, dbeta);
      n.moved = &n.s.x;
      g_assert_cmpfloat (reference_finite_error (norm_value, &n, x, rows * c, dx, 1e-5), <, 1e-12);
      n.moved = &n.s.gamma;
      g_assert_cmpfloat (reference_finite_error (norm_value, &n, gamma, c, dgamma, 1e-5), <, 1e-12);
      n.moved = &n.s.beta;
      g_assert_cmpfloat (reference_finite_error (norm_value, &n, beta, c, dbeta, 1e-5), <, 1e-12);
      if (form < 2)
        continue;
      n.moved = &n.s.residual;
      g_assert_cmpfloat (
          reference_finite_error (norm_value, &n, residual, rows * c, dresidual, 1e-5), <, 1e-12);
    }
}

static void
test_batch_norm_running (void)
{
  const double x[4] = { 1, 2, 3, 6 }, one[1] = { 1 }, zero[1] = { 0 };
  double mean[1] = { 10 }, variance[1] = { 1 }, y[4];
  ReferenceBatchNorm s = { 4, 1, x, one, zero, NULL, DYNO_ACTIVATION_NONE };
  reference_batch_norm_train (&s, mean, variance, y);
  g_assert_cmpfloat (fabs (mean[0] - 9.3), <, 1e-12); /* 0.9 * 10 + 0.1 * 3 */
  g_assert_cmpfloat (fabs (variance[0] - (0.9 + 0.1 * 14 / 3.0)), <, 1e-12); /* unbiased: 14 / 3 */
  g_assert_cmpfloat (fabs (y[3] - 3 / sqrt (3.5 + 1e-5)), <, 1e-12);         /* biased: 14 / 4 */
}

/* Elementwise ---------------------------------------------------------------------------------- */

typedef struct {
  ReferenceScale s;
  const double **moved;
  const double *x, *factors, *dy;
  guint activation;
} ScaleCase;

static double
scale_value (const double *x, gpointer data)
{
  ScaleCase *c = data;
  gsize count = (gsize) c->s.n * c->s.pixels * c->s.c;
  g_autofree double *y = g_new (double, count);
  const double *kept = *c->moved;
  *c->moved = x;
  reference_scale_forward (&c->s, c->x, c->factors, y);
  *c->moved = kept;
  return weighted (y, c->dy, count);
}

static void
test_scale (void)
{
  ScaleCase c = { .s = { 3, 4, 5 } };
  g_autofree double *x = harness_random (1, 60, 1), *s = harness_random (2, 15, 1),
                    *dy = harness_random (3, 60, 1);
  double dx[60], ds[15];
  c.x = x;
  c.factors = s;
  c.dy = dy;
  reference_scale_backward (&c.s, x, s, dy, dx, ds);
  c.moved = &c.x;
  g_assert_cmpfloat (reference_finite_error (scale_value, &c, x, 60, dx, 1e-5), <, 1e-12);
  c.moved = &c.factors;
  g_assert_cmpfloat (reference_finite_error (scale_value, &c, s, 15, ds, 1e-5), <, 1e-12);
}

static double
activation_value (const double *x, gpointer data)
{
  double sum = 0;
  for (guint i = 0; i < 40; i++)
    sum += reference_activate (*(const guint *) data, x[i]);
  return sum;
}

static void
test_activations (void)
{
  g_autofree double *x = harness_random (1, 40, 12);
  double slope[40], inside[40];
  for (guint kind = DYNO_ACTIVATION_RELU; kind < DYNO_N_ACTIVATIONS; kind++)
    {
      for (guint i = 0; i < 40; i++)
        {
          /* away from the poles, which all are at 0, and from the functions' undefined sides */
          inside[i] = kind >= DYNO_ACTIVATION_SQRT && kind <= DYNO_ACTIVATION_LOG
                          ? 0.5 + fabs (x[i])
                          : x[i];
          slope[i] = reference_activation_slope (kind, inside[i]);
        }
      g_assert_cmpfloat (reference_finite_error (activation_value, &kind, inside, 40, slope, 1e-5),
                         <, 1e-12);
    }
}

/* Pooling -------------------------------------------------------------------------------------- */

typedef struct {
  ReferencePool s;
  gboolean average;
  const double *dy;
} PoolCase;

static gsize
pool_outputs (const PoolCase *c)
{
  return c->average
             ? (gsize) c->s.n * c->s.c
             : (gsize) c->s.n * reference_pool_oh (&c->s) * reference_pool_ow (&c->s) * c->s.c;
}

static double
pool_value (const double *x, gpointer data)
{
  const PoolCase *c = data;
  gsize count = pool_outputs (c);
  g_autofree double *y = g_new (double, count);
  if (c->average)
    reference_avg_pool_forward (&c->s, x, y);
  else
    reference_max_pool_forward (&c->s, x, y);
  return weighted (y, c->dy, count);
}

static void
test_pool (void)
{
  static const PoolCase cases[] = { { { 2, 5, 6, 3, 3, 2, 1 }, FALSE, NULL },
                                    { { 1, 4, 4, 2, 2, 2, 0 }, FALSE, NULL },
                                    { { 1, 4, 6, 2, 2, 2, 0, 3, 1, 1, 2, 6 }, FALSE, NULL },
                                    { { 2, 6, 4, 3, 3, 2, 0, 0, 0, 0, 3, 2 }, FALSE, NULL },
                                    { { 2, 3, 4, 3, 1, 1, 0 }, TRUE, NULL } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      PoolCase c = cases[i];
      gsize count = (gsize) c.s.n * c.s.h * c.s.w * c.s.c;
      g_autofree double *x = harness_random (1, count, 4),
                        *dy = harness_random (2, pool_outputs (&c), 1);
      g_autofree double *dx = g_new (double, count);
      c.dy = dy;
      if (c.average)
        reference_avg_pool_backward (&c.s, dy, dx);
      else
        reference_max_pool_backward (&c.s, x, dy, dx);
      g_assert_cmpfloat (reference_finite_error (pool_value, &c, x, count, dx, 1e-6), <, 1e-12);
    }
}

typedef struct {
  ReferenceAvgWindow s;
  const double *dy;
} WindowCase;

static double
window_value (const double *x, gpointer data)
{
  const WindowCase *c = data;
  gsize count = (gsize) c->s.n * c->s.oh * c->s.ow * c->s.c;
  g_autofree double *y = g_new (double, count);
  reference_avg_window_forward (&c->s, x, y);
  return weighted (y, c->dy, count);
}

static void
test_windows (void)
{
  static const ReferenceAvgWindow cases[] = {
    { 2, 5, 6, 3, 3, 4, TRUE, 0, 0, 0, 0, 0, 0, FALSE },
    { 1, 5, 6, 2, 3, 3, FALSE, 3, 2, 2, 2, 1, 0, FALSE },
    { 1, 5, 6, 2, 3, 3, FALSE, 3, 2, 2, 2, 1, 0, TRUE },
    { 1, 6, 6, 2, 3, 3, FALSE, 3, 3, 2, 2, 0, 1, FALSE, 1, 0 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      WindowCase c = { cases[i], NULL };
      gsize count = (gsize) c.s.n * c.s.h * c.s.w * c.s.c;
      g_autofree double *x = harness_random (1, count, 4),
                        *dy = harness_random (2, (gsize) c.s.n * c.s.oh * c.s.ow * c.s.c, 1),
                        *dx = g_new (double, count);
      c.dy = dy;
      reference_avg_window_backward (&c.s, dy, dx);
      g_assert_cmpfloat (reference_finite_error (window_value, &c, x, count, dx, 1e-6), <, 1e-12);
    }
}

/* Pads ----------------------------------------------------------------------------------------- */

typedef struct {
  ReferencePad s;
  const double *dy;
} PadCase;

static double
pad_value (const double *x, gpointer data)
{
  const PadCase *c = data;
  gsize count = reference_pad_count (&c->s);
  g_autofree double *y = g_new (double, count);
  reference_pad_forward (&c->s, x, y);
  return weighted (y, c->dy, count);
}

static void
test_pads (void)
{
  static const ReferencePad cases[] = { { 2, 3, 4, 2, 1, 0, 2, 1, 0, 1, 0.5 },
                                        { 1, 5, 4, 6, -1, 2, -2, -1, -3, 1, -1 } };
  const double row[2] = { 1, 2 };
  double y[4];
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      PadCase c = { cases[i], NULL };
      gsize count = (gsize) c.s.n * c.s.h * c.s.w * c.s.c;
      g_autofree double *x = harness_random (1, count, 1),
                        *dy = harness_random (2, reference_pad_count (&c.s), 1),
                        *dx = g_new (double, count);
      c.dy = dy;
      reference_pad_backward (&c.s, dy, dx);
      g_assert_cmpfloat (reference_finite_error (pad_value, &c, x, count, dx, 1e-6), <, 1e-12);
    }
  /* by hand: a row of two pixels, of which the first is cropped, and three of the value are
   * appended */
  reference_pad_forward (&(ReferencePad){ 1, 1, 2, 1, .left = -1, .right = 3, .value = 7 }, row, y);
  g_assert_cmpfloat (y[0], ==, 2);
  g_assert_true (y[1] == 7 && y[2] == 7 && y[3] == 7);
}

typedef struct {
  ReferenceResize s;
  const double *dy;
} ResizeCase;

static double
resize_value (const double *x, gpointer data)
{
  const ResizeCase *c = data;
  gsize count = (gsize) c->s.n * c->s.oh * c->s.ow * c->s.c;
  g_autofree double *y = g_new (double, count);
  reference_resize_forward (&c->s, x, y);
  return weighted (y, c->dy, count);
}

static void
test_resizes (void)
{
  static const ReferenceResize cases[] = {
    { 2, 3, 4, 2, 7, 3, "linear", "half_pixel", 0, 0 },
    { 1, 5, 3, 2, 3, 8, "linear", "align_corners", 0, 0 },
    { 1, 4, 5, 1, 6, 7, "round_prefer_floor", "asymmetric", 0, 0 },
  };
  /* of [1 2 3 4], by the examples of ONNX's Resize */
  static const struct {
    ReferenceResize s;
    double y[8];
  } rows[] = {
    { { 1, 1, 4, 1, 1, 8, "linear", "half_pixel", 0, 0 },
      { 1, 1.25, 1.75, 2.25, 2.75, 3.25, 3.75, 4 } },
    { { 1, 1, 4, 1, 1, 7, "linear", "align_corners", 0, 0 }, { 1, 1.5, 2, 2.5, 3, 3.5, 4 } },
    { { 1, 1, 4, 1, 1, 2, "linear", "half_pixel", 0, 0.6 }, { 4.0 / 3, 3 } },
    { { 1, 1, 4, 1, 1, 2, "round_prefer_floor", "half_pixel", 0, 0.6 }, { 1, 3 } },
    { { 1, 1, 4, 1, 1, 2, "round_prefer_floor", "half_pixel", 0, 0 }, { 1, 3 } },
    { { 1, 1, 4, 1, 1, 2, "round_prefer_ceil", "half_pixel", 0, 0 }, { 2, 4 } },
    { { 1, 1, 4, 1, 1, 6, "ceil", "asymmetric", 0, 0 }, { 1, 2, 3, 3, 4, 4 } },
  };
  const double row[4] = { 1, 2, 3, 4 };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      ResizeCase c = { cases[i], NULL };
      gsize count = (gsize) c.s.n * c.s.h * c.s.w * c.s.c;
      g_autofree double *x = harness_random (1, count, 1),
                        *dy = harness_random (2, (gsize) c.s.n * c.s.oh * c.s.ow * c.s.c, 1),
                        *dx = g_new (double, count);
      c.dy = dy;
      reference_resize_backward (&c.s, dy, dx);
      g_assert_cmpfloat (reference_finite_error (resize_value, &c, x, count, dx, 1e-6), <, 1e-12);
    }
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      double y[8];
      reference_resize_forward (&rows[i].s, row, y);
      for (guint k = 0; k < rows[i].s.ow; k++)
        g_assert_cmpfloat_with_epsilon (y[k], rows[i].y[k], 1e-12);
    }
}

/* Losses --------------------------------------------------------------------------------------- */

typedef struct {
  ReferenceLoss s;
  const double *targets;
  gboolean mse;
  const double *beta; /* smooth L1 */
} LossCase;

static double
loss_value (const double *x, gpointer data)
{
  const LossCase *c = data;
  double metric;
  if (c->beta)
    return reference_smooth_l1 (&c->s, x, c->targets, c->beta, NULL);
  return c->mse ? reference_mse (&c->s, x, c->targets, &metric, NULL)
                : reference_cross_entropy (&c->s, x, c->targets, &metric, NULL);
}

static void
test_losses (void)
{
  const guint32 n = 4, c = 6;
  g_autofree double *x = harness_random (1, n * c, 3), *values = harness_random (2, n * c, 1),
                    *gradient = g_new (double, n *c);
  const double ids[4] = { 0, 5, -1, 2 }, beta[6] = { 1, 1, 2, 0.5, 1, 3 },
               weights[6] = { 0.5, 3, 2, 0, 15, 1 };
  double metric;
  for (guint i = 0; i < 2; i++)
    {
      LossCase entropy = { { n, c, 4 - i, 0.2 * i }, ids, FALSE, NULL },
               square = { { n, c, 4 - i, 0 }, values, TRUE, NULL },
               smooth = { { n, c, 4 - i, 0 }, values, FALSE, beta };
      reference_smooth_l1 (&smooth.s, x, values, beta, gradient);
      g_assert_cmpfloat (reference_finite_error (loss_value, &smooth, x, n * c, gradient, 1e-5), <,
                         1e-12);
      reference_cross_entropy (&entropy.s, x, ids, &metric, gradient);
      g_assert_cmpfloat (reference_finite_error (loss_value, &entropy, x, n * c, gradient, 1e-5), <,
                         1e-12);
      entropy.s.weights = weights;
      for (guint mixed = 0; mixed < 2; mixed++)
        {
          entropy.s.mixed = 0.3 * mixed;
          reference_cross_entropy (&entropy.s, x, ids, &metric, gradient);
          g_assert_cmpfloat (
              reference_finite_error (loss_value, &entropy, x, n * c, gradient, 1e-5), <, 1e-12);
        }
      reference_mse (&square.s, x, values, &metric, gradient);
      g_assert_cmpfloat (reference_finite_error (loss_value, &square, x, n * c, gradient, 1e-5), <,
                         1e-12);
    }
}

static void
test_loss_values (void)
{
  const double x[4] = { 0, 0, log (3), 0 }, ids[2] = { 1, 0 };
  double metric, gradient[4];
  ReferenceLoss s = { 2, 2, 2, 0 };
  /* -log (1/2) - log (3/4) */
  g_assert_cmpfloat (fabs (reference_cross_entropy (&s, x, ids, &metric, gradient) - log (8.0 / 3)),
                     <, 1e-12);
  g_assert_cmpfloat (metric, ==, 1);
  g_assert_cmpfloat (fabs (gradient[2] + 0.25), <, 1e-12);
  /* torch.nn.CrossEntropyLoss (weight=(1, 2, 5), label_smoothing=0.2) by its formula: the mean over
   * the weights 5, 1 and 2 of the targets, of the smoothed part too. */
  const double logits[9] = { 1, 2, 3, 1, 0, -1, 0.5, 0.25, -2 }, classes[3] = { 2, 0, 1 },
               weights[3] = { 1, 2, 5 };
  ReferenceLoss weighted = { 3, 3, 3, 0.2, weights };
  g_assert_cmpfloat (fabs (reference_cross_entropy (&weighted, logits, classes, &metric, NULL) / 3
                           - 0.7561917342146952),
                     <, 1e-12);
  const double values[4] = { 1, 0, 0, 2 }, zeros[4] = { 0 };
  g_assert_cmpfloat (reference_mse (&s, values, zeros, &metric, NULL), ==, 2.5);
  g_assert_cmpfloat (metric, ==, 1.5);
}

/* Optimizer ------------------------------------------------------------------------------------ */

static void
test_optimizer_values (void)
{
  double w[1] = { 1 }, m[1] = { 0 }, v[1] = { 0 };
  const double g[1] = { 0.5 };
  ReferenceOptimizer sgd = { .lr = 0.1, .momentum = 0.9, .weight_decay = 0.5, .scale = 1 };
  reference_optimizer_step (&sgd, 1, w, g, m, v); /* v = 0.5 + 0.5; w = 1 - 0.1 */
  g_assert_cmpfloat (fabs (w[0] - 0.9), <, 1e-12);
  reference_optimizer_step (&sgd, 1, w, g, m, v); /* v = 0.9 + 0.5 + 0.45 = 1.85 */
  g_assert_cmpfloat (fabs (w[0] - 0.715), <, 1e-12);

  double u[1] = { 1 };
  m[0] = 0;
  ReferenceOptimizer adam = { .rule = REFERENCE_ADAMW,
                              .lr = 0.1,
                              .momentum = 0.9,
                              .beta2 = 0.999,
                              .weight_decay = 0.1,
                              .epsilon = 1e-8,
                              .scale = 1 };
  reference_optimizer_step (&adam, 1, u, g, m, v); /* first step: decay, then lr times the sign */
  g_assert_cmpfloat (fabs (u[0] - (0.99 - 0.1)), <, 1e-8);

  /* The decay changes the sign of the gradient, and so that of the step. */
  adam = (ReferenceOptimizer){ .rule = REFERENCE_ADAM,
                               .lr = 0.1,
                               .momentum = 0.9,
                               .beta2 = 0.999,
                               .weight_decay = 1,
                               .epsilon = 1e-8,
                               .scale = 1 };
  u[0] = -1;
  m[0] = v[0] = 0;
  reference_optimizer_step (&adam, 1, u, g, m, v);
  g_assert_cmpfloat (fabs (u[0] - (-1 + 0.1)), <, 1e-8);
  g_assert_cmpfloat (fabs (m[0] + 0.05), <, 1e-12);
  g_assert_cmpfloat (fabs (v[0] - 0.00025), <, 1e-12);

  /* The epsilon is added outside of the root: 0.5 / (0.1 * 0.5 + 0.05) is 5, then 0.9 times that
   * and 0.5 / (sqrt (0.004975) + 0.05). */
  ReferenceOptimizer rmsprop = { .rule = REFERENCE_RMSPROP,
                                 .lr = 0.1,
                                 .momentum = 0.9,
                                 .beta2 = 0.99,
                                 .epsilon = 0.05,
                                 .scale = 1 };
  u[0] = 1;
  m[0] = v[0] = 0;
  reference_optimizer_step (&rmsprop, 1, u, g, m, v);
  g_assert_cmpfloat (fabs (u[0] - 0.5), <, 1e-12);
  reference_optimizer_step (&rmsprop, 1, u, g, m, v);
  g_assert_cmpfloat (fabs (m[0] - (4.5 + 0.5 / (sqrt (0.004975) + 0.05))), <, 1e-12);
  g_assert_cmpfloat (fabs (u[0] - (0.5 - 0.1 * m[0])), <, 1e-12);

  /* The step uses 0.9 of the moment, which keeps 0.99 of itself. */
  ReferenceOptimizer lion = { .rule = REFERENCE_LION,
                              .lr = 0.1,
                              .momentum = 0.9,
                              .beta2 = 0.99,
                              .weight_decay = 0.5,
                              .scale = 1 };
  u[0] = 1;
  m[0] = -0.05; /* 0.9 * -0.05 + 0.1 * 0.5 is above 0 */
  reference_optimizer_step (&lion, 1, u, g, m, v);
  g_assert_cmpfloat (fabs (u[0] - (0.95 - 0.1)), <, 1e-12);
  g_assert_cmpfloat (fabs (m[0] + 0.0445), <, 1e-12);
}

/* Attention ------------------------------------------------------------------------------------ */

typedef struct {
  ReferenceAttention s;
  const double *dy;
} AttentionCase;

static double
attention_value (const double *x, gpointer data)
{
  const AttentionCase *c = data;
  gsize count = (gsize) c->s.n * c->s.t * c->s.heads * c->s.d;
  g_autofree double *y = g_new (double, count);
  reference_attention_forward (&c->s, x, y);
  return weighted (y, c->dy, count);
}

static void
test_attention (void)
{
  static const guint32 valid[] = { 2, 5 };
  for (guint form = 0; form < 2; form++)
    {
      AttentionCase c = { .s = { 2, 5, 3, 4, form > 0 ? valid : NULL } };
      gsize count = 2 * 5 * 3 * 4;
      g_autofree double *x = harness_random (1, 3 * count, 2), *dy = harness_random (2, count, 1),
                        *dx = g_new0 (double, 3 * count);
      c.dy = dy;
      reference_attention_backward (&c.s, x, dy, dx);
      g_assert_cmpfloat (reference_finite_error (attention_value, &c, x, 3 * count, dx, 1e-5), <,
                         1e-12);
    }
  /* Equal keys give the mean of the values. */
  const double x[] = { 1, 5, 2, 3, 5, 6 };
  double y[2];
  reference_attention_forward (&(ReferenceAttention){ 1, 2, 1, 1, NULL }, x, y);
  g_assert_cmpfloat (y[0], ==, 4);
  g_assert_cmpfloat (y[1], ==, 4);
}

/* Group norm ----------------------------------------------------------------------------------- */

typedef struct {
  ReferenceGroupNorm s;
  const double *dy;
} GroupCase;

static double
group_value (const double *x, gpointer data)
{
  const GroupCase *c = data;
  gsize count = (gsize) c->s.n * c->s.pixels * c->s.c;
  g_autofree double *y = g_new (double, count);
  reference_group_norm_forward (&c->s, x, y);
  return weighted (y, c->dy, count);
}

static void
test_group_norm (void)
{
  static const ReferenceGroupNorm shapes[] = { { 2, 3, 6, 2, 1e-5 },
                                               { 1, 4, 5, 1, 0.3 },
                                               { 2, 5, 3, 3, 0.1 } };
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    {
      gsize count = (gsize) shapes[i].n * shapes[i].pixels * shapes[i].c;
      g_autofree double *x = harness_random (1, count, 1), *dy = harness_random (2, count, 1),
                        *dx = g_new (double, count);
      GroupCase c = { shapes[i], dy };
      reference_group_norm_backward (&c.s, x, dy, dx);
      g_assert_cmpfloat (reference_finite_error (group_value, &c, x, count, dx, 1e-5), <, 1e-8);
    }
  /* Two groups of two channels, worked out by hand: each group has its own mean, and the deviation
   * 1. */
  const double x[] = { 1, 3, -5, -7 }, want[] = { -1, 1, 1, -1 };
  double y[4];
  reference_group_norm_forward (&(ReferenceGroupNorm){ 1, 1, 4, 2, 0 }, x, y);
  for (guint i = 0; i < 4; i++)
    g_assert_cmpfloat_with_epsilon (y[i], want[i], 1e-12);
}

/* GRU ------------------------------------------------------------------------------------------ */

typedef struct {
  ReferenceGru s;
  const double *x, **moved; /* the member of which the differences are taken */
  const double *dy;
} GruCase;

static double
gru_value (const double *x, gpointer data)
{
  GruCase *c = data;
  const double *kept = *c->moved;
  gsize count = (gsize) c->s.n * c->s.t * c->s.pitch;
  g_autofree double *y = g_new (double, count);
  *c->moved = x;
  reference_gru_forward (&c->s, c->x, y);
  *c->moved = kept;
  return weighted (y, c->dy, count);
}

static void
test_gru (void)
{
  enum { N = 2, T = 4, IN = 3, HIDDEN = 5, ROWS = 3 * HIDDEN };
  static const guint32 valid[] = { 4, 2 };
  g_autofree double *x = harness_random (1, N * T * IN, 1),
                    *dy = harness_random (2, N * T * HIDDEN, 1),
                    *w_ih = harness_random (3, ROWS * IN, 1),
                    *w_hh = harness_random (4, ROWS * HIDDEN, 1),
                    *b_ih = harness_random (5, ROWS, 1), *b_hh = harness_random (6, ROWS, 1);
  for (guint reverse = 0; reverse < 2; reverse++)
    {
      GruCase c = { .s = { N, T, IN, HIDDEN, reverse == 1, valid, w_ih, w_hh, b_ih, b_hh, HIDDEN,
                           0 },
                    .x = x,
                    .dy = dy };
      g_autofree double *dx = g_new0 (double, N *T *IN);
      double dw_ih[ROWS * IN] = { 0 }, dw_hh[ROWS * HIDDEN] = { 0 }, db_ih[ROWS] = { 0 },
                          db_hh[ROWS] = { 0 };
      const ReferenceGruGradient gradient = { dw_ih, dw_hh, db_ih, db_hh };
      const struct {
        const double **moved, *at, *gradient;
        gsize n;
      } all[] = { { &c.x, x, dx, N * T * IN },
                  { &c.s.w_ih, w_ih, dw_ih, ROWS * IN },
                  { &c.s.w_hh, w_hh, dw_hh, ROWS * HIDDEN },
                  { &c.s.b_ih, b_ih, db_ih, ROWS },
                  { &c.s.b_hh, b_hh, db_hh, ROWS } };
      reference_gru_backward (&c.s, x, dy, dx, &gradient);
      for (guint i = 0; i < G_N_ELEMENTS (all); i++)
        {
          c.moved = all[i].moved;
          g_assert_cmpfloat (
              reference_finite_error (gru_value, &c, all[i].at, all[i].n, all[i].gradient, 1e-5), <,
              1e-12);
        }
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/reference/batch-norm-gradient", test_batch_norm);
  g_test_add_func ("/nn/reference/batch-norm-running-statistics", test_batch_norm_running);
  g_test_add_func ("/nn/reference/activation-slopes", test_activations);
  g_test_add_func ("/nn/reference/scale-gradient", test_scale);
  g_test_add_func ("/nn/reference/pool-gradient", test_pool);
  g_test_add_func ("/nn/reference/group-norm", test_group_norm);
  g_test_add_func ("/nn/reference/pad", test_pads);
  g_test_add_func ("/nn/reference/resize", test_resizes);
  g_test_add_func ("/nn/reference/average-window-gradient", test_windows);
  g_test_add_func ("/nn/reference/loss-gradient", test_losses);
  g_test_add_func ("/nn/reference/loss-values", test_loss_values);
  g_test_add_func ("/nn/reference/optimizer-values", test_optimizer_values);
  g_test_add_func ("/nn/reference/attention-gradient", test_attention);
  g_test_add_func ("/nn/reference/gru", test_gru);
  return g_test_run ();
}
