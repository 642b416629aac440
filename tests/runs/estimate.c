/* SPDX-License-Identifier: MIT */
/* The estimated time and disk space of a run, compared with numbers worked out by hand and with
 * real runs. */
#include "estimate.h"
#include "train-test.h"
#include <glib/gstdio.h>
#include <math.h>

static const DynoStoredRate rate = { .samples_per_s = 100,
                                     .epoch_overhead_seconds = 3,
                                     .preparation_seconds = 7 };

/* 1000 samples in batches of 64, two of which make a step: 15 batches, 8 steps, 9.6 s. */
static void
estimate (DynoRunEstimate *e, DynoJob *job, const DynoStoredRate *by)
{
  DynoJobPlan plan = { .steps_per_epoch = 8, .n_parameters = 1000, .n_trained = 1000 };

  test_job_set (job, "batch_size=64", "accumulate=2", "epochs=10", NULL);
  dyno_run_estimate (e, job, &plan, 1000, 200, by);
}

static void
test_time (void)
{
  g_autoptr (DynoJob) job = test_job ("mlp", "d");
  DynoRunEstimate e;

  estimate (&e, job, &rate);
  g_assert_cmpuint (e.steps, ==, 80);
  g_assert_cmpfloat_with_epsilon (e.step_seconds, 1.2, 1e-9);
  g_assert_cmpfloat_with_epsilon (e.epoch_seconds, 12.6, 1e-9);
  g_assert_cmpfloat_with_epsilon (e.total_seconds, 133, 1e-9);
  g_assert_false (e.validation_is_guessed);
}

static void
test_not_known (void)
{
  g_autoptr (DynoJob) job = test_job ("mlp", "d");
  const DynoStoredRate none = { .samples_per_s = (double) NAN };
  DynoRunEstimate e;

  for (guint i = 0; i < 2; i++)
    {
      estimate (&e, job, i == 0 ? NULL : &none);
      g_assert_true (isnan (e.rate.samples_per_s) && isnan (e.step_seconds));
      g_assert_true (isnan (e.epoch_seconds) && isnan (e.total_seconds));
      g_assert_cmpuint (e.steps, ==, 80);
      g_assert_cmpuint (e.weights_bytes, ==, 4000);
    }
}

/* No run is recorded, but its parts are: it takes at least the time of the slower one. */
static void
test_bound (void)
{
  g_autoptr (DynoJob) job = test_job ("mlp", "d");
  DynoRunEstimate e;

  estimate (&e, job, &rate);
  dyno_run_estimate_bound (&e, job, 1000, 50, 40);
  g_assert_true (isnan (e.most_samples_per_s) && isnan (e.least_seconds)); /* the rate is known */
  for (guint i = 0; i < 4; i++)
    {
      double most = i & 2 ? 40 : 50;

      estimate (&e, job, NULL);
      dyno_run_estimate_bound (&e, job, 1000, i & 1 ? 50 : (double) NAN, i & 2 ? 40 : (double) NAN);
      g_assert_true (isnan (e.total_seconds));
      g_assert_true (i > 0 || (isnan (e.most_samples_per_s) && isnan (e.least_seconds)));
      if (i == 0)
        continue;
      g_assert_cmpfloat (e.most_samples_per_s, ==, most);
      g_assert_cmpfloat_with_epsilon (e.least_seconds, 9600 / most, 1e-9);
    }
}

/* Only a trial is recorded: the validation is estimated as a forward pass over its samples. */
static void
test_guess (void)
{
  g_autoptr (DynoJob) job = test_job ("mlp", "d");
  const DynoStoredRate trial = { 100, (double) NAN, (double) NAN, 0, 0 };
  DynoRunEstimate e;

  estimate (&e, job, &trial);
  g_assert_true (e.validation_is_guessed);
  g_assert_cmpfloat_with_epsilon (e.epoch_seconds, 9.6 + 2.0 / 3, 1e-9);
  g_assert_cmpfloat_with_epsilon (e.total_seconds, 96 + 20.0 / 3, 1e-9);
}

