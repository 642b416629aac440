/* SPDX-License-Identifier: MIT */
/* Pictures are made only while the card is visible and unfolded, for one event at a time: when an
 * event is drawn, the newest one follows. */
#include "maskcard.h"
#include "format.h"
#include "maskpicture.h"
#include "metric.h"
#include "row.h"
#include "watchedmasks.h"
#include <glib/gi18n.h>

#define SMALL  84 /* pixels a side of a picture: eight fit beside the form of a window of 1240 */
#define LARGE  132
#define WIDE   1130 /* width of the card from which on pictures are LARGE */
#define ZOOM   256  /* pixels a side of the chosen sample's pictures, where the window has room */
#define ROOM   64   /* margins around the two pictures */
#define CHARS  20   /* most characters of a class's name */
#define LEGEND 5    /* names per row */

typedef struct {
  GtkWidget *truth, *predicted;
} Pair;

typedef struct {
  GtkWidget *child, *label;
  Pair pair;
} Cell;

struct _DynoMaskCard {
  GtkBox parent_instance;
  GtkWidget *expander, *epoch, *empty, *flow;
  GtkWidget *popover, *zoom_label, *legend; /* of the chosen sample */
  Pair zoom;
  guint chosen;
  Cell cells[DYNO_MOST_WATCHED];
  DynoRunMonitor *monitor;
  DynoMaskDrawer *drawer;  /* of the run; NULL: nothing was drawn for it yet */
  DynoEvent *event;        /* the event that was drawn last or is being drawn */
  GCancellable *drawing;   /* NULL: nothing is being drawn */
  DynoWatchedMasks *masks; /* the masks that are shown */
  int side;
  guint idle;
};

G_DEFINE_FINAL_TYPE (DynoMaskCard, dyno_mask_card, GTK_TYPE_BOX)

/* --- a picture -------------------------------------------------------------------------------- */

/* Draws the whole picture as large as it fits; the pixels of a small picture stay sharp squares. */
static gboolean
draw_picture (GtkWidget *widget, cairo_t *cr, gpointer data)
{
  GdkPixbuf *pixbuf = g_object_get_data (G_OBJECT (widget), "dyno-picture");
  if (!pixbuf)
    return GDK_EVENT_PROPAGATE;
  int width = gdk_pixbuf_get_width (pixbuf), height = gdk_pixbuf_get_height (pixbuf);
  double own_width = gtk_widget_get_allocated_width (widget),
         own_height = gtk_widget_get_allocated_height (widget),
         scale = MIN (own_width / width, own_height / height);
  cairo_translate (cr, (own_width - scale * width) / 2, (own_height - scale * height) / 2);
  cairo_scale (cr, scale, scale);
  gdk_cairo_set_source_pixbuf (cr, pixbuf, 0, 0);
  cairo_pattern_set_filter (cairo_get_source (cr),
                            scale > 1 ? CAIRO_FILTER_NEAREST : CAIRO_FILTER_GOOD);
  cairo_paint (cr);
  return GDK_EVENT_PROPAGATE;
}

static void
set_picture (GtkWidget *picture, GdkPixbuf *pixbuf)
{
  g_object_set_data_full (G_OBJECT (picture), "dyno-picture", pixbuf ? g_object_ref (pixbuf) : NULL,
                          g_object_unref);
  gtk_widget_queue_draw (picture);
}

static GtkWidget *
picture_new (const char *name, int side)
{
  GtkWidget *picture = gtk_drawing_area_new ();
  gtk_widget_set_size_request (picture, side, side);
  atk_object_set_role (gtk_widget_get_accessible (picture), ATK_ROLE_IMAGE);
  dyno_widget_set_accessible_name (picture, name);
  g_signal_connect (picture, "draw", G_CALLBACK (draw_picture), NULL);
  return picture;
}

/* The title names the left picture first, so the order is left to right in any language. */
static GtkWidget *
pair_new (Pair *pair, int side)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 2);
  pair->truth = picture_new (_ ("Truth"), side);
  pair->predicted = picture_new (_ ("Prediction"), side);
  gtk_widget_set_direction (box, GTK_TEXT_DIR_LTR);
  gtk_widget_set_halign (box, GTK_ALIGN_CENTER);
  gtk_container_add (GTK_CONTAINER (box), pair->truth);
  gtk_container_add (GTK_CONTAINER (box), pair->predicted);
  return box;
}

static void
show_pair (Pair *pair, const DynoWatchedMask *mask)
{
  set_picture (pair->truth, mask->truth);
  set_picture (pair->predicted, mask->predicted);
}

/* --- the samples ------------------------------------------------------------------------------ */

