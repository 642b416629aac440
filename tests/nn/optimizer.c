/* SPDX-License-Identifier: MIT */
/* The optimizer stage over several steps compared with an implementation in double: the two
 * parameters of a batch norm are trained with the squared error.  A loss divisor of 0 makes the
 * gradients infinite. */
#include "harness.h"
#include "reference/batchnorm.h"
#include "reference/loss.h"
#include "reference/optimizer.h"
#include <math.h>
#include <string.h>

#define N 6

typedef struct {
  guint32 c;
  gsize count;
  double *x, *targets;
  double *weights; /* gamma, then beta */
  double *gradient, *moment1, *moment2;
  ReferenceOptimizer o;
} Truth;

static void
truth_init (Truth *t, guint32 c)
{
  t->c = c;
  t->count = (gsize) N * c;
  t->x = harness_random (1, t->count, 2);
  t->targets = harness_random (2, t->count, 2);
  t->weights = harness_random (3, 2 * c, 1);
  t->gradient = g_new0 (double, 2 * c);
  t->moment1 = g_new0 (double, 2 * c);
  t->moment2 = g_new0 (double, 2 * c);
  t->o = (ReferenceOptimizer){ .lr = 0.125, .momentum = 0.875, .scale = 1 };
}

static void
truth_clear (Truth *t)
{
  g_free (t->x);
  g_free (t->targets);
  g_free (t->weights);
  g_free (t->gradient);
  g_free (t->moment1);
  g_free (t->moment2);
}

static void
truth_step (Truth *t, double divisor)
{
  guint32 c = t->c;
  ReferenceBatchNorm norm = {
    .rows = N, .c = c, .x = t->x, .gamma = t->weights, .beta = t->weights + c
  };
  ReferenceLoss loss = { N, c, N, 0 };
  g_autofree double *y = g_new (double, t->count), *dy = g_new (double, t->count),
                    *dx = g_new (double, t->count);
  double absolute;
  reference_batch_norm_train (&norm, NULL, NULL, y);
  reference_mse (&loss, y, t->targets, &absolute, dy);
  reference_batch_norm_backward (&norm, dy, dx, NULL, t->gradient, t->gradient + c);
  for (guint32 i = 0; i < 2 * c; i++)
    t->gradient[i] *= t->o.scale / divisor;
  reference_optimizer_step (&t->o, 2 * c, t->weights, t->gradient, t->moment1, t->moment2);
}

static Harness *
make (Truth *t, gboolean amp)
{
  static const DynoOptimizer optimizers[] = {
    [REFERENCE_SGD] = DYNO_OPTIMIZER_SGD,   [REFERENCE_ADAMW] = DYNO_OPTIMIZER_ADAMW,
    [REFERENCE_ADAM] = DYNO_OPTIMIZER_ADAM, [REFERENCE_RMSPROP] = DYNO_OPTIMIZER_RMSPROP,
    [REFERENCE_LION] = DYNO_OPTIMIZER_LION,
  };
  Harness *h = harness_new (&(HarnessParams){ .amp = amp,
                                              .training = TRUE,
                                              .batch = N,
                                              .optimizer_on = TRUE,
                                              .optimizer = optimizers[t->o.rule] });
  DynoTensor *x = harness_input (h, "x", N, 1, 1, t->c, t->x);
  x->needs_gradient = FALSE;
  DynoTensor *y = dyno_batch_norm (harness_graph (h), x, "bn");
  dyno_mse_loss (harness_graph (h), y,
                 harness_raw (h, "targets", DYNO_DTYPE_F32, N, 1, 1, t->c, t->targets), NULL);
  harness_set_parameter (h, "bn.weight", t->weights);
  harness_set_parameter (h, "bn.bias", t->weights + t->c);
  harness_scaler (h)->scale = (float) t->o.scale;
  struct DynoStepInput *step = harness_step (h);
  step->lr = (float) t->o.lr;
  step->momentum = (float) t->o.momentum;
  step->beta2 = (float) t->o.beta2;
  step->weight_decay = (float) t->o.weight_decay;
  step->epsilon = (float) t->o.epsilon;
  step->clip_norm = (float) t->o.clip_norm;
  step->clip_value = (float) t->o.clip_value;
  step->scale_growth_interval = t->o.growth_interval;
  step->first_update = 1;
  return h;
}

static void
check_values (const double *got_gamma, const double *got_beta, const double *want, guint32 c,
              double tolerance, const char *what)
{
  harness_assert_close (got_gamma, want, c, tolerance, what);
  harness_assert_close (got_beta, want + c, c, tolerance, what);
}

