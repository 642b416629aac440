/* SPDX-License-Identifier: MIT */
/* The card of the data set.  A data set is chosen by the window's actions (open-folder, open-file,
 * open-data); the card shows the open one, the progress of an opening, and the options of the
 * built-in Shapes. */
#include "datapanel.h"
#include "balancebar.h"
#include "format.h"
#include "recentdata.h"
#include "row.h"
#include "words.h"
#include <glib/gi18n.h>

#define N_RECENT        6
#define SHAPES_DELAY_MS 350

struct _DynoDataPanel {
  GtkBox parent_instance;
  GtkWidget *choice_row, *choose, *recent_box, *recent_title;
  GtkWidget *opening_row, *spinner, *cancel;
  GtkWidget *shapes_size_row, *shapes_size, *shapes_samples_row, *shapes_samples;
  GtkWidget *samples_row, *samples, *classes_row, *classes, *balance, *size_row, *size, *disk_row,
      *disk;
  GtkWidget *axes_row, *axes;
  GtkWidget *unreadable_row, *unreadable, *unreadable_text;
  DynoSetup *setup;
  guint shapes_timer;
  gboolean updating;
};

G_DEFINE_FINAL_TYPE (DynoDataPanel, dyno_data_panel, GTK_TYPE_BOX)

static guint64
get_option (const char *location, const char *key, guint64 otherwise)
{
  const char *options = location ? strchr (location, '?') : NULL;
  g_auto (GStrv) parts = g_strsplit (options ? options + 1 : "", "&", -1);
  for (char **part = parts; *part; part++)
    {
      gsize n = strlen (key);
      if (strncmp (*part, key, n) == 0 && (*part)[n] == '=')
        return g_ascii_strtoull (*part + n + 1, NULL, 10);
    }
  return otherwise;
}

static gboolean
open_shapes (gpointer data)
{
  DynoDataPanel *self = data;
  const char *now = dyno_setup_get_job (self->setup)->data;
  self->shapes_timer = 0;
  g_autofree char *location = g_strdup_printf (
      "builtin:shapes?size=%d&samples=%d&classes=%" G_GUINT64_FORMAT "&seed=%" G_GUINT64_FORMAT,
      gtk_spin_button_get_value_as_int (GTK_SPIN_BUTTON (self->shapes_size)),
      gtk_spin_button_get_value_as_int (GTK_SPIN_BUTTON (self->shapes_samples)),
      get_option (now, "classes", 10), get_option (now, "seed", 1));
  dyno_setup_open_data (self->setup, location);
  return G_SOURCE_REMOVE;
}

static void
shapes_changed (GtkSpinButton *spin, DynoDataPanel *self)
{
  if (self->updating)
    return;
  g_clear_handle_id (&self->shapes_timer, g_source_remove);
  self->shapes_timer = g_timeout_add (SHAPES_DELAY_MS, open_shapes, self);
}

static void
show_label (GtkWidget *row, GtkWidget *label, char *text)
{
  gtk_label_set_text (GTK_LABEL (label), text ? text : "");
  gtk_widget_set_visible (row, text != NULL);
  g_free (text);
}

static void
show_unreadable (DynoDataPanel *self, const DynoDatasetInfo *info)
{
  gboolean any = info && info->n_unreadable > 0;
  gtk_widget_set_visible (self->unreadable_row, any);
  if (!any)
    return;
  g_autofree char *count = dyno_format_count (info->n_unreadable);
  gtk_button_set_label (GTK_BUTTON (self->unreadable), count);
  g_autoptr (GString) list = g_string_new (NULL);
  for (const char *const *name = dyno_dataset_get_unreadable (dyno_setup_get_dataset (self->setup));
       name && *name; name++)
    {
      g_autofree char *utf8 = g_filename_display_name (*name);
      g_string_append_printf (list, "%s%s", list->len ? "\n" : "", utf8);
    }
  gtk_text_buffer_set_text (gtk_text_view_get_buffer (GTK_TEXT_VIEW (self->unreadable_text)),
                            list->str, -1);
}

