/* SPDX-License-Identifier: MIT */
/* The preparation of the input: bytes, floats and noise; normalisation, flips, invalid samples. */
#include "harness.h"
#include "random.h"
#include <math.h>

typedef struct {
  guint32 n, h, w, c;
  gboolean bytes, normalise, flip, amp;
  guint32 n_valid;
  double brightness;
} Case;

static const DynoNormalisation normalise = { .mean = { 0.485f, 0.456f, 0.406f, 0.3f },
                                             .deviation = { 0.229f, 0.224f, 0.225f, 0.5f } };

static DynoBatchField
field_of (DynoElement element, guint32 h, guint32 w, guint32 c)
{
  return dyno_schema_image (element, h, w, c, 0).fields[0];
}

static double
brightness_of (const Case *c, double seed)
{
  double u = (dyno_random_at ((guint32) seed, DYNO_RANDOM_DRAW_BRIGHTNESS) >> 8) / 16777216.0;
  double least = MAX (0, 1 - c->brightness);
  return least + (1 + c->brightness - least) * u;
}

static double
expected (const Case *c, const double *raw, const double *seeds, double probability, gsize i)
{
  gsize channel = i % c->c, pixel = i / c->c, w = pixel % c->w, row = pixel / c->w, n = row / c->h;
  if (n >= c->n_valid)
    return 0;
  if (c->flip && seeds[n] / 4294967296.0 < probability)
    w = c->w - 1 - w;
  double value = raw[(row * c->w + w) * c->c + channel];
  if (c->brightness > 0)
    value = CLAMP (value * brightness_of (c, seeds[n]), 0, c->bytes ? 255 : 1);
  if (c->bytes)
    value /= 255;
  gsize k = MIN (channel, 3);
  return c->normalise ? (value - (double) normalise.mean[k]) / (double) normalise.deviation[k]
                      : value;
}

static void
check (const Case *c)
{
  gsize count = (gsize) c->n * c->h * c->w * c->c;
  g_autofree double *raw = harness_random (1, count, 1), *seeds = harness_random (2, c->n, 1);
  for (gsize i = 0; c->bytes && i < count; i++)
    raw[i] = floor ((raw[i] + 1) * 127.99);
  for (guint32 n = 0; n < c->n; n++)
    seeds[n] = floor ((seeds[n] + 1) * 0.5 * 4294967295.0);
  g_autoptr (Harness) h =
      harness_new (&(HarnessParams){ .amp = c->amp, .training = TRUE, .batch = c->n });
  DynoTensor *input = harness_raw (h, "raw", c->bytes ? DYNO_DTYPE_U8 : DYNO_DTYPE_F32, c->n, c->h,
                                   c->w, c->c, raw);
  DynoTensor *words = harness_raw (h, "seeds", DYNO_DTYPE_I32, 1, 1, 1, c->n, seeds);
  DynoBatchField field = field_of (c->bytes ? DYNO_ELEMENT_U8 : DYNO_ELEMENT_F32, c->h, c->w, c->c);
  field.normalisation = normalise;
  field.normalisation.scale_255 = c->bytes;
  field.normalisation.standardise = c->normalise;
  harness_step (h)->n_valid = c->n_valid;
  DynoTensor *x =
      dyno_prepare (harness_graph (h), input, words, &field,
                    &(DynoAugmentation){ .flip = c->flip ? 0.5 : 0, .brightness = c->brightness });
  harness_run (h);
  g_autofree double *got = harness_read (h, x), *want = g_new (double, count);
  for (gsize i = 0; i < count; i++)
    want[i] = expected (c, raw, seeds, 0.5, i);
  harness_assert_close (got, want, count, harness_tolerance (h), "x");
}

