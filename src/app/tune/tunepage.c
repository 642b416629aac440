/* SPDX-License-Identifier: MIT */
/* Commands go to the search on the visible page, except Stop, which ends the active search. */
#include "tunepage.h"
#include "accuracypage.h"
#include "obstacles.h"
#include "speedpage.h"
#include "words.h"
#include <glib/gi18n.h>

struct _DynoTunePage {
  GtkBox parent_instance;
  GtkWidget *goal, *subject, *speed, *accuracy;
  DynoSetup *setup;
};

enum { FAILED, NOT_KEPT, REPORT_FAILED, NOT_SHOWN, KEPT, ACTIVE_CHANGED, READY_CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoTunePage, dyno_tune_page, GTK_TYPE_BOX)

static gboolean
is_for_accuracy (DynoTunePage *self)
{
  return gtk_stack_get_visible_child (GTK_STACK (self->goal)) == self->accuracy;
}

gboolean
dyno_tune_page_is_ready (DynoTunePage *self)
{
  g_autofree char *obstacle = dyno_obstacle_to_start (self->setup);
  const DynoJobPlan *plan = dyno_setup_get_plan (self->setup);
  if (is_for_accuracy (self))
    return !obstacle && dyno_accuracy_page_is_ready (DYNO_ACCURACY_PAGE (self->accuracy));
  /* The tuner excludes settings that do not fit, so it can start where a run cannot. */
  return !obstacle || (plan && !plan->fits);
}

gboolean
dyno_tune_page_can_go_on (DynoTunePage *self)
{
  return is_for_accuracy (self) && dyno_tune_page_is_ready (self)
         && dyno_accuracy_page_can_go_on (DYNO_ACCURACY_PAGE (self->accuracy));
}

gboolean
dyno_tune_page_start (DynoTunePage *self, const char *runs, gboolean go_on, GError **error)
{
  if (!is_for_accuracy (self))
    return dyno_speed_page_start (DYNO_SPEED_PAGE (self->speed), runs, error);
  return dyno_accuracy_page_start (DYNO_ACCURACY_PAGE (self->accuracy), go_on, error);
}

void
dyno_tune_page_stop (DynoTunePage *self)
{
  dyno_speed_page_stop (DYNO_SPEED_PAGE (self->speed));
  dyno_accuracy_page_stop (DYNO_ACCURACY_PAGE (self->accuracy));
}

gboolean
dyno_tune_page_is_active (DynoTunePage *self)
{
  return dyno_speed_page_is_active (DYNO_SPEED_PAGE (self->speed))
         || dyno_accuracy_page_is_active (DYNO_ACCURACY_PAGE (self->accuracy));
}

gboolean
dyno_tune_page_keeps_all (DynoTunePage *self)
{
  return dyno_accuracy_page_is_active (DYNO_ACCURACY_PAGE (self->accuracy));
}

gboolean
dyno_tune_page_has_best (DynoTunePage *self)
{
  return is_for_accuracy (self) ? dyno_accuracy_page_has_best (DYNO_ACCURACY_PAGE (self->accuracy))
                                : dyno_speed_page_has_best (DYNO_SPEED_PAGE (self->speed));
}

void
dyno_tune_page_use_best (DynoTunePage *self)
{
  if (is_for_accuracy (self))
    dyno_accuracy_page_use_best (DYNO_ACCURACY_PAGE (self->accuracy));
  else
    dyno_speed_page_use_best (DYNO_SPEED_PAGE (self->speed));
}

void
dyno_tune_page_set_narrow (DynoTunePage *self, gboolean narrow)
{
  dyno_speed_page_set_narrow (DYNO_SPEED_PAGE (self->speed), narrow);
  dyno_accuracy_page_set_narrow (DYNO_ACCURACY_PAGE (self->accuracy), narrow);
}

void
dyno_tune_page_set_runs_folder (DynoTunePage *self, const char *runs)
{
  dyno_accuracy_page_set_runs_folder (DYNO_ACCURACY_PAGE (self->accuracy), runs);
}

/* Names the network, the data set and the devices of a search that is started now. */
static void
show_subject (DynoTunePage *self)
{
  const DynoJob *job = dyno_setup_get_job (self->setup);
  const DynoDeviceInfo *device = dyno_setup_get_device (self->setup);
  gtk_widget_set_visible (self->subject, job->data && device);
  if (!job->data || !device)
    return;
  DynoUsedDevices used = dyno_setup_get_used_devices (self->setup);
  guint n = dyno_used_devices_count (&used);
  g_autofree char *model = dyno_words_model (job->model), *data = dyno_words_data (job->data),
                  *several = g_strdup_printf (ngettext ("%u device", "%u devices", n), n);
  /* Translators: model, data set, device or "2 devices" */
  g_autofree char *text =
      g_strdup_printf (_ ("Tunes %s on %s, %s"), model, data, n > 1 ? several : device->name);
  gtk_label_set_text (GTK_LABEL (self->subject), text);
}

