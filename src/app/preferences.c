/* SPDX-License-Identifier: MIT */
/* The preferences' window.  Each row is bound to a key of the schema: there is nothing to apply. */
#include "preferences.h"
#include "export-dialog.h"
#include "row.h"
#include <glib/gi18n.h>
#include <handy.h>

#define COMBO_CHARS 24

typedef struct {
  DynoState *state;
  GtkWidget *window, *rows[3], *choices[3], *resets[3];
} Preferences;

/* Paths: key, title, and the text that is shown where none was chosen. */
static const struct {
  const char *key, *title, *none, *choose;
  gboolean folder;
} paths[] = {
  { "settings-file", N_ ("Settings file"), N_ ("None chosen"), N_ ("Choose the settings file"),
    FALSE },
  { "runs-folder", N_ ("Runs"), N_ ("Dyno's own folder"), N_ ("Choose the folder for runs"), TRUE },
  { "data-folder", N_ ("Data"), N_ ("The last one, or Pictures"),
    N_ ("Choose the folder that data is looked for in"), TRUE },
};

static void
preferences_free (gpointer data)
{
  Preferences *self = data;
  g_signal_handlers_disconnect_by_data (self->state, self);
  g_object_unref (self->state);
  g_free (self);
}

/* Rows of choices */

static GtkWidget *
add_combo (Preferences *self, GtkWidget *group, const char *title, const char *subtitle)
{
  GtkWidget *row = dyno_row_new (title, subtitle), *combo = gtk_combo_box_text_new ();
  gtk_widget_show (combo);
  dyno_row_add_control (DYNO_ROW (row), combo);
  gtk_container_add (GTK_CONTAINER (group), row);
  return combo;
}

static void
add_choice (GtkWidget *combo, const char *id, const char *text)
{
  gtk_combo_box_text_append (GTK_COMBO_BOX_TEXT (combo), id, text);
}

static void
bind_combo (Preferences *self, GtkWidget *combo, const char *key)
{
  dyno_widget_limit_combo (combo, COMBO_CHARS);
  g_settings_bind (self->state, key, combo, "active-id", G_SETTINGS_BIND_DEFAULT);
}

static void
add_device (Preferences *self, GtkWidget *group, DynoSetup *setup)
{
  GtkWidget *combo = add_combo (self, group, _ ("Device"), _ ("That a new session begins with"));
  GPtrArray *devices = dyno_setup_get_devices (setup);
  g_autofree char *chosen = g_settings_get_string (self->state, "device");
  gboolean there = *chosen == 0;
  add_choice (combo, "", _ ("The best"));
  for (guint i = 0; devices && i < devices->len; i++)
    {
      const DynoDeviceInfo *device = devices->pdata[i];
      add_choice (combo, device->name, device->name);
      there |= g_str_equal (chosen, device->name);
    }
  if (!there) /* the device is not present */
    add_choice (combo, chosen, chosen);
  bind_combo (self, combo, "device");
}

/* Rows of paths */

static void
show_path (Preferences *self, guint i)
{
  g_autofree char *path = g_settings_get_string (self->state, paths[i].key),
                  *shown = *path ? g_filename_display_name (path) : NULL;
  dyno_row_set_subtitle (DYNO_ROW (self->rows[i]), shown ? shown : _ (paths[i].none));
  gtk_widget_set_visible (self->resets[i], shown != NULL);
}

static void
path_changed (GSettings *state, const char *key, Preferences *self)
{
  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    if (g_str_equal (key, paths[i].key))
      show_path (self, i);
}

static void
path_chosen (const char *path, const DynoExporter *exporter, gpointer data)
{
  GtkWidget *button = data;
  GSettings *state = g_object_get_data (G_OBJECT (button), "dyno-state");
  if (g_utf8_validate (path, -1, NULL))
    g_settings_set_string (state, g_object_get_data (G_OBJECT (button), "dyno-key"), path);
  else
    gtk_widget_error_bell (button);
}

static void
choose_path (GtkWidget *button, Preferences *self)
{
  static const char *const patterns[] = { "*.dyno", "*.ini", "*.json", NULL };
  gboolean folder = GPOINTER_TO_INT (g_object_get_data (G_OBJECT (button), "dyno-folder"));
  g_autofree char *title = gtk_widget_get_tooltip_text (button);
  dyno_dialog_open (GTK_WINDOW (self->window), title, folder, folder ? NULL : patterns,
                    _ ("Dyno settings (*.dyno, *.ini, *.json)"), path_chosen, button);
}

static void
reset_path (GtkWidget *button, Preferences *self)
{
  g_settings_reset (self->state, g_object_get_data (G_OBJECT (button), "dyno-key"));
}

static GtkWidget *
new_path_button (const char *icon, const char *name, guint i)
{
  GtkWidget *button = gtk_button_new_from_icon_name (icon, GTK_ICON_SIZE_BUTTON);
  g_object_set_data (G_OBJECT (button), "dyno-key", (gpointer) paths[i].key);
  g_object_set_data (G_OBJECT (button), "dyno-folder", GINT_TO_POINTER (paths[i].folder));
  dyno_widget_add_class (button, "flat", TRUE);
  gtk_widget_set_tooltip_text (button, name);
  dyno_widget_set_accessible_name (button, name);
  gtk_widget_show (button);
  return button;
}

