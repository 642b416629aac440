/* SPDX-License-Identifier: MIT */
/* The meter of this machine, with a tiny network: the results of each measurement, its end, and its
 * independence from earlier ones. */
#include "loader-test.h"
#include "file.h"
#include "meter.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define LONG_AGO 1 /* in monotonic time */
#define FAR      (g_get_monotonic_time () + 3600 * (gint64) G_USEC_PER_SEC)

typedef gboolean (*Measure) (DynoMeter *, const DynoSettings *, double, gint64, GCancellable *,
                             DynoMeasurement *, GError **);

static DynoJob *
make_job (const char *data)
{
  DynoJob *job = dyno_job_new ();

  job->data = g_strdup (data ? data : "builtin:shapes?size=16&samples=80&classes=4");
  job->settings.batch_size = 4;
  job->settings.model_width = 0.125;
  job->settings.workers = 0;
  job->settings.amp = FALSE;
  job->settings.autotune = FALSE;
  return job;
}

static DynoMeter *
make_meter (const DynoJob *job)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) devices = dyno_device_list (&error);
  g_autoptr (DynoDataset) dataset = dyno_dataset_open (job->data, NULL, NULL, NULL, NULL, &error);

  g_assert_no_error (error);
  return dyno_meter_new (job, dataset, devices->pdata[0]);
}

static void
check_rate (const DynoEstimate *e)
{
  g_assert_cmpfloat (e->low, >=, 0); /* three windows on a busy machine give a wide interval */
  g_assert_cmpfloat (e->median, >, 0);
  g_assert_cmpfloat (e->low, <=, e->median);
  g_assert_cmpfloat (e->median, <=, e->high);
  g_assert_cmpuint (e->n, >=, 2);
}

/* Loader, device, and both together with the ends of epochs; the device memory equals the plan to
 * the byte. */
static void
test_measures (void)
{
  g_autoptr (DynoJob) job = make_job (NULL);
  g_autoptr (DynoMeter) meter = make_meter (job);
  g_autoptr (GError) error = NULL;
  g_autofree char *advice = NULL;
  DynoMeasurement m;
  guint64 bytes;
  gboolean fits;

  g_assert_false (meter->generated);
  g_assert_true (meter->can_cache);
  g_assert_cmpuint (meter->n_train + meter->n_validation, ==, 80);
  g_assert_true (meter->class->plan (meter, &job->settings, &bytes, &fits, &advice, &error));
  g_assert_true (fits);
  g_assert_null (advice);

  g_assert_true (meter->class->loader (meter, &job->settings, 0, FAR, NULL, &m, &error));
  check_rate (&m.rate);
  g_assert_cmpuint (m.vram_bytes, ==, 0);

  for (guint again = 0; again < 2; again++)
    {
      g_assert_true (meter->class->gpu (meter, &job->settings, 0, FAR, NULL, &m, &error));
      check_rate (&m.rate);
      g_assert_cmpuint (m.vram_bytes, ==, m.planned_bytes);
      g_assert_cmpfloat (m.step_ms, >, 0);

      g_assert_true (meter->class->trial (meter, &job->settings, 0, FAR, NULL, &m, &error));
      check_rate (&m.rate);
      check_rate (&m.run_rate);
      g_assert_cmpuint (m.vram_bytes, ==, m.planned_bytes);
      g_assert_cmpfloat (m.validation_rate, >, 0);
      g_assert_cmpfloat (m.epoch_overhead_s, >=, 0);
    }
}

static guint8 times_decoded[4000];

static void
count_decoded (guint64 index)
{
  times_decoded[index]++;
}

/* Samples of one measurement are in the system's page cache afterwards, so the next one reads
 * others, also with equal settings. */
