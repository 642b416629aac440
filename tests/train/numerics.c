/* SPDX-License-Identifier: MIT */
/* Extreme values: outliers, losses that are not finite, and means over parts of unequal size. */
#include "checkpoint.h"
#include "npyfile.h"
#include "safetensors.h"
#include "stepper.h"
#include "train-test.h"
#include <math.h>
#include <string.h>

#define N    48
#define SIDE 16
#define SIZE (SIDE * SIDE * 3)

/* --- data ------------------------------------------------------------------------------------- */

typedef struct {
  char *folder;
  float *x;
  gint64 y[N];
} Arrays;

static void
arrays_write (const Arrays *a)
{
  const guint64 shape[] = { N, SIDE, SIDE, 3 };
  g_autofree char *x = g_build_filename (a->folder, "X.npy", NULL),
                  *y = g_build_filename (a->folder, "y.npy", NULL);
  g_autoptr (GError) error = NULL;

  dyno_npy_write (x, "f4", 4, shape, a->x, &error);
  g_assert_no_error (error);
  dyno_npy_write (y, "i8", 1, shape, a->y, &error);
  g_assert_no_error (error);
}

/* Two classes that differ in brightness. */
static void
arrays_init (Arrays *a)
{
  a->folder = test_folder ();
  a->x = g_new (float, N *SIZE);
  for (guint i = 0; i < N; i++)
    {
      a->y[i] = i % 2;
      for (guint k = 0; k < SIZE; k++)
        a->x[i * SIZE + k] = (float) ((i * 7919 + k * 104729) % 1000) / 1000 - (float) (i % 2);
    }
  arrays_write (a);
}

static void
arrays_clear (Arrays *a)
{
  test_remove_tree (a->folder);
  g_free (a->folder);
  g_free (a->x);
}

static DynoJob *
arrays_job (const Arrays *a, const char *model)
{
  g_autofree char *data = g_build_filename (a->folder, "X.npy", NULL);
  DynoJob *job = test_job (model, data);

  job->out_dir = g_build_filename (a->folder, "run", NULL);
  test_job_set (job, "batch_size=12", "data.val_split=0.25", "lr=0.01", "epochs=3", NULL);
  return job;
}

/* Puts one outlier into a sample of the training or the validation part. */
static void
arrays_put_outlier (Arrays *a, const DynoJob *job, gboolean training, float value)
{
  g_autoptr (DynoDataset) dataset =
      dyno_dataset_open (job->data, &(DynoDatasetParams){ 0 }, NULL, NULL, NULL, NULL);
  g_autoptr (GArray) train = NULL, validation = NULL;

  dyno_dataset_split (dataset, job->settings.data_val_split, (guint64) job->settings.seed, &train,
                      &validation);
  guint32 index = g_array_index (training ? train : validation, guint32, 5);
  a->x[(gsize) index * SIZE + 100] = value;
  arrays_write (a);
}

static gint64
read_tracked (const Arrays *a)
{
  g_autofree char *path = g_build_filename (a->folder, "run", "weights.safetensors", NULL);
  g_autoptr (DynoSafetensors) file = dyno_safetensors_open (path, 0, NULL);
  const DynoSafetensor *tensor =
      file ? dyno_safetensors_lookup (file, "1.num_batches_tracked") : NULL;
  gint64 tracked;

  g_assert_nonnull (tensor);
  memcpy (&tracked, tensor->data, sizeof tracked);
  return tracked;
}

/* --- outliers --------------------------------------------------------------------------------- */

/* A value in the training part that fp16 cannot hold, or whose square fp32 cannot hold, costs its
 * step at most: validation stays finite, the state is saved, and the batches of skipped steps do
 * not count in the running statistics. */
static void
check_outlier (gboolean amp, float value, guint skipped)
{
  Arrays a;
  arrays_init (&a);
  g_autoptr (DynoJob) job = arrays_job (&a, "simplecnn");
  g_auto (TestRun) run = { 0 };

  test_job_set (job, amp ? "amp=true" : "amp=false", NULL);
  arrays_put_outlier (&a, job, TRUE, value);
  test_run_good (&run, job);
  g_assert_cmpuint (run.losses->len, ==, 9);
  g_assert_cmpuint (run.skipped, ==, skipped);
  g_assert_true (isfinite (run.epoch.val_loss));
  g_assert_cmpfloat (run.epoch.val_loss, <, 5);
  g_assert_cmpfloat (run.epoch.train_loss, <, 5); /* the mean over steps with a finite loss */
  g_assert_cmpuint (run.warnings->len, ==, 0);
  g_assert_cmpint (read_tracked (&a), ==, 9 - skipped);
  arrays_clear (&a);
}

static void
test_outlier_amp (void)
{
  check_outlier (TRUE, 1e6f, 3); /* once in each epoch */
}

