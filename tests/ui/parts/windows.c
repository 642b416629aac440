/* SPDX-License-Identifier: MIT */
/* Windows beside the main one, what the main one opens, and the checks before a run: preferences,
 * help, the rail of pages, menus of plots, settings files, paths, plans, networks. */
#include "parts.h"
#include "errorbar.h"
#include "format.h"
#include "help.h"
#include "home.h"
#include "layersdialog.h"
#include "lrdialog.h"
#include "networkopener.h"
#include "pathcheck.h"
#include "planner.h"
#include "plot/plotmenu.h"
#include "preferences.h"
#include "rail.h"
#include "vrambar.h"
#include "window-private.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

/* The window with this title that is no dialog of GTK; NULL: none. */
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
get_name (gpointer widget)
{
  return atk_object_get_name (gtk_widget_get_accessible (widget));
}

/* Devices of these types. */
static GPtrArray *
make_devices (DynoDeviceType first, DynoDeviceType second)
{
  static const char *const names[] = { "Card A", "Card B" };
  GPtrArray *devices = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < 2; i++)
    {
      DynoDeviceInfo *device = g_new0 (DynoDeviceInfo, 1);
      device->index = i;
      device->type = i == 0 ? first : second;
      device->vram_bytes = (guint64) 8 << 30;
      g_strlcpy (device->name, names[i], sizeof device->name);
      g_ptr_array_add (devices, device);
    }
  return devices;
}

static void
drop (DynoSetup *setup)
{
  dyno_setup_shutdown (setup);
  g_object_unref (setup);
}

/* --- preferences -------------------------------------------------------------------------------- */

/* The values of the combo's rows, with a bar between them. */
static char *
list_ids (gpointer combo)
{
  GtkTreeModel *model = gtk_combo_box_get_model (combo);
  GString *ids = g_string_new (NULL);
  GtkTreeIter iter;

  for (gboolean more = gtk_tree_model_get_iter_first (model, &iter); more;
       more = gtk_tree_model_iter_next (model, &iter))
    {
      g_autofree char *id = NULL;
      gtk_tree_model_get (model, &iter, 1, &id, -1);
      g_string_append_printf (ids, "%s|", id);
    }
  return g_string_free (ids, FALSE);
}

static void
assert_string (GSettings *state, const char *key, const char *expected)
{
  g_autofree char *value = g_settings_get_string (state, key);

  g_assert_cmpstr (value, ==, expected);
}

static void
reset_keys (GSettings *state)
{
  static const char *const keys[] = { "device",        "begin-with",  "stop",       "notifications",
                                      "settings-file", "runs-folder", "data-folder" };

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    g_settings_reset (state, keys[i]);
}

/* Choices are those of the state and change it at once; a device that is not present stays chosen;
 * each path is shown in its own row, and is taken back by its own button. */
static void
test_preferences_are_those_of_the_state (void)
{
  g_autoptr (GSettings) state = dyno_state_new ();
  GtkWidget *parent = gtk_window_new (GTK_WINDOW_TOPLEVEL);
  DynoSetup *setup = dyno_setup_new ();
  static const struct {
    const char *key, *none, *choose, *reset;
  } rows[] = {
    { "settings-file", "None chosen", "Choose the settings file", "Settings file: take back" },
    { "runs-folder", "Dyno's own folder", "Choose the folder for runs", "Runs: take back" },
    { "data-folder", "The last one, or Pictures", "Choose the folder that data is looked for in",
      "Data: take back" }
  };

  if (!state)
    {
      g_test_skip ("The schema is not compiled");
      return;
    }
  dyno_setup_take_devices (setup, make_devices (DYNO_DEVICE_TYPE_DISCRETE, 0), NULL);
  reset_keys (state);
  g_settings_set_string (state, "device", "Card Z");
  for (guint i = 0; i < 2; i++)
    {
      dyno_preferences_show (GTK_WINDOW (parent), state, setup, i == 0 ? NULL : "runs-folder");
      GtkWidget *window = find_window ("Preferences");
      g_autoptr (GPtrArray) combos = parts_find_all (window, GTK_TYPE_COMBO_BOX_TEXT);
      g_autofree char *devices = list_ids (combos->pdata[0]);
      g_assert_cmpuint (combos->len, ==, 3);
      g_assert_cmpstr (devices, ==, i == 0 ? "|Card A|Card B|Card Z|" : "|Card A|Card B|");
      g_assert_cmpstr (gtk_combo_box_get_active_id (combos->pdata[0]), ==,
                       i == 0 ? "Card Z" : "Card A");
      gtk_combo_box_set_active_id (combos->pdata[0], "Card A");
      assert_string (state, "device", "Card A");
      g_assert_cmpstr (gtk_combo_box_get_active_id (combos->pdata[1]), ==,
                       i == 0 ? "last" : "preset");
      gtk_combo_box_set_active_id (combos->pdata[1], "preset");
      assert_string (state, "begin-with", "preset");
      g_assert_cmpstr (gtk_combo_box_get_active_id (combos->pdata[2]), ==,
                       i == 0 ? "ask" : "discard");
      gtk_combo_box_set_active_id (combos->pdata[2], "discard");
      assert_string (state, "stop", "discard");
      GtkSwitch *toggle = GTK_SWITCH (parts_find (window, GTK_TYPE_SWITCH));
      g_assert_true (gtk_switch_get_active (toggle) == dyno_state_wants_notifications (state));
      gtk_switch_set_active (toggle, i == 1);
      g_assert_true (dyno_state_wants_notifications (state) == (i == 1));
      for (guint k = 0; k < G_N_ELEMENTS (rows); k++)
        {
          GtkWidget *reset = parts_find_button (window, rows[k].reset);
          g_assert_cmpstr (get_name (reset), ==, rows[k].reset);
          g_assert_false (gtk_widget_get_visible (reset));
          parts_assert_says (window, rows[k].none);
          g_settings_set_string (state, rows[k].key, "/a/place");
          parts_assert_says (window, "/a/place");
          parts_assert_says_not (window, rows[k].none);
          g_assert_true (gtk_widget_get_visible (reset));
          for (guint other = 0; other < G_N_ELEMENTS (rows); other++)
            if (other != k)
              parts_assert_says (window, rows[other].none);
          gtk_button_clicked (GTK_BUTTON (reset));
          assert_string (state, rows[k].key, "");
          g_assert_false (gtk_widget_get_visible (reset));
          parts_assert_says_not (window, "/a/place");
        }
      g_assert_true (
          (gtk_window_get_focus (GTK_WINDOW (window)) == parts_find_button (window, rows[1].choose))
          == (i == 1));
      gtk_widget_destroy (window);
      g_settings_set_string (state, "runs-folder", "/gone"); /* nothing listens any more */
      g_settings_reset (state, "runs-folder");
    }
  reset_keys (state);
  gtk_widget_destroy (parent);
  drop (setup);
}

