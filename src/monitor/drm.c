/* SPDX-License-Identifier: MIT */
/* Cards of AMD and Intel, by the files of their kernel drivers (amdgpu, i915, xe) in /sys.
 *
 * Formats: Documentation/gpu/amdgpu/thermal.rst, Documentation/ABI/testing/sysfs-driver-intel-*
 * and sysfs-class-hwmon of the kernel; struct gpu_metrics_v1_3 and v2_2 of kgd_pp_interface.h. */
#include "drmclients.h"
#include "source.h"
#include <math.h>
#include <string.h>

typedef struct _Card Card;

typedef struct {
  const char *driver;
  DynoSensorSource source;
  void (*read) (Card *card, gint64 now_us, DynoSensorReading *reading);
} Driver;

struct _Card {
  const Driver *driver;
  char *folder; /* of the PCI device */
  char *hwmon;  /* NULL: there is none */
  /* folder of the first GT (i915) or of the frequencies (xe); NULL: there is none */
  char *gt;
  char *throttle; /* folder of the throttle reasons */
  DynoDrmClients *clients;
  DynoSensorCounter energy;
};

static void
set (const Card *card, DynoSensorReading *reading, DynoSensor sensor, double value)
{
  dyno_sensor_set (reading, sensor, value, card->driver->source);
}

static double
number_in (const char *folder, const char *name)
{
  return folder ? dyno_sensor_file_number (folder, name) : (double) NAN;
}

/* The number in the first of these files that has one; NaN: none has. */
static double
first_number (const char *folder, const char *const *names)
{
  double value = (double) NAN;

  for (guint i = 0; names[i] && isnan (value); i++)
    value = number_in (folder, names[i]);
  return value;
}

static void
read_clients (Card *card, gint64 now_us, DynoSensorReading *reading)
{
  g_autofree DynoDrmUsage *usage = g_new0 (DynoDrmUsage, 1);

  dyno_drm_clients_read (card->clients, now_us, usage);
  reading->programs = usage->programs;
  set (card, reading, DYNO_SENSOR_VRAM_OWN, usage->own_bytes);
  set (card, reading, DYNO_SENSOR_GPU_OTHERS, usage->others);
  if (isnan (reading->values[DYNO_SENSOR_GPU_BUSY]))
    set (card, reading, DYNO_SENSOR_GPU_BUSY, usage->busy_percent);
}

/* --- amdgpu ----------------------------------------------------------------------------------- */

/* The clock of the marked level, "1: 2575Mhz *". */
static double
marked_level (const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_auto (GStrv) lines = NULL;
  char text[4096];

  if (dyno_sensor_file_read (path, text, sizeof text) <= 0)
    return (double) NAN;
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i]; i++)
    {
      const char *colon = strchr (lines[i], ':');

      if (colon && strchr (colon, '*'))
        return g_ascii_strtod (colon + 1, NULL);
    }
  return (double) NAN;
}

/* The driver's own reasons for low clocks, which lie at different places in tables of two formats.
 * The bit of the hot spot is left out: cards set it whenever they run at their highest clocks. */
static void
read_amdgpu_throttle (const Card *card, DynoSensorReading *reading)
{
  static const struct {
    guint8 form, least_content, most_content;
    gsize offset;
  } tables[] = { { 1, 3, 3, 112 }, { 2, 2, 4, 120 } };
  g_autofree char *path = g_build_filename (card->folder, "gpu_metrics", NULL);
  char bytes[1024];
  gssize length = dyno_sensor_file_read (path, bytes, sizeof bytes);
  guint64 status;

  for (guint i = 0; length >= 4 && i < G_N_ELEMENTS (tables); i++)
    {
      guint8 form = (guint8) bytes[2], content = (guint8) bytes[3];

      if (form != tables[i].form || content < tables[i].least_content
          || content > tables[i].most_content || (gsize) length < tables[i].offset + sizeof status)
        continue;
      memcpy (&status, bytes + tables[i].offset, sizeof status);
      status = GUINT64_FROM_LE (status);
      if (status == G_MAXUINT64) /* the firmware does not report it */
        return;
      status &= ~(G_GUINT64_CONSTANT (1) << 36);
      reading->throttle_reasons =
          (status & 0xffff ? (guint) DYNO_THROTTLE_POWER : 0)
          | ((status >> 16) & 0xffff ? (guint) DYNO_THROTTLE_CURRENT : 0)
          | ((status >> 32) & 0xffff ? (guint) DYNO_THROTTLE_TEMPERATURE : 0)
          | (status >> 48 ? (guint) DYNO_THROTTLE_HARDWARE : 0);
      set (card, reading, DYNO_SENSOR_GPU_THROTTLE, reading->throttle_reasons != 0);
    }
}

