/* SPDX-License-Identifier: MIT */
/* Packs a data set into one file: a WebDataset shard (webdataset.c and packedarrays.c read it).
 *
 * The format is not Dyno's own, so that other programs can read it as well and any .tar program can
 * show the content.  Samples lie one after another, each image with its original bytes, so that
 * nothing is lost and nothing is decoded for packing.  Where a sample is a piece of an image, the
 * piece is written as PNG; where the image is a JPEG, or smaller than the piece, the whole file is
 * written with the place of the piece.  In either case the decoded pixels at any size are the same
 * to the bit.  A sample that is no image of bytes in grey or RGB, such as a sequence or an array of
 * floats, is written as .npy, in the form in which the network reads it.  Targets are
 * written with it, also labels that are not known; names of classes and of values, the
 * normalisation, the parts, and the order of the samples in the data set, too (packed.h): training
 * with the file is the same as training with its source. */
#pragma once
#include "dataset.h"

G_BEGIN_DECLS

typedef struct {
  guint64 n_written, n_skipped; /* samples */
  guint64 bytes;                /* of the file */
  guint64 n_copied;             /* samples whose image file was copied unchanged */
} DynoConverted;

/* Writes dataset to path, which holds either its old content or all of the new content, also after
 * a crash; the new file is read again and compared before it replaces the old one.  Training
 * samples come first, in a fixed random order, then the samples of its own validation part.  size:
 * 0, or the shorter side that images are scaled down to (JPEG of quality 95).  A sample that cannot
 * be read is skipped, counted, and "sample: reason" appended to skipped (may be NULL), 100 at most.
 * Errors: UNSUPPORTED (noise of the device; a size where samples have a size of their own; names of
 * classes that do not fit), EMPTY, CORRUPT (the content that was read again differs from what was
 * written); DYNO_BASE_ERROR_DISK, _IO; G_IO_ERROR_CANCELLED. */
gboolean dyno_dataset_convert (DynoDataset *dataset, const char *path, guint32 size,
                               DynoScanProgress progress, gpointer data, GCancellable *cancellable,
                               GPtrArray *skipped, DynoConverted *converted, GError **error);

G_END_DECLS