static void
test_outlier_fp32 (void)
{
  check_outlier (FALSE, 1e25f, 0);
}

static void
test_outlier_in_validation (void)
{
  Arrays a;
  arrays_init (&a);
  g_autoptr (DynoJob) job = arrays_job (&a, "simplecnn");
  g_auto (TestRun) run = { 0 };

  test_job_set (job, "amp=true", NULL);
  arrays_put_outlier (&a, job, FALSE, 1e6f);
  test_run_good (&run, job);
  g_assert_true (test_has_warning (&run, "validation loss of epoch 1 is not finite"));
  g_assert_cmpuint (run.warnings->len, ==, 1);
  g_assert_false (isfinite (run.epoch.val_loss));
  arrays_clear (&a);
}

/* --- losses that are not finite --------------------------------------------------------------- */

/* A run whose loss is not finite makes no checkpoint, even though its steps are skipped and its
 * weights are the initial ones. */
static void
test_no_checkpoint_without_a_finite_loss (void)
{
  Arrays a;
  arrays_init (&a);
  g_autoptr (DynoJob) job = arrays_job (&a, "mlp");
  g_autofree char *checkpoint = g_build_filename (job->out_dir, DYNO_CHECKPOINT_NAME, NULL);
  g_auto (TestRun) run = { 0 };

  for (guint i = 0; i < N; i++)
    for (guint k = 0; k < SIZE; k++)
      a.x[i * SIZE + k] = 3e38f;
  arrays_write (&a);
  test_job_set (job, "batch_size=32", "epochs=20", NULL);
  test_run (&run, job, NULL, NULL);
  g_assert_error (run.error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DIVERGED);
  g_assert_cmpuint (run.epochs, >, 1);
  g_assert_cmpuint (run.skipped, ==, run.losses->len);
  g_assert_cmpuint (run.checkpoints, ==, 0);
  g_assert_false (g_file_test (checkpoint, G_FILE_TEST_EXISTS));
  arrays_clear (&a);
}

typedef struct {
  const char *path;
  GArray *steps; /* guint64, of the checkpoint events */
} Seen;

static void
note_checkpoint (DynoSession *session, const DynoStepMetrics *step, gpointer data)
{
  Seen *seen = data;
  g_autoptr (DynoSafetensors) file = dyno_safetensors_open (seen->path, 0, NULL);
  guint64 saved =
      file ? g_ascii_strtoull (dyno_safetensors_get_metadata (file, "step"), NULL, 10) : 0;

  if (saved > 0)
    g_array_append_val (seen->steps, saved);
}

/* The state of a step is copied before its loss is known, and dropped when the loss turns out to be
 * bad.  Five of the 16 steps of an epoch have such a loss; a checkpoint is due at every step. */
static void
test_checkpoint_waits_for_its_loss (void)
{
  Arrays a;
  arrays_init (&a);
  g_autoptr (DynoJob) job = arrays_job (&a, "mlp");
  g_autofree char *path = g_build_filename (job->out_dir, DYNO_CHECKPOINT_NAME, NULL);
  g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (guint64));
  Seen seen = { path, steps };
  g_auto (TestRun) run = { 0 };
  guint bad = 0;

  for (guint i = 11; i < N; i += 9)
    for (guint k = 0; k < SIZE; k++)
      a.x[i * SIZE + k] = 3e38f;
  arrays_write (&a);
  test_job_set (job, "batch_size=3", "data.shuffle=false", "data.val_split=0", "epochs=40",
                "checkpoint_minutes=1e-9", NULL);
  test_run (&run, job, note_checkpoint, &seen);
  g_assert_no_error (run.error);
  for (guint i = 0; i < run.losses->len; i++)
    bad += !isfinite (g_array_index (run.losses, double, i));
  g_assert_cmpuint (bad, ==, 40 * 5);
  g_test_message ("%u checkpoints", run.checkpoints);
  g_assert_cmpuint (run.checkpoints, >=, 1);
  for (guint i = 0; i < steps->len; i++)
    g_assert_true (
        isfinite (g_array_index (run.losses, double, g_array_index (steps, guint64, i) - 1)));
  arrays_clear (&a);
}

/* --- divergence ------------------------------------------------------------------------------- */

/* A finite loss that grows without bound ends the run, or makes it fail if its end comes first;
 * nothing of this state is saved, and the weights of the best earlier epoch stay. */
