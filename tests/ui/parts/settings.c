/* SPDX-License-Identifier: MIT */
/* The form of the next run: the controls of settings, the choices behind them with undo and redo,
 * and the reasons why something cannot be done now. */
#include "parts.h"
#include "arrays.h"
#include "obstacles.h"
#include "presetpanel.h"
#include "settingcontrol.h"
#include "setup.h"
#include "setupsteps.h"
#include "vrambar.h"
#include "weightsrow.h"
#include <handy.h>
#include <math.h>
#include <string.h>

#define GIB (1024.0 * 1024 * 1024)

/* --- controls --------------------------------------------------------------------------------- */

typedef struct {
  guint n;
  double value;
} Changes;

static void
note_change (const DynoSettingInfo *info, double value, gpointer data)
{
  Changes *changes = data;

  changes->n++;
  changes->value = value;
}

static GtkWidget *
new_control (const char *key, Changes *changes)
{
  *changes = (Changes){ 0 };
  return g_object_ref_sink (
      dyno_setting_control_new (dyno_setting_find (key), note_change, changes));
}

static void
type (GtkWidget *spin, const char *text)
{
  gtk_entry_set_text (GTK_ENTRY (spin), text);
  gtk_spin_button_update (GTK_SPIN_BUTTON (spin));
}

static void
assert_text (GtkWidget *entry, const char *expected)
{
  g_assert_cmpstr (gtk_entry_get_text (GTK_ENTRY (entry)), ==, expected);
}

/* A shown value is no change by the user; a typed one is, in the unit of the setting. */
static void
test_controls_of_numbers (void)
{
  Changes changes;
  double step, page;
  GtkWidget *spin = new_control ("workers", &changes);

  dyno_setting_control_set (spin, 12);
  assert_text (spin, "12");
  g_assert_cmpuint (changes.n, ==, 0);
  type (spin, "7");
  g_assert_true (changes.n == 1 && changes.value == 7);
  g_object_unref (spin);
  spin = new_control ("lr", &changes);
  dyno_setting_control_set (spin, 0.05);
  assert_text (spin, "0.05");
  gtk_spin_button_get_increments (GTK_SPIN_BUTTON (spin), &step, &page);
  g_assert_cmpfloat_with_epsilon (step, 0.01, 1e-9);
  g_assert_cmpfloat_with_epsilon (page, 0.1, 1e-9);
  gtk_spin_button_set_value (GTK_SPIN_BUTTON (spin), 0.5); /* by hand */
  gtk_spin_button_get_increments (GTK_SPIN_BUTTON (spin), &step, &page);
  g_assert_cmpfloat_with_epsilon (step, 0.1, 1e-9);
  g_assert_true (changes.n == 1 && changes.value == 0.5);
  changes.n = 0;
  dyno_setting_control_set (spin, 0.01); /* a step down leads to the next smaller power */
  gtk_spin_button_get_increments (GTK_SPIN_BUTTON (spin), &step, &page);
  g_assert_cmpfloat_with_epsilon (step, 0.001, 1e-9);
  g_assert_cmpuint (changes.n, ==, 0);
  type (spin, "2e-4");
  g_assert_true (changes.n == 1 && fabs (changes.value - 2e-4) < 1e-12);
  assert_text (spin, "0.0002");
  type (spin, "words");
  g_assert_cmpuint (changes.n, ==, 1);
  assert_text (spin, "0.0002");
  g_object_unref (spin);
  spin = new_control ("vram_budget", &changes);
  dyno_setting_control_set (spin, 2.5 * GIB);
  assert_text (spin, "2.5 GiB");
  type (spin, "3 GiB");
  g_assert_true (changes.n == 1 && changes.value == 3 * GIB);
  type (spin, "1.5");
  g_assert_true (changes.n == 2 && changes.value == 1.5 * GIB);
  assert_text (spin, "1.5 GiB");
  dyno_setting_control_set (spin, 0);
  g_autofree char *zero = dyno_setting_control_describe (dyno_setting_find ("vram_budget"), 0);
  assert_text (spin, zero);
  dyno_setting_control_set (spin, GIB);
  type (spin, zero);
  g_assert_true (changes.n == 3 && changes.value == 0);
  g_object_unref (spin);
  spin = new_control ("threads", &changes);
  dyno_setting_control_set (spin, 0);
  assert_text (spin, "All");
  type (spin, "4");
  assert_text (spin, "4");
  g_assert_true (changes.n == 1 && changes.value == 4);
  g_object_unref (spin);
}

