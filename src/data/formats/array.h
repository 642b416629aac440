/* SPDX-License-Identifier: MIT */
/* One array of a data set: a .npy file or a member of an .npz archive, as it can be read sample by
 * sample.
 *
 * Invariants: an array that is open has its header and nothing else, so that what the header
 * condemns costs no time; it is read after it was loaded.  From then on header.fortran is FALSE, and
 * data_offset counts from the start of fd.  An array whose samples do not lie one after another where
 * it is (Fortran order, deflated) is copied once by loading, window by window, into a file without a
 * name: of a small one in memory, of a large one among the caches.  An array without such a copy
 * stays in its file. */
#pragma once
#include "dataset-class.h"
#include "members.h"
#include "npyfile.h"

G_BEGIN_DECLS

typedef struct {
  char *path;        /* of the file */
  char *shown;       /* for messages: the file, or "archive: member" */
  int fd;            /* -1: none */
  guint64 at;        /* of the .npy in the file, where nothing was copied */
  guint64 file_size; /* of the .npy as it is stored */
  gboolean copied;
  DynoMember packed; /* that is inflated by loading: its name is NULL; size 0: none */
  gboolean single;   /* the file is one sample: header has an axis of 1 before the file's own */
  DynoNpyHeader header;
} DynoArray;

#define DYNO_ARRAY_NONE ((DynoArray){ .fd = -1 })

/* Errors: those of dyno_npy_parse; READ, UNREACHABLE. */
gboolean dyno_array_open (DynoArray *array, const char *path, GError **error);
gboolean dyno_array_open_member (DynoArray *array, const char *path, const DynoMember *member,
                                 GError **error);
/* Makes it readable.  Errors: CORRUPT, READ, TOO_LARGE (no room for a copy); G_IO_ERROR_CANCELLED. */
gboolean dyno_array_load (DynoArray *array, const DynoOpenContext *context, GError **error);
void dyno_array_clear (DynoArray *array);

/* The array is one sample, whose axes are those that it has; its samples' axis is put before them.
 * FALSE: it has too many. */
gboolean dyno_array_make_single (DynoArray *array);
/* Closes the descriptor of one that was not copied: of many files each is opened when it is read. */
void dyno_array_rest (DynoArray *array);

/* "float32 (60000, 28, 28)" of a member, or why it is no array; g_free. */
char *dyno_array_describe_member (const char *path, const DynoMember *member);

/* size bytes of the data from offset on; as dyno_datafile_pread, errno in *code.  A file whose disk
 * was away and is back is opened anew. */
gssize dyno_array_read (const DynoArray *array, gpointer bytes, gsize size, guint64 offset,
                        int *code);

/* A file without a name for size bytes, which are reserved.  -1 on error.  Errors: TOO_LARGE. */
int dyno_array_new_copy (guint64 size, const char *shown, GError **error);

/* (first axis fastest) in `from` at `at` to C order in `to`, both open files; windows of at most
 * window bytes or one sample.  Errors: READ, TOO_LARGE; G_IO_ERROR_CANCELLED. */
gboolean dyno_array_reorder (int from, guint64 at, const DynoNpyHeader *header, int to,
                             guint64 window, const char *shown, const DynoOpenContext *context,
                             GError **error);

G_END_DECLS
