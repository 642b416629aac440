/* SPDX-License-Identifier: MIT */
/* The choice of the best result, and its wording; without a device or a clock. */
#include "verdict.h"
#include "claims.h"
#include "curve.h"
#include <math.h>
#include <string.h>

typedef struct {
  gint64 batch, workers;
  double rate, half; /* half of the interval's width */
} Row;

static DynoVerdict
choose (const Row *rows, guint n, int baseline, int today, double expected)
{
  DynoSettings settings[8];
  DynoVerdictEntry entries[8] = { 0 };
  DynoVerdict verdict;

  g_assert_cmpuint (n, <=, G_N_ELEMENTS (entries));
  for (guint i = 0; i < n; i++)
    {
      dyno_settings_init (&settings[i]);
      settings[i].batch_size = rows[i].batch;
      settings[i].workers = rows[i].workers;
      entries[i].settings = &settings[i];
      entries[i].rate = (DynoEstimate){ rows[i].rate, rows[i].rate - rows[i].half,
                                        rows[i].rate + rows[i].half, 10, TRUE };
    }
  dyno_verdict_choose (entries, n, baseline, today, expected, &verdict);
  return verdict;
}
#define CHOOSE(baseline, today, expected, ...)                                                   \
  choose ((const Row[]){ __VA_ARGS__ }, G_N_ELEMENTS (((const Row[]){ __VA_ARGS__ })), baseline, \
          today, expected)

static void
test_smallest_of_the_fast (void)
{
  DynoVerdict v = CHOOSE (-1, -1, 0, { 64, 4, 300, 1 }, { 32, 4, 296, 1 }, { 16, 4, 290, 1 },
                          { 32, 2, 295, 1 });

  g_assert_cmpint (v.fastest, ==, 0);
  g_assert_cmpint (v.best, ==, 3);
  g_assert_false (v.keep_today);
}

/* 3 % slower may be 4 % slower, so an uncertain batch is not advised. */
static void
test_inside_the_noise_is_not_advised (void)
{
  g_assert_cmpint (CHOOSE (-1, -1, 0, { 64, 4, 300, 1 }, { 32, 4, 294, 10 }).best, ==, 0);
  g_assert_cmpint (CHOOSE (-1, -1, 0, { 64, 4, 300, 1 }, { 32, 4, 294, 1 }).best, ==, 1);
}

/* Rates that the model considers possible count too, but only up to the least gain of a change. */
static void
test_expected_counts (void)
{
  g_assert_cmpint (CHOOSE (-1, -1, 306, { 64, 4, 300, 1 }, { 32, 4, 295, 1 }).best, ==, 0);
  g_assert_cmpint (CHOOSE (-1, -1, 302, { 64, 4, 300, 1 }, { 32, 4, 295, 1 }).best, ==, 1);
  g_assert_cmpint (CHOOSE (-1, -1, 900, { 64, 4, 300, 1 }).best, ==, 0);
}

static void
test_never_below_the_base_line (void)
{
  g_assert_cmpint (CHOOSE (1, -1, 0, { 8, 0, 297, 1 }, { 16, 0, 300, 1 }).best, ==, 1);
  g_assert_cmpint (CHOOSE (-1, -1, 0, { 8, 0, 297, 1 }, { 16, 0, 300, 1 }).best, ==, 0);
}

static void
test_below_3_percent_the_present_settings_stay (void)
{
  DynoVerdict less = CHOOSE (1, 2, 0, { 64, 4, 308, 1 }, { 16, 0, 100, 1 }, { 32, 2, 300, 1 }),
              more = CHOOSE (1, 2, 0, { 64, 4, 310, 1 }, { 16, 0, 100, 1 }, { 32, 2, 300, 1 }),
              small = CHOOSE (-1, 2, 0, { 64, 4, 312, 1 }, { 16, 4, 306, 1 }, { 32, 2, 300, 1 });

  g_assert_true (less.keep_today);
  g_assert_cmpint (less.best, ==, 2);
  g_assert_false (more.keep_today);
  g_assert_cmpint (more.best, ==, 0);
  /* The advised batch would not beat the present settings by 3 %, the fastest would. */
  g_assert_false (small.keep_today);
  g_assert_cmpint (small.best, ==, 0);
}

