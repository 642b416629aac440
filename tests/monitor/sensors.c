/* SPDX-License-Identifier: MIT */
/* The sensors as a whole: threads, readings of all sources, the end. */
#include "monitor-test.h"
#include <math.h>
#include <string.h>

typedef struct {
  GMutex lock;
  GCond changed;
  guint n;
  DynoSensorReading last;
} Seen;

static void
on_reading (const DynoSensorReading *reading, gpointer data)
{
  Seen *seen = data;

  g_mutex_lock (&seen->lock);
  seen->n++;
  seen->last = *reading;
  g_cond_broadcast (&seen->changed);
  g_mutex_unlock (&seen->lock);
}

/* Waits until `until` is true for the last reading, and returns it. */
static void
wait_for (Seen *seen, gboolean (*until) (const DynoSensorReading *), DynoSensorReading *reading)
{
  g_mutex_lock (&seen->lock);
  while (seen->n == 0 || !until (&seen->last))
    g_cond_wait (&seen->changed, &seen->lock);
  *reading = seen->last;
  g_mutex_unlock (&seen->lock);
}

static gboolean
is_complete (const DynoSensorReading *reading)
{
  return reading->complete;
}

static void
test_names (void)
{
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < DYNO_N_SENSORS; i++)
    {
      const DynoSensorInfo *info = dyno_sensor_get_info ((DynoSensor) i);

      g_assert_true (info->name && info->title && info->unit);
      g_assert_true (g_hash_table_add (names, (gpointer) info->name));
      g_assert_cmpuint (dyno_sensor_find (info->name), ==, i);
      for (const char *c = info->name; *c; c++)
        g_assert_true (g_ascii_islower (*c) || *c == '_');
    }
  g_assert_cmpuint (dyno_sensor_find ("gpu"), ==, DYNO_N_SENSORS);
}

static void
test_throttle_words (void)
{
  static const struct {
    guint reasons;
    const char *words;
  } rows[] = { { 0, "none" },
               { DYNO_THROTTLE_POWER, "power" },
               { DYNO_THROTTLE_TEMPERATURE | DYNO_THROTTLE_HARDWARE, "temperature, hardware" } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *words = dyno_throttle_words (rows[i].reasons);
      g_assert_cmpstr (words, ==, rows[i].words);
    }
}

