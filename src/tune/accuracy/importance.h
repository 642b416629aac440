/* SPDX-License-Identifier: MIT */
/* How much each parameter of a search mattered: the share of the variance of the losses that the
 * parameter explains by itself, as the main effects of a functional ANOVA do (Hutter, Hoos and
 * Leyton-Brown 2014).  The fit is a kernel regression (Nadaraya 1964, Watson 1964) that predicts each
 * point from the others, so that chance explains nothing; outliers and failures count as the worst
 * that is no outlier, so that one of them does not outweigh all.
 *
 * Shares need not add up to 1: parameters act together too, and where a search has come to a good
 * region, parameters without an effect change along with those that have one. */
#pragma once
#include "tpe.h"

G_BEGIN_DECLS

#define DYNO_IMPORTANCE_LEAST 12 /* points: fewer say nothing */

/* points: n_points rows of n values, NaN: it had no effect; losses: INFINITY or NaN: it failed.
 * shares: n, each 0..1; all NaN where there are too few points or all losses are equal. */
void dyno_importance (const DynoTpeDimension *dimensions, guint n, const double *points,
                      const double *losses, guint n_points, double *shares);

G_END_DECLS
