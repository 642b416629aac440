/* SPDX-License-Identifier: MIT */
#include "toast.h"
#include "row.h"
#include <glib/gi18n.h>

#define SHOWN_S 6

struct _DynoToast {
  GtkRevealer parent_instance;
  GtkWidget *text, *show;
  char *path;
  guint timer;
};

G_DEFINE_FINAL_TYPE (DynoToast, dyno_toast, GTK_TYPE_REVEALER)

static void
hide (DynoToast *self)
{
  g_clear_handle_id (&self->timer, g_source_remove);
  gtk_revealer_set_reveal_child (GTK_REVEALER (self), FALSE);
}

static gboolean
over (gpointer data)
{
  DynoToast *self = data;
  self->timer = 0;
  hide (self);
  return G_SOURCE_REMOVE;
}

static void
show_folder (DynoToast *self)
{
  g_autofree char *folder = g_path_get_dirname (self->path),
                  *uri = g_filename_to_uri (folder, NULL, NULL);
  GtkWidget *window = gtk_widget_get_toplevel (GTK_WIDGET (self));
  g_autoptr (GError) error = NULL;
  if (uri && !gtk_show_uri_on_window (GTK_WINDOW (window), uri, GDK_CURRENT_TIME, &error))
    g_message ("Cannot show %s: %s", uri, error->message);
  hide (self);
}

void
dyno_toast_show (DynoToast *self, const char *text, const char *path)
{
  g_free (self->path);
  self->path = path && g_path_is_absolute (path) ? g_strdup (path) : NULL;
  gtk_label_set_text (GTK_LABEL (self->text), text);
  gtk_widget_set_visible (self->show, self->path != NULL);
  g_clear_handle_id (&self->timer, g_source_remove);
  self->timer = g_timeout_add_seconds (SHOWN_S, over, self);
  gtk_revealer_set_reveal_child (GTK_REVEALER (self), TRUE);
}

static void
dyno_toast_dispose (GObject *object)
{
  DynoToast *self = DYNO_TOAST (object);
  g_clear_handle_id (&self->timer, g_source_remove);
  g_clear_pointer (&self->path, g_free);
  G_OBJECT_CLASS (dyno_toast_parent_class)->dispose (object);
}

static void
dyno_toast_class_init (DynoToastClass *class)
{
  G_OBJECT_CLASS (class)->dispose = dyno_toast_dispose;
}

static void
dyno_toast_init (DynoToast *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12),
            *close = gtk_button_new_from_icon_name ("window-close-symbolic", GTK_ICON_SIZE_BUTTON);
  self->text = gtk_label_new ("");
  gtk_label_set_ellipsize (GTK_LABEL (self->text), PANGO_ELLIPSIZE_MIDDLE);
  self->show = gtk_button_new_with_mnemonic (_ ("Sho_w"));
  gtk_widget_set_no_show_all (self->show, TRUE);
  gtk_button_set_relief (GTK_BUTTON (close), GTK_RELIEF_NONE);
  dyno_widget_set_accessible_name (close, _ ("Close message"));
  gtk_widget_set_tooltip_text (close, _ ("Close message"));
  g_signal_connect_swapped (self->show, "clicked", G_CALLBACK (show_folder), self);
  g_signal_connect_swapped (close, "clicked", G_CALLBACK (hide), self);
  dyno_widget_add_class (box, "toast", TRUE);
  gtk_container_add (GTK_CONTAINER (box), self->text);
  gtk_container_add (GTK_CONTAINER (box), self->show);
  gtk_container_add (GTK_CONTAINER (box), close);
  gtk_container_add (GTK_CONTAINER (self), box);
  gtk_widget_show_all (box);
  g_object_set (self, "halign", GTK_ALIGN_CENTER, "valign", GTK_ALIGN_END, "transition-type",
                GTK_REVEALER_TRANSITION_TYPE_SLIDE_UP, NULL);
}
