/* SPDX-License-Identifier: MIT */
/* While the run goes on it is judged every INTERVAL_US from its view.  When it has ended, its
 * folder is read and judged in a thread; what comes after another run has begun is dropped.  The
 * findings are built anew only when they read otherwise, and not under the focus. */
#include "diagnosiscard.h"
#include "diagnosis.h"
#include "format.h"
#include "phasebar.h"
#include "row.h"
#include <glib/gi18n.h>
#include <math.h>

#define INTERVAL_US (2 * G_USEC_PER_SEC)

struct _DynoDiagnosisCard {
  GtkBox parent_instance;
  GtkWidget *verdict, *gain, *phases, *sensors, *expander, *findings;
  DynoRunMonitor *monitor;
  DynoSetup *setup;
  DynoDiagnosisInput input;
  gint64 last_us;
  gboolean going; /* a run goes on, and its input is collected */
  guint64 run;    /* counts them */
  char *shown;    /* the findings as they read */
};

G_DEFINE_FINAL_TYPE (DynoDiagnosisCard, dyno_diagnosis_card, GTK_TYPE_BOX)

static GtkWidget *
new_label (const char *text, const char *class)
{
  GtkWidget *label = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_line_wrap (GTK_LABEL (label), TRUE);
  if (class)
    dyno_widget_add_class (label, class, TRUE);
  return label;
}

/* --- findings --------------------------------------------------------------------------------- */

static void
update_apply (GtkWidget *button, DynoDiagnosisCard *self)
{
  const char *key = g_object_get_data (G_OBJECT (button), "dyno-key"),
             *value = g_object_get_data (G_OBJECT (button), "dyno-value");
  DynoSettings wanted = dyno_setup_get_job (self->setup)->settings;
  g_autofree char *now = dyno_settings_get (&wanted, key), *then = NULL;
  gboolean taken = dyno_settings_set (&wanted, key, value, NULL), locked, same;
  then = taken ? dyno_settings_get (&wanted, key) : NULL;
  same = g_strcmp0 (now, then) == 0;
  locked = dyno_setup_is_locked (self->setup);
  gtk_widget_set_sensitive (button, taken && !same && !locked);
  gtk_button_set_label (GTK_BUTTON (button), same ? _ ("Applied") : _ ("Apply"));
  gtk_widget_set_tooltip_text (button, locked && !same ? _ ("Once the run has ended") : NULL);
}

static void
for_each_apply (DynoDiagnosisCard *self)
{
  g_autoptr (GList) rows = gtk_container_get_children (GTK_CONTAINER (self->findings));
  for (GList *l = rows; l; l = l->next)
    {
      GtkWidget *button = g_object_get_data (l->data, "dyno-apply");
      if (button)
        update_apply (button, self);
    }
}

static void
apply_clicked (GtkButton *button, DynoDiagnosisCard *self)
{
  DynoSettings settings = dyno_setup_get_job (self->setup)->settings;
  if (dyno_settings_set (&settings, g_object_get_data (G_OBJECT (button), "dyno-key"),
                         g_object_get_data (G_OBJECT (button), "dyno-value"), NULL))
    dyno_setup_set_settings (self->setup, &settings);
}

static GtkWidget *
new_apply (DynoDiagnosisCard *self, const DynoFinding *finding)
{
  const DynoSettingInfo *info = dyno_setting_find (finding->key);
  GtkWidget *button = gtk_button_new_with_label (_ ("Apply"));
  /* Translators: a setting and its value: "Apply: Workers 8" */
  g_autofree char *name =
      g_strdup_printf (_ ("Apply: %s %s"), info ? _ (info->title) : finding->key, finding->value);
  g_object_set_data (G_OBJECT (button), "dyno-key", (gpointer) finding->key);
  g_object_set_data_full (G_OBJECT (button), "dyno-value", g_strdup (finding->value), g_free);
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  dyno_widget_set_accessible_name (button, name);
  g_signal_connect (button, "clicked", G_CALLBACK (apply_clicked), self);
  update_apply (button, self);
  return button;
}

static const char *
name_level (DynoFindingLevel level)
{
  switch (level)
    {
    case DYNO_FINDING_GOOD:
      return _ ("Good");
    case DYNO_FINDING_NOTE:
      return _ ("Note");
    case DYNO_FINDING_WARNING:
      return _ ("Warning");
    case DYNO_FINDING_PROBLEM:
    default:
      return _ ("Problem");
    }
}

