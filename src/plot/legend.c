/* SPDX-License-Identifier: MIT */
/* Draws the texts of a plot: title, unit, the names of its lines, and the values at the cursor. */
#include "draw-private.h"
#include "range.h"
#include <math.h>

#define MOST_ROWS 16
#define FAINT     0.35 /* opacity of the name of a hidden line */

#define NAME_GAP     14.0 /* between two names */
#define NAME_ROW     1.55 /* height of a row of names, in font sizes */
#define FEW_ROWS     3    /* rows below the title for which no name is cut */
#define LEAST_NAME   7.0  /* width to which names are cut at most, in font sizes */
#define MOST_COLUMNS 6

/* The place of a line's name, and of the sample before it. */
typedef struct {
  gboolean shown;
  guint row; /* 0: beside the title */
  double from, to;
  double room; /* of the text; less than its width: it is cut */
} PlacedName;

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

const char *
dyno_plot_line_name (const DynoPlotLine *line)
{
  return line->name ? line->name : dyno_series_get_name (line->series);
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

/* The right end of the names beside the title; below it there is no button. */
static double
find_names_end (const DynoPlotLayout *l, double width, guint row)
{
  return width - DYNO_PLOT_PADDING * 1.6 - (row == 0 ? l->plot->title_room : 0.0);
}

static double
name_width (const DynoPlotLayout *l, guint line)
{
  return dyno_plot_text_width (l, DYNO_PLOT_TEXT_LABEL,
                               dyno_plot_line_name (&l->plot->lines[line]));
}

/* Places the names beside the title, the last at the right end; FALSE: there is no room. */
static gboolean
place_beside_title (const DynoPlotLayout *l, double width, const double *widths, PlacedName *names)
{
  double left = find_title_end (l), right = find_names_end (l, width, 0);

  for (guint i = l->plot->n_lines; i-- > 0;)
    {
      double w = widths[i] + sample_width (l, i);

      if (l->plot->lines[i].unnamed)
        continue;
      if (right - w - 5.0 < left)
        return FALSE;
      names[i] = (PlacedName){ .shown = TRUE, .from = right - w, .to = right, .room = widths[i] };
      right -= w + NAME_GAP;
    }
  return TRUE;
}

/* Places the names in rows below the title; names wider than most are cut.  Returns the number of
 * rows. */
static guint
place_below_title (const DynoPlotLayout *l, double width, const double *widths, double most,
                   PlacedName *names)
{
  double x = DYNO_PLOT_PADDING, right = find_names_end (l, width, 1);
  guint row = 1;

  for (guint i = 0; i < l->plot->n_lines; i++)
    {
      double sample = sample_width (l, i), room = MIN (widths[i], MAX (most - sample, 0.0));

      if (l->plot->lines[i].unnamed)
        continue;
      if (x > DYNO_PLOT_PADDING && x + sample + room > right + 0.5)
        {
          x = DYNO_PLOT_PADDING;
          row++;
        }
      names[i] = (PlacedName){
        .shown = TRUE, .row = row, .from = x, .to = x + sample + room, .room = room
      };
      x = names[i].to + NAME_GAP;
    }
  return row;
}

/* Places the name of each line that has one, with its sample before it: beside the title where all
 * names have room there, else in rows below it.  Long names are cut where they would need many
 * rows.  Returns the number of rows below the title; *names has n_lines elements, g_free. */
static guint
place_names (const DynoPlotLayout *l, double width, PlacedName **names)
{
  guint n = l->plot->n_lines, rows = 0;
  g_autofree double *widths = g_new0 (double, MAX (n, 1));
  double row = find_names_end (l, width, 1) - DYNO_PLOT_PADDING;

  *names = g_new0 (PlacedName, MAX (n, 1));
  if (n < 2)
    return 0;
  for (guint i = 0; i < n; i++)
    widths[i] = l->plot->lines[i].unnamed ? 0.0 : name_width (l, i);
  if (place_beside_title (l, width, widths, *names))
    return 0;
  for (guint columns = 1; columns <= MOST_COLUMNS; columns++)
    {
      double most = (row - (columns - 1) * NAME_GAP) / columns;

      if (columns > 1 && most < LEAST_NAME * l->theme->font_size)
        break;
      rows = place_below_title (l, width, widths, most, *names);
      if (rows <= FEW_ROWS)
        break;
    }
  return rows;
}

double
dyno_plot_measure_names (const DynoPlotLayout *l, double width)
{
  g_autofree PlacedName *names = NULL;

  return place_names (l, width, &names) * NAME_ROW * l->theme->font_size;
}

/* The text with its end replaced by an ellipsis, so that it is at most `room` wide; g_free. */
static char *
cut_name (const DynoPlotLayout *l, const char *text, double room)
{
  glong low = 0, high = g_utf8_strlen (text, -1);

  while (low < high)
    {
      glong middle = (low + high + 1) / 2;
      g_autofree char *start = g_utf8_substring (text, 0, middle),
                      *cut = g_strconcat (start, "…", NULL);

      if (dyno_plot_text_width (l, DYNO_PLOT_TEXT_LABEL, cut) <= room)
        low = middle;
      else
        high = middle - 1;
    }
  g_autofree char *start = g_utf8_substring (text, 0, low);
  return g_strconcat (g_strchomp (start), "…", NULL);
}

static void
draw_names (const DynoPlotLayout *l, double width, double baseline)
{
  g_autofree PlacedName *names = NULL;

  place_names (l, width, &names);
  for (guint i = 0; i < l->plot->n_lines; i++)
    {
      const DynoPlotLine *line = &l->plot->lines[i];
      const char *name = dyno_plot_line_name (line);
      double y = baseline + names[i].row * NAME_ROW * l->theme->font_size,
             alpha = line->hidden ? FAINT : 1.0;
      g_autofree char *cut = NULL;

      if (!names[i].shown)
        continue;
      if (name_width (l, i) > names[i].room + 0.5)
        cut = cut_name (l, name, names[i].room);
      dyno_plot_set_colour (l->cr, &l->theme->foreground, 0.9 * alpha);
      dyno_plot_text_show (l, DYNO_PLOT_TEXT_LABEL, names[i].from + sample_width (l, i), y,
                           cut ? cut : name);
      draw_sample (l, i, names[i].from, y, alpha);
    }
}

int
dyno_plot_find_name (const DynoPlotLayout *l, double width, double x, double y, gboolean *is_cut)
{
  g_autofree PlacedName *names = NULL;
  guint rows = place_names (l, width, &names);
  double tall = NAME_ROW * l->theme->font_size, below = y - dyno_plot_title_bottom (l->theme);
  int row = below < 0.0 ? 0 : 1 + (int) (below / tall);

  for (guint i = 0; row <= (int) rows && i < l->plot->n_lines; i++)
    if (names[i].shown && names[i].row == (guint) row && x >= names[i].from - 6.0
        && x < names[i].to + 6.0)
      {
        *is_cut = name_width (l, i) > names[i].room + 0.5;
        return (int) i;
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

/* The displayed x of the line's point that is nearest to x; NaN: the line has none, or is hidden. */
static double
find_nearest (const DynoPlotLine *line, double x)
{
  double at, y;

  if (line->hidden || dyno_series_get_length (line->series) == 0)
    return NAN;
  dyno_series_get (line->series,
                   dyno_series_nearest (line->series, dyno_plot_unmap_x (line->x_map, x)), &at, &y);
  return dyno_plot_map_x (line->x_map, at);
}

double
dyno_plot_find_cursor (const DynoPlot *plot, double x)
{
  double nearest = NAN;

  for (guint i = 0; i < plot->n_lines; i++)
    {
      double at = find_nearest (&plot->lines[i], x);

      if (isfinite (at) && !(fabs (at - x) >= fabs (nearest - x)))
        nearest = at;
    }
  return nearest;
}

static char *
format_x (const DynoPlot *plot, double x)
{
  g_autofree char *value = plot->x_time    ? dyno_axis_format_time (x, 1.0)
                           : plot->x_log   ? dyno_axis_format_value (x)
                           : plot->x_whole ? g_strdup_printf ("%.10g", x)
                                           : g_strdup_printf ("%.2f", x);
  return g_strdup_printf ("%s %s", plot->x_label ? plot->x_label : "", value);
}

/* Marks the point nearest to the cursor, and fills its row of the read-out, with its own x where
 * that is another one; FALSE: there is none. */
static gboolean
take_point (const DynoPlotLayout *l, guint index, double at, Row *row)
{
  const DynoPlotLine *line = &l->plot->lines[index];
  DynoSeries *series = line->series;
  g_autofree char *text = NULL;
  const char *unit = dyno_series_get_unit (series);
  GString *words;
  double x, y, smoothed;

  if (line->hidden || dyno_series_get_length (series) == 0)
    return FALSE;
  dyno_series_get (series,
                   dyno_series_nearest (series, dyno_plot_unmap_x (line->x_map, l->plot->cursor_x)),
                   &x, &y);
  smoothed = dyno_plot_get_smoothed (l->plot, index, x);
  x = dyno_plot_map_x (line->x_map, x);
  text = isfinite (y) || !line->mark_gaps ? dyno_axis_format_measure (y, unit) : g_strdup ("NaN");
  words = g_string_new (dyno_plot_line_name (line));
  g_string_append_printf (words, "  %s%s%s", text, unit && *unit ? " " : "", unit ? unit : "");
  if (isfinite (smoothed) && l->plot->smoothed_word)
    {
      g_autofree char *value = dyno_axis_format_measure (smoothed, unit);
      g_string_append_printf (words, ", %s %s", l->plot->smoothed_word, value);
    }
  if (fabs (dyno_plot_to_x (l, x) - dyno_plot_to_x (l, at)) >= 1.0)
    {
      g_autofree char *other = format_x (l->plot, x);
      g_string_append_printf (words, " (%s)", other);
    }
  *row = (Row){ g_string_free (words, FALSE), index };
  if (isfinite (y) && x >= l->xa.low && x <= l->xa.high && y <= l->ya.high && y >= l->ya.low)
    {
      dyno_plot_set_colour (l->cr, dyno_plot_line_colour (l, index), 1.0);
      cairo_arc (l->cr, dyno_plot_to_x (l, x), dyno_plot_to_y (l, y), 4.0, 0.0, 2 * G_PI);
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
  double at = plot->cursor_x, nearest, x;
  g_autofree char *head = NULL;

  if (!isfinite (at) || at < l->xa.low || at > l->xa.high)
    return;
  nearest = dyno_plot_find_cursor (plot, at);
  if (nearest >= l->xa.low && nearest <= l->xa.high)
    at = nearest;
  for (guint i = 0; i < plot->n_lines && n < MOST_ROWS; i++)
    n += take_point (l, i, at, &rows[n]) ? 1 : 0;
  x = dyno_plot_sharp (l, dyno_plot_to_x (l, at));
  dyno_plot_set_colour (l->cr, &l->theme->muted, 0.7);
  cairo_set_line_width (l->cr, 1.0 / l->scale);
  cairo_move_to (l->cr, x, l->y);
  cairo_line_to (l->cr, x, l->y + l->h);
  cairo_stroke (l->cr);
  head = format_x (plot, at);
  draw_rows (l, x, head, rows, n);
  for (guint i = 0; i < n; i++)
    g_free (rows[i].text);
}
