/* SPDX-License-Identifier: MIT */
/* Draws the texts of a plot: title, unit, the names of its lines, and the values at the cursor. */
#include "draw-private.h"
#include "range.h"
#include <math.h>

#define MOST_ROWS 16
#define FAINT     0.35 /* opacity of the name of a hidden line */

/* Draws a sample of a line at x: a dot in its colour, or a short line with its dashes. */
static void
draw_sample (const DynoPlotLayout *l, guint line, double x, double baseline, double alpha)
{
  double y = baseline - l->theme->font_size * 0.33;
  gboolean dashed = l->theme->dashed || l->plot->lines[line].dash > 0;

  dyno_plot_set_colour (l->cr, dyno_plot_line_colour (l, line), alpha);
  if (!dashed)
    {
      cairo_arc (l->cr, x + 3.5, y, 3.5, 0.0, 2 * G_PI);
      cairo_fill (l->cr);
      return;
    }
  cairo_save (l->cr);
  cairo_set_line_width (l->cr, MAX (l->theme->line_width, 2.0));
  dyno_plot_set_dash (l, line);
  cairo_move_to (l->cr, x, y);
  cairo_line_to (l->cr, x + 22.0, y);
  cairo_stroke (l->cr);
  cairo_restore (l->cr);
}

static double
sample_width (const DynoPlotLayout *l, guint line)
{
  return l->theme->dashed || l->plot->lines[line].dash > 0 ? 28.0 : 11.0;
}

/* The x at which title and unit end. */
static double
find_title_end (const DynoPlotLayout *l)
{
  const DynoPlot *plot = l->plot;
  double x = DYNO_PLOT_PADDING;

  if (plot->title)
    x += dyno_plot_text_width (l, DYNO_PLOT_TEXT_TITLE, plot->title) + 8.0;
  if (plot->y_label)
    x += dyno_plot_text_width (l, DYNO_PLOT_TEXT_LABEL, plot->y_label) + 12.0;
  return x;
}

/* Places the name of a line, with its sample before it, from *from to *to; names are placed from
 * right to left, as far as there is room.  left: the end of title and unit; *right: the beginning
 * of the name placed before, and first the right end of all names.  FALSE: there is no room, or no
 * name. */
static gboolean
place_name (const DynoPlotLayout *l, guint line, double left, double *right, double *from,
            double *to)
{
  const DynoPlotLine *one = &l->plot->lines[line];
  double w = dyno_plot_text_width (l, DYNO_PLOT_TEXT_LABEL, dyno_series_get_name (one->series)),
         sample = sample_width (l, line);

  if (one->unnamed || *right - w - sample - 5.0 < left)
    return FALSE;
  *to = *right;
  *from = *right - w - sample;
  *right = *from - 12.0;
  return TRUE;
}

static double
find_names_end (const DynoPlotLayout *l, double width)
{
  return width - DYNO_PLOT_PADDING * 1.6 - l->plot->title_room;
}

static void
draw_names (const DynoPlotLayout *l, double width, double baseline)
{
  double left = find_title_end (l), right = find_names_end (l, width), from, to, alpha;

  for (guint i = l->plot->n_lines; i-- > 0;)
    {
      const DynoPlotLine *line = &l->plot->lines[i];

      if (!place_name (l, i, left, &right, &from, &to))
        {
          if (line->unnamed)
            continue;
          return;
        }
      alpha = line->hidden ? FAINT : 1.0;
      dyno_plot_set_colour (l->cr, &l->theme->foreground, 0.9 * alpha);
      dyno_plot_text_show (l, DYNO_PLOT_TEXT_LABEL, from + sample_width (l, i), baseline,
                           dyno_series_get_name (line->series));
      draw_sample (l, i, from, baseline, alpha);
    }
}

int
dyno_plot_find_name (const DynoPlotLayout *l, double width, double x)
{
  double left = find_title_end (l), right = find_names_end (l, width), from, to;

  for (guint i = l->plot->n_lines; l->plot->n_lines > 1 && i-- > 0;)
    {
      if (place_name (l, i, left, &right, &from, &to))
        {
          if (x >= from - 6.0 && x < to + 6.0)
            return (int) i;
        }
      else if (!l->plot->lines[i].unnamed)
        break;
    }
  return -1;
}

void
dyno_plot_draw_title (const DynoPlotLayout *l, double width)
{
  const DynoPlot *plot = l->plot;
  double x = DYNO_PLOT_PADDING, baseline = DYNO_PLOT_PADDING + l->theme->font_size;

  dyno_plot_set_colour (l->cr, &l->theme->foreground, 1.0);
  if (plot->title)
    {
      dyno_plot_text_show (l, DYNO_PLOT_TEXT_TITLE, x, baseline, plot->title);
      x += dyno_plot_text_width (l, DYNO_PLOT_TEXT_TITLE, plot->title) + 8.0;
    }
  if (plot->y_label)
    {
      dyno_plot_set_colour (l->cr, &l->theme->muted, 1.0);
      dyno_plot_text_show (l, DYNO_PLOT_TEXT_LABEL, x, baseline, plot->y_label);
    }
  if (plot->n_lines > 1)
    draw_names (l, width, baseline);
}

/* --- the values at the cursor ------------------------------------------------------------------- */

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
  guint line;
} Row;

