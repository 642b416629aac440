/* SPDX-License-Identifier: MIT */
/* One plot with Cairo.  Lines are drawn through at most one column a pixel (series.h), hairlines
 * lie on device pixels, and everything is placed from the measured size of its text, so that long
 * translations move things and clip nothing. */
#include "draw.h"
#include "axis.h"
#include "range.h"
#include <math.h>

#define PADDING     10.0
#define MAX_COLUMNS 4096

const DynoPlotTheme dyno_plot_theme_light = {
  .background = { 1.0, 1.0, 1.0, 1.0 },
  .foreground = { 0.12, 0.13, 0.15, 1.0 },
  .grid = { 0.0, 0.0, 0.0, 0.09 },
  .muted = { 0.38, 0.40, 0.44, 1.0 },
  .lines = { { 0.11, 0.44, 0.85, 1.0 },
             { 0.90, 0.38, 0.00, 1.0 },
             { 0.15, 0.60, 0.30, 1.0 },
             { 0.57, 0.25, 0.67, 1.0 },
             { 0.76, 0.11, 0.16, 1.0 },
             { 0.39, 0.27, 0.17, 1.0 },
             { 0.00, 0.55, 0.60, 1.0 },
             { 0.45, 0.47, 0.50, 1.0 } },
  .font_size = 11.0,
  .font = "sans-serif",
};

const DynoPlotTheme dyno_plot_theme_dark = {
  .background = { 0.14, 0.14, 0.15, 1.0 },
  .foreground = { 0.95, 0.95, 0.96, 1.0 },
  .grid = { 1.0, 1.0, 1.0, 0.10 },
  .muted = { 0.68, 0.69, 0.72, 1.0 },
  .lines = { { 0.47, 0.73, 1.00, 1.0 },
             { 1.00, 0.66, 0.30, 1.0 },
             { 0.45, 0.85, 0.53, 1.0 },
             { 0.83, 0.60, 0.93, 1.0 },
             { 1.00, 0.50, 0.48, 1.0 },
             { 0.80, 0.67, 0.52, 1.0 },
             { 0.35, 0.83, 0.86, 1.0 },
             { 0.70, 0.72, 0.75, 1.0 } },
  .font_size = 11.0,
  .font = "sans-serif",
};

typedef struct {
  const DynoPlot *plot;
  const DynoPlotTheme *theme;
  cairo_t *cr;
  double scale;      /* device pixels per unit */
  double x, y, w, h; /* of the axes */
  double labels;     /* width that this plot's own need beside them */
  DynoAxis xa, ya;
  gboolean empty;
} Layout;

static void
set_colour (cairo_t *cr, const DynoColour *colour, double alpha)
{
  cairo_set_source_rgba (cr, colour->red, colour->green, colour->blue, colour->alpha * alpha);
}

static double
text_width (cairo_t *cr, const char *text)
{
  cairo_text_extents_t extents;
  cairo_text_extents (cr, text, &extents);
  return extents.x_advance;
}

