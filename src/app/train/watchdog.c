/* SPDX-License-Identifier: MIT */
/* Shows the worst finding that names a setting and its value.  During a run the diagnosis is made
 * every INTERVAL_US on the run's view, and once more when the run has ended. */
#include "watchdog.h"
#include "row.h"
#include "settingcontrol.h"
#include "settingtitles.h"
#include <glib/gi18n.h>

#define INTERVAL_US (2 * G_USEC_PER_SEC)

struct _DynoWatchdog {
  GtkBox parent_instance;
  GtkWidget *icon, *text, *button;
  DynoRunMonitor *monitor;
  DynoSetup *setup;
  DynoDiagnosisInput input;
  gint64 last_us;
  gboolean going;
  const DynoSettingInfo *info; /* the setting that the button changes, and its new value */
  double value;
};

G_DEFINE_FINAL_TYPE (DynoWatchdog, dyno_watchdog, GTK_TYPE_BOX)

/* The run's job, where the setup has moved on to another data set or model; else NULL. */
static const DynoJob *
get_other_job (DynoWatchdog *self)
{
  const DynoJob *job = dyno_run_monitor_get_status (self->monitor)->job;
  return job && !dyno_setup_is_like (self->setup, job) ? job : NULL;
}

/* Returns FALSE if the finding advises no value, or the present one. */
static gboolean
read_advice (DynoWatchdog *self, const DynoFinding *finding, double *value)
{
  const DynoJob *other = get_other_job (self);
  DynoSettings wanted = (other ? other : dyno_setup_get_job (self->setup))->settings;
  double now;
  if (!finding->key || !finding->value || !dyno_setting_find (finding->key))
    return FALSE;
  now = dyno_settings_get_number (&wanted, finding->key);
  if (!dyno_settings_set (&wanted, finding->key, finding->value, NULL))
    return FALSE;
  *value = dyno_settings_get_number (&wanted, finding->key);
  return *value != now;
}

static void
show_button (DynoWatchdog *self)
{
  gboolean live = self->going && self->info->live != DYNO_SETTING_LIVE_NO;
  const char *title = _ (self->info->title);
  g_autofree char *value = dyno_setting_control_describe (self->info, self->value);
  g_autofree char *label = NULL;
  if (!self->going)
    /* Translators: a setting, a value; also the next two */
    label = g_strdup_printf (_ ("Restart with %s %s"), title, value);
  else if (live)
    label = g_strdup_printf (_ ("Set %s to %s"), title, value);
  else
    label = g_strdup_printf (_ ("%s %s in the Next Run"), title, value);
  gtk_button_set_label (GTK_BUTTON (self->button), label);
  gtk_widget_set_visible (self->button, live || !get_other_job (self));
}

/* Returns the worst of the findings that advise a new value, the first of equal ones. */
static const DynoFinding *
find_worst (DynoWatchdog *self, const GPtrArray *findings)
{
  const DynoFinding *worst = NULL;
  double value;
  for (guint i = 0; i < findings->len; i++)
    {
      const DynoFinding *finding = findings->pdata[i];
      if (finding->level < DYNO_FINDING_WARNING || (worst && finding->level <= worst->level)
          || !read_advice (self, finding, &value))
        continue;
      worst = finding;
      self->value = value;
    }
  return worst;
}

void
dyno_watchdog_show (DynoWatchdog *self, const GPtrArray *findings, gboolean going)
{
  const DynoFinding *worst = find_worst (self, findings);
  self->going = going;
  gtk_widget_set_visible (GTK_WIDGET (self), worst != NULL);
  if (!worst)
    return;
  self->info = dyno_setting_find (worst->key);
  g_autofree char *text = dyno_setting_titles_put (worst->text);
  gtk_label_set_text (GTK_LABEL (self->text), text);
  gtk_image_set_from_icon_name (GTK_IMAGE (self->icon),
                                worst->level == DYNO_FINDING_PROBLEM ? "dialog-error-symbolic"
                                                                     : "dialog-warning-symbolic",
                                GTK_ICON_SIZE_BUTTON);
  show_button (self);
}

static void
judge (DynoWatchdog *self, gboolean going)
{
  dyno_diagnosis_input_take_view (&self->input, dyno_run_monitor_get_view (self->monitor));
  g_autoptr (DynoDiagnosis) d = dyno_diagnose (&self->input);
  dyno_watchdog_show (self, d->findings, going);
}

static void
clicked (DynoWatchdog *self)
{
  GtkWidget *window = gtk_widget_get_toplevel (GTK_WIDGET (self));
  gboolean live = self->going && self->info->live != DYNO_SETTING_LIVE_NO;
  const DynoJob *other = get_other_job (self);
  DynoSettings settings = (other ? other : dyno_setup_get_job (self->setup))->settings;
  g_autoptr (GError) error = NULL;
  gtk_widget_hide (GTK_WIDGET (self));
  if (!other)
    dyno_setup_set_number (self->setup, self->info->key, self->value, NULL);
  dyno_settings_set_number (&settings, self->info->key, self->value, NULL);
  g_autofree char *text = dyno_settings_get (&settings, self->info->key);
  if (live && !dyno_run_monitor_set (self->monitor, self->info->key, text, &error))
    g_warning ("%s", error->message);
  else if (!self->going)
    g_action_group_activate_action (G_ACTION_GROUP (window), "start", NULL);
}

static void
run_changed (DynoWatchdog *self)
{
  const DynoRunStatus *s = dyno_run_monitor_get_status (self->monitor);
  gboolean active = dyno_run_monitor_is_active (self->monitor), over = self->going && !active;
  gint64 now = g_get_monotonic_time ();
  if (active && !self->going)
    {
      dyno_diagnosis_input_init (&self->input);
      self->last_us = now;
      gtk_widget_hide (GTK_WIDGET (self));
    }
  self->going = active;
  if (s->n_steps == 0 || (!over && (!active || now - self->last_us < INTERVAL_US)))
    return;
  self->last_us = now;
  judge (self, active);
}

void
dyno_watchdog_set_run (DynoWatchdog *self, DynoRunMonitor *monitor, DynoSetup *setup)
{
  self->monitor = monitor;
  self->setup = setup;
  g_signal_connect_object (monitor, "changed", G_CALLBACK (run_changed), self, G_CONNECT_SWAPPED);
}

static void
dyno_watchdog_class_init (DynoWatchdogClass *class)
{
}

static void
dyno_watchdog_init (DynoWatchdog *self)
{
  gtk_box_set_spacing (GTK_BOX (self), 10);
  dyno_widget_add_class (GTK_WIDGET (self), "card", TRUE);
  dyno_widget_add_class (GTK_WIDGET (self), "diagnosis", TRUE);
  self->icon = gtk_image_new ();
  self->text = gtk_label_new (NULL);
  self->button = gtk_button_new ();
  gtk_label_set_xalign (GTK_LABEL (self->text), 0);
  gtk_label_set_line_wrap (GTK_LABEL (self->text), TRUE);
  gtk_widget_set_hexpand (self->text, TRUE);
  gtk_widget_set_valign (self->icon, GTK_ALIGN_START);
  gtk_widget_set_valign (self->button, GTK_ALIGN_CENTER);
  g_signal_connect_swapped (self->button, "clicked", G_CALLBACK (clicked), self);
  gtk_container_add (GTK_CONTAINER (self), self->icon);
  gtk_container_add (GTK_CONTAINER (self), self->text);
  gtk_container_add (GTK_CONTAINER (self), self->button);
  gtk_widget_show (self->icon);
  gtk_widget_show (self->text);
  gtk_widget_show (self->button);
}
