/* SPDX-License-Identifier: MIT */
/* The view of a run, which the window, dynoctl and the curves show, tested without them. */
#include "losstrend.h"
#include "runfacts.h"
#include "runview.h"
#include <math.h>
#include <string.h>

static const DynoMetricTable table = { .n = 2,
                                       .infos = { { .name = "accuracy",
                                                    .title = "Accuracy",
                                                    .unit = "",
                                                    .higher_is_better = TRUE,
                                                    .format = DYNO_METRIC_FRACTION },
                                                  { .name = "error",
                                                    .title = "Error",
                                                    .unit = "degrees",
                                                    .format = DYNO_METRIC_NUMBER } } };

static DynoRunView *
new_view (gint64 epochs)
{
  DynoRunView *view = dyno_run_view_new (TRUE);
  g_autoptr (DynoJob) job = dyno_job_new ();

  job->settings.epochs = epochs;
  dyno_run_view_begin (view, job);
  return view;
}

static void
take (DynoRunView *view, DynoEventType type, const DynoEvent *content)
{
  DynoEvent event = *content;

  event.type = type;
  dyno_run_view_take_event (view, &event);
}

static void
take_plan (DynoRunView *view, guint64 total_bytes, guint64 limit_bytes, guint64 steps_per_epoch)
{
  DynoEvent event = { .plan = { .device = (char *) "card", .n_train = 10 } };

  event.plan.plan.plan.total_bytes = total_bytes;
  event.plan.plan.limit_bytes = limit_bytes;
  event.plan.plan.steps_per_epoch = steps_per_epoch;
  take (view, DYNO_EVENT_PLAN, &event);
}

static void
take_state (DynoRunView *view, DynoSessionState state)
{
  take (view, DYNO_EVENT_STATE, &(DynoEvent){ .state = state });
}

static void
take_step (DynoRunView *view, guint64 step, double seconds)
{
  DynoStepMetrics row = { .step = step, .loss = 1, .seconds = seconds, .vram_bytes = 3 << 20 };

  dyno_run_view_take_step (view, &row);
}

static double
last_of (const DynoSeries *series)
{
  guint64 n = dyno_series_get_length (series);
  double x, y;

  g_assert_cmpuint (n, >, 0);
  dyno_series_get (series, n - 1, &x, &y);
  return y;
}

/* --- time left -------------------------------------------------------------------------------- */

/* The first step, which includes one-time work, does not count; nor do the steps of earlier
 * parts. */
static void
test_eta (void)
{
  g_autoptr (DynoRunView) view = new_view (3);
  const DynoRunStatus *s = dyno_run_view_get_status (view);

  g_assert_cmpuint (s->total_steps, ==, 0);
  take_plan (view, 1 << 20, 0, 100);
  g_assert_cmpuint (s->total_steps, ==, 300);
  g_assert_cmpfloat (s->eta_s, <, 0);
  take_step (view, 101, 1000);
  g_assert_cmpfloat (s->eta_s, <, 0);
  take_step (view, 102, 1000.5);
  take_step (view, 103, 1001);
  g_assert_cmpfloat_with_epsilon (s->eta_s, 197 * 0.5, 1e-9);
  g_assert_cmpfloat_with_epsilon (s->fraction, 103 / 300.0, 1e-9);
}

/* The last step of an epoch has fewer samples than a whole one; the next run begins anew. */
static void
test_samples_of_a_whole_step (void)
{
  g_autoptr (DynoRunView) view = new_view (3);
  const DynoRunStatus *s = dyno_run_view_get_status (view);
  g_autoptr (DynoJob) job = dyno_job_new ();
  const guint64 samples[] = { 32, 32, 5 };

  for (guint run = 1; run <= 2; run++)
    {
      for (guint i = 0; i < 3; i++)
        {
          DynoStepMetrics row = { .step = i + 1, .loss = 1, .samples = samples[i] / run };
          dyno_run_view_take_step (view, &row);
          g_assert_cmpuint (s->step_samples, ==, 32 / run);
        }
      dyno_run_view_begin (view, job);
    }
}

