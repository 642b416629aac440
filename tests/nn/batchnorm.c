/* SPDX-License-Identifier: MIT */
/* Batch norm compared with its reference: training, evaluation, backward; with ReLU and residual,
 * fused and unfused. */
#include "fusion.h"
#include "harness.h"
#include "reference/batchnorm.h"
#include "reference/elementwise.h"
#include <math.h>
#include <string.h>

typedef struct {
  guint32 n, h, w, c;
} Shape;

#define PARAMETER 0.3 /* of the activations with a parameter */

static const Shape shapes[] = {
  { 2, 3, 3, 3 },   { 1, 5, 7, 10 },   { 4, 9, 5, 33 },   { 3, 1, 1, 64 },
  { 1, 2, 1, 512 }, { 2, 17, 13, 24 }, { 8, 16, 16, 16 }, { 5, 7, 7, 136 },
};

typedef enum {
  PLAIN,
  RELU,
  ADD_RELU,
  ADD, /* the residual's gradient is dy itself */
  RELU6,
  SILU,
  LEAKY_RELU,
  ELU,
  HARD_SWISH,
  GELU,
  GELU_TANH,
  TANH,
  MISH,
  SINE,
} Form;

/* The parameters of all cases. */
static DynoBatchNormParams numbers;

typedef struct {
  const Shape *shape;
  gsize rows, count;
  double *x, *residual, *dy, *gamma, *beta, *mean, *variance;
} Case;

static void
case_init (Case *c, const Shape *shape, double offset)
{
  c->shape = shape;
  c->rows = (gsize) shape->n * shape->h * shape->w;
  c->count = c->rows * shape->c;
  c->x = harness_random (1, c->count, 2);
  for (gsize i = 0; i < c->count; i++)
    c->x[i] = harness_round_f16 (c->x[i] + offset * (double) (1 + i % shape->c % 3));
  c->residual = harness_random (2, c->count, 1);
  c->dy = harness_random (3, c->count, 1);
  c->gamma = harness_random (4, shape->c, 1);
  c->beta = harness_random (5, shape->c, 0.5);
  c->mean = harness_random (6, shape->c, 1);
  c->variance = harness_random (7, shape->c, 0.5);
  for (guint i = 0; i < shape->c; i++)
    {
      c->gamma[i] += 1.25;
      c->variance[i] += 1;
    }
}

static void
case_clear (Case *c)
{
  g_free (c->x);
  g_free (c->residual);
  g_free (c->dy);
  g_free (c->gamma);
  g_free (c->beta);
  g_free (c->mean);
  g_free (c->variance);
}

static guint
activation_of (Form form)
{
  static const guint activations[] = { [RELU] = DYNO_ACTIVATION_RELU,
                                       [ADD_RELU] = DYNO_ACTIVATION_RELU,
                                       [RELU6] = DYNO_ACTIVATION_RELU6,
                                       [SILU] = DYNO_ACTIVATION_SILU,
                                       [LEAKY_RELU] = DYNO_ACTIVATION_LEAKY_RELU,
                                       [ELU] = DYNO_ACTIVATION_ELU,
                                       [HARD_SWISH] = DYNO_ACTIVATION_HARD_SWISH,
                                       [GELU] = DYNO_ACTIVATION_GELU,
                                       [GELU_TANH] = DYNO_ACTIVATION_GELU_TANH,
                                       [TANH] = DYNO_ACTIVATION_TANH,
                                       [MISH] = DYNO_ACTIVATION_MISH,
                                       [SINE] = DYNO_ACTIVATION_SIN };
  return form < G_N_ELEMENTS (activations) ? activations[form] : DYNO_ACTIVATION_NONE;
}

static ReferenceBatchNorm
case_reference (const Case *c, Form form)
{
  return (ReferenceBatchNorm){ .rows = c->rows,
                               .c = c->shape->c,
                               .x = c->x,
                               .gamma = c->gamma,
                               .beta = c->beta,
                               .residual = form == ADD_RELU || form == ADD ? c->residual : NULL,
                               .activation = activation_of (form),
                               .parameter = PARAMETER,
                               .eps = numbers.eps,
                               .momentum = numbers.momentum };
}

/* Moves the residual where the sum is near the ReLU's bend, at which rounding of the sum would
 * decide the gradient. */
