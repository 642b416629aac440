/* SPDX-License-Identifier: MIT */
/* Range tests on the device, with a clock that advances with each step. */
#include "lrtest.h"
#include "session.h"
#include <math.h>
#include <string.h>

#define STEPS 40

static DynoDevice *device;
static DynoDataset *dataset;

/* Sets "key=value" pairs; NULL ends them. */
static DynoJob *G_GNUC_NULL_TERMINATED
make_job (const char *first, ...)
{
  DynoJob *job = dyno_job_new ();
  va_list pairs;

  job->data = g_strdup ("builtin:shapes?size=16&samples=200&classes=4");
  g_free (job->model);
  job->model = g_strdup ("mlp");
  job->settings.amp = FALSE;
  job->settings.batch_size = 16;
  job->settings.model_width = 0.25;
  va_start (pairs, first);
  for (const char *pair = first; pair; pair = va_arg (pairs, const char *))
    {
      g_auto (GStrv) parts = g_strsplit (pair, "=", 2);
      g_autoptr (GError) error = NULL;

      g_assert_true (dyno_settings_set (&job->settings, parts[0], parts[1], &error));
      g_assert_no_error (error);
    }
  va_end (pairs);
  return job;
}

/* Counts the steps of all sweeps, each of which advances the clock. */
static gint64 clock_us, step_us;

static gint64
read_clock (void)
{
  return clock_us;
}

typedef struct {
  guint points, steps, plans;
  guint slow_from; /* each step takes 3 s from this one on; 0: none */
  guint cancel_at; /* 0: never */
  GCancellable *cancellable;
} Watched;

static void
on_event (const DynoEvent *event, gpointer data)
{
  Watched *watched = data;

  watched->plans += event->type == DYNO_EVENT_PLAN;
  if (event->type != DYNO_EVENT_STEP)
    return;
  if (++watched->steps == watched->slow_from)
    step_us = 3000000;
  clock_us += step_us;
}

static void
on_point (const DynoLrCurve *curve, const DynoLrPoint *point, gpointer data)
{
  Watched *watched = data;

  g_assert_cmpuint (point->step, ==, ++watched->points);
  if (watched->points == watched->cancel_at)
    g_cancellable_cancel (watched->cancellable);
}

