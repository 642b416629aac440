/* SPDX-License-Identifier: MIT */
/* The tuner's thread, events and records on a simulated machine. */
#include "tune.h"
#include "preset.h"
#include "simulation.h"
#include "trialsfile.h"
#include <glib/gstdio.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

static const DynoMachine machine = {
  .name = "quick",
  .cores = 4,
  .n_train = 36000,
  .n_validation = 4000,
  .decode_s = 1e-3,
  .cached_s = 1e-5,
  .sample_s = { 3e-4, 1e-4 },
  .step_s = 1e-3,
  .overlap_cost = { 0.5, 0.05 },
  .end_s = 0.1,
  .base_bytes = 1e8,
  .sample_bytes = 1e7,
  .limit_bytes = 1e10,
  .noise = 0.01,
  .compile_s = 0.01,
};

static char *folder, *file;

static DynoTune *
tune_new (const DynoJob *job)
{
  return dyno_tune_new_with_meter (job, 1, &dyno_simulation_new (&machine, 1)->meter);
}

static DynoJob *
job_new (void)
{
  DynoJob *job = dyno_job_new ();

  g_free (job->data);
  job->data = g_strdup ("a \"data\" set, quoted\nand broken");
  job->settings.workers = 2;
  return job;
}

static void
run (DynoTune *tune, GPtrArray *events)
{
  gboolean done = FALSE;

  dyno_tune_start (tune);
  while (!done)
    {
      DynoTuneEvent *event = dyno_tune_pop (tune, 600 * G_USEC_PER_SEC);

      g_assert_nonnull (event);
      done = event->type == DYNO_TUNE_EVENT_DONE;
      g_ptr_array_add (events, event);
    }
}

static GPtrArray *
events_new (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_tune_event_free);
}

/* No factor is stated that may be noise. */
static void
assert_factors (const DynoTuneEvent *best, const DynoTuneResult *result)
{
  g_assert_true (isnan (best->speedup) == (result->inside_noise || isnan (result->speedup)));
  g_assert_true (isnan (best->gain) == (result->inside_noise || isnan (result->gain)));
}

static void
test_events (void)
{
  g_autoptr (DynoJob) job = job_new ();
  g_autoptr (DynoTune) tune = tune_new (job);
  g_autoptr (GPtrArray) events = events_new ();
  const DynoTuneEvent *best;
  guint ceilings = 0, trials = 0;

  run (tune, events);
  for (guint i = 0; i < events->len; i++)
    {
      const DynoTuneEvent *event = events->pdata[i];

      ceilings += event->type == DYNO_TUNE_EVENT_CEILING;
      trials += event->type == DYNO_TUNE_EVENT_TRIAL;
      if (event->type == DYNO_TUNE_EVENT_TRIAL)
        g_assert_cmpuint (event->trial.number, ==, trials);
    }
  best = events->pdata[events->len - 2];
  g_assert_cmpint (best->type, ==, DYNO_TUNE_EVENT_BEST);
  g_autoptr (DynoTuneResult) result = dyno_tune_get_result (tune);
  g_assert_true (result == best->result);
  g_assert_cmpuint (result->ceilings->len, ==, ceilings);
  g_assert_cmpuint (result->trials->len, ==, trials);
  g_assert_cmpfloat (best->trial.samples_per_s, ==, result->best.samples_per_s);
  g_assert_cmpfloat (best->baseline.samples_per_s, ==, result->baseline.samples_per_s);
  g_assert_cmpfloat (best->baseline.samples_per_s, <, best->trial.samples_per_s);
  g_assert_cmpint (best->proven, ==, result->proven);
  g_assert_cmpint (best->keep_today, ==, result->keep_today);
  if (!isnan (best->speedup))
    g_assert_cmpfloat (best->speedup, ==, result->speedup);
  if (!isnan (best->gain))
    g_assert_cmpfloat (best->gain, ==, result->gain);
  assert_factors (best, result);
  g_assert_true (g_str_has_prefix (best->text, result->reasons[0]));
}