static void
set_side (Pair *pair, int side)
{
  gtk_widget_set_size_request (pair->truth, side, side);
  gtk_widget_set_size_request (pair->predicted, side, side);
}

static void
stay_unfocused (GtkWidget *child, gpointer data)
{
  gtk_widget_set_can_focus (child, FALSE);
}

static char *
describe_iou (const DynoWatchedMask *mask)
{
  g_autofree char *iou = dyno_format_percent (mask->iou);
  /* Translators: a share */
  return g_strdup_printf (_ ("Mean IoU %s"), iou);
}

/* The colours of the classes that can be seen. */
static void
show_legend (DynoMaskCard *self, const DynoWatchedMask *mask)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (self->event->masks.dataset);
  dyno_widget_clear (self->legend);
  for (guint i = 0; i < info->n_classes; i++)
    {
      if (!mask->there[i])
        continue;
      GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6),
                *name = gtk_label_new (info->class_names[i]);
      gtk_label_set_ellipsize (GTK_LABEL (name), PANGO_ELLIPSIZE_END);
      gtk_label_set_max_width_chars (GTK_LABEL (name), CHARS);
      gtk_container_add (GTK_CONTAINER (box), dyno_mask_swatch_new ((guint8) i));
      gtk_container_add (GTK_CONTAINER (box), name);
      gtk_container_add (GTK_CONTAINER (self->legend), box);
    }
  gtk_container_foreach (GTK_CONTAINER (self->legend), (GtkCallback) stay_unfocused, NULL);
  gtk_widget_show_all (self->legend);
}

static void
show_zoom (DynoMaskCard *self)
{
  if (!self->masks || self->chosen >= self->masks->n)
    return;
  const DynoWatchedMask *mask = &self->masks->masks[self->chosen];
  g_autofree char *iou = describe_iou (mask), *text = g_strdup_printf ("%s\n%s", mask->name, iou);
  gtk_label_set_text (GTK_LABEL (self->zoom_label), text);
  show_pair (&self->zoom, mask);
  show_legend (self, mask);
}

static void
show_masks (DynoMaskCard *self)
{
  guint n = self->masks ? self->masks->n : 0;
  g_autofree char *count = NULL, *epoch = NULL;
  for (guint i = 0; i < DYNO_MOST_WATCHED; i++)
    {
      Cell *cell = &self->cells[i];
      gtk_widget_set_visible (cell->child, i < n);
      if (i >= n)
        continue;
      const DynoWatchedMask *mask = &self->masks->masks[i];
      g_autofree char *iou = describe_iou (mask),
                      *name = g_strdup_printf ("%s: %s", mask->name, iou);
      show_pair (&cell->pair, mask);
      gtk_label_set_text (GTK_LABEL (cell->label), iou);
      gtk_widget_set_tooltip_text (cell->child, mask->name);
      dyno_widget_set_accessible_name (cell->child, name);
    }
  if (n > 0)
    {
      count = dyno_format_count (self->masks->epoch);
      /* Translators: a number */
      epoch = g_strdup_printf (_ ("After epoch %s"), count);
    }
  gtk_label_set_text (GTK_LABEL (self->epoch), epoch ? epoch : "");
  /* The label in the title of an expander is not accessible. */
  atk_object_set_description (gtk_widget_get_accessible (self->expander), epoch ? epoch : "");
  gtk_widget_set_visible (self->flow, n > 0);
  gtk_widget_set_visible (self->empty, n == 0);
  show_zoom (self);
}

static void draw_newest (DynoMaskCard *self);

static void
drawn (GObject *source, GAsyncResult *result, gpointer data)
{
  DynoMaskCard *self = data;
  DynoWatchedMasks *masks = dyno_mask_drawer_finish (result);
  if (!masks) /* cancelled: the pictures are of another run, or the card is freed */
    return;
  g_clear_object (&self->drawing);
  g_clear_pointer (&self->masks, dyno_watched_masks_free);
  self->masks = masks;
  show_masks (self);
  draw_newest (self);
}

static void
draw_newest (DynoMaskCard *self)
{
  DynoEvent *newest = self->monitor ? dyno_run_monitor_get_masks (self->monitor) : NULL;
  if (!newest || newest == self->event || self->drawing
      || !gtk_widget_get_mapped (GTK_WIDGET (self))
      || !gtk_expander_get_expanded (GTK_EXPANDER (self->expander)))
    return;
  g_clear_pointer (&self->event, dyno_event_unref);
  self->event = dyno_event_ref (newest);
  if (!self->drawer)
    self->drawer = dyno_mask_drawer_new ();
  self->drawing = g_cancellable_new ();
  dyno_mask_drawer_draw_async (self->drawer, newest, self->drawing, drawn, self);
}

