/* SPDX-License-Identifier: MIT */
/* The ranges of a plot's values that its axes show. */
#pragma once
#include "draw.h"
#include "span.h"

G_BEGIN_DECLS

typedef struct {
  double x0, x1, y0, y1;
} DynoPlotRange;

/* First and last x of all points, whatever is looked at; FALSE: there is none. */
gboolean dyno_plot_extent (const DynoPlot *plot, DynoPlotSpan *all);

/* All values in view; FALSE: there is none.  With plot->robust a few values far outside of all
 * others are left out of y0 and y1: the drawing marks them at the edge. */
gboolean dyno_plot_range (const DynoPlot *plot, DynoPlotRange *range);

/* The least positive value in view: the lower end of a logarithmic axis; infinite: none. */
double dyno_plot_least_positive (const DynoPlot *plot, double x0, double x1);

/* Converts a series' own x to the x that is shown, and back.  The points of map are (own, shown),
 * both rising; between them, and beyond its ends, the map is linear; NULL: both are the same.  With
 * one point it is the line through that point and the origin, with none it is 0. */
double dyno_plot_map_x (const DynoSeries *map, double x);
double dyno_plot_unmap_x (const DynoSeries *map, double shown);

/* dyno_series_columns of a series that has the x of the line; their x is the one that is shown. */
guint dyno_plot_columns (const DynoPlotLine *line, const DynoSeries *series, double x0, double x1,
                         guint n, DynoColumn *columns);

G_END_DECLS
