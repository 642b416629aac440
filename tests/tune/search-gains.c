/* SPDX-License-Identifier: MIT */
/* The gain that the search states for each setting, and the curve over the batch. */
#include "search-test.h"
#include "curve.h"
#include "verdict.h"
#include <math.h>
#include <string.h>

static void
test_gains_make_the_whole (void)
{
  g_autoptr (DynoTuneResult) r = search (find_machine ("usual"), 1, (Wanted){ 0 }, NULL, NULL);
  double product = 1;

  g_assert_cmpuint (r->n_gains, >=, 3);
  for (guint i = 0; i < r->n_gains; i++)
    product *= isfinite (r->gains[i].factor) ? r->gains[i].factor : 1;
  g_assert_cmpfloat_with_epsilon (product, r->speedup, 1e-6 * product);
  g_assert_false (says (r, "What each setting brought")); /* the chart shows this */
  g_autofree char *gains = dyno_verdict_explain_gains (r);
  g_assert_true (g_str_has_prefix (gains, "What each setting brought: "));
}

/* The stated gain of a setting is its true gain in its position, by itself, or together with the
 * preceding settings that have no factor; and the settings fit at each position.  Returns the
 * number of settings with a factor. */
static guint
check_gains (const DynoMachine *m, const DynoTuneResult *r, double most)
{
  DynoSettings at = r->baseline.settings;
  double before = dyno_machine_rate (m, &at);
  guint told = 0;

  for (guint i = 0; i < r->n_gains; i++)
    {
      const DynoTuneGain *gain = &r->gains[i];
      double real;

      dyno_settings_set_number (&at, gain->key,
                                dyno_settings_get_number (&r->best.settings, gain->key), NULL);
      real = dyno_machine_rate (m, &at) / before;
      g_test_message ("%s: %s to %s: %.2f told, %.2f had", m->name, gain->key, gain->to,
                      gain->factor, real);
      g_assert_cmpfloat (real, >, 0); /* otherwise it does not fit */
      g_assert_true (isfinite (gain->factor) || i + 1 < r->n_gains);
      if (!isfinite (gain->factor))
        continue;
      g_assert_cmpfloat (fabs (log (gain->factor / real)), <, most);
      before = dyno_machine_rate (m, &at);
      told++;
    }
  return told;
}

/* The cache is on already and takes far longer to fill than a trial lasts: measurements meanwhile
 * do not count as its gain. */
static void
test_filling_is_no_gain (void)
{
  DynoMachine m = *find_machine ("cache-fills");

  m.decode_s = 1.0 / 100;
  m.n_train = 9000;
  m.n_validation = 1000;
  for (guint seed = 1; seed <= 4; seed++)
    for (gboolean cache = 0; cache <= 1; cache++)
      {
        DynoSettings settings;
        gboolean told = FALSE;

        dyno_settings_init (&settings);
        settings.workers = 4;
        settings.cache = cache;
        g_autoptr (DynoTuneResult) r =
            search (&m, seed, (Wanted){ .minutes = 4, .settings = &settings }, NULL, NULL);

        g_assert_true (r->proven);
        g_assert_true (r->best.settings.cache);
        /* The first trial does not yet know how long the cache takes to fill. */
        if (cache)
          g_assert_cmpstr (trial_of (r, 0)->text, ==,
                           "the cache was still being filled: the rate is that without it");
        g_assert_cmpfloat_with_epsilon (r->today.samples_per_s / dyno_machine_rate (&m, &settings),
                                        1, 0.05);
        g_assert_cmpuint (check_gains (&m, r, 0.15), >, 0);
        for (guint i = 0; i < r->n_gains; i++)
          told |= strcmp (r->gains[i].key, "cache") == 0;
        g_assert_true (told);
      }
}

/* AMP is three times as fast on the device alone; the stated gain is that of a run. */
static void
test_amp_of_the_device_is_not_the_runs (void)
{
  static const char *const names[] = { "loader-bound", "gpu-bound", "amp-slower" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (DynoTuneResult) r = search (find_machine (names[i]), 1, (Wanted){ 0 }, NULL, NULL);
      g_autofree char *had = NULL;

      for (guint k = 0; k < r->n_gains; k++)
        if (strcmp (r->gains[k].key, "amp") == 0 && isfinite (r->gains[k].factor))
          had =
              g_strdup_printf (" A whole run became %.2f times as fast by it.", r->gains[k].factor);
      g_test_message ("%s: %s", names[i], r->amp_text);
      g_assert_true (g_str_has_prefix (r->amp_text, "The device by itself computes "));
      g_assert_true (!had || strstr (r->amp_text, had));
      g_assert_true ((strstr (r->amp_text, " A run that waits for data gains less.") != NULL)
                     == (!had && strcmp (names[i], "amp-slower") != 0));
      g_assert_true (i > 0 || had);
      g_assert_true (says (r, r->amp_text));
    }
}

/* A measured batch is shown as measured in the curve, also one that was measured between the
 * baseline and the best. */
