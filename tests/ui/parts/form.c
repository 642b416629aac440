/* SPDX-License-Identifier: MIT */
/* The form as a whole: rows of settings with their resets, the strip above a run, the memory. */
#include "parts.h"
#include "fold.h"
#include "format.h"
#include "row.h"
#include "settingspanel.h"
#include "setupstrip.h"
#include "vrambar.h"
#include <handy.h>
#include <string.h>

/* A setup without devices, in which nothing follows a preset. */
static DynoSetup *
new_setup (void)
{
  static const char *const settings[] = { "epochs=10", "lr=0.05", "batch_size=32", NULL };
  DynoSetup *setup = dyno_setup_new ();

  dyno_setup_restore (setup, NULL, "simplecnn", NULL, DYNO_LEVEL_RECOMMENDED, settings);
  return setup;
}

static void
drop (DynoSetup *setup)
{
  dyno_setup_shutdown (setup);
  g_object_unref (setup);
}

/* The row with this title. */
static GtkWidget *
find_row (GtkWidget *panel, const char *title)
{
  g_autoptr (GPtrArray) rows = parts_find_all (panel, HDY_TYPE_EXPANDER_ROW);

  for (guint i = 0; i < rows->len; i++)
    {
      GtkWidget *revealer = parts_find (rows->pdata[i], GTK_TYPE_REVEALER);
      g_autoptr (GPtrArray) found = parts_find_all (revealer, DYNO_TYPE_ROW);
      for (guint k = 0; k < found->len; k++)
        if (g_strcmp0 (hdy_preferences_row_get_title (found->pdata[k]), title) == 0)
          return found->pdata[k];
    }
  g_error ("There is no row “%s”", title);
}

static guint
count_visible (GtkWidget *panel)
{
  g_autoptr (GPtrArray) folds = parts_find_all (panel, DYNO_TYPE_FOLD);
  guint n = 0;

  for (guint i = 0; i < folds->len; i++)
    {
      GtkWidget *revealer = parts_find (folds->pdata[i], GTK_TYPE_REVEALER);
      g_autoptr (GPtrArray) rows = parts_find_all (revealer, DYNO_TYPE_ROW);
      for (guint k = 0; k < rows->len && gtk_widget_get_visible (folds->pdata[i]); k++)
        n += gtk_widget_get_visible (rows->pdata[k]);
    }
  return n;
}

static void
note_live (GtkWidget *panel, const char *key, GString *keys)
{
  g_string_append_printf (keys, "%s ", key);
}

/* A changed setting has a button that puts it back, and counts in the title of its group, until it
 * is put back by the button, or by undo. */
static void
test_changed_settings_can_be_put_back (void)
{
  DynoSetup *setup = new_setup ();
  GtkWidget *panel = g_object_new (DYNO_TYPE_SETTINGS_PANEL, NULL);
  DynoSettingsPanel *self = DYNO_SETTINGS_PANEL (panel);
  GtkWidget *window = gtk_window_new (GTK_WINDOW_TOPLEVEL);

  gtk_container_add (GTK_CONTAINER (window), panel);
  dyno_settings_panel_set_setup (self, setup);
  dyno_settings_panel_show_place (self, DYNO_SETTINGS_PLACE_MODEL);
  for (guint i = 0; i < 2; i++)
    {
      parts_assert_says_not (panel, "1 changed");
      dyno_setup_set_number (setup, "lr", 0.1 * (i + 1), NULL);
      parts_assert_says (panel, "1 changed");
      GtkWidget *reset = parts_find_button (panel, "Back to 0.05");
      g_assert_true (gtk_widget_get_visible (reset));
      dyno_setup_set_number (setup, "epochs", 20, NULL);
      parts_assert_says (panel, "2 changed");
      g_assert_true (dyno_setup_step (setup, TRUE));
      parts_assert_says (panel, "1 changed");
      gtk_button_clicked (GTK_BUTTON (reset));
      g_assert_cmpfloat (dyno_setup_get_job (setup)->settings.lr, ==, 0.05);
      g_assert_false (gtk_widget_get_visible (reset));
    }
  parts_assert_says_not (panel, "Effective batch: 128");
  dyno_setup_set_number (setup, "accumulate", 4, NULL);
  parts_assert_says (panel, "Effective batch: 128");
  dyno_setup_set_number (setup, "batch_size", 8, NULL);
  parts_assert_says (panel, "Effective batch: 32");
  dyno_setup_set_number (setup, "accumulate", 1, NULL);
  parts_assert_says_not (panel, "Effective batch: 32");
  gtk_widget_destroy (window);
  drop (setup);
}

