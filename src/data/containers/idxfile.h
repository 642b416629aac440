/* SPDX-License-Identifier: MIT */
/* Reader of one IDX file (Y. LeCun's MNIST format), plain or gzip: unsigned bytes only. */
#pragma once
#include "data-error.h"

G_BEGIN_DECLS

typedef struct {
  guint n_dims; /* 1..3 */
  guint32 shape[3];
  guint64 n_bytes; /* product of shape */
} DynoIdxHeader;

#define DYNO_IDX_HEADER_MAX 16

/* Parses the first bytes of a file.  name: for messages.  Errors: CORRUPT, UNSUPPORTED,
 * TOO_LARGE. */
gboolean dyno_idx_parse_header (const guint8 *bytes, gsize size, const char *name,
                                DynoIdxHeader *header, GError **error);

/* Reads the whole content; file_bytes (may be NULL) is its size on disk.  Free with g_free.
 * Errors: those of the header, NOT_FOUND, READ; TOO_LARGE also where the header of a gzip file
 * gives more bytes than the file can inflate to. */
guint8 *dyno_idx_read (const char *path, DynoIdxHeader *header, guint64 *file_bytes,
                       GError **error);

G_END_DECLS
