/* SPDX-License-Identifier: MIT */
/* The part of the x axis that is looked at: zooming and panning as arithmetic. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* x0 >= x1: all there is, and what comes. */
typedef struct {
  double x0, x1;
} DynoPlotSpan;

gboolean dyno_plot_span_is_all (DynoPlotSpan span);
/* factor below 1: closer; the value at stays where it is, as far as the ends of all let it.  Not
 * closer than least; from all on it is the whole again, which follows new points. */
DynoPlotSpan dyno_plot_span_zoom (DynoPlotSpan span, DynoPlotSpan all, double at, double factor,
                                  double least);
/* Moved by a share of its width, no further than the ends of all.  The whole does not move. */
DynoPlotSpan dyno_plot_span_pan (DynoPlotSpan span, DynoPlotSpan all, double share);

G_END_DECLS
