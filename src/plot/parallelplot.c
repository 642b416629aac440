/* SPDX-License-Identifier: MIT */
/* A curve between two axes is 3t² - 2t³ of the distance, so that it leaves each axis at a right
 * angle and two curves through one point can be followed; as a cubic Bézier this is exact.  The
 * coordinate "along" goes from axis to axis, "up" on an axis: right and up for vertical axes, down
 * and right for horizontal ones. */
#include "parallelplot.h"
#include "draw-private.h"
#include <math.h>
#include <string.h>

#define LEAST_STEP   58.0  /* least distance of vertical axes */
#define LEAST_LENGTH 150.0 /* of a vertical axis */
#define REACH        9.0   /* pixels at which the pointer reaches a curve */
#define SAMPLE       22.0  /* length of a line in the key */
#define SHADE_WIDTH  64.0
#define GAP          14.0

typedef struct {
  const DynoParallel *plot;
  DynoPlotLayout text; /* only theme, cr and scale are set, to draw text */
  double line;         /* height of a line of text */
  double width, height;
  gboolean lying;
  double first, step; /* along: the first axis, and the distance of axes */
  double low, high;   /* up: the ends of each axis */
  double none;        /* up: of curves without a value */
  double title_lines; /* above vertical axes */
  guint n_key_rows;
} Layout;

/* --- places ----------------------------------------------------------------------------------- */

static double
measure (const Layout *l, DynoPlotText style, const char *text)
{
  return dyno_plot_text_width (&l->text, style, text);
}

/* Breaks a title at the space that makes the longer part shortest; *second: NULL where no space
 * makes it narrower.  Returns the width of the longer part.  g_free both. */
static double
break_title (const Layout *l, const char *title, char **first, char **second)
{
  double best = measure (l, DYNO_PLOT_TEXT_TICK, title);
  const char *at = NULL;

  for (const char *space = strchr (title, ' '); space; space = strchr (space + 1, ' '))
    {
      g_autofree char *before = g_strndup (title, (gsize) (space - title));
      double width = MAX (measure (l, DYNO_PLOT_TEXT_TICK, before),
                          measure (l, DYNO_PLOT_TEXT_TICK, space + 1));

      if (width >= best)
        continue;
      best = width;
      at = space;
    }
  *first = at ? g_strndup (title, (gsize) (at - title)) : g_strdup (title);
  *second = at ? g_strdup (at + 1) : NULL;
  return best;
}

/* The width of a title above its vertical axis. */
static double
measure_title (const Layout *l, const char *title, gboolean *broken)
{
  g_autofree char *first = NULL, *second = NULL;
  double width = break_title (l, title, &first, &second);

  *broken = *broken || second;
  return width;
}

static double
measure_labels (const Layout *l, const DynoParallelAxis *axis)
{
  double wide = 0;

  for (guint i = 0; i < axis->n_ticks; i++)
    wide = MAX (wide, measure (l, DYNO_PLOT_TEXT_TICK, axis->ticks[i].label));
  return wide;
}

static gboolean
has_none (const DynoParallel *plot)
{
  for (guint i = 0; i < plot->n_axes; i++)
    if (plot->axes[i].has_none)
      return TRUE;
  return FALSE;
}

/* Places vertical axes, and sets `lying` (horizontal axes) where titles and labels have no room
 * between them. */
static void
find_direction (Layout *l)
{
  const DynoParallel *plot = l->plot;
  double left = 0, right = 0, wide = 0;
  gboolean broken = FALSE;

  for (guint i = 0; i < plot->n_axes; i++)
    {
      double title = measure_title (l, plot->axes[i].title, &broken),
             labels = measure_labels (l, &plot->axes[i]) + 8;

      wide = MAX (wide, MAX (title + 10, labels + 10));
      if (i == 0)
        left = title / 2;
      if (i + 1 == plot->n_axes)
        right = MAX (title / 2, labels);
    }
  l->first = DYNO_PLOT_PADDING + left;
  l->step = plot->n_axes > 1
                ? (l->width - l->first - DYNO_PLOT_PADDING - right) / (plot->n_axes - 1)
                : l->width;
  l->title_lines = broken ? 2 : 1;
  l->lying = l->step < MAX (wide, LEAST_STEP);
}

static double
measure_sample (const Layout *l, const char *name)
{
  return name ? SAMPLE + 5 + measure (l, DYNO_PLOT_TEXT_TICK, name) + GAP : 0;
}

