/* SPDX-License-Identifier: MIT */
/* The cards of model and GPU.  Combos are refilled only when their lists change; `updating` keeps a
 * refill from being taken for a choice. */
#include "presetpanel.h"
#include "format.h"
#include "row.h"
#include "words.h"
#include "network.h"
#include <glib/gi18n.h>

struct _DynoPresetPanel {
  GtkBox parent_instance;
  GtkWidget *model_row, *model;
  GtkWidget *preset_row, *preset, *device_row, *device;
  GtkWidget *safe, *recommended, *max;
  GtkWidget *advice_row, *advice, *expected, *note_row, *note;
  DynoSetup *setup;
  gboolean updating;
};

G_DEFINE_FINAL_TYPE (DynoPresetPanel, dyno_preset_panel, GTK_TYPE_BOX)

static void
show_model (DynoPresetPanel *self)
{
  const DynoJob *job = dyno_setup_get_job (self->setup);
  const DynoModel *model = dyno_model_find (job->model, NULL);
  const DynoJobPlan *plan = dyno_setup_get_plan (self->setup);
  self->updating = TRUE;
  gtk_combo_box_set_active_id (GTK_COMBO_BOX (self->model), job->model);
  self->updating = FALSE;
  if (plan)
    {
      g_autofree char *parameters = dyno_format_large ((double) plan->n_parameters);
      g_autofree char *flops = dyno_format_large (plan->flops_per_sample);
      /* Translators: facts of a model: "11.2 M parameters, 3.6 GFLOP per sample"; the second number
       * has its prefix already */
      g_autofree char *text =
          g_strdup_printf (_ ("%s parameters, %sFLOP per sample"), parameters, flops);
      dyno_row_set_subtitle (DYNO_ROW (self->model_row), text);
    }
  gtk_widget_set_tooltip_text (self->model_row, model ? model->summary : NULL);
}

static void
fill_devices (DynoPresetPanel *self)
{
  GPtrArray *devices = dyno_setup_get_devices (self->setup);
  const DynoDeviceInfo *now = dyno_setup_get_device (self->setup);
  self->updating = TRUE;
  gtk_combo_box_text_remove_all (GTK_COMBO_BOX_TEXT (self->device));
  for (guint i = 0; devices && i < devices->len; i++)
    {
      const DynoDeviceInfo *device = g_ptr_array_index (devices, i);
      gtk_combo_box_text_append_text (GTK_COMBO_BOX_TEXT (self->device), device->name);
      if (device == now)
        gtk_combo_box_set_active (GTK_COMBO_BOX (self->device), (int) i);
    }
  self->updating = FALSE;
  g_autofree char *text = NULL;
  if (now)
    {
      g_autofree char *memory = dyno_format_bytes (now->vram_bytes);
      if (now->type == DYNO_DEVICE_TYPE_SOFTWARE)
        text = g_strdup_printf (_ ("%s, software, slow"), memory);
      else
        text = g_strdup_printf (now->fp16 ? _ ("%s, fp16") : _ ("%s, no fp16"), memory);
    }
  else if (dyno_setup_get_device_error (self->setup))
    text = g_strdup (_ ("None found"));
  dyno_row_set_subtitle (DYNO_ROW (self->device_row), text);
  gtk_widget_set_tooltip_text (self->device_row, now ? now->driver : NULL);
  gtk_widget_set_sensitive (self->device, now != NULL);
}

static void
fill_presets (DynoPresetPanel *self)
{
  GPtrArray *presets = dyno_setup_get_presets (self->setup);
  const DynoPreset *now = dyno_setup_get_preset (self->setup);
  self->updating = TRUE;
  gtk_combo_box_text_remove_all (GTK_COMBO_BOX_TEXT (self->preset));
  for (guint i = 0; presets && i < presets->len; i++)
    {
      const DynoPreset *preset = g_ptr_array_index (presets, i);
      gtk_combo_box_text_append (GTK_COMBO_BOX_TEXT (self->preset), preset->id,
                                 preset->this_gpu ? _ ("This GPU") : preset->name);
    }
  if (now)
    gtk_combo_box_set_active_id (GTK_COMBO_BOX (self->preset), now->id);
  self->updating = FALSE;
}