static void
set_font (cairo_t *cr, const DynoPlotTheme *theme, double factor, gboolean bold)
{
  cairo_select_font_face (cr, theme->font, CAIRO_FONT_SLANT_NORMAL,
                          bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size (cr, theme->font_size * factor);
}

/* A coordinate moved to the middle of a device pixel, so that a line of one pixel is sharp. */
static double
sharp (const Layout *l, double value)
{
  return (floor (value * l->scale) + 0.5) / l->scale;
}

static double
to_x (const Layout *l, double value)
{
  return l->x + dyno_axis_position (&l->xa, value) * l->w;
}

static double
to_y (const Layout *l, double value)
{
  return l->y + l->h - dyno_axis_position (&l->ya, value) * l->h;
}

static void
layout_y_axis (Layout *l, double y0, double y1, double x0, double x1)
{
  const DynoPlot *plot = l->plot;
  const DynoPlotTheme *theme = l->theme;
  gboolean log = plot->y_log;

  if (log)
    {
      y0 = dyno_plot_least_positive (plot, x0, x1);
      log = isfinite (y0) && y1 > 0.0;
    }
  if (!log && isfinite (plot->y_limit) && plot->y_limit <= y1 * 6.0)
    y1 = MAX (y1, plot->y_limit * 1.02);
  if (!log && plot->y_from_zero)
    y0 = MIN (y0, 0.0);
  if (log)
    {
      double margin = pow (MAX (y1 / y0, 1.1), 0.04);
      dyno_axis_init (&l->ya, y0 / margin, y1 * margin,
                      (guint) MAX (l->h / (theme->font_size * 2.4), 2.0), TRUE, FALSE, 0);
    }
  else
    dyno_axis_init (&l->ya, y0, y1, (guint) MAX (l->h / (theme->font_size * 3.4), 2.0), FALSE, TRUE,
                    0);
}

static void
layout (Layout *l, double width, double height)
{
  const DynoPlotTheme *theme = l->theme;
  DynoPlotRange r = { 0.0, 1.0, 0.0, 1.0 };
  double line = theme->font_size * 1.35, labels = 0.0;

  l->empty = !dyno_plot_range (l->plot, &r);
  l->y = PADDING + line * 1.45;
  l->h = MAX (height - l->y - line * 1.3 - PADDING, 10.0);
  layout_y_axis (l, r.y0, r.y1, r.x0, r.x1);

  set_font (l->cr, theme, 0.9, FALSE);
  for (guint i = 0; i < l->ya.n_ticks; i++)
    {
      g_autofree char *text = dyno_axis_format (&l->ya, l->ya.ticks[i]);
      labels = MAX (labels, text_width (l->cr, text));
    }
  l->labels = MAX (labels, theme->font_size * 2.9);
  labels = MAX (l->labels, l->plot->label_width);
  l->x = PADDING + labels + 7.0;
  l->w = MAX (width - l->x - PADDING * 1.6, 10.0);
  dyno_axis_init (&l->xa, r.x0, MAX (r.x1, r.x0 + (l->plot->x0 < l->plot->x1 ? 0.0 : 1.0)),
                  (guint) MAX (l->w / (theme->font_size * 6), 2.0), FALSE, FALSE,
                  l->plot->x_whole ? 1 : 0);
}

static void
draw_grid (const Layout *l)
{
  cairo_t *cr = l->cr;

  cairo_set_line_width (cr, 1.0 / l->scale);
  set_font (cr, l->theme, 0.9, FALSE);
  for (guint i = 0; i < l->ya.n_ticks; i++)
    {
      g_autofree char *text = dyno_axis_format (&l->ya, l->ya.ticks[i]);
      double y = sharp (l, to_y (l, l->ya.ticks[i]));
      set_colour (cr, &l->theme->grid, 1.0);
      cairo_move_to (cr, l->x, y);
      cairo_line_to (cr, l->x + l->w, y);
      cairo_stroke (cr);
      set_colour (cr, &l->theme->muted, 1.0);
      cairo_move_to (cr, l->x - 7.0 - text_width (cr, text), y + l->theme->font_size * 0.32);
      cairo_show_text (cr, text);
    }
  for (guint i = 0; i < l->xa.n_ticks; i++)
    {
      g_autofree char *text = dyno_axis_format (&l->xa, l->xa.ticks[i]);
      double x = to_x (l, l->xa.ticks[i]), w = text_width (cr, text);
      set_colour (cr, &l->theme->muted, 1.0);
      cairo_move_to (cr, CLAMP (x - w / 2, l->x, l->x + l->w - w),
                     l->y + l->h + l->theme->font_size * 1.35);
      cairo_show_text (cr, text);
    }
  if (l->plot->x_label)
    {
      double w = text_width (cr, l->plot->x_label);
      double last = l->xa.n_ticks ? to_x (l, l->xa.ticks[l->xa.n_ticks - 1]) + 30.0 : l->x;
      if (last + w + 8.0 < l->x + l->w)
        {
          cairo_move_to (cr, l->x + l->w - w, l->y + l->h + l->theme->font_size * 1.35);
          cairo_show_text (cr, l->plot->x_label);
        }
    }
}

/* Follows the columns: down and up through each column's extent, on to the next; a gap breaks the
 * line. */
static void
trace (const Layout *l, const DynoColumn *columns, guint n)
{
  gboolean open = FALSE;
  double floor_value = l->ya.log ? l->ya.low * 1e-3 : -INFINITY;

  for (guint i = 0; i < n; i++)
    {
      const DynoColumn *c = &columns[i];
      double x = to_x (l, c->x);

      if (c->count == 0 || (l->ya.log && c->y_max <= 0.0))
        {
          open = FALSE;
          continue;
        }
      if (!open)
        cairo_move_to (l->cr, x, to_y (l, MAX (c->y_first, floor_value)));
      else
        cairo_line_to (l->cr, x, to_y (l, MAX (c->y_first, floor_value)));
      if (c->count > 1)
        {
          cairo_line_to (l->cr, x, to_y (l, MAX (c->y_min, floor_value)));
          cairo_line_to (l->cr, x, to_y (l, MAX (c->y_max, floor_value)));
          cairo_line_to (l->cr, x, to_y (l, MAX (c->y_last, floor_value)));
        }
      open = TRUE;
    }
}

/* More points than pixels: one upright bar a column from its least to its greatest value, stretched
 * to meet its neighbour.  On device pixels and without antialiasing this costs a tenth of stroking
 * the same zigzag. */
static void
fill_bars (const Layout *l, const DynoColumn *columns, guint n, double width)
{
  double last = NAN, bar = 1.0 / l->scale, thick = MAX (width, bar);

  cairo_save (l->cr);
  cairo_set_antialias (l->cr, CAIRO_ANTIALIAS_NONE);
  for (guint i = 0; i < n; i++)
    {
      const DynoColumn *c = &columns[i];
      double x = floor (to_x (l, c->x) * l->scale) / l->scale, next = x + bar, top, bottom;

      if (c->count == 0 || (l->ya.log && c->y_max <= 0.0))
        {
          last = NAN;
          continue;
        }
      if (i + 1 < n)
        next = MAX (floor (to_x (l, columns[i + 1].x) * l->scale) / l->scale, next);
      top = to_y (l, c->y_max);
      bottom = l->ya.log && c->y_min <= 0.0 ? l->y + l->h : to_y (l, c->y_min);
      if (isfinite (last))
        {
          top = MIN (top, last);
          bottom = MAX (bottom, last);
        }
      if (bottom - top < thick)
        {
          double middle = (top + bottom) / 2;
          top = middle - thick / 2;
          bottom = middle + thick / 2;
        }
      cairo_rectangle (l->cr, x, top, next - x, bottom - top);
      last = l->ya.log && c->y_last <= 0.0 ? NAN : to_y (l, c->y_last);
    }
  cairo_fill (l->cr);
  cairo_restore (l->cr);
}

/* The line through the columns, by whichever way suits their number. */
static void
draw_columns (const Layout *l, const DynoColumn *columns, guint n, double width)
{
  guint64 points = 0;

  for (guint i = 0; i < n; i++)
    points += columns[i].count;
  if (n > 2 && points > 2 * (guint64) n)
    {
      fill_bars (l, columns, n, width);
      return;
    }
  cairo_set_line_width (l->cr, width);
  trace (l, columns, n);
  cairo_stroke (l->cr);
}

static void
fill_below (const Layout *l, const DynoColumn *columns, guint n, const DynoColour *colour)
{
  cairo_pattern_t *pattern = cairo_pattern_create_linear (0.0, l->y, 0.0, l->y + l->h);
  gboolean open = FALSE;
  double last_x = l->x;

  cairo_pattern_add_color_stop_rgba (pattern, 0.0, colour->red, colour->green, colour->blue, 0.16);
  cairo_pattern_add_color_stop_rgba (pattern, 1.0, colour->red, colour->green, colour->blue, 0.02);
  for (guint i = 0; i < n; i++)
    {
      if (columns[i].count == 0 || (l->ya.log && columns[i].y_max <= 0.0))
        continue;
      last_x = to_x (l, columns[i].x);
      if (!open)
        cairo_move_to (l->cr, last_x, l->y + l->h);
      open = TRUE;
      cairo_line_to (l->cr, last_x, to_y (l, columns[i].y_max));
    }
  if (open)
    {
      cairo_line_to (l->cr, last_x, l->y + l->h);
      cairo_close_path (l->cr);
      cairo_set_source (l->cr, pattern);
      cairo_fill (l->cr);
    }
  cairo_new_path (l->cr);
  cairo_pattern_destroy (pattern);
}

static void
draw_points (const Layout *l, const DynoColumn *columns, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      if (columns[i].count == 0 || (l->ya.log && columns[i].y_last <= 0.0))
        continue;
      cairo_new_sub_path (l->cr);
      cairo_arc (l->cr, to_x (l, columns[i].x), to_y (l, columns[i].y_last), 3.0, 0.0, 2 * G_PI);
    }
  cairo_fill (l->cr);
}

