/* SPDX-License-Identifier: MIT */
/* Rows of one size, any number of them, in bounded memory: the newest rows uncompressed, older ones
 * in blocks in an unnamed file in the cache folder, which disappears with the log, also when the
 * process is killed.  Rows are read back unchanged.
 *
 * At least DYNO_ROW_LOG_NEWEST bytes of rows are in memory, in total at most
 * DYNO_ROW_LOG_MOST_BYTES and 8 bytes per block; a log that fits into memory opens no file.  Rows
 * that cannot be written (a full disk) stay in memory, and are tried again with each later block;
 * beyond some hundred megabytes of them the oldest rows are lost.
 *
 * Blocks are compressed: rows of numbers that seldom change take little.  Private to the
 * layers up to train; no locks. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_ROW_LOG_BLOCK      1048576 /* bytes of rows in a block, or less by part of a row */
#define DYNO_ROW_LOG_NEWEST     (3 * (DYNO_ROW_LOG_BLOCK - 4096))
#define DYNO_ROW_LOG_MOST_BYTES (9 * DYNO_ROW_LOG_BLOCK)

typedef struct _DynoRowLog DynoRowLog;

DynoRowLog *dyno_row_log_new (gsize row_bytes); /* row_bytes: at most 4096 */
void dyno_row_log_free (DynoRowLog *log);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoRowLog, dyno_row_log_free)

void dyno_row_log_append (DynoRowLog *log, gconstpointer row);
guint64 dyno_row_log_get_length (const DynoRowLog *log);
/* Copies [first, first + count) into rows; returns the number of copied rows, which is smaller than
 * requested where rows were lost or cannot be read back; the program's log reports that. */
guint64 dyno_row_log_copy (DynoRowLog *log, guint64 first, guint64 count, gpointer rows);
/* The memory that the log uses, and the bytes in its file. */
gsize dyno_row_log_get_bytes (const DynoRowLog *log);
guint64 dyno_row_log_get_file_bytes (const DynoRowLog *log);

G_END_DECLS
