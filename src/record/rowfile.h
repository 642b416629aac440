/* SPDX-License-Identifier: MIT */
/* A file of lines that grows while a run goes on: metrics.csv and sensors.csv.  Lines that could
 * not be written are kept, and tried again with those that follow, so that a disk that is full
 * for a while costs nothing.  Private to the layers up to train; no locks. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* Writes the beginning of a file to path, atomically, where that is more than is good to hold. */
typedef gboolean (*DynoRowFileBegin) (gpointer data, const char *path, GError **error);

typedef struct {
  char *path;
  int fd;                       /* -1: the file is not there yet */
  GString *text;                /* not written yet: what is to be written is added here */
  DynoRowFileBegin write_begin; /* before the text; NULL: nothing is there before it */
  gpointer data;                /* for it */
  gboolean begun;
  GError *problem; /* why the last attempt did not write all of it; NULL: it did */
  gint64 flushed_us;
} DynoRowFile;

/* Takes path. */
void dyno_row_file_init (DynoRowFile *file, char *path);
/* Closes the file; what is not written is lost. */
void dyno_row_file_clear (DynoRowFile *file);

/* From now on the file is written: anew, with its begin and the text as it is, then by appending.  Errors, as
 * below. */
gboolean dyno_row_file_begin (DynoRowFile *file, GError **error);
/* Writes the text when it is enough, or a second has passed, or now.  Before _begin it is held.
 * Errors: DYNO_BASE_ERROR_DISK and _IO, as long as there is text that was tried and could not be
 * written. */
gboolean dyno_row_file_flush (DynoRowFile *file, gboolean now, GError **error);

G_END_DECLS
