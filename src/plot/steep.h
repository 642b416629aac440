/* SPDX-License-Identifier: MIT */
/* Draws strokes and areas of paths that go up and down by many pixels in each pixel of width.
 * Cairo samples each edge in 15 lines per pixel; here such a dense path is rendered into a mask of
 * device pixels, one row at a time.  Only for raster surfaces, and lines without dashes. */
#pragma once
#include "draw-private.h"

G_BEGIN_DECLS

/* Strokes the current path, which must have no curves, in the current colour, with round joins and
 * caps, and clears it. */
void dyno_plot_steep_stroke (const DynoPlotLayout *l, double width);
/* Fills below n points of rising x down to the axis, in a colour whose alpha goes from one value at
 * the axes' top to another at their bottom. */
void dyno_plot_steep_fill (const DynoPlotLayout *l, const double *x, const double *y, guint n,
                           const DynoColour *colour, double from_alpha, double to_alpha);

G_END_DECLS