static void
check_state (Harness *h, const Truth *t, gboolean amp, double tolerance)
{
  g_autofree double *gamma = harness_read_parameter (h, "bn.weight"),
                    *beta = harness_read_parameter (h, "bn.bias");
  check_values (gamma, beta, t->weights, t->c, tolerance, "weights");
  g_autofree double *m = harness_read_moment (h, "bn.weight", DYNO_SPACE_MOMENT1);
  g_autofree double *n = harness_read_moment (h, "bn.bias", DYNO_SPACE_MOMENT1);
  check_values (m, n, t->moment1, t->c, tolerance * 10, "first moment");
  if (dyno_optimizer_get_info (dyno_graph_get_params (harness_graph (h))->optimizer)->n_moments > 1)
    {
      g_autofree double *v = harness_read_moment (h, "bn.weight", DYNO_SPACE_MOMENT2);
      g_autofree double *w = harness_read_moment (h, "bn.bias", DYNO_SPACE_MOMENT2);
      check_values (v, w, t->moment2, t->c, tolerance * 10, "second moment");
    }
  g_autofree double *dgamma = harness_read_parameter_gradient (h, "bn.weight");
  g_autofree double *dbeta = harness_read_parameter_gradient (h, "bn.bias");
  for (guint32 i = 0; i < t->c; i++)
    g_assert_true (dgamma[i] == 0 && dbeta[i] == 0);
  if (amp && t->o.applied > 0)
    {
      g_autofree double *half = harness_read_parameter_half (h, "bn.weight");
      for (guint32 i = 0; i < t->c; i++)
        g_assert_cmpfloat (half[i], ==, harness_round_f16 (gamma[i]));
    }
}

static void
check_output (Harness *h, const Truth *t, double tolerance)
{
  const struct DynoStepOutput *output = harness_output (h);
  struct DynoScalerState scaler = harness_read_scaler (h);
  g_assert_cmpuint (output->overflow, ==, t->o.overflow);
  g_assert_cmpuint (output->skipped, ==, t->o.skipped);
  g_assert_cmpfloat (output->loss_scale, ==, t->o.scale);
  g_assert_cmpfloat (scaler.scale, ==, t->o.scale);
  g_assert_cmpuint (scaler.applied, ==, t->o.applied);
  g_assert_cmpuint (scaler.good_steps, ==, t->o.good_steps);
  if (!t->o.overflow)
    g_assert_cmpfloat (fabs (output->grad_norm - t->o.grad_norm), <=, tolerance * t->o.grad_norm);
}

/* Takes steps with these divisors (0: overflow), and compares the state after each. */
static void
run (Truth *t, gboolean amp, const double *divisors, guint n_steps)
{
  double tolerance = amp ? 5e-6 : 1e-13;
  g_autoptr (Harness) h = make (t, amp);
  for (guint i = 0; i < n_steps; i++)
    {
      harness_step (h)->step = i + 1;
      harness_step (h)->loss_divisor = (float) divisors[i];
      truth_step (t, divisors[i]);
      g_assert_true (t->o.rule != REFERENCE_LION || t->o.overflow || t->o.least_direction > 1e-7);
      if (i == 0)
        harness_run (h);
      else
        harness_run_again (h);
      if (t->o.applied > 0)
        harness_step (h)->first_update = 0;
      check_output (h, t, amp ? 2e-3 : 1e-5);
      check_state (h, t, amp, tolerance);
    }
}

static const double five[5] = { 6, 4, 8, 6, 3 };

static void
test_sgd (void)
{
  static const guint32 channels[] = { 10, 64, 5001 };
  for (guint i = 0; i < G_N_ELEMENTS (channels); i++)
    for (guint amp = 0; amp < 2; amp++)
      {
        Truth t;
        truth_init (&t, channels[i]);
        t.o.weight_decay = 0.03125;
        run (&t, amp, five, 5);
        truth_clear (&t);
      }
}

static void
test_sgd_plain (void)
{
  Truth t;
  truth_init (&t, 33);
  t.o.momentum = 0;
  run (&t, FALSE, five, 5);
  truth_clear (&t);
}

static void
adam (Truth *t, ReferenceRule rule)
{
  t->o.rule = rule;
  t->o.lr = 0.0078125;
  t->o.momentum = (double) 0.9f;
  t->o.beta2 = (double) 0.999f;
  t->o.weight_decay = 0.0625;
  t->o.epsilon = (double) 1e-8f;
}

static void
test_adam (gconstpointer rule)
{
  static const guint32 channels[] = { 10, 64, 5001 };
  for (guint i = 0; i < G_N_ELEMENTS (channels); i++)
    {
      Truth t;
      truth_init (&t, channels[i]);
      adam (&t, GPOINTER_TO_UINT (rule));
      run (&t, FALSE, five, 5);
      truth_clear (&t);
    }
}

