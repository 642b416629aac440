/* SPDX-License-Identifier: MIT */
/* Cells are squares whose size follows the number of classes; names that are too long are cut, and
 * those of the columns are turned. */
#include "confusionview.h"
#include "format.h"
#include "plot/theme.h"
#include "row.h"
#include <glib/gi18n.h>
#include <math.h>

#define MOST_NAME 120 /* pixels of a name */
#define PAD       6
#define LEAST     14.0 /* cells smaller than this many pixels hold no number */
#define WIDE      34   /* from this size on percentages have a decimal */
#define RIGHT     0    /* indices of the theme's line colours */
#define WRONG     1

struct _DynoConfusionView {
  GtkDrawingArea parent_instance;
  const guint64 *counts; /* NULL: nothing is drawn */
  guint n;               /* classes */
  gboolean of_pixels;
  char **names;
  int cell, names_width; /* pixels */
  int row, column;       /* the cell that the arrow keys have reached */
  gboolean chosen;       /* the cell at row, column is marked */
};

G_DEFINE_FINAL_TYPE (DynoConfusionView, dyno_confusion_view, GTK_TYPE_DRAWING_AREA)

static guint chosen_signal;

static guint64
count_of (DynoConfusionView *self, int row, int column)
{
  return self->counts[(gsize) row * self->n + (gsize) column];
}

static guint64
sum_row (DynoConfusionView *self, int row)
{
  guint64 sum = 0;
  for (guint i = 0; i < self->n; i++)
    sum += count_of (self, row, (int) i);
  return sum;
}

/* A cell's share of its row. */
static double
share_of (DynoConfusionView *self, int row, int column)
{
  guint64 all = sum_row (self, row);
  return all > 0 ? (double) count_of (self, row, column) / (double) all : 0;
}

static char *
describe_pixels (DynoConfusionView *self, int row, int column)
{
  if (sum_row (self, row) == 0)
    /* Translators: a class */
    return g_strdup_printf (_ ("No pixel is of “%s”"), self->names[row]);
  g_autofree char *share = dyno_format_percent (share_of (self, row, column));
  if (row == column)
    /* Translators: a share, a class */
    return g_strdup_printf (_ ("%s of the pixels of “%s” are right"), share, self->names[row]);
  /* Translators: a share, a class, another class */
  return g_strdup_printf (_ ("%s of the pixels of “%s” were taken for “%s”"), share,
                          self->names[row], self->names[column]);
}

static char *
describe (DynoConfusionView *self, int row, int column)
{
  if (self->of_pixels)
    return describe_pixels (self, row, column);
  g_autofree char *count = dyno_format_count (count_of (self, row, column)),
                  *all = dyno_format_count (sum_row (self, row));
  if (row == column)
    /* Translators: samples, samples of a class, the class */
    return g_strdup_printf (_ ("%s of %s of “%s” are right"), count, all, self->names[row]);
  /* Translators: samples, samples of a class, the class, another class */
  return g_strdup_printf (_ ("%s of %s of “%s” were taken for “%s”"), count, all, self->names[row],
                          self->names[column]);
}

/* --- drawing ---------------------------------------------------------------------------------- */

static void
set_colour (cairo_t *cr, DynoColour colour, double alpha)
{
  cairo_set_source_rgba (cr, colour.red, colour.green, colour.blue, alpha);
}

static PangoLayout *
new_layout (GtkWidget *widget)
{
  PangoLayout *layout = gtk_widget_create_pango_layout (widget, NULL);
  g_autoptr (PangoFontDescription) font = pango_font_description_copy (
      pango_context_get_font_description (gtk_widget_get_pango_context (widget)));
  pango_font_description_set_size (font, pango_font_description_get_size (font) * 85 / 100);
  pango_layout_set_font_description (layout, font);
  pango_layout_set_ellipsize (layout, PANGO_ELLIPSIZE_END);
  return layout;
}

/* Draws a name, aligned to the end of a box of names_width and centred on y. */
static void
show_name (DynoConfusionView *self, cairo_t *cr, PangoLayout *layout, const char *name, double y)
{
  int width, height;
  pango_layout_set_width (layout, self->names_width * PANGO_SCALE);
  pango_layout_set_text (layout, name, -1);
  pango_layout_get_pixel_size (layout, &width, &height);
  pango_layout_set_alignment (layout, PANGO_ALIGN_RIGHT);
  cairo_move_to (cr, 0, floor (y - height / 2.0));
  pango_cairo_show_layout (cr, layout);
  cairo_new_path (cr);
}

static void
draw_names (DynoConfusionView *self, cairo_t *cr, PangoLayout *layout, DynoColour colour)
{
  double first = self->names_width + PAD;
  set_colour (cr, colour, 1);
  for (guint i = 0; i < self->n; i++)
    {
      double middle = first + (i + 0.5) * self->cell;
      show_name (self, cr, layout, self->names[i], middle);
      cairo_save (cr);
      cairo_translate (cr, middle, self->names_width);
      cairo_rotate (cr, G_PI / 2);
      cairo_translate (cr, -self->names_width, 0);
      show_name (self, cr, layout, self->names[i], 0);
      cairo_restore (cr);
    }
}

