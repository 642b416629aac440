/* SPDX-License-Identifier: MIT */
/* Recurring events of a run: a second stop, and a second outage of other programs' logs. */
#include "train-test.h"
#include <string.h>

#define SHAPES "builtin:shapes?size=16&samples=200&classes=4"

static void
stop_twice (DynoSession *session, const DynoStepMetrics *step, gpointer data)
{
  if (step->step == 2)
    {
      dyno_session_stop (session, FALSE);
      dyno_session_stop (session, FALSE);
    }
}

/* A second stop request does not wait for a checkpoint. */
static void
test_second_stop_is_at_once (void)
{
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoJob) job = test_job ("mlp", SHAPES);
  g_auto (TestRun) run = { 0 };

  job->out_dir = g_strdup (folder);
  test_job_set (job, "epochs=100000", NULL);
  test_run (&run, job, stop_twice, NULL);
  g_assert_no_error (run.error);
  g_assert_cmpint (run.state, ==, DYNO_SESSION_STOPPED);
  g_assert_cmpuint (run.checkpoints, ==, 0);
  test_remove_tree (folder);
}

static gboolean
write_no_settings (const char *folder, const DynoJob *job, const char *device, GError **error)
{
  return TRUE;
}

static gboolean
write_no_curves (const char *folder, DynoMetrics *metrics, guint64 budget_bytes, GError **error)
{
  return TRUE;
}

/* Number of calls of follow_at_times; the logs of other programs cannot be written in odd calls. */
static guint follows;

static gboolean
follow_at_times (const char *folder, const DynoJob *job, DynoMetrics *metrics, gboolean first,
                 GError **error)
{
  if (++follows % 2 == 0)
    return TRUE;
  g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_NOSPC, "The tracker is full");
  return FALSE;
}

/* An outage is reported once, and a later one is reported again. */
static void
test_each_outage_of_logs_is_reported (void)
{
  static const DynoRunWriter writer = { .write_settings = write_no_settings,
                                        .write_curves = write_no_curves,
                                        .follow = follow_at_times };
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoJob) job = test_job ("mlp", SHAPES);
  g_autoptr (DynoSession) session = NULL;
  DynoEventQueue *events;
  gboolean done = FALSE;
  guint warnings = 0;

  job->out_dir = g_strdup (folder);
  test_job_set (job, "epochs=3", NULL);
  session = dyno_session_new (job);
  events = dyno_session_add_queue (session, 0, TRUE);
  dyno_session_set_writer (session, &writer);
  dyno_session_start (session);
  while (!done)
    {
      g_autoptr (DynoEvent) event = dyno_event_queue_pop (events, 60 * G_USEC_PER_SEC);

      g_assert_nonnull (event);
      warnings += event->type == DYNO_EVENT_WARNING && strstr (event->text, "The tracker is full");
      done = event->type == DYNO_EVENT_DONE;
    }
  g_assert_cmpuint (follows, ==, 4); /* three epochs, and the end */
  g_assert_cmpuint (warnings, ==, 2);
  test_remove_tree (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/train/twice/second-stop-is-at-once", test_second_stop_is_at_once);
  g_test_add_func ("/train/twice/each-outage-of-logs-is-reported",
                   test_each_outage_of_logs_is_reported);
  return g_test_run ();
}
