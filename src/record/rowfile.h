/* SPDX-License-Identifier: MIT */
/* A file to which lines are appended during a run: metrics.csv and sensors.csv.  Lines that could
 * not be written are kept, and tried again with later lines, so that a temporarily full disk loses
 * nothing.  Private to the layers up to train; no locks. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* Writes the first part of a file to path, atomically, where it is too large to be held in
 * memory. */
typedef gboolean (*DynoRowFileBegin) (gpointer data, const char *path, GError **error);

typedef struct {
  char *path;
  int fd;                       /* -1: the file does not exist yet */
  GString *text;                /* lines that are not written yet; new lines are appended here */
  DynoRowFileBegin write_begin; /* writes the part before the text; NULL: there is none */
  gpointer data;                /* for write_begin */
  gboolean begun;
  GError *problem; /* the error of the last attempt to write; NULL: it wrote everything */
  gint64 flushed_us;
} DynoRowFile;

/* Takes ownership of path. */
void dyno_row_file_init (DynoRowFile *file, char *path);
/* Closes the file; text that is not written is lost. */
void dyno_row_file_clear (DynoRowFile *file);

/* Begins to write the file: a new file with its first part and the present text; later text is
 * appended.  Errors: those of dyno_row_file_flush. */
gboolean dyno_row_file_begin (DynoRowFile *file, GError **error);
/* Writes the text when there is enough, when a second has passed, or with `now`.  Before _begin the
 * text is held.  Errors: DYNO_BASE_ERROR_DISK and _IO, as long as text is left that could not be
 * written. */
gboolean dyno_row_file_flush (DynoRowFile *file, gboolean now, GError **error);

G_END_DECLS
