/* SPDX-License-Identifier: MIT */
/* The verdict on AMP: from simulated curves, and from a tiny network on this device. */
#include "numerics.h"
#include "meter.h"
#include <math.h>
#include <string.h>

#define LONG_AGO 1 /* in monotonic time */
#define FAR      (g_get_monotonic_time () + 3600 * (gint64) G_USEC_PER_SEC)

/* A loss that falls from 2.3, and that of AMP, which differs by this share. */
static DynoNumerics
curves (guint n, double off, double noise)
{
  DynoNumerics c = { .n_steps = n };

  for (guint i = 0; i < n; i++)
    {
      c.loss_fp32[i] = 2.3 * pow (0.98, i) * (1 + (i % 2 ? noise : -noise));
      c.loss_amp[i] = c.loss_fp32[i] * (1 + off * i / n);
      c.loss_scale[i] = 4096;
    }
  return c;
}

static void
expect (DynoNumerics *c, DynoNumericsVerdict verdict, const char *word)
{
  dyno_numerics_judge (c);
  g_assert_cmpstr (dyno_numerics_verdict_name (c->verdict), ==,
                   dyno_numerics_verdict_name (verdict));
  g_assert_nonnull (strstr (c->text, word));
  dyno_numerics_clear (c);
}

static void
test_difference (void)
{
  DynoNumerics same = curves (48, 0.005, 0), noisy = curves (48, 0.05, 0.3),
               away = curves (48, 0.08, 0), better = curves (48, -0.3, 0),
               worse = curves (48, 0.4, 0), stuck = curves (48, 3, 0);

  expect (&same, DYNO_NUMERICS_GOOD, "as good as");
  expect (&noisy, DYNO_NUMERICS_GOOD, "as good as"); /* the losses vary as much themselves */
  expect (&away, DYNO_NUMERICS_WATCH, "+");
  expect (&better, DYNO_NUMERICS_WATCH, "-");
  /* A warning only, since a start is chaotic and AMP learns. */
  expect (&worse, DYNO_NUMERICS_WATCH, "+");
  g_assert_cmpfloat (worse.difference, >, 0.2);
  expect (&stuck, DYNO_NUMERICS_BAD, "does not learn");
}

static void
test_not_finite (void)
{
  DynoNumerics c = curves (48, 0, 0);

  c.loss_amp[20] = (double) NAN;
  expect (&c, DYNO_NUMERICS_BAD, "not finite");
  c.loss_fp32[30] = (double) NAN;
  expect (&c, DYNO_NUMERICS_WATCH, "either");
}

/* A scale that falls at first is normal; one that goes on falling is not. */
static void
test_scale (void)
{
  DynoNumerics c = curves (48, 0, 0);

  for (guint i = 0; i < 4; i++)
    c.skipped[i] = TRUE;
  dyno_numerics_judge (&c);
  g_assert_cmpuint (c.n_skipped, ==, 4);
  expect (&c, DYNO_NUMERICS_GOOD, "as good as");
  for (guint i = 12; i < 48; i += 8)
    c.skipped[i] = TRUE;
  expect (&c, DYNO_NUMERICS_WATCH, "5 of the last 38");
  for (guint i = 0; i < 48; i++)
    {
      c.skipped[i] = i % 2;
      c.loss_scale[i] = 4096 * pow (0.5, i / 2);
    }
  expect (&c, DYNO_NUMERICS_BAD, "even at a loss scale");
}

/* A tenth of the steps after the settling ones may be lost, and a scale of 1 still holds small
 * gradients. */
static void
test_limits (void)
{
  DynoNumerics c = curves (30, 0, 0);

  for (guint i = 9; i < 12; i++) /* the first of them is a settling step */
    c.skipped[i] = TRUE;
  c.loss_scale[29] = 1;
  expect (&c, DYNO_NUMERICS_GOOD, "as good as");
  expect (&c, DYNO_NUMERICS_GOOD, "as good as"); /* nothing is left of the judgement before */
  g_assert_cmpuint (c.n_skipped, ==, 3);
  c.skipped[12] = TRUE;
  expect (&c, DYNO_NUMERICS_WATCH, "3 of the last 20");
  c.loss_scale[29] = 0.5;
  expect (&c, DYNO_NUMERICS_BAD, "even at a loss scale of 0.5");
}

/* The later half counts, which has the middle one of an odd number of steps, and only the noise of
 * fp32 excuses a difference. */
static void
test_later_half (void)
{
  DynoNumerics early = curves (48, 0, 0), noisy = curves (48, 0, 0),
               odd = { .n_steps = 3,
                       .loss_fp32 = { 9, 1, 1 },
                       .loss_amp = { 9, 1, 1.2 },
                       .loss_scale = { 8, 8, 8 } },
               flat = { .n_steps = 4,
                        .loss_fp32 = { 1, 0.95, 0.95, 0.95 },
                        .loss_amp = { 1, 1.2, 1.2, 1.2 },
                        .loss_scale = { 8, 8, 8, 8 } };

  for (guint i = 0; i < 24; i++)
    early.loss_amp[i] *= 2;
  expect (&early, DYNO_NUMERICS_GOOD, "as good as");
  for (guint i = 0; i < 48; i++)
    noisy.loss_amp[i] *= i % 2 ? 0.1 : 2.3;
  expect (&noisy, DYNO_NUMERICS_WATCH, "+");
  expect (&odd, DYNO_NUMERICS_WATCH, "+10 %");
  /* fp32 has hardly learned in these steps. */
  expect (&flat, DYNO_NUMERICS_WATCH, "+26 %");
}

