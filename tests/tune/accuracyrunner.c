/* SPDX-License-Identifier: MIT */
/* The device runs of a search for the best validation: how a trial continues, and how its time is
 * counted. */
#include "accuracyrunner.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#define DATA "builtin:shapes?size=8&samples=40&classes=2"

typedef struct {
  guint ended, tested;
  double begin_seconds, seconds; /* of the last session */
} Ends;

static void
take_end (const DynoEvent *event, const DynoAccuracyRun *run, gpointer data)
{
  Ends *ends = (Ends *) data + run->trial;

  if (event->type != DYNO_EVENT_DONE)
    return;
  ends->ended++;
  ends->tested += event->done.test.n_samples > 0;
  ends->begin_seconds = event->done.begin_seconds;
  ends->seconds = event->done.seconds;
}

static void
remove_tree (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir && (name = g_dir_read_name (dir)))
    {
      g_autofree char *full = g_build_filename (path, name, NULL);
      remove_tree (full);
    }
  g_remove (path);
}

typedef struct {
  char *folder;
  DynoJob *job;
  DynoDataset *dataset;
  DynoAccuracyTrainer *trainer;
  DynoAccuracyRunner runner;
  Ends ends[3]; /* by trial */
} World;

static void
world_init (World *w, guint at_once)
{
  DynoAccuracyRunnerParams params = { .no_history = TRUE, .event = take_end, .data = w->ends };
  g_autoptr (GError) error = NULL;

  params.folder = w->folder = g_dir_make_tmp ("dyno-XXXXXX", NULL);
  params.job = w->job = dyno_job_new ();
  params.dataset = w->dataset = dyno_dataset_open (DATA, NULL, NULL, NULL, NULL, NULL);
  params.at_once = at_once;
  g_assert_nonnull (w->dataset);
  g_free (w->job->data);
  w->job->data = g_strdup (DATA);
  g_free (w->job->model);
  w->job->model = g_strdup ("mlp");
  w->job->settings.amp = FALSE;
  w->job->settings.batch_size = 8;
  w->job->settings.epochs = 4;
  w->job->settings.workers = 0;
  w->job->settings.deterministic = TRUE;
  w->job->settings.autotune = FALSE;
  w->job->settings.data_val_split = 0.2;
  w->job->settings.data_test_split = 0.2;
  g_assert_true (dyno_accuracy_check (w->job, dyno_dataset_get_info (w->dataset), "loss",
                                      &params.metric, &error));
  w->trainer = dyno_accuracy_trainer_new (&params, &error);
  g_assert_no_error (error);
  w->runner = dyno_accuracy_trainer_get_runner (w->trainer);
  g_assert_cmpuint (w->runner.most_at_once, ==, at_once);
}

