/* SPDX-License-Identifier: MIT */
/* The visible part of the x axis, and the arithmetic of zooming and panning. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* x0 >= x1: all points, including future ones. */
typedef struct {
  double x0, x1;
} DynoPlotSpan;

gboolean dyno_plot_span_is_all (DynoPlotSpan span);
/* A factor below 1 zooms in.  The value `at` keeps its position, as far as the ends of `all` allow.
 * The span is at least `least` wide; a span as wide as `all` becomes the span of all points, which
 * includes new ones. */
DynoPlotSpan dyno_plot_span_zoom (DynoPlotSpan span, DynoPlotSpan all, double at, double factor,
                                  double least);
/* The span moved by a share of its width, no further than the ends of `all`.  The span of all
 * points does not move. */
DynoPlotSpan dyno_plot_span_pan (DynoPlotSpan span, DynoPlotSpan all, double share);

G_END_DECLS