/* While a run goes on, only live settings reach it: those that are set, and those that undo
 * changes. */
static void
test_live_settings_reach_the_run (void)
{
  DynoSetup *setup = new_setup ();
  GtkWidget *panel = g_object_new (DYNO_TYPE_SETTINGS_PANEL, NULL);
  DynoSettingsPanel *self = DYNO_SETTINGS_PANEL (panel);
  GtkWidget *window = gtk_window_new (GTK_WINDOW_TOPLEVEL);
  g_autoptr (GString) keys = g_string_new (NULL);

  gtk_container_add (GTK_CONTAINER (window), panel);
  dyno_settings_panel_set_setup (self, setup);
  dyno_settings_panel_show_place (self, DYNO_SETTINGS_PLACE_MODEL);
  g_signal_connect (panel, "live-change", G_CALLBACK (note_live), keys);
  GtkSpinButton *lr =
      GTK_SPIN_BUTTON (parts_find (find_row (panel, "Learning rate"), GTK_TYPE_SPIN_BUTTON));
  GtkSpinButton *batch =
      GTK_SPIN_BUTTON (parts_find (find_row (panel, "Batch size"), GTK_TYPE_SPIN_BUTTON));
  gtk_spin_button_set_value (lr, 0.25);
  g_assert_cmpfloat (dyno_setup_get_job (setup)->settings.lr, ==, 0.25);
  g_assert_cmpstr (keys->str, ==, "");
  parts_assert_says_not (panel, "Changes the run at once");
  GtkWidget *both =
      GTK_WIDGET (gtk_widget_get_template_child (panel, DYNO_TYPE_SETTINGS_PANEL, "both"));
  dyno_setup_set_work (setup, DYNO_SETUP_TRAINS);
  parts_assert_says_not (panel, "Changes the run at once"); /* before the user has asked for it */
  gtk_spin_button_set_value (lr, 0.3);
  g_assert_cmpstr (keys->str, ==, "");
  dyno_settings_panel_step (self, TRUE);
  g_assert_cmpstr (keys->str, ==, "");
  gtk_button_clicked (GTK_BUTTON (both));
  parts_assert_says (panel, "Changes the run at once");
  gtk_spin_button_set_value (lr, 0.5);
  gtk_spin_button_set_value (batch, 16);
  g_assert_cmpstr (keys->str, ==, "lr ");
  dyno_settings_panel_step (self, TRUE); /* the batch size */
  g_assert_cmpint (dyno_setup_get_job (setup)->settings.batch_size, ==, 32);
  g_assert_cmpstr (keys->str, ==, "lr ");
  dyno_settings_panel_step (self, TRUE);
  g_assert_cmpstr (keys->str, ==, "lr lr ");
  dyno_settings_panel_step (self, FALSE);
  g_assert_cmpstr (keys->str, ==, "lr lr lr ");
  g_assert_cmpfloat (gtk_spin_button_get_value (lr), ==, 0.5);
  /* The user, another model and a taken job end it; a second run begins without it, too. */
  g_autoptr (DynoJob) job = dyno_job_copy (dyno_setup_get_job (setup));
  for (guint i = 0; i < 3; i++)
    {
      g_assert_true (gtk_toggle_button_get_active (GTK_TOGGLE_BUTTON (both)));
      if (i == 0)
        gtk_button_clicked (GTK_BUTTON (both));
      else if (i == 1)
        dyno_setup_set_model (setup, "mlp");
      else
        dyno_setup_set_job (setup, job);
      g_assert_false (gtk_toggle_button_get_active (GTK_TOGGLE_BUTTON (both)));
      g_assert_false (dyno_setup_changes_run (setup));
      parts_assert_says_not (panel, "Changes the run at once");
      g_string_truncate (keys, 0);
      gtk_spin_button_set_value (lr, 0.75);
      dyno_settings_panel_step (self, TRUE);
      dyno_settings_panel_step (self, FALSE);
      g_assert_cmpstr (keys->str, ==, "");
      gtk_button_clicked (GTK_BUTTON (both));
      gtk_spin_button_set_value (lr, 0.5);
      g_assert_cmpstr (keys->str, ==, "lr ");
      gtk_button_clicked (GTK_BUTTON (both));
      dyno_setup_set_work (setup, DYNO_SETUP_IDLE);
      g_assert_false (gtk_widget_get_mapped (both));
      dyno_setup_set_changes_run (setup, TRUE); /* there is no run */
      g_assert_false (dyno_setup_changes_run (setup));
      dyno_setup_set_work (setup, DYNO_SETUP_TRAINS);
      g_assert_false (gtk_toggle_button_get_active (GTK_TOGGLE_BUTTON (both)));
      gtk_button_clicked (GTK_BUTTON (both));
    }
  /* Undo that leads back to another model ends it, too; undo of a setting does not. */
  gtk_spin_button_set_value (lr, 0.25);
  dyno_settings_panel_step (self, TRUE);
  g_assert_true (dyno_setup_changes_run (setup));
  while (dyno_setup_changes_run (setup) && dyno_setup_can_step (setup, TRUE))
    dyno_settings_panel_step (self, TRUE);
  g_assert_cmpstr (dyno_setup_get_job (setup)->model, ==, "mlp");
  /* A measurement changes no run. */
  dyno_setup_set_work (setup, DYNO_SETUP_MEASURES);
  g_assert_false (dyno_setup_changes_run (setup) || gtk_widget_get_visible (both));
  parts_assert_says (panel, "These are the settings of the next run.");
  parts_assert_says_not (panel, "Changes the run at once");
  dyno_setup_set_work (setup, DYNO_SETUP_IDLE);
  g_string_truncate (keys, 0);
  dyno_settings_panel_step (self, TRUE);
  g_assert_cmpstr (keys->str, ==, "");
  gtk_widget_destroy (window);
  drop (setup);
}

