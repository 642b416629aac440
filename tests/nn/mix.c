/* SPDX-License-Identifier: MIT */
/* Mixup and cutmix: the draws compared with the distributions of their transforms, mixed images and
 * the loss of mixed targets compared with references in double. */
#include "mix.h"
#include "harness.h"
#include "reference/augment.h"
#include "reference/loss.h"
#include "step.h"
#include <math.h>
#include <string.h>

static struct DynoStepInput
draw (const DynoMix *mix, guint64 seed, guint32 step, guint32 micro_step)
{
  struct DynoStepInput input = { .seed_low = (guint32) seed,
                                 .seed_high = (guint32) (seed >> 32),
                                 .step = step,
                                 .micro_step = micro_step };
  dyno_mix_draw (mix, &input);
  return input;
}

/* Central moments of Beta (a, a): 1 / (4 (2 a + 1)) and 3 / (16 (2 a + 1) (2 a + 3)). */
static void
test_share_is_beta (void)
{
  static const double shapes[] = { 0.05, 0.2, 1, 4 };
  const guint n = 40000;
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    {
      const DynoMix mix = { .mixup = shapes[i], .height = 8, .width = 8 };
      double a = shapes[i], sum = 0, square = 0, fourth = 0;
      for (guint k = 0; k < n; k++)
        {
          struct DynoStepInput input = draw (&mix, 7, k, 0);
          double away = (double) input.mix_other - 0.5;
          g_assert_cmpfloat (input.mix_other, >=, 0);
          g_assert_cmpfloat (input.mix_other, <=, 1);
          g_assert_cmpfloat (input.mix_other, ==, input.mix_target);
          g_assert_cmpuint (input.mix_right, ==, 0);
          sum += away;
          square += away * away;
          fourth += away * away * away * away;
        }
      double variance = 1 / (4 * (2 * a + 1)), kurtosis = 3 / (16 * (2 * a + 1) * (2 * a + 3));
      g_assert_cmpfloat (fabs (sum / n), <, 5 * sqrt (variance / n));
      g_assert_cmpfloat (fabs (square / n - variance), <,
                         5 * sqrt ((kurtosis - variance * variance) / n));
      g_assert_cmpfloat (fabs (fourth / n - kurtosis), <, 5 * sqrt (kurtosis / 16 / n));
    }
}

/* The mean share of the box, by a separate count over all centres and a fine grid of shares, which
 * are uniform for a = 1; each box is within the image, and its share is that of its pixels. */
static void
test_box_is_cutmix (void)
{
  const DynoMix mix = { .cutmix = 1, .height = 12, .width = 20 };
  const guint n = 40000, grid = 2000;
  double sum = 0, want = 0;
  guint at_edge = 0;
  for (guint k = 0; k < n; k++)
    {
      struct DynoStepInput input = draw (&mix, 99, k, 3);
      g_assert_cmpuint (input.mix_left, <=, input.mix_right);
      g_assert_cmpuint (input.mix_top, <=, input.mix_bottom);
      g_assert_cmpuint (input.mix_right, <=, 20);
      g_assert_cmpuint (input.mix_bottom, <=, 12);
      g_assert_cmpfloat (input.mix_other, ==, 0);
      g_assert_cmpfloat_with_epsilon (
          (double) input.mix_target,
          (input.mix_right - input.mix_left) * (input.mix_bottom - input.mix_top) / 240.0, 1e-7);
      sum += (double) input.mix_target;
      at_edge += input.mix_right == 20;
    }
  for (guint k = 0; k < grid; k++)
    for (gint y = 0; y < 12; y++)
      for (gint x = 0; x < 20; x++)
        {
          double half = 0.5 * sqrt ((k + 0.5) / grid);
          gint w = (gint) (half * 20), h = (gint) (half * 12);
          want += (double) (MIN (x + w, 20) - MAX (x - w, 0)) * (MIN (y + h, 12) - MAX (y - h, 0))
                  / 240 / 240 / grid;
        }
  g_assert_cmpfloat (fabs (sum / n - want), <, 5 * 0.3 / sqrt (n));
  g_assert_cmpuint (at_edge, >, n / 10);
}

