/* SPDX-License-Identifier: MIT */
/* Two panels share a logarithmic x axis: above, rates as a line, with filled points for
 * measurements and hollow ones for the model; below, memory as bars, with the budget if it is at
 * most REACH times as high.  Labels that would overlap are placed in different rows. */
#include "curveview.h"
#include "curve.h"
#include "format.h"
#include "row.h"
#include "plot/theme.h"
#include <glib/gi18n.h>
#include <math.h>

#define PAD     10.0
#define GAP     12.0
#define N_MARKS 3
#define REACH   4 /* multiple of the memory above which a budget is only stated */

struct _DynoCurveView {
  GtkDrawingArea parent_instance;
  DynoTuneResult *result;
  guint64 limit;
  double left, right; /* ends of the axes in the last drawing */
};

G_DEFINE_FINAL_TYPE (DynoCurveView, dyno_curve_view, GTK_TYPE_DRAWING_AREA)

typedef struct {
  cairo_t *cr;
  PangoLayout *layout;
  const DynoPlotTheme *theme;
  const DynoTuneCurve *curve;
  double left, right, line; /* ends of the axes; height of a line of text */
} Drawing;

typedef struct {
  gint64 batch;
  const char *label;
  guint colour; /* index of the theme's line colours */
  guint row;
} Mark;

static void
set_colour (const Drawing *d, DynoColour colour, double alpha)
{
  cairo_set_source_rgba (d->cr, colour.red, colour.green, colour.blue, alpha);
}

static double
measure (const Drawing *d, const char *text)
{
  int width;
  pango_layout_set_text (d->layout, text, -1);
  pango_layout_get_pixel_size (d->layout, &width, NULL);
  return width;
}

/* align 0: x is the text's left end, 1: its right end. */
static void
show_text (const Drawing *d, const char *text, double x, double y, double align)
{
  double width = measure (d, text);
  cairo_move_to (d->cr, floor (x - align * width), floor (y));
  pango_cairo_show_layout (d->cr, d->layout);
  cairo_new_path (d->cr);
}

/* A round tick step, about four of which reach `most`. */
static double
round_step (double most)
{
  double rough = most / 4, unit = pow (10, floor (log10 (rough))), share = rough / unit;
  return unit * (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10);
}

static double
x_of (const Drawing *d, gint64 batch)
{
  const DynoTuneCurve *c = d->curve;
  double first = log2 ((double) c->points[0].batch_size),
         last = log2 ((double) c->points[c->n - 1].batch_size);
  double inset = MIN (24.0, (d->right - d->left) / 6);
  if (last <= first)
    return (d->left + d->right) / 2;
  return d->left + inset
         + (log2 ((double) batch) - first) / (last - first) * (d->right - d->left - 2 * inset);
}

static char *
format_tick (double value, double step)
{
  int digits = step >= 1 ? 0 : step >= 0.1 ? 1 : 2;
  return g_strdup_printf ("%'.*f", digits, value);
}

static double
widest_tick (const Drawing *d, double most)
{
  double step = round_step (most), wide = 0;
  for (double value = 0; value <= most * 1.001; value += step)
    {
      g_autofree char *text = format_tick (value, step);
      wide = MAX (wide, measure (d, text));
    }
  return wide;
}

static void
draw_grid (const Drawing *d, double top, double bottom, double most)
{
  double step = round_step (most);
  cairo_set_line_width (d->cr, 1);
  for (double value = 0; value <= most * 1.001; value += step)
    {
      g_autofree char *text = format_tick (value, step);
      double y = floor (bottom - value / most * (bottom - top)) + 0.5;
      set_colour (d, d->theme->grid, 1);
      cairo_move_to (d->cr, d->left, y);
      cairo_line_to (d->cr, d->right, y);
      cairo_stroke (d->cr);
      set_colour (d, d->theme->muted, 1);
      show_text (d, text, d->left - 6, y - d->line / 2, 1);
    }
}

static guint
list_marks (const DynoTuneCurve *curve, Mark *marks)
{
  guint n = 0;
  if (curve->knee > 0)
    marks[n++] = (Mark){ curve->knee, _ ("knee"), 4, 0 };
  if (dyno_curve_name_advised (curve))
    marks[n++] = (Mark){ curve->smallest, dyno_curve_name_advised (curve), 2, 0 };
  if (dyno_curve_name_fastest (curve))
    marks[n++] = (Mark){ curve->fastest, dyno_curve_name_fastest (curve), 1, 0 };
  return n;
}

static double
label_start (const Drawing *d, const Mark *mark)
{
  double width = measure (d, mark->label);
  return CLAMP (x_of (d, mark->batch) - width / 2, d->left, MAX (d->left, d->right - width));
}

