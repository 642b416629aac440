/* SPDX-License-Identifier: MIT */
/* The threads that read the sources, and the reading that is assembled from their results.
 *
 * Invariants: everything that a reader thread uses belongs to the thread or to the shared state,
 * which lives as long as it is referenced: a reader that hangs keeps both, and dyno_sensors_free
 * abandons it.  The lock is held only for copying, never while a source is read or the callback
 * runs.  The ticker reads no source, so that it can always be joined. */
#include "source.h"
#include <math.h>
#include <string.h>

#define INTERVAL_MS 1000
#define END_US      G_USEC_PER_SEC /* longest wait for reads in progress at the end */
#define STALE_MS    5000

static const DynoSourceClass *const classes[] = { &dyno_source_host, &dyno_source_nvml,
                                                  &dyno_source_drm, &dyno_source_driver };

#define N_READERS G_N_ELEMENTS (classes)

typedef struct {
  const DynoSourceClass *class;
  gboolean absent, ended; /* there is nothing to read; the thread has ended */
  gboolean reported;      /* the hang has been logged */
  guint count;            /* readings so far */
  gint64 time_us;         /* of the last reading */
  DynoSensorReading reading;
} Reader;

typedef struct {
  gatomicrefcount references;
  DynoSourceSetup setup;
  gint64 interval_us, stale_us;

  GMutex lock;
  GCond changed;
  gboolean quit;
  Reader readers[N_READERS];
  guint64 own_bytes, all_bytes; /* 0: not known */
  DynoSensorSource own_source;
} Shared;

struct _DynoSensors {
  Shared *shared;
  GThread *ticker; /* or NULL */
  void (*reading) (const DynoSensorReading *reading, gpointer data);
  gpointer data;
};

static void
unref_shared (Shared *shared)
{
  if (!g_atomic_ref_count_dec (&shared->references))
    return;
  g_free (shared->setup.proc_root);
  g_free (shared->setup.sys_root);
  g_free (shared->setup.nvml);
  g_mutex_clear (&shared->lock);
  g_cond_clear (&shared->changed);
  g_free (shared);
}

gint64
dyno_source_next_tick_us (gint64 began_us, gint64 interval_us, gint64 now_us)
{
  return began_us + ((now_us - began_us) / interval_us + 1) * interval_us;
}

/* Called with the lock: waits for the end or the next multiple of the interval after began_us.
 * TRUE: reading continues. */
static gboolean
wait_for_tick (Shared *shared, gint64 began_us)
{
  gint64 next = dyno_source_next_tick_us (began_us, shared->interval_us, g_get_monotonic_time ());

  while (!shared->quit && g_cond_wait_until (&shared->changed, &shared->lock, next))
    ;
  return !shared->quit;
}

/* --- reading ---------------------------------------------------------------------------------- */

typedef struct {
  Shared *shared;
  Reader *reader;
} ReaderStart;

/* Called with the lock, which is released while the source is read. */
static void
read_source (Shared *shared, Reader *reader, gpointer source)
{
  g_autofree DynoSensorReading *reading = g_new (DynoSensorReading, 1);
  gint64 now = g_get_monotonic_time ();

  g_mutex_unlock (&shared->lock);
  dyno_sensor_reading_init (reading);
  reader->class->read (source, now, reading);
  g_mutex_lock (&shared->lock);
  reader->reading = *reading;
  reader->time_us = g_get_monotonic_time ();
  reader->count++;
  reader->reported = FALSE;
}

static gpointer
run_reader (gpointer data)
{
  ReaderStart start = *(ReaderStart *) data;
  Shared *shared = start.shared;
  Reader *reader = start.reader;
  gint64 began = g_get_monotonic_time ();
  gpointer source;

  g_free (data);
  source = reader->class->open (&shared->setup);
  g_mutex_lock (&shared->lock);
  reader->absent = !source;
  if (source && !shared->quit)
    do
      read_source (shared, reader, source);
    while (wait_for_tick (shared, began));
  g_mutex_unlock (&shared->lock);
  if (source)
    reader->class->close (source);
  g_mutex_lock (&shared->lock);
  reader->ended = TRUE;
  g_cond_broadcast (&shared->changed);
  g_mutex_unlock (&shared->lock);
  unref_shared (shared);
  return NULL;
}