/* --- help ---------------------------------------------------------------------------------------- */

static void
assert_topic (const char *title)
{
  GtkWidget *window = find_window ("Help");
  GtkStack *stack = GTK_STACK (parts_find (window, GTK_TYPE_STACK));
  GtkListBox *list = GTK_LIST_BOX (parts_find (window, GTK_TYPE_LIST_BOX));

  g_assert_cmpstr (get_name (gtk_stack_get_visible_child (stack)), ==, title);
  g_assert_cmpstr (get_name (gtk_list_box_get_selected_row (list)), ==, title);
}

/* There is one window of help, which shows the topic of the page that it was asked for last; it can
 * be closed by a key, and opened again. */
static void
test_help_shows_the_topic_of_the_page (void)
{
  GtkWidget *parent = gtk_window_new (GTK_WINDOW_TOPLEVEL);

  for (guint i = 0; i < 2; i++)
    {
      dyno_help_show (GTK_WINDOW (parent), "tune");
      GtkWidget *window = find_window ("Help");
      assert_topic ("Tuning");
      dyno_help_show (GTK_WINDOW (parent), "device");
      g_assert_true (find_window ("Help") == window);
      assert_topic ("Device");
      dyno_help_show (GTK_WINDOW (parent), "no such page");
      assert_topic ("First Steps");
      dyno_help_show (GTK_WINDOW (parent), NULL);
      assert_topic ("First Steps");
      gtk_list_box_select_row (
          GTK_LIST_BOX (parts_find (window, GTK_TYPE_LIST_BOX)),
          gtk_list_box_get_row_at_index (GTK_LIST_BOX (parts_find (window, GTK_TYPE_LIST_BOX)), 7));
      assert_topic ("Command Line");
      parts_press (window, GDK_KEY_a);
      g_assert_nonnull (find_window ("Help"));
      parts_press (window, GDK_KEY_Escape);
      g_assert_null (find_window ("Help"));
    }
  dyno_help_show (GTK_WINDOW (parent), "runs");
  gtk_widget_destroy (parent); /* the help goes with it */
  g_assert_null (find_window ("Help"));
  parent = gtk_window_new (GTK_WINDOW_TOPLEVEL);
  dyno_help_show (GTK_WINDOW (parent), "runs");
  assert_topic ("Runs");
  gtk_widget_destroy (parent);
}

/* --- the rail ------------------------------------------------------------------------------------ */

static void
assert_pressed (GtkWidget *rail, guint pressed)
{
  g_autoptr (GPtrArray) buttons = parts_find_all (rail, GTK_TYPE_TOGGLE_BUTTON);

  g_assert_cmpuint (buttons->len, ==, 3);
  for (guint i = 0; i < buttons->len; i++)
    g_assert_cmpint (gtk_toggle_button_get_active (buttons->pdata[i]), ==, i == pressed);
}

/* The button of the present page is pressed, and stays so when it is clicked again. */
static void
test_the_rail_presses_the_present_page (void)
{
  static const char *const pages[] = { "one", "two", "three" };
  GtkWidget *window = g_object_new (GTK_TYPE_APPLICATION_WINDOW, NULL),
            *rail = g_object_new (DYNO_TYPE_RAIL, NULL),
            *stack = g_object_ref_sink (gtk_stack_new ());
  g_autoptr (GSimpleAction) page =
      g_simple_action_new_stateful ("page", G_VARIANT_TYPE_STRING, g_variant_new_string ("one"));

  for (guint i = 0; i < 3; i++)
    {
      GtkWidget *child = gtk_label_new (NULL);
      gtk_container_add_with_properties (GTK_CONTAINER (stack), child, "name", pages[i], "title",
                                         pages[2 - i], "icon-name", "edit-undo-symbolic", NULL);
    }
  g_action_map_add_action (G_ACTION_MAP (window), G_ACTION (page));
  gtk_container_add (GTK_CONTAINER (window), rail);
  dyno_rail_set_stack (DYNO_RAIL (rail), GTK_STACK (stack));
  parts_assert_texts (rail, "three\ntwo\none");
  assert_pressed (rail, 0);
  g_autoptr (GPtrArray) buttons = parts_find_all (rail, GTK_TYPE_TOGGLE_BUTTON);
  g_assert_cmpstr (get_name (buttons->pdata[2]), ==, "one");
  for (guint k = 0; k < 2; k++)
    for (guint i = 0; i < 3; i++)
      {
        gtk_button_clicked (buttons->pdata[i]);
        g_assert_cmpstr (g_variant_get_string (g_action_get_state (G_ACTION (page)), NULL), ==,
                         pages[i]);
        assert_pressed (rail, i);
        gtk_button_clicked (buttons->pdata[i]);
        assert_pressed (rail, i);
      }
  g_simple_action_set_state (page, g_variant_new_string ("two"));
  assert_pressed (rail, 1);
  gtk_widget_destroy (window);
  g_object_unref (stack);
}

/* --- the menu of a plot -------------------------------------------------------------------------- */

static void
note_span (DynoPlotView *view, double x0, double x1, GString *spans)
{
  g_string_append_printf (spans, "%g-%g ", x0, x1);
}

static GtkWidget *
open_menu (DynoPlotView *view)
{
  GtkWidget *widget = GTK_WIDGET (view);
  g_autoptr (GdkEvent) event = gdk_event_new (GDK_BUTTON_PRESS);

  event->button.window = g_object_ref (gtk_widget_get_window (widget));
  event->button.button = GDK_BUTTON_SECONDARY;
  gdk_event_set_device (
      event, gdk_seat_get_pointer (gdk_display_get_default_seat (gtk_widget_get_display (widget))));
  g_assert_true (gtk_widget_event (widget, event));
  GList *menus = gtk_menu_get_for_attach_widget (widget);
  return menus->data;
}