static void
test_other_samples_each_time (void)
{
  g_autoptr (DynoJob) job = make_job ("odd:");
  g_autoptr (GPtrArray) devices = dyno_device_list (NULL);
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (DynoMeter) meter = NULL;
  g_autoptr (GError) error = NULL;
  guint once = 0, more = 0;

  odd_reset (G_N_ELEMENTS (times_decoded));
  odd.on_decode = count_decoded;
  dataset = open_odd ();
  meter = dyno_meter_new (job, dataset, devices->pdata[0]);
  for (guint again = 0; again < 4; again++)
    {
      DynoMeasurement m;

      meter->class->loader (meter, &job->settings, 0, FAR, NULL, &m, &error);
      g_assert_no_error (error);
    }
  odd.on_decode = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (times_decoded); i++)
    {
      once += times_decoded[i] == 1;
      more += times_decoded[i] > 1;
    }
  g_test_message ("%u samples once, %u more often", once, more);
  g_assert_cmpuint (once, >, 10);
  g_assert_cmpuint (more, <, once / 2);
}

/* An epoch that would take longer than the measurement is ended early for its validation, of which
 * a part is enough. */
static void
test_long_epoch (void)
{
  g_autoptr (DynoJob) job = make_job ("builtin:shapes?size=16&samples=2000000&classes=4");
  g_autoptr (DynoMeter) meter = make_meter (job);
  g_autoptr (GError) error = NULL;
  DynoMeasurement m;

  g_assert_true (meter->class->trial (meter, &job->settings, 0, FAR, NULL, &m, &error));
  /* The run is ahead of the measurement by 4096 events at most; an epoch has 400,000 steps. */
  g_assert_cmpuint (m.steps, <, 10000);
  g_assert_cmpfloat (m.validation_rate, >, 0);
  g_assert_cmpfloat (m.epoch_overhead_s, >=, 0);
  g_assert_cmpfloat (m.run_rate.median, <, m.rate.median);
  /* For a caller that already knows the end of an epoch, all of the time is used for steps. */
  meter->steps_only = TRUE;
  g_assert_true (meter->class->trial (meter, &job->settings, 0, FAR, NULL, &m, &error));
  check_rate (&m.rate);
  g_assert_true (isnan (m.validation_rate));
  g_assert_true (isnan (m.epoch_overhead_s));
  g_assert_cmpfloat (m.run_rate.median, ==, m.rate.median);
}

/* An unreadable sample counts once, however often it is read. */
static void
test_unreadable (void)
{
  g_autoptr (DynoJob) job = make_job ("odd:");
  g_autoptr (GPtrArray) devices = dyno_device_list (NULL);

  g_free (job->model);
  job->model = g_strdup ("mlp");
  job->settings.data_max_bad = 1;
  for (guint every = 0; every <= 3; every += 3)
    {
      g_autoptr (DynoDataset) dataset = NULL;
      g_autoptr (DynoMeter) meter = NULL;
      g_autoptr (GError) error = NULL;
      DynoMeasurement m;

      odd_reset (40);
      odd.bad_every = every;
      dataset = open_odd ();
      meter = dyno_meter_new (job, dataset, devices->pdata[0]);
      meter->class->trial (meter, &job->settings, 0, FAR, NULL, &m, &error);
      g_assert_no_error (error);
      g_assert_true ((m.n_unreadable > 0) == (every > 0));
      g_assert_cmpuint (m.n_unreadable, <=, every > 0 ? 40 / every + 1 : 0);
    }
  odd.bad_every = 0;
}

/* Where training waits for a slow disk, there is no validation, which would wait too. */
static void
test_slow_disk (void)
{
  g_autoptr (DynoJob) job = make_job ("odd:");
  g_autoptr (GPtrArray) devices = dyno_device_list (NULL);
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (DynoMeter) meter = NULL;
  g_autoptr (GError) error = NULL;
  DynoMeasurement m;

  g_free (job->model);
  job->model = g_strdup ("mlp");
  odd_reset (400);
  odd.sleep_us = 600000; /* far more than a step with a sanitizer computes on a busy machine */
  dataset = open_odd ();
  meter = dyno_meter_new (job, dataset, devices->pdata[0]);
  meter->class->trial (meter, &job->settings, 0, FAR, NULL, &m, &error);
  odd.sleep_us = 0;
  g_assert_no_error (error);
  g_assert_cmpfloat (m.prepare_s, >, 0);
  g_assert_cmpfloat (m.validation_rate, ==, m.rate.median);
  g_assert_cmpfloat (m.epoch_overhead_s, ==, 0);
  g_assert_cmpfloat (m.run_rate.median, <, m.rate.median);
  /* The first step, three measured ones, and samples that were decoded ahead; a validation has
   * nine. */
  g_assert_cmpint (odd.decodes, <=, 4 * 8);
}

