/* SPDX-License-Identifier: MIT */
/* The application and the commands of its window, without a run: keys, the theme, locations that are
 * opened, pages.  An application is a process of its own: it adds its style to the screen, and its
 * sources of signals outlive it. */
#include "parts.h"
#include "application.h"
#include "config.h"
#include "plot/view.h"
#include "setupsteps.h"
#include "window-private.h"
#include <handy.h>
#include <string.h>

#define SHAPES "builtin:shapes?size=16&samples=64"

/* Whether this is the process of this test; else runs the test in one. */
static gboolean
is_apart (void)
{
  if (g_test_subprocess ())
    return TRUE;
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_passed ();
  return FALSE;
}

static GApplication *
start_application (void)
{
  GApplication *application = dyno_application_new ();

  g_assert_true (g_application_register (application, NULL, NULL));
  return application;
}

static GtkWidget *
find_window (const char *title)
{
  g_autoptr (GList) windows = gtk_window_list_toplevels ();

  for (GList *l = windows; l; l = l->next)
    if (g_strcmp0 (gtk_window_get_title (l->data), title) == 0)
      return l->data;
  return NULL;
}

static const char *
get_page (DynoWindow *window)
{
  return gtk_stack_get_visible_child_name (GTK_STACK (window->pages));
}

/* --- keys ---------------------------------------------------------------------------------------- */

/* The accelerators of an action, or those of a text with spaces between, as GTK writes them. */
static char *
normalise (const char *accels)
{
  g_auto (GStrv) words = g_strsplit (accels, " ", -1);
  GString *all = g_string_new (NULL);

  for (guint i = 0; words[i]; i++)
    {
      guint key;
      GdkModifierType state;
      gtk_accelerator_parse (words[i], &key, &state);
      g_autofree char *name = gtk_accelerator_name (key, state);
      g_string_append_printf (all, "%s%s", i > 0 ? " " : "", name);
    }
  return g_string_free (all, FALSE);
}

static void
collect_shortcuts (GtkWidget *widget, gpointer data)
{
  g_autofree char *title = NULL, *accelerator = NULL;

  if (GTK_IS_SHORTCUTS_SHORTCUT (widget))
    {
      g_object_get (widget, "title", &title, "accelerator", &accelerator, NULL);
      g_hash_table_insert (data, g_steal_pointer (&title), g_steal_pointer (&accelerator));
    }
  else if (GTK_IS_CONTAINER (widget))
    gtk_container_forall (GTK_CONTAINER (widget), collect_shortcuts, data);
}

/* The keys are those that the window of shortcuts names, with a few more, and none of them has two
 * meanings. */
