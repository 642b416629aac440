/* SPDX-License-Identifier: MIT */
/* Watches a device and this machine while the window is open: keeps the newest reading of the
 * sensors, and their values as series over seconds.  Main thread only. */
#pragma once
#include "sensors.h"
#include "series.h"
#include <glib-object.h>

G_BEGIN_DECLS

#define DYNO_TYPE_DEVICE_WATCH (dyno_device_watch_get_type ())
G_DECLARE_FINAL_TYPE (DynoDeviceWatch, dyno_device_watch, DYNO, DEVICE_WATCH, GObject)

/* Reads about once per second from then on.  device NULL: watches only the machine. */
DynoDeviceWatch *dyno_device_watch_new (const DynoDeviceInfo *device);
/* Takes a reading as the newest one, as those of the sensors are taken. */
void dyno_device_watch_take (DynoDeviceWatch *self, const DynoSensorReading *reading);
/* The newest reading; NULL: there is none yet. */
const DynoSensorReading *dyno_device_watch_get_reading (DynoDeviceWatch *self);
/* The values of a sensor over time; bytes are converted to GiB, bytes per second to MiB/s, and an
 * unavailable value is NaN.  Owned by the watch. */
DynoSeries *dyno_device_watch_get_series (DynoDeviceWatch *self, DynoSensor sensor);
/* Whether the sensor ever had a value. */
gboolean dyno_device_watch_has (DynoDeviceWatch *self, DynoSensor sensor);
/* x of the newest points: seconds since the first reading */
double dyno_device_watch_get_seconds (DynoDeviceWatch *self);

/* Signal "changed" (): there is a reading that was not seen before. */

G_END_DECLS
