/* SPDX-License-Identifier: MIT */
/* Random augmentation: the device compared with the reference in double, the draws of the reference
 * with the distributions that torchvision documents, and cases with known results. */
#include "harness.h"
#include "reference/augment.h"
#include <math.h>
#include <string.h>

typedef struct {
  guint32 n, h, w, c;
  gboolean bytes, amp;
  DynoAugmentation augmentation;
} Case;

static const float mean[4] = { 0.485f, 0.456f, 0.406f, 0.3f };
static const float deviation[4] = { 0.229f, 0.224f, 0.225f, 0.5f };

static double *
draw_raw (const Case *c, guint64 seed)
{
  gsize count = (gsize) c->n * c->h * c->w * c->c;
  double *raw = harness_random (seed, count, 1);
  for (gsize i = 0; i < count; i++)
    raw[i] = c->bytes ? floor ((raw[i] + 1) * 127.99) : (raw[i] + 1) / 2;
  return raw;
}

static double *
draw_seeds (guint32 n)
{
  double *seeds = harness_random (2, n, 1);
  for (guint32 i = 0; i < n; i++)
    seeds[i] = floor ((seeds[i] + 1) * 0.5 * 4294967295.0);
  return seeds;
}

/* Augments the samples on the device; returns dense values. */
static double *
run (const Case *c, const double *raw, const double *seeds, gboolean normalise, double *tolerance)
{
  g_autoptr (Harness) h =
      harness_new (&(HarnessParams){ .amp = c->amp, .training = TRUE, .batch = c->n });
  DynoTensor *input = harness_raw (h, "raw", c->bytes ? DYNO_DTYPE_U8 : DYNO_DTYPE_F32, c->n, c->h,
                                   c->w, c->c, raw),
             *words = harness_raw (h, "seeds", DYNO_DTYPE_I32, 1, 1, 1, c->n, seeds);
  DynoBatchField field =
      dyno_schema_image (c->bytes ? DYNO_ELEMENT_U8 : DYNO_ELEMENT_F32, c->h, c->w, c->c, 0)
          .fields[0];
  if (normalise)
    {
      memcpy (field.normalisation.mean, mean, sizeof mean);
      memcpy (field.normalisation.deviation, deviation, sizeof deviation);
      field.normalisation.scale_255 = c->bytes;
      field.normalisation.standardise = TRUE;
    }
  harness_step (h)->n_valid = c->n;
  DynoTensor *x = dyno_prepare (harness_graph (h), input, words, &field, &c->augmentation);
  harness_run (h);
  if (tolerance)
    *tolerance = harness_tolerance (h);
  return harness_read (h, x);
}

static void
check (const Case *c)
{
  gsize size = (gsize) c->h * c->w * c->c, count = size * c->n;
  g_autofree double *raw = draw_raw (c, 1), *seeds = draw_seeds (c->n),
                    *want = g_new (double, count);
  double factor[16], offset[16], most = c->bytes ? 255 : 1, tolerance;
  for (guint k = 0; k < c->c; k++)
    {
      factor[k] = 1 / most / (double) deviation[MIN (k, 3)];
      offset[k] = -(double) mean[MIN (k, 3)] / (double) deviation[MIN (k, 3)];
    }
  for (guint32 n = 0; n < c->n; n++)
    reference_augment (&c->augmentation, c->h, c->w, c->c, most, raw + n * size, (guint32) seeds[n],
                       factor, offset, want + n * size);
  g_autofree double *got = run (c, raw, seeds, TRUE, &tolerance);
  harness_assert_close (got, want, count, tolerance, "x");
}

