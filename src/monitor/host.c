/* SPDX-License-Identifier: MIT */
/* The machine, from /proc: processor, memory, disk reads of this process, pressure.
 *
 * Formats: proc(5); Documentation/accounting/psi.rst of the kernel. */
#include "source.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

#define TEXT_BYTES 262144 /* /proc/stat of a machine with the most cores */

typedef struct {
  double busy, total; /* ticks since the machine started */
  gboolean known;
} Ticks;

typedef struct {
  char *root, *text;
  Ticks all, cores[DYNO_SENSORS_MAX_CORES];
  double own_ticks; /* NaN: not known */
  DynoSensorCounter swapped_in, read;
} Host;

static gpointer
open_host (const DynoSourceSetup *setup)
{
  Host *host = g_new0 (Host, 1);

  host->root = g_strdup (setup->proc_root);
  host->text = g_malloc (TEXT_BYTES);
  host->own_ticks = (double) NAN;
  return host;
}

static void
close_host (gpointer data)
{
  Host *host = data;

  g_free (host->root);
  g_free (host->text);
  g_free (host);
}

static gboolean
read_text (Host *host, const char *name)
{
  g_autofree char *path = g_build_filename (host->root, name, NULL);

  return dyno_sensor_file_read (path, host->text, TEXT_BYTES) > 0;
}

/* user nice system idle iowait irq softirq steal; the following values are parts of user and
 * nice. */
static gboolean
parse_ticks (const char *text, Ticks *ticks)
{
  double columns[8] = { 0 };
  guint n = 0;

  for (; n < G_N_ELEMENTS (columns); n++)
    {
      char *end;
      columns[n] = (double) g_ascii_strtoull (text, &end, 10);
      if (end == text)
        break;
      text = end;
    }
  if (n < 4)
    return FALSE;
  *ticks = (Ticks){ .known = TRUE };
  for (guint i = 0; i < n; i++)
    ticks->total += columns[i];
  ticks->busy = ticks->total - columns[3] - columns[4];
  return TRUE;
}

/* Load in percent since the last reading; iowait may decrease, and an unknown value is NaN. */
static double
share_of (Ticks *last, const Ticks *now)
{
  double share = (double) NAN;

  if (last->known && now->total > last->total)
    share = CLAMP ((now->busy - last->busy) / (now->total - last->total), 0, 1) * 100;
  *last = *now;
  return share;
}

static double
own_ticks (Host *host)
{
  const char *at;
  char *end;
  guint64 user, system;

  if (!read_text (host, "self/stat") || !(at = strrchr (host->text, ')')))
    return (double) NAN;
  /* the name, which may hold any character, comes first; utime and stime are the 12th and 13th
   * after it */
  for (guint i = 0; i < 12 && at; i++)
    at = strchr (at + 1, ' ');
  if (!at)
    return (double) NAN;
  user = g_ascii_strtoull (at, &end, 10);
  if (end == at)
    return (double) NAN;
  at = end;
  system = g_ascii_strtoull (at, &end, 10);
  return end == at ? (double) NAN : (double) user + (double) system;
}

static void
read_own (Host *host, double passed, DynoSensorReading *reading)
{
  double ticks = own_ticks (host);

  if (passed > 0 && ticks >= host->own_ticks)
    dyno_sensor_set (reading, DYNO_SENSOR_CPU_OWN,
                     CLAMP ((ticks - host->own_ticks) / passed, 0, 1) * 100,
                     DYNO_SENSOR_SOURCE_HOST);
  host->own_ticks = ticks;
}

static void
read_cores (Host *host, DynoSensorReading *reading)
{
  const char *line = strchr (host->text, '\n');

  for (guint i = 0; i < DYNO_SENSORS_MAX_CORES; i++)
    reading->core_busy[i] = NAN;
  for (; line && strncmp (line, "\ncpu", 4) == 0; line = strchr (line + 1, '\n'))
    {
      char *end;
      guint64 core = g_ascii_strtoull (line + 4, &end, 10);
      Ticks ticks;

      if (end == line + 4 || core >= DYNO_SENSORS_MAX_CORES || !parse_ticks (end, &ticks))
        continue;
      reading->core_busy[core] = (float) share_of (&host->cores[core], &ticks);
      reading->n_cores = MAX (reading->n_cores, (guint) core + 1);
    }
}

static void
read_processor (Host *host, DynoSensorReading *reading)
{
  Ticks ticks = { 0 };
  double passed;

  if (read_text (host, "stat") && strncmp (host->text, "cpu ", 4) == 0
      && parse_ticks (host->text + 4, &ticks))
    {
      passed = host->all.known ? ticks.total - host->all.total : 0;
      dyno_sensor_set (reading, DYNO_SENSOR_CPU_BUSY, share_of (&host->all, &ticks),
                       DYNO_SENSOR_SOURCE_HOST);
      read_cores (host, reading);
      read_own (host, passed, reading); /* over the same time as the machine's load */
    }
}

static void
read_memory (Host *host, gint64 now_us, DynoSensorReading *reading)
{
  double total, available, pages;

  if (read_text (host, "meminfo"))
    {
      total = dyno_sensor_text_number (host->text, "MemTotal:") * 1024;
      available = dyno_sensor_text_number (host->text, "MemAvailable:") * 1024;
      dyno_sensor_set (reading, DYNO_SENSOR_RAM_TOTAL, total, DYNO_SENSOR_SOURCE_HOST);
      if (available <= total)
        dyno_sensor_set (reading, DYNO_SENSOR_RAM_USED, total - available, DYNO_SENSOR_SOURCE_HOST);
    }
  pages =
      read_text (host, "vmstat") ? dyno_sensor_text_number (host->text, "pswpin ") : (double) NAN;
  dyno_sensor_set (
      reading, DYNO_SENSOR_SWAP_IN_PER_S,
      dyno_sensor_counter_rate (&host->swapped_in, pages * (double) sysconf (_SC_PAGESIZE), now_us),
      DYNO_SENSOR_SOURCE_HOST);
}

static void
read_pressure (Host *host, const char *name, DynoSensor sensor, DynoSensorReading *reading)
{
  if (read_text (host, name))
    dyno_sensor_set (reading, sensor, dyno_sensor_text_number (host->text, "some avg10="),
                     DYNO_SENSOR_SOURCE_HOST);
}

static void
read_host (gpointer data, gint64 now_us, DynoSensorReading *reading)
{
  Host *host = data;
  double bytes;

  read_processor (host, reading);
  read_memory (host, now_us, reading);
  bytes = read_text (host, "self/io") ? dyno_sensor_text_number (host->text, "read_bytes:")
                                      : (double) NAN;
  dyno_sensor_set (reading, DYNO_SENSOR_DISK_READ_PER_S,
                   dyno_sensor_counter_rate (&host->read, bytes, now_us), DYNO_SENSOR_SOURCE_HOST);
  read_pressure (host, "pressure/cpu", DYNO_SENSOR_PRESSURE_CPU, reading);
  read_pressure (host, "pressure/io", DYNO_SENSOR_PRESSURE_IO, reading);
  read_pressure (host, "pressure/memory", DYNO_SENSOR_PRESSURE_MEMORY, reading);
}

const DynoSourceClass dyno_source_host = { "/proc", open_host, read_host, close_host };
