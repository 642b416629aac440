/* SPDX-License-Identifier: MIT */
/* A run for display. */
#include "runview.h"
#include "intl.h"
#include "runfacts.h"
#include "runrate.h"
#include <math.h>
#include <string.h>

#define CHUNK     256
#define MIB       (1024.0 * 1024)
#define GIB       (1024.0 * MIB)
#define SMALL_RUN (0.5 * GIB) /* below this, memory is shown in MiB */
/* A memory limit this many times larger than the need is not drawn: the curve would be too flat. */
#define FAR_ABOVE 6

struct _DynoRunView {
  gboolean with_series;
  DynoRunStatus status;
  DynoRunSeries series;
  DynoStretches stretches;
  DynoRunFacts facts;
  guint64 first_step; /* number of the first step of the rows, and its end time */
  double first_seconds;
  /* preparing_since_us 0: not preparing; preparing_until_us: an estimate, 0: not known yet */
  gint64 preparing_since_us, preparing_until_us;
  guint64 limit_bytes, need_bytes; /* 0: no limit; need not known */
  gint64 step_taken_us;            /* when the last step was taken */
};

static void
reset_status (DynoRunView *view)
{
  DynoRunStatus *s = &view->status;

  dyno_job_unref (s->job);
  g_free (s->device);
  g_free (s->out_dir);
  memset (s, 0, sizeof *s);
  memset (&view->facts, 0, sizeof view->facts);
  dyno_stretches_init (&view->stretches);
  for (guint i = 0; i < DYNO_MAX_RUN_METRICS; i++)
    s->best[i] = (double) NAN;
  s->eta_s = s->progress_left_s = -1;
  s->run_rate = (double) NAN;
  s->memory_unit = GIB;
  s->memory_unit_name = "GiB";
  s->memory_limit = (double) NAN;
  view->preparing_since_us = view->preparing_until_us = 0;
  view->limit_bytes = view->need_bytes = 0;
}

DynoRunView *
dyno_run_view_new (gboolean with_series)
{
  DynoRunView *view = g_new0 (DynoRunView, 1);
  DynoRunSeries *series = &view->series;

  view->with_series = with_series;
  reset_status (view);
  if (!with_series)
    return view;
  series->throughput = dyno_series_new (_ ("Training"), _ ("samples/s"));
  series->loss = dyno_series_new (_ ("Training"), "");
  series->val_loss = dyno_series_new (_ ("Validation"), "");
  series->lr = dyno_series_new (_ ("Learning rate"), "");
  series->loss_scale = dyno_series_new (_ ("Loss scale"), "");
  series->grad_norm = dyno_series_new (_ ("Gradient norm"), "");
  series->gpu_busy = dyno_series_new (_ ("GPU"), "%");
  series->gpu_temperature = dyno_series_new (_ ("GPU"), "°C");
  series->gpu_power = dyno_series_new (_ ("GPU"), "W");
  series->seconds = dyno_series_new ("", "s");
  series->epochs = dyno_series_new ("", "");
  series->vram = dyno_series_new (_ ("Dyno"), "GiB");
  series->vram_all = dyno_series_new (_ ("All programs"), "GiB");
  for (guint i = 0; i < DYNO_MAX_RUN_METRICS; i++)
    {
      series->train[i] = dyno_series_new (_ ("Training"), "");
      series->val[i] = dyno_series_new (_ ("Validation"), "");
      series->step[i] = dyno_series_new (_ ("Training"), "");
    }
  return view;
}

/* Calls f for every series. */
static void
for_each (DynoRunView *view, void (*f) (DynoSeries *series))
{
  DynoRunSeries *s = &view->series;
  DynoSeries *const single[] = { s->throughput,      s->loss,      s->val_loss,   s->vram,
                                 s->vram_all,        s->lr,        s->loss_scale, s->gpu_busy,
                                 s->gpu_temperature, s->gpu_power, s->seconds,    s->epochs,
                                 s->grad_norm };

  for (guint i = 0; i < G_N_ELEMENTS (single); i++)
    f (single[i]);
  for (guint i = 0; i < DYNO_MAX_RUN_METRICS; i++)
    {
      f (s->train[i]);
      f (s->val[i]);
      f (s->step[i]);
    }
}