static void
test_values (void)
{
  static const Case cases[] = {
    { 2, 5, 7, 3, TRUE, TRUE, FALSE, FALSE, 2 },    { 2, 5, 7, 3, TRUE, TRUE, FALSE, TRUE, 2 },
    { 3, 4, 5, 1, TRUE, FALSE, FALSE, FALSE, 3 },   { 1, 3, 3, 10, FALSE, TRUE, FALSE, FALSE, 1 },
    { 4, 6, 1, 33, FALSE, FALSE, FALSE, TRUE, 4 },  { 1, 1, 1, 3, TRUE, TRUE, FALSE, TRUE, 1 },
    { 1, 33, 31, 4, FALSE, TRUE, FALSE, FALSE, 1 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check (&cases[i]);
}

static void
test_flip (void)
{
  const Case cases[] = { { 16, 3, 8, 3, TRUE, TRUE, TRUE, FALSE, 16 },
                         { 9, 2, 7, 5, FALSE, FALSE, TRUE, TRUE, 9 } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check (&cases[i]);
}

static void
test_invalid (void)
{
  const Case cases[] = { { 5, 3, 3, 3, TRUE, TRUE, TRUE, FALSE, 2 },
                         { 4, 2, 2, 9, FALSE, TRUE, FALSE, TRUE, 1 } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check (&cases[i]);
}

/* Factors on both sides of 1, with values cut at the end of the range, with and without flip and
 * normalisation. */
static void
test_brightness (void)
{
  const Case cases[] = { { 16, 3, 8, 3, TRUE, TRUE, TRUE, FALSE, 16, 0.4 },
                         { 7, 5, 3, 4, TRUE, FALSE, FALSE, TRUE, 7, 1.5 },
                         { 9, 2, 7, 5, FALSE, TRUE, FALSE, FALSE, 9, 0.8 },
                         { 5, 3, 3, 3, TRUE, TRUE, FALSE, FALSE, 2, 0.5 } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check (&cases[i]);
}

/* The changes that the seeds of a batch make to samples of one value: the same in each run, and
 * uniform in the range of ColorJitter. */
static void
test_brightness_range (void)
{
  enum { N = 2000 };
  g_autofree double *raw = g_new (double, N), *seeds = g_new (double, N), *first = NULL;
  const DynoBatchField field = field_of (DYNO_ELEMENT_F32, 1, 1, 1);
  for (guint n = 0; n < N; n++)
    {
      raw[n] = 0.25;
      seeds[n] = n * 2147483.0;
    }
  for (guint run = 0; run < 2; run++)
    {
      g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = TRUE, .batch = N });
      harness_step (h)->n_valid = N;
      harness_step (h)->step = run;
      DynoTensor *x =
          dyno_prepare (harness_graph (h), harness_raw (h, "raw", DYNO_DTYPE_F32, N, 1, 1, 1, raw),
                        harness_raw (h, "seeds", DYNO_DTYPE_I32, 1, 1, 1, N, seeds), &field,
                        &(DynoAugmentation){ .brightness = 1.6 });
      harness_run (h);
      g_autofree double *got = harness_read (h, x);
      double mean = 0, square = 0, least = 1, most = 0;
      for (guint n = 0; n < N; n++)
        {
          mean += got[n] / N;
          square += got[n] * got[n] / N;
          least = MIN (least, got[n]);
          most = MAX (most, got[n]);
        }
      /* 0.25 times a number in [0, 2.6) */
      g_assert_cmpfloat (least, >=, 0);
      g_assert_cmpfloat (least, <, 0.01);
      g_assert_cmpfloat (most, >, 0.64);
      g_assert_cmpfloat (most, <, 0.65);
      g_assert_cmpfloat_with_epsilon (mean, 0.325, 0.02);
      g_assert_cmpfloat_with_epsilon (square - mean * mean, 0.65 * 0.65 / 12, 0.005);
      if (first)
        g_assert_cmpmem (first, N * sizeof (double), got, N * sizeof (double));
      else
        first = g_steal_pointer (&got);
    }
}

/* An evaluation graph changes nothing, whatever augmentation is requested. */
static void
test_evaluation (void)
{
  const double raw[6] = { 1, 2, 3, 4, 5, 6 }, seed[1] = { 0 };
  const DynoBatchField field = field_of (DYNO_ELEMENT_F32, 2, 3, 1);
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .kind = DYNO_COMMAND_FORWARD });
  DynoTensor *input = harness_raw (h, "raw", DYNO_DTYPE_F32, 1, 2, 3, 1, raw);
  DynoTensor *words = harness_raw (h, "seeds", DYNO_DTYPE_I32, 1, 1, 1, 1, seed);
  DynoTensor *x = dyno_prepare (harness_graph (h), input, words, &field,
                                &(DynoAugmentation){ .flip = 1, .brightness = 1 });
  harness_run (h);
  g_autofree double *got = harness_read (h, x);
  harness_assert_close (got, raw, 6, 0, "x");
}

static double *
noise (guint32 seed, guint32 step)
{
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = TRUE, .batch = 4 });
  harness_step (h)->seed_low = seed;
  harness_step (h)->step = step;
  DynoBatchField field = field_of (DYNO_ELEMENT_U8, 32, 32, 3);
  DynoTensor *x = dyno_prepare (harness_graph (h), NULL, NULL, &field, &(DynoAugmentation){ 0 });
  harness_run (h);
  return harness_read (h, x);
}

static void
test_noise (void)
{
  const gsize count = 4 * 32 * 32 * 3;
  g_autofree double *a = noise (1, 1), *b = noise (1, 1), *c = noise (1, 2), *d = noise (2, 1);
  double mean = 0, square = 0, fourth = 0, step = 0, seed = 0;
  for (gsize i = 0; i < count; i++)
    {
      g_assert_true (isfinite (a[i]));
      mean += a[i] / count;
      square += a[i] * a[i] / count;
      fourth += pow (a[i], 4) / count;
      step += a[i] * c[i] / count;
      seed += a[i] * d[i] / count;
    }
  g_assert_cmpmem (a, count * sizeof (double), b, count * sizeof (double));
  g_assert_cmpfloat (fabs (mean), <, 0.05);
  g_assert_cmpfloat (fabs (square - 1), <, 0.07);
  g_assert_cmpfloat (fabs (fourth - 3), <, 0.5);
  g_assert_cmpfloat (fabs (step), <, 0.05);
  g_assert_cmpfloat (fabs (seed), <, 0.05);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/prepare/matches-reference", test_values);
  g_test_add_func ("/nn/prepare/flips-by-seed", test_flip);
  g_test_add_func ("/nn/prepare/brightness-matches-reference", test_brightness);
  g_test_add_func ("/nn/prepare/brightness-is-uniform-by-seed", test_brightness_range);
  g_test_add_func ("/nn/prepare/invalid-samples-are-zero", test_invalid);
  g_test_add_func ("/nn/prepare/evaluation-does-not-augment", test_evaluation);
  g_test_add_func ("/nn/prepare/noise-is-normal-and-repeatable", test_noise);
  return g_test_run ();
}