static void
test_geometry (void)
{
  const Case cases[] = {
    { 9, 7, 12, 3, TRUE, FALSE, { .shift = 4, .flip = 0.5 } },
    { 9, 12, 7, 1, TRUE, TRUE, { .shift = 4, .pad = DYNO_PAD_REFLECT, .flip_vertical = 0.5 } },
    { 5, 6, 5, 3, TRUE, FALSE, { .flip = 0.5, .flip_vertical = 0.5 } },
    { 9, 16, 16, 3, TRUE, TRUE, { .crop = 0.08, .crop_ratio = 4 / 3.0, .flip = 0.5 } },
    { 9, 9, 31, 4, TRUE, FALSE, { .crop = 0.5, .crop_ratio = 1.5, .flip_vertical = 0.5 } },
    { 9, 11, 13, 3, TRUE, FALSE, { .rotate = 180, .flip = 0.5 } },
    { 9, 11, 13, 5, FALSE, FALSE, { .rotate = 30, .pad = DYNO_PAD_REFLECT } },
    { 9,
      12,
      12,
      2,
      TRUE,
      TRUE,
      { .crop = 0.3,
        .crop_ratio = 2,
        .shift = 3,
        .rotate = 45,
        .flip = 0.5,
        .flip_vertical = 0.5 } },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check (&cases[i]);
}

static void
test_colour (void)
{
  const Case cases[] = {
    { 9, 7, 9, 3, TRUE, FALSE, { .contrast = 0.8 } },
    { 5, 30, 41, 1, TRUE, FALSE, { .brightness = 0.5, .contrast = 1.5, .flip = 0.5 } },
    { 9, 5, 9, 3, TRUE, TRUE, { .saturation = 2 } },
    { 9, 9, 5, 3, TRUE, FALSE, { .hue = 0.5 } },
    { 9,
      8,
      8,
      3,
      FALSE,
      FALSE,
      { .brightness = 0.4, .contrast = 0.4, .saturation = 0.4, .hue = 0.1 } },
    { 5,
      16,
      16,
      3,
      TRUE,
      TRUE,
      { .crop = 0.2,
        .crop_ratio = 1.4,
        .rotate = 20,
        .brightness = 0.4,
        .contrast = 0.4,
        .saturation = 0.4,
        .hue = 0.1,
        .erase = 0.5 } },
    { 3, 4, 4, 1, TRUE, FALSE, { .saturation = 1, .hue = 0.5 } },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check (&cases[i]);
}

static void
test_erase (void)
{
  const Case cases[] = { { 16, 12, 17, 3, TRUE, FALSE, { .erase = 0.7 } },
                         { 9, 8, 8, 12, FALSE, TRUE, { .erase = 1, .flip = 0.5 } } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check (&cases[i]);
}

static void
test_sequence (void)
{
  const Case cases[] = { { 9, 1, 40, 3, FALSE, FALSE, { .time_shift = 0.5 } },
                         { 9, 1, 40, 6, FALSE, TRUE, { .time_mask = 0.4, .time_shift = 1 } },
                         { 4, 1, 16, 5, FALSE, FALSE, { .noise = 0.3 } },
                         { 4, 6, 5, 3, TRUE, FALSE, { .noise = 1.5, .erase = 1 } } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check (&cases[i]);
}

/* Returns the first of 2^24 seeds whose draw fits. */
static guint32
find_seed (const DynoAugmentation *a, gboolean (*fits) (const ReferenceDraw *d), guint32 w,
           guint32 h)
{
  for (guint32 seed = 1; seed < 1u << 24; seed++)
    {
      ReferenceDraw d = reference_draw (a, w, h, seed * 2654435761u);
      if (fits (&d))
        return seed * 2654435761u;
    }
  g_assert_not_reached ();
}

static gboolean
turns_back (const ReferenceDraw *d)
{
  return d->degrees == -90;
}

/* An angle of -90 degrees is a quarter turn to the right: rows become columns. */
static void
test_quarter_turn (void)
{
  const Case c = { 1, 5, 5, 3, TRUE, FALSE, { .rotate = 90 } };
  double seed = find_seed (&c.augmentation, turns_back, 5, 5);
  g_autofree double *raw = draw_raw (&c, 3), *got = run (&c, raw, &seed, FALSE, NULL);
  for (guint y = 0; y < 5; y++)
    for (guint x = 0; x < 5; x++)
      for (guint k = 0; k < 3; k++)
        g_assert_cmpfloat (got[(y * 5 + x) * 3 + k], ==, raw[((4 - x) * 5 + y) * 3 + k]);
}

static gboolean
is_in_a_corner (const ReferenceDraw *d)
{
  return d->left == 0 && d->top + d->height == 16 && d->width == 8 && d->height == 8;
}

/* Pixels outside of the crop, and outside of the image, are not interpolated: a corner of one value
 * keeps it. */
static void
test_crop_at_the_border (void)
{
  const Case c = { 1, 16, 16, 1, TRUE, FALSE, { .crop = 0.2, .crop_ratio = 1.2 } };
  double seed = find_seed (&c.augmentation, is_in_a_corner, 16, 16);
  g_autofree double *raw = g_new (double, 256), *got = NULL;
  for (guint i = 0; i < 256; i++)
    raw[i] = i % 16 < 8 && i / 16 >= 8 ? 200 : 7;
  got = run (&c, raw, &seed, FALSE, NULL);
  for (guint i = 0; i < 256; i++)
    g_assert_cmpfloat (got[i], ==, 200);
}

static gboolean
is_factor_0 (const ReferenceDraw *d)
{
  return d->contrast < 1e-5;
}

static gboolean
is_factor_1 (const ReferenceDraw *d)
{
  return fabs (d->saturation - 1) < 1e-5;
}

/* Contrast 0 gives the mean grey everywhere; saturation 1 gives the image itself. */
static void
test_factors (void)
{
  const Case flat = { 1, 4, 6, 1, TRUE, FALSE, { .contrast = 1, .saturation = 1 } },
             same = { 1, 4, 6, 3, TRUE, FALSE, { .saturation = 1 } };
  double none = find_seed (&flat.augmentation, is_factor_0, 6, 4),
         whole = find_seed (&same.augmentation, is_factor_1, 6, 4), grey = 0;
  g_autofree double *raw = draw_raw (&flat, 4), *got = run (&flat, raw, &none, FALSE, NULL),
                    *rgb = draw_raw (&same, 5), *kept = run (&same, rgb, &whole, FALSE, NULL);
  for (guint i = 0; i < 24; i++)
    grey += raw[i] / 24;
  for (guint i = 0; i < 24; i++)
    g_assert_cmpfloat_with_epsilon (got[i], grey, 3e-3);
  for (guint i = 0; i < 72; i++)
    g_assert_cmpfloat_with_epsilon (kept[i], rgb[i], 3e-3);
}

/* The pixels of a sample depend on its seed and on the sample, not on the number of samples or on
 * its index. */
static void
test_own_seed (void)
{
  const DynoAugmentation all = { .crop = 0.3,
                                 .crop_ratio = 1.5,
                                 .shift = 2,
                                 .rotate = 30,
                                 .flip = 0.5,
                                 .brightness = 0.4,
                                 .contrast = 0.4,
                                 .hue = 0.2,
                                 .saturation = 0.4,
                                 .noise = 0.1,
                                 .erase = 0.5 };
  const Case many = { 7, 9, 10, 3, TRUE, FALSE, all }, two = { 2, 9, 10, 3, TRUE, FALSE, all };
  gsize size = 9 * 10 * 3;
  g_autofree double *raw = draw_raw (&many, 6), *seeds = draw_seeds (7),
                    *first = run (&many, raw, seeds, TRUE, NULL),
                    *again = run (&many, raw, seeds, TRUE, NULL), *some = g_new (double, 2 * size);
  g_assert_cmpmem (first, 7 * size * sizeof (double), again, 7 * size * sizeof (double));
  memcpy (some, raw + 5 * size, size * sizeof (double));
  memcpy (some + size, raw + 2 * size, size * sizeof (double));
  g_autofree double *others = run (&two, some, (double[]){ seeds[5], seeds[2] }, TRUE, NULL);
  g_assert_cmpmem (others, size * sizeof (double), first + 5 * size, size * sizeof (double));
  g_assert_cmpmem (others + size, size * sizeof (double), first + 2 * size, size * sizeof (double));
}

/* Contrast and the other colour changes are refused for channels that have no grey. */
static void
test_channels (void)
{
  const DynoAugmentation asked[] = { { .contrast = 0.5 }, { .saturation = 0.5 }, { .hue = 0.5 } };
  for (guint i = 0; i < G_N_ELEMENTS (asked); i++)
    {
      g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = TRUE });
      const double raw[8] = { 0 }, seed[1] = { 0 };
      DynoBatchField field = dyno_schema_image (DYNO_ELEMENT_U8, 2, 2, 2, 0).fields[0];
      g_autoptr (GError) error = NULL;
      g_assert_null (dyno_prepare (
          harness_graph (h), harness_raw (h, "raw", DYNO_DTYPE_U8, 1, 2, 2, 2, raw),
          harness_raw (h, "seeds", DYNO_DTYPE_I32, 1, 1, 1, 1, seed), &field, &asked[i]));
      g_assert_false (dyno_graph_check (harness_graph (h), &error));
      g_assert_nonnull (strstr (error->message, "channels"));
    }
}

/* The yaw and roll of a mirrored sample change sign; all other targets stay. */
static void
test_flipped_targets (void)
{
  enum { N = 9 };
  const DynoAugmentation a = { .flip = 0.5, .negated = 5 };
  g_autofree double *values = harness_random (7, N * 3, 90), *seeds = draw_seeds (N);
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = TRUE, .batch = N });
  DynoTensor *targets = harness_raw (h, "t", DYNO_DTYPE_F32, N, 1, 1, 3, values),
             *words = harness_raw (h, "seeds", DYNO_DTYPE_I32, 1, 1, 1, N, seeds);
  guint flipped = 0;
  g_assert_true (dyno_flip_targets (harness_graph (h), targets, words, &(DynoAugmentation){ 0 })
                 == targets);
  DynoTensor *result = dyno_flip_targets (harness_graph (h), targets, words, &a);
  harness_run (h);
  g_autofree double *got = harness_read (h, result);
  for (guint i = 0; i < N * 3; i++)
    {
      gboolean flip = reference_draw (&a, 1, 1, (guint32) seeds[i / 3]).flip;
      flipped += flip;
      g_assert_cmpfloat (got[i], ==, flip && i % 3 != 1 ? -values[i] : values[i]);
    }
  g_assert_cmpuint (flipped, >, 0);
  g_assert_cmpuint (flipped, <, N * 3);
}