void
dyno_run_view_free (DynoRunView *view)
{
  if (!view)
    return;
  for_each (view, dyno_series_free);
  reset_status (view);
  g_free (view);
}

/* --- input ------------------------------------------------------------------------------------ */

static void
count_steps (DynoRunView *view)
{
  DynoRunStatus *s = &view->status;
  guint64 each = s->has_plan ? s->plan.steps_per_epoch : 0;

  if (s->job && s->job->max_steps > 0)
    {
      s->total_steps = (guint64) s->job->max_steps;
      s->total_epochs = view->facts.steps_per_epoch > 0
                            ? dyno_run_facts_count_epochs (&view->facts, s->total_steps)
                        : each > 0 ? (s->total_steps - 1) / each + 1
                                   : 0;
    }
  else if (s->job)
    {
      s->total_epochs = (guint64) MAX (s->job->settings.epochs, 0);
      if (view->facts.steps_per_epoch > 0)
        s->total_steps = dyno_run_facts_count_steps (&view->facts, s->total_epochs);
      else if (s->has_plan)
        s->total_steps = each * s->total_epochs;
    }
}

/* Sets the need and the limit to be shown; the unit changes only before the first row. */
static void
set_memory (DynoRunView *view, guint64 need_bytes)
{
  DynoRunStatus *s = &view->status;

  view->need_bytes = need_bytes;
  if (s->n_steps == 0)
    {
      gboolean small = (double) need_bytes < SMALL_RUN;

      s->memory_unit = small ? MIB : GIB;
      s->memory_unit_name = small ? "MiB" : "GiB";
      if (view->with_series)
        {
          dyno_series_set_unit (view->series.vram, s->memory_unit_name);
          dyno_series_set_unit (view->series.vram_all, s->memory_unit_name);
        }
    }
  s->memory_limit = view->limit_bytes > 0 && need_bytes > view->limit_bytes / FAR_ABOVE
                        ? (double) view->limit_bytes / s->memory_unit
                        : (double) NAN;
}

void
dyno_run_view_begin (DynoRunView *view, const DynoJob *job)
{
  const DynoJob *kept = dyno_job_ref (job);

  reset_status (view);
  if (view->with_series)
    for_each (view, dyno_series_clear);
  view->status.job = kept;
  view->status.state = DYNO_SESSION_PREPARING;
  view->status.out_dir = g_strdup (kept->out_dir);
  count_steps (view);
}

void
dyno_run_view_set_job (DynoRunView *view, const DynoJob *job)
{
  const DynoJob *kept = dyno_job_ref (job);

  dyno_job_unref (view->status.job);
  view->status.job = kept;
  count_steps (view);
}

void
dyno_run_view_set_stopping (DynoRunView *view)
{
  view->status.state = DYNO_SESSION_STOPPING;
}

void
dyno_run_view_set_memory_limit (DynoRunView *view, guint64 bytes)
{
  view->limit_bytes = bytes;
}

const DynoRunStatus *
dyno_run_view_get_status (DynoRunView *view)
{
  return &view->status;
}

const DynoStretches *
dyno_run_view_get_stretches (DynoRunView *view)
{
  return &view->stretches;
}

const DynoRunFacts *
dyno_run_view_get_facts (DynoRunView *view)
{
  return &view->facts;
}

const DynoRunSeries *
dyno_run_view_get_series (DynoRunView *view)
{
  return &view->series;
}

/* --- preparation ------------------------------------------------------------------------------ */

/* The parts of the preparation, in their order and with their usual shares of the time: they give
 * one progress up to the end of the first step, in which drivers compile once more. */
static const struct {
  const char *what;
  double begin, end;
} phases[] = { { "scan", 0, 0.05 },
               { "autotune", 0.05, 0.45 },
               { "compile", 0.45, 0.85 },
               { "weights", 0.85, 0.88 },
               { "first-step", 0.88, 1 } };

