/* SPDX-License-Identifier: MIT */
/* Cards with a row for each setting.  Which settings stand in front is said here; every other one
 * of the table appears in the expander by itself. */
#include "settingspanel.h"
#include "format.h"
#include "row.h"
#include "settingcontrol.h"
#include <glib/gi18n.h>

typedef struct {
  const DynoSettingInfo *info;
  GtkWidget *row, *control;
} SettingRow;

struct _DynoSettingsPanel {
  GtkBox parent_instance;
  GtkWidget *training, *pipeline, *more;
  DynoSetup *setup; /* outlives the panel */
  GArray *rows;     /* SettingRow */
};

enum { LIVE_CHANGE, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoSettingsPanel, dyno_settings_panel, GTK_TYPE_BOX)

static const char *const training_keys[] = { "epochs", "batch_size", "accumulate", "amp", NULL };
static const char *const data_keys[] = { "data.layout", NULL }; /* in the card of the data set */
static const char *const pipeline_keys[] = { "workers", "prefetch", "pinned", "cache", NULL };

static void
show_rows (DynoSettingsPanel *self)
{
  const DynoSettings *settings = &dyno_setup_get_job (self->setup)->settings;
  for (guint i = 0; i < self->rows->len; i++)
    {
      SettingRow *row = &g_array_index (self->rows, SettingRow, i);
      dyno_setting_control_set (row->control, dyno_settings_get_number (settings, row->info->key));
      dyno_row_set_reason (DYNO_ROW (row->row), dyno_setup_get_reason (self->setup, row->info),
                           _ (row->info->help));
      if (g_str_equal (row->info->key, "accumulate"))
        {
          g_autofree char *total =
              dyno_format_count ((guint64) (settings->batch_size * settings->accumulate));
          /* Translators: batch size times accumulation, a number of samples */
          g_autofree char *text = g_strdup_printf (_ ("Effective batch: %s"), total);
          dyno_row_set_subtitle (DYNO_ROW (row->row), settings->accumulate > 1 ? text : NULL);
        }
    }
}

static void
setting_changed (const DynoSettingInfo *info, double value, gpointer data)
{
  DynoSettingsPanel *self = data;
  g_autoptr (GError) error = NULL;
  if (!dyno_setup_set_number (self->setup, info->key, value, &error))
    {
      gtk_widget_error_bell (GTK_WIDGET (self));
      show_rows (self);
      return;
    }
  if (dyno_setup_is_locked (self->setup))
    g_signal_emit (self, signals[LIVE_CHANGE], 0, info->key);
}

static void
add_row (DynoSettingsPanel *self, GtkWidget *list, const DynoSettingInfo *info)
{
  SettingRow row = { info, dyno_row_new (_ (info->title), NULL),
                     dyno_setting_control_new (info, setting_changed, self) };
  dyno_row_add_control (DYNO_ROW (row.row), row.control);
  dyno_widget_set_accessible_name (row.control, _ (info->title));
  atk_object_set_description (gtk_widget_get_accessible (row.control), _ (info->help));
  gtk_widget_set_tooltip_text (row.row, _ (info->help));
  gtk_container_add (GTK_CONTAINER (list), row.row);
  g_array_append_val (self->rows, row);
}

static void
setup_changed (DynoSetup *setup, guint flags, DynoSettingsPanel *self)
{
  if (flags & (DYNO_SETUP_SETTINGS | DYNO_SETUP_DEVICES | DYNO_SETUP_DATASET | DYNO_SETUP_LOCK))
    show_rows (self);
}

void
dyno_settings_panel_set_setup (DynoSettingsPanel *self, DynoSetup *setup)
{
  guint n;
  const DynoSettingInfo *list = dyno_setting_list (&n);
  self->setup = setup;
  for (guint i = 0; training_keys[i]; i++)
    add_row (self, self->training, dyno_setting_find (training_keys[i]));
  for (guint i = 0; pipeline_keys[i]; i++)
    add_row (self, self->pipeline, dyno_setting_find (pipeline_keys[i]));
  for (guint i = 0; i < n; i++)
    {
      if (!g_strv_contains (training_keys, list[i].key)
          && !g_strv_contains (pipeline_keys, list[i].key)
          && !g_strv_contains (data_keys, list[i].key))
        add_row (self, self->more, &list[i]);
    }
  g_signal_connect_object (setup, "changed", G_CALLBACK (setup_changed), self, 0);
  show_rows (self);
}

static void
dyno_settings_panel_finalize (GObject *object)
{
  g_array_unref (DYNO_SETTINGS_PANEL (object)->rows);
  G_OBJECT_CLASS (dyno_settings_panel_parent_class)->finalize (object);
}

static void
dyno_settings_panel_class_init (DynoSettingsPanelClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->finalize = dyno_settings_panel_finalize;
  /* key of a live setting that changed while a run goes on */
  signals[LIVE_CHANGE] = g_signal_new ("live-change", DYNO_TYPE_SETTINGS_PANEL, G_SIGNAL_RUN_LAST,
                                       0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/gpudyno/Dyno/ui/settingspanel.ui");
  gtk_widget_class_bind_template_child (widget_class, DynoSettingsPanel, training);
  gtk_widget_class_bind_template_child (widget_class, DynoSettingsPanel, pipeline);
  gtk_widget_class_bind_template_child (widget_class, DynoSettingsPanel, more);
}

static void
dyno_settings_panel_init (DynoSettingsPanel *self)
{
  self->rows = g_array_new (FALSE, FALSE, sizeof (SettingRow));
  gtk_widget_init_template (GTK_WIDGET (self));
}
