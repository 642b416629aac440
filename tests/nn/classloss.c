/* SPDX-License-Identifier: MIT */
/* The focal loss and the Dice loss compared with their definitions in double: the loss, and its
 * gradient by differences. */
#include "harness.h"
#include <math.h>
#include <string.h>

#define IGNORED DYNO_MASK_IGNORED
#define SCALE   64
#define STEP    1e-5

typedef struct {
  guint32 n, h, w, c, n_valid;
  double focal, dice;
  gboolean weighted;
  double ignored; /* share of ignored rows */
  double spread;  /* of the logits: large ones give classes that are certain */
} Case;

typedef struct {
  const Case *c;
  gsize rows;
  double *x, *targets, *weights; /* weights NULL: all 1 */
} Data;

static gboolean
counts (const Data *d, gsize row)
{
  return row / ((gsize) d->c->h * d->c->w) < d->c->n_valid && d->targets[row] < d->c->c;
}

/* (1 - p)^focal * -log p over the weights of the targets: Lin et al., 2017; alpha as weights. */
static double
focal_loss (const Data *d)
{
  guint32 c = d->c->c;
  double sum = 0, weights = 0;

  for (gsize row = 0; row < d->rows; row++)
    if (counts (d, row))
      {
        const double *x = d->x + row * c;
        guint32 target = (guint32) d->targets[row];
        double weight = d->weights ? d->weights[target] : 1, others = 0;

        for (guint32 j = 0; j < c; j++)
          others += j == target ? 0 : exp (x[j] - x[target]);
        /* p = 1 / (1 + others), so that 1 - p keeps its digits. */
        sum += weight * pow (others / (1 + others), d->c->focal) * log1p (others);
        weights += weight;
      }
  return weights > 0 ? sum / weights : 0;
}

/* DiceLoss of segmentation_models_pytorch, mode multiclass, from logits, no smoothing: the mean
 * over the classes of 1 - 2 I / U over the whole batch, which is 0 for a class without a target. */
static double
dice_loss (const Data *d)
{
  guint32 c = d->c->c;
  g_autofree double *own = g_new0 (double, c), *whole = g_new0 (double, c),
                    *there = g_new0 (double, c);
  double loss = 0;

  for (gsize row = 0; row < d->rows; row++)
    if (counts (d, row))
      {
        const double *x = d->x + row * c;
        double largest = -INFINITY, sum = 0;

        for (guint32 j = 0; j < c; j++)
          largest = MAX (largest, x[j]);
        for (guint32 j = 0; j < c; j++)
          sum += exp (x[j] - largest);
        for (guint32 j = 0; j < c; j++)
          {
            double p = exp (x[j] - largest) / sum;

            whole[j] += p + (j == d->targets[row]);
            own[j] += j == d->targets[row] ? p : 0;
            there[j] += j == d->targets[row];
          }
      }
  for (guint32 j = 0; j < c; j++)
    loss += there[j] > 0 ? (1 - 2 * own[j] / MAX (whole[j], 1e-7)) / c : 0;
  return loss;
}

static double
whole_loss (const Data *d)
{
  return (1 - d->c->dice) * focal_loss (d) + d->c->dice * dice_loss (d);
}

static Data
make_data (const Case *c)
{
  Data d = { c, (gsize) c->n * c->h * c->w };

  d.x = harness_random (1, d.rows * c->c, c->spread);
  d.targets = harness_random (2, d.rows, 1);
  for (gsize i = 0; i < d.rows; i++)
    /* Where there are more than three classes, the last one has no target. */
    d.targets[i] = g_test_rand_double () < c->ignored
                       ? IGNORED
                       : floor ((d.targets[i] + 1) / 2.01 * (c->c > 3 ? c->c - 1 : c->c));
  if (c->weighted)
    {
      d.weights = g_new0 (double, c->c + 1);
      for (guint32 i = 0; i < c->c; i++)
        d.weights[c->c] += d.weights[i] = 0.25 + i % 3;
    }
  return d;
}