static void
read_amdgpu (Card *card, gint64 now_us, DynoSensorReading *reading)
{
  static const char *const power[] = { "power1_average", "power1_input", NULL };
  double clock = number_in (card->hwmon, "freq1_input") / 1e6,
         memory_clock = number_in (card->hwmon, "freq2_input") / 1e6;

  set (card, reading, DYNO_SENSOR_GPU_BUSY, number_in (card->folder, "gpu_busy_percent"));
  set (card, reading, DYNO_SENSOR_GPU_TEMPERATURE, number_in (card->hwmon, "temp1_input") / 1e3);
  set (card, reading, DYNO_SENSOR_GPU_POWER, first_number (card->hwmon, power) / 1e6);
  set (card, reading, DYNO_SENSOR_GPU_POWER_LIMIT, number_in (card->hwmon, "power1_cap") / 1e6);
  set (card, reading, DYNO_SENSOR_GPU_CLOCK,
       isnan (clock) ? marked_level (card->folder, "pp_dpm_sclk") : clock);
  set (card, reading, DYNO_SENSOR_GPU_MEMORY_CLOCK,
       isnan (memory_clock) ? marked_level (card->folder, "pp_dpm_mclk") : memory_clock);
  set (card, reading, DYNO_SENSOR_VRAM_ALL, number_in (card->folder, "mem_info_vram_used"));
  set (card, reading, DYNO_SENSOR_VRAM_TOTAL, number_in (card->folder, "mem_info_vram_total"));
  read_amdgpu_throttle (card, reading);
  read_clients (card, now_us, reading);
}

/* --- i915 and xe ------------------------------------------------------------------------------ */

/* The kind of a reason, by parts of its file's name, since the kernel adds new files. */
static guint
reason_of (const char *name)
{
  static const struct {
    const char *part;
    DynoThrottle reason;
  } parts[] = { { "pl4", DYNO_THROTTLE_CURRENT },       { "iccmax", DYNO_THROTTLE_CURRENT },
                { "tdc", DYNO_THROTTLE_CURRENT },       { "fastvmode", DYNO_THROTTLE_CURRENT },
                { "therm", DYNO_THROTTLE_TEMPERATURE }, { "prochot", DYNO_THROTTLE_TEMPERATURE },
                { "ratl", DYNO_THROTTLE_TEMPERATURE },  { "pl1", DYNO_THROTTLE_POWER },
                { "pl2", DYNO_THROTTLE_POWER },         { "psys", DYNO_THROTTLE_POWER } };

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    if (strstr (name, parts[i].part))
      return (guint) parts[i].reason;
  return (guint) DYNO_THROTTLE_HARDWARE;
}

static void
read_intel_throttle (const Card *card, DynoSensorReading *reading)
{
  g_autoptr (GDir) names = card->throttle ? g_dir_open (card->throttle, 0, NULL) : NULL;
  const char *name;
  gboolean known = FALSE;

  while (names && (name = g_dir_read_name (names)))
    {
      gboolean status = g_str_equal (name, "status") || g_str_has_suffix (name, "_status");
      double value;

      if (!status && !strstr (name, "reason_"))
        continue;
      value = number_in (card->throttle, name);
      known = known || !isnan (value);
      if (value > 0 && !status)
        reading->throttle_reasons |= reason_of (name);
    }
  if (known)
    set (card, reading, DYNO_SENSOR_GPU_THROTTLE, reading->throttle_reasons != 0);
}

static void
read_intel (Card *card, gint64 now_us, DynoSensorReading *reading)
{
  /* of the package: the first name is of i915, the second of xe */
  static const char *const temperature[] = { "temp1_input", "temp2_input", NULL };
  static const char *const limit[] = { "power1_max", "power2_max", "power1_cap", NULL };
  static const char *const energy[] = { "energy1_input", "energy2_input", NULL };
  static const char *const clock[] = { "rps_act_freq_mhz", "act_freq", "gt_act_freq_mhz", NULL };

  set (card, reading, DYNO_SENSOR_GPU_TEMPERATURE, first_number (card->hwmon, temperature) / 1e3);
  set (card, reading, DYNO_SENSOR_GPU_POWER_LIMIT, first_number (card->hwmon, limit) / 1e6);
  set (card, reading, DYNO_SENSOR_GPU_POWER,
       dyno_sensor_counter_rate (&card->energy, first_number (card->hwmon, energy), now_us) / 1e6);
  set (card, reading, DYNO_SENSOR_GPU_CLOCK, first_number (card->gt, clock));
  read_intel_throttle (card, reading);
  read_clients (card, now_us, reading);
}

/* --- finding it ------------------------------------------------------------------------------- */

