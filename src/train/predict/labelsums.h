/* SPDX-License-Identifier: MIT */
/* Predictions of several labels per sample and their truth, and the figures that follow from them,
 * as scikit-learn 1.2 defines them for multilabel targets: those of an evaluation and of a
 * validation by epoch.  A label is predicted where its logit is at least its limit.  A label whose
 * truth is not known (NaN) is left out of everything.
 *
 * Undefined figures are NaN: the areas of a label that all samples have, or none, or of which a
 * logit is NaN; the precision of a label that was never predicted, the recall of a label that no
 * sample has, and the F1 of a label that is neither.  Means over labels leave out undefined areas;
 * the macro F1 is the mean over the labels that are present or were predicted. */
#pragma once
#include "truthsums.h"

G_BEGIN_DECLS

typedef struct {
  guint32 n;     /* labels */
  float *limits; /* n; NULL, as after init: 0 for all, that is a probability of 1/2; owned */
  guint64 n_samples;
  double shares;   /* sum over the samples of the share of their known labels that are right */
  guint64 n_exact; /* samples of which all known labels are right */
  DynoClassCounts counts;
  GArray *logits, *truth; /* float, (n_samples, n) */
} DynoLabelSums;

void dyno_label_sums_init (DynoLabelSums *sums, guint32 n);
void dyno_label_sums_clear (DynoLabelSums *sums);
void dyno_label_sums_reset (DynoLabelSums *sums); /* drops all samples */

/* Adds a sample with n logits and n truths: 1, 0 or NaN.  Returns its loss: the sum over its known
 * labels of their binary cross entropy, over n.  *n_known (may be NULL) and *n_wrong are the
 * numbers of its labels that are known, and of these that are wrong. */
double dyno_label_sums_add (DynoLabelSums *sums, const float *logits, const float *truth,
                            guint32 *n_known, guint32 *n_wrong);

/* The areas of a label; FALSE: they are undefined. */
gboolean dyno_label_sums_get_areas (const DynoLabelSums *sums, guint32 label, double *roc_auc,
                                    double *average_precision);

typedef struct {
  double mean_average_precision, roc_auc; /* means over the labels */
  double f1_micro, precision_micro, recall_micro;
  double f1_macro, precision_macro, recall_macro;
  double
      label_accuracy; /* mean over the samples of the share of their known labels that are right */
  double exact_match; /* share of the samples of which all known labels are right */
} DynoLabelFigures;

/* Sorts the samples once for each label. */
void dyno_label_sums_get_figures (const DynoLabelSums *sums, DynoLabelFigures *figures);

G_END_DECLS