static void
check_keys_are_those_that_are_listed (void)
{
  static const struct {
    const char *title; /* in the window of shortcuts; NULL: it has none of its own there */
    const char *action, *others;
  } rows[] = {
    { "Start", "win.start", NULL },
    { NULL, "win.pause", "<Primary>p Pause" }, /* the list has the key of a plot beside it */
    { "Stop", "win.stop", NULL },
    { "Add to the queue", "win.add-to-queue", NULL },
    { "Show all jobs", "win.show-jobs", NULL },
    { "Start tuning", "win.tune", NULL },
    { "Use the best settings", "win.use-best", NULL },
    { "Find a setting", "win.find-setting", NULL },
    { "Undo a change", "win.undo", NULL },
    { "Redo it", "win.redo", "<Primary>y" },
    { "Open a folder of samples", "win.open-folder", NULL },
    { "Open a data file", "win.open-file", NULL },
    { "Open settings", "win.open-settings", NULL },
    { "Export settings", "win.export-settings", NULL },
    { "Export curves", "win.export-curves::png", NULL },
    { NULL, "win.visit::home", "<Primary>1 <Alt>1" },
    { NULL, "win.visit::data", "<Primary>2 <Alt>2" },
    { NULL, "win.visit::train", "<Primary>3 <Alt>3" },
    { NULL, "win.visit::tune", "<Primary>4 <Alt>4" },
    { NULL, "win.visit::diagnose", "<Primary>5 <Alt>5" },
    { NULL, "win.visit::runs", "<Primary>6 <Alt>6" },
    { NULL, "win.visit::device", "<Primary>7 <Alt>7" },
    { "Show or hide the settings", "win.show-settings", NULL },
    { "Log scale for the loss", "win.plot-log", NULL },
    { "Hold the view", "win.plot-hold", NULL },
    { "Preferences", "win.preferences", NULL },
    { "Help for the page", "win.help", NULL },
    { "Keyboard shortcuts", "win.show-help-overlay", "<Primary>F1" },
    { "Close the window", "window.close", NULL },
    { "Quit", "app.quit", NULL },
  };
  GtkApplication *application = GTK_APPLICATION (start_application ());
  g_autoptr (GtkBuilder) builder =
      gtk_builder_new_from_resource ("/io/github/gpudyno/Dyno/gtk/help-overlay.ui");
  g_autoptr (GHashTable) listed = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_auto (GStrv) actions = gtk_application_list_action_descriptions (application);

  collect_shortcuts (GTK_WIDGET (gtk_builder_get_object (builder, "help_overlay")), listed);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const char *own = rows[i].title ? g_hash_table_lookup (listed, rows[i].title) : NULL;
      g_autofree char *both =
          own && rows[i].others ? g_strjoin (" ", own, rows[i].others, NULL) : NULL;
      g_autofree char *expected = normalise (both ? both : own ? own : rows[i].others);
      g_auto (GStrv) accels = gtk_application_get_accels_for_action (application, rows[i].action);
      g_autofree char *has = g_strjoinv (" ", accels);
      g_assert_cmpstr (has, ==, expected);
      for (guint k = 0; accels[k]; k++)
        {
          g_auto (GStrv) meanings = gtk_application_get_actions_for_accel (application, accels[k]);
          g_assert_cmpuint (g_strv_length (meanings), ==, 1);
        }
    }
  g_assert_cmpuint (g_strv_length (actions), ==, G_N_ELEMENTS (rows));
}

/* --- the application ----------------------------------------------------------------------------- */

static gboolean
prefers_dark (void)
{
  gboolean dark;

  g_object_get (gtk_settings_get_default (), "gtk-application-prefer-dark-theme", &dark, NULL);
  return dark;
}

/* The theme is the user's until one is chosen, and again when it is followed once more. */
static void
check_the_theme_is_the_chosen_one (void)
{
  g_autoptr (GSettings) state = dyno_state_new ();
  static const struct {
    const char *theme;
    gboolean dark;
  } changes[] = { { "dark", TRUE },    { "light", FALSE }, { "dark", TRUE },
                  { "follow", FALSE }, { "dark", TRUE },   { "follow", FALSE } },
    starts[] = { { "dark", TRUE }, { "light", FALSE } };

  if (!state)
    {
      g_test_skip ("The schema is not compiled");
      return;
    }
  g_settings_set_string (state, "theme", "follow");
  g_object_set (gtk_settings_get_default (), "gtk-application-prefer-dark-theme", TRUE, NULL);
  GApplication *application = start_application ();
  g_assert_true (prefers_dark ());
  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    {
      g_action_group_change_action_state (G_ACTION_GROUP (application), "theme",
                                          g_variant_new_string (changes[i].theme));
      g_assert_true (prefers_dark () == changes[i].dark);
    }
  for (guint i = 0; i < G_N_ELEMENTS (starts); i++)
    {
      g_settings_set_string (state, "theme", starts[i].theme);
      g_object_set (gtk_settings_get_default (), "gtk-application-prefer-dark-theme",
                    !starts[i].dark, NULL);
      start_application ();
      g_assert_true (prefers_dark () == starts[i].dark);
    }
  g_settings_set_string (state, "theme", "follow");
  g_settings_reset (state, "theme");
  g_assert_false (prefers_dark ());
}

