/* SPDX-License-Identifier: MIT */
/* Figures over all classes of an evaluation, as scikit-learn defines them (1.2: f1_score,
 * balanced_accuracy_score, roc_auc_score with multi_class="ovr", average_precision_score), and the
 * expected calibration error of Guo et al. 2017.  All are shares from 0 to 1; NaN where nothing
 * defines one. */
#pragma once
#include "scores.h"

G_BEGIN_DECLS

typedef struct {
  /* means over the classes that are there or were predicted, where an undefined share counts as 0;
   * weighted: each class by its samples */
  double precision, recall, f1, weighted_f1;
  double balanced_accuracy; /* mean recall of the classes that are there */
  /* Each class against all others, by its probability; means over the classes of which there are
   * samples and others.  NaN too where the scores did not keep the probabilities. */
  double roc_auc, average_precision;
  /* between the probability of what was predicted and its accuracy, over 15 equal intervals */
  double calibration_error;
} DynoClassFigures;

/* Sorts the samples once for each class.  scores: of classes. */
void dyno_class_figures_get (const DynoScores *scores, DynoClassFigures *figures);

G_END_DECLS