static void
test_controls_of_choices_and_texts (void)
{
  Changes changes;
  GtkWidget *control = new_control ("amp", &changes);

  dyno_setting_control_set (control, 1);
  g_assert_true (gtk_switch_get_active (GTK_SWITCH (control)) && changes.n == 0);
  gtk_switch_set_active (GTK_SWITCH (control), FALSE);
  g_assert_true (changes.n == 1 && changes.value == 0);
  gtk_switch_set_active (GTK_SWITCH (control), TRUE);
  g_assert_true (changes.n == 2 && changes.value == 1);
  g_object_unref (control);
  control = new_control ("schedule", &changes);
  dyno_setting_control_set (control, 1);
  g_assert_cmpint (gtk_combo_box_get_active (GTK_COMBO_BOX (control)), ==, 1);
  g_assert_cmpuint (changes.n, ==, 0);
  gtk_combo_box_set_active (GTK_COMBO_BOX (control), 0);
  g_assert_true (changes.n == 1 && changes.value == 0);
  g_object_unref (control);
  /* A value that needs weights is offered only while it is set. */
  control = new_control ("data.normalise", &changes);
  const DynoSettingInfo *info = dyno_setting_find ("data.normalise");
  GtkTreeModel *rows = gtk_combo_box_get_model (GTK_COMBO_BOX (control));
  int n = gtk_tree_model_iter_n_children (rows, NULL);
  guint weights = 0;
  while (!g_str_equal (info->values[weights], "weights"))
    weights++;
  for (guint i = 0; i < 2; i++)
    {
      dyno_setting_control_set (control, weights);
      g_assert_cmpint (gtk_tree_model_iter_n_children (rows, NULL), ==, n + 1);
      g_assert_cmpstr (gtk_combo_box_get_active_id (GTK_COMBO_BOX (control)), ==, "weights");
      dyno_setting_control_set (control, 0);
      g_assert_cmpint (gtk_tree_model_iter_n_children (rows, NULL), ==, n);
    }
  g_assert_cmpuint (changes.n, ==, 0);
  g_object_unref (control);
  control = new_control ("model.freeze", &changes);
  dyno_setting_control_set (control, g_quark_from_string ("conv1"));
  assert_text (control, "conv1");
  gtk_entry_set_text (GTK_ENTRY (control), " conv1,layer1 ");
  gtk_widget_activate (control);
  g_assert_cmpuint (changes.n, ==, 1);
  g_assert_cmpstr (g_quark_to_string ((GQuark) changes.value), ==, "conv1,layer1");
  gtk_entry_set_text (GTK_ENTRY (control), "  ");
  gtk_widget_activate (control);
  g_assert_true (changes.n == 2 && changes.value == 0);
  dyno_setting_control_set (control, 0);
  assert_text (control, "");
  g_object_unref (control);
}

/* --- the setup -------------------------------------------------------------------------------- */

static gboolean
is_listed (gpointer setup)
{
  return dyno_setup_get_presets (setup) != NULL;
}

static gboolean
is_open (gpointer setup)
{
  return !dyno_setup_get_opening (setup, NULL);
}

/* A setup with the A100's preset, and its devices listed. */
static DynoSetup *
new_setup (void)
{
  static const char *const settings[] = { "epochs=10", NULL };
  DynoSetup *setup = dyno_setup_new ();

  dyno_setup_restore (setup, NULL, "simplecnn", "a100", DYNO_LEVEL_RECOMMENDED, settings);
  return setup;
}

static void
start (DynoSetup *setup)
{
  dyno_setup_start (setup);
  parts_wait (is_listed, setup);
}

static void
drop (DynoSetup *setup)
{
  dyno_setup_shutdown (setup);
  g_object_unref (setup);
}

static gint64
get_batch (DynoSetup *setup)
{
  return dyno_setup_get_job (setup)->settings.batch_size;
}

static const char *
get_preset (DynoSetup *setup)
{
  return dyno_setup_get_preset (setup)->id;
}

/* A change by hand keeps all settings from following the preset, also after an undo brought it
 * back, and until a preset is chosen again. */
static void
test_settings_by_hand_stay (void)
{
  DynoSetup *setup = new_setup ();

  start (setup);
  g_assert_cmpstr (get_preset (setup), ==, "a100");
  gint64 advised = get_batch (setup);
  g_assert_cmpint (advised, !=, 7);
  g_assert_true (dyno_setup_set_number (setup, "batch_size", 7, NULL));
  g_assert_true (dyno_setup_is_custom (setup));
  dyno_setup_set_model (setup, "mlp");
  g_assert_cmpint (get_batch (setup), ==, 7);
  dyno_setup_set_preset (setup, "t4");
  g_assert_cmpint (get_batch (setup), !=, 7);
  g_assert_false (dyno_setup_is_custom (setup));
  g_assert_cmpstr (dyno_setup_get_job (setup)->preset, ==, "t4");
  g_assert_true (dyno_setup_step (setup, TRUE));
  g_assert_cmpstr (get_preset (setup), ==, "a100");
  g_assert_cmpstr (dyno_setup_get_job (setup)->preset, ==, "a100");
  g_assert_cmpint (get_batch (setup), ==, 7);
  dyno_setup_set_model (setup, "simplecnn");
  g_assert_cmpint (get_batch (setup), ==, 7);
  g_assert_true (dyno_setup_step (setup, TRUE)); /* the model */
  g_assert_cmpstr (dyno_setup_get_job (setup)->model, ==, "mlp");
  g_assert_true (dyno_setup_step (setup, TRUE)); /* mlp */
  g_assert_cmpstr (dyno_setup_get_job (setup)->model, ==, "simplecnn");
  g_assert_true (dyno_setup_step (setup, TRUE)); /* the batch size */
  g_assert_cmpint (get_batch (setup), ==, advised);
  g_assert_false (dyno_setup_is_custom (setup));
  g_assert_false (dyno_setup_can_step (setup, TRUE));
  g_assert_false (dyno_setup_step (setup, TRUE));
  g_assert_true (dyno_setup_step (setup, FALSE));
  g_assert_cmpint (get_batch (setup), ==, 7);
  dyno_setup_set_model (setup, "mlp"); /* drops what could be done again */
  g_assert_false (dyno_setup_can_step (setup, FALSE));
  drop (setup);
}