static gboolean
has_no_window (gpointer application)
{
  return gtk_application_get_windows (application) == NULL;
}

static DynoWindow *
get_only_window (GApplication *application)
{
  GList *windows = gtk_application_get_windows (GTK_APPLICATION (application));

  g_assert_cmpuint (g_list_length (windows), ==, 1);
  return DYNO_WINDOW (windows->data);
}

static const char *
get_location (DynoWindow *window)
{
  return dyno_setup_get_opening (window->setup, NULL);
}

/* There is one window, in which the first of the given locations is opened; a location that is no
 * path stays as it is. */
static void
check_locations_are_opened_in_one_window (void)
{
  GApplication *application = start_application ();
  g_autofree char *a = g_build_filename (g_get_home_dir (), "data a", NULL),
                  *b = g_build_filename (g_get_home_dir (), "data b", NULL);
  g_autoptr (GFile) first = g_file_new_for_path (a), second = g_file_new_for_path (b),
                    builtin = g_file_new_for_uri (SHAPES);
  GFile *both[] = { first, second }, *other[] = { second }, *shapes[] = { builtin };

  for (guint i = 0; i < 2; i++)
    {
      g_application_open (application, both, 2, "");
      DynoWindow *window = get_only_window (application);
      g_assert_true (gtk_widget_get_visible (GTK_WIDGET (window)));
      g_assert_cmpstr (get_location (window), ==, a);
      g_application_activate (application);
      g_assert_true (get_only_window (application) == window);
      g_assert_cmpstr (get_location (window), ==, a);
      g_application_open (application, other, 1, "");
      g_assert_true (get_only_window (application) == window);
      g_assert_cmpstr (get_location (window), ==, b);
      g_application_open (application, shapes, 1, "");
      g_assert_cmpstr (get_location (window), ==, SHAPES);
      /* The actions of notifications and of the menu entry. */
      g_action_group_activate_action (G_ACTION_GROUP (application), "show-page",
                                      g_variant_new_string ("device"));
      g_assert_cmpstr (get_page (window), ==, "device");
      g_action_group_activate_action (G_ACTION_GROUP (application), "tune", NULL);
      g_assert_cmpstr (window->wanted, ==, "tune"); /* once it can be begun */
      g_action_group_activate_action (G_ACTION_GROUP (application), "quick-test", NULL);
      g_assert_cmpstr (window->wanted, ==, "quick-test");
      g_assert_true (get_only_window (application) == window);
      g_clear_pointer (&window->wanted, g_free);
      g_action_group_activate_action (G_ACTION_GROUP (application), "quit", NULL);
      parts_wait (has_no_window, application);
    }
  /* Each of them makes the window where there is none. */
  g_action_group_activate_action (G_ACTION_GROUP (application), "show-page",
                                  g_variant_new_string ("runs"));
  g_assert_cmpstr (get_page (get_only_window (application)), ==, "runs");
  dyno_window_stop_and_close (get_only_window (application));
  g_assert_true (has_no_window (application));
  g_action_group_activate_action (G_ACTION_GROUP (application), "tune", NULL);
  g_assert_cmpstr (get_only_window (application)->wanted, ==, "tune");
  g_clear_pointer (&get_only_window (application)->wanted, g_free);
  dyno_window_stop_and_close (get_only_window (application));
  g_assert_true (has_no_window (application));
}

static GString *printed;

static void
print_error (const char *text)
{
  g_string_append (printed, text);
}

