/* SPDX-License-Identifier: MIT */
/* Values of sensors as text and as JSON, and the device of this machine to read. */
#pragma once
#include "jsontext.h"
#include "sensors.h"

G_BEGIN_DECLS

/* "87 %", "12.3 GiB", "not available".  g_free. */
char *dyno_text_sensor (DynoSensor sensor, double value);

/* Adds a member for each sensor, null where it is not available, and "throttle_reasons". */
void dyno_json_sensors (DynoJson *json, const double *values, guint throttle_reasons);

/* The device with this index; -1: the first device that is not a CPU.  *has FALSE: there is no such
 * device, which is an error only for an index that is too large. */
gboolean dyno_sensors_find_device (int index, DynoDeviceInfo *device, gboolean *has,
                                   GError **error);

/* Prints all values of a reading, as dynoctl sensors does; device NULL: there is none. */
void dyno_sensors_print (const DynoDeviceInfo *device, const DynoSensorReading *reading,
                         gboolean json);

G_END_DECLS
