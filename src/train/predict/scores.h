/* SPDX-License-Identifier: MIT */
/* Scores of predictions where the truth is known: accuracy, loss, confusion matrix, precision,
 * recall and F1 of each class; figures of each label; errors of each value; every sample with its
 * loss, and the worst samples.  Sums are in double, so that they do not depend on batch size and
 * order. */
#pragma once
#include "labelsums.h"
#include "metric.h"
#include "predictor.h"
#include "truthsums.h"

G_BEGIN_DECLS

/* For each class of the data set the class of the weights with the same name; where the weights
 * hold no names, or the data set's names are only numbers, with the same index.  An array of the
 * data's n_classes; G_MAXUINT32: a class without samples that the weights do not have; g_free.
 * Errors: DATA: a class with samples that the weights do not have, or another task. */
guint32 *dyno_scores_match_classes (const DynoWeightsInfo *info, const DynoDatasetInfo *data,
                                    GError **error);

typedef struct {
  guint64 index; /* index of the sample in the data set */
  /* cross entropy, the mean over the labels of their binary cross entropy, or the mean squared
   * error of the values */
  double loss;
  guint32 truth, predicted; /* classes */
  guint32 n_known, n_wrong; /* labels of the sample that are known, and of these that are wrong */
  float share;              /* probability of the predicted class */
} DynoScored;

/* The most outputs that are kept, over all samples: 256 MiB. */
#define DYNO_SCORES_MOST_OUTPUTS (1u << 26)

/* FALSE: a validation cannot measure the metric, since it keeps all outputs and there would be more
 * of them.  Errors: SETTING. */
gboolean dyno_scores_check_metric (const DynoMetricInfo *metric, guint64 n_samples,
                                   guint32 n_outputs, GError **error);

typedef struct {
  guint32 n_outputs;
  gboolean is_values, is_labels;
  guint64 n_samples, n_unreadable;
  double loss_sum;
  /* classes */
  guint64 n_correct, n_correct_5;
  guint64 *confusion;     /* [truth][predicted] */
  DynoClassCounts counts; /* row and column sums of confusion, and its diagonal */
  DynoValueSums values;
  DynoLabelSums labels;
  GArray *samples; /* DynoScored: all samples that could be read, in the order of processing */
  /* float: probabilities, or values, n_outputs of each sample; NULL: there were more than
   * DYNO_SCORES_MOST_OUTPUTS */
  GArray *outputs;
  guint n_worst_kept;
  GArray *worst; /* DynoScored, the worst first */
} DynoScores;

DynoScores *dyno_scores_new (const DynoWeightsInfo *info, guint n_worst);
void dyno_scores_free (DynoScores *scores);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoScores, dyno_scores_free)

void dyno_scores_add_class (DynoScores *scores, const DynoPrediction *prediction, guint32 truth);
void dyno_scores_add_values (DynoScores *scores, const DynoPrediction *prediction,
                             const float *truth);
/* truth: n_outputs labels, 1, 0 or NaN */
void dyno_scores_add_labels (DynoScores *scores, const DynoPrediction *prediction,
                             const float *truth);

/* The mean loss of all samples so far; NaN where there are none. */
double dyno_scores_get_loss (const DynoScores *scores);

/* See truthsums.h; for one class, or one value. */
double dyno_scores_get_precision (const DynoScores *scores, guint32 class_id);
double dyno_scores_get_recall (const DynoScores *scores, guint32 class_id);
double dyno_scores_get_f1 (const DynoScores *scores, guint32 class_id);
/* The number of samples of a class. */
guint64 dyno_scores_get_support (const DynoScores *scores, guint32 class_id);
double dyno_scores_get_r2 (const DynoScores *scores, guint32 value);

G_END_DECLS