static void
case_avoid_bend (Case *c)
{
  ReferenceBatchNorm s = case_reference (c, ADD);
  g_autofree double *y = g_new (double, c->count);
  reference_batch_norm_train (&s, NULL, NULL, y);
  for (gsize i = 0; i < c->count; i++)
    if (y[i] > -0.02 && y[i] < 0.02)
      c->residual[i] += 0.5;
}

/* The graph of a form. */
static DynoTensor *
build (Harness *h, const Case *c, Form form, gboolean fuse, DynoTensor **x, DynoTensor **residual)
{
  const Shape *s = c->shape;
  DynoGraph *graph = harness_graph (h);
  *x = harness_input (h, "x", s->n, s->h, s->w, s->c, c->x);
  *residual = form == ADD_RELU || form == ADD
                  ? harness_input (h, "residual", s->n, s->h, s->w, s->c, c->residual)
                  : NULL;
  DynoTensor *y = dyno_batch_norm_with_params (graph, *x, "bn", &numbers);
  if (*residual)
    y = dyno_add (graph, y, *residual, "add");
  if (activation_of (form))
    y = dyno_activation_with_parameter (graph, y, activation_of (form), PARAMETER, "activation");
  if (fuse)
    {
      guint nodes = dyno_graph_get_nodes (graph)->len;
      dyno_fusion_apply_stage (DYNO_FUSION_FORWARD, graph);
      if (form == RELU || form >= RELU6)
        g_assert_cmpuint (dyno_graph_get_nodes (graph)->len, ==, nodes - 1);
      if (form == ADD)
        g_assert_cmpuint (dyno_graph_get_nodes (graph)->len, ==, nodes - 1);
      if (form == ADD_RELU)
        g_assert_cmpuint (dyno_graph_get_nodes (graph)->len, ==, nodes - 2);
    }
  harness_set_parameter (h, "bn.weight", c->gamma);
  harness_set_parameter (h, "bn.bias", c->beta);
  harness_set_parameter (h, "bn.running_mean", c->mean);
  harness_set_parameter (h, "bn.running_var", c->variance);
  return y;
}

static void
check_train (const Shape *shape, Form form, gboolean fuse, gboolean amp, double offset)
{
  Case c;
  case_init (&c, shape, offset);
  case_avoid_bend (&c);
  for (guint i = 0; i < shape->c && form == RELU6; i++)
    c.gamma[i] *= 4;
  g_autoptr (Harness) h =
      harness_new (&(HarnessParams){ .amp = amp, .training = TRUE, .batch = shape->n });
  DynoTensor *x, *residual, *y = build (h, &c, form, fuse, &x, &residual);
  harness_set_gradient (h, y, c.dy);
  g_autofree double *start = harness_random (8, shape->c, 4);
  harness_set_parameter_gradient (h, "bn.weight", start);
  harness_run (h);

  ReferenceBatchNorm s = case_reference (&c, form);
  g_autofree double *y_want = g_new (double, c.count), *dx_want = g_new (double, c.count);
  g_autofree double *dr_want = g_new (double, c.count);
  g_autofree double *dgamma_want = g_new (double, shape->c), *dbeta_want = g_new (double, shape->c);
  reference_batch_norm_train (&s, c.mean, c.variance, y_want);
  reference_batch_norm_backward (&s, c.dy, dx_want, dr_want, dgamma_want, dbeta_want);
  for (guint i = 0; i < shape->c; i++)
    dgamma_want[i] += start[i];

  g_autofree double *y_got = harness_read (h, y), *dx_got = harness_read_gradient (h, x);
  g_autofree double *dgamma_got = harness_read_parameter_gradient (h, "bn.weight");
  g_autofree double *dbeta_got = harness_read_parameter_gradient (h, "bn.bias");
  g_autofree double *mean_got = harness_read_parameter (h, "bn.running_mean");
  g_autofree double *variance_got = harness_read_parameter (h, "bn.running_var");
  double tolerance = harness_tolerance (h);
  harness_assert_close (y_got, y_want, c.count, tolerance, "y");
  harness_assert_close (dx_got, dx_want, c.count, tolerance, "dx");
  harness_assert_close (dgamma_got, dgamma_want, shape->c, tolerance, "dgamma");
  harness_assert_close (dbeta_got, dbeta_want, shape->c, tolerance, "dbeta");
  harness_assert_close (mean_got, c.mean, shape->c, 1e-7, "running mean");
  harness_assert_close (variance_got, c.variance, shape->c, 1e-7, "running variance");
  if (residual)
    {
      g_autofree double *dr_got = harness_read_gradient (h, residual);
      harness_assert_close (dr_got, dr_want, c.count, tolerance, "dresidual");
    }
  case_clear (&c);
}

