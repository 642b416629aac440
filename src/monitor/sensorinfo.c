/* SPDX-License-Identifier: MIT */
/* Names, titles and units of sensors; readings as plain values. */
#include "source.h"
#include "intl.h"
#include <math.h>

static const DynoSensorInfo infos[DYNO_N_SENSORS] = {
  [DYNO_SENSOR_GPU_BUSY] = { "gpu_busy_percent", "GPU busy", "%" },
  [DYNO_SENSOR_GPU_TEMPERATURE] = { "gpu_temperature_c", "GPU temperature", "°C" },
  [DYNO_SENSOR_GPU_POWER] = { "gpu_power_w", "GPU power", "W" },
  [DYNO_SENSOR_GPU_POWER_LIMIT] = { "gpu_power_limit_w", "GPU power limit", "W" },
  [DYNO_SENSOR_GPU_CLOCK] = { "gpu_clock_mhz", "GPU clock", "MHz" },
  [DYNO_SENSOR_GPU_MEMORY_CLOCK] = { "gpu_memory_clock_mhz", "GPU memory clock", "MHz" },
  [DYNO_SENSOR_GPU_THROTTLE] = { "gpu_throttle", "GPU held back", "" },
  [DYNO_SENSOR_VRAM_OWN] = { "vram_own_bytes", "VRAM of this process", "bytes" },
  [DYNO_SENSOR_VRAM_ALL] = { "vram_all_bytes", "VRAM in use", "bytes" },
  [DYNO_SENSOR_VRAM_TOTAL] = { "vram_total_bytes", "VRAM of the device", "bytes" },
  [DYNO_SENSOR_GPU_OTHERS] = { "gpu_other_processes", "Other processes on the GPU", "" },
  [DYNO_SENSOR_CPU_BUSY] = { "cpu_busy_percent", "CPU busy", "%" },
  [DYNO_SENSOR_CPU_OWN] = { "cpu_own_percent", "CPU by this process", "%" },
  [DYNO_SENSOR_RAM_USED] = { "ram_used_bytes", "RAM used", "bytes" },
  [DYNO_SENSOR_RAM_TOTAL] = { "ram_total_bytes", "RAM of the machine", "bytes" },
  [DYNO_SENSOR_SWAP_IN_PER_S] = { "swap_in_bytes_per_s", "Swapped in", "bytes/s" },
  [DYNO_SENSOR_DISK_READ_PER_S] = { "disk_read_bytes_per_s", "Disk reads by this process",
                                    "bytes/s" },
  [DYNO_SENSOR_PRESSURE_CPU] = { "pressure_cpu_percent", "Waits for the CPU", "%" },
  [DYNO_SENSOR_PRESSURE_IO] = { "pressure_io_percent", "Waits for disks", "%" },
  [DYNO_SENSOR_PRESSURE_MEMORY] = { "pressure_memory_percent", "Waits for memory", "%" },
};

const DynoSensorInfo *
dyno_sensor_get_info (DynoSensor sensor)
{
  g_return_val_if_fail ((guint) sensor < DYNO_N_SENSORS, NULL);
  return &infos[sensor];
}

DynoSensor
dyno_sensor_find (const char *name)
{
  guint i = 0;

  while (i < DYNO_N_SENSORS && !g_str_equal (infos[i].name, name))
    i++;
  return (DynoSensor) i;
}

const char *
dyno_sensor_source_name (DynoSensorSource source)
{
  static const char *const names[] = { "none",  "host",   "nvml",   "amdgpu",
                                       "intel", "driver", "account" };

  return (guint) source < G_N_ELEMENTS (names) ? names[source] : names[0];
}

char *
dyno_throttle_words (guint reasons)
{
  static const char *const words[] = { N_ ("power"), N_ ("temperature"), N_ ("current"),
                                       N_ ("hardware") };
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (reasons & (1u << i))
      g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", _ (words[i]));
  if (text->len == 0)
    g_string_append (text, _ ("none"));
  return g_string_free (g_steal_pointer (&text), FALSE);
}

void
dyno_sensor_reading_init (DynoSensorReading *reading)
{
  *reading = (DynoSensorReading){ 0 };
  for (guint i = 0; i < DYNO_N_SENSORS; i++)
    reading->values[i] = (double) NAN;
}

void
dyno_sensor_set (DynoSensorReading *reading, DynoSensor sensor, double value,
                 DynoSensorSource source)
{
  if (!isfinite (value))
    return;
  reading->values[sensor] = value;
  reading->sources[sensor] = (guint8) source;
}
