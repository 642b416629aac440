/* SPDX-License-Identifier: MIT */
/* Plots for the report: a <figure> of inline SVG each, without script and without colours of its
 * own, which the page's style sheet (reporthtml.css) sets by classes: c0 to c5 for series, "grid",
 * "axis", "limit", "mark", "diagonal".  The output is well-formed XML; all given text is
 * escaped. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_HTML_COLOURS 6

typedef enum {
  DYNO_HTML_AXIS_LINEAR,
  DYNO_HTML_AXIS_DOUBLED, /* 0, 1, 2, 4, 8 ... at equal distances */
} DynoHtmlAxis;

typedef struct {
  double x, y;      /* a point where x or y is not finite is left out */
  double low, high; /* 95 % interval of y, drawn where low < high */
  const char *note; /* text that a pointer over the point shows after its values; or NULL */
} DynoHtmlPoint;

typedef struct {
  const char *name; /* legend; NULL: none */
  const DynoHtmlPoint *points;
  guint n;
  guint colour; /* modulo DYNO_HTML_COLOURS */
  gboolean line, dots;
  gboolean hollow; /* hollow dots: they were not measured */
} DynoHtmlSeries;

typedef struct {
  double x;
  const char *label;
} DynoHtmlMark;

typedef struct {
  const char *title;
  const char *caption; /* a sentence below the plot; or NULL */
  const char *x_label, *y_label;
  DynoHtmlAxis x_axis;
  gboolean y_from_zero;
  gboolean y_whole;  /* no ticks between whole numbers */
  gboolean diagonal; /* both axes have the same range, and the line y = x is drawn */
  const DynoHtmlSeries *series;
  guint n_series;
  const DynoHtmlMark *marks; /* vertical lines */
  guint n_marks;
  double y_limit; /* a horizontal line; NaN: none; far above all values it is named, not drawn */
  const char *y_limit_label;
} DynoHtmlPlot;

/* Writes nothing where no point can be drawn. */
void dyno_html_plot (GString *html, const DynoHtmlPlot *plot);

/* Appends text escaped for use between tags and in quoted attributes: valid UTF-8, with control
 * characters made visible. */
void dyno_html_text (GString *html, const char *text);
/* Appends a format whose %s arguments are escaped in this way; no other conversion but %% is
 * allowed. */
void dyno_html_printf (GString *html, const char *format, ...) G_GNUC_PRINTF (2, 3);

G_END_DECLS
