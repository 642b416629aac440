/* SPDX-License-Identifier: MIT */
/* A series of points (x rising) that can be kept and drawn at a cost independent of their number.
 *
 * The newest DYNO_SERIES_NEWEST points, and up to twice as many, are kept as they were appended: a
 * series that was never longer is whole.  Older ones are grouped, each group the same number of
 * successive points, which doubles when there are more than DYNO_SERIES_GROUPS groups: the whole run
 * stays there in at least half as many.  Of a group are kept, in their order: the least and the
 * greatest point, at their own x; a point without a number, where it has one; and its mean for
 * smoothing.  The first point of all stays, too.  So no extreme and no gap is ever lost, and a series
 * takes at most DYNO_SERIES_MOST_BYTES.
 *
 * Index and length are those of the points that are kept; an append may change them all.  Drawing
 * goes through a min/max pyramid over buckets.  Append is O(1) amortised.  One thread; but points of
 * a series that nothing is appended to any more may be read in others, by length, get, peek and
 * range. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_SERIES_NEWEST 16384
#define DYNO_SERIES_GROUPS 8192
#define DYNO_SERIES_MOST_BYTES \
  2097152 /* without the series of dyno_series_smoothed: that many more */

typedef struct _DynoSeries DynoSeries;

DynoSeries *dyno_series_new (const char *name, const char *unit);
DynoSeries *dyno_series_ref (DynoSeries *series);
void dyno_series_free (DynoSeries *series); /* NULL: nothing; the last reference frees it */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoSeries, dyno_series_free)
const char *dyno_series_get_name (const DynoSeries *series);
const char *dyno_series_get_unit (const DynoSeries *series);
void dyno_series_set_unit (DynoSeries *series, const char *unit); /* as text alone */
/* x not below the last; NaN y makes a gap */
void dyno_series_append (DynoSeries *series, double x, double y);
void dyno_series_clear (DynoSeries *series);
guint64 dyno_series_get_length (const DynoSeries *series);
/* Memory that it takes, with that of the smoothed one. */
gsize dyno_series_get_bytes (const DynoSeries *series);
gboolean dyno_series_get_range (const DynoSeries *series, double x0, double x1, double *x_min,
                                double *x_max, double *y_min,
                                double *y_max); /* FALSE: no finite point */
/* Index of the point nearest to x. */
guint64 dyno_series_nearest (const DynoSeries *series, double x);
void dyno_series_get (const DynoSeries *series, guint64 index, double *x, double *y);
/* All points that are kept; valid until the next one is appended. */
void dyno_series_peek (const DynoSeries *series, const double **x, const double **y);

/* For drawing: at most n columns over [x0, x1]; each min, max, first, last of its points. */
typedef struct {
  double x;
  double y_min, y_max, y_first, y_last;
  guint64 count;  /* finite values */
  guint64 points; /* all */
} DynoColumn;
guint dyno_series_columns (const DynoSeries *series, double x0, double x1, guint n,
                           DynoColumn *columns);

/* The exponential moving average, without bias at its start; factor in [0, 0.999].  Kept beside the
 * series and carried on by appends for the factor asked for last; owned by the series.  Another
 * factor makes it anew of the points that are kept, of groups by their means. */
const DynoSeries *dyno_series_smoothed (DynoSeries *series, double smoothing);

G_END_DECLS
