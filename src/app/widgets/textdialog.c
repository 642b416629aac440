/* SPDX-License-Identifier: MIT */
#include "textdialog.h"
#include "row.h"
#include <glib/gi18n.h>

typedef struct {
  GtkWidget *entry;
  DynoTextAnswered answered;
  gpointer data;
  GDestroyNotify free_data;
} Question;

static void
question_free (gpointer data, GClosure *closure)
{
  Question *self = data;
  self->free_data (self->data);
  g_free (self);
}

static void
dialog_answered (GtkDialog *dialog, int response, Question *self)
{
  if (response == GTK_RESPONSE_ACCEPT)
    self->answered (gtk_entry_get_text (GTK_ENTRY (self->entry)), self->data);
  gtk_widget_destroy (GTK_WIDGET (dialog));
}

void
dyno_text_dialog_show (GtkWindow *parent, const char *title, const char *name, const char *accept,
                       const char *text, DynoTextAnswered answered, gpointer data,
                       GDestroyNotify free_data)
{
  GtkWidget *entry = gtk_entry_new ();
  GtkWidget *dialog = gtk_dialog_new_with_buttons (
      title, parent, GTK_DIALOG_MODAL | GTK_DIALOG_DESTROY_WITH_PARENT | GTK_DIALOG_USE_HEADER_BAR,
      _ ("_Cancel"), GTK_RESPONSE_CANCEL, accept, GTK_RESPONSE_ACCEPT, NULL);
  Question *question = g_new0 (Question, 1);
  *question = (Question){ entry, answered, data, free_data };
  gtk_entry_set_text (GTK_ENTRY (entry), text ? text : "");
  gtk_entry_set_activates_default (GTK_ENTRY (entry), TRUE);
  g_object_set (entry, "margin", 18, "width-chars", 40, NULL);
  dyno_widget_set_accessible_name (entry, name);
  gtk_container_add (GTK_CONTAINER (gtk_dialog_get_content_area (GTK_DIALOG (dialog))), entry);
  gtk_dialog_set_default_response (GTK_DIALOG (dialog), GTK_RESPONSE_ACCEPT);
  g_signal_connect_data (dialog, "response", G_CALLBACK (dialog_answered), question, question_free,
                         0);
  gtk_widget_show_all (dialog);
}
