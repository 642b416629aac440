/* SPDX-License-Identifier: MIT */
/* Draws one plot with Cairo.  Hairlines are aligned to device pixels, and the layout follows the
 * measured size of the texts, so that long translations are not clipped. */
#include "draw-private.h"
#include "range.h"
#include "span.h"
#include <math.h>

/* --- text, colours, places ---------------------------------------------------------------------- */

static const struct {
  double size; /* relative to the theme's */
  gboolean bold;
} styles[] = { { 0.9, FALSE }, { 0.92, FALSE }, { 1.0, FALSE }, { 1.08, TRUE } };

static double
put_text (const DynoPlotLayout *l, DynoPlotText style, const char *text, gboolean show)
{
  const DynoPlotTheme *theme = l->theme;
  double size = theme->font_size * styles[style].size;
  cairo_text_extents_t extents;

  if (theme->text)
    return theme->text (l->cr, theme, text, size, styles[style].bold, show);
  cairo_select_font_face (l->cr, theme->font, CAIRO_FONT_SLANT_NORMAL,
                          styles[style].bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size (l->cr, size);
  cairo_text_extents (l->cr, text, &extents);
  if (show)
    cairo_show_text (l->cr, text);
  return extents.x_advance;
}

double
dyno_plot_text_width (const DynoPlotLayout *l, DynoPlotText style, const char *text)
{
  return put_text (l, style, text, FALSE);
}

void
dyno_plot_text_show (const DynoPlotLayout *l, DynoPlotText style, double x, double y,
                     const char *text)
{
  cairo_move_to (l->cr, x, y);
  put_text (l, style, text, TRUE);
  cairo_new_path (l->cr);
}

void
dyno_plot_set_colour (cairo_t *cr, const DynoColour *colour, double alpha)
{
  cairo_set_source_rgba (cr, colour->red, colour->green, colour->blue, colour->alpha * alpha);
}

const DynoColour *
dyno_plot_line_colour (const DynoPlotLayout *l, guint line)
{
  return &l->theme->lines[l->plot->lines[line].colour % G_N_ELEMENTS (l->theme->lines)];
}

/* Distinguishes lines without colours, by dashes, dots or both. */
void
dyno_plot_set_dash (const DynoPlotLayout *l, guint line)
{
  static const double patterns[][6] = {
    { 0 }, { 7, 4 }, { 1.5, 3.5 }, { 9, 3, 1.5, 3 }, { 14, 5 }, { 7, 3, 1.5, 3, 1.5, 3 },
  };
  static const int lengths[] = { 0, 2, 2, 4, 2, 6 };
  guint dash = l->plot->lines[line].dash;

  if (dash == 0 && l->theme->dashed)
    dash = line;
  dash %= G_N_ELEMENTS (patterns);
  cairo_set_dash (l->cr, patterns[dash], lengths[dash], 0.0);
}

double
dyno_plot_sharp (const DynoPlotLayout *l, double value)
{
  return (floor (value * l->scale) + 0.5) / l->scale;
}

double
dyno_plot_to_x (const DynoPlotLayout *l, double value)
{
  return l->x + dyno_axis_position (&l->xa, value) * l->w;
}

double
dyno_plot_to_y (const DynoPlotLayout *l, double value)
{
  return l->y + l->h - dyno_axis_position (&l->ya, value) * l->h;
}

/* --- axes --------------------------------------------------------------------------------------- */

static void
layout_y_axis (DynoPlotLayout *l, double y0, double y1, double x0, double x1)
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
                      (guint) CLAMP (l->h / (theme->font_size * 2.4), 2.0, 8.0), TRUE, FALSE, 0);
    }
  else
    dyno_axis_init (&l->ya, y0, y1, (guint) CLAMP (l->h / (theme->font_size * 2.4), 2.0, 8.0),
                    FALSE, TRUE, 0);
}

double
dyno_plot_title_bottom (const DynoPlotTheme *theme)
{
  return DYNO_PLOT_PADDING + theme->font_size * 1.35 * 1.45;
}

static double
axis_name_width (const DynoPlotLayout *l)
{
  const char *name = l->plot->x_label;

  return name && *name ? dyno_plot_text_width (l, DYNO_PLOT_TEXT_TICK, name) : 0.0;
}