/* The compilation before the first trial is reported, and so is its end. */
static void
test_preparing (void)
{
  g_autoptr (DynoJob) job = job_new ();
  g_autoptr (DynoTune) tune = tune_new (job);
  g_autoptr (GPtrArray) events = events_new ();
  guint said[3] = { 0 }, i;

  run (tune, events);
  for (i = 0; ((const DynoTuneEvent *) events->pdata[i])->type == DYNO_TUNE_EVENT_PROGRESS; i++)
    {
      const DynoTuneEvent *event = events->pdata[i];
      g_autofree char *settings = dyno_trial_describe (&job->settings),
                      *text = g_strdup_printf ("present: compiling kernels for %s (12 of 40)",
                                               settings),
                      *plain = g_strdup_printf ("present: %s", settings);

      g_assert_cmpstr (event->trial.stage, ==, "today");
      g_assert_true (dyno_settings_equal (&event->trial.settings, &job->settings));
      g_assert_cmpstr (event->text, ==, event->preparing ? text : plain);
      if (event->preparing)
        g_assert_true (event->n_prepared == 12 && event->n_to_prepare == 40);
      said[event->preparing ? 1 : 2 * (said[1] > 0)]++;
    }
  g_assert_true (said[0] == 1 && said[1] == 1 && said[2] == 1);
}

static void
test_snapshot_and_stop (void)
{
  g_autoptr (DynoJob) job = job_new ();
  g_autoptr (DynoTune) tune = tune_new (job);
  g_autoptr (GPtrArray) events = events_new ();
  g_autoptr (DynoTuneResult) before = dyno_tune_get_result (tune);

  g_assert_cmpuint (before->trials->len, ==, 0);
  dyno_tune_pause (tune, TRUE);
  dyno_tune_start (tune);
  /* The search is paused before the first measurement, and stopping ends it nevertheless. */
  g_autoptr (DynoTuneResult) meanwhile = dyno_tune_get_result (tune);
  g_assert_cmpuint (meanwhile->trials->len, ==, 0);
  dyno_tune_stop (tune);
  for (gboolean done = FALSE; !done;)
    {
      DynoTuneEvent *event = dyno_tune_pop (tune, 600 * G_USEC_PER_SEC);

      g_assert_nonnull (event);
      done = event->type == DYNO_TUNE_EVENT_DONE;
      g_ptr_array_add (events, event);
    }
}

static GMutex lock;
static GCond changed;
static gboolean has_told; /* protected by the lock */
static const DynoMeterClass *quiet;

static gboolean
tell_much (DynoMeter *meter, const DynoSettings *settings, double seconds, gint64 deadline_us,
           GCancellable *cancellable, DynoMeasurement *m, GError **error)
{
  for (guint i = 0; i < 10000; i++)
    meter->preparing (i % 2 ? "compile" : "autotune", i, 10000, meter->preparing_user);
  g_mutex_lock (&lock);
  has_told = TRUE;
  g_cond_signal (&changed);
  g_mutex_unlock (&lock);
  return quiet->trial (meter, settings, seconds, deadline_us, cancellable, m, error);
}

static DynoTune *asked;
static guint n_asked, n_known;

/* What is known during a measurement: the earlier search's trials, then those that have ended. */
static gboolean
ask_during (DynoMeter *meter, const DynoSettings *settings, double seconds, gint64 deadline_us,
            GCancellable *cancellable, DynoMeasurement *m, GError **error)
{
  g_autoptr (DynoTuneResult) now = dyno_tune_get_result (asked);

  g_assert_cmpuint (now->trials->len, >=, n_known);
  if (n_asked++ == 0)
    {
      g_assert_cmpuint (now->trials->len, ==, 2);
      g_assert_cmpuint (now->ceilings->len, ==, 0);
    }
  for (guint i = 0; i < now->trials->len; i++)
    g_assert_cmpuint (((const DynoTrial *) now->trials->pdata[i])->number, ==, i + 1);
  n_known = now->trials->len;
  return quiet->trial (meter, settings, seconds, deadline_us, cancellable, m, error);
}

/* Progress events that are not read do not block the search, nor do its last events. */
static void
test_nobody_takes_events (void)
{
  g_autoptr (DynoJob) job = job_new ();
  DynoSimulation *sim = dyno_simulation_new (&machine, 1);
  DynoMeterClass loud = *sim->meter.class;
  DynoTune *tune = dyno_tune_new_with_meter (job, 1, &sim->meter);

  quiet = sim->meter.class;
  loud.trial = tell_much;
  sim->meter.class = &loud;
  dyno_tune_start (tune);
  g_mutex_lock (&lock);
  while (!has_told)
    g_cond_wait (&changed, &lock);
  g_mutex_unlock (&lock);
  dyno_tune_free (tune);
}

/* --- the records ------------------------------------------------------------------------------ */

