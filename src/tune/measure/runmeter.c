/* SPDX-License-Identifier: MIT */
/* Where an epoch takes longer than the measurement, its end is requested early, and only a part of
 * its validation is measured. */
#include "runmeter.h"
#include "intl.h"
#include "outsidecpu.h"
#include "planjob.h"
#include "session.h"
#include <math.h>

#define WINDOW_S      0.05 /* longest initial length of a window, in seconds */
#define WINDOWS       16
#define LEAST_WINDOWS 3
#define ENOUGH        2 /* windows that are enough where the time is over */
/* share of the time after which an epoch that has not ended is ended early */
#define EARLY_SHARE      0.75
#define VALIDATION_SHARE 0.25 /* share of the time for the validation of that epoch */
/* least batches of that validation besides those decoded before it begins */
#define LEAST_VALIDATION 4
#define FILL_SLACK       1.5 /* factor by which filling a cache may exceed its expected seconds */
/* least number of prepared kernels from which the time of all is estimated */
#define LEAST_KERNELS 3
/* share of a step's time: where training waits longer for data, the loader is the limit */
#define HELD_UP           0.5
#define WHOLE_EPOCH_STEPS 4 /* in a shorter epoch each step is the first or the last */

/* --- the meaning of events -------------------------------------------------------------------- */

/* Handles a step that begins an epoch after another one. */
static void
begin_epoch (DynoRunMeasure *m, double begin_s)
{
  m->n_begun++;
  m->gap_s += MAX (begin_s - m->end_s, 0);
  if (m->epochs.begun && !m->early)
    dyno_windows_add (&m->epochs, begin_s, (double) m->epoch_samples);
  dyno_windows_begin (&m->epochs, begin_s);
  m->early = m->epoch_ended = FALSE;
  m->epoch_samples = 0;
}

/* The part of the host's wait for data in which the device is idle: two steps are in flight, so
 * that waiting may overlap with computing. */
static double
find_stall (const DynoStepMetrics *s)
{
  double device_ms = s->forward_ms + s->backward_ms + s->optimizer_ms;

  return CLAMP (s->wait_data_ms, 0, MAX (s->step_ms - device_ms, 0));
}

void
dyno_run_measure_step (DynoRunMeasure *m, const DynoStepMetrics *s)
{
  double begin_s = s->seconds - s->step_ms / 1e3;
  gboolean first = m->epoch_ended, apart;

  if (first)
    begin_epoch (m, begin_s);
  /* The first step of an epoch waits longer than the others. */
  apart = first && m->steps_per_epoch >= WHOLE_EPOCH_STEPS;
  if (apart)
    m->first_step_s += s->step_ms / 1e3;
  if (m->n_steps == 0 || apart)
    dyno_windows_begin (&m->steps, s->seconds);
  else
    {
      if (first)
        dyno_windows_begin (&m->steps, begin_s);
      dyno_windows_add (&m->steps, s->seconds, (double) s->samples);
      m->step_ms += s->step_ms;
      m->wait_ms += find_stall (s);
      m->n_counted++;
    }
  m->n_steps++;
  m->epoch = s->epoch;
  m->epoch_samples += s->samples;
  m->end_s = s->seconds;
  m->vram_bytes = MAX (m->vram_bytes, s->vram_bytes);
  m->nonfinite |= !isfinite (s->loss);
}

/* The cache holds all samples: earlier measurements are not comparable and are dropped. */
static void
begin_again (DynoRunMeasure *m)
{
  double length_s = m->epochs.length_s; /* the initial length: no epoch was added */

  *m = (DynoRunMeasure){ .n_used = m->n_used,
                         .n_validation = m->n_validation,
                         .steps_per_epoch = m->steps_per_epoch,
                         .n_ahead = m->n_ahead,
                         .steps = { .length_s = length_s },
                         .epochs = { .length_s = length_s },
                         .vram_bytes = m->vram_bytes,
                         .nonfinite = m->nonfinite };
}

