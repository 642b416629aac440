/* SPDX-License-Identifier: MIT */
/* The device runs of a search for the best validation: how a trial continues, and how its time is
 * counted. */
#include "accuracyrunner.h"
#include <glib/gstdio.h>
#include <math.h>

#define DATA "builtin:shapes?size=8&samples=40&classes=2"

typedef struct {
  guint ended, tested;
  double begin_seconds, seconds; /* of the last session */
} Ends;

static void
take_end (const DynoEvent *event, gpointer data)
{
  Ends *ends = data;

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

/* A part of a trial has the time of its own epochs only; earlier epochs were counted when they were
 * trained.  No part measures the test part, not even the one that trains all epochs. */
static void
test_parts_of_a_trial_have_their_own_time (void)
{
  g_autofree char *folder = g_dir_make_tmp ("dyno-XXXXXX", NULL);
  g_autoptr (DynoJob) job = dyno_job_new ();
  g_autoptr (DynoDataset) dataset = dyno_dataset_open (DATA, NULL, NULL, NULL, NULL, NULL);
  g_autoptr (GError) error = NULL;
  Ends ends = { 0 };
  DynoAccuracyRunnerParams params = { .job = job,
                                      .dataset = dataset,
                                      .folder = folder,
                                      .no_history = TRUE,
                                      .event = take_end,
                                      .data = &ends };

  g_assert_nonnull (dataset);
  g_free (job->data);
  job->data = g_strdup (DATA);
  g_free (job->model);
  job->model = g_strdup ("mlp");
  job->settings.amp = FALSE;
  job->settings.batch_size = 8;
  job->settings.epochs = 4;
  job->settings.workers = 0;
  job->settings.data_val_split = 0.2;
  job->settings.data_test_split = 0.2;
  g_assert_true (
      dyno_accuracy_check (job, dyno_dataset_get_info (dataset), "loss", &params.metric, &error));
  g_autoptr (DynoAccuracyTrainer) trainer = dyno_accuracy_trainer_new (&params, &error);
  g_assert_no_error (error);
  DynoAccuracyRunner runner = dyno_accuracy_trainer_get_runner (trainer);
  for (guint part = 0; part < 2; part++)
    {
      DynoAccuracyRun run = {
        .seed = 1, .from_epochs = part, .epochs = part ? 4 : 1, .settings = job->settings
      };

      g_assert_true (runner.train (&run, runner.data, NULL, &error));
      g_assert_no_error (error);
      g_assert_cmpstr (run.text, ==, NULL);
      g_assert_cmpint (run.outcome, ==, DYNO_TRIAL_OK);
      g_assert_true (isfinite (run.value));
      g_assert_cmpuint (ends.ended, ==, part + 1);
      g_assert_true ((ends.begin_seconds > 0) == (part > 0));
      g_assert_cmpfloat (run.train_seconds, ==, ends.seconds - ends.begin_seconds);
      g_assert_cmpuint (ends.tested, ==, 0);
    }
  remove_tree (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/accuracyrunner/parts-of-a-trial-have-their-own-time",
                   test_parts_of_a_trial_have_their_own_time);
  return g_test_run ();
}
