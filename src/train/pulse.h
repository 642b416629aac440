/* SPDX-License-Identifier: MIT */
/* A clock that stops while the whole process is stopped: by a signal (Ctrl-Z), or with a halted
 * virtual machine.  Private to the train layer.
 *
 * A thread records the time several times per second (a heartbeat); a long gap between heartbeats
 * is left out of the clock.  Any thread. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef struct _DynoPulse DynoPulse;

/* clock: any thread calls it; g_get_monotonic_time except in tests. */
DynoPulse *dyno_pulse_new (gint64 (*clock) (void));
void dyno_pulse_free (DynoPulse *pulse);

/* Converts a time of the monotonic clock, not older than some seconds: subtracts all gaps up to
 * then.  Later times never give smaller results.  Without a thread (none could be started) or with
 * NULL the time is unchanged. */
gint64 dyno_pulse_awake (DynoPulse *pulse, gint64 monotonic_us);

G_END_DECLS
