/* SPDX-License-Identifier: MIT */
/* A meter whose measurements run in a thread of their own, so that a search which is cancelled need
 * not wait for what cannot be: a driver that compiles kernels, a step that takes minutes. */
#pragma once
#include "meter.h"

G_BEGIN_DECLS

/* Takes inner.  A measurement that was cancelled and does not end within grace_s is left behind:
 * the caller has G_IO_ERROR_CANCELLED, and all measurements after it have too; it ends in its
 * thread, tells nobody, and inner is freed after it. */
DynoMeter *dyno_async_meter_new (DynoMeter *inner, double grace_s);

/* Of a meter made by dyno_async_meter_new: no measurement is waited for past this time (monotonic);
 * one that has not ended by then is left behind too, and G_IO_ERROR_TIMED_OUT in place of the above.
 * Between measurements.  At first there is no such time. */
void dyno_async_meter_set_end (DynoMeter *meter, gint64 end_us);

/* Measurements that were left behind and have not ended.  A process with any must leave by _exit():
 * a driver that is unloaded under its threads crashes.  Any thread. */
guint dyno_async_meter_count_left (void);

G_END_DECLS
