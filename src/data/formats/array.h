/* SPDX-License-Identifier: MIT */
/* One array of a data set, a .npy file or a member of an .npz archive, that can be read sample by
 * sample.
 *
 * Invariants: opening an array reads only its header, so that an array that the header rules out
 * costs no time; its data can be read after dyno_array_load.  From then on header.fortran is FALSE,
 * and data_offset counts from the start of fd.  An array whose samples do not lie one after another
 * in its file (Fortran order, deflated) is copied once by loading, window by window, into a file
 * without a name, which is in memory for a small array and in the cache folder for a large one.  An
 * array without such a copy stays in its file. */
#pragma once
#include "dataset-class.h"
#include "members.h"
#include "npyfile.h"

G_BEGIN_DECLS

typedef struct {
  char *path;        /* of the file */
  char *shown;       /* for messages: the file, or "archive: member" */
  int fd;            /* -1: none */
  guint64 at;        /* position of the .npy in the file, where nothing was copied */
  guint64 file_size; /* bytes of the .npy as it is stored */
  gboolean copied;
  DynoMember packed; /* the member that dyno_array_load inflates, with a NULL name; size 0: none */
  /* the file is one sample: header has an axis of 1 before the axes of the file */
  gboolean single;
  DynoNpyHeader header;
} DynoArray;

#define DYNO_ARRAY_NONE ((DynoArray){ .fd = -1 })

/* Errors: those of dyno_npy_parse; READ, UNREACHABLE. */
gboolean dyno_array_open (DynoArray *array, const char *path, GError **error);
gboolean dyno_array_open_member (DynoArray *array, const char *path, const DynoMember *member,
                                 GError **error);
/* Loads the array, so that it can be read.  Errors: CORRUPT, READ, TOO_LARGE (no room for a copy);
 * G_IO_ERROR_CANCELLED. */
gboolean dyno_array_load (DynoArray *array, const DynoOpenContext *context, GError **error);
void dyno_array_clear (DynoArray *array);

/* Declares the array, with all its axes, one sample: an axis for samples is put before its axes.
 * FALSE: the array has too many axes. */
gboolean dyno_array_make_single (DynoArray *array);
/* Closes the descriptor of an array that was not copied: it is opened at each read, since there are
 * many files. */
void dyno_array_rest (DynoArray *array);

/* "float32 (60000, 28, 28)" for a member, or the reason why it is no array; g_free. */
char *dyno_array_describe_member (const char *path, const DynoMember *member);

/* Reads size bytes of the data from offset on, like dyno_datafile_pread, with errno in *code.
 * Where a disk was disconnected and is back, the file is opened anew. */
gssize dyno_array_read (const DynoArray *array, gpointer bytes, gsize size, guint64 offset,
                        int *code);

/* Makes a file without a name of size bytes, which are reserved.  -1 on error.  Errors:
 * TOO_LARGE. */
int dyno_array_new_copy (guint64 size, const char *shown, GError **error);

/* Copies an array in Fortran order (first axis fastest), at `at` in the open file `from`, to the
 * open file `to` in C order, by windows of at most window bytes or one sample.  Errors: READ,
 * TOO_LARGE; G_IO_ERROR_CANCELLED. */
gboolean dyno_array_reorder (int from, guint64 at, const DynoNpyHeader *header, int to,
                             guint64 window, const char *shown, const DynoOpenContext *context,
                             GError **error);

G_END_DECLS
