/* SPDX-License-Identifier: MIT */
/* sensors.csv of a run's folder: one line about once per second.
 *
 * Columns: unix_time (seconds), step (the last completed one; 0: none), a column for each sensor by
 * its name, throttle_reasons ("power+temperature"; "none") and vram_own_source ("account",
 * "driver").  Values that are not available are nan.  The bytes are the same in any locale. */
#pragma once
#include "sensors.h"

G_BEGIN_DECLS

#define DYNO_SENSORS_CSV_NAME "sensors.csv"

typedef struct {
  double unix_time; /* seconds */
  guint64 step;
  double values[DYNO_N_SENSORS]; /* NaN: not available */
  guint throttle_reasons;        /* DynoThrottle */
  DynoSensorSource vram_own_source;
} DynoSensorRow;

/* Makes the row of a reading, with the present time. */
void dyno_sensor_row_init (DynoSensorRow *row, const DynoSensorReading *reading, guint64 step);

/* Append the head line, and a row. */
void dyno_sensors_csv_append_head (GString *text);
void dyno_sensors_csv_append (GString *text, const DynoSensorRow *row);

/* Reads a file back by the names of its columns: unknown columns are ignored, and the values of
 * missing columns are not available. */
typedef struct _DynoSensorsCsv DynoSensorsCsv;

/* head: the first line, without newline.  NULL: the file is no sensors.csv. */
DynoSensorsCsv *dyno_sensors_csv_new (const char *head);
void dyno_sensors_csv_free (DynoSensorsCsv *csv);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoSensorsCsv, dyno_sensors_csv_free)

/* Parses a line, without newline.  FALSE: the line is incomplete. */
gboolean dyno_sensors_csv_parse (const DynoSensorsCsv *csv, const char *line, DynoSensorRow *row);

/* All rows of FOLDER/sensors.csv, oldest first, up to the first incomplete one; element type
 * DynoSensorRow.  Empty where there is no such file.  g_array_unref. */
GArray *dyno_sensors_csv_read (const char *folder);

G_END_DECLS