static void
test_nothing (void)
{
  DynoVerdict v = choose (NULL, 0, -1, -1, 0);

  g_assert_cmpint (v.best, ==, -1);
  g_assert_cmpint (v.fastest, ==, -1);
}

static void
test_learning_rate (void)
{
  DynoSettings from, to;

  dyno_settings_init (&from);
  to = from;
  from.batch_size = 16;
  from.accumulate = 2;
  from.lr = 0.1;
  to.batch_size = 256;
  to.accumulate = 2;
  g_assert_cmpfloat_with_epsilon (dyno_verdict_learning_rate (&from, &to), 0.4, 1e-12);
  to.batch_size = 32;
  to.accumulate = 1;
  g_assert_cmpfloat (dyno_verdict_learning_rate (&from, &to), ==, 0.1);
}

/* --- words ------------------------------------------------------------------------------------ */

static void
add_trial (DynoTuneResult *r, const DynoTrial *of)
{
  DynoTrial *trial = g_new0 (DynoTrial, 1);

  dyno_trial_copy (of, trial);
  trial->stage = "search";
  g_ptr_array_add (r->trials, trial);
}

static DynoTuneResult *
make_result (void)
{
  g_autoptr (DynoJob) job = dyno_job_new ();
  DynoTuneResult *r = dyno_tune_result_new (job);

  r->best.settings = r->baseline.settings = r->fastest.settings = job->settings;
  r->best.settings.batch_size = 64;
  r->baseline.settings.batch_size = 16;
  r->baseline.settings.workers = 0;
  r->baseline.settings.amp = FALSE;
  r->best.samples_per_s = 300;
  r->baseline.samples_per_s = 200;
  add_trial (r, &r->best);
  add_trial (r, &r->baseline);
  r->speedup = 1.5;
  r->gain = 2;
  r->proven = TRUE;
  return r;
}

static char *
explain (DynoTuneResult *r)
{
  g_auto (GStrv) reasons = dyno_verdict_explain (r);

  return g_strjoinv ("\n", reasons);
}

/* Uses the ceilings and the limit that follows from them; the test sets the proof. */
static char *
explain_limit (DynoTuneResult *r)
{
  dyno_claims_settle (r);
  r->proven = TRUE;
  r->missing = 0;
  r->inside_noise = FALSE;
  return explain (r);
}

