/* SPDX-License-Identifier: MIT */
/* Measures weights on data whose truth is known. */
#pragma once
#include "scores.h"

G_BEGIN_DECLS

/* The scores of the samples that indices (guint32) names, NULL: of all; with the n_worst worst
 * samples.  n_done (may be NULL): how many were looked at, for other threads, by g_atomic_int_get.
 * Blocks in the predictor's thread; the cancellable ends it from any.  Errors: those of
 * dyno_scores_match_classes and dyno_predictor_run; DATA: the data have other values than the
 * weights predict. */
DynoScores *dyno_scores_measure (DynoPredictor *predictor, DynoDataset *dataset,
                                 const GArray *indices, guint n_worst, int *n_done,
                                 GCancellable *cancellable, GError **error);

G_END_DECLS
