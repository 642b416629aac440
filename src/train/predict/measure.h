/* SPDX-License-Identifier: MIT */
/* Measures weights on data whose truth is known. */
#pragma once
#include "scores.h"

G_BEGIN_DECLS

/* Scores the samples that indices (guint32) names, NULL: all; keeps the n_worst worst samples.
 * n_done (may be NULL): the number of processed samples, which other threads may read by
 * g_atomic_int_get.  Blocks the predictor's thread; any thread may cancel it.  Errors: those of
 * dyno_scores_match_classes and dyno_predictor_run; DATA: the values of the data are not those that
 * the weights predict. */
DynoScores *dyno_scores_measure (DynoPredictor *predictor, DynoDataset *dataset,
                                 const GArray *indices, guint n_worst, int *n_done,
                                 GCancellable *cancellable, GError **error);

G_END_DECLS
