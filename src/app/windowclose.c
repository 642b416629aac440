/* SPDX-License-Identifier: MIT */
/* The end of the window.  During a run the window asks, then stops the run, and closes when the run
 * is saved and freed.  It does not ask about a run that has ended and is only being freed. */
#include "window-private.h"
#include "home.h"
#include "tunepage.h"
#include <glib/gi18n.h>

void
dyno_window_finish_closing (DynoWindow *self)
{
  if (self->closing && !dyno_window_is_working (self))
    gtk_widget_destroy (GTK_WIDGET (self));
}

/* Saves the form for the next start of the program.  While a job is edited, its settings are in the
 * form, and those of before were saved then. */
static void
keep_form (DynoWindow *self)
{
  int width, height;
  gtk_window_get_size (GTK_WINDOW (self), &width, &height);
  dyno_state_save_size (self->state, width, height, gtk_window_is_maximized (GTK_WINDOW (self)));
  if (!self->unedited)
    dyno_state_save_setup (self->state, self->setup);
}

static void
editing_answered (GtkDialog *dialog, int response, DynoWindow *self)
{
  gtk_widget_destroy (GTK_WIDGET (dialog));
  if (response != GTK_RESPONSE_ACCEPT && response != GTK_RESPONSE_REJECT)
    return;
  gtk_info_bar_response (GTK_INFO_BAR (self->edit_bar), response == GTK_RESPONSE_ACCEPT
                                                            ? GTK_RESPONSE_ACCEPT
                                                            : GTK_RESPONSE_CANCEL);
  gtk_window_close (GTK_WINDOW (self));
}

static void
ask_about_editing (DynoWindow *self)
{
  GtkWidget *dialog = gtk_message_dialog_new (
      GTK_WINDOW (self), GTK_DIALOG_MODAL | GTK_DIALOG_DESTROY_WITH_PARENT, GTK_MESSAGE_QUESTION,
      GTK_BUTTONS_NONE, "%s", _ ("Save the edited job before closing?"));
  gtk_dialog_add_buttons (GTK_DIALOG (dialog), _ ("_Cancel"), GTK_RESPONSE_CANCEL,
                          _ ("_Leave as It Was"), GTK_RESPONSE_REJECT, _ ("_Save the Job"),
                          GTK_RESPONSE_ACCEPT, NULL);
  gtk_dialog_set_response_sensitive (
      GTK_DIALOG (dialog), GTK_RESPONSE_ACCEPT,
      g_action_group_get_action_enabled (G_ACTION_GROUP (self), "add-to-queue"));
  gtk_dialog_set_default_response (GTK_DIALOG (dialog), GTK_RESPONSE_ACCEPT);
  g_signal_connect (dialog, "response", G_CALLBACK (editing_answered), self);
  gtk_widget_show (dialog);
}

void
dyno_window_stop_and_close (DynoWindow *self)
{
  keep_form (self); /* after a signal no other function saves it */
  self->closing = TRUE;
  dyno_run_monitor_stop (self->monitor);
  dyno_tune_page_stop (DYNO_TUNE_PAGE (self->tune_page));
  dyno_home_stop_testing (DYNO_HOME (self->home));
  dyno_window_work_changed (self);
  dyno_window_finish_closing (self);
}

static void
close_answered (GtkDialog *dialog, int response, DynoWindow *self)
{
  gtk_widget_destroy (GTK_WIDGET (dialog));
  if (response == GTK_RESPONSE_ACCEPT)
    dyno_window_stop_and_close (self);
}

static void
ask_to_close (DynoWindow *self)
{
  gboolean run = dyno_run_monitor_is_active (self->monitor);
  GtkWidget *dialog = gtk_message_dialog_new (
      GTK_WINDOW (self), GTK_DIALOG_MODAL | GTK_DIALOG_DESTROY_WITH_PARENT, GTK_MESSAGE_QUESTION,
      GTK_BUTTONS_NONE, "%s", run ? _ ("Stop the run and close?") : _ ("Stop tuning and close?"));
  gtk_message_dialog_format_secondary_text (
      GTK_MESSAGE_DIALOG (dialog), "%s",
      run ? _ ("The step in progress is finished and everything so far is kept: weights, metrics "
               "and curves.")
      : dyno_tune_page_keeps_all (DYNO_TUNE_PAGE (self->tune_page))
          ? _ ("What was trained is kept, and the search can be resumed from there.")
          : _ ("Trials that are not finished are lost."));
  gtk_dialog_add_button (GTK_DIALOG (dialog), _ ("_Cancel"), GTK_RESPONSE_CANCEL);
  GtkWidget *stop = gtk_dialog_add_button (
      GTK_DIALOG (dialog), run ? _ ("_Stop and Keep") : _ ("_Stop"), GTK_RESPONSE_ACCEPT);
  gtk_style_context_add_class (gtk_widget_get_style_context (stop), "destructive-action");
  gtk_dialog_set_default_response (GTK_DIALOG (dialog), GTK_RESPONSE_CANCEL);
  g_signal_connect (dialog, "response", G_CALLBACK (close_answered), self);
  gtk_widget_show (dialog);
}

static gboolean
run_is_over (DynoWindow *self)
{
  return dyno_run_monitor_is_active (self->monitor)
         && dyno_run_monitor_get_status (self->monitor)->state >= DYNO_SESSION_FINISHED;
}

gboolean
dyno_window_delete_event (GtkWidget *widget, GdkEventAny *event)
{
  DynoWindow *self = DYNO_WINDOW (widget);
  keep_form (self);
  if (self->unedited && !self->closing)
    {
      ask_about_editing (self);
      return GDK_EVENT_STOP;
    }
  if (!dyno_window_is_working (self))
    return GDK_EVENT_PROPAGATE;
  if (!self->closing && (dyno_home_is_testing (DYNO_HOME (self->home)) || run_is_over (self)))
    dyno_window_stop_and_close (self);
  else if (!self->closing)
    ask_to_close (self);
  return GDK_EVENT_STOP;
}
