/* SPDX-License-Identifier: MIT */
/* A class for each pixel: masks that are augmented with their images, the loss, classes and counts,
 * each compared with a computation in double. */
#include "harness.h"
#include "metric.h"
#include <math.h>
#include <string.h>

#define IGNORED DYNO_MASK_IGNORED

/* --- loss, classes and counts ------------------------------------------------------------------ */

typedef struct {
  guint32 n, h, w, c, n_valid;
  double smoothing;
  gboolean weighted;
  double ignored; /* share of ignored pixels */
} Case;

static const Case cases[] = {
  { 2, 5, 7, 3, 2, 0, FALSE, 0.3 },     { 3, 4, 6, 21, 2, 0.1, FALSE, 0.2 },
  { 2, 6, 5, 9, 2, 0, TRUE, 0.3 },      { 1, 9, 3, 2, 1, 0.2, TRUE, 0 },
  { 4, 1, 1, 5, 3, 0, TRUE, 0.2 },      { 2, 33, 35, 4, 2, 0, FALSE, 0.1 },
  { 1, 3, 5, 255, 1, 0.1, FALSE, 0.2 }, { 2, 3, 3, 70, 2, 0, FALSE, 0.1 },
};

typedef struct {
  gsize rows, count;
  double *x, *targets, *weights; /* weights NULL: all 1 */
} Data;

static Data
make_data (const Case *c)
{
  Data d = { .rows = (gsize) c->n * c->h * c->w };
  d.count = d.rows * c->c;
  d.x = harness_random (1, d.count, 3);
  d.targets = harness_random (2, d.rows, 1);
  for (gsize i = 0; i < d.rows; i++)
    {
      double place = (d.targets[i] + 1) / 2.01;
      d.targets[i] =
          g_test_rand_double () < c->ignored ? (i % 3 ? IGNORED : c->c) : floor (place * c->c);
    }
  if (c->weighted)
    {
      d.weights = harness_random (3, (gsize) c->c + 1, 1);
      d.weights[c->c] = 0;
      for (guint32 i = 0; i < c->c; i++)
        {
          d.weights[i] = i == 1 ? 0 : 3 * d.weights[i] * d.weights[i] + 0.1;
          d.weights[c->c] += d.weights[i];
        }
    }
  return d;
}

static void
clear_data (Data *d)
{
  g_free (d->x);
  g_free (d->targets);
  g_free (d->weights);
}

static double
weight_of (const Data *d, guint32 c)
{
  return d->weights ? d->weights[c] : 1;
}

static guint32
class_of (const Data *d, gsize row, guint32 c)
{
  guint32 at = 0;
  for (guint32 j = 1; j < c; j++)
    if (d->x[row * c + j] > d->x[row * c + at])
      at = j;
  return at;
}

typedef struct {
  double loss, correct, log_loss; /* sums over the counted rows */
  double weights, counted;
} Sums;

/* Returns TRUE if the row counts.  terms: -dloss / dx of the row, as PyTorch defines the loss. */
static gboolean
take_row (const Case *c, const Data *d, gsize row, Sums *sums, double *terms)
{
  const double *x = d->x + row * c->c;
  double target = d->targets[row], largest = -INFINITY, sum = 0, all_q = 0;
  if (row / ((gsize) c->h * c->w) >= c->n_valid || target >= c->c)
    return FALSE;
  for (guint32 j = 0; j < c->c; j++)
    largest = MAX (largest, x[j]);
  for (guint32 j = 0; j < c->c; j++)
    sum += exp (x[j] - largest);
  for (guint32 j = 0; j < c->c; j++)
    {
      double q = c->smoothing / c->c * weight_of (d, j), log_share = x[j] - largest - log (sum);
      if (j == target)
        {
          q += (1 - c->smoothing) * weight_of (d, j);
          sums->log_loss -= log_share / log (2);
        }
      sums->loss -= q * log_share;
      terms[j] = q;
      all_q += q;
    }
  for (guint32 j = 0; j < c->c; j++)
    terms[j] -= all_q * exp (x[j] - largest) / sum;
  sums->weights += weight_of (d, (guint32) target);
  sums->counted++;
  sums->correct += class_of (d, row, c->c) == target;
  return TRUE;
}

static void
assert_near (double got, double want, double relative)
{
  g_assert_cmpfloat (fabs (got - want), <=, relative * (1e-3 + fabs (want)));
}