static void
forget (DynoMaskCard *self)
{
  if (self->drawing)
    g_cancellable_cancel (self->drawing);
  g_clear_object (&self->drawing);
  g_clear_pointer (&self->drawer, dyno_mask_drawer_unref);
  g_clear_pointer (&self->event, dyno_event_unref);
  g_clear_pointer (&self->masks, dyno_watched_masks_free);
}

/* --- the run ---------------------------------------------------------------------------------- */

static gboolean
will_have_masks (const DynoRunStatus *s)
{
  return s->n_validation > 0 && s->metrics.n > 0
         && g_strcmp0 (s->metrics.infos[0].name, dyno_pixel_metrics[0].name) == 0;
}

static void
show_run (DynoMaskCard *self)
{
  gboolean has_some = dyno_run_monitor_get_masks (self->monitor) != NULL;
  if (!has_some && self->event) /* another run has begun */
    {
      forget (self);
      gtk_popover_popdown (GTK_POPOVER (self->popover));
      show_masks (self);
    }
  gtk_widget_set_visible (
      GTK_WIDGET (self), has_some || will_have_masks (dyno_run_monitor_get_status (self->monitor)));
  draw_newest (self);
}

void
dyno_mask_card_set_run (DynoMaskCard *self, DynoRunMonitor *monitor)
{
  self->monitor = monitor;
  g_signal_connect_object (monitor, "changed", G_CALLBACK (show_run), self, G_CONNECT_SWAPPED);
  show_run (self);
}

void
dyno_mask_card_set_state (DynoMaskCard *self, DynoState *state)
{
  if (state)
    g_settings_bind (state, "masks-unfolded", self->expander, "expanded", G_SETTINGS_BIND_DEFAULT);
}

static void
chosen (GtkFlowBox *flow, GtkFlowBoxChild *child, DynoMaskCard *self)
{
  self->chosen = (guint) gtk_flow_box_child_get_index (child);
  GtkWidget *window = gtk_widget_get_toplevel (GTK_WIDGET (self));
  int width = gtk_widget_get_allocated_width (window),
      height = gtk_widget_get_allocated_height (window);
  set_side (&self->zoom, CLAMP (MIN ((width - ROOM) / 2, height / 3), SMALL, ZOOM));
  show_zoom (self);
  gtk_popover_set_relative_to (GTK_POPOVER (self->popover), GTK_WIDGET (child));
  gtk_popover_popup (GTK_POPOVER (self->popover));
}

/* --- the widgets ------------------------------------------------------------------------------ */

static gboolean
resize_later (gpointer data)
{
  DynoMaskCard *self = data;
  self->idle = 0;
  for (guint i = 0; i < DYNO_MOST_WATCHED; i++)
    set_side (&self->cells[i].pair, self->side);
  return G_SOURCE_REMOVE;
}

/* No child may change its size during an allocation. */
static void
dyno_mask_card_size_allocate (GtkWidget *widget, GtkAllocation *allocation)
{
  DynoMaskCard *self = DYNO_MASK_CARD (widget);
  int side = allocation->width >= WIDE ? LARGE : SMALL;
  if (side != self->side)
    {
      self->side = side;
      if (self->idle == 0)
        self->idle = g_idle_add (resize_later, self);
    }
  GTK_WIDGET_CLASS (dyno_mask_card_parent_class)->size_allocate (widget, allocation);
}

static void
dyno_mask_card_dispose (GObject *object)
{
  DynoMaskCard *self = DYNO_MASK_CARD (object);
  forget (self);
  self->monitor = NULL;
  g_clear_handle_id (&self->idle, g_source_remove);
  G_OBJECT_CLASS (dyno_mask_card_parent_class)->dispose (object);
}

static void
dyno_mask_card_class_init (DynoMaskCardClass *class)
{
  G_OBJECT_CLASS (class)->dispose = dyno_mask_card_dispose;
  GTK_WIDGET_CLASS (class)->size_allocate = dyno_mask_card_size_allocate;
}

static GtkWidget *
title_new (DynoMaskCard *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12),
            *title = gtk_label_new (_ ("Validation Samples: Truth, Prediction"));
  self->epoch = gtk_label_new (NULL);
  gtk_label_set_xalign (GTK_LABEL (title), 0);
  gtk_label_set_ellipsize (GTK_LABEL (title), PANGO_ELLIPSIZE_END);
  dyno_widget_add_class (title, "bar-title", TRUE);
  dyno_widget_add_class (self->epoch, "caption", TRUE);
  dyno_widget_add_class (self->epoch, "numeric", TRUE);
  g_object_set (box, "margin-start", 4, NULL);
  gtk_container_add (GTK_CONTAINER (box), title);
  gtk_container_add (GTK_CONTAINER (box), self->epoch);
  gtk_widget_show_all (box);
  return box;
}