static void
check (const Case *c, gboolean pixels, gboolean amp)
{
  Data d = make_data (c);
  const DynoClassLoss loss = { .focal = c->focal, .dice = c->dice };
  gsize count = d.rows * c->c;
  g_autofree double *want = g_new0 (double, count), *got = NULL;
  g_autoptr (Harness) h =
      harness_new (&(HarnessParams){ .amp = amp, .training = TRUE, .batch = c->n });
  DynoTensor *logits, *targets, *weights;

  harness_step (h)->n_valid = c->n_valid;
  harness_step (h)->loss_divisor = 2.0f * (float) c->n_valid; /* two micro-batches */
  harness_scaler (h)->scale = SCALE;
  logits = harness_input (h, "logits", c->n, c->h, c->w, c->c, d.x);
  targets = harness_raw (h, "targets", DYNO_DTYPE_I32, c->n, c->h, c->w, 1, d.targets);
  weights =
      d.weights ? harness_raw (h, "weights", DYNO_DTYPE_F32, 1, 1, 1, c->c + 1, d.weights) : NULL;
  (pixels ? dyno_pixel_cross_entropy : dyno_softmax_cross_entropy) (harness_graph (h), logits,
                                                                    targets, &loss, weights);
  harness_run (h);
  for (gsize i = 0; i < count; i++)
    {
      double value = d.x[i], up;

      d.x[i] = value + STEP;
      up = whole_loss (&d);
      d.x[i] = value - STEP;
      want[i] = (up - whole_loss (&d)) / (2 * STEP) * SCALE / 2;
      d.x[i] = value;
    }
  got = harness_read_gradient (h, logits);
  harness_assert_close (got, want, count, harness_tolerance (h), "gradient");
  g_assert_cmpfloat_with_epsilon ((double) harness_output (h)->loss_sum / c->n_valid,
                                  whole_loss (&d), 1e-5 * (0.01 + whole_loss (&d)));
  g_assert_cmpuint (harness_output (h)->nonfinite_loss, ==, 0);
  g_free (d.x);
  g_free (d.targets);
  g_free (d.weights);
}

static void
test_pixels (void)
{
  static const Case cases[] = {
    { 2, 5, 7, 3, 2, 2, 0, FALSE, 0.3, 2 },    { 3, 4, 6, 21, 2, 0, 1, FALSE, 0.2, 3 },
    { 2, 6, 5, 9, 2, 0.5, 0, TRUE, 0.3, 3 },   { 1, 9, 3, 2, 1, 0, 0.5, TRUE, 0, 1 },
    { 2, 17, 19, 5, 2, 3, 0.3, TRUE, 0.1, 2 }, { 1, 3, 5, 255, 1, 1, 0.6, FALSE, 0.2, 3 },
    { 2, 3, 3, 70, 2, 0, 1, FALSE, 0, 8 },     { 2, 4, 4, 4, 1, 2, 0.5, FALSE, 1, 2 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint amp = 0; amp < 2; amp++)
      check (&cases[i], TRUE, amp);
}

static void
test_rows (void)
{
  static const Case cases[] = {
    { 5, 1, 1, 3, 5, 2, 0, FALSE, 0, 2 },    { 4, 1, 1, 10, 3, 0.5, 0, TRUE, 0.2, 6 },
    { 3, 1, 1, 70, 3, 5, 0, TRUE, 0, 3 },    { 2, 1, 1, 2, 2, 1, 0, FALSE, 0, 20 },
    { 3, 1, 1, 1000, 3, 2, 0, FALSE, 0, 2 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint amp = 0; amp < 2; amp++)
      check (&cases[i], FALSE, amp);
}

/* More pixels than the minimum of workgroups covers, and the same bits in a second run. */
static void
test_many (void)
{
  static const Case c = { 4, 256, 256, 21, 4, 2, 0.5, FALSE, 0.1, 3 };
  const DynoClassLoss loss = { .focal = c.focal, .dice = c.dice };
  Data d = make_data (&c);
  g_autofree double *first = NULL, *again = NULL;
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = TRUE, .batch = c.n });
  DynoTensor *logits = harness_input (h, "logits", c.n, c.h, c.w, c.c, d.x);
  double sum;

  dyno_pixel_cross_entropy (harness_graph (h), logits,
                            harness_raw (h, "targets", DYNO_DTYPE_I32, c.n, c.h, c.w, 1, d.targets),
                            &loss, NULL);
  harness_run (h);
  sum = (double) harness_output (h)->loss_sum;
  g_assert_cmpfloat_with_epsilon (sum / c.n, whole_loss (&d), 1e-5);
  first = harness_read_gradient (h, logits);
  harness_run_again (h);
  again = harness_read_gradient (h, logits);
  g_assert_cmpfloat ((double) harness_output (h)->loss_sum, ==, sum);
  g_assert_cmpmem (first, d.rows * c.c * sizeof *first, again, d.rows * c.c * sizeof *again);
  g_free (d.x);
  g_free (d.targets);
}