static void
layout (DynoPlotLayout *l, double width, double height)
{
  const DynoPlotTheme *theme = l->theme;
  DynoPlotRange r = { 0.0, 1.0, 0.0, 1.0 };
  double line = theme->font_size * 1.35, labels = 0.0;

  l->empty = !dyno_plot_range (l->plot, &r);
  l->y = dyno_plot_title_bottom (theme) + dyno_plot_measure_names (l, width);
  l->h = MAX (height - l->y - line * 1.3 - DYNO_PLOT_PADDING, 10.0);
  layout_y_axis (l, r.y0, r.y1, r.x0, r.x1);

  for (guint i = 0; i < l->ya.n_ticks; i++)
    {
      g_autofree char *text = dyno_axis_format (&l->ya, l->ya.ticks[i]);
      labels = MAX (labels, dyno_plot_text_width (l, DYNO_PLOT_TEXT_TICK, text));
    }
  if (axis_name_width (l) < width / 4)
    labels = MAX (labels, axis_name_width (l));
  l->labels = MAX (labels, theme->font_size * 2.9);
  labels = MAX (l->labels, l->plot->label_width);
  l->x = DYNO_PLOT_PADDING + labels + 7.0;
  l->w = MAX (width - l->x - DYNO_PLOT_PADDING * 1.6, 10.0);
  if (!(l->plot->x0 < l->plot->x1) && l->plot->x_whole)
    r.x1 = MAX (r.x1, r.x0 + 1.0);
  if (l->plot->x_time)
    dyno_axis_init_time (&l->xa, r.x0, r.x1, (guint) MAX (l->w / (theme->font_size * 6), 2.0));
  else
    dyno_axis_init (&l->xa, r.x0, r.x1, (guint) MAX (l->w / (theme->font_size * 6), 2.0),
                    l->plot->x_log, FALSE, l->plot->x_whole ? 1 : 0);
}

static void
draw_y_axis (const DynoPlotLayout *l)
{
  cairo_t *cr = l->cr;

  cairo_set_line_width (cr, 1.0 / l->scale);
  for (guint i = 0; i < l->ya.n_ticks; i++)
    {
      g_autofree char *text = dyno_axis_format (&l->ya, l->ya.ticks[i]);
      double y = dyno_plot_sharp (l, dyno_plot_to_y (l, l->ya.ticks[i]));

      dyno_plot_set_colour (cr, &l->theme->grid, 1.0);
      cairo_move_to (cr, l->x, y);
      cairo_line_to (cr, l->x + l->w, y);
      cairo_stroke (cr);
      dyno_plot_set_colour (cr, &l->theme->muted, 1.0);
      dyno_plot_text_show (l, DYNO_PLOT_TEXT_TICK,
                           l->x - 7.0 - dyno_plot_text_width (l, DYNO_PLOT_TEXT_TICK, text),
                           y + l->theme->font_size * 0.32, text);
    }
}

/* The axis' name is before the labels of its ticks, below those of the y axis.  A name that is too
 * wide for a narrow plot is at the right end, and ticks that it would cover have no label. */
static void
draw_x_axis (const DynoPlotLayout *l)
{
  double baseline = l->y + l->h + l->theme->font_size * 1.35, right = l->x + l->w, free_from = l->x,
         most = right + DYNO_PLOT_PADDING * 1.6 - 2.0, name = axis_name_width (l);

  dyno_plot_set_colour (l->cr, &l->theme->muted, 1.0);
  if (name > 0.0 && name <= l->x - 7.0)
    dyno_plot_text_show (l, DYNO_PLOT_TEXT_TICK, l->x - 7.0 - name, baseline, l->plot->x_label);
  else if (name > 0.0 && name < l->w / 3)
    {
      dyno_plot_text_show (l, DYNO_PLOT_TEXT_TICK, right - name, baseline, l->plot->x_label);
      most = right - name - 10.0;
    }
  for (guint i = 0; i < l->xa.n_ticks; i++)
    {
      g_autofree char *text = dyno_axis_format (&l->xa, l->xa.ticks[i]);
      double w = dyno_plot_text_width (l, DYNO_PLOT_TEXT_TICK, text);
      double x = MAX (MIN (dyno_plot_to_x (l, l->xa.ticks[i]) - w / 2, most - w), l->x);

      if (x < free_from || x + w > most)
        continue;
      dyno_plot_text_show (l, DYNO_PLOT_TEXT_TICK, x, baseline, text);
      free_from = x + w + 6.0;
    }
}