static guint
check_curve (const DynoTuneResult *r)
{
  guint n = 0;

  for (guint i = 0; i < r->trials->len; i++)
    {
      const DynoTrial *trial = trial_of (r, i);
      DynoSettings s = r->best.settings;

      s.lr = trial->settings.lr;
      s.batch_size = trial->settings.batch_size;
      if (trial->outcome != DYNO_TRIAL_OK || trial->text
          || !dyno_settings_equal (&s, &trial->settings))
        continue;
      for (guint k = 0; k < r->curve.n; k++)
        if (r->curve.points[k].batch_size == s.batch_size)
          g_assert_true (r->curve.points[k].measured);
      n++;
    }
  return n;
}

/* On any steady machine, also without time to measure each setting separately; settings that do not
 * fit are not between the baseline and the best. */
static void
test_gain_of_each_setting (gconstpointer data)
{
  static const double minutes[] = { 2.5, 0.75, 0.4 };
  const DynoMachine *m = data;
  guint told = 0;

  for (guint k = 0; k < G_N_ELEMENTS (minutes); k++)
    for (guint seed = 1; seed <= 4; seed++)
      {
        g_autoptr (DynoTuneResult) r =
            search (m, seed, (Wanted){ .minutes = minutes[k] }, NULL, NULL);

        g_assert_true (k > 0 || check_curve (r) > 0);
        told += check_gains (m, r, m->drift > 0 || m->amp_fails ? INFINITY : 0.1);
      }
  g_assert_cmpuint (told, >, 0);
}

static void
test_curve (void)
{
  const DynoMachine *m = find_machine ("usual");
  g_autoptr (DynoTuneResult) r = search (m, 1, (Wanted){ 0 }, NULL, NULL);
  guint measured = 0;

  g_assert_cmpuint (r->curve.n, >=, 8);
  for (guint i = 0; i < r->curve.n; i++)
    {
      const DynoCurvePoint *p = &r->curve.points[i];
      DynoSettings s = r->best.settings;

      s.batch_size = p->batch_size;
      measured += p->measured;
      g_assert_cmpfloat_with_epsilon (p->samples_per_s / dyno_machine_rate (m, &s), 1, 0.15);
      g_assert_cmpuint (p->vram_bytes, >, i > 0 ? r->curve.points[i - 1].vram_bytes : 0);
    }
  g_assert_cmpuint (measured, >=, 1);
  g_assert_cmpint (r->curve.smallest, <=, r->curve.fastest);
  g_assert_cmpint (r->curve.smallest, ==, r->best.settings.batch_size);
  g_assert_true (says (r, "memory"));
}

/* The advised batch is marked in the curve, also one that is larger than the search range of a
 * small data set; and no point is called the fastest if another result is stated to be faster. */
static void
test_curve_shows_the_choice (void)
{
  DynoMachine m = *find_machine ("gpu-bound");
  DynoSettings settings;

  m.n_train = 1600;
  m.n_validation = 200;
  dyno_settings_init (&settings);
  settings.batch_size = 400;
  settings.workers = 16;
  settings.amp = TRUE;
  settings.cache = TRUE;
  g_autoptr (DynoTuneResult) large = search (&m, 1, (Wanted){ .settings = &settings }, NULL, NULL);

  g_assert_true (large->keep_today);
  g_assert_cmpint (large->curve.smallest, ==, 400);
  for (guint k = 0; k <= n_unsteady; k++)
    for (guint seed = 1; seed <= searches (20); seed++)
      {
        const DynoMachine *any = k < n_unsteady ? &unsteady[k] : find_machine ("amp-slower");
        g_autoptr (DynoTuneResult) r =
            search (any, seed, (Wanted){ .minutes = seed % 2 ? 1 : 2.5 }, NULL, NULL);
        const char *name = dyno_curve_name_advised (&r->curve);

        g_assert_cmpint (r->curve.smallest, ==, r->best.settings.batch_size);
        g_assert_nonnull (name);
        if (strcmp (name, "advised: the fastest") != 0)
          continue;
        g_assert_cmpfloat (r->best.samples_per_s, >=, r->fastest.samples_per_s);
        for (guint i = 0; i < r->curve.n; i++)
          g_assert_cmpfloat (r->best.samples_per_s, >=, r->curve.points[i].samples_per_s);
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < n_machines; i++)
    {
      g_autofree char *path =
          g_strconcat ("/tune/search/gain-of-each-setting/", machines[i].name, NULL);

      g_test_add_data_func (path, &machines[i], test_gain_of_each_setting);
    }
  g_test_add_func ("/tune/search/gains-make-the-whole", test_gains_make_the_whole);
  g_test_add_func ("/tune/search/cache-that-fills-is-not-judged-by-it", test_filling_is_no_gain);
  g_test_add_func ("/tune/search/amp-of-the-device-is-not-the-runs",
                   test_amp_of_the_device_is_not_the_runs);
  g_test_add_func ("/tune/search/curve-over-the-batch", test_curve);
  g_test_add_func ("/tune/search/curve-shows-the-choice", test_curve_shows_the_choice);
  return g_test_run ();
}
