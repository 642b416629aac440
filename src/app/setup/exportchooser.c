/* SPDX-License-Identifier: MIT */
/* The text that is shown is the text that is copied and saved: it is made once for each choice. */
#include "exportchooser.h"
#include "export-dialog.h"
#include "row.h"
#include <glib/gi18n.h>

#define COPIED_MS 2000

typedef struct {
  DynoExportContext context;
  char *device;
  DynoDataset *dataset; /* or NULL */
  GtkWidget *dialog, *list, *text, *left_out, *copy;
  const DynoExporter *exporter; /* the exporter whose text is shown */
  guint copied_timer;
  DynoExportDone done;
  gpointer data;
} Chooser;

static void
chooser_free (gpointer data)
{
  Chooser *self = data;

  g_clear_handle_id (&self->copied_timer, g_source_remove);
  dyno_job_unref (self->context.job);
  g_clear_pointer (&self->dataset, dyno_dataset_unref);
  g_free (self->device);
  g_free (self);
}

static void
show_copied (Chooser *self, gboolean copied)
{
  gtk_button_set_label (GTK_BUTTON (self->copy), copied ? _ ("Copied") : _ ("_Copy"));
}

static void
show_left_out (Chooser *self)
{
  g_auto (GStrv) list = dyno_exporter_list_left_out (self->exporter, &self->context);
  guint n = g_strv_length (list);
  g_autofree char *all = g_strjoinv ("\n", list), *text = NULL;

  text = g_strdup_printf (ngettext ("%u setting has no counterpart in this format",
                                    "%u settings have no counterpart in this format", n),
                          n);
  gtk_label_set_text (GTK_LABEL (self->left_out), n > 0 ? text : _ ("Holds every setting"));
  gtk_widget_set_tooltip_text (self->left_out, n > 0 ? all : NULL);
}

static void
format_chosen (GtkListBox *list, GtkListBoxRow *row, Chooser *self)
{
  g_autofree char *text = NULL;
  GtkTextBuffer *buffer = gtk_text_view_get_buffer (GTK_TEXT_VIEW (self->text));
  GtkTextIter start;

  if (!row)
    return;
  self->exporter = g_object_get_data (G_OBJECT (row), "dyno-exporter");
  text = self->exporter->write (&self->context);
  gtk_text_buffer_set_text (buffer, text, -1);
  gtk_text_buffer_get_start_iter (buffer, &start);
  gtk_text_buffer_place_cursor (buffer, &start);
  gtk_adjustment_set_value (gtk_scrollable_get_vadjustment (GTK_SCROLLABLE (self->text)), 0);
  show_left_out (self);
  g_clear_handle_id (&self->copied_timer, g_source_remove);
  show_copied (self, FALSE);
}

static gboolean
copied_is_over (gpointer data)
{
  Chooser *self = data;

  self->copied_timer = 0;
  show_copied (self, FALSE);
  return G_SOURCE_REMOVE;
}

static void
copy (GtkButton *button, Chooser *self)
{
  g_autofree char *text = self->exporter->write (&self->context);

  gtk_clipboard_set_text (gtk_widget_get_clipboard (self->dialog, GDK_SELECTION_CLIPBOARD), text,
                          -1);
  g_clear_handle_id (&self->copied_timer, g_source_remove);
  self->copied_timer = g_timeout_add (COPIED_MS, copied_is_over, self);
  show_copied (self, TRUE);
}

static void
path_chosen (const char *path, const DynoExporter *exporter, gpointer data)
{
  Chooser *self = data;
  g_autoptr (GError) error = NULL;

  dyno_export_file (exporter ? exporter : self->exporter, &self->context, path, TRUE, &error);
  self->done (path, error, self->data);
  gtk_widget_destroy (self->dialog);
}

static void
save (GtkButton *button, Chooser *self)
{
  dyno_dialog_export_settings (GTK_WINDOW (self->dialog), self->exporter, path_chosen, self);
}

static GtkWidget *
new_format_row (const DynoExporter *exporter)
{
  GtkWidget *row = gtk_list_box_row_new (), *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0),
            *title = gtk_label_new (_ (exporter->title)),
            *file = gtk_label_new (exporter->file_name);

  gtk_label_set_xalign (GTK_LABEL (title), 0);
  gtk_label_set_xalign (GTK_LABEL (file), 0);
  dyno_widget_add_class (file, "caption", TRUE);
  g_object_set (box, "margin", 6, "margin-start", 12, "margin-end", 12, NULL);
  gtk_container_add (GTK_CONTAINER (box), title);
  gtk_container_add (GTK_CONTAINER (box), file);
  gtk_container_add (GTK_CONTAINER (row), box);
  g_object_set_data (G_OBJECT (row), "dyno-exporter", (gpointer) exporter);
  dyno_widget_set_accessible_name (row, _ (exporter->title));
  return row;
}