static GtkWidget *
find_item (GtkWidget *menu, const char *label)
{
  g_autoptr (GPtrArray) items = parts_find_all (menu, GTK_TYPE_MENU_ITEM);

  for (guint i = 0; i < items->len; i++)
    if (g_strcmp0 (gtk_menu_item_get_label (items->pdata[i]), label) == 0)
      return items->pdata[i];
  g_error ("There is no item “%s”", label);
}

static gboolean
has_no_menu (gpointer view)
{
  return gtk_menu_get_for_attach_widget (view) == NULL;
}

/* The zoom can be reset where there is one; each menu is of its moment. */
static void
test_the_menu_resets_a_zoom (void)
{
  DynoPlotView *view = g_object_new (DYNO_TYPE_PLOT_VIEW, NULL);
  GtkWidget *window = parts_show (GTK_WIDGET (view), 300, 200);
  g_autoptr (GString) spans = g_string_new (NULL);

  dyno_plot_menu_attach (view);
  g_signal_connect (view, "span", G_CALLBACK (note_span), spans);
  for (guint i = 0; i < 2; i++)
    {
      dyno_plot_view_set_span (view, (DynoPlotSpan){ 0, 0 });
      GtkWidget *menu = open_menu (view);
      g_assert_false (gtk_widget_get_sensitive (find_item (menu, "_Reset Zoom")));
      gtk_menu_shell_deactivate (GTK_MENU_SHELL (menu));
      g_signal_emit_by_name (menu, "selection-done");
      parts_wait (has_no_menu, view);
      dyno_plot_view_set_span (view, (DynoPlotSpan){ 3, 7 });
      menu = open_menu (view);
      g_assert_true (gtk_widget_get_sensitive (find_item (menu, "_Reset Zoom")));
      gtk_menu_item_activate (GTK_MENU_ITEM (find_item (menu, "_Reset Zoom")));
      g_assert_cmpstr (spans->str, ==, i == 0 ? "0-0 " : "0-0 0-0 ");
      gtk_menu_shell_deactivate (GTK_MENU_SHELL (menu));
      g_signal_emit_by_name (menu, "selection-done");
      parts_wait (has_no_menu, view);
    }
  gtk_widget_destroy (window);
}

/* --- the first page ------------------------------------------------------------------------------ */

static void
test_the_first_page_names_the_device (void)
{
  const struct {
    DynoDeviceType type;
    const char *title;
  } rows[] = { { DYNO_DEVICE_TYPE_DISCRETE, "Put Your GPU on the Dynamometer" },
               { DYNO_DEVICE_TYPE_SOFTWARE, "Put This Machine on the Dynamometer" },
               { DYNO_DEVICE_TYPE_INTEGRATED, "Put Your GPU on the Dynamometer" } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      DynoSetup *setup = dyno_setup_new ();
      GtkWidget *home = g_object_ref_sink (g_object_new (DYNO_TYPE_HOME, NULL));
      gtk_widget_show (home);
      dyno_home_set_setup (DYNO_HOME (home), setup);
      dyno_setup_take_devices (setup, make_devices (rows[i].type, DYNO_DEVICE_TYPE_SOFTWARE), NULL);
      parts_assert_says (home, rows[i].title);
      dyno_setup_set_device (setup, 1);
      parts_assert_says (home, "Put This Machine on the Dynamometer");
      dyno_setup_set_device (setup, 0);
      parts_assert_says (home, rows[i].title);
      gtk_widget_destroy (home);
      g_object_unref (home);
      drop (setup);
    }
  DynoSetup *setup = dyno_setup_new ();
  GtkWidget *home = g_object_ref_sink (g_object_new (DYNO_TYPE_HOME, NULL));
  gtk_widget_show (home);
  dyno_home_set_setup (DYNO_HOME (home), setup);
  parts_assert_says_not (home, "It is not there.");
  dyno_setup_take_devices (setup, NULL,
                           g_error_new_literal (G_IO_ERROR, G_IO_ERROR_FAILED, "It is not there."));
  parts_assert_says (home, "It is not there.");
  parts_assert_says_not (home, rows[0].title);
  parts_assert_says_not (home, rows[1].title);
  dyno_setup_take_devices (
      setup, make_devices (DYNO_DEVICE_TYPE_DISCRETE, DYNO_DEVICE_TYPE_SOFTWARE), NULL);
  parts_assert_says (home, rows[0].title);
  parts_assert_says_not (home, "It is not there.");
  for (guint i = 0; i < 2; i++) /* cards are of one size beside each other only */
    {
      GtkBox *cards = GTK_BOX (gtk_widget_get_template_child (home, DYNO_TYPE_HOME, "cards"));
      dyno_home_set_narrow (DYNO_HOME (home), i == 0);
      g_assert_true (gtk_box_get_homogeneous (cards) == (i == 1));
      g_assert_cmpint (gtk_orientable_get_orientation (GTK_ORIENTABLE (cards)), ==,
                       i == 0 ? GTK_ORIENTATION_VERTICAL : GTK_ORIENTATION_HORIZONTAL);
    }
  gtk_widget_destroy (home);
  g_object_unref (home);
  drop (setup);
}

/* --- paths, plans, networks ---------------------------------------------------------------------- */

static void
count_change (gpointer object, guint *n)
{
  (*n)++;
}

static gboolean
is_known (gpointer paths)
{
  return dyno_path_check_is_known (paths);
}

typedef struct {
  guint *n, before;
} Changes;

static gboolean
has_changed (gpointer data)
{
  const Changes *changes = data;

  return *changes->n > changes->before;
}

/* The answer is about the paths that were asked for last; the same paths keep it until they are
 * looked at again. */
