/* SPDX-License-Identifier: MIT */
/* Paths that go up and down by many pixels in each pixel of width, in device pixels.  Cairo walks
 * each edge through 15 lines of samples a pixel; these hatches are written into a mask instead, one
 * row of pixels at a time.  For surfaces of pixels, and lines without dashes. */
#pragma once
#include "draw-private.h"

G_BEGIN_DECLS

/* Strokes the current path, which has no curves, in the colour that is set, with round joins and
 * caps; then it is gone. */
void dyno_plot_steep_stroke (const DynoPlotLayout *l, double width);
/* Fills below n points of rising x down to the axis, in a colour whose alpha goes from one value at
 * the axes' top to another at their bottom. */
void dyno_plot_steep_fill (const DynoPlotLayout *l, const double *x, const double *y, guint n,
                           const DynoColour *colour, double from_alpha, double to_alpha);

G_END_DECLS