void
dyno_run_measure_epoch (DynoRunMeasure *m, const DynoEpochMetrics *e, guint64 most_validated)
{
  double seconds = isfinite (e->validation_seconds) ? e->validation_seconds : 0;
  guint64 validated;

  m->n_epochs++;
  m->epoch_ended = TRUE;
  m->early = m->epoch_samples < m->n_used;
  if (m->fills && !m->early)
    {
      begin_again (m);
      return;
    }
  m->end_s += seconds;
  if (m->n_validation == 0)
    return;
  m->validation_s += seconds;
  validated = m->early ? MIN (m->n_validation, most_validated) : m->n_validation;
  m->n_validated += validated;
  if (validated < m->n_validation)
    m->n_validated -= MIN (m->n_ahead, validated / 2);
}

/* The rate of a whole run, computed from its parts. */
static void
compose (const DynoRunMeasure *m, DynoMeasurement *r)
{
  double overhead = isfinite (r->epoch_overhead_s) ? r->epoch_overhead_s : 0,
         validation =
             isfinite (r->validation_rate) ? (double) m->n_validation / r->validation_rate : 0,
         used = (double) m->n_used, factor;

  r->run_rate = r->rate;
  if ((m->n_epochs == 0 && !m->held_up) || !(r->rate.median > 0))
    return;
  factor = used / (used / r->rate.median + validation + overhead) / r->rate.median;
  r->run_rate.median *= factor;
  r->run_rate.low *= factor;
  r->run_rate.high *= factor;
}

gboolean
dyno_run_measure_is_held_up (const DynoRunMeasure *m, guint64 batches, double seconds)
{
  return m->n_counted > 0 && m->wait_ms > HELD_UP * m->step_ms
         && (double) batches * m->step_ms / 1e3 > seconds * (double) m->n_counted;
}

void
dyno_run_measure_end (DynoRunMeasure *m)
{
  if (m->steps.n < ENOUGH)
    dyno_windows_end (&m->steps);
}

void
dyno_run_measure_get (const DynoRunMeasure *m, DynoMeasurement *r)
{
  dyno_windows_estimate (&m->steps, &r->rate);
  r->steps = m->n_counted;
  r->vram_bytes = m->vram_bytes;
  r->filling = m->fills;
  if (m->n_counted > 0)
    {
      r->step_ms = m->step_ms / (double) m->n_counted;
      r->wait_data_ms = m->wait_ms / (double) m->n_counted;
    }
  if (m->n_validated > 0 && m->validation_s > 0)
    r->validation_rate = (double) m->n_validated / m->validation_s;
  else if (m->held_up)
    {
      r->validation_rate = r->rate.median;
      r->epoch_overhead_s = 0;
    }
  if (m->n_begun > 0)
    {
      double step_s = m->first_step_s > 0 ? r->step_ms / 1e3 : 0,
             excess = m->first_step_s / (double) m->n_begun - step_s;

      r->epoch_overhead_s = m->gap_s / (double) m->n_begun + MAX (excess, 0);
    }
  if (m->epochs.n >= LEAST_WINDOWS)
    dyno_windows_estimate (&m->epochs, &r->run_rate);
  else
    compose (m, r);
}

/* --- the session ------------------------------------------------------------------------------ */

DynoJob *
dyno_run_meter_job (const DynoJob *job, const DynoSettings *settings)
{
  DynoJob *copy = dyno_job_copy (job);

  copy->settings = *settings;
  copy->settings.epochs = 1000000;
  copy->settings.memory_shrink = FALSE;
  g_clear_pointer (&copy->out_dir, g_free);
  g_clear_pointer (&copy->weights_out, g_free);
  g_clear_pointer (&copy->resume, g_free);
  copy->no_test = TRUE;
  copy->max_steps = 0;
  return copy;
}