static void
test_draws_follow_seed_and_step (void)
{
  const DynoMix both = { .mixup = 0.4, .cutmix = 1, .height = 32, .width = 32 };
  struct DynoStepInput a = draw (&both, 1, 5, 0), b = draw (&both, 1, 5, 0);
  guint n_cut = 0;
  g_assert_cmpmem (&a, sizeof a, &b, sizeof b);
  b = draw (&both, 1, 5, 1);
  g_assert_cmpfloat (a.mix_target, !=, b.mix_target);
  b = draw (&both, 1, 6, 0);
  g_assert_cmpfloat (a.mix_target, !=, b.mix_target);
  b = draw (&both, 1 + ((guint64) 1 << 32), 5, 0);
  g_assert_cmpfloat (a.mix_target, !=, b.mix_target);
  for (guint k = 0; k < 4000; k++)
    n_cut += draw (&both, 3, k, 0).mix_right > 0;
  /* a few boxes are empty */
  g_assert_cmpuint (n_cut, >, 1700);
  g_assert_cmpuint (n_cut, <, 2150);
}

typedef struct {
  guint32 n, n_valid, h, w, c;
  gboolean bytes, amp;
  guint32 step; /* the step that draws */
  DynoAugmentation augmentation;
} Case;

static void
check_images (const Case *c)
{
  gsize size = (gsize) c->h * c->w * c->c, count = size * c->n;
  g_autofree double *raw = harness_random (1, count, 1), *seeds = harness_random (2, c->n, 1),
                    *plain = g_new0 (double, count), *want = g_new0 (double, count);
  double factor[8], offset[8], most = c->bytes ? 255 : 1;
  const DynoMix mix = { c->augmentation.mixup, c->augmentation.cutmix, c->h, c->w };
  for (gsize i = 0; i < count; i++)
    raw[i] = c->bytes ? floor ((raw[i] + 1) * 127.99) : (raw[i] + 1) / 2;
  for (guint32 i = 0; i < c->n; i++)
    seeds[i] = floor ((seeds[i] + 1) * 0.5 * 4294967295.0);
  for (guint k = 0; k < 8; k++)
    {
      factor[k] = 1 / most / 0.25;
      offset[k] = -0.5 / 0.25;
    }
  g_autoptr (Harness) h =
      harness_new (&(HarnessParams){ .amp = c->amp, .training = TRUE, .batch = c->n });
  DynoTensor *input = harness_raw (h, "raw", c->bytes ? DYNO_DTYPE_U8 : DYNO_DTYPE_F32, c->n, c->h,
                                   c->w, c->c, raw),
             *words = harness_raw (h, "seeds", DYNO_DTYPE_I32, 1, 1, 1, c->n, seeds);
  DynoBatchField field =
      dyno_schema_image (c->bytes ? DYNO_ELEMENT_U8 : DYNO_ELEMENT_F32, c->h, c->w, c->c, 0)
          .fields[0];
  for (guint k = 0; k < 4; k++)
    {
      field.normalisation.mean[k] = 0.5f;
      field.normalisation.deviation[k] = 0.25f;
    }
  field.normalisation.scale_255 = c->bytes;
  field.normalisation.standardise = TRUE;
  harness_step (h)->n_valid = c->n_valid;
  guint32 step = c->step;
  while (draw (&mix, 0, step, 0).mix_target < 0.05f && c->n > 1)
    step++; /* a box may be empty */
  harness_step (h)->step = step;
  DynoTensor *x = dyno_prepare (harness_graph (h), input, words, &field, &c->augmentation);
  harness_run (h);

  struct DynoStepInput drawn = draw (&mix, 0, step, 0);
  for (guint32 n = 0; n < c->n_valid; n++)
    reference_augment (&c->augmentation, c->h, c->w, c->c, most, raw + n * size, (guint32) seeds[n],
                       factor, offset, plain + n * size);
  for (gsize i = 0; i < size * c->n_valid; i++)
    {
      gsize n = i / size, at = i % size, before = n > 0 ? n - 1 : c->n_valid - 1;
      guint32 px = (guint32) (at / c->c % c->w), py = (guint32) (at / c->c / c->w);
      gboolean inside = px >= drawn.mix_left && px < drawn.mix_right && py >= drawn.mix_top
                        && py < drawn.mix_bottom;
      double other = inside ? 1 : (double) drawn.mix_other;
      want[i] = (1 - other) * plain[i] + other * plain[before * size + at];
    }
  g_autofree double *got = harness_read (h, x);
  harness_assert_close (got, want, count, harness_tolerance (h), "x");
}