static void
check_finite_divergence (const char *model, const char *change, guint most_steps)
{
  Arrays a;
  arrays_init (&a);
  g_autoptr (DynoJob) job = arrays_job (&a, model);
  g_auto (TestRun) run = { 0 };
  double last;

  test_job_set (job, "lr=100", "momentum=0.9", "warmup_epochs=0", "schedule=constant",
                "clip_norm=0", "epochs=30", change, NULL);
  job->max_steps = most_steps;
  test_run (&run, job, NULL, NULL);
  last = g_array_index (run.losses, double, run.losses->len - 1);
  g_test_message ("%u steps, loss %g; validation loss %g", run.losses->len, last,
                  run.epoch.val_loss);
  g_assert_true (isfinite (last));
  g_assert_error (run.error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DIVERGED);
  g_assert_nonnull (strstr (run.error->message, "rose from"));
  g_assert_cmpuint (run.checkpoints, ==, 0);
  g_assert_cmpuint (run.warnings->len, ==, 0);
  g_assert_true (isnan (run.best_val_accuracy)); /* a state with a bad loss is never the best */
  arrays_clear (&a);
}

static void
test_finite_divergence (void)
{
  check_finite_divergence ("simplecnn", "batch_size=12", 0);
}

static void
test_finite_divergence_at_the_end (void)
{
  check_finite_divergence ("mlp", "batch_size=9", 4);
}

/* The best weights are from before the divergence, even if a diverged state happens to predict
 * correctly: with one step in an epoch, only validation shows the loss. */
static void
test_divergence_keeps_the_best (void)
{
  for (guint steps = 1; steps <= 3; steps += 2)
    {
      Arrays a;
      arrays_init (&a);
      g_autoptr (DynoJob) job = arrays_job (&a, "mlp");
      g_autofree char *weights = g_build_filename (job->out_dir, "weights.safetensors", NULL),
                      *before = NULL, *after = NULL;
      gsize size, after_size;
      g_auto (TestRun) good = { 0 };
      g_auto (TestRun) run = { 0 };

      /* The predictions of the initial weights are wrong for most samples. */
      for (guint i = 0; i < N; i++)
        a.y[i] = (i + 1) % 2;
      for (guint i = 0; i < N * SIZE; i++)
        a.x[i] *= 100;
      arrays_write (&a);
      test_job_set (job, "epochs=1", "schedule=constant", "warmup_epochs=0", "lr=0", "clip_norm=0",
                    steps == 1 ? "batch_size=36" : "batch_size=12", NULL);
      test_run_good (&good, job);
      g_assert_true (g_file_get_contents (weights, &before, &size, NULL));
      job->resume = g_strdup (job->out_dir);
      test_job_set (job, "epochs=30", "lr=100", NULL);
      test_run (&run, job, NULL, NULL);
      g_assert_error (run.error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DIVERGED);
      g_assert_nonnull (strstr (run.error->message, "checkpoint is kept"));
      g_assert_cmpuint (run.best_epoch, ==, 1);
      g_assert_true (g_file_get_contents (weights, &after, &after_size, NULL));
      g_assert_cmpmem (before, size, after, after_size);
      arrays_clear (&a);
    }
}

/* A run whose loss is that of a guess reports so, once, and names as the reason its lr of 0, of
 * which it warned at its start; a run that learns does not. */
static void
test_standing_still_is_said (void)
{
  Arrays a;
  arrays_init (&a);
  g_autoptr (DynoJob) job = arrays_job (&a, "mlp");

  for (guint learns = 0; learns < 2; learns++)
    {
      g_auto (TestRun) run = { 0 };

      test_job_set (job, learns ? "lr=0.01" : "lr=0", "epochs=14", "seed=2", NULL);
      test_run_good (&run, job);
      g_assert_cmpuint (run.warnings->len, ==, learns ? 0 : 2);
      g_assert_cmpint (test_has_warning (&run, "Nothing is learned"), ==, !learns);
      g_assert_cmpint (test_has_warning (&run, "lr is 0, so no step changes"), ==, !learns);
      g_assert_false (test_has_warning (&run, "a tenth"));
    }
  arrays_clear (&a);
}

/* --- values to predict ------------------------------------------------------------------------ */

/* Two values of each sample: an angle in degrees that follows its brightness, and a large one
 * around 1000. */
static DynoJob *
values_job (Arrays *a)
{
  g_autofree char *y = NULL;
  g_autoptr (GError) error = NULL;
  float values[N][2];
  DynoJob *job;

  arrays_init (a);
  for (guint i = 0; i < N; i++)
    {
      float level = (float) ((i * 29) % N) / N - 0.5f;
      for (guint k = 0; k < SIZE; k++)
        a->x[i * SIZE + k] = level + (float) ((i * 7919 + k * 104729) % 1000) / 4000;
      values[i][0] = 170 * level;
      values[i][1] = 1000 + 40 * level;
    }
  arrays_write (a);
  y = g_build_filename (a->folder, "y.npy", NULL);
  dyno_npy_write (y, "f4", 2, (guint64[]){ N, 2 }, values, &error);
  g_assert_no_error (error);
  job = arrays_job (a, "mlp");
  test_job_set (job, "schedule=constant", "warmup_epochs=0", "weight_decay=0", NULL);
  return job;
}

