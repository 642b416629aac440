/* SPDX-License-Identifier: MIT */
/* A source of sensor values.  Private to the monitor layer.
 *
 * A source is opened, read and closed by one thread, which may hang in any of the three; it shares
 * only the setup, which does not change, with other threads. */
#pragma once
#include "sensors.h"

G_BEGIN_DECLS

typedef struct {
  char *proc_root, *sys_root, *nvml;
  DynoDeviceInfo device;
  gboolean has_device;
  gboolean in_use;     /* this process has the device open */
  gboolean ask_driver; /* query the driver for the device's memory, since no other code does */
} DynoSourceSetup;

typedef struct {
  const char *name; /* for the log */
  /* Returns NULL if the source does not exist here. */
  gpointer (*open) (const DynoSourceSetup *setup);
  /* Sets the source's values; all others are set to not available before. */
  void (*read) (gpointer source, gint64 now_us, DynoSensorReading *reading);
  void (*close) (gpointer source);
} DynoSourceClass;

extern const DynoSourceClass dyno_source_host, dyno_source_nvml, dyno_source_drm,
    dyno_source_driver;

/* sensors.c.  The first multiple of the interval after began_us that is later than now, so that
 * readings do not drift by their own duration, and missed readings are skipped. */
gint64 dyno_source_next_tick_us (gint64 began_us, gint64 interval_us, gint64 now_us);

/* Sets a value, if it is a number. */
void dyno_sensor_set (DynoSensorReading *reading, DynoSensor sensor, double value,
                      DynoSensorSource source);

/* The state by which a growing counter is converted to a rate per second. */
typedef struct {
  double value; /* value at time_us */
  gint64 time_us;
  gboolean known;
} DynoSensorCounter;

/* NaN: the value is the first, is not a number, or is below the last one. */
double dyno_sensor_counter_rate (DynoSensorCounter *counter, double value, gint64 now_us);

/* programs.c.  Adds a process, with its memory (NaN: not known).  A process that is listed again
 * gets the sum of both amounts or, where both lists count the same memory, the larger one. */
typedef enum { DYNO_PROGRAM_SUM, DYNO_PROGRAM_SAME } DynoProgramAgain;
void dyno_sensor_programs_add (DynoSensorPrograms *programs, guint32 pid, double bytes,
                               DynoProgramAgain again);
/* Names the programs, marks this process, and sorts them. */
void dyno_sensor_programs_finish (DynoSensorPrograms *programs, const char *proc_root, guint32 own);

/* sensorfile.c.  Reads at most size - 1 bytes of a file and terminates them with 0; does not block
 * on a FIFO.  -1: the file cannot be read. */
gssize dyno_sensor_file_read (const char *path, char *buffer, gsize size);
/* The number that the file FOLDER/NAME begins with; NaN: there is none. */
double dyno_sensor_file_number (const char *folder, const char *name);
/* The number after key in the first line that begins with key; NaN: there is none. */
double dyno_sensor_text_number (const char *text, const char *key);

G_END_DECLS