static void
test_images (void)
{
  const Case cases[] = {
    { 5, 5, 6, 7, 3, TRUE, FALSE, 3, { .mixup = 1 } },
    { 5, 3, 6, 7, 3, TRUE, TRUE, 4, { .mixup = 1, .flip = 0.5 } },
    { 4, 4, 9, 8, 3, TRUE, FALSE, 1, { .cutmix = 1 } },
    { 6, 4, 8, 9, 1, FALSE, TRUE, 3, { .cutmix = 1, .erase = 0.5, .shift = 2 } },
    { 4, 4, 9, 8, 5, FALSE, FALSE, 6, { .mixup = 1, .cutmix = 1, .flip = 0.5 } },
    { 7,
      7,
      12,
      12,
      3,
      TRUE,
      FALSE,
      5,
      { .cutmix = 1, .crop = 0.4, .crop_ratio = 1.3, .contrast = 0.5, .flip_vertical = 0.5 } },
    { 1, 1, 4, 4, 3, TRUE, FALSE, 3, { .mixup = 1 } },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check_images (&cases[i]);
}

static void
check_loss (guint32 n, guint32 n_valid, guint32 c, double smoothing, gboolean weighted,
            gboolean amp, guint32 step)
{
  gsize count = (gsize) n * c;
  const DynoMix mix = { .mixup = 1, .height = 1, .width = 1 };
  g_autofree double *x = harness_random (1, count, 4), *targets = harness_random (2, n, 1),
                    *weights = harness_random (3, (gsize) c + 1, 1), *want = g_new (double, count);
  double correct, loss;
  for (guint32 i = 0; i < n; i++)
    targets[i] = floor ((targets[i] + 1) / 2.01 * c);
  if (n > 4)
    targets[2] = -1; /* no class, for this sample and the next one */
  weights[c] = 0;
  for (guint32 i = 0; i < c; i++)
    weights[c] += weights[i] = fabs (weights[i]) + 0.25;
  g_autoptr (Harness) h =
      harness_new (&(HarnessParams){ .amp = amp, .training = TRUE, .batch = n });
  harness_step (h)->n_valid = n_valid;
  harness_step (h)->loss_divisor = (float) n_valid;
  harness_step (h)->step = step;
  harness_scaler (h)->scale = 1024;
  DynoTensor *logits = harness_input (h, "logits", n, 1, 1, c, x);
  dyno_graph_set_mix (harness_graph (h), &mix);
  dyno_softmax_cross_entropy (
      harness_graph (h), logits, harness_raw (h, "targets", DYNO_DTYPE_I32, n, 1, 1, 1, targets),
      &(DynoClassLoss){ .smoothing = smoothing },
      weighted ? harness_raw (h, "weights", DYNO_DTYPE_F32, 1, 1, 1, c + 1, weights) : NULL);
  harness_run (h);
  ReferenceLoss s = {
    n, c, n_valid, smoothing, weighted ? weights : NULL, (double) draw (&mix, 0, step, 0).mix_target
  };
  g_assert_cmpfloat (s.mixed, >, 0.02);
  g_assert_cmpfloat (s.mixed, <, 0.98);
  loss = reference_cross_entropy (&s, x, targets, &correct, want);
  for (gsize i = 0; i < count; i++)
    want[i] *= 1024.0 / n_valid;
  g_autofree double *got = harness_read_gradient (h, logits);
  harness_assert_close (got, want, count, harness_tolerance (h), "gradient");
  g_assert_cmpfloat (fabs ((double) harness_output (h)->loss_sum - loss), <=,
                     2e-6 * (1 + fabs (loss)));
  g_assert_cmpfloat (harness_output (h)->metric_sums[0], ==, correct);
}

static void
test_loss (void)
{
  guint n_more = 0;
  for (guint32 step = 3; step < 7; step++)
    for (guint amp = 0; amp < 2; amp++)
      {
        check_loss (9, 7, 12, 0, FALSE, amp, step);
        check_loss (16, 16, 33, 0.1, TRUE, amp, step);
      }
  check_loss (3, 3, 4, 0.2, FALSE, FALSE, 3);
  check_loss (1, 1, 5, 0.2, TRUE, FALSE, 3);
  check_loss (6, 6, 700, 0, TRUE, FALSE, 4);
  for (guint32 step = 3; step < 7; step++)
    n_more +=
        draw (&(DynoMix){ .mixup = 1, .height = 1, .width = 1 }, 0, step, 0).mix_target > 0.5f;
  g_assert_cmpuint (n_more, >, 0); /* there are shares on both sides of a half */
  g_assert_cmpuint (n_more, <, 4);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/mix/share-is-beta", test_share_is_beta);
  g_test_add_func ("/nn/mix/box-is-cutmix", test_box_is_cutmix);
  g_test_add_func ("/nn/mix/draws-follow-seed-and-step", test_draws_follow_seed_and_step);
  g_test_add_func ("/nn/mix/images-match-reference", test_images);
  g_test_add_func ("/nn/mix/loss-matches-reference", test_loss);
  return g_test_run ();
}
