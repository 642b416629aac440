/* SPDX-License-Identifier: MIT */
/* The samples of an evaluation as a table. */
#pragma once
#include "scores.h"

G_BEGIN_DECLS

/* Writes a CSV file with a line for each sample that could be read, in the order of the scores:
 * sample, index, truth, predicted, probability and loss; where the weights predict values, the
 * truth and the prediction of each, and the squared error.  Predictions that the scores did not
 * keep are empty cells.  dataset: that of the scores.  Errors: those of dyno_file_write_atomic. */
gboolean dyno_scores_write_table (const DynoScores *scores, const DynoWeightsInfo *info,
                                  DynoDataset *dataset, const char *path, GError **error);

G_END_DECLS
