/* SPDX-License-Identifier: MIT */
/* A card for each group of the table of settings: the first ones in front, the others in the
 * expander.  How arrays are read is shown with the data set. */
#include "settingspanel.h"
#include "format.h"
#include "obstacles.h"
#include "row.h"
#include "settingcontrol.h"
#include <glib/gi18n.h>

typedef struct {
  const DynoSettingInfo *info;
  GtkWidget *row, *control;
} SettingRow;

struct _DynoSettingsPanel {
  GtkBox parent_instance;
  GtkWidget *front, *more;
  DynoSetup *setup; /* outlives the panel */
  GArray *rows;     /* SettingRow */
};

enum { LIVE_CHANGE, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoSettingsPanel, dyno_settings_panel, GTK_TYPE_BOX)

static void
show_rows (DynoSettingsPanel *self)
{
  const DynoSettings *settings = &dyno_setup_get_job (self->setup)->settings;
  for (guint i = 0; i < self->rows->len; i++)
    {
      SettingRow *row = &g_array_index (self->rows, SettingRow, i);
      dyno_setting_control_set (row->control, dyno_settings_get_number (settings, row->info->key));
      g_autofree char *reason = dyno_obstacle_to_change (self->setup, row->info);
      dyno_row_set_reason (DYNO_ROW (row->row), reason, _ (row->info->help));
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

static GtkWidget *
add_card (GtkWidget *box, const char *title)
{
  GtkWidget *label = gtk_label_new (title), *card = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  dyno_widget_add_class (label, "group-title", TRUE);
  dyno_widget_add_class (card, "card", TRUE);
  gtk_container_add (GTK_CONTAINER (box), label);
  gtk_container_add (GTK_CONTAINER (box), card);
  gtk_widget_show (label);
  gtk_widget_show (card);
  return card;
}

/* The card of each group that has such rows. */
static void
add_cards (DynoSettingsPanel *self, GtkWidget *box, gboolean front)
{
  guint n;
  const DynoSettingInfo *list = dyno_setting_list (&n);
  GtkWidget *cards[DYNO_SETTING_N_GROUPS] = { NULL };
  for (guint i = 0; i < n; i++)
    {
      GtkWidget **card = &cards[list[i].group];
      if ((list[i].group <= DYNO_SETTING_GROUP_PIPELINE) != front
          || list[i].group == DYNO_SETTING_GROUP_ARRAYS)
        continue;
      if (!*card)
        *card = add_card (box, _ (dyno_setting_group_title (list[i].group)));
      add_row (self, *card, &list[i]);
    }
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
  self->setup = setup;
  add_cards (self, self->front, TRUE);
  add_cards (self, self->more, FALSE);
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
  gtk_widget_class_bind_template_child (widget_class, DynoSettingsPanel, front);
  gtk_widget_class_bind_template_child (widget_class, DynoSettingsPanel, more);
}

static void
dyno_settings_panel_init (DynoSettingsPanel *self)
{
  self->rows = g_array_new (FALSE, FALSE, sizeof (SettingRow));
  gtk_widget_init_template (GTK_WIDGET (self));
}
