/* SPDX-License-Identifier: MIT */
/* Calibration of trained weights on samples that have not trained them.
 *
 * The temperature divides all logits, so that probabilities are as high as the predictions are
 * often right: the one with the least mean cross entropy, for labels binary cross entropy (Guo et
 * al. 2017, "On Calibration of Modern Neural Networks").  The order of the classes does not change.
 * A label's threshold is the probability with the greatest F1 of the label, between the
 * probabilities of two samples; of equally good ones the nearest to 1/2. */
#pragma once
#include "scores.h"

G_BEGIN_DECLS

/* Labels with fewer samples than this, or with fewer samples without them, keep the threshold that
 * they have: a threshold from so few is chance. */
#define DYNO_CALIBRATION_LEAST_SAMPLES 5

typedef struct {
  guint64 n_samples;
  /* Means over the samples with the calibration that the weights had, and with the new one; those
   * of calibration_error are 0 for labels, and those of f1_macro for classes. */
  double loss_before, loss_after;
  double calibration_error_before, calibration_error_after;
  double f1_macro_before, f1_macro_after;
  guint32 n_kept; /* labels that keep their threshold */
} DynoCalibration;

/* Sets temperature and thresholds of info, the calibration that the weights of scores have, to
 * those that fit the samples of scores.  info: that of the predictor which made scores, or a copy
 * of these three members: n_outputs, temperature, thresholds.  Errors: DATA: there are no samples;
 * scores has not kept the outputs; the scores are of values; no temperature is the best, since all
 * predictions are right, or no better than chance.  info is then unchanged. */
gboolean dyno_calibrate (const DynoScores *scores, DynoWeightsInfo *info,
                         DynoCalibration *calibration, GError **error);

G_END_DECLS
