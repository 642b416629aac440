/* SPDX-License-Identifier: MIT */
/* During the run the diagnosis is repeated every INTERVAL_US on the run's view.  When the run has
 * ended, the diagnosis of its folder is made in a thread, as that of a past run is; a result that
 * arrives after another run has begun, or was asked for, is dropped.  The rows of findings are
 * rebuilt only when their texts change, and not while one has the focus. */
#include "diagnosiscard.h"
#include "findingrow.h"
#include "format.h"
#include "phasebar.h"
#include "row.h"
#include "settingcontrol.h"
#include "settingtitles.h"
#include "words.h"
#include <glib/gi18n.h>
#include <handy.h>
#include <math.h>

#define INTERVAL_US (2 * G_USEC_PER_SEC)

struct _DynoDiagnosisCard {
  GtkBox parent_instance;
  GtkWidget *verdict, *gain, *advice, *phases, *sensors, *guide, *rates_group, *rates,
      *memory_group, *memory;
  GtkWidget *groups[DYNO_N_CHECKS], *lists[DYNO_N_CHECKS];
  DynoRunMonitor *monitor;
  DynoSetup *setup;
  DynoDiagnosisInput input;
  char *preset; /* name of the run's preset; NULL: it has none */
  DynoPresetRange expected[DYNO_PRESET_N_QUANTITIES];
  gint64 last_us;
  gboolean going; /* a run is active, and its input is collected */
  guint64 run;    /* counter of runs */
  char *shown;    /* the texts of the findings */
};

G_DEFINE_FINAL_TYPE (DynoDiagnosisCard, dyno_diagnosis_card, GTK_TYPE_BOX)

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
  locked = dyno_setup_is_busy (self->setup);
  gtk_widget_set_sensitive (button, taken && !same && !locked);
  gtk_button_set_label (GTK_BUTTON (button), same                     ? _ ("Applied")
                                             : button == self->advice ? _ ("Apply Advice")
                                                                      : _ ("Apply"));
  gtk_widget_set_tooltip_text (button, locked && !same ? _ ("Once the run has ended") : NULL);
}

static void
for_each_apply (DynoDiagnosisCard *self)
{
  for (guint i = 0; i < DYNO_N_CHECKS; i++)
    {
      g_autoptr (GList) rows = gtk_container_get_children (GTK_CONTAINER (self->lists[i]));
      for (GList *l = rows; l; l = l->next)
        {
          GtkWidget *button = g_object_get_data (l->data, "dyno-apply");
          if (button)
            update_apply (button, self);
        }
    }
  if (g_object_get_data (G_OBJECT (self->advice), "dyno-key"))
    update_apply (self->advice, self);
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
  DynoSettings wanted = dyno_setup_get_job (self->setup)->settings;
  dyno_settings_set (&wanted, finding->key, finding->value, NULL);
  g_autofree char *value =
      dyno_setting_control_describe (info, dyno_settings_get_number (&wanted, finding->key));
  g_autofree char *name = g_strdup_printf (_ ("Apply: %s %s"), _ (info->title), value);
  g_object_set_data (G_OBJECT (button), "dyno-key", (gpointer) finding->key);
  g_object_set_data_full (G_OBJECT (button), "dyno-value", g_strdup (finding->value), g_free);
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  dyno_widget_set_accessible_name (button, name);
  g_signal_connect (button, "clicked", G_CALLBACK (apply_clicked), self);
  update_apply (button, self);
  return button;
}

static GtkWidget *
new_finding (DynoDiagnosisCard *self, const DynoFinding *finding)
{
  GtkWidget *row = dyno_finding_row_new (finding);
  if (finding->key && finding->value && dyno_setting_find (finding->key))
    {
      GtkWidget *button = new_apply (self, finding);
      g_object_set_data (G_OBJECT (row), "dyno-apply", button);
      gtk_container_add (GTK_CONTAINER (row), button);
      gtk_widget_show (button);
    }
  return row;
}

