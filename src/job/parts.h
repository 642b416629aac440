/* SPDX-License-Identifier: MIT */
/* The two parts of a data set: the samples that a job trains on, and those that validate.  The
 * settings define them by a share (data.val_split), or one fold of a cross-validation (data.folds,
 * data.fold); a data set that brings its own split keeps it.  Any thread. */
#pragma once
#include "job.h"

G_BEGIN_DECLS

/* Arrays of guint32 indices, see dyno_dataset_split.  With settings that dyno_job_check_parts
 * refuses, the division is arbitrary. */
void dyno_settings_divide (const DynoSettings *settings, DynoDataset *dataset, GArray **training,
                           GArray **validation);
gboolean dyno_settings_divide_alike (const DynoSettings *a, const DynoSettings *b);

/* The numbers of samples in the two parts that dyno_settings_divide makes, from the facts only. */
void dyno_job_count_parts (const DynoJob *job, const DynoDatasetInfo *info, guint64 *n_train,
                           guint64 *n_validation);

/* Errors: SETTING (no such fold); DATA (folds of data with their own split, or of generated data;
 * fewer samples than folds in a class, or in data without classes). */
gboolean dyno_job_check_parts (const DynoJob *job, const DynoDatasetInfo *info, GError **error);

G_END_DECLS