static void
check_all (Form form, gboolean fuse)
{
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    for (guint amp = 0; amp < 2; amp++)
      check_train (&shapes[i], form, fuse, amp, 0);
}

/* gamma is large enough for values beyond both bends of ReLU6. */
static void
test_activations_fused (void)
{
  for (guint i = 1; i < 7; i += 2)
    for (guint amp = 0; amp < 2; amp++)
      for (guint form = RELU6; form <= SILU; form++)
        check_train (&shapes[i], form, TRUE, amp, 0);
}

static void
test_plain (void)
{
  check_all (PLAIN, FALSE);
}

static void
test_relu (void)
{
  check_all (RELU, FALSE);
}

static void
test_relu_fused (void)
{
  check_all (RELU, TRUE);
}

static void
test_add_relu (void)
{
  check_all (ADD_RELU, FALSE);
}

static void
test_add_relu_fused (void)
{
  check_all (ADD_RELU, TRUE);
}

static void
test_add (void)
{
  check_all (ADD, FALSE);
}

static void
test_add_fused (void)
{
  for (guint amp = 0; amp < 2; amp++)
    check_train (&shapes[2], ADD, TRUE, amp, 0);
}

/* The mean is large compared with the deviation, so that sums of squares would cancel. */
static void
test_large_mean (void)
{
  check_train (&shapes[5], PLAIN, FALSE, FALSE, 2000);
  check_train (&shapes[6], RELU, TRUE, FALSE, 2000);
}

static void
test_large_rows (void)
{
  const Shape large = { 4, 61, 67, 12 };
  check_train (&large, RELU, TRUE, FALSE, 1);
  check_train (&large, ADD_RELU, TRUE, TRUE, 1);
}

static void
check_evaluation (guint i, Form first, Form last)
{
  for (guint amp = 0; amp < 2; amp++)
    for (guint form = first; form <= last; form++)
      {
        Case c;
        case_init (&c, &shapes[i], 0);
        g_autoptr (Harness) h = harness_new (
            &(HarnessParams){ .amp = amp, .kind = DYNO_COMMAND_FORWARD, .batch = shapes[i].n });
        DynoTensor *x, *residual, *y = build (h, &c, form, TRUE, &x, &residual);
        harness_run (h);
        ReferenceBatchNorm s = case_reference (&c, form);
        g_autofree double *want = g_new (double, c.count);
        reference_batch_norm_evaluate (&s, c.mean, c.variance, want);
        g_autofree double *got = harness_read (h, y),
                          *mean = harness_read_parameter (h, "bn.running_mean");
        harness_assert_close (got, want, c.count, harness_tolerance (h), "y");
        harness_assert_close (mean, c.mean, c.shape->c, 1e-12, "running mean");
        case_clear (&c);
      }
}

static void
test_evaluation (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    check_evaluation (i, PLAIN, SILU);
}

/* A frozen batch norm: y and the gradients use the running statistics, which do not change.
 * accumulate: x and the residual have earlier readers; below: x itself needs no gradient. */
