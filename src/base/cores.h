/* SPDX-License-Identifier: MIT */
/* The processor's cores that a thread may run on, and its priority there.
 *
 * Invariant: a limit holds for the calling thread and for every thread that it starts from then on;
 * so threads that a library starts later (a driver that computes on the CPU) inherit it, and
 * threads that exist already do not. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* At least 1.  GLib's count includes cores that taskset or a container's cpuset leaves out. */
guint dyno_cores_count (void);

/* Restricts the calling thread, and the threads that it starts from now on, to one of `parts` equal
 * parts of its cores, at least one, with the hardware threads of a core together.  Returns the
 * number of cores that remain; 0: the system does not allow it. */
guint dyno_cores_keep_part (guint parts);

/* The same with at most n cores.  Returns the number of cores that remain; 0: n is 0, or the system
 * does not allow it, and nothing has changed. */
guint dyno_cores_keep (guint n);

/* The same until _release, which the same thread calls: it restores the cores and frees the hold;
 * it ignores NULL.  dyno_cores_hold returns NULL where nothing has changed. */
typedef struct _DynoCoresHold DynoCoresHold;
DynoCoresHold *dyno_cores_hold (guint n);
void dyno_cores_release (DynoCoresHold *hold);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoCoresHold, dyno_cores_release)

/* Lowers the priority of the calling thread (Linux: its nice value, 0 to 19) and never raises it.
 * Returns the value that the thread has now. */
gint dyno_cores_be_nice (gint nice);

G_END_DECLS
