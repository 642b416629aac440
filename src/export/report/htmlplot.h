/* SPDX-License-Identifier: MIT */
/* Plots for the report: a <figure> of inline SVG each, without script and without colours of its
 * own, which the page's style gives (reporthtml.css) by classes: c0 to c5 for series, "grid",
 * "axis", "limit", "mark", "diagonal".  The text is well-formed XML; whatever goes in as text is
 * escaped. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_HTML_COLOURS 6

typedef enum {
  DYNO_HTML_AXIS_LINEAR,
  DYNO_HTML_AXIS_DOUBLED, /* 0, 1, 2, 4, 8 ... in equal distances */
} DynoHtmlAxis;

typedef struct {
  double x, y;      /* a point where one of them is not finite is left out */
  double low, high; /* 95 % interval of y, drawn where low < high */
  const char *note; /* what a pointer over it shows after its values; or NULL */
} DynoHtmlPoint;

typedef struct {
  const char *name; /* legend; NULL: none */
  const DynoHtmlPoint *points;
  guint n;
  guint colour; /* modulo DYNO_HTML_COLOURS */
  gboolean line, dots;
  gboolean hollow; /* dots that were not measured */
} DynoHtmlSeries;

typedef struct {
  double x;
  const char *label;
} DynoHtmlMark;

typedef struct {
  const char *title;
  const char *caption; /* a sentence below; or NULL */
  const char *x_label, *y_label;
  DynoHtmlAxis x_axis;
  gboolean y_from_zero;
  gboolean y_whole;  /* no ticks between whole numbers */
  gboolean diagonal; /* both axes alike, and the line y = x */
  const DynoHtmlSeries *series;
  guint n_series;
  const DynoHtmlMark *marks; /* lines down */
  guint n_marks;
  double y_limit; /* a line across; NaN: none; far above all values: told, not drawn */
  const char *y_limit_label;
} DynoHtmlPlot;

/* Nothing where no point can be drawn. */
void dyno_html_plot (GString *html, const DynoHtmlPlot *plot);

/* Text as it may stand between tags and in quoted attributes: valid UTF-8, control characters made
 * visible. */
void dyno_html_text (GString *html, const char *text);
/* A format whose %s are escaped so; no other conversion but %%. */
void dyno_html_printf (GString *html, const char *format, ...) G_GNUC_PRINTF (2, 3);

G_END_DECLS
