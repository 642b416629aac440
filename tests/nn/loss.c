/* SPDX-License-Identifier: MIT */
/* Cross entropy and squared error compared with their references, and the values that they write to
 * the step's output. */
#include "harness.h"
#include "metric.h"
#include "random.h"
#include "reference/loss.h"
#include <math.h>

typedef struct {
  guint32 n, c, n_valid;
  double smoothing;
} Case;

static const Case cases[] = {
  { 1, 3, 1, 0 },     { 4, 10, 4, 0 },  { 7, 33, 5, 0.1 },   { 128, 1000, 128, 0.1 },
  { 300, 2, 299, 0 }, { 5, 1, 5, 0 },   { 2, 4099, 2, 0.2 }, { 4096, 8, 4000, 0.05 },
  { 9, 6, 8, 0 },     { 9, 7, 8, 0.1 },
};

static void
assert_near (double got, double want, double relative)
{
  g_assert_cmpfloat (fabs (got - want), <=, relative * (1e-3 + fabs (want)));
}

static void
scale_gradient (double *gradient, gsize count, double factor)
{
  for (gsize i = 0; i < count; i++)
    gradient[i] *= factor;
}

/* Makes weights for c classes, one of which is zero, followed by their sum. */
static double *
make_weights (guint32 c)
{
  double *weights = harness_random (3, (gsize) c + 1, 1);
  weights[c] = 0;
  for (guint32 i = 0; i < c; i++)
    {
      weights[i] = i == 1 ? 0 : 3 * weights[i] * weights[i];
      weights[c] += weights[i];
    }
  return weights;
}

static void
check_cross_entropy (const Case *c, gboolean amp, double spread, gboolean weighted)
{
  gsize count = (gsize) c->n * c->c;
  g_autofree double *weights = weighted ? make_weights (c->c) : NULL;
  g_autofree double *x = harness_random (1, count, spread), *targets = harness_random (2, c->n, 1);
  g_autofree double *want = g_new (double, count);
  for (guint32 i = 0; i < c->n; i++)
    targets[i] = floor ((targets[i] + 1) / 2.01 * c->c);
  g_autoptr (Harness) h =
      harness_new (&(HarnessParams){ .amp = amp, .training = TRUE, .batch = c->n });
  harness_step (h)->n_valid = c->n_valid;
  harness_step (h)->loss_divisor = (float) c->n_valid;
  harness_scaler (h)->scale = 1024;
  DynoTensor *logits = harness_input (h, "logits", c->n, 1, 1, c->c, x);
  dyno_softmax_cross_entropy (
      harness_graph (h), logits, harness_raw (h, "targets", DYNO_DTYPE_I32, c->n, 1, 1, 1, targets),
      &(DynoClassLoss){ .smoothing = c->smoothing },
      weighted ? harness_raw (h, "weights", DYNO_DTYPE_F32, 1, 1, 1, c->c + 1, weights) : NULL);
  harness_run (h);
  ReferenceLoss s = { c->n, c->c, c->n_valid, c->smoothing, weights };
  double correct, loss = reference_cross_entropy (&s, x, targets, &correct, want);
  scale_gradient (want, count, 1024.0 / c->n_valid);
  g_autofree double *got = harness_read_gradient (h, logits);
  harness_assert_close (got, want, count, harness_tolerance (h), "gradient");
  const struct DynoStepOutput *output = harness_output (h);
  assert_near (output->loss_sum, loss, 2e-6);
  g_assert_cmpfloat (output->metric_sums[0], ==, correct);
  assert_near (output->metric_sums[1], reference_log_loss (&s, x, targets), 2e-6);
  g_assert_cmpfloat (output->metric_sums[2], ==, c->c > 5 ? reference_top5 (&s, x, targets) : 0);
  g_assert_cmpuint (output->n_valid, ==, c->n_valid);
  g_assert_cmpuint (output->nonfinite_loss, ==, 0);
  g_assert_cmpfloat (output->loss_scale, ==, 1024);
}

static void
test_cross_entropy (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint amp = 0; amp < 2; amp++)
      check_cross_entropy (&cases[i], amp, 4, FALSE);
}

static void
test_class_weights (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint amp = 0; amp < 2; amp++)
      check_cross_entropy (&cases[i], amp, 4, TRUE);
}

/* torch.nn.CrossEntropyLoss with weight, label_smoothing and its reduction mean, as ATen computes
 * it: nll_loss divided by the sum of the targets' weights, and the smoothed part divided by the
 * same sum. */