/* A value that is changed back to the preset's is not by hand any more; one that no preset
 * determines never is. */
static void
test_what_counts_as_by_hand (void)
{
  DynoSetup *setup = new_setup ();
  const DynoSettingInfo *lr = dyno_setting_find ("lr"), *batch = dyno_setting_find ("batch_size");

  start (setup);
  gint64 advised = get_batch (setup);
  g_assert_true (dyno_setup_set_number (setup, "lr", 0.01, NULL));
  g_assert_true (dyno_setup_differs (setup, lr) && !dyno_setup_is_custom (setup));
  g_assert_true (dyno_setup_set_number (setup, "batch_size", 7, NULL));
  g_assert_true (dyno_setup_differs (setup, batch) && dyno_setup_is_custom (setup));
  g_assert_true (dyno_setup_set_number (setup, "batch_size", (double) advised, NULL));
  g_assert_false (dyno_setup_differs (setup, batch) || dyno_setup_is_custom (setup));
  dyno_setup_set_level (setup, DYNO_LEVEL_MAX);
  g_assert_cmpint (dyno_setup_get_level (setup), ==, DYNO_LEVEL_MAX);
  gint64 most = get_batch (setup);
  g_assert_cmpint (most, >, advised);
  g_assert_cmpfloat (dyno_setup_get_job (setup)->settings.lr, ==, 0.01);
  dyno_setup_set_level (setup, DYNO_LEVEL_SAFE);
  g_assert_cmpint (get_batch (setup), <, advised);
  g_assert_true (dyno_setup_step (setup, TRUE));
  g_assert_cmpint (dyno_setup_get_level (setup), ==, DYNO_LEVEL_MAX);
  g_assert_cmpint (get_batch (setup), ==, most);
  /* The level that is chosen already applies the preset again where a setting is by hand. */
  g_assert_true (dyno_setup_set_number (setup, "batch_size", 7, NULL));
  dyno_setup_set_level (setup, DYNO_LEVEL_MAX);
  g_assert_cmpint (get_batch (setup), ==, most);
  g_assert_false (dyno_setup_set_number (setup, "batch_size", 0, NULL));
  g_assert_cmpint (get_batch (setup), ==, most);
  drop (setup);
}

/* A setup that keeps these settings from before, on a device of this type. */
static DynoSetup *
start_again (DynoDeviceType type, const char *const *kept)
{
  GPtrArray *devices = g_ptr_array_new_with_free_func (g_free);
  DynoDeviceInfo *device = g_new0 (DynoDeviceInfo, 1);
  DynoSetup *setup = dyno_setup_new ();

  device->type = type;
  g_ptr_array_add (devices, device);
  dyno_setup_restore (setup, NULL, NULL, NULL, DYNO_LEVEL_RECOMMENDED, kept);
  dyno_setup_take_devices (setup, devices, NULL);
  return setup;
}

/* A setup that was never used before. */
static DynoSetup *
start_first (DynoDeviceType type)
{
  return start_again (type, NULL);
}

static void
assert_batch (DynoSetup *setup, gint64 batch, gboolean custom)
{
  g_assert_cmpint (get_batch (setup), ==, batch);
  g_assert_true (dyno_setup_is_custom (setup) == custom);
}

/* The first start on a software device has small values, which count as those of the preset until a
 * preset, a level or a settings file is chosen. */
static void
test_the_first_start_is_small (void)
{
  DynoSetup *card = start_first (DYNO_DEVICE_TYPE_DISCRETE),
            *setup = start_first (DYNO_DEVICE_TYPE_SOFTWARE);
  gint64 advised = get_batch (card);

  g_assert_cmpint (advised, !=, 32);
  assert_batch (card, advised, FALSE);
  assert_batch (setup, 32, FALSE);
  g_assert_cmpfloat (dyno_setup_get_job (setup)->settings.model_width, ==, 0.25);
  g_assert_false (dyno_setup_differs (setup, dyno_setting_find ("model.width")));
  for (guint i = 0; i < 2; i++)
    {
      g_assert_true (dyno_setup_set_number (setup, "batch_size", 7, NULL));
      assert_batch (setup, 7, TRUE);
      g_assert_true (dyno_setup_set_number (setup, "batch_size", 32, NULL));
      dyno_setup_set_model (setup, i == 0 ? "mlp" : "simplecnn");
      assert_batch (setup, 32, FALSE);
      if (i == 0)
        dyno_setup_set_level (setup, DYNO_LEVEL_RECOMMENDED);
      else
        dyno_setup_set_preset (setup, dyno_setup_get_preset (setup)->id);
      g_assert_cmpint (get_batch (setup), !=, 32);
      g_assert_false (dyno_setup_is_custom (setup));
      g_assert_true (dyno_setup_step (setup, TRUE));
      assert_batch (setup, 32, FALSE);
    }
  g_autoptr (DynoJob) job = dyno_job_copy (dyno_setup_get_job (setup));
  job->settings.batch_size = advised;
  dyno_setup_set_job (setup, job);
  g_assert_cmpfloat (dyno_setup_get_reference (setup)->model_width, ==, 1);
  drop (setup);
  drop (card);
}

