/* SPDX-License-Identifier: MIT */
/* Draws a small curve, scaled from its least to its greatest value, in the colour of the text. */
#include "sparkcell.h"

#define WIDTH  90
#define HEIGHT 22

struct _DynoSparkCell {
  GtkCellRenderer parent_instance;
  const float *values;
  guint n;
};

G_DEFINE_FINAL_TYPE (DynoSparkCell, dyno_spark_cell, GTK_TYPE_CELL_RENDERER)

void
dyno_spark_cell_set_values (DynoSparkCell *self, const float *values, guint n)
{
  self->values = values;
  self->n = n;
}

/* GTK passes NULL for one of the two when it draws the focus. */
static void
give_size (int size, int *least, int *natural)
{
  if (least)
    *least = size;
  if (natural)
    *natural = size;
}

static void
dyno_spark_cell_preferred_width (GtkCellRenderer *cell, GtkWidget *widget, int *least, int *natural)
{
  int pad;
  gtk_cell_renderer_get_padding (cell, &pad, NULL);
  give_size (WIDTH + 2 * pad, least, natural);
}

static void
dyno_spark_cell_preferred_height (GtkCellRenderer *cell, GtkWidget *widget, int *least,
                                  int *natural)
{
  int pad;
  gtk_cell_renderer_get_padding (cell, NULL, &pad);
  give_size (HEIGHT + 2 * pad, least, natural);
}

static void
dyno_spark_cell_render (GtkCellRenderer *cell, cairo_t *cr, GtkWidget *widget,
                        const GdkRectangle *background, const GdkRectangle *area,
                        GtkCellRendererState flags)
{
  const DynoSparkCell *self = DYNO_SPARK_CELL (cell);
  GtkStyleContext *context = gtk_widget_get_style_context (widget);
  GdkRGBA ink;
  int x_pad, y_pad;
  float low, high;
  if (self->n < 2)
    return;
  gtk_cell_renderer_get_padding (cell, &x_pad, &y_pad);
  low = high = self->values[0];
  for (guint i = 1; i < self->n; i++)
    {
      low = MIN (low, self->values[i]);
      high = MAX (high, self->values[i]);
    }
  gtk_style_context_save (context);
  gtk_style_context_set_state (context, gtk_cell_renderer_get_state (cell, widget, flags));
  gtk_style_context_get_color (context, gtk_style_context_get_state (context), &ink);
  gtk_style_context_restore (context);
  double left = area->x + x_pad, top = area->y + y_pad + 2, wide = area->width - 2 * x_pad,
         tall = area->height - 2 * y_pad - 4, span = high > low ? high - low : 1;
  gdk_cairo_set_source_rgba (cr, &ink);
  cairo_set_line_width (cr, 1.2);
  cairo_set_line_join (cr, CAIRO_LINE_JOIN_ROUND);
  for (guint i = 0; i < self->n; i++)
    cairo_line_to (cr, left + wide * i / (self->n - 1),
                   top + tall * (1 - (double) (self->values[i] - low) / span));
  cairo_stroke (cr);
}

GtkCellRenderer *
dyno_spark_cell_new (void)
{
  return g_object_new (DYNO_TYPE_SPARK_CELL, NULL);
}

static void
dyno_spark_cell_class_init (DynoSparkCellClass *class)
{
  GtkCellRendererClass *cell_class = GTK_CELL_RENDERER_CLASS (class);
  cell_class->get_preferred_width = dyno_spark_cell_preferred_width;
  cell_class->get_preferred_height = dyno_spark_cell_preferred_height;
  cell_class->render = dyno_spark_cell_render;
}

static void
dyno_spark_cell_init (DynoSparkCell *self)
{
}
