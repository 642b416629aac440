/* SPDX-License-Identifier: MIT */
/* NVIDIA cards, with a stub of NVML: complete, with missing functions, failing, hanging. */
#include "fake-nvml.h"
#include "monitor-test.h"
#include <gmodule.h>
#include <math.h>
#include <string.h>

static DynoDeviceInfo card = { .vendor_id = 0x10de,
                               .pci = "0000:65:00.0",
                               .vram_bytes = 81000000000 };

#define SET(member, value) __atomic_store_n (&(member), (value), __ATOMIC_SEQ_CST)
#define GET(member)        __atomic_load_n (&(member), __ATOMIC_SEQ_CST)

/* Threads that an earlier test abandoned may still be reading. */
static void
forget (FakeNvml *fake)
{
  int *const members[] = { &fake->hang,      &fake->init_error, &fake->error,      &fake->inits,
                           &fake->shutdowns, &fake->reads,      &fake->no_reserved };

  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    SET (*members[i], 0);
  SET (fake->lists_own, 1);
  SET (fake->reasons, 0);
}

/* Opens the library that the sensors will open too, and resets its counters. */
static FakeNvml *
open_fake (const char *path)
{
  GModule *module = g_module_open (path, G_MODULE_BIND_LOCAL);
  gpointer fake = NULL;

  g_assert_nonnull (module);
  g_module_make_resident (module);
  g_assert_true (g_module_symbol (module, "fake_nvml", &fake));
  forget (fake);
  return fake;
}

static gpointer
open_source (const char *library, const DynoDeviceInfo *device, gboolean in_use)
{
  DynoSourceSetup setup = { .proc_root = (char *) "/proc",
                            .nvml = (char *) library,
                            .device = *device,
                            .has_device = TRUE,
                            .in_use = in_use };

  return dyno_source_nvml.open (&setup);
}

static void
read_now (gpointer source, DynoSensorReading *reading)
{
  dyno_sensor_reading_init (reading);
  dyno_source_nvml.read (source, 0, reading);
}

static void
test_whole (void)
{
  FakeNvml *fake = open_fake (FAKE_NVML);
  gpointer source = open_source (FAKE_NVML, &card, TRUE);
  DynoSensorReading r;

  g_assert_nonnull (source);
  read_now (source, &r);
  test_assert_near (r.values[DYNO_SENSOR_GPU_BUSY], 87);
  test_assert_near (r.values[DYNO_SENSOR_GPU_TEMPERATURE], 71);
  test_assert_near (r.values[DYNO_SENSOR_GPU_POWER], 349.5);
  test_assert_near (r.values[DYNO_SENSOR_GPU_POWER_LIMIT], 700);
  test_assert_near (r.values[DYNO_SENSOR_GPU_CLOCK], 1980);
  test_assert_near (r.values[DYNO_SENSOR_GPU_MEMORY_CLOCK], 2619);
  test_assert_near (r.values[DYNO_SENSOR_VRAM_OWN], 5e9);
  test_assert_near (r.values[DYNO_SENSOR_GPU_OTHERS], 2); /* one process is in both lists */
  test_assert_near (r.values[DYNO_SENSOR_GPU_THROTTLE], 0);
  g_assert_cmpuint (r.sources[DYNO_SENSOR_GPU_BUSY], ==, DYNO_SENSOR_SOURCE_NVML);
  test_assert_missing (r.values[DYNO_SENSOR_CPU_BUSY]);
  /* The memory of a process that computes and draws is listed twice, and the larger value is the
   * newer one. */
  g_assert_true (r.programs.known);
  g_assert_cmpuint (r.programs.n, ==, 3);
  g_assert_cmpuint (r.programs.list[0].pid, ==, (guint) getpid ());
  g_assert_true (r.programs.list[0].own);
  test_assert_near (r.programs.list[0].bytes, 5e9);
  g_assert_cmpuint (r.programs.list[1].pid, ==, 1);
  g_assert_false (r.programs.list[1].own);
  test_assert_near (r.programs.list[1].bytes, 2000);
  test_assert_missing (r.programs.list[2].bytes);
  g_assert_cmpstr (r.programs.list[2].name, ==, "");
  dyno_source_nvml.close (source);
  g_assert_cmpint (fake->inits, ==, 1);
  g_assert_cmpint (fake->shutdowns, ==, 1);
}

/* The reader of a run may still exist when that of the next run begins: the library is initialised
 * and shut down once for all of them. */
