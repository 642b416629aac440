/* SPDX-License-Identifier: MIT */
/* dynoctl sensors: one reading of the sensors of a GPU and the machine. */
#include "amount.h"
#include "cli.h"
#include "output.h"
#include "sensortext.h"
#include <math.h>

/* Rates are measured over this time; a source that has not returned values by then is omitted. */
#define INTERVAL_MS 500
#define MOST_US     (3 * G_USEC_PER_SEC)
#define ASK_US      (G_USEC_PER_SEC / 50)

static void
read_all (const DynoDeviceInfo *device, DynoSensorReading *reading)
{
  DynoSensorsParams params = { .device = device, .interval_ms = INTERVAL_MS, .ask_driver = TRUE };
  g_autoptr (DynoSensors) sensors = dyno_sensors_new (&params);
  gint64 until = g_get_monotonic_time () + MOST_US;

  do
    {
      g_usleep (ASK_US);
      dyno_sensors_get (sensors, reading);
    }
  while (!reading->complete && g_get_monotonic_time () < until);
}

static void
print_program (DynoJson *json, const DynoSensorProgram *program)
{
  dyno_json_begin_object (json, NULL);
  dyno_json_uint (json, "pid", program->pid);
  dyno_json_string (json, "name", *program->name ? program->name : NULL);
  if (isnan (program->bytes))
    dyno_json_double (json, "bytes", program->bytes);
  else
    dyno_json_uint (json, "bytes", (guint64) CLAMP (program->bytes, 0, 1e18));
  dyno_json_end_object (json);
}

static void
print_json (const DynoDeviceInfo *device, const DynoSensorReading *reading)
{
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "device", device ? device->name : NULL);
  dyno_json_string (&json, "pci", device && *device->pci ? device->pci : NULL);
  dyno_json_sensors (&json, reading->values, reading->throttle_reasons);
  dyno_json_begin_array (&json, "core_busy_percent");
  for (guint i = 0; i < reading->n_cores; i++)
    dyno_json_double (&json, NULL, (double) reading->core_busy[i]);
  dyno_json_end_array (&json);
  if (reading->programs.known)
    {
      dyno_json_begin_array (&json, "programs");
      for (guint i = 0; i < reading->programs.n; i++)
        print_program (&json, &reading->programs.list[i]);
      dyno_json_end_array (&json);
    }
  else
    dyno_json_string (&json, "programs", NULL);
  dyno_json_begin_object (&json, "sources");
  for (guint i = 0; i < DYNO_N_SENSORS; i++)
    if (reading->sources[i] != DYNO_SENSOR_SOURCE_NONE)
      dyno_json_string (&json, dyno_sensor_get_info ((DynoSensor) i)->name,
                        dyno_sensor_source_name ((DynoSensorSource) reading->sources[i]));
  dyno_json_end_object (&json);
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

static void
print_programs (const DynoSensorPrograms *programs)
{
  g_autoptr (DynoTable) table = dyno_table_new ("program", "process", "device memory", NULL);

  for (guint i = 0; i < programs->n; i++)
    {
      const DynoSensorProgram *program = &programs->list[i];

      dyno_table_add (table, g_strdup (*program->name ? program->name : "?"),
                      g_strdup_printf ("%u", program->pid),
                      isnan (program->bytes)
                          ? g_strdup ("")
                          : dyno_amount_bytes ((guint64) CLAMP (program->bytes, 0, 1e18), " "),
                      NULL);
    }
  if (programs->n > 0)
    dyno_table_print (table);
}

static void
print_table (const DynoDeviceInfo *device, const DynoSensorReading *reading)
{
  g_autoptr (DynoTable) table = dyno_table_new ("sensor", "value", "from", NULL);

  dyno_out_line ("%s%s%s", device ? device->name : "no GPU", device && *device->pci ? ", " : "",
                 device ? device->pci : "");
  for (guint i = 0; i < DYNO_N_SENSORS; i++)
    {
      DynoSensorSource source = (DynoSensorSource) reading->sources[i];
      char *value = dyno_text_sensor ((DynoSensor) i, reading->values[i]);

      if (i == DYNO_SENSOR_GPU_THROTTLE && reading->throttle_reasons)
        {
          g_free (value);
          value = dyno_throttle_words (reading->throttle_reasons);
        }
      dyno_table_add (
          table, g_strdup (dyno_sensor_get_info ((DynoSensor) i)->title), value,
          g_strdup (source == DYNO_SENSOR_SOURCE_NONE ? "" : dyno_sensor_source_name (source)),
          NULL);
    }
  dyno_table_print (table);
  print_programs (&reading->programs);
}

void
dyno_sensors_print (const DynoDeviceInfo *device, const DynoSensorReading *reading, gboolean json)
{
  if (json)
    print_json (device, reading);
  else
    print_table (device, reading);
}

int
dyno_verb_sensors (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autofree DynoSensorReading *reading = g_new0 (DynoSensorReading, 1);
  gboolean as_json = FALSE, has;
  int code, index = -1;
  DynoDeviceInfo device;
  const GOptionEntry entries[] = {
    { "device", 0, 0, G_OPTION_ARG_INT, &index,
      "GPU by its number in 'dynoctl devices' (default: the first)", "N" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &as_json, "One JSON object", NULL },
    { NULL },
  };

  if (!dyno_cli_parse (argc, argv, NULL,
                       "Shows the present state of a GPU and the machine: load, clocks, "
                       "temperature, power, memory, disks.",
                       entries, NULL, NULL, 0, &code))
    return code;
  if (!dyno_sensors_find_device (index, &device, &has, &error))
    return dyno_cli_fail (g_steal_pointer (&error), as_json);
  read_all (has ? &device : NULL, reading);
  dyno_sensors_print (has ? &device : NULL, reading, as_json);
  return DYNO_EXIT_OK;
}
