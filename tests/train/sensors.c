/* SPDX-License-Identifier: MIT */
/* The sensors of a session: events, the view of a run, sensors.csv. */
#include "runview.h"
#include "sensorscsv.h"
#include "session-private.h"
#include "train-test.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

typedef struct {
  DynoRunView *view;
  guint n;
  gboolean done;
  DynoSensorReading last;
} Seen;

/* Runs the job with a sensor reading every few milliseconds, and collects every event. */
static void
run_watched (const DynoJob *job, Seen *seen)
{
  g_autoptr (DynoSession) session = dyno_session_new (job);
  DynoEventQueue *events = dyno_session_add_queue (session, 0, TRUE);

  *seen = (Seen){ .view = dyno_run_view_new (FALSE) };
  dyno_run_view_begin (seen->view, job);
  session->sensors.interval_ms = 5;
  dyno_session_start (session);
  while (!seen->done)
    {
      g_autoptr (DynoEvent) event = dyno_event_queue_pop (events, 300 * G_USEC_PER_SEC);

      g_assert_nonnull (event);
      dyno_run_view_take_event (seen->view, event);
      if (event->type == DYNO_EVENT_SENSORS)
        {
          seen->n++;
          seen->last = *event->sensors;
        }
      seen->done = event->type == DYNO_EVENT_DONE;
    }
  dyno_session_join (session);
}

static DynoJob *
small_job (const char *out_dir)
{
  DynoJob *job = test_job ("simplecnn", "builtin:shapes?size=16&samples=160&classes=4");

  test_job_set (job, "epochs=2", NULL);
  job->out_dir = g_strdup (out_dir);
  return job;
}

/* Each reading is an event; the run view has the last reading, with the memory of the run on its
 * device. */
static void
test_events (void)
{
  g_autoptr (DynoJob) job = small_job (NULL);
  const DynoRunStatus *status;
  Seen seen;

  run_watched (job, &seen);
  status = dyno_run_view_get_status (seen.view);
  g_assert_cmpuint (seen.n, >, 0);
  g_assert_true (status->has_sensors);
  g_assert_cmpint (status->sensors.time_us, ==, seen.last.time_us);
  g_assert_cmpfloat (seen.last.values[DYNO_SENSOR_VRAM_OWN], >, 0);
  g_assert_cmpuint (seen.last.sources[DYNO_SENSOR_VRAM_OWN], >=, DYNO_SENSOR_SOURCE_DRIVER);
  g_assert_cmpfloat (seen.last.values[DYNO_SENSOR_VRAM_TOTAL], >,
                     seen.last.values[DYNO_SENSOR_VRAM_OWN]);
  dyno_run_view_free (seen.view);
}

/* Each reading has a row, with rising steps; a resumed run appends after the rows up to its
 * checkpoint. */
static void
test_rows (void)
{
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoJob) job = small_job (folder);
  g_autoptr (GArray) rows = NULL, more = NULL;
  guint64 last = 0;
  guint first_new = 0;
  Seen seen;

  run_watched (job, &seen);
  dyno_run_view_free (seen.view);
  rows = dyno_sensors_csv_read (folder);
  g_assert_cmpuint (rows->len, ==, seen.n);
  for (guint i = 0; i < rows->len; i++)
    {
      const DynoSensorRow *row = &g_array_index (rows, DynoSensorRow, i);

      g_assert_cmpuint (row->step, >=, last);
      g_assert_cmpuint (row->step, <=, 20);
      last = row->step;
    }
  g_assert_cmpuint (last, >, 0);

  g_free (job->resume);
  job->resume = g_strdup (folder);
  test_job_set (job, "epochs=3", NULL);
  run_watched (job, &seen);
  dyno_run_view_free (seen.view);
  more = dyno_sensors_csv_read (folder);
  g_assert_cmpuint (more->len, ==, rows->len + seen.n);
  first_new = rows->len;
  g_assert_cmpint (memcmp (rows->data, more->data, first_new * sizeof (DynoSensorRow)), ==, 0);
  g_assert_cmpuint (g_array_index (more, DynoSensorRow, first_new).step, >=, last);
  test_remove_tree (folder);
}

/* Training does not need sensors.csv. */
static void
test_not_writable (void)
{
  g_autofree char *folder = test_folder (), *path = g_build_filename (folder, "sensors.csv", NULL),
                  *metrics = g_build_filename (folder, "metrics.csv", NULL);
  g_autoptr (DynoJob) job = small_job (folder);
  Seen seen;

  g_assert_cmpint (g_mkdir (path, 0755), ==, 0);
  run_watched (job, &seen);
  g_assert_cmpint (dyno_run_view_get_status (seen.view)->state, ==, DYNO_SESSION_FINISHED);
  g_assert_true (g_file_test (metrics, G_FILE_TEST_IS_REGULAR));
  dyno_run_view_free (seen.view);
  test_remove_tree (folder);
}

/* A queue that is not read keeps readings up to its capacity, and all other events. */
static void
test_queue (void)
{
  g_autoptr (DynoJob) job = small_job (NULL);
  g_autoptr (DynoSession) session = dyno_session_new (job);
  DynoEventQueue *events = dyno_session_add_queue (session, 3, TRUE);
  guint sensors = 0, warnings = 0;
  DynoEvent *event;

  for (guint i = 0; i < 10; i++)
    {
      event = dyno_event_new (DYNO_EVENT_SENSORS);
      event->sensors = g_new (DynoSensorReading, 1);
      dyno_sensor_reading_init (event->sensors);
      dyno_session_emit (session, event);
    }
  dyno_session_emit (session, dyno_event_new (DYNO_EVENT_WARNING));
  while ((event = dyno_event_queue_pop (events, 0)))
    {
      sensors += event->type == DYNO_EVENT_SENSORS;
      warnings += event->type == DYNO_EVENT_WARNING;
      dyno_event_unref (event);
    }
  g_assert_cmpuint (sensors, ==, 3);
  g_assert_cmpuint (warnings, ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/train/sensors/readings-are-events-and-in-the-view", test_events);
  g_test_add_func ("/train/sensors/row-each-and-kept-by-a-resume", test_rows);
  g_test_add_func ("/train/sensors/unwritable-rows-are-no-failure", test_not_writable);
  g_test_add_func ("/train/sensors/unread-queue-is-bounded", test_queue);
  return g_test_run ();
}
