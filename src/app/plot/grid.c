/* SPDX-License-Identifier: MIT */
/* Cards of plots.  The number of columns follows the width of the grid: children are attached anew
 * in an idle call, since none may move during an allocation. */
#include "grid.h"
#include "row.h"
#include <glib/gi18n.h>

#define TWO_COLUMNS 1100 /* width of the grid in pixels, in a window of 1600 pixels */
#define BUTTON_ROOM 30

typedef struct {
  DynoPlotView *view;
  GtkWidget *card, *button;
  gboolean shown;
} Cell;

struct _DynoPlotGrid {
  GtkGrid parent_instance;
  GArray *cells;
  DynoPlotView *maximized; /* or NULL */
  int columns;
  guint idle;
};

G_DEFINE_FINAL_TYPE (DynoPlotGrid, dyno_plot_grid, GTK_TYPE_GRID)

static void
place (DynoPlotGrid *self)
{
  int n = 0;
  for (guint i = 0; i < self->cells->len; i++)
    {
      Cell *cell = &g_array_index (self->cells, Cell, i);
      gboolean shown = self->maximized ? cell->view == self->maximized : cell->shown;
      int columns = self->maximized ? 1 : self->columns, at = shown ? n++ : 0;
      gtk_widget_set_visible (cell->card, shown);
      /* Hidden cards are attached, too: their rows count among the rows of equal height. */
      gtk_container_child_set (GTK_CONTAINER (self), cell->card, "left-attach", at % columns,
                               "top-attach", at / columns, NULL);
    }
}

static gboolean
place_later (gpointer data)
{
  DynoPlotGrid *self = data;
  self->idle = 0;
  place (self);
  return G_SOURCE_REMOVE;
}

static void
dyno_plot_grid_size_allocate (GtkWidget *widget, GtkAllocation *allocation)
{
  DynoPlotGrid *self = DYNO_PLOT_GRID (widget);
  int columns = allocation->width >= TWO_COLUMNS ? 2 : 1;
  if (columns != self->columns)
    {
      self->columns = columns;
      if (self->idle == 0)
        self->idle = g_idle_add (place_later, self);
    }
  GTK_WIDGET_CLASS (dyno_plot_grid_parent_class)->size_allocate (widget, allocation);
}

static Cell *
find_cell (DynoPlotGrid *self, DynoPlotView *view)
{
  for (guint i = 0; i < self->cells->len; i++)
    if (g_array_index (self->cells, Cell, i).view == view)
      return &g_array_index (self->cells, Cell, i);
  return NULL;
}

static void
show_button (Cell *cell, gboolean maximized)
{
  const char *text = maximized ? _ ("Show all plots (M)") : _ ("Show this plot alone (M)");
  gtk_button_set_image (GTK_BUTTON (cell->button),
                        gtk_image_new_from_icon_name (maximized ? "view-restore-symbolic"
                                                                : "view-fullscreen-symbolic",
                                                      GTK_ICON_SIZE_MENU));
  gtk_widget_set_tooltip_text (cell->button, text);
  dyno_widget_set_accessible_name (cell->button, text);
}

void
dyno_plot_grid_toggle_maximized (DynoPlotGrid *self, DynoPlotView *view)
{
  Cell *cell = find_cell (self, view);
  g_return_if_fail (cell);
  self->maximized = self->maximized == view ? NULL : view;
  show_button (cell, self->maximized != NULL);
  place (self);
  gtk_widget_grab_focus (GTK_WIDGET (view));
}

static void
maximize_asked (DynoPlotGrid *self, GtkWidget *child)
{
  for (guint i = 0; i < self->cells->len; i++)
    {
      const Cell *cell = &g_array_index (self->cells, Cell, i);
      if (GTK_WIDGET (cell->view) == child || cell->button == child)
        dyno_plot_grid_toggle_maximized (self, cell->view);
    }
}

void
dyno_plot_grid_add (DynoPlotGrid *self, DynoPlotView *view)
{
  GtkWidget *overlay = gtk_overlay_new (), *button = gtk_button_new ();
  Cell cell = { .view = view,
                .card = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0),
                .button = button };
  g_object_set (view, "expand", TRUE, "width-request", 240, NULL);
  g_object_set (button, "halign", GTK_ALIGN_END, "valign", GTK_ALIGN_START, "relief",
                GTK_RELIEF_NONE, NULL);
  /* The names of the lines stand at the right in every language: the time axis is left to right. */
  gtk_widget_set_direction (button, GTK_TEXT_DIR_LTR);
  dyno_widget_add_class (button, "plot-button", TRUE);
  dyno_widget_add_class (cell.card, "card", TRUE);
  dyno_widget_add_class (cell.card, "plot-card", TRUE);
  gtk_container_add (GTK_CONTAINER (overlay), GTK_WIDGET (view));
  gtk_overlay_add_overlay (GTK_OVERLAY (overlay), button);
  gtk_container_add (GTK_CONTAINER (cell.card), overlay);
  dyno_plot_view_set_title_room (view, BUTTON_ROOM);
  show_button (&cell, FALSE);
  gtk_widget_show_all (overlay);
  g_signal_connect_swapped (button, "clicked", G_CALLBACK (maximize_asked), self);
  g_signal_connect_swapped (view, "maximize", G_CALLBACK (maximize_asked), self);
  gtk_grid_attach (GTK_GRID (self), cell.card, 0, 0, 1, 1);
  g_array_append_val (self->cells, cell);
}

void
dyno_plot_grid_set_shown (DynoPlotGrid *self, DynoPlotView *view, gboolean shown)
{
  Cell *cell = find_cell (self, view);
  g_return_if_fail (cell);
  if (cell->shown == shown)
    return;
  cell->shown = shown;
  if (!shown && self->maximized == view)
    {
      self->maximized = NULL;
      show_button (cell, FALSE);
    }
  place (self);
}

GtkWidget *
dyno_plot_grid_new (void)
{
  return g_object_new (DYNO_TYPE_PLOT_GRID, NULL);
}

static void
dyno_plot_grid_dispose (GObject *object)
{
  g_clear_handle_id (&DYNO_PLOT_GRID (object)->idle, g_source_remove);
  G_OBJECT_CLASS (dyno_plot_grid_parent_class)->dispose (object);
}

static void
dyno_plot_grid_finalize (GObject *object)
{
  g_array_unref (DYNO_PLOT_GRID (object)->cells);
  G_OBJECT_CLASS (dyno_plot_grid_parent_class)->finalize (object);
}

static void
dyno_plot_grid_class_init (DynoPlotGridClass *class)
{
  G_OBJECT_CLASS (class)->dispose = dyno_plot_grid_dispose;
  G_OBJECT_CLASS (class)->finalize = dyno_plot_grid_finalize;
  GTK_WIDGET_CLASS (class)->size_allocate = dyno_plot_grid_size_allocate;
}

static void
dyno_plot_grid_init (DynoPlotGrid *self)
{
  self->cells = g_array_new (FALSE, FALSE, sizeof (Cell));
  self->columns = 1;
  g_object_set (self, "row-homogeneous", TRUE, "column-homogeneous", TRUE, "row-spacing", 12,
                "column-spacing", 12, NULL);
}
