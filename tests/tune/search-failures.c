/* SPDX-License-Identifier: MIT */
/* The search with settings that do not fit, fail or are too small: these are results, and do not
 * end it. */
#include "search-test.h"
#include "preset.h"
#include <math.h>
#include <string.h>

static void
test_what_cannot_fit_is_not_tried (void)
{
  const DynoMachine *m = find_machine ("memory-bound");
  g_autoptr (DynoTuneResult) r = search (m, 1, (Wanted){ 0 }, NULL, NULL);

  for (guint i = 0; i < r->ceilings->len; i++)
    g_assert_cmpfloat ((double) ((const DynoCeiling *) r->ceilings->pdata[i])->planned_bytes, <=,
                       m->limit_bytes);
  for (guint i = 0; i < r->trials->len; i++)
    if (strcmp (trial_of (r, i)->stage, "search") == 0)
      g_assert_cmpfloat ((double) trial_of (r, i)->planned_bytes, <=, 0.98 * m->limit_bytes);
  g_assert_cmpuint (r->margin_bytes, >=, (guint64) (0.02 * m->limit_bytes));
  g_assert_true (says (r, "of memory that it may take"));
}

/* A step of several accumulated batches is one update; with fewer than 8 in an epoch hardly
 * anything is learned. */
static void
test_accumulated_batches_are_one_update (void)
{
  for (gint64 accumulate = 1; accumulate <= 16; accumulate *= 4)
    {
      DynoMachine m = *find_machine ("memory-bound");
      DynoSettings settings;

      m.n_train = 3000;
      m.optimizer_s = 0.05; /* each update takes as long as hundreds of samples */
      dyno_settings_init (&settings);
      settings.batch_size = 8;
      settings.workers = 4;
      settings.accumulate = accumulate;
      g_autoptr (DynoTuneResult) r = search (&m, 1, (Wanted){ .settings = &settings }, NULL, NULL);

      g_test_message ("%d: %d of batch %d", (int) accumulate, (int) r->best.settings.accumulate,
                      (int) r->best.settings.batch_size);
      for (guint i = 0; i < r->trials->len; i++)
        {
          const DynoSettings *s = &trial_of (r, i)->settings;
          g_assert_cmpint (s->batch_size * s->accumulate * 8, <=, 3000);
        }
      for (guint i = 0; i < r->ceilings->len; i++)
        {
          const DynoCeiling *c = r->ceilings->pdata[i];
          g_assert_true (c->of == DYNO_CEILING_LOADER
                         || c->settings.batch_size * c->settings.accumulate * 8 <= 3000);
        }
      g_assert_cmpint (r->curve.points[r->curve.n - 1].batch_size * r->best.settings.accumulate * 8,
                       <=, 3000);
    }
}

static void
test_refusal_is_a_result (void)
{
  const DynoMachine *m = find_machine ("refused");
  g_autoptr (DynoTuneResult) r = search (m, 1, (Wanted){ 0 }, NULL, NULL);
  guint refused = count (r, DYNO_TRIAL_OUT_OF_MEMORY);

  for (guint i = 0; i < r->ceilings->len; i++)
    refused += ((const DynoCeiling *) r->ceilings->pdata[i])->outcome == DYNO_TRIAL_OUT_OF_MEMORY;
  g_assert_cmpuint (refused, >=, 1);
  g_assert_cmpuint (refused, <=, 3); /* settings with a larger need are not tried */
  g_assert_true (r->proven);
  g_assert_cmpfloat ((double) r->best.vram_bytes, <, m->refused_bytes);
}

/* If the present settings fail, nothing was compared with them. */
static void
test_failing_kernel_is_a_result (void)
{
  DynoSettings settings;

  dyno_settings_init (&settings);
  settings.workers = 4;
  for (settings.amp = 0; settings.amp <= 1; settings.amp++)
    {
      g_autoptr (DynoTuneResult) r =
          search (find_machine ("amp-fails"), 1, (Wanted){ .settings = &settings }, NULL, NULL);

      g_assert_true (r->proven == !settings.amp);
      g_assert_true (says (r, "the comparison with your settings") == settings.amp);
      g_assert_false (r->best.settings.amp);
      g_assert_cmpuint (count (r, DYNO_TRIAL_FAILED), <=, 3);
    }
}

static void
test_lost_device_is_a_result (void)
{
  DynoMachine m = *find_machine ("usual");

  m.noise = 0.005;
  for (m.lost_at = 1; m.lost_at < 30; m.lost_at++)
    {
      g_autoptr (DynoTuneResult) r = search (&m, 1, (Wanted){ 0 }, NULL, NULL);
      guint failed = count (r, DYNO_TRIAL_FAILED);

      for (guint i = 0; i < r->ceilings->len; i++)
        failed += ((const DynoCeiling *) r->ceilings->pdata[i])->outcome == DYNO_TRIAL_FAILED;
      g_assert_cmpuint (failed, ==, 1);
      g_assert_cmpfloat (r->speedup, >, 1);
    }
}

/* AMP is three times as fast here, but its losses are NaN. */
static void
test_amp_that_does_not_train_is_not_the_best (void)
{
  DynoMachine m = *find_machine ("gpu-bound");
  DynoSettings settings;

  dyno_settings_init (&settings);
  settings.workers = 4;
  for (m.amp_diverges = 0; m.amp_diverges <= 1; m.amp_diverges++)
    for (settings.amp = 0; settings.amp <= 1; settings.amp++)
      {
        g_autoptr (DynoTuneResult) r =
            search (&m, 1, (Wanted){ .settings = &settings }, NULL, NULL);
        gboolean fails = m.amp_diverges && settings.amp;

        g_assert_true (r->proven == !fails);
        g_assert_true (says (r, ") is missing, which did not work.") == fails);
        g_assert_true (says (r, ") did not work: diverged.") == fails);
        g_assert_true (r->best.settings.amp == !m.amp_diverges);
        g_assert_nonnull (r->numerics);
        g_assert_true (says (r, r->numerics->text));
      }
}

