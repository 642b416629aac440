/* SPDX-License-Identifier: MIT */
/* sensors.csv: written and read back, in any locale, and incomplete files. */
#include "monitor-test.h"
#include "sensorscsv.h"
#include <locale.h>
#include <math.h>
#include <string.h>

static void
make_row (DynoSensorRow *row)
{
  DynoSensorReading reading;

  dyno_sensor_reading_init (&reading);
  for (guint i = 0; i < DYNO_N_SENSORS; i += 2)
    dyno_sensor_set (&reading, (DynoSensor) i, 0.5 + i, DYNO_SENSOR_SOURCE_HOST);
  dyno_sensor_set (&reading, DYNO_SENSOR_VRAM_OWN, 12345678901234.0, DYNO_SENSOR_SOURCE_ACCOUNT);
  reading.throttle_reasons = DYNO_THROTTLE_POWER | DYNO_THROTTLE_CURRENT;
  dyno_sensor_row_init (row, &reading, 77);
  row->unix_time = 1700000000.25;
}

static char *
make_text (const DynoSensorRow *row)
{
  g_autoptr (GString) text = g_string_new (NULL);

  dyno_sensors_csv_append_head (text);
  dyno_sensors_csv_append (text, row);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
test_round_trip (void)
{
  char *root = test_tree_new ();
  DynoSensorRow row;
  const DynoSensorRow *back;
  g_autofree char *text = NULL, *other = NULL;
  g_autoptr (GArray) rows = NULL;

  make_row (&row);
  text = make_text (&row);
  g_assert_nonnull (strstr (text, ",power+current,account\n"));
  g_assert_nonnull (strstr (text, ",12345678901234,"));
  test_tree_write (root, "sensors.csv", text);
  rows = dyno_sensors_csv_read (root);
  g_assert_cmpuint (rows->len, ==, 1);
  back = &g_array_index (rows, DynoSensorRow, 0);
  test_assert_near (back->unix_time, row.unix_time);
  g_assert_cmpuint (back->step, ==, 77);
  g_assert_cmpuint (back->throttle_reasons, ==, row.throttle_reasons);
  g_assert_cmpuint (back->vram_own_source, ==, DYNO_SENSOR_SOURCE_ACCOUNT);
  for (guint i = 0; i < DYNO_N_SENSORS; i++)
    if (isnan (row.values[i]))
      test_assert_missing (back->values[i]);
    else
      test_assert_near (back->values[i], row.values[i]);
  other = make_text (back);
  g_assert_cmpstr (text, ==, other);
  test_tree_free (root);
}

static void
test_locale (void)
{
  DynoSensorRow row;
  g_autofree char *text = NULL, *other = NULL;

  make_row (&row);
  text = make_text (&row);
  if (!setlocale (LC_NUMERIC, "de_DE.UTF-8"))
    {
      g_test_skip ("no locale de_DE.UTF-8");
      return;
    }
  other = make_text (&row);
  setlocale (LC_NUMERIC, "C");
  g_assert_cmpstr (text, ==, other);
}

/* Columns are found by their names; those of another version are skipped. */
static void
test_other_columns (void)
{
  char *root = test_tree_new ();
  g_autoptr (GArray) rows = NULL;
  const DynoSensorRow *row;

  test_tree_write (root, "sensors.csv",
                   "step,fan_rpm,gpu_power_w,unix_time\n5,1200,250.5,10\n6,oops,nan,11\n");
  rows = dyno_sensors_csv_read (root);
  g_assert_cmpuint (rows->len, ==, 2);
  row = &g_array_index (rows, DynoSensorRow, 0);
  g_assert_cmpuint (row->step, ==, 5);
  test_assert_near (row->values[DYNO_SENSOR_GPU_POWER], 250.5);
  test_assert_missing (row->values[DYNO_SENSOR_GPU_BUSY]);
  row = &g_array_index (rows, DynoSensorRow, 1);
  test_assert_missing (row->values[DYNO_SENSOR_GPU_POWER]);
  test_tree_free (root);
}

/* An incomplete last line is no row, and another kind of file has none. */
static void
test_not_whole (void)
{
  static const struct {
    const char *text;
    guint rows;
  } files[] = { { "", 0 },
                { "unix_time,step", 0 },
                { "unix_time,step\n", 0 },
                { "step,loss\n1,2\n", 0 },
                { "unix_time,step\n1,2", 0 },
                { "unix_time,step\n1,2\n3,4", 1 },
                { "unix_time,step\n1,2\n3\n5,6\n", 1 },
                { "unix_time,step\n1,2\n3,4,5\n", 1 },
                { "unix_time,step\n1,2\nnan,4\n", 1 },
                { "unix_time,step\n1,-2\n3,1e300\n", 2 },
                { "unix_time,step\n1,\n", 0 },
                { "unix_time,step\n1,x\n", 0 } };
  char *root = test_tree_new ();
  g_autoptr (GArray) none = dyno_sensors_csv_read (root);

  g_assert_cmpuint (none->len, ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autoptr (GArray) rows = NULL;

      test_tree_write (root, "sensors.csv", files[i].text);
      rows = dyno_sensors_csv_read (root);
      g_assert_cmpuint (rows->len, ==, files[i].rows);
    }
  test_tree_free (root);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/monitor/sensorscsv/reads-what-it-wrote", test_round_trip);
  g_test_add_func ("/monitor/sensorscsv/same-bytes-in-any-locale", test_locale);
  g_test_add_func ("/monitor/sensorscsv/columns-by-name", test_other_columns);
  g_test_add_func ("/monitor/sensorscsv/stops-at-what-is-not-whole", test_not_whole);
  return g_test_run ();
}
