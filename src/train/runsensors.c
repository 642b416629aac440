/* SPDX-License-Identifier: MIT */
/* The sensors of a run: opened with the first engine, ended before the run's folder is finished.
 *
 * Their readings become events on the sensors' thread.  All data that the observers of a SENSORS
 * event use belongs to that thread or has a lock, since the session's own thread runs
 * concurrently. */
#include "run.h"

static void
report_reading (const DynoSensorReading *reading, gpointer data)
{
  DynoEvent *event = dyno_event_new (DYNO_EVENT_SENSORS);

  event->sensors = g_memdup2 (reading, sizeof *reading);
  dyno_session_emit (data, event);
}

void
dyno_run_begin_sensors (DynoRun *run)
{
  DynoSensorsParams params = run->session->sensors;

  if (!run->sensors)
    {
      params.device = dyno_device_get_info (run->engine->device);
      params.in_use = TRUE;
      params.reading = report_reading;
      params.data = run->session;
      run->sensors = dyno_sensors_new (&params);
    }
  dyno_run_ask_memory (run);
}

void
dyno_run_end_sensors (DynoRun *run)
{
  g_clear_pointer (&run->sensors, dyno_sensors_free);
}

guint64
dyno_run_ask_memory (DynoRun *run)
{
  DynoDevice *device = run->engine->device;
  DynoMemoryUsage usage;

  if (dyno_device_query_usage (device, &usage))
    {
      dyno_sensors_set_vram (run->sensors, usage.own_bytes, DYNO_SENSOR_SOURCE_DRIVER,
                             usage.used_bytes);
      return usage.used_bytes;
    }
  dyno_sensors_set_vram (run->sensors, dyno_device_get_allocated_total (device),
                         DYNO_SENSOR_SOURCE_ACCOUNT, 0);
  return 0;
}

void
dyno_run_clear_memory (DynoRun *run)
{
  dyno_sensors_set_vram (run->sensors, 0, DYNO_SENSOR_SOURCE_ACCOUNT, 0);
}