/* A device that ends its work at once without computing has no counted samples. */
static void
test_device_that_computes_nothing (void)
{
  DynoMachine m = *find_machine ("usual");
  g_autoptr (GError) error = NULL;

  m.computes_nothing = TRUE;
  g_autoptr (DynoTuneResult) r = search (&m, 1, (Wanted){ 0 }, NULL, &error);

  g_assert_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_NOTHING);
  g_assert_nonnull (strstr (error->message, "counted no sample"));
  g_assert_false (dyno_tune_result_has_best (r));
}

static void
test_all_fails (void)
{
  DynoMachine m = *find_machine ("usual");
  g_autoptr (GError) error = NULL;

  m.all_fails = TRUE;
  g_autoptr (DynoTuneResult) r = search (&m, 1, (Wanted){ 0 }, NULL, &error);

  g_assert_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_NOTHING);
  g_assert_nonnull (strstr (error->message, "A kernel failed"));
  g_assert_false (dyno_tune_result_has_best (r));
  g_assert_cmpuint (r->trials->len + r->ceilings->len, <=, 12);
}

static void
test_nothing_fits (void)
{
  DynoMachine m = *find_machine ("usual");
  g_autoptr (GError) error = NULL;

  m.limit_bytes = 0.2 * GIB;
  g_autoptr (DynoTuneResult) r = search (&m, 1, (Wanted){ 0 }, NULL, &error);

  g_assert_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_DOES_NOT_FIT);
  g_assert_cmpuint (r->ceilings->len, ==, 0);
}

static void
test_hopeless_is_dropped (void)
{
  guint dropped = 0;

  for (guint seed = 1; seed <= 20; seed++)
    {
      g_autoptr (DynoTuneResult) r =
          search (find_machine ("contended"), seed, (Wanted){ 0 }, NULL, NULL);

      dropped += count (r, DYNO_TRIAL_DROPPED);
      for (guint i = 0; i < r->trials->len; i++)
        if (trial_of (r, i)->outcome == DYNO_TRIAL_DROPPED)
          g_assert_cmpfloat (trial_of (r, i)->samples_per_s, <, 0.9 * r->best.samples_per_s);
    }
  g_assert_cmpuint (dropped, >=, 1);
}

/* With at most one worker, and a data set smaller than any batch, even of one sample, a result is
 * found, whatever the present settings request. */
static void
test_least_of_everything (void)
{
  DynoMachine m = *find_machine ("usual");
  DynoSettings settings;

  dyno_settings_init (&settings);
  settings.workers = 4;
  settings.batch_size = 64;
  m.cores = 1;
  for (m.n_train = 1; m.n_train < 100; m.n_train = m.n_train * 3 + 1)
    for (m.n_validation = 0; m.n_validation <= 1; m.n_validation++)
      for (m.no_cache = 0; m.no_cache <= 1; m.no_cache++)
        {
          g_autoptr (DynoTuneResult) r =
              search (&m, 1, (Wanted){ .minutes = 1, .settings = &settings }, NULL, NULL);

          g_assert_cmpfloat (r->best.samples_per_s, >, 0);
          g_assert_true (isfinite (r->best.samples_per_s) && isfinite (r->gain));
          g_assert_true (isfinite (r->best.settings.lr));
          /* The settings that ran are named, and not the requested ones. */
          g_assert_true (says (r, "A batch of 64 is larger than the part that trains")
                         == (m.n_train < 64));
          for (guint i = 0; i < r->trials->len; i++)
            g_assert_cmpint (trial_of (r, i)->settings.batch_size, <=, (gint64) m.n_train);
          g_assert_cmpint (r->best.settings.batch_size, <=, (gint64) m.n_train);
          g_assert_true (r->n_gains == 0 || isfinite (r->gains[r->n_gains - 1].factor));
          for (guint i = 0; i < r->curve.n; i++)
            g_assert_true (isfinite (r->curve.points[i].samples_per_s));
          for (guint i = 0; r->reasons[i]; i++)
            g_assert_null (strstr (r->reasons[i], "nan"));
        }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/search/what-cannot-fit-is-not-tried", test_what_cannot_fit_is_not_tried);
  g_test_add_func ("/tune/search/accumulated-batches-are-one-update",
                   test_accumulated_batches_are_one_update);
  g_test_add_func ("/tune/search/refused-memory-is-a-result", test_refusal_is_a_result);
  g_test_add_func ("/tune/search/failing-kernel-is-a-result", test_failing_kernel_is_a_result);
  g_test_add_func ("/tune/search/lost-device-is-a-result", test_lost_device_is_a_result);
  g_test_add_func ("/tune/search/amp-that-does-not-train-is-not-the-best",
                   test_amp_that_does_not_train_is_not_the_best);
  g_test_add_func ("/tune/search/device-that-computes-nothing", test_device_that_computes_nothing);
  g_test_add_func ("/tune/search/all-fails", test_all_fails);
  g_test_add_func ("/tune/search/nothing-fits", test_nothing_fits);
  g_test_add_func ("/tune/search/hopeless-is-dropped", test_hopeless_is_dropped);
  g_test_add_func ("/tune/search/least-of-everything", test_least_of_everything);
  return g_test_run ();
}