/* A search finds rows by title, key and help, and its end shows all again. */
static void
test_the_form_is_searched (void)
{
  DynoSetup *setup = new_setup ();
  GtkWidget *panel = g_object_new (DYNO_TYPE_SETTINGS_PANEL, NULL);
  DynoSettingsPanel *self = DYNO_SETTINGS_PANEL (panel);
  GtkWidget *window = gtk_window_new (GTK_WINDOW_TOPLEVEL);

  gtk_container_add (GTK_CONTAINER (window), panel);
  dyno_settings_panel_set_setup (self, setup);
  dyno_settings_panel_show_place (self, DYNO_SETTINGS_PLACE_MODEL);
  GtkWidget *search = parts_find (panel, GTK_TYPE_SEARCH_ENTRY);
  guint all = count_visible (panel);
  gtk_entry_set_text (GTK_ENTRY (search), " CLIP_norm ");
  g_signal_emit_by_name (search, "search-changed");
  g_assert_cmpuint (count_visible (panel), ==, 1);
  g_assert_true (gtk_widget_get_visible (find_row (panel, "Gradient clipping")));
  gtk_entry_set_text (GTK_ENTRY (search), "no such words");
  g_signal_emit_by_name (search, "search-changed");
  g_assert_cmpuint (count_visible (panel), ==, 0);
  dyno_settings_panel_show_place (self, DYNO_SETTINGS_PLACE_WEIGHTS);
  g_assert_cmpstr (gtk_entry_get_text (GTK_ENTRY (search)), ==, "");
  g_assert_cmpuint (count_visible (panel), ==, all);
  gtk_widget_destroy (window);
  drop (setup);
}

/* --- the strip -------------------------------------------------------------------------------- */

static gboolean
is_known (gpointer paths)
{
  return dyno_path_check_is_known (paths);
}

static void
note_go (GtkWidget *strip, guint kind, GString *kinds)
{
  g_string_append_printf (kinds, "%u ", kind);
}

static GtkButton *
get_step (GtkWidget *strip, DynoSetupStepKind kind)
{
  g_autoptr (GPtrArray) buttons = parts_find_all (strip, GTK_TYPE_BUTTON);

  return buttons->pdata[kind];
}

/* A step that is ready leads to its place; one with a warning first shows the reasons, with what
 * removes them. */