static void
test_words (void)
{
  g_autoptr (DynoTuneResult) r = make_result ();
  g_autofree char *proven = explain (r);

  g_assert_true (g_str_has_prefix (
      proven, "1.50 times the base line (batch 16, fp32, 0 workers): 300 samples/s after 200."));
  g_assert_nonnull (strstr (proven, "2.00 times the present settings"));
  g_assert_null (strstr (proven, "Not proven"));
  r->proven = FALSE;
  r->keep_today = TRUE;
  g_autofree char *unproven = explain (r);
  g_assert_true (g_str_has_prefix (unproven, "Not proven"));
  g_assert_null (strstr (unproven, "already as fast")); /* no claim without a proof */
  g_assert_nonnull (strstr (unproven, "before the longer runs"));
  g_assert_nonnull (strstr (unproven, "1.50 times the base line"));
  r->speedup = 0.74;
  g_autofree char *slower = explain (r);
  g_assert_null (strstr (slower, "times the base line"));
  r->speedup = 1.5;
  ((DynoTrial *) r->trials->pdata[0])->stage = "proof";
  g_autofree char *partly = explain (r);
  g_assert_nonnull (strstr (partly, "longer runs of all that it is compared with"));
  g_ptr_array_set_size (r->trials, 1);
  g_autofree char *alone = explain (r);
  g_assert_true (g_str_has_prefix (alone, "Not proven: nothing else was measured"));
  g_assert_null (strstr (alone, "times the"));
  add_trial (r, r->trials->pdata[0]); /* the same settings do not count as others */
  g_autofree char *twice = explain (r);
  g_assert_true (g_str_has_prefix (twice, "Not proven: nothing else was measured"));
  g_ptr_array_set_size (r->trials, 1);
  r->proven = TRUE;
  g_autofree char *kept = explain (r);
  g_assert_true (g_str_has_prefix (kept, "Your settings are already as fast"));
  r->proven = r->keep_today = FALSE;
  g_ptr_array_set_size (r->trials, 0);
  r->inside_noise = TRUE;
  r->best.low = 100;
  r->best.high = 200;
  r->today.low = 1500;
  r->today.high = 1600;
  g_autofree char *noise = explain (r);
  g_assert_nonnull (strstr (
      noise, "(in the proof it ran at 100 to 200 samples/s, the base line at 0.00 to 0.00)"));
  g_assert_null (strstr (noise, "times the")); /* no claim within the noise */
  r->keep_today = TRUE;
  r->fastest.settings = r->best.settings;
  g_autofree char *fastest = explain (r);
  g_assert_nonnull (strstr (fastest, "your settings, the fastest that were tried, may be no faster "
                                     "than the base line"));
  r->keep_today = FALSE;
  r->best.settings = r->baseline.settings;
  g_autofree char *base = explain (r);
  g_assert_nonnull (strstr (
      base,
      "(in the proof it ran at 100 to 200 samples/s, the present settings at 1,500 to 1,600)"));
}

/* A stopped search does not report a lack of time. */
static void
test_stopped_in_words (void)
{
  g_autoptr (DynoTuneResult) r = make_result ();

  r->proven = FALSE;
  r->stopped = r->equal_wanted = TRUE;
  r->batches_to = 64;
  for (r->keep_today = 0; r->keep_today <= 1; r->keep_today++)
    {
      g_autofree char *text = explain (r);

      g_assert_true (g_str_has_prefix (
          text, "Not proven: the search was stopped before the longer runs that prove it"));
      g_assert_true ((strstr (text, "so they stay") != NULL) == r->keep_today);
      g_assert_nonnull (strstr (text, "Batches above 64 were not tried, and may be faster."));
      g_assert_null (strstr (text, "no time"));
      g_assert_null (strstr (text, "more minutes"));
    }
  g_ptr_array_set_size (r->trials, 1);
  g_autofree char *alone = explain (r);
  g_assert_true (g_str_has_prefix (
      alone, "Not proven: the search was stopped before anything else was measured"));
}

/* The failure of the present settings is the reason for advising others. */
static void
test_failed_settings_in_words (void)
{
  g_autoptr (DynoTuneResult) r = make_result ();
  g_autofree char *worked = explain (r);

  g_assert_null (strstr (worked, "did not work"));
  r->today.stage = "today";
  r->today.outcome = DYNO_TRIAL_DOES_NOT_FIT;
  r->today.samples_per_s = 0;
  r->gain = NAN;
  g_autofree char *failed = explain (r);
  g_assert_nonnull (strstr (failed, "Your settings (batch "));
  g_assert_nonnull (strstr (failed, ") did not work: does not fit."));
}

