/* SPDX-License-Identifier: MIT */
/* Strokes and areas of paths that go up and down by many pixels in each pixel of width, in device
 * pixels.  Cairo walks each edge through 15 lines of samples per pixel; here such a hatch is
 * written into a mask, one row of pixels at a time.  Only for surfaces of pixels, and lines without
 * dashes. */
#pragma once
#include "draw-private.h"

G_BEGIN_DECLS

/* Strokes the current path, which has no curves, in the colour that is set, with round joins and
 * caps, and clears it. */
void dyno_plot_steep_stroke (const DynoPlotLayout *l, double width);
/* Fills below n points of rising x down to the axis, in a colour whose alpha goes from one value at
 * the axes' top to another at their bottom. */
void dyno_plot_steep_fill (const DynoPlotLayout *l, const double *x, const double *y, guint n,
                           const DynoColour *colour, double from_alpha, double to_alpha);

G_END_DECLS