static void
add_path (Preferences *self, GtkWidget *group, guint i)
{
  GtkWidget *row = dyno_row_new (_ (paths[i].title), NULL),
            *choose = new_path_button ("document-open-symbolic", _ (paths[i].choose), i), *reset;
  /* Translators: title of a preference that is taken back */
  g_autofree char *name = g_strdup_printf (_ ("%s: take back"), _ (paths[i].title));
  reset = new_path_button ("edit-undo-symbolic", name, i);
  self->rows[i] = row;
  self->choices[i] = choose;
  self->resets[i] = reset;
  g_object_set_data_full (G_OBJECT (choose), "dyno-state", g_object_ref (self->state),
                          g_object_unref);
  g_signal_connect (choose, "clicked", G_CALLBACK (choose_path), self);
  g_signal_connect (reset, "clicked", G_CALLBACK (reset_path), self);
  dyno_row_add_control (DYNO_ROW (row), choose);
  dyno_row_add_control (DYNO_ROW (row), reset);
  gtk_container_add (GTK_CONTAINER (group), row);
  show_path (self, i);
}

/* The window */

/* libhandy's lists take the focus and have no names for screen readers. */
static void
name_lists (GtkWidget *widget, gpointer name)
{
  AtkObject *accessible = gtk_widget_get_accessible (widget);
  if ((GTK_IS_LIST_BOX (widget) || GTK_IS_SCROLLED_WINDOW (widget))
      && !atk_object_get_name (accessible))
    atk_object_set_name (accessible, name);
  if (HDY_IS_PREFERENCES_GROUP (widget))
    name = (gpointer) hdy_preferences_group_get_title (HDY_PREFERENCES_GROUP (widget));
  if (GTK_IS_CONTAINER (widget))
    gtk_container_forall (GTK_CONTAINER (widget), name_lists, name);
}

static GtkWidget *
add_group (GtkWidget *page, const char *title)
{
  GtkWidget *group = hdy_preferences_group_new ();
  hdy_preferences_group_set_title (HDY_PREFERENCES_GROUP (group), title);
  gtk_container_add (GTK_CONTAINER (page), group);
  gtk_widget_show (group);
  return group;
}

static void
add_sessions (Preferences *self, GtkWidget *page, DynoSetup *setup)
{
  GtkWidget *group = add_group (page, _ ("New Sessions")), *combo;
  add_device (self, group, setup);
  combo = add_combo (self, group, _ ("Settings"), NULL);
  add_choice (combo, "last", _ ("As they were last"));
  add_choice (combo, "preset", _ ("The preset of this device"));
  add_choice (combo, "file", _ ("The settings file"));
  bind_combo (self, combo, "begin-with");
  add_path (self, group, 0);
}

static void
add_running (Preferences *self, GtkWidget *page)
{
  GtkWidget *group = add_group (page, _ ("Runs")), *toggle = gtk_switch_new (),
            *row = dyno_row_new (_ ("Notifications"),
                                 _ ("When a run ends while another window is in front")),
            *combo = add_combo (self, group, _ ("When a run is stopped"), NULL);
  add_choice (combo, "ask", _ ("Ask"));
  add_choice (combo, "save", _ ("Save"));
  add_choice (combo, "discard", _ ("Discard"));
  bind_combo (self, combo, "stop");
  gtk_widget_show (toggle);
  dyno_row_add_control (DYNO_ROW (row), toggle);
  gtk_container_add (GTK_CONTAINER (group), row);
  g_settings_bind (self->state, "notifications", toggle, "active", G_SETTINGS_BIND_DEFAULT);
}

void
dyno_preferences_show (GtkWindow *parent, DynoState *state, DynoSetup *setup, const char *key)
{
  Preferences *self = g_new0 (Preferences, 1);
  GtkWidget *page = hdy_preferences_page_new (), *folders;
  self->state = g_object_ref (state);
  self->window = hdy_preferences_window_new ();
  g_object_set_data_full (G_OBJECT (self->window), "dyno-preferences", self, preferences_free);
  gtk_window_set_transient_for (GTK_WINDOW (self->window), parent);
  gtk_window_set_modal (GTK_WINDOW (self->window), TRUE);
  gtk_window_set_destroy_with_parent (GTK_WINDOW (self->window), TRUE);
  hdy_preferences_window_set_search_enabled (HDY_PREFERENCES_WINDOW (self->window), FALSE);
  gtk_window_set_title (GTK_WINDOW (self->window), _ ("Preferences"));
  hdy_preferences_page_set_title (HDY_PREFERENCES_PAGE (page), _ ("Preferences"));
  add_sessions (self, page, setup);
  add_running (self, page);
  folders = add_group (page, _ ("Folders"));
  add_path (self, folders, 1);
  add_path (self, folders, 2);
  g_signal_connect (state, "changed", G_CALLBACK (path_changed), self);
  gtk_container_add (GTK_CONTAINER (self->window), page);
  name_lists (self->window, _ ("Preferences"));
  gtk_widget_show (page);
  gtk_widget_show (self->window);
  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    if (g_strcmp0 (key, paths[i].key) == 0)
      gtk_widget_grab_focus (self->choices[i]);
}