/* --- distributions ---------------------------------------------------------------------------- */

#define N_DRAWS 40000

typedef struct {
  double mean, variance, least, most;
} Moments;

static Moments
moments_of (const double *values, guint n)
{
  Moments m = { 0, 0, values[0], values[0] };
  for (guint i = 0; i < n; i++)
    {
      m.mean += values[i] / n;
      m.least = MIN (m.least, values[i]);
      m.most = MAX (m.most, values[i]);
    }
  for (guint i = 0; i < n; i++)
    m.variance += (values[i] - m.mean) * (values[i] - m.mean) / n;
  return m;
}

static void
assert_uniform (const double *values, guint n, double least, double most)
{
  Moments m = moments_of (values, n);
  double span = most - least;
  g_assert_cmpfloat_with_epsilon (m.mean, (least + most) / 2, 0.01 * span);
  g_assert_cmpfloat_with_epsilon (m.variance, span * span / 12, 0.01 * span * span);
  g_assert_cmpfloat (m.least, >=, least);
  g_assert_cmpfloat (m.most, <=, most);
  g_assert_cmpfloat (m.least, <, least + 0.01 * span);
  g_assert_cmpfloat (m.most, >, most - 0.01 * span);
}

/* The seeds are consecutive, so that they differ least; no draw determines another. */
static void
test_factor_moments (void)
{
  const DynoAugmentation a = { .rotate = 30,
                               .brightness = 0.4,
                               .contrast = 0.8,
                               .saturation = 1.5,
                               .hue = 0.1,
                               .flip = 0.5,
                               .flip_vertical = 0.25,
                               .shift = 4 };
  enum { FACTORS = 5 };
  g_autofree double *values = g_new (double, FACTORS *N_DRAWS);
  double flips = 0, upside = 0, places[9] = { 0 };
  for (guint i = 0; i < N_DRAWS; i++)
    {
      ReferenceDraw d = reference_draw (&a, 32, 32, i * 2654435761u);
      const double drawn[FACTORS] = { d.brightness, d.contrast, d.saturation, d.hue, d.degrees };
      for (guint k = 0; k < FACTORS; k++)
        values[k * N_DRAWS + i] = drawn[k];
      flips += d.flip;
      upside += d.flip_vertical;
      places[(int) d.shift_x + 4] += 0.5;
      places[(int) d.shift_y + 4] += 0.5;
    }
  assert_uniform (values, N_DRAWS, 0.6, 1.4);
  assert_uniform (values + N_DRAWS, N_DRAWS, 0.2, 1.8);
  assert_uniform (values + 2 * N_DRAWS, N_DRAWS, 0, 2.5);
  assert_uniform (values + 3 * N_DRAWS, N_DRAWS, -0.1, 0.1);
  assert_uniform (values + 4 * N_DRAWS, N_DRAWS, -30, 30);
  g_assert_cmpfloat_with_epsilon (flips / N_DRAWS, 0.5, 0.01);
  g_assert_cmpfloat_with_epsilon (upside / N_DRAWS, 0.25, 0.01);
  for (guint i = 0; i < 9; i++)
    g_assert_cmpfloat_with_epsilon (places[i] / N_DRAWS, 1 / 9.0, 0.005);
  for (guint k = 1; k < FACTORS; k++)
    {
      Moments x = moments_of (values, N_DRAWS), y = moments_of (values + k * N_DRAWS, N_DRAWS);
      double both = 0;
      for (guint i = 0; i < N_DRAWS; i++)
        both += (values[i] - x.mean) * (values[k * N_DRAWS + i] - y.mean) / N_DRAWS;
      g_assert_cmpfloat (fabs (both), <, 0.02 * sqrt (x.variance * y.variance));
    }
}

