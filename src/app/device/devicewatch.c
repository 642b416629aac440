/* SPDX-License-Identifier: MIT */
/* A timer of the main loop reads the sensors, which does not block.  Freeing them waits for reads
 * in progress, a second at most: it happens when the window closes, and the program must not exit
 * while a read is inside a driver's library. */
#include "devicewatch.h"
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#define INTERVAL_MS 1000
#define GIB         1073741824.0
#define MIB         1048576.0

struct _DynoDeviceWatch {
  GObject parent_instance;
  DynoSensors *sensors;
  DynoSensorReading reading;
  DynoSeries *series[DYNO_N_SENSORS];
  gboolean any, has[DYNO_N_SENSORS];
  gint64 began_us; /* time of the first reading */
  double seconds;
  guint timer;
};

enum { CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoDeviceWatch, dyno_device_watch, G_TYPE_OBJECT)

static double
unit_of (DynoSensor sensor)
{
  const char *unit = dyno_sensor_get_info (sensor)->unit;
  return g_str_equal (unit, "bytes") ? GIB : g_str_has_prefix (unit, "bytes/") ? MIB : 1;
}

/* The name of a line in a plot. */
static const char *
name_of (DynoSensor sensor)
{
  switch (sensor)
    {
    case DYNO_SENSOR_GPU_BUSY:
    case DYNO_SENSOR_GPU_POWER:
    case DYNO_SENSOR_GPU_TEMPERATURE:
      return _ ("Device");
    case DYNO_SENSOR_CPU_BUSY:
      return _ ("Processor");
    case DYNO_SENSOR_VRAM_ALL:
    case DYNO_SENSOR_RAM_USED:
      return _ ("All programs");
    case DYNO_SENSOR_VRAM_OWN:
    case DYNO_SENSOR_DISK_READ_PER_S:
      return _ ("Dyno");
    case DYNO_SENSOR_GPU_CLOCK:
      return _ ("Cores");
    case DYNO_SENSOR_GPU_MEMORY_CLOCK:
      return _ ("Memory");
    default:
      return dyno_sensor_get_info (sensor)->title; /* the sensor is in no plot */
    }
}

void
dyno_device_watch_take (DynoDeviceWatch *self, const DynoSensorReading *reading)
{
  if (!self->any)
    self->began_us = reading->time_us;
  self->reading = *reading;
  self->any = TRUE;
  self->seconds = (double) (self->reading.time_us - self->began_us) / G_USEC_PER_SEC;
  for (guint i = 0; i < DYNO_N_SENSORS; i++)
    {
      double value = self->reading.values[i];
      self->has[i] = self->has[i] || isfinite (value);
      dyno_series_append (self->series[i], self->seconds, value / unit_of ((DynoSensor) i));
    }
  g_signal_emit (self, signals[CHANGED], 0);
}

static gboolean
ask (gpointer data)
{
  DynoDeviceWatch *self = data;
  DynoSensorReading reading;
  if (dyno_sensors_get (self->sensors, &reading))
    dyno_device_watch_take (self, &reading);
  return G_SOURCE_CONTINUE;
}

DynoDeviceWatch *
dyno_device_watch_new (const DynoDeviceInfo *device)
{
  DynoDeviceWatch *self = g_object_new (DYNO_TYPE_DEVICE_WATCH, NULL);
  DynoSensorsParams params = { .device = device, .interval_ms = INTERVAL_MS, .ask_driver = TRUE };
  self->sensors = dyno_sensors_new (&params);
  return self;
}

const DynoSensorReading *
dyno_device_watch_get_reading (DynoDeviceWatch *self)
{
  return self->any ? &self->reading : NULL;
}

DynoSeries *
dyno_device_watch_get_series (DynoDeviceWatch *self, DynoSensor sensor)
{
  return self->series[sensor];
}

gboolean
dyno_device_watch_has (DynoDeviceWatch *self, DynoSensor sensor)
{
  return self->has[sensor];
}

double
dyno_device_watch_get_seconds (DynoDeviceWatch *self)
{
  return self->seconds;
}

static void
dyno_device_watch_dispose (GObject *object)
{
  DynoDeviceWatch *self = DYNO_DEVICE_WATCH (object);
  g_clear_handle_id (&self->timer, g_source_remove);
  g_clear_pointer (&self->sensors, dyno_sensors_free);
  G_OBJECT_CLASS (dyno_device_watch_parent_class)->dispose (object);
}

static void
dyno_device_watch_finalize (GObject *object)
{
  DynoDeviceWatch *self = DYNO_DEVICE_WATCH (object);
  for (guint i = 0; i < DYNO_N_SENSORS; i++)
    dyno_series_free (self->series[i]);
  G_OBJECT_CLASS (dyno_device_watch_parent_class)->finalize (object);
}

static void
dyno_device_watch_class_init (DynoDeviceWatchClass *class)
{
  G_OBJECT_CLASS (class)->dispose = dyno_device_watch_dispose;
  G_OBJECT_CLASS (class)->finalize = dyno_device_watch_finalize;
  signals[CHANGED] = g_signal_new ("changed", DYNO_TYPE_DEVICE_WATCH, G_SIGNAL_RUN_LAST, 0, NULL,
                                   NULL, NULL, G_TYPE_NONE, 0);
}

static void
dyno_device_watch_init (DynoDeviceWatch *self)
{
  for (guint i = 0; i < DYNO_N_SENSORS; i++)
    {
      const char *unit = dyno_sensor_get_info ((DynoSensor) i)->unit;
      double factor = unit_of ((DynoSensor) i);
      self->series[i] = dyno_series_new (name_of ((DynoSensor) i), factor == GIB   ? "GiB"
                                                                   : factor == MIB ? "MiB/s"
                                                                                   : unit);
    }
  self->timer = g_timeout_add (INTERVAL_MS, ask, self);
}
