/* SPDX-License-Identifier: MIT */
/* A session in the history: its begin, its progress, its end, and the end of a killed one. */
#include "checkpoint.h"
#include "process.h"
#include "runrecorder.h"
#include "safetensors.h"
#include "session-private.h"
#include "train-test.h"
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHAPES "builtin:shapes?size=16&samples=80&classes=4"

typedef struct {
  char *folder, *path;
  DynoStore *store;
} Fixture;

static void
set_up (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  f->folder = test_folder ();
  f->path = g_build_filename (f->folder, "history.sqlite", NULL);
  f->store = dyno_store_open (f->path, &error);
  g_assert_no_error (error);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  dyno_store_free (f->store);
  test_remove_tree (f->folder);
  g_free (f->folder);
  g_free (f->path);
}

static DynoJob *
small_job (Fixture *f, const char *folder)
{
  DynoJob *job = test_job ("mlp", SHAPES);

  test_job_set (job, "autotune=false", "workers=1", NULL);
  job->out_dir = folder ? g_build_filename (f->folder, folder, NULL) : NULL;
  return job;
}

/* Runs to the end; the session is freed before the recorder on request. */
static void
run_it (DynoStore *store, const DynoJob *job, gboolean session_first)
{
  g_autoptr (DynoSession) session = dyno_session_new (job);
  DynoRunRecorder *recorder = dyno_run_recorder_new (store, session);

  g_assert_nonnull (recorder);
  dyno_session_start (session);
  dyno_session_join (session);
  if (session_first)
    g_clear_pointer (&session, dyno_session_free);
  dyno_run_recorder_free (recorder);
}

static DynoStoredRun *
only_run (DynoStore *store, guint expected)
{
  g_autoptr (GPtrArray) runs = dyno_store_list_runs (store, NULL, NULL);

  g_assert_cmpuint (runs->len, ==, expected);
  return g_ptr_array_steal_index (runs, 0);
}

static void
test_finished (Fixture *f, gconstpointer session_first)
{
  g_autoptr (DynoJob) job = small_job (f, "run");
  g_autoptr (DynoStoredRun) run = NULL;
  g_autoptr (GArray) epochs = NULL;

  run_it (f->store, job, session_first != NULL);
  run = only_run (f->store, 1);
  g_assert_cmpint (run->state, ==, DYNO_RUN_STATE_FINISHED);
  g_assert_cmpstr (run->model, ==, "mlp");
  g_assert_cmpstr (run->data, ==, SHAPES);
  g_assert_cmpstr (run->folder, ==, job->out_dir);
  g_assert_true (dyno_settings_equal (&run->settings, &job->settings));
  g_assert_cmpuint (run->epochs, ==, 2);
  g_assert_cmpuint (run->steps, ==, 8);
  g_assert_cmpuint (run->n_train, ==, 72);
  g_assert_cmpuint (run->n_validation, ==, 8);
  g_assert_true (run->fingerprint != 0 && run->device && run->driver && run->version);
  g_assert_cmpstr (run->metric, ==, "accuracy");
  g_assert_true (run->metric_is_fraction && run->best_metric >= 0 && run->best_val_loss > 0);
  g_assert_true (run->samples_per_s > 0 && run->seconds > 0 && run->preparation_seconds > 0);
  g_assert_true (run->planned_bytes > 0 && run->vram_bytes > 0 && run->loss > 0);
  g_assert_cmpint (run->end_us, >=, run->begin_us);
  epochs = dyno_store_list_epochs (f->store, run->id, NULL);
  g_assert_cmpuint (epochs->len, ==, 2);
  g_assert_cmpuint (g_array_index (epochs, DynoEpochMetrics, 1).step, ==, 8);
}

/* Runs with values have no metric that selects the best epoch: the loss does, and the first metric
 * is stored. */
