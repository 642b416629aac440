/* SPDX-License-Identifier: MIT */
/* Follows a session that sweeps the learning rate.  Events after the last point that counts are
 * ignored: the session's position by then depends on the clock. */
#include "lrtest.h"
#include "intl.h"
#include "session.h"
#include <math.h>

#define SECONDS    60
#define LEAST_RATE 1e-20 /* float32 has smaller rates, but they change no weight */
#define PACE_STEPS 4     /* number of first steps whose ends give the time of a step */
#define TIME_SHARE 0.85  /* part of the remaining time for the steps of a second sweep */

typedef struct {
  DynoLrCurve *curve;
  const DynoLrTestWatch *watch;
  gint64 (*now) (void);
  gint64 deadline_us;
  gboolean adapts;          /* TRUE: the number of steps is adapted to the time */
  gint64 first_us, last_us; /* ends of the first step and of the last */
  guint fewer;              /* steps that fit; 0: all steps of the curve fit */
  guint n_reported;
  GError *error;
} Follow;

/* The parameters with the defaults filled in. */
static DynoLrTestParams
fill_params (const DynoLrTestParams *params)
{
  DynoLrTestParams p = params ? *params : (DynoLrTestParams){ 0 };

  p.from = p.from == 0 ? DYNO_LR_TEST_FROM : p.from;
  p.to = p.to == 0 ? DYNO_LR_TEST_TO : p.to;
  p.steps = p.steps == 0 ? DYNO_LR_TEST_STEPS : p.steps;
  p.seconds = p.seconds == 0 ? SECONDS : p.seconds;
  p.clock = p.clock ? p.clock : g_get_monotonic_time;
  return p;
}

gboolean
dyno_lr_test_check (const DynoLrTestParams *params, GError **error)
{
  DynoLrTestParams p = fill_params (params);
  double most = dyno_setting_find ("lr")->maximum;

  if (!(p.from >= LEAST_RATE && p.from <= most) || !(p.to >= LEAST_RATE && p.to <= most))
    g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING,
                 _ ("Learning rates from %g to %g cannot be tested: both are between %g and %g"),
                 p.from, p.to, LEAST_RATE, most);
  else if (!(p.from < p.to))
    g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING,
                 _ ("Learning rates from %g to %g cannot be tested: the second is above the first"),
                 p.from, p.to);
  else if (p.steps < DYNO_LR_LEAST_STEPS || p.steps > DYNO_LR_TEST_MOST_STEPS)
    g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING,
                 _ ("The number of steps cannot be %u: it is %d to %d"), p.steps,
                 DYNO_LR_LEAST_STEPS, DYNO_LR_TEST_MOST_STEPS);
  else if (!(p.seconds > 0))
    g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING,
                 _ ("The time for a test cannot be %g s: it is above 0"), p.seconds);
  else
    return TRUE;
  return FALSE;
}

/* Resets settings that would only cause warnings, or that the sweep replaces. */
static DynoJob *
make_job (const DynoJob *job)
{
  DynoJob *own = dyno_job_copy (job);

  g_clear_pointer (&own->out_dir, g_free);
  g_clear_pointer (&own->weights_out, g_free);
  g_clear_pointer (&own->resume, g_free);
  own->settings.lr = DYNO_LR_TEST_FROM;
  own->settings.schedule = DYNO_SCHEDULE_CONSTANT;
  own->settings.schedule_epochs = 0;
  own->settings.warmup_epochs = 0;
  own->settings.early_stop_patience = 0;
  own->settings.early_stop_delta = 0;
  own->settings.best_metric = 0;
  return own;
}

/* The first steps, which show how long a step takes, are reported only when it is known that the
 * test continues with this number of steps. */
static void
report (Follow *f)
{
  const DynoLrCurve *curve = f->curve;

  for (; f->n_reported < curve->points->len; f->n_reported++)
    if (f->watch && f->watch->point)
      f->watch->point (curve, &g_array_index (curve->points, DynoLrPoint, f->n_reported),
                       f->watch->data);
}

/* TRUE: the time is too short for the steps; *fewer is the number of steps that fit. */
static gboolean
is_short (const Follow *f, guint *fewer)
{
  double step_us = (double) (f->last_us - f->first_us) / (PACE_STEPS - 1),
         left_us = (double) (f->deadline_us - f->last_us);

  if (step_us * (f->curve->steps - PACE_STEPS) <= left_us)
    return FALSE;
  *fewer = (guint) MAX (MAX (left_us, 0) * TIME_SHARE / step_us, DYNO_LR_TEST_LEAST_STEPS);
  return *fewer < f->curve->steps;
}