/* step_s: seconds for each step. */
static DynoLrCurve *
run (const DynoJob *job, DynoLrTestParams params, double step_s, Watched *watched)
{
  Watched own = { 0 };
  g_autoptr (GError) error = NULL;
  DynoLrTestWatch watch = { on_event, on_point, watched ? watched : &own };
  DynoLrCurve *curve;

  clock_us = 0;
  step_us = (gint64) (step_s * 1e6);
  params.clock = read_clock;
  curve = dyno_lr_test_run (job, dataset, device, &params, &watch,
                            watched ? watched->cancellable : NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (curve->points->len, ==,
                    ((Watched *) watch.data)->points); /* each point was reported once */
  return curve;
}

static const DynoLrPoint *
get_point (const DynoLrCurve *curve, guint i)
{
  return &g_array_index (curve->points, DynoLrPoint, i);
}

/* The rates are the requested ones, whatever the job's schedule, until the loss diverges. */
static void
test_diverges (void)
{
  g_autoptr (DynoJob) job = make_job ("lr=7", "warmup_epochs=1", "schedule=step", NULL);
  g_autoptr (DynoLrCurve) curve =
      run (job, (DynoLrTestParams){ .from = 1e-5, .to = 100, .steps = STEPS }, 0, NULL);

  g_assert_cmpint (curve->end, ==, DYNO_LR_END_DIVERGED);
  g_assert_cmpuint (curve->points->len, <, STEPS);
  for (guint i = 0; i < curve->points->len; i++)
    g_assert_cmpfloat_with_epsilon (
        get_point (curve, i)->lr / (1e-5 * pow (1e7, (double) i / (STEPS - 1))), 1, 1e-9);
  g_assert_cmpfloat (job->settings.lr, ==, 7);
}

/* Results are bit-identical for any workers and prefetch, and differ for another seed. */
static void
test_workers_change_no_bit (void)
{
  g_autoptr (DynoJob) none = make_job ("workers=0", NULL),
                      three = make_job ("workers=3", "prefetch=7", NULL),
                      other = make_job ("workers=3", "seed=5", NULL);
  const DynoLrTestParams params = { .from = 1e-4, .to = 0.1, .steps = 15 };
  g_autoptr (DynoLrCurve) a = run (none, params, 0, NULL), b = run (three, params, 0, NULL),
                          c = run (other, params, 0, NULL);

  g_assert_cmpuint (a->points->len, ==, 15);
  g_assert_cmpuint (b->points->len, ==, 15);
  for (guint i = 0; i < 15; i++)
    {
      g_assert_cmpfloat (get_point (a, i)->loss, ==, get_point (b, i)->loss);
      g_assert_cmpfloat (get_point (a, i)->smoothed, ==, get_point (b, i)->smoothed);
    }
  g_assert_cmpfloat (get_point (a, 0)->loss, !=, get_point (c, 0)->loss);
}

/* Steps of two seconds: after four steps for the estimate, 85 % of the remaining 52 s are enough
 * for 22 steps. */
static void
test_steps_fit_into_the_time (void)
{
  g_autoptr (DynoJob) job = make_job ("workers=0", NULL);
  const DynoLrTestParams params = { .from = 1e-4, .to = 0.01, .seconds = 60 };
  Watched watched = { 0 }, slow = { 0 }, slower = { .slow_from = 5 };
  g_autoptr (DynoLrCurve) curve = run (job, params, 2, &watched), cut = NULL, late = NULL;

  g_assert_cmpuint (curve->steps, ==, 22);
  g_assert_true (curve->fewer);
  g_assert_cmpint (curve->end, ==, DYNO_LR_END_WHOLE);
  g_assert_cmpuint (curve->points->len, ==, 22);
  g_assert_cmpfloat (get_point (curve, 0)->lr, ==, 1e-4);
  g_assert_cmpfloat (get_point (curve, 21)->lr, ==, 0.01);
  g_assert_cmpuint (watched.steps, ==, 26);
  g_assert_cmpfloat (curve->seconds, ==, 52);

  /* Fewer than twenty steps show nothing, so they run until the time ends. */
  cut = run (job, params, 4, &slow);
  g_assert_cmpuint (cut->steps, ==, 20);
  g_assert_cmpint (cut->end, ==, DYNO_LR_END_TIME);
  g_assert_cmpuint (cut->points->len, ==, 11);

  /* There is no third sweep either if the second one is slower than expected. */
  late = run (job, params, 2, &slower);
  g_assert_cmpuint (late->steps, ==, 22);
  g_assert_cmpint (late->end, ==, DYNO_LR_END_TIME);
  g_assert_cmpuint (late->points->len, ==, 18);
}

/* There is time for all steps, so a second sweep is not needed. */
static void
test_enough_time_needs_one_sweep (void)
{
  g_autoptr (DynoJob) job = make_job ("workers=0", NULL);
  Watched watched = { 0 };
  g_autoptr (DynoLrCurve) curve =
      run (job, (DynoLrTestParams){ .from = 1e-4, .to = 0.01 }, 0.1, &watched);

  g_assert_cmpuint (curve->points->len, ==, DYNO_LR_TEST_STEPS);
  g_assert_cmpuint (watched.steps, ==, DYNO_LR_TEST_STEPS);
  g_assert_false (curve->fewer);
}

/* A requested number of steps is kept, and the time limit ends the test. */
static void
test_time_ends_a_test (void)
{
  g_autoptr (DynoJob) job = make_job ("workers=0", NULL);
  g_autoptr (DynoLrCurve) curve = run (
      job, (DynoLrTestParams){ .from = 1e-4, .to = 0.01, .steps = STEPS, .seconds = 60 }, 2, NULL);

  g_assert_cmpuint (curve->steps, ==, STEPS);
  g_assert_cmpint (curve->end, ==, DYNO_LR_END_TIME);
  g_assert_cmpuint (curve->points->len, ==, 30);
}

static void
test_cancelled_keeps_its_points (void)
{
  g_autoptr (DynoJob) job = make_job ("workers=0", NULL);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  Watched watched = { .cancel_at = 12, .cancellable = cancellable }, again = watched;
  const DynoLrTestParams params = { .from = 1e-4, .to = 0.01 };
  g_autoptr (DynoLrCurve) curve = run (job, params, 0, &watched), none = NULL;

  g_assert_cmpint (curve->end, ==, DYNO_LR_END_STOPPED);
  g_assert_cmpuint (curve->points->len, ==, 12);
  none = run (job, params, 0, &again); /* cancelled before it begins */
  g_assert_cmpint (none->end, ==, DYNO_LR_END_STOPPED);
  g_assert_cmpuint (none->points->len, ==, 0);
}

static void
test_refuses_what_cannot_be_tested (void)
{
  static const struct {
    DynoLrTestParams params;
    const char *word;
  } cases[] = {
    { { .from = 1, .to = 1 }, "the second is above the first" },
    { { .from = 20 }, "the second is above the first" },
    { { .from = -1 }, "both are between" },
    { { .to = 1000 }, "both are between 1e-20 and 100" },
    { { .from = 1e-30 }, "both are between" },
    { { .steps = 9 }, "it is 10 to 10000" },
    { { .steps = 10001 }, "it is 10 to 10000" },
    { { .seconds = -1 }, "it is above 0" },
  };
  g_autoptr (DynoJob) job = make_job ("workers=0", NULL);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (dyno_lr_test_run (job, dataset, device, &cases[i].params, NULL, NULL, &error));
      g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING);
      g_assert_nonnull (strstr (error->message, cases[i].word));
    }
  g_assert_true (dyno_lr_test_check (&(DynoLrTestParams){ 0 }, NULL));
}