/* The small values still count as those of the preset after a restart, unless the device is no
 * longer a software device; a second restart is no different. */
static void
test_the_start_after_the_first_is_small (void)
{
  DynoSetup *setup = start_first (DYNO_DEVICE_TYPE_SOFTWARE);
  const DynoSettingInfo *width = dyno_setting_find ("model.width");

  for (guint i = 0; i < 2; i++)
    {
      /* The second time no setting is by hand, as after a change that was taken back. */
      g_assert_true (dyno_setup_set_number (setup, "batch_size", 7, NULL));
      g_assert_true (dyno_setup_set_number (setup, "batch_size", i == 0 ? 31 : 32, NULL));
      g_auto (GStrv) kept = dyno_setup_save_settings (setup);
      drop (setup);
      setup = start_again (DYNO_DEVICE_TYPE_DISCRETE, (const char *const *) kept);
      g_assert_cmpfloat (dyno_setup_get_job (setup)->settings.model_width, ==, 0.25);
      g_assert_true (dyno_setup_differs (setup, width));
      drop (setup);
      setup = start_again (DYNO_DEVICE_TYPE_SOFTWARE, (const char *const *) kept);
      assert_batch (setup, i == 0 ? 31 : 32, i == 0);
      g_assert_cmpfloat (dyno_setup_get_job (setup)->settings.model_width, ==, 0.25);
      g_assert_false (dyno_setup_differs (setup, width));
    }
  dyno_setup_set_preset (setup, "a100");
  g_auto (GStrv) kept = dyno_setup_save_settings (setup);
  drop (setup);
  setup = start_again (DYNO_DEVICE_TYPE_SOFTWARE, (const char *const *) kept);
  g_assert_cmpfloat (dyno_setup_get_reference (setup)->model_width, ==, 1);
  drop (setup);
}

/* Settings that are read before the devices are known are not made small. */
static void
test_read_settings_are_not_made_small (void)
{
  DynoSetup *setup = dyno_setup_new ();
  GPtrArray *devices = g_ptr_array_new_with_free_func (g_free);
  DynoDeviceInfo *device = g_new0 (DynoDeviceInfo, 1);

  device->type = DYNO_DEVICE_TYPE_SOFTWARE;
  g_ptr_array_add (devices, device);
  dyno_setup_restore (setup, NULL, NULL, NULL, DYNO_LEVEL_RECOMMENDED, NULL);
  g_autoptr (DynoJob) job = dyno_job_copy (dyno_setup_get_job (setup));
  job->settings.batch_size = 7;
  dyno_setup_set_job (setup, job);
  dyno_setup_take_devices (setup, devices, NULL);
  g_assert_cmpint (get_batch (setup), ==, 7);
  drop (setup);
}

/* Kept settings are there again at the next start, also that they are by hand. */
static void
test_kept_settings_come_back (void)
{
  DynoSetup *first = new_setup (), *second = dyno_setup_new ();

  start (first);
  g_assert_true (dyno_setup_set_number (first, "batch_size", 7, NULL));
  g_assert_true (dyno_setup_set_number (first, "lr", 0.125, NULL));
  dyno_setup_set_weights (first, "/w/a\tb.pth");
  g_auto (GStrv) kept = dyno_setup_save_settings (first);
  dyno_setup_restore (second, NULL, "simplecnn", "t4", DYNO_LEVEL_MAX, (const char *const *) kept);
  start (second);
  g_assert_cmpint (get_batch (second), ==, 7);
  g_assert_cmpfloat (dyno_setup_get_job (second)->settings.lr, ==, 0.125);
  g_assert_cmpstr (dyno_setup_get_job (second)->weights_in, ==, "/w/a\tb.pth");
  g_assert_cmpint (dyno_setup_get_level (second), ==, DYNO_LEVEL_MAX);
  g_assert_cmpstr (get_preset (second), ==, "t4");
  g_assert_true (dyno_setup_is_custom (second));
  drop (first);
  drop (second);
  /* Weights are of a model: without it they are not taken. */
  second = dyno_setup_new ();
  dyno_setup_restore (second, NULL, "no-such-model", "t4", 77, (const char *const *) kept);
  g_assert_null (dyno_setup_get_job (second)->weights_in);
  g_assert_cmpstr (dyno_setup_get_job (second)->model, ==, "simplecnn");
  g_assert_cmpint (dyno_setup_get_level (second), ==, DYNO_LEVEL_RECOMMENDED);
  drop (second);
}