static void
start_reader (Shared *shared, Reader *reader)
{
  ReaderStart *start = g_new (ReaderStart, 1);
  GThread *thread;

  *start = (ReaderStart){ shared, reader };
  g_atomic_ref_count_inc (&shared->references);
  thread = g_thread_try_new ("dyno-sensor", run_reader, start, NULL);
  if (thread)
    {
      g_thread_unref (thread); /* it is never joined, since it may hang */
      return;
    }
  reader->absent = reader->ended = TRUE;
  g_free (start);
  unref_shared (shared);
}

/* --- the reading ------------------------------------------------------------------------------ */

/* Copies the values that the reading does not have yet from a source's part. */
static void
take_over (DynoSensorReading *reading, const DynoSensorReading *part)
{
  for (guint i = 0; i < DYNO_N_SENSORS; i++)
    if (isnan (reading->values[i]) && !isnan (part->values[i]))
      {
        reading->values[i] = part->values[i];
        reading->sources[i] = part->sources[i];
        if (i == DYNO_SENSOR_GPU_THROTTLE)
          reading->throttle_reasons = part->throttle_reasons;
      }
  if (reading->n_cores == 0 && part->n_cores > 0)
    {
      reading->n_cores = part->n_cores;
      memcpy (reading->core_busy, part->core_busy, sizeof reading->core_busy);
    }
  if (!reading->programs.known)
    reading->programs = part->programs;
}

/* Called with the lock. */
static gboolean
is_stale (const Shared *shared, const Reader *reader, gint64 now)
{
  return reader->count > 0
         && now - reader->time_us > MAX (shared->stale_us, 5 * shared->interval_us);
}

static void
take_vram (const Shared *shared, DynoSensorReading *reading)
{
  if (shared->own_source != DYNO_SENSOR_SOURCE_NONE)
    dyno_sensor_set (reading, DYNO_SENSOR_VRAM_OWN, (double) shared->own_bytes, shared->own_source);
}

static void
take_defaults (const Shared *shared, DynoSensorReading *reading)
{
  const DynoDeviceInfo *device = &shared->setup.device;

  if (isnan (reading->values[DYNO_SENSOR_VRAM_ALL]) && shared->all_bytes > 0)
    dyno_sensor_set (reading, DYNO_SENSOR_VRAM_ALL, (double) shared->all_bytes,
                     DYNO_SENSOR_SOURCE_DRIVER);
  if (isnan (reading->values[DYNO_SENSOR_VRAM_TOTAL]) && shared->setup.has_device
      && device->vram_bytes > 0)
    dyno_sensor_set (reading, DYNO_SENSOR_VRAM_TOTAL, (double) device->vram_bytes,
                     DYNO_SENSOR_SOURCE_DRIVER);
}

static gboolean
put_together (Shared *shared, DynoSensorReading *reading)
{
  gint64 now = g_get_monotonic_time ();
  gboolean any = FALSE;

  dyno_sensor_reading_init (reading);
  reading->time_us = now;
  reading->complete = TRUE;
  g_mutex_lock (&shared->lock);
  take_vram (shared, reading);
  for (guint i = 0; i < N_READERS; i++)
    {
      Reader *reader = &shared->readers[i];

      reading->complete = reading->complete && (reader->absent || reader->count > 1);
      if (is_stale (shared, reader, now))
        {
          if (!reader->reported)
            g_info ("Sensors: %s does not answer; its values are not available",
                    reader->class->name);
          reader->reported = TRUE;
          continue;
        }
      if (reader->count == 0)
        continue;
      any = TRUE;
      take_over (reading, &reader->reading);
    }
  take_defaults (shared, reading);
  g_mutex_unlock (&shared->lock);
  return any;
}

