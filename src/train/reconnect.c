/* SPDX-License-Identifier: MIT */
/* Handles a disk or server that fails during a run: the run is paused in the state of its last
 * step, which is saved, and tries again at growing intervals until samples can be read or the tries
 * are spent.
 *
 * Invariants:
 * - The session shows an ordinary pause: resuming tries at once, and a stop ends the run.
 * - The loader tries again on its workers, so that this thread obeys a stop at any time.
 * - Tries are counted by tries.h. */
#include "intl.h"
#include "run.h"

static void
tell (DynoRun *run, const GError *reason)
{
  gboolean saved = dyno_run_has_saved (run);

  dyno_run_warn (
      run,
      _ ("%s, nor can any other sample be read: the run is paused%s.  It tries again by itself for "
         "%.0f minutes; connect the disk or server again, and resume to try at once, or stop"),
      reason->message, saved ? _ (", its state saved in a checkpoint") : "",
      (double) dyno_tries_sum_intervals_us (run->session->reconnect_us) / 60e6);
}

/* Waits until the next try, or for a command that ends the wait. */
static DynoStop
wait_for_try (DynoRun *run)
{
  DynoSession *session = run->session;
  gint64 deadline =
      g_get_monotonic_time () + dyno_tries_get_interval_us (&run->tries, session->reconnect_us);
  DynoStop stop;

  g_mutex_lock (&session->lock);
  while (session->pause && !session->stop)
    if (!g_cond_wait_until (&session->wake, &session->lock, deadline))
      break;
  dyno_tries_take (&run->tries, !session->pause);
  session->pause = TRUE;
  stop = session->stop;
  g_mutex_unlock (&session->lock);
  return stop;
}

static void
set_pause (DynoRun *run, gboolean pause)
{
  g_mutex_lock (&run->session->lock);
  run->session->pause = pause;
  g_mutex_unlock (&run->session->lock);
}

static DynoRunOutcome
try_again (DynoRun *run, const DynoRunRestart *restart, gpointer data, const GError *reason,
           GError **error)
{
  for (;;)
    {
      g_autoptr (GError) problem = NULL;
      DynoStop stop = wait_for_try (run);

      if (stop)
        return stop == DYNO_STOP_NOW ? DYNO_RUN_ENDED : DYNO_RUN_STOPPED;
      if (dyno_loader_wait (restart->try (data), run->session->soft, &problem))
        return DYNO_RUN_GOES_ON;
      if (g_error_matches (problem, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        continue; /* a stop, which wait_for_try returns */
      g_info ("Try %u: %s", run->tries.n, problem->message);
      if (!g_error_matches (problem, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNREACHABLE))
        {
          g_propagate_error (error, g_steal_pointer (&problem));
          return DYNO_RUN_FAILED;
        }
      if (dyno_tries_are_spent (&run->tries))
        {
          g_propagate_error (error, g_error_copy (reason));
          g_prefix_error (error, _ ("The data set did not come back in time: "));
          return DYNO_RUN_FAILED;
        }
    }
}

DynoRunOutcome
dyno_run_reconnect (DynoRun *run, const DynoRunRestart *restart, gpointer data,
                    const GError *reason, GError **error)
{
  gint64 began = dyno_run_clock_now (&run->clock);
  DynoRunOutcome outcome;

  if (dyno_run_has_begun (run) && !dyno_run_save_last (run, error))
    return DYNO_RUN_FAILED;
  if (dyno_tries_begin (&run->tries, run->position.step))
    tell (run, reason);
  set_pause (run, TRUE); /* before the pause is reported, so that resuming has an effect */
  dyno_session_set_state (run->session, DYNO_SESSION_PAUSED);
  outcome = try_again (run, restart, data, reason, error);
  set_pause (run, FALSE);
  dyno_run_clock_end_pause (&run->clock, began);
  if (outcome != DYNO_RUN_GOES_ON)
    return outcome;
  dyno_session_set_state (run->session, DYNO_SESSION_RUNNING);
  restart->ahead (data);
  dyno_run_warn (run, _ ("The data set can be read again; the run continues where it was"));
  return outcome;
}
