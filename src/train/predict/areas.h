/* SPDX-License-Identifier: MIT */
/* Areas under the curves of a ranking, as scikit-learn 1.2 defines them (roc_auc_score,
 * average_precision_score): sums over groups of samples with equal scores, so that the order of
 * samples within a group does not matter. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  float score;
  gboolean is_positive;
} DynoRanked;

/* Sorts n samples by their scores, and computes both areas.  FALSE, and nothing is computed: all
 * samples are positive, or none is, or a score is NaN. */
gboolean dyno_areas_get (DynoRanked *ranked, gsize n, double *roc_auc, double *average_precision);

G_END_DECLS