/* A trial waits for its cache if this is requested; otherwise it reports that the cache was not
 * full. */
static void
test_cache_is_filled_first (void)
{
  g_autoptr (DynoJob) small = make_job ("builtin:shapes?size=16&samples=200&classes=4"),
                      large = make_job ("builtin:shapes?size=16&samples=20000&classes=4");
  g_autoptr (DynoMeter) waiting = make_meter (small), hasty = make_meter (large);
  g_autoptr (GError) error = NULL;
  DynoMeasurement m;

  small->settings.cache = large->settings.cache = TRUE;
  waiting->fill_s = 3600;
  g_assert_true (waiting->class->trial (waiting, &small->settings, 0, FAR, NULL, &m, &error));
  g_assert_false (m.filling);
  g_assert_cmpfloat (m.fill_s, >, 0);
  check_rate (&m.rate);
  g_assert_cmpfloat (m.validation_rate, >, 0);
  g_assert_true (hasty->class->trial (hasty, &large->settings, 0, FAR, NULL, &m, &error));
  g_assert_true (m.filling);
  g_assert_cmpfloat (m.fill_s, ==, 0);
  check_rate (&m.rate);
}

/* Settings that exceed the budget are a result, with advice; a later measurement with a sufficient
 * budget succeeds. */
static void
test_budget (void)
{
  g_autoptr (DynoJob) job = make_job (NULL);
  g_autoptr (DynoMeter) meter = make_meter (job);
  g_autofree char *advice = NULL;
  DynoSettings tight = job->settings;
  DynoMeasurement m;
  guint64 bytes;
  gboolean fits;
  Measure measures[] = { meter->class->gpu, meter->class->trial };

  tight.vram_budget = 100000;
  g_assert_true (meter->class->plan (meter, &tight, &bytes, &fits, &advice, NULL));
  g_assert_false (fits);
  g_assert_nonnull (advice);
  for (guint i = 0; i < G_N_ELEMENTS (measures); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_false (measures[i](meter, &tight, 0, FAR, NULL, &m, &error));
      g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DOES_NOT_FIT);
      g_assert_true (isnan (m.rate.median));
      g_clear_error (&error);
      job->settings.vram_budget = (gint64) bytes * 4;
      g_assert_true (measures[i](meter, &job->settings, 0, FAR, NULL, &m, &error));
      g_assert_cmpuint (m.vram_bytes, <=, bytes * 4);
    }
}

