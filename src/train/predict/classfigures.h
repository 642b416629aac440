/* SPDX-License-Identifier: MIT */
/* Figures over all classes of an evaluation: those of truthsums.h and of shares.h.  All are shares
 * from 0 to 1; undefined ones are NaN. */
#pragma once
#include "scores.h"

G_BEGIN_DECLS

typedef struct {
  DynoClassMeans means;
  /* NaN too where the scores did not keep the probabilities. */
  double roc_auc, average_precision;
  double calibration_error;
} DynoClassFigures;

/* Sorts the samples once for each class.  scores: must be of classes. */
void dyno_class_figures_get (const DynoScores *scores, DynoClassFigures *figures);

G_END_DECLS