static double
torch_loss (const double *x, const double *targets, const double *weights, double smoothing,
            guint32 n, guint32 c)
{
  double nll = 0, smooth = 0, all = 0;
  for (guint32 i = 0; i < n; i++)
    {
      const double *row = x + (gsize) i * c;
      guint32 target = (guint32) targets[i];
      double sum = 0;
      for (guint32 j = 0; j < c; j++)
        sum += exp (row[j]);
      for (guint32 j = 0; j < c; j++)
        smooth -= weights[j] * (row[j] - log (sum));
      nll -= weights[target] * (row[target] - log (sum));
      all += weights[target];
    }
  return (1 - smoothing) * nll / all + smoothing / c * smooth / all;
}

/* The loss does not depend on a common factor of the weights, for any targets. */
static void
check_torch_weights (double factor, double smoothing, gboolean amp)
{
  const guint32 n = 6, c = 3;
  double weights[4] = { factor, 2 * factor, 5 * factor, 8 * factor }, targets[6];
  g_autofree double *x = harness_random (5, n * c, 2), *want = g_new (double, n *c);
  double loss;
  for (guint32 i = 0; i < n; i++)
    targets[i] = g_test_rand_int_range (0, 3);
  g_autoptr (Harness) h =
      harness_new (&(HarnessParams){ .amp = amp, .training = TRUE, .batch = n });
  harness_step (h)->n_valid = n;
  harness_step (h)->loss_divisor = n;
  DynoTensor *logits = harness_input (h, "logits", n, 1, 1, c, x);
  dyno_softmax_cross_entropy (harness_graph (h), logits,
                              harness_raw (h, "targets", DYNO_DTYPE_I32, n, 1, 1, 1, targets),
                              &(DynoClassLoss){ .smoothing = smoothing },
                              harness_raw (h, "weights", DYNO_DTYPE_F32, 1, 1, 1, c + 1, weights));
  harness_run (h);
  loss = torch_loss (x, targets, weights, smoothing, n, c);
  for (guint32 i = 0; i < n * c; i++)
    {
      double value = x[i], up, down;
      x[i] = value + 1e-5;
      up = torch_loss (x, targets, weights, smoothing, n, c);
      x[i] = value - 1e-5;
      down = torch_loss (x, targets, weights, smoothing, n, c);
      x[i] = value;
      want[i] = (up - down) / 2e-5;
    }
  g_autofree double *got = harness_read_gradient (h, logits);
  harness_assert_close (got, want, n * c, harness_tolerance (h), "gradient");
  assert_near (harness_output (h)->loss_sum / n, loss, 4e-6);
}

static void
test_torch_weights (void)
{
  const double factors[] = { 1, 1.0 / 60, 1e6, 1e-6 };
  for (guint i = 0; i < G_N_ELEMENTS (factors); i++)
    for (guint amp = 0; amp < 2; amp++)
      check_torch_weights (factors[i], i % 2 ? 0 : 0.2, amp);
  check_torch_weights (1.0 / 15, 0.2, FALSE);
}

/* Targets whose weights are zero give no loss and no gradient, and no division by zero. */
static void
test_no_weight (void)
{
  const double targets[2] = { 1, 1 }, weights[4] = { 1, 0, 2, 3 }, x[6] = { 1, 2, 3, 3, 2, 1 };
  g_autofree double *got = NULL;
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = TRUE, .batch = 2 });
  DynoTensor *logits = harness_input (h, "logits", 2, 1, 1, 3, x);
  dyno_softmax_cross_entropy (harness_graph (h), logits,
                              harness_raw (h, "targets", DYNO_DTYPE_I32, 2, 1, 1, 1, targets),
                              &(DynoClassLoss){ .smoothing = 0.2 },
                              harness_raw (h, "weights", DYNO_DTYPE_F32, 1, 1, 1, 4, weights));
  harness_run (h);
  got = harness_read_gradient (h, logits);
  for (guint i = 0; i < 6; i++)
    g_assert_cmpfloat (got[i], ==, 0);
  g_assert_cmpfloat (harness_output (h)->loss_sum, ==, 0);
  g_assert_cmpuint (harness_output (h)->nonfinite_loss, ==, 0);
}

/* exp of these logits would overflow. */
static void
test_cross_entropy_large (void)
{
  check_cross_entropy (&cases[2], FALSE, 3000, FALSE);
  check_cross_entropy (&cases[2], TRUE, 3000, FALSE);
}

