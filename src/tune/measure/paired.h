/* SPDX-License-Identifier: MIT */
/* The mean difference between two settings that were measured on the same seeds, with Student's
 * confidence interval of paired differences.  Pairs share the validation part, the start weights
 * and the order of the samples, so that much of their noise cancels. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  guint n;          /* pairs of which both values are finite */
  double mean;      /* NaN: there is no pair */
  double half;      /* the interval is mean - half to mean + half; INFINITY: fewer than two pairs */
  double low, high; /* ends of the interval */
} DynoPaired;

/* The t for which a share `confidence` of Student's distribution lies between -t and t; 0 <
 * confidence < 1, freedom >= 1.  By the closed form of the distribution for whole degrees of
 * freedom (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4). */
double dyno_student_quantile (guint freedom, double confidence);

/* Compares a[i] with b[i] for i below n.  Differences that are all equal have no spread, but prove
 * little where values are coarse: their size is then taken as the standard deviation, with which
 * seven pairs exclude 0.  comparisons: the number of intervals that are judged together, 1 or more;
 * each is widened so that all of them hold at 95 % (Bonferroni). */
void dyno_paired_compare (const double *a, const double *b, guint n, guint comparisons,
                          DynoPaired *paired);

G_END_DECLS
