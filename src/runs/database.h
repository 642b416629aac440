/* SPDX-License-Identifier: MIT */
/* The SQLite file of the history.  It is opened in whatever state it is, and upgraded to the
 * version of this build; its statements are prepared once.  Private to the layer.
 *
 * - It has a write-ahead log, and a rollback journal on network file systems, where the log's
 *   shared memory does not work.  Where not even locks work, the file is not opened.
 * - A damaged file is renamed to FILE.corrupt-<time>, and a new file begins with the rows that can
 *   still be read.
 * - A file of a newer version, or one that cannot be written, is opened for reading only.
 * - The wait for another process takes two seconds at most, or a fifth of a second where the caller
 *   hurries.
 * - Only its user may read a new file or a new folder of dyno_data_dir.
 * Threads: hold the lock (dyno_database_lock) from a statement's preparation to its last row. */
#pragma once
#include "runs-error.h"
#include <sqlite3.h>

G_BEGIN_DECLS

typedef struct _DynoDatabase DynoDatabase;

/* The folder is created if it is missing.  hurry: while another thread has set *hurry, waits for
 * other processes are short, including a present one; NULL: never.  *hurry must live as long as the
 * database.  Errors: IO, BUSY, DISK, CORRUPT, READ_ONLY. */
DynoDatabase *dyno_database_open (const char *path, const gint *hurry, GError **error);
void dyno_database_free (DynoDatabase *db);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoDatabase, dyno_database_free)

/* For tests: the wait for another process of a caller that does not hurry, from now on, in all
 * databases. */
void dyno_database_set_patience (guint ms);

/* Replaces the pointer hurry; returns the previous one. */
const gint *dyno_database_set_hurry (DynoDatabase *db, const gint *hurry);

void dyno_database_lock (DynoDatabase *db); /* recursive */
void dyno_database_unlock (DynoDatabase *db);

const char *dyno_database_get_path (DynoDatabase *db);
/* The reason why nothing can be written, as a sentence; NULL: the file can be written. */
const char *dyno_database_get_read_only (DynoDatabase *db);
/* The path to which a damaged file was moved, after which a new history was begun; NULL: the file
 * was intact. */
const char *dyno_database_get_aside (DynoDatabase *db);

/* The statement of sql, prepared at the first call and reset at later ones, with values bound: i
 * gint64, u guint64, d double (NaN: NULL), s text, b bytes of a name (s and b may be NULL).  sql is
 * static.  The database owns it.  Errors: all. */
sqlite3_stmt *dyno_database_prepare (DynoDatabase *db, GError **error, const char *sql,
                                     const char *types, ...);
/* *row is set to whether there is another row.  Returns FALSE on an error. */
gboolean dyno_database_step (DynoDatabase *db, sqlite3_stmt *statement, gboolean *row,
                             GError **error);
/* Runs a statement without rows, from preparation to its end. */
gboolean dyno_database_run (DynoDatabase *db, GError **error, const char *sql, const char *types,
                            ...);
gint64 dyno_database_get_changes (DynoDatabase *db); /* rows that the last statement touched */
gint64 dyno_database_get_last_id (DynoDatabase *db);

/* A transaction, with the lock held from _begin to _end, which rolls back unless all was well.
 * _begin opens a file anew that was moved or deleted meanwhile.  Errors: READ_ONLY. */
gboolean dyno_database_begin (DynoDatabase *db, GError **error);
gboolean dyno_database_end (DynoDatabase *db, gboolean good, GError **error);

/* Sets the error for a code of SQLite.  Returns FALSE. */
gboolean dyno_database_fail (DynoDatabase *db, int code, GError **error);

/* Columns of a row; _text: g_free.  NULL is read as NaN or NULL. */
double dyno_column_double (sqlite3_stmt *statement, int column);
char *dyno_column_text (sqlite3_stmt *statement, int column);

G_END_DECLS