/* Crops have areas and aspect ratios within their ranges, and their positions are uniform where all
 * of them fit.  Erased windows have the requested frequency and 2 to 33 % of the area, and never a
 * whole side. */
static void
test_window_moments (void)
{
  const DynoAugmentation a = { .crop = 0.2, .crop_ratio = 1.05, .erase = 0.3 };
  g_autofree double *area = g_new (double, N_DRAWS), *logs = g_new (double, N_DRAWS),
                    *erased = g_new (double, N_DRAWS);
  double middle = 0;
  guint n = 0, n_erased = 0;
  for (guint i = 0; i < N_DRAWS; i++)
    {
      ReferenceDraw d = reference_draw (&a, 1000, 1000, i * 2654435761u);
      double share = d.width * d.height / 1e6;
      g_assert_true (d.left >= 0 && d.top >= 0 && d.left + d.width <= 1000
                     && d.top + d.height <= 1000);
      if (share < 0.9)
        {
          area[n] = share;
          logs[n++] = log (d.width / d.height);
          middle += d.left / (1000 - d.width);
        }
      if (d.erase_width > 0)
        erased[n_erased++] = d.erase_width * d.erase_height / 1e6;
    }
  assert_uniform (area, n, 0.199, 0.9);
  assert_uniform (logs, n, -0.0505, 0.0505);
  g_assert_cmpfloat_with_epsilon (middle / n, 0.5, 0.01);
  g_assert_cmpfloat_with_epsilon (n_erased / (double) N_DRAWS, 0.3, 0.01);
  assert_uniform (erased, n_erased, 0.0195, 0.3305);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/augment/geometry-matches-reference", test_geometry);
  g_test_add_func ("/nn/augment/colour-matches-reference", test_colour);
  g_test_add_func ("/nn/augment/erasing-matches-reference", test_erase);
  g_test_add_func ("/nn/augment/sequences-match-reference", test_sequence);
  g_test_add_func ("/nn/augment/a-quarter-turn-swaps-rows-and-columns", test_quarter_turn);
  g_test_add_func ("/nn/augment/crop-mixes-in-nothing-beyond-it", test_crop_at_the_border);
  g_test_add_func ("/nn/augment/factors-0-and-1-are-grey-and-the-image", test_factors);
  g_test_add_func ("/nn/augment/a-sample-follows-from-its-own-seed", test_own_seed);
  g_test_add_func ("/nn/augment/channels-without-grey-are-refused", test_channels);
  g_test_add_func ("/nn/augment/mirrored-targets-change-their-sign", test_flipped_targets);
  g_test_add_func ("/nn/augment/factors-are-uniform-and-independent", test_factor_moments);
  g_test_add_func ("/nn/augment/windows-have-the-areas-and-ratios-asked", test_window_moments);
  return g_test_run ();
}
