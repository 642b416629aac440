/* SPDX-License-Identifier: MIT */
/* Losses on the CPU in double, as PyTorch words them.  Rows from n_valid on count nothing. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  guint32 n, c, n_valid;
  double smoothing;
  const double *weights; /* of the classes, cross entropy's; NULL: all 1 */
  /* share of the target of the row before, of the first that of the last valid one, cross
   * entropy's; *correct is of the target with the larger share */
  double mixed;
} ReferenceLoss;

/* Returns the sum over rows, so that it over n_valid is the mean over the rows, or with weights that
 * over the weights of their targets; *correct counts rows whose first largest logit is the target's;
 * gradient (may be NULL) is that of the sum.  A target outside [0, c) counts nothing. */
double reference_cross_entropy (const ReferenceLoss *s, const double *logits, const double *targets,
                                double *correct, double *gradient);

/* The sum over rows of -log2 of the target's probability. */
double reference_log_loss (const ReferenceLoss *s, const double *logits, const double *targets);

/* Rows whose target's class is among the five of the largest logits; of equal ones those of lower
 * number come first. */
double reference_top5 (const ReferenceLoss *s, const double *logits, const double *targets);

/* Returns the sum over rows of the mean over c of the squared error; *absolute: of the absolute
 * one. */
double reference_mse (const ReferenceLoss *s, const double *prediction, const double *targets,
                      double *absolute, double *gradient);

/* The same of SmoothL1Loss, each output with a beta of its own. */
double reference_smooth_l1 (const ReferenceLoss *s, const double *prediction, const double *targets,
                            const double *beta, double *gradient);

/* The sum over rows of the absolute error of one output. */
double reference_absolute (const ReferenceLoss *s, const double *prediction, const double *targets,
                           guint32 output);

G_END_DECLS
