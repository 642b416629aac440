/* SPDX-License-Identifier: MIT */
/* The memory of a device that this process does not have open, by the Vulkan driver's count. */
#include "memoryprobe.h"
#include "source.h"

static gpointer
open_driver (const DynoSourceSetup *setup)
{
  return setup->ask_driver && setup->has_device ? dyno_memory_probe_new (&setup->device) : NULL;
}

static void
read_driver (gpointer data, gint64 now_us, DynoSensorReading *reading)
{
  DynoMemoryUsage usage;

  (void) now_us;
  if (dyno_memory_probe_query (data, &usage))
    dyno_sensor_set (reading, DYNO_SENSOR_VRAM_ALL, (double) usage.used_bytes,
                     DYNO_SENSOR_SOURCE_DRIVER);
}

static void
close_driver (gpointer data)
{
  dyno_memory_probe_free (data);
}

const DynoSourceClass dyno_source_driver = { "the Vulkan driver", open_driver, read_driver,
                                             close_driver };