/* Loss and error begin at the deviation of the values and fall, in the unit of the data.  Without
 * standardisation degrees would diverge. */
static void
test_values_are_learned (void)
{
  for (guint amp = 0; amp < 2; amp++)
    {
      Arrays a;
      g_autoptr (DynoJob) job = values_job (&a);
      g_auto (TestRun) run = { 0 };

      test_job_set (job, "epochs=20", "lr=0.05", amp ? "amp=true" : "amp=false", NULL);
      test_run_good (&run, job);
      /* Variances of 170 / sqrt (12) and 40 / sqrt (12), squared. */
      g_assert_cmpfloat (g_array_index (run.losses, double, 0), >, 400);
      g_assert_cmpfloat (g_array_index (run.losses, double, 0), <, 4000);
      g_test_message ("validation loss %g, error %g", run.epoch.val_loss, run.epoch.val_metrics[0]);
      g_assert_cmpfloat (run.epoch.val_loss, <, 150);
      g_assert_cmpfloat (run.epoch.val_metrics[0], <, 10);
      g_assert_cmpfloat (run.epoch.val_metrics[0] * run.epoch.val_metrics[0], <,
                         run.epoch.val_loss);
      arrays_clear (&a);
    }
}

/* Three angles that are named by the data set are separate metrics, in its unit: in the table, the
 * log and metrics.csv. */
static void
test_outputs_are_metrics (void)
{
  Arrays a;
  g_autoptr (DynoJob) job = values_job (&a);
  g_autofree char *y = g_build_filename (a.folder, "y.npy", NULL),
                  *names = g_build_filename (a.folder, "y.names", NULL),
                  *csv = g_build_filename (job->out_dir, "metrics.csv", NULL), *text = NULL;
  g_autoptr (GError) error = NULL;
  g_auto (TestRun) run = { 0 };
  float values[N][3];
  const double *m = run.epoch.val_metrics;

  for (guint i = 0; i < N; i++)
    {
      float level = (float) ((i * 29) % N) / N - 0.5f;
      values[i][0] = 1000 * level;
      values[i][1] = 100 * level;
      values[i][2] = 10 * level;
    }
  dyno_npy_write (y, "f4", 2, (guint64[]){ N, 3 }, values, &error);
  g_assert_no_error (error);
  g_file_set_contents (names, "Yaw (degrees)\nPitch (degrees)\nRoll (degrees)\n", -1, &error);
  g_assert_no_error (error);
  test_job_set (job, "epochs=1", "lr=0.0001", NULL);
  test_run_good (&run, job);
  g_assert_cmpuint (run.metrics.n, ==, 4);
  g_assert_cmpstr (run.metrics.infos[2].name, ==, "mean_abs_error_pitch");
  g_assert_cmpstr (run.metrics.infos[2].part, ==, "Pitch");
  for (guint i = 0; i < run.metrics.n; i++)
    g_assert_cmpstr (run.metrics.infos[i].unit, ==, "degrees");
  g_assert_cmpfloat_with_epsilon (m[0], (m[1] + m[2] + m[3]) / 3, 1e-3);
  /* Hardly anything is learned, so the errors are proportional to the ranges. */
  g_assert_cmpfloat (m[1], >, 100);
  g_assert_cmpfloat_with_epsilon (m[1] / m[2], 10, 4);
  g_assert_cmpfloat_with_epsilon (m[2] / m[3], 10, 4);
  g_assert_true (g_file_get_contents (csv, &text, NULL, NULL));
  g_assert_nonnull (strstr (text, ",val_mean_abs_error,val_mean_abs_error_yaw,"
                                  "val_mean_abs_error_pitch,val_mean_abs_error_roll,"));
  /* The error over all values has a unit only where all have it. */
  g_auto (TestRun) mixed = { 0 };
  g_file_set_contents (names, "Yaw (degrees)\nPitch (degrees)\nX (mm)\n", -1, &error);
  g_assert_no_error (error);
  g_clear_pointer (&job->out_dir, g_free);
  test_run_good (&mixed, job);
  g_assert_cmpstr (mixed.metrics.infos[0].unit, ==, "");
  g_assert_cmpstr (mixed.metrics.infos[1].unit, ==, "degrees");
  g_assert_cmpstr (mixed.metrics.infos[3].unit, ==, "mm");
  arrays_clear (&a);
}