static void
test_cross_entropy_ties (void)
{
  const double x[12] = { 1, 5, 5, 5, 2, 2, 2, 2, 0, 0, 1, 1 }, targets[3] = { 1, 3, 2 };
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = TRUE, .batch = 3 });
  DynoTensor *logits = harness_input (h, "logits", 3, 1, 1, 4, x);
  dyno_softmax_cross_entropy (harness_graph (h), logits,
                              harness_raw (h, "targets", DYNO_DTYPE_I32, 3, 1, 1, 1, targets), NULL,
                              NULL);
  harness_run (h);
  g_assert_cmpfloat (harness_output (h)->metric_sums[0], ==, 2);
}

/* Equal logits in different invocations. */
static void
test_cross_entropy_far_ties (void)
{
  double x[2 * 300] = { 0 };
  const double targets[2] = { 3, 120 };
  x[3] = x[200] = x[299] = 7;
  x[300 + 120] = x[300 + 126] = x[300 + 7 * 33] = 2;
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = TRUE, .batch = 2 });
  DynoTensor *logits = harness_input (h, "logits", 2, 1, 1, 300, x);
  dyno_softmax_cross_entropy (harness_graph (h), logits,
                              harness_raw (h, "targets", DYNO_DTYPE_I32, 2, 1, 1, 1, targets), NULL,
                              NULL);
  harness_run (h);
  g_assert_cmpfloat (harness_output (h)->metric_sums[0], ==, 2);
}

/* Six equal largest logits: the sixth is not in the top five. */
static void
test_top5_ties (void)
{
  const double x[2 * 9] = { 0, 3, 3, 3, 3, 3, 3, 1, 1, 0, 3, 3, 3, 3, 3, 3, 1, 1 };
  const double targets[2] = { 6, 5 };
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = TRUE, .batch = 2 });
  DynoTensor *logits = harness_input (h, "logits", 2, 1, 1, 9, x);
  dyno_softmax_cross_entropy (harness_graph (h), logits,
                              harness_raw (h, "targets", DYNO_DTYPE_I32, 2, 1, 1, 1, targets), NULL,
                              NULL);
  harness_run (h);
  g_assert_cmpfloat (harness_output (h)->metric_sums[0], ==, 0);
  g_assert_cmpfloat (harness_output (h)->metric_sums[2], ==, 1);
}

static void
assert_metrics (guint32 n_outputs, gboolean mse, const char *names)
{
  DynoGraphParams params = { .batch = 2 };
  g_autoptr (DynoGraph) graph = dyno_graph_new (&params);
  DynoTensor *x = dyno_graph_activation (graph, "x", 2, 1, 1, n_outputs);
  guint32 c = mse ? n_outputs : 1;
  DynoTensor *targets = dyno_graph_tensor (graph, "targets", mse ? DYNO_DTYPE_F32 : DYNO_DTYPE_I32,
                                           DYNO_SPACE_INPUT, 2, 1, 1, c, c);
  g_autoptr (GString) got = g_string_new (NULL);
  const DynoMetricInfo *metrics;
  guint n;
  if (mse)
    dyno_mse_loss (graph, x, targets, NULL);
  else
    dyno_softmax_cross_entropy (graph, x, targets, NULL, NULL);
  n = dyno_network_get_metrics (graph, &metrics);
  g_assert_cmpuint (n, <=, DYNO_MAX_METRICS);
  for (guint i = 0; i < n; i++)
    g_string_append_printf (got, "%s ", metrics[i].name);
  g_assert_cmpstr (got->str, ==, names);
}

static void
test_declared (void)
{
  assert_metrics (5, FALSE, "accuracy log_loss ");
  assert_metrics (6, FALSE, "accuracy log_loss top5 ");
  assert_metrics (1, TRUE, "mean_abs_error ");
  assert_metrics (3, TRUE, "mean_abs_error mean_abs_error_0 mean_abs_error_1 mean_abs_error_2 ");
  assert_metrics (8, TRUE, "mean_abs_error ");
}

/* For sequences (N, 1, T, C) the loss of a sample is the mean over its steps, and invalid samples
 * do not count. */
