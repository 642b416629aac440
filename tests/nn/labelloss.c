/* SPDX-License-Identifier: MIT */
/* The loss of several labels compared with its definition in double: the loss, its gradient by
 * differences, and both metrics. */
#include "harness.h"
#include "metric.h"
#include "mix.h"
#include "step.h"
#include <math.h>
#include <string.h>

#define SCALE 64
#define STEP  1e-5

typedef struct {
  guint32 n, t, c, n_valid; /* samples, rows of each, classes */
  double smoothing, focal;
  gboolean weighted;
  double unknown; /* share of the labels that are not known */
  double spread;  /* of the logits */
  int mixed;      /* 1: the sample before has less than half of the target; 2: more; 0: no part */
} Case;

typedef struct {
  const Case *c;
  double mixed; /* share of the sample before */
  gsize rows;
  double *x, *targets, *weights; /* weights NULL: all 1 */
} Data;

/* The target of a label with the share of the sample before; NaN: it is not known. */
static double
target_of (const Data *d, gsize row, guint32 j, double share)
{
  gsize before = row >= d->c->t ? row - d->c->t : row + (gsize) (d->c->n_valid - 1) * d->c->t;
  double own = d->targets[row * d->c->c + j], other = d->targets[before * d->c->c + j];

  return isnan (own) || isnan (other) || share == 0 ? own : (1 - share) * own + share * other;
}

/* The sum over the samples: BCEWithLogitsLoss with pos_weight, and sigmoid_focal_loss. */
static double
whole_loss (const Data *d)
{
  double sum = 0;

  for (gsize row = 0; row < (gsize) d->c->n_valid * d->c->t; row++)
    for (guint32 j = 0; j < d->c->c; j++)
      {
        double x = d->x[row * d->c->c + j], t = target_of (d, row, j, d->mixed);
        double p = 1 / (1 + exp (-x)), q = 1 / (1 + exp (x));

        if (isnan (t))
          continue;
        t = t * (1 - d->c->smoothing) + d->c->smoothing / 2;
        sum += (d->weights ? d->weights[j] : 1) * t * pow (q, d->c->focal) * log1p (exp (-x));
        sum += (1 - t) * pow (p, d->c->focal) * log1p (exp (x));
      }
  return sum / d->c->c / d->c->t;
}

/* The sums over samples of the share of right labels, and of rows without a wrong label. */
static void
count_right (const Data *d, double *share, double *whole)
{
  *share = *whole = 0;
  for (gsize row = 0; row < (gsize) d->c->n_valid * d->c->t; row++)
    {
      guint known = 0, right = 0;

      for (guint32 j = 0; j < d->c->c; j++)
        {
          double t = target_of (d, row, j, d->mixed > 0.5 ? 1 : 0);

          if (isnan (d->targets[row * d->c->c + j]))
            continue;
          known++;
          right += (d->x[row * d->c->c + j] >= 0) == (t >= 0.5);
        }
      *share += known > 0 ? (double) right / known : 1;
      *whole += right == known;
    }
  *share /= d->c->t;
  *whole /= d->c->t;
}

static Data
make_data (const Case *c)
{
  Data d = { .c = c, .rows = (gsize) c->n * c->t };

  d.x = harness_random (1, d.rows * c->c, c->spread);
  d.targets = harness_random (2, d.rows * c->c, 1);
  for (gsize i = 0; i < d.rows * c->c; i++)
    {
      d.targets[i] = g_test_rand_double () < c->unknown ? (double) NAN : d.targets[i] > 0.3;
      d.x[i] = i % 7 == 3 ? 0 : d.x[i]; /* the border between both answers */
    }
  if (c->weighted)
    {
      d.weights = g_new0 (double, c->c + 1);
      for (guint32 i = 0; i < c->c; i++)
        d.weights[i] = 0.25 + i % 5;
    }
  return d;
}