static void
test_limit_in_words (void)
{
  g_autoptr (DynoTuneResult) r = make_result ();

  r->loader_ceiling = 310;
  r->gpu_ceiling = 900;
  g_autofree char *loader = explain_limit (r);
  g_assert_nonnull (
      strstr (loader, "The data pipeline is the limit: alone it delivers 310 samples/s, the device "
                      "could take 900."));
  r->loader_ceiling = 1200;
  g_autofree char *gpu = explain_limit (r);
  g_assert_nonnull (strstr (gpu, "The device is the limit: alone it trains 900 samples/s"));
  r->best.train_samples_per_s = 1000; /* more than the device's ceiling, so this figure is wrong */
  g_autofree char *wrong = explain_limit (r);
  g_assert_null (strstr (wrong, "is the limit"));
  r->loader_ceiling = 16740.2;
  r->gpu_ceiling = 1234567;
  r->best.train_samples_per_s = 16000;
  g_autofree char *large = explain_limit (r);
  g_assert_nonnull (
      strstr (large, "it delivers 16,740 samples/s, the device could take 1,234,567."));
  r->loader_ceiling = INFINITY; /* the device generates its own input */
  g_autofree char *neither = explain_limit (r);
  g_assert_null (strstr (neither, "is the limit"));
}

/* --- the curve -------------------------------------------------------------------------------- */

static void
test_curve (void)
{
  DynoCurvePoint points[] = { { .batch_size = 32, .samples_per_s = 500, .vram_bytes = 40 },
                              { .batch_size = 64, .samples_per_s = 800, .vram_bytes = 60 },
                              { .batch_size = 128, .samples_per_s = 980, .vram_bytes = 100 },
                              { .batch_size = 256, .samples_per_s = 1000, .vram_bytes = 171 },
                              { .batch_size = 512, .samples_per_s = 990, .vram_bytes = 300 },
                              { .batch_size = 1024, .vram_bytes = 600 } };
  DynoTuneCurve curve = { .points = points, .n = G_N_ELEMENTS (points) };

  dyno_curve_read (&curve, 0);
  g_assert_cmpstr (dyno_curve_name_advised (&curve), ==, "advised: within 3 %");
  g_assert_cmpstr (dyno_curve_name_fastest (&curve), ==, "fastest, predicted");
  g_assert_cmpint (curve.knee, ==, 128);
  g_assert_cmpint (curve.smallest, ==, 128);
  g_assert_cmpint (curve.fastest, ==, 256);
  g_assert_cmpstr (curve.text, ==,
                   "batch 128 to 256: +2 % predicted, not measured, for +71 % memory");
  points[3].measured = TRUE;
  dyno_curve_read (&curve, 0);
  g_assert_cmpstr (curve.text, ==, "batch 128 to 256: +2 % for +71 % memory");
  /* The chosen batch is the advised one, whatever the model expects of the others. */
  g_assert_cmpstr (dyno_curve_name_fastest (&curve), ==, "fastest");
  dyno_curve_read (&curve, 64);
  g_assert_cmpstr (dyno_curve_name_advised (&curve), ==, "advised");
  g_assert_cmpint (curve.smallest, ==, 64);
  g_assert_cmpint (curve.fastest, ==, 256);
  g_assert_true (g_str_has_prefix (curve.text, "batch 64 to 128: +2"));
  dyno_curve_read (&curve, 512);
  g_assert_cmpstr (dyno_curve_name_advised (&curve), ==, "advised"); /* batch 256 is as fast */
  g_assert_cmpstr (dyno_curve_name_fastest (&curve), ==, "fastest");
  g_assert_cmpint (curve.smallest, ==, 512);
  g_assert_cmpint (curve.fastest, ==, 256);
  dyno_curve_read (&curve, 256);
  g_assert_cmpstr (dyno_curve_name_advised (&curve), ==, "advised: the fastest");
  g_assert_null (dyno_curve_name_fastest (&curve));
  /* With these settings it is the fastest; other settings were faster. */
  curve.elsewhere = 1020;
  g_assert_cmpstr (dyno_curve_name_advised (&curve), ==, "advised: within 3 %");
  curve.elsewhere = 1040;
  g_assert_cmpstr (dyno_curve_name_advised (&curve), ==, "advised");
  dyno_curve_read (&curve, 1024); /* it does not fit, so no other batch is the chosen one */
  g_assert_cmpint (curve.smallest, ==, 0);
  g_assert_null (dyno_curve_name_advised (&curve));
  g_assert_cmpstr (dyno_curve_name_fastest (&curve), ==, "fastest");
  g_free (curve.text);
}