static double
share_of (double sum)
{
  return sum > 0 ? 1 / sum : 0;
}

static void
check_loss (const Case *c, gboolean amp, gboolean training)
{
  Data d = make_data (c);
  gsize pixels = (gsize) c->h * c->w;
  g_autofree double *want = g_new0 (double, d.count), *got = NULL;
  Sums sums = { 0 };
  g_autoptr (Harness) h =
      harness_new (&(HarnessParams){ .amp = amp, .training = training, .batch = c->n });
  for (gsize row = 0; row < d.rows; row++)
    take_row (c, &d, row, &sums, want + row * c->c);
  harness_step (h)->n_valid = c->n_valid;
  harness_step (h)->loss_divisor = 2.0f * (float) c->n_valid; /* two micro-batches */
  harness_scaler (h)->scale = 512;
  DynoTensor *logits = harness_input (h, "logits", c->n, c->h, c->w, c->c, d.x);
  dyno_pixel_cross_entropy (
      harness_graph (h), logits,
      harness_raw (h, "targets", DYNO_DTYPE_I32, c->n, c->h, c->w, 1, d.targets),
      &(DynoClassLoss){ .smoothing = c->smoothing },
      d.weights ? harness_raw (h, "weights", DYNO_DTYPE_F32, 1, 1, 1, c->c + 1, d.weights) : NULL);
  harness_run (h);
  const struct DynoStepOutput *output = harness_output (h);
  g_assert_cmpuint (output->n_valid, ==, c->n_valid);
  g_assert_cmpuint (output->nonfinite_loss, ==, 0);
  /* A mean over the counted pixels, times the samples; in evaluation a mean over all pixels. */
  double of_loss = training ? c->n_valid * share_of (sums.weights) : 1.0 / (double) pixels,
         of_metrics = training ? c->n_valid * share_of (sums.counted) : 1.0 / (double) pixels;
  assert_near ((double) output->loss_sum, sums.loss * of_loss, 4e-6);
  assert_near ((double) output->metric_sums[0], sums.correct * of_metrics, 2e-6);
  assert_near ((double) output->metric_sums[1], sums.log_loss * of_metrics, 4e-6);
  g_assert_cmpfloat (output->metric_sums[2], ==, 0);
  if (training)
    {
      for (gsize i = 0; i < d.count; i++)
        want[i] *= -512.0 / 2 * share_of (sums.weights);
      got = harness_read_gradient (h, logits);
      harness_assert_close (got, want, d.count, harness_tolerance (h), "gradient");
    }
  clear_data (&d);
}

static void
test_loss (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    if (harness_takes (i, 2) || i < 3)
      for (guint amp = 0; amp < 2; amp++)
        check_loss (&cases[i], amp, TRUE);
}

static void
test_evaluation (void)
{
  check_loss (&cases[0], FALSE, FALSE);
  check_loss (&cases[1], TRUE, FALSE);
}

/* A batch without counted pixels has no loss, no gradient and no division by zero; a single counted
 * pixel is the whole mean. */
static void
check_few (double target, double loss, double gradient)
{
  const double x[2 * 2 * 2] = { 0 };
  const double targets[4] = { IGNORED, target, 2, IGNORED };
  g_autofree double *got = NULL;
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = TRUE, .batch = 1 });
  DynoTensor *logits = harness_input (h, "logits", 1, 2, 2, 2, x);
  dyno_pixel_cross_entropy (harness_graph (h), logits,
                            harness_raw (h, "targets", DYNO_DTYPE_I32, 1, 2, 2, 1, targets), NULL,
                            NULL);
  harness_run (h);
  got = harness_read_gradient (h, logits);
  for (guint i = 0; i < 8; i++)
    assert_near (got[i], i == 2 ? gradient : i == 3 ? -gradient : 0, 1e-6);
  assert_near ((double) harness_output (h)->loss_sum, loss, 1e-6);
  g_assert_cmpuint (harness_output (h)->nonfinite_loss, ==, 0);
}

static void
test_few (void)
{
  check_few (IGNORED, 0, 0);
  check_few (1, log (2), 0.5);
}