/* A run that has taken its requested steps is not complete if its epochs have more. */
static void
test_asked_steps (void)
{
  DynoRunFacts facts = { .steps_per_epoch = 10, .max_steps = 7 };

  g_assert_cmpuint (dyno_run_facts_find_whole (&facts, 3, 7), ==, 30);
  g_assert_cmpuint (dyno_run_facts_find_whole (&facts, 3, 29), ==, 30);
  g_assert_cmpuint (dyno_run_facts_find_whole (&facts, 3, 30), ==, 0);
  /* The run was stopped before. */
  g_assert_cmpuint (dyno_run_facts_find_whole (&facts, 3, 6), ==, 0);
  facts.begin_step = 4; /* larger steps, as long as two epochs of the present steps */
  facts.begin_place = 20;
  g_assert_cmpuint (dyno_run_facts_find_whole (&facts, 3, 7), ==, 14);
  facts.max_steps = 0; /* the epochs decide, since the run may have stopped early */
  g_assert_cmpuint (dyno_run_facts_find_whole (&facts, 3, 7), ==, 0);
}

/* A run that is resumed with steps of another size counts updates, those before the resume and
 * those to come. */
static void
test_resumed_total (void)
{
  g_autoptr (DynoRunView) view = new_view (3);
  g_autoptr (DynoJob) job = dyno_job_new ();
  const DynoRunStatus *s = dyno_run_view_get_status (view);
  guint64 begin = (guint64) g_test_rand_int_range (41, 1000);
  DynoEvent event = { .facts = { .steps_per_epoch = 10, .begin_step = begin, .begin_place = 14 } };

  take_plan (view, 1 << 20, 0, 10);
  take (view, DYNO_EVENT_FACTS, &event);
  g_assert_cmpuint (s->total_steps, ==, begin + 30 - 14);
  take_step (view, begin + 1, 1000);
  take_step (view, begin + 2, 1001);
  g_assert_cmpfloat_with_epsilon (s->eta_s, 14, 1e-9);
  take_step (view, begin + 16, 1015);
  g_assert_cmpfloat (s->fraction, ==, 1);
  job->settings.epochs = 5;
  dyno_run_view_set_job (view, job);
  g_assert_cmpuint (s->total_steps, ==, begin + 50 - 14);
  event.facts.begin_place = 99; /* more than the epochs have */
  take (view, DYNO_EVENT_FACTS, &event);
  g_assert_cmpuint (s->total_steps, ==, begin);
  /* For a requested number of steps: the epochs that contain them. */
  event.facts.begin_place = 14;
  take (view, DYNO_EVENT_FACTS, &event);
  for (guint more = 0; more < 20; more++)
    {
      job->max_steps = (gint64) begin + more;
      dyno_run_view_set_job (view, job);
      g_assert_cmpuint (s->total_steps, ==, begin + more);
      g_assert_cmpuint (s->total_epochs, ==, more <= 6 ? 2 : more <= 16 ? 3 : 4);
    }
}

static void
test_live_epochs (void)
{
  g_autoptr (DynoRunView) view = new_view (3);
  g_autoptr (DynoJob) job = dyno_job_new ();
  const DynoRunStatus *s = dyno_run_view_get_status (view);

  take_plan (view, 1 << 20, 0, 100);
  job->settings.epochs = 5;
  dyno_run_view_set_job (view, job);
  g_assert_cmpuint (s->total_steps, ==, 500);
  g_assert_cmpuint (s->total_epochs, ==, 5);
  job->max_steps = 7;
  dyno_run_view_begin (view, job);
  g_assert_cmpuint (s->total_steps, ==, 7);
}