static void
prepare (DynoRunView *view, const char *what, double fraction)
{
  DynoRunStatus *s = &view->status;
  gint64 now = g_get_monotonic_time (), spent;

  if (view->preparing_since_us == 0)
    view->preparing_since_us = now;
  s->progress = g_intern_string (what);
  for (guint i = 0; i < G_N_ELEMENTS (phases); i++)
    if (g_str_equal (phases[i].what, what))
      s->progress_fraction =
          MAX (s->progress_fraction,
               phases[i].begin + (phases[i].end - phases[i].begin) * CLAMP (fraction, 0, 1));
  spent = now - view->preparing_since_us;
  if (s->progress_fraction >= 0.1 && spent > G_USEC_PER_SEC / 2)
    view->preparing_until_us =
        now + (gint64) ((double) spent * (1 - s->progress_fraction) / s->progress_fraction);
}

static void
end_preparation (DynoRunView *view)
{
  view->status.progress = NULL;
  view->status.progress_fraction = 0;
  view->status.progress_left_s = -1;
  view->preparing_since_us = view->preparing_until_us = 0;
}

gboolean
dyno_run_view_tick (DynoRunView *view)
{
  DynoRunStatus *s = &view->status;
  double before = s->progress_left_s, left;

  if (!s->progress || view->preparing_until_us == 0)
    return FALSE;
  left = (double) (view->preparing_until_us - g_get_monotonic_time ()) / G_USEC_PER_SEC;
  s->progress_left_s = left > 0 ? ceil (left) : -1;
  return s->progress_left_s != before;
}

/* --- events ----------------------------------------------------------------------------------- */

static void
take_state (DynoRunView *view, DynoSessionState state)
{
  DynoRunStatus *s = &view->status;

  s->released = FALSE;
  /* A requested stop stays visible although events of older states may still arrive. */
  if (s->state != DYNO_SESSION_STOPPING || state > DYNO_SESSION_STOPPING)
    s->state = state;
  if (s->state == DYNO_SESSION_RUNNING && s->n_steps == 0)
    prepare (view, "first-step", 0);
  else if (s->state != DYNO_SESSION_PREPARING)
    end_preparation (view);
}

static void
take_plan (DynoRunView *view, const DynoEvent *event)
{
  DynoRunStatus *s = &view->status;

  s->has_plan = TRUE;
  s->plan = event->plan.plan;
  g_free (s->device);
  s->device = g_strdup (event->plan.device);
  s->n_train = event->plan.n_train;
  s->n_validation = event->plan.n_validation;
  s->n_test = event->plan.n_test;
  view->limit_bytes = s->plan.limit_bytes;
  set_memory (view, s->plan.plan.total_bytes);
  count_steps (view);
}

static void
take_table (DynoRunView *view, const DynoMetricTable *table)
{
  view->status.metrics = *table;
  for (guint i = 0; view->with_series && i < table->n; i++)
    {
      const DynoMetricInfo *metric = &table->infos[i];
      const char *unit = metric->format == DYNO_METRIC_FRACTION ? "%" : metric->unit;

      dyno_series_set_unit (view->series.train[i], unit);
      dyno_series_set_unit (view->series.val[i], unit);
      dyno_series_set_unit (view->series.step[i], unit);
    }
}

/* Adds the reading at the last step plus the part of the next step that is done, since steps may be
 * longer than the sensors' interval. */
static void
add_sensors (DynoRunView *view, const DynoSensorReading *reading)
{
  const DynoStepMetrics *step = &view->status.step;
  const struct {
    DynoSeries *series;
    DynoSensor sensor;
  } rows[] = { { view->series.gpu_busy, DYNO_SENSOR_GPU_BUSY },
               { view->series.gpu_temperature, DYNO_SENSOR_GPU_TEMPERATURE },
               { view->series.gpu_power, DYNO_SENSOR_GPU_POWER } };
  double since_ms = (double) (g_get_monotonic_time () - view->step_taken_us) / 1000, part = 0;

  if (!view->with_series || view->status.n_steps == 0)
    return;
  if (step->step_ms > 0)
    part = CLAMP (since_ms / step->step_ms, 0, 0.9);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      guint64 n = dyno_series_get_length (rows[i].series);
      double x = (double) step->step + part, last = x, y;

      if (n > 0)
        dyno_series_get (rows[i].series, n - 1, &last, &y);
      if (isfinite (reading->values[rows[i].sensor]))
        dyno_series_append (rows[i].series, MAX (x, last), reading->values[rows[i].sensor]);
    }
}