/* Marks the visible part of the whole span, like a scroll bar. */
static void
draw_span (const DynoPlotLayout *l)
{
  const double tall = 3.0;
  DynoPlotSpan all;
  double x0, x1, y = l->y + l->h + 1.0;

  if (!(l->plot->x0 < l->plot->x1) || !dyno_plot_extent (l->plot, &all)
      || dyno_plot_span_is_all (all))
    return;
  x0 = CLAMP ((l->plot->x0 - all.x0) / (all.x1 - all.x0), 0.0, 1.0);
  x1 = CLAMP ((l->plot->x1 - all.x0) / (all.x1 - all.x0), 0.0, 1.0);
  if (x0 <= 0.0 && x1 >= 1.0)
    return;
  dyno_plot_set_colour (l->cr, &l->theme->grid, 1.0);
  cairo_rectangle (l->cr, l->x, y, l->w, tall);
  cairo_fill (l->cr);
  dyno_plot_set_colour (l->cr, &l->theme->muted, 0.8);
  cairo_rectangle (l->cr, l->x + x0 * l->w, y, MAX ((x1 - x0) * l->w, 6.0), tall);
  cairo_fill (l->cr);
}

static void
draw_limit (const DynoPlotLayout *l)
{
  const DynoPlot *plot = l->plot;
  static const double dash[] = { 5.0, 4.0 };
  const DynoColour *colour = &l->theme->lines[4];
  double y;

  if (!isfinite (plot->y_limit) || plot->y_limit < l->ya.low || plot->y_limit > l->ya.high)
    return;
  y = dyno_plot_sharp (l, dyno_plot_to_y (l, plot->y_limit));
  cairo_save (l->cr);
  cairo_set_dash (l->cr, dash, 2, 0.0);
  cairo_set_line_width (l->cr, MAX (l->theme->line_width, 1.0));
  dyno_plot_set_colour (l->cr, colour, 0.9);
  cairo_move_to (l->cr, l->x, y);
  cairo_line_to (l->cr, l->x + l->w, y);
  cairo_stroke (l->cr);
  cairo_restore (l->cr);
  if (plot->y_limit_label)
    {
      double text_y = y + l->theme->font_size * 1.1;
      double w = dyno_plot_text_width (l, DYNO_PLOT_TEXT_TICK, plot->y_limit_label);

      dyno_plot_set_colour (l->cr, colour, 1.0);
      dyno_plot_text_show (l, DYNO_PLOT_TEXT_TICK, l->x + l->w - w - 4.0,
                           text_y > l->y + l->h - 2.0 ? y - 4.0 : text_y, plot->y_limit_label);
    }
}

/* The label is on the side with more room. */
static void
draw_mark (const DynoPlotLayout *l)
{
  const DynoPlot *plot = l->plot;
  static const double dash[] = { 5.0, 4.0 };
  double x, w;

  if (!plot->x_mark_label || !(plot->x_mark >= l->xa.low && plot->x_mark <= l->xa.high))
    return;
  x = dyno_plot_sharp (l, dyno_plot_to_x (l, plot->x_mark));
  cairo_save (l->cr);
  cairo_set_dash (l->cr, dash, 2, 0.0);
  cairo_set_line_width (l->cr, MAX (l->theme->line_width, 1.0));
  dyno_plot_set_colour (l->cr, &l->theme->lines[4], 0.9);
  cairo_move_to (l->cr, x, l->y);
  cairo_line_to (l->cr, x, l->y + l->h);
  cairo_stroke (l->cr);
  cairo_restore (l->cr);
  w = dyno_plot_text_width (l, DYNO_PLOT_TEXT_TICK, plot->x_mark_label);
  dyno_plot_set_colour (l->cr, &l->theme->lines[4], 1.0);
  dyno_plot_text_show (l, DYNO_PLOT_TEXT_TICK, x > l->x + l->w / 2 ? x - w - 5.0 : x + 5.0,
                       l->y + l->theme->font_size * 1.1, plot->x_mark_label);
}

