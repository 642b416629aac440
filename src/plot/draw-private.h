/* SPDX-License-Identifier: MIT */
/* The layout of one plot while it is drawn, and the functions that draw its parts.  Private to the
 * layer. */
#pragma once
#include "axis.h"
#include "draw.h"

G_BEGIN_DECLS

#define DYNO_PLOT_PADDING 10.0

typedef struct {
  const DynoPlot *plot;
  const DynoPlotTheme *theme;
  cairo_t *cr;
  double scale;      /* device pixels per unit */
  double x, y, w, h; /* of the axes */
  double labels;     /* width that this plot's own y labels need */
  DynoAxis xa, ya;
  gboolean empty;
} DynoPlotLayout;

/* The kinds of texts, which differ in size and weight. */
typedef enum {
  DYNO_PLOT_TEXT_TICK,
  DYNO_PLOT_TEXT_LABEL,
  DYNO_PLOT_TEXT_PLAIN,
  DYNO_PLOT_TEXT_TITLE,
} DynoPlotText;

double dyno_plot_text_width (const DynoPlotLayout *l, DynoPlotText style, const char *text);
/* Draws in the current colour; x, y: the start of the base line. */
void dyno_plot_text_show (const DynoPlotLayout *l, DynoPlotText style, double x, double y,
                          const char *text);

void dyno_plot_set_colour (cairo_t *cr, const DynoColour *colour, double alpha);
const DynoColour *dyno_plot_line_colour (const DynoPlotLayout *l, guint line);
/* Sets the dashes of a line, if the theme or the line has any. */
void dyno_plot_set_dash (const DynoPlotLayout *l, guint line);

/* Moves a coordinate to the middle of a device pixel, so that a line of one pixel is sharp. */
double dyno_plot_sharp (const DynoPlotLayout *l, double value);
double dyno_plot_to_x (const DynoPlotLayout *l, double value);
double dyno_plot_to_y (const DynoPlotLayout *l, double value);

/* Draws title, unit and names of the lines, above the axes. */
void dyno_plot_draw_title (const DynoPlotLayout *l, double width);
/* The line whose name, with its sample line, covers x, y; -1: none.  *is_cut: the name is not shown
 * whole. */
int dyno_plot_find_name (const DynoPlotLayout *l, double width, double x, double y,
                         gboolean *is_cut);
/* The height of the rows of names below the title; 0: the names have room beside it. */
double dyno_plot_measure_names (const DynoPlotLayout *l, double width);
/* The y at which the axes begin, or the names where they are below the title. */
double dyno_plot_title_bottom (const DynoPlotTheme *theme);
/* Draws one of the plot's lines; filled: with a faint colour below it. */
void dyno_plot_draw_line (const DynoPlotLayout *l, guint index, gboolean filled);
/* Draws small triangles at the edge where a line leaves the robust range. */
void dyno_plot_mark_clipped (const DynoPlotLayout *l, guint index);
/* Draws crosses at the lower edge where a value is NaN. */
void dyno_plot_mark_gaps (const DynoPlotLayout *l, guint index);
/* Draws the values at the cursor, over the lines. */
void dyno_plot_draw_cursor (const DynoPlotLayout *l);

G_END_DECLS
