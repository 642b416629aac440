/* SPDX-License-Identifier: MIT */
/* What evaluate and save share: weights measured on data whose truth is known. */
#pragma once
#include "scores.h"

G_BEGIN_DECLS

/* Of the samples that indices names, NULL: of all; with the n_worst worst of them.  Errors: those of
 * dyno_scores_match_classes and dyno_predictor_run; DATA: other values than the weights predict. */
DynoScores *dyno_cli_measure (DynoPredictor *predictor, DynoDataset *dataset, const GArray *indices,
                              guint n_worst, GError **error);

G_END_DECLS
