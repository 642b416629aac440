/* SPDX-License-Identifier: MIT */
/* Drawing of plots, with Cairo only: axes with round ticks, units, legend, smoothed lines, a
 * read-out at a cursor.  The same code draws the window, PNG, SVG and PDF. */
#pragma once
#include "series.h"
#include <cairo.h>

G_BEGIN_DECLS

typedef struct {
  double red, green, blue, alpha;
} DynoColour;

typedef struct _DynoPlotTheme DynoPlotTheme;
struct _DynoPlotTheme {
  DynoColour background, foreground, grid, muted; /* muted: axis text */
  DynoColour lines[8];
  double font_size;  /* user-space units */
  const char *font;  /* family */
  double line_width; /* 0: 1.5 */
  gboolean dashed;   /* lines differ by their dashes too */
  /* Returns the width of a text of one line and, with show, draws it in the colour that is set, its
   * base line beginning at the current point.  NULL: Cairo's simple text, which has one font and
   * joins no letters. */
  double (*text) (cairo_t *cr, const DynoPlotTheme *theme, const char *text, double size,
                  gboolean bold, gboolean show);
};

extern const DynoPlotTheme dyno_plot_theme_light;
extern const DynoPlotTheme dyno_plot_theme_dark;

typedef struct {
  DynoSeries *series;
  guint colour;    /* index into the theme's lines */
  gboolean points; /* draw points joined by a line (validation), not only a line */
  double width;    /* line width; 0: the theme's */
  guint dash;      /* pattern; 0: none, but for themes with dashes */
  /* A map of points (x of the series, x that is shown), both rising: from steps to epochs or
   * seconds.  NULL: the series' own x is shown. */
  const DynoSeries *x_map;
  gboolean mark_gaps; /* a value that is no number is marked */
  gboolean unnamed;   /* not among the names above the axes */
  gboolean hidden;    /* its name is faint; it is not drawn, and the y axis is not for it */
} DynoPlotLine;

typedef struct {
  const char *title;             /* translated */
  const char *x_label, *y_label; /* with unit: "VRAM (GiB)" */
  const DynoPlotLine *lines;
  guint n_lines;
  gboolean y_log; /* non-positive values are left out */
  gboolean y_from_zero;
  gboolean x_whole; /* x counts something: no ticks between whole numbers */
  gboolean x_time;  /* x is seconds: ticks as 1:30 */
  /* x that is shown is above 0.  Lines of many points have an x_map, by which they are grouped. */
  gboolean x_log;
  /* a few values far outside do not flatten the rest: they are marked at the edge */
  gboolean robust;
  /* least room for the y axis' texts, so that plots below each other stand in line; 0: their own */
  double label_width;
  double title_room; /* beside the names of the lines, at the right: not drawn into */
  double smoothing;  /* 0..0.99: exponential, for display; the raw line stays, faint */
  double x0, x1;     /* view, in x that is shown; x0 >= x1: all */
  double y_limit;    /* a line with y_limit_label (the VRAM budget); NaN: none */
  const char *y_limit_label;
  double x_mark; /* an upright line with x_mark_label; without a label: none */
  const char *x_mark_label;
  double cursor_x;           /* x of the read-out, as shown; NaN: none */
  const char *smoothed_word; /* "smoothed", before such a value in the read-out; NULL: none there */
  const char *empty;         /* what to say while there is no point */
} DynoPlot;

/* Draws into (0, 0, width, height).  device_scale sharpens hairlines on HiDPI. */
void dyno_plot_draw (cairo_t *cr, const DynoPlot *plot, const DynoPlotTheme *theme, double width,
                     double height, double device_scale);
/* The room that the y axis' texts need at this size: the largest of several plots goes into
 * label_width of all. */
double dyno_plot_label_width (const DynoPlot *plot, const DynoPlotTheme *theme, double width,
                              double height);
/* x as shown at a pixel x of the last layout of that size; NaN outside of the axes. */
double dyno_plot_x_at (const DynoPlot *plot, const DynoPlotTheme *theme, double width,
                       double height, double pixel_x);

/* The line whose name stands at that place of a drawing of that width; -1: none does. */
int dyno_plot_name_at (const DynoPlot *plot, const DynoPlotTheme *theme, double width, double x,
                       double y);

/* The value of the smoothed line at the series' own x; NaN: the line is not smoothed. */
double dyno_plot_get_smoothed (const DynoPlot *plot, guint line, double x);

/* Files: several plots below each other in line, each width x height; format by the name's ending:
 * .png, .svg, .pdf.  scale: pixels per unit for PNG.  Errors: G_FILE_ERROR; the message names the
 * path. */
gboolean dyno_plot_write (const DynoPlot *plots, guint n_plots, const DynoPlotTheme *theme,
                          double width, double height, double scale, const char *path,
                          GError **error);
/* All series as CSV: x, then a column per series. */
gboolean dyno_plot_write_csv (const DynoPlot *plots, guint n_plots, const char *path,
                              GError **error);

G_END_DECLS