/* Of equal rates the smallest batch is the fastest, and the curve is evaluated again each time. */
static void
test_curve_of_equal_rates (void)
{
  static const double rates[][4] = { { 100, 200, 200, 200 }, { 0, 300, 150, 300 }, { 5, 0, 0, 0 } };
  static const gint64 fastest[] = { 2, 2, 1 };
  DynoCurvePoint points[4] = { 0 };
  DynoTuneCurve curve = { .points = points, .n = 4 };

  for (guint i = 0; i < G_N_ELEMENTS (rates); i++)
    {
      for (guint k = 0; k < 4; k++)
        points[k] = (DynoCurvePoint){ .batch_size = 1 << k, .samples_per_s = rates[i][k] };
      dyno_curve_read (&curve, 0);
      g_assert_cmpint (curve.fastest, ==, fastest[i]);
      g_assert_cmpint (curve.smallest, ==, fastest[i]);
      g_assert_cmpint (curve.knee, ==, i < 2 ? 2 : 0);
    }
  g_free (curve.text);
}

/* The first batch may be the advised one; the step from it leads over a batch that failed, and there
 * is none to a batch that is slower or whose memory is not known. */
static void
test_curve_with_a_gap (void)
{
  DynoCurvePoint points[] = {
    { .batch_size = 32, .samples_per_s = 100, .vram_bytes = 1000, .measured = TRUE },
    { .batch_size = 64, .vram_bytes = 1200, .measured = TRUE },
    { .batch_size = 128, .samples_per_s = 150, .vram_bytes = 1500, .measured = TRUE },
  };
  DynoTuneCurve curve = { .points = points, .n = G_N_ELEMENTS (points) };

  dyno_curve_read (&curve, 32);
  g_assert_cmpint (curve.smallest, ==, 32);
  g_assert_cmpstr (curve.text, ==, "batch 32 to 128: +50 % for +50 % memory");
  g_assert_cmpstr (dyno_curve_name_advised (&curve), ==, "advised");
  points[2].samples_per_s = 90;
  dyno_curve_read (&curve, 32);
  g_assert_cmpstr (curve.text, ==, "batch 32 to 128: -10 % for +50 % memory");
  points[2].samples_per_s = 89;
  dyno_curve_read (&curve, 32);
  g_assert_null (curve.text);
  points[2].samples_per_s = 150;
  for (guint i = 0; i < 3; i += 2)
    {
      guint64 bytes = points[i].vram_bytes;

      points[i].vram_bytes = 0;
      dyno_curve_read (&curve, 32);
      g_assert_null (curve.text);
      points[i].vram_bytes = bytes;
    }
  /* a batch of its own, less than twice as large, is no step */
  points[2].batch_size = 63;
  dyno_curve_read (&curve, 32);
  g_assert_null (curve.text);
}

static void
test_curve_of_nothing (void)
{
  DynoCurvePoint points[] = { { .batch_size = 32 }, { .batch_size = 64 } };
  DynoTuneCurve curve = { .points = points, .n = G_N_ELEMENTS (points) };

  dyno_curve_read (&curve, 0);
  g_assert_cmpint (curve.knee + curve.smallest + curve.fastest, ==, 0);
  g_assert_null (dyno_curve_name_advised (&curve));
  g_assert_null (dyno_curve_name_fastest (&curve));
  g_assert_null (curve.text);
}