/* NULL parameters, and parameters of zero, give the plain loss bit for bit. */
static void
check_bits (gboolean pixels)
{
  static const Case c = { 2, 3, 5, 6, 2, 0, 0, TRUE, 0.2, 3 };
  const DynoClassLoss none = { 0 };
  const DynoClassLoss *const losses[] = { NULL, &none };
  g_autofree double *first = NULL;
  double loss = 0;
  Data d = make_data (&c);

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = TRUE, .batch = c.n });
      DynoTensor *logits = harness_input (h, "logits", c.n, c.h, c.w, c.c, d.x);
      g_autofree double *got = NULL;

      (pixels ? dyno_pixel_cross_entropy : dyno_softmax_cross_entropy) (
          harness_graph (h), logits,
          harness_raw (h, "targets", DYNO_DTYPE_I32, c.n, c.h, c.w, 1, d.targets), losses[i], NULL);
      harness_run (h);
      got = harness_read_gradient (h, logits);
      if (first)
        {
          g_assert_cmpmem (got, d.rows * c.c * sizeof *got, first, d.rows * c.c * sizeof *got);
          g_assert_cmpfloat (loss, ==, (double) harness_output (h)->loss_sum);
        }
      else
        first = g_steal_pointer (&got);
      loss = (double) harness_output (h)->loss_sum;
    }
  g_free (d.x);
  g_free (d.targets);
  g_free (d.weights);
}

static void
test_plain (void)
{
  check_bits (TRUE);
  check_bits (FALSE);
}

/* Limits of the parameters, and combinations that are not defined. */
static void
test_limits (void)
{
  static const struct {
    DynoClassLoss loss;
    gboolean pixels, good;
  } cases[] = {
    { { .focal = 10 }, FALSE, TRUE },
    { { .focal = 10.01 }, FALSE, FALSE },
    { { .focal = -0.1 }, TRUE, FALSE },
    { { .focal = (double) NAN }, TRUE, FALSE },
    { { .smoothing = 0.1, .focal = 1 }, FALSE, FALSE },
    { { .smoothing = 0.1, .dice = 1 }, TRUE, TRUE },
    { { .dice = 1 }, FALSE, FALSE },
    { { .dice = 1.01 }, TRUE, FALSE },
    { { .dice = -0.01 }, TRUE, FALSE },
    { { .dice = (double) NAN }, TRUE, FALSE },
    { { .focal = 2, .dice = 0.5 }, TRUE, TRUE },
  };
  const DynoGraphParams params = { .batch = 2, .training = TRUE };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (DynoGraph) graph = dyno_graph_new (&params);
      DynoTensor *x = dyno_graph_activation (graph, "x", 2, 1, 1, 4);

      (cases[i].pixels ? dyno_pixel_cross_entropy
                       : dyno_softmax_cross_entropy) (graph, x, NULL, &cases[i].loss, NULL);
      g_assert_cmpint (dyno_graph_check (graph, NULL), ==, cases[i].good);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/classloss/pixels", test_pixels);
  g_test_add_func ("/nn/classloss/rows", test_rows);
  g_test_add_func ("/nn/classloss/of-many-workgroups", test_many);
  g_test_add_func ("/nn/classloss/zeros-are-plain", test_plain);
  g_test_add_func ("/nn/classloss/limits", test_limits);
  return g_test_run ();
}
