/* SPDX-License-Identifier: MIT */
/* The places of the parts of one plot while it is drawn.  Private to the layer. */
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
  double labels;     /* width that this plot's own need beside them */
  DynoAxis xa, ya;
  gboolean empty;
} DynoPlotLayout;

/* Where text stands decides its size. */
typedef enum {
  DYNO_PLOT_TEXT_TICK,
  DYNO_PLOT_TEXT_LABEL,
  DYNO_PLOT_TEXT_PLAIN,
  DYNO_PLOT_TEXT_TITLE,
} DynoPlotText;

double dyno_plot_text_width (const DynoPlotLayout *l, DynoPlotText style, const char *text);
/* Draws in the colour that is set; x, y: the start of the base line. */
void dyno_plot_text_show (const DynoPlotLayout *l, DynoPlotText style, double x, double y,
                          const char *text);

void dyno_plot_set_colour (cairo_t *cr, const DynoColour *colour, double alpha);
const DynoColour *dyno_plot_line_colour (const DynoPlotLayout *l, guint line);
/* The dashes of a line, for themes and lines that have some. */
void dyno_plot_set_dash (const DynoPlotLayout *l, guint line);

/* A coordinate moved to the middle of a device pixel, so that a line of one pixel is sharp. */
double dyno_plot_sharp (const DynoPlotLayout *l, double value);
double dyno_plot_to_x (const DynoPlotLayout *l, double value);
double dyno_plot_to_y (const DynoPlotLayout *l, double value);

/* Title, unit and names of the lines, above the axes. */
void dyno_plot_draw_title (const DynoPlotLayout *l, double width);
/* The line whose name, with its sample, covers x; -1: none. */
int dyno_plot_find_name (const DynoPlotLayout *l, double width, double x);
/* One of the plot's lines; filled: a faint colour below it. */
void dyno_plot_draw_line (const DynoPlotLayout *l, guint index, gboolean filled);
/* Small triangles at the edge where a line goes on outside of the robust range. */
void dyno_plot_mark_clipped (const DynoPlotLayout *l, guint index);
/* Crosses at the lower edge where a value is no number. */
void dyno_plot_mark_gaps (const DynoPlotLayout *l, guint index);
/* The values at the cursor, over the lines. */
void dyno_plot_draw_cursor (const DynoPlotLayout *l);

G_END_DECLS
