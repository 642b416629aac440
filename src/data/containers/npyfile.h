/* SPDX-License-Identifier: MIT */
/* Reads and writes NumPy's .npy files (format versions 1 to 3, numpy.lib.format). */
#pragma once
#include "data-error.h"

G_BEGIN_DECLS

#define DYNO_NPY_MAX_DIMS   8
#define DYNO_NPY_MAX_HEADER (1 << 20)

typedef struct {
  char kind;        /* 'f' float, 'i' signed, 'u' unsigned, 'b' boolean */
  guint item_bytes; /* 1, 2, 4, 8 */
  gboolean swap;    /* stored in the byte order that this machine does not have */
  gboolean fortran; /* first index fastest */
  guint n_dims;     /* 0: a single number */
  guint64 shape[DYNO_NPY_MAX_DIMS];
  guint64 n_items;
  guint64 data_offset; /* of the first item in the file */
  guint64 data_bytes;
} DynoNpyHeader;

/* The number of bytes before the data, computed from the first 12 bytes of the file.  Errors:
 * CORRUPT, UNSUPPORTED, TOO_LARGE. */
gboolean dyno_npy_header_size (const guint8 *bytes, gsize size, guint64 *header_size,
                               GError **error);

/* Parses the first size bytes of a file of file_size bytes; they must reach to the data.  Nothing
 * is allocated.
 * Errors: CORRUPT (also data that reaches past the file), UNSUPPORTED (objects, structures),
 * TOO_LARGE (overflow). */
gboolean dyno_npy_parse (const guint8 *bytes, gsize size, guint64 file_size, DynoNpyHeader *header,
                         GError **error);

/* Reads the header of a .npy of size bytes that begins at `at` of an open file; data_offset counts
 * from the file's start.  Errors: those of dyno_npy_parse. */
gboolean dyno_npy_read_header (int fd, guint64 at, guint64 size, DynoNpyHeader *header,
                               GError **error);

/* Read the item at bytes, of the header's type, as a double or as an integer (floats are
 * truncated). */
double dyno_npy_get_double (const DynoNpyHeader *header, const guint8 *bytes);
gint64 dyno_npy_get_int (const DynoNpyHeader *header, const guint8 *bytes);

/* Appends an array in the file's format, in this machine's byte order: type is "f4", "u1", "i8"
 * ... */
void dyno_npy_append (GByteArray *file, const char *type, guint n_dims, const guint64 *shape,
                      gconstpointer data);

/* Writes an array as a .npy.  Errors: those of dyno_file_write_atomic. */
gboolean dyno_npy_write (const char *path, const char *type, guint n_dims, const guint64 *shape,
                         gconstpointer data, GError **error);

G_END_DECLS
