/* SPDX-License-Identifier: MIT */
#include "parts.h"
#include <handy.h>
#include <string.h>

static void
collect_texts (GtkWidget *widget, gpointer data)
{
  GString *texts = data;

  if (!gtk_widget_get_visible (widget))
    return;
  if (GTK_IS_LABEL (widget) && *gtk_label_get_text (GTK_LABEL (widget)))
    g_string_append_printf (texts, "%s%s", texts->len > 0 ? "\n" : "",
                            gtk_label_get_text (GTK_LABEL (widget)));
  else if (GTK_IS_CONTAINER (widget))
    gtk_container_forall (GTK_CONTAINER (widget), collect_texts, texts);
}

char *
parts_get_texts (GtkWidget *widget)
{
  GString *texts = g_string_new (NULL);

  collect_texts (widget, texts);
  g_string_replace (texts, "\302\240", " ", 0);
  return g_string_free (texts, FALSE);
}

void
parts_assert_texts (GtkWidget *widget, const char *expected)
{
  g_autofree char *texts = parts_get_texts (widget);

  g_assert_cmpstr (texts, ==, expected);
}

static gboolean
says (const char *texts, const char *text)
{
  g_auto (GStrv) lines = g_strsplit (texts, "\n", -1);

  return g_strv_contains ((const char *const *) lines, text);
}

void
parts_assert_says (GtkWidget *widget, const char *text)
{
  g_autofree char *texts = parts_get_texts (widget);

  if (!says (texts, text))
    g_error ("“%s” is not shown, but:\n%s", text, texts);
}

void
parts_assert_says_not (GtkWidget *widget, const char *text)
{
  g_autofree char *texts = parts_get_texts (widget);

  if (says (texts, text))
    g_error ("“%s” is shown:\n%s", text, texts);
}

typedef struct {
  GType type;
  const char *text; /* NULL: any */
  GtkWidget *found;
} Wanted;

static gboolean
has_text (GtkWidget *widget, const char *text)
{
  const char *label = GTK_IS_BUTTON (widget) ? gtk_button_get_label (GTK_BUTTON (widget)) : NULL;
  g_autofree char *tooltip = label ? NULL : gtk_widget_get_tooltip_text (widget);

  return g_strcmp0 (label ? label : tooltip, text) == 0;
}

static void
look (GtkWidget *widget, gpointer data)
{
  Wanted *wanted = data;

  if (wanted->found)
    return;
  if (g_type_is_a (G_OBJECT_TYPE (widget), wanted->type)
      && (!wanted->text || has_text (widget, wanted->text)))
    wanted->found = widget;
  else if (GTK_IS_CONTAINER (widget))
    gtk_container_forall (GTK_CONTAINER (widget), look, wanted);
}

GtkWidget *
parts_find (GtkWidget *widget, GType type)
{
  Wanted wanted = { type, NULL, NULL };

  look (widget, &wanted);
  return wanted.found;
}

static void
collect (GtkWidget *widget, gpointer data)
{
  GPtrArray *found = data;
  GType type = GPOINTER_TO_SIZE (g_ptr_array_index (found, 0));

  if (g_type_is_a (G_OBJECT_TYPE (widget), type))
    g_ptr_array_add (found, widget);
  else if (GTK_IS_CONTAINER (widget))
    gtk_container_forall (GTK_CONTAINER (widget), collect, found);
}

GPtrArray *
parts_find_all (GtkWidget *widget, GType type)
{
  GPtrArray *found = g_ptr_array_new ();

  g_ptr_array_add (found, GSIZE_TO_POINTER (type)); /* only while it is filled */
  collect (widget, found);
  g_ptr_array_remove_index (found, 0);
  return found;
}

GtkWidget *
parts_find_button (GtkWidget *widget, const char *text)
{
  Wanted wanted = { GTK_TYPE_BUTTON, text, NULL };

  look (widget, &wanted);
  if (!wanted.found)
    g_error ("There is no button “%s”", text);
  return wanted.found;
}

GtkWidget *
parts_find_dialog (const char *title)
{
  g_autoptr (GList) windows = gtk_window_list_toplevels ();

  for (GList *l = windows; l; l = l->next)
    if (GTK_IS_DIALOG (l->data) && g_strcmp0 (gtk_window_get_title (l->data), title) == 0)
      return l->data;
  g_error ("There is no dialog “%s”", title);
}

static gboolean
end_wait (gpointer data)
{
  g_error ("a part has waited for minutes");
  return G_SOURCE_REMOVE;
}

void
parts_wait (gboolean (*answer) (gpointer data), gpointer data)
{
  guint limit = g_timeout_add_seconds (120, end_wait, NULL);

  while (!answer (data))
    g_main_context_iteration (NULL, TRUE);
  g_source_remove (limit);
}

static gboolean
has_size (gpointer widget)
{
  return gtk_widget_get_mapped (widget) && gtk_widget_get_allocated_width (widget) > 1;
}

GtkWidget *
parts_show (GtkWidget *widget, int width, int height)
{
  GtkWidget *window = gtk_window_new (GTK_WINDOW_TOPLEVEL);

  gtk_window_set_default_size (GTK_WINDOW (window), width, height);
  gtk_container_add (GTK_CONTAINER (window), widget);
  gtk_widget_show (widget);
  gtk_widget_show (window);
  parts_wait (has_size, widget);
  return window;
}

