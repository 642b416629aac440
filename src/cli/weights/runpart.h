/* SPDX-License-Identifier: MIT */
/* The parts that a run divided its data set into, found again from the files in its folder. */
#pragma once
#include "cli.h"
#include "dataset.h"

G_BEGIN_DECLS

/* How the run of a folder opened its data set, as far as that is not of its targets; params stay
 * where nothing is known of it. */
void dyno_run_part_get_params (const char *run, DynoDatasetParams *params);

/* The samples of "training" (or "train") or "validation": those of the data set's own part, else of
 * the division by the seed and fraction of the run, whose folder may be NULL.  With "all" *indices is
 * NULL.  A data set of another number of samples than the run's is refused; of one that differs
 * otherwise, and of samples that may have trained the run, is said on standard error.  Errors:
 * G_OPTION_ERROR; DYNO_TRAIN_ERROR. */
gboolean dyno_run_part_choose (const char *command, const char *run, DynoDataset *dataset,
                               const char *part, GArray **indices, GError **error);

G_END_DECLS