/* Start weights go with their model, and come back with it. */
static void
test_weights_go_with_their_model (void)
{
  DynoSetup *setup = new_setup ();
  GtkWidget *row = g_object_ref_sink (dyno_weights_row_new (setup));
  GtkWidget *remove = parts_find_button (row, "Start from random values");

  gtk_widget_show (row);
  parts_assert_says (row, "None: random values");
  g_assert_false (gtk_widget_get_visible (remove));
  dyno_setup_set_weights (setup, "/somewhere/a.safetensors");
  parts_assert_says (row, "a.safetensors");
  g_assert_true (gtk_widget_get_visible (remove));
  g_autofree char *tooltip = gtk_widget_get_tooltip_text (row);
  g_assert_cmpstr (tooltip, ==, "/somewhere/a.safetensors");
  dyno_setup_set_model (setup, "simplecnn"); /* the same */
  parts_assert_says (row, "a.safetensors");
  dyno_setup_set_model (setup, "mlp");
  parts_assert_says (row, "None: random values");
  g_assert_true (dyno_setup_step (setup, TRUE));
  parts_assert_says (row, "a.safetensors");
  g_assert_cmpstr (dyno_setup_get_job (setup)->model, ==, "simplecnn");
  dyno_setup_set_weights (setup, "/runs/mlp-2/weights.safetensors"); /* a run's name says more */
  parts_assert_says (row, "mlp-2/weights.safetensors");
  g_assert_true (dyno_setup_step (setup, TRUE));
  gtk_button_clicked (GTK_BUTTON (remove));
  g_assert_null (dyno_setup_get_job (setup)->weights_in);
  g_assert_false (gtk_widget_get_visible (remove));
  g_assert_true (dyno_setup_step (setup, TRUE));
  parts_assert_says (row, "a.safetensors");
  g_assert_true (dyno_setup_step (setup, TRUE));
  g_assert_false (dyno_setup_step (setup, TRUE));
  parts_assert_says (row, "None: random values");
  g_object_unref (row);
  drop (setup);
}

/* A job from elsewhere replaces model, settings and preset; its start weights are only dropped
 * where they are those of another model. */
static void
test_a_job_is_taken_whole (void)
{
  DynoSetup *setup = new_setup ();
  g_autoptr (DynoJob) job = dyno_job_new ();

  start (setup);
  dyno_setup_set_weights (setup, "/old.pth");
  g_free (job->model);
  job->model = g_strdup ("mlp");
  job->weights_in = g_strdup ("/old.pth");
  job->preset = g_strdup ("t4");
  job->settings.batch_size = 9;
  dyno_setup_set_work (setup, DYNO_SETUP_MEASURES);
  dyno_setup_set_job (setup, job);
  g_assert_cmpstr (dyno_setup_get_job (setup)->model, ==, "simplecnn");
  dyno_setup_set_work (setup, DYNO_SETUP_IDLE);
  dyno_setup_set_job (setup, job);
  g_assert_cmpstr (dyno_setup_get_job (setup)->model, ==, "mlp");
  g_assert_null (dyno_setup_get_job (setup)->weights_in);
  g_assert_cmpstr (get_preset (setup), ==, "t4");
  g_assert_cmpint (get_batch (setup), ==, 9);
  dyno_setup_set_model (setup, "simplecnn");
  g_assert_cmpint (get_batch (setup), ==, 9);
  g_free (job->weights_in);
  job->weights_in = g_strdup ("/new.pth");
  dyno_setup_set_job (setup, job);
  g_assert_cmpstr (dyno_setup_get_job (setup)->weights_in, ==, "/new.pth");
  dyno_setup_set_job (setup, job); /* the same model: its weights stay */
  g_assert_cmpstr (dyno_setup_get_job (setup)->weights_in, ==, "/new.pth");
  g_assert_true (dyno_setup_step (setup, TRUE) && dyno_setup_step (setup, TRUE));
  g_assert_cmpstr (dyno_setup_get_job (setup)->model, ==, "simplecnn");
  g_assert_true (dyno_setup_step (setup, TRUE) && dyno_setup_step (setup, TRUE));
  g_assert_cmpstr (dyno_setup_get_job (setup)->weights_in, ==, "/old.pth");
  g_assert_cmpstr (get_preset (setup), ==, "a100");
  drop (setup);
}

static void
collect_flags (DynoSetup *setup, guint flags, guint *all)
{
  *all |= flags;
}