static void
check_frozen (const Shape *shape, Form form, gboolean fuse, gboolean amp, gboolean accumulate,
              gboolean below)
{
  Case c;
  case_init (&c, shape, 0);
  ReferenceBatchNorm s = case_reference (&c, form);
  g_autofree double *want = g_new (double, c.count), *dx = g_new (double, c.count),
                    *dr = g_new (double, c.count), *bent_y = g_new (double, c.count),
                    *more = harness_random (11, c.count, 1);
  ReferenceBatchNorm bent = case_reference (&c, form == ADD_RELU ? ADD : PLAIN);
  reference_batch_norm_evaluate (&bent, c.mean, c.variance, bent_y);
  for (gsize i = 0; i < c.count; i++) /* without values at which rounding decides the slope */
    c.dy[i] = bent_y[i] > -0.02 && bent_y[i] < 0.02 ? 0 : c.dy[i];
  reference_batch_norm_evaluate (&s, c.mean, c.variance, want);
  for (gsize i = 0; i < c.count; i++)
    {
      guint k = (guint) (i % shape->c);
      dr[i] =
          c.dy[i] * reference_activation_slope_with (activation_of (form), PARAMETER, bent_y[i]);
      dx[i] = c.gamma[k] / sqrt (c.variance[k] + (numbers.eps > 0 ? numbers.eps : 1e-5)) * dr[i];
      dx[i] += accumulate && c.x[i] > 0 ? more[i] : 0;
      dr[i] += accumulate && c.residual[i] > 0 ? more[i] : 0;
    }

  g_autoptr (Harness) h = harness_new (
      &(HarnessParams){ .amp = amp, .training = TRUE, .batch = shape->n, .freeze = "bn" });
  DynoTensor *x, *residual, *y = build (h, &c, form, fuse, &x, &residual);
  x->needs_gradient = !below;
  if (accumulate)
    {
      harness_set_gradient (h, dyno_relu (harness_graph (h), x, "x2"), more);
      harness_set_gradient (h, dyno_relu (harness_graph (h), residual, "r2"), more);
    }
  harness_set_gradient (h, y, c.dy);
  harness_run (h);
  g_autofree double *got = harness_read (h, y),
                    *mean = harness_read_parameter (h, "bn.running_mean"),
                    *variance = harness_read_parameter (h, "bn.running_var");
  harness_assert_close (got, want, c.count, harness_tolerance (h), "y");
  harness_assert_close (mean, c.mean, shape->c, 1e-14, "running mean");
  harness_assert_close (variance, c.variance, shape->c, 1e-14, "running variance");
  if (!below)
    {
      g_autofree double *dx_got = harness_read_gradient (h, x);
      harness_assert_close (dx_got, dx, c.count, harness_tolerance (h), "dx");
    }
  if (residual)
    {
      g_autofree double *dr_got = harness_read_gradient (h, residual);
      harness_assert_close (dr_got, dr, c.count, harness_tolerance (h), "dresidual");
    }
  case_clear (&c);
}

static void
test_frozen (void)
{
  for (guint i = 0; i < 6; i += 2)
    for (guint amp = 0; amp < 2; amp++)
      for (guint form = PLAIN; form <= ADD; form++)
        for (guint fuse = 0; fuse < 2; fuse++)
          check_frozen (&shapes[i], form, fuse, amp, FALSE, FALSE);
  for (guint amp = 0; amp < 2; amp++)
    {
      check_frozen (&shapes[2], ADD_RELU, TRUE, amp, TRUE, FALSE);
      check_frozen (&shapes[2], ADD_RELU, TRUE, amp, FALSE, TRUE);
    }
}

/* Activations that are fused only into batch norms without a residual. */
static void
test_more_activations_fused (void)
{
  for (guint form = LEAKY_RELU; form <= SINE; form++)
    for (guint amp = 0; amp < 2; amp++)
      {
        check_train (&shapes[form & 1 ? 1 : 5], form, TRUE, amp, 0);
        check_frozen (&shapes[2], form, TRUE, amp, FALSE, FALSE);
      }
  check_evaluation (2, LEAKY_RELU, SINE);
}

/* eps is as large as the variances, and the momentum varies. */
static void
test_eps_and_momentum (void)
{
  numbers = (DynoBatchNormParams){ .eps = 0.4, .momentum = 0.7 };
  for (guint amp = 0; amp < 2; amp++)
    {
      check_train (&shapes[1], PLAIN, FALSE, amp, 0);
      check_train (&shapes[3], SILU, TRUE, amp, 0);
      check_train (&shapes[2], ADD_RELU, TRUE, amp, 0);
      check_frozen (&shapes[2], ADD_RELU, TRUE, amp, FALSE, FALSE);
      check_frozen (&shapes[0], PLAIN, FALSE, amp, FALSE, FALSE);
    }
  test_evaluation ();
  numbers = (DynoBatchNormParams){ 0 };
}

static void
test_bad_numbers (void)
{
  static const DynoBatchNormParams bad[] = {
    { .eps = -1e-5 }, { .eps = NAN }, { .eps = INFINITY }, { .momentum = -0.1 }, { .momentum = 1.5 }
  };
  const double values[16] = { 0 };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = TRUE, .batch = 2 });
      DynoTensor *x = harness_input (h, "x", 2, 1, 1, 8, values);
      g_assert_null (dyno_batch_norm_with_params (harness_graph (h), x, "bn", &bad[i]));
      g_autoptr (GError) error = NULL;
      g_assert_false (dyno_graph_check (harness_graph (h), &error));
      g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE);
    }
}

