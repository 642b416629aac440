/* SPDX-License-Identifier: MIT */
/* Computes the ranges of values that a plot's axes show. */
#pragma once
#include "draw.h"
#include "span.h"

G_BEGIN_DECLS

typedef struct {
  double x0, x1, y0, y1;
} DynoPlotRange;

/* First and last x of all points, whatever the visible span; FALSE: there is no point. */
gboolean dyno_plot_extent (const DynoPlot *plot, DynoPlotSpan *all);

/* The range of all visible values; FALSE: there is none.  With plot->robust a few values far
 * outside of all others are not included in y0 and y1; the drawing marks them at the edge. */
gboolean dyno_plot_range (const DynoPlot *plot, DynoPlotRange *range);

/* The least positive visible value, the lower end of a logarithmic axis; infinite: there is
 * none. */
double dyno_plot_least_positive (const DynoPlot *plot, double x0, double x1);

/* Converts a series' own x to the displayed x, and back.  The points of map are (own, displayed),
 * both rising; between and beyond them the map is linear.  NULL: both x are the same.  With one
 * point the map is the line through this point and the origin, with none it is 0. */
double dyno_plot_map_x (const DynoSeries *map, double x);
double dyno_plot_unmap_x (const DynoSeries *map, double shown);

/* dyno_series_columns of a series with the x of the line; the columns have the displayed x. */
guint dyno_plot_columns (const DynoPlotLine *line, const DynoSeries *series, double x0, double x1,
                         guint n, DynoColumn *columns);

G_END_DECLS
