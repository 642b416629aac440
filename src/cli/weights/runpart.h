/* SPDX-License-Identifier: MIT */
/* The parts that a run divided its data set into, found again from the files in its folder. */
#pragma once
#include "cli.h"
#include "dataset.h"

G_BEGIN_DECLS

/* Sets params as the run of a folder opened its data set, except for its targets; params are
 * unchanged where that is not known. */
void dyno_run_part_get_params (const char *run, DynoDatasetParams *params);

/* The samples of "training" (or "train") or "validation": the data set's own part, else the
 * division by the seed and fraction of the run, whose folder may be NULL.  With "all" *indices is
 * NULL.  A data set of another number of samples than the run's is refused; other differences, and
 * samples that may have trained the run, are reported on standard error.  Errors: G_OPTION_ERROR;
 * DYNO_TRAIN_ERROR. */
gboolean dyno_run_part_choose (const char *command, const char *run, DynoDataset *dataset,
                               const char *part, GArray **indices, GError **error);

G_END_DECLS