static void
add_cell (DynoMaskCard *self, Cell *cell)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 4);
  cell->child = gtk_flow_box_child_new ();
  cell->label = gtk_label_new (NULL);
  dyno_widget_add_class (cell->label, "caption", TRUE);
  dyno_widget_add_class (cell->label, "numeric", TRUE);
  gtk_container_add (GTK_CONTAINER (box), pair_new (&cell->pair, self->side));
  gtk_container_add (GTK_CONTAINER (box), cell->label);
  gtk_container_add (GTK_CONTAINER (cell->child), box);
  gtk_container_add (GTK_CONTAINER (self->flow), cell->child);
  gtk_widget_show_all (box);
}

static void
add_popover (DynoMaskCard *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  self->popover = gtk_popover_new (self->flow);
  gtk_popover_set_position (GTK_POPOVER (self->popover), GTK_POS_BOTTOM);
  self->zoom_label = gtk_label_new (NULL);
  gtk_label_set_justify (GTK_LABEL (self->zoom_label), GTK_JUSTIFY_CENTER);
  gtk_label_set_ellipsize (GTK_LABEL (self->zoom_label), PANGO_ELLIPSIZE_MIDDLE);
  self->legend = gtk_flow_box_new ();
  g_object_set (self->legend, "selection-mode", GTK_SELECTION_NONE, "column-spacing", 12,
                "max-children-per-line", LEGEND, NULL);
  dyno_widget_set_accessible_name (self->legend, _ ("Classes"));
  g_object_set (box, "margin", 10, NULL);
  gtk_container_add (GTK_CONTAINER (box), pair_new (&self->zoom, ZOOM));
  gtk_container_add (GTK_CONTAINER (box), self->zoom_label);
  gtk_container_add (GTK_CONTAINER (box), self->legend);
  gtk_container_add (GTK_CONTAINER (self->popover), box);
  dyno_widget_set_accessible_name (self->popover, _ ("Validation Samples: Truth, Prediction"));
  gtk_widget_show_all (box);
}

static void
dyno_mask_card_init (DynoMaskCard *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  self->side = SMALL;
  self->expander = gtk_expander_new (NULL);
  gtk_expander_set_label_widget (GTK_EXPANDER (self->expander), title_new (self));
  gtk_expander_set_label_fill (GTK_EXPANDER (self->expander), TRUE);
  gtk_expander_set_expanded (GTK_EXPANDER (self->expander), TRUE);
  dyno_widget_set_accessible_name (self->expander, _ ("Validation Samples: Truth, Prediction"));
  g_object_set (self->expander, "margin", 10, NULL);
  /* The epoch is hidden while the card is folded, since it is not updated then. */
  g_object_bind_property (self->expander, "expanded", self->epoch, "visible",
                          G_BINDING_SYNC_CREATE);
  self->empty = gtk_label_new (_ ("Their masks appear after the first validation"));
  gtk_label_set_line_wrap (GTK_LABEL (self->empty), TRUE);
  dyno_widget_add_class (self->empty, "caption", TRUE);
  g_object_set (self->empty, "margin", 12, "visible", TRUE, NULL);
  self->flow = gtk_flow_box_new ();
  g_object_set (self->flow, "selection-mode", GTK_SELECTION_NONE, "max-children-per-line",
                DYNO_MOST_WATCHED, "column-spacing", 12, "row-spacing", 8, "homogeneous", TRUE,
                "margin-top", 8, NULL);
  dyno_widget_set_accessible_name (self->flow, _ ("Validation Samples: Truth, Prediction"));
  for (guint i = 0; i < DYNO_MOST_WATCHED; i++)
    add_cell (self, &self->cells[i]);
  add_popover (self);
  gtk_container_add (GTK_CONTAINER (box), self->empty);
  gtk_container_add (GTK_CONTAINER (box), self->flow);
  gtk_container_add (GTK_CONTAINER (self->expander), box);
  gtk_container_add (GTK_CONTAINER (self), self->expander);
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  dyno_widget_add_class (GTK_WIDGET (self), "card", TRUE);
  gtk_widget_show (box);
  gtk_widget_show (self->expander);
  g_signal_connect_object (self->flow, "child-activated", G_CALLBACK (chosen), self, 0);
  g_signal_connect_object (self->expander, "notify::expanded", G_CALLBACK (draw_newest), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect (self, "map", G_CALLBACK (draw_newest), NULL);
}