static void
check_sequences (gboolean amp, gboolean mse, gboolean weighted)
{
  const guint32 n = 4, t = 3, c = 7, n_valid = 3;
  gsize count = (gsize) n * t * c;
  g_autofree double *x = harness_random (1, count, 2), *want = g_new (double, count),
                    *targets = harness_random (2, count, 1), *weights = make_weights (c);
  for (guint32 i = 0; i < n * t && !mse; i++)
    targets[i] = floor ((targets[i] + 1) / 2.01 * c);
  g_autoptr (Harness) h =
      harness_new (&(HarnessParams){ .amp = amp, .training = TRUE, .batch = n });
  harness_step (h)->n_valid = n_valid;
  harness_step (h)->loss_divisor = (float) n_valid;
  DynoTensor *logits = harness_input (h, "logits", n, 1, t, c, x);
  if (mse)
    dyno_mse_loss (harness_graph (h), logits,
                   harness_raw (h, "targets", DYNO_DTYPE_F32, n, 1, t, c, targets), NULL);
  else
    dyno_softmax_cross_entropy (
        harness_graph (h), logits, harness_raw (h, "targets", DYNO_DTYPE_I32, n, 1, t, 1, targets),
        &(DynoClassLoss){ .smoothing = 0.1 },
        weighted ? harness_raw (h, "weights", DYNO_DTYPE_F32, 1, 1, 1, c + 1, weights) : NULL);
  harness_run (h);
  ReferenceLoss s = { n * t, c, n_valid * t, mse ? 0 : 0.1, weighted ? weights : NULL };
  double metric, loss = mse ? reference_mse (&s, x, targets, &metric, want)
                            : reference_cross_entropy (&s, x, targets, &metric, want);
  scale_gradient (want, count, 1.0 / (n_valid * t));
  g_autofree double *got = harness_read_gradient (h, logits);
  harness_assert_close (got, want, count, harness_tolerance (h), "gradient");
  assert_near (harness_output (h)->loss_sum, loss / t, 2e-6);
  assert_near (harness_output (h)->metric_sums[0], metric / t, 2e-6);
  g_assert_cmpuint (harness_output (h)->n_valid, ==, n_valid);
}

static void
test_sequences (void)
{
  for (guint i = 0; i < 4; i++)
    check_sequences (i & 1, i & 2, FALSE);
  check_sequences (FALSE, FALSE, TRUE);
}

/* Targets that are not class ids must not be used as an index. */
static void
test_cross_entropy_ids (void)
{
  const double targets[6] = { 0, 5, -1, 2147483647, -100, 4 };
  g_autofree double *x = harness_random (1, 30, 2), *want = g_new (double, 30);
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = TRUE, .batch = 6 });
  DynoTensor *logits = harness_input (h, "logits", 6, 1, 1, 5, x);
  dyno_softmax_cross_entropy (harness_graph (h), logits,
                              harness_raw (h, "targets", DYNO_DTYPE_I32, 6, 1, 1, 1, targets),
                              &(DynoClassLoss){ .smoothing = 0.1 }, NULL);
  harness_run (h);
  ReferenceLoss s = { 6, 5, 6, 0.1, NULL };
  double correct, loss = reference_cross_entropy (&s, x, targets, &correct, want);
  scale_gradient (want, 30, 1.0 / 6);
  g_autofree double *got = harness_read_gradient (h, logits);
  harness_assert_close (got, want, 30, 1e-7, "gradient");
  assert_near (harness_output (h)->loss_sum, loss, 2e-6);
}

static void
test_cross_entropy_random (void)
{
  const guint32 n = 40, c = 10;
  g_autofree double *x = harness_random (1, n * c, 2), *want = g_new (double, n *c),
                    *targets = g_new (double, n);
  guint seen[10] = { 0 };
  for (guint32 i = 0; i < n; i++)
    {
      targets[i] = dyno_random_at (dyno_random_key (9, 0, 1, 0, DYNO_RANDOM_STREAM_TARGET), i) % c;
      seen[(guint) targets[i]]++;
    }
  for (guint i = 0; i < c; i++)
    g_assert_cmpuint (seen[i], <, 15);
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = TRUE, .batch = n });
  harness_step (h)->seed_low = 9;
  DynoTensor *logits = harness_input (h, "logits", n, 1, 1, c, x);
  dyno_softmax_cross_entropy (harness_graph (h), logits, NULL, NULL, NULL);
  harness_run (h);
  ReferenceLoss s = { n, c, n, 0, NULL };
  double correct, loss = reference_cross_entropy (&s, x, targets, &correct, want);
  scale_gradient (want, n * c, 1.0 / n);
  g_autofree double *got = harness_read_gradient (h, logits);
  harness_assert_close (got, want, n * c, 1e-7, "gradient");
  assert_near (harness_output (h)->loss_sum, loss, 2e-6);
  g_assert_cmpfloat (harness_output (h)->metric_sums[0], ==, correct);
}