static double
measure_shades (const Layout *l)
{
  const DynoParallel *p = l->plot;

  return p->worse_name && p->better_name
             ? measure (l, DYNO_PLOT_TEXT_TICK, p->worse_name) + 5 + SHADE_WIDTH + 5
                   + measure (l, DYNO_PLOT_TEXT_TICK, p->better_name)
             : 0;
}

/* The position of the next part of the key, in a new row where there is no room. */
static void
place_key (const Layout *l, double wide, double *x, guint *row)
{
  if (*x > DYNO_PLOT_PADDING && *x + wide > l->width - DYNO_PLOT_PADDING + GAP)
    {
      *x = DYNO_PLOT_PADDING;
      (*row)++;
    }
}

static guint
count_key_rows (const Layout *l)
{
  const DynoParallel *p = l->plot;
  const double parts[] = { measure_sample (l, p->best_name), measure_sample (l, p->own_name),
                           measure_sample (l, p->failed_name), measure_shades (l) };
  double x = DYNO_PLOT_PADDING;
  guint row = 0;
  gboolean any = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    if (parts[i] > 0)
      {
        place_key (l, parts[i], &x, &row);
        x += parts[i];
        any = TRUE;
      }
  return any ? row + 1 : 0;
}

static double
lying_step (const Layout *l)
{
  return l->line * 3.1;
}

static void
layout (Layout *l, const DynoParallel *plot, const DynoPlotTheme *theme, cairo_t *cr, double width,
        double height, double scale)
{
  double none, top;

  *l = (Layout){ .plot = plot,
                 .text = { .theme = theme, .cr = cr, .scale = scale },
                 .line = theme->font_size * 1.35,
                 .width = width,
                 .height = height };
  find_direction (l);
  l->n_key_rows = count_key_rows (l);
  none = has_none (plot) ? l->line * 1.3 : 0;
  top = DYNO_PLOT_PADDING + l->n_key_rows * l->line * 1.2 + (l->n_key_rows > 0 ? l->line * 0.5 : 0);
  if (l->lying)
    {
      l->first = top + l->line * 1.35;
      l->step = lying_step (l);
      l->none = DYNO_PLOT_PADDING + 4;
      l->low = l->none + none;
      l->high = width - DYNO_PLOT_PADDING - 4;
      return;
    }
  l->none = height - DYNO_PLOT_PADDING - l->line * 0.4;
  l->low = l->none - none;
  l->high = MIN (top + l->line * (l->title_lines + 0.6), l->low - 10);
}

/* The coordinate "up" of a place on an axis. */
static double
get_up (const Layout *l, double place)
{
  return isnan (place) ? l->none : l->low + (l->high - l->low) * place;
}

static double
get_along (const Layout *l, guint axis)
{
  return l->first + l->step * axis;
}

static void
turn (const Layout *l, double along, double up, double *x, double *y)
{
  *x = l->lying ? up : along;
  *y = l->lying ? along : up;
}

/* --- the key ---------------------------------------------------------------------------------- */

static DynoColour
blend (const DynoColour *a, const DynoColour *b, double share)
{
  return (DynoColour){ a->red + (b->red - a->red) * share, a->green + (b->green - a->green) * share,
                       a->blue + (b->blue - a->blue) * share, 1 };
}

/* The colour of a shade, from faint text's to the first line's. */
static DynoColour
get_shade (const Layout *l, double shade)
{
  const DynoPlotTheme *theme = l->text.theme;
  DynoColour pale = blend (&theme->background, &theme->muted, 0.55);

  return blend (&pale, &theme->lines[0], isnan (shade) ? 0 : shade * shade);
}

static double
get_width (const Layout *l, double width)
{
  return width * (l->text.theme->line_width > 0 ? l->text.theme->line_width / 1.5 : 1);
}

static void
set_stroke (const Layout *l, int curve, gboolean in_key)
{
  static const double own[] = { 6, 4 }, failed[] = { 2, 3 };
  const DynoParallel *p = l->plot;
  const DynoPlotTheme *theme = l->text.theme;
  cairo_t *cr = l->text.cr;
  const DynoParallelCurve *c = &p->curves[curve];
  gboolean fades = p->pointed >= 0 && curve != p->pointed && !in_key;
  double alpha = fades ? 0.35 : 1;
  DynoColour shade = get_shade (l, c->shade);

  cairo_set_dash (cr, NULL, 0, 0);
  cairo_set_line_width (cr, get_width (l, curve == p->pointed ? 3 : 1.4));
  if (curve == p->best)
    {
      cairo_set_line_width (cr, get_width (l, 3));
      dyno_plot_set_colour (cr, &p->accent, alpha);
    }
  else if (curve == p->own)
    {
      cairo_set_dash (cr, own, G_N_ELEMENTS (own), 0);
      cairo_set_line_width (cr, get_width (l, curve == p->pointed ? 3 : 2));
      dyno_plot_set_colour (cr, &theme->foreground, alpha * 0.85);
    }
  else if (c->failed)
    {
      cairo_set_dash (cr, failed, G_N_ELEMENTS (failed), 0);
      dyno_plot_set_colour (cr, &theme->lines[4], alpha * 0.8);
    }
  else if (curve == p->pointed)
    dyno_plot_set_colour (cr, &theme->lines[0], 1);
  else
    dyno_plot_set_colour (cr, &shade, alpha * (isnan (c->shade) ? 0.5 : 0.4 + 0.5 * c->shade));
}

