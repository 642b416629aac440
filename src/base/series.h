/* SPDX-License-Identifier: MIT */
/* A series of points (x rising) that can be drawn in time independent of their number: a min/max
 * pyramid over buckets.  Append is O(1) amortised.  One thread. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef struct _DynoSeries DynoSeries;

DynoSeries *dyno_series_new (const char *name, const char *unit);
void dyno_series_free (DynoSeries *series);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoSeries, dyno_series_free)
const char *dyno_series_get_name (const DynoSeries *series);
const char *dyno_series_get_unit (const DynoSeries *series);
void dyno_series_set_unit (DynoSeries *series, const char *unit); /* as text alone */
/* x not below the last; NaN y makes a gap */
void dyno_series_append (DynoSeries *series, double x, double y);
void dyno_series_clear (DynoSeries *series);
guint64 dyno_series_get_length (const DynoSeries *series);
gboolean dyno_series_get_range (const DynoSeries *series, double x0, double x1, double *x_min,
                                double *x_max, double *y_min,
                                double *y_max); /* FALSE: no finite point */
/* Index of the point nearest to x. */
guint64 dyno_series_nearest (const DynoSeries *series, double x);
void dyno_series_get (const DynoSeries *series, guint64 index, double *x, double *y);
/* All points; valid until the next one is appended. */
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
 * series and carried on by appends for the factor asked for last; owned by the series. */
const DynoSeries *dyno_series_smoothed (DynoSeries *series, double smoothing);

G_END_DECLS
