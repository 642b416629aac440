/* SPDX-License-Identifier: MIT */
/* The processor's cores that a thread may run on, and its priority there.
 *
 * Invariant: a limit holds for the calling thread and for every thread that it starts from then on;
 * so threads that a library starts (a driver that computes on the CPU) keep it too, and threads
 * that a window had before do not. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* At least 1.  GLib's count includes cores that taskset or a container's cpuset leaves out. */
guint dyno_cores_count (void);

/* Keeps one of `parts` equal parts of the cores, at least one core, with the hardware threads of a
 * core together; for the calling thread and the threads that it starts from now on.  Returns how
 * many it keeps; 0: the system does not allow it. */
guint dyno_cores_keep_part (guint parts);

/* Keeps at most n cores, chosen in the same way.  Returns how many it keeps; 0: n is 0, or the
 * system does not allow it, and nothing has changed. */
guint dyno_cores_keep (guint n);

/* The same until _release, in a thread that does other work afterwards; NULL: nothing has changed.
 * _release, in the same thread, gives the cores back and frees the hold; it ignores NULL. */
typedef struct _DynoCoresHold DynoCoresHold;
DynoCoresHold *dyno_cores_hold (guint n);
void dyno_cores_release (DynoCoresHold *hold);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoCoresHold, dyno_cores_release)

/* Lets other programs go before the calling thread (Linux: its own nice value, 0 to 19); never
 * raises its priority.  Returns the value that the thread has now. */
gint dyno_cores_be_nice (gint nice);

G_END_DECLS
