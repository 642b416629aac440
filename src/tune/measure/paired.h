/* SPDX-License-Identifier: MIT */
/* The mean of differences between two settings that were measured on the same seeds, and how well it
 * is known: Student's interval of paired differences.  Pairs share the validation part, the start
 * weights and the order of the samples, so that much of the noise of both cancels. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  guint n;          /* pairs that count: both are finite */
  double mean;      /* NaN: there is no pair */
  double half;      /* the interval is mean - half to mean + half; INFINITY: fewer than two pairs */
  double low, high; /* of it */
} DynoPaired;

/* The t that a share `confidence` of Student's distribution lies within, on both sides of 0; 0 <
 * confidence < 1, freedom >= 1.  By the closed form of the distribution for whole degrees of freedom
 * (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4). */
double dyno_student_quantile (guint freedom, double confidence);

/* a[i] - b[i] for i below n.  Differences that are all equal show no spread, but prove little where
 * values have few steps: their own size is taken for it, with which seven pairs exclude 0.  comparisons: as many intervals are looked at together, 1 or more; each
 * is so much wider that all of them hold at 95 % (Bonferroni). */
void dyno_paired_compare (const double *a, const double *b, guint n, guint comparisons,
                          DynoPaired *paired);

G_END_DECLS