static void
test_regression (Fixture *f, gconstpointer data)
{
  g_autoptr (DynoJob) job = test_job ("mlp", "builtin:poses?size=16&samples=80");
  g_autoptr (DynoStoredRun) run = NULL;
  g_autoptr (GArray) epochs = NULL;

  test_job_set (job, "autotune=false", "workers=1", "epochs=2", NULL);
  run_it (f->store, job, FALSE);
  run = only_run (f->store, 1);
  g_assert_cmpstr (run->metric, ==, "mean_abs_error");
  g_assert_cmpstr (run->metric_unit, ==, "degrees");
  g_assert_false (run->metric_is_fraction);
  epochs = dyno_store_list_epochs (f->store, run->id, NULL);
  g_assert_cmpuint (epochs->len, ==, 2);
  g_assert_cmpfloat (run->best_metric, ==,
                     g_array_index (epochs, DynoEpochMetrics, run->best_epoch - 1).val_metrics[0]);
  g_assert_true (run->best_metric > 0 && run->best_metric < 180);
}

/* An epoch of 80 samples takes 1 s for its steps and 1.5 s for other work; the first epoch, which
 * includes compiling, takes longer. */
static void
test_time_besides_the_steps (Fixture *f, gconstpointer data)
{
  g_autoptr (DynoJob) job = small_job (f, NULL);
  g_autoptr (DynoStoredRun) run = NULL;
  DynoSession *session;
  DynoRunRecorder *recorder;
  DynoEvent *event = dyno_event_new (DYNO_EVENT_PLAN);

  test_job_set (job, "batch_size=8", NULL);
  session = dyno_session_new (job);
  recorder = dyno_run_recorder_new (f->store, session);
  g_assert_nonnull (recorder);
  event->plan.n_train = 80;
  dyno_session_emit (session, event);
  for (guint i = 1; i <= 4; i++)
    {
      event = dyno_event_new (DYNO_EVENT_STEP);
      event->step.step = 10 * i;
      event->step.seconds = 7.5 + 2.5 * i;
      dyno_session_emit (session, event);
      event = dyno_event_new (DYNO_EVENT_EPOCH);
      event->epoch.epoch = i;
      event->epoch.step = 10 * i;
      event->epoch.samples_per_s = 80;
      dyno_session_emit (session, event);
    }
  dyno_run_recorder_free (recorder);
  dyno_session_free (session);
  run = only_run (f->store, 1);
  g_assert_cmpuint (run->epochs, ==, 4);
  g_assert_cmpfloat (run->epoch_overhead_seconds, ==, 1.5);
}

static void
test_failed (Fixture *f, gconstpointer data)
{
  g_autoptr (DynoJob) job = small_job (f, "run");
  g_autoptr (DynoStoredRun) run = NULL;

  g_free (job->data);
  job->data = g_strdup ("/nowhere/at/all");
  run_it (f->store, job, FALSE);
  run = only_run (f->store, 1);
  g_assert_cmpint (run->state, ==, DYNO_RUN_STATE_FAILED);
  g_assert_nonnull (strstr (run->error, "/nowhere/at/all"));
  g_assert_null (run->folder); /* no folder exists */
}

/* A resumed run continues its entry; a new run in the folder takes the folder from the entry. */
static void
test_resumed (Fixture *f, gconstpointer data)
{
  g_autoptr (DynoJob) job = small_job (f, "run");
  g_autoptr (DynoStoredRun) run = NULL;
  g_autoptr (GArray) epochs = NULL;
  gint64 id;

  run_it (f->store, job, FALSE);
  run = only_run (f->store, 1);
  id = run->id;
  g_clear_pointer (&run, dyno_stored_run_free);
  job->resume = g_strdup (job->out_dir);
  test_job_set (job, "epochs=3", NULL);
  run_it (f->store, job, FALSE);
  run = only_run (f->store, 1);
  g_assert_cmpint (run->id, ==, id);
  g_assert_cmpuint (run->epochs, ==, 3);
  g_assert_cmpuint (run->steps, ==, 12);
  g_assert_cmpint (run->settings.epochs, ==, 3);
  epochs = dyno_store_list_epochs (f->store, id, NULL);
  g_assert_cmpuint (epochs->len, ==, 3);
  g_clear_pointer (&run, dyno_stored_run_free);

  g_clear_pointer (&job->resume, g_free);
  run_it (f->store, job, FALSE);
  run = only_run (f->store, 2);
  g_assert_cmpstr (run->folder, ==, job->out_dir);
  g_clear_pointer (&run, dyno_stored_run_free);
  run = dyno_store_find_run (f->store, id, NULL);
  g_assert_null (run->folder);
}

