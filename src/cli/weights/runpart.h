/* SPDX-License-Identifier: MIT */
/* Reproduces the parts into which a run divided its data set, from the files in its folder. */
#pragma once
#include "cli.h"
#include "dataset.h"

G_BEGIN_DECLS

/* Sets axes, task, sequences and links of params as the run of a folder opened its data set; params
 * are unchanged where the settings of the run cannot be read. */
void dyno_run_part_get_params (const char *run, DynoDatasetParams *params);

/* Whether samples of the data set have trained the run: by its hash, or by its path; run: may be
 * NULL. */
gboolean dyno_run_part_has_trained (const char *run, const DynoDatasetInfo *data);

/* The samples of the part "training" (or "train"), "validation" or "test": of the data set's own
 * division, which has no test part, else of the division by the seed and fractions of the run,
 * whose folder may be NULL.  For "all", *indices is NULL, and samples that may have been used for
 * training are reported on standard error.  For the division of a run, a data set with another
 * number of samples is refused, and other differences are reported on standard error.  Errors:
 * G_OPTION_ERROR; DYNO_TRAIN_ERROR. */
gboolean dyno_run_part_choose (const char *command, const char *run, DynoDataset *dataset,
                               const char *part, GArray **indices, GError **error);

G_END_DECLS