static void
draw_sample (const Layout *l, int curve, const char *name, double *x, guint *row)
{
  cairo_t *cr = l->text.cr;
  double y;

  if (!name)
    return;
  place_key (l, measure_sample (l, name), x, row);
  y = DYNO_PLOT_PADDING + (*row + 0.75) * l->line * 1.2;
  if (curve >= 0)
    set_stroke (l, curve, TRUE);
  cairo_move_to (cr, *x, y - l->line * 0.28);
  cairo_rel_line_to (cr, SAMPLE, 0);
  cairo_stroke (cr);
  cairo_set_dash (cr, NULL, 0, 0);
  dyno_plot_set_colour (cr, &l->text.theme->foreground, 1);
  dyno_plot_text_show (&l->text, DYNO_PLOT_TEXT_TICK, *x + SAMPLE + 5, y, name);
  *x += measure_sample (l, name);
}

static void
draw_shades (const Layout *l, double *x, guint *row)
{
  const DynoParallel *p = l->plot;
  cairo_t *cr = l->text.cr;
  double y;

  if (measure_shades (l) <= 0)
    return;
  place_key (l, measure_shades (l), x, row);
  y = DYNO_PLOT_PADDING + (*row + 0.75) * l->line * 1.2;
  dyno_plot_set_colour (cr, &l->text.theme->muted, 1);
  dyno_plot_text_show (&l->text, DYNO_PLOT_TEXT_TICK, *x, y, p->worse_name);
  *x += measure (l, DYNO_PLOT_TEXT_TICK, p->worse_name) + 5;
  for (int i = 0; i < 16; i++)
    {
      DynoColour shade = get_shade (l, i / 15.0);

      dyno_plot_set_colour (cr, &shade, 1);
      cairo_rectangle (cr, *x + i * SHADE_WIDTH / 16, y - l->line * 0.42, SHADE_WIDTH / 16 + 0.3,
                       4);
      cairo_fill (cr);
    }
  *x += SHADE_WIDTH + 5;
  dyno_plot_set_colour (cr, &l->text.theme->muted, 1);
  dyno_plot_text_show (&l->text, DYNO_PLOT_TEXT_TICK, *x, y, p->better_name);
}

static int
find_failed (const DynoParallel *p)
{
  for (guint i = 0; i < p->n_curves; i++)
    if (p->curves[i].failed && (int) i != p->own && (int) i != p->best)
      return (int) i;
  return -1;
}

static void
draw_key (const Layout *l)
{
  const DynoParallel *p = l->plot;
  double x = DYNO_PLOT_PADDING;
  guint row = 0;

  draw_sample (l, p->best, p->best_name, &x, &row);
  draw_sample (l, p->own, p->own_name, &x, &row);
  draw_sample (l, find_failed (p), p->failed_name, &x, &row);
  draw_shades (l, &x, &row);
}

/* --- axes ------------------------------------------------------------------------------------- */

/* Draws text over curves with its own background, centred on x or beginning at x. */
static void
show_on_ground (const Layout *l, const char *text, double x, double y, gboolean centred,
                gboolean strong)
{
  cairo_t *cr = l->text.cr;
  double wide = measure (l, DYNO_PLOT_TEXT_TICK, text), left = centred ? x - wide / 2 : x;

  left = CLAMP (left, 2, MAX (l->width - wide - 2, 2));
  dyno_plot_set_colour (cr, &l->text.theme->background, 0.8);
  cairo_rectangle (cr, left - 2, y - l->line * 0.78, wide + 4, l->line);
  cairo_fill (cr);
  dyno_plot_set_colour (cr, strong ? &l->text.theme->foreground : &l->text.theme->muted, 1);
  dyno_plot_text_show (&l->text, DYNO_PLOT_TEXT_TICK, left, y, text);
}