/* Shows the order of an array's axes, where there is a choice. */
static void
show_axes (DynoDataPanel *self, const DynoDatasetInfo *info)
{
  gboolean nchw = info && g_strcmp0 (info->axes, "NCHW") == 0,
           nhwc = info && g_strcmp0 (info->axes, "NHWC") == 0;
  GtkComboBoxText *combo = GTK_COMBO_BOX_TEXT (self->axes);
  gtk_widget_set_visible (self->axes_row, nchw || nhwc);
  if (!nchw && !nhwc)
    return;
  g_autofree char *now =
      dyno_settings_get (&dyno_setup_get_job (self->setup)->settings, "data.layout");
  gtk_combo_box_text_remove_all (combo);
  gtk_combo_box_text_append (combo, "auto", _ ("Recognised"));
  gtk_combo_box_text_append (combo, "nhwc", "N, H, W, C");
  gtk_combo_box_text_append (combo, "nchw", "N, C, H, W");
  gtk_combo_box_set_active_id (GTK_COMBO_BOX (combo), now);
  dyno_row_set_subtitle (DYNO_ROW (self->axes_row),
                         nchw ? _ ("Taken as N, C, H, W") : _ ("Taken as N, H, W, C"));
}

static void
axes_chosen (GtkComboBox *combo, DynoDataPanel *self)
{
  const DynoSettingInfo *info = dyno_setting_find ("data.layout");
  const char *id = gtk_combo_box_get_active_id (combo);
  for (double i = 0; !self->updating && id && info->values[(guint) i]; i++)
    {
      if (g_str_equal (info->values[(guint) i], id))
        dyno_setup_set_number (self->setup, "data.layout", i, NULL);
    }
}

/* A location that was given elsewhere may have a number outside the range that is offered here. */
static void
show_number (GtkWidget *spin, double value)
{
  GtkSpinButton *button = GTK_SPIN_BUTTON (spin);
  double least, most;

  gtk_spin_button_get_range (button, &least, &most);
  gtk_spin_button_set_range (button, MIN (least, value), MAX (most, value));
  gtk_spin_button_set_value (button, value);
}

static void
show_facts (DynoDataPanel *self)
{
  const DynoDatasetInfo *info = dyno_setup_get_info (self->setup);
  gboolean shapes = info && g_str_equal (info->kind, "shapes");
  self->updating = TRUE;
  g_autofree char *name =
      info ? g_filename_display_name (info->name) : g_strdup (_ ("No data set"));
  GtkWidget *row = self->choice_row;
  dyno_row_set_name (DYNO_ROW (row), shapes ? _ ("Shapes") : name);
  dyno_row_set_subtitle (DYNO_ROW (row), info ? dyno_words_dataset_kind (info)
                                              : _ ("Drop a folder or a file here"));
  g_autofree char *path =
      info && !info->generated ? g_filename_display_name (info->location) : NULL;
  gtk_widget_set_tooltip_text (row, path);
  gtk_widget_set_visible (self->shapes_size_row, shapes);
  gtk_widget_set_visible (self->shapes_samples_row, shapes);
  if (shapes)
    {
      show_number (self->shapes_size, info->max_width);
      show_number (self->shapes_samples, (double) info->n_samples);
    }
  show_label (self->samples_row, self->samples,
              info && !shapes ? dyno_format_count (info->n_samples) : NULL);
  gboolean classes = info && dyno_schema_count_values (&info->schema) == 0 && info->n_classes > 0;
  gboolean labels = classes && dyno_dataset_get_task (info) == DYNO_TASK_LABELS;
  show_label (self->classes_row, self->classes,
              classes ? dyno_format_count (info->n_classes) : NULL);
  dyno_row_set_name (DYNO_ROW (self->classes_row), labels ? _ ("Labels") : _ ("Classes"));
  dyno_row_set_subtitle (DYNO_ROW (self->classes_row),
                         labels ? _ ("Any number for each sample") : NULL);
  dyno_balance_bar_set_info (DYNO_BALANCE_BAR (self->balance), info);
  show_label (self->size_row, self->size, info && !shapes ? dyno_words_sample_size (info) : NULL);
  show_label (self->disk_row, self->disk,
              info && info->size_bytes > 0 ? dyno_format_bytes (info->size_bytes) : NULL);
  show_axes (self, info);
  show_unreadable (self, info);
  self->updating = FALSE;
}

static void
show_opening (DynoDataPanel *self)
{
  guint64 found = 0;
  const char *opening = dyno_setup_get_opening (self->setup, &found);
  gtk_widget_set_visible (self->opening_row, opening != NULL);
  g_object_set (self->spinner, "active", opening != NULL, NULL);
  if (!opening)
    return;
  g_autofree char *count = dyno_format_count (found);
  g_autofree char *text =
      found > 0 ? g_strdup_printf (ngettext ("%s sample found", "%s samples found", (gulong) found),
                                   count)
                : NULL;
  dyno_row_set_subtitle (DYNO_ROW (self->opening_row), text);
}

