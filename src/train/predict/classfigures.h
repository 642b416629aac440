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

/* The expected calibration error of predictions, from the probability of each and whether it is
 * right; NaN without one. */
#define DYNO_CALIBRATION_BINS 15
typedef struct {
  double off[DYNO_CALIBRATION_BINS]; /* sums of the differences in each interval */
  guint64 n;
} DynoCalibrationBins;
void dyno_calibration_bins_add (DynoCalibrationBins *bins, double probability, gboolean is_right);
double dyno_calibration_bins_get_error (const DynoCalibrationBins *bins);

/* Sorts the samples once for each class.  scores: must be of classes. */
void dyno_class_figures_get (const DynoScores *scores, DynoClassFigures *figures);

G_END_DECLS
