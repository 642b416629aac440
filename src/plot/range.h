/* SPDX-License-Identifier: MIT */
/* What of a plot's values its axes show. */
#pragma once
#include "draw.h"

G_BEGIN_DECLS

typedef struct {
  double x0, x1, y0, y1;
} DynoPlotRange;

/* All values in view; FALSE: there is none.  With plot->robust a few values far outside of all
 * others are left out of y0 and y1: the drawing marks them at the edge. */
gboolean dyno_plot_range (const DynoPlot *plot, DynoPlotRange *range);

/* The least positive value in view: the lower end of a logarithmic axis; infinite: none. */
double dyno_plot_least_positive (const DynoPlot *plot, double x0, double x1);

G_END_DECLS
