/* SPDX-License-Identifier: MIT */
/* The host's sensors from /proc, with trees of files. */
#include "monitor-test.h"
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND G_USEC_PER_SEC

static gpointer
open_tree (const char *root)
{
  DynoSourceSetup setup = { .proc_root = (char *) root };

  return dyno_source_host.open (&setup);
}

static void
read_at (gpointer source, gint64 now_us, DynoSensorReading *reading)
{
  dyno_sensor_reading_init (reading);
  dyno_source_host.read (source, now_us, reading);
}

static void
test_rates (void)
{
  char *root = test_tree_new ();
  gpointer source = open_tree (root);
  DynoSensorReading r;

  test_tree_write_machine (root, 0);
  read_at (source, 10 * SECOND, &r);
  test_assert_missing (r.values[DYNO_SENSOR_CPU_BUSY]);
  test_assert_missing (r.values[DYNO_SENSOR_CPU_OWN]);
  test_assert_missing (r.values[DYNO_SENSOR_DISK_READ_PER_S]);
  test_assert_missing (r.values[DYNO_SENSOR_SWAP_IN_PER_S]);
  test_assert_near (r.values[DYNO_SENSOR_RAM_TOTAL], 16000000.0 * 1024);
  test_assert_near (r.values[DYNO_SENSOR_RAM_USED], 4000000.0 * 1024);
  test_assert_near (r.values[DYNO_SENSOR_PRESSURE_CPU], 12.5);
  test_assert_near (r.values[DYNO_SENSOR_PRESSURE_IO], 0.25);
  test_assert_near (r.values[DYNO_SENSOR_PRESSURE_MEMORY], 0);

  test_tree_write_machine (root, 1);
  read_at (source, 12 * SECOND, &r);
  /* of 400 ticks 180 were idle, and 10 waited for a disk */
  test_assert_near (r.values[DYNO_SENSOR_CPU_BUSY], 100 * 210.0 / 400);
  test_assert_near (r.values[DYNO_SENSOR_CPU_OWN], 100 * 100.0 / 400);
  test_assert_near (r.values[DYNO_SENSOR_DISK_READ_PER_S], 4096000 / 2.0);
  test_assert_near (r.values[DYNO_SENSOR_SWAP_IN_PER_S],
                    10.0 * (double) sysconf (_SC_PAGESIZE) / 2);
  /* A third reading has the rates since the second, and not since the first. */
  test_tree_write (root, "stat",
                   "cpu  1190 100 530 8340 330 55 55 0 0 0\n"
                   "cpu0 360 25 135 2060 95 12 13 0 0 0\n");
  test_tree_write (root, "self/stat",
                   "4711 (a) R 1 4711 4711 0 -1 4194304 100 0 2 0 785 175 0 0 20 0 9 0 5000 1 2\n");
  test_tree_write (root, "self/io", "read_bytes: 8193000\n");
  test_tree_write (root, "vmstat", "pswpin 113\n");
  read_at (source, 13 * SECOND, &r);
  test_assert_near (r.values[DYNO_SENSOR_CPU_BUSY], 100 * 20.0 / 200);
  test_assert_near (r.values[DYNO_SENSOR_CPU_OWN], 100 * 10.0 / 200);
  test_assert_near ((double) r.core_busy[0], 100 * 20.0 / 100);
  test_assert_near (r.values[DYNO_SENSOR_DISK_READ_PER_S], 1000);
  test_assert_near (r.values[DYNO_SENSOR_SWAP_IN_PER_S], 3.0 * (double) sysconf (_SC_PAGESIZE));
  g_assert_cmpuint (r.sources[DYNO_SENSOR_CPU_OWN], ==, DYNO_SENSOR_SOURCE_HOST);
  g_assert_cmpuint (r.sources[DYNO_SENSOR_GPU_BUSY], ==, DYNO_SENSOR_SOURCE_NONE);
  dyno_source_host.close (source);
  test_tree_free (root);
}