/* Frozen layers have weights but no moments, which only trained parts have. */
static void
test_frozen (void)
{
  g_autoptr (DynoJob) job = test_job ("mlp", "d");
  const DynoJobPlan plan = { .steps_per_epoch = 8, .n_parameters = 1000, .n_trained = 100 };
  DynoRunEstimate e;

  for (guint moments = 1; moments <= 2; moments++)
    {
      test_job_set (job, moments == 2 ? "optimizer=adamw" : "optimizer=sgd", NULL);
      dyno_run_estimate (&e, job, &plan, 1000, 200, NULL);
      g_assert_cmpuint (e.weights_bytes, ==, 4000);
      g_assert_cmpuint (e.checkpoint_bytes, ==, 4000 + moments * 400);
      g_assert_cmpuint (e.disk_bytes, ==, 3 * (4000 + moments * 400) + 2 * 4000);
      dyno_run_estimate (&e, job, &plan, 1000, 0, NULL);
      g_assert_cmpuint (e.disk_bytes, ==, 3 * (4000 + moments * 400) + 4000);
    }
}

/* The limit of steps ends the run in the middle of the second epoch, which is not validated. */
static void
test_steps (void)
{
  g_autoptr (DynoJob) job = test_job ("mlp", "d");
  DynoRunEstimate e;

  job->max_steps = 11;
  estimate (&e, job, &rate);
  g_assert_cmpuint (e.steps, ==, 11);
  g_assert_cmpfloat_with_epsilon (e.total_seconds, 12.6 + 3.6 + 7, 1e-9);
  job->max_steps = 400; /* more than the epochs have */
  estimate (&e, job, &rate);
  g_assert_cmpuint (e.steps, ==, 400);
  g_assert_cmpfloat_with_epsilon (e.total_seconds, 50 * 12.6 + 7, 1e-9);
}

/* --- disk space ------------------------------------------------------------------------------- */

static guint64
size_of (const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  GStatBuf status;

  g_assert_cmpint (g_stat (path, &status), ==, 0);
  return (guint64) status.st_size;
}

static void
test_disk (gconstpointer optimizer)
{
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoJob) job = test_job ("simplecnn", "builtin:shapes?size=16&samples=40&classes=4");
  g_auto (TestRun) first = { 0 }, run = { 0 };
  DynoRunEstimate e;

  job->out_dir = g_strdup (folder);
  test_job_set (job, optimizer, "lr=0.001", "epochs=1", "model.width=1", "autotune=false", NULL);
  test_run_good (&first, job);
  /* The run has two parts, since a slow saver may save only the last epoch of a part. */
  job->resume = g_strdup (folder);
  test_job_set (job, "epochs=2", NULL);
  test_run_good (&run, job);
  dyno_run_estimate (&e, job, &run.plan, 36, 4, NULL);
  /* 2 %, plus a header */
  g_assert_cmpfloat_with_epsilon ((double) size_of (folder, "checkpoint.safetensors"),
                                  (double) e.checkpoint_bytes,
                                  0.02 * (double) e.checkpoint_bytes + 16384);
  g_assert_cmpfloat_with_epsilon ((double) size_of (folder, "weights.safetensors"),
                                  (double) e.weights_bytes,
                                  0.02 * (double) e.weights_bytes + 16384);
  g_assert_cmpuint (size_of (folder, "checkpoint.previous.safetensors"), >, 0);
  g_assert_cmpuint (size_of (folder, "weights-last.safetensors"), >, 0);
  g_assert_cmpuint (e.disk_bytes, ==, 3 * e.checkpoint_bytes + 2 * e.weights_bytes);
  test_remove_tree (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/runs/estimate/bound-by-what-parts-do", test_bound);
  g_test_add_func ("/runs/estimate/time-of-whole-epochs", test_time);
  g_test_add_func ("/runs/estimate/no-rate-no-time", test_not_known);
  g_test_add_func ("/runs/estimate/validation-is-guessed", test_guess);
  g_test_add_func ("/runs/estimate/steps-end-the-run", test_steps);
  g_test_add_func ("/runs/estimate/frozen-layers-have-no-moments", test_frozen);
  g_test_add_data_func ("/runs/estimate/disk-of-sgd", "optimizer=sgd", test_disk);
  g_test_add_data_func ("/runs/estimate/disk-of-plain-sgd", "momentum=0", test_disk);
  g_test_add_data_func ("/runs/estimate/disk-of-adamw", "optimizer=adamw", test_disk);
  g_test_add_data_func ("/runs/estimate/disk-of-adam", "optimizer=adam", test_disk);
  g_test_add_data_func ("/runs/estimate/disk-of-rmsprop", "optimizer=rmsprop", test_disk);
  g_test_add_data_func ("/runs/estimate/disk-of-lion", "optimizer=lion", test_disk);
  return g_test_run ();
}
