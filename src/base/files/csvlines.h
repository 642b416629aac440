/* SPDX-License-Identifier: MIT */
/* Lines of a CSV file that grows while a program works, and that stays readable when the program is
 * killed: a line counts once its line end is written.  csvcell.h has the format of the cells. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* Appends a line, which includes its line end; it is durable when the function returns.  path: for
 * errors, which are DYNO_BASE_ERROR_DISK and _IO. */
gboolean dyno_csv_append_line (int fd, const GString *line, const char *path, GError **error);

/* Opens a file to which lines are appended, and returns its descriptor; -1: an error, as of
 * dyno_csv_append_line.  An existing file loses its unfinished last line, or with append FALSE is
 * removed first.  An empty or new file begins with the line `first`.  most_bytes: as for
 * dyno_csv_cut_unfinished. */
int dyno_csv_open (const char *path, const GString *first, gboolean append, gsize most_bytes,
                   GError **error);

/* The text of a regular file of at most most_bytes, up to its first byte 0.  Errors:
 * DYNO_BASE_ERROR_IO, _CORRUPT.  g_free. */
char *dyno_csv_read (const char *path, gsize most_bytes, GError **error);

/* Removes the unfinished last line that a killed process left; a line break between quotes does not
 * end a line.  A file of more than most_bytes is left as it is.  FALSE: errno has the reason. */
gboolean dyno_csv_cut_unfinished (int fd, gsize most_bytes);

/* The cells of the next line, char*; *at moves to the end of the line.  NULL: no whole line is
 * left. */
GPtrArray *dyno_csv_next_line (const char **at);

G_END_DECLS
