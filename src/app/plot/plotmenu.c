/* SPDX-License-Identifier: MIT */
#include "plotmenu.h"
#include "export-dialog.h"
#include "theme.h"
#include <glib/gi18n.h>
#include <math.h>

#define SCALE       2 /* pixels of a picture per unit, for screens of any density */
#define FILE_WIDTH  900
#define FILE_HEIGHT 300

/* The read-out is omitted, since it only marks the position of the pointer. */
static DynoPlot
get_plot (DynoPlotView *view)
{
  DynoPlot plot = *dyno_plot_view_get_plot (view);
  plot.cursor_x = NAN;
  return plot;
}

/* The picture has the size, colours and span of the view. */
static void
copy_picture (GtkMenuItem *item, DynoPlotView *view)
{
  GtkWidget *widget = GTK_WIDGET (view);
  int width = gtk_widget_get_allocated_width (widget),
      height = gtk_widget_get_allocated_height (widget);
  DynoPlot plot = get_plot (view);
  cairo_surface_t *surface =
      cairo_image_surface_create (CAIRO_FORMAT_RGB24, width * SCALE, height * SCALE);
  cairo_t *cr = cairo_create (surface);
  cairo_scale (cr, SCALE, SCALE);
  dyno_plot_draw (cr, &plot, dyno_plot_theme_for_widget (widget), width, height, SCALE);
  cairo_destroy (cr);
  g_autoptr (GdkPixbuf) picture =
      gdk_pixbuf_get_from_surface (surface, 0, 0, width * SCALE, height * SCALE);
  cairo_surface_destroy (surface);
  if (picture)
    gtk_clipboard_set_image (gtk_widget_get_clipboard (widget, GDK_SELECTION_CLIPBOARD), picture);
}

static void
report_not_saved (GtkWidget *widget, const GError *error)
{
  GtkWidget *window = gtk_widget_get_toplevel (widget);
  GtkWidget *dialog = gtk_message_dialog_new (
      GTK_WINDOW (window), GTK_DIALOG_MODAL | GTK_DIALOG_DESTROY_WITH_PARENT, GTK_MESSAGE_ERROR,
      GTK_BUTTONS_CLOSE, "%s", _ ("The picture was not saved"));
  gtk_message_dialog_format_secondary_text (GTK_MESSAGE_DIALOG (dialog), "%s", error->message);
  g_signal_connect (dialog, "response", G_CALLBACK (gtk_widget_destroy), NULL);
  gtk_widget_show (dialog);
}

static void
save_chosen (const char *path, const DynoExporter *exporter, gpointer data)
{
  DynoPlot plot = get_plot (data);
  g_autoptr (GError) error = NULL;
  if (!dyno_plot_write (&plot, 1, dyno_plot_theme_for_files (data), FILE_WIDTH, FILE_HEIGHT, SCALE,
                        path, &error))
    report_not_saved (data, error);
}

static void
save_picture (GtkMenuItem *item, DynoPlotView *view)
{
  GtkWidget *window = gtk_widget_get_toplevel (GTK_WIDGET (view));
  dyno_dialog_save_as (GTK_WINDOW (window), _ ("Save the Plot as PNG, SVG or PDF"), "dyno-plot.png",
                       save_chosen, g_object_ref (view), g_object_unref);
}

static void
reset_zoom (GtkMenuItem *item, DynoPlotView *view)
{
  g_signal_emit_by_name (view, "span", 0.0, 0.0);
}

static GtkWidget *
add_item (GtkWidget *menu, const char *label, GCallback activated, DynoPlotView *view)
{
  GtkWidget *item = gtk_menu_item_new_with_mnemonic (label);
  g_signal_connect_object (item, "activate", activated, view, 0);
  gtk_menu_shell_append (GTK_MENU_SHELL (menu), item);
  return item;
}

static gboolean
destroy (gpointer menu)
{
  gtk_widget_destroy (menu);
  return G_SOURCE_REMOVE;
}

/* The menu is destroyed later, since GTK still uses an item that a screen reader has activated. */
static void
menu_done (GtkWidget *menu)
{
  g_idle_add_full (G_PRIORITY_LOW, destroy, g_object_ref (menu), g_object_unref);
}

/* event: the button press that opens the menu; NULL: a key opens it. */
static void
popup (DynoPlotView *view, const GdkEvent *event)
{
  const DynoPlot *plot = dyno_plot_view_get_plot (view);
  GtkWidget *menu = gtk_menu_new (), *reset;
  add_item (menu, _ ("_Copy as Picture"), G_CALLBACK (copy_picture), view);
  add_item (menu, _ ("_Save as Picture…"), G_CALLBACK (save_picture), view);
  reset = add_item (menu, _ ("_Reset Zoom"), G_CALLBACK (reset_zoom), view);
  gtk_widget_set_sensitive (reset, plot->x0 < plot->x1);
  gtk_widget_show_all (menu);
  gtk_menu_attach_to_widget (GTK_MENU (menu), GTK_WIDGET (view), NULL);
  g_signal_connect (menu, "selection-done", G_CALLBACK (menu_done), NULL);
  if (event)
    gtk_menu_popup_at_pointer (GTK_MENU (menu), event);
  else
    gtk_menu_popup_at_widget (GTK_MENU (menu), GTK_WIDGET (view), GDK_GRAVITY_CENTER,
                              GDK_GRAVITY_NORTH_WEST, NULL);
}

static gboolean
button_pressed (DynoPlotView *view, GdkEvent *event)
{
  if (!gdk_event_triggers_context_menu (event))
    return GDK_EVENT_PROPAGATE;
  popup (view, event);
  return GDK_EVENT_STOP;
}

static gboolean
key_pressed (DynoPlotView *view)
{
  popup (view, NULL);
  return TRUE;
}

void
dyno_plot_menu_attach (DynoPlotView *view)
{
  g_signal_connect (view, "button-press-event", G_CALLBACK (button_pressed), NULL);
  g_signal_connect (view, "popup-menu", G_CALLBACK (key_pressed), NULL);
}
