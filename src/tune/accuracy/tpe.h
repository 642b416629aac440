/* SPDX-License-Identifier: MIT */
/* The tree-structured Parzen estimator proposes the next point of a search (Bergstra, Bardenet,
 * Bengio and Kégl 2011, "Algorithms for Hyper-Parameter Optimization", section 4).  It divides the
 * measured points into the best ones and the others, fits a density to each of both, l and g, and
 * proposes a value that is likely in l and not in g.
 *
 * There is no state: a proposal follows from the points, the seed and its number, so that a search
 * that is resumed proposes what it would have proposed. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_TPE_START      8 /* points that are spread out before the densities are used */
#define DYNO_TPE_CANDIDATES 24

typedef struct {
  double low, high; /* of a number, low < high; the density is even over this scale at first */
  guint n_choices;  /* 2 or more: the value is the index of one of them; 0: it is a number */
} DynoTpeDimension;

typedef struct {
  guint n; /* dimensions */
  const DynoTpeDimension *dimensions;
  /* FALSE: the dimension has no effect at a point, of which the dimensions before it are known; such
   * a value is NaN.  NULL: all have. */
  gboolean (*counts) (const double *point, guint dimension, gpointer data);
  gpointer data;
  guint64 seed;
} DynoTpe;

/* points: n_points rows of n values; losses: of each, less is better; INFINITY: it failed.  NaN of a
 * value: it had no effect.  Of equal losses the earlier point is the better one.  number: of the
 * proposal in its search; equal numbers give equal proposals.  point: n values. */
void dyno_tpe_propose (const DynoTpe *tpe, const double *points, const double *losses,
                       guint n_points, guint64 number, double *point);

/* A point of a sequence that leaves no large gaps, from a random beginning: of few points some are near
 * the best value of each dimension, which points at random need not be (additive recurrence by powers
 * of the generalised golden ratio, Roberts 2018, "The Unreasonable Effectiveness of Quasirandom
 * Sequences"). */
void dyno_tpe_spread (const DynoTpe *tpe, guint64 number, double *point);

/* A point at random, each value even over its dimension's range or among its choices. */
void dyno_tpe_draw (const DynoTpe *tpe, guint64 number, double *point);

G_END_DECLS