static void
test_two_readers (void)
{
  FakeNvml *fake = open_fake (FAKE_NVML);
  gpointer one = open_source (FAKE_NVML, &card, TRUE), other;
  DynoSensorReading r;

  other = open_source (FAKE_NVML, &card, TRUE);
  g_assert_cmpint (fake->inits, ==, 1);
  dyno_source_nvml.close (one);
  g_assert_cmpint (fake->shutdowns, ==, 0);
  read_now (other, &r);
  test_assert_near (r.values[DYNO_SENSOR_GPU_BUSY], 87);
  dyno_source_nvml.close (other);
  g_assert_cmpint (fake->shutdowns, ==, 1);
  one = open_source (FAKE_NVML, &card, TRUE);
  g_assert_cmpint (fake->inits, ==, 2);
  dyno_source_nvml.close (one);
  g_assert_cmpint (fake->shutdowns, ==, 2);
}

/* Memory that the driver reserves belongs to no program, and programs cannot use it; an older
 * library, or a failing function, includes it. */
static void
test_memory (void)
{
  FakeNvml *fake = open_fake (FAKE_NVML);
  gpointer source = open_source (FAKE_NVML, &card, TRUE), old;
  DynoSensorReading r;

  read_now (source, &r);
  test_assert_near (r.values[DYNO_SENSOR_VRAM_ALL], 19e9);
  test_assert_near (r.values[DYNO_SENSOR_VRAM_TOTAL], 79e9);
  SET (fake->no_reserved, 1);
  read_now (source, &r);
  test_assert_near (r.values[DYNO_SENSOR_VRAM_ALL], 20e9);
  test_assert_near (r.values[DYNO_SENSOR_VRAM_TOTAL], 80e9);
  dyno_source_nvml.close (source);
  open_fake (FAKE_NVML_OLD);
  old = open_source (FAKE_NVML_OLD, &card, TRUE);
  read_now (old, &r);
  test_assert_near (r.values[DYNO_SENSOR_VRAM_ALL], 20e9);
  test_assert_near (r.values[DYNO_SENSOR_VRAM_TOTAL], 80e9);
  dyno_source_nvml.close (old);
}

static void
test_reasons (void)
{
  static const struct {
    unsigned long long flags;
    guint reasons;
  } rows[] = { { 0x1, 0 }, /* idle */
               { 0x2, 0 }, /* clocks set by applications */
               { 0x4, DYNO_THROTTLE_POWER },
               { 0x8, DYNO_THROTTLE_HARDWARE },
               { 0x10, 0 },
               { 0x20, DYNO_THROTTLE_TEMPERATURE },
               { 0x40 | 0x80, DYNO_THROTTLE_TEMPERATURE | DYNO_THROTTLE_POWER },
               { 0x100, 0 } };
  FakeNvml *fake = open_fake (FAKE_NVML);
  gpointer source = open_source (FAKE_NVML, &card, TRUE);
  DynoSensorReading r;

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      fake->reasons = rows[i].flags;
      read_now (source, &r);
      g_assert_cmpuint (r.throttle_reasons, ==, rows[i].reasons);
      test_assert_near (r.values[DYNO_SENSOR_GPU_THROTTLE], rows[i].reasons != 0);
    }
  dyno_source_nvml.close (source);
}

/* In a container this process has another number: a process that is not visible counts as this one,
 * if it uses the card. */
static void
test_hidden (void)
{
  FakeNvml *fake = open_fake (FAKE_NVML);
  DynoSensorReading r;

  fake->lists_own = 0;
  for (guint in_use = 0; in_use < 2; in_use++)
    {
      gpointer source = open_source (FAKE_NVML, &card, in_use > 0);

      read_now (source, &r);
      test_assert_near (r.values[DYNO_SENSOR_GPU_OTHERS], in_use ? 2 : 3);
      test_assert_missing (r.values[DYNO_SENSOR_VRAM_OWN]);
      dyno_source_nvml.close (source);
    }
}

static void
test_old (void)
{
  FakeNvml *fake = open_fake (FAKE_NVML_OLD);
  gpointer source = open_source (FAKE_NVML_OLD, &card, TRUE);
  DynoSensorReading r;

  fake->reasons = 0x4;
  read_now (source, &r);
  test_assert_near (r.values[DYNO_SENSOR_GPU_BUSY], 87);
  test_assert_missing (r.values[DYNO_SENSOR_GPU_POWER_LIMIT]);
  g_assert_cmpuint (r.throttle_reasons, ==, DYNO_THROTTLE_POWER);
  test_assert_near (r.values[DYNO_SENSOR_GPU_OTHERS], 2);
  dyno_source_nvml.close (source);
}

