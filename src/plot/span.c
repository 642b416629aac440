/* SPDX-License-Identifier: MIT */
/* Zooming and panning. */
#include "span.h"
#include <math.h>

gboolean
dyno_plot_span_is_all (DynoPlotSpan span)
{
  return !(span.x0 < span.x1);
}

/* A span of the given width, moved into `all`. */
static DynoPlotSpan
put_inside (double x0, double width, DynoPlotSpan all)
{
  x0 = MAX (MIN (x0, all.x1 - width), all.x0);
  return (DynoPlotSpan){ x0, x0 + width };
}

DynoPlotSpan
dyno_plot_span_zoom (DynoPlotSpan span, DynoPlotSpan all, double at, double factor, double least)
{
  double width, share;

  if (dyno_plot_span_is_all (all) || !(factor > 0.0))
    return (DynoPlotSpan){ 0.0, 0.0 };
  if (dyno_plot_span_is_all (span))
    span = all;
  width = (span.x1 - span.x0) * factor;
  if (factor < 1.0)
    width = MAX (width, MIN (least, span.x1 - span.x0));
  if (width >= all.x1 - all.x0)
    return (DynoPlotSpan){ 0.0, 0.0 };
  at = isfinite (at) ? CLAMP (at, span.x0, span.x1) : (span.x0 + span.x1) / 2;
  share = (at - span.x0) / (span.x1 - span.x0);
  return put_inside (at - share * width, width, all);
}

DynoPlotSpan
dyno_plot_span_pan (DynoPlotSpan span, DynoPlotSpan all, double share)
{
  double width = span.x1 - span.x0;

  if (dyno_plot_span_is_all (span) || dyno_plot_span_is_all (all))
    return span;
  if (width >= all.x1 - all.x0)
    return (DynoPlotSpan){ 0.0, 0.0 };
  return put_inside (span.x0 + share * width, width, all);
}
