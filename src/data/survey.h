/* SPDX-License-Identifier: MIT */
/* What the content of a data set's samples says that its headers and labels do not. */
#pragma once
#include "dataset.h"

G_BEGIN_DECLS

/* What is likely to hurt, a sentence each: tiny classes, sizes that differ, samples that are the same
 * to the byte (within a part, over both parts of a data set that brings them, under two labels),
 * greyscale among colour, 16 bits a channel, images that EXIF turns, labels in order.  The samples
 * are read for it, unless they have more than most_bytes on disk, which a sentence then says; 0: they
 * are read whatever they have.  Samples that cannot be read are passed over.  progress: samples read
 * so far.  Free with g_strfreev.  Errors: NO_MEMORY; G_IO_ERROR_CANCELLED. */
char **dyno_dataset_survey (DynoDataset *dataset, guint64 most_bytes, DynoScanProgress progress,
                            gpointer data, GCancellable *cancellable, GError **error);

/* Samples of all classes in turn, those of a class evenly from all of it, by class; of a data set
 * without classes evenly from all.  Returns how many there are in indices: n, or all. */
guint dyno_dataset_pick_examples (DynoDataset *dataset, guint n, guint64 *indices);

G_END_DECLS