static GtkWidget *
new_scrolled (GtkWidget *child)
{
  GtkWidget *scrolled = gtk_scrolled_window_new (NULL, NULL);

  gtk_container_add (GTK_CONTAINER (scrolled), child);
  dyno_widget_add_class (scrolled, "card", TRUE);
  dyno_widget_add_class (scrolled, "list-card", TRUE);
  dyno_widget_set_accessible_name (scrolled,
                                   atk_object_get_name (gtk_widget_get_accessible (child)));
  return scrolled;
}

static GtkWidget *
new_list (Chooser *self)
{
  GtkWidget *scrolled;

  self->list = gtk_list_box_new ();
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (self->list), GTK_SELECTION_BROWSE);
  dyno_widget_set_accessible_name (self->list, _ ("Formats"));
  for (const DynoExporter *const *exporter = dyno_exporter_list (); *exporter; exporter++)
    gtk_container_add (GTK_CONTAINER (self->list), new_format_row (*exporter));
  g_signal_connect (self->list, "row-selected", G_CALLBACK (format_chosen), self);
  scrolled = new_scrolled (self->list);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scrolled), GTK_POLICY_NEVER,
                                  GTK_POLICY_AUTOMATIC);
  return scrolled;
}

static GtkWidget *
new_preview (Chooser *self)
{
  GtkWidget *scrolled;

  self->text = gtk_text_view_new ();
  g_object_set (self->text, "editable", FALSE, "cursor-visible", FALSE, "monospace", TRUE,
                "accepts-tab", FALSE, "left-margin", 12, "right-margin", 12, "top-margin", 10,
                "bottom-margin", 10, NULL);
  dyno_widget_set_accessible_name (self->text, _ ("What will be written"));
  scrolled = new_scrolled (self->text);
  gtk_widget_set_hexpand (scrolled, TRUE);
  return scrolled;
}

static GtkWidget *
new_buttons (Chooser *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8),
            *saver = gtk_button_new_with_mnemonic (_ ("_Save…"));

  self->left_out = gtk_label_new (NULL);
  gtk_label_set_xalign (GTK_LABEL (self->left_out), 0);
  gtk_label_set_ellipsize (GTK_LABEL (self->left_out), PANGO_ELLIPSIZE_END);
  gtk_widget_set_hexpand (self->left_out, TRUE);
  dyno_widget_add_class (self->left_out, "caption", TRUE);
  self->copy = gtk_button_new_with_mnemonic (_ ("_Copy"));
  dyno_widget_add_class (saver, "suggested-action", TRUE);
  gtk_container_add (GTK_CONTAINER (box), self->left_out);
  gtk_container_add (GTK_CONTAINER (box), self->copy);
  gtk_container_add (GTK_CONTAINER (box), saver);
  g_signal_connect (self->copy, "clicked", G_CALLBACK (copy), self);
  g_signal_connect (saver, "clicked", G_CALLBACK (save), self);
  return box;
}

/* A dialog that is wider than its window would be cut off on small screens. */
static void
set_size (GtkWidget *dialog, GtkWindow *parent)
{
  int width, height;

  gtk_window_get_size (parent, &width, &height);
  gtk_window_set_default_size (GTK_WINDOW (dialog), CLAMP (width - 80, 420, 900),
                               CLAMP (height - 80, 360, 640));
}

void
dyno_export_chooser_show (GtkWindow *parent, const DynoExportContext *context, DynoDataset *dataset,
                          DynoExportDone done, gpointer data)
{
  Chooser *self = g_new0 (Chooser, 1);
  GtkWidget *columns = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12), *content;

  self->context = *context;
  self->context.job = dyno_job_copy (context->job);
  self->context.device = self->device = g_strdup (context->device);
  self->dataset = dataset ? dyno_dataset_ref (dataset) : NULL;
  self->context.dataset = dataset ? dyno_dataset_get_info (dataset) : NULL;
  self->done = done;
  self->data = data;
  self->dialog = gtk_dialog_new_with_buttons (
      _ ("Export Settings"), parent,
      GTK_DIALOG_MODAL | GTK_DIALOG_DESTROY_WITH_PARENT | GTK_DIALOG_USE_HEADER_BAR, NULL, NULL);
  g_object_set_data_full (G_OBJECT (self->dialog), "dyno-chooser", self, chooser_free);
  g_signal_connect (self->dialog, "response", G_CALLBACK (gtk_widget_destroy), NULL);
  set_size (self->dialog, parent);
  content = gtk_dialog_get_content_area (GTK_DIALOG (self->dialog));
  g_object_set (content, "margin", 12, "spacing", 12, NULL);
  gtk_widget_set_vexpand (columns, TRUE);
  gtk_container_add (GTK_CONTAINER (columns), new_list (self));
  gtk_container_add (GTK_CONTAINER (columns), new_preview (self));
  gtk_container_add (GTK_CONTAINER (content), columns);
  gtk_container_add (GTK_CONTAINER (content), new_buttons (self));
  gtk_list_box_select_row (GTK_LIST_BOX (self->list),
                           gtk_list_box_get_row_at_index (GTK_LIST_BOX (self->list), 0));
  gtk_widget_show_all (self->dialog);
}