/* Shows the setting that the verdict advises to change, where a finding has a value for it. */
static void
show_advice (DynoDiagnosisCard *self, const DynoDiagnosis *d)
{
  const DynoFinding *found = NULL;
  for (guint i = 0; i < d->findings->len && !found && d->knob; i++)
    {
      const DynoFinding *finding = d->findings->pdata[i];
      if (g_strcmp0 (finding->key, d->knob) == 0 && finding->value)
        found = finding;
    }
  gtk_widget_set_visible (self->advice, found != NULL);
  g_object_set_data (G_OBJECT (self->advice), "dyno-key", found ? (gpointer) found->key : NULL);
  g_object_set_data_full (G_OBJECT (self->advice), "dyno-value",
                          g_strdup (found ? found->value : NULL), g_free);
  if (found)
    update_apply (self->advice, self);
}

static void
show_findings (DynoDiagnosisCard *self, const GPtrArray *findings)
{
  g_autoptr (GString) text = g_string_new (NULL);
  GtkWidget *window = gtk_widget_get_toplevel (GTK_WIDGET (self)),
            *focus = GTK_IS_WINDOW (window) ? gtk_window_get_focus (GTK_WINDOW (window)) : NULL;
  guint counts[DYNO_N_CHECKS] = { 0 };
  for (guint i = 0; i < findings->len; i++)
    {
      const DynoFinding *finding = findings->pdata[i];
      g_string_append_printf (text, "%s\n%s\n%s\n", finding->text,
                              finding->action ? finding->action : "",
                              finding->value ? finding->value : "");
    }
  if (g_strcmp0 (text->str, self->shown) == 0
      || (self->going && focus && gtk_widget_is_ancestor (focus, GTK_WIDGET (self))))
    return;
  g_free (self->shown);
  self->shown = g_strdup (text->str);
  for (guint i = 0; i < DYNO_N_CHECKS; i++)
    dyno_widget_clear (self->lists[i]);
  for (guint i = 0; i < findings->len; i++)
    {
      const DynoFinding *finding = findings->pdata[i];
      gtk_container_add (GTK_CONTAINER (self->lists[finding->check]), new_finding (self, finding));
      counts[finding->check]++;
    }
  for (guint i = 0; i < DYNO_N_CHECKS; i++)
    gtk_widget_set_visible (self->groups[i], counts[i] > 0);
}

/* --- rates and memory ------------------------------------------------------------------------- */

/* A row of a list: a title, a bar, a number. */
static GtkWidget *
new_bar (GtkWidget *list)
{
  GtkWidget *row = gtk_list_box_row_new (), *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12),
            *label = gtk_label_new (NULL), *level = gtk_level_bar_new (),
            *value = gtk_label_new (NULL);
  GtkSizeGroup *names = g_object_get_data (G_OBJECT (list), "dyno-names"),
               *values = g_object_get_data (G_OBJECT (list), "dyno-values");
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_xalign (GTK_LABEL (value), 1);
  gtk_label_set_line_wrap (GTK_LABEL (label), TRUE);
  gtk_size_group_add_widget (names, label);
  gtk_size_group_add_widget (values, value);
  gtk_level_bar_add_offset_value (GTK_LEVEL_BAR (level), GTK_LEVEL_BAR_OFFSET_LOW, 0);
  gtk_level_bar_add_offset_value (GTK_LEVEL_BAR (level), GTK_LEVEL_BAR_OFFSET_HIGH, 1);
  gtk_widget_set_valign (level, GTK_ALIGN_CENTER);
  gtk_widget_set_hexpand (level, TRUE);
  dyno_widget_add_class (level, "slim", TRUE);
  dyno_widget_add_class (value, "numeric", TRUE);
  g_object_set (box, "margin", 10, "margin-start", 12, "margin-end", 12, NULL);
  gtk_container_add (GTK_CONTAINER (box), label);
  gtk_container_add (GTK_CONTAINER (box), level);
  gtk_container_add (GTK_CONTAINER (box), value);
  gtk_container_add (GTK_CONTAINER (row), box);
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), FALSE);
  g_object_set_data (G_OBJECT (row), "dyno-label", label);
  g_object_set_data (G_OBJECT (row), "dyno-level", level);
  g_object_set_data (G_OBJECT (row), "dyno-value", value);
  gtk_widget_show_all (row);
  gtk_container_add (GTK_CONTAINER (list), row);
  return row;
}