static void
test_ends (void)
{
  g_autoptr (DynoJob) job = make_job (NULL);
  g_autoptr (DynoMeter) meter = make_meter (job);
  g_autoptr (GCancellable) cancelled = g_cancellable_new ();
  Measure measures[] = { meter->class->loader, meter->class->gpu, meter->class->trial };
  DynoMeasurement m;

  g_cancellable_cancel (cancelled);
  for (guint i = 0; i < G_N_ELEMENTS (measures); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_false (measures[i](meter, &job->settings, 3600, FAR, cancelled, &m, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_clear_error (&error);
      g_assert_false (measures[i](meter, &job->settings, 3600, LONG_AGO, NULL, &m, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT);
      g_clear_error (&error);
      g_assert_true (measures[i](meter, &job->settings, 0, FAR, NULL, &m, &error));
    }
}

/* A non-finite loss is a result of the trial; the device ceiling, which needs no learning, is
 * measured nevertheless. */
static void
test_diverged (void)
{
  g_autoptr (DynoJob) job = make_job (NULL);
  g_autoptr (DynoMeter) meter = make_meter (job);
  g_autoptr (GError) error = NULL;
  DynoMeasurement m;

  job->settings.lr = 1e30;
  job->settings.clip_norm = 0;
  g_assert_true (meter->class->gpu (meter, &job->settings, 0, FAR, NULL, &m, &error));
  g_assert_no_error (error);
  g_assert_false (meter->class->trial (meter, &job->settings, 20, FAR, NULL, &m, &error));
  g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DIVERGED);
}

/* Training from the same start until the validation reaches the goal; otherwise for the requested
 * epochs. */
static void
test_learning (void)
{
  g_autoptr (DynoJob) job = make_job (NULL);
  g_autoptr (DynoMeter) meter = make_meter (job);
  g_autoptr (GError) error = NULL;
  DynoLearningGoal goal;
  DynoLearning l, again;

  g_assert_true (dyno_learning_goal_parse ("loss=1000", &goal, &error));
  g_assert_true (meter->class->learn (meter, &job->settings, &goal, FAR, NULL, &l, &error));
  g_assert_no_error (error);
  g_assert_true (l.reached && !l.higher_is_better);
  g_assert_cmpuint (l.epochs, ==, 1);
  g_assert_cmpfloat (l.seconds, >, 0);
  g_assert_cmpfloat (l.samples_per_s, >, 0);
  g_assert_true (dyno_learning_goal_parse ("accuracy=1", &goal, &error));
  goal.most_epochs = 2;
  goal.value = 1.5; /* unreachable */
  for (guint i = 0; i < 2; i++)
    {
      g_assert_true (
          meter->class->learn (meter, &job->settings, &goal, FAR, NULL, i ? &again : &l, &error));
      g_assert_no_error (error);
    }
  g_assert_true (!l.reached && l.higher_is_better && l.is_fraction);
  g_assert_cmpuint (l.epochs, ==, 2);
  g_assert_cmpfloat (l.best, ==, again.best);
  goal.value = l.best; /* the goal itself is enough */
  g_assert_true (meter->class->learn (meter, &job->settings, &goal, FAR, NULL, &again, &error));
  g_assert_no_error (error);
  g_assert_true (again.reached && again.best == goal.value);
  /* A run computes these metrics only on request. */
  g_strlcpy (goal.metric, "balanced_accuracy", sizeof goal.metric);
  g_assert_true (meter->class->learn (meter, &job->settings, &goal, FAR, NULL, &l, &error));
  g_assert_no_error (error);
  g_assert_cmpstr (l.name, ==, "balanced_accuracy");
  g_assert_true (l.best >= 0 && l.best <= 1 && l.higher_is_better && l.is_fraction);
  g_strlcpy (goal.metric, "mean_abs_error", sizeof goal.metric);
  g_assert_false (meter->class->learn (meter, &job->settings, &goal, FAR, NULL, &l, &error));
  g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING);
  g_assert_nonnull (strstr (error->message, "accuracy"));
}

static void
test_goal_words (void)
{
  static const char *const wrong[] = { "",           "accuracy",    "accuracy=",   "accuracy=x",
                                       "nothing=1",  "accuracy=90", "loss=1=2",    "=0.5",
                                       "loss=nan",   "loss=inf",    "accuracy=-1", "loss=0.3 ",
                                       "f1_macro=2", "val_r2=0.5" };
  DynoLearningGoal goal;

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_false (dyno_learning_goal_parse (wrong[i], &goal, &error));
      g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING);
    }
  g_assert_true (dyno_learning_goal_parse ("r2=-0.5", &goal, NULL)); /* it has no lower bound */
  g_assert_true (dyno_learning_goal_parse ("accuracy=0.9", &goal, NULL));
  g_assert_cmpstr (goal.metric, ==, "accuracy");
  g_assert_cmpfloat (goal.value, ==, 0.9);
}

/* The device generates its input, so there is no loader. */
static void
test_generated (void)
{
  g_autoptr (DynoJob) job = make_job ("synthetic:16x16x3?classes=4&samples=32");
  g_autoptr (DynoMeter) meter = make_meter (job);
  g_autoptr (GError) error = NULL;
  DynoMeasurement m;

  g_assert_true (meter->generated);
  g_assert_false (meter->class->loader (meter, &job->settings, 0, FAR, NULL, &m, &error));
  g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA);
  g_clear_error (&error);
  g_assert_true (meter->class->gpu (meter, &job->settings, 0, FAR, NULL, &m, &error));
  g_assert_true (meter->class->trial (meter, &job->settings, 0, FAR, NULL, &m, &error));
  g_assert_no_error (error);
  g_assert_true (isnan (m.validation_rate));
}