typedef struct {
  DynoSession *session;
  const DynoMeter *meter;
  DynoRunMeasure m;
  /* measurements before the cache held all samples; all zero until it does */
  DynoRunMeasure before;
  double seconds;
  /* by the run's clock: end of the first step; seconds from then until the cache was full */
  double begin_s, filled_s;
  gint64 begin_us;
  double prepare_s; /* until the first step's end; NaN: not reported */
  guint64 batch;
  guint64 ahead;          /* batches that can be decoded by the time a validation begins */
  guint64 most_validated; /* of an epoch that is ended early; 0: no early end was requested */
  DynoCpuTimes cpu;       /* at the end of the first step */
  guint64 planned_bytes;
  gint64 phase_us, reported_us; /* begin of the present preparation, and time of its last report */
  char *preparing; /* the last preparation that the session reported, as DynoEvent's; or NULL */
  guint n_prepared, n_to_prepare;
  guint64 n_unreadable;
  GError *error;
} Follow;

/* TRUE where the cache should be full soon enough, judging by this epoch. */
static gboolean
waits_for_cache (const Follow *f)
{
  const DynoRunMeasure *m = &f->m;
  double elapsed_s = m->end_s - f->begin_s,
         whole_s = elapsed_s * (double) m->n_used / (double) MAX (m->epoch_samples, 1);

  return m->fills && f->meter->fill_s > 0 && m->n_epochs == 0
         && (elapsed_s < f->seconds || whole_s <= FILL_SLACK * f->meter->fill_s);
}

/* TRUE where training waits for data, and as many validation batches as show a rate would take
 * longer than the whole trial. */
static gboolean
is_held_up (const Follow *f)
{
  return f->m.n_epochs == 0 && f->most_validated == 0 && f->m.n_validation > 0
         && dyno_run_measure_is_held_up (&f->m, LEAST_VALIDATION + f->ahead, f->seconds);
}

static gboolean
is_enough (const Follow *f)
{
  const DynoRunMeasure *m = &f->m;

  return m->nonfinite
         || (!waits_for_cache (f) && m->steps.n >= LEAST_WINDOWS
             && dyno_windows_get_seconds (&m->steps) >= f->seconds
             && (m->n_begun > 0 || m->n_validation == 0 || f->meter->steps_only || is_held_up (f)));
}

/* Ends the epoch early.  Its validation is limited to the batches that take the validation's share
 * of the time if it is twice as fast as training. */
static void
end_epoch (Follow *f)
{
  double measured_s = dyno_windows_get_seconds (&f->m.steps);
  double rate = (double) (f->m.n_counted * f->batch) / MAX (measured_s, 1e-6);
  double batches = 2 * rate * VALIDATION_SHARE * f->seconds / (double) f->batch;
  guint most = (guint) CLAMP (batches, (double) (LEAST_VALIDATION + f->ahead), 1e6);

  f->most_validated = most * f->batch;
  dyno_session_end_epoch (f->session, most);
}

static void
report_preparing (const Follow *f, const char *what, guint done, guint total)
{
  if (f->meter->preparing)
    f->meter->preparing (what, done, total, f->meter->preparing_user);
}

static void
take_epoch (Follow *f, const DynoEpochMetrics *epoch)
{
  DynoRunMeasure before = f->m;

  dyno_run_measure_epoch (&f->m, epoch, f->most_validated);
  if (!before.fills || f->m.fills)
    return;
  f->before = before;
  f->filled_s = before.end_s - f->begin_s;
  f->most_validated = 0;
}

