/* SPDX-License-Identifier: MIT */
#include "resumecard.h"
#include "row.h"
#include "words.h"
#include <glib/gi18n.h>

#define ICON_PIXELS 32

struct _DynoResumeCard {
  GtkBox parent_instance;
  GtkWidget *title, *text, *buttons;
  DynoStoredRun *run;
};

G_DEFINE_FINAL_TYPE (DynoResumeCard, dyno_resume_card, GTK_TYPE_BOX)

static guint dismissed_signal;

void
dyno_resume_card_show (DynoResumeCard *self, DynoStoredRun *run)
{
  g_clear_pointer (&self->run, dyno_stored_run_free);
  self->run = run;
  gtk_widget_set_visible (GTK_WIDGET (self), run != NULL);
  if (!run)
    return;
  g_autofree char *title = dyno_words_interruption (run), *name = dyno_words_run (run),
                  *text =
                      /* Translators: a run, by its name or by model, data set and time */
                  g_strdup_printf (_ ("%s. It continues from its last checkpoint."), name);
  gtk_label_set_text (GTK_LABEL (self->title), title);
  gtk_label_set_text (GTK_LABEL (self->text), text);
}

const DynoStoredRun *
dyno_resume_card_get_run (DynoResumeCard *self)
{
  return self->run;
}

void
dyno_resume_card_set_narrow (DynoResumeCard *self, gboolean narrow)
{
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self),
                                  narrow ? GTK_ORIENTATION_VERTICAL : GTK_ORIENTATION_HORIZONTAL);
  gtk_widget_set_halign (self->buttons, narrow ? GTK_ALIGN_START : GTK_ALIGN_END);
}

static void
dismissed (DynoResumeCard *self)
{
  g_signal_emit (self, dismissed_signal, 0);
}

static void
dyno_resume_card_finalize (GObject *object)
{
  dyno_stored_run_free (DYNO_RESUME_CARD (object)->run);
  G_OBJECT_CLASS (dyno_resume_card_parent_class)->finalize (object);
}

static void
dyno_resume_card_class_init (DynoResumeCardClass *class)
{
  G_OBJECT_CLASS (class)->finalize = dyno_resume_card_finalize;
  dismissed_signal = g_signal_new ("dismissed", DYNO_TYPE_RESUME_CARD, G_SIGNAL_RUN_LAST, 0, NULL,
                                   NULL, NULL, G_TYPE_NONE, 0);
}

static GtkWidget *
add_button (DynoResumeCard *self, const char *label)
{
  GtkWidget *button = gtk_button_new_with_mnemonic (label);
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_container_add (GTK_CONTAINER (self->buttons), button);
  return button;
}

static void
dyno_resume_card_init (DynoResumeCard *self)
{
  GtkWidget *icon = gtk_image_new_from_icon_name ("dialog-warning-symbolic", GTK_ICON_SIZE_DIALOG),
            *texts = gtk_box_new (GTK_ORIENTATION_VERTICAL, 3), *resume, *leave;
  self->title = dyno_text_new (NULL, "run-title");
  self->text = dyno_text_new (NULL, "note");
  self->buttons = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  gtk_box_set_spacing (GTK_BOX (self), 12);
  dyno_widget_add_class (GTK_WIDGET (self), "card", TRUE);
  dyno_widget_add_class (GTK_WIDGET (self), "home-card", TRUE);
  gtk_image_set_pixel_size (GTK_IMAGE (icon), ICON_PIXELS);
  gtk_widget_set_halign (icon, GTK_ALIGN_START);
  dyno_widget_add_class (icon, "sign-warning", TRUE);
  gtk_widget_set_valign (texts, GTK_ALIGN_CENTER);
  gtk_container_add (GTK_CONTAINER (texts), self->title);
  gtk_container_add (GTK_CONTAINER (texts), self->text);
  leave = add_button (self, _ ("_Not Now"));
  resume = add_button (self, _ ("Resume _Run"));
  gtk_widget_set_tooltip_text (leave, _ ("The run stays among the runs, and can be resumed there"));
  dyno_widget_add_class (resume, "suggested-action", TRUE);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (resume), "win.resume-interrupted");
  g_signal_connect_object (leave, "clicked", G_CALLBACK (dismissed), self, G_CONNECT_SWAPPED);
  gtk_container_add (GTK_CONTAINER (self), icon);
  gtk_box_pack_start (GTK_BOX (self), texts, TRUE, TRUE, 0);
  gtk_container_add (GTK_CONTAINER (self), self->buttons);
  gtk_widget_show_all (icon);
  gtk_widget_show_all (texts);
  gtk_widget_show_all (self->buttons);
}