static GtkWidget *
new_finding (DynoDiagnosisCard *self, const DynoFinding *finding)
{
  static const char *const icons[] = { "object-select-symbolic", "dialog-information-symbolic",
                                       "dialog-warning-symbolic", "dialog-error-symbolic" };
  GtkWidget *row = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 10),
            *texts = gtk_box_new (GTK_ORIENTATION_VERTICAL, 1),
            *icon = gtk_image_new_from_icon_name (icons[finding->level], GTK_ICON_SIZE_MENU);
  gtk_widget_set_valign (icon, GTK_ALIGN_START);
  gtk_widget_set_tooltip_text (icon, name_level (finding->level));
  dyno_widget_set_accessible_name (icon, name_level (finding->level));
  dyno_widget_add_class (icon, "bad-text", finding->level == DYNO_FINDING_PROBLEM);
  gtk_widget_set_hexpand (texts, TRUE);
  gtk_container_add (GTK_CONTAINER (texts), new_label (finding->text, NULL));
  if (finding->action)
    gtk_container_add (GTK_CONTAINER (texts), new_label (finding->action, "caption"));
  gtk_container_add (GTK_CONTAINER (row), icon);
  gtk_container_add (GTK_CONTAINER (row), texts);
  if (finding->key && finding->value && dyno_setting_find (finding->key))
    {
      GtkWidget *button = new_apply (self, finding);
      g_object_set_data (G_OBJECT (row), "dyno-apply", button);
      gtk_container_add (GTK_CONTAINER (row), button);
    }
  gtk_widget_show_all (row);
  return row;
}

static void
show_findings (DynoDiagnosisCard *self, const GPtrArray *findings)
{
  g_autoptr (GString) text = g_string_new (NULL);
  GtkWidget *window = gtk_widget_get_toplevel (GTK_WIDGET (self)),
            *focus = GTK_IS_WINDOW (window) ? gtk_window_get_focus (GTK_WINDOW (window)) : NULL;
  for (guint i = 0; i < findings->len; i++)
    {
      const DynoFinding *finding = findings->pdata[i];
      g_string_append_printf (text, "%s\n%s\n%s\n", finding->text,
                              finding->action ? finding->action : "",
                              finding->value ? finding->value : "");
    }
  if (g_strcmp0 (text->str, self->shown) == 0
      || (self->going && focus && gtk_widget_is_ancestor (focus, self->findings)))
    return;
  g_free (self->shown);
  self->shown = g_strdup (text->str);
  dyno_widget_clear (self->findings);
  for (guint i = 0; i < findings->len; i++)
    gtk_container_add (GTK_CONTAINER (self->findings), new_finding (self, findings->pdata[i]));
  g_autofree char *title =
      g_strdup_printf (ngettext ("%u findin_g", "%u findin_gs", findings->len), findings->len);
  gtk_button_set_label (GTK_BUTTON (self->expander), title);
  gtk_widget_set_visible (self->expander, findings->len > 0);
}

/* --- sensors ---------------------------------------------------------------------------------- */

static void G_GNUC_PRINTF (3, 4) add (GString *text, double value, const char *format, ...)
{
  va_list arguments;
  if (isnan (value))
    return;
  if (text->len > 0)
    g_string_append (text, "  \302\267  ");
  va_start (arguments, format);
  g_string_append_vprintf (text, format, arguments);
  va_end (arguments);
}

