/* SPDX-License-Identifier: MIT */
/* Draws plots as inline SVG.  Coordinates are in units of a fixed view box that the page scales; it
 * is narrow, so that its texts can be read on a telephone.  The SVG that Cairo writes for src/plot
 * would not do: here colours follow the page's style sheet, light and dark, and each point has a
 * title for pointers and screen readers. */
#include "htmlplot.h"
#include "axis.h"
#include "text.h"
#include <math.h>
#include <string.h>

#define WIDTH     440 /* of the view box */
#define HEIGHT    264
#define RIGHT     16.0
#define BOTTOM    42.0
#define TOP       14.0
#define CHARACTER 6.6 /* least width of a character, in the font size of tick labels */
#define ROW       14.0
#define FAR       2.5 /* a limit this many times the largest value is named, not drawn */
#define MANY_DOTS 60  /* with more points than this, only the line is drawn */

typedef struct {
  const DynoHtmlPlot *plot;
  DynoAxis x, y;
  double left, top; /* of the plot area */
  double x_ticks[DYNO_AXIS_MAX_TICKS];
  guint n_x_ticks;
  double most; /* largest y */
} Layout;

/* --- text -------------------------------------------------------------------------------------- */

void
dyno_html_text (GString *html, const char *text)
{
  g_autofree char *visible = dyno_text_visible (text ? text : "");
  g_autofree char *escaped = g_markup_escape_text (visible, -1);

  g_string_append (html, escaped);
}

void
dyno_html_printf (GString *html, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  for (const char *c = format; *c; c++)
    if (c[0] == '%' && c[1] == 's')
      {
        dyno_html_text (html, va_arg (arguments, const char *));
        c++;
      }
    else
      {
        g_string_append_c (html, *c);
        c += c[0] == '%' && c[1] == '%';
      }
  va_end (arguments);
}

/* A coordinate: '.' in any locale. */
static void
put (GString *html, const char *attribute, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append_printf (html, " %s=\"%s\"", attribute,
                          g_ascii_formatd (text, sizeof text, "%.2f", value));
}

static void
line (GString *html, const char *class, double x1, double y1, double x2, double y2)
{
  g_string_append_printf (html, "<line class=\"%s\"", class);
  put (html, "x1", x1);
  put (html, "y1", y1);
  put (html, "x2", x2);
  put (html, "y2", y2);
  g_string_append (html, "/>");
}

static void
label (GString *html, const char *class, double x, double y, const char *text)
{
  g_string_append_printf (html, "<text class=\"%s\"", class);
  put (html, "x", x);
  put (html, "y", y);
  dyno_html_printf (html, ">%s</text>", text);
}

/* --- scales ------------------------------------------------------------------------------------ */

static double
transform (const DynoHtmlPlot *plot, double x)
{
  if (plot->x_axis == DYNO_HTML_AXIS_LINEAR)
    return x;
  return x >= 1 ? log2 (x) : x - 1;
}

static double
at_x (const Layout *l, double x)
{
  return l->left + (WIDTH - RIGHT - l->left) * dyno_axis_position (&l->x, transform (l->plot, x));
}

static double
at_y (const Layout *l, double y)
{
  return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - l->top) * dyno_axis_position (&l->y, y);
}

static gboolean
is_shown (const DynoHtmlPoint *point)
{
  return isfinite (point->x) && isfinite (point->y);
}

static gboolean
has_interval (const DynoHtmlPoint *point)
{
  return isfinite (point->low) && isfinite (point->high) && point->low < point->high;
}

typedef struct {
  double x0, x1, y0, y1;
} Range;

static gboolean
find_range (const DynoHtmlPlot *plot, Range *r)
{
  *r = (Range){ INFINITY, -INFINITY, INFINITY, -INFINITY };
  for (guint s = 0; s < plot->n_series; s++)
    for (guint i = 0; i < plot->series[s].n; i++)
      {
        const DynoHtmlPoint *point = &plot->series[s].points[i];

        if (!is_shown (point))
          continue;
        r->x0 = MIN (r->x0, point->x);
        r->x1 = MAX (r->x1, point->x);
        r->y0 = MIN (r->y0, has_interval (point) ? point->low : point->y);
        r->y1 = MAX (r->y1, has_interval (point) ? point->high : point->y);
      }
  return r->x0 <= r->x1;
}

/* 1, 2, 4, 8 ... and 0; every second one and so on where there are many. */
static void
tick_doubled (Layout *l)
{
  int first = (int) ceil (l->x.low - 1e-9), last = (int) floor (l->x.high + 1e-9), stride = 1;

  while ((last - first) / stride >= 10)
    stride++;
  for (int i = first; i <= last && l->n_x_ticks < DYNO_AXIS_MAX_TICKS; i += stride)
    l->x_ticks[l->n_x_ticks++] = i < 0 ? 0 : ldexp (1, i);
}

static char *
format_y (const Layout *l, double value)
{
  return dyno_axis_format (&l->y, value);
}