/* A folder that cannot be made ends the program with the reason. */
static void
check_a_state_folder_is_needed (void)
{
  GApplication *application = start_application ();
  g_autofree char *file = g_build_filename (g_get_home_dir (), "no state", NULL),
                  *folder = g_build_filename (file, "folder", NULL), *said = NULL;
  g_autoptr (GVariantDict) options = g_variant_dict_new (NULL);
  int code = 77;

  g_assert_true (g_file_set_contents (file, "x", 1, NULL));
  g_signal_emit_by_name (application, "handle-local-options", options, &code);
  g_assert_cmpint (code, ==, -1); /* it goes on */
  g_variant_dict_insert_value (options, "state-dir", g_variant_new_bytestring (folder));
  printed = g_string_new (NULL);
  GPrintFunc before = g_set_printerr_handler (print_error);
  g_signal_emit_by_name (application, "handle-local-options", options, &code);
  g_set_printerr_handler (before);
  said = g_string_free (g_steal_pointer (&printed), FALSE);
  g_assert_cmpint (code, ==, 1);
  g_assert_true (g_str_has_prefix (said, "dyno: --state-dir: ") && strstr (said, file));
}

static void
check_the_program_describes_itself (void)
{
  GApplication *application = start_application ();
  GtkAboutDialog *dialog = NULL;

  g_action_group_activate_action (G_ACTION_GROUP (application), "about", NULL);
  g_autoptr (GList) windows = gtk_window_list_toplevels ();
  for (GList *l = windows; l; l = l->next)
    if (GTK_IS_ABOUT_DIALOG (l->data))
      dialog = l->data;
  g_assert_nonnull (dialog);
  g_assert_cmpstr (gtk_about_dialog_get_program_name (dialog), ==, "Dyno");
  g_assert_cmpstr (gtk_about_dialog_get_version (dialog), ==, DYNO_VERSION);
  g_assert_cmpstr (gtk_about_dialog_get_logo_icon_name (dialog), ==, DYNO_APP_ID);
  g_assert_cmpint (gtk_about_dialog_get_license_type (dialog), ==, GTK_LICENSE_MIT_X11);
  gtk_widget_destroy (GTK_WIDGET (dialog));
}

/* --- the window's commands ----------------------------------------------------------------------- */

static gboolean
has_data (gpointer window)
{
  /* Neither the row of the device nor the start button takes the focus while devices are looked
   * for. */
  return dyno_setup_get_info (DYNO_WINDOW (window)->setup)
         && dyno_setup_get_device (DYNO_WINDOW (window)->setup)
         && g_action_group_get_action_enabled (window, "use-data")
         && g_action_group_get_action_enabled (window, "start");
}

static void
act (DynoWindow *window, const char *action)
{
  g_assert_true (g_action_group_get_action_enabled (G_ACTION_GROUP (window), action));
  g_action_group_activate_action (G_ACTION_GROUP (window), action, NULL);
}

static void
set (DynoWindow *window, const char *action, gboolean value)
{
  g_action_group_change_action_state (G_ACTION_GROUP (window), action,
                                      g_variant_new_boolean (value));
  g_autoptr (GVariant) state = g_action_group_get_action_state (G_ACTION_GROUP (window), action);
  g_assert_true (g_variant_get_boolean (state) == value);
}

static guint
count_log (DynoWindow *window)
{
  g_autoptr (GPtrArray) views = parts_find_all (window->run_page, DYNO_TYPE_PLOT_VIEW);
  guint n = 0;

  for (guint i = 0; i < views->len; i++)
    n += dyno_plot_view_get_plot (views->pdata[i])->y_log;
  return n;
}

static gboolean
has_focus_in (DynoWindow *window, GtkWidget *part)
{
  GtkWidget *focus = gtk_window_get_focus (GTK_WINDOW (window));

  return focus && (focus == part || gtk_widget_is_ancestor (focus, part));
}

static gboolean
settings_have_focus (gpointer window)
{
  return has_focus_in (window, DYNO_WINDOW (window)->settings_panel);
}