static void
test_records_read_back (void)
{
  g_autoptr (DynoJob) job = job_new ();
  g_autoptr (DynoTune) tune = tune_new (job);
  g_autoptr (GPtrArray) events = events_new ();
  g_autoptr (GError) error = NULL;

  dyno_tune_set_folder (tune, folder);
  run (tune, events);
  g_autoptr (DynoTuneResult) result = dyno_tune_get_result (tune);
  g_autoptr (DynoTuneResult) known = dyno_trials_file_read (file, job, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (known->ceilings->len, ==, result->ceilings->len);
  g_assert_cmpuint (known->trials->len, ==, result->trials->len);
  for (guint i = 0; i < known->trials->len; i++)
    {
      const DynoTrial *a = known->trials->pdata[i], *b = result->trials->pdata[i];

      g_assert_cmpuint (a->number, ==, b->number);
      g_assert_cmpstr (a->stage, ==, b->stage);
      g_assert_true (dyno_settings_equal (&a->settings, &b->settings));
      g_assert_cmpfloat_with_epsilon (a->samples_per_s, b->samples_per_s, 1e-5);
      g_assert_cmpfloat_with_epsilon (a->epoch_end_s, b->epoch_end_s, 1e-6);
      g_assert_cmpuint (a->planned_bytes, ==, b->planned_bytes);
      g_assert_cmpint (a->outcome, ==, b->outcome);
    }
  g_assert_cmpint (g_unlink (file), ==, 0);
}

static DynoTrial
make_trial (const DynoJob *job, guint number)
{
  return (DynoTrial){ .number = number,
                      .stage = "search",
                      .settings = job->settings,
                      .samples_per_s = 10 * number,
                      .low = 9,
                      .high = 11,
                      .train_samples_per_s = 10 * number,
                      .outside_cpu = (double) NAN,
                      .text = (char *) "it said \"no\",\nand ended" };
}

/* After a kill in the middle of a line, complete lines are read, and the next record has a line of
 * its own. */
static void
test_torn_line (void)
{
  g_autoptr (DynoJob) job = job_new ();
  DynoTrial one = make_trial (job, 1), two = make_trial (job, 2), three = make_trial (job, 3);
  DynoTrialsFile *out = dyno_trials_file_new (file, job, "card", FALSE, NULL);
  g_autofree char *text = NULL;
  gsize size;

  g_assert_true (dyno_trials_file_add_trial (out, &one, NULL));
  g_assert_true (dyno_trials_file_add_trial (out, &two, NULL));
  dyno_trials_file_free (out);
  g_assert_true (g_file_get_contents (file, &text, &size, NULL));
  /* Cuts off the last line break, and those within quotes. */
  for (gsize cut = 1; cut < 60; cut += 20)
    {
      g_assert_true (g_file_set_contents (file, text, (gssize) (size - cut), NULL));
      g_autoptr (DynoTuneResult) torn = dyno_trials_file_read (file, job, NULL);
      g_assert_cmpuint (torn->trials->len, ==, 1);
      out = dyno_trials_file_new (file, job, "card", TRUE, NULL);
      g_assert_true (dyno_trials_file_add_trial (out, &three, NULL));
      dyno_trials_file_free (out);
      g_autoptr (DynoTuneResult) whole = dyno_trials_file_read (file, job, NULL);
      g_assert_cmpuint (whole->trials->len, ==, 2);
      g_assert_cmpuint (((const DynoTrial *) whole->trials->pdata[1])->number, ==, 3);
      g_assert_cmpstr (((const DynoTrial *) whole->trials->pdata[1])->text, ==, three.text);
    }
  g_assert_cmpint (g_unlink (file), ==, 0);
}

/* Texts that a spreadsheet would compute are escaped in the file, and read back unchanged. */
static void
test_no_formulas (void)
{
  g_autoptr (DynoJob) job = job_new ();
  DynoTrial trial = make_trial (job, 1);
  g_autofree char *text = NULL;

  g_free (job->data);
  job->data = g_strdup ("=HYPERLINK(\"x\")");
  trial.text = (char *) "@SUM(1)";
  DynoTrialsFile *out = dyno_trials_file_new (file, job, "+1+1", FALSE, NULL);
  g_assert_true (dyno_trials_file_add_trial (out, &trial, NULL));
  dyno_trials_file_free (out);
  g_assert_true (g_file_get_contents (file, &text, NULL, NULL));
  g_assert_nonnull (strstr (text, ",\"'=HYPERLINK"));
  g_assert_nonnull (strstr (text, ",'@SUM(1),"));
  g_assert_nonnull (strstr (text, ",'+1+1\n"));
  g_autoptr (DynoTuneResult) known = dyno_trials_file_read (file, job, NULL);
  g_assert_nonnull (known);
  g_assert_cmpuint (known->trials->len, ==, 1);
  g_assert_cmpstr (((const DynoTrial *) known->trials->pdata[0])->text, ==, trial.text);
  g_autoptr (DynoJob) found = dyno_trials_file_read_job (file, NULL);
  g_assert_cmpstr (found->data, ==, job->data);
  g_assert_cmpint (g_unlink (file), ==, 0);
}

/* Every trial is on disk when its function returns, and not only at the end. */
static void
test_each_is_there_at_once (void)
{
  g_autoptr (DynoJob) job = job_new ();
  DynoTrialsFile *out = dyno_trials_file_new (file, job, "card", FALSE, NULL);

  for (guint i = 1; i <= 3; i++)
    {
      DynoTrial trial = make_trial (job, i);

      g_assert_true (dyno_trials_file_add_trial (out, &trial, NULL));
      g_autoptr (DynoTuneResult) known = dyno_trials_file_read (file, job, NULL);
      g_assert_cmpuint (known->trials->len, ==, i);
    }
  dyno_trials_file_free (out);
  g_assert_cmpint (g_unlink (file), ==, 0);
}

static void
test_other_search (void)
{
  g_autoptr (DynoJob) job = job_new ();
  g_autoptr (DynoJob) data = job_new (), model = job_new (), set = job_new (),
                      searched = job_new ();
  DynoJob *others[] = { data, model, set };
  const char *const words[] = { "data", "model", "image_size" };
  DynoTrial trial = make_trial (job, 1);
  DynoTrialsFile *out = dyno_trials_file_new (file, job, "card", FALSE, NULL);

  g_assert_true (dyno_trials_file_add_trial (out, &trial, NULL));
  dyno_trials_file_free (out);
  g_free (data->data);
  data->data = g_strdup ("another");
  g_free (model->model);
  model->model = g_strdup ("mlp");
  set->settings.image_size = 99;
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (dyno_trials_file_read (file, others[i], &error));
      g_assert_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_TRIALS);
      g_assert_nonnull (strstr (error->message, words[i]));
    }
  searched->settings.batch_size = 77;
  searched->settings.epochs = 77;
  g_autoptr (DynoTuneResult) known = dyno_trials_file_read (file, searched, NULL);
  g_assert_cmpuint (known->trials->len, ==, 1);
  g_assert_cmpint (g_unlink (file), ==, 0);
}