static void
world_clear (World *w)
{
  dyno_accuracy_trainer_free (w->trainer);
  dyno_dataset_unref (w->dataset);
  dyno_job_unref (w->job);
  remove_tree (w->folder);
  g_free (w->folder);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (World, world_clear)

/* A part of a trial has the time of its own epochs only; earlier epochs were counted when they were
 * trained.  No part measures the test part, not even the one that trains all epochs. */
static void
test_parts_of_a_trial_have_their_own_time (void)
{
  g_auto (World) w = { 0 };
  const Ends *ends = &w.ends[0];
  g_autoptr (GError) error = NULL;

  world_init (&w, 1);
  for (guint part = 0; part < 2; part++)
    {
      DynoAccuracyRun run = {
        .seed = 1, .from_epochs = part, .epochs = part ? 4 : 1, .settings = w.job->settings
      };
      DynoAccuracyRun *const runs[] = { &run };

      g_assert_true (w.runner.train (runs, 1, w.runner.data, NULL, &error));
      g_assert_no_error (error);
      g_assert_true (run.has_ended);
      g_assert_cmpstr (run.text, ==, NULL);
      g_assert_cmpint (run.outcome, ==, DYNO_TRIAL_OK);
      g_assert_true (isfinite (run.value));
      g_assert_cmpuint (ends->ended, ==, part + 1);
      g_assert_true ((ends->begin_seconds > 0) == (part > 0));
      g_assert_cmpfloat (run.train_seconds, ==, ends->seconds - ends->begin_seconds);
      g_assert_cmpuint (ends->tested, ==, 0);
    }
}

/* A part of a trial leaves a checkpoint, from which the next one goes on; the weights are left by
 * every part, but a trial that has ended needs no checkpoint of its last epoch. */
static void
test_files_of_a_trial (void)
{
  g_auto (World) w = { 0 };
  g_autofree char *checkpoint = NULL, *weights = NULL, *before = NULL, *after = NULL;
  gsize n_before, n_after;

  world_init (&w, 1);
  checkpoint = g_build_filename (w.folder, "trials", "000", "checkpoint.safetensors", NULL);
  weights = g_build_filename (w.folder, "trials", "000", "weights.safetensors", NULL);
  for (guint trial = 0; trial < 2; trial++)
    {
      guint64 parts[] = { 1, 4 };

      for (guint part = trial; part < 2; part++)
        {
          DynoAccuracyRun run = { .trial = trial,
                                  .seed = 1,
                                  .from_epochs = part > trial ? parts[part - 1] : 0,
                                  .epochs = parts[part],
                                  .settings = w.job->settings };
          DynoAccuracyRun *const runs[] = { &run };

          g_assert_true (w.runner.train (runs, 1, w.runner.data, NULL, NULL));
          g_assert_cmpint (run.outcome, ==, DYNO_TRIAL_OK);
          if (trial == 0 && part == 0)
            g_assert_true (g_file_get_contents (checkpoint, &before, &n_before, NULL));
          g_assert_true (trial > 0 || g_file_test (weights, G_FILE_TEST_EXISTS));
        }
    }
  g_assert_true (g_file_get_contents (checkpoint, &after, &n_after, NULL));
  g_assert_true (n_before == n_after && memcmp (before, after, n_after) == 0);
  g_free (checkpoint);
  checkpoint = g_build_filename (w.folder, "trials", "001", "checkpoint.safetensors", NULL);
  g_assert_false (g_file_test (checkpoint, G_FILE_TEST_EXISTS));
}

/* Trains each of three trials to the end, all at once or one after the other. */
static void
train_three (guint at_once, double *values)
{
  g_auto (World) w = { 0 };
  DynoAccuracyRun trials[3];
  DynoAccuracyRun *runs[3];
  g_autoptr (GError) error = NULL;

  world_init (&w, at_once);
  for (guint i = 0; i < 3; i++)
    {
      trials[i] =
          (DynoAccuracyRun){ .trial = i, .seed = 1, .epochs = 4, .settings = w.job->settings };
      trials[i].settings.lr = 0.01 * (i + 1);
      runs[i] = &trials[i];
    }
  for (guint i = 0; i < 3; i += at_once)
    g_assert_true (w.runner.train (runs + i, at_once, w.runner.data, NULL, &error));
  for (guint i = 0; i < 3; i++)
    {
      g_assert_true (trials[i].has_ended);
      g_assert_cmpint (trials[i].outcome, ==, DYNO_TRIAL_OK);
      g_assert_cmpuint (w.ends[i].ended, ==, 1);
      g_assert_cmpfloat (trials[i].train_seconds, ==, w.ends[i].seconds - w.ends[i].begin_seconds);
      values[i] = trials[i].value;
    }
}

static void
test_runs_at_once_have_the_values_of_runs_alone (void)
{
  double at_once[3], alone[3];

  train_three (3, at_once);
  train_three (1, alone);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpfloat (at_once[i], ==, alone[i]);
  g_assert_cmpfloat (alone[0], !=, alone[1]);
}

/* The second of three runs cannot write into its folder, which ends all of them. */
static void
test_a_run_that_cannot_write_ends_those_beside_it (void)
{
  g_auto (World) w = { 0 };
  DynoAccuracyRun trials[3];
  DynoAccuracyRun *runs[3];
  g_autofree char *parent = NULL, *path = NULL;
  g_autoptr (GError) error = NULL;

  world_init (&w, 3);
  parent = g_build_filename (w.folder, "trials", NULL);
  path = g_build_filename (parent, "001", NULL);
  g_assert_cmpint (g_mkdir (parent, 0700), ==, 0);
  g_assert_true (g_file_set_contents (path, "a file", -1, NULL));
  for (guint i = 0; i < 3; i++)
    {
      trials[i] = (DynoAccuracyRun){
        .trial = i, .seed = 1, .epochs = 1000000, .settings = w.job->settings
      };
      trials[i].settings.epochs = 1000000;
      runs[i] = &trials[i];
    }
  g_assert_false (w.runner.train (runs, 3, w.runner.data, NULL, &error));
  g_assert_nonnull (error);
  g_assert_nonnull (strstr (error->message, path));
  for (guint i = 0; i < 3; i++)
    g_assert_false (trials[i].has_ended);
  g_free (trials[1].text);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/accuracyrunner/parts-of-a-trial-have-their-own-time",
                   test_parts_of_a_trial_have_their_own_time);
  g_test_add_func ("/tune/accuracyrunner/files-of-a-trial", test_files_of_a_trial);
  g_test_add_func ("/tune/accuracyrunner/runs-at-once-have-the-values-of-runs-alone",
                   test_runs_at_once_have_the_values_of_runs_alone);
  g_test_add_func ("/tune/accuracyrunner/a-run-that-cannot-write-ends-those-beside-it",
                   test_a_run_that_cannot_write_ends_those_beside_it);
  return g_test_run ();
}
