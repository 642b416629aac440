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
  /* Returns the width of a text of one line and, if show is TRUE, draws it in the current colour,
   * with its base line beginning at the current point.  NULL: Cairo's simple text, which has one
   * font and does not shape letters. */
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
  guint dash;      /* pattern; 0: solid, except in themes with dashes */
  /* Maps the x of the series to the displayed x, as from steps to epochs or seconds, by points
   * (own, displayed), both rising.  NULL: the series' own x is displayed. */
  const DynoSeries *x_map;
  gboolean mark_gaps; /* mark values that are NaN */
  gboolean unnamed;   /* its name is not shown above the axes: it belongs to the named line of its
                     * colour */
  gboolean hidden;    /* its name is faint; the line is not drawn and does not affect the y axis */
  const char *name;   /* NULL: the series' */
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
  /* The displayed x is above 0.  Lines of many points must have an x_map, by which they are
   * grouped. */
  gboolean x_log;
  /* a few values far outside the others do not extend the y axis, but are marked at the edge */
  gboolean robust;
  /* minimum width of the y axis' labels, to align plots that are one below the other; 0: their
   * own */
  double label_width;
  double title_room; /* width kept free at the right of the lines' names */
  double smoothing;  /* 0..0.99: exponential, only displayed; the raw line is faint */
  double x0, x1;     /* visible span of the displayed x; x0 >= x1: all */
  double y_limit;    /* a line with y_limit_label (the VRAM budget); NaN: none */
  const char *y_limit_label;
  double x_mark; /* vertical line with x_mark_label; without a label: none */
  const char *x_mark_label;
  double cursor_x;           /* displayed x of the read-out; NaN: none */
  const char *smoothed_word; /* "smoothed", before smoothed values in the read-out; NULL: none */
  const char *empty;         /* text while there is no point */
} DynoPlot;

/* Draws into (0, 0, width, height).  device_scale sharpens hairlines on HiDPI. */
void dyno_plot_draw (cairo_t *cr, const DynoPlot *plot, const DynoPlotTheme *theme, double width,
                     double height, double device_scale);
/* The width that the y axis' labels need at this size; to align several plots, the largest is set
 * as label_width of all. */
double dyno_plot_label_width (const DynoPlot *plot, const DynoPlotTheme *theme, double width,
                              double height);
/* The displayed x at pixel_x of a drawing of that size; NaN outside of the axes. */
double dyno_plot_x_at (const DynoPlot *plot, const DynoPlotTheme *theme, double width,
                       double height, double pixel_x);

/* The line whose name is at x, y in a drawing of that width; -1: none.  *is_cut (may be NULL): the
 * name is not shown whole. */
int dyno_plot_name_at (const DynoPlot *plot, const DynoPlotTheme *theme, double width, double x,
                       double y, gboolean *is_cut);
const char *dyno_plot_line_name (const DynoPlotLine *line);
/* The height that the names of the lines need below the title in a drawing of that width, by which
 * a drawing should be higher; 0: they have room beside the title. */
double dyno_plot_names_height (const DynoPlot *plot, const DynoPlotTheme *theme, double width);

/* The displayed x of the visible point that is nearest to x, of the first line with such a point:
 * where the cursor is placed.  NaN: there is none. */
double dyno_plot_find_cursor (const DynoPlot *plot, double x);

/* The value of the smoothed line at the series' own x; NaN: the line is not smoothed. */
double dyno_plot_get_smoothed (const DynoPlot *plot, guint line, double x);

/* Writes several plots, aligned one below the other, each width x height and the height of its
 * names, to a file; the extension determines the format: .png, .svg, .pdf.  scale: pixels per unit
 * for PNG.  Errors: G_FILE_ERROR; base's IO, DISK; the message names the path. */
gboolean dyno_plot_write (const DynoPlot *plots, guint n_plots, const DynoPlotTheme *theme,
                          double width, double height, double scale, const char *path,
                          GError **error);
/* Writes all series as CSV: x, then one column per series.  Errors: base's IO, DISK. */
gboolean dyno_plot_write_csv (const DynoPlot *plots, guint n_plots, const char *path,
                              GError **error);

G_END_DECLS