static char *
format_x (const Layout *l, double value)
{
  if (l->plot->x_axis != DYNO_HTML_AXIS_DOUBLED || l->plot->diagonal)
    return dyno_axis_format (&l->x, value);
  return value < 1e4 ? g_strdup_printf ("%.0f", value) : dyno_axis_format_value (value);
}

static gboolean
lay_out (Layout *l, const DynoHtmlPlot *plot)
{
  guint longest = 0;
  double limit = plot->y_limit;
  Range r;

  *l = (Layout){ .plot = plot };
  if (!find_range (plot, &r))
    return FALSE;
  l->most = r.y1;
  if (limit > r.y1 && limit <= FAR * r.y1)
    r.y1 = limit;
  if (limit < r.y0)
    r.y0 = limit;
  if (plot->y_from_zero || plot->diagonal)
    r.y0 = MIN (r.y0, 0);
  if (plot->diagonal)
    {
      r.x0 = MIN (r.x0, 0);
      r.x1 = r.y1 = MAX (r.x1, r.y1);
    }
  dyno_axis_init (&l->y, r.y0, r.y1, 6, FALSE, TRUE, plot->y_whole ? 1 : 0);
  if (plot->diagonal)
    l->x = l->y;
  else if (plot->x_axis == DYNO_HTML_AXIS_LINEAR)
    dyno_axis_init (&l->x, r.x0, r.x1, 7, FALSE, FALSE, 0);
  else
    dyno_axis_init (&l->x, transform (plot, r.x0), transform (plot, r.x1), 7, FALSE, FALSE, 1);
  if (plot->x_axis == DYNO_HTML_AXIS_DOUBLED && !plot->diagonal)
    tick_doubled (l);
  else
    {
      memcpy (l->x_ticks, l->x.ticks, sizeof l->x_ticks);
      l->n_x_ticks = l->x.n_ticks;
    }
  for (guint i = 0; i < l->y.n_ticks; i++)
    {
      g_autofree char *text = format_y (l, l->y.ticks[i]);
      longest = MAX (longest, (guint) g_utf8_strlen (text, -1));
    }
  l->left = 18 + CHARACTER * longest;
  l->top = TOP + ROW * plot->n_marks;
  return TRUE;
}

/* --- drawing ----------------------------------------------------------------------------------- */

static void
draw_axes (GString *html, const Layout *l)
{
  double bottom = HEIGHT - BOTTOM, last = -INFINITY;

  for (guint i = 0; i < l->y.n_ticks; i++)
    {
      g_autofree char *text = format_y (l, l->y.ticks[i]);
      double y = at_y (l, l->y.ticks[i]);

      line (html, i == 0 ? "axis" : "grid", l->left, y, WIDTH - RIGHT, y);
      label (html, "tick end", l->left - 6, y + 4, text);
    }
  for (guint i = 0; i < l->n_x_ticks; i++)
    {
      g_autofree char *text = format_x (l, l->x_ticks[i]);
      double x = at_x (l, l->x_ticks[i]), half = CHARACTER * (double) g_utf8_strlen (text, -1) / 2;

      line (html, "axis", x, bottom, x, bottom + 4);
      if (x - half < last + 4)
        continue;
      label (html, "tick middle", x, bottom + 17, text);
      last = x + half;
    }
  label (html, "name middle", (l->left + WIDTH - RIGHT) / 2, HEIGHT - 6, l->plot->x_label);
}

/* The label is at the left, where rising curves do not cover it. */
static void
draw_limit (GString *html, const Layout *l)
{
  const DynoHtmlPlot *plot = l->plot;
  double y;

  if (!isfinite (plot->y_limit) || !plot->y_limit_label)
    return;
  if (plot->y_limit > l->y.high)
    {
      g_autofree char *text = g_strconcat (plot->y_limit_label, " ↑", NULL);
      label (html, "limit", l->left + 6, l->top + 12, text);
      return;
    }
  y = at_y (l, plot->y_limit);
  line (html, "limit", l->left, y, WIDTH - RIGHT, y);
  label (html, "limit", l->left + 6, y < l->top + 12 ? y + 15 : y - 6, plot->y_limit_label);
}

/* Each mark has its own row above the values, so that texts never overlap. */
static void
draw_marks (GString *html, const Layout *l)
{
  for (guint i = 0; i < l->plot->n_marks; i++)
    {
      const DynoHtmlMark *mark = &l->plot->marks[i];
      double x = at_x (l, mark->x), y = TOP + ROW * i;
      gboolean right = x < (l->left + WIDTH - RIGHT) / 2;

      line (html, "mark", x, y - 8, x, HEIGHT - BOTTOM);
      label (html, right ? "mark" : "mark end", right ? x + 5 : x - 5, y, mark->label);
    }
}

