/* SPDX-License-Identifier: MIT */
#include "predictdialog.h"
#include "predictview.h"
#include "predictwork.h"
#include "row.h"
#include <glib/gi18n.h>

gboolean
dyno_predict_can_use (const char *folder)
{
  g_autofree char *path = folder ? dyno_predict_get_weights (folder) : NULL;
  return path && g_file_test (path, G_FILE_TEST_IS_REGULAR);
}

gboolean
dyno_predict_are_images (const char *const *paths)
{
  guint n = 0;
  for (; *paths; paths++, n++)
    {
      g_autofree char *type = g_content_type_guess (*paths, NULL, 0, NULL);
      if (!g_content_type_is_a (type, "image/*") || !g_file_test (*paths, G_FILE_TEST_IS_REGULAR))
        return FALSE;
    }
  return n > 0;
}

GtkWidget *
dyno_predict_dialog_show (GtkWindow *parent, const char *folder, const char *title, int device,
                          const char *const *paths)
{
  /* Translators: a run's name */
  g_autofree char *whole = g_strdup_printf (_ ("Predictions of “%s”"), title);
  GtkWidget *dialog = gtk_dialog_new_with_buttons (
                whole, parent, GTK_DIALOG_DESTROY_WITH_PARENT | GTK_DIALOG_USE_HEADER_BAR, NULL,
                NULL),
            *view = dyno_predict_view_new (folder),
            *content = gtk_dialog_get_content_area (GTK_DIALOG (dialog));
  int width, height;
  g_signal_connect (dialog, "response", G_CALLBACK (gtk_widget_destroy), NULL);
  gtk_window_get_size (parent, &width, &height);
  gtk_window_set_default_size (GTK_WINDOW (dialog), CLAMP (width - 80, 360, 620),
                               CLAMP (height - 80, 320, 560));
  g_object_set (content, "margin", 12, NULL);
  gtk_widget_set_vexpand (view, TRUE);
  gtk_container_add (GTK_CONTAINER (content), view);
  dyno_predict_view_set_device (view, device);
  gtk_widget_show (view);
  gtk_widget_show (dialog);
  if (paths)
    dyno_predict_view_start (view, paths);
  else
    dyno_predict_view_choose (view);
  return dialog;
}