static void
test_cores (void)
{
  char *root = test_tree_new ();
  gpointer source = open_tree (root);
  DynoSensorReading r;

  test_tree_write_machine (root, 0);
  read_at (source, 10 * SECOND, &r);
  g_assert_cmpuint (r.n_cores, ==, 4);
  test_assert_missing (r.core_busy[0]);
  test_tree_write_machine (root, 1);
  read_at (source, 11 * SECOND, &r);
  g_assert_cmpuint (r.n_cores, ==, 4);
  test_assert_near ((double) r.core_busy[0], 100);
  test_assert_near ((double) r.core_busy[1], 20);
  test_assert_missing (r.core_busy[2]); /* offline */
  g_assert_cmpfloat ((double) r.core_busy[3], >, 0);
  test_assert_missing (r.core_busy[4]);
  dyno_source_host.close (source);
  test_tree_free (root);
}

static void
test_nothing (void)
{
  char *root = test_tree_new ();
  gpointer source = open_tree (root);
  DynoSensorReading r;

  for (guint i = 0; i < 2; i++)
    {
      read_at (source, i * SECOND, &r);
      for (guint k = 0; k < DYNO_N_SENSORS; k++)
        test_assert_missing (r.values[k]);
      g_assert_cmpuint (r.n_cores, ==, 0);
    }
  dyno_source_host.close (source);
  test_tree_free (root);
}

/* A reading lacks the machine's ticks: the next one covers the time since the last complete one,
 * also for this process's share. */
static void
test_ticks_missing (void)
{
  char *root = test_tree_new ();
  gpointer source = open_tree (root);
  DynoSensorReading r;

  for (guint i = 0; i < 2; i++)
    {
      test_tree_write_machine (root, 0);
      read_at (source, 10 * SECOND, &r);
      test_tree_write (root, "stat", "");
      test_tree_write (
          root, "self/stat",
          "4711 (a) R 1 4711 4711 0 -1 4194304 100 0 2 0 740 160 0 0 20 0 9 0 5000 1 2\n");
      read_at (source, 11 * SECOND, &r);
      test_assert_missing (r.values[DYNO_SENSOR_CPU_BUSY]);
      test_assert_missing (r.values[DYNO_SENSOR_CPU_OWN]);
      test_tree_write_machine (root, 1);
      read_at (source, 12 * SECOND, &r);
      test_assert_near (r.values[DYNO_SENSOR_CPU_BUSY], 100 * 210.0 / 400);
      test_assert_near (r.values[DYNO_SENSOR_CPU_OWN], 100 * 100.0 / 400);
    }
  dyno_source_host.close (source);
  test_tree_free (root);
}

/* After a missing value the next value counts as the first, also the second time. */
static void
test_counter_missing (void)
{
  static const struct {
    double value, rate;
  } rows[] = { { 100, NAN }, { 160, 60 }, { 160, 0 },   { 160, 0 },   { NAN, NAN },
               { 300, NAN }, { 310, 10 }, { NAN, NAN }, { NAN, NAN }, { 400, NAN },
               { 405, 5 },   { 1, NAN },  { 3, 2 } };
  DynoSensorCounter counter = { .known = FALSE };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      double rate = dyno_sensor_counter_rate (&counter, rows[i].value, (i + 1) * SECOND);

      if (isnan (rows[i].rate))
        test_assert_missing (rate);
      else
        test_assert_near (rate, rows[i].rate);
    }
  /* no time has passed */
  test_assert_missing (dyno_sensor_counter_rate (&counter, 9, counter.time_us));
}

