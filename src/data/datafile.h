/* SPDX-License-Identifier: MIT */
/* Reads files of unknown origin: it never hangs on a FIFO or device, never trusts a size, and takes
 * paths of any length. */
#pragma once
#include "data-error.h"
#include <sys/stat.h>

G_BEGIN_DECLS

/* Opens path for reading without waiting and gives its type.  -1 on error.  Errors: NOT_FOUND,
 * READ, UNREACHABLE. */
int dyno_datafile_open_any (const char *path, struct stat *status, GError **error);

/* The same, but anything other than a regular file is refused.  Errors: NOT_FOUND, READ,
 * UNREACHABLE. */
int dyno_datafile_open (const char *path, guint64 *size_bytes, GError **error);

/* Repeats pread until size bytes are read or the file ends; -1 with errno on failure. */
gssize dyno_datafile_pread (int fd, void *buffer, gsize size, guint64 offset);

/* Reads size bytes that are in the page cache; FALSE where they are not, or where a read might
 * wait.  can_read_at_once: TRUE where the file system can distinguish these two cases. */
gboolean dyno_datafile_read_at_once (int fd, void *buffer, gsize size, guint64 offset);
gboolean dyno_datafile_can_read_at_once (int fd);

/* Makes room for size bytes in scratch; FALSE where memory is short (g_byte_array_set_size would
 * abort).
 * Errors: TOO_LARGE. */
gboolean dyno_datafile_reserve (GByteArray *scratch, guint64 size, GError **error);

/* Reads the whole file into scratch, at its start.  Errors: NOT_FOUND, READ, UNREACHABLE, TOO_LARGE
 * (past limit). */
gboolean dyno_datafile_read (const char *path, guint64 limit, GByteArray *scratch,
                             gsize *size_bytes, GError **error);

/* Reads a byte at offset from the disk or server itself, not from the system's cache.  An offset
 * past the end of the file reads nothing and is no error.  Errors: NOT_FOUND, READ, UNREACHABLE. */
gboolean dyno_datafile_probe (const char *path, guint64 offset, GError **error);

/* TRUE where an errno is about the disk or server behind a file, not about the file. */
gboolean dyno_datafile_is_unreachable (int code);

/* Sets the error for errno code of path: NOT_FOUND, UNREACHABLE or READ. */
void dyno_datafile_set_error (GError **error, int code, const char *path);

G_END_DECLS
