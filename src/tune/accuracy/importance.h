/* SPDX-License-Identifier: MIT */
/* The importance of each parameter of a search: the share of the variance of the losses that the
 * parameter explains by itself, as the main effects of a functional ANOVA do (Hutter, Hoos and
 * Leyton-Brown 2014).  The fit is a kernel regression (Nadaraya 1964, Watson 1964) that predicts
 * each point from the others, so that chance explains nothing; outliers and failures are clipped to
 * the limit of outliers, so that a single one does not dominate.
 *
 * Shares need not add up to 1: parameters interact, and where a search has converged to a good
 * region, parameters without an effect correlate with those that have one. */
#pragma once
#include "tpe.h"

G_BEGIN_DECLS

#define DYNO_IMPORTANCE_LEAST 12 /* least number of points for a result */

/* points: n_points rows of n values, NaN where the parameter had no effect; losses: INFINITY or NaN
 * where the trial failed.  shares: n values, each 0..1; all NaN where there are too few points or
 * all losses are equal. */
void dyno_importance (const DynoTpeDimension *dimensions, guint n, const double *points,
                      const double *losses, guint n_points, double *shares);

G_END_DECLS
