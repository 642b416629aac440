/* SPDX-License-Identifier: MIT */
/* The fold of GPU and preset.  Combos are refilled only when their lists change; `updating` marks a
 * refill, which is no choice of the user. */
#include "presetpanel.h"
#include "devicesrow.h"
#include "format.h"
#include "fold.h"
#include "row.h"
#include "words.h"
#include <glib/gi18n.h>

#define GIB (1024.0 * 1024 * 1024)

struct _DynoPresetPanel {
  DynoFold parent_instance;
  GtkWidget *preset_row, *preset, *device_row, *device, *devices, *level_row, *level;
  GtkWidget *advice_row, *advice, *expected, *note_row, *note;
  DynoSetup *setup;
  gboolean updating;
};

G_DEFINE_FINAL_TYPE (DynoPresetPanel, dyno_preset_panel, DYNO_TYPE_FOLD)

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
  const DynoDeviceInfo *device = dyno_setup_get_device (self->setup);
  self->updating = TRUE;
  gtk_combo_box_text_remove_all (GTK_COMBO_BOX_TEXT (self->preset));
  for (guint i = 0; presets && i < presets->len; i++)
    {
      const DynoPreset *preset = g_ptr_array_index (presets, i);
      const char *name = dyno_words_preset (preset, device);
      g_autofree char *memory = dyno_format_isolate (
                          g_strdup_printf (_ ("%.4g GiB"), (double) preset->vram_bytes / GIB)),
                      *text = preset->vram_bytes > 0 ? g_strdup_printf ("%s, %s", name, memory)
                                                     : g_strdup (name);
      gtk_combo_box_text_append (GTK_COMBO_BOX_TEXT (self->preset), preset->id, text);
    }
  if (now)
    gtk_combo_box_set_active_id (GTK_COMBO_BOX (self->preset), now->id);
  self->updating = FALSE;
}

/* Lists the changed settings, which make the preset custom. */
static char *
list_changed (DynoPresetPanel *self)
{
  guint n;
  const DynoSettingInfo *list = dyno_setting_list (&n);
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < n; i++)
    {
      if (list[i].by_preset && dyno_setup_differs (self->setup, &list[i]))
        g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", _ (list[i].title));
    }
  return g_string_free (text, FALSE);
}

/* The level "Custom" is listed only while the settings are custom. */
static void
show_level (DynoPresetPanel *self)
{
  gboolean custom = dyno_setup_is_custom (self->setup);
  g_autofree char *changed = list_changed (self);
  self->updating = TRUE;
  gtk_combo_box_text_remove_all (GTK_COMBO_BOX_TEXT (self->level));
  for (DynoLevel level = DYNO_LEVEL_SAFE; level <= DYNO_LEVEL_MAX; level++)
    gtk_combo_box_text_append_text (GTK_COMBO_BOX_TEXT (self->level), dyno_words_level (level));
  if (custom)
    gtk_combo_box_text_append_text (GTK_COMBO_BOX_TEXT (self->level), _ ("Custom"));
  gtk_combo_box_set_active (GTK_COMBO_BOX (self->level),
                            custom ? DYNO_LEVEL_MAX + 1 : (int) dyno_setup_get_level (self->setup));
  self->updating = FALSE;
  dyno_row_set_subtitle (DYNO_ROW (self->level_row), custom ? changed : NULL);
}

static void
show_preset (DynoPresetPanel *self)
{
  const DynoPreset *preset = dyno_setup_get_preset (self->setup);
  const DynoDeviceInfo *device = dyno_setup_get_device (self->setup);
  gboolean named = preset && preset->architecture && *preset->architecture && !preset->this_gpu;
  dyno_row_set_subtitle (DYNO_ROW (self->preset_row), named ? preset->architecture : NULL);
  gboolean advice = preset && preset->advice && *preset->advice;
  gtk_label_set_text (GTK_LABEL (self->advice), advice ? _ (preset->advice) : "");
  DynoPresetUse use = dyno_setup_get_preset_use (self->setup);
  g_autofree char *numbers = preset ? dyno_preset_describe_expected (preset, &use) : NULL,
                  *expected = numbers ? g_strdup_printf (_ ("Expected: %s"), numbers) : NULL,
                  *sources = preset ? dyno_words_preset_sources (preset, &use) : NULL;
  gtk_widget_set_tooltip_text (self->preset_row, sources);
  gtk_widget_set_tooltip_text (self->advice_row, sources);
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
  if (flags & DYNO_SETUP_DEVICES)
    fill_devices (self);
  if (flags & (DYNO_SETUP_DEVICES | DYNO_SETUP_PRESET))
    fill_presets (self);
  /* The row and the numbers of the preset depend on the job. */
  if (flags
      & (DYNO_SETUP_DEVICES | DYNO_SETUP_PRESET | DYNO_SETUP_SETTINGS | DYNO_SETUP_DATASET
         | DYNO_SETUP_MODEL))
    {
      show_preset (self);
      show_level (self);
    }
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
level_chosen (GtkComboBox *combo, DynoPresetPanel *self)
{
  int level = gtk_combo_box_get_active (combo);
  if (!self->updating && level >= 0 && level <= DYNO_LEVEL_MAX)
    dyno_setup_set_level (self->setup, (DynoLevel) level);
}

GtkWidget *
dyno_preset_panel_new (DynoSetup *setup)
{
  DynoPresetPanel *self = g_object_new (DYNO_TYPE_PRESET_PANEL, "visible", TRUE, NULL);
  self->setup = setup;
  dyno_devices_row_set_setup (DYNO_DEVICES_ROW (self->devices), setup);
  g_signal_connect_object (setup, "changed", G_CALLBACK (setup_changed), self, 0);
  setup_changed (setup, DYNO_SETUP_ALL, self);
  return GTK_WIDGET (self);
}

GtkWidget *
dyno_preset_panel_get_device_row (DynoPresetPanel *self)
{
  return self->device_row;
}

static void
dyno_preset_panel_class_init (DynoPresetPanelClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  g_type_ensure (DYNO_TYPE_ROW);
  g_type_ensure (DYNO_TYPE_DEVICES_ROW);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/gpudyno/Dyno/ui/presetpanel.ui");
#define BIND(name) gtk_widget_class_bind_template_child (widget_class, DynoPresetPanel, name)
  BIND (preset_row);
  BIND (preset);
  BIND (device_row);
  BIND (device);
  BIND (devices);
  BIND (level_row);
  BIND (level);
  BIND (advice_row);
  BIND (advice);
  BIND (expected);
  BIND (note_row);
  BIND (note);
#undef BIND
  gtk_widget_class_bind_template_callback (widget_class, device_chosen);
  gtk_widget_class_bind_template_callback (widget_class, preset_chosen);
  gtk_widget_class_bind_template_callback (widget_class, level_chosen);
}

static void
dyno_preset_panel_init (DynoPresetPanel *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  dyno_widget_limit_combo (self->device, 16);
  dyno_widget_limit_combo (self->preset, 18);
  dyno_fold_take (DYNO_FOLD (self), self->device_row, _ ("Device"));
  dyno_fold_take (DYNO_FOLD (self), self->preset_row, _ ("Preset"));
  dyno_fold_take (DYNO_FOLD (self), self->level_row, _ ("Level"));
}
