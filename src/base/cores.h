/* SPDX-License-Identifier: MIT */
/* The processor's cores that a thread may run on, and its priority there.
 *
 * Invariant: a limit is the calling thread's, and that of every thread that it starts from then on;
 * so what a library starts (a driver that computes on the CPU) keeps it too, and the threads of a
 * window that were there before do not. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* At least 1.  GLib's count has those, too, that taskset or a container's cpuset leaves out. */
guint dyno_cores_count (void);

/* Keeps one part of so many, at least one, with the threads of a core side by side; for the calling
 * thread and those that it starts from now on.  How many it keeps; 0: the system does not let it. */
guint dyno_cores_keep_part (guint parts);

/* Keeps so many of them at most, chosen in the same way.  How many it keeps; 0: n is 0, or the
 * system does not let it, and nothing has changed. */
guint dyno_cores_keep (guint n);

/* The same for a while, in a thread that others use afterwards; NULL: nothing has changed.
 * _release in the same thread gives the cores back and frees; NULL: nothing. */
typedef struct _DynoCoresHold DynoCoresHold;
DynoCoresHold *dyno_cores_hold (guint n);
void dyno_cores_release (DynoCoresHold *hold);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoCoresHold, dyno_cores_release)

/* Lets other programs go before the calling thread (Linux: its own nice value, 0 to 19); never
 * raises its priority.  The value that it has now. */
gint dyno_cores_be_nice (gint nice);

G_END_DECLS