/* An error of the training is an error of the test. */
static void
test_failure_is_an_error (void)
{
  g_autoptr (DynoJob) job = make_job ("vram_budget=4096", "memory.shrink=false", NULL);
  g_autoptr (GError) error = NULL;

  g_assert_null (dyno_lr_test_run (job, dataset, device, NULL, NULL, NULL, &error));
  g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DOES_NOT_FIT);
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  int failed;

  g_test_init (&argc, &argv, NULL);
  device = dyno_device_open (&(DynoDeviceParams){ .index = -1 }, &error);
  g_assert_no_error (error);
  dataset = dyno_dataset_open ("builtin:shapes?size=16&samples=200&classes=4", NULL, NULL, NULL,
                               NULL, &error);
  g_assert_no_error (error);
  g_test_add_func ("/tune/lrtest/diverges", test_diverges);
  g_test_add_func ("/tune/lrtest/workers-change-no-bit", test_workers_change_no_bit);
  g_test_add_func ("/tune/lrtest/steps-fit-into-the-time", test_steps_fit_into_the_time);
  g_test_add_func ("/tune/lrtest/enough-time-needs-one-sweep", test_enough_time_needs_one_sweep);
  g_test_add_func ("/tune/lrtest/time-ends-a-test", test_time_ends_a_test);
  g_test_add_func ("/tune/lrtest/cancelled-keeps-its-points", test_cancelled_keeps_its_points);
  g_test_add_func ("/tune/lrtest/refuses-what-cannot-be-tested",
                   test_refuses_what_cannot_be_tested);
  g_test_add_func ("/tune/lrtest/failure-is-an-error", test_failure_is_an_error);
  failed = g_test_run ();
  dyno_dataset_unref (dataset);
  dyno_device_unref (device);
  return failed;
}
