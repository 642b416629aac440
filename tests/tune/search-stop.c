/* SPDX-License-Identifier: MIT */
/* The search is stopped, and resumed with the measurements of an earlier one. */
#include "search-test.h"
#include "preset.h"
#include <string.h>

static GCancellable *stopping;

static guint stop_at, n_planned;

static void
stop_at_trial (gpointer user, const DynoTrial *trial)
{
  if (trial->number != stop_at)
    return;
  n_planned = ((const DynoSimulation *) user)->n_planned;
  g_cancellable_cancel (stopping);
}

/* After a stop, nothing is started, nor planned, which takes time too. */
static void
test_stopped_tells_what_it_has (void)
{
  for (stop_at = 1; stop_at < 16; stop_at++)
    {
      DynoSimulation *sim = dyno_simulation_new (find_machine ("usual"), 1);

      stopping = g_cancellable_new ();
      g_autoptr (DynoTuneResult) r = search (
          find_machine ("usual"), 1,
          (Wanted){ .cancellable = stopping, .trial = stop_at_trial, .sim = sim }, NULL, NULL);

      g_assert_true (r->stopped);
      g_assert_cmpuint (sim->n_planned, ==, n_planned);
      dyno_simulation_free (sim);
      g_assert_cmpuint (r->trials->len, ==, stop_at);
      g_assert_true (dyno_tune_result_has_best (r));
      g_assert_true (r->proven || says (r, "Not proven"));
      g_assert_false (says (r, "more minutes") || says (r, "no time"));
      g_assert_false (stop_at < 5 && r->proven);
      g_clear_object (&stopping);
    }
}

/* A search that is stopped before the end of its first trial reports that, and not that no trial
 * succeeded in time. */
static void
test_stopped_at_once (void)
{
  g_autoptr (GCancellable) cancelled = g_cancellable_new ();
  g_autoptr (GError) error = NULL;

  g_cancellable_cancel (cancelled);
  g_autoptr (DynoTuneResult) r =
      search (find_machine ("usual"), 1, (Wanted){ .cancellable = cancelled }, NULL, &error);
  g_assert_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_STOPPED);
  g_assert_nonnull (strstr (error->message, "was stopped before its first trial"));
  g_assert_true (r->stopped);
  g_assert_cmpuint (r->trials->len + r->ceilings->len, ==, 0);
}

/* A search that is stopped after a failed trial does not report that no trial succeeded in time
 * either, since the time had not ended. */
static void
test_stopped_after_a_failure (void)
{
  DynoMachine m = *find_machine ("usual");
  g_autoptr (GError) error = NULL;

  m.computes_nothing = TRUE;
  stop_at = 1;
  DynoSimulation *sim = dyno_simulation_new (&m, 1);
  stopping = g_cancellable_new ();
  g_autoptr (DynoTuneResult) r = search (
      &m, 1, (Wanted){ .cancellable = stopping, .trial = stop_at_trial, .sim = sim }, NULL, &error);
  g_assert_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_STOPPED);
  g_assert_nonnull (strstr (error->message, "stopped before a trial had worked"));
  g_assert_nonnull (strstr (error->message, "counted no sample"));
  g_assert_cmpuint (r->trials->len, ==, 1);
  g_clear_object (&stopping);
  dyno_simulation_free (sim);
}

/* The baseline of an earlier search counts, although its plans are no longer known. */
static void
test_stopped_keeps_the_base_line (void)
{
  const DynoMachine *m = find_machine ("memory-bound");
  g_autoptr (DynoTuneResult) first = search (m, 1, (Wanted){ .minutes = 0.5 }, NULL, NULL);
  g_autoptr (GCancellable) cancelled = g_cancellable_new ();

  g_cancellable_cancel (cancelled);
  g_autoptr (DynoTuneResult) r =
      search (m, 2, (Wanted){ .known = first, .cancellable = cancelled }, NULL, NULL);
  g_assert_true (r->stopped);
  g_assert_cmpint (r->baseline.settings.batch_size, >, 1);
  g_assert_cmpint (r->baseline.settings.batch_size, <, r->job->settings.batch_size);
  g_assert_cmpuint (r->trials->len, ==, first->trials->len);
  g_assert_true (dyno_settings_equal (&r->baseline.settings, &first->baseline.settings));
  g_assert_cmpfloat (r->baseline.samples_per_s, >, 0);
  g_assert_cmpfloat (r->speedup, >=, 1);
  g_assert_cmpuint (r->n_gains, >, 0);
}