/* The panel of presets shows the chosen ones, and "Custom" only while a setting is by hand. */
static void
test_the_preset_panel_follows (void)
{
  DynoSetup *setup = new_setup ();
  GtkWidget *panel = g_object_ref_sink (dyno_preset_panel_new (setup));

  gtk_widget_show (panel);
  start (setup);
  g_autoptr (GPtrArray) combos = parts_find_all (panel, GTK_TYPE_COMBO_BOX_TEXT);
  GtkComboBoxText *preset = NULL, *level = NULL;
  for (guint i = 0; i < combos->len; i++)
    {
      if (g_strcmp0 (gtk_combo_box_get_active_id (combos->pdata[i]), "a100") == 0)
        preset = combos->pdata[i];
      g_autofree char *text = gtk_combo_box_text_get_active_text (combos->pdata[i]);
      if (g_strcmp0 (text, "Recommended") == 0)
        level = combos->pdata[i];
    }
  g_assert_true (preset && level);
  GtkTreeModel *levels = gtk_combo_box_get_model (GTK_COMBO_BOX (level));
  g_assert_cmpint (gtk_tree_model_iter_n_children (levels, NULL), ==, 3);
  for (guint i = 0; i < 2; i++)
    {
      dyno_setup_set_number (setup, "batch_size", 7 + i, NULL);
      dyno_setup_set_number (setup, "prefetch", 9 + i, NULL);
      g_autofree char *custom = gtk_combo_box_text_get_active_text (level);
      g_assert_cmpstr (custom, ==, "Custom");
      parts_assert_says (panel, "Batch size, Prefetch");
      gtk_combo_box_set_active (GTK_COMBO_BOX (level), DYNO_LEVEL_SAFE);
      g_assert_cmpint (dyno_setup_get_level (setup), ==, DYNO_LEVEL_SAFE);
      g_assert_cmpint (gtk_tree_model_iter_n_children (levels, NULL), ==, 3);
      parts_assert_says_not (panel, "Batch size, Prefetch");
      gtk_combo_box_set_active (GTK_COMBO_BOX (level), DYNO_LEVEL_RECOMMENDED);
    }
  parts_assert_says (panel, "Ampere");
  gtk_combo_box_set_active_id (GTK_COMBO_BOX (preset), "t4");
  g_assert_cmpstr (get_preset (setup), ==, "t4");
  parts_assert_says_not (panel, "Ampere");
  g_assert_true (dyno_setup_step (setup, TRUE));
  g_assert_cmpstr (gtk_combo_box_get_active_id (GTK_COMBO_BOX (preset)), ==, "a100");
  parts_assert_says (panel, "Ampere");
  g_object_unref (panel);
  drop (setup);
}

/* --- obstacles -------------------------------------------------------------------------------- */

static void
assert_start (DynoSetup *setup, const char *expected)
{
  g_autofree char *obstacle = dyno_obstacle_to_start (setup);

  g_assert_cmpstr (obstacle, ==, expected);
}

static void
assert_change (DynoSetup *setup, const char *key, const char *expected)
{
  g_autofree char *obstacle = dyno_obstacle_to_change (setup, dyno_setting_find (key));

  g_assert_cmpstr (obstacle, ==, expected);
}

static void
open (DynoSetup *setup, const char *location)
{
  dyno_setup_open_data (setup, location);
  parts_wait (is_open, setup);
}

static void
test_why_a_run_cannot_start (void)
{
  DynoSetup *setup = new_setup ();
  gboolean passes = FALSE;
  guint flags = 0;

  assert_start (setup, "Looking for devices…");
  g_free (dyno_obstacle_of (setup, DYNO_OBSTACLE_DEVICE, &passes));
  g_assert_true (passes);
  g_signal_connect (setup, "changed", G_CALLBACK (collect_flags), &flags);
  start (setup);
  g_assert_cmpuint (flags & DYNO_SETUP_DEVICES, !=, 0);
  assert_start (setup, "Choose a data set first.");
  g_free (dyno_obstacle_of (setup, DYNO_OBSTACLE_DATA, &passes));
  g_assert_false (passes);
  dyno_setup_open_data (setup, "builtin:shapes?size=16&samples=64&classes=3");
  assert_start (setup, "The data set is being opened.");
  g_free (dyno_obstacle_of (setup, DYNO_OBSTACLE_DATA, &passes));
  g_assert_true (passes);
  dyno_setup_cancel_open (setup);
  assert_start (setup, "Choose a data set first.");
  dyno_setup_set_work (setup, DYNO_SETUP_MEASURES);
  g_assert_false (dyno_setup_changes_run (setup));
  dyno_setup_open_data (setup, "builtin:waves");
  assert_start (setup, "Choose a data set first.");
  /* During a run another data set is opened for the next run. */
  dyno_setup_set_work (setup, DYNO_SETUP_TRAINS);
  dyno_setup_set_changes_run (setup, TRUE);
  g_assert_true (dyno_setup_changes_run (setup));
  dyno_setup_open_data (setup, "builtin:waves");
  assert_start (setup, "The data set is being opened.");
  g_assert_false (dyno_setup_changes_run (setup));
  dyno_setup_cancel_open (setup);
  dyno_setup_set_work (setup, DYNO_SETUP_IDLE);
  flags = 0;
  open (setup, "builtin:shapes?size=16&samples=64&classes=3");
  g_autofree char *data = dyno_obstacle_of (setup, DYNO_OBSTACLE_DATA, &passes);
  g_assert_null (data);
  g_assert_cmpuint (flags & (DYNO_SETUP_DATASET | DYNO_SETUP_SETTINGS), ==,
                    DYNO_SETUP_DATASET | DYNO_SETUP_SETTINGS);
  /* A data set that cannot be opened leaves the one before. */
  open (setup, "/nowhere/at/all");
  g_assert_cmpuint (dyno_setup_get_info (setup)->n_samples, ==, 64);
  g_assert_cmpstr (dyno_setup_get_job (setup)->data, ==,
                   "builtin:shapes?size=16&samples=64&classes=3");
  /* That of a job leaves none, since its settings are not for the data set before; also the second
   * time, and not where the user has opened one meanwhile. */
  for (guint i = 0; i < 3; i++)
    {
      g_autoptr (DynoJob) job = dyno_job_new ();
      job->data = g_strdup ("/nowhere/at/all");
      dyno_setup_set_job (setup, job);
      if (i == 2)
        dyno_setup_open_data (setup, "/nowhere/else");
      parts_wait (is_open, setup);
      g_assert_true ((dyno_setup_get_info (setup) != NULL) == (i == 2));
      g_assert_cmpstr (dyno_setup_get_job (setup)->data, ==, i == 2 ? "builtin:waves" : NULL);
      assert_start (setup, i == 2 ? NULL : "Choose a data set first.");
      open (setup, "builtin:waves");
      g_assert_nonnull (dyno_setup_get_info (setup));
    }
  /* One that was opened for a job stays where a setting of the user cannot be applied to it. */
  static const guint8 y[] = { 0, 1, 0, 1 };
  g_autofree char *folder = g_build_filename (g_get_home_dir (), "for a job", NULL);
  g_autoptr (DynoJob) job = dyno_job_new ();
  arrays_write (folder, "X.npy", "|u1", "(4, 3, 6, 5)", NULL, 4 * 3 * 6 * 5);
  arrays_write (folder, "y.npy", "|u1", "(4,)", y, sizeof y);
  job->data = g_strdup (folder);
  dyno_setup_set_job (setup, job);
  parts_wait (is_open, setup);
  g_assert_nonnull (dyno_setup_get_info (setup));
  dyno_setup_set_number (setup, "data.group_column", g_quark_from_string ("person"), NULL);
  parts_wait (is_open, setup);
  g_assert_nonnull (dyno_setup_get_info (setup));
  drop (setup);
}