/* The usual learning rate for classes works for values too. */
static void
test_values_at_the_default_rate (void)
{
  Arrays a;
  g_autoptr (DynoJob) job = values_job (&a);
  g_auto (TestRun) run = { 0 };

  g_free (job->model);
  job->model = g_strdup ("simplecnn");
  test_job_set (job, "lr=0.05", "epochs=6", "momentum=0.9", "model.width=1", NULL);
  test_run_good (&run, job);
  g_test_message ("training loss %g, error %g", run.epoch.train_loss, run.epoch.train_metrics[0]);
  g_assert_cmpfloat (run.epoch.train_loss, <, 1300); /* the variance */
  arrays_clear (&a);
}

/* The weights file gives the same losses to a network that learns raw values and to one that
 * standardises them. */
static void
test_weights_predict_in_the_datas_unit (void)
{
  Arrays a;
  g_autoptr (DynoJob) job = values_job (&a);
  g_auto (TestRun) run = { 0 };

  test_job_set (job, "epochs=4", "schedule=constant", NULL);
  test_run_good (&run, job);
  job->weights_in = g_build_filename (job->out_dir, "weights-last.safetensors", NULL);
  g_clear_pointer (&job->out_dir, g_free);
  for (guint normalise = 0; normalise < 2; normalise++)
    {
      g_auto (TestRun) again = { 0 };

      test_job_set (job, normalise ? "data.normalise=true" : "data.normalise=false", "lr=0",
                    "epochs=1", NULL);
      test_run_good (&again, job);
      g_assert_cmpfloat_with_epsilon (again.epoch.val_loss / run.epoch.val_loss, 1, 1e-3);
      g_assert_cmpfloat_with_epsilon (again.epoch.val_metrics[0] / run.epoch.val_metrics[0], 1,
                                      1e-3);
    }
  arrays_clear (&a);
}

static void
test_values_resume (void)
{
  Arrays a;
  g_autoptr (DynoJob) job = values_job (&a);
  g_autofree char *whole = g_build_filename (a.folder, "whole", NULL),
                  *part = g_strdup (job->out_dir);
  g_autofree char *whole_weights = g_build_filename (whole, "weights-last.safetensors", NULL);
  g_autofree char *part_weights = g_build_filename (part, "weights-last.safetensors", NULL);
  g_auto (TestRun) all = { 0 };
  g_auto (TestRun) first = { 0 };
  g_auto (TestRun) second = { 0 };
  g_auto (TestRun) refused = { 0 };

  test_job_set (job, "epochs=2", NULL);
  g_free (job->out_dir);
  job->out_dir = g_strdup (whole);
  test_run_good (&all, job);
  g_free (job->out_dir);
  job->out_dir = g_strdup (part);
  test_job_set (job, "epochs=1", NULL);
  test_run_good (&first, job);
  job->resume = g_strdup (part);
  test_job_set (job, "epochs=2", NULL);
  test_run_good (&second, job);
  g_assert_true (
      memcmp (&g_array_index (all.losses, double, 3), second.losses->data, 3 * sizeof (double))
      == 0);
  test_assert_same_file (whole_weights, part_weights);
  test_job_set (job, "data.normalise=false", "epochs=3", NULL);
  test_run (&refused, job, NULL, NULL);
  g_assert_error (refused.error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_CHECKPOINT);
  g_assert_nonnull (strstr (refused.error->message, "data.normalise"));
  arrays_clear (&a);
}

/* --- means ------------------------------------------------------------------------------------ */

/* Nothing is learned, so validation gives the same loss and accuracy however its samples are
 * divided into batches. */
static void
test_validation_is_a_mean_of_samples (void)
{
  Arrays a;
  arrays_init (&a);
  g_autoptr (DynoJob) job = arrays_job (&a, "mlp");
  g_auto (TestRun) whole = { 0 };
  g_auto (TestRun) parts = { 0 };

  test_job_set (job, "lr=0", "epochs=1", NULL);
  test_run_good (&whole, job); /* 12 samples in one batch */
  test_job_set (job, "batch_size=5", NULL);
  test_run_good (&parts, job); /* 5, 5 and 2 */
  g_assert_cmpfloat_with_epsilon (parts.epoch.val_loss, whole.epoch.val_loss, 1e-6);
  g_assert_cmpfloat (parts.epoch.val_metrics[0], ==, whole.epoch.val_metrics[0]);
  arrays_clear (&a);
}

static void
keep_step (DynoSession *session, const DynoStepMetrics *step, gpointer data)
{
  ((DynoStepMetrics *) data)[(step->step - 1) % 3] = *step;
}

/* The last step of an epoch has two batches of 4, the others have five; its gradient is the mean
 * over 8 samples, as that of one batch of these 8. */