/* Gives labels that would overlap different rows; returns the number of rows. */
static guint
place_marks (const Drawing *d, Mark *marks, guint n)
{
  guint rows = n > 0 ? 1 : 0;
  for (guint i = 0; i < n; i++)
    for (guint j = 0; j < i; j++)
      {
        double a = label_start (d, &marks[i]), b = label_start (d, &marks[j]);
        if (a < b + measure (d, marks[j].label) + 8 && b < a + measure (d, marks[i].label) + 8
            && marks[i].row <= marks[j].row)
          {
            marks[i].row = marks[j].row + 1;
            rows = MAX (rows, marks[i].row + 1);
          }
      }
  return rows;
}

/* Draws the line of a mark.  Where a batch has several labels above each other, only the lowest has
 * the line. */
static void
draw_mark_line (const Drawing *d, const Mark *marks, guint n, guint at, double y, double bottom)
{
  static const double dashes[] = { 3, 3 };
  double x = floor (x_of (d, marks[at].batch)) + 0.5;
  for (guint i = 0; i < n; i++)
    if (marks[i].batch == marks[at].batch && marks[i].row > marks[at].row)
      return;
  set_colour (d, d->theme->lines[marks[at].colour], 0.8);
  cairo_set_line_width (d->cr, 1.5);
  cairo_set_dash (d->cr, dashes, G_N_ELEMENTS (dashes), 0);
  cairo_move_to (d->cr, x, y + d->line);
  cairo_line_to (d->cr, x, bottom);
  cairo_stroke (d->cr);
  cairo_set_dash (d->cr, NULL, 0, 0);
}

/* Draws the names over the lines, on a background of their own. */
static void
draw_marks (const Drawing *d, const Mark *marks, guint n, double top, double bottom)
{
  for (guint i = 0; i < n; i++)
    draw_mark_line (d, marks, n, i, top + marks[i].row * d->line, bottom);
  for (guint i = 0; i < n; i++)
    {
      double x = label_start (d, &marks[i]), y = top + marks[i].row * d->line;
      set_colour (d, d->theme->background, 1);
      cairo_rectangle (d->cr, x - 2, y, measure (d, marks[i].label) + 4, d->line);
      cairo_fill (d->cr);
      set_colour (d, d->theme->foreground, 1);
      show_text (d, marks[i].label, x, y, 0);
    }
}

static void
draw_interval (const Drawing *d, const DynoCurvePoint *p, double bottom, double scale)
{
  double x = x_of (d, p->batch_size);
  if (!(p->high > p->low) || p->low <= 0)
    return;
  set_colour (d, d->theme->lines[0], 0.45);
  cairo_set_line_width (d->cr, 5);
  cairo_set_line_cap (d->cr, CAIRO_LINE_CAP_ROUND);
  cairo_move_to (d->cr, x, bottom - p->low * scale);
  cairo_line_to (d->cr, x, bottom - p->high * scale);
  cairo_stroke (d->cr);
  cairo_set_line_cap (d->cr, CAIRO_LINE_CAP_BUTT);
}

static void
draw_rates (const Drawing *d, double top, double bottom, double most)
{
  const DynoTuneCurve *c = d->curve;
  double scale = (bottom - top) / most;
  cairo_set_line_width (d->cr, MAX (d->theme->line_width, 2));
  cairo_set_line_join (d->cr, CAIRO_LINE_JOIN_ROUND);
  set_colour (d, d->theme->lines[0], 1);
  for (guint i = 0; i < c->n; i++)
    if (c->points[i].samples_per_s > 0)
      cairo_line_to (d->cr, x_of (d, c->points[i].batch_size),
                     bottom - c->points[i].samples_per_s * scale);
  cairo_stroke (d->cr);
  for (guint i = 0; i < c->n; i++)
    {
      const DynoCurvePoint *p = &c->points[i];
      if (p->samples_per_s <= 0)
        continue;
      draw_interval (d, p, bottom, scale);
      cairo_arc (d->cr, x_of (d, p->batch_size), bottom - p->samples_per_s * scale, 4, 0, 2 * G_PI);
      set_colour (d, p->measured ? d->theme->lines[0] : d->theme->background, 1);
      cairo_fill_preserve (d->cr);
      set_colour (d, d->theme->lines[0], 1);
      cairo_set_line_width (d->cr, 1.5);
      cairo_stroke (d->cr);
    }
}

static void
draw_memory (const Drawing *d, double top, double bottom, double most, double unit)
{
  const DynoTuneCurve *c = d->curve;
  double wide = CLAMP ((d->right - d->left) / (2.2 * c->n), 3.0, 26.0);
  set_colour (d, d->theme->lines[3], 0.85);
  for (guint i = 0; i < c->n; i++)
    {
      double tall = (double) c->points[i].vram_bytes / unit / most * (bottom - top);
      double x = floor (x_of (d, c->points[i].batch_size) - wide / 2);
      cairo_rectangle (d->cr, x, bottom - tall, wide, tall);
    }
  cairo_fill (d->cr);
}