static void
test_why_a_setting_has_no_effect (void)
{
  DynoSetup *setup = new_setup ();

  assert_change (setup, "lr", NULL);
  assert_change (setup, "momentum", NULL);
  dyno_setup_set_number (setup, "optimizer", 2, NULL);
  dyno_setup_set_number (setup, "optimizer", 1, NULL);
  g_autofree char *momentum = dyno_obstacle_to_change (setup, dyno_setting_find ("momentum"));
  g_assert_true (momentum
                 && g_str_has_prefix (momentum, "Has an effect only where “Optimizer” is "));
  assert_change (setup, "model.dropout", "This model has no dropout layer.");
  assert_change (setup, "model.stochastic_depth", "This model has no stochastic depth.");
  assert_change (setup, "data.val_split", NULL);
  dyno_setup_set_number (setup, "data.folds", 2, NULL);
  assert_change (setup, "data.val_split", "The folds say which samples validate.");
  dyno_setup_set_number (setup, "data.folds", 0, NULL);
  open (setup, "builtin:shapes?size=16&samples=64");
  assert_change (setup, "loss.smooth_l1",
                 "Has an effect only where values are predicted, and this "
                 "data set has classes.");
  assert_change (setup, "loss.dice",
                 "Has an effect only where each pixel has a class, and this data "
                 "set has no masks.");
  assert_change (setup, "label_smoothing", NULL);
  assert_change (setup, "image_size", NULL);
  open (setup, "builtin:waves");
  assert_change (setup, "image_size", "Samples of this data set have one fixed size.");
  open (setup, "builtin:poses?samples=64");
  assert_change (setup, "loss.smooth_l1", NULL);
  assert_change (setup, "label_smoothing",
                 "Has an effect only where classes are told apart, and "
                 "this data set has values.");
  drop (setup);
}

/* Data with parts of their own refuse settings that divide them; a test share that is set can be
 * cleared. */
static void
test_obstacles_of_data_with_own_parts (void)
{
  static const char own[] = "This data set brings its own validation part.";
  static const char *const keys[] = { "data.val_split", "data.folds", "data.fold" };
  g_autofree char *path = g_build_filename (g_get_home_dir (), "own parts.csv", NULL);
  g_autoptr (GString) text = g_string_new ("label,pixels,split\n");
  DynoSetup *setup = new_setup ();

  for (guint i = 0; i < 20; i++)
    {
      g_string_append_printf (text, "%u,%u", i % 2, i);
      for (guint k = 1; k < 64; k++)
        g_string_append_printf (text, " %u", (i + k) % 256);
      g_string_append (text, i % 5 ? ",train\n" : ",val\n");
    }
  g_assert_true (g_file_set_contents (path, text->str, -1, NULL));
  start (setup);
  open (setup, path);
  for (guint i = 0; i < 2; i++)
    {
      for (guint k = 0; k < G_N_ELEMENTS (keys); k++)
        assert_change (setup, keys[k], own);
      assert_change (setup, "data.test_split", own);
      g_assert_true (dyno_setup_set_number (setup, "data.test_split", 0.25, NULL));
      assert_change (setup, "data.test_split", NULL);
      for (guint k = 0; k < G_N_ELEMENTS (keys); k++)
        assert_change (setup, keys[k], own);
      g_assert_true (dyno_setup_set_number (setup, "data.test_split", 0, NULL));
    }
  drop (setup);
}