static void
draw_axis (const Layout *l, guint i)
{
  const DynoParallelAxis *axis = &l->plot->axes[i];
  cairo_t *cr = l->text.cr;
  double along = dyno_plot_sharp (&l->text, get_along (l, i)), x, y;

  dyno_plot_set_colour (cr, &l->text.theme->muted, i + 1 == l->plot->n_axes ? 0.9 : 0.45);
  cairo_set_line_width (cr, 1 / MAX (l->text.scale, 1));
  turn (l, along, l->low, &x, &y);
  cairo_move_to (cr, x, y);
  turn (l, along, l->high, &x, &y);
  cairo_line_to (cr, x, y);
  for (guint k = 0; k < axis->n_ticks; k++)
    {
      double up = dyno_plot_sharp (&l->text, get_up (l, axis->ticks[k].at));

      turn (l, along - 3, up, &x, &y);
      cairo_move_to (cr, x, y);
      turn (l, along + 3, up, &x, &y);
      cairo_line_to (cr, x, y);
    }
  cairo_stroke (cr);
}

/* Labels that would touch the previous one are omitted. */
static void
draw_labels (const Layout *l, guint i)
{
  const DynoParallelAxis *axis = &l->plot->axes[i];
  double along = get_along (l, i), taken = (double) NAN;

  for (guint k = 0; k < axis->n_ticks; k++)
    {
      double up = get_up (l, axis->ticks[k].at),
             wide = measure (l, DYNO_PLOT_TEXT_TICK, axis->ticks[k].label),
             reach = l->lying ? wide / 2 + 3 : l->line / 2;

      if (!isnan (taken) && fabs (up - taken) < reach + (l->lying ? 0 : l->line / 2))
        continue;
      taken = l->lying ? up + reach : up;
      if (l->lying)
        show_on_ground (l, axis->ticks[k].label, up, along + l->line * 1.02, TRUE, FALSE);
      else
        show_on_ground (l, axis->ticks[k].label, along + 6, up + l->line * 0.28, FALSE, FALSE);
    }
  if (!axis->has_none)
    return;
  if (l->lying)
    show_on_ground (l, "\342\200\223", l->none, along + l->line * 1.02, TRUE, FALSE);
  else
    show_on_ground (l, "\342\200\223", along + 6, l->none + l->line * 0.28, FALSE, FALSE);
}

static void
draw_title (const Layout *l, guint i)
{
  const char *title = l->plot->axes[i].title;
  double along = get_along (l, i);
  g_autofree char *first = NULL, *second = NULL;

  if (l->lying)
    {
      show_on_ground (l, title, l->low, along - l->line * 0.42, FALSE, TRUE);
      return;
    }
  break_title (l, title, &first, &second);
  show_on_ground (l, second ? second : first, along, l->high - l->line * 0.75, TRUE, TRUE);
  if (second)
    show_on_ground (l, first, along, l->high - l->line * 1.75, TRUE, TRUE);
}

/* --- curves ----------------------------------------------------------------------------------- */

static void
draw_curve (const Layout *l, int curve)
{
  const DynoParallelCurve *c = &l->plot->curves[curve];
  cairo_t *cr = l->text.cr;
  gboolean stands_out = curve == l->plot->best || curve == l->plot->pointed;
  double x, y;

  for (guint i = 0; i < l->plot->n_axes; i++)
    {
      double from = get_along (l, i > 0 ? i - 1 : 0), to = get_along (l, i),
             before = get_up (l, c->places[i > 0 ? i - 1 : 0]), up = get_up (l, c->places[i]), x1,
             y1, x2, y2;

      turn (l, to, up, &x, &y);
      turn (l, from + (to - from) / 3, before, &x1, &y1);
      turn (l, from + (to - from) * 2 / 3, up, &x2, &y2);
      if (i == 0)
        cairo_move_to (cr, x, y);
      else
        cairo_curve_to (cr, x1, y1, x2, y2, x, y);
    }
  set_stroke (l, curve, FALSE);
  cairo_stroke (cr);
  cairo_set_dash (cr, NULL, 0, 0);
  for (guint i = 0; stands_out && i < l->plot->n_axes; i++)
    {
      turn (l, get_along (l, i), get_up (l, c->places[i]), &x, &y);
      cairo_new_sub_path (cr);
      cairo_arc (cr, x, y, get_width (l, 3.5), 0, 2 * G_PI);
    }
  cairo_fill (cr);
}