/* Checks the classes of the first n_mapped samples, and the counts of all samples. */
static void
check_classes (const Case *c, guint32 n_mapped, gboolean amp)
{
  Data d = make_data (c);
  g_autofree double *classes = NULL, *counts = NULL, *again = NULL;
  g_autofree double *want = g_new0 (double, c->c * c->c);
  if (d.rows > 2)
    for (guint32 j = 0; j < c->c; j++) /* all are equal, so the first is chosen */
      d.x[2 * c->c + j] = 1;
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .amp = amp, .batch = c->n });
  harness_step (h)->n_valid = c->n_valid;
  DynoTensor *logits = harness_input (h, "logits", c->n, c->h, c->w, c->c, d.x),
             *targets = harness_raw (h, "targets", DYNO_DTYPE_I32, c->n, c->h, c->w, 1, d.targets),
             *class_map = dyno_pixel_classes (harness_graph (h), logits, n_mapped),
             *table = dyno_pixel_counts (harness_graph (h), logits, targets);
  g_assert_cmpuint (class_map->n, ==, MIN (n_mapped, c->n));
  harness_run (h);
  classes = harness_read (h, class_map);
  counts = harness_read (h, table);
  for (gsize row = 0; row < d.rows; row++)
    {
      if (row / ((gsize) c->h * c->w) < n_mapped)
        g_assert_cmpfloat (classes[row], ==, class_of (&d, row, c->c));
      if (row / ((gsize) c->h * c->w) < c->n_valid && d.targets[row] < c->c)
        want[(guint32) d.targets[row] * c->c + class_of (&d, row, c->c)]++;
    }
  g_assert_cmpmem (counts, c->c * c->c * sizeof *counts, want, c->c * c->c * sizeof *want);
  /* The counts are those of one batch only. */
  harness_run_again (h);
  again = harness_read (h, table);
  g_assert_cmpmem (again, c->c * c->c * sizeof *again, want, c->c * c->c * sizeof *want);
  clear_data (&d);
}

static void
test_classes (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    if (harness_takes (i, 2) || i > 5)
      check_classes (&cases[i], i % 3 == 1 ? MAX (cases[i].n, 2) - 1 : cases[i].n + i % 3, i % 2);
}

static void
test_limits (void)
{
  const DynoGraphParams params = { .batch = 1, .training = TRUE };
  for (guint i = 0; i < 3; i++)
    {
      g_autoptr (DynoGraph) graph = dyno_graph_new (&params);
      g_autoptr (GError) error = NULL;
      DynoTensor *x = dyno_graph_activation (graph, "x", 1, 2, 2, i == 2 ? 3 : 256);
      if (i == 0)
        dyno_pixel_cross_entropy (graph, x, NULL, NULL, NULL);
      else if (i == 1)
        g_assert_null (dyno_pixel_classes (graph, x, 1));
      else
        dyno_pixel_cross_entropy (
            graph, x,
            dyno_graph_tensor (graph, "t", DYNO_DTYPE_I32, DYNO_SPACE_INPUT, 1, 2, 1, 1, 1), NULL,
            NULL);
      g_assert_false (dyno_graph_check (graph, &error));
      g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE);
    }
}

/* --- masks that move --------------------------------------------------------------------------- */

/* The two channels of the image are the coordinates of each pixel, plus one, so the output of
 * prepare shows the coordinates that it reads, for any draw.  The mask must be read at the pixel
 * nearest to these, and be ignored where the image is black. */