/* Sets a step whose draw is on the case's side of one half. */
static void
mix (Harness *h, Data *d)
{
  const DynoMix both = { .mixup = 1, .height = 1, .width = 1 };
  struct DynoStepInput drawn;

  do
    {
      drawn = (struct DynoStepInput){ .step = harness_step (h)->step + 1 };
      harness_step (h)->step = drawn.step;
      dyno_mix_draw (&both, &drawn);
      d->mixed = (double) drawn.mix_target;
    }
  while ((d->mixed > 0.5) != (d->c->mixed == 2) || d->mixed < 0.1 || d->mixed > 0.9);
  dyno_graph_set_mix (harness_graph (h), &both);
}

static void
check (const Case *c, gboolean amp)
{
  Data d = make_data (c);
  const DynoClassLoss loss = { .smoothing = c->smoothing, .focal = c->focal };
  gsize count = d.rows * c->c;
  g_autofree double *want = g_new0 (double, count), *got = NULL;
  g_autoptr (Harness) h =
      harness_new (&(HarnessParams){ .amp = amp, .training = TRUE, .batch = c->n });
  DynoTensor *logits, *targets, *weights;
  double share, whole;

  harness_step (h)->n_valid = c->n_valid;
  harness_step (h)->loss_divisor = 2.0f * (float) c->n_valid; /* two micro-batches */
  harness_scaler (h)->scale = SCALE;
  if (c->mixed > 0)
    mix (h, &d);
  logits = harness_input (h, "logits", c->n, 1, c->t, c->c, d.x);
  targets = harness_raw (h, "targets", DYNO_DTYPE_F32, c->n, 1, c->t, c->c, d.targets);
  weights =
      d.weights ? harness_raw (h, "weights", DYNO_DTYPE_F32, 1, 1, 1, c->c + 1, d.weights) : NULL;
  dyno_bce_loss (harness_graph (h), logits, targets, &loss, weights);
  harness_run (h);
  for (gsize i = 0; i < count; i++)
    {
      double value = d.x[i], up;

      d.x[i] = value + STEP;
      up = whole_loss (&d);
      d.x[i] = value - STEP;
      want[i] = (up - whole_loss (&d)) / (2 * STEP) * SCALE / (2 * c->n_valid);
      d.x[i] = value;
    }
  got = harness_read_gradient (h, logits);
  harness_assert_close (got, want, count, harness_tolerance (h), "gradient");
  count_right (&d, &share, &whole);
  g_assert_cmpfloat_with_epsilon ((double) harness_output (h)->loss_sum, whole_loss (&d),
                                  2e-6 * (0.01 + whole_loss (&d)));
  g_assert_cmpfloat_with_epsilon ((double) harness_output (h)->metric_sums[0], share,
                                  2e-6 * (1 + share));
  g_assert_cmpfloat_with_epsilon ((double) harness_output (h)->metric_sums[1], whole, 1e-5);
  g_assert_cmpuint (harness_output (h)->nonfinite_loss, ==, 0);
  g_free (d.x);
  g_free (d.targets);
  g_free (d.weights);
}