static void
draw_line (const Layout *l, const DynoPlotLine *line, gboolean filled)
{
  guint n_columns = (guint) CLAMP (l->w * l->scale, 16.0, MAX_COLUMNS);
  g_autofree DynoColumn *columns = g_new (DynoColumn, n_columns + 4);
  const DynoColour *colour = &l->theme->lines[line->colour % G_N_ELEMENTS (l->theme->lines)];
  gboolean smooth =
      l->plot->smoothing > 0.0 && !line->points && dyno_series_get_length (line->series) > 2;
  guint n = dyno_series_columns (line->series, l->xa.low, l->xa.high, n_columns, columns);
  double width = line->width > 0.0 ? line->width : 1.5;

  cairo_set_line_join (l->cr, CAIRO_LINE_JOIN_ROUND);
  cairo_set_line_cap (l->cr, CAIRO_LINE_CAP_ROUND);
  if (smooth)
    {
      set_colour (l->cr, colour, 0.28);
      draw_columns (l, columns, n, 1.0);
      n = dyno_series_columns (dyno_series_smoothed (line->series, l->plot->smoothing), l->xa.low,
                               l->xa.high, n_columns, columns);
      width = MAX (width, 1.8);
    }
  if (filled)
    fill_below (l, columns, n, colour);
  set_colour (l->cr, colour, 1.0);
  draw_columns (l, columns, n, width);
  if (line->points || n == 1)
    draw_points (l, columns, n);
}