void
dyno_plot_draw (cairo_t *cr, const DynoPlot *plot, const DynoPlotTheme *theme, double width,
                double height, double device_scale)
{
  DynoPlotLayout l = {
    .plot = plot, .theme = theme, .cr = cr, .scale = device_scale > 0.0 ? device_scale : 1.0
  };

  cairo_save (cr);
  dyno_plot_set_colour (cr, &theme->background, 1.0);
  cairo_rectangle (cr, 0.0, 0.0, width, height);
  cairo_fill (cr);
  layout (&l, width, height);
  dyno_plot_draw_title (&l, width);
  if (l.empty)
    {
      dyno_plot_set_colour (cr, &theme->muted, 1.0);
      if (plot->empty)
        dyno_plot_text_show (&l, DYNO_PLOT_TEXT_PLAIN,
                             (width - dyno_plot_text_width (&l, DYNO_PLOT_TEXT_PLAIN, plot->empty))
                                 / 2,
                             l.y + l.h / 2, plot->empty);
      cairo_restore (cr);
      return;
    }

  draw_y_axis (&l);
  draw_x_axis (&l);
  draw_span (&l);
  cairo_save (cr);
  cairo_rectangle (cr, l.x, l.y - 2.0, l.w + 4.0, l.h + 3.0);
  cairo_clip (cr);
  for (guint i = 0; i < plot->n_lines; i++)
    if (!plot->lines[i].hidden)
      dyno_plot_draw_line (&l, i, i == 0 && plot->n_lines <= 2);
  for (guint i = 0; plot->robust && !l.ya.log && i < plot->n_lines; i++)
    if (!plot->lines[i].hidden)
      dyno_plot_mark_clipped (&l, i);
  for (guint i = 0; i < plot->n_lines; i++)
    if (plot->lines[i].mark_gaps && !plot->lines[i].hidden)
      dyno_plot_mark_gaps (&l, i);
  draw_limit (&l);
  draw_mark (&l);
  cairo_restore (cr);
  dyno_plot_draw_cursor (&l);
  cairo_restore (cr);
}

double
dyno_plot_label_width (const DynoPlot *plot, const DynoPlotTheme *theme, double width,
                       double height)
{
  cairo_surface_t *surface = cairo_recording_surface_create (CAIRO_CONTENT_ALPHA, NULL);
  DynoPlotLayout l = { .plot = plot, .theme = theme, .cr = cairo_create (surface), .scale = 1.0 };

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
  DynoPlotLayout l = { .plot = plot, .theme = theme, .cr = cairo_create (surface), .scale = 1.0 };
  double value = NAN;

  layout (&l, width, height);
  if (!l.empty && pixel_x >= l.x - 1.0 && pixel_x <= l.x + l.w + 1.0)
    value = dyno_axis_value (&l.xa, CLAMP ((pixel_x - l.x) / l.w, 0.0, 1.0));
  cairo_destroy (l.cr);
  cairo_surface_destroy (surface);
  return value;
}

int
dyno_plot_name_at (const DynoPlot *plot, const DynoPlotTheme *theme, double width, double x,
                   double y, gboolean *is_cut)
{
  cairo_surface_t *surface = cairo_recording_surface_create (CAIRO_CONTENT_ALPHA, NULL);
  DynoPlotLayout l = { .plot = plot, .theme = theme, .cr = cairo_create (surface), .scale = 1.0 };
  gboolean cut = FALSE;
  int line = dyno_plot_find_name (&l, width, x, y, &cut);

  cairo_destroy (l.cr);
  cairo_surface_destroy (surface);
  if (is_cut)
    *is_cut = cut;
  return line;
}

double
dyno_plot_names_height (const DynoPlot *plot, const DynoPlotTheme *theme, double width)
{
  cairo_surface_t *surface = cairo_recording_surface_create (CAIRO_CONTENT_ALPHA, NULL);
  DynoPlotLayout l = { .plot = plot, .theme = theme, .cr = cairo_create (surface), .scale = 1.0 };
  double height = dyno_plot_measure_names (&l, width);

  cairo_destroy (l.cr);
  cairo_surface_destroy (surface);
  return height;
}
