/* SPDX-License-Identifier: MIT */
/* NVIDIA cards, through NVML, which is opened at run time.
 *
 * A process initialises NVML with its first reader and shuts it down with its last.  Readers follow
 * one another as runs and trials do, and an abandoned reader may still be inside NVML, so
 * initialisation and shutdown never overlap each other or a call of another reader.  Only
 * nvmlInit_v2 or nvmlInit, and a function that finds the card, are required; any other function
 * that an older driver lacks, or that a card does not support, leaves its value "not available".
 * The library stays loaded until the process ends: it has threads and exit handlers of its own.
 * Interface: NVIDIA's NVML API reference. */
#include "source.h"
#include <gmodule.h>
#include <math.h>
#include <unistd.h>

#define VENDOR_NVIDIA 0x10de

#define OK 0

#define CLOCK_GRAPHICS  0
#define CLOCK_MEMORY    2
#define TEMPERATURE_GPU 0

#define MOST_PROCESSES 1024

typedef struct _NvmlDevice NvmlDevice;

typedef struct {
  unsigned int gpu, memory; /* percent */
} NvmlUtilisation;

/* "used" is all memory that is not free, including the driver's own. */
typedef struct {
  unsigned long long total, free, used;
} NvmlMemory;

/* "used" is only the memory of programs, as in nvidia-smi; the three parts add up to the total. */
typedef struct {
  unsigned int version;
  unsigned long long total, reserved, free, used;
} NvmlMemory2;

#define MEMORY_VERSION 2

/* layout of the second and third version of the functions; the first version is not used */
typedef struct {
  unsigned int pid;
  unsigned long long bytes;
  unsigned int gpu_instance, compute_instance;
} NvmlProcess;

typedef int (*NvmlCall) (void);
typedef int (*NvmlFind) (const char *pci, NvmlDevice **device);
typedef int (*NvmlUtilisationOf) (NvmlDevice *device, NvmlUtilisation *answer);
typedef int (*NvmlNumber) (NvmlDevice *device, unsigned int *answer);
typedef int (*NvmlNumberOf) (NvmlDevice *device, int what, unsigned int *answer);
typedef int (*NvmlFlags) (NvmlDevice *device, unsigned long long *answer);
typedef int (*NvmlMemoryOf) (NvmlDevice *device, NvmlMemory *answer);
typedef int (*NvmlMemory2Of) (NvmlDevice *device, NvmlMemory2 *answer);
typedef int (*NvmlProcesses) (NvmlDevice *device, unsigned int *count, NvmlProcess *answer);

/* The state of a library, for the life of the process. */
typedef struct {
  GMutex lock; /* held during initialisation and shutdown */
  guint readers;
} Library;

typedef struct {
  NvmlDevice *device;
  Library *library;
  NvmlCall end;
  NvmlUtilisationOf utilisation;
  NvmlNumberOf temperature, clock;
  NvmlNumber power, power_limit;
  NvmlFlags throttle;
  NvmlMemoryOf memory;
  NvmlMemory2Of memory2;
  /* processes that compute, processes that draw: a Vulkan program may be either */
  NvmlProcesses processes[2];
  char *proc_root;
  gboolean in_use;
  NvmlProcess rows[MOST_PROCESSES];
} Nvml;

/* The first of two functions that exists in the library; NULL: neither exists. */
static gpointer
find_symbol (GModule *module, const char *name, const char *other)
{
  gpointer symbol = NULL;

  if (g_module_symbol (module, name, &symbol) && symbol)
    return symbol;
  return other && g_module_symbol (module, other, &symbol) ? symbol : NULL;
}

static void
find_functions (Nvml *nvml, GModule *module)
{
  nvml->end = (NvmlCall) find_symbol (module, "nvmlShutdown", NULL);
  nvml->utilisation =
      (NvmlUtilisationOf) find_symbol (module, "nvmlDeviceGetUtilizationRates", NULL);
  nvml->temperature = (NvmlNumberOf) find_symbol (module, "nvmlDeviceGetTemperature", NULL);
  nvml->clock = (NvmlNumberOf) find_symbol (module, "nvmlDeviceGetClockInfo", NULL);
  nvml->power = (NvmlNumber) find_symbol (module, "nvmlDeviceGetPowerUsage", NULL);
  nvml->power_limit = (NvmlNumber) find_symbol (module, "nvmlDeviceGetEnforcedPowerLimit", NULL);
  nvml->throttle = (NvmlFlags) find_symbol (module, "nvmlDeviceGetCurrentClocksEventReasons",
                                            "nvmlDeviceGetCurrentClocksThrottleReasons");
  nvml->memory = (NvmlMemoryOf) find_symbol (module, "nvmlDeviceGetMemoryInfo", NULL);
  nvml->memory2 = (NvmlMemory2Of) find_symbol (module, "nvmlDeviceGetMemoryInfo_v2", NULL);
  nvml->processes[0] = (NvmlProcesses) find_symbol (
      module, "nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2");
  nvml->processes[1] =
      (NvmlProcesses) find_symbol (module, "nvmlDeviceGetGraphicsRunningProcesses_v3",
                                   "nvmlDeviceGetGraphicsRunningProcesses_v2");
}

