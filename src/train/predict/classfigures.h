/* SPDX-License-Identifier: MIT */
/* Figures over all classes of an evaluation, as scikit-learn defines them (1.2: those of
 * truthsums.h, roc_auc_score with multi_class="ovr", average_precision_score), and the expected
 * calibration error of Guo et al. 2017.  All are shares from 0 to 1; undefined ones are NaN. */
#pragma once
#include "scores.h"

G_BEGIN_DECLS

typedef struct {
  DynoClassMeans means;
  /* Each class against all others, by its probability; means over the classes that have samples and
   * for which there are other samples.  NaN too where the scores did not keep the probabilities. */
  double roc_auc, average_precision;
  /* difference between the probability of the prediction and its accuracy, over 15 equal
   * intervals */
  double calibration_error;
} DynoClassFigures;

/* Sorts the samples once for each class.  scores: must be of classes. */
void dyno_class_figures_get (const DynoScores *scores, DynoClassFigures *figures);

G_END_DECLS
