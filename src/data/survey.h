/* SPDX-License-Identifier: MIT */
/* Findings from the content of a data set's samples that its headers and labels do not show. */
#pragma once
#include "dataset.h"

G_BEGIN_DECLS

/* Likely problems, a sentence each: tiny classes, sizes that differ, samples that are the same to
 * the byte (within a part, over both parts of a data set that brings them, under two labels),
 * greyscale among colour, 16 bits a channel, images that EXIF turns, labels in order.  The samples
 * are read for that, unless they have more than most_bytes on disk, which a sentence then says; 0:
 * they are always read.  Samples that cannot be read are skipped.  progress: samples read so far.
 * Free with g_strfreev.  Errors: NO_MEMORY; G_IO_ERROR_CANCELLED. */
char **dyno_dataset_survey (DynoDataset *dataset, guint64 most_bytes, DynoScanProgress progress,
                            gpointer data, GCancellable *cancellable, GError **error);

/* Chooses samples from all classes in turn, those of a class spread evenly over the class, and
 * sorted by class; in a data set without classes, evenly from all samples.  Returns their number in
 * indices: n, or the number of all samples. */
guint dyno_dataset_pick_examples (DynoDataset *dataset, guint n, guint64 *indices);

G_END_DECLS