static void
test_nonfinite (void)
{
  const double bad[2] = { NAN, INFINITY };
  for (guint i = 0; i < 2; i++)
    {
      const double x[6] = { 1, bad[i], 2, 0, 1, 2 }, targets[2] = { 0, 1 };
      g_autoptr (Harness) h =
          harness_new (&(HarnessParams){ .amp = TRUE, .batch = 2, .kind = DYNO_COMMAND_FORWARD });
      DynoTensor *logits = harness_input (h, "logits", 2, 1, 1, 3, x);
      dyno_softmax_cross_entropy (harness_graph (h), logits,
                                  harness_raw (h, "targets", DYNO_DTYPE_I32, 2, 1, 1, 1, targets),
                                  NULL, NULL);
      harness_run (h);
      g_assert_cmpuint (harness_output (h)->nonfinite_loss, ==, 1);
    }
}

/* standard: the prediction stands for prediction * deviation + mean, for each value separately;
 * loss and error are computed from that, and the gradient is that of the difference divided by the
 * deviation. */
static void
check_values (gboolean standard, gboolean smooth_l1)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint amp = 0; amp < 2; amp++)
      {
        const Case *c = &cases[i];
        gsize count = (gsize) c->n * c->c;
        g_autofree double *x = harness_random (1, count, 2),
                          *targets = harness_random (2, count, 2);
        g_autofree double *want = g_new (double, count);
        g_autoptr (Harness) h =
            harness_new (&(HarnessParams){ .amp = amp, .training = TRUE, .batch = c->n });
        harness_step (h)->n_valid = c->n_valid;
        harness_step (h)->loss_divisor = (float) c->n_valid * 2;
        harness_scaler (h)->scale = 4096;
        DynoTensor *prediction = harness_input (h, "prediction", c->n, 1, 1, c->c, x);
        g_autofree double *scale = g_new (double, 2 * c->c);
        for (guint k = 0; k < c->c; k++)
          {
            scale[k] = standard ? (double) (k % 7) - 2 : 0;
            scale[c->c + k] = standard ? 0.25 * (1 + k % 5) : 1;
          }
        for (gsize k = 0; k < count; k++)
          x[k] = x[k] * scale[c->c + k % c->c] + scale[k % c->c];
        (smooth_l1 ? dyno_smooth_l1_loss : dyno_mse_loss) (
            harness_graph (h), prediction,
            harness_raw (h, "targets", DYNO_DTYPE_F32, c->n, 1, 1, c->c, targets),
            standard ? harness_raw (h, "standard", DYNO_DTYPE_F32, 1, 1, 1, 2 * c->c, scale)
                     : NULL);
        harness_run (h);
        ReferenceLoss s = { c->n, c->c, c->n_valid, 0, NULL };
        double absolute, loss = reference_mse (&s, x, targets, &absolute, want);
        if (smooth_l1)
          loss = reference_smooth_l1 (&s, x, targets, scale + c->c, want);
        for (gsize k = 0; k < count; k++)
          /* the gradient of ((value - target) / deviation)^2 / 8; smooth L1 has the same size where
           * it is a square */
          want[k] /= !standard ? 1 : smooth_l1 ? 4 : 8 * scale[c->c + k % c->c];
        scale_gradient (want, count, 4096.0 / (c->n_valid * 2));
        g_autofree double *got = harness_read_gradient (h, prediction);
        harness_assert_close (got, want, count, harness_tolerance (h), "gradient");
        assert_near (harness_output (h)->loss_sum, loss, 2e-6);
        assert_near (harness_output (h)->metric_sums[0], absolute, 2e-6);
        for (guint k = 0; k < DYNO_MAX_METRICS - 1; k++)
          assert_near (
              harness_output (h)->metric_sums[1 + k],
              c->c > 1 && c->c <= 7 && k < c->c ? reference_absolute (&s, x, targets, k) : 0, 2e-6);
      }
}

static void
test_mse (void)
{
  check_values (FALSE, FALSE);
}

static void
test_mse_standard (void)
{
  check_values (TRUE, FALSE);
}