static void
test_paths_are_those_asked_for_last (void)
{
  DynoPathCheck *paths = dyno_path_check_new ();
  const char *home = g_get_home_dir ();
  g_autofree char *file = g_build_filename (home, "weights.pth", NULL),
                  *gone = g_build_filename (home, "gone.pth", NULL),
                  *refusal = g_strdup_printf ("Cannot read “%s”: No such file or directory", gone);
  guint n = 0;

  g_assert_true (g_file_set_contents (file, "x", 1, NULL));
  g_signal_connect (paths, "changed", G_CALLBACK (count_change), &n);
  g_assert_false (dyno_path_check_is_known (paths));
  g_assert_null (dyno_path_check_get_folder (paths));
  for (guint i = 0; i < 2; i++)
    {
      n = 0;
      dyno_path_check_ask (paths, home, gone);
      dyno_path_check_ask (paths, home, file);
      g_assert_false (dyno_path_check_is_known (paths));
      parts_wait (is_known, paths);
      g_assert_cmpuint (n, ==, 3); /* two requests, one answer */
      g_assert_null (dyno_path_check_get_weights_problem (paths));
      g_assert_null (dyno_path_check_get_folder_problem (paths));
      dyno_path_check_ask (paths, home, gone);
      g_assert_false (dyno_path_check_is_known (paths));
      parts_wait (is_known, paths);
      g_assert_cmpstr (dyno_path_check_get_weights_problem (paths), ==, refusal);
      n = 0;
      dyno_path_check_ask (paths, home, gone);
      g_assert_true (n == 0 && dyno_path_check_is_known (paths));
      g_assert_cmpstr (dyno_path_check_get_weights_problem (paths), ==, refusal);
      g_assert_true (g_file_set_contents (gone, "x", 1, NULL));
      parts_wait (has_changed, &(Changes){ &n, 0 });
      dyno_path_check_ask (paths, home, gone);
      parts_wait (has_changed, &(Changes){ &n, 1 });
      g_assert_null (dyno_path_check_get_weights_problem (paths));
      g_assert_cmpint (g_unlink (gone), ==, 0);
      dyno_path_check_ask (paths, file, NULL); /* a file is no folder */
      g_assert_cmpstr (dyno_path_check_get_folder (paths), ==, file);
      parts_wait (is_known, paths);
      g_assert_nonnull (dyno_path_check_get_folder_problem (paths));
      g_assert_null (dyno_path_check_get_weights_problem (paths));
    }
  dyno_path_check_ask (paths, home, gone);
  g_object_unref (paths); /* while it looks */
}

typedef struct {
  GString *text;
  guint n;
} Answers;

static void
note_plan (const DynoJob *job, const DynoJobPlan *plan, const DynoRunEstimate *estimate,
           const GError *error, gpointer data)
{
  Answers *answers = data;

  answers->n++;
  g_assert_true ((plan != NULL) == (estimate != NULL) || !plan);
  g_string_append_printf (answers->text, "%d %s\n", (int) job->settings.batch_size,
                          plan    ? "planned"
                          : error ? "failed"
                                  : "nothing");
}

/* Of several requests only the last one is planned, with the settings of its time; without data or
 * device there is neither a plan nor an error. */
static void
test_only_the_last_plan_is_reported (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  Answers answers = { text, 0 };
  DynoPlanner *planner = dyno_planner_new (note_plan, &answers);
  g_autoptr (DynoJob) job = dyno_job_new ();
  g_autoptr (DynoDataset) dataset =
      dyno_dataset_open ("builtin:shapes?size=16&samples=64", NULL, NULL, NULL, NULL, NULL);
  g_autoptr (GPtrArray) devices = dyno_device_list (NULL);

  g_assert_nonnull (devices);
  job->data = g_strdup ("builtin:shapes?size=16&samples=64");
  g_free (job->model);
  job->model = g_strdup ("mlp");
  for (guint i = 0; i < 2; i++)
    {
      g_string_set_size (text, 0);
      answers.n = 0;
      job->settings.batch_size = 8;
      dyno_planner_ask (planner, job, dataset, devices->pdata[0], 1);
      job->settings.batch_size = 16;
      dyno_planner_ask (planner, job, dataset, devices->pdata[0], 1);
      job->settings.batch_size = 32;
      parts_wait (has_changed, &(Changes){ &answers.n, 0 });
      g_assert_cmpstr (text->str, ==, "16 planned\n");
      dyno_planner_ask (planner, job, NULL, devices->pdata[0], 1);
      parts_wait (has_changed, &(Changes){ &answers.n, 1 });
      dyno_planner_ask (planner, job, dataset, NULL, 1);
      parts_wait (has_changed, &(Changes){ &answers.n, 2 });
      g_assert_cmpstr (text->str, ==, "16 planned\n32 nothing\n32 nothing\n");
      g_free (job->model);
      job->model = g_strdup ("no such model");
      dyno_planner_ask (planner, job, dataset, devices->pdata[0], 1);
      parts_wait (has_changed, &(Changes){ &answers.n, 3 });
      g_assert_true (g_str_has_suffix (text->str, "nothing\n32 failed\n"));
      g_free (job->model);
      job->model = g_strdup ("mlp");
    }
  dyno_planner_ask (planner, job, dataset, devices->pdata[0], 1);
  dyno_planner_free (planner);
  dyno_planner_free (NULL);
}

/* Asks once more while it is answered. */
typedef struct {
  DynoPlanner *planner;
  DynoJob *job;
  DynoDataset *dataset; /* NULL: none is planned with */
  const DynoDeviceInfo *device;
  Answers answers;
} Asking;

static void
ask_again (const DynoJob *job, const DynoJobPlan *plan, const DynoRunEstimate *estimate,
           const GError *error, gpointer data)
{
  Asking *asking = data;

  note_plan (job, plan, estimate, error, &asking->answers);
  asking->job->settings.batch_size *= 2;
  if (asking->answers.n < 3)
    dyno_planner_ask (asking->planner, asking->job, asking->dataset, asking->device, 1);
}

static gboolean
is_planned (gpointer planner)
{
  return !g_main_context_find_source_by_user_data (NULL, planner); /* its timer is over */
}

/* A request that comes while another is answered is answered, too; one that comes while another is
 * planned replaces it. */