/* Small triangles at the edge where a line goes on outside of the robust range. */
static void
mark_clipped (const Layout *l, const DynoPlotLine *line)
{
  guint n_columns = (guint) CLAMP (l->w / 8.0, 4.0, 512);
  g_autofree DynoColumn *columns = g_new (DynoColumn, n_columns + 4);
  guint n = dyno_series_columns (line->series, l->xa.low, l->xa.high, n_columns, columns);
  double size = l->theme->font_size * 0.4, bottom = l->y + l->h;

  set_colour (l->cr, &l->theme->lines[line->colour % G_N_ELEMENTS (l->theme->lines)], 1.0);
  for (guint i = 0; i < n; i++)
    {
      double x = to_x (l, columns[i].x);

      if (columns[i].count == 0)
        continue;
      if (columns[i].y_max > l->ya.high)
        {
          cairo_move_to (l->cr, x, l->y);
          cairo_rel_line_to (l->cr, -size, 1.6 * size);
          cairo_rel_line_to (l->cr, 2 * size, 0);
          cairo_close_path (l->cr);
        }
      if (columns[i].y_min < l->ya.low)
        {
          cairo_move_to (l->cr, x, bottom);
          cairo_rel_line_to (l->cr, -size, -1.6 * size);
          cairo_rel_line_to (l->cr, 2 * size, 0);
          cairo_close_path (l->cr);
        }
    }
  cairo_fill (l->cr);
}

static void
draw_limit (const Layout *l)
{
  const DynoPlot *plot = l->plot;
  static const double dash[] = { 5.0, 4.0 };
  const DynoColour *colour = &l->theme->lines[4];
  double y;

  if (!isfinite (plot->y_limit) || plot->y_limit < l->ya.low || plot->y_limit > l->ya.high)
    return;
  y = sharp (l, to_y (l, plot->y_limit));
  cairo_save (l->cr);
  cairo_set_dash (l->cr, dash, 2, 0.0);
  cairo_set_line_width (l->cr, 1.0);
  set_colour (l->cr, colour, 0.9);
  cairo_move_to (l->cr, l->x, y);
  cairo_line_to (l->cr, l->x + l->w, y);
  cairo_stroke (l->cr);
  cairo_restore (l->cr);
  if (plot->y_limit_label)
    {
      double text_y = y + l->theme->font_size * 1.1;
      set_font (l->cr, l->theme, 0.9, FALSE);
      set_colour (l->cr, colour, 1.0);
      cairo_move_to (l->cr, l->x + l->w - text_width (l->cr, plot->y_limit_label) - 4.0,
                     text_y > l->y + l->h - 2.0 ? y - 4.0 : text_y);
      cairo_show_text (l->cr, plot->y_limit_label);
    }
}