static void
test_smooth_l1 (void)
{
  check_values (FALSE, TRUE);
  check_values (TRUE, TRUE);
}

static void
test_shapes (void)
{
  const double values[12] = { 0 };
  for (guint i = 0; i < 3; i++)
    {
      g_autoptr (Harness) h = harness_new (&(HarnessParams){ .batch = 2 });
      DynoGraph *graph = harness_graph (h);
      DynoTensor *x = harness_input (h, "x", 2, 1, i == 0 ? 2 : 1, 3, values);
      if (i == 1)
        dyno_softmax_cross_entropy (
            graph, x, harness_raw (h, "t", DYNO_DTYPE_I32, 1, 1, 1, 1, values), NULL, NULL);
      else if (i == 0)
        dyno_softmax_cross_entropy (
            graph, x, harness_raw (h, "t", DYNO_DTYPE_I32, 2, 1, 1, 1, values), NULL, NULL);
      else
        dyno_mse_loss (graph, x, harness_raw (h, "t", DYNO_DTYPE_F32, 2, 1, 1, 2, values), NULL);
      g_autoptr (GError) error = NULL;
      g_assert_false (dyno_graph_check (graph, &error));
      g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE);
    }
}

/* A smoothing outside of 0 to 1, and weights without their sum, are refused; the last value of each
 * list is valid. */
static void
check_limits (gboolean pixels)
{
  static const double smoothings[] = { -0.01, 1.01, (double) NAN, 1 };
  static const guint32 counts[] = { 4, 5 }; /* of 4 classes */
  const DynoGraphParams params = { .batch = 2, .training = TRUE };
  for (guint i = 0; i < G_N_ELEMENTS (smoothings) + G_N_ELEMENTS (counts); i++)
    {
      g_autoptr (DynoGraph) graph = dyno_graph_new (&params);
      gboolean smooths = i < G_N_ELEMENTS (smoothings);
      guint32 count = smooths ? 5 : counts[i - G_N_ELEMENTS (smoothings)];
      DynoTensor *x = dyno_graph_activation (graph, "x", 2, 1, 1, 4),
                 *weights = dyno_graph_tensor (graph, "weights", DYNO_DTYPE_F32, DYNO_SPACE_INPUT,
                                               1, 1, 1, count, count);
      (pixels ? dyno_pixel_cross_entropy : dyno_softmax_cross_entropy) (
          graph, x, NULL, &(DynoClassLoss){ .smoothing = smooths ? smoothings[i] : 0 }, weights);
      g_assert_cmpint (dyno_graph_check (graph, NULL), ==,
                       smooths ? smoothings[i] == 1 : count == 5);
    }
}

static void
test_limits (void)
{
  check_limits (FALSE);
  check_limits (TRUE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/loss/sequences-are-a-mean-over-their-steps", test_sequences);
  g_test_add_func ("/nn/crossentropy/matches-reference", test_cross_entropy);
  g_test_add_func ("/nn/crossentropy/large-logits", test_cross_entropy_large);
  g_test_add_func ("/nn/crossentropy/first-of-equal-logits-counts", test_cross_entropy_ties);
  g_test_add_func ("/nn/crossentropy/equal-logits-far-apart", test_cross_entropy_far_ties);
  g_test_add_func ("/nn/crossentropy/top5-of-equal-logits", test_top5_ties);
  g_test_add_func ("/nn/loss/declares-its-metrics", test_declared);
  g_test_add_func ("/nn/crossentropy/targets-out-of-range", test_cross_entropy_ids);
  g_test_add_func ("/nn/crossentropy/random-targets", test_cross_entropy_random);
  g_test_add_func ("/nn/crossentropy/nan-and-inf-are-told", test_nonfinite);
  g_test_add_func ("/nn/mse/matches-reference", test_mse);
  g_test_add_func ("/nn/mse/standardised-targets-match-reference", test_mse_standard);
  g_test_add_func ("/nn/smooth-l1/matches-reference", test_smooth_l1);
  g_test_add_func ("/nn/loss/bad-shapes-are-errors", test_shapes);
  g_test_add_func ("/nn/crossentropy/limits-of-smoothing-and-weights", test_limits);
  g_test_add_func ("/nn/crossentropy/class-weights", test_class_weights);
  g_test_add_func ("/nn/crossentropy/class-weights-as-pytorch", test_torch_weights);
  g_test_add_func ("/nn/crossentropy/classes-without-weight", test_no_weight);
  return g_test_run ();
}