/* Skipped steps do not count for the bias corrections. */
static void
test_adam_overflow (gconstpointer rule)
{
  const double divisors[6] = { 6, 0, 6, 0, 6, 6 };
  Truth t;
  truth_init (&t, 20);
  adam (&t, GPOINTER_TO_UINT (rule));
  run (&t, FALSE, divisors, 6);
  g_assert_cmpuint (t.o.skipped, ==, 2);
  truth_clear (&t);
}

/* With and without momentum; a skipped step leaves both moments unchanged. */
static void
test_rmsprop (void)
{
  const double divisors[6] = { 6, 4, 0, 8, 6, 3 };
  static const struct {
    guint32 channels;
    float momentum;
  } cases[] = { { 10, 0.9f }, { 64, 0 }, { 5001, 0.9f } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Truth t;
      truth_init (&t, cases[i].channels);
      t.o.rule = REFERENCE_RMSPROP;
      t.o.lr = 0.0078125;
      t.o.momentum = (double) cases[i].momentum;
      t.o.beta2 = (double) 0.99f;
      t.o.weight_decay = 0.0625;
      t.o.epsilon = (double) 1e-8f;
      run (&t, FALSE, divisors, 6);
      g_assert_cmpuint (t.o.skipped, ==, 1);
      truth_clear (&t);
    }
}

/* One step is skipped, and the rate is so high that gradients change their signs before the moment
 * does.  No direction is so near 0 that it could have another sign in double. */
static void
test_lion (void)
{
  const double divisors[6] = { 6, 4, 0, 8, 6, 3 };
  static const guint32 channels[] = { 10, 66, 130 };
  for (guint i = 0; i < G_N_ELEMENTS (channels); i++)
    {
      Truth t;
      truth_init (&t, channels[i]);
      t.o.rule = REFERENCE_LION;
      t.o.lr = 0.25;
      t.o.momentum = (double) 0.9f;
      t.o.beta2 = (double) 0.99f;
      t.o.weight_decay = 0.0625;
      run (&t, FALSE, divisors, 6);
      g_assert_cmpuint (t.o.skipped, ==, 1);
      truth_clear (&t);
    }
}

/* A parameter without a gradient changes only by its decay. */
static void
test_lion_rests (void)
{
  Truth t;
  truth_init (&t, 16);
  memset (t.x, 0, t.count * sizeof (double)); /* gamma has no gradient */
  t.o.rule = REFERENCE_LION;
  t.o.lr = 0.0078125;
  t.o.momentum = (double) 0.9f;
  t.o.beta2 = (double) 0.99f;
  t.o.weight_decay = 0.0625;
  g_autoptr (Harness) h = make (&t, FALSE);
  harness_step (h)->loss_divisor = 6;
  harness_run (h);
  g_autofree double *gamma = harness_read_parameter (h, "bn.weight");
  harness_assert_close (gamma, t.weights, t.c, 1e-6, "weights");
  for (guint32 i = 0; i < t.c; i++)
    t.weights[i] *= 1 - t.o.lr * t.o.weight_decay;
  harness_assert_close (gamma, t.weights, t.c, 1e-13, "decayed weights");
  truth_clear (&t);
}

static void
test_clip (void)
{
  for (guint amp = 0; amp < 2; amp++)
    {
      Truth t;
      truth_init (&t, 24);
      t.o.clip_norm = 0.25;
      t.o.scale = amp ? 256 : 1;
      t.o.dynamic_scale = amp;
      run (&t, amp, five, 5);
      g_assert_cmpfloat (t.o.grad_norm, >, 0.25);
      truth_clear (&t);
    }
}

/* Each element of the unscaled gradient is limited, before any rule reads it: of the elements of a
 * step some are above the limit and some below it, of both signs.  With clip_norm too, the limit
 * applies to the gradient of the limited norm. */