/* The records contain the job of the search: the present settings, whatever was tried before. */
static void
test_job_of_records (void)
{
  g_autoptr (DynoJob) job = job_new ();
  DynoTrialsFile *out = dyno_trials_file_new (file, job, "card", FALSE, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_null (dyno_trials_file_read_job (file, &error));
  g_assert_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_TRIALS);
  for (guint i = 1; i <= 3; i++)
    {
      DynoTrial trial = make_trial (job, i);

      trial.stage = i == 3 ? "today" : "search";
      trial.settings.batch_size = 32 * i;
      g_assert_true (dyno_trials_file_add_trial (out, &trial, NULL));
      g_autoptr (DynoJob) found = dyno_trials_file_read_job (file, NULL);
      g_assert_cmpstr (found->data, ==, job->data);
      g_assert_cmpstr (found->model, ==, job->model);
      g_assert_cmpint (found->settings.batch_size, ==, i == 3 ? 96 : 32);
    }
  dyno_trials_file_free (out);
  g_assert_cmpint (g_unlink (file), ==, 0);
}

static void
test_no_trials (void)
{
  static const char *const texts[] = { "", "number,stage\n", "\377\377", "number" };
  g_autoptr (DynoJob) job = job_new ();

  g_assert_null (dyno_trials_file_read (file, job, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_true (g_file_set_contents (file, texts[i], -1, NULL));
      g_assert_null (dyno_trials_file_read (file, job, &error));
      g_assert_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_TRIALS);
    }
  g_assert_cmpint (g_unlink (file), ==, 0);
}

/* In the same folder the records are continued, also the second time; in another folder they begin
 * with the known ones.  Known trials precede new ones, which continue their numbers. */