/* --- the steps above a run -------------------------------------------------------------------- */

static void
assert_step (DynoSetupStepKind kind, DynoSetup *setup, DynoDataInspector *inspector,
             DynoPathCheck *paths, const char *value, const char *whole, DynoStepState state)
{
  g_autoptr (DynoSetupStep) step = dyno_setup_steps_look (kind, setup, inspector, paths);
  g_auto (GStrv) parts = g_strsplit (step->value, "\302\240", -1);
  g_autofree char *plain = g_strjoinv (" ", parts);

  g_assert_cmpstr (plain, ==, value);
  g_assert_cmpstr (step->whole, ==, whole);
  g_assert_cmpint (dyno_setup_step_get_state (step), ==, state);
}

static gboolean
is_known (gpointer paths)
{
  return dyno_path_check_is_known (paths);
}

static void
test_steps_show_the_present_choices (void)
{
  DynoSetup *setup = new_setup ();
  DynoDataInspector *inspector = dyno_data_inspector_new (setup);
  DynoPathCheck *paths = dyno_path_check_new ();
  g_autofree char *inside = g_build_filename (g_get_home_dir (), "runs", NULL),
                  *beside = g_strconcat (g_get_home_dir (), "-runs", NULL),
                  *file = g_build_filename (g_get_home_dir (), "file", NULL);

#define STEP(kind, value, whole, state) \
  assert_step (DYNO_SETUP_STEP_##kind, setup, inspector, paths, value, whole, DYNO_STEP_##state)
  STEP (DATA, "None chosen", NULL, BLOCKED);
  STEP (MODEL, "SimpleCNN", NULL, READY);
  STEP (WEIGHTS, "Random values", NULL, READY);
  dyno_setup_open_data (setup, "builtin:shapes?size=16&samples=1200");
  STEP (DATA, "Shapes", NULL, PENDING);
  parts_wait (is_open, setup);
  g_autoptr (DynoSetupStep) data =
      dyno_setup_steps_look (DYNO_SETUP_STEP_DATA, setup, inspector, paths);
  g_assert_cmpstr (data->value, ==, "Shapes, 1,200 of 16\302\240×\302\24016\302\240×\302\2403");
  g_assert_null (data->whole);
  dyno_setup_set_weights (setup, "/nowhere/w.pth");
  dyno_path_check_ask (paths, inside, "/nowhere/w.pth");
  STEP (WEIGHTS, "w.pth", "/nowhere/w.pth", PENDING);
  STEP (FOLDER, "~/runs", inside, PENDING);
  parts_wait (is_known, paths);
  STEP (WEIGHTS, "w.pth", "/nowhere/w.pth", WARNING);
  STEP (FOLDER, "~/runs", inside, READY);
  dyno_setup_set_weights (setup, NULL);
  STEP (WEIGHTS, "Random values", NULL, READY);
  g_assert_true (g_file_set_contents (file, "x", 1, NULL));
  dyno_path_check_ask (paths, file, NULL);
  parts_wait (is_known, paths);
  STEP (FOLDER, "~/file", file, BLOCKED);
  /* A folder whose name only begins like the home folder's is not in it. */
  dyno_path_check_ask (paths, beside, NULL);
  parts_wait (is_known, paths);
  STEP (FOLDER, beside, beside, READY);
#undef STEP
  g_object_unref (inspector);
  g_object_unref (paths);
  drop (setup);
}

void
parts_add_settings (void)
{
  g_test_add_func ("/ui/parts/controls-of-numbers", test_controls_of_numbers);
  g_test_add_func ("/ui/parts/controls-of-choices-and-texts", test_controls_of_choices_and_texts);
  g_test_add_func ("/ui/parts/settings-by-hand-stay", test_settings_by_hand_stay);
  g_test_add_func ("/ui/parts/what-counts-as-by-hand", test_what_counts_as_by_hand);
  g_test_add_func ("/ui/parts/the-first-start-is-small", test_the_first_start_is_small);
  g_test_add_func ("/ui/parts/the-start-after-the-first-is-small",
                   test_the_start_after_the_first_is_small);
  g_test_add_func ("/ui/parts/read-settings-are-not-made-small",
                   test_read_settings_are_not_made_small);
  g_test_add_func ("/ui/parts/obstacles-of-data-with-own-parts",
                   test_obstacles_of_data_with_own_parts);
  g_test_add_func ("/ui/parts/kept-settings-come-back", test_kept_settings_come_back);
  g_test_add_func ("/ui/parts/weights-go-with-their-model", test_weights_go_with_their_model);
  g_test_add_func ("/ui/parts/a-job-is-taken-whole", test_a_job_is_taken_whole);
  g_test_add_func ("/ui/parts/the-preset-panel-follows", test_the_preset_panel_follows);
  g_test_add_func ("/ui/parts/why-a-run-cannot-start", test_why_a_run_cannot_start);
  g_test_add_func ("/ui/parts/why-a-setting-has-no-effect", test_why_a_setting_has_no_effect);
  g_test_add_func ("/ui/parts/steps-show-the-present-choices", test_steps_show_the_present_choices);
}