static const Driver drivers[] = {
  { "amdgpu", DYNO_SENSOR_SOURCE_AMDGPU, read_amdgpu },
  { "i915", DYNO_SENSOR_SOURCE_INTEL, read_intel },
  { "xe", DYNO_SENSOR_SOURCE_INTEL, read_intel },
};

static const Driver *
find_driver (const char *folder)
{
  g_autofree char *path = g_build_filename (folder, "uevent", NULL);
  g_auto (GStrv) lines = NULL;
  char text[4096];

  dyno_sensor_file_read (path, text, sizeof text);
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i]; i++)
    for (guint k = 0; g_str_has_prefix (lines[i], "DRIVER=") && k < G_N_ELEMENTS (drivers); k++)
      if (g_str_equal (lines[i] + strlen ("DRIVER="), drivers[k].driver))
        return &drivers[k];
  return NULL;
}

/* The first folder of FOLDER/CHILD whose name begins with prefix; NULL: there is none. */
static char *
find_child (const char *folder, const char *child, const char *prefix)
{
  g_autofree char *path = g_build_filename (folder, child, NULL), *found = NULL;
  g_autoptr (GDir) names = g_dir_open (path, 0, NULL);
  const char *name;

  while (names && (name = g_dir_read_name (names)))
    if (g_str_has_prefix (name, prefix) && (!found || strcmp (name, found) < 0))
      {
        g_free (found);
        found = g_strdup (name);
      }
  return found ? g_build_filename (path, found, NULL) : NULL;
}

static gboolean
is_id (const char *folder, const char *name, guint32 id)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  char text[32];

  return dyno_sensor_file_read (path, text, sizeof text) > 0
         && g_ascii_strtoull (text, NULL, 16) == id;
}

/* Used where the Vulkan driver does not report the device's address: finds the only device of this
 * vendor and model; NULL: there is none, or there are several. */
static char *
find_only (const char *devices, const DynoDeviceInfo *info)
{
  g_autoptr (GDir) names = g_dir_open (devices, 0, NULL);
  g_autofree char *found = NULL;
  const char *name;

  while (names && (name = g_dir_read_name (names)))
    {
      g_autofree char *folder = g_build_filename (devices, name, NULL);

      if (!is_id (folder, "vendor", info->vendor_id) || !is_id (folder, "device", info->device_id))
        continue;
      if (found)
        return NULL;
      found = g_strdup (name);
    }
  return g_steal_pointer (&found);
}

static void
find_intel_folders (Card *card)
{
  if (g_str_equal (card->driver->driver, "xe"))
    {
      card->gt = g_build_filename (card->folder, "tile0", "gt0", "freq0", NULL);
      card->throttle = g_build_filename (card->gt, "throttle", NULL);
      return;
    }
  /* kernels before 6.0 have only the card's folder */
  g_autofree char *drm = find_child (card->folder, "drm", "card");
  g_autofree char *first = drm ? g_build_filename (drm, "gt", "gt0", NULL) : NULL;

  card->gt = first && g_file_test (first, G_FILE_TEST_IS_DIR) ? g_strdup (first) : g_strdup (drm);
  card->throttle = g_strdup (card->gt);
}

static gpointer
open_card (const DynoSourceSetup *setup)
{
  g_autofree char *devices = g_build_filename (setup->sys_root, "bus", "pci", "devices", NULL),
                  *pci = NULL, *folder = NULL;
  const Driver *driver;
  Card *card;

  if (!setup->has_device || setup->device.type == DYNO_DEVICE_TYPE_SOFTWARE)
    return NULL;
  pci = setup->device.pci[0] ? g_strdup (setup->device.pci) : find_only (devices, &setup->device);
  if (!pci || strchr (pci, '/'))
    return NULL;
  folder = g_build_filename (devices, pci, NULL);
  driver = find_driver (folder);
  if (!driver)
    return NULL;
  card = g_new0 (Card, 1);
  card->driver = driver;
  card->folder = g_steal_pointer (&folder);
  card->hwmon = find_child (card->folder, "hwmon", "hwmon");
  card->clients = dyno_drm_clients_new (setup->proc_root, pci);
  if (driver->source == DYNO_SENSOR_SOURCE_INTEL)
    find_intel_folders (card);
  return card;
}

static void
read_card (gpointer data, gint64 now_us, DynoSensorReading *reading)
{
  Card *card = data;

  card->driver->read (card, now_us, reading);
}

static void
close_card (gpointer data)
{
  Card *card = data;

  dyno_drm_clients_free (card->clients);
  g_free (card->folder);
  g_free (card->hwmon);
  g_free (card->gt);
  g_free (card->throttle);
  g_free (card);
}

const DynoSourceClass dyno_source_drm = { "/sys", open_card, read_card, close_card };