void
dyno_run_view_take_event (DynoRunView *view, const DynoEvent *event)
{
  DynoRunStatus *s = &view->status;

  switch (event->type)
    {
    case DYNO_EVENT_STATE:
      take_state (view, event->state);
      break;
    case DYNO_EVENT_RELEASED:
      view->status.released = TRUE;
      break;
    case DYNO_EVENT_PLAN:
      take_plan (view, event);
      break;
    case DYNO_EVENT_METRICS:
      take_table (view, &event->metrics);
      break;
    case DYNO_EVENT_FACTS:
      view->facts = event->facts;
      s->run_rate = dyno_run_rate_find (&view->facts, &view->stretches);
      count_steps (view);
      break;
    case DYNO_EVENT_PROGRESS:
      prepare (view, event->progress.what,
               event->progress.total > 0 ? (double) event->progress.done / event->progress.total
                                         : 0);
      break;
    case DYNO_EVENT_SENSORS:
      s->has_sensors = TRUE;
      s->sensors = *event->sensors;
      add_sensors (view, event->sensors);
      break;
    case DYNO_EVENT_DONE:
      s->state = event->done.state;
      s->seconds = event->done.seconds;
      s->whole_steps = event->done.whole_steps;
      s->test = event->done.test;
      s->progress = NULL;
      if (event->done.out_dir)
        {
          g_free (s->out_dir);
          s->out_dir = g_strdup (event->done.out_dir);
        }
      break;
    case DYNO_EVENT_STEP:
    case DYNO_EVENT_EPOCH:
    case DYNO_EVENT_CHECKPOINT:
    case DYNO_EVENT_WARNING:
    case DYNO_EVENT_ERROR:
    default:
      break;
    }
}

/* --- rows ------------------------------------------------------------------------------------- */

/* Estimates the time left from the steps after the first: the one-time work before its end is not
 * repeated. */
static void
estimate (DynoRunView *view)
{
  DynoRunStatus *s = &view->status;

  s->eta_s = -1;
  if (s->step.step > view->first_step && s->total_steps >= s->step.step)
    s->eta_s = (double) (s->total_steps - s->step.step) * (s->step.seconds - view->first_seconds)
               / (double) (s->step.step - view->first_step);
  s->fraction = s->total_steps > 0 ? (double) s->step.step / (double) s->total_steps : 0;
}

/* Adds the position of the step in epochs.  Where the end of the epoch before is known, this epoch
 * began there; an epoch that began before a resume is counted from the position at which the run
 * was resumed. */
static void
add_epoch_place (DynoRunView *view, const DynoStepMetrics *step)
{
  const DynoRunStatus *s = &view->status;
  const DynoRunFacts *facts = &view->facts;
  guint64 per_epoch = s->has_plan ? s->plan.steps_per_epoch : 0, whole, done;

  if (per_epoch == 0 || step->epoch == 0)
    return;
  whole = (step->epoch - 1) * per_epoch;
  if (facts->begin_place > whole && step->step > facts->begin_step)
    done = step->step - facts->begin_step + (facts->begin_place - whole);
  else if (s->n_epochs > 0 && s->epoch.epoch + 1 == step->epoch)
    done = step->step - MIN (s->epoch.step, step->step);
  else
    done = step->step - MIN (whole, step->step);
  if (done > 0)
    dyno_series_append (view->series.epochs, (double) step->step,
                        (double) (step->epoch - 1) + MIN ((double) done / (double) per_epoch, 1.0));
}

