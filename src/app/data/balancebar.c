/* SPDX-License-Identifier: MIT */
/* The balance of classes, or the frequency of labels.  With more classes than pixels a column
 * stands for several classes, and shows their mean. */
#include "balancebar.h"
#include "palette.h"
#include "row.h"
#include "words.h"
#include "plot/theme.h"
#include <glib/gi18n.h>

#define MAX_NAMED 12

struct _DynoBalanceBar {
  GtkDrawingArea parent_instance;
  guint64 *counts;
  guint n;
  guint64 most;
  gboolean of_pixels; /* counts are pixels: columns have the colours of masks */
};

G_DEFINE_FINAL_TYPE (DynoBalanceBar, dyno_balance_bar, GTK_TYPE_DRAWING_AREA)

void
dyno_balance_bar_set_info (DynoBalanceBar *self, const DynoDatasetInfo *info)
{
  g_clear_pointer (&self->counts, g_free);
  self->n = info && dyno_schema_count_values (&info->schema) == 0 && info->class_counts
                ? info->n_classes
                : 0;
  gboolean labels = info && dyno_dataset_get_task (info) == DYNO_TASK_LABELS;
  self->most = 0;
  self->of_pixels = info && dyno_schema_find_mask (&info->schema);
  if (self->n > 0)
    self->counts = g_memdup2 (info->class_counts, self->n * sizeof *self->counts);
  g_autoptr (GString) names = g_string_new (NULL);
  for (guint i = 0; i < self->n; i++)
    {
      g_autofree char *count = dyno_words_class_count (info, i);
      self->most = MAX (self->most, self->counts[i]);
      if (i < MAX_NAMED)
        g_string_append_printf (names, "%s%s: %s", i ? "\n" : "", info->class_names[i], count);
      else if (i == MAX_NAMED)
        g_string_append (names, "\n\342\200\246");
    }
  gtk_widget_set_tooltip_text (GTK_WIDGET (self), self->n > 0 ? names->str : NULL);
  dyno_widget_set_accessible_name (GTK_WIDGET (self),
                                   labels ? _ ("Frequency of labels") : _ ("Balance of classes"));
  atk_object_set_description (gtk_widget_get_accessible (GTK_WIDGET (self)), names->str);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* Class 0 of masks, the ground, and the classes of samples have the theme's colours. */
static void
set_colour (DynoBalanceBar *self, cairo_t *cr, guint class_id)
{
  const DynoPlotTheme *theme = dyno_plot_theme_for_widget (GTK_WIDGET (self));
  DynoColour colour = self->of_pixels ? theme->muted : theme->lines[0];
  if (self->of_pixels && class_id > 0)
    {
      guint8 rgb[3];
      dyno_palette_get ((guint8) class_id, rgb);
      colour = (DynoColour){ rgb[0] / 255.0, rgb[1] / 255.0, rgb[2] / 255.0 };
    }
  cairo_set_source_rgb (cr, colour.red, colour.green, colour.blue);
}

static gboolean
dyno_balance_bar_draw (GtkWidget *widget, cairo_t *cr)
{
  DynoBalanceBar *self = DYNO_BALANCE_BAR (widget);
  int width = gtk_widget_get_allocated_width (widget),
      height = gtk_widget_get_allocated_height (widget);
  if (self->n == 0 || self->most == 0)
    return GDK_EVENT_PROPAGATE;
  guint columns = MIN (self->n, (guint) MAX (width / 3, 1));
  double step = (double) width / columns, gap = step >= 5 ? 2 : 1;
  for (guint i = 0; i < columns; i++)
    {
      guint first = (guint) ((guint64) i * self->n / columns),
            end = (guint) ((guint64) (i + 1) * self->n / columns);
      double sum = 0;
      for (guint j = first; j < end; j++)
        sum += (double) self->counts[j];
      double tall = MAX (height * sum / (end - first) / (double) self->most, 1);
      set_colour (self, cr, columns == self->n ? first : 0);
      cairo_rectangle (cr, i * step, height - tall, step - gap, tall);
      cairo_fill (cr);
    }
  return GDK_EVENT_PROPAGATE;
}

static void
dyno_balance_bar_finalize (GObject *object)
{
  g_free (DYNO_BALANCE_BAR (object)->counts);
  G_OBJECT_CLASS (dyno_balance_bar_parent_class)->finalize (object);
}

static void
dyno_balance_bar_class_init (DynoBalanceBarClass *class)
{
  G_OBJECT_CLASS (class)->finalize = dyno_balance_bar_finalize;
  GTK_WIDGET_CLASS (class)->draw = dyno_balance_bar_draw;
}

static void
dyno_balance_bar_init (DynoBalanceBar *self)
{
  gtk_widget_set_size_request (GTK_WIDGET (self), 84, 24);
}