static void
test_none (void)
{
  DynoDeviceInfo other = card;
  FakeNvml *fake;

  g_assert_null (open_source ("/nonexistent/libnvidia-ml.so.1", &card, TRUE));
  g_assert_null (open_source (FAKE_NVML_BARE, &card, TRUE));
  fake = open_fake (FAKE_NVML);
  fake->init_error = 9;
  g_assert_null (open_source (FAKE_NVML, &card, TRUE));
  g_assert_cmpint (fake->shutdowns, ==, 0);
  fake->init_error = 0;
  g_strlcpy (other.pci, "0000:66:00.0", sizeof other.pci);
  g_assert_null (open_source (FAKE_NVML, &other, TRUE));
  g_assert_cmpint (fake->shutdowns, ==, 1); /* every initialisation has its shutdown */
  other = card;
  other.vendor_id = 0x1002;
  g_assert_null (open_source (FAKE_NVML, &other, TRUE));
  other = card;
  other.pci[0] = '\0';
  g_assert_null (open_source (FAKE_NVML, &other, TRUE));
}

static void
test_errors (void)
{
  FakeNvml *fake = open_fake (FAKE_NVML);
  gpointer source = open_source (FAKE_NVML, &card, TRUE);
  DynoSensorReading r;

  fake->error = 15; /* the card is lost */
  read_now (source, &r);
  for (guint i = 0; i < DYNO_N_SENSORS; i++)
    test_assert_missing (r.values[i]);
  g_assert_cmpuint (r.throttle_reasons, ==, 0);
  g_assert_false (r.programs.known);
  fake->error = 0;
  read_now (source, &r);
  test_assert_near (r.values[DYNO_SENSOR_GPU_BUSY], 87);
  dyno_source_nvml.close (source);
}

/* --- with threads ----------------------------------------------------------------------------- */

static DynoSensors *
open_sensors (const char *root, const char *library)
{
  DynoSensorsParams params = { .device = &card,
                               .proc_root = root,
                               .sys_root = root,
                               .nvml = library,
                               .interval_ms = 2,
                               .stale_ms = 50 };

  return dyno_sensors_new (&params);
}

/* Reads until the sensor is available (there TRUE), or until it is not (FALSE). */
static void
wait_until (DynoSensors *sensors, DynoSensor sensor, gboolean there, DynoSensorReading *r)
{
  do
    {
      g_usleep (1000);
      dyno_sensors_get (sensors, r);
    }
  while (isfinite (r->values[sensor]) != there);
}

/* A card that does not answer is unavailable; the host's values continue, and so do the card's when
 * it answers again. */
static void
test_hangs_reading (void)
{
  char *root = test_tree_new ();
  FakeNvml *fake = open_fake (FAKE_NVML);
  DynoSensors *sensors;
  DynoSensorReading r;
  gint64 last;

  test_tree_write_machine (root, 0);
  sensors = open_sensors (root, FAKE_NVML);
  wait_until (sensors, DYNO_SENSOR_GPU_BUSY, TRUE, &r);
  SET (fake->hang, FAKE_HANG_READ);
  wait_until (sensors, DYNO_SENSOR_GPU_BUSY, FALSE, &r);
  /* The size of the heap is still available. */
  test_assert_near (r.values[DYNO_SENSOR_VRAM_TOTAL], 81e9);
  g_assert_cmpuint (r.throttle_reasons, ==, 0);
  last = r.time_us;
  test_tree_write (root, "meminfo", "MemTotal: 7 kB\nMemAvailable: 3 kB\n");
  do
    wait_until (sensors, DYNO_SENSOR_RAM_TOTAL, TRUE, &r);
  while (r.values[DYNO_SENSOR_RAM_TOTAL] != 7 * 1024);
  g_assert_cmpint (r.time_us, >, last);
  /* The card's values are missing in later readings too. */
  g_assert_false (isfinite (r.values[DYNO_SENSOR_GPU_BUSY]));
  dyno_sensors_free (sensors);
  g_assert_cmpint (GET (fake->shutdowns), ==, 0);
  test_tree_free (root);
}