static void
take_event (Follow *f, const DynoEvent *event)
{
  DynoRunMeasure *m = &f->m;

  if (event->type == DYNO_EVENT_PLAN)
    {
      f->planned_bytes = event->plan.plan.plan.total_bytes;
      m->steps_per_epoch = event->plan.plan.steps_per_epoch;
    }
  else if (event->type == DYNO_EVENT_PROGRESS)
    {
      f->reported_us = g_get_monotonic_time ();
      if (g_strcmp0 (f->preparing, event->progress.what) != 0)
        f->phase_us = f->reported_us;
      g_free (f->preparing);
      f->preparing = g_strdup (event->progress.what);
      f->n_prepared = event->progress.done;
      f->n_to_prepare = event->progress.total;
      report_preparing (f, f->preparing, f->n_prepared, f->n_to_prepare);
    }
  else if (event->type == DYNO_EVENT_STEP)
    {
      if (m->n_steps == 0)
        dyno_cpu_times_read (&f->cpu);
      dyno_run_measure_step (m, &event->step);
      if (f->begin_s == 0)
        {
          f->begin_s = m->end_s;
          f->prepare_s = (double) (g_get_monotonic_time () - f->begin_us) / 1e6;
          report_preparing (f, NULL, 0, 0);
        }
      if (!waits_for_cache (f) && m->n_epochs == 0 && f->most_validated == 0 && m->n_validation > 0
          && !f->meter->steps_only && m->steps.n >= ENOUGH
          && dyno_windows_get_seconds (&m->steps) >= EARLY_SHARE * f->seconds && !is_held_up (f))
        end_epoch (f);
    }
  else if (event->type == DYNO_EVENT_EPOCH)
    take_epoch (f, &event->epoch);
  else if (event->type == DYNO_EVENT_ERROR && !f->error)
    f->error = g_error_copy (event->error);
}

static void
follow (Follow *f, DynoEventQueue *events, gint64 deadline_us, GCancellable *cancellable)
{
  gboolean stopped = FALSE, done = FALSE;

  while (!done)
    {
      gint64 left_us = deadline_us - g_get_monotonic_time ();
      g_autoptr (DynoEvent) event =
          dyno_event_queue_pop (events, CLAMP (left_us, 1000, G_USEC_PER_SEC / 20));

      done = event && event->type == DYNO_EVENT_DONE;
      if (done)
        f->n_unreadable = event->done.n_unreadable;
      if (event && (!stopped || event->type == DYNO_EVENT_ERROR))
        take_event (f, event);
      if (!stopped
          && (is_enough (f) || g_get_monotonic_time () >= deadline_us
              || g_cancellable_is_cancelled (cancellable)))
        {
          dyno_session_stop (f->session, TRUE);
          stopped = TRUE;
        }
    }
}

/* The minutes, in steps of one half, in which kernels that take this long can be compiled and steps
 * can be measured. */
static double
advise_minutes (double kernels_s)
{
  return MAX (ceil (2 * (1.2 * kernels_s + 10) / 60) / 2, 1.5);
}

GError *
dyno_run_meter_make_late_error (guint64 n_steps, const char *what, guint done, guint total,
                                double spent_s)
{
  gboolean kernels = g_strcmp0 (what, "compile") == 0 || g_strcmp0 (what, "autotune") == 0;

  if (n_steps > 0)
    return g_error_new (G_IO_ERROR, G_IO_ERROR_TIMED_OUT,
                        ngettext ("The time was over after %u step, before enough were measured; "
                                  "give the search more minutes",
                                  "The time was over after %u steps, before enough were measured; "
                                  "give the search more minutes",
                                  (gulong) n_steps),
                        (guint) n_steps);
  if (kernels && done < total && done >= LEAST_KERNELS)
    {
      double whole_s = spent_s * total / done;

      return g_error_new (
          G_IO_ERROR, G_IO_ERROR_TIMED_OUT,
          ngettext ("The time was over while kernels were prepared (%u of %u in %.0f s, so "
                    "all of them take about %.0f s), before the first step; they are "
                    "kept, so search again, or give it %.3g minute",
                    "The time was over while kernels were prepared (%u of %u in %.0f s, so "
                    "all of them take about %.0f s), before the first step; they are "
                    "kept, so search again, or give it %.3g minutes",
                    advise_minutes (whole_s) == 1 ? 1 : 2),
          done, total, spent_s, whole_s, advise_minutes (whole_s));
    }
  if (kernels && done < total)
    return g_error_new (G_IO_ERROR, G_IO_ERROR_TIMED_OUT,
                        _ ("The time was over while kernels were prepared (%u of %u), before the "
                           "first step; they are kept, so search again, or give it more minutes"),
                        done, total);
  return g_error_new_literal (
      G_IO_ERROR, G_IO_ERROR_TIMED_OUT,
      _ ("The time was over before the first step had ended, for which the driver may have "
         "compiled kernels; they are kept, so search again, or give it more minutes"));
}