static void
show_preset (DynoPresetPanel *self)
{
  const DynoPreset *preset = dyno_setup_get_preset (self->setup);
  const DynoDeviceInfo *device = dyno_setup_get_device (self->setup);
  DynoLevel level = dyno_setup_get_level (self->setup);
  GtkWidget *buttons[] = { self->safe, self->recommended, self->max };
  self->updating = TRUE;
  gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (buttons[level]), TRUE);
  self->updating = FALSE;
  g_autofree char *facts = NULL;
  if (preset && preset->vram_bytes > 0)
    {
      g_autofree char *memory = dyno_format_bytes (preset->vram_bytes);
      gboolean named = preset->architecture && *preset->architecture && !preset->this_gpu;
      facts = named ? g_strdup_printf ("%s, %s", memory, preset->architecture) : g_strdup (memory);
    }
  dyno_row_set_subtitle (DYNO_ROW (self->preset_row), facts);
  gboolean advice = preset && preset->advice && *preset->advice;
  gtk_label_set_text (GTK_LABEL (self->advice), advice ? _ (preset->advice) : "");
  g_autofree char *expected = preset && preset->expected && *preset->expected
                                  ? g_strdup_printf (_ ("Expected: %s"), _ (preset->expected))
                                  : NULL;
  gtk_label_set_text (GTK_LABEL (self->expected), expected ? expected : "");
  gtk_widget_set_visible (self->expected, expected != NULL);
  gtk_widget_set_visible (self->advice_row, advice || expected);
  g_autofree char *note = preset && device ? dyno_words_emulation (preset, device) : NULL;
  gtk_label_set_text (GTK_LABEL (self->note), note ? note : "");
  gtk_widget_set_visible (self->note_row, note != NULL);
}

static void
setup_changed (DynoSetup *setup, guint flags, DynoPresetPanel *self)
{
  if (flags & (DYNO_SETUP_MODEL | DYNO_SETUP_PLAN))
    show_model (self);
  if (flags & DYNO_SETUP_DEVICES)
    fill_devices (self);
  if (flags & (DYNO_SETUP_DEVICES | DYNO_SETUP_PRESET))
    {
      fill_presets (self);
      show_preset (self);
    }
  if (flags & DYNO_SETUP_LOCK)
    {
      gboolean locked = dyno_setup_is_locked (setup);
      const char *reason = locked ? _ ("Cannot be changed while a run goes on.") : NULL;
      dyno_row_set_reason (DYNO_ROW (self->model_row), reason, NULL);
      dyno_row_set_reason (DYNO_ROW (self->preset_row), reason, NULL);
      dyno_row_set_reason (DYNO_ROW (self->device_row), reason, NULL);
      gtk_widget_set_sensitive (gtk_widget_get_parent (self->safe), !locked);
    }
}

static void
model_chosen (GtkComboBox *combo, DynoPresetPanel *self)
{
  if (!self->updating && gtk_combo_box_get_active_id (combo))
    dyno_setup_set_model (self->setup, gtk_combo_box_get_active_id (combo));
}

static void
device_chosen (GtkComboBox *combo, DynoPresetPanel *self)
{
  if (!self->updating && gtk_combo_box_get_active (combo) >= 0)
    dyno_setup_set_device (self->setup, (guint) gtk_combo_box_get_active (combo));
}

static void
preset_chosen (GtkComboBox *combo, DynoPresetPanel *self)
{
  if (!self->updating && gtk_combo_box_get_active_id (combo))
    {
      g_autofree char *id = g_strdup (gtk_combo_box_get_active_id (combo));
      dyno_setup_set_preset (self->setup, id);
    }
}

static void
level_chosen (GtkToggleButton *button, DynoPresetPanel *self)
{
  if (self->updating || !gtk_toggle_button_get_active (button))
    return;
  GtkWidget *widget = GTK_WIDGET (button);
  dyno_setup_set_level (self->setup, widget == self->safe  ? DYNO_LEVEL_SAFE
                                     : widget == self->max ? DYNO_LEVEL_MAX
                                                           : DYNO_LEVEL_RECOMMENDED);
}

void
dyno_preset_panel_set_setup (DynoPresetPanel *self, DynoSetup *setup)
{
  self->setup = setup;
  self->updating = TRUE;
  for (const DynoModel *const *model = dyno_model_list (); *model; model++)
    gtk_combo_box_text_append (GTK_COMBO_BOX_TEXT (self->model), (*model)->name, (*model)->title);
  self->updating = FALSE;
  g_signal_connect_object (setup, "changed", G_CALLBACK (setup_changed), self, 0);
  setup_changed (setup, DYNO_SETUP_ALL, self);
}

static void
dyno_preset_panel_class_init (DynoPresetPanelClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  g_type_ensure (DYNO_TYPE_ROW);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/gpudyno/Dyno/ui/presetpanel.ui");
#define BIND(name) gtk_widget_class_bind_template_child (widget_class, DynoPresetPanel, name)
  BIND (model_row);
  BIND (model);
  BIND (preset_row);
  BIND (preset);
  BIND (device_row);
  BIND (device);
  BIND (safe);
  BIND (recommended);
  BIND (max);
  BIND (advice_row);
  BIND (advice);
  BIND (expected);
  BIND (note_row);
  BIND (note);
#undef BIND
  gtk_widget_class_bind_template_callback (widget_class, model_chosen);
  gtk_widget_class_bind_template_callback (widget_class, device_chosen);
  gtk_widget_class_bind_template_callback (widget_class, preset_chosen);
  gtk_widget_class_bind_template_callback (widget_class, level_chosen);
}

static void
dyno_preset_panel_init (DynoPresetPanel *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  dyno_widget_limit_combo (self->model, 16);
  dyno_widget_limit_combo (self->device, 18);
  dyno_widget_limit_combo (self->preset, 18);
}
