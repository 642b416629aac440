/* SPDX-License-Identifier: MIT */
/* Draws the lines of a plot, through at most one column per pixel (series.h). */
#include "draw-private.h"
#include "range.h"
#include "steep.h"
#include <math.h>

#define MAX_COLUMNS 4096
/* Cairo processes all bars of a path in each row of pixels, so a few paths with many bars each are
 * slower. */
#define MAX_BARS 32
/* A line that goes up and down by more pixels than this in each pixel of width is drawn by
 * steep.c. */
#define STEEP 4.0
/* The opacity of the area below a line, at the top and at the bottom. */
#define FILL_TOP    0.16
#define FILL_BOTTOM 0.02

/* TRUE for PDF and SVG, in which pixels are not known yet, and a line that is drawn in parts has
 * visible seams. */
static gboolean
is_vector (const DynoPlotLayout *l)
{
  cairo_surface_type_t type = cairo_surface_get_type (cairo_get_target (l->cr));

  return type == CAIRO_SURFACE_TYPE_PDF || type == CAIRO_SURFACE_TYPE_SVG;
}

/* Continues the path through the extent of a column from its first point to its last, by the
 * shorter way, since a part that is passed twice is stroked twice.  Returns the length of the
 * way. */
static double
trace_extent (const DynoPlotLayout *l, const DynoColumn *c, double x, double floor_value)
{
  gboolean falls = c->y_first > c->y_last;
  double ends[] = { falls ? c->y_max : c->y_min, falls ? c->y_min : c->y_max, c->y_last },
         before = c->y_first, from = dyno_plot_to_y (l, MAX (before, floor_value)), tall = 0.0;

  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    if (ends[i] != before)
      {
        double y = dyno_plot_to_y (l, MAX (ends[i], floor_value));

        cairo_line_to (l->cr, x, y);
        tall += fabs (y - from);
        before = ends[i];
        from = y;
      }
  return tall;
}

/* Adds a path through the extents of all columns; a gap interrupts the line.  Returns the vertical
 * length of the path. */
static double
trace (const DynoPlotLayout *l, const DynoColumn *columns, guint n)
{
  gboolean open = FALSE;
  double floor_value = l->ya.log ? l->ya.low * 1e-3 : -INFINITY, tall = 0.0, before = 0.0;

  for (guint i = 0; i < n; i++)
    {
      const DynoColumn *c = &columns[i];
      double x = dyno_plot_to_x (l, c->x), y;

      if (c->count == 0 || (l->ya.log && c->y_max <= 0.0))
        {
          open = FALSE;
          continue;
        }
      y = dyno_plot_to_y (l, MAX (c->y_first, floor_value));
      if (!open)
        cairo_move_to (l->cr, x, y);
      else
        cairo_line_to (l->cr, x, y);
      tall += open ? fabs (y - before) : 0.0;
      if (c->count > 1)
        tall += trace_extent (l, c, x, floor_value);
      before = dyno_plot_to_y (l, MAX (c->y_last, floor_value));
      open = TRUE;
    }
  return tall;
}

/* For more points than pixels: one upright bar per column, from its least to its greatest value,
 * stretched to meet its neighbour.  On device pixels and without antialiasing this costs a tenth of
 * stroking the same zigzag. */
static void
fill_bars (const DynoPlotLayout *l, const DynoColumn *columns, guint n, double width)
{
  double last = NAN, bar = 1.0 / l->scale, thick = MAX (width, bar);
  guint at_once = is_vector (l) ? n : MAX_BARS;

  cairo_save (l->cr);
  cairo_set_antialias (l->cr, CAIRO_ANTIALIAS_NONE);
  for (guint i = 0; i < n; i++)
    {
      const DynoColumn *c = &columns[i];
      double x = floor (dyno_plot_to_x (l, c->x) * l->scale) / l->scale, next = x + bar, top,
             bottom;

      if (c->count == 0 || (l->ya.log && c->y_max <= 0.0))
        {
          last = NAN;
          continue;
        }
      if (i + 1 < n)
        next = MAX (floor (dyno_plot_to_x (l, columns[i + 1].x) * l->scale) / l->scale, next);
      top = dyno_plot_to_y (l, c->y_max);
      bottom = l->ya.log && c->y_min <= 0.0 ? l->y + l->h : dyno_plot_to_y (l, c->y_min);
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
      if (i % at_once == at_once - 1)
        cairo_fill (l->cr);
      last = l->ya.log && c->y_last <= 0.0 ? NAN : dyno_plot_to_y (l, c->y_last);
    }
  cairo_fill (l->cr);
  cairo_restore (l->cr);
}

