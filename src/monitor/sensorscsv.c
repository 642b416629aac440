/* SPDX-License-Identifier: MIT */
/* sensors.csv: conversion of readings to lines, and of lines to readings. */
#include "sensorscsv.h"
#include <math.h>
#include <string.h>

typedef enum { TIME, STEP, VALUE, REASONS, OWN_SOURCE, UNKNOWN } Kind;

typedef struct {
  Kind kind;
  DynoSensor sensor; /* of VALUE */
} Column;

struct _DynoSensorsCsv {
  guint n;
  Column *columns;
};

static const char *const reason_names[] = { "power", "temperature", "current", "hardware" };

void
dyno_sensor_row_init (DynoSensorRow *row, const DynoSensorReading *reading, guint64 step)
{
  *row = (DynoSensorRow){ .unix_time = (double) g_get_real_time () / 1e6,
                          .step = step,
                          .throttle_reasons = reading->throttle_reasons,
                          .vram_own_source =
                              (DynoSensorSource) reading->sources[DYNO_SENSOR_VRAM_OWN] };
  memcpy (row->values, reading->values, sizeof row->values);
}

void
dyno_sensors_csv_append_head (GString *text)
{
  g_string_append (text, "unix_time,step");
  for (guint i = 0; i < DYNO_N_SENSORS; i++)
    g_string_append_printf (text, ",%s", dyno_sensor_get_info ((DynoSensor) i)->name);
  g_string_append (text, ",throttle_reasons,vram_own_source\n");
}

static void
append_number (GString *text, double value, const char *format)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  if (isfinite (value))
    g_string_append (text, g_ascii_formatd (number, sizeof number, format, value));
  else
    g_string_append (text, "nan");
}

static void
append_reasons (GString *text, guint reasons)
{
  const char *before = "";

  for (guint i = 0; i < G_N_ELEMENTS (reason_names); i++)
    if (reasons & (1u << i))
      {
        g_string_append_printf (text, "%s%s", before, reason_names[i]);
        before = "+";
      }
  if (*before == '\0')
    g_string_append (text, "none");
}

void
dyno_sensors_csv_append (GString *text, const DynoSensorRow *row)
{
  append_number (text, row->unix_time, "%.3f");
  g_string_append_printf (text, ",%" G_GUINT64_FORMAT, row->step);
  for (guint i = 0; i < DYNO_N_SENSORS; i++)
    {
      g_string_append_c (text, ',');
      /* bytes in full, other values with no more digits than are significant */
      append_number (text, row->values[i], fabs (row->values[i]) >= 1e5 ? "%.0f" : "%.6g");
    }
  g_string_append_c (text, ',');
  append_reasons (text, row->throttle_reasons);
  g_string_append_printf (text, ",%s\n", dyno_sensor_source_name (row->vram_own_source));
}

/* --- and back --------------------------------------------------------------------------------- */

static Column
find_column (const char *name)
{
  static const struct {
    const char *name;
    Kind kind;
  } others[] = { { "unix_time", TIME },
                 { "step", STEP },
                 { "throttle_reasons", REASONS },
                 { "vram_own_source", OWN_SOURCE } };
  DynoSensor sensor = dyno_sensor_find (name);

  if (sensor < DYNO_N_SENSORS)
    return (Column){ VALUE, sensor };
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (g_str_equal (name, others[i].name))
      return (Column){ others[i].kind, DYNO_N_SENSORS };
  return (Column){ UNKNOWN, DYNO_N_SENSORS };
}

DynoSensorsCsv *
dyno_sensors_csv_new (const char *head)
{
  g_autoptr (DynoSensorsCsv) csv = g_new0 (DynoSensorsCsv, 1);
  g_auto (GStrv) names = g_strsplit (head, ",", -1);
  gboolean has_time = FALSE, has_step = FALSE;

  csv->n = g_strv_length (names);
  csv->columns = g_new0 (Column, csv->n);
  for (guint i = 0; i < csv->n; i++)
    {
      csv->columns[i] = find_column (names[i]);
      has_time = has_time || csv->columns[i].kind == TIME;
      has_step = has_step || csv->columns[i].kind == STEP;
    }
  return has_time && has_step ? g_steal_pointer (&csv) : NULL;
}

void
dyno_sensors_csv_free (DynoSensorsCsv *csv)
{
  if (!csv)
    return;
  g_free (csv->columns);
  g_free (csv);
}

static guint
parse_reasons (const char *text)
{
  g_auto (GStrv) words = g_strsplit (text, "+", -1);
  guint reasons = 0;

  for (guint i = 0; i < G_N_ELEMENTS (reason_names); i++)
    if (g_strv_contains ((const char *const *) words, reason_names[i]))
      reasons |= 1u << i;
  return reasons;
}

static DynoSensorSource
parse_source (const char *text)
{
  for (guint i = DYNO_SENSOR_SOURCE_HOST; i <= DYNO_SENSOR_SOURCE_ACCOUNT; i++)
    if (g_str_equal (text, dyno_sensor_source_name ((DynoSensorSource) i)))
      return (DynoSensorSource) i;
  return DYNO_SENSOR_SOURCE_NONE;
}

static gboolean
take_cell (const Column *column, const char *text, DynoSensorRow *row)
{
  char *end;
  double value;

  if (column->kind == REASONS)
    row->throttle_reasons = parse_reasons (text);
  if (column->kind == OWN_SOURCE)
    row->vram_own_source = parse_source (text);
  if (column->kind > VALUE)
    return TRUE;
  value = g_ascii_strtod (text, &end);
  if (end == text || *end != '\0')
    return FALSE;
  if (column->kind == VALUE)
    row->values[column->sensor] = isfinite (value) ? value : (double) NAN;
  else if (column->kind == TIME)
    row->unix_time = value;
  else
    row->step = value >= 0 && value < 1e18 ? (guint64) value : 0;
  return TRUE;
}

gboolean
dyno_sensors_csv_parse (const DynoSensorsCsv *csv, const char *line, DynoSensorRow *row)
{
  g_auto (GStrv) cells = g_strsplit (line, ",", -1);

  *row = (DynoSensorRow){ 0 };
  for (guint i = 0; i < DYNO_N_SENSORS; i++)
    row->values[i] = (double) NAN;
  if (g_strv_length (cells) != csv->n)
    return FALSE;
  for (guint i = 0; i < csv->n; i++)
    if (!take_cell (&csv->columns[i], cells[i], row))
      return FALSE;
  return isfinite (row->unix_time);
}

GArray *
dyno_sensors_csv_read (const char *folder)
{
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (DynoSensorRow));
  g_autofree char *path = g_build_filename (folder, DYNO_SENSORS_CSV_NAME, NULL), *text = NULL;
  g_autoptr (DynoSensorsCsv) csv = NULL;
  char *line, *end;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return rows;
  /* A line without its newline is still being written. */
  for (line = text; (end = strchr (line, '\n')); line = end + 1)
    {
      DynoSensorRow row;

      *end = '\0';
      if (!csv)
        {
          csv = dyno_sensors_csv_new (line);
          if (!csv)
            break;
        }
      else if (!dyno_sensors_csv_parse (csv, line, &row))
        break;
      else
        g_array_append_val (rows, row);
    }
  return rows;
}