/* Epochs that a part has logged but not recorded, as a killed part may leave them, are recorded by
 * the next part, once. */
static void
test_resumed_after_epochs_that_only_the_log_has (Fixture *f, gconstpointer data)
{
  g_autoptr (DynoJob) job = small_job (f, "run");
  guint64 epochs = 2;

  run_it (f->store, job, FALSE);
  job->resume = g_strdup (job->out_dir);
  for (guint part = 0; part < 2; part++)
    {
      g_auto (TestRun) unrecorded = { 0 };
      g_autoptr (DynoStoredRun) run = NULL;
      g_autoptr (GArray) list = NULL;

      job->settings.epochs = (int) (epochs += 2);
      test_run_good (&unrecorded, job);
      job->settings.epochs = (int) (epochs += 1);
      run_it (f->store, job, FALSE);
      run = only_run (f->store, 1);
      g_assert_cmpuint (run->epochs, ==, epochs);
      g_assert_cmpuint (run->steps, ==, 4 * epochs);
      list = dyno_store_list_epochs (f->store, run->id, NULL);
      g_assert_cmpuint (list->len, ==, epochs);
      for (guint i = 0; i < list->len; i++)
        g_assert_cmpuint (g_array_index (list, DynoEpochMetrics, i).step, ==, 4 * (i + 1));
    }
}

/* A failed run and a stopped one are resumed: the entry has neither the error nor the end of the
 * earlier part, and gets those of the second part. */
static void
test_resumed_after_failures (Fixture *f, gconstpointer data)
{
  g_autoptr (DynoJob) job = small_job (f, "run"), broken = NULL;
  gint64 id = 0, end_us = 0;

  run_it (f->store, job, FALSE);
  job->resume = g_strdup (job->out_dir);
  for (guint i = 0; i < 3; i++)
    {
      g_autoptr (DynoStoredRun) run = NULL;

      broken = dyno_job_copy (job);
      g_free (broken->data);
      broken->data = g_strdup_printf ("/nowhere/%u", i);
      run_it (f->store, broken, FALSE);
      g_clear_pointer (&broken, dyno_job_unref);
      run = only_run (f->store, 1);
      g_assert_cmpint (run->state, ==, DYNO_RUN_STATE_FAILED);
      g_assert_nonnull (strstr (run->error, i == 0 ? "/nowhere/0" : i == 1 ? "/nowhere/1" : "/2"));
      g_assert_cmpint (run->end_us, >, end_us);
      g_assert_cmpuint (run->epochs, ==, 2 + i);
      g_clear_pointer (&run, dyno_stored_run_free);

      test_job_set (job, i == 0 ? "epochs=3" : i == 1 ? "epochs=4" : "epochs=5", NULL);
      run_it (f->store, job, FALSE);
      run = only_run (f->store, 1);
      g_assert_cmpint (run->state, ==, DYNO_RUN_STATE_FINISHED);
      g_assert_null (run->error);
      g_assert_cmpuint (run->epochs, ==, 3 + i);
      g_assert_cmpuint (run->steps, ==, 4 * (3 + i));
      g_assert_true (id == 0 || run->id == id);
      id = run->id;
      end_us = run->end_us;
    }
}

static gboolean
has_epochs (DynoStore *store, guint64 epochs)
{
  g_autoptr (GPtrArray) runs = dyno_store_list_runs (store, NULL, NULL);

  return runs && runs->len > 0 && ((DynoStoredRun *) runs->pdata[0])->epochs >= epochs;
}

/* Kills itself once this number of epochs is in the history. */
static void
die_in_run (const char *path, const DynoJob *job, guint64 epochs)
{
  g_autoptr (DynoStore) store = dyno_store_open (path, NULL);
  DynoSession *session = dyno_session_new (job);

  dyno_run_recorder_new (store, session);
  dyno_session_start (session);
  while (!has_epochs (store, epochs))
    g_usleep (10000);
  raise (SIGKILL);
}