static void
draw_budget (const Drawing *d, GtkWidget *widget, double y)
{
  static const double dashes[] = { 6, 4 };
  GdkRGBA red;
  if (!gtk_style_context_lookup_color (gtk_widget_get_style_context (widget), "dyno_error", &red))
    red = (GdkRGBA){ 0.8, 0, 0, 1 };
  gdk_cairo_set_source_rgba (d->cr, &red);
  cairo_set_line_width (d->cr, 1.5);
  cairo_set_dash (d->cr, dashes, G_N_ELEMENTS (dashes), 0);
  cairo_move_to (d->cr, d->left, floor (y) + 0.5);
  cairo_line_to (d->cr, d->right, floor (y) + 0.5);
  cairo_stroke (d->cr);
  cairo_set_dash (d->cr, NULL, 0, 0);
}

static void
draw_batches (const Drawing *d, double y)
{
  const DynoTuneCurve *c = d->curve;
  double free_from = d->left - 40;
  for (guint i = 0; i < c->n; i++)
    {
      g_autofree char *text = g_strdup_printf ("%d", (int) c->points[i].batch_size);
      double x = x_of (d, c->points[i].batch_size), width = measure (d, text);
      if (x - width / 2 < free_from)
        continue;
      set_colour (d, d->theme->muted, 1);
      show_text (d, text, x, y, 0.5);
      free_from = x + width / 2 + 6;
    }
  show_text (d, _ ("Batch size"), d->right, y + d->line, 1);
}

static double
find_most_rate (const DynoTuneCurve *c)
{
  double most = 0;
  for (guint i = 0; i < c->n; i++)
    most = MAX (most, MAX (c->points[i].samples_per_s, c->points[i].high));
  return most > 0 ? most * 1.08 : 1;
}

static guint64
find_most_memory (const DynoTuneCurve *c)
{
  guint64 most = 1;
  for (guint i = 0; i < c->n; i++)
    most = MAX (most, c->points[i].vram_bytes);
  return most;
}

static void
draw_curve (DynoCurveView *self, Drawing *d, double width, double height)
{
  GtkWidget *widget = GTK_WIDGET (self);
  guint64 most_bytes = find_most_memory (d->curve);
  gboolean reached = self->limit > 0 && self->limit / REACH <= most_bytes;
  gboolean large = most_bytes >= (guint64) 1 << 30;
  double unit = large ? 1024.0 * 1024 * 1024 : 1024.0 * 1024, most_rate = find_most_rate (d->curve);
  double memory = (double) MAX (most_bytes, reached ? self->limit : 0) / unit * 1.05;
  Mark marks[N_MARKS];
  guint n = list_marks (d->curve, marks);
  g_autofree char *budget = dyno_format_bytes (self->limit), *title = NULL;

  d->left = PAD + MAX (widest_tick (d, most_rate), widest_tick (d, memory)) + 6;
  d->right = width - PAD;
  guint rows = place_marks (d, marks, n);
  double foot = height - PAD - 2 * d->line - 4, top = PAD + (1 + rows) * d->line + 8;
  double split = top + 0.64 * (foot - top - GAP - d->line);
  double below = split + GAP + d->line + 4;

  set_colour (d, d->theme->foreground, 1);
  show_text (d, _ ("Throughput (samples/s)"), PAD, PAD - 4, 0);
  draw_grid (d, top, split, most_rate);
  draw_marks (d, marks, n, PAD + d->line, foot);
  draw_rates (d, top, split, most_rate);

  if (self->limit > 0)
    /* Translators: unit, amount: "Device memory (GiB), budget 12 GiB" */
    title = g_strdup_printf (_ ("Device memory (%s), budget %s"), large ? "GiB" : "MiB", budget);
  else
    title = g_strdup_printf (_ ("Device memory (%s)"), large ? "GiB" : "MiB");
  set_colour (d, d->theme->foreground, 1);
  show_text (d, title, PAD, split + GAP - 2, 0);
  draw_grid (d, below, foot, memory);
  draw_memory (d, below, foot, memory, unit);
  if (reached)
    draw_budget (d, widget, foot - (double) self->limit / unit / memory * (foot - below));
  draw_batches (d, foot + 4);
  self->left = d->left;
  self->right = d->right;
}