char *
parts_draw (GtkWidget *widget)
{
  GtkAllocation place;

  /* A resize that is due would come with the next frame. */
  gtk_widget_get_allocation (widget, &place);
  gtk_widget_get_preferred_size (widget, NULL, NULL);
  gtk_widget_size_allocate (widget, &place);
  int width = gtk_widget_get_allocated_width (widget),
      height = gtk_widget_get_allocated_height (widget);
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, width, height);
  cairo_t *cr = cairo_create (surface);

  gtk_widget_draw (widget, cr);
  cairo_destroy (cr);
  cairo_surface_flush (surface);
  char *sum = g_compute_checksum_for_data (
      G_CHECKSUM_SHA256, cairo_image_surface_get_data (surface),
      (gsize) cairo_image_surface_get_stride (surface) * (gsize) height);
  cairo_surface_destroy (surface);
  return sum;
}

/* The window of a tooltip is the newest one, which has the text in its label. */
char *
parts_get_tooltip (GtkWidget *widget, int x, int y, gboolean keyboard)
{
  g_autoptr (GList) before = gtk_window_list_toplevels ();
  GObject *tooltip = g_object_new (GTK_TYPE_TOOLTIP, NULL);
  g_autoptr (GList) after = gtk_window_list_toplevels ();
  gboolean shown = FALSE;
  char *text = NULL;

  g_signal_emit_by_name (widget, "query-tooltip", x, y, keyboard, tooltip, &shown);
  for (GList *l = after; l && shown; l = l->next)
    if (!g_list_find (before, l->data))
      text = g_strdup (
          gtk_label_get_text (GTK_LABEL (parts_find (GTK_WIDGET (l->data), GTK_TYPE_LABEL))));
  g_assert_true (!shown || text);
  g_object_unref (tooltip);
  return text;
}

gboolean
parts_press (GtkWidget *widget, guint key)
{
  g_autoptr (GdkEvent) event = gdk_event_new (GDK_KEY_PRESS);
  GdkSeat *seat = gdk_display_get_default_seat (gtk_widget_get_display (widget));

  event->key.window = g_object_ref (gtk_widget_get_window (widget));
  event->key.keyval = key;
  gdk_event_set_device (event, gdk_seat_get_keyboard (seat));
  return gtk_widget_event (widget, event);
}

gboolean
parts_button (GtkWidget *widget, GdkEventType type, double x, double y)
{
  g_autoptr (GdkEvent) event = gdk_event_new (type);
  GdkSeat *seat = gdk_display_get_default_seat (gtk_widget_get_display (widget));

  event->button.window = g_object_ref (gtk_widget_get_window (widget));
  event->button.button = GDK_BUTTON_PRIMARY;
  event->button.x = x;
  event->button.y = y;
  gdk_event_set_device (event, gdk_seat_get_pointer (seat));
  return gtk_widget_event (widget, event);
}

gboolean
parts_move (GtkWidget *widget, double x, double y)
{
  g_autoptr (GdkEvent) event = gdk_event_new (GDK_MOTION_NOTIFY);
  GdkSeat *seat = gdk_display_get_default_seat (gtk_widget_get_display (widget));

  event->motion.window = g_object_ref (gtk_widget_get_window (widget));
  event->motion.x = x;
  event->motion.y = y;
  gdk_event_set_device (event, gdk_seat_get_pointer (seat));
  return gtk_widget_event (widget, event);
}

char *
parts_get_column (GtkTreeView *table, int column)
{
  GtkTreeModel *model = gtk_tree_view_get_model (table);
  GString *texts = g_string_new (NULL);
  GtkTreeIter iter;
  gboolean first = TRUE;

  for (gboolean more = gtk_tree_model_get_iter_first (model, &iter); more;
       more = gtk_tree_model_iter_next (model, &iter))
    {
      g_auto (GValue) value = G_VALUE_INIT;

      gtk_tree_model_get_value (model, &iter, column, &value);
      g_auto (GValue) text = G_VALUE_INIT;
      g_value_init (&text, G_TYPE_STRING);
      g_value_transform (&value, &text);
      const char *string = g_value_get_string (&text);
      g_string_append_printf (texts, "%s%s", first ? "" : "\n", string ? string : "");
      first = FALSE;
    }
  g_string_replace (texts, "\302\240", " ", 0);
  return g_string_free (texts, FALSE);
}

void
parts_assert_column (GtkTreeView *table, int column, const char *expected)
{
  g_autofree char *texts = parts_get_column (table, column);

  g_assert_cmpstr (texts, ==, expected);
}

/* Tests use the software driver, on machines with a GPU too. */
static void
choose_driver (void)
{
  static const char folder[] = "/usr/share/vulkan/icd.d";
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir && (name = g_dir_read_name (dir)))
    if (g_str_has_prefix (name, "lvp_icd"))
      {
        g_autofree char *path = g_build_filename (folder, name, NULL);
        g_setenv ("VK_DRIVER_FILES", path, FALSE);
        g_setenv ("VK_ICD_FILENAMES", path, FALSE);
      }
}

int
main (int argc, char **argv)
{
  choose_driver ();
  gtk_test_init (&argc, &argv, NULL);
  hdy_init ();
  parts_add_queue (); /* before the others make a history */
  parts_add_actions ();
  parts_add_data ();
  parts_add_datapage ();
  parts_add_device ();
  parts_add_devicepage ();
  parts_add_diagnosis ();
  parts_add_drawing ();
  parts_add_evaluate ();
  parts_add_exports ();
  parts_add_form ();
  parts_add_history ();
  parts_add_inspector ();
  parts_add_monitor ();
  parts_add_network ();
  parts_add_params ();
  parts_add_pieces ();
  parts_add_plot ();
  parts_add_run_curves ();
  parts_add_run_details ();
  parts_add_runs ();
  parts_add_runs_page ();
  parts_add_samples ();
  parts_add_settings ();
  parts_add_setup ();
  parts_add_several ();
  parts_add_train ();
  parts_add_tune ();
  parts_add_tune_pages ();
  parts_add_widgets ();
  parts_add_window ();
  parts_add_windows ();
  return g_test_run ();
}
