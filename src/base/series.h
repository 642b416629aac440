/* SPDX-License-Identifier: MIT */
/* A series of points (x rising) that can be kept and drawn at a cost independent of their number.
 *
 * The newest points, DYNO_SERIES_NEWEST to twice as many, are kept as they were appended: a series
 * that was never longer is whole.  Older points are merged into groups, each of the same number of
 * successive points.  This number doubles when there are more than DYNO_SERIES_GROUPS groups, so a
 * long run is always kept in at least half as many groups.  A group keeps, in their order, its
 * least and its greatest point, at their own x, and a point without a number, if it has one; and
 * its mean, for smoothing.  The first point of the series is kept, too.  So no extreme and no gap
 * is ever lost, and a series takes at most DYNO_SERIES_MOST_BYTES.
 *
 * Indices and the length refer to the points that are kept; an append may change all of them.
 * Drawing goes through a min/max pyramid over buckets.  Append is O(1) amortised.  One thread; but
 * once nothing more is appended to a series, other threads may read its points, by length, get,
 * peek and range. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_SERIES_NEWEST 16384
#define DYNO_SERIES_GROUPS 8192
#define DYNO_SERIES_MOST_BYTES \
  2097152 /* the series of dyno_series_smoothed may take as much again */

typedef struct _DynoSeries DynoSeries;

DynoSeries *dyno_series_new (const char *name, const char *unit);
DynoSeries *dyno_series_ref (DynoSeries *series);
void dyno_series_free (DynoSeries *series); /* NULL: nothing; the last reference frees it */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoSeries, dyno_series_free)
const char *dyno_series_get_name (const DynoSeries *series);
const char *dyno_series_get_unit (const DynoSeries *series);
void dyno_series_set_unit (DynoSeries *series, const char *unit); /* only for texts */
/* x not below the last; NaN y makes a gap */
void dyno_series_append (DynoSeries *series, double x, double y);
void dyno_series_clear (DynoSeries *series);
guint64 dyno_series_get_length (const DynoSeries *series);
/* The memory that the series takes, including its smoothed one. */
gsize dyno_series_get_bytes (const DynoSeries *series);
gboolean dyno_series_get_range (const DynoSeries *series, double x0, double x1, double *x_min,
                                double *x_max, double *y_min,
                                double *y_max); /* FALSE: no finite point */
/* Index of the point nearest to x. */
guint64 dyno_series_nearest (const DynoSeries *series, double x);
void dyno_series_get (const DynoSeries *series, guint64 index, double *x, double *y);
/* All points that are kept; valid until the next one is appended. */
void dyno_series_peek (const DynoSeries *series, const double **x, const double **y);

/* For drawing: at most n columns over [x0, x1] and one point beyond each end; each column has the
 * minimum, maximum, first and last value of its points. */
typedef struct {
  double x;
  double y_min, y_max, y_first, y_last;
  guint64 count;  /* finite values */
  guint64 points; /* all */
} DynoColumn;
guint dyno_series_columns (const DynoSeries *series, double x0, double x1, guint n,
                           DynoColumn *columns);

/* The exponential moving average, without bias at its start; factor in [0, 0.999].  The series owns
 * it, for the factor that was asked for last, and appends update it.  Another factor computes it
 * anew from the points that are kept; groups count with their means. */
const DynoSeries *dyno_series_smoothed (DynoSeries *series, double smoothing);

G_END_DECLS
