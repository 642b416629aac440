/* SPDX-License-Identifier: MIT */
/* The functions of a session for other threads: commands, and observers of events.  The session's
 * thread is in sessionthread.c. */
#include "intl.h"
#include "session-private.h"
#include <math.h>

#define RECONNECT_US G_USEC_PER_SEC

DynoSession *
dyno_session_new (const DynoJob *job)
{
  DynoSession *session = g_new0 (DynoSession, 1);

  session->job = dyno_job_copy (job);
  session->metrics = dyno_metrics_new ();
  session->observers = dyno_observers_new ();
  session->reconnect_us = RECONNECT_US;
  session->soft = g_cancellable_new ();
  session->hard = g_cancellable_new ();
  g_mutex_init (&session->lock);
  g_cond_init (&session->wake);
  return session;
}

void
dyno_session_free (DynoSession *session)
{
  if (!session)
    return;
  if (session->thread)
    {
      dyno_session_stop (session, TRUE);
      dyno_session_join (session);
    }
  dyno_observers_free (session->observers);
  dyno_metrics_unref (session->metrics);
  dyno_dataset_unref (session->dataset);
  dyno_device_unref (session->device);
  dyno_comm_unref (session->comm);
  dyno_job_unref (session->job);
  g_object_unref (session->soft);
  g_object_unref (session->hard);
  g_mutex_clear (&session->lock);
  g_cond_clear (&session->wake);
  g_free (session);
}

void
dyno_session_set_dataset (DynoSession *session, DynoDataset *dataset)
{
  g_return_if_fail (dyno_session_get_state (session) == DYNO_SESSION_NEW);
  dyno_dataset_ref (dataset);
  dyno_dataset_unref (session->dataset);
  session->dataset = dataset;
}

void
dyno_session_set_device (DynoSession *session, DynoDevice *device)
{
  g_return_if_fail (dyno_session_get_state (session) == DYNO_SESSION_NEW);
  dyno_device_ref (device);
  dyno_device_unref (session->device);
  session->device = device;
}

void
dyno_session_set_comm (DynoSession *session, DynoComm *comm)
{
  DynoJob *job;

  g_return_if_fail (dyno_session_get_state (session) == DYNO_SESSION_NEW && !session->comm);
  if (dyno_comm_get_size (comm) < 2)
    return;
  session->comm = dyno_comm_ref (comm);
  job = dyno_job_copy (session->job);
  job->ranks = dyno_comm_get_size (comm);
  job->rank = dyno_comm_get_rank (comm);
  if (job->rank > 0)
    {
      g_clear_pointer (&job->out_dir, g_free);
      g_clear_pointer (&job->weights_in, g_free);
      g_clear_pointer (&job->weights_out, g_free);
      g_clear_pointer (&job->resume, g_free);
    }
  dyno_job_unref (session->job);
  session->job = job;
}

void
dyno_session_set_writer (DynoSession *session, const DynoRunWriter *writer)
{
  g_return_if_fail (dyno_session_get_state (session) == DYNO_SESSION_NEW);
  session->writer = writer;
}

void
dyno_session_sweep_lr (DynoSession *session, double from, double to, guint steps)
{
  DynoJob *job;

  g_return_if_fail (dyno_session_get_state (session) == DYNO_SESSION_NEW && !session->comm);
  g_return_if_fail (from > 0 && from < to && steps >= 2);
  session->sweep = (DynoLrSweep){ from, to, steps };
  job = dyno_job_copy (session->job);
  job->max_steps = steps;
  dyno_job_unref (session->job);
  session->job = job;
}

void
dyno_session_add_observer (DynoSession *session, const DynoObserver *observer, gpointer data)
{
  dyno_observers_add (session->observers, observer, data);
}

void
dyno_session_remove_observer (DynoSession *session, const DynoObserver *observer, gpointer data)
{
  dyno_observers_remove (session->observers, observer, data);
}

DynoEventQueue *
dyno_session_add_queue (DynoSession *session, guint capacity, gboolean every_event)
{
  DynoEventQueue *queue = dyno_event_queue_new (capacity, every_event);

  dyno_session_add_observer (session, &dyno_event_queue_observer, queue);
  return queue;
}