/* FALSE: no further step counts. */
static gboolean
take_step (Follow *f, const DynoStepMetrics *step)
{
  gboolean goes_on = dyno_lr_curve_add (f->curve, step->lr, step->loss, step->skipped);
  guint n = f->curve->points->len;

  f->last_us = f->now ();
  if (n == 1)
    f->first_us = f->last_us;
  if (f->adapts && n < PACE_STEPS && goes_on)
    return TRUE;
  if (f->adapts && n == PACE_STEPS && goes_on && is_short (f, &f->fewer))
    return FALSE;
  report (f);
  return goes_on && n < f->curve->steps;
}

static void
follow (Follow *f, DynoSession *session, DynoEventQueue *events, GCancellable *cancellable)
{
  gboolean over = FALSE, done = FALSE;

  while (!done)
    {
      gint64 left_us = f->deadline_us - f->now ();
      g_autoptr (DynoEvent) event =
          dyno_event_queue_pop (events, CLAMP (left_us, 1000, G_USEC_PER_SEC / 20));

      done = event && event->type == DYNO_EVENT_DONE;
      if (over)
        continue;
      if (event && f->watch && f->watch->event)
        f->watch->event (event, f->watch->data);
      if (event && event->type == DYNO_EVENT_ERROR)
        f->error = g_error_copy (event->error);
      over = f->error || (event && event->type == DYNO_EVENT_STEP && !take_step (f, &event->step));
      if (!over && !done && g_cancellable_is_cancelled (cancellable))
        f->curve->end = DYNO_LR_END_STOPPED;
      else if (!over && !done && f->now () >= f->deadline_us)
        f->curve->end = DYNO_LR_END_TIME;
      over = over || f->curve->end != DYNO_LR_END_WHOLE;
      if (over)
        dyno_session_stop (session, TRUE);
    }
}

/* Makes one sweep.  FALSE: it failed; or, with f->fewer above 0, it has to be repeated with fewer
 * steps. */
static gboolean
sweep (Follow *f, const DynoJob *job, DynoDataset *dataset, DynoDevice *device,
       GCancellable *cancellable, GError **error)
{
  g_autoptr (DynoSession) session = dyno_session_new (job);
  DynoEventQueue *events = dyno_session_add_queue (session, 0, TRUE);

  dyno_session_set_dataset (session, dataset);
  dyno_session_set_device (session, device);
  dyno_session_sweep_lr (session, f->curve->from, f->curve->to, f->curve->steps);
  dyno_session_start (session);
  follow (f, session, events, cancellable);
  dyno_session_join (session);
  if (!f->error && f->fewer == 0)
    report (f);
  if (f->error)
    g_propagate_error (error, g_steal_pointer (&f->error));
  else
    return TRUE;
  return FALSE;
}

DynoLrCurve *
dyno_lr_test_run (const DynoJob *job, DynoDataset *dataset, DynoDevice *device,
                  const DynoLrTestParams *params, const DynoLrTestWatch *watch,
                  GCancellable *cancellable, GError **error)
{
  DynoLrTestParams p = fill_params (params);
  gint64 begin_us = p.clock ();
  DynoDeviceParams device_params = { .index = job->device };
  /* Both sweeps use this device: the second one finds its kernels compiled. */
  g_autoptr (DynoDevice) own_device = NULL;
  g_autoptr (DynoLrCurve) curve = NULL;
  g_autoptr (DynoJob) own = NULL;
  Follow f = { .watch = watch,
               .now = p.clock,
               .deadline_us = begin_us + (gint64) (p.seconds * G_USEC_PER_SEC),
               .adapts = !params || params->steps == 0 };

  if (!dyno_lr_test_check (params, error))
    return NULL;
  own_device = device ? dyno_device_ref (device) : dyno_device_open (&device_params, error);
  if (!own_device)
    return NULL;
  own = make_job (job);
  f.curve = curve = dyno_lr_curve_new (p.from, p.to, p.steps);
  if (!sweep (&f, own, dataset, own_device, cancellable, error))
    return NULL;
  if (f.fewer > 0)
    {
      dyno_lr_curve_free (curve);
      f.curve = curve = dyno_lr_curve_new (p.from, p.to, f.fewer);
      curve->fewer = TRUE;
      f.fewer = 0;
      f.adapts = FALSE;
      if (!sweep (&f, own, dataset, own_device, cancellable, error))
        return NULL;
    }
  curve->seconds = (double) (p.clock () - begin_us) / 1e6;
  return g_steal_pointer (&curve);
}