/* Only gamma or only beta is frozen: the statistics are those of the batch, and the gradient of the
 * other parameter is the same. */
static void
test_half_frozen (void)
{
  Case c;
  case_init (&c, &shapes[2], 0);
  g_autoptr (Harness) h = harness_new (
      &(HarnessParams){ .training = TRUE, .batch = shapes[2].n, .freeze = "bn.weight" });
  DynoTensor *x, *residual, *y = build (h, &c, PLAIN, FALSE, &x, &residual);
  harness_set_gradient (h, y, c.dy);
  harness_run (h);
  ReferenceBatchNorm s = case_reference (&c, PLAIN);
  g_autofree double *dx = g_new (double, c.count), *dr = g_new (double, c.count),
                    *dgamma = g_new (double, s.c), *dbeta = g_new (double, s.c);
  reference_batch_norm_backward (&s, c.dy, dx, dr, dgamma, dbeta);
  g_autofree double *dx_got = harness_read_gradient (h, x),
                    *dbeta_got = harness_read_parameter_gradient (h, "bn.bias");
  harness_assert_close (dx_got, dx, c.count, harness_tolerance (h), "dx");
  harness_assert_close (dbeta_got, dbeta, s.c, harness_tolerance (h), "dbeta");
  case_clear (&c);
}

/* x and the residual have earlier readers, to whose gradients this one is added. */
static void
check_accumulate (gboolean amp)
{
  const Shape *shape = &shapes[2];
  Case c;
  case_init (&c, shape, 0);
  g_autoptr (Harness) h =
      harness_new (&(HarnessParams){ .amp = amp, .training = TRUE, .batch = shape->n });
  DynoGraph *graph = harness_graph (h);
  DynoTensor *x, *residual, *y = build (h, &c, ADD_RELU, TRUE, &x, &residual);
  DynoTensor *x2 = dyno_relu (graph, x, "x2"), *r2 = dyno_relu (graph, residual, "r2");
  g_autofree double *dx2 = harness_random (11, c.count, 1), *dr2 = harness_random (12, c.count, 1);
  harness_set_gradient (h, y, c.dy);
  harness_set_gradient (h, x2, dx2);
  harness_set_gradient (h, r2, dr2);
  harness_run (h);

  ReferenceBatchNorm s = case_reference (&c, ADD_RELU);
  g_autofree double *dx = g_new (double, c.count), *dr = g_new (double, c.count);
  g_autofree double *dgamma = g_new (double, shape->c), *dbeta = g_new (double, shape->c);
  reference_batch_norm_backward (&s, c.dy, dx, dr, dgamma, dbeta);
  for (gsize i = 0; i < c.count; i++)
    {
      dx[i] += c.x[i] > 0 ? dx2[i] : 0;
      dr[i] += c.residual[i] > 0 ? dr2[i] : 0;
    }
  g_autofree double *dx_got = harness_read_gradient (h, x),
                    *dr_got = harness_read_gradient (h, residual);
  harness_assert_close (dx_got, dx, c.count, harness_tolerance (h), "dx");
  harness_assert_close (dr_got, dr, c.count, harness_tolerance (h), "dresidual");
  case_clear (&c);
}

static void
test_accumulate (void)
{
  check_accumulate (FALSE);
  check_accumulate (TRUE);
}

/* Equal inputs give equal bits, and the running statistics move once in a step, also when outputs
 * are recomputed. */
static void
test_deterministic (void)
{
  Case c;
  case_init (&c, &shapes[6], 0);
  double *first = NULL;
  for (guint pass = 0; pass < 3; pass++)
    {
      g_autoptr (Harness) h = harness_new (&(HarnessParams){
          .amp = TRUE, .training = TRUE, .batch = shapes[6].n, .checkpointing = pass == 2 });
      DynoTensor *x, *residual, *y = build (h, &c, ADD_RELU, TRUE, &x, &residual);
      DynoTensor *z = dyno_batch_norm (harness_graph (h), y, "bn2");
      harness_set_gradient (h, z, c.dy);
      harness_run (h);
      g_autofree double *dx = harness_read_gradient (h, x),
                        *mean = harness_read_parameter (h, "bn2.running_mean");
      double *all = g_new (double, c.count + c.shape->c);
      memcpy (all, dx, c.count * sizeof (double));
      memcpy (all + c.count, mean, c.shape->c * sizeof (double));
      if (first)
        g_assert_cmpmem (all, (c.count + c.shape->c) * sizeof (double), first,
                         (c.count + c.shape->c) * sizeof (double));
      g_free (first);
      first = all;
    }
  g_free (first);
  case_clear (&c);
}