static void
test_resumes (void)
{
  g_autoptr (DynoJob) job = job_new ();
  DynoTrial trial = make_trial (job, 1);
  DynoTrialsFile *out = dyno_trials_file_new (file, job, "card", FALSE, NULL);
  g_autofree char *other = g_build_filename (folder, "other", NULL),
                  *copied = g_build_filename (other, DYNO_TRIALS_FILE, NULL);

  g_assert_true (dyno_trials_file_add_trial (out, &trial, NULL));
  dyno_trials_file_free (out);
  g_assert_cmpint (g_mkdir (other, 0755), ==, 0);
  for (guint i = 0; i < 3; i++)
    {
      g_autoptr (DynoTune) tune = tune_new (job);
      g_autoptr (GPtrArray) events = events_new ();
      g_autoptr (DynoTuneResult) before = dyno_trials_file_read (file, job, NULL);

      g_assert_cmpuint (before->trials->len, >=, i < 2 ? 1 : 3);
      g_assert_true (dyno_tune_resume (tune, folder, NULL));
      dyno_tune_set_folder (tune, i == 0 ? other : folder);
      run (tune, events);
      g_autoptr (DynoTuneResult) result = dyno_tune_get_result (tune);
      g_autoptr (DynoTuneResult) known = dyno_trials_file_read (i == 0 ? copied : file, job, NULL);
      g_assert_cmpuint (result->trials->len, >, 3);
      g_assert_cmpuint (known->trials->len, ==, result->trials->len);
      g_assert_cmpuint (known->ceilings->len, ==, result->ceilings->len);
      g_assert_cmpfloat (((const DynoTrial *) known->trials->pdata[0])->samples_per_s, ==, 10);
      g_assert_cmpuint (known->trials->len, >, before->trials->len);
      for (guint k = 0; k < known->trials->len; k++)
        {
          const DynoTrial *one = known->trials->pdata[k];

          g_assert_cmpuint (one->number, ==, k + 1);
          if (k < before->trials->len)
            g_assert_cmpfloat (one->samples_per_s, ==,
                               ((const DynoTrial *) before->trials->pdata[k])->samples_per_s);
        }
    }
  g_assert_cmpint (g_unlink (copied) | g_rmdir (other) | g_unlink (file), ==, 0);
}

/* A resumed search has the earlier trials from its first measurement on. */
static void
test_known_during_the_search (void)
{
  g_autoptr (DynoJob) job = job_new ();
  DynoTrial one = make_trial (job, 1), two = make_trial (job, 2);
  DynoTrialsFile *out = dyno_trials_file_new (file, job, "card", FALSE, NULL);
  DynoSimulation *sim = dyno_simulation_new (&machine, 1);
  DynoMeterClass asking = *sim->meter.class;
  g_autoptr (DynoTune) tune = dyno_tune_new_with_meter (job, 1, &sim->meter);
  g_autoptr (GPtrArray) events = events_new ();

  g_assert_true (dyno_trials_file_add_trial (out, &one, NULL));
  g_assert_true (dyno_trials_file_add_trial (out, &two, NULL));
  dyno_trials_file_free (out);
  g_assert_true (dyno_tune_resume (tune, folder, NULL));
  quiet = sim->meter.class;
  asking.trial = ask_during;
  sim->meter.class = &asking;
  asked = tune;
  run (tune, events);
  g_assert_cmpuint (n_known, >, 2);
  g_assert_cmpint (g_unlink (file), ==, 0);
}

/* The folder is missing: nothing is measured, since it would be lost. */
static void
test_records_that_cannot_be_written (void)
{
  g_autoptr (DynoJob) job = job_new ();
  g_autoptr (DynoTune) tune = tune_new (job);
  g_autoptr (GPtrArray) events = events_new ();

  dyno_tune_set_folder (tune, "/nowhere/at/all");
  run (tune, events);
  g_assert_cmpuint (events->len, ==, 2);
  g_assert_cmpint (((DynoTuneEvent *) events->pdata[0])->type, ==, DYNO_TUNE_EVENT_ERROR);
}

/* Where records were not requested, the search goes on, and reports once that they are not
 * stored. */
static void
assert_goes_on_with_a_warning (const char *path)
{
  g_autoptr (DynoJob) job = job_new ();
  g_autoptr (DynoTune) tune = tune_new (job);
  g_autoptr (GPtrArray) events = events_new ();
  guint n_warnings = 0, n_trials = 0, n_best = 0;

  dyno_tune_keep_in (tune, path);
  run (tune, events);
  for (guint i = 0; i < events->len; i++)
    {
      const DynoTuneEvent *event = events->pdata[i];

      g_assert_cmpint (event->type, !=, DYNO_TUNE_EVENT_ERROR);
      n_warnings += event->type == DYNO_TUNE_EVENT_WARNING && event->error;
      n_trials += event->type == DYNO_TUNE_EVENT_TRIAL;
      n_best += event->type == DYNO_TUNE_EVENT_BEST;
    }
  g_assert_cmpuint (n_warnings, ==, 1);
  g_assert_cmpuint (n_trials, >, 3);
  g_assert_cmpuint (n_best, ==, 1);
}

