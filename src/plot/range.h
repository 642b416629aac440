/* SPDX-License-Identifier: MIT */
/* What of a plot's values its axes show. */
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

/* The x that is shown for a series' own, and back.  map: its points are (own, shown), both rising;
 * between them, and beyond its ends, lines; NULL: the same.  One point has a line from the origin,
 * none is 0. */
double dyno_plot_map_x (const DynoSeries *map, double x);
double dyno_plot_unmap_x (const DynoSeries *map, double shown);

/* dyno_series_columns of series, which has the x of the line, in x that is shown. */
guint dyno_plot_columns (const DynoPlotLine *line, const DynoSeries *series, double x0, double x1,
                         guint n, DynoColumn *columns);

G_END_DECLS