static void
test_requests_during_a_plan_are_answered (void)
{
  g_autoptr (DynoDataset) dataset =
      dyno_dataset_open ("builtin:shapes?size=16&samples=64", NULL, NULL, NULL, NULL, NULL);
  g_autoptr (GPtrArray) devices = dyno_device_list (NULL);
  g_autoptr (DynoJob) job = dyno_job_new ();

  job->data = g_strdup ("builtin:shapes?size=16&samples=64");
  g_free (job->model);
  job->model = g_strdup ("mlp");
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      Asking asking = { .job = job,
                        .dataset = i == 0 ? dataset : NULL,
                        .device = devices->pdata[0],
                        .answers = { text, 0 } };
      asking.planner = dyno_planner_new (ask_again, &asking);
      job->settings.batch_size = 4;
      dyno_planner_ask (asking.planner, job, asking.dataset, asking.device, 1);
      for (guint n = 0; n < 3; n++)
        parts_wait (has_changed, &(Changes){ &asking.answers.n, n });
      g_assert_cmpstr (text->str, ==,
                       i == 0 ? "4 planned\n8 planned\n16 planned\n"
                              : "4 nothing\n8 nothing\n16 nothing\n");
      dyno_planner_free (asking.planner);
    }
  g_autoptr (GString) text = g_string_new (NULL);
  Answers answers = { text, 0 };
  DynoPlanner *planner = dyno_planner_new (note_plan, &answers);
  for (guint i = 0; i < 2; i++)
    {
      g_string_set_size (text, 0);
      answers.n = 0;
      job->settings.batch_size = 5;
      dyno_planner_ask (planner, job, dataset, devices->pdata[0], 1);
      parts_wait (is_planned, planner);
      job->settings.batch_size = 6;
      dyno_planner_ask (planner, job, dataset, devices->pdata[0], 1);
      parts_wait (has_changed, &(Changes){ &answers.n, 0 });
      g_assert_cmpstr (text->str, ==, "6 planned\n");
    }
  dyno_planner_ask (planner, job, dataset, devices->pdata[0], 1);
  parts_wait (is_planned, planner);
  dyno_planner_free (planner); /* while it plans */
}

typedef struct {
  DynoNetworkOpener *opener;
  GString *text;
} Networks;

static void
note_network (const DynoOpenedNetwork *opened, gpointer data)
{
  Networks *networks = data;

  g_assert_null (dyno_network_opener_get_path (networks->opener));
  g_assert_true (opened->error && !opened->model && !opened->has_weights);
  g_string_append_printf (networks->text, "%s\n", opened->path);
}

static gboolean
is_read (gpointer networks)
{
  return ((Networks *) networks)->text->len > 0;
}

/* Of several networks only the last one is reported, by its whole path; one that was cancelled is
 * not. */
static void
test_only_the_last_network_is_reported (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  Networks networks = { NULL, text };

  networks.opener = dyno_network_opener_new (note_network, &networks);
  g_assert_false (dyno_network_opener_cancel (networks.opener));
  for (guint i = 0; i < 2; i++)
    {
      for (guint k = 0; k < 9; k++)
        dyno_network_opener_open (networks.opener, "/nowhere/first.onnx", NULL);
      g_assert_true (dyno_network_opener_cancel (networks.opener));
      g_assert_null (dyno_network_opener_get_path (networks.opener));
      g_assert_false (dyno_network_opener_cancel (networks.opener));
      dyno_network_opener_open (networks.opener, "/nowhere/other/../last.onnx",
                                i == 0 ? NULL : "mlp");
      g_assert_cmpstr (dyno_network_opener_get_path (networks.opener), ==, "/nowhere/last.onnx");
      parts_wait (is_read, &networks);
      g_assert_cmpstr (text->str, ==, "/nowhere/last.onnx\n");
      g_string_set_size (text, 0);
    }
  dyno_network_opener_open (networks.opener, "/nowhere/first.onnx", NULL);
  dyno_network_opener_free (networks.opener);
  dyno_network_opener_free (NULL);
}

/* --- files of the window -------------------------------------------------------------------------- */

static gboolean
is_ready (gpointer setup)
{
  return dyno_setup_get_presets (setup) && !dyno_setup_get_opening (setup, NULL);
}

static gboolean
is_revealed (GtkWidget *bar)
{
  return gtk_info_bar_get_revealed (GTK_INFO_BAR (parts_find (bar, GTK_TYPE_INFO_BAR)));
}

/* A settings file is told by its extension; its errors and warnings go with the next file; nothing
 * but a network is opened during a run. */
static void
test_files_are_opened_by_their_kind (void)
{
  GtkWidget *widget =
      g_object_ref_sink (dyno_window_new (NULL, NULL, "builtin:shapes?size=16&samples=64"));
  DynoWindow *window = DYNO_WINDOW (widget);
  GtkWidget *bar = window->error_bar;
  g_autofree char *good = g_build_filename (g_get_home_dir (), "good.INI", NULL),
                  *odd = g_build_filename (g_get_home_dir (), "odd.dyno", NULL),
                  *gone = g_build_filename (g_get_home_dir (), "gone.json", NULL);
  const DynoSettings *now = &dyno_setup_get_job (window->setup)->settings;

  g_assert_true (dyno_is_settings_file ("/a/b.dyno") && dyno_is_settings_file ("/a/b.Json")
                 && dyno_is_settings_file ("b.ini"));
  g_assert_false (dyno_is_settings_file ("/a.ini/b") || dyno_is_settings_file ("/a/json")
                  || dyno_is_settings_file ("b.onnx"));
  g_assert_true (g_file_set_contents (good, "[settings]\nepochs=7\n", -1, NULL));
  g_assert_true (g_file_set_contents (odd, "[settings]\nepochs=9\nno.such.setting=1\n", -1, NULL));
  parts_wait (is_ready, window->setup);
  for (guint i = 0; i < 2; i++)
    {
      dyno_window_show_page (window, "home");
      dyno_window_open (window, good);
      g_assert_cmpint (now->epochs, ==, 7);
      g_assert_cmpstr (gtk_stack_get_visible_child_name (GTK_STACK (window->pages)), ==, "train");
      g_assert_false (is_revealed (bar));
      dyno_window_show_page (window, "runs");
      dyno_window_open (window, odd);
      g_assert_cmpint (now->epochs, ==, 9);
      g_assert_cmpstr (gtk_stack_get_visible_child_name (GTK_STACK (window->pages)), ==, "runs");
      g_assert_true (is_revealed (bar));
      parts_assert_says (bar, "Parts of the settings file were left out");
      g_assert_false (dyno_error_bar_has_error (DYNO_ERROR_BAR (bar)));
      dyno_window_open (window, gone);
      g_assert_cmpint (now->epochs, ==, 9);
      g_assert_true (dyno_error_bar_has_error (DYNO_ERROR_BAR (bar)));
      dyno_window_open (window, good);
      g_assert_false (is_revealed (bar));
      g_assert_false (dyno_error_bar_has_error (DYNO_ERROR_BAR (bar)));
      dyno_setup_set_work (window->setup, DYNO_SETUP_MEASURES);
      dyno_window_open (window, odd);
      g_assert_cmpint (now->epochs, ==, 7);
      g_assert_true (is_revealed (bar));
      parts_assert_says (bar, "“odd.dyno” was not opened");
      dyno_setup_set_work (window->setup, DYNO_SETUP_IDLE);
      dyno_window_show_page (window, "home");
      dyno_window_open (window, "builtin:waves");
      g_assert_cmpstr (gtk_stack_get_visible_child_name (GTK_STACK (window->pages)), ==, "data");
      g_assert_false (is_revealed (bar));
      parts_wait (is_ready, window->setup);
      g_assert_cmpstr (dyno_setup_get_job (window->setup)->data, ==, "builtin:waves");
    }
  gtk_widget_destroy (widget);
  g_object_unref (widget);
}

