/* SPDX-License-Identifier: MIT */
#include "diagnosepage.h"
#include "diagnosiscard.h"
#include "row.h"
#include <glib/gi18n.h>
#include <handy.h>

#define MOST_WIDTH 860

struct _DynoDiagnosePage {
  GtkStack parent_instance;
  GtkWidget *empty, *scrolled, *card;
};

G_DEFINE_FINAL_TYPE (DynoDiagnosePage, dyno_diagnose_page, GTK_TYPE_STACK)

/* A run that has just begun has no steps that the diagnosis can use. */
static void
run_changed (DynoDiagnosePage *self, DynoRunMonitor *monitor)
{
  gboolean active = dyno_run_monitor_is_active (monitor);
  g_object_set (self->empty, "title",
                active ? _ ("Waiting for the First Steps") : _ ("Nothing to Diagnose Yet"),
                "description",
                active ? _ ("After them this page says what limits the run, and what to change.")
                       : _ ("Start a run: after its first steps this page says what limits it, and "
                            "what to change. The diagnoses of earlier runs are on the page Runs."),
                NULL);
  dyno_status_page_set_startable (self->empty, !active);
}

static void
card_shown (DynoDiagnosePage *self)
{
  gtk_stack_set_visible_child (GTK_STACK (self),
                               gtk_widget_get_visible (self->card) ? self->scrolled : self->empty);
}

void
dyno_diagnose_page_set_run (DynoDiagnosePage *self, DynoRunMonitor *monitor, DynoSetup *setup)
{
  dyno_diagnosis_card_set_run (DYNO_DIAGNOSIS_CARD (self->card), monitor, setup);
  g_signal_connect_object (monitor, "changed", G_CALLBACK (run_changed), self, G_CONNECT_SWAPPED);
  run_changed (self, monitor);
}

static void
dyno_diagnose_page_class_init (DynoDiagnosePageClass *class)
{
}

static void
dyno_diagnose_page_init (DynoDiagnosePage *self)
{
  GtkWidget *clamp = hdy_clamp_new ();
  self->empty = dyno_status_page_new ("dyno-diagnose-symbolic", NULL, NULL);
  self->card = g_object_new (DYNO_TYPE_DIAGNOSIS_CARD, NULL);
  self->scrolled = gtk_scrolled_window_new (NULL, NULL);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (self->scrolled), GTK_POLICY_NEVER,
                                  GTK_POLICY_AUTOMATIC);
  dyno_widget_set_accessible_name (self->scrolled, _ ("Diagnosis"));
  hdy_clamp_set_maximum_size (HDY_CLAMP (clamp), MOST_WIDTH);
  hdy_clamp_set_tightening_threshold (HDY_CLAMP (clamp), MOST_WIDTH);
  g_object_set (clamp, "margin", 18, NULL);
  gtk_widget_set_valign (self->card, GTK_ALIGN_START);
  gtk_container_add (GTK_CONTAINER (clamp), self->card);
  gtk_widget_show (clamp);
  gtk_container_add (GTK_CONTAINER (self->scrolled), clamp);
  gtk_container_add (GTK_CONTAINER (self), self->empty);
  gtk_container_add (GTK_CONTAINER (self), self->scrolled);
  gtk_widget_show (self->scrolled);
  g_signal_connect_object (self->card, "notify::visible", G_CALLBACK (card_shown), self,
                           G_CONNECT_SWAPPED);
  card_shown (self);
}