static void
test_killed (Fixture *f, gconstpointer data)
{
  g_autoptr (DynoStoredRun) run = NULL;
  g_autoptr (GArray) epochs = NULL;

  if (g_test_subprocess ())
    {
      g_autoptr (DynoJob) job = small_job (f, NULL);
      test_job_set (job, "epochs=100000", NULL);
      die_in_run (g_getenv ("DYNO_TEST_HISTORY"), job, 2);
    }
  g_setenv ("DYNO_TEST_HISTORY", f->path, TRUE);
  g_test_trap_subprocess (NULL, 100 * G_USEC_PER_SEC, G_TEST_SUBPROCESS_DEFAULT);
  g_assert_false (g_test_trap_reached_timeout ());
  g_test_trap_assert_failed ();
  run = only_run (f->store, 1);
  g_assert_cmpint (run->state, ==, DYNO_RUN_STATE_KILLED);
  g_assert_cmpuint (run->epochs, >=, 2);
  g_assert_true (run->samples_per_s > 0 && run->end_us == 0);
  epochs = dyno_store_list_epochs (f->store, run->id, NULL);
  g_assert_cmpuint (epochs->len, >=, 2);
}

/* The number of epochs in the checkpoint of a folder. */
static guint64
saved_epochs (const char *folder)
{
  g_autofree char *path = g_build_filename (folder, DYNO_CHECKPOINT_NAME, NULL);
  g_autoptr (DynoSafetensors) file = dyno_safetensors_open (path, 0, NULL);

  g_assert_nonnull (file);
  return g_ascii_strtoull (dyno_safetensors_get_metadata (file, "epoch"), NULL, 10);
}

/* Runs the test once more in a process with this data folder, which GLib reads only once. */
static void
trap_with_data_home (const char *folder)
{
  g_autofree char *before = g_strdup (g_getenv ("XDG_DATA_HOME"));

  g_setenv ("XDG_DATA_HOME", folder, TRUE);
  g_test_trap_subprocess (NULL, 100 * G_USEC_PER_SEC, G_TEST_SUBPROCESS_DEFAULT);
  if (before)
    g_setenv ("XDG_DATA_HOME", before, TRUE);
  else
    g_unsetenv ("XDG_DATA_HOME");
  g_test_trap_assert_passed ();
}

/* Finished, resumed and killed, twice, then resumed to its end: one entry, with the process that
 * runs it, without an end of an earlier part, and with each epoch once. */