static void
draw_line (GString *html, const Layout *l, const DynoHtmlSeries *series)
{
  char x[G_ASCII_DTOSTR_BUF_SIZE], y[G_ASCII_DTOSTR_BUF_SIZE];
  gboolean begun = FALSE, gap = TRUE;

  for (guint i = 0; i < series->n; i++)
    {
      const DynoHtmlPoint *point = &series->points[i];

      if (!is_shown (point))
        {
          gap = TRUE;
          continue;
        }
      if (!begun)
        g_string_append_printf (html, "<path class=\"line c%u\" d=\"",
                                series->colour % DYNO_HTML_COLOURS);
      g_string_append_printf (html, "%s%s %s", gap ? "M" : "L",
                              g_ascii_formatd (x, sizeof x, "%.2f", at_x (l, point->x)),
                              g_ascii_formatd (y, sizeof y, "%.2f", at_y (l, point->y)));
      begun = TRUE;
      gap = FALSE;
    }
  if (begun)
    g_string_append (html, "\"/>");
}

static void
draw_dot (GString *html, const Layout *l, const DynoHtmlSeries *series, const DynoHtmlPoint *point)
{
  guint colour = series->colour % DYNO_HTML_COLOURS;
  double x = at_x (l, point->x), y = at_y (l, point->y);
  g_autofree char *x_text = point->x == floor (point->x) && fabs (point->x) < 1e5
                                ? g_strdup_printf ("%.0f", point->x)
                                : dyno_axis_format_value (point->x),
                  *y_text = dyno_axis_format_value (point->y), *class = NULL;

  if (has_interval (point))
    {
      class = g_strdup_printf ("interval c%u", colour);
      line (html, class, x, at_y (l, point->low), x, at_y (l, point->high));
    }
  g_string_append_printf (html, "<circle class=\"%s c%u\" r=\"4\"",
                          series->hollow ? "hollow" : "dot", colour);
  put (html, "cx", x);
  put (html, "cy", y);
  dyno_html_printf (html, "><title>%s: %s; %s: %s", l->plot->x_label, x_text, l->plot->y_label,
                    y_text);
  if (has_interval (point))
    {
      g_autofree char *low = dyno_axis_format_value (point->low),
                      *high = dyno_axis_format_value (point->high);
      dyno_html_printf (html, " (%s – %s)", low, high);
    }
  if (point->note)
    dyno_html_printf (html, "; %s", point->note);
  g_string_append (html, "</title></circle>");
}

static void
draw_legend (GString *html, const DynoHtmlPlot *plot)
{
  guint named = 0;

  for (guint s = 0; s < plot->n_series; s++)
    named += plot->series[s].name != NULL && plot->series[s].n > 0;
  if (named == 0 || (plot->n_series < 2 && !plot->diagonal))
    return;
  g_string_append (html, "<p class=\"legend\">");
  for (guint s = 0; s < plot->n_series; s++)
    {
      const DynoHtmlSeries *series = &plot->series[s];
      guint colour = series->colour % DYNO_HTML_COLOURS;

      if (!series->name || series->n == 0)
        continue;
      g_string_append (html, "<span><svg class=\"key\" viewBox=\"0 0 22 10\">");
      if (series->line)
        g_string_append_printf (html, "<path class=\"line c%u\" d=\"M0 5L22 5\"/>", colour);
      if (series->dots)
        g_string_append_printf (html, "<circle class=\"%s c%u\" cx=\"11\" cy=\"5\" r=\"4\"/>",
                                series->hollow ? "hollow" : "dot", colour);
      dyno_html_printf (html, "</svg>%s</span>", series->name);
    }
  g_string_append (html, "</p>");
}

static void
draw_values (GString *html, const Layout *l)
{
  const DynoHtmlPlot *plot = l->plot;

  if (plot->diagonal)
    line (html, "diagonal", at_x (l, l->x.low), at_y (l, l->y.low), at_x (l, l->x.high),
          at_y (l, l->y.high));
  for (guint s = 0; s < plot->n_series; s++)
    if (plot->series[s].line)
      draw_line (html, l, &plot->series[s]);
  for (guint s = 0; s < plot->n_series; s++)
    if (plot->series[s].dots && plot->series[s].n <= MANY_DOTS)
      for (guint i = 0; i < plot->series[s].n; i++)
        if (is_shown (&plot->series[s].points[i]))
          draw_dot (html, l, &plot->series[s], &plot->series[s].points[i]);
}

void
dyno_html_plot (GString *html, const DynoHtmlPlot *plot)
{
  Layout l;

  if (!lay_out (&l, plot))
    return;
  dyno_html_printf (html,
                    "<figure><figcaption><b>%s</b><span class=\"unit\">%s</span></figcaption>",
                    plot->title, plot->y_label);
  draw_legend (html, plot);
  g_string_append_printf (html, "<svg class=\"plot\" viewBox=\"0 0 %d %d\" role=\"img\"", WIDTH,
                          HEIGHT);
  dyno_html_printf (html, " aria-label=\"%s\">", plot->title);
  draw_axes (html, &l);
  draw_values (html, &l);
  draw_limit (html, &l);
  draw_marks (html, &l);
  g_string_append (html, "</svg>");
  if (plot->caption)
    dyno_html_printf (html, "<p class=\"caption\">%s</p>", plot->caption);
  g_string_append (html, "</figure>\n");
}