/* Updates the next row in place, since it may have the focus. */
static void
show_bar (GtkWidget *list, int *at, const char *title, double share, const char *number)
{
  GtkListBoxRow *there = gtk_list_box_get_row_at_index (GTK_LIST_BOX (list), *at);
  GtkWidget *row = there ? GTK_WIDGET (there) : new_bar (list),
            *level = g_object_get_data (G_OBJECT (row), "dyno-level");
  g_autofree char *spoken = g_strdup_printf ("%s: %s", title, number);
  gtk_label_set_text (g_object_get_data (G_OBJECT (row), "dyno-label"), title);
  gtk_label_set_text (g_object_get_data (G_OBJECT (row), "dyno-value"), number);
  gtk_level_bar_set_value (GTK_LEVEL_BAR (level), CLAMP (share, 0, 1));
  dyno_widget_set_accessible_name (level, title);
  dyno_widget_set_accessible_name (row, spoken);
  (*at)++;
}

/* Removes the rows from `at` on. */
static void
end_bars (GtkWidget *list, int at)
{
  GtkListBoxRow *row;
  while ((row = gtk_list_box_get_row_at_index (GTK_LIST_BOX (list), at)))
    gtk_widget_destroy (GTK_WIDGET (row));
}

static void
show_rate (DynoDiagnosisCard *self, int *at, const char *title, double rate, double most)
{
  g_autofree char *text = dyno_format_throughput (rate);
  if (rate > 0 && most > 0)
    show_bar (self->rates, at, title, rate / most, text);
}

static void
show_rates (DynoDiagnosisCard *self, const DynoDiagnosis *d)
{
  double most = 0;
  int at = 0;
  const double rates[] = { d->rate, d->loader_ceiling, d->gpu_ceiling, d->exchange_ceiling };
  for (guint i = 0; i < G_N_ELEMENTS (rates); i++)
    most = rates[i] > most ? rates[i] : most;
  show_rate (self, &at, _ ("This run"), d->rate, most);
  show_rate (self, &at,
             d->loader_measured ? _ ("Data alone, measured") : _ ("Data alone, estimated"),
             d->loader_ceiling, most);
  show_rate (self, &at,
             d->gpu_measured ? _ ("Device alone, measured") : _ ("Device alone, estimated"),
             d->gpu_ceiling, most);
  show_rate (self, &at, _ ("Exchange alone, estimated"), d->exchange_ceiling, most);
  end_bars (self->rates, at);
  gtk_widget_set_visible (self->rates_group, most > 0);
}