static void
draw_number (cairo_t *cr, PangoLayout *layout, const char *text, double x, double y, double size)
{
  int width, height;
  pango_layout_set_width (layout, -1);
  pango_layout_set_text (layout, text, -1);
  pango_layout_get_pixel_size (layout, &width, &height);
  if (width > size - 2 || height > size)
    return;
  cairo_move_to (cr, floor (x + (size - width) / 2), floor (y + (size - height) / 2));
  pango_cairo_show_layout (cr, layout);
  cairo_new_path (cr);
}

static void
draw_cell (DynoConfusionView *self, cairo_t *cr, PangoLayout *layout, const DynoPlotTheme *theme,
           int row, int column)
{
  double size = self->cell, x = self->names_width + PAD + column * size,
         y = self->names_width + PAD + row * size;
  guint64 count = count_of (self, row, column);
  cairo_rectangle (cr, x + 0.5, y + 0.5, size - 1, size - 1);
  if (count > 0)
    {
      /* Limits the opacity, so that text is legible on the fullest cell. */
      set_colour (cr, theme->lines[row == column ? RIGHT : WRONG],
                  0.1 + 0.4 * share_of (self, row, column));
      cairo_fill_preserve (cr);
    }
  set_colour (cr, theme->grid, 1);
  cairo_set_line_width (cr, 1);
  cairo_stroke (cr);
  if (count == 0 || size < LEAST)
    return;
  set_colour (cr, theme->foreground, 1);
  g_autofree char *text = self->of_pixels ? g_strdup_printf (size >= WIDE ? "%.1f" : "%.0f",
                                                             100 * share_of (self, row, column))
                                          : dyno_format_count (count);
  draw_number (cr, layout, text, x, y, size);
}

static gboolean
dyno_confusion_view_draw (GtkWidget *widget, cairo_t *cr)
{
  DynoConfusionView *self = DYNO_CONFUSION_VIEW (widget);
  const DynoPlotTheme *theme = dyno_plot_theme_for_widget (widget);
  if (!self->counts)
    return GDK_EVENT_PROPAGATE;
  g_autoptr (PangoLayout) layout = new_layout (widget);
  int n = (int) self->n;
  draw_names (self, cr, layout, theme->muted);
  for (int row = 0; row < n; row++)
    for (int column = 0; column < n; column++)
      draw_cell (self, cr, layout, theme, row, column);
  double first = self->names_width + PAD, x = first + self->column * self->cell,
         y = first + self->row * self->cell;
  if (self->chosen)
    {
      set_colour (cr, theme->foreground, 1);
      cairo_set_line_width (cr, 2);
      cairo_rectangle (cr, x + 1, y + 1, self->cell - 2, self->cell - 2);
      cairo_stroke (cr);
    }
  if (gtk_widget_has_visible_focus (widget))
    gtk_render_focus (gtk_widget_get_style_context (widget), cr, x + 2, y + 2, self->cell - 4,
                      self->cell - 4);
  return GDK_EVENT_PROPAGATE;
}

/* --- choosing --------------------------------------------------------------------------------- */

static gboolean
find_cell (DynoConfusionView *self, double x, double y, int *row, int *column)
{
  double first = self->names_width + PAD;
  if (!self->counts || x < first || y < first)
    return FALSE;
  *column = (int) ((x - first) / self->cell);
  *row = (int) ((y - first) / self->cell);
  return *column < (int) self->n && *row < (int) self->n;
}

