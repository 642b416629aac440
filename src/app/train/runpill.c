/* SPDX-License-Identifier: MIT */
/* Texts are set only where they change, since the run's status changes at each frame. */
#include "runpill.h"
#include "row.h"
#include "words.h"
#include <glib/gi18n.h>

struct _DynoRunPill {
  GtkStack parent_instance;
  GtkWidget *title, *button, *what, *percent, *progress;
};

G_DEFINE_FINAL_TYPE (DynoRunPill, dyno_run_pill, GTK_TYPE_STACK)

char *
dyno_run_pill_describe (const DynoRunStatus *s)
{
  if (!s->job || s->state == DYNO_SESSION_NEW || s->state >= DYNO_SESSION_FINISHED)
    return NULL;
  g_autofree char *data = dyno_words_data (s->job->data), *progress = dyno_words_run_progress (s);
  /* Translators: the window's title: how far a run is, data set: "43 %, MNIST" */
  return g_strdup_printf (_ ("%s, %s"), progress, data);
}

static void
set_text (GtkWidget *label, const char *text)
{
  if (!g_str_equal (gtk_label_get_text (GTK_LABEL (label)), text))
    gtk_label_set_text (GTK_LABEL (label), text);
}

void
dyno_run_pill_show (DynoRunPill *self, const DynoRunStatus *s)
{
  gtk_stack_set_visible_child (GTK_STACK (self), s->job ? self->button : self->title);
  if (!s->job)
    return;
  g_autofree char *model = dyno_words_model (s->job->model), *data = dyno_words_data (s->job->data);
  /* Translators: model, data set */
  g_autofree char *what = g_strdup_printf (_ ("%s on %s"), model, data);
  g_autofree char *percent = dyno_words_run_progress (s);
  set_text (self->what, what);
  set_text (self->percent, percent);
  dyno_widget_add_class (self->percent, "bad-text", s->state == DYNO_SESSION_FAILED);
  gtk_progress_bar_set_fraction (GTK_PROGRESS_BAR (self->progress), dyno_words_run_fraction (s));
}

static void
dyno_run_pill_class_init (DynoRunPillClass *class)
{
}

static void
dyno_run_pill_init (DynoRunPill *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 3),
            *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 10);
  self->title = gtk_label_new (_ ("Dyno"));
  dyno_widget_add_class (self->title, "title", TRUE);
  gtk_label_set_ellipsize (GTK_LABEL (self->title), PANGO_ELLIPSIZE_END);
  self->button = gtk_button_new ();
  self->what = gtk_label_new ("");
  self->percent = gtk_label_new ("");
  self->progress = gtk_progress_bar_new ();
  gtk_label_set_ellipsize (GTK_LABEL (self->what), PANGO_ELLIPSIZE_END);
  gtk_label_set_width_chars (GTK_LABEL (self->what), 4); /* for a window of 360 pixels */
  gtk_label_set_max_width_chars (GTK_LABEL (self->what), 34);
  gtk_label_set_xalign (GTK_LABEL (self->what), 0);
  dyno_widget_add_class (self->percent, "numeric", TRUE);
  dyno_widget_add_class (self->progress, "thin", TRUE);
  dyno_widget_add_class (self->button, "run-pill", TRUE);
  gtk_widget_set_valign (self->button, GTK_ALIGN_CENTER);
  gtk_widget_set_halign (self->button, GTK_ALIGN_CENTER);
  dyno_widget_set_accessible_name (self->progress, _ ("How far the run is"));
  gtk_box_pack_start (GTK_BOX (line), self->what, TRUE, TRUE, 0);
  gtk_container_add (GTK_CONTAINER (line), self->percent);
  gtk_container_add (GTK_CONTAINER (box), line);
  gtk_container_add (GTK_CONTAINER (box), self->progress);
  gtk_container_add (GTK_CONTAINER (self->button), box);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (self->button), "win.page");
  gtk_actionable_set_action_target (GTK_ACTIONABLE (self->button), "s", "train");
  gtk_widget_set_tooltip_text (self->button, _ ("Show the run"));
  dyno_widget_set_accessible_name (self->button, _ ("Show the run"));
  gtk_container_add (GTK_CONTAINER (self), self->title);
  gtk_container_add (GTK_CONTAINER (self), self->button);
  gtk_stack_set_hhomogeneous (GTK_STACK (self), FALSE);
  gtk_widget_show_all (GTK_WIDGET (self));
}