static void
test_steps_explain_their_warnings (void)
{
  DynoSetup *setup = new_setup ();
  DynoDataInspector *inspector = dyno_data_inspector_new (setup);
  DynoPathCheck *paths = dyno_path_check_new ();
  GtkWidget *strip = g_object_new (DYNO_TYPE_SETUP_STRIP, NULL);
  DynoSetupStrip *self = DYNO_SETUP_STRIP (strip);
  g_autoptr (GString) kinds = g_string_new (NULL);

  dyno_setup_strip_set_setup (self, setup, inspector, paths);
  GtkWidget *window = parts_show (strip, 900, 60);
  g_signal_connect (strip, "go", G_CALLBACK (note_go), kinds);
  parts_assert_says (strip, "Random values");
  parts_assert_says (strip, "SimpleCNN");
  gtk_button_clicked (get_step (strip, DYNO_SETUP_STEP_WEIGHTS));
  g_assert_cmpstr (kinds->str, ==, "2 ");
  dyno_path_check_ask (paths, g_get_home_dir (), "/nowhere/w.pth");
  dyno_setup_set_weights (setup, "/nowhere/w.pth");
  parts_wait (is_known, paths);
  g_assert_cmpint (
      dyno_setup_step_get_state (dyno_setup_strip_get_step (self, DYNO_SETUP_STEP_WEIGHTS)), ==,
      DYNO_STEP_WARNING);
  parts_assert_says (strip, "w.pth");
  gtk_button_clicked (get_step (strip, DYNO_SETUP_STEP_WEIGHTS));
  g_assert_cmpstr (kinds->str, ==, "2 "); /* the reasons are shown first */
  GtkWidget *popover = parts_find (window, GTK_TYPE_POPOVER);
  gtk_button_clicked (GTK_BUTTON (parts_find_button (popover, "Choose Start Weights")));
  g_assert_cmpstr (kinds->str, ==, "2 2 ");
  gtk_button_clicked (GTK_BUTTON (parts_find_button (popover, "Start from Random Values")));
  g_assert_null (dyno_setup_get_job (setup)->weights_in);
  parts_assert_says (strip, "Random values");
  g_assert_cmpint (dyno_setup_strip_get_state (self), ==, DYNO_STEP_BLOCKED); /* no data */
  gtk_widget_destroy (window);
  g_object_unref (inspector);
  g_object_unref (paths);
  drop (setup);
}

/* --- memory ----------------------------------------------------------------------------------- */

static gboolean
is_planned (gpointer setup)
{
  return dyno_setup_get_plan (setup) != NULL;
}

typedef struct {
  DynoSetup *setup;
  guint64 bytes; /* of the plan that is waited for to change */
} Plan;

static gboolean
has_changed (gpointer data)
{
  Plan *plan = data;
  const DynoJobPlan *now = dyno_setup_get_plan (plan->setup);

  return now && now->plan.total_bytes != plan->bytes;
}

/* The bar shows the plan of the present settings; a batch that cannot run offers one that can. */
static void
test_the_memory_is_that_of_the_plan (void)
{
  DynoSetup *setup = new_setup ();
  DynoVramBar *bar = g_object_ref_sink (g_object_new (DYNO_TYPE_VRAM_BAR, NULL));
  GtkWidget *widget = GTK_WIDGET (bar);
  Plan plan = { setup, 0 };

  gtk_widget_show (widget);
  dyno_vram_bar_set_setup (bar, setup);
  parts_assert_says (widget, "–");
  dyno_setup_start (setup);
  dyno_setup_open_data (setup, "builtin:shapes?size=16&samples=640");
  parts_wait (is_planned, setup);
  for (guint i = 0; i < 2; i++)
    {
      const DynoJobPlan *now = dyno_setup_get_plan (setup);
      g_autofree char *need = dyno_format_bytes (now->plan.total_bytes),
                      *limit = dyno_format_bytes (now->limit_bytes),
                      *text = g_strdup_printf ("%s of %s", need, limit);
      g_auto (GStrv) parts = g_strsplit (text, "\302\240", -1);
      g_autofree char *plain = g_strjoinv (" ", parts);
      parts_assert_says (widget, plain);
      plan.bytes = now->plan.total_bytes;
      if (i == 0)
        {
          dyno_setup_set_number (setup, "batch_size", 64, NULL);
          parts_wait (has_changed, &plan);
        }
    }
  /* More samples in a batch than there are: the run would use fewer. */
  dyno_setup_set_number (setup, "batch_size", 4096, NULL);
  parts_wait (has_changed, &plan);
  const DynoJobPlan *now = dyno_setup_get_plan (setup);
  g_autofree char *label = g_strdup_printf ("_Use Batch Size %u", (guint) now->batch_size);
  GtkWidget *fix = parts_find_button (widget, label);
  g_assert_true (gtk_widget_get_visible (fix));
  gint64 better = now->batch_size;
  gtk_button_clicked (GTK_BUTTON (fix));
  g_assert_cmpint (dyno_setup_get_job (setup)->settings.batch_size, ==, better);
  drop (setup);
  g_object_unref (bar);
}

void
parts_add_form (void)
{
  g_test_add_func ("/ui/parts/changed-settings-can-be-put-back",
                   test_changed_settings_can_be_put_back);
  g_test_add_func ("/ui/parts/live-settings-reach-the-run", test_live_settings_reach_the_run);
  g_test_add_func ("/ui/parts/the-form-is-searched", test_the_form_is_searched);
  g_test_add_func ("/ui/parts/steps-explain-their-warnings", test_steps_explain_their_warnings);
  g_test_add_func ("/ui/parts/the-memory-is-that-of-the-plan", test_the_memory_is_that_of_the_plan);
}
