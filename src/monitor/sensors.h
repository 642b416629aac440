/* SPDX-License-Identifier: MIT */
/* Sensors: values of the GPU, the processor, memory and disks of this machine, read about once per
 * second.
 *
 * Each source (host, NVML, a DRM driver) is read by a thread of its own, for which no other thread
 * waits: a source that hangs is abandoned, its values are "not available" from then on, and the
 * other sources continue.  Nothing here fails; a value that cannot be read is NaN.
 * Threads: all functions may be called from any thread. */
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
  DYNO_SENSOR_GPU_THROTTLE, /* 1: the GPU is throttled, for throttle_reasons; 0: it is not */
  DYNO_SENSOR_VRAM_OWN,     /* of this process */
  /* Memory in use by all programs, and the memory available to programs in total; where only free
   * memory is reported (an older NVML, VK_EXT_memory_budget), both include the driver's own
   * memory. */
  DYNO_SENSOR_VRAM_ALL,
  DYNO_SENSOR_VRAM_TOTAL,
  DYNO_SENSOR_GPU_OTHERS, /* other processes that use the GPU, as far as they are visible */
  DYNO_SENSOR_CPU_BUSY,   /* of all cores */
  DYNO_SENSOR_CPU_OWN,    /* of all cores, by this process: a part of CPU_BUSY */
  DYNO_SENSOR_RAM_USED,   /* memory that is not available to programs */
  DYNO_SENSOR_RAM_TOTAL,
  DYNO_SENSOR_SWAP_IN_PER_S,
  DYNO_SENSOR_DISK_READ_PER_S, /* by this process, from storage, without the page cache */
  /* share of the last ten seconds in which some task waited for the CPU */
  DYNO_SENSOR_PRESSURE_CPU,
  DYNO_SENSOR_PRESSURE_IO,
  DYNO_SENSOR_PRESSURE_MEMORY,
  DYNO_N_SENSORS
} DynoSensor;

typedef struct {
  const char *name;  /* "gpu_power_w": column of sensors.csv and key in JSON */
  const char *title; /* "GPU power" */
  const char *unit;  /* "W"; "": a plain number */
} DynoSensorInfo;

const DynoSensorInfo *dyno_sensor_get_info (DynoSensor sensor);
/* The sensor of this name; DYNO_N_SENSORS: there is none. */
DynoSensor dyno_sensor_find (const char *name);

/* The source of a value. */
typedef enum {
  DYNO_SENSOR_SOURCE_NONE, /* not available */
  DYNO_SENSOR_SOURCE_HOST, /* /proc */
  DYNO_SENSOR_SOURCE_NVML,
  DYNO_SENSOR_SOURCE_AMDGPU,
  DYNO_SENSOR_SOURCE_INTEL,
  DYNO_SENSOR_SOURCE_DRIVER,  /* the Vulkan driver: VK_EXT_memory_budget, size of the heap */
  DYNO_SENSOR_SOURCE_ACCOUNT, /* Dyno's own account of its allocations */
} DynoSensorSource;

const char *dyno_sensor_source_name (DynoSensorSource source); /* "nvml"; NONE: "none" */

/* The reasons why a GPU is throttled; flags. */
typedef enum {
  DYNO_THROTTLE_POWER = 1 << 0,
  DYNO_THROTTLE_TEMPERATURE = 1 << 1,
  DYNO_THROTTLE_CURRENT = 1 << 2,
  DYNO_THROTTLE_HARDWARE = 1 << 3, /* the hardware gives no other reason */
} DynoThrottle;

/* "power, temperature", for display; 0: "none".  g_free. */
char *dyno_throttle_words (guint reasons);

#define DYNO_SENSORS_MAX_CORES    1024
#define DYNO_SENSORS_MAX_PROGRAMS 64

/* A program that uses the GPU. */
typedef struct {
  guint32 pid;
  gboolean own;  /* this process */
  char name[32]; /* by the kernel; "": not known, as for a process outside of a container */
  double bytes;  /* memory of the device; NaN: not known */
} DynoSensorProgram;

typedef struct {
  gboolean known; /* FALSE: no source lists programs */
  guint n;        /* visible programs, at most the first DYNO_SENSORS_MAX_PROGRAMS */
  DynoSensorProgram list[DYNO_SENSORS_MAX_PROGRAMS]; /* sorted by memory, largest first */
} DynoSensorPrograms;

typedef struct {
  gint64 time_us;                          /* monotonic time when the reading was assembled */
  double values[DYNO_N_SENSORS];           /* NaN: not available */
  guint8 sources[DYNO_N_SENSORS];          /* DynoSensorSource */
  guint throttle_reasons;                  /* DynoThrottle */
  guint n_cores;                           /* 0: not known */
  float core_busy[DYNO_SENSORS_MAX_CORES]; /* percent; NaN: offline, or not known yet */
  DynoSensorPrograms programs;
  /* Each source was read twice, as rates require, or is absent: no further values will become
   * available. */
  gboolean complete;
} DynoSensorReading;

/* Sets all values to not available. */
void dyno_sensor_reading_init (DynoSensorReading *reading);

typedef struct {
  /* The GPU, found by its PCI address; NULL: no GPU, only the machine.  Copied. */
  const DynoDeviceInfo *device;
  const char *proc_root; /* NULL: "/proc" */
  const char *sys_root;  /* NULL: "/sys" */
  const char *nvml;      /* library; NULL: "libnvidia-ml.so.1" */
  guint interval_ms;     /* 0: 1000 */
  guint stale_ms;        /* limit for a source that hangs, at least 5 intervals; 0: 5000 */
  gboolean in_use;       /* this process has the device open, and reports its memory (_set_vram) */
  gboolean ask_driver;   /* query the Vulkan driver for the device's memory */
  /* Called about once per interval with the newest reading, on a thread that reads no source
   * itself; never after _free.  NULL: no callback. */
  void (*reading) (const DynoSensorReading *reading, gpointer data);
  gpointer data;
} DynoSensorsParams;

/* Returns at once.  Where no thread can be started there are no values. */
DynoSensors *dyno_sensors_new (const DynoSensorsParams *params);

/* The newest values; never blocks.  FALSE: there is no reading yet. */
gboolean dyno_sensors_get (DynoSensors *sensors, DynoSensorReading *reading);

/* Sets the figures that the owner of the device knows about its memory: DYNO_SENSOR_VRAM_OWN, and,
 * where no other source has it and all_bytes is not 0, DYNO_SENSOR_VRAM_ALL. */
void dyno_sensors_set_vram (DynoSensors *sensors, guint64 own_bytes, DynoSensorSource own_source,
                            guint64 all_bytes);

/* Waits at most a second for reads in progress.  Must not be called from the callback `reading`. */
void dyno_sensors_free (DynoSensors *sensors);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoSensors, dyno_sensors_free)

G_END_DECLS