static int
compare_shades (gconstpointer a, gconstpointer b, gpointer data)
{
  const DynoParallelCurve *curves = data;
  double x = curves[*(const int *) a].shade, y = curves[*(const int *) b].shade;

  x = isnan (x) ? -1 : x;
  y = isnan (y) ? -1 : y;
  return (x > y) - (x < y);
}

/* Draws better curves over worse ones, and the highlighted curves over all. */
static void
draw_curves (const Layout *l)
{
  const DynoParallel *p = l->plot;
  g_autofree int *order = g_new (int, MAX (p->n_curves, 1));
  const int last[] = { p->own, p->best, p->pointed };

  for (guint i = 0; i < p->n_curves; i++)
    order[i] = (int) i;
  g_qsort_with_data (order, (gint) p->n_curves, sizeof *order, compare_shades,
                     (gpointer) p->curves);
  for (guint i = 0; i < p->n_curves; i++)
    if (order[i] != p->own && order[i] != p->best && order[i] != p->pointed)
      draw_curve (l, order[i]);
  for (guint i = 0; i < G_N_ELEMENTS (last); i++)
    if (last[i] >= 0 && (i + 1 == G_N_ELEMENTS (last) || last[i] != p->pointed))
      draw_curve (l, last[i]);
}

/* ---------------------------------------------------------------------------------------------- */

/* A Cairo context for measuring text without drawing. */
static cairo_t *
make_scratch (void)
{
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_A8, 1, 1);
  cairo_t *cr = cairo_create (surface);

  cairo_surface_destroy (surface);
  return cr;
}

double
dyno_parallel_height (const DynoParallel *plot, const DynoPlotTheme *theme, double width)
{
  cairo_t *cr = make_scratch ();
  Layout l;
  double height;

  layout (&l, plot, theme, cr, width, 1000, 1);
  cairo_destroy (cr);
  if (l.lying)
    return ceil (get_along (&l, plot->n_axes - 1) + l.line * 1.4 + DYNO_PLOT_PADDING);
  height = 1000 - (l.low - l.high);
  return ceil (height + MAX (l.line * 15, LEAST_LENGTH));
}

void
dyno_parallel_draw (cairo_t *cr, const DynoParallel *plot, const DynoPlotTheme *theme, double width,
                    double height, double device_scale)
{
  Layout l;

  if (plot->n_axes == 0)
    return;
  layout (&l, plot, theme, cr, width, height, device_scale);
  cairo_set_line_join (cr, CAIRO_LINE_JOIN_ROUND);
  for (guint i = 0; i < plot->n_axes; i++)
    draw_axis (&l, i);
  draw_curves (&l);
  for (guint i = 0; i < plot->n_axes; i++)
    {
      draw_labels (&l, i);
      draw_title (&l, i);
    }
  draw_key (&l);
}

void
dyno_parallel_point (const DynoParallel *plot, const DynoPlotTheme *theme, double width,
                     double height, guint curve, guint axis, double *x, double *y)
{
  cairo_t *cr = make_scratch ();
  Layout l;

  layout (&l, plot, theme, cr, width, height, 1);
  cairo_destroy (cr);
  turn (&l, get_along (&l, axis), get_up (&l, plot->curves[curve].places[axis]), x, y);
}

int
dyno_parallel_curve_at (const DynoParallel *plot, const DynoPlotTheme *theme, double width,
                        double height, double x, double y)
{
  cairo_t *cr = make_scratch ();
  double along, up, share, t, nearest = REACH;
  guint before;
  int found = -1;
  Layout l;

  layout (&l, plot, theme, cr, width, height, 1);
  cairo_destroy (cr);
  along = l.lying ? y : x;
  up = l.lying ? x : y;
  share = (along - l.first) / l.step;
  if (plot->n_axes == 0 || !(share >= -0.1) || share > plot->n_axes - 1 + 0.1)
    return -1;
  before = (guint) CLAMP (floor (share), 0, MAX ((int) plot->n_axes - 2, 0));
  t = CLAMP (share - before, 0, 1);
  for (guint i = 0; i < plot->n_curves; i++)
    {
      const double *places = plot->curves[i].places;
      double from = get_up (&l, places[before]),
             to = get_up (&l, places[MIN (before + 1, plot->n_axes - 1)]),
             away = fabs (from + (to - from) * t * t * (3 - 2 * t) - up);

      /* The best curve is preferred to curves that coincide with it, since it is drawn over
       * them. */
      if (away < nearest || (away == nearest && found >= 0 && (int) i == plot->best))
        {
          nearest = away;
          found = (int) i;
        }
    }
  return found;
}