static char *
describe_sensors (const DynoSensorReading *reading)
{
  const double *v = reading->values;
  GString *text = g_string_new (NULL);
  g_autofree char *words = dyno_throttle_words (reading->throttle_reasons);
  g_autofree char *used =
      dyno_format_bytes (v[DYNO_SENSOR_RAM_USED] > 0 ? (guint64) v[DYNO_SENSOR_RAM_USED] : 0);
  g_autofree char *read = dyno_format_bytes (
      v[DYNO_SENSOR_DISK_READ_PER_S] > 0 ? (guint64) v[DYNO_SENSOR_DISK_READ_PER_S] : 0);
  add (text, v[DYNO_SENSOR_GPU_BUSY], _ ("GPU %.0f %%"), v[DYNO_SENSOR_GPU_BUSY]);
  add (text, v[DYNO_SENSOR_GPU_TEMPERATURE], _ ("%.0f °C"), v[DYNO_SENSOR_GPU_TEMPERATURE]);
  add (text, v[DYNO_SENSOR_GPU_POWER], _ ("%.0f W"), v[DYNO_SENSOR_GPU_POWER]);
  add (text, v[DYNO_SENSOR_GPU_CLOCK], _ ("%.0f MHz"), v[DYNO_SENSOR_GPU_CLOCK]);
  if (v[DYNO_SENSOR_GPU_THROTTLE] > 0)
    /* Translators: why a GPU is slowed down: "held back: power" */
    add (text, 1, _ ("held back: %s"), words);
  add (text, v[DYNO_SENSOR_CPU_BUSY], _ ("CPU %.0f %%"), v[DYNO_SENSOR_CPU_BUSY]);
  add (text, v[DYNO_SENSOR_RAM_USED], _ ("Memory %s"), used);
  add (text, v[DYNO_SENSOR_DISK_READ_PER_S], _ ("Disk %s/s"), read);
  return g_string_free (text, FALSE);
}

static void
show_sensors (DynoDiagnosisCard *self)
{
  const DynoRunStatus *s = dyno_run_monitor_get_status (self->monitor);
  g_autofree char *text =
      self->going && s->has_sensors ? describe_sensors (&s->sensors) : g_strdup ("");
  gtk_label_set_text (GTK_LABEL (self->sensors), text);
  gtk_widget_set_visible (self->sensors, *text != '\0');
}

/* --- verdict ---------------------------------------------------------------------------------- */

static void
show_diagnosis (DynoDiagnosisCard *self, const DynoDiagnosis *d)
{
  gboolean gains = d->expected_gain >= 0.005;
  gtk_label_set_text (GTK_LABEL (self->verdict), d->verdict);
  /* Translators: expected gain in samples per second */
  g_autofree char *gain = g_strdup_printf (_ ("about +%.0f %%"), 100 * d->expected_gain);
  gtk_label_set_text (GTK_LABEL (self->gain), gains ? gain : "");
  gtk_widget_set_visible (self->gain, gains);
  dyno_phase_bar_show (DYNO_PHASE_BAR (self->phases), &d->phases);
  show_findings (self, d->findings);
  show_sensors (self);
  gtk_widget_show (GTK_WIDGET (self));
}

static void
judge_now (DynoDiagnosisCard *self)
{
  dyno_diagnosis_input_take_view (&self->input, dyno_run_monitor_get_view (self->monitor));
  g_autoptr (DynoDiagnosis) d = dyno_diagnose (&self->input);
  show_diagnosis (self, d);
}

static void
judge_folder (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  g_autofree DynoDiagnosisInput *input = g_new (DynoDiagnosisInput, 1);
  GError *error = NULL;
  dyno_diagnosis_input_init (input);
  if (dyno_diagnosis_input_read_run (input, data, &error))
    {
      dyno_diagnosis_input_find_ceilings (input, NULL);
      g_task_return_pointer (task, dyno_diagnose (input), (GDestroyNotify) dyno_diagnosis_unref);
    }
  else
    g_task_return_error (task, error);
}

static void
folder_judged (GObject *source, GAsyncResult *result, gpointer data)
{
  DynoDiagnosisCard *self = DYNO_DIAGNOSIS_CARD (source);
  /* Without a folder, what was seen of the run while it went on stays. */
  g_autoptr (DynoDiagnosis) d = g_task_propagate_pointer (G_TASK (result), NULL);
  if (d && self->monitor && GPOINTER_TO_SIZE (data) == self->run && !self->going)
    show_diagnosis (self, d);
}

static void
end_run (DynoDiagnosisCard *self)
{
  const DynoRunStatus *s = dyno_run_monitor_get_status (self->monitor);
  self->going = FALSE;
  if (s->n_steps > 0)
    judge_now (self);
  for_each_apply (self);
  if (s->n_steps == 0 || !s->out_dir)
    return;
  g_autoptr (GTask) task =
      g_task_new (self, NULL, folder_judged, GSIZE_TO_POINTER ((gsize) self->run));
  g_task_set_task_data (task, g_strdup (s->out_dir), g_free);
  g_task_run_in_thread (task, judge_folder);
}