/* FALSE: error is the reason why the session gave no result. */
static gboolean
conclude (Follow *f, gint64 deadline_us, GCancellable *cancellable, GError **error)
{
  if (f->error)
    g_propagate_error (error, g_steal_pointer (&f->error));
  else if (f->m.nonfinite)
    g_set_error_literal (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DIVERGED,
                         _ ("The loss was not finite"));
  else if (g_cancellable_is_cancelled (cancellable))
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CANCELLED,
                         _ ("Stopped before enough steps were measured"));
  else if (f->m.steps.n > 0)
    return TRUE;
  else if (g_get_monotonic_time () >= deadline_us)
    g_propagate_error (error, dyno_run_meter_make_late_error (
                                  f->m.n_steps, f->preparing, f->n_prepared, f->n_to_prepare,
                                  (double) (f->reported_us - f->phase_us) / 1e6));
  else
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED,
                         _ ("The run ended before enough steps were measured"));
  return FALSE;
}

gboolean
dyno_run_meter_measure (const DynoJob *job, DynoDataset *dataset, DynoDevice *device,
                        const DynoMeter *meter, double seconds, gint64 deadline_us,
                        GCancellable *cancellable, DynoMeasurement *measurement, GError **error)
{
  g_autoptr (DynoSession) session = dyno_session_new (job);
  DynoEventQueue *events = dyno_session_add_queue (session, 0, TRUE);
  guint64 batch = (guint64) dyno_job_get_batch (job, meter->n_train);
  guint64 ahead = (guint64) job->settings.prefetch + DYNO_JOB_SLOTS;
  Follow f = { .session = session,
               .ahead = ahead,
               .seconds = seconds,
               .begin_us = g_get_monotonic_time (),
               .prepare_s = (double) NAN,
               .meter = meter,
               .batch = batch,
               .m = { .n_used = meter->n_train / batch * batch,
                      .n_validation = meter->n_validation,
                      .n_ahead = ahead * batch / 2,
                      .fills = job->settings.cache
                               && !dyno_dataset_get_info (dataset)->schema.generated } };
  DynoCpuTimes end;
  gboolean good;

  dyno_measurement_init (measurement);
  f.m.steps.length_s = f.m.epochs.length_s = MIN (WINDOW_S, seconds / WINDOWS);
  dyno_session_set_dataset (session, dataset);
  if (device)
    dyno_session_set_device (session, device);
  dyno_session_start (session);
  follow (&f, events, deadline_us, cancellable);
  dyno_session_join (session);
  dyno_cpu_times_read (&end);

  measurement->planned_bytes = f.planned_bytes;
  measurement->n_unreadable = f.n_unreadable;
  measurement->outside_cpu = dyno_cpu_times_get_outside (&f.cpu, &end);
  if (f.m.steps.n + f.m.n_counted == 0 && f.before.fills)
    f.m = f.before; /* the time ended while the cache was being filled */
  else
    measurement->fill_s = f.filled_s;
  measurement->prepare_s = f.prepare_s;
  f.m.held_up = is_held_up (&f);
  dyno_run_measure_end (&f.m);
  dyno_run_measure_get (&f.m, measurement);
  good = conclude (&f, deadline_us, cancellable, error);
  g_free (f.preparing);
  return good;
}