static void
draw_rows (const DynoPlotLayout *l, double x, const char *head, const Row *rows, guint n)
{
  cairo_t *cr = l->cr;
  double line = l->theme->font_size * 1.4, w, h = line * (n + 1) + 8.0, left, sample = 0.0;
  double top = MAX (MIN (l->y + 6.0, l->y + l->h - h), 2.0);

  w = dyno_plot_text_width (l, DYNO_PLOT_TEXT_LABEL, head);
  for (guint i = 0; i < n; i++)
    sample = MAX (sample, sample_width (l, rows[i].line));
  for (guint i = 0; i < n; i++)
    w = MAX (w, dyno_plot_text_width (l, DYNO_PLOT_TEXT_LABEL, rows[i].text) + sample);
  w += 18.0;
  left = x + 12.0 + w > l->x + l->w ? x - 12.0 - w : x + 12.0;
  left = MAX (left, 2.0);
  rounded_box (cr, dyno_plot_sharp (l, left), dyno_plot_sharp (l, top), w, h, 5.0);
  dyno_plot_set_colour (cr, &l->theme->background, 0.93);
  cairo_fill_preserve (cr);
  dyno_plot_set_colour (cr, &l->theme->grid, 2.0);
  cairo_set_line_width (cr, 1.0 / l->scale);
  cairo_stroke (cr);
  dyno_plot_set_colour (cr, &l->theme->muted, 1.0);
  dyno_plot_text_show (l, DYNO_PLOT_TEXT_LABEL, left + 9.0, top + line, head);
  for (guint i = 0; i < n; i++)
    {
      double y = top + line * (i + 2);

      draw_sample (l, rows[i].line, left + 9.0, y, 1.0);
      dyno_plot_set_colour (cr, &l->theme->foreground, 1.0);
      dyno_plot_text_show (l, DYNO_PLOT_TEXT_LABEL, left + 9.0 + sample, y, rows[i].text);
    }
}

double
dyno_plot_get_smoothed (const DynoPlot *plot, guint line, double x)
{
  DynoSeries *series = plot->lines[line].series;
  const DynoSeries *smoothed;
  double at, y;

  if (!(plot->smoothing > 0.0) || plot->lines[line].points || dyno_series_get_length (series) <= 2)
    return NAN;
  smoothed = dyno_series_smoothed (series, plot->smoothing);
  dyno_series_get (smoothed, dyno_series_nearest (smoothed, x), &at, &y);
  return y;
}

/* Marks the point nearest to the cursor, and fills its row of the read-out; FALSE: there is
 * none. */
static gboolean
take_point (const DynoPlotLayout *l, guint index, Row *row, double *x)
{
  const DynoPlotLine *line = &l->plot->lines[index];
  DynoSeries *series = line->series;
  g_autofree char *text = NULL;
  const char *unit = dyno_series_get_unit (series);
  GString *words;
  double y, smoothed;

  if (line->hidden || dyno_series_get_length (series) == 0)
    return FALSE;
  dyno_series_get (series,
                   dyno_series_nearest (series, dyno_plot_unmap_x (line->x_map, l->plot->cursor_x)),
                   x, &y);
  smoothed = dyno_plot_get_smoothed (l->plot, index, *x);
  *x = dyno_plot_map_x (line->x_map, *x);
  text = isfinite (y) || !line->mark_gaps ? dyno_axis_format_measure (y, unit) : g_strdup ("NaN");
  words = g_string_new (dyno_series_get_name (series));
  g_string_append_printf (words, "  %s%s%s", text, unit && *unit ? " " : "", unit ? unit : "");
  if (isfinite (smoothed) && l->plot->smoothed_word)
    {
      g_autofree char *value = dyno_axis_format_measure (smoothed, unit);
      g_string_append_printf (words, ", %s %s", l->plot->smoothed_word, value);
    }
  *row = (Row){ g_string_free (words, FALSE), index };
  if (isfinite (y) && *x >= l->xa.low && *x <= l->xa.high && y <= l->ya.high && y >= l->ya.low)
    {
      dyno_plot_set_colour (l->cr, dyno_plot_line_colour (l, index), 1.0);
      cairo_arc (l->cr, dyno_plot_to_x (l, *x), dyno_plot_to_y (l, y), 4.0, 0.0, 2 * G_PI);
      cairo_fill (l->cr);
    }
  return TRUE;
}

void
dyno_plot_draw_cursor (const DynoPlotLayout *l)
{
  const DynoPlot *plot = l->plot;
  Row rows[MOST_ROWS];
  guint n = 0;
  double at = plot->cursor_x, x, px;
  g_autofree char *value = NULL, *head = NULL;

  if (!isfinite (at) || at < l->xa.low || at > l->xa.high)
    return;
  for (guint i = 0; i < plot->n_lines && n < MOST_ROWS; i++)
    if (take_point (l, i, &rows[n], &px))
      {
        /* The first line is the densest: the cursor is placed on its points. */
        if (n == 0 && px >= l->xa.low && px <= l->xa.high)
          at = px;
        n++;
      }
  x = dyno_plot_sharp (l, dyno_plot_to_x (l, at));
  dyno_plot_set_colour (l->cr, &l->theme->muted, 0.7);
  cairo_set_line_width (l->cr, 1.0 / l->scale);
  cairo_move_to (l->cr, x, l->y);
  cairo_line_to (l->cr, x, l->y + l->h);
  cairo_stroke (l->cr);
  value = plot->x_time    ? dyno_axis_format_time (at, 1.0)
          : plot->x_log   ? dyno_axis_format_value (at)
          : plot->x_whole ? g_strdup_printf ("%.10g", at)
                          : g_strdup_printf ("%.2f", at);
  head = g_strdup_printf ("%s %s", plot->x_label ? plot->x_label : "", value);
  draw_rows (l, x, head, rows, n);
  for (guint i = 0; i < n; i++)
    g_free (rows[i].text);
}
