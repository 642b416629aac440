/* SPDX-License-Identifier: MIT */
/* The tree-structured Parzen estimator proposes the next point of a search (Bergstra, Bardenet,
 * Bengio and Kégl 2011, "Algorithms for Hyper-Parameter Optimization", section 4).  It divides the
 * measured points into the best ones and the others, fits a density to each, l and g, and proposes
 * a value that is likely in l and not in g.
 *
 * There is no state: a proposal follows from the points, the seed and the proposal's number, so
 * that a resumed search proposes the same points as an uninterrupted one. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_TPE_START      8 /* number of quasi-random points before the densities are used */
#define DYNO_TPE_CANDIDATES 24

typedef struct {
  double low, high; /* range of a number, low < high; the first density is uniform on it */
  guint n_choices;  /* 2 or more: the value is the index of a choice; 0: it is a number */
} DynoTpeDimension;

typedef struct {
  guint n; /* dimensions */
  const DynoTpeDimension *dimensions;
  /* FALSE: the dimension has no effect at a point, whose values in the dimensions before it are
   * given; its value is then NaN.  NULL: all dimensions have an effect. */
  gboolean (*counts) (const double *point, guint dimension, gpointer data);
  gpointer data;
  guint64 seed;
} DynoTpe;

/* points: n_points rows of n values, NaN where the dimension had no effect; losses: one for each
 * point, less is better, INFINITY: it failed; of equal losses the earlier point ranks first.
 * number: that of the proposal in its search; equal numbers give equal proposals.  point: receives
 * n values. */
void dyno_tpe_propose (const DynoTpe *tpe, const double *points, const double *losses,
                       guint n_points, guint64 number, double *point);

/* A point of a low-discrepancy sequence with a random start, which leaves no large gaps: already a
 * few points come near the best value of each dimension, which random points need not (additive
 * recurrence by powers of the generalised golden ratio, Roberts 2018, "The Unreasonable
 * Effectiveness of Quasirandom Sequences"). */
void dyno_tpe_spread (const DynoTpe *tpe, guint64 number, double *point);

/* A random point, each value uniform over its dimension's range or choices. */
void dyno_tpe_draw (const DynoTpe *tpe, guint64 number, double *point);

G_END_DECLS