static void
check_moves (const DynoAugmentation *augmentation, guint32 n_valid)
{
  const guint32 n = 6, height = 9, width = 13;
  gsize rows = (gsize) n * height * width;
  g_autofree double *places = g_new (double, rows * 2), *mask = g_new (double, rows),
                    *seeds = harness_random (7, n, 1), *read = NULL, *ids = NULL;
  guint n_outside = 0, n_moved = 0, n_close = 0;
  for (gsize i = 0; i < rows; i++)
    {
      places[2 * i] = (double) (i % width) + 1;
      places[2 * i + 1] = (double) (i / width % height) + 1;
      mask[i] = g_test_rand_int_range (0, 255);
    }
  for (guint32 i = 0; i < n; i++)
    seeds[i] = floor ((seeds[i] + 1) * 0.5 * 4294967295.0);
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = TRUE, .batch = n });
  DynoBatchField field = dyno_schema_image (DYNO_ELEMENT_F32, height, width, 2, 0).fields[0];
  DynoTensor *words = harness_raw (h, "seeds", DYNO_DTYPE_I32, 1, 1, 1, n, seeds);
  harness_step (h)->n_valid = n_valid;
  DynoTensor *x = dyno_prepare (harness_graph (h),
                                harness_raw (h, "raw", DYNO_DTYPE_F32, n, height, width, 2, places),
                                words, &field, augmentation);
  DynoTensor *moved = dyno_prepare_mask (
      harness_graph (h), harness_raw (h, "mask", DYNO_DTYPE_U8, n, height, width, 1, mask), words,
      2, augmentation);
  harness_run (h);
  read = harness_read (h, x);
  ids = harness_read (h, moved);
  for (gsize i = 0; i < rows; i++)
    {
      double at_x = read[2 * i] - 1, at_y = read[2 * i + 1] - 1;
      gsize sample = i / (width * height);
      if (sample >= n_valid || at_x < 0)
        {
          g_assert_cmpfloat (ids[i], ==, IGNORED);
          n_outside++;
          continue;
        }
      /* Halfway between two pixels, either may be the nearest. */
      if (fabs (at_x - floor (at_x) - 0.5) < 1e-3 || fabs (at_y - floor (at_y) - 0.5) < 1e-3)
        {
          n_close++;
          continue;
        }
      gsize from =
          (sample * height + (gsize) floor (at_y + 0.5)) * width + (gsize) floor (at_x + 0.5);
      g_assert_cmpfloat (ids[i], ==, mask[from]);
      n_moved += from != i;
    }
  g_assert_cmpuint (n_moved > 0, ==, dyno_augmentation_is_on (augmentation));
  g_assert_cmpuint (n_close, <, rows / 4);
  if (n_valid == n)
    g_assert_cmpuint (n_outside > 0, ==,
                      augmentation->pad == DYNO_PAD_ZERO
                          && (augmentation->shift > 0 || augmentation->rotate > 0));
}

static void
test_moves (void)
{
  static const DynoAugmentation moves[] = {
    { .pad = DYNO_PAD_REFLECT },
    { .flip = 0.5 },
    { .flip_vertical = 0.5 },
    { .flip = 0.5, .flip_vertical = 0.5, .shift = 4 },
    { .shift = 3, .pad = DYNO_PAD_REFLECT },
    { .crop = 0.3, .crop_ratio = 1.3333, .flip = 0.5 },
    { .rotate = 40 },
    { .crop = 0.5, .crop_ratio = 1, .rotate = 25, .flip = 0.5, .pad = DYNO_PAD_REFLECT },
  };
  for (guint i = 0; i < G_N_ELEMENTS (moves); i++)
    check_moves (&moves[i], i % 2 ? 6 : 4);
  check_moves (&moves[6], 6);
}

/* Augmentations that do not move pixels leave masks unchanged. */
static void
test_stays (void)
{
  const DynoAugmentation colour = { .brightness = 0.5, .noise = 0.2, .erase = 1 };
  const guint32 n = 3, height = 4, width = 5;
  g_autofree double *mask = g_new (double, n *height *width), *seeds = harness_random (7, n, 1),
                    *ids = NULL;
  for (guint i = 0; i < n * height * width; i++)
    mask[i] = g_test_rand_int_range (0, 256);
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = TRUE, .batch = n });
  DynoTensor *moved = dyno_prepare_mask (
      harness_graph (h), harness_raw (h, "mask", DYNO_DTYPE_U8, n, height, width, 1, mask),
      harness_raw (h, "seeds", DYNO_DTYPE_I32, 1, 1, 1, n, seeds), 3, &colour);
  harness_run (h);
  ids = harness_read (h, moved);
  for (guint i = 0; i < n * height * width; i++)
    g_assert_cmpfloat (ids[i], ==, mask[i]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/pixels/loss-is-pytorchs", test_loss);
  g_test_add_func ("/nn/pixels/evaluation-is-over-all-pixels", test_evaluation);
  g_test_add_func ("/nn/pixels/ignored-pixels-do-not-count", test_few);
  g_test_add_func ("/nn/pixels/classes-and-counts", test_classes);
  g_test_add_func ("/nn/pixels/bad-shapes-are-errors", test_limits);
  g_test_add_func ("/nn/pixels/masks-move-with-their-images", test_moves);
  g_test_add_func ("/nn/pixels/masks-keep-their-classes", test_stays);
  return g_test_run ();
}