static void
test_short_accumulation_is_a_mean (void)
{
  Arrays a;
  arrays_init (&a);
  g_autoptr (DynoJob) job = arrays_job (&a, "mlp");
  g_auto (TestRun) parts = { 0 };
  g_auto (TestRun) whole = { 0 };
  DynoStepMetrics short_steps[3] = { 0 }, whole_steps[3] = { 0 };

  test_job_set (job, "lr=0", "epochs=1", "data.val_split=0", "data.shuffle=false", "batch_size=4",
                "accumulate=5", NULL);
  test_run (&parts, job, keep_step, short_steps);
  g_assert_cmpuint (parts.losses->len, ==, 3);
  test_job_set (job, "batch_size=8", "accumulate=1", NULL);
  test_run (&whole, job, keep_step, whole_steps);
  g_assert_cmpuint (whole.losses->len, ==, 6);
  g_assert_cmpfloat (whole_steps[2].grad_norm, >, 0);
  g_assert_cmpfloat_with_epsilon (short_steps[2].grad_norm / whole_steps[2].grad_norm, 1, 1e-5);
  g_assert_cmpfloat (whole_steps[2].metrics[0], >, 0);
  g_assert_cmpfloat (short_steps[2].metrics[0], ==, whole_steps[2].metrics[0]);
  g_assert_cmpfloat_with_epsilon (g_array_index (parts.losses, double, 2),
                                  g_array_index (whole.losses, double, 5), 1e-6);
  arrays_clear (&a);
}

/* --- steps ------------------------------------------------------------------------------------ */

/* Augmentation belongs to the training network, and follows from the settings. */
static void
test_augmentation (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoDataset) dataset =
      dyno_dataset_open ("builtin:shapes?size=16", NULL, NULL, NULL, NULL, &error);
  g_autoptr (DynoJob) job = test_job ("mlp", "builtin:shapes?size=16");
  DynoNetworkParams params;

  g_assert_no_error (error);
  test_job_set (job, "augment.flip=false", NULL);
  g_assert_true (
      dyno_job_get_network (job, dyno_dataset_get_info (dataset), DYNO_MODE_TRAIN, &params, NULL));
  g_assert_false (dyno_augmentation_is_on (&params.augmentation));
  test_job_set (job, "augment.flip=true", "augment.brightness=0.25", NULL);
  g_assert_true (
      dyno_job_get_network (job, dyno_dataset_get_info (dataset), DYNO_MODE_TRAIN, &params, NULL));
  g_assert_cmpfloat (params.augmentation.flip, ==, 0.5);
  g_assert_cmpfloat (params.augmentation.brightness, ==, 0.25);
  g_assert_true (dyno_job_get_network (job, dyno_dataset_get_info (dataset), DYNO_MODE_EVALUATE,
                                       &params, NULL));
  g_assert_false (dyno_augmentation_is_on (&params.augmentation));
}

/* Each setting makes the change of its name, and no other. */
static void
test_each_augmentation (void)
{
  static const struct {
    const char *setting;
    gsize offset;
    double value;
  } cases[] = {
    { "augment.flip_vertical=true", G_STRUCT_OFFSET (DynoAugmentation, flip_vertical), 0.5 },
    { "augment.crop=0.25", G_STRUCT_OFFSET (DynoAugmentation, crop), 0.25 },
    { "augment.rotate=15", G_STRUCT_OFFSET (DynoAugmentation, rotate), 15 },
    { "augment.contrast=0.5", G_STRUCT_OFFSET (DynoAugmentation, contrast), 0.5 },
    { "augment.saturation=0.75", G_STRUCT_OFFSET (DynoAugmentation, saturation), 0.75 },
    { "augment.hue=0.125", G_STRUCT_OFFSET (DynoAugmentation, hue), 0.125 },
    { "augment.noise=0.0625", G_STRUCT_OFFSET (DynoAugmentation, noise), 0.0625 },
    { "augment.erase=0.375", G_STRUCT_OFFSET (DynoAugmentation, erase), 0.375 },
    { "augment.mixup=0.25", G_STRUCT_OFFSET (DynoAugmentation, mixup), 0.25 },
    { "augment.cutmix=1.5", G_STRUCT_OFFSET (DynoAugmentation, cutmix), 1.5 },
  };
  g_autoptr (DynoDataset) dataset =
      dyno_dataset_open ("builtin:shapes?size=16", NULL, NULL, NULL, NULL, NULL);
  DynoNetworkParams params;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (DynoJob) job = test_job ("mlp", "builtin:shapes?size=16");
      DynoAugmentation none;

      test_job_set (job, "augment.flip=false", cases[i].setting, "augment.pad=reflect", NULL);
      g_assert_true (dyno_job_get_network (job, dyno_dataset_get_info (dataset), DYNO_MODE_TRAIN,
                                           &params, NULL));
      none = params.augmentation;
      g_assert_cmpfloat (G_STRUCT_MEMBER (double, &none, cases[i].offset), ==, cases[i].value);
      g_assert_cmpint (none.pad, ==, DYNO_PAD_REFLECT);
      g_assert_true (dyno_augmentation_is_on (&none));
      G_STRUCT_MEMBER (double, &none, cases[i].offset) = 0;
      g_assert_false (dyno_augmentation_is_on (&none));
    }
}