/* Settings that were measured together have one factor. */
static void
test_gains_in_words (void)
{
  static const struct {
    const char *key, *from, *to;
    double factor;
  } rows[] = { { "amp", "false", "true", 1.954 },
               { "workers", "0", "16", NAN },
               { "batch_size", "1", "512", NAN },
               { "cache", "false", "true", 123.4 } };
  g_autoptr (DynoJob) job = dyno_job_new ();
  g_autoptr (DynoTuneResult) r = dyno_tune_result_new (job);
  g_autofree char *text = NULL;

  g_assert_null (dyno_verdict_explain_gains (r));
  r->gains = g_new0 (DynoTuneGain, G_N_ELEMENTS (rows));
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    r->gains[r->n_gains++] = (DynoTuneGain){ rows[i].key, g_strdup (rows[i].from),
                                             g_strdup (rows[i].to), rows[i].factor };
  text = dyno_verdict_explain_gains (r);
  g_assert_cmpstr (text, ==,
                   "What each setting brought: Mixed precision (AMP) false to true: 1.95 times; "
                   "Workers 0 to 16, Batch size 1 to 512, Cache samples false to true: together "
                   "123.40 times.");
}

/* After the other reasons, the best is compared with the guide's numbers, but not without a best
 * or for a preset without numbers. */
static void
test_beside_the_preset (void)
{
  g_autoptr (DynoJob) job = dyno_job_new ();
  g_autoptr (DynoTuneResult) result = dyno_tune_result_new (job);
  g_autoptr (DynoPreset) rtx3090 = dyno_preset_find ("rtx3090", NULL, NULL),
                         t4 = dyno_preset_find ("t4", NULL, NULL);
  DynoPresetUse use = { .job = job };

  result->reasons = g_strsplit ("one|two", "|", 0);
  dyno_verdict_add_preset (result, rtx3090, &use);
  g_assert_cmpuint (g_strv_length (result->reasons), ==, 2);
  result->best.stage = "proof";
  result->best.samples_per_s = 250;
  result->best.vram_bytes = (guint64) 20 << 30;
  dyno_verdict_add_preset (result, t4, &use);
  g_assert_cmpuint (g_strv_length (result->reasons), ==, 2);
  dyno_verdict_add_preset (result, rtx3090, &use);
  g_assert_cmpuint (g_strv_length (result->reasons), ==, 3);
  g_assert_cmpstr (result->reasons[1], ==, "two");
  g_assert_nonnull (strstr (result->reasons[2], "“RTX 3090”"));
  g_assert_nonnull (
      strstr (result->reasons[2], "250 samples/s (expected 300-500), 20 GB (expected 18-22)"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/verdict/smallest-of-the-fast", test_smallest_of_the_fast);
  g_test_add_func ("/tune/verdict/inside-the-noise-is-not-advised",
                   test_inside_the_noise_is_not_advised);
  g_test_add_func ("/tune/verdict/expected-counts", test_expected_counts);
  g_test_add_func ("/tune/verdict/never-below-the-base-line", test_never_below_the_base_line);
  g_test_add_func ("/tune/verdict/below-3-percent-the-present-settings-stay",
                   test_below_3_percent_the_present_settings_stay);
  g_test_add_func ("/tune/verdict/nothing", test_nothing);
  g_test_add_func ("/tune/verdict/learning-rate-by-the-square-root", test_learning_rate);
  g_test_add_func ("/tune/verdict/words", test_words);
  g_test_add_func ("/tune/verdict/stopped-in-words", test_stopped_in_words);
  g_test_add_func ("/tune/verdict/failed-settings-in-words", test_failed_settings_in_words);
  g_test_add_func ("/tune/verdict/limit-in-words", test_limit_in_words);
  g_test_add_func ("/tune/verdict/gains-in-words", test_gains_in_words);
  g_test_add_func ("/tune/curve/knee-plateau-and-price", test_curve);
  g_test_add_func ("/tune/curve/of-equal-rates", test_curve_of_equal_rates);
  g_test_add_func ("/tune/verdict/curve-with-a-gap", test_curve_with_a_gap);
  g_test_add_func ("/tune/curve/of-nothing", test_curve_of_nothing);
  g_test_add_func ("/tune/verdict/beside-the-preset", test_beside_the_preset);
  return g_test_run ();
}
