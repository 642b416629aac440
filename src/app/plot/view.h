/* SPDX-License-Identifier: MIT */
/* A live plot: draws with dyno_plot_draw, and follows the pointer with a read-out.  The view
 * borrows the series of its lines, which must outlive it. */
#pragma once
#include "draw.h"
#include "span.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_PLOT_VIEW (dyno_plot_view_get_type ())
G_DECLARE_FINAL_TYPE (DynoPlotView, dyno_plot_view, DYNO, PLOT_VIEW, GtkDrawingArea)

#define DYNO_PLOT_VIEW_MAX_LINES 16

/* Signals: "cursor" (double x): the read-out was moved to x by pointer or keys; NaN: it was
 * removed.  "span" (double x0, double x1): the user zoomed or panned to this span.  "maximize":
 * requested by a key.  The owner of the view decides which views follow, and sets their read-out
 * and span. */
void dyno_plot_view_set_labels (DynoPlotView *self, const char *title, const char *y_label,
                                const char *empty); /* copied */
/* label: the meaning of x, "Step", copied; whole, time: see DynoPlot. */
void dyno_plot_view_set_x (DynoPlotView *self, const char *label, gboolean whole, gboolean time);
/* Up to DYNO_PLOT_VIEW_MAX_LINES; their series and maps are the caller's. */
void dyno_plot_view_set_lines (DynoPlotView *self, const DynoPlotLine *lines, guint n);
void dyno_plot_view_set_limit (DynoPlotView *self, double y, const char *label); /* NaN: none */
void dyno_plot_view_set_from_zero (DynoPlotView *self, gboolean from_zero);
void dyno_plot_view_set_robust (DynoPlotView *self, gboolean robust); /* see DynoPlot */
void dyno_plot_view_set_log (DynoPlotView *self, gboolean log);
void dyno_plot_view_set_smoothing (DynoPlotView *self, double smoothing);
void dyno_plot_view_set_title_room (DynoPlotView *self, double room);
/* The least height of the view, without the rows of names below its title, which are added to it by
 * the width; 0: as the font needs it. */
void dyno_plot_view_set_least_height (DynoPlotView *self, int pixels);
/* Sets the visible span, which stays while data are added. */
void dyno_plot_view_set_span (DynoPlotView *self, DynoPlotSpan span);
void dyno_plot_view_set_cursor (DynoPlotView *self, double x);
/* Aligns the axes of views that are one below the other: their labels get the same width. */
void dyno_plot_view_align (DynoPlotView *const *views, guint n);
/* The plot that is drawn, for files; valid as long as the view. */
const DynoPlot *dyno_plot_view_get_plot (DynoPlotView *self);

G_END_DECLS
