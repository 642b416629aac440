/* SPDX-License-Identifier: MIT */
/* The part of the x axis that is looked at: zooming and panning as arithmetic. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* x0 >= x1: all points, and those to come. */
typedef struct {
  double x0, x1;
} DynoPlotSpan;

gboolean dyno_plot_span_is_all (DynoPlotSpan span);
/* A factor below 1 zooms in.  The value `at` keeps its place, as far as the ends of `all` allow.
 * The span is at least `least` wide; one as wide as `all` becomes the whole again, which follows
 * new points. */
DynoPlotSpan dyno_plot_span_zoom (DynoPlotSpan span, DynoPlotSpan all, double at, double factor,
                                  double least);
/* The span moved by a share of its width, no further than the ends of `all`.  The whole does not
 * move. */
DynoPlotSpan dyno_plot_span_pan (DynoPlotSpan span, DynoPlotSpan all, double share);

G_END_DECLS