/* The op before the convolution whose weight gradient reads the rematerialised activation. */
typedef enum {
  REMATERIALISE_PLAIN,
  REMATERIALISE_RELU,
  REMATERIALISE_SILU,
  REMATERIALISE_LEAKY,
  REMATERIALISE_POOL,
  REMATERIALISE_ADD,
  REMATERIALISE_ADD_RELU,
  REMATERIALISE_N
} RematerialiseForm;

static void
check_rematerialised (const Shape *shape, RematerialiseForm form, gboolean amp)
{
  Case c;
  case_init (&c, shape, 0);
  g_autofree double *dz = harness_random (9, c.count, 1), *kept = NULL;
  gsize n_weights = (gsize) shape->c * shape->c;
  for (guint restoring = 0; restoring < 2; restoring++)
    {
      g_autoptr (Harness) h = harness_new (&(HarnessParams){
          .amp = amp, .training = TRUE, .batch = shape->n, .restoring = restoring != 0 });
      DynoGraph *graph = harness_graph (h);
      gboolean adds = form >= REMATERIALISE_ADD;
      DynoTensor *x, *residual, *y = build (h, &c, adds ? ADD : PLAIN, FALSE, &x, &residual);
      if (adds)
        residual->keep = TRUE; /* as a tensor that another node of the backward pass reads */
      if (form != REMATERIALISE_PLAIN && form != REMATERIALISE_ADD)
        y = dyno_activation_with_parameter (graph, y,
                                            form == REMATERIALISE_SILU ? DYNO_ACTIVATION_SILU
                                            : form == REMATERIALISE_LEAKY
                                                ? DYNO_ACTIVATION_LEAKY_RELU
                                                : DYNO_ACTIVATION_RELU,
                                            0.25, "activation");
      if (form == REMATERIALISE_POOL)
        y = dyno_max_pool (graph, y, "pool", 2, 2, 0);
      dyno_fusion_apply_stage (DYNO_FUSION_FORWARD, graph);
      DynoTensor *z = dyno_conv2d (graph, y, "conv",
                                   &(DynoConv2dParams){ .out_channels = shape->c,
                                                        .kernel_h = 1,
                                                        .kernel_w = 1,
                                                        .init = DYNO_INIT_KAIMING_UNIFORM });
      harness_set_gradient (h, z, dz);
      harness_run (h);
      g_autofree double *y_got = harness_read (h, y), *dx = harness_read_gradient (h, x);
      g_autofree double *dw = harness_read_parameter_gradient (h, "conv.weight");
      gsize n_y = (gsize) y->n * y->h * y->w * y->c;
      if (restoring)
        {
          g_autofree double *again = harness_read_again (h, y);
          g_assert_cmpmem (again, n_y * sizeof (double), y_got, n_y * sizeof (double));
        }
      g_autofree double *dr = adds ? harness_read_gradient (h, residual) : NULL;
      gsize n_dr = adds ? c.count : 0;
      double *all = g_new (double, c.count + n_weights + n_dr);
      memcpy (all, dx, c.count * sizeof (double));
      memcpy (all + c.count, dw, n_weights * sizeof (double));
      if (dr)
        memcpy (all + c.count + n_weights, dr, n_dr * sizeof (double));
      if (kept)
        g_assert_cmpmem (all, (c.count + n_weights + n_dr) * sizeof (double), kept,
                         (c.count + n_weights + n_dr) * sizeof (double));
      g_free (kept);
      kept = all;
    }
  case_clear (&c);
}

/* An activation that was dropped and is rematerialised in the backward pass has the same bits, and
 * so have the results of its readers. */
static void
test_rematerialised (void)
{
  static const Shape uneven = { 2, 8, 6, 10 };
  for (guint form = 0; form < REMATERIALISE_N; form++)
    for (guint amp = 0; amp < 2; amp++)
      {
        if (harness_takes (form + amp, 2))
          check_rematerialised (&uneven, form, amp);
        if (harness_takes (form + amp + 1, 2))
          check_rematerialised (&shapes[6], form, amp);
      }
}

/* Channels whose batch has no finite mean or variance keep their running statistics; those of the
 * others move. */