void
dyno_tune_page_set_setup (DynoTunePage *self, DynoSetup *setup)
{
  self->setup = setup;
  g_signal_connect_object (setup, "changed", G_CALLBACK (show_subject), self, G_CONNECT_SWAPPED);
  show_subject (self);
  dyno_speed_page_set_setup (DYNO_SPEED_PAGE (self->speed), setup);
  dyno_accuracy_page_set_setup (DYNO_ACCURACY_PAGE (self->accuracy), setup);
}

/* --- signals of both -------------------------------------------------------------------------- */

static void
failed (GtkWidget *page, const GError *error, DynoTunePage *self)
{
  g_signal_emit (self, signals[FAILED], 0, error);
}

static void
not_kept (GtkWidget *page, const GError *error, DynoTunePage *self)
{
  g_signal_emit (self, signals[NOT_KEPT], 0, error);
}

static void
report_failed (GtkWidget *page, const GError *error, DynoTunePage *self)
{
  g_signal_emit (self, signals[REPORT_FAILED], 0, error);
}

static void
not_shown (GtkWidget *page, const GError *error, DynoTunePage *self)
{
  g_signal_emit (self, signals[NOT_SHOWN], 0, error);
}

static void
kept (DynoTunePage *self)
{
  g_signal_emit (self, signals[KEPT], 0);
}

static void
active_changed (DynoTunePage *self)
{
  g_signal_emit (self, signals[ACTIVE_CHANGED], 0);
}

static void
ready_changed (DynoTunePage *self)
{
  g_signal_emit (self, signals[READY_CHANGED], 0);
}

static void
dyno_tune_page_class_init (DynoTunePageClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  GType type = DYNO_TYPE_TUNE_PAGE;
  signals[FAILED] = g_signal_new ("failed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                  G_TYPE_NONE, 1, G_TYPE_ERROR);
  signals[NOT_KEPT] = g_signal_new ("not-kept", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                    G_TYPE_NONE, 1, G_TYPE_ERROR);
  signals[REPORT_FAILED] = g_signal_new ("report-failed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                         NULL, G_TYPE_NONE, 1, G_TYPE_ERROR);
  signals[NOT_SHOWN] = g_signal_new ("not-shown", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                     G_TYPE_NONE, 1, G_TYPE_ERROR);
  signals[KEPT] =
      g_signal_new ("kept", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[ACTIVE_CHANGED] =
      g_signal_new ("active-changed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[READY_CHANGED] =
      g_signal_new ("ready-changed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  g_type_ensure (DYNO_TYPE_SPEED_PAGE);
  g_type_ensure (DYNO_TYPE_ACCURACY_PAGE);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/gpudyno/Dyno/ui/tunepage.ui");
  gtk_widget_class_bind_template_child (widget_class, DynoTunePage, goal);
  gtk_widget_class_bind_template_child (widget_class, DynoTunePage, subject);
  gtk_widget_class_bind_template_child (widget_class, DynoTunePage, speed);
  gtk_widget_class_bind_template_child (widget_class, DynoTunePage, accuracy);
}

static void
dyno_tune_page_init (DynoTunePage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  GtkWidget *const pages[] = { self->speed, self->accuracy };
  for (guint i = 0; i < G_N_ELEMENTS (pages); i++)
    {
      g_signal_connect (pages[i], "failed", G_CALLBACK (failed), self);
      g_signal_connect_swapped (pages[i], "kept", G_CALLBACK (kept), self);
      g_signal_connect_swapped (pages[i], "active-changed", G_CALLBACK (active_changed), self);
    }
  g_signal_connect (self->speed, "not-kept", G_CALLBACK (not_kept), self);
  g_signal_connect (self->speed, "report-failed", G_CALLBACK (report_failed), self);
  g_signal_connect (self->accuracy, "not-shown", G_CALLBACK (not_shown), self);
  g_signal_connect_swapped (self->accuracy, "ready-changed", G_CALLBACK (ready_changed), self);
  g_signal_connect_swapped (self->goal, "notify::visible-child", G_CALLBACK (ready_changed), self);
}