static void
test_names_of_sources (void)
{
  static const char *const names[] = { "none",  "host",   "nvml",   "amdgpu",
                                       "intel", "driver", "account" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_assert_cmpstr (dyno_sensor_source_name ((DynoSensorSource) i), ==, names[i]);
  g_assert_cmpstr (dyno_sensor_source_name ((DynoSensorSource) G_N_ELEMENTS (names)), ==, "none");
  g_autofree char *all = dyno_throttle_words (0xff);
  g_assert_cmpstr (all, ==, "power, temperature, current, hardware");
}

/* A value that is no number leaves the one before, and its source. */
static void
test_a_value_stays (void)
{
  DynoSensorReading r;

  dyno_sensor_reading_init (&r);
  for (guint i = 0; i < DYNO_N_SENSORS; i++)
    g_assert_true (isnan (r.values[i]) && r.sources[i] == DYNO_SENSOR_SOURCE_NONE);
  dyno_sensor_set (&r, DYNO_SENSOR_GPU_BUSY, 7, DYNO_SENSOR_SOURCE_NVML);
  dyno_sensor_set (&r, DYNO_SENSOR_GPU_BUSY, (double) NAN, DYNO_SENSOR_SOURCE_HOST);
  dyno_sensor_set (&r, DYNO_SENSOR_GPU_BUSY, (double) INFINITY, DYNO_SENSOR_SOURCE_HOST);
  for (guint i = 0; i < DYNO_N_SENSORS; i++)
    g_assert_true (i == DYNO_SENSOR_GPU_BUSY
                       ? r.values[i] == 7 && r.sources[i] == DYNO_SENSOR_SOURCE_NVML
                       : isnan (r.values[i]) && r.sources[i] == DYNO_SENSOR_SOURCE_NONE);
}

/* A program that is told of again has both amounts, or the greater of one amount that was told
 * twice; programs are in the order of their memory, unknown amounts last, equal ones by their
 * number. */
static void
test_programs_are_sorted (void)
{
  static const struct {
    guint pid;
    double bytes;
    DynoProgramAgain again;
  } told[] = { { 7, 10, DYNO_PROGRAM_SUM },  { 3, NAN, DYNO_PROGRAM_SUM },
               { 9, 50, DYNO_PROGRAM_SUM },  { 7, 5, DYNO_PROGRAM_SUM },
               { 9, 40, DYNO_PROGRAM_SAME }, { 2, NAN, DYNO_PROGRAM_SUM },
               { 5, NAN, DYNO_PROGRAM_SUM }, { 5, 15, DYNO_PROGRAM_SUM },
               { 7, NAN, DYNO_PROGRAM_SUM }, { 1, 0, DYNO_PROGRAM_SUM },
               { 9, 60, DYNO_PROGRAM_SAME } };
  static const guint order[] = { 9, 5, 7, 1, 2, 3 };
  static const double bytes[] = { 60, 15, 15, 0, NAN, NAN };
  DynoSensorPrograms programs = { 0 };
  char *root = test_tree_new ();

  for (guint i = 0; i < G_N_ELEMENTS (told); i++)
    dyno_sensor_programs_add (&programs, told[i].pid, told[i].bytes, told[i].again);
  test_tree_write (root, "9/comm", "first\n");
  test_tree_write (root, "5/comm", "sec ond");
  test_tree_write (root, "1/comm", "\377\n");
  dyno_sensor_programs_finish (&programs, root, 7);
  g_assert_true (programs.known && programs.n == G_N_ELEMENTS (order));
  for (guint i = 0; i < programs.n; i++)
    {
      const DynoSensorProgram *program = &programs.list[i];
      g_assert_cmpuint (program->pid, ==, order[i]);
      g_assert_true (isnan (bytes[i]) ? isnan (program->bytes) : program->bytes == bytes[i]);
      g_assert_true (program->own == (program->pid == 7));
      g_assert_cmpstr (program->name, ==, i == 0 ? "first" : i == 1 ? "sec ond" : "");
    }
  programs.n = 0;
  for (guint i = 0; i < DYNO_SENSORS_MAX_PROGRAMS + 2; i++)
    dyno_sensor_programs_add (&programs, 100 + i, i, DYNO_PROGRAM_SUM);
  dyno_sensor_programs_add (&programs, 100 + DYNO_SENSORS_MAX_PROGRAMS - 1, 1, DYNO_PROGRAM_SUM);
  g_assert_cmpuint (programs.n, ==, DYNO_SENSORS_MAX_PROGRAMS);
  g_assert_cmpfloat (programs.list[programs.n - 1].bytes, ==, DYNO_SENSORS_MAX_PROGRAMS);
  test_tree_free (root);
}

/* Readings come periodically and on request; both have the host's values. */
static void
test_readings (void)
{
  char *root = test_tree_new ();
  Seen seen = { 0 };
  DynoSensorsParams params = {
    .proc_root = root, .interval_ms = 5, .reading = on_reading, .data = &seen
  };
  DynoSensors *sensors;
  DynoSensorReading r, asked;

  test_tree_write_machine (root, 0);
  sensors = dyno_sensors_new (&params);
  wait_for (&seen, is_complete, &r);
  test_assert_near (r.values[DYNO_SENSOR_RAM_TOTAL], 16000000.0 * 1024);
  test_assert_missing (r.values[DYNO_SENSOR_GPU_BUSY]);
  test_assert_missing (r.values[DYNO_SENSOR_VRAM_OWN]);
  test_assert_missing (r.values[DYNO_SENSOR_VRAM_TOTAL]);
  g_assert_true (dyno_sensors_get (sensors, &asked));
  g_assert_cmpint (asked.time_us, >=, r.time_us);
  test_assert_near (asked.values[DYNO_SENSOR_RAM_USED], 4000000.0 * 1024);
  dyno_sensors_free (sensors);
  g_mutex_clear (&seen.lock);
  g_cond_clear (&seen.changed);
  test_tree_free (root);
}

/* Ticks are at multiples of the interval since the start, however late each of them was, so that
 * the time for readings does not add up. */
static void
test_ticks (void)
{
  const gint64 began = 12345, interval = 1000;
  static const struct {
    gint64 late, next; /* microseconds after the start */
  } ticks[] = { { 0, 1000 },    { 1003, 2000 }, { 2999, 3000 },
                { 3000, 4000 }, { 4700, 5000 }, { 8001, 9000 } };

  for (guint i = 0; i < G_N_ELEMENTS (ticks); i++)
    g_assert_cmpint (dyno_source_next_tick_us (began, interval, began + ticks[i].late), ==,
                     began + ticks[i].next);
}

/* The memory that the device's owner reports is labelled with its source. */
static void
test_vram (void)
{
  char *root = test_tree_new ();
  DynoDeviceInfo device = { .vram_bytes = 8000 };
  DynoSensorsParams params = { .device = &device, .proc_root = root, .sys_root = root };
  g_autoptr (DynoSensors) sensors = dyno_sensors_new (&params);
  DynoSensorReading r;

  dyno_sensors_get (sensors, &r);
  test_assert_missing (r.values[DYNO_SENSOR_VRAM_OWN]);
  test_assert_near (r.values[DYNO_SENSOR_VRAM_TOTAL], 8000);
  dyno_sensors_set_vram (sensors, 1000, DYNO_SENSOR_SOURCE_ACCOUNT, 0);
  dyno_sensors_get (sensors, &r);
  test_assert_near (r.values[DYNO_SENSOR_VRAM_OWN], 1000);
  test_assert_missing (r.values[DYNO_SENSOR_VRAM_ALL]);
  g_assert_cmpuint (r.sources[DYNO_SENSOR_VRAM_OWN], ==, DYNO_SENSOR_SOURCE_ACCOUNT);
  dyno_sensors_set_vram (sensors, 1500, DYNO_SENSOR_SOURCE_DRIVER, 3000);
  dyno_sensors_get (sensors, &r);
  test_assert_near (r.values[DYNO_SENSOR_VRAM_OWN], 1500);
  test_assert_near (r.values[DYNO_SENSOR_VRAM_ALL], 3000);
  g_assert_cmpuint (r.sources[DYNO_SENSOR_VRAM_OWN], ==, DYNO_SENSOR_SOURCE_DRIVER);
  g_assert_cmpuint (r.sources[DYNO_SENSOR_VRAM_ALL], ==, DYNO_SENSOR_SOURCE_DRIVER);
  test_tree_free (root);
}

/* The sensors are closed before the first reading, and many at a time. */
static void
test_end_at_once (void)
{
  Seen seen = { 0 };
  DynoSensorsParams params = { .interval_ms = 1, .reading = on_reading, .data = &seen };

  for (guint i = 0; i < 20; i++)
    {
      DynoSensors *sensors[4];

      for (guint k = 0; k < G_N_ELEMENTS (sensors); k++)
        sensors[k] = dyno_sensors_new (&params);
      for (guint k = 0; k < G_N_ELEMENTS (sensors); k++)
        dyno_sensors_free (sensors[k]);
    }
  dyno_sensors_free (NULL);
  g_mutex_clear (&seen.lock);
  g_cond_clear (&seen.changed);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/monitor/sensors/names-are-unique-and-found", test_names);
  g_test_add_func ("/monitor/sensors/reasons-of-throttling-in-words", test_throttle_words);
  g_test_add_func ("/monitor/sensors/names-of-sources", test_names_of_sources);
  g_test_add_func ("/monitor/sensors/a-value-stays", test_a_value_stays);
  g_test_add_func ("/monitor/sensors/programs-are-sorted", test_programs_are_sorted);
  g_test_add_func ("/monitor/sensors/readings-come-and-can-be-asked-for", test_readings);
  g_test_add_func ("/monitor/sensors/ticks-do-not-drift", test_ticks);
  g_test_add_func ("/monitor/sensors/vram-of-the-owner-is-labelled", test_vram);
  g_test_add_func ("/monitor/sensors/end-at-any-time", test_end_at_once);
  return g_test_run ();
}