/* All settings that an earlier search found failed in it, as when its device is lost: they may work
 * now, and are tried again. */
static void
test_failed_settings_are_tried_again (void)
{
  const DynoMachine *m = find_machine ("usual");
  g_autoptr (DynoTuneResult) first = search (m, 1, (Wanted){ .minutes = 1 }, NULL, NULL);
  guint n_failed = 0, n = 0;

  for (guint i = 0; i < first->trials->len; i++)
    {
      DynoTrial *trial = first->trials->pdata[i];

      if (strcmp (trial->stage, "search") != 0 && strcmp (trial->stage, "proof") != 0)
        continue;
      trial->outcome = DYNO_TRIAL_FAILED;
      trial->samples_per_s = trial->train_samples_per_s = 0;
      n_failed++;
    }
  g_assert_cmpuint (n_failed, >, 0);
  g_autoptr (DynoTuneResult) r =
      search (m, 1, (Wanted){ .minutes = 1, .known = first }, NULL, NULL);
  for (guint i = first->trials->len; i < r->trials->len; i++)
    for (guint k = 0; k < first->trials->len; k++)
      n += trial_of (first, k)->outcome == DYNO_TRIAL_FAILED
           && strcmp (trial_of (r, i)->stage, "search") == 0
           && dyno_settings_equal (&trial_of (r, i)->settings, &trial_of (first, k)->settings);
  g_assert_cmpuint (n, >, 0);
}

static void
test_goes_on (void)
{
  const DynoMachine *m = find_machine ("usual");
  g_autoptr (DynoTuneResult) first = search (m, 1, (Wanted){ .minutes = 0.5 }, NULL, NULL);
  g_autoptr (DynoTuneResult) r =
      search (m, 2, (Wanted){ .minutes = 1.5, .known = first }, NULL, NULL);

  guint again = 0;

  g_assert_cmpuint (r->trials->len, >, first->trials->len);
  for (guint i = first->trials->len; i < r->trials->len; i++)
    {
      g_assert_cmpuint (trial_of (r, i)->number, ==, i + 1);
      g_assert_cmpstr (trial_of (r, i)->stage, !=, "today");
      g_assert_cmpstr (trial_of (r, i)->stage, !=, "baseline");
      for (guint k = 0; k < i && strcmp (trial_of (r, i)->stage, "search") == 0; k++)
        g_assert_false (
            dyno_settings_equal (&trial_of (r, i)->settings, &trial_of (r, k)->settings));
    }
  for (guint i = 0; i < r->ceilings->len; i++)
    for (guint k = 0; k < i; k++)
      {
        const DynoCeiling *a = r->ceilings->pdata[i], *b = r->ceilings->pdata[k];
        again += a->of == b->of && dyno_settings_equal (&a->settings, &b->settings);
      }
  /* Each search measures again, to check that the device is unchanged. */
  g_assert_cmpuint (again, <=, 3);
  g_assert_true (r->proven);
  g_assert_cmpfloat (dyno_machine_rate (m, &r->best.settings), >=,
                     0.97 * dyno_machine_rate (m, &first->best.settings));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/search/stopped-tells-what-it-has", test_stopped_tells_what_it_has);
  g_test_add_func ("/tune/search/stopped-before-the-first-trial", test_stopped_at_once);
  g_test_add_func ("/tune/search/stopped-after-a-failure", test_stopped_after_a_failure);
  g_test_add_func ("/tune/search/stopped-keeps-the-base-line", test_stopped_keeps_the_base_line);
  g_test_add_func ("/tune/search/goes-on-without-measuring-again", test_goes_on);
  g_test_add_func ("/tune/search/failed-settings-are-tried-again",
                   test_failed_settings_are_tried_again);
  return g_test_run ();
}
