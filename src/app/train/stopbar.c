/* SPDX-License-Identifier: MIT */
/* While nothing is asked, the bar is hidden and not only folded, so that Tab does not reach it. */
#include "stopbar.h"
#include "row.h"
#include <glib/gi18n.h>

struct _DynoStopBar {
  GtkInfoBar parent_instance;
  GtkWidget *always, *save;
};

enum { ANSWERED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoStopBar, dyno_stop_bar, GTK_TYPE_INFO_BAR)

void
dyno_stop_bar_ask (DynoStopBar *self)
{
  gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (self->always), FALSE);
  gtk_widget_show (GTK_WIDGET (self));
  gtk_widget_grab_focus (self->save);
}

void
dyno_stop_bar_dismiss (DynoStopBar *self)
{
  gtk_widget_hide (GTK_WIDGET (self));
}

/* Escape, for which GtkInfoBar sends the response "close", keeps training. */
static void
dyno_stop_bar_response (GtkInfoBar *bar, int response)
{
  DynoStopBar *self = DYNO_STOP_BAR (bar);
  DynoStopAnswer answer = response == GTK_RESPONSE_ACCEPT   ? DYNO_STOP_ANSWER_SAVE
                          : response == GTK_RESPONSE_REJECT ? DYNO_STOP_ANSWER_DISCARD
                                                            : DYNO_STOP_ANSWER_KEEP_TRAINING;
  gboolean always = answer != DYNO_STOP_ANSWER_KEEP_TRAINING
                    && gtk_toggle_button_get_active (GTK_TOGGLE_BUTTON (self->always));
  dyno_stop_bar_dismiss (self);
  g_signal_emit (self, signals[ANSWERED], 0, answer, always);
}

static void
dyno_stop_bar_close (GtkInfoBar *bar)
{
  gtk_info_bar_response (bar, GTK_RESPONSE_CANCEL);
}

static void
dyno_stop_bar_class_init (DynoStopBarClass *class)
{
  GTK_INFO_BAR_CLASS (class)->response = dyno_stop_bar_response;
  GTK_INFO_BAR_CLASS (class)->close = dyno_stop_bar_close;
  signals[ANSWERED] = g_signal_new ("answered", DYNO_TYPE_STOP_BAR, G_SIGNAL_RUN_LAST, 0, NULL,
                                    NULL, NULL, G_TYPE_NONE, 2, G_TYPE_UINT, G_TYPE_BOOLEAN);
}

static void
dyno_stop_bar_init (DynoStopBar *self)
{
  GtkInfoBar *bar = GTK_INFO_BAR (self);
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 2);
  gtk_info_bar_set_message_type (bar, GTK_MESSAGE_QUESTION);
  gtk_container_add (GTK_CONTAINER (box), dyno_text_new (_ ("Stop the run?"), "bar-title"));
  gtk_container_add (GTK_CONTAINER (box),
                     dyno_text_new (_ ("Saving keeps the weights and a checkpoint to resume from. "
                                       "Discarding keeps only what was saved before."),
                                    "bar-text"));
  self->always = gtk_check_button_new_with_label (_ ("Do the same from now on"));
  gtk_container_add (GTK_CONTAINER (box), self->always);
  gtk_container_add (GTK_CONTAINER (gtk_info_bar_get_content_area (bar)), box);
  gtk_info_bar_add_button (bar, _ ("Keep Training"), GTK_RESPONSE_CANCEL);
  GtkWidget *discard = gtk_info_bar_add_button (bar, _ ("Discard"), GTK_RESPONSE_REJECT);
  self->save = gtk_info_bar_add_button (bar, _ ("Save"), GTK_RESPONSE_ACCEPT);
  dyno_widget_add_class (discard, "destructive-action", TRUE);
  dyno_widget_add_class (self->save, "suggested-action", TRUE);
  gtk_widget_show_all (box);
  gtk_widget_set_no_show_all (GTK_WIDGET (self), TRUE);
}