/* Each command shows its page and acts there, from whatever page it is given. */
static void
test_commands_show_their_page (void)
{
  static const char *const pages[] = {
    "device", "runs", "diagnose", "tune", "train", "data", "home"
  };
  static const char *const titles[] = { "Device",   "Runs", "Diagnosis",  "Tuning",
                                        "Training", "Data", "First Steps" };
  g_autoptr (GSettings) state = dyno_state_new ();
  GtkWidget *widget = g_object_ref_sink (dyno_window_new (NULL, state, SHAPES));
  DynoWindow *window = DYNO_WINDOW (widget);
  HdyFlap *flap = HDY_FLAP (window->train_flap);

  gtk_window_set_default_size (GTK_WINDOW (widget), 1200, 800);
  gtk_widget_show (widget);
  parts_wait (has_data, window);
  for (guint i = 0; i < G_N_ELEMENTS (pages); i++)
    {
      g_action_group_activate_action (G_ACTION_GROUP (window), "page",
                                      g_variant_new_string (pages[i]));
      g_assert_cmpstr (get_page (window), ==, pages[i]);
      g_autoptr (GVariant) page = g_action_group_get_action_state (G_ACTION_GROUP (window), "page");
      g_assert_cmpstr (g_variant_get_string (page, NULL), ==, pages[i]);
      act (window, "help");
      GtkWidget *help = find_window ("Help");
      GtkListBoxRow *row =
          gtk_list_box_get_selected_row (GTK_LIST_BOX (parts_find (help, GTK_TYPE_LIST_BOX)));
      g_assert_cmpstr (atk_object_get_name (gtk_widget_get_accessible (GTK_WIDGET (row))), ==,
                       titles[i]);
      gtk_widget_destroy (help);
    }
  for (guint i = 0; i < 2; i++)
    {
      dyno_window_show_page (window, i == 0 ? "home" : "device");
      act (window, "use-data");
      g_assert_cmpstr (get_page (window), ==, "train");
      g_assert_true (gtk_window_get_focus (GTK_WINDOW (window)) == window->start_button);
      set (window, "plot-log", i == 0);
      g_assert_cmpuint (count_log (window), ==, i == 0);
      set (window, "plot-hold", i == 0);
      set (window, "show-settings", i == 1);
      g_assert_true (hdy_flap_get_reveal_flap (flap) == (i == 1));
      /* A setting is looked for on its page, also from that of the runs where there are none. */
      hdy_flap_set_reveal_flap (flap, FALSE);
      dyno_window_show_page (window, i == 0 ? "home" : "runs");
      act (window, "find-setting");
      g_assert_cmpstr (get_page (window), ==, "train");
      g_assert_true (hdy_flap_get_reveal_flap (flap));
      parts_wait (settings_have_focus, window);
      g_assert_true (GTK_IS_ENTRY (gtk_window_get_focus (GTK_WINDOW (window))));
      /* The last change is taken back, and made again. */
      const DynoSettings *settings = &dyno_setup_get_job (window->setup)->settings;
      g_assert_true (dyno_setup_set_number (window->setup, "epochs", 7 + i, NULL));
      gint64 before = settings->batch_size;
      g_assert_true (dyno_setup_set_number (window->setup, "batch_size", 3 + i, NULL));
      act (window, "undo");
      g_assert_true (settings->batch_size == before && settings->epochs == 7 + i);
      act (window, "redo");
      g_assert_true (settings->batch_size == 3 + i && settings->epochs == 7 + i);
    }
  gtk_widget_destroy (widget);
  g_object_unref (widget);
}

static gboolean
paths_are_known (gpointer window)
{
  return dyno_path_check_is_known (DYNO_WINDOW (window)->paths);
}