void
dyno_run_view_take_step (DynoRunView *view, const DynoStepMetrics *step)
{
  DynoRunStatus *s = &view->status;
  DynoRunSeries *series = &view->series;
  double x = (double) step->step;

  if (s->n_steps == 0)
    {
      view->first_step = step->step;
      view->first_seconds = step->seconds;
      s->step_samples = 0;
      if (!s->has_plan)
        set_memory (view, step->vram_bytes);
    }
  s->step = *step;
  s->step_samples = MAX (s->step_samples, step->samples);
  s->n_steps++;
  dyno_stretches_add_step (&view->stretches, step);
  s->run_rate = dyno_run_rate_find (&view->facts, &view->stretches);
  if (s->state == DYNO_SESSION_RUNNING && s->progress)
    end_preparation (view);
  estimate (view);
  if (!view->with_series)
    return;
  dyno_series_append (series->throughput, x,
                      step->samples_per_s > 0 ? step->samples_per_s : (double) NAN);
  dyno_series_append (series->loss, x, isfinite (step->loss) ? step->loss : (double) NAN);
  dyno_series_append (series->seconds, x, step->seconds);
  dyno_series_append (series->lr, x, step->lr);
  if (step->loss_scale > 0)
    dyno_series_append (series->loss_scale, x, step->loss_scale);
  if (isfinite (step->grad_norm))
    dyno_series_append (series->grad_norm, x, step->grad_norm);
  for (guint i = 0; i < s->metrics.n; i++)
    if (!s->metrics.infos[i].of_validation)
      dyno_series_append (series->step[i], x,
                          step->metrics[i]
                              * (s->metrics.infos[i].format == DYNO_METRIC_FRACTION ? 100 : 1));
  add_epoch_place (view, step);
  view->step_taken_us = g_get_monotonic_time ();
  dyno_series_append (series->vram, x, (double) step->vram_bytes / s->memory_unit);
  if (step->vram_all_bytes > 0)
    dyno_series_append (series->vram_all, x, (double) step->vram_all_bytes / s->memory_unit);
}

void
dyno_run_view_take_epoch (DynoRunView *view, const DynoEpochMetrics *epoch)
{
  DynoRunStatus *s = &view->status;
  double x = (double) epoch->step;

  s->epoch = *epoch;
  s->n_epochs++;
  dyno_stretches_add_epoch (&view->stretches, epoch);
  if (view->with_series && (!s->has_plan || s->plan.steps_per_epoch == 0))
    dyno_series_append (view->series.epochs, x, (double) epoch->epoch);
  if (view->with_series && isfinite (epoch->val_loss))
    dyno_series_append (view->series.val_loss, x, epoch->val_loss);
  for (guint i = 0; i < s->metrics.n; i++)
    {
      const DynoMetricInfo *metric = &s->metrics.infos[i];
      double unit = metric->format == DYNO_METRIC_FRACTION ? 100 : 1;

      if (dyno_metric_is_better (metric, epoch->val_metrics[i], s->best[i]))
        s->best[i] = epoch->val_metrics[i];
      if (!view->with_series)
        continue;
      if (!metric->of_validation)
        dyno_series_append (view->series.train[i], x, epoch->train_metrics[i] * unit);
      if (isfinite (epoch->val_metrics[i]))
        dyno_series_append (view->series.val[i], x, epoch->val_metrics[i] * unit);
    }
}

gboolean
dyno_run_view_take_log (DynoRunView *view, DynoMetrics *log, guint64 limit)
{
  DynoRunStatus *s = &view->status;
  DynoStepMetrics rows[CHUNK];
  DynoEpochMetrics epoch;
  guint64 taken = 0, n = CHUNK, epochs = s->n_epochs;

  if (s->metrics.n == 0)
    {
      DynoMetricTable table;

      dyno_metrics_get_table (log, &table);
      take_table (view, &table);
    }
  while (taken < limit && n == CHUNK)
    {
      n = dyno_metrics_copy_steps (log, s->n_steps, CHUNK, rows);
      for (guint64 i = 0; i < n; i++)
        dyno_run_view_take_step (view, &rows[i]);
      taken += n;
    }
  while (dyno_metrics_copy_epochs (log, s->n_epochs, 1, &epoch) == 1)
    dyno_run_view_take_epoch (view, &epoch);
  return taken > 0 || s->n_epochs > epochs;
}