static void
test_clip_value (void)
{
  static const struct {
    ReferenceRule rule;
    gboolean amp;
    double clip_norm, clip_value;
  } cases[] = {
    { REFERENCE_SGD, FALSE, 0, 0.0625 },      { REFERENCE_SGD, TRUE, 0, 0.0625 },
    { REFERENCE_ADAMW, FALSE, 0, 0.0625 },    { REFERENCE_RMSPROP, FALSE, 0, 0.0625 },
    { REFERENCE_SGD, FALSE, 0.25, 0.046875 }, { REFERENCE_SGD, TRUE, 0.25, 0.046875 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Truth t;
      truth_init (&t, 24);
      if (cases[i].rule != REFERENCE_SGD)
        adam (&t, cases[i].rule);
      t.o.weight_decay = 0.03125;
      t.o.clip_norm = cases[i].clip_norm;
      t.o.clip_value = cases[i].clip_value;
      t.o.scale = cases[i].amp ? 256 : 1;
      t.o.dynamic_scale = cases[i].amp;
      run (&t, cases[i].amp, five, 5);
      g_test_message ("%" G_GSIZE_FORMAT " of 48 elements are limited", t.o.n_clipped);
      g_assert_true (t.o.n_clipped > 4 && t.o.n_clipped < 44);
      truth_clear (&t);
    }
}

static void
test_clip_unused (void)
{
  Truth t;
  truth_init (&t, 24);
  t.o.clip_norm = t.o.clip_value = 1e6;
  run (&t, FALSE, five, 2);
  truth_clear (&t);
}

/* The scale doubles after two good steps and halves on overflow. */
static void
test_scale (void)
{
  const double divisors[8] = { 6, 6, 6, 0, 6, 0, 6, 6 };
  Truth t;
  truth_init (&t, 24);
  t.o.scale = 64;
  t.o.dynamic_scale = TRUE;
  t.o.growth_interval = 2;
  run (&t, TRUE, divisors, 8);
  g_assert_cmpfloat (t.o.scale, ==, 64);
  truth_clear (&t);
}

static void
test_scale_first_step (void)
{
  const double divisors[3] = { 0, 0, 6 };
  Truth t;
  truth_init (&t, 8);
  t.o.scale = 64;
  t.o.dynamic_scale = TRUE;
  t.o.growth_interval = 100;
  run (&t, TRUE, divisors, 3);
  truth_clear (&t);
}

static void
test_scale_limits (void)
{
  for (guint i = 0; i < 2; i++)
    {
      Truth t;
      truth_init (&t, 8);
      t.o.scale = 64;
      t.o.growth_interval = 1;
      g_autoptr (Harness) h = make (&t, TRUE);
      harness_step (h)->loss_scale_min = 64;
      harness_step (h)->loss_scale_max = 64;
      harness_step (h)->loss_divisor = i == 0 ? 0 : 6;
      harness_run (h);
      g_assert_cmpfloat (harness_output (h)->loss_scale, ==, 64);
      g_assert_cmpuint (harness_output (h)->overflow, ==, i == 0);
      truth_clear (&t);
    }
}

/* Without AMP a step with Inf is skipped too; the scale stays 1. */
static void
test_overflow (void)
{
  const double divisors[4] = { 6, 0, 6, 6 };
  Truth t;
  truth_init (&t, 24);
  run (&t, FALSE, divisors, 4);
  g_assert_cmpuint (t.o.skipped, ==, 1);
  truth_clear (&t);
}

/* Equal inputs give equal bits. */
static void
test_same_bits (void)
{
  double *first = NULL;
  Truth t;
  truth_init (&t, 5001);
  for (guint pass = 0; pass < 2; pass++)
    {
      g_autoptr (Harness) h = make (&t, FALSE);
      harness_run (h);
      g_autofree double *gamma = harness_read_parameter (h, "bn.weight");
      if (first)
        g_assert_cmpmem (gamma, t.c * sizeof (double), first, t.c * sizeof (double));
      else
        first = g_steal_pointer (&gamma);
    }
  g_free (first);
  truth_clear (&t);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/optimizer/sgd-matches-reference", test_sgd);
  g_test_add_func ("/nn/optimizer/sgd-without-momentum", test_sgd_plain);
  g_test_add_data_func ("/nn/optimizer/adamw-matches-reference", GUINT_TO_POINTER (REFERENCE_ADAMW),
                        test_adam);
  g_test_add_data_func ("/nn/optimizer/adamw-counts-applied-steps",
                        GUINT_TO_POINTER (REFERENCE_ADAMW), test_adam_overflow);
  g_test_add_data_func ("/nn/optimizer/adam-matches-reference", GUINT_TO_POINTER (REFERENCE_ADAM),
                        test_adam);
  g_test_add_data_func ("/nn/optimizer/adam-counts-applied-steps",
                        GUINT_TO_POINTER (REFERENCE_ADAM), test_adam_overflow);
  g_test_add_func ("/nn/optimizer/rmsprop-matches-reference", test_rmsprop);
  g_test_add_func ("/nn/optimizer/lion-matches-reference", test_lion);
  g_test_add_func ("/nn/optimizer/lion-rests-without-gradients", test_lion_rests);
  g_test_add_func ("/nn/optimizer/clips-the-global-norm", test_clip);
  g_test_add_func ("/nn/optimizer/clips-each-value-after-the-norm", test_clip_value);
  g_test_add_func ("/nn/optimizer/large-clip-changes-nothing", test_clip_unused);
  g_test_add_func ("/nn/optimizer/loss-scale-grows-and-falls", test_scale);
  g_test_add_func ("/nn/optimizer/overflow-in-the-first-step", test_scale_first_step);
  g_test_add_func ("/nn/optimizer/loss-scale-limits", test_scale_limits);
  g_test_add_func ("/nn/optimizer/overflow-skips-the-update", test_overflow);
  g_test_add_func ("/nn/optimizer/same-bits-again", test_same_bits);
  return g_test_run ();
}
