/* SPDX-License-Identifier: MIT */
/* The parts of a data set: the samples that a job trains on, those that validate, and those that
 * are kept for a test of its result.  The settings define them by shares (data.val_split,
 * data.test_split), or the validation by one fold of a cross-validation (data.folds, data.fold); a
 * data set that brings its own split keeps it, with its own test part.  Where another data set was
 * opened with groups (data.group_column), no group is in two parts.  Any thread. */
#pragma once
#include "job.h"

G_BEGIN_DECLS

/* See dyno_dataset_divide.  With settings that dyno_job_check_parts refuses, the division is
 * arbitrary. */
void dyno_settings_divide (const DynoSettings *settings, DynoDataset *dataset,
                           DynoDatasetParts *parts);
gboolean dyno_settings_divide_alike (const DynoSettings *a, const DynoSettings *b);

typedef struct {
  guint64 n_train, n_validation, n_test;
  /* where samples have groups that the division keeps together: their numbers; else 0 */
  guint32 groups_train, groups_validation, groups_test;
} DynoPartCounts;

/* The numbers of samples in the parts that dyno_settings_divide makes, from the facts only. */
void dyno_job_count_parts (const DynoJob *job, const DynoDatasetInfo *info, DynoPartCounts *counts);

/* Errors: SETTING (no such fold); DATA (folds or a test part of data with their own split, or of
 * generated data; fewer samples than folds in a class, or in data without classes; with
 * data.group_column: data that were not opened with these groups, fewer groups than folds, or than parts
 * that are asked for). */
gboolean dyno_job_check_parts (const DynoJob *job, const DynoDatasetInfo *info, GError **error);

G_END_DECLS