/* A counter that decreases, as after a wrap, gives no rate, and the next rate is right again. */
static void
test_counter_back (void)
{
  char *root = test_tree_new ();
  gpointer source = open_tree (root);
  DynoSensorReading r;

  test_tree_write_machine (root, 1);
  read_at (source, 1 * SECOND, &r);
  test_tree_write_machine (root, 0);
  read_at (source, 2 * SECOND, &r);
  test_assert_missing (r.values[DYNO_SENSOR_CPU_BUSY]);
  test_assert_missing (r.values[DYNO_SENSOR_CPU_OWN]);
  test_assert_missing (r.values[DYNO_SENSOR_DISK_READ_PER_S]);
  test_assert_missing (r.values[DYNO_SENSOR_SWAP_IN_PER_S]);
  test_tree_write_machine (root, 1);
  read_at (source, 3 * SECOND, &r);
  test_assert_near (r.values[DYNO_SENSOR_DISK_READ_PER_S], 4096000);
  test_assert_near (r.values[DYNO_SENSOR_CPU_BUSY], 100 * 210.0 / 400);
  dyno_source_host.close (source);
  test_tree_free (root);
}

/* Files that are truncated, empty, too long or of another format. */
static void
test_broken (void)
{
  static const char *const texts[] = {
    "",
    "\n",
    "cpu",
    "cpu  1 2",
    "cpu  x y z\ncpu0\ncpu99999999 1 2 3 4 5\n",
    "cpu  1 2 3 4\ncpu-1 5 5 5 5\ncpu1023 1 1 1 1\ncpu1024 1 1 1 1",
    ")",
    "1 (",
    "MemTotal:\nMemAvailable: x\n",
    "MemTotal: 5 kB\nMemAvailable: 9 kB\n",
    "read_bytes:",
    "some avg10=nan\n",
    "some avg10=1e999\n"
  };
  static const char *const names[] = { "stat",    "self/stat",    "meminfo",    "vmstat",
                                       "self/io", "pressure/cpu", "pressure/io" };
  char *root = test_tree_new ();
  gpointer source = open_tree (root);
  g_autofree char *big = g_strnfill (1 << 20, '7');
  DynoSensorReading r;

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      for (guint k = 0; k < G_N_ELEMENTS (names); k++)
        test_tree_write (root, names[k], texts[i]);
      read_at (source, i * SECOND, &r);
      test_assert_missing (r.values[DYNO_SENSOR_RAM_USED]);
      test_assert_missing (r.values[DYNO_SENSOR_CPU_OWN]);
      test_assert_missing (r.values[DYNO_SENSOR_PRESSURE_CPU]);
    }
  for (guint k = 0; k < G_N_ELEMENTS (names); k++)
    test_tree_write (root, names[k], big);
  read_at (source, 100 * SECOND, &r);
  test_assert_missing (r.values[DYNO_SENSOR_CPU_BUSY]);
  dyno_source_host.close (source);
  test_tree_free (root);
}

/* A FIFO without a writer in place of a file does not block the reading. */
static void
test_fifo (void)
{
  char *root = test_tree_new ();
  gpointer source = open_tree (root);
  g_autofree char *path = g_build_filename (root, "meminfo", NULL);
  DynoSensorReading r;

  g_assert_cmpint (mkfifo (path, 0600), ==, 0);
  read_at (source, SECOND, &r);
  test_assert_missing (r.values[DYNO_SENSOR_RAM_TOTAL]);
  dyno_source_host.close (source);
  test_tree_free (root);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/monitor/host/rates-are-differences", test_rates);
  g_test_add_func ("/monitor/host/cores-by-number-and-offline-ones-missing", test_cores);
  g_test_add_func ("/monitor/host/nothing-there-is-not-available", test_nothing);
  g_test_add_func ("/monitor/host/ticks-that-were-missing", test_ticks_missing);
  g_test_add_func ("/monitor/host/counter-that-is-missing-begins-anew", test_counter_missing);
  g_test_add_func ("/monitor/host/counter-that-goes-back-is-no-rate", test_counter_back);
  g_test_add_func ("/monitor/host/broken-files-are-not-available", test_broken);
  g_test_add_func ("/monitor/host/fifo-holds-nobody-up", test_fifo);
  return g_test_run ();
}