/* A requested number of steps ends the run, before or after the end of its epochs. */
static void
test_steps_make_epochs (void)
{
  static const struct {
    gint64 max_steps;
    guint64 epochs;
  } cases[] = { { 1, 1 }, { 100, 1 }, { 101, 2 }, { 3901, 40 }, { 4000, 40 }, { 0, 3 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (DynoRunView) view = dyno_run_view_new (FALSE);
      g_autoptr (DynoJob) job = dyno_job_new ();
      const DynoRunStatus *s = dyno_run_view_get_status (view);

      job->settings.epochs = 3;
      job->max_steps = cases[i].max_steps;
      dyno_run_view_begin (view, job);
      g_assert_cmpuint (s->total_epochs, ==, job->max_steps > 0 ? 0 : 3);
      take_plan (view, 1 << 20, 0, 100);
      g_assert_cmpuint (s->total_epochs, ==, cases[i].epochs);
      g_assert_cmpuint (s->total_steps, ==, job->max_steps > 0 ? (guint64) job->max_steps : 300);
    }
}

/* --- metrics ---------------------------------------------------------------------------------- */

static void
test_best (void)
{
  const double none = (double) NAN;
  const double accuracy[] = { 0.5, none, 0.75, 0.25 }, error[] = { 4, none, 6, 2 };
  g_autoptr (DynoRunView) view = new_view (4);
  const DynoRunStatus *s = dyno_run_view_get_status (view);
  const DynoRunSeries *series = dyno_run_view_get_series (view);

  g_assert_true (isnan (s->best[0]) && isnan (s->best[1]));
  take (view, DYNO_EVENT_METRICS, &(DynoEvent){ .metrics = table });
  for (guint i = 0; i < 4; i++)
    {
      DynoEpochMetrics epoch = { .epoch = i + 1,
                                 .step = 10 * (i + 1),
                                 .train_metrics = { 0.125, 8 },
                                 .val_loss = i == 1 ? none : 1,
                                 .val_metrics = { accuracy[i], error[i] } };
      dyno_run_view_take_epoch (view, &epoch);
    }
  g_assert_cmpfloat (s->best[0], ==, 0.75);
  g_assert_cmpfloat (s->best[1], ==, 2);
  g_assert_cmpuint (s->n_epochs, ==, 4);
  /* Fractions are shown in percent, other numbers unchanged; there is no point without a
   * validation. */
  g_assert_cmpuint (dyno_series_get_length (series->val_loss), ==, 3);
  g_assert_cmpuint (dyno_series_get_length (series->val[0]), ==, 3);
  g_assert_cmpuint (dyno_series_get_length (series->train[0]), ==, 4);
  g_assert_cmpfloat (last_of (series->train[0]), ==, 12.5);
  g_assert_cmpfloat (last_of (series->val[0]), ==, 25);
  g_assert_cmpfloat (last_of (series->val[1]), ==, 2);
  g_assert_cmpstr (dyno_series_get_unit (series->val[0]), ==, "%");
  g_assert_cmpstr (dyno_series_get_unit (series->val[1]), ==, "degrees");
  /* Steps have metrics, too. */
  dyno_run_view_take_step (view, &(DynoStepMetrics){ .step = 50, .metrics = { 0.5, 3 } });
  g_assert_cmpfloat (last_of (series->step[0]), ==, 50);
  g_assert_cmpfloat (last_of (series->step[1]), ==, 3);
}

/* A metric of only the validation makes no points for the training. */
static void
test_of_validation (void)
{
  g_autoptr (DynoRunView) view = new_view (1);
  const DynoRunSeries *series = dyno_run_view_get_series (view);
  DynoMetricTable with = table;
  DynoEpochMetrics epoch = { .epoch = 1, .step = 10, .val_loss = 1, .val_metrics = { 0, 0, 0.5 } };

  with.infos[with.n++] = dyno_class_validation_metrics[0];
  take (view, DYNO_EVENT_METRICS, &(DynoEvent){ .metrics = with });
  dyno_run_view_take_epoch (view, &epoch);
  dyno_run_view_take_step (view, &(DynoStepMetrics){ .step = 11 });
  g_assert_cmpuint (with.n, ==, 3);
  g_assert_cmpuint (dyno_series_get_length (series->train[2]), ==, 0);
  g_assert_cmpuint (dyno_series_get_length (series->step[2]), ==, 0);
  g_assert_cmpuint (dyno_series_get_length (series->step[1]), ==, 1);
  g_assert_cmpfloat (last_of (series->val[2]), ==, 50);
  g_assert_cmpfloat (dyno_run_view_get_status (view)->best[2], ==, 0.5);
}

static void
test_skipped (void)
{
  g_autoptr (DynoRunView) view = new_view (1);
  const DynoRunSeries *series = dyno_run_view_get_series (view);
  DynoStepMetrics row = { .step = 1, .loss = 5, .skipped = TRUE };

  dyno_run_view_take_step (view, &row);
  /* The loss is shown: only the update was skipped. */
  g_assert_cmpfloat (last_of (series->loss), ==, 5);
  row = (DynoStepMetrics){ .step = 2, .loss = INFINITY, .skipped = TRUE };
  dyno_run_view_take_step (view, &row);
  g_assert_true (isnan (last_of (series->loss)));
  g_assert_true (isnan (last_of (series->throughput))); /* unknown so far */
  g_assert_cmpuint (dyno_series_get_length (series->vram_all), ==, 0);
}

/* --- x axes and sensors ------------------------------------------------------------------------ */

static double
get_y (const DynoSeries *series, guint64 i)
{
  double x, y;

  dyno_series_get (series, i, &x, &y);
  return y;
}

static void
test_steps_have_a_place_in_epochs_and_time (void)
{
  g_autoptr (DynoRunView) view = new_view (3);
  const DynoRunSeries *series = dyno_run_view_get_series (view);

  take_plan (view, 1, 0, 4);
  for (guint64 step = 1; step <= 4; step++)
    dyno_run_view_take_step (
        view,
        &(DynoStepMetrics){ .step = step, .epoch = 1, .seconds = (double) step * 2, .lr = 0.5 });
  g_assert_cmpfloat (get_y (series->epochs, 0), ==, 0.25);
  g_assert_cmpfloat (last_of (series->epochs), ==, 1);
  g_assert_cmpfloat (last_of (series->seconds), ==, 8);
  g_assert_cmpfloat (last_of (series->lr), ==, 0.5);
  g_assert_cmpuint (dyno_series_get_length (series->loss_scale), ==, 0);
  dyno_run_view_take_epoch (view, &(DynoEpochMetrics){ .epoch = 1, .step = 4, .val_loss = NAN });
  dyno_run_view_take_step (view, &(DynoStepMetrics){ .step = 6, .epoch = 2, .loss_scale = 1024 });
  g_assert_cmpfloat (last_of (series->epochs), ==, 1.5);
  g_assert_cmpfloat (last_of (series->loss_scale), ==, 1024);
}

static void
test_without_a_plan_whole_epochs_are_known (void)
{
  g_autoptr (DynoRunView) view = new_view (3);
  const DynoRunSeries *series = dyno_run_view_get_series (view);

  dyno_run_view_take_step (view, &(DynoStepMetrics){ .step = 7, .epoch = 1 });
  g_assert_cmpuint (dyno_series_get_length (series->epochs), ==, 0);
  dyno_run_view_take_epoch (view, &(DynoEpochMetrics){ .epoch = 1, .step = 7, .val_loss = NAN });
  g_assert_cmpfloat (last_of (series->epochs), ==, 1);
}

static void
test_sensors_are_series (void)
{
  g_autoptr (DynoRunView) view = new_view (1);
  const DynoRunSeries *series = dyno_run_view_get_series (view);
  g_autofree DynoSensorReading *reading = g_new (DynoSensorReading, 1);
  const DynoEvent event = { .sensors = reading };

  dyno_sensor_reading_init (reading);
  reading->values[DYNO_SENSOR_GPU_BUSY] = 93;
  take (view, DYNO_EVENT_SENSORS, &event);
  g_assert_cmpuint (dyno_series_get_length (series->gpu_busy), ==, 0); /* before the first step */
  dyno_run_view_take_step (view, &(DynoStepMetrics){ .step = 5, .step_ms = 1e-3 });
  take (view, DYNO_EVENT_SENSORS, &event);
  g_assert_cmpfloat (last_of (series->gpu_busy), ==, 93);
  g_assert_cmpuint (dyno_series_get_length (series->gpu_power), ==, 0); /* not available */
}

/* --- units and limits ------------------------------------------------------------------------- */

static void
test_memory (void)
{
  const guint64 mib = 1 << 20, gib = 1 << 30;
  const struct {
    guint64 need, limit;
    const char *unit;
    double shown;
  } cases[] = { { 100 * mib, 200 * mib, "MiB", 200 },
                { 100 * mib, 2 * gib, "MiB", (double) NAN }, /* far above */
                { 3 * gib, 12 * gib, "GiB", 12 },
                { 3 * gib, 0, "GiB", (double) NAN } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (DynoRunView) view = new_view (1);
      const DynoRunStatus *s = dyno_run_view_get_status (view);

      take_plan (view, cases[i].need, cases[i].limit, 10);
      g_assert_cmpstr (s->memory_unit_name, ==, cases[i].unit);
      g_assert_cmpstr (dyno_series_get_unit (dyno_run_view_get_series (view)->vram), ==,
                       cases[i].unit);
      g_assert_true (s->memory_limit == cases[i].shown
                     || (isnan (s->memory_limit) && isnan (cases[i].shown)));
    }
}

/* The curves from a run's folder have only rows, without a plan. */
static void
test_memory_without_plan (void)
{
  g_autoptr (DynoRunView) view = new_view (1);
  const DynoRunStatus *s = dyno_run_view_get_status (view);

  dyno_run_view_set_memory_limit (view, 12 << 20);
  take_step (view, 1, 1);
  g_assert_cmpstr (s->memory_unit_name, ==, "MiB");
  g_assert_cmpfloat (s->memory_limit, ==, 12);
  g_assert_cmpfloat (last_of (dyno_run_view_get_series (view)->vram), ==, 3);
}

/* --- states ----------------------------------------------------------------------------------- */

static void
test_preparation (void)
{
  g_autoptr (DynoRunView) view = new_view (1);
  const DynoRunStatus *s = dyno_run_view_get_status (view);
  const char *const order[] = { "scan", "compile", "autotune", "weights" };
  double before = 0;

  take_state (view, DYNO_SESSION_PREPARING);
  for (guint i = 0; i < G_N_ELEMENTS (order); i++)
    {
      DynoEvent event = { .progress = { .what = (char *) order[i], .done = 1, .total = 2 } };

      take (view, DYNO_EVENT_PROGRESS, &event);
      g_assert_cmpstr (s->progress, ==, order[i]);
      g_assert_cmpfloat (s->progress_fraction, >=, before);
      before = s->progress_fraction;
    }
  take_state (view, DYNO_SESSION_RUNNING);
  g_assert_cmpstr (s->progress, ==, "first-step");
  take_step (view, 1, 1);
  g_assert_null (s->progress);
  g_assert_false (dyno_run_view_tick (view));

  /* A second preparation, after the device was lost, begins at zero. */
  g_assert_cmpfloat (s->progress_fraction, ==, 0);
  take_state (view, DYNO_SESSION_PREPARING);
  take (view, DYNO_EVENT_PROGRESS,
        &(DynoEvent){ .progress = { .what = (char *) "scan", .done = 1, .total = 2 } });
  g_assert_cmpfloat (s->progress_fraction, >, 0);
  g_assert_cmpfloat (s->progress_fraction, <, 0.1);
}

/* The device is released and taken again, twice. */
static void
test_released (void)
{
  g_autoptr (DynoRunView) view = new_view (1);
  const DynoRunStatus *s = dyno_run_view_get_status (view);

  for (guint i = 0; i < 2; i++)
    {
      take_state (view, DYNO_SESSION_RUNNING);
      g_assert_false (s->released);
      take_state (view, DYNO_SESSION_PAUSED);
      g_assert_false (s->released);
      take (view, DYNO_EVENT_RELEASED, &(DynoEvent){ 0 });
      g_assert_true (s->released);
      g_assert_cmpint (s->state, ==, DYNO_SESSION_PAUSED);
    }
}

static void
test_stopping (void)
{
  g_autoptr (DynoRunView) view = new_view (1);
  const DynoRunStatus *s = dyno_run_view_get_status (view);
  DynoEvent done = { .done = { .state = DYNO_SESSION_STOPPED, .seconds = 4.5 } };

  take_state (view, DYNO_SESSION_RUNNING);
  dyno_run_view_set_stopping (view);
  take_state (view, DYNO_SESSION_PAUSED); /* a late event */
  g_assert_cmpint (s->state, ==, DYNO_SESSION_STOPPING);
  take (view, DYNO_EVENT_DONE, &done);
  g_assert_cmpint (s->state, ==, DYNO_SESSION_STOPPED);
  g_assert_cmpfloat (s->seconds, ==, 4.5);
}

/* --- the log ---------------------------------------------------------------------------------- */

/* The log in parts, as the window reads it, gives the same as row by row. */
static void
test_log (void)
{
  g_autoptr (DynoRunView) whole = new_view (1), parts = new_view (1);
  g_autoptr (DynoMetrics) log = dyno_metrics_new ();
  const DynoRunSeries *a = dyno_run_view_get_series (whole), *b = dyno_run_view_get_series (parts);
  DynoEpochMetrics epoch = { .epoch = 1, .step = 1000, .val_loss = 2, .val_metrics = { 0.5, 3 } };
  guint calls = 0;

  dyno_metrics_set_table (log, &table);
  take (whole, DYNO_EVENT_METRICS, &(DynoEvent){ .metrics = table });
  for (guint64 i = 1; i <= 1000; i++)
    {
      DynoStepMetrics row = { .step = i, .loss = 1.0 / (double) i, .seconds = (double) i };

      dyno_metrics_add_step (log, &row);
      dyno_run_view_take_step (whole, &row);
    }
  dyno_metrics_add_epoch (log, &epoch);
  dyno_run_view_take_epoch (whole, &epoch);
  while (dyno_run_view_take_log (parts, log, 300))
    calls++;
  g_assert_cmpuint (calls, ==, 2);
  g_assert_cmpuint (dyno_series_get_length (b->loss), ==, 1000);
  g_assert_cmpfloat (last_of (a->loss), ==, last_of (b->loss));
  g_assert_cmpfloat (last_of (a->val[1]), ==, last_of (b->val[1]));
  g_assert_cmpuint (dyno_run_view_get_status (parts)->n_epochs, ==, 1);
}

/* Plots keep references to the series. */
static void
test_next_run (void)
{
  g_autoptr (DynoRunView) view = new_view (1);
  g_autoptr (DynoJob) job = dyno_job_new ();
  const DynoRunSeries *series = dyno_run_view_get_series (view);
  const DynoSeries *loss = series->loss;

  take_step (view, 1, 1);
  take_step (view, 2, 2);
  g_assert_cmpuint (dyno_run_view_get_stretches (view)->n_steps, ==, 2);
  dyno_run_view_begin (view, job);
  g_assert_cmpuint (dyno_run_view_get_stretches (view)->n_steps, ==, 0);
  g_assert_true (series->loss == loss);
  g_assert_cmpuint (dyno_series_get_length (loss), ==, 0);
  g_assert_cmpuint (dyno_run_view_get_status (view)->n_steps, ==, 0);
  g_assert_cmpint (dyno_run_view_get_status (view)->state, ==, DYNO_SESSION_PREPARING);
}

static void
test_no_series (void)
{
  g_autoptr (DynoRunView) view = dyno_run_view_new (FALSE);
  g_autoptr (DynoJob) job = dyno_job_new ();

  dyno_run_view_begin (view, job);
  take (view, DYNO_EVENT_METRICS, &(DynoEvent){ .metrics = table });
  take_plan (view, 1 << 20, 0, 10);
  take_step (view, 1, 1);
  g_assert_null (dyno_run_view_get_series (view)->loss);
  g_assert_cmpuint (dyno_run_view_get_status (view)->step.step, ==, 1);
}

/* The trend follows from recent noisy losses, and not from the whole run. */
static void
test_loss_trend (void)
{
  static const struct {
    double begin, middle, end;
    DynoLossTrend trend;
  } cases[] = { { 2, 1.5, 1, DYNO_LOSS_FALLING },
                { 4, 1, 1, DYNO_LOSS_STEADY },
                { 4, 1, 1.5, DYNO_LOSS_RISING },
                { 2, 1, (double) NAN, DYNO_LOSS_UNKNOWN } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree DynoStretches *log = g_new0 (DynoStretches, 1);

      dyno_stretches_init (log);
      g_assert_cmpint (dyno_stretches_judge_loss (log), ==, DYNO_LOSS_UNKNOWN);
      for (guint k = 0; k < 1000; k++)
        {
          double from = k < 500 ? cases[i].begin : cases[i].middle,
                 to = k < 500 ? cases[i].middle : cases[i].end;
          DynoStepMetrics step = { .step = k + 1, .step_ms = 10 };

          step.loss = from + (to - from) * (k % 500) / 500 + (k % 2 ? 0.2 : -0.2);
          dyno_stretches_add_step (log, &step);
        }
      g_assert_cmpint (dyno_stretches_judge_loss (log), ==, cases[i].trend);
    }
}

/* Non-finite losses: one of them in the last quarter prevents a trend, and earlier ones do not
 * count.  Checked with a NaN and later with an infinite loss. */
static void
test_loss_trend_without_numbers (void)
{
  g_autofree DynoStretches *log = g_new0 (DynoStretches, 1);

  dyno_stretches_init (log);
  for (guint k = 0; k < 4000; k++)
    {
      DynoStepMetrics step = { .step = k + 1, .step_ms = 10, .loss = 4 - 0.0005 * k };

      if (k == 900 || k == 3500)
        step.loss = k == 900 ? (double) NAN : (double) INFINITY;
      dyno_stretches_add_step (log, &step);
      if (k == 899 || k == 1900 || k == 2999 || k == 3999)
        g_assert_cmpint (dyno_stretches_judge_loss (log), ==,
                         k == 3999 ? DYNO_LOSS_UNKNOWN : DYNO_LOSS_FALLING);
      if (k == 1000)
        g_assert_cmpint (dyno_stretches_judge_loss (log), ==, DYNO_LOSS_UNKNOWN);
    }
  for (guint k = 4000; k < 6000; k++)
    {
      DynoStepMetrics step = { .step = k + 1, .step_ms = 10, .loss = 2 + 0.0005 * (k - 4000) };

      dyno_stretches_add_step (log, &step);
    }
  g_assert_cmpint (dyno_stretches_judge_loss (log), ==, DYNO_LOSS_RISING);
}

/* Samples divided by the time of their steps, without the first step of a part, which has no rate,
 * and without the gap at the end of an epoch; at the end of the run the rate is that of the
 * session, earlier parts included. */
static void
test_rate_of_the_run (void)
{
  g_autoptr (DynoRunView) view = new_view (2);
  const DynoRunStatus *s = dyno_run_view_get_status (view);
  DynoEvent event = { .facts = { .state = DYNO_SESSION_RUNNING, .rate = { 4000, 8 } } };
  double seconds = 0;

  g_assert_true (isnan (s->run_rate));
  take (view, DYNO_EVENT_FACTS, &event);
  g_assert_true (isnan (s->run_rate));
  for (guint i = 1; i <= 5; i++)
    {
      DynoStepMetrics row = { .step = i,
                              .samples = 50,
                              .step_ms = i == 1 ? 9000 : 100 * i,
                              .samples_per_s = i == 1 ? 0 : 77 };

      seconds += row.step_ms / 1e3 + (i == 3 ? 20 : 0);
      row.seconds = seconds;
      dyno_run_view_take_step (view, &row);
    }
  g_assert_cmpfloat_with_epsilon (s->run_rate, 200 / 1.4, 1e-9);
  event.facts.state = DYNO_SESSION_STOPPED;
  event.facts.rate = (DynoRunRate){ 4200, 9.4 };
  take (view, DYNO_EVENT_FACTS, &event);
  g_assert_cmpfloat (s->run_rate, ==, 4200 / 9.4);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/record/runview/rate-of-the-run", test_rate_of_the_run);
  g_test_add_func ("/record/runview/the-loss-goes-as-it-went-lately", test_loss_trend);
  g_test_add_func ("/record/runview/losses-that-are-no-numbers-lately",
                   test_loss_trend_without_numbers);
  g_test_add_func ("/record/runview/samples-of-a-whole-step", test_samples_of_a_whole_step);
  g_test_add_func ("/record/runview/time-left-without-the-first-step", test_eta);
  g_test_add_func ("/record/runview/steps-asked-for-are-not-the-whole", test_asked_steps);
  g_test_add_func ("/record/runview/steps-of-a-resumed-run", test_resumed_total);
  g_test_add_func ("/record/runview/total-follows-the-job", test_live_epochs);
  g_test_add_func ("/record/runview/steps-make-epochs", test_steps_make_epochs);
  g_test_add_func ("/record/runview/best-follows-the-table", test_best);
  g_test_add_func ("/record/runview/steps-have-a-place-in-epochs-and-time",
                   test_steps_have_a_place_in_epochs_and_time);
  g_test_add_func ("/record/runview/without-a-plan-whole-epochs-are-known",
                   test_without_a_plan_whole_epochs_are_known);
  g_test_add_func ("/record/runview/sensors-are-series", test_sensors_are_series);
  g_test_add_func ("/record/runview/metric-of-the-validation", test_of_validation);
  g_test_add_func ("/record/runview/skipped-step-has-its-loss", test_skipped);
  g_test_add_func ("/record/runview/memory-unit-and-limit", test_memory);
  g_test_add_func ("/record/runview/memory-without-a-plan", test_memory_without_plan);
  g_test_add_func ("/record/runview/preparation-never-falls-back", test_preparation);
  g_test_add_func ("/record/runview/released-and-taken-again", test_released);
  g_test_add_func ("/record/runview/stop-stays-visible", test_stopping);
  g_test_add_func ("/record/runview/log-in-parts-is-the-whole", test_log);
  g_test_add_func ("/record/runview/next-run-keeps-the-series", test_next_run);
  g_test_add_func ("/record/runview/only-numbers", test_no_series);
  return g_test_run ();
}