/* Yaw and roll, as named by the data or else by the model, change sign when mirrored; a rotated or
 * upside-down head has other angles. */
static void
test_mirrored_angles (void)
{
  static const char *const named[] = { "Roll", "age", "yaw", NULL };
  g_autoptr (DynoDataset) dataset =
      dyno_dataset_open ("builtin:shapes?size=64", NULL, NULL, NULL, NULL, NULL);
  DynoDatasetInfo info = *dyno_dataset_get_info (dataset);
  g_autoptr (DynoJob) job = test_job ("headpose_resnet18", "builtin:shapes?size=64");
  g_autoptr (GError) error = NULL;
  DynoNetworkParams params;

  info.schema = dyno_schema_image (DYNO_ELEMENT_U8, 64, 64, 3, 3);
  info.target_names = NULL;
  test_job_set (job, "augment.flip=true", NULL);
  g_assert_true (dyno_job_get_network (job, &info, DYNO_MODE_TRAIN, &params, NULL));
  g_assert_cmpuint (params.augmentation.negated, ==, 5);
  g_free (job->model);
  job->model = g_strdup ("mlp");
  g_assert_true (dyno_job_get_network (job, &info, DYNO_MODE_TRAIN, &params, NULL));
  g_assert_cmpuint (params.augmentation.negated, ==, 0);
  test_job_set (job, "augment.rotate=10", NULL);
  g_assert_true (dyno_job_get_network (job, &info, DYNO_MODE_TRAIN, &params, NULL));
  info.target_names = (char **) named;
  g_assert_false (dyno_job_get_network (job, &info, DYNO_MODE_TRAIN, &params, &error));
  g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA);
  g_assert_nonnull (strstr (error->message, "augment.rotate"));
  test_job_set (job, "augment.rotate=0", NULL);
  g_assert_true (dyno_job_get_network (job, &info, DYNO_MODE_TRAIN, &params, NULL));
  g_assert_cmpuint (params.augmentation.negated, ==, 5);
}

/* An augmentation that the samples do not support is refused by its name, with its requirement. */
static void
test_augmentation_refused (void)
{
  static const char *const cases[][3] = {
    { "builtin:waves", "augment.crop=0.5", "sequences" },
    { "builtin:waves", "augment.hue=0.1", "sequences" },
    { "builtin:shapes", "augment.time_mask=0.5", "images" },
    { "builtin:waves", "augment.mixup=0.5", "sequences" },
    { "builtin:poses", "augment.cutmix=0.5", "values" },
    { "builtin:shapes", "augment.time_shift=0.5", "images" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (DynoDataset) dataset =
          dyno_dataset_open (cases[i][0], NULL, NULL, NULL, NULL, NULL);
      g_autoptr (DynoJob) job = test_job ("mlp", cases[i][0]);
      g_autoptr (GError) error = NULL;
      g_auto (GStrv) parts = g_strsplit (cases[i][1], "=", 2);
      DynoNetworkParams params;

      test_job_set (job, cases[i][1], NULL);
      g_assert_false (dyno_job_get_network (job, dyno_dataset_get_info (dataset), DYNO_MODE_TRAIN,
                                            &params, &error));
      g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA);
      g_assert_nonnull (strstr (error->message, parts[0]));
      g_assert_nonnull (strstr (error->message, cases[i][2]));
    }
}

