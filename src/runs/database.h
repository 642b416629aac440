/* SPDX-License-Identifier: MIT */
/* The SQLite file of the history: opened whatever state it is in, brought to the version of this
 * build, its statements prepared once.  Private to the layer.
 *
 * - Write-ahead log; a rollback journal on file systems of the network, where the log's shared
 *   memory does not work.  Where not even locks work it is not opened.
 * - A damaged file is renamed aside (FILE.corrupt-<time>) and begun anew with what can still be
 *   read of it.
 * - A file of a newer version, or one that cannot be written, is opened to be read.
 * - Another process is waited for two seconds at most, or a fifth of one where its caller hurries.
 * - A new file is its user's only, as is a new folder of dyno_data_dir.
 * Threads: hold the lock (dyno_database_lock) from a statement's preparation to its last row. */
#pragma once
#include "runs-error.h"
#include <sqlite3.h>

G_BEGIN_DECLS

typedef struct _DynoDatabase DynoDatabase;

/* The folder is made where it is missing.  hurry: while another thread has set it, other processes are
 * hardly waited for, also by what is waiting already; NULL: never; it lives as long as the database.
 * Errors: IO, BUSY, DISK, CORRUPT, READ_ONLY. */
DynoDatabase *dyno_database_open (const char *path, const gint *hurry, GError **error);
void dyno_database_free (DynoDatabase *db);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoDatabase, dyno_database_free)

/* Another one from now on; returns what it was. */
const gint *dyno_database_set_hurry (DynoDatabase *db, const gint *hurry);

void dyno_database_lock (DynoDatabase *db); /* recursive */
void dyno_database_unlock (DynoDatabase *db);

const char *dyno_database_get_path (DynoDatabase *db);
/* Why nothing can be written, as a sentence for people; NULL: it can. */
const char *dyno_database_get_read_only (DynoDatabase *db);
/* A damaged file was moved to this path, and the history was begun anew; NULL: it was whole. */
const char *dyno_database_get_aside (DynoDatabase *db);

/* The statement, prepared the first time and reset since, with values bound: i gint64, u guint64, d
 * double (NaN: NULL), s text, b bytes of a name (both may be NULL).  sql is static.  The database
 * owns it.  Errors: all. */
sqlite3_stmt *dyno_database_prepare (DynoDatabase *db, GError **error, const char *sql,
                                     const char *types, ...);
/* TRUE with *row: there is another; FALSE and no row: the end, or the error. */
gboolean dyno_database_step (DynoDatabase *db, sqlite3_stmt *statement, gboolean *row,
                             GError **error);
/* A statement without rows, from preparation to its end. */
gboolean dyno_database_run (DynoDatabase *db, GError **error, const char *sql, const char *types,
                            ...);
gint64 dyno_database_get_changes (DynoDatabase *db); /* rows that the last statement touched */
gint64 dyno_database_get_last_id (DynoDatabase *db);

/* A transaction, with the lock held from _begin to _end, which rolls back unless all was well.  A
 * file that was moved or deleted meanwhile is opened anew by _begin.  READ_ONLY. */
gboolean dyno_database_begin (DynoDatabase *db, GError **error);
gboolean dyno_database_end (DynoDatabase *db, gboolean good, GError **error);

/* Sets the error that a code of SQLite means.  Returns FALSE. */
gboolean dyno_database_fail (DynoDatabase *db, int code, GError **error);

/* Columns; _text and _name: g_free.  NULL is 0, NaN or NULL. */
double dyno_column_double (sqlite3_stmt *statement, int column);
char *dyno_column_text (sqlite3_stmt *statement, int column);

G_END_DECLS
