/* SPDX-License-Identifier: MIT */
/* A damaged file of the history: out of the way, and what can still be read of it.  Private to the
 * layer. */
#pragma once
#include <glib.h>
#include <sqlite3.h>

G_BEGIN_DECLS

/* Renames the file, and what belongs to it, to FILE.corrupt-<time>, which is returned; g_free.
 * NULL, with errno: it could not be. */
char *dyno_salvage_move_aside (const char *path);
/* Copies each row of the known tables that can be read into a new file; how many. */
guint dyno_salvage_copy (const char *from, sqlite3 *to);

G_END_DECLS