/* Merges pairs of neighbours, but not across a gap; returns the number of columns that remain. */
static guint
join_pairs (DynoColumn *columns, guint n)
{
  guint left = 0;

  for (guint i = 0; i < n; i++)
    {
      DynoColumn c = columns[i];
      if (i + 1 < n && c.count > 0 && columns[i + 1].count > 0)
        {
          const DynoColumn *next = &columns[++i];
          c.x = (c.x + next->x) / 2;
          c.y_min = MIN (c.y_min, next->y_min);
          c.y_max = MAX (c.y_max, next->y_max);
          c.y_last = next->y_last;
          c.count += next->count;
          c.points += next->points;
        }
      columns[left++] = c;
    }
  return left;
}

/* Draws the line through the columns by the method that suits their number.  smooth: dense columns
 * are merged in pairs, since half as many show the same. */
static void
draw_columns (const DynoPlotLayout *l, DynoColumn *columns, guint n, double width, gboolean smooth)
{
  guint64 points = 0;
  gboolean dense = n > l->w / 2;

  for (guint i = 0; i < n; i++)
    points += columns[i].count;
  if (n > 2 && points > (guint64) n * (dense && !smooth ? 1 : 2))
    {
      fill_bars (l, columns, n, width);
      return;
    }
  /* Where segments are as short as the line is wide, corners are not visible, and round joins are
   * the most expensive. */
  if (dense)
    {
      cairo_set_line_join (l->cr, CAIRO_LINE_JOIN_BEVEL);
      n = smooth ? join_pairs (columns, n) : n;
    }
  cairo_set_line_width (l->cr, width);
  if (trace (l, columns, n) > STEEP * l->w && !is_vector (l) && cairo_get_dash_count (l->cr) == 0)
    dyno_plot_steep_stroke (l, width);
  else
    cairo_stroke (l->cr);
  cairo_set_line_join (l->cr, CAIRO_LINE_JOIN_ROUND);
}

/* The area is faint, so that fewer corners suffice. */
static void
fill_below (const DynoPlotLayout *l, const DynoColumn *columns, guint n, const DynoColour *colour)
{
  g_autofree double *x = g_new (double, n + 1), *y = g_new (double, n + 1);
  double tall = 0.0;
  guint n_corners = 0;

  for (guint i = 0; i < n; i += i + 1 < n ? MIN (MAX (n / 256, 1), n - 1 - i) : 1)
    {
      if (columns[i].count == 0 || (l->ya.log && columns[i].y_max <= 0.0))
        continue;
      x[n_corners] = dyno_plot_to_x (l, columns[i].x);
      y[n_corners] = dyno_plot_to_y (l, columns[i].y_max);
      tall += n_corners > 0 ? fabs (y[n_corners] - y[n_corners - 1]) : 0.0;
      n_corners++;
    }
  if (tall > STEEP * l->w && !is_vector (l))
    dyno_plot_steep_fill (l, x, y, n_corners, colour, FILL_TOP, FILL_BOTTOM);
  else if (n_corners > 0)
    {
      cairo_pattern_t *pattern = cairo_pattern_create_linear (0.0, l->y, 0.0, l->y + l->h);

      cairo_pattern_add_color_stop_rgba (pattern, 0.0, colour->red, colour->green, colour->blue,
                                         FILL_TOP);
      cairo_pattern_add_color_stop_rgba (pattern, 1.0, colour->red, colour->green, colour->blue,
                                         FILL_BOTTOM);
      cairo_move_to (l->cr, x[0], l->y + l->h);
      for (guint i = 0; i < n_corners; i++)
        cairo_line_to (l->cr, x[i], y[i]);
      cairo_line_to (l->cr, x[n_corners - 1], l->y + l->h);
      cairo_close_path (l->cr);
      cairo_set_source (l->cr, pattern);
      cairo_fill (l->cr);
      cairo_pattern_destroy (pattern);
    }
}

static void
draw_points (const DynoPlotLayout *l, const DynoColumn *columns, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      if (columns[i].count == 0 || (l->ya.log && columns[i].y_last <= 0.0))
        continue;
      cairo_new_sub_path (l->cr);
      cairo_arc (l->cr, dyno_plot_to_x (l, columns[i].x), dyno_plot_to_y (l, columns[i].y_last),
                 3.0, 0.0, 2 * G_PI);
    }
  cairo_fill (l->cr);
}

/* Draws a smoothed line of more points than pixels with dashes: through the middles of the columns,
 * since bars have no dashes. */