static void
run_changed (DynoDiagnosisCard *self)
{
  const DynoRunStatus *s = dyno_run_monitor_get_status (self->monitor);
  gboolean active = dyno_run_monitor_is_active (self->monitor);
  gint64 now = g_get_monotonic_time ();
  if (active && !self->going)
    {
      self->going = TRUE;
      self->run++;
      self->last_us = now;
      dyno_diagnosis_input_init (&self->input);
      gtk_widget_hide (GTK_WIDGET (self));
    }
  else if (!active && self->going)
    end_run (self);
  else if (self->going && s->n_steps > 0 && now - self->last_us >= INTERVAL_US)
    {
      self->last_us = now;
      judge_now (self);
    }
}

static void
setup_changed (DynoDiagnosisCard *self)
{
  if (self->setup)
    for_each_apply (self);
}

void
dyno_diagnosis_card_set_run (DynoDiagnosisCard *self, DynoRunMonitor *monitor, DynoSetup *setup)
{
  self->monitor = monitor;
  self->setup = setup;
  g_signal_connect_object (monitor, "changed", G_CALLBACK (run_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (setup, "changed", G_CALLBACK (setup_changed), self, G_CONNECT_SWAPPED);
}

static void
unfold (GtkToggleButton *button, DynoDiagnosisCard *self)
{
  gboolean open = gtk_toggle_button_get_active (button);
  gtk_button_set_image (GTK_BUTTON (button),
                        gtk_image_new_from_icon_name (
                            open ? "pan-down-symbolic" : "pan-end-symbolic", GTK_ICON_SIZE_BUTTON));
  gtk_widget_set_visible (self->findings, open);
}

static void
dyno_diagnosis_card_dispose (GObject *object)
{
  DynoDiagnosisCard *self = DYNO_DIAGNOSIS_CARD (object);
  self->monitor = NULL;
  self->setup = NULL;
  g_clear_pointer (&self->shown, g_free);
  G_OBJECT_CLASS (dyno_diagnosis_card_parent_class)->dispose (object);
}

static void
dyno_diagnosis_card_class_init (DynoDiagnosisCardClass *class)
{
  G_OBJECT_CLASS (class)->dispose = dyno_diagnosis_card_dispose;
}

static void
dyno_diagnosis_card_init (DynoDiagnosisCard *self)
{
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing (GTK_BOX (self), 10);
  dyno_widget_add_class (GTK_WIDGET (self), "card", TRUE);
  dyno_widget_add_class (GTK_WIDGET (self), "diagnosis", TRUE);
  self->verdict = new_label (NULL, NULL);
  gtk_widget_set_hexpand (self->verdict, TRUE);
  self->gain = new_label (NULL, "run-title");
  gtk_label_set_line_wrap (GTK_LABEL (self->gain), FALSE);
  gtk_widget_set_valign (self->gain, GTK_ALIGN_START);
  self->phases = dyno_phase_bar_new ();
  self->sensors = new_label (NULL, "caption");
  dyno_widget_add_class (self->sensors, "numeric", TRUE);
  self->findings = gtk_box_new (GTK_ORIENTATION_VERTICAL, 10);
  self->expander = gtk_toggle_button_new_with_mnemonic ("");
  gtk_widget_set_halign (self->expander, GTK_ALIGN_START);
  gtk_button_set_relief (GTK_BUTTON (self->expander), GTK_RELIEF_NONE);
  gtk_button_set_always_show_image (GTK_BUTTON (self->expander), TRUE);
  dyno_widget_add_class (self->expander, "fold", TRUE);
  g_signal_connect (self->expander, "toggled", G_CALLBACK (unfold), self);
  unfold (GTK_TOGGLE_BUTTON (self->expander), self);
  gtk_container_add (GTK_CONTAINER (head), self->verdict);
  gtk_container_add (GTK_CONTAINER (head), self->gain);
  gtk_widget_show (self->verdict);
  gtk_widget_show (head);
  gtk_container_add (GTK_CONTAINER (self), head);
  gtk_container_add (GTK_CONTAINER (self), self->phases);
  gtk_container_add (GTK_CONTAINER (self), self->sensors);
  gtk_container_add (GTK_CONTAINER (self), self->expander);
  gtk_container_add (GTK_CONTAINER (self), self->findings);
}