static void
setup_changed (DynoSetup *setup, guint flags, DynoDataPanel *self)
{
  if (flags & DYNO_SETUP_DATASET)
    {
      show_opening (self);
      if (!dyno_setup_get_opening (setup, NULL))
        show_facts (self);
    }
  if (flags & DYNO_SETUP_WORK)
    {
      const char *reason = dyno_setup_is_locked (setup)
                               ? _ ("Cannot be changed while the tuner or a test measures.")
                               : NULL;
      dyno_row_set_reason (DYNO_ROW (self->choice_row), reason, NULL);
      dyno_row_set_reason (DYNO_ROW (self->axes_row), reason, NULL);
      dyno_row_set_reason (DYNO_ROW (self->shapes_size_row), reason, NULL);
      dyno_row_set_reason (DYNO_ROW (self->shapes_samples_row), reason, NULL);
    }
}

static void
cancel_clicked (GtkButton *button, DynoDataPanel *self)
{
  dyno_setup_cancel_open (self->setup);
}

static void
recent_data_listed (GObject *owner, const GPtrArray *paths)
{
  DynoDataPanel *self = DYNO_DATA_PANEL (owner);
  if (!self->recent_box)
    return;
  dyno_widget_clear (self->recent_box);
  for (guint i = 0; i < paths->len; i++)
    {
      GtkWidget *button = gtk_model_button_new ();
      /* An underscore of the text is a mnemonic. */
      g_autofree char *name = g_filename_display_basename (paths->pdata[i]);
      g_auto (GStrv) pieces = g_strsplit (name, "_", -1);
      g_autofree char *text = g_strjoinv ("__", pieces);
      g_object_set (button, "text", text, "visible", TRUE, NULL);
      gtk_widget_set_tooltip_text (button, paths->pdata[i]);
      gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "win.open-data");
      gtk_actionable_set_action_target (GTK_ACTIONABLE (button), "s", paths->pdata[i]);
      gtk_container_add (GTK_CONTAINER (self->recent_box), button);
    }
  gtk_widget_set_visible (self->recent_box, paths->len > 0);
  gtk_widget_set_visible (self->recent_title, paths->len > 0);
}

static void
fill_recent (GtkWidget *popover, DynoDataPanel *self)
{
  dyno_recent_data_list (N_RECENT, G_OBJECT (self), recent_data_listed);
}

void
dyno_data_panel_set_setup (DynoDataPanel *self, DynoSetup *setup)
{
  self->setup = setup;
  g_signal_connect_object (setup, "changed", G_CALLBACK (setup_changed), self, 0);
  setup_changed (setup, DYNO_SETUP_ALL, self);
}

void
dyno_data_panel_focus (DynoDataPanel *self)
{
  gtk_widget_grab_focus (self->choose);
}

static void
dyno_data_panel_dispose (GObject *object)
{
  g_clear_handle_id (&DYNO_DATA_PANEL (object)->shapes_timer, g_source_remove);
  G_OBJECT_CLASS (dyno_data_panel_parent_class)->dispose (object);
}

static void
dyno_data_panel_class_init (DynoDataPanelClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = dyno_data_panel_dispose;
  g_type_ensure (DYNO_TYPE_ROW);
  g_type_ensure (DYNO_TYPE_BALANCE_BAR);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/gpudyno/Dyno/ui/datapanel.ui");
#define BIND(name) gtk_widget_class_bind_template_child (widget_class, DynoDataPanel, name)
  BIND (choice_row);
  BIND (choose);
  BIND (recent_box);
  BIND (recent_title);
  BIND (opening_row);
  BIND (spinner);
  BIND (cancel);
  BIND (shapes_size_row);
  BIND (shapes_size);
  BIND (shapes_samples_row);
  BIND (shapes_samples);
  BIND (samples_row);
  BIND (samples);
  BIND (classes_row);
  BIND (classes);
  BIND (balance);
  BIND (size_row);
  BIND (size);
  BIND (disk_row);
  BIND (disk);
  BIND (axes_row);
  BIND (axes);
  BIND (unreadable_row);
  BIND (unreadable);
  BIND (unreadable_text);
#undef BIND
  gtk_widget_class_bind_template_callback (widget_class, shapes_changed);
  gtk_widget_class_bind_template_callback (widget_class, axes_chosen);
  gtk_widget_class_bind_template_callback (widget_class, cancel_clicked);
  gtk_widget_class_bind_template_callback (widget_class, fill_recent);
}

static void
dyno_data_panel_init (DynoDataPanel *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_widget_set_direction (self->size, GTK_TEXT_DIR_LTR); /* width, height, channels */
}
