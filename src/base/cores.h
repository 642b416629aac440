/* SPDX-License-Identifier: MIT */
/* The processor's cores that this process may run on. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* At least 1.  GLib's count has those, too, that taskset or a container's cpuset leaves out. */
guint dyno_cores_count (void);

/* Keeps one part of so many, at least one, with the threads of a core side by side; for the calling
 * thread and those that it starts from now on.  How many it keeps; 0: the system does not let it. */
guint dyno_cores_keep_part (guint parts);

G_END_DECLS
