/* SPDX-License-Identifier: MIT */
/* A trial is a session like any other, without an output folder, ended as soon as enough was
 * measured: what is measured is what a run will do, loader, transfers and optimizer included. */
#include "trial.h"
#include "intl.h"
#include "session.h"

static DynoJob *
trial_job (const DynoJob *job, const DynoSettings *settings)
{
  DynoJob *copy = dyno_job_copy (job);

  copy->settings = *settings;
  copy->settings.epochs = 1000000;
  /* A trial compares settings; measuring kernels for each would take most of its time. */
  copy->settings.autotune = FALSE;
  copy->settings.memory_shrink = FALSE; /* a trial that finds no memory is a result */
  g_clear_pointer (&copy->out_dir, g_free);
  g_clear_pointer (&copy->weights_out, g_free);
  g_clear_pointer (&copy->resume, g_free);
  copy->max_steps = 0;
  return copy;
}

gboolean
dyno_trial_rule_out (DynoTrial *trial, const DynoJob *job, DynoDataset *dataset,
                     const DynoDeviceInfo *device)
{
  g_autoptr (DynoJob) copy = trial_job (job, &trial->settings);
  g_autoptr (GError) error = NULL;
  DynoJobPlan plan;

  if (!dyno_job_plan (copy, dyno_dataset_get_info (dataset), device, &plan, &error))
    {
      trial->outcome = DYNO_TRIAL_FAILED;
      trial->text = g_strdup (error->message);
      return TRUE;
    }
  trial->vram_bytes = plan.plan.total_bytes;
  if (plan.fits)
    return FALSE;
  trial->outcome = DYNO_TRIAL_DOES_NOT_FIT;
  trial->text = dyno_job_plan_advice (copy, &plan);
  return TRUE;
}

static DynoTrialOutcome
outcome_of (const GError *error)
{
  if (g_error_matches (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DOES_NOT_FIT))
    return DYNO_TRIAL_DOES_NOT_FIT;
  if (g_error_matches (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OUT_OF_DEVICE_MEMORY)
      || g_error_matches (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OVER_BUDGET))
    return DYNO_TRIAL_OUT_OF_MEMORY;
  if (g_error_matches (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DIVERGED))
    return DYNO_TRIAL_DIVERGED;
  return DYNO_TRIAL_FAILED;
}

/* Takes events until enough was measured or the session ended; an epoch's validation is left out of
 * the time. */
static void
follow (DynoTrial *trial, DynoSession *session, DynoEventQueue *events, DynoMeasure *m,
        double seconds, gint64 deadline_us, GCancellable *cancellable)
{
  gboolean stopped = FALSE, done = FALSE;

  while (!done)
    {
      g_autoptr (DynoEvent) event = dyno_event_queue_pop (events, 200 * 1000);

      if (event && event->type == DYNO_EVENT_STEP && !stopped)
        dyno_measure_step (m, event->time_us, event->step.wait_data_ms, event->step.loss,
                           event->step.vram_bytes);
      else if (event && event->type == DYNO_EVENT_EPOCH)
        dyno_measure_epoch (m, event->time_us);
      else if (event && event->type == DYNO_EVENT_ERROR)
        {
          trial->outcome = outcome_of (event->error);
          trial->text = g_strdup (event->error->message);
        }
      else if (event && event->type == DYNO_EVENT_DONE)
        done = TRUE;
      if (!stopped
          && (dyno_measure_is_enough (m, seconds) || g_get_monotonic_time () >= deadline_us
              || g_cancellable_is_cancelled (cancellable)))
        {
          dyno_session_stop (session, TRUE);
          stopped = TRUE;
        }
    }
}

void
dyno_trial_run (DynoTrial *trial, const DynoJob *job, DynoDataset *dataset, double seconds,
                gint64 deadline_us, GCancellable *cancellable)
{
  g_autoptr (DynoJob) copy = trial_job (job, &trial->settings);
  g_autoptr (DynoSession) session = dyno_session_new (copy);
  DynoEventQueue *events = dyno_session_add_queue (session, 0, TRUE);
  DynoMeasure m = { 0 };

  trial->outcome = DYNO_TRIAL_OK;
  dyno_session_set_dataset (session, dataset);
  dyno_session_start (session);
  follow (trial, session, events, &m, seconds, deadline_us, cancellable);
  dyno_session_join (session);

  trial->steps = m.counted;
  trial->vram_bytes = MAX (trial->vram_bytes, m.vram_bytes);
  if (trial->outcome != DYNO_TRIAL_OK)
    return;
  if (m.nonfinite)
    {
      trial->outcome = DYNO_TRIAL_DIVERGED;
      trial->text = g_strdup (_ ("The loss was not finite"));
      return;
    }
  trial->step_ms = dyno_measure_step_ms (&m);
  if (trial->step_ms <= 0)
    {
      trial->outcome = DYNO_TRIAL_FAILED;
      trial->text = g_strdup (g_cancellable_is_cancelled (cancellable)
                                  ? _ ("Stopped before enough steps were measured")
                              : g_get_monotonic_time () >= deadline_us
                                  ? _ ("The time was over before enough steps were measured; give "
                                       "the search more minutes")
                                  : _ ("The run ended before enough steps were measured"));
      return;
    }
  trial->wait_data_ms = m.wait_ms / (double) m.counted;
  trial->samples_per_s =
      (double) (trial->settings.batch_size * trial->settings.accumulate) * 1e3 / trial->step_ms;
}
