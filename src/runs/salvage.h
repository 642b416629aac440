/* SPDX-License-Identifier: MIT */
/* Moves a damaged file of the history away and copies the rows that can still be read.  Private to
 * the layer. */
#pragma once
#include <glib.h>
#include <sqlite3.h>

G_BEGIN_DECLS

/* Renames the file, and the files that belong to it, to FILE.corrupt-<time>, which is returned;
 * g_free.  NULL, with errno: it could not be renamed. */
char *dyno_salvage_move_aside (const char *path);
/* Copies each readable row of the known tables into a new file; returns the number of rows. */
guint dyno_salvage_copy (const char *from, sqlite3 *to);

G_END_DECLS