gboolean
dyno_sensors_get (DynoSensors *sensors, DynoSensorReading *reading)
{
  return put_together (sensors->shared, reading);
}

void
dyno_sensors_set_vram (DynoSensors *sensors, guint64 own_bytes, DynoSensorSource own_source,
                       guint64 all_bytes)
{
  Shared *shared = sensors->shared;

  g_mutex_lock (&shared->lock);
  shared->own_bytes = own_bytes;
  shared->own_source = own_source;
  shared->all_bytes = all_bytes;
  g_mutex_unlock (&shared->lock);
}

/* --- life ------------------------------------------------------------------------------------- */

static gpointer
run_ticker (gpointer data)
{
  DynoSensors *sensors = data;
  Shared *shared = sensors->shared;
  g_autofree DynoSensorReading *reading = g_new (DynoSensorReading, 1);
  gint64 began = g_get_monotonic_time ();
  gboolean goes_on;

  do
    {
      g_mutex_lock (&shared->lock);
      goes_on = wait_for_tick (shared, began);
      g_mutex_unlock (&shared->lock);
      if (goes_on && put_together (shared, reading))
        sensors->reading (reading, sensors->data);
    }
  while (goes_on);
  return NULL;
}

DynoSensors *
dyno_sensors_new (const DynoSensorsParams *params)
{
  DynoSensors *sensors = g_new0 (DynoSensors, 1);
  Shared *shared = g_new0 (Shared, 1);

  g_atomic_ref_count_init (&shared->references);
  g_mutex_init (&shared->lock);
  g_cond_init (&shared->changed);
  shared->setup.proc_root = g_strdup (params->proc_root ? params->proc_root : "/proc");
  shared->setup.sys_root = g_strdup (params->sys_root ? params->sys_root : "/sys");
  shared->setup.nvml = g_strdup (params->nvml ? params->nvml : "libnvidia-ml.so.1");
  shared->setup.has_device = params->device != NULL;
  if (params->device)
    shared->setup.device = *params->device;
  shared->setup.in_use = params->in_use;
  shared->setup.ask_driver = params->ask_driver;
  shared->stale_us = (gint64) (params->stale_ms ? params->stale_ms : STALE_MS) * 1000;
  shared->interval_us = (gint64) (params->interval_ms ? params->interval_ms : INTERVAL_MS) * 1000;
  sensors->shared = shared;
  sensors->reading = params->reading;
  sensors->data = params->data;
  for (guint i = 0; i < N_READERS; i++)
    {
      shared->readers[i].class = classes[i];
      start_reader (shared, &shared->readers[i]);
    }
  if (params->reading)
    sensors->ticker = g_thread_try_new ("dyno-sensors", run_ticker, sensors, NULL);
  return sensors;
}

static gboolean
all_ended (const Shared *shared)
{
  for (guint i = 0; i < N_READERS; i++)
    if (!shared->readers[i].ended)
      return FALSE;
  return TRUE;
}

void
dyno_sensors_free (DynoSensors *sensors)
{
  gint64 until = g_get_monotonic_time () + END_US;
  Shared *shared;

  if (!sensors)
    return;
  shared = sensors->shared;
  g_mutex_lock (&shared->lock);
  shared->quit = TRUE;
  g_cond_broadcast (&shared->changed);
  g_mutex_unlock (&shared->lock);
  if (sensors->ticker)
    g_thread_join (sensors->ticker);
  g_mutex_lock (&shared->lock);
  while (!all_ended (shared) && g_cond_wait_until (&shared->changed, &shared->lock, until))
    ;
  for (guint i = 0; i < N_READERS; i++)
    if (!shared->readers[i].ended)
      g_info ("Sensors: %s does not answer; its thread is left behind",
              shared->readers[i].class->name);
  g_mutex_unlock (&shared->lock);
  unref_shared (shared);
  g_free (sensors);
}