static void
show_memory (DynoDiagnosisCard *self)
{
  const DynoRunStatus *s = dyno_run_monitor_get_status (self->monitor);
  guint64 total = s->has_plan ? s->plan.plan.total_bytes : 0;
  int at = 0;
  gtk_widget_set_visible (self->memory_group, total > 0);
  for (guint i = 0; total > 0 && i < DYNO_MEMORY_N_KINDS; i++)
    {
      guint64 bytes = s->plan.plan.kind_bytes[i];
      g_autofree char *size = dyno_format_bytes (bytes);
      if (bytes > 0)
        show_bar (self->memory, &at, dyno_words_memory_kind (i), (double) bytes / (double) total,
                  size);
    }
  end_bars (self->memory, at);
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
  g_autofree char *part = dyno_format_isolate (g_strdup_vprintf (format, arguments));
  va_end (arguments);
  g_string_append (text, part);
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

/* --- the preset's guide ----------------------------------------------------------------------- */

static void
keep_expected (DynoDiagnosisCard *self)
{
  const DynoPreset *preset = dyno_setup_get_preset (self->setup);
  DynoPresetUse use = dyno_setup_get_preset_use (self->setup);
  g_free (self->preset);
  self->preset = preset ? g_strdup (preset->name) : NULL;
  if (preset)
    dyno_preset_list_expected (preset, &use, self->expected);
}

static void
show_guide (DynoDiagnosisCard *self)
{
  double measured[DYNO_PRESET_N_QUANTITIES];
  g_autofree char *numbers = NULL, *text = NULL;
  if (self->preset)
    {
      dyno_diagnosis_input_measure (&self->input, dyno_run_monitor_get_status (self->monitor),
                                    measured);
      numbers = dyno_preset_compare (self->expected, measured);
    }
  if (numbers)
    text = g_strdup_printf (_ ("Compared with the numbers of the preset “%s”, measured on its "
                               "guide's network and card: %s."),
                            self->preset, numbers);
  gtk_label_set_text (GTK_LABEL (self->guide), text ? text : "");
  gtk_widget_set_visible (self->guide, text != NULL);
}

/* --- verdict ---------------------------------------------------------------------------------- */

void
dyno_diagnosis_card_show (DynoDiagnosisCard *self, const DynoDiagnosis *d)
{
  gboolean gains = d->expected_gain >= 0.005;
  g_autofree char *verdict = dyno_setting_titles_put (d->verdict);
  gtk_label_set_text (GTK_LABEL (self->verdict), verdict);
  /* Translators: expected gain in samples per second */
  g_autofree char *percent = dyno_format_isolate (
                      g_strdup_printf (_ ("+%.0f %%"), 100 * d->expected_gain)),
                  *gain = g_strdup_printf (_ ("about %s"), percent);
  gtk_label_set_text (GTK_LABEL (self->gain), gains ? gain : "");
  gtk_widget_set_visible (self->gain, gains);
  dyno_phase_bar_show (DYNO_PHASE_BAR (self->phases), &d->phases);
  show_advice (self, d);
  show_rates (self, d);
  show_findings (self, d->findings);
  if (self->monitor)
    {
      show_sensors (self);
      show_guide (self);
      show_memory (self);
    }
  gtk_widget_show (GTK_WIDGET (self));
}

/* Shows why there is no diagnosis. */
static void
show_problem (DynoDiagnosisCard *self, const char *problem)
{
  const GPtrArray none = { 0 };
  const DynoPhases unknown = { 0 };
  gtk_label_set_text (GTK_LABEL (self->verdict), problem);
  gtk_widget_hide (self->gain);
  gtk_widget_hide (self->advice);
  gtk_widget_hide (self->rates_group);
  dyno_phase_bar_show (DYNO_PHASE_BAR (self->phases), &unknown);
  show_findings (self, &none);
  gtk_widget_show (GTK_WIDGET (self));
}

static void
judge_now (DynoDiagnosisCard *self)
{
  dyno_diagnosis_input_take_view (&self->input, dyno_run_monitor_get_view (self->monitor));
  g_autoptr (DynoDiagnosis) d = dyno_diagnose (&self->input);
  dyno_diagnosis_card_show (self, d);
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
      g_task_return_pointer (task, dyno_diagnose (input), (GDestroyNotify) dyno_diagnosis_free);
    }
  else
    g_task_return_error (task, error);
}

static void
folder_judged (GObject *source, GAsyncResult *result, gpointer data)
{
  DynoDiagnosisCard *self = DYNO_DIAGNOSIS_CARD (source);
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoDiagnosis) d = g_task_propagate_pointer (G_TASK (result), &error);
  if (!self->setup || GPOINTER_TO_SIZE (data) != self->run || self->going)
    return;
  if (d)
    dyno_diagnosis_card_show (self, d);
  else if (!self->monitor) /* of a monitor's run the last diagnosis made during the run stays */
    {
      g_autofree char *cause = dyno_setting_titles_put (error->message);
      show_problem (self, cause);
    }
}

static void
judge_in_thread (DynoDiagnosisCard *self, const char *folder)
{
  g_autoptr (GTask) task =
      g_task_new (self, NULL, folder_judged, GSIZE_TO_POINTER ((gsize) self->run));
  g_task_set_task_data (task, g_strdup (folder), g_free);
  g_task_run_in_thread (task, judge_folder);
}

