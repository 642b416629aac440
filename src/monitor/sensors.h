/* SPDX-License-Identifier: MIT */
/* Sensors: what the GPU, the processor, memory and disks of this machine do, read about once a
 * second.
 *
 * Each source (host, NVML, a DRM driver) is read by a thread of its own, which nobody waits for: one
 * that hangs is left behind, its values are "not available" from then on, and the others go on.
 * Nothing here fails; what cannot be read is NaN.
 * Threads: all functions from any thread. */
#pragma once
#include "device.h"

G_BEGIN_DECLS

typedef struct _DynoSensors DynoSensors;

/* Units are in the names of dyno_sensor_get_info.  Shares are percent. */
typedef enum {
  DYNO_SENSOR_GPU_BUSY,
  DYNO_SENSOR_GPU_TEMPERATURE,
  DYNO_SENSOR_GPU_POWER,
  DYNO_SENSOR_GPU_POWER_LIMIT,
  DYNO_SENSOR_GPU_CLOCK,
  DYNO_SENSOR_GPU_MEMORY_CLOCK,
  DYNO_SENSOR_GPU_THROTTLE, /* 1: it is held back, throttle_reasons says by what; 0: it is not */
  DYNO_SENSOR_VRAM_OWN,     /* of this process */
  /* In use by all programs, and what there is for them; where only what is free is told (an older
   * NVML, VK_EXT_memory_budget) both with what the driver keeps for itself. */
  DYNO_SENSOR_VRAM_ALL,
  DYNO_SENSOR_VRAM_TOTAL,
  DYNO_SENSOR_GPU_OTHERS, /* other processes that use the GPU, as far as they can be seen */
  DYNO_SENSOR_CPU_BUSY,   /* of all cores */
  DYNO_SENSOR_CPU_OWN,    /* of all cores, by this process: a part of the one above */
  DYNO_SENSOR_RAM_USED,   /* what is not available to programs */
  DYNO_SENSOR_RAM_TOTAL,
  DYNO_SENSOR_SWAP_IN_PER_S,
  DYNO_SENSOR_DISK_READ_PER_S, /* by this process, from storage: not from the page cache */
  DYNO_SENSOR_PRESSURE_CPU,    /* share of the last ten seconds in which some task waited for it */
  DYNO_SENSOR_PRESSURE_IO,
  DYNO_SENSOR_PRESSURE_MEMORY,
  DYNO_N_SENSORS
} DynoSensor;

typedef struct {
  const char *name;  /* "gpu_power_w": of the column of sensors.csv and the key in JSON */
  const char *title; /* "GPU power" */
  const char *unit;  /* "W"; "": a number */
} DynoSensorInfo;

const DynoSensorInfo *dyno_sensor_get_info (DynoSensor sensor);
/* The sensor of this name; DYNO_N_SENSORS: there is none. */
DynoSensor dyno_sensor_find (const char *name);

/* Where a value is from. */
typedef enum {
  DYNO_SENSOR_SOURCE_NONE, /* not available */
  DYNO_SENSOR_SOURCE_HOST, /* /proc */
  DYNO_SENSOR_SOURCE_NVML,
  DYNO_SENSOR_SOURCE_AMDGPU,
  DYNO_SENSOR_SOURCE_INTEL,
  DYNO_SENSOR_SOURCE_DRIVER,  /* the Vulkan driver: VK_EXT_memory_budget, size of the heap */
  DYNO_SENSOR_SOURCE_ACCOUNT, /* Dyno's own account of what it has allocated */
} DynoSensorSource;

const char *dyno_sensor_source_name (DynoSensorSource source); /* "nvml"; NONE: "none" */

/* Why a GPU is held back; flags. */
typedef enum {
  DYNO_THROTTLE_POWER = 1 << 0,
  DYNO_THROTTLE_TEMPERATURE = 1 << 1,
  DYNO_THROTTLE_CURRENT = 1 << 2,
  DYNO_THROTTLE_HARDWARE = 1 << 3, /* the hardware says no more */
} DynoThrottle;

/* "power, temperature"; 0: "none", as a person reads it.  g_free. */
char *dyno_throttle_words (guint reasons);

#define DYNO_SENSORS_MAX_CORES 1024

typedef struct {
  gint64 time_us;                          /* monotonic, when it was put together */
  double values[DYNO_N_SENSORS];           /* NaN: not available */
  guint8 sources[DYNO_N_SENSORS];          /* DynoSensorSource */
  guint throttle_reasons;                  /* DynoThrottle */
  guint n_cores;                           /* 0: not known */
  float core_busy[DYNO_SENSORS_MAX_CORES]; /* percent; NaN: offline, or not known yet */
  /* Every source has answered twice, which rates need, or is not there: no more will come. */
  gboolean complete;
} DynoSensorReading;

/* All values not available. */
void dyno_sensor_reading_init (DynoSensorReading *reading);

typedef struct {
  /* The GPU, by its PCI address; NULL: no GPU, the machine alone.  Copied. */
  const DynoDeviceInfo *device;
  const char *proc_root; /* NULL: "/proc" */
  const char *sys_root;  /* NULL: "/sys" */
  const char *nvml;      /* library; NULL: "libnvidia-ml.so.1" */
  guint interval_ms;     /* 0: 1000 */
  guint stale_ms;        /* so long a source may not answer before it is left out; 0: 5000 */
  gboolean in_use;       /* this process has the device open, and says what it holds (_set_vram) */
  gboolean ask_driver;   /* the Vulkan driver is asked for the device's memory */
  /* Called about once an interval with the newest reading, on a thread that reads nothing itself;
   * never after _free.  NULL: nobody is called. */
  void (*reading) (const DynoSensorReading *reading, gpointer data);
  gpointer data;
} DynoSensorsParams;

/* Returns at once.  Without a free thread there are no values. */
DynoSensors *dyno_sensors_new (const DynoSensorsParams *params);

/* The newest values; never blocks.  FALSE: there are none at all yet. */
gboolean dyno_sensors_get (DynoSensors *sensors, DynoSensorReading *reading);

/* What the owner of the device knows of its memory: for DYNO_SENSOR_VRAM_OWN, and, where no other
 * source knows it and all_bytes is not 0, DYNO_SENSOR_VRAM_ALL. */
void dyno_sensors_set_vram (DynoSensors *sensors, guint64 own_bytes, DynoSensorSource own_source,
                            guint64 all_bytes);

/* Waits a second at most for what is being read.  Not out of the call of reading. */
void dyno_sensors_free (DynoSensors *sensors);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoSensors, dyno_sensors_free)

G_END_DECLS