static void
draw_middles (const DynoPlotLayout *l, DynoColumn *columns, guint n, double width)
{
  for (guint i = 0; i < n; i++)
    if (columns[i].count > 1)
      {
        double y = (columns[i].y_min + columns[i].y_max) / 2;
        if (l->ya.log && columns[i].y_min > 0.0)
          y = sqrt (columns[i].y_min * columns[i].y_max);
        columns[i].y_min = columns[i].y_max = columns[i].y_first = columns[i].y_last = y;
        columns[i].count = 1;
      }
  cairo_set_line_width (l->cr, width);
  trace (l, columns, n);
  cairo_stroke (l->cr);
}

void
dyno_plot_draw_line (const DynoPlotLayout *l, guint index, gboolean filled)
{
  const DynoPlotLine *line = &l->plot->lines[index];
  guint n_columns = (guint) CLAMP (l->w * l->scale, 16.0, MAX_COLUMNS);
  g_autofree DynoColumn *columns = g_new (DynoColumn, n_columns + 4);
  const DynoColour *colour = dyno_plot_line_colour (l, index);
  gboolean smooth =
      l->plot->smoothing > 0.0 && !line->points && dyno_series_get_length (line->series) > 2;
  guint n = dyno_plot_columns (line, line->series, l->xa.low, l->xa.high, n_columns, columns);
  double width = line->width > 0.0            ? line->width
                 : l->theme->line_width > 0.0 ? l->theme->line_width
                                              : 1.5;

  cairo_set_line_join (l->cr, CAIRO_LINE_JOIN_ROUND);
  cairo_set_line_cap (l->cr, CAIRO_LINE_CAP_ROUND);
  if (smooth)
    {
      const DynoSeries *smoothed = dyno_series_smoothed (line->series, l->plot->smoothing);

      dyno_plot_set_colour (l->cr, colour, 0.28);
      draw_columns (l, columns, n, 1.0, FALSE);
      n = dyno_plot_columns (line, smoothed, l->xa.low, l->xa.high, n_columns, columns);
      width = MAX (width, 1.8);
    }
  if (filled)
    fill_below (l, columns, n, colour);
  dyno_plot_set_colour (l->cr, colour, 1.0);
  dyno_plot_set_dash (l, index);
  if (smooth && cairo_get_dash_count (l->cr) > 0)
    draw_middles (l, columns, n, width);
  else
    draw_columns (l, columns, n, width, smooth);
  cairo_set_dash (l->cr, NULL, 0, 0.0);
  if (line->points || n == 1)
    draw_points (l, columns, n);
}

void
dyno_plot_mark_gaps (const DynoPlotLayout *l, guint index)
{
  const DynoPlotLine *line = &l->plot->lines[index];
  guint n_columns = (guint) CLAMP (l->w / 8.0, 4.0, 512);
  g_autofree DynoColumn *columns = g_new (DynoColumn, n_columns + 4);
  guint n = dyno_plot_columns (line, line->series, l->xa.low, l->xa.high, n_columns, columns);
  double size = l->theme->font_size * 0.3, y = l->y + l->h - size - 2.0;

  dyno_plot_set_colour (l->cr, &l->theme->lines[4], 1.0);
  cairo_set_line_width (l->cr, MAX (l->theme->line_width, 1.6));
  for (guint i = 0; i < n; i++)
    {
      double x = dyno_plot_to_x (l, columns[i].x);

      if (columns[i].count >= columns[i].points)
        continue;
      cairo_move_to (l->cr, x - size, y - size);
      cairo_line_to (l->cr, x + size, y + size);
      cairo_move_to (l->cr, x - size, y + size);
      cairo_line_to (l->cr, x + size, y - size);
    }
  cairo_stroke (l->cr);
}

void
dyno_plot_mark_clipped (const DynoPlotLayout *l, guint index)
{
  const DynoPlotLine *line = &l->plot->lines[index];
  guint n_columns = (guint) CLAMP (l->w / 8.0, 4.0, 512);
  g_autofree DynoColumn *columns = g_new (DynoColumn, n_columns + 4);
  guint n = dyno_plot_columns (line, line->series, l->xa.low, l->xa.high, n_columns, columns);
  double size = l->theme->font_size * 0.4, bottom = l->y + l->h;

  dyno_plot_set_colour (l->cr, dyno_plot_line_colour (l, index), 1.0);
  for (guint i = 0; i < n; i++)
    {
      double x = dyno_plot_to_x (l, columns[i].x);

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
