/* SPDX-License-Identifier: MIT */
/* A clock that stands still while the whole process does: a stop by a signal (Ctrl-Z), a virtual
 * machine that is halted.  Private to the train layer.
 *
 * A thread notes the time some times per second (a heartbeat); a long time without one is time that
 * the process did not have.  Any thread. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef struct _DynoPulse DynoPulse;

/* clock: any thread calls it; g_get_monotonic_time but in tests. */
DynoPulse *dyno_pulse_new (gint64 (*clock) (void));
void dyno_pulse_free (DynoPulse *pulse);

/* A moment of the monotonic clock, not older than some seconds, less all times without the process
 * up to then.  Later moments never give less.  Without a thread (none could be started) or with
 * NULL the monotonic clock itself. */
gint64 dyno_pulse_awake (DynoPulse *pulse, gint64 monotonic_us);

G_END_DECLS