static void
test_killed_twice (Fixture *f, gconstpointer data)
{
  g_autofree char *folder = g_build_filename (f->folder, "run", NULL),
                  *own = dyno_process_describe ();
  g_autoptr (DynoJob) job = small_job (f, "run");
  g_autoptr (DynoStoredRun) run = NULL;
  g_autoptr (GArray) epochs = NULL;
  g_autofree char *process = NULL, *last = NULL;
  guint64 reached = 2;
  gint64 id = 0;

  if (g_test_subprocess ())
    {
      g_free (job->out_dir);
      job->out_dir = g_strdup (g_getenv ("DYNO_TEST_FOLDER"));
      reached = g_ascii_strtoull (g_getenv ("DYNO_TEST_REACHED"), NULL, 10);
      job->resume = g_strdup (job->out_dir);
      test_job_set (job, "epochs=100000", NULL);
      die_in_run (g_getenv ("DYNO_TEST_HISTORY"), job, reached + 3);
    }
  g_setenv ("DYNO_TEST_HISTORY", f->path, TRUE);
  g_setenv ("DYNO_TEST_FOLDER", folder, TRUE);
  run_it (f->store, job, FALSE);
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *text = g_strdup_printf ("%" G_GUINT64_FORMAT, reached);

      g_setenv ("DYNO_TEST_REACHED", text, TRUE);
      g_test_trap_subprocess (NULL, 100 * G_USEC_PER_SEC, G_TEST_SUBPROCESS_DEFAULT);
      g_assert_false (g_test_trap_reached_timeout ());
      g_clear_pointer (&run, dyno_stored_run_free);
      run = only_run (f->store, 1);
      g_assert_cmpint (run->state, ==, DYNO_RUN_STATE_KILLED);
      g_assert_cmpint (run->end_us, ==, 0);
      g_assert_cmpuint (run->epochs, >=, reached + 3);
      g_assert_true (i == 0 || run->id == id);
      g_assert_true (g_strcmp0 (run->process, process) != 0 && strcmp (run->process, own) != 0);
      id = run->id;
      reached = run->epochs;
      g_free (process);
      process = g_strdup (run->process);
    }
  /* The last part trains one epoch more than the history and the checkpoint have: the checkpoint
   * may be ahead of the history. */
  reached = MAX (reached, saved_epochs (folder));
  last = g_strdup_printf ("epochs=%" G_GUINT64_FORMAT, reached + 1);
  test_job_set (job, last, NULL);
  job->resume = g_strdup (folder);
  run_it (f->store, job, FALSE);
  g_clear_pointer (&run, dyno_stored_run_free);
  run = only_run (f->store, 1);
  g_assert_cmpint (run->state, ==, DYNO_RUN_STATE_FINISHED);
  g_assert_cmpint (run->id, ==, id);
  g_assert_cmpstr (run->process, ==, own);
  g_assert_cmpint (run->end_us, >, 0);
  g_assert_cmpuint (run->epochs, ==, reached + 1);
  g_assert_cmpuint (run->steps, ==, 4 * (reached + 1));
  epochs = dyno_store_list_epochs (f->store, id, NULL);
  g_assert_cmpuint (epochs->len, ==, reached + 1);
  for (guint i = 0; i < epochs->len; i++)
    g_assert_cmpuint (g_array_index (epochs, DynoEpochMetrics, i).epoch, ==, i + 1);
}

/* An entry whose process has ended is continued, also if the session has locked the folder before
 * the recorder checks; an entry with a living process is not changed. */
static void
test_locked_by_the_session (Fixture *f, gconstpointer data)
{
  g_autoptr (DynoJob) job = small_job (f, "run");
  g_autofree char *own = dyno_process_describe ();
  g_auto (GStrv) parts = g_strsplit (own, " ", 3);

  run_it (f->store, job, FALSE);
  job->resume = g_strdup (job->out_dir);
  test_job_set (job, "epochs=100000", NULL);
  for (guint alive = 0; alive < 2; alive++)
    {
      g_autoptr (DynoStoredRun) run = only_run (f->store, 1);
      g_autoptr (DynoSession) session = dyno_session_new (job);
      DynoRunRecorder *recorder;

      run->state = DYNO_RUN_STATE_RUNNING;
      g_free (run->process);
      run->process = g_strdup_printf ("%s %s%s %s", parts[0], parts[1], alive ? "" : "1", parts[2]);
      g_assert_true (dyno_store_put_run (f->store, run, NULL, 0, NULL));
      dyno_session_start (session);
      while (!dyno_process_locks_folder (job->out_dir))
        g_usleep (1000);
      recorder = dyno_run_recorder_new (f->store, session);
      dyno_session_stop (session, TRUE);
      dyno_session_join (session);
      dyno_run_recorder_free (recorder);
      g_clear_pointer (&run, dyno_stored_run_free);
      run = only_run (f->store, 1 + alive);
    }
}

/* The history cannot be written: there is one message, and training goes on. */
static void
test_without (Fixture *f, gconstpointer data)
{
  if (g_test_subprocess ())
    {
      g_autoptr (DynoJob) job = small_job (f, NULL);

      test_job_set (job, "epochs=20", NULL);
      run_it (NULL, job, FALSE);
      return;
    }
  trap_with_data_home ("/proc/nowhere");
  g_test_trap_assert_stderr ("*not recorded in the history*");
  g_test_trap_assert_stderr_unmatched ("*not recorded in the history*not recorded in the history*");
}

/* The number of run entries beside the history. */
static guint
count_late (const char *history)
{
  g_autofree char *folder = g_path_get_dirname (history);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  guint n = 0;

  while ((name = g_dir_read_name (dir)))
    n += g_str_has_prefix (name, "history.sqlite.late-");
  return n;
}