/* --- the actions of the window --------------------------------------------------------------------- */

static gboolean
can (DynoWindow *window, const char *action)
{
  return g_action_group_get_action_enabled (G_ACTION_GROUP (window), action);
}

static void
put_state (DynoWindow *window, DynoSessionState state)
{
  g_autoptr (DynoEvent) event = dyno_event_new (DYNO_EVENT_STATE);

  event->state = state;
  dyno_run_monitor_take_event (window->monitor, event);
  dyno_window_update_actions (window);
}

static gboolean
has_plan (gpointer setup)
{
  return is_ready (setup) && dyno_setup_get_plan (setup);
}

static gboolean
is_idle (gpointer window)
{
  return !dyno_window_is_working (window);
}

/* A run is paused, released and stopped where it can be, and others are begun when it is over; this
 * is so for a second run, too. */
static void
test_actions_follow_the_run (void)
{
  GtkWidget *widget =
      g_object_ref_sink (dyno_window_new (NULL, NULL, "builtin:shapes?size=16&samples=64"));
  DynoWindow *window = DYNO_WINDOW (widget);
  g_autofree char *runs = g_build_filename (g_get_home_dir (), "runs of actions", NULL);
  g_autoptr (DynoJob) job = dyno_job_new ();
  static const char *const idle[] = { "start", "tune", "quick-test" },
                           *const open[] = { "open-data", "open-folder", "open-file",
                                             "open-settings", "add-to-queue" },
                           *const active[] = { "stop", "discard" };

  parts_wait (has_plan, window->setup);
  dyno_window_take_runs_folder (window, runs);
  job->data = g_strdup ("builtin:shapes?size=16&samples=64");
  job->resume = g_strdup ("/nowhere/at/all");
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *ready = gtk_widget_get_tooltip_text (window->start_button);
      for (guint k = 0; k < G_N_ELEMENTS (idle); k++)
        g_assert_true (can (window, idle[k]));
      for (guint k = 0; k < G_N_ELEMENTS (open); k++)
        g_assert_true (can (window, open[k]));
      g_assert_false (can (window, "stop") || can (window, "pause") || can (window, "release")
                      || can (window, "discard") || can (window, "stop-tune")
                      || can (window, "use-best") || can (window, "resume-interrupted"));
      g_assert_cmpstr (ready, ==, "Train (F5)");
      g_assert_true (gtk_widget_get_visible (window->start_button)
                     && !gtk_widget_get_visible (window->pause_button)
                     && !gtk_widget_get_visible (window->stop_button));
      dyno_window_begin_job (window, job);
      for (guint k = 0; k < G_N_ELEMENTS (idle); k++)
        g_assert_false (can (window, idle[k]));
      for (guint k = 0; k < G_N_ELEMENTS (active); k++)
        g_assert_true (can (window, active[k]));
      for (guint k = 0; k < G_N_ELEMENTS (open); k++) /* they are for the next run */
        g_assert_true (can (window, open[k]));
      g_assert_false (can (window, "pause") || can (window, "release"));
      g_assert_true (!gtk_widget_get_visible (window->start_button)
                     && gtk_widget_get_visible (window->pause_button)
                     && gtk_widget_get_visible (window->stop_button));
      g_assert_true (gtk_stack_get_visible_child (GTK_STACK (window->train_stack))
                     == window->run_page);
      put_state (window, DYNO_SESSION_RUNNING);
      g_assert_true (can (window, "pause") && can (window, "release"));
      g_assert_cmpstr (gtk_label_get_label (GTK_LABEL (window->pause_label)), ==, "_Pause");
      put_state (window, DYNO_SESSION_PAUSED);
      g_assert_true (can (window, "pause") && can (window, "release") && can (window, "stop"));
      g_assert_cmpstr (gtk_label_get_label (GTK_LABEL (window->pause_label)), ==, "_Resume");
      g_autoptr (DynoEvent) released = dyno_event_new (DYNO_EVENT_RELEASED);
      dyno_run_monitor_take_event (window->monitor, released);
      dyno_window_update_actions (window);
      g_assert_true (can (window, "pause") && !can (window, "release"));
      put_state (window, DYNO_SESSION_RUNNING);
      g_assert_true (can (window, "release"));
      g_assert_cmpstr (gtk_label_get_label (GTK_LABEL (window->pause_label)), ==, "_Pause");
      put_state (window, DYNO_SESSION_STOPPING);
      g_assert_false (can (window, "pause") || can (window, "release") || can (window, "stop")
                      || can (window, "discard") || can (window, "start"));
      parts_wait (is_idle, window);
    }
  /* While something is missing, nothing is begun or kept for later, and the button says why. */
  for (guint i = 0; i < 2; i++)
    {
      dyno_setup_open_data (window->setup, "builtin:waves");
      g_assert_false (can (window, "start") || can (window, "add-to-queue"));
      g_autofree char *why = gtk_widget_get_tooltip_text (window->start_button);
      g_assert_cmpstr (why, ==, "The data set is being opened.");
      dyno_setup_cancel_open (window->setup);
      g_assert_true (can (window, "start") && can (window, "add-to-queue"));
      g_autofree char *ready = gtk_widget_get_tooltip_text (window->start_button);
      g_assert_cmpstr (ready, ==, "Train (F5)");
    }
  gtk_widget_destroy (widget);
  g_object_unref (widget);
}