static void
end_run (DynoDiagnosisCard *self)
{
  const DynoRunStatus *s = dyno_run_monitor_get_status (self->monitor);
  self->going = FALSE;
  if (s->n_steps > 0)
    judge_now (self);
  show_memory (self);
  for_each_apply (self);
  if (s->n_steps > 0 && s->out_dir)
    judge_in_thread (self, s->out_dir);
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
      keep_expected (self);
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

void
dyno_diagnosis_card_set_folder (DynoDiagnosisCard *self, const char *folder, DynoSetup *setup)
{
  if (!self->setup)
    g_signal_connect_object (setup, "changed", G_CALLBACK (setup_changed), self, G_CONNECT_SWAPPED);
  self->setup = setup;
  self->run++;
  if (folder)
    judge_in_thread (self, folder);
}

static void
dyno_diagnosis_card_dispose (GObject *object)
{
  DynoDiagnosisCard *self = DYNO_DIAGNOSIS_CARD (object);
  self->monitor = NULL;
  self->setup = NULL;
  g_clear_pointer (&self->shown, g_free);
  g_clear_pointer (&self->preset, g_free);
  G_OBJECT_CLASS (dyno_diagnosis_card_parent_class)->dispose (object);
}

static void
dyno_diagnosis_card_class_init (DynoDiagnosisCardClass *class)
{
  G_OBJECT_CLASS (class)->dispose = dyno_diagnosis_card_dispose;
}

static GtkWidget *
new_group (DynoDiagnosisCard *self, const char *title, GtkWidget **list)
{
  GtkWidget *group = hdy_preferences_group_new ();
  *list = gtk_list_box_new ();
  hdy_preferences_group_set_title (HDY_PREFERENCES_GROUP (group), title);
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (*list), GTK_SELECTION_NONE);
  dyno_widget_add_class (*list, "content", TRUE);
  dyno_widget_set_accessible_name (*list, title);
  g_object_set_data_full (G_OBJECT (*list), "dyno-names",
                          gtk_size_group_new (GTK_SIZE_GROUP_HORIZONTAL), g_object_unref);
  g_object_set_data_full (G_OBJECT (*list), "dyno-values",
                          gtk_size_group_new (GTK_SIZE_GROUP_HORIZONTAL), g_object_unref);
  gtk_container_add (GTK_CONTAINER (group), *list);
  gtk_widget_show (*list);
  gtk_container_add (GTK_CONTAINER (self), group);
  return group;
}

/* Makes the card of the verdict, the advice, and the time of a step by phase. */
static GtkWidget *
new_card (DynoDiagnosisCard *self)
{
  GtkWidget *card = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12),
            *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  dyno_widget_add_class (card, "card", TRUE);
  dyno_widget_add_class (card, "diagnosis", TRUE);
  self->verdict = dyno_text_new (NULL, "run-title");
  gtk_widget_set_hexpand (self->verdict, TRUE);
  self->gain = dyno_text_new (NULL, "run-title");
  gtk_label_set_line_wrap (GTK_LABEL (self->gain), FALSE);
  gtk_widget_set_valign (self->gain, GTK_ALIGN_CENTER);
  self->advice = gtk_button_new_with_label (_ ("Apply Advice"));
  gtk_widget_set_valign (self->advice, GTK_ALIGN_CENTER);
  dyno_widget_add_class (self->advice, "suggested-action", TRUE);
  g_signal_connect (self->advice, "clicked", G_CALLBACK (apply_clicked), self);
  self->phases = dyno_phase_bar_new ();
  self->sensors = dyno_text_new (NULL, "caption");
  dyno_widget_add_class (self->sensors, "numeric", TRUE);
  self->guide = dyno_text_new (NULL, "caption");
  dyno_widget_add_class (self->guide, "numeric", TRUE);
  gtk_container_add (GTK_CONTAINER (head), self->verdict);
  gtk_container_add (GTK_CONTAINER (head), self->gain);
  gtk_container_add (GTK_CONTAINER (head), self->advice);
  gtk_widget_show (self->verdict);
  gtk_widget_show (head);
  gtk_container_add (GTK_CONTAINER (card), head);
  gtk_container_add (GTK_CONTAINER (card), self->phases);
  gtk_container_add (GTK_CONTAINER (card), self->sensors);
  gtk_container_add (GTK_CONTAINER (card), self->guide);
  gtk_widget_show (card);
  return card;
}

static void
dyno_diagnosis_card_init (DynoDiagnosisCard *self)
{
  static const char *const titles[] = { N_ ("Known Before the Run"), N_ ("While It Runs"),
                                        N_ ("When It Has Ended") };
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing (GTK_BOX (self), 18);
  gtk_container_add (GTK_CONTAINER (self), new_card (self));
  self->rates_group = new_group (self, _ ("How Fast It Could Be"), &self->rates);
  for (guint i = 0; i < DYNO_N_CHECKS; i++)
    {
      /* The findings of the current run come first. */
      guint check = (i + 1) % DYNO_N_CHECKS;
      self->groups[check] = new_group (self, _ (titles[check]), &self->lists[check]);
    }
  self->memory_group = new_group (self, _ ("Memory by Component"), &self->memory);
}