static void
draw_title (const Layout *l, double width)
{
  const DynoPlot *plot = l->plot;
  cairo_t *cr = l->cr;
  double x = PADDING, baseline = PADDING + l->theme->font_size, right = width - PADDING * 1.6;

  set_font (cr, l->theme, 1.08, TRUE);
  set_colour (cr, &l->theme->foreground, 1.0);
  if (plot->title)
    {
      cairo_move_to (cr, x, baseline);
      cairo_show_text (cr, plot->title);
      x += text_width (cr, plot->title) + 8.0;
    }
  set_font (cr, l->theme, 0.92, FALSE);
  if (plot->y_label)
    {
      set_colour (cr, &l->theme->muted, 1.0);
      cairo_move_to (cr, x, baseline);
      cairo_show_text (cr, plot->y_label);
      x += text_width (cr, plot->y_label) + 12.0;
    }
  if (plot->n_lines < 2)
    return;
  for (guint i = plot->n_lines; i-- > 0;)
    {
      const char *name = dyno_series_get_name (plot->lines[i].series);
      double w = text_width (cr, name);
      if (right - w - 16.0 < x)
        return;
      right -= w;
      set_colour (cr, &l->theme->foreground, 0.9);
      cairo_move_to (cr, right, baseline);
      cairo_show_text (cr, name);
      right -= 10.0;
      set_colour (cr, &l->theme->lines[plot->lines[i].colour % 8], 1.0);
      cairo_arc (cr, right + 1.0, baseline - l->theme->font_size * 0.33, 3.5, 0.0, 2 * G_PI);
      cairo_fill (cr);
      right -= 14.0;
    }
}

static void
rounded_box (cairo_t *cr, double x, double y, double w, double h, double r)
{
  cairo_new_sub_path (cr);
  cairo_arc (cr, x + w - r, y + r, r, -G_PI / 2, 0.0);
  cairo_arc (cr, x + w - r, y + h - r, r, 0.0, G_PI / 2);
  cairo_arc (cr, x + r, y + h - r, r, G_PI / 2, G_PI);
  cairo_arc (cr, x + r, y + r, r, G_PI, 1.5 * G_PI);
  cairo_close_path (cr);
}

typedef struct {
  char *text;
  guint colour;
} Readout;

static void
draw_readout (const Layout *l, double x, const char *head, const Readout *rows, guint n)
{
  cairo_t *cr = l->cr;
  double line = l->theme->font_size * 1.4, w, h = line * (n + 1) + 8.0, left, top = l->y + 6.0;

  set_font (cr, l->theme, 0.92, FALSE);
  w = text_width (cr, head);
  for (guint i = 0; i < n; i++)
    w = MAX (w, text_width (cr, rows[i].text) + 12.0);
  w += 18.0;
  left = x + 12.0 + w > l->x + l->w ? x - 12.0 - w : x + 12.0;
  rounded_box (cr, sharp (l, left), sharp (l, top), w, h, 5.0);
  set_colour (cr, &l->theme->background, 0.93);
  cairo_fill_preserve (cr);
  set_colour (cr, &l->theme->grid, 2.0);
  cairo_set_line_width (cr, 1.0 / l->scale);
  cairo_stroke (cr);
  set_colour (cr, &l->theme->muted, 1.0);
  cairo_move_to (cr, left + 9.0, top + line);
  cairo_show_text (cr, head);
  for (guint i = 0; i < n; i++)
    {
      double y = top + line * (i + 2);
      set_colour (cr, &l->theme->lines[rows[i].colour % 8], 1.0);
      cairo_arc (cr, left + 12.0, y - l->theme->font_size * 0.33, 3.0, 0.0, 2 * G_PI);
      cairo_fill (cr);
      set_colour (cr, &l->theme->foreground, 1.0);
      cairo_move_to (cr, left + 21.0, y);
      cairo_show_text (cr, rows[i].text);
    }
}