/* --- memory, layers -------------------------------------------------------------------------------- */

typedef struct {
  DynoSetup *setup;
  guint64 budget;
} Budget;

static gboolean
has_budget (gpointer data)
{
  const Budget *budget = data;
  const DynoJobPlan *plan = dyno_setup_get_plan (budget->setup);

  return plan && plan->budget_bytes == budget->budget;
}

static GtkWidget *
get_of_bar (GtkWidget *bar, const char *name)
{
  return GTK_WIDGET (gtk_widget_get_template_child (bar, DYNO_TYPE_VRAM_BAR, name));
}

/* Both limits are named where they differ, and which of them counts; a need beyond the limit is
 * marked as long as it lasts. */
static void
test_the_smaller_limit_of_memory_counts (void)
{
  static const char *const settings[] = { "epochs=10", "batch_size=32", NULL };
  GtkWidget *bar = g_object_ref_sink (g_object_new (DYNO_TYPE_VRAM_BAR, NULL));
  DynoSetup *setup = dyno_setup_new ();
  g_autoptr (GError) error = NULL;
  GPtrArray *devices = dyno_device_list (&error);
  const guint64 gib = 1 << 30;

  g_assert_no_error (error);
  DynoDeviceInfo *device = devices->pdata[0];
  device->vram_bytes = 8 * gib;
  dyno_setup_restore (setup, NULL, "mlp", NULL, DYNO_LEVEL_RECOMMENDED, settings);
  gtk_widget_show (bar);
  dyno_vram_bar_set_setup (DYNO_VRAM_BAR (bar), setup);
  g_assert_cmpstr (get_name (get_of_bar (bar, "bar")), ==, "Device memory needed: not known yet");
  g_assert_false (gtk_widget_get_visible (get_of_bar (bar, "estimate")));
  dyno_setup_take_devices (setup, devices, NULL);
  dyno_setup_open_data (setup, "builtin:shapes?size=16&samples=640");
  GtkStyleContext *style = gtk_widget_get_style_context (get_of_bar (bar, "value"));
  const struct {
    guint64 budget, counts;
    const char *limits; /* NULL: one limit */
    gboolean fits;
  } rows[] = {
    { 2 * gib, 2 * gib, "2.00 GiB allowed, of the 8.00 GiB that this device has", TRUE },
    { 8 * gib, 8 * gib, NULL, TRUE },
    { 16 * gib, 8 * gib, "16.0 GiB allowed, but this device has 8.00 GiB", TRUE },
    { 1 << 20, 1 << 20, "1.00 MiB allowed, of the 8.00 GiB that this device has", FALSE },
    { 2 * gib, 2 * gib, "2.00 GiB allowed, of the 8.00 GiB that this device has", TRUE }
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      dyno_setup_set_number (setup, "vram_budget", (double) rows[i].budget, NULL);
      parts_wait (has_budget, &(Budget){ setup, rows[i].budget });
      const DynoJobPlan *plan = dyno_setup_get_plan (setup);
      g_assert_cmpuint (plan->limit_bytes, ==, rows[i].counts);
      g_assert_cmpint (plan->fits, ==, rows[i].fits);
      g_assert_cmpint (gtk_widget_get_visible (get_of_bar (bar, "limits")), ==,
                       rows[i].limits != NULL);
      if (rows[i].limits)
        parts_assert_texts (get_of_bar (bar, "limits"), rows[i].limits);
      g_assert_cmpint (gtk_style_context_has_class (style, "bad"), ==, !rows[i].fits);
      g_assert_cmpint (gtk_widget_get_visible (get_of_bar (bar, "advice_box")), ==, !rows[i].fits);
      g_autofree char *value = parts_get_texts (get_of_bar (bar, "value"));
      g_assert_true (g_str_has_suffix (value, i == 3             ? " of 1.00 MiB"
                                              : i == 0 || i == 4 ? " of 2.00 GiB"
                                                                 : " of 8.00 GiB"));
      g_assert_true (
          g_str_has_prefix (get_name (get_of_bar (bar, "bar")), "Device memory needed: "));
      g_autofree char *estimate = parts_get_texts (get_of_bar (bar, "estimate"));
      g_autofree char *steps = dyno_format_count (dyno_setup_get_estimate (setup)->steps),
                      *begin = g_strdup_printf ("%s steps, ", steps);
      g_assert_true (g_str_has_prefix (estimate, begin));
      g_assert_true (g_str_has_suffix (estimate, " on disk") && !strstr (estimate, "about"));
      g_autoptr (GPtrArray) parts = parts_find_all (get_of_bar (bar, "legend"), GTK_TYPE_LABEL);
      guint n = 0;
      for (guint k = 0; k < DYNO_MEMORY_N_KINDS; k++)
        n += plan->plan.kind_bytes[k] > 0;
      g_assert_true (n > 1 && parts->len == n);
    }
  drop (setup);
  g_object_unref (bar);
}

/* Each layer has its shape and its parameters, and the totals are their sums. */
static void
test_layers_are_summed_up (void)
{
  GtkWidget *parent = gtk_window_new (GTK_WINDOW_TOPLEVEL);
  DynoSetup *setup = dyno_setup_new ();

  dyno_setup_set_model (setup, "mlp");
  dyno_setup_set_number (setup, "batch_size", 4, NULL);
  for (guint i = 0; i < 2; i++)
    {
      dyno_setup_open_data (setup, i == 0 ? "builtin:shapes?size=16&samples=64&classes=3"
                                          : "builtin:shapes?size=8&samples=64&classes=5");
      while (dyno_setup_get_opening (setup, NULL))
        g_main_context_iteration (NULL, TRUE);
      dyno_layers_dialog_show (GTK_WINDOW (parent), setup);
      GtkWidget *dialog = parts_find_dialog ("Layers");
      GtkTreeView *table = GTK_TREE_VIEW (parts_find (dialog, GTK_TYPE_TREE_VIEW));
      g_autofree char *outputs = parts_get_column (table, 2), *counts = parts_get_column (table, 3),
                      *texts = parts_get_texts (dialog);
      g_auto (GStrv) lines = g_strsplit (counts, "\n", -1);
      guint64 sum = 0;
      for (char **line = lines; *line; line++)
        {
          g_auto (GStrv) pieces = g_strsplit (*line, ",", -1);
          g_autofree char *digits = g_strjoinv ("", pieces);
          sum += g_ascii_strtoull (digits, NULL, 10);
        }
      g_assert_true (g_str_has_suffix (outputs, i == 0 ? "1 × 1 × 3" : "1 × 1 × 5"));
      g_autofree char *total = dyno_format_count (sum),
                      *start = g_strdup_printf ("A batch of 4: %s parameters, ", total);
      g_assert_cmpuint (sum, >, 1000);
      g_assert_nonnull (strstr (texts, start));
      gtk_dialog_response (GTK_DIALOG (dialog), GTK_RESPONSE_CLOSE);
    }
  gtk_widget_destroy (parent);
  drop (setup);
}