static void
check_taken (guint expected_epochs)
{
  g_autoptr (DynoStore) store = dyno_store_open (NULL, NULL);
  g_autoptr (DynoStoredRun) run = only_run (store, 1);
  g_autoptr (GArray) epochs = dyno_store_list_epochs (store, run->id, NULL);

  g_assert_cmpint (run->state, ==, DYNO_RUN_STATE_FINISHED);
  g_assert_cmpuint (run->steps, ==, 8);
  g_assert_nonnull (run->folder);
  g_assert_cmpuint (epochs->len, ==, expected_epochs);
  g_assert_cmpuint (count_late (dyno_store_get_path (store)), ==, 0);
}

/* Another process locks the history, for all access or for writing, until the run has ended: the
 * entry is written beside it, and is added when the history is opened again. */
static void
test_locked (Fixture *f, gconstpointer order)
{
  if (g_test_subprocess ())
    {
      g_autoptr (DynoJob) job = small_job (f, "run");
      g_autoptr (DynoStore) before = NULL;
      g_autofree char *path = NULL;
      sqlite3 *other = NULL;

      before = dyno_store_open (NULL, NULL);
      path = g_strdup (dyno_store_get_path (before));
      g_clear_pointer (&before, dyno_store_free);
      g_assert_cmpint (sqlite3_open (path, &other), ==, SQLITE_OK);
      g_assert_cmpint (sqlite3_exec (other, order, NULL, NULL, NULL), ==, SQLITE_OK);
      run_it (NULL, job, FALSE);
      g_assert_cmpuint (count_late (path), ==, 1);
      sqlite3_close (other);
      check_taken (2);
      check_taken (2);
      return;
    }
  trap_with_data_home (f->folder);
  g_test_trap_assert_stderr ("*Another process holds the history*is kept beside it*");
  g_test_trap_assert_stderr_unmatched ("*not recorded in the history*");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/runs/recorder/finished-run", Fixture, NULL, set_up, test_finished, tear_down);
  g_test_add ("/runs/recorder/session-that-is-freed-first", Fixture, "", set_up, test_finished,
              tear_down);
  g_test_add ("/runs/recorder/regression", Fixture, NULL, set_up, test_regression, tear_down);
  g_test_add ("/runs/recorder/time-besides-the-steps", Fixture, NULL, set_up,
              test_time_besides_the_steps, tear_down);
  g_test_add ("/runs/recorder/failed-run", Fixture, NULL, set_up, test_failed, tear_down);
  g_test_add ("/runs/recorder/resumed-run-goes-on-in-its-entry", Fixture, NULL, set_up,
              test_resumed, tear_down);
  g_test_add ("/runs/recorder/resumed-run-has-the-epochs-of-its-log", Fixture, NULL, set_up,
              test_resumed_after_epochs_that_only_the_log_has, tear_down);
  g_test_add ("/runs/recorder/resumed-run-has-no-end-of-before", Fixture, NULL, set_up,
              test_resumed_after_failures, tear_down);
  g_test_add ("/runs/recorder/killed-run-is-seen-as-such", Fixture, NULL, set_up, test_killed,
              tear_down);
  g_test_add ("/runs/recorder/killed-twice-is-one-run", Fixture, NULL, set_up, test_killed_twice,
              tear_down);
  g_test_add ("/runs/recorder/goes-on-in-the-entry-of-a-folder-that-it-locked", Fixture, NULL,
              set_up, test_locked_by_the_session, tear_down);
  g_test_add ("/runs/recorder/training-goes-on-without", Fixture, NULL, set_up, test_without,
              tear_down);
  g_test_add ("/runs/recorder/locked-history-gets-its-entry-later", Fixture, "BEGIN IMMEDIATE",
              set_up, test_locked, tear_down);
  g_test_add ("/runs/recorder/history-that-cannot-be-opened-gets-its-entry-later", Fixture,
              "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE t (i)", set_up,
              test_locked, tear_down);
  return g_test_run ();
}
