/* SPDX-License-Identifier: MIT */
/* Losses on the CPU in double, as PyTorch defines them.  Rows from n_valid on do not count. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  guint32 n, c, n_valid;
  double smoothing;
  const double *weights; /* class weights of the cross entropy; NULL: all 1 */
  /* share of the previous row's target (for the first row, the last valid row's) in the cross
   * entropy; *correct refers to the target with the larger share */
  double mixed;
} ReferenceLoss;

/* Returns the sum over rows.  Divided by n_valid it is the mean over the rows, or with weights the
 * mean over the weights of their targets.  *correct counts rows whose first largest logit is the
 * target's; gradient (may be NULL) is that of the sum.  A target outside [0, c) does not count. */
double reference_cross_entropy (const ReferenceLoss *s, const double *logits, const double *targets,
                                double *correct, double *gradient);

/* The sum over rows of -log2 of the target's probability. */
double reference_log_loss (const ReferenceLoss *s, const double *logits, const double *targets);

/* The number of rows whose target is among the five largest logits; equal logits are ordered by
 * class number. */
double reference_top5 (const ReferenceLoss *s, const double *logits, const double *targets);

/* Returns the sum over rows of the mean squared error over c; *absolute: the same of the absolute
 * error. */
double reference_mse (const ReferenceLoss *s, const double *prediction, const double *targets,
                      double *absolute, double *gradient);

/* The same for SmoothL1Loss, with a beta for each output. */
double reference_smooth_l1 (const ReferenceLoss *s, const double *prediction, const double *targets,
                            const double *beta, double *gradient);

/* The sum over rows of the absolute error of one output. */
double reference_absolute (const ReferenceLoss *s, const double *prediction, const double *targets,
                           guint32 output);

G_END_DECLS