static void
test_loss (void)
{
  static const Case cases[] = {
    { .n = 1, .t = 1, .c = 1, .n_valid = 1, .spread = 2 },
    { .n = 4, .t = 1, .c = 10, .n_valid = 3, .smoothing = 0.1, .weighted = TRUE, .spread = 4 },
    { .n = 5, .t = 1, .c = 33, .n_valid = 5, .unknown = 0.4, .weighted = TRUE, .spread = 3 },
    { .n = 3, .t = 1, .c = 300, .n_valid = 2, .unknown = 0.1, .spread = 30 },
    { .n = 4, .t = 3, .c = 7, .n_valid = 3, .smoothing = 0.2, .unknown = 0.2, .spread = 2 },
    { .n = 6, .t = 1, .c = 5, .n_valid = 6, .focal = 2, .weighted = TRUE, .spread = 6 },
    { .n = 6, .t = 2, .c = 9, .n_valid = 5, .focal = 0.5, .unknown = 0.2, .spread = 2 },
    { .n = 3, .t = 1, .c = 4, .n_valid = 3, .unknown = 1, .spread = 2 },
    { .n = 5, .t = 1, .c = 6, .n_valid = 4, .mixed = 1, .weighted = TRUE, .spread = 2 },
    { .n = 5, .t = 2, .c = 6, .n_valid = 4, .mixed = 2, .unknown = 0.3, .spread = 2 },
    { .n = 1, .t = 1, .c = 3, .n_valid = 1, .mixed = 2, .smoothing = 0.1, .spread = 2 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint amp = 0; amp < 2; amp++)
      check (&cases[i], amp);
}

/* exp of these would overflow; the loss of a wrong label is its logit. */
static void
test_large (void)
{
  const double x[4] = { 300, -300, 3000, -3000 }, targets[4] = { 1, 0, 0, 1 };
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = TRUE, .batch = 1 });
  DynoTensor *logits = harness_input (h, "logits", 1, 1, 1, 4, x);
  g_autofree double *got = NULL;

  dyno_bce_loss (harness_graph (h), logits,
                 harness_raw (h, "targets", DYNO_DTYPE_F32, 1, 1, 1, 4, targets), NULL, NULL);
  harness_run (h);
  got = harness_read_gradient (h, logits);
  g_assert_cmpfloat ((double) harness_output (h)->loss_sum, ==, 6000.0 / 4);
  g_assert_cmpfloat (got[0], ==, 0);
  g_assert_cmpfloat (got[1], ==, 0);
  g_assert_cmpfloat (got[2], ==, 0.25);
  g_assert_cmpfloat (got[3], ==, -0.25);
}

/* The relative error of the loss of a label that is certain: 1 + exp (-x) would lose its digits. */
static void
test_small (void)
{
  for (guint i = 0; i < 30; i++)
    {
      double x = 1 + i * 0.5, target = 1, loss = log1p (exp (-x));
      g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = TRUE, .batch = 1 });
      DynoTensor *logits = harness_input (h, "logits", 1, 1, 1, 1, &x);

      dyno_bce_loss (harness_graph (h), logits,
                     harness_raw (h, "targets", DYNO_DTYPE_F32, 1, 1, 1, 1, &target), NULL, NULL);
      harness_run (h);
      g_assert_cmpfloat_with_epsilon ((double) harness_output (h)->loss_sum / loss, 1, 2e-6);
    }
}

static void
test_limits (void)
{
  static const struct {
    DynoClassLoss loss;
    gboolean no_targets, good;
  } cases[] = {
    { { .focal = 10, .smoothing = 0 }, FALSE, TRUE },
    { { .smoothing = 1 }, FALSE, TRUE },
    { { .smoothing = 1.01 }, FALSE, FALSE },
    { { .smoothing = 0.1, .focal = 1 }, FALSE, FALSE },
    { { .dice = 0.5 }, FALSE, FALSE },
    { { 0 }, TRUE, FALSE },
  };
  const DynoGraphParams params = { .batch = 2, .training = TRUE };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (DynoGraph) graph = dyno_graph_new (&params);
      DynoTensor *x = dyno_graph_activation (graph, "x", 2, 1, 1, 4);
      DynoTensor *targets =
          cases[i].no_targets
              ? NULL
              : dyno_graph_tensor (graph, "t", DYNO_DTYPE_F32, DYNO_SPACE_INPUT, 2, 1, 1, 4, 4);

      dyno_bce_loss (graph, x, targets, &cases[i].loss, NULL);
      g_assert_cmpint (dyno_graph_check (graph, NULL), ==, cases[i].good);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/labelloss/loss", test_loss);
  g_test_add_func ("/nn/labelloss/large-logits", test_large);
  g_test_add_func ("/nn/labelloss/small-losses", test_small);
  g_test_add_func ("/nn/labelloss/limits", test_limits);
  return g_test_run ();
}