static Library *
find_library (const char *name)
{
  static GMutex lock;
  static GHashTable *libraries;
  Library *library;

  g_mutex_lock (&lock);
  if (!libraries)
    libraries = g_hash_table_new (g_str_hash, g_str_equal);
  library = g_hash_table_lookup (libraries, name);
  if (!library)
    {
      library = g_new0 (Library, 1);
      g_mutex_init (&library->lock);
      g_hash_table_insert (libraries, g_strdup (name), library);
    }
  g_mutex_unlock (&lock);
  return library;
}

static gboolean
enter (Library *library, NvmlCall begin)
{
  gboolean good;

  g_mutex_lock (&library->lock);
  good = library->readers > 0 || begin () == OK;
  library->readers += good;
  g_mutex_unlock (&library->lock);
  return good;
}

static void
leave (Library *library, NvmlCall end)
{
  g_mutex_lock (&library->lock);
  if (--library->readers == 0 && end)
    end ();
  g_mutex_unlock (&library->lock);
}

static gpointer
open_nvml (const DynoSourceSetup *setup)
{
  g_autofree Nvml *nvml = NULL;
  GModule *module;
  Library *library;
  NvmlCall begin;
  NvmlFind find;

  if (!setup->has_device || setup->device.vendor_id != VENDOR_NVIDIA
      || setup->device.pci[0] == '\0')
    return NULL;
  module = g_module_open (setup->nvml, G_MODULE_BIND_LAZY | G_MODULE_BIND_LOCAL);
  if (!module)
    {
      g_info ("Sensors: no NVML: %s", g_module_error ());
      return NULL;
    }
  g_module_make_resident (module);
  begin = (NvmlCall) find_symbol (module, "nvmlInit_v2", "nvmlInit");
  find = (NvmlFind) find_symbol (module, "nvmlDeviceGetHandleByPciBusId_v2",
                                 "nvmlDeviceGetHandleByPciBusId");
  library = find_library (setup->nvml);
  if (!begin || !find || !enter (library, begin))
    return NULL;
  nvml = g_new0 (Nvml, 1);
  nvml->library = library;
  find_functions (nvml, module);
  if (find (setup->device.pci, &nvml->device) != OK)
    {
      g_info ("Sensors: NVML does not know a card at %s", setup->device.pci);
      leave (library, nvml->end);
      return NULL;
    }
  nvml->proc_root = g_strdup (setup->proc_root);
  nvml->in_use = setup->in_use;
  return g_steal_pointer (&nvml);
}

static void
close_nvml (gpointer data)
{
  Nvml *nvml = data;

  leave (nvml->library, nvml->end);
  g_free (nvml->proc_root);
  g_free (nvml);
}

static void
set (DynoSensorReading *reading, DynoSensor sensor, double value)
{
  dyno_sensor_set (reading, sensor, value, DYNO_SENSOR_SOURCE_NVML);
}

static void
read_number (NvmlDevice *device, NvmlNumber get, DynoSensor sensor, double unit,
             DynoSensorReading *reading)
{
  unsigned int value;

  if (get && get (device, &value) == OK)
    set (reading, sensor, value * unit);
}

static void
read_number_of (NvmlDevice *device, NvmlNumberOf get, int what, DynoSensor sensor,
                DynoSensorReading *reading)
{
  unsigned int value;

  if (get && get (device, what, &value) == OK)
    set (reading, sensor, value);
}

/* Idle clocks, clocks set by a user, and the common clocks of a group of cards are no
 * throttling. */
static void
read_throttle (Nvml *nvml, DynoSensorReading *reading)
{
  static const struct {
    unsigned long long bits;
    DynoThrottle reason;
  } known[] = { { 0x04 | 0x80, DYNO_THROTTLE_POWER }, /* limit; external brake */
                { 0x20 | 0x40, DYNO_THROTTLE_TEMPERATURE },
                { 0x08, DYNO_THROTTLE_HARDWARE } };
  unsigned long long flags;

  if (!nvml->throttle || nvml->throttle (nvml->device, &flags) != OK)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (flags & known[i].bits)
      reading->throttle_reasons |= (guint) known[i].reason;
  set (reading, DYNO_SENSOR_GPU_THROTTLE, reading->throttle_reasons != 0);
}

