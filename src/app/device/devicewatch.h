/* SPDX-License-Identifier: MIT */
/* A device and this machine, watched while the window is open: the newest reading of the sensors,
 * and their values over time as series over seconds.  Main thread. */
#pragma once
#include "sensors.h"
#include "series.h"
#include <glib-object.h>

G_BEGIN_DECLS

#define DYNO_TYPE_DEVICE_WATCH (dyno_device_watch_get_type ())
G_DECLARE_FINAL_TYPE (DynoDeviceWatch, dyno_device_watch, DYNO, DEVICE_WATCH, GObject)

/* Reads about once per second from then on.  NULL: no GPU, only the machine. */
DynoDeviceWatch *dyno_device_watch_new (const DynoDeviceInfo *device);
/* The newest; NULL: there is none yet. */
const DynoSensorReading *dyno_device_watch_get_reading (DynoDeviceWatch *self);
/* Bytes are GiB in it, bytes per second MiB/s.  Owned by the watch.  A value that is not available
 * is NaN. */
DynoSeries *dyno_device_watch_get_series (DynoDeviceWatch *self, DynoSensor sensor);
/* Whether the sensor ever had a value. */
gboolean dyno_device_watch_has (DynoDeviceWatch *self, DynoSensor sensor);
double dyno_device_watch_get_seconds (DynoDeviceWatch *self); /* x of the newest points */

/* Signal "changed" (): there is a reading that was not seen before. */

G_END_DECLS
