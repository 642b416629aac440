/* SPDX-License-Identifier: MIT */
/* Rows of one size, any number of them, in bounded memory: the newest as they are, older ones in
 * blocks in a file of the cache folder that has no name and is gone with the log, also when the
 * process is killed.  A row comes back to the bit.
 *
 * In memory are at least DYNO_ROW_LOG_NEWEST bytes of rows, in all at most
 * DYNO_ROW_LOG_MOST_BYTES and 8 bytes a block; a log that is not longer than that opens no file.
 * Rows that cannot be written (a full disk) stay in memory, and are tried again with each block
 * that follows; past some hundred megabytes of it the oldest rows are lost.
 *
 * Blocks are compressed: rows of numbers that seldom change take little.  Private to the
 * layers up to train; no locks. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_ROW_LOG_BLOCK      1048576 /* bytes of rows in one, or a row less */
#define DYNO_ROW_LOG_NEWEST     (3 * (DYNO_ROW_LOG_BLOCK - 4096))
#define DYNO_ROW_LOG_MOST_BYTES (9 * DYNO_ROW_LOG_BLOCK)

typedef struct _DynoRowLog DynoRowLog;

DynoRowLog *dyno_row_log_new (gsize row_bytes); /* at most 4096 */
void dyno_row_log_free (DynoRowLog *log);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoRowLog, dyno_row_log_free)

void dyno_row_log_append (DynoRowLog *log, gconstpointer row);
guint64 dyno_row_log_get_length (const DynoRowLog *log);
/* Copies [first, first + count) into rows; returns how many there were: fewer than the log is
 * long where rows were lost or cannot be read again, which the program's log reports. */
guint64 dyno_row_log_copy (DynoRowLog *log, guint64 first, guint64 count, gpointer rows);
/* Memory that it takes, and what lies in its file. */
gsize dyno_row_log_get_bytes (const DynoRowLog *log);
guint64 dyno_row_log_get_file_bytes (const DynoRowLog *log);

G_END_DECLS