/* The input of a step for the device follows from the settings and the number of the step. */
static void
test_step_input (void)
{
  DynoSettings s;
  struct DynoStepInput input;
  DynoStepOrder order = { .step = 0, .batches = 3, .lr = 0.25 };

  dyno_settings_init (&s);
  s.momentum = 0.75;
  s.weight_decay = 0.125;
  s.clip_norm = 2.5;
  s.clip_value = 0.75;
  s.seed = (G_GINT64_CONSTANT (7) << 32) + 9;
  dyno_step_fill_input (&input, &order, &s);
  g_assert_cmpuint (input.first_update, ==, 1);
  g_assert_cmpuint (input.seed_high, ==, 7);
  g_assert_cmpuint (input.seed_low, ==, 9);
  g_assert_cmpfloat (input.lr, ==, 0.25f);
  g_assert_cmpfloat (input.momentum, ==, 0.75f);
  g_assert_cmpfloat (input.weight_decay, ==, 0.125f);
  g_assert_cmpfloat (input.clip_norm, ==, 2.5f);
  g_assert_cmpfloat (input.clip_value, ==, 0.75f);
  g_assert_cmpfloat (input.loss_divisor, ==, 3);
  g_assert_cmpuint (input.scale_growth_interval, ==, 100);
  s.optimizer = DYNO_OPTIMIZER_ADAMW;
  order.step = 1999;
  dyno_step_fill_input (&input, &order, &s);
  g_assert_cmpuint (input.step, ==, 1999);
  g_assert_cmpuint (input.first_update, ==, 0);
  g_assert_cmpfloat (input.momentum, ==, 0.9f);
  g_assert_cmpfloat (input.beta2, ==, 0.999f);
  s.optimizer = DYNO_OPTIMIZER_RMSPROP;
  dyno_step_fill_input (&input, &order, &s);
  g_assert_cmpfloat (input.momentum, ==, 0.75f);
  g_assert_cmpfloat (input.beta2, ==, 0.99f);
  g_assert_cmpfloat (input.epsilon, ==, 1e-8f);
  s.optimizer = DYNO_OPTIMIZER_LION;
  dyno_step_fill_input (&input, &order, &s);
  g_assert_cmpfloat (input.momentum, ==, 0.9f);
  g_assert_cmpfloat (input.beta2, ==, 0.99f);
  g_assert_cmpuint (input.scale_growth_interval, ==, 100);
  order.step = 2000;
  dyno_step_fill_input (&input, &order, &s);
  g_assert_cmpuint (input.scale_growth_interval, ==, 2000);
  g_assert_cmpfloat (input.loss_scale_min, <, 1);
  g_assert_cmpfloat (input.loss_scale_max, >=, 65536);
}

/* the last wait, and whether a wait was shorter than the one before */
static void
compare_wait (DynoSession *session, const DynoStepMetrics *step, gpointer data)
{
  double *waits = data;

  waits[1] += step->wait_data_ms < waits[0];
  waits[0] = step->wait_data_ms;
}

/* The wait for data is measured for each step: a sum over steps could only grow. */
static void
test_waits_are_of_their_step (void)
{
  Arrays a;
  arrays_init (&a);
  g_autoptr (DynoJob) job = arrays_job (&a, "mlp");
  g_auto (TestRun) run = { 0 };
  double waits[2] = { 0 };

  test_job_set (job, "workers=0", "epochs=8", NULL);
  test_run (&run, job, compare_wait, waits);
  g_assert_cmpuint (run.losses->len, ==, 24);
  g_assert_cmpfloat (waits[1], >, 0);
  arrays_clear (&a);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/train/numerics/outlier-amp", test_outlier_amp);
  g_test_add_func ("/train/numerics/outlier-fp32", test_outlier_fp32);
  g_test_add_func ("/train/numerics/outlier-in-validation-is-said", test_outlier_in_validation);
  g_test_add_func ("/train/numerics/no-checkpoint-without-a-finite-loss",
                   test_no_checkpoint_without_a_finite_loss);
  g_test_add_func ("/train/numerics/checkpoint-waits-for-its-loss",
                   test_checkpoint_waits_for_its_loss);
  g_test_add_func ("/train/numerics/finite-divergence-ends-run", test_finite_divergence);
  g_test_add_func ("/train/numerics/finite-divergence-at-the-end",
                   test_finite_divergence_at_the_end);
  g_test_add_func ("/train/numerics/divergence-keeps-the-best-weights",
                   test_divergence_keeps_the_best);
  g_test_add_func ("/train/numerics/standing-still-is-said", test_standing_still_is_said);
  g_test_add_func ("/train/numerics/values-are-learned-in-their-unit", test_values_are_learned);
  g_test_add_func ("/train/numerics/values-are-learned-at-the-default-rate",
                   test_values_at_the_default_rate);
  g_test_add_func ("/train/numerics/weights-predict-in-the-unit-of-the-data",
                   test_weights_predict_in_the_datas_unit);
  g_test_add_func ("/train/numerics/values-resume-to-the-bit", test_values_resume);
  g_test_add_func ("/train/numerics/validation-is-a-mean-of-samples",
                   test_validation_is_a_mean_of_samples);
  g_test_add_func ("/train/numerics/short-accumulation-is-a-mean",
                   test_short_accumulation_is_a_mean);
  g_test_add_func ("/train/numerics/augmentation-follows-the-settings", test_augmentation);
  g_test_add_func ("/train/numerics/each-augmentation-has-its-setting", test_each_augmentation);
  g_test_add_func ("/train/numerics/angles-change-their-sign-in-a-mirror", test_mirrored_angles);
  g_test_add_func ("/train/numerics/unsuitable-augmentation-is-refused", test_augmentation_refused);
  g_test_add_func ("/train/numerics/step-input-follows-the-settings", test_step_input);
  g_test_add_func ("/train/numerics/waits-are-of-their-step", test_waits_are_of_their_step);
  g_test_add_func ("/train/values/named-outputs-are-metrics", test_outputs_are_metrics);
  return g_test_run ();
}
