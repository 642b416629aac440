/* SPDX-License-Identifier: MIT */
/* Makes the N-th system call fail, or kills the process in it: the program's own definitions of
 * write, fsync, rename, link, unlink and open replace those of libc, for its code and for the
 * libraries that it loads.  They call libc's functions until they are armed. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* From now on calls are counted and recorded; call number at (from 1; 0: none) fails with errno
 * code, or, with code 0, the process is killed during it. */
void calls_arm (guint at, int code);

/* Restores libc's calls.  Returns their number; *list (may be NULL; g_free): a line for each call,
 * such as "write 5" or "rename FROM TO". */
guint calls_disarm (char **list);

/* From now on fsync blocks in threads of that name until it is released, at most for a minute. */
void calls_hold_fsync (const char *thread_name);
void calls_let_go (void);
guint calls_get_held (void);   /* number of calls that were blocked */
gboolean calls_gave_up (void); /* whether one was blocked for that minute */

G_END_DECLS