void
dyno_session_start (DynoSession *session)
{
  GError *error = NULL;
  DynoEvent *event;

  g_return_if_fail (dyno_session_get_state (session) == DYNO_SESSION_NEW);
  dyno_session_set_state (session, DYNO_SESSION_PREPARING);
  session->thread = g_thread_try_new ("dyno-session", dyno_session_run, session, &error);
  if (session->thread)
    return;
  event = dyno_event_new (DYNO_EVENT_ERROR);
  g_prefix_error (&error, _ ("The run was not started, for want of a thread (end other programs, "
                             "or raise their limit): "));
  event->error = error;
  dyno_session_emit (session, event);
  dyno_session_set_state (session, DYNO_SESSION_FAILED);
  event = dyno_event_new (DYNO_EVENT_DONE);
  event->done.unreadable = g_new0 (char *, 1);
  event->done.state = DYNO_SESSION_FAILED;
  event->done.best_val_metric = (double) NAN;
  dyno_session_emit (session, event);
}

void
dyno_session_emit (DynoSession *session, DynoEvent *event)
{
  dyno_observers_emit (session->observers, event);
}

void
dyno_session_set_state (DynoSession *session, DynoSessionState state)
{
  DynoEvent *event = dyno_event_new (DYNO_EVENT_STATE);

  event->state = state;
  g_atomic_int_set (&session->state, (int) state);
  dyno_session_emit (session, event);
}

static void
set_pause (DynoSession *session, gboolean pause, gboolean release)
{
  g_mutex_lock (&session->lock);
  session->pause = pause;
  session->release = release;
  g_cond_broadcast (&session->wake);
  g_mutex_unlock (&session->lock);
}

void
dyno_session_pause (DynoSession *session)
{
  set_pause (session, TRUE, FALSE);
}

void
dyno_session_release (DynoSession *session)
{
  set_pause (session, TRUE, TRUE);
}

void
dyno_session_resume (DynoSession *session)
{
  set_pause (session, FALSE, FALSE);
}

void
dyno_session_stop (DynoSession *session, gboolean now)
{
  gboolean again;

  g_mutex_lock (&session->lock);
  again = session->stop != DYNO_STOP_NONE;
  session->stop = now || again ? DYNO_STOP_NOW : DYNO_STOP_SAVE;
  now = session->stop == DYNO_STOP_NOW;
  g_cond_broadcast (&session->wake);
  g_mutex_unlock (&session->lock);
  if (now)
    {
      g_cancellable_cancel (session->hard);
      dyno_observers_abandon (session->observers);
    }
  g_cancellable_cancel (session->soft);
}

void
dyno_session_checkpoint (DynoSession *session)
{
  g_mutex_lock (&session->lock);
  session->checkpoint = TRUE;
  g_cond_broadcast (&session->wake);
  g_mutex_unlock (&session->lock);
}

void
dyno_session_end_epoch (DynoSession *session, guint validation_batches)
{
  g_mutex_lock (&session->lock);
  session->end_epoch = TRUE;
  session->validation_batches = validation_batches;
  g_mutex_unlock (&session->lock);
}

gboolean
dyno_session_set (DynoSession *session, const char *key, const char *value, GError **error)
{
  const DynoSettingInfo *info = dyno_setting_find (key);
  g_autoptr (DynoJob) changed = NULL;

  if (info && info->live == DYNO_SETTING_LIVE_NO)
    {
      g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING,
                   _ ("%s cannot change while a run is in progress; the change applies from the "
                      "next run on"),
                   key);
      return FALSE;
    }
  g_mutex_lock (&session->lock);
  changed = dyno_job_copy (session->job);
  if (!dyno_settings_set (&changed->settings, key, value, error))
    {
      g_mutex_unlock (&session->lock);
      return FALSE;
    }
  dyno_job_unref (session->job);
  session->job = g_steal_pointer (&changed);
  g_mutex_unlock (&session->lock);
  return TRUE;
}

void
dyno_session_join (DynoSession *session)
{
  if (!session->thread)
    return;
  /* A caller that waits here takes no events: a session that waits for room in a queue would never
   * end. */
  dyno_observers_abandon (session->observers);
  g_thread_join (g_steal_pointer (&session->thread));
}

DynoSessionState
dyno_session_get_state (DynoSession *session)
{
  return (DynoSessionState) g_atomic_int_get (&session->state);
}

const DynoJob *
dyno_session_get_job (DynoSession *session)
{
  const DynoJob *job;

  g_mutex_lock (&session->lock);
  job = dyno_job_ref (session->job);
  g_mutex_unlock (&session->lock);
  return job;
}

DynoMetrics *
dyno_session_get_metrics (DynoSession *session)
{
  return session->metrics;
}