static gboolean
dyno_curve_view_draw (GtkWidget *widget, cairo_t *cr)
{
  DynoCurveView *self = DYNO_CURVE_VIEW (widget);
  g_autoptr (PangoLayout) layout = NULL;
  g_autoptr (PangoFontDescription) font = NULL;
  int line;
  if (!self->result || self->result->curve.n == 0)
    return GDK_EVENT_PROPAGATE;
  layout = gtk_widget_create_pango_layout (widget, "0");
  font = pango_font_description_copy (
      pango_context_get_font_description (gtk_widget_get_pango_context (widget)));
  pango_font_description_set_size (font, pango_font_description_get_size (font) * 85 / 100);
  pango_layout_set_font_description (layout, font);
  pango_layout_get_pixel_size (layout, NULL, &line);
  Drawing d = { .cr = cr,
                .layout = layout,
                .theme = dyno_plot_theme_for_widget (widget),
                .curve = &self->result->curve,
                .line = line };
  draw_curve (self, &d, gtk_widget_get_allocated_width (widget),
              gtk_widget_get_allocated_height (widget));
  return GDK_EVENT_PROPAGATE;
}

static char *
describe_point (const DynoCurvePoint *p)
{
  g_autofree char *batch = dyno_format_count ((guint64) p->batch_size),
                  *rate = dyno_format_throughput (p->samples_per_s),
                  *memory = dyno_format_bytes (p->vram_bytes);
  if (p->samples_per_s <= 0)
    /* Translators: batch size, memory */
    return g_strdup_printf (_ ("Batch %s: did not run, %s"), batch, memory);
  return g_strdup_printf (p->measured
                              /* Translators: batch size, rate, memory */
                              ? _ ("Batch %s: %s measured, %s")
                              : _ ("Batch %s: %s expected, %s"),
                          batch, rate, memory);
}

static gboolean
query_tooltip (DynoCurveView *self, int x, int y, gboolean keyboard, GtkTooltip *tooltip)
{
  const DynoTuneCurve *c = self->result ? &self->result->curve : NULL;
  Drawing d = { .curve = c, .left = self->left, .right = self->right };
  guint near = 0;
  if (!c || c->n == 0 || keyboard || x < self->left)
    return FALSE;
  for (guint i = 1; i < c->n; i++)
    if (fabs (x_of (&d, c->points[i].batch_size) - x)
        < fabs (x_of (&d, c->points[near].batch_size) - x))
      near = i;
  g_autofree char *text = describe_point (&c->points[near]);
  gtk_tooltip_set_text (tooltip, text);
  return TRUE;
}

/* Describes the drawing for screen readers. */
static char *
describe (DynoCurveView *self)
{
  const DynoTuneCurve *c = &self->result->curve;
  g_autoptr (GString) text = g_string_new (NULL);
  Mark marks[N_MARKS];
  guint n = list_marks (c, marks);
  for (guint i = 0; i < c->n; i++)
    {
      g_autofree char *point = describe_point (&c->points[i]);
      g_string_append_printf (text, "%s%s", text->len > 0 ? "\n" : "", point);
    }
  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "\n%s: %d", marks[i].label, (int) marks[i].batch);
  if (self->limit > 0)
    {
      g_autofree char *budget = dyno_format_bytes (self->limit);
      g_string_append_c (text, '\n');
      g_string_append_printf (text, _ ("Budget %s"), budget);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

void
dyno_curve_view_set_result (DynoCurveView *self, DynoTuneResult *result, guint64 limit_bytes)
{
  DynoTuneResult *old = self->result;
  self->result = result ? dyno_tune_result_ref (result) : NULL;
  self->limit = limit_bytes;
  if (old)
    dyno_tune_result_unref (old);
  g_autofree char *text = result ? describe (self) : g_strdup ("");
  atk_object_set_description (gtk_widget_get_accessible (GTK_WIDGET (self)), text);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
dyno_curve_view_finalize (GObject *object)
{
  g_clear_pointer (&DYNO_CURVE_VIEW (object)->result, dyno_tune_result_unref);
  G_OBJECT_CLASS (dyno_curve_view_parent_class)->finalize (object);
}

static void
dyno_curve_view_class_init (DynoCurveViewClass *class)
{
  G_OBJECT_CLASS (class)->finalize = dyno_curve_view_finalize;
  GTK_WIDGET_CLASS (class)->draw = dyno_curve_view_draw;
  gtk_widget_class_set_accessible_role (GTK_WIDGET_CLASS (class), ATK_ROLE_CHART);
}

static void
dyno_curve_view_init (DynoCurveView *self)
{
  gtk_widget_set_size_request (GTK_WIDGET (self), 320, 330);
  gtk_widget_set_has_tooltip (GTK_WIDGET (self), TRUE);
  g_signal_connect (self, "query-tooltip", G_CALLBACK (query_tooltip), NULL);
  dyno_widget_set_accessible_name (GTK_WIDGET (self), _ ("Throughput and memory by batch size"));
}
