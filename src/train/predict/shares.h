/* SPDX-License-Identifier: MIT */
/* The probabilities (shares) that a network gives to the classes of a sample, and the figures that
 * follow from them: those of an evaluation and of a validation by epoch.  ROC AUC and average
 * precision are those of scikit-learn 1.2 (roc_auc_score with multi_class="ovr",
 * average_precision_score); the calibration error is the expected calibration error of Guo et al.
 * 2017.  Undefined figures are NaN.
 *
 * Areas do not depend on the order of the samples; the calibration error depends on it in its last
 * digits only. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* The logarithm of the sum of the exponentials of n logits. */
double dyno_shares_sum_logits (const float *logits, guint32 n);
/* The probabilities of n classes, which may not overlap the logits. */
void dyno_shares_fill (float *shares, const float *logits, guint32 n);

/* The areas of each class against all others, by its probability: means over the classes that have
 * samples and for which there are other samples.  Of two classes the ROC AUC is that of the second
 * one.  shares: (n, n_classes); truths: n classes.  Sorts the samples once for each class. */
void dyno_shares_get_areas (const float *shares, const guint64 *truths, gsize n, guint32 n_classes,
                            double *roc_auc, double *average_precision);

/* The expected calibration error of predictions, from the probability of each and whether it is
 * right: the difference between mean probability and accuracy, over equal intervals of the
 * probability.  NaN without a prediction, and where a probability is NaN. */
#define DYNO_CALIBRATION_BINS 15
typedef struct {
  double off[DYNO_CALIBRATION_BINS]; /* sums of the differences in each interval */
  guint64 n;
} DynoCalibrationBins;
void dyno_calibration_bins_add (DynoCalibrationBins *bins, double probability, gboolean is_right);
double dyno_calibration_bins_get_error (const DynoCalibrationBins *bins);

/* The samples of a validation, added up in one of the two ways. */
typedef struct {
  guint32 n;                /* classes */
  float *one;               /* n: probabilities of a sample */
  GArray *shares;           /* float, (n_samples, n); NULL: calibration only */
  GArray *truths;           /* guint64: class of each sample; NULL with shares */
  DynoCalibrationBins bins; /* without shares */
} DynoShareSums;

/* keeps_all: for the areas; FALSE: for the calibration error. */
void dyno_share_sums_init (DynoShareSums *sums, guint32 n, gboolean keeps_all);
void dyno_share_sums_clear (DynoShareSums *sums); /* all zeros: does nothing */
void dyno_share_sums_reset (DynoShareSums *sums); /* drops all samples */
/* Adds a sample with n logits; predicted: the class with the largest one. */
void dyno_share_sums_add (DynoShareSums *sums, const float *logits, guint32 truth,
                          guint32 predicted);
/* NaN where the sums are for the other figure. */
double dyno_share_sums_get_roc_auc (const DynoShareSums *sums);
double dyno_share_sums_get_calibration_error (const DynoShareSums *sums);

G_END_DECLS
