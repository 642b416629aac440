/* SPDX-License-Identifier: MIT */
/* Findings from the content of a data set's samples that its headers and labels do not show. */
#pragma once
#include "dataset.h"

G_BEGIN_DECLS

/* The first n_harmful sentences are about problems that make a training or its validation worse
 * (tiny classes, a single class, samples with equal bytes within a part, in both parts of a data
 * set with its own split, or under two labels, 16 bits a channel); the others are remarks on the
 * treatment of the samples (sizes that differ, greyscale among colour, images that EXIF turns,
 * stray bytes in a file, labels in order). */
typedef struct {
  char **sentences; /* NULL-terminated */
  guint n_harmful;
  gboolean compared; /* FALSE: the samples were not read, since they have more than most_bytes */
} DynoSurvey;

/* A value for most_bytes: samples of this size are read in some seconds. */
#define DYNO_SURVEY_MOST_BYTES (G_GUINT64_CONSTANT (256) << 20)

/* Looks for likely problems.  The samples are read for that, unless they are generated or have more
 * than most_bytes on disk; most_bytes 0: no limit.  Samples that cannot be read are skipped.
 * progress: samples read so far.  Any thread.  Free with dyno_survey_free.  Errors: NO_MEMORY;
 * G_IO_ERROR_CANCELLED. */
DynoSurvey *dyno_dataset_survey (DynoDataset *dataset, guint64 most_bytes,
                                 DynoScanProgress progress, gpointer data,
                                 GCancellable *cancellable, GError **error);
void dyno_survey_free (DynoSurvey *survey);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoSurvey, dyno_survey_free)

/* Chooses samples from all classes in turn, evenly spread within each class, and sorts them by
 * class; where samples have no labels, evenly from all samples.  Returns their number in indices:
 * n, or the number of all samples. */
guint dyno_dataset_pick_examples (DynoDataset *dataset, guint n, guint64 *indices);

G_END_DECLS
