/* SPDX-License-Identifier: MIT */
/* The row of the start weights; the setup is its only state.  A file is read only when the run
 * begins, which reports weights that do not suit the model. */
#include "weightsrow.h"
#include "export-dialog.h"
#include "row.h"
#include "words.h"
#include <glib/gi18n.h>

static void
path_chosen (const char *path, const DynoExporter *exporter, gpointer data)
{
  dyno_setup_set_weights (data, path);
}

static void
choose_clicked (GtkWidget *button, DynoSetup *setup)
{
  static const char *const patterns[] = { "*.safetensors", "*.pth", "*.pt", "*.onnx", NULL };
  dyno_dialog_open (GTK_WINDOW (gtk_widget_get_toplevel (button)), _ ("Choose Start Weights"),
                    FALSE, patterns, _ ("Weights (*.safetensors, *.pth, *.pt, *.onnx)"),
                    path_chosen, setup);
}

static void
remove_clicked (GtkWidget *button, DynoSetup *setup)
{
  dyno_setup_set_weights (setup, NULL);
}

static void
setup_changed (DynoSetup *setup, guint flags, GtkWidget *row)
{
  const char *path = dyno_setup_get_job (setup)->weights_in;
  GtkWidget *remove = g_object_get_data (G_OBJECT (row), "dyno-remove"),
            *choose = hdy_action_row_get_activatable_widget (HDY_ACTION_ROW (row));
  if (!(flags & DYNO_SETUP_MODEL))
    return;
  g_autofree char *name = path ? dyno_words_weights (path) : NULL,
                  *shown = path ? g_filename_display_name (path) : NULL;
  dyno_row_set_subtitle (DYNO_ROW (row), name ? name : _ ("None: random values"));
  gtk_widget_set_tooltip_text (row, shown ? shown : _ ("A run may start from trained weights"));
  if (!path && gtk_widget_has_focus (remove))
    gtk_widget_grab_focus (choose); /* the focused button is hidden below */
  gtk_widget_set_visible (remove, path != NULL);
}

GtkWidget *
dyno_weights_row_new (DynoSetup *setup)
{
  GtkWidget *row = dyno_row_new (_ ("Start weights"), NULL),
            *choose = gtk_button_new_with_label (_ ("Choose…")),
            *remove = gtk_button_new_from_icon_name ("edit-clear-symbolic", GTK_ICON_SIZE_MENU);
  dyno_widget_set_accessible_name (choose, _ ("Choose start weights"));
  dyno_widget_set_accessible_name (remove, _ ("Remove the start weights"));
  gtk_widget_set_tooltip_text (remove, _ ("Start from random values"));
  dyno_widget_add_class (remove, "flat", TRUE);
  gtk_widget_set_no_show_all (remove, TRUE);
  g_signal_connect_object (choose, "clicked", G_CALLBACK (choose_clicked), setup, 0);
  g_signal_connect_object (remove, "clicked", G_CALLBACK (remove_clicked), setup, 0);
  dyno_row_add_control (DYNO_ROW (row), choose);
  dyno_row_add_control (DYNO_ROW (row), remove);
  gtk_box_reorder_child (GTK_BOX (gtk_widget_get_parent (remove)), remove, 0);
  g_object_set_data (G_OBJECT (row), "dyno-remove", remove);
  gtk_widget_show (choose);
  g_signal_connect_object (setup, "changed", G_CALLBACK (setup_changed), row, 0);
  setup_changed (setup, DYNO_SETUP_ALL, row);
  return row;
}
