/* SPDX-License-Identifier: MIT */
/* Sums over predictions and their truth, and the figures that follow from the sums: those of an
 * evaluation and of a validation by epoch.  They do not depend on batch sizes; counts do not depend
 * on the order of the samples either, and the sums of values are in double.
 *
 * Undefined cases, as in scikit-learn 1.2 (f1_score, balanced_accuracy_score) but without its
 * warnings: the precision of a class that was never predicted, the recall of a class without
 * samples, and the F1 of a class that is neither present nor predicted are NaN.  A class that is
 * neither present nor predicted is left out of all means; a class that was predicted but is not
 * present counts as 0 in the means of recall and F1, and is left out of the balanced accuracy.
 * Where only one class is present, the balanced accuracy is its recall. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* The class with the largest of n logits, of equal ones the first. */
guint32 dyno_class_of_logits (const float *logits, guint32 n);

/* Numbers of samples for each class: samples of the class, samples predicted as the class, and
 * samples of the class predicted as the class. */
typedef struct {
  guint32 n;
  guint64 *there, *predicted, *right; /* n each, in one block that begins at `there` */
} DynoClassCounts;

void dyno_class_counts_init (DynoClassCounts *counts, guint32 n);
void dyno_class_counts_clear (DynoClassCounts *counts);
void dyno_class_counts_reset (DynoClassCounts *counts); /* drops all samples */
/* truth, predicted: below n */
void dyno_class_counts_add (DynoClassCounts *counts, guint32 truth, guint32 predicted);
/* Adds n x n counts, [truth][predicted]. */
void dyno_class_counts_add_table (DynoClassCounts *counts, const guint32 *table);

double dyno_class_counts_get_precision (const DynoClassCounts *counts, guint32 class_id);
double dyno_class_counts_get_recall (const DynoClassCounts *counts, guint32 class_id);
/* 2 right / (2 right + wrong + missed) */
double dyno_class_counts_get_f1 (const DynoClassCounts *counts, guint32 class_id);
/* right / (there + predicted - right): Jaccard's index, for pixels the intersection over the union;
 * NaN where the class is neither present nor predicted. */
double dyno_class_counts_get_iou (const DynoClassCounts *counts, guint32 class_id);

/* Means over the classes that are present or were predicted, where an undefined share counts as 0;
 * weighted: each class by its number of samples.  NaN without a sample. */
typedef struct {
  double precision, recall, f1, weighted_f1, iou;
  double balanced_accuracy; /* mean recall of the classes that are present */
} DynoClassMeans;

void dyno_class_counts_get_means (const DynoClassCounts *counts, DynoClassMeans *means);

/* Sums for each of n values. */
typedef struct {
  guint32 n;
  guint64 n_samples;
  /* sums of absolute errors, of squared errors, of the truth and of its squares; in one block that
   * begins at `absolute` */
  double *absolute, *square, *truth, *truth_square;
} DynoValueSums;

void dyno_value_sums_init (DynoValueSums *sums, guint32 n);
void dyno_value_sums_clear (DynoValueSums *sums);
void dyno_value_sums_reset (DynoValueSums *sums);
/* Adds a sample of n values.  Returns its mean squared error. */
double dyno_value_sums_add (DynoValueSums *sums, const float *predicted, const float *truth);

/* Root of the mean squared error of a value; NaN without a sample. */
double dyno_value_sums_get_rms_error (const DynoValueSums *sums, guint32 value);
/* R2 of a value: 1 - squared error over the truth's variance; NaN where the truth is constant. */
double dyno_value_sums_get_r2 (const DynoValueSums *sums, guint32 value);
/* Over all values: the root of the mean squared error over samples and values; and the mean of the
 * defined R2 of the values, NaN where none is defined. */
double dyno_value_sums_get_whole_rms_error (const DynoValueSums *sums);
double dyno_value_sums_get_whole_r2 (const DynoValueSums *sums);

G_END_DECLS