static void
test_running_statistics_stay_finite (void)
{
  const Shape shape = { 3, 5, 7, 12 };
  Case c;
  case_init (&c, &shape, 0);
  c.x[4 * shape.c + 0] = INFINITY;
  c.x[9 * shape.c + 1] = NAN;
  /* its square is Inf in fp32, so the mean is finite and the variance is not */
  c.x[2 * shape.c + 2] = 1e25;
  g_autofree double *mean = g_memdup2 (c.mean, shape.c * sizeof (double));
  g_autofree double *variance = g_memdup2 (c.variance, shape.c * sizeof (double));
  g_autofree double *y_want = g_new (double, c.count);
  g_autoptr (Harness) h = harness_new (
      &(HarnessParams){ .training = TRUE, .batch = shape.n, .kind = DYNO_COMMAND_FORWARD });
  DynoTensor *x, *residual;
  build (h, &c, PLAIN, FALSE, &x, &residual);
  harness_run (h);
  ReferenceBatchNorm s = case_reference (&c, PLAIN);
  reference_batch_norm_train (&s, mean, variance, y_want);
  for (guint k = 0; k < 3; k++)
    {
      mean[k] = (double) (float) c.mean[k];
      variance[k] = (double) (float) c.variance[k];
    }
  g_autofree double *mean_got = harness_read_parameter (h, "bn.running_mean");
  g_autofree double *variance_got = harness_read_parameter (h, "bn.running_var");
  g_assert_cmpmem (mean_got, 3 * sizeof (double), mean, 3 * sizeof (double));
  g_assert_cmpmem (variance_got, 3 * sizeof (double), variance, 3 * sizeof (double));
  harness_assert_close (mean_got, mean, shape.c, 1e-7, "running mean");
  harness_assert_close (variance_got, variance, shape.c, 1e-7, "running variance");
  case_clear (&c);
}

static void
test_one_value (void)
{
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = TRUE });
  const double value[3] = { 1, 2, 3 };
  DynoTensor *x = harness_input (h, "x", 1, 1, 1, 3, value);
  g_assert_null (dyno_batch_norm (harness_graph (h), x, "bn"));
  g_autoptr (GError) error = NULL;
  g_assert_false (dyno_graph_check (harness_graph (h), &error));
  g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/batchnorm/matches-reference", test_plain);
  g_test_add_func ("/nn/batchnorm/relu-matches-reference", test_relu);
  g_test_add_func ("/nn/batchnorm/fused-relu-matches-reference", test_relu_fused);
  g_test_add_func ("/nn/batchnorm/fused-activations-match-reference", test_activations_fused);
  g_test_add_func ("/nn/batchnorm/add-relu-matches-reference", test_add_relu);
  g_test_add_func ("/nn/batchnorm/fused-add-relu-matches-reference", test_add_relu_fused);
  g_test_add_func ("/nn/batchnorm/add-matches-reference", test_add);
  g_test_add_func ("/nn/batchnorm/fused-add-matches-reference", test_add_fused);
  g_test_add_func ("/nn/batchnorm/large-mean-keeps-digits", test_large_mean);
  g_test_add_func ("/nn/batchnorm/many-rows", test_large_rows);
  g_test_add_func ("/nn/batchnorm/evaluation-uses-running-statistics", test_evaluation);
  g_test_add_func ("/nn/batchnorm/gradients-accumulate", test_accumulate);
  g_test_add_func ("/nn/batchnorm/frozen-uses-running-statistics", test_frozen);
  g_test_add_func ("/nn/batchnorm/frozen-weight-alone", test_half_frozen);
  g_test_add_func ("/nn/batchnorm/same-bits-again", test_deterministic);
  g_test_add_func ("/nn/batchnorm/what-is-rematerialised-has-the-same-bits", test_rematerialised);
  g_test_add_func ("/nn/batchnorm/running-statistics-stay-finite",
                   test_running_statistics_stay_finite);
  g_test_add_func ("/nn/batchnorm/one-value-is-an-error", test_one_value);
  g_test_add_func ("/nn/batchnorm/fused-more-activations-match-reference",
                   test_more_activations_fused);
  g_test_add_func ("/nn/batchnorm/eps-and-momentum", test_eps_and_momentum);
  g_test_add_func ("/nn/batchnorm/bad-numbers-are-errors", test_bad_numbers);
  return g_test_run ();
}
