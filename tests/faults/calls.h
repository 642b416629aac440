/* SPDX-License-Identifier: MIT */
/* System calls that fail, or kill, at the N-th: this program's own definitions of write, fsync,
 * rename, link, unlink and open stand before libc's, for its own code and for the libraries it
 * loads.  They pass on to libc's until they are armed. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* From now on calls are counted and written down; number at (from 1; 0: none) fails with errno
 * code, or, with code 0, the process is killed in the middle of it. */
void calls_arm (guint at, int code);

/* Back to libc's.  How many there were; *list (may be NULL; g_free): a line for each, as "write 5"
 * or "rename FROM TO". */
guint calls_disarm (char **list);

/* fsync waits from now on, in threads of that name, until it is let go; a minute at most. */
void calls_hold_fsync (const char *thread_name);
void calls_let_go (void);
guint calls_get_held (void);   /* how many came meanwhile */
gboolean calls_gave_up (void); /* one waited that minute */

G_END_DECLS
