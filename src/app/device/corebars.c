/* SPDX-License-Identifier: MIT */
/* Where a bar for each core would be too narrow, a bar stands for several cores and shows the load
 * of the busiest one, so that a single core at its limit is visible. */
#include "corebars.h"
#include "row.h"
#include "plot/theme.h"
#include <glib/gi18n.h>
#include <math.h>

#define LEAST  3 /* pixels of a bar */
#define MOST   28
#define GAP    2
#define HEIGHT 48

struct _DynoCoreBars {
  GtkDrawingArea parent_instance;
  float *busy;
  guint n;
};

G_DEFINE_FINAL_TYPE (DynoCoreBars, dyno_core_bars, GTK_TYPE_DRAWING_AREA)

static void
set_colour (cairo_t *cr, DynoColour c)
{
  cairo_set_source_rgba (cr, c.red, c.green, c.blue, c.alpha);
}

/* The load of the busiest of some cores; NaN: all are offline. */
static double
find_busiest (const DynoCoreBars *self, guint from, guint to)
{
  double most = (double) NAN;
  for (guint i = from; i < MIN (to, self->n); i++)
    if (!isnan (self->busy[i]) && !(most >= (double) self->busy[i]))
      most = (double) self->busy[i];
  return most;
}

static gboolean
dyno_core_bars_draw (GtkWidget *widget, cairo_t *cr)
{
  DynoCoreBars *self = DYNO_CORE_BARS (widget);
  const DynoPlotTheme *theme = dyno_plot_theme_for_widget (widget);
  double width = gtk_widget_get_allocated_width (widget),
         height = gtk_widget_get_allocated_height (widget);
  guint fit = (guint) MAX (width / (LEAST + GAP), 1), each = (MAX (self->n, 1) + fit - 1) / fit,
        bars = (self->n + each - 1) / each;
  double step = bars > 0 ? MIN (floor (width / bars), MOST + GAP) : 0;
  for (guint i = 0; i < bars; i++)
    {
      double busy = find_busiest (self, i * each, (i + 1) * each), x = i * step,
             high = isnan (busy) ? 0 : CLAMP (busy, 0, 100) / 100 * height;
      set_colour (cr, theme->grid);
      cairo_rectangle (cr, x, 0, step - GAP, height);
      cairo_fill (cr);
      set_colour (cr, theme->lines[0]);
      cairo_rectangle (cr, x, height - high, step - GAP, high);
      cairo_fill (cr);
    }
  return GDK_EVENT_PROPAGATE;
}

void
dyno_core_bars_set (DynoCoreBars *self, const float *busy, guint n)
{
  double most = (double) NAN;
  guint at = 0;
  g_free (self->busy);
  self->busy = g_memdup2 (busy, n * sizeof *busy);
  self->n = n;
  for (guint i = 0; i < n; i++)
    if (!isnan (busy[i]) && !(most >= (double) busy[i]))
      {
        most = (double) busy[i];
        at = i;
      }
  g_autofree char *text = isnan (most)
                              ? g_strdup ("")
                              : g_strdup_printf (_ ("The busiest is core %u, %.0f %%"), at, most);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self), text);
  atk_object_set_description (gtk_widget_get_accessible (GTK_WIDGET (self)), text);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
dyno_core_bars_finalize (GObject *object)
{
  g_free (DYNO_CORE_BARS (object)->busy);
  G_OBJECT_CLASS (dyno_core_bars_parent_class)->finalize (object);
}

static void
dyno_core_bars_class_init (DynoCoreBarsClass *class)
{
  G_OBJECT_CLASS (class)->finalize = dyno_core_bars_finalize;
  GTK_WIDGET_CLASS (class)->draw = dyno_core_bars_draw;
}

static void
dyno_core_bars_init (DynoCoreBars *self)
{
  gtk_widget_set_size_request (GTK_WIDGET (self), -1, HEIGHT);
  dyno_widget_set_accessible_name (GTK_WIDGET (self), _ ("Load of each core"));
  atk_object_set_role (gtk_widget_get_accessible (GTK_WIDGET (self)), ATK_ROLE_CHART);
}