/* A step of the strip leads to its control; the paths are checked again when they have changed. */
static void
test_steps_lead_to_their_controls (void)
{
  g_autoptr (GSettings) state = dyno_state_new ();
  g_autofree char *weights = g_build_filename (g_get_home_dir (), "no weights", NULL);

  if (!state)
    {
      g_test_skip ("The schema is not compiled");
      return;
    }
  GtkWidget *widget = g_object_ref_sink (dyno_window_new (NULL, state, SHAPES));
  DynoWindow *window = DYNO_WINDOW (widget);
  HdyFlap *flap = HDY_FLAP (window->train_flap);
  g_autoptr (GPtrArray) focused = g_ptr_array_new ();

  gtk_window_set_default_size (GTK_WINDOW (widget), 1200, 800);
  gtk_widget_show (widget);
  parts_wait (has_data, window);
  for (guint i = 0; i < 2; i++)
    {
      dyno_window_show_page (window, "train");
      g_signal_emit_by_name (window->strip, "go", DYNO_SETUP_STEP_DATA);
      g_assert_cmpstr (get_page (window), ==, "data");
      g_assert_true (has_focus_in (window, window->data_page));
      dyno_window_show_page (window, "train");
      for (guint kind = DYNO_SETUP_STEP_MODEL; kind < DYNO_SETUP_STEP_FOLDER; kind++)
        {
          gtk_window_set_focus (GTK_WINDOW (window), NULL);
          hdy_flap_set_reveal_flap (flap, i == 0);
          g_signal_emit_by_name (window->strip, "go", kind);
          g_assert_true (hdy_flap_get_reveal_flap (flap));
          parts_wait (settings_have_focus, window);
          GtkWidget *focus = gtk_window_get_focus (GTK_WINDOW (window));
          if (i == 0)
            {
              g_assert_false (g_ptr_array_find (focused, focus, NULL));
              g_ptr_array_add (focused, focus);
            }
          else
            g_assert_true (focused->pdata[kind - DYNO_SETUP_STEP_MODEL] == focus);
        }
      g_signal_emit_by_name (window->strip, "go", DYNO_SETUP_STEP_FOLDER);
      GtkWidget *dialog = find_window ("Preferences");
      g_assert_true (gtk_window_get_focus (GTK_WINDOW (dialog))
                     == parts_find_button (dialog, "Choose the folder for runs"));
      gtk_widget_destroy (dialog);
    }
  parts_wait (paths_are_known, window);
  g_assert_null (dyno_path_check_get_weights_problem (window->paths));
  dyno_setup_set_weights (window->setup, weights);
  g_assert_false (paths_are_known (window));
  parts_wait (paths_are_known, window);
  g_assert_nonnull (dyno_path_check_get_weights_problem (window->paths));
  gtk_widget_destroy (widget);
  g_object_unref (widget);
}

static void
test_keys_are_those_that_are_listed (void)
{
  if (is_apart ())
    check_keys_are_those_that_are_listed ();
}

static void
test_the_theme_is_the_chosen_one (void)
{
  if (is_apart ())
    check_the_theme_is_the_chosen_one ();
}

static void
test_locations_are_opened_in_one_window (void)
{
  if (is_apart ())
    check_locations_are_opened_in_one_window ();
}

static void
test_a_state_folder_is_needed (void)
{
  if (is_apart ())
    check_a_state_folder_is_needed ();
}

static void
test_the_program_describes_itself (void)
{
  if (is_apart ())
    check_the_program_describes_itself ();
}

void
parts_add_actions (void)
{
  g_test_add_func ("/ui/parts/the-theme-is-the-chosen-one", test_the_theme_is_the_chosen_one);
  g_test_add_func ("/ui/parts/keys-are-those-that-are-listed", test_keys_are_those_that_are_listed);
  g_test_add_func ("/ui/parts/locations-are-opened-in-one-window",
                   test_locations_are_opened_in_one_window);
  g_test_add_func ("/ui/parts/a-state-folder-is-needed", test_a_state_folder_is_needed);
  g_test_add_func ("/ui/parts/the-program-describes-itself", test_the_program_describes_itself);
  g_test_add_func ("/ui/parts/commands-show-their-page", test_commands_show_their_page);
  g_test_add_func ("/ui/parts/steps-lead-to-their-controls", test_steps_lead_to_their_controls);
}