static void
describe_place (DynoConfusionView *self)
{
  g_autofree char *text = self->counts ? describe (self, self->row, self->column) : g_strdup ("");
  atk_object_set_description (gtk_widget_get_accessible (GTK_WIDGET (self)), text);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
choose (DynoConfusionView *self)
{
  self->chosen = TRUE;
  describe_place (self);
  g_signal_emit (self, chosen_signal, 0, (guint) self->row, (guint) self->column);
}

static gboolean
dyno_confusion_view_button_press (GtkWidget *widget, GdkEventButton *event)
{
  DynoConfusionView *self = DYNO_CONFUSION_VIEW (widget);
  int row, column;
  if (event->type != GDK_BUTTON_PRESS || event->button != GDK_BUTTON_PRIMARY
      || !find_cell (self, event->x, event->y, &row, &column))
    return GDK_EVENT_PROPAGATE;
  gtk_widget_grab_focus (widget);
  self->row = row;
  self->column = column;
  choose (self);
  return GDK_EVENT_STOP;
}

static gboolean
dyno_confusion_view_key_press (GtkWidget *widget, GdkEventKey *event)
{
  DynoConfusionView *self = DYNO_CONFUSION_VIEW (widget);
  int last = self->counts ? (int) self->n - 1 : -1, row = self->row, column = self->column;
  switch (last < 0 ? 0 : event->keyval)
    {
    case GDK_KEY_Up:
      row--;
      break;
    case GDK_KEY_Down:
      row++;
      break;
    case GDK_KEY_Left:
      column--;
      break;
    case GDK_KEY_Right:
      column++;
      break;
    case GDK_KEY_Home:
      column = 0;
      break;
    case GDK_KEY_End:
      column = last;
      break;
    case GDK_KEY_Return:
    case GDK_KEY_KP_Enter:
    case GDK_KEY_space:
      choose (self);
      return GDK_EVENT_STOP;
    default:
      return GTK_WIDGET_CLASS (dyno_confusion_view_parent_class)->key_press_event (widget, event);
    }
  if (row < 0 || column < 0 || row > last || column > last)
    return GDK_EVENT_STOP;
  self->chosen &= row == self->row && column == self->column;
  self->row = row;
  self->column = column;
  describe_place (self);
  return GDK_EVENT_STOP;
}

static gboolean
query_tooltip (DynoConfusionView *self, int x, int y, gboolean keyboard, GtkTooltip *tooltip)
{
  int row = self->row, column = self->column;
  if (!self->counts || (!keyboard && !find_cell (self, x, y, &row, &column)))
    return FALSE;
  g_autofree char *text = describe (self, row, column);
  gtk_tooltip_set_text (tooltip, text);
  return TRUE;
}

/* --- the view --------------------------------------------------------------------------------- */

static void
measure (DynoConfusionView *self)
{
  g_autoptr (PangoLayout) layout = new_layout (GTK_WIDGET (self));
  guint n = self->counts ? self->n : 0;
  self->cell = n <= 6 ? 46 : n <= 12 ? 34 : n <= 24 ? 26 : n <= 60 ? 18 : 8;
  self->names_width = 0;
  for (guint i = 0; i < n; i++)
    {
      int width;
      pango_layout_set_text (layout, self->names[i], -1);
      pango_layout_get_pixel_size (layout, &width, NULL);
      self->names_width = MAX (self->names_width, MIN (width + 1, MOST_NAME));
    }
  int size = n > 0 ? self->names_width + PAD + (int) n * self->cell + 1 : 0;
  gtk_widget_set_size_request (GTK_WIDGET (self), size, size);
}

void
dyno_confusion_view_set_counts (DynoConfusionView *self, const guint64 *counts,
                                const DynoWeightsInfo *info, gboolean of_pixels)
{
  g_clear_pointer (&self->names, g_strfreev);
  self->counts = counts;
  self->n = counts ? info->n_outputs : 0;
  self->of_pixels = of_pixels;
  self->row = self->column = 0;
  self->chosen = FALSE;
  self->names = g_new0 (char *, self->n + 1);
  for (guint32 i = 0; i < self->n; i++)
    self->names[i] = dyno_weights_info_name_class (info, i);
  measure (self);
  describe_place (self);
}

void
dyno_confusion_view_unchoose (DynoConfusionView *self)
{
  self->chosen = FALSE;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

GtkWidget *
dyno_confusion_view_new (void)
{
  return g_object_new (DYNO_TYPE_CONFUSION_VIEW, NULL);
}

static void
dyno_confusion_view_finalize (GObject *object)
{
  g_strfreev (DYNO_CONFUSION_VIEW (object)->names);
  G_OBJECT_CLASS (dyno_confusion_view_parent_class)->finalize (object);
}

static void
dyno_confusion_view_class_init (DynoConfusionViewClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->finalize = dyno_confusion_view_finalize;
  widget_class->draw = dyno_confusion_view_draw;
  widget_class->button_press_event = dyno_confusion_view_button_press;
  widget_class->key_press_event = dyno_confusion_view_key_press;
  gtk_widget_class_set_accessible_role (widget_class, ATK_ROLE_CHART);
  chosen_signal = g_signal_new ("chosen", DYNO_TYPE_CONFUSION_VIEW, G_SIGNAL_RUN_LAST, 0, NULL,
                                NULL, NULL, G_TYPE_NONE, 2, G_TYPE_UINT, G_TYPE_UINT);
}

static void
dyno_confusion_view_init (DynoConfusionView *self)
{
  gtk_widget_set_can_focus (GTK_WIDGET (self), TRUE);
  gtk_widget_add_events (GTK_WIDGET (self), GDK_BUTTON_PRESS_MASK | GDK_KEY_PRESS_MASK);
  gtk_widget_set_has_tooltip (GTK_WIDGET (self), TRUE);
  g_signal_connect (self, "query-tooltip", G_CALLBACK (query_tooltip), NULL);
  dyno_widget_set_accessible_name (GTK_WIDGET (self), _ ("Confusion matrix"));
}