static void
test_records_that_need_not_be_written (void)
{
  assert_goes_on_with_a_warning ("/nowhere/at/all");
}

/* As on a full disk, the first measurements can be written, and later ones cannot. */
static void
test_full_disk (void)
{
  struct rlimit before, now;

  signal (SIGXFSZ, SIG_IGN);
  g_assert_cmpint (getrlimit (RLIMIT_FSIZE, &before), ==, 0);
  now = before;
  now.rlim_cur = 2048;
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &now), ==, 0);
  assert_goes_on_with_a_warning (folder);
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &before), ==, 0);
  g_assert_cmpint (g_unlink (file), ==, 0);
}

/* The history has the ceilings, the trials, and the end of the search. */
static void
test_history (void)
{
  g_autofree char *path = g_build_filename (folder, "history.sqlite", NULL);
  g_autoptr (DynoStore) store = dyno_store_open (path, NULL);
  g_autoptr (DynoJob) job = job_new ();
  g_autoptr (DynoTune) tune = tune_new (job);
  g_autoptr (GPtrArray) events = events_new ();

  g_assert_nonnull (store);
  dyno_tune_set_store (tune, store);
  run (tune, events);
  g_autoptr (DynoTuneResult) result = dyno_tune_get_result (tune);
  g_autoptr (GPtrArray) searches = dyno_store_list_searches (store, 0, NULL);
  g_assert_cmpuint (searches->len, ==, 1);
  const DynoStoredSearch *kept = searches->pdata[0];
  g_autoptr (GPtrArray) trials = dyno_store_list_trials (store, kept->id, NULL);
  g_assert_cmpuint (trials->len, ==, result->trials->len + result->ceilings->len);
  g_assert_cmpint (kept->state, ==, DYNO_RUN_STATE_FINISHED);
  g_assert_true (kept->proven == result->proven);
  g_assert_true (dyno_settings_equal (&kept->best, &result->best.settings));
  g_assert_cmpfloat (kept->best_samples_per_s, ==, result->best.samples_per_s);
  g_unlink (path);
}

int
main (int argc, char **argv)
{
  int code;

  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("dyno-tune-XXXXXX", NULL);
  file = g_build_filename (folder, DYNO_TRIALS_FILE, NULL);
  g_test_add_func ("/tune/tune/events", test_events);
  g_test_add_func ("/tune/tune/what-is-compiled-is-told", test_preparing);
  g_test_add_func ("/tune/tune/stopped-while-paused", test_snapshot_and_stop);
  g_test_add_func ("/tune/tune/nobody-takes-events", test_nobody_takes_events);
  g_test_add_func ("/tune/tune/resumes-in-the-same-or-another-folder", test_resumes);
  g_test_add_func ("/tune/records/known-during-the-search", test_known_during_the_search);
  g_test_add_func ("/tune/tune/records-that-cannot-be-written",
                   test_records_that_cannot_be_written);
  g_test_add_func ("/tune/tune/records-that-need-not-be-written",
                   test_records_that_need_not_be_written);
  g_test_add_func ("/tune/tune/records-that-end-in-mid-search", test_full_disk);
  g_test_add_func ("/tune/trialsfile/reads-back", test_records_read_back);
  g_test_add_func ("/tune/trialsfile/torn-line", test_torn_line);
  g_test_add_func ("/tune/trialsfile/no-text-is-a-formula", test_no_formulas);
  g_test_add_func ("/tune/trialsfile/each-is-there-at-once", test_each_is_there_at_once);
  g_test_add_func ("/tune/trialsfile/of-another-search", test_other_search);
  g_test_add_func ("/tune/trialsfile/says-what-it-is-of", test_job_of_records);
  g_test_add_func ("/tune/trialsfile/is-none", test_no_trials);
  g_test_add_func ("/tune/tune/is-kept-in-the-history", test_history);
  code = g_test_run ();
  g_rmdir (folder);
  g_free (file);
  g_free (folder);
  return code;
}