/* --- on this device --------------------------------------------------------------------------- */

typedef struct {
  DynoJob *job;
  DynoMeter *meter;
} Bench;

static void
begin (Bench *b)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) devices = dyno_device_list (&error);
  g_autoptr (DynoDataset) dataset = NULL;

  b->job = dyno_job_new ();
  b->job->data = g_strdup ("builtin:shapes?size=16&samples=160&classes=4");
  b->job->settings.batch_size = 4;
  b->job->settings.model_width = 0.125;
  b->job->settings.workers = 0;
  b->job->settings.lr = 0.01;
  b->job->settings.autotune = FALSE;
  dataset = dyno_dataset_open (b->job->data, NULL, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  b->meter = dyno_meter_new (b->job, dataset, devices->pdata[0]);
}

static void
end (Bench *b)
{
  dyno_meter_free (b->meter);
  dyno_job_unref (b->job);
}

/* Both start from the same weights on the same batch: the first losses differ by rounding, which
 * shows that two precisions were used. */
static void
test_compare (void)
{
  Bench b;
  g_autoptr (GError) error = NULL;
  DynoNumerics n;

  begin (&b);
  g_assert_true (b.meter->class->numerics (b.meter, &b.job->settings, FAR, NULL, &n, &error));
  g_assert_cmpuint (n.n_steps, ==, DYNO_NUMERICS_STEPS);
  g_assert_cmpfloat (fabs (n.loss_amp[0] / n.loss_fp32[0] - 1), <, 0.01);
  g_assert_cmpfloat (n.loss_amp[0], !=, n.loss_fp32[0]);
  g_assert_cmpfloat (n.loss_scale[0], >, 1);
  g_assert_cmpint (n.verdict, ==, DYNO_NUMERICS_GOOD);
  g_assert_nonnull (n.text);
  dyno_numerics_clear (&n);
  end (&b);
}

/* A rate at which no precision trains is not attributed to AMP. */
static void
test_diverges (void)
{
  Bench b;
  g_autoptr (GError) error = NULL;
  DynoNumerics n;

  begin (&b);
  b.job->settings.lr = 1e8;
  g_assert_true (b.meter->class->numerics (b.meter, &b.job->settings, FAR, NULL, &n, &error));
  g_assert_cmpint (n.verdict, ==, DYNO_NUMERICS_WATCH);
  dyno_numerics_clear (&n);
  end (&b);
}

/* A batch that fits only with AMP is reduced for both. */
static void
test_budget (void)
{
  Bench b;
  g_autoptr (GError) error = NULL;
  g_autofree char *advice = NULL;
  guint64 bytes;
  gboolean fits;
  DynoNumerics n;

  begin (&b);
  b.job->settings.batch_size = 32;
  b.job->settings.amp = TRUE;
  g_assert_true (b.meter->class->plan (b.meter, &b.job->settings, &bytes, &fits, &advice, &error));
  b.job->settings.vram_budget = (gint64) (bytes + bytes / 16);
  g_assert_true (b.meter->class->numerics (b.meter, &b.job->settings, FAR, NULL, &n, &error));
  g_assert_no_error (error);
  g_assert_cmpint (n.batch_size, <, 32);
  dyno_numerics_clear (&n);
  end (&b);
}

static void
test_ends (void)
{
  Bench b;
  g_autoptr (GCancellable) cancelled = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  DynoNumerics n;

  begin (&b);
  g_cancellable_cancel (cancelled);
  g_assert_false (b.meter->class->numerics (b.meter, &b.job->settings, FAR, cancelled, &n, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  g_assert_false (b.meter->class->numerics (b.meter, &b.job->settings, LONG_AGO, NULL, &n, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT);
  end (&b);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/numerics/curves-that-differ", test_difference);
  g_test_add_func ("/tune/numerics/losses-that-are-not-finite", test_not_finite);
  g_test_add_func ("/tune/numerics/steps-that-are-lost", test_scale);
  g_test_add_func ("/tune/numerics/limits", test_limits);
  g_test_add_func ("/tune/numerics/later-half-counts", test_later_half);
  g_test_add_func ("/tune/numerics/same-weights-and-batches", test_compare);
  g_test_add_func ("/tune/numerics/what-diverges-in-fp32-too", test_diverges);
  g_test_add_func ("/tune/numerics/batch-that-fits-fp32", test_budget);
  g_test_add_func ("/tune/numerics/cancelled-or-late", test_ends);
  return g_test_run ();
}
