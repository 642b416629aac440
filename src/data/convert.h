/* SPDX-License-Identifier: MIT */
/* Packing a data set into one file: a WebDataset shard (webdataset.c and packedarrays.c read it).
 *
 * That form and no own one, for other programs read it as well, and any .tar program shows what is
 * in it; its samples lie one after another, each image as its bytes were, so that nothing is lost
 * and nothing is decoded to be packed.  Of an image that a sample is a piece of, the piece is
 * written as PNG, or the whole JPEG and where the piece lies in it: in either case what is decoded
 * at any size is the same to the bit.  What is no image of bytes in grey or RGB, as sequences and arrays
 * of floats, is written as .npy, as it is fed.  Names of classes and of values, the normalisation, the
 * parts, and the order of the samples in the data set, are written too (packed.h): training by the
 * file is training by what it was made of. */
#pragma once
#include "dataset.h"

G_BEGIN_DECLS

typedef struct {
  guint64 n_written, n_skipped; /* samples */
  guint64 bytes;                /* of the file */
  guint64 n_copied;             /* whose image file was taken as it is */
} DynoConverted;

/* Writes dataset to path, which holds its old content or all of the new one, also after a crash;
 * what was written is read again and compared before it takes its place.  Training samples come
 * first, in a fixed random order, then those of its own validation part.  size: 0, or the shorter
 * side that images are scaled down to (JPEG of quality 95).  A sample that cannot be read is
 * skipped, counted, and "sample: reason" appended to skipped (may be NULL), 100 at most.
 * Errors: UNSUPPORTED (noise of the device; a size where samples have one of their own; names of
 * classes that do not fit), EMPTY,
 * CORRUPT (what was read again is not what was written); DYNO_BASE_ERROR_DISK, _IO;
 * G_IO_ERROR_CANCELLED. */
gboolean dyno_dataset_convert (DynoDataset *dataset, const char *path, guint32 size,
                               DynoScanProgress progress, gpointer data, GCancellable *cancellable,
                               GPtrArray *skipped, DynoConverted *converted, GError **error);

G_END_DECLS
