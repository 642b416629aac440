/* SPDX-License-Identifier: MIT */
/* Plots in cards: one below the other, in two columns where there is room, or only one. */
#pragma once
#include "view.h"

G_BEGIN_DECLS

#define DYNO_TYPE_PLOT_GRID (dyno_plot_grid_get_type ())
G_DECLARE_FINAL_TYPE (DynoPlotGrid, dyno_plot_grid, DYNO, PLOT_GRID, GtkGrid)

GtkWidget *dyno_plot_grid_new (void);
/* Adds a view, which the grid then owns and which is not shown yet.  Views are in the order of the
 * calls. */
void dyno_plot_grid_add (DynoPlotGrid *self, DynoPlotView *view);
void dyno_plot_grid_set_shown (DynoPlotGrid *self, DynoPlotView *view, gboolean shown);
/* Shows only this view, until it is called again; the view's button and signal do the same. */
void dyno_plot_grid_toggle_maximized (DynoPlotGrid *self, DynoPlotView *view);

G_END_DECLS