/* Rates need two readings of each source, so the first reading is not complete. */
static void
test_one_reading_is_not_all (void)
{
  char *root = test_tree_new ();
  DynoSensorsParams params = { .device = &card,
                               .proc_root = root,
                               .sys_root = root,
                               .nvml = FAKE_NVML,
                               .interval_ms = 3600 * 1000 };
  DynoSensors *sensors;
  DynoSensorReading r;

  open_fake (FAKE_NVML);
  test_tree_write_machine (root, 0);
  sensors = dyno_sensors_new (&params);
  wait_until (sensors, DYNO_SENSOR_GPU_BUSY, TRUE, &r);
  for (guint asked = 0; asked < 30; asked++)
    {
      wait_until (sensors, DYNO_SENSOR_RAM_TOTAL, TRUE, &r);
      g_assert_false (r.complete);
    }
  dyno_sensors_free (sensors);
  test_tree_free (root);
}

static gint hangs_told; /* atomic */

static void
count_hangs (const char *domain, GLogLevelFlags level, const char *message, gpointer data)
{
  (void) domain;
  (void) level;
  (void) data;
  if (strstr (message, dyno_source_nvml.name) && strstr (message, "does not answer"))
    g_atomic_int_inc (&hangs_told);
}

/* The log has each time that a card stopped answering, and not only the first. */
static void
test_each_hang_is_logged (void)
{
  char *root = test_tree_new ();
  FakeNvml *fake = open_fake (FAKE_NVML);
  GLogFunc before = g_log_set_default_handler (count_hangs, NULL);
  DynoSensors *sensors;
  DynoSensorReading r;

  test_tree_write_machine (root, 0);
  sensors = open_sensors (root, FAKE_NVML);
  for (gint outage = 1; outage <= 2; outage++)
    {
      wait_until (sensors, DYNO_SENSOR_GPU_BUSY, TRUE, &r);
      SET (fake->hang, FAKE_HANG_READ);
      wait_until (sensors, DYNO_SENSOR_GPU_BUSY, FALSE, &r);
      /* On a busy machine the log may have more outages. */
      g_assert_cmpint (g_atomic_int_get (&hangs_told), >=, outage);
      SET (fake->hang, FAKE_HANG_NOWHERE);
    }
  dyno_sensors_free (sensors);
  g_log_set_default_handler (before, NULL);
  test_tree_free (root);
}

/* A hang in the initialisation or in the shutdown does not delay the end either. */
static void
test_hangs_elsewhere (void)
{
  static const int places[] = { FAKE_HANG_INIT, FAKE_HANG_SHUTDOWN };
  static const char *const libraries[] = { FAKE_NVML_NO_BEGIN, FAKE_NVML_NO_END };

  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    {
      char *root = test_tree_new ();
      FakeNvml *fake = open_fake (libraries[i]);
      DynoSensors *sensors;
      DynoSensorReading r;

      SET (fake->hang, places[i]);
      test_tree_write_machine (root, 0);
      sensors = open_sensors (root, libraries[i]);
      wait_until (sensors, DYNO_SENSOR_RAM_TOTAL, TRUE, &r);
      if (places[i] == FAKE_HANG_SHUTDOWN)
        wait_until (sensors, DYNO_SENSOR_GPU_BUSY, TRUE, &r);
      else
        test_assert_missing (r.values[DYNO_SENSOR_GPU_BUSY]);
      dyno_sensors_free (sensors);
      test_tree_free (root);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/monitor/nvml/all-that-a-card-tells", test_whole);
  g_test_add_func ("/monitor/nvml/begun-and-ended-once-for-all-readers", test_two_readers);
  g_test_add_func ("/monitor/nvml/memory-of-programs-without-the-drivers", test_memory);
  g_test_add_func ("/monitor/nvml/reasons-that-hold-it-back", test_reasons);
  g_test_add_func ("/monitor/nvml/own-process-behind-a-hidden-number", test_hidden);
  g_test_add_func ("/monitor/nvml/older-library-has-less", test_old);
  g_test_add_func ("/monitor/nvml/no-library-or-card-is-no-source", test_none);
  g_test_add_func ("/monitor/nvml/errors-are-not-available", test_errors);
  g_test_add_func ("/monitor/nvml/one-reading-is-not-all", test_one_reading_is_not_all);
  g_test_add_func ("/monitor/nvml/each-hang-is-logged", test_each_hang_is_logged);
  g_test_add_func ("/monitor/nvml/hanging-card-is-left-out-and-behind", test_hangs_reading);
  g_test_add_func ("/monitor/nvml/hanging-begin-or-end-is-left-behind", test_hangs_elsewhere);
  return g_test_run ();
}