static void
draw_cursor (const Layout *l)
{
  const DynoPlot *plot = l->plot;
  Readout rows[8];
  guint n = 0;
  double x, head_x = plot->cursor_x;
  g_autofree char *value_text = NULL, *head = NULL;

  if (!isfinite (plot->cursor_x) || plot->cursor_x < l->xa.low || plot->cursor_x > l->xa.high)
    return;
  for (guint i = 0; i < plot->n_lines && n < G_N_ELEMENTS (rows); i++)
    {
      DynoSeries *series = plot->lines[i].series;
      double px, py;
      g_autofree char *text = NULL;

      if (dyno_series_get_length (series) == 0)
        continue;
      dyno_series_get (series, dyno_series_nearest (series, plot->cursor_x), &px, &py);
      if (i == 0)
        head_x = px;
      text = dyno_axis_format_value (py);
      rows[n++] = (Readout){ g_strdup_printf ("%s  %s %s", dyno_series_get_name (series), text,
                                              dyno_series_get_unit (series)),
                             plot->lines[i].colour };
      if (isfinite (py) && px >= l->xa.low && px <= l->xa.high && (!l->ya.log || py > 0.0))
        {
          set_colour (l->cr, &l->theme->lines[plot->lines[i].colour % 8], 1.0);
          cairo_arc (l->cr, to_x (l, px), to_y (l, py), 4.0, 0.0, 2 * G_PI);
          cairo_fill (l->cr);
        }
    }
  x = sharp (l, to_x (l, head_x));
  set_colour (l->cr, &l->theme->muted, 0.7);
  cairo_set_line_width (l->cr, 1.0 / l->scale);
  cairo_move_to (l->cr, x, l->y);
  cairo_line_to (l->cr, x, l->y + l->h);
  cairo_stroke (l->cr);
  value_text = g_strdup_printf ("%.10g", head_x);
  head = g_strdup_printf ("%s %s", plot->x_label ? plot->x_label : "", value_text);
  draw_readout (l, x, head, rows, n);
  for (guint i = 0; i < n; i++)
    g_free (rows[i].text);
}

void
dyno_plot_draw (cairo_t *cr, const DynoPlot *plot, const DynoPlotTheme *theme, double width,
                double height, double device_scale)
{
  Layout l = {
    .plot = plot, .theme = theme, .cr = cr, .scale = device_scale > 0.0 ? device_scale : 1.0
  };

  cairo_save (cr);
  set_colour (cr, &theme->background, 1.0);
  cairo_rectangle (cr, 0.0, 0.0, width, height);
  cairo_fill (cr);
  layout (&l, width, height);
  draw_title (&l, width);
  if (l.empty)
    {
      set_font (cr, theme, 1.0, FALSE);
      set_colour (cr, &theme->muted, 1.0);
      if (plot->empty)
        {
          cairo_move_to (cr, (width - text_width (cr, plot->empty)) / 2, l.y + l.h / 2);
          cairo_show_text (cr, plot->empty);
        }
      cairo_restore (cr);
      return;
    }

  draw_grid (&l);
  cairo_save (cr);
  cairo_rectangle (cr, l.x, l.y - 2.0, l.w + 4.0, l.h + 3.0);
  cairo_clip (cr);
  for (guint i = 0; i < plot->n_lines; i++)
    draw_line (&l, &plot->lines[i], i == 0);
  for (guint i = 0; plot->robust && !l.ya.log && i < plot->n_lines; i++)
    mark_clipped (&l, &plot->lines[i]);
  draw_limit (&l);
  draw_cursor (&l);
  cairo_restore (cr);
  cairo_restore (cr);
}

double
dyno_plot_label_width (const DynoPlot *plot, const DynoPlotTheme *theme, double width,
                       double height)
{
  cairo_surface_t *surface = cairo_recording_surface_create (CAIRO_CONTENT_ALPHA, NULL);
  Layout l = { .plot = plot, .theme = theme, .cr = cairo_create (surface), .scale = 1.0 };

  layout (&l, width, height);
  cairo_destroy (l.cr);
  cairo_surface_destroy (surface);
  return l.labels;
}

double
dyno_plot_x_at (const DynoPlot *plot, const DynoPlotTheme *theme, double width, double height,
                double pixel_x)
{
  cairo_surface_t *surface = cairo_recording_surface_create (CAIRO_CONTENT_ALPHA, NULL);
  Layout l = { .plot = plot, .theme = theme, .cr = cairo_create (surface), .scale = 1.0 };
  double value = NAN;

  layout (&l, width, height);
  if (!l.empty && pixel_x >= l.x - 1.0 && pixel_x <= l.x + l.w + 1.0)
    value = dyno_axis_value (&l.xa, CLAMP ((pixel_x - l.x) / l.w, 0.0, 1.0));
  cairo_destroy (l.cr);
  cairo_surface_destroy (surface);
  return value;
}
