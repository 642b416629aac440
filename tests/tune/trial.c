/* SPDX-License-Identifier: MIT */
/* One trial on the machine's device: how it ends, and what is not counted. */
#include "trial.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static DynoJob *
make_job (void)
{
  DynoJob *job = dyno_job_new ();

  job->data = g_strdup ("builtin:shapes?size=16&samples=80&classes=4");
  job->settings.batch_size = 4;
  job->settings.accumulate = 2;
  job->settings.model_width = 0.125;
  job->settings.workers = 0;
  job->settings.amp = FALSE;
  job->settings.autotune = FALSE;
  return job;
}

static void
run_job (DynoTrial *trial, DynoJob *job, double seconds, gint64 for_us, GCancellable *cancellable)
{
  g_autoptr (GError) error = NULL;
  DynoDatasetParams params = { 0 };
  g_autoptr (DynoDataset) dataset =
      dyno_dataset_open (job->data, &params, NULL, NULL, NULL, &error);

  g_assert_no_error (error);
  trial->stage = "batch";
  trial->settings = job->settings;
  dyno_trial_run (trial, job, dataset, seconds, g_get_monotonic_time () + for_us, cancellable);
}

static void
run_trial (DynoTrial *trial, double seconds, gint64 for_us, GCancellable *cancellable)
{
  g_autoptr (DynoJob) job = make_job ();

  run_job (trial, job, seconds, for_us, cancellable);
}

static void
test_measures (void)
{
  DynoTrial trial = { 0 };

  run_trial (&trial, 0.01, 3600 * (gint64) G_USEC_PER_SEC, NULL);
  g_assert_cmpstr (trial.text, ==, NULL);
  g_assert_cmpint (trial.outcome, ==, DYNO_TRIAL_OK);
  g_assert_cmpuint (trial.steps, >=, 4);
  g_assert_cmpfloat (fabs (trial.samples_per_s * trial.step_ms / 8e3 - 1), <, 1e-9);
  dyno_trial_clear (&trial);
}

/* A trial of a job that has a folder and files to write, and a run to go on with, touches none of
 * them. */
static void
test_writes_nothing (void)
{
  g_autofree char *folder = g_dir_make_tmp ("dyno-trial-XXXXXX", NULL),
                  *out = g_build_filename (folder, "run", NULL);
  g_autoptr (DynoJob) job = make_job ();
  DynoTrial trial = { 0 };

  job->out_dir = g_strdup (out);
  job->weights_out = g_build_filename (folder, "weights", NULL);
  job->resume = g_build_filename (folder, "earlier", NULL);
  job->max_steps = 1;
  run_job (&trial, job, 0.01, 3600 * (gint64) G_USEC_PER_SEC, NULL);
  g_assert_cmpstr (trial.text, ==, NULL);
  g_assert_cmpint (trial.outcome, ==, DYNO_TRIAL_OK);
  g_assert_cmpint (g_rmdir (folder), ==, 0); /* it is empty */
  dyno_trial_clear (&trial);
}

/* An hour was to be measured, and nothing had been when the time was over. */
static void
test_deadline (void)
{
  DynoTrial trial = { 0 };

  run_trial (&trial, 3600, 0, NULL);
  g_assert_cmpint (trial.outcome, ==, DYNO_TRIAL_FAILED);
  g_assert_nonnull (strstr (trial.text, "time was over"));
  dyno_trial_clear (&trial);
}

static void
test_cancelled (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  DynoTrial trial = { 0 };

  g_cancellable_cancel (cancellable);
  run_trial (&trial, 3600, 3600 * (gint64) G_USEC_PER_SEC, cancellable);
  g_assert_cmpint (trial.outcome, ==, DYNO_TRIAL_FAILED);
  g_assert_nonnull (strstr (trial.text, "Stopped"));
  dyno_trial_clear (&trial);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/trial/measures-samples-by-steps", test_measures);
  g_test_add_func ("/tune/trial/writes-nothing", test_writes_nothing);
  g_test_add_func ("/tune/trial/deadline-ends-it-wherever-it-is", test_deadline);
  g_test_add_func ("/tune/trial/cancelling-ends-it", test_cancelled);
  return g_test_run ();
}