static gboolean
is_visible (const Nvml *nvml, unsigned int pid)
{
  g_autofree char *path = g_strdup_printf ("%s/%u", nvml->proc_root, pid);

  return g_file_test (path, G_FILE_TEST_EXISTS);
}

/* A process may be in both lists.  In a container the process ids are from outside of it, so this
 * process has an unknown id: where this process uses the card, one id that is not visible counts as
 * its own. */
static void
read_processes (Nvml *nvml, DynoSensorReading *reading)
{
  g_autoptr (GHashTable) others = g_hash_table_new (NULL, NULL);
  unsigned int own = (unsigned int) getpid (), hidden = 0, n_others;
  gboolean asked = FALSE, found = FALSE;

  for (guint k = 0; k < G_N_ELEMENTS (nvml->processes); k++)
    {
      unsigned int count = MOST_PROCESSES;

      if (!nvml->processes[k] || nvml->processes[k](nvml->device, &count, nvml->rows) != OK)
        continue;
      asked = TRUE;
      for (guint i = 0; i < MIN (count, MOST_PROCESSES); i++)
        dyno_sensor_programs_add (&reading->programs, nvml->rows[i].pid,
                                  nvml->rows[i].bytes != G_MAXUINT64 ? (double) nvml->rows[i].bytes
                                                                     : (double) NAN,
                                  DYNO_PROGRAM_SAME);
      for (guint i = 0; i < MIN (count, MOST_PROCESSES); i++)
        if (nvml->rows[i].pid == own)
          {
            found = TRUE;
            if (nvml->rows[i].bytes != G_MAXUINT64)
              set (reading, DYNO_SENSOR_VRAM_OWN, (double) nvml->rows[i].bytes);
          }
        else if (g_hash_table_add (others, GUINT_TO_POINTER (nvml->rows[i].pid))
                 && !is_visible (nvml, nvml->rows[i].pid))
          hidden++;
    }
  if (!asked)
    return;
  reading->programs.known = TRUE;
  dyno_sensor_programs_finish (&reading->programs, nvml->proc_root, own);
  n_others = g_hash_table_size (others);
  set (reading, DYNO_SENSOR_GPU_OTHERS, n_others - (nvml->in_use && !found && hidden > 0 ? 1 : 0));
}

/* Where the driver reports its own memory, that memory counts neither as used nor in the total. */
static void
read_memory (Nvml *nvml, DynoSensorReading *reading)
{
  NvmlMemory2 apart = { .version = sizeof apart | MEMORY_VERSION << 24 };
  NvmlMemory whole;

  if (nvml->memory2 && nvml->memory2 (nvml->device, &apart) == OK && apart.reserved <= apart.total
      && apart.used <= apart.total - apart.reserved)
    {
      set (reading, DYNO_SENSOR_VRAM_ALL, (double) apart.used);
      set (reading, DYNO_SENSOR_VRAM_TOTAL, (double) (apart.total - apart.reserved));
    }
  else if (nvml->memory && nvml->memory (nvml->device, &whole) == OK && whole.used <= whole.total)
    {
      set (reading, DYNO_SENSOR_VRAM_ALL, (double) whole.used);
      set (reading, DYNO_SENSOR_VRAM_TOTAL, (double) whole.total);
    }
}

static void
read_nvml (gpointer data, gint64 now_us, DynoSensorReading *reading)
{
  Nvml *nvml = data;
  NvmlUtilisation utilisation;

  (void) now_us;
  if (nvml->utilisation && nvml->utilisation (nvml->device, &utilisation) == OK)
    set (reading, DYNO_SENSOR_GPU_BUSY, utilisation.gpu);
  read_number_of (nvml->device, nvml->temperature, TEMPERATURE_GPU, DYNO_SENSOR_GPU_TEMPERATURE,
                  reading);
  read_number (nvml->device, nvml->power, DYNO_SENSOR_GPU_POWER, 1e-3, reading);
  read_number (nvml->device, nvml->power_limit, DYNO_SENSOR_GPU_POWER_LIMIT, 1e-3, reading);
  read_number_of (nvml->device, nvml->clock, CLOCK_GRAPHICS, DYNO_SENSOR_GPU_CLOCK, reading);
  read_number_of (nvml->device, nvml->clock, CLOCK_MEMORY, DYNO_SENSOR_GPU_MEMORY_CLOCK, reading);
  read_throttle (nvml, reading);
  read_memory (nvml, reading);
  read_processes (nvml, reading);
}

const DynoSourceClass dyno_source_nvml = { "NVML", open_nvml, read_nvml, close_nvml };