/* --- the test of learning rates --------------------------------------------------------------------- */

/* A curve of 60 rates from 1e-5 to 1, whose loss falls where the rate is near the middle, or not at
 * all. */
static DynoLrCurve *
make_curve (gboolean falls)
{
  DynoLrCurve *curve = dyno_lr_curve_new (1e-5, 1, 60);

  for (guint i = 0; i < 60; i++)
    dyno_lr_curve_add (curve, pow (10, -5 + 5 * i / 59.0),
                       falls ? 2 - 1.5 / (1 + exp (-(i - 30.0) / 4)) : 2, FALSE);
  return curve;
}

static const char *
get_result (GtkWidget *dialog)
{
  GtkWidget *content = gtk_dialog_get_content_area (GTK_DIALOG (dialog));

  return gtk_label_get_text (GTK_LABEL (parts_find (content, GTK_TYPE_LABEL)));
}

/* A rate is taken only by its button, and only where the curve suggests one; neither a curve without
 * a suggestion nor an error offers the rate of a test before. */
static void
test_a_suggested_rate_is_taken (void)
{
  GtkWidget *parent = gtk_window_new (GTK_WINDOW_TOPLEVEL);
  DynoSetup *setup = dyno_setup_new ();
  g_autoptr (DynoLrCurve) good = make_curve (TRUE), flat = make_curve (FALSE);
  g_autoptr (GError) error = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_FAILED, "It is lost.");
  g_auto (DynoLrSuggestion) s = { 0 };
  const DynoSettings *now = &dyno_setup_get_job (setup)->settings;

  dyno_lr_suggest (good, &s);
  g_assert_true (isfinite (s.lr) && s.lr > 1e-5 && s.lr < 1);
  for (guint i = 0; i < 2; i++)
    {
      const int answers[] = { GTK_RESPONSE_CLOSE, GTK_RESPONSE_APPLY };
      for (guint k = 0; k < G_N_ELEMENTS (answers); k++)
        {
          GtkWidget *dialog = dyno_lr_dialog_new (GTK_WINDOW (parent), setup);
          GtkWidget *use =
              gtk_dialog_get_widget_for_response (GTK_DIALOG (dialog), GTK_RESPONSE_APPLY);
          dyno_setup_set_number (setup, "lr", 0.75, NULL);
          g_assert_false (gtk_widget_get_sensitive (use));
          dyno_lr_dialog_show_result (dialog, good, NULL);
          g_assert_true (gtk_widget_get_sensitive (use));
          const char *text = get_result (dialog);
          g_assert_true (g_str_has_prefix (text, s.text));
          gtk_dialog_response (GTK_DIALOG (dialog), answers[k]);
          g_assert_cmpfloat (now->lr, ==, k == 0 ? 0.75 : s.lr);
        }
      dyno_setup_set_number (setup, "lr", 0.75, NULL);
      for (guint k = 0; k < 2; k++)
        {
          GtkWidget *dialog = dyno_lr_dialog_new (GTK_WINDOW (parent), setup);
          dyno_lr_dialog_show_result (dialog, k == 0 ? flat : NULL, k == 0 ? NULL : error);
          g_assert_false (gtk_widget_get_sensitive (
              gtk_dialog_get_widget_for_response (GTK_DIALOG (dialog), GTK_RESPONSE_APPLY)));
          const char *text = get_result (dialog);
          g_assert_true ((strcmp (text, "It is lost.") == 0) == (k == 1));
          gtk_dialog_response (GTK_DIALOG (dialog), GTK_RESPONSE_APPLY);
          g_assert_cmpfloat (now->lr, ==, 0.75);
        }
    }
  gtk_widget_destroy (parent);
  drop (setup);
}

void
parts_add_windows (void)
{
  g_test_add_func ("/ui/parts/preferences-are-those-of-the-state",
                   test_preferences_are_those_of_the_state);
  g_test_add_func ("/ui/parts/help-shows-the-topic-of-the-page",
                   test_help_shows_the_topic_of_the_page);
  g_test_add_func ("/ui/parts/the-rail-presses-the-present-page",
                   test_the_rail_presses_the_present_page);
  g_test_add_func ("/ui/parts/the-menu-resets-a-zoom", test_the_menu_resets_a_zoom);
  g_test_add_func ("/ui/parts/the-first-page-names-the-device",
                   test_the_first_page_names_the_device);
  g_test_add_func ("/ui/parts/paths-are-those-asked-for-last", test_paths_are_those_asked_for_last);
  g_test_add_func ("/ui/parts/only-the-last-plan-is-reported", test_only_the_last_plan_is_reported);
  g_test_add_func ("/ui/parts/requests-during-a-plan-are-answered",
                   test_requests_during_a_plan_are_answered);
  g_test_add_func ("/ui/parts/only-the-last-network-is-reported",
                   test_only_the_last_network_is_reported);
  g_test_add_func ("/ui/parts/files-are-opened-by-their-kind", test_files_are_opened_by_their_kind);
  g_test_add_func ("/ui/parts/actions-follow-the-run", test_actions_follow_the_run);
  g_test_add_func ("/ui/parts/the-smaller-limit-of-memory-counts",
                   test_the_smaller_limit_of_memory_counts);
  g_test_add_func ("/ui/parts/layers-are-summed-up", test_layers_are_summed_up);
  g_test_add_func ("/ui/parts/a-suggested-rate-is-taken", test_a_suggested_rate_is_taken);
}