/* A job with an output folder, output files and a run to resume touches none of them. */
static void
test_writes_nothing (void)
{
  g_autofree char *folder = g_dir_make_tmp ("dyno-meter-XXXXXX", NULL),
                  *out = g_build_filename (folder, "run", NULL);
  g_autoptr (DynoJob) job = make_job (NULL);
  g_autoptr (DynoMeter) meter = NULL;
  g_autoptr (GError) error = NULL;
  DynoMeasurement m;

  job->out_dir = g_strdup (out);
  job->weights_out = g_build_filename (folder, "weights", NULL);
  job->resume = g_build_filename (folder, "earlier", NULL);
  job->max_steps = 1;
  meter = make_meter (job);
  g_assert_true (meter->class->trial (meter, &job->settings, 0, FAR, NULL, &m, &error));
  g_assert_true (meter->class->gpu (meter, &job->settings, 0, FAR, NULL, &m, &error));
  g_assert_no_error (error);
  g_assert_cmpint (g_rmdir (folder), ==, 0); /* the folder is empty */
}

/* Each measurement, successful or not, stores the compiled kernels on disk, since the search may
 * end before the device is freed.  This is the last test, since the folder stays. */
static void
test_keeps_kernels (void)
{
  g_autofree char *folder = g_dir_make_tmp ("dyno-meter-XXXXXX", NULL),
                  *compiled = dyno_cache_dir ("shaders"),
                  *cache = g_build_filename (folder, "cache", NULL),
                  *shaders = g_build_filename (cache, "shaders", NULL), *pipelines = NULL;
  g_autoptr (DynoJob) job = make_job (NULL);
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (g_mkdir (cache, 0755), ==, 0);
  g_assert_cmpint (symlink (compiled, shaders), ==, 0);
  g_assert_true (dyno_state_dir_set (folder, &error));
  pipelines = dyno_cache_dir ("pipelines");
  for (guint i = 0; i < 3; i++)
    {
      g_autoptr (DynoMeter) meter = NULL;
      g_autoptr (GDir) dir = NULL;
      g_autofree char *path = NULL;
      const char *name;
      DynoMeasurement m;
      gboolean good;

      job->settings.lr = i == 2 ? 1e30 : 0.1;
      job->settings.clip_norm = 0;
      meter = make_meter (job);
      good = (i == 0 ? meter->class->gpu : meter->class->trial) (meter, &job->settings, 0, FAR,
                                                                 NULL, &m, i == 2 ? NULL : &error);
      g_assert_no_error (error);
      g_assert_cmpint (good, ==, i < 2);
      dir = g_dir_open (pipelines, 0, &error);
      g_assert_no_error (error);
      name = g_dir_read_name (dir);
      g_assert_nonnull (name);
      path = g_build_filename (pipelines, name, NULL);
      g_assert_cmpint (g_unlink (path), ==, 0);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/meter/other-samples-each-time", test_other_samples_each_time);
  g_test_add_func ("/tune/meter/ceilings-and-trial", test_measures);
  g_test_add_func ("/tune/meter/long-epoch-is-ended-early", test_long_epoch);
  g_test_add_func ("/tune/meter/unreadable-samples-are-counted", test_unreadable);
  g_test_add_func ("/tune/meter/slow-disk-is-not-waited-for-twice", test_slow_disk);
  g_test_add_func ("/tune/meter/cache-is-filled-first", test_cache_is_filled_first);
  g_test_add_func ("/tune/meter/budget-is-kept", test_budget);
  g_test_add_func ("/tune/meter/cancelled-or-late-spoils-nothing", test_ends);
  g_test_add_func ("/tune/meter/divergence-is-a-result", test_diverged);
  g_test_add_func ("/tune/meter/learns-until-the-goal", test_learning);
  g_test_add_func ("/tune/meter/goal-in-words", test_goal_words);
  g_test_add_func ("/tune/meter/generated-input-has-no-loader", test_generated);
  g_test_add_func ("/tune/meter/writes-nothing", test_writes_nothing);
  g_test_add_func ("/tune/meter/keeps-kernels-after-each", test_keeps_kernels);
  return g_test_run ();
}
