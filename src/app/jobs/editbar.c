/* SPDX-License-Identifier: MIT */
#include "editbar.h"
#include "row.h"
#include "words.h"
#include <glib/gi18n.h>

struct _DynoEditBar {
  GtkInfoBar parent_instance;
  GtkWidget *title, *text, *name;
  gboolean savable, anew, lacks_data;
  gint64 id;
};

enum { ANSWERED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoEditBar, dyno_edit_bar, GTK_TYPE_INFO_BAR)

static void
show_text (DynoEditBar *self)
{
  const char *text =
      self->lacks_data ? _ ("Its data set cannot be opened: open another one, then save the job.")
      : self->anew     ? _ ("Saving gives the job the data set, model, devices and settings of "
                                "this window; it waits at its place again and begins anew.")
                       : _ ("Saving gives the job the data set, model, devices and settings of "
                                "this window; it keeps its place.");
  gtk_label_set_text (GTK_LABEL (self->text), text);
}

void
dyno_edit_bar_set_lacks_data (DynoEditBar *self, gboolean lacks)
{
  self->lacks_data = lacks;
  show_text (self);
}

void
dyno_edit_bar_begin (DynoEditBar *self, const DynoQueuedJob *job)
{
  g_autofree char *model = dyno_words_model (job->job->model),
                  *data = dyno_words_data (job->job->data), *text = NULL;
  self->id = job->id;
  gboolean anew = job->attempts > 0;
  self->anew = anew;
  self->lacks_data = FALSE;
  text = anew ? /* Translators: model, data set; also the next one */
             g_strdup_printf (_ ("Editing a job that failed: %s on %s"), model, data)
              : g_strdup_printf (_ ("Editing a job that waits: %s on %s"), model, data);
  gtk_label_set_text (GTK_LABEL (self->title), text);
  show_text (self);
  gtk_entry_set_text (GTK_ENTRY (self->name), job->job->name ? job->job->name : "");
  gtk_widget_show (GTK_WIDGET (self));
}

char *
dyno_edit_bar_get_name (DynoEditBar *self)
{
  g_autofree char *text = g_strstrip (g_strdup (gtk_entry_get_text (GTK_ENTRY (self->name))));
  return *text ? g_steal_pointer (&text) : NULL;
}

void
dyno_edit_bar_set_savable (DynoEditBar *self, gboolean savable)
{
  self->savable = savable;
  gtk_info_bar_set_response_sensitive (GTK_INFO_BAR (self), GTK_RESPONSE_ACCEPT, savable);
}

void
dyno_edit_bar_dismiss (DynoEditBar *self)
{
  gtk_widget_hide (GTK_WIDGET (self));
}

/* Escape, for which GtkInfoBar sends the response "close", changes nothing. */
static void
dyno_edit_bar_response (GtkInfoBar *bar, int response)
{
  DynoEditBar *self = DYNO_EDIT_BAR (bar);
  dyno_edit_bar_dismiss (self);
  g_signal_emit (self, signals[ANSWERED], 0, self->id, response == GTK_RESPONSE_ACCEPT);
}

static void
dyno_edit_bar_close (GtkInfoBar *bar)
{
  gtk_info_bar_response (bar, GTK_RESPONSE_CANCEL);
}

/* Enter in the entry saves the job. */
static void
name_entered (DynoEditBar *self)
{
  if (self->savable)
    gtk_info_bar_response (GTK_INFO_BAR (self), GTK_RESPONSE_ACCEPT);
}

static void
dyno_edit_bar_class_init (DynoEditBarClass *class)
{
  GTK_INFO_BAR_CLASS (class)->response = dyno_edit_bar_response;
  GTK_INFO_BAR_CLASS (class)->close = dyno_edit_bar_close;
  signals[ANSWERED] = g_signal_new ("answered", DYNO_TYPE_EDIT_BAR, G_SIGNAL_RUN_LAST, 0, NULL,
                                    NULL, NULL, G_TYPE_NONE, 2, G_TYPE_INT64, G_TYPE_BOOLEAN);
}

static void
dyno_edit_bar_init (DynoEditBar *self)
{
  GtkInfoBar *bar = GTK_INFO_BAR (self);
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 2);
  self->savable = TRUE;
  gtk_info_bar_set_message_type (bar, GTK_MESSAGE_QUESTION);
  self->title = dyno_text_new ("", "bar-title");
  gtk_container_add (GTK_CONTAINER (box), self->title);
  self->text = dyno_text_new ("", "bar-text");
  gtk_container_add (GTK_CONTAINER (box), self->text);
  self->name = gtk_entry_new ();
  gtk_entry_set_placeholder_text (GTK_ENTRY (self->name), _ ("Name of the run"));
  gtk_widget_set_halign (self->name, GTK_ALIGN_START);
  gtk_widget_set_margin_top (self->name, 4);
  dyno_widget_set_accessible_name (self->name, _ ("Name of the run"));
  g_signal_connect_swapped (self->name, "activate", G_CALLBACK (name_entered), self);
  gtk_container_add (GTK_CONTAINER (box), self->name);
  gtk_container_add (GTK_CONTAINER (gtk_info_bar_get_content_area (bar)), box);
  gtk_info_bar_add_button (bar, _ ("Leave as It Was"), GTK_RESPONSE_CANCEL);
  dyno_widget_add_class (gtk_info_bar_add_button (bar, _ ("Save the Job"), GTK_RESPONSE_ACCEPT),
                         "suggested-action", TRUE);
  gtk_widget_show_all (box);
  gtk_widget_set_no_show_all (GTK_WIDGET (self), TRUE);
}
