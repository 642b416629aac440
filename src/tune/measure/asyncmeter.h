/* SPDX-License-Identifier: MIT */
/* A meter whose measurements run in a thread of their own, so that a search that is cancelled need
 * not wait for work that cannot be cancelled: a driver that compiles kernels, a step that takes
 * minutes. */
#pragma once
#include "meter.h"

G_BEGIN_DECLS

/* Takes ownership of inner.  A measurement that was cancelled and does not end within grace_s is
 * abandoned: the caller gets G_IO_ERROR_CANCELLED, and so do all later measurements.  The abandoned
 * measurement ends in its thread without reporting anything, and inner is freed after it. */
DynoMeter *dyno_async_meter_new (DynoMeter *inner, double grace_s);

/* For a meter made by dyno_async_meter_new: a measurement that has not ended by this time
 * (monotonic) is abandoned too, with G_IO_ERROR_TIMED_OUT instead of the error above.  To be called
 * between measurements.  By default there is no such limit. */
void dyno_async_meter_set_end (DynoMeter *meter, gint64 end_us);

/* The number of measurements that were abandoned and have not ended.  A process with any of them
 * must leave by _exit(): a driver that is unloaded under its threads crashes.  Any thread. */
guint dyno_async_meter_count_left (void);

G_END_DECLS
