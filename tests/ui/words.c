/* SPDX-License-Identifier: MIT */
/* Texts that the window shows and stores, tested without a display: numbers, also beside
 * right-to-left text, names of runs and their order in the list, settings by their titles, advice
 * and errors, undo and redo. */
#include "format.h"
#include "runlist.h"
#include "runresume.h"
#include "settingcontrol.h"
#include "settingtitles.h"
#include "setuphistory.h"
#include "stageorder.h"
#include "words.h"
#include <glib/gstdio.h>
#include <gtk/gtk.h>
#include <math.h>
#include <string.h>

/* The x position of a part of the text in a line of that direction, as it is drawn. */
static int
find_x (PangoDirection direction, const char *text, const char *part)
{
  PangoContext *context = pango_font_map_create_context (pango_cairo_font_map_get_default ());
  PangoLayout *layout;
  PangoRectangle at;
  const char *found = strstr (text, part);

  g_assert_nonnull (found);
  pango_context_set_base_dir (context, direction);
  layout = pango_layout_new (context);
  pango_layout_set_text (layout, text, -1);
  pango_layout_index_to_pos (layout, (int) (found - text), &at);
  g_object_unref (layout);
  g_object_unref (context);
  return at.x;
}

#define assert_order(text, first, then)                          \
  g_assert_cmpint (find_x (PANGO_DIRECTION_RTL, text, first), <, \
                   find_x (PANGO_DIRECTION_RTL, text, then))

static void
test_units_stand_at_their_right (void)
{
  const DynoMetricInfo metric = { .format = DYNO_METRIC_NUMBER, .unit = "degrees" };
  gtk_widget_set_default_direction (GTK_TEXT_DIR_RTL);
  g_autofree char *percent = dyno_format_percent (0.675), *share = dyno_format_share (0.43),
                  *bytes = dyno_format_bytes (3 << 20), *size = dyno_format_size (64, 48, 3),
                  *ms = dyno_format_ms (12.4), *rate = dyno_format_throughput (35.4),
                  *degrees = dyno_format_metric (&metric, 2.31),
                  *factor = dyno_format_isolate (g_strdup ("3.4\303\227"));
  gtk_widget_set_default_direction (GTK_TEXT_DIR_LTR);
  g_autofree char *plain = dyno_format_percent (0.675);
  assert_order (percent, "6", "%");
  assert_order (share, "4", "%");
  assert_order (size, "64", "48");
  assert_order (degrees, "2", "\302\260");
  assert_order (factor, "4", "\303\227");
  const char *const parts[][3] = {
    { percent, "6", "%" }, { bytes, "3", "MiB" }, { ms, "1", "ms" }, { rate, "3", "s/s" }
  };
  for (gsize i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      g_autofree char *whole = g_strdup_printf ("\327\251\327\234\327\225\327\235 %s "
                                                "\327\251\327\234\327\225\327\235",
                                                parts[i][0]);
      assert_order (whole, parts[i][1], parts[i][2]);
    }
  g_assert_cmpstr (plain, ==, "67.5 %"); /* no isolates are added where none are needed */
  /* Without isolates, a right-to-left line draws the unit left of its number. */
  g_assert_cmpint (find_x (PANGO_DIRECTION_RTL, plain, "%"), <,
                   find_x (PANGO_DIRECTION_RTL, plain, "6"));
}

static void
check_titles (const char *text, const char *expected)
{
  g_autofree char *put = dyno_setting_titles_put (text);

  g_assert_cmpstr (put, ==, expected);
}

static void
test_keys_become_titles (void)
{
  check_titles (NULL, NULL);
  check_titles ("Set workers=8 (about +40 %)", "Set “Workers: 8” (about +40 %)");
  check_titles ("Take a lower lr (0.005), a longer warm-up or clip_norm=1; see whether amp=false "
                "holds.",
                "Take a lower “Learning rate” (0.005), a longer warm-up or “Gradient clipping: 1”; "
                "see whether “Mixed precision (AMP): off” holds.");
  check_titles ("a small batch and model.width below 1", "a small batch and “Model width” below 1");
  check_titles ("lr=1e-4 or so", "“Learning rate: 0.0001” or so");
  check_titles ("Set data.val_split=0.1.", "Set “Validation share: 0.1”.");
  check_titles ("设置 model.width；lr=0.5。", "设置 “Model width”；“Learning rate: 0.5”。");
  /* Ordinary words, files, options and quoted text stay as they are. */
  check_titles ("64 workers share 2 cores; cache, seed", "64 workers share 2 cores; cache, seed");
  check_titles ("lr/2, model.width/lr", "lr/2, model.width/lr");
  check_titles ("/data/lr/model.width.csv --device", "/data/lr/model.width.csv --device");
  check_titles ("There is no “lr_rate”: “lr”?", "There is no “lr_rate”: “lr”?");
  check_titles ("workers=many, batch_sizes=3", "workers=many, batch_sizes=3");
}

static void
check_name (const char *name, const char *folder, const char *begin)
{
  g_autoptr (DynoStoredRun) run = dyno_stored_run_new ();
  g_autoptr (GDateTime) noon = g_date_time_new_local (2001, 2, 3, 12, 34, 5);
  g_autofree char *said = NULL;

  run->name = g_strdup (name);
  run->folder = g_strdup (folder);
  run->model = g_strdup ("mlp");
  run->data = g_strdup ("builtin:shapes?size=16");
  run->begin_us = g_date_time_to_unix (noon) * G_USEC_PER_SEC;
  said = dyno_words_run (run);
  if (!g_str_has_prefix (said, begin))
    g_error ("“%s” does not begin with “%s”", said, begin);
  g_assert_cmpint (g_str_has_suffix (said, " 12:34"), ==, g_str_has_prefix (begin, "MLP"));
}

static void
test_runs_without_a_name_say_what_and_when (void)
{
  check_name (NULL, "/runs/2001-02-03_12-34-05", "MLP on Shapes, ");
  check_name (NULL, "/runs/2001-02-03_12-34-05_2", "MLP on Shapes, ");
  check_name (NULL, "/runs/mlp-shapes-2", "MLP on Shapes, "); /* as the queue names folders */
  check_name (NULL, "/runs/mlp-shapes", "mlp-shapes");
  check_name (NULL, NULL, "MLP on Shapes, ");
  check_name ("the slower one", "/runs/2001-02-03_12-34-05", "the slower one");
  check_name (NULL, "/work/baseline", "baseline"); /* a name that the user gave */
}

static DynoStoredRun *
add_ended (GPtrArray *runs, DynoRunState state, const char *folder)
{
  DynoStoredRun *run = dyno_stored_run_new ();
  run->state = state;
  run->folder = g_strdup (folder);
  run->uid = runs->len + 1;
  run->model = g_strdup ("mlp");
  run->data = g_strdup ("builtin:shapes");
  g_ptr_array_add (runs, run);
  return run;
}

/* The newest interrupted run with a checkpoint is found, unless it is as old as one that was
 * dismissed. */
static void
test_an_interrupted_run_is_found (void)
{
  g_autoptr (GPtrArray) runs =
      g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_stored_run_free);
  g_autofree char *folder = g_dir_make_tmp ("dyno-XXXXXX", NULL),
                  *empty = g_dir_make_tmp ("dyno-XXXXXX", NULL),
                  *path = g_build_filename (folder, "checkpoint.safetensors", NULL);
  g_autoptr (DynoJob) job = NULL;

  g_assert_true (g_file_set_contents (path, "", 0, NULL));
  add_ended (runs, DYNO_RUN_STATE_RUNNING, folder);
  add_ended (runs, DYNO_RUN_STATE_FAILED, folder);
  add_ended (runs, DYNO_RUN_STATE_KILLED, NULL);
  add_ended (runs, DYNO_RUN_STATE_KILLED, empty);
  g_assert_null (dyno_run_find_interrupted (runs, 0));
  add_ended (runs, DYNO_RUN_STATE_KILLED, folder);
  add_ended (runs, DYNO_RUN_STATE_KILLED, folder);
  g_assert_true (dyno_run_find_interrupted (runs, 0) == runs->pdata[4]);
  g_assert_true (dyno_run_find_interrupted (runs, 6) == runs->pdata[4]); /* an older one */
  g_assert_null (dyno_run_find_interrupted (runs, 5));
  g_assert_null (dyno_run_find_interrupted (runs, 2));
  job = dyno_run_get_resuming_job (runs->pdata[4]);
  g_assert_cmpstr (job->resume, ==, folder);
  g_assert_cmpstr (job->out_dir, ==, folder);
  g_unlink (path);
  g_rmdir (folder);
  g_rmdir (empty);
}

static void
test_runs_that_ended_early_say_how (void)
{
  g_autoptr (GPtrArray) runs =
      g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_stored_run_free);
  DynoStoredRun *run = add_ended (runs, DYNO_RUN_STATE_KILLED, NULL);
  g_autofree char *first = NULL, *third = NULL, *last = NULL;

  g_assert_cmpstr (dyno_words_run_state (run), ==, "Interrupted");
  run->settings.epochs = 10;
  first = dyno_words_interruption (run);
  g_assert_cmpstr (first, ==, "Interrupted: epoch 1 of 10");
  run->epochs = 2; /* complete epochs */
  third = dyno_words_interruption (run);
  g_assert_cmpstr (third, ==, "Interrupted: epoch 3 of 10");
  run->epochs = 10; /* all epochs were trained, but not all were saved */
  last = dyno_words_interruption (run);
  g_assert_cmpstr (last, ==, "Interrupted: epoch 10 of 10");
  run->state = DYNO_RUN_STATE_FAILED;
  g_assert_cmpstr (dyno_words_run_state (run), ==, "Failed");
}

static void
check (char *text, const char *expected)
{
  g_assert_cmpstr (text, ==, expected);
  g_free (text);
}

/* Neither the 88 % of a preparation nor the 0 % of a run without a step is a progress of the
 * run. */
static void
test_a_preparation_is_no_part_of_a_run (void)
{
  DynoRunStatus status = { .state = DYNO_SESSION_PREPARING, .fraction = 0.25 };

  check (dyno_words_run_progress (&status), "Preparing");
  status.progress = "kernels";
  status.progress_fraction = 0.88;
  check (dyno_words_run_progress (&status), "Preparing");
  g_assert_cmpfloat (dyno_words_run_fraction (&status), ==, 0);
  status.state = DYNO_SESSION_RUNNING;
  check (dyno_words_run_progress (&status), "Preparing");
  status.progress = NULL;
  check (dyno_words_run_progress (&status), "Preparing");
  status.n_steps = 1;
  check (dyno_words_run_progress (&status), "25 %");
  g_assert_cmpfloat (dyno_words_run_fraction (&status), ==, 0.25);
  status.state = DYNO_SESSION_PAUSED;
  check (dyno_words_run_progress (&status), "Paused");
  status.state = DYNO_SESSION_FAILED;
  check (dyno_words_run_progress (&status), "Failed");
}

static void
test_result_on_the_test_part (void)
{
  DynoRunStatus status = { .state = DYNO_SESSION_FINISHED,
                           .metrics = { .n = 1, .infos = { dyno_cross_entropy_metrics[0] } } };

  g_assert_null (dyno_words_run_test (&status));
  status.test = (DynoTestResult){ .n_samples = 1300, .loss = 0.25, .metrics = { 0.9711 } };
  check (dyno_words_run_test (&status),
         "Test: Accuracy 97.1 % on 1,300 samples that the training has not seen");
  status.test.n_samples = 1;
  status.test.metrics[0] = (double) NAN;
  check (dyno_words_run_test (&status),
         "Test: Loss 0.2500 on 1 sample that the training has not seen");
}

#define NBSP "\302\240"
#define NONE "\342\200\223"

static void
test_numbers_have_useful_digits (void)
{
  check (dyno_format_ms (9.994), "9.99 ms");
  check (dyno_format_ms (10), "10.0 ms");
  check (dyno_format_ms (100), "100 ms");
  check (dyno_format_ms (99.96), "100 ms");
  check (dyno_format_ms (999.4), "999 ms");
  check (dyno_format_ms (999.6), "1.00 s");
  check (dyno_format_ms (5089), "5.09 s");
  check (dyno_format_ms (9999), "10.0 s");
  check (dyno_format_ms (167000), "167 s");
  check (dyno_format_ms (0), "0.00 ms");
  check (dyno_format_ms (-1), NONE);
  check (dyno_format_value (1e6), "1.00e6");
  check (dyno_format_value (-2.5e7), "-2.50e7");
  check (dyno_format_value (99e-6), "9.90e-5");
  check (dyno_format_value (1e-4), "0.0001");
  check (dyno_format_value (1000), "1000");
  check (dyno_format_value (100), "100.0");
  check (dyno_format_value (10), "10.00");
  check (dyno_format_value (1), "1.000");
  check (dyno_format_value (0), "0.0000");
  check (dyno_format_value (NAN), NONE);
  check (dyno_format_share (0.43), "43 %");
  check (dyno_format_percent (0.43), "43.0 %");
  check (dyno_format_percent (INFINITY), NONE);
  check (dyno_format_count (42), "42");
  check (dyno_format_count (12345), "12,345");
  check (dyno_format_rate (0), NONE);
  check (dyno_format_rate (4.2), "4.20");
  check (dyno_format_rate (156.4), "156");
  check (dyno_format_rate (12345), "12,300");
  check (dyno_format_rate (999.6), "1,000");
  check (dyno_format_rate (INFINITY), NONE);
  check (dyno_format_span (0), "0:00");
  check (dyno_format_span (3725), "1:02:05");
  check (dyno_format_span (NAN), NONE);
  check (dyno_format_span (1e9), NONE);
  check (dyno_format_size (64, 48, 3), "64" NBSP "\303\227" NBSP "48" NBSP "\303\227" NBSP "3");
}

static void
test_measures_have_their_unit (void)
{
  const DynoMetricInfo angle = { .format = DYNO_METRIC_NUMBER, .unit = "degrees" },
                       share = { .format = DYNO_METRIC_FRACTION, .unit = "mm" };
  g_autoptr (DynoStoredRun) run = dyno_stored_run_new ();

  check (dyno_format_metric (&angle, 2.31), "2.310\302\260");
  check (dyno_format_metric (&angle, NAN), NONE);
  check (dyno_format_metric (&share, 0.5), "50.0 %");
  run->best_metric = 0.5;
  run->metric_is_fraction = TRUE;
  check (dyno_format_best (run), "50.0 %");
  run->metric_is_fraction = FALSE;
  run->metric_unit = g_strdup ("mm");
  check (dyno_format_best (run), "0.5000" NBSP "mm");
  run->best_metric = NAN;
  check (dyno_format_best (run), NONE);
}

/* A day of the previous year is at no time today or yesterday. */
static void
test_a_day_has_its_year (void)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_local ();
  g_autoptr (GDateTime) first =
      g_date_time_new_local (g_date_time_get_year (now) - 2, 1, 1, 12, 34, 0);

  for (int day = -1; day <= 1; day++)
    {
      g_autoptr (GDateTime) then =
          g_date_time_add_days (first, g_date_time_get_day_of_year (now) - 1 + day);
      g_autofree char *expected = g_date_time_format (then, "%x 12:34");
      check (dyno_format_when (g_date_time_to_unix (then) * G_USEC_PER_SEC), expected);
    }
}

static void
test_settings_have_words_and_units (void)
{
  const DynoSettingInfo *budget = dyno_setting_find ("vram_budget"),
                        *clip = dyno_setting_find ("clip_norm");

  check (dyno_setting_control_describe (budget, 1.5 * 1024 * 1024 * 1024), "1.5 GiB");
  check (dyno_setting_control_describe (clip, 0), clip->zero);
  check (dyno_setting_control_describe (clip, 0.25), "0.25");
  check (dyno_setting_control_describe (dyno_setting_find ("lr"), 1e-4), "0.0001");
  check (dyno_setting_control_describe (dyno_setting_find ("batch_size"), 64), "64");
  check (dyno_setting_control_describe (dyno_setting_find ("amp"), 1), "on");
}

static void
test_data_is_named_without_its_sizes (void)
{
  check (dyno_words_data ("builtin:shapes?size=16&samples=100"), "Shapes");
  check (dyno_words_data ("builtin:waves"), "Waves");
  check (dyno_words_data ("builtin:masks?size=32"), "Masks");
  check (dyno_words_data ("synthetic:64x64x3"), "Noise");
  check (dyno_words_data ("/data/is it?"), "is it?"); /* a path has no options */
  check (dyno_words_data (""), "");
}

static void
test_advice_is_what_fits (void)
{
  DynoSettings settings;
  DynoJobPlan plan = { .fits = FALSE, .limit_bytes = 2 << 20, .fitting_batch = 31 };

  dyno_settings_init (&settings);
  settings.checkpointing = FALSE;
  plan.plan.total_bytes = 3 << 20;
  check (dyno_words_plan_advice (&settings, &plan),
         "1.00" NBSP "MiB more than the 2.00" NBSP "MiB there are. A batch size of 24 fits; "
         "accumulation keeps the effective batch.");
  plan.fits_checkpointed = TRUE;
  check (dyno_words_plan_advice (&settings, &plan),
         "1.00" NBSP "MiB more than the 2.00" NBSP "MiB there are. A batch size of 24 fits; so "
         "does this one with activation checkpointing.");
  plan.fitting_batch = 0;
  check (dyno_words_plan_advice (&settings, &plan),
         "1.00" NBSP "MiB more than the 2.00" NBSP "MiB there are. It fits with activation "
         "checkpointing.");
  settings.checkpointing = TRUE;
  check (dyno_words_plan_advice (&settings, &plan),
         "1.00" NBSP "MiB more than the 2.00" NBSP "MiB there are. No batch size fits: choose "
         "smaller images or a smaller model.");
  plan.plan.total_bytes = plan.limit_bytes;
  plan.plan.largest_bytes = 1 << 20;
  plan.plan.buffer_bytes = 1 << 19;
  check (dyno_words_plan_advice (&settings, &plan),
         "One buffer of 1.00" NBSP "MiB is needed, and the largest that this device can have is "
         "512" NBSP "KiB: choose a smaller batch, smaller images or a smaller model.");
  plan.fits = TRUE;
  plan.batch_size = 60;
  plan.n_train = 60;
  settings.batch_size = 4000;
  check (dyno_words_plan_advice (&settings, &plan),
         "The training part has only 60 samples: a batch size of 60 will run.");
  g_assert_cmpint (dyno_words_better_batch (&settings, &plan), ==, 60);
  settings.batch_size = 60;
  g_assert_cmpint (dyno_words_better_batch (&settings, &plan), ==, 0);
  plan.fits = FALSE;
  plan.fitting_batch = 31;
  g_assert_cmpint (dyno_words_better_batch (&settings, &plan), ==, 24);
  plan.fits = TRUE;
  plan.batch_size = settings.batch_size;
  plan.n_train = 1234;
  g_assert_null (dyno_words_plan_advice (&settings, &plan));
  plan.n_train = plan.batch_size = 20;
  check (dyno_words_plan_advice (&settings, &plan),
         "The training part has only 20 samples: a batch size of 20 will run.");
  const int batches[][2] = { { 15, 15 }, { 16, 16 }, { 23, 16 }, { 24, 24 } };
  for (gsize i = 0; i < G_N_ELEMENTS (batches); i++)
    {
      plan.fitting_batch = batches[i][0];
      g_assert_cmpint (dyno_words_fitting_batch (&plan), ==, batches[i][1]);
    }
}

static void
test_errors_name_a_next_step (void)
{
  const struct {
    GQuark domain;
    int code;
    const char *title, *step;
  } errors[] = {
    { DYNO_DATA_ERROR, DYNO_DATA_ERROR_NOT_FOUND, "The data set cannot be used",
      "Choose a folder" },
    { DYNO_DATA_ERROR, DYNO_DATA_ERROR_READ, "The data set cannot be used", "Choose a folder" },
    { DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNREACHABLE, "The data set cannot be used",
      "Connect the disk" },
    { DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE, "The data set cannot be used", NULL },
    { DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DIVERGED, "The training diverged",
      "Try a lower learning rate" },
    { DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_OUTPUT, "The run's folder cannot be written", NULL },
    { DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_PRESET, "The preset cannot be read", NULL },
    { G_IO_ERROR, G_IO_ERROR_FAILED, NULL, NULL },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (errors); i++)
    {
      g_autoptr (GError) error = g_error_new_literal (errors[i].domain, errors[i].code, "broken");
      const char *step = dyno_words_error_step (error);

      g_assert_cmpstr (dyno_words_error_title (error), ==, errors[i].title);
      g_assert_true (errors[i].step ? step && g_str_has_prefix (step, errors[i].step) : !step);
    }
}

static void
add_run (GPtrArray *runs, gint64 id, double best, const char *tags)
{
  DynoStoredRun *run = dyno_stored_run_new ();

  run->id = id;
  run->begin_us = id * G_USEC_PER_SEC;
  run->best_metric = best;
  run->tags = g_strdup (tags);
  g_ptr_array_add (runs, run);
}

static void
check_order (DynoRunList *list, int column, GtkSortType order, const gint64 *ids, guint n)
{
  GtkTreeIter iter;
  gboolean more;

  gtk_tree_sortable_set_sort_column_id (GTK_TREE_SORTABLE (list), column, order);
  more = gtk_tree_model_get_iter_first (GTK_TREE_MODEL (list), &iter);
  for (guint i = 0; i < n; i++)
    {
      const DynoStoredRun *run = NULL;

      g_assert_true (more);
      gtk_tree_model_get (GTK_TREE_MODEL (list), &iter, DYNO_RUN_LIST_RUN, &run, -1);
      g_assert_cmpint (run->id, ==, ids[i]);
      more = gtk_tree_model_iter_next (GTK_TREE_MODEL (list), &iter);
    }
  g_assert_false (more);
}

static void
keep_order (GtkTreeModel *model, GtkTreePath *path, GtkTreeIter *iter, int *before, int *kept)
{
  memcpy (kept, before, 4 * sizeof *kept);
}

static void
test_the_list_puts_what_is_unknown_last (void)
{
  g_autoptr (DynoRunList) list = dyno_run_list_new ();
  GPtrArray *runs = g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_stored_run_free);
  int before[4];

  add_run (runs, 1, 0.5, "good");
  add_run (runs, 2, (double) NAN, NULL);
  add_run (runs, 3, 0.5, "bad");
  add_run (runs, 4, 0.25, "");
  dyno_run_list_set_runs (list, runs);
  check_order (list, DYNO_RUN_LIST_BEGUN, GTK_SORT_DESCENDING, (gint64[]){ 4, 3, 2, 1 }, 4);
  g_signal_connect (list, "rows-reordered", G_CALLBACK (keep_order), before);
  check_order (list, DYNO_RUN_LIST_BEST, GTK_SORT_ASCENDING, (gint64[]){ 4, 3, 1, 2 }, 4);
  for (int i = 0; i < 4; i++)
    g_assert_cmpint (before[i], ==, ((const int[]){ 0, 1, 3, 2 })[i]);
  check_order (list, DYNO_RUN_LIST_BEST, GTK_SORT_DESCENDING, (gint64[]){ 3, 1, 4, 2 }, 4);
  check_order (list, DYNO_RUN_LIST_TAGS, GTK_SORT_ASCENDING, (gint64[]){ 3, 1, 4, 2 }, 4);
  check_order (list, DYNO_RUN_LIST_TAGS, GTK_SORT_DESCENDING, (gint64[]){ 1, 3, 4, 2 }, 4);
}

static void
test_the_list_tells_six_settings (void)
{
  static const char *const set[] = { "batch_size=48", "lr=0.5",       "epochs=77",
                                     "seed=9",        "momentum=0.5", "workers=3" };
  DynoSettings settings;

  dyno_settings_init (&settings);
  check (dyno_run_list_describe_settings (&settings), "");
  for (gsize i = 0; i < G_N_ELEMENTS (set); i++)
    {
      g_auto (GStrv) parts = g_strsplit (set[i], "=", 2);
      g_assert_true (dyno_settings_set (&settings, parts[0], parts[1], NULL));
    }
  g_autofree char *six = dyno_run_list_describe_settings (&settings);
  g_assert_nonnull (strstr (six, "Batch size 48, "));
  g_assert_null (strstr (six, "\342\200\246"));
  g_assert_true (dyno_settings_set (&settings, "clip_norm", "2", NULL));
  g_autofree char *seven = dyno_run_list_describe_settings (&settings);
  g_assert_true (g_str_has_suffix (seven, ", \342\200\246"));
}

static DynoSetupState *
make_state (guint device)
{
  DynoSetupState *state = g_new0 (DynoSetupState, 1);

  state->device = device;
  return state;
}

static void
check_step (DynoSetupHistory *history, gboolean undo, guint now, int expected)
{
  g_assert_cmpint (dyno_setup_history_can (history, undo), ==, expected >= 0);
  g_autoptr (DynoSetupState) state = dyno_setup_history_step (history, undo, make_state (now));
  g_assert_cmpint (state ? (int) state->device : -1, ==, expected);
}

static void
test_changes_are_undone_in_their_order (void)
{
  DynoSetupHistory *history = dyno_setup_history_new ();

  check_step (history, TRUE, 0, -1);
  dyno_setup_history_add (history, make_state (1), "lr", 0);
  dyno_setup_history_add (history, make_state (2), "epochs", 0);
  dyno_setup_history_add (history, make_state (3), NULL, 0);
  /* Changes that belong to no single setting are never merged. */
  dyno_setup_history_add (history, make_state (4), NULL, 0);
  check_step (history, FALSE, 5, -1);
  check_step (history, TRUE, 5, 4);
  check_step (history, TRUE, 4, 3);
  check_step (history, TRUE, 3, 2);
  check_step (history, FALSE, 2, 3);
  check_step (history, FALSE, 3, 4);
  check_step (history, TRUE, 4, 3);
  /* A new branch: the undone states are dropped. */
  dyno_setup_history_add (history, make_state (6), "lr", 0);
  check_step (history, FALSE, 7, -1);
  check_step (history, TRUE, 7, 6);
  check_step (history, FALSE, 6, 7);
  dyno_setup_history_add (history, make_state (8), "lr", 0); /* after undo and redo */
  check_step (history, TRUE, 9, 8);
  for (guint i = 100; i < 400; i++)
    dyno_setup_history_add (history, make_state (i), NULL, 0);
  for (guint i = 399; i >= 200; i--)
    check_step (history, TRUE, i + 1, (int) i);
  check_step (history, TRUE, 200, -1);
  dyno_setup_history_free (history);
}

/* Changes of one setting are one step as long as each follows the one before within a moment,
 * however long they take in all; with a change of another one in between they are not. */
static void
test_changes_in_quick_succession_are_one_step (void)
{
  static const gint64 begins_us[] = { 0, (gint64) 3600 * G_USEC_PER_SEC };
  DynoSetupHistory *history = dyno_setup_history_new ();

  for (guint i = 0; i < G_N_ELEMENTS (begins_us); i++)
    {
      gint64 t = begins_us[i];
      for (guint k = 0; k < 10; k++)
        dyno_setup_history_add (history, make_state (k), "lr", t += 700 * 1000);
      dyno_setup_history_add (history, make_state (20), "lr", t += 900 * 1000);
      dyno_setup_history_add (history, make_state (21), "epochs", t + 1);
      dyno_setup_history_add (history, make_state (22), "epochs", t + 2);
      dyno_setup_history_add (history, make_state (23), "lr", t + 3);
      dyno_setup_history_add (history, make_state (24), NULL, t + 4);
      dyno_setup_history_add (history, make_state (25), "lr", t + 5);
      static const guint states[] = { 25, 24, 23, 21, 20, 0 };
      for (guint k = 0; k < G_N_ELEMENTS (states); k++)
        check_step (history, TRUE, 30, (int) states[k]);
      check_step (history, TRUE, 30, -1);
    }
  dyno_setup_history_free (history);
}

static void
check_stands (const DynoStageOrder *order, const char *expected)
{
  static const char signs[] = ".o+x";
  char found[DYNO_N_TUNE_STAGES + 1] = "";
  for (guint i = 0; i < DYNO_N_TUNE_STAGES; i++)
    found[i] = signs[order->stands[i]];
  g_assert_cmpstr (found, ==, expected);
}

static void
test_stages_light_up_in_their_order (void)
{
  DynoStageOrder order;

  dyno_stage_order_begin (&order);
  check_stands (&order, "....");
  dyno_stage_order_work (&order, DYNO_TUNE_STAGE_DATA);
  check_stands (&order, "o...");
  dyno_stage_order_bring (&order, DYNO_TUNE_STAGE_DATA);
  check_stands (&order, "o...");
  dyno_stage_order_work (&order, DYNO_TUNE_STAGE_DEVICE);
  check_stands (&order, "+o..");
  dyno_stage_order_work (&order, DYNO_TUNE_STAGE_DATA); /* a return to an earlier stage */
  check_stands (&order, "+o..");
  dyno_stage_order_work (&order, DYNO_TUNE_STAGE_SEARCH);
  check_stands (&order, "+xo.");
  dyno_stage_order_bring (&order, DYNO_TUNE_STAGE_DEVICE); /* a result that comes late */
  check_stands (&order, "++o.");
  dyno_stage_order_bring (&order, DYNO_TUNE_STAGE_SEARCH);
  dyno_stage_order_work (&order, DYNO_TUNE_STAGE_PROOF);
  check_stands (&order, "+++o");
  dyno_stage_order_end (&order); /* the last stage has no result */
  check_stands (&order, "+++x");
  dyno_stage_order_begin (&order);
  /* Data without a loader have no data stage. */
  dyno_stage_order_work (&order, DYNO_TUNE_STAGE_DEVICE);
  check_stands (&order, ".o..");
  dyno_stage_order_end (&order);
  check_stands (&order, ".x..");
}

static void
test_runs_are_found_by_any_word (void)
{
  g_autoptr (GPtrArray) runs =
      g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_stored_run_free);
  DynoStoredRun *run = add_ended (runs, DYNO_RUN_STATE_FINISHED, NULL);

  run->name = g_strdup ("The slower one");
  run->tags = g_strdup ("baseline, night");
  g_assert_true (dyno_run_list_matches (run, "SLOWER"));
  g_assert_true (dyno_run_list_matches (run, "mlp"));
  g_assert_true (dyno_run_list_matches (run, "shap"));
  g_assert_true (dyno_run_list_matches (run, "night"));
  g_assert_true (dyno_run_list_matches (run, "night  slower mlp "));
  g_assert_true (dyno_run_list_matches (run, "finished"));
  g_assert_false (dyno_run_list_matches (run, "faster"));
  g_assert_false (dyno_run_list_matches (run, "slower faster"));
}

/* names: a letter for each listed run, in the order of the list */
static void
check_listed (DynoRunList *list, const char *names)
{
  g_autoptr (GString) found = g_string_new (NULL);
  for (guint row = 0; row < dyno_run_list_get_length (list); row++)
    g_string_append (found, dyno_run_list_get (list, row)->name);
  g_assert_cmpstr (found->str, ==, names);
  g_assert_cmpint (gtk_tree_model_iter_n_children (GTK_TREE_MODEL (list), NULL), ==,
                   (int) strlen (names));
}

static GPtrArray *
make_named (const char *const *names, const char *const *tags, guint n)
{
  GPtrArray *runs = g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_stored_run_free);
  for (guint i = 0; i < n; i++)
    {
      DynoStoredRun *run = add_ended (runs, DYNO_RUN_STATE_FINISHED, NULL);
      run->name = g_strdup (names[i]);
      run->tags = g_strdup (tags[i]);
    }
  return runs;
}

static void
test_the_list_has_runs_of_the_words (void)
{
  static const char *const names[] = { "c", "a", "d", "b" }, *const tags[] = { "night", "day",
                                                                               "night", "NIGHT" };
  g_autoptr (DynoRunList) list = dyno_run_list_new ();
  GtkTreeSortable *sortable = GTK_TREE_SORTABLE (list);

  gtk_tree_sortable_set_sort_column_id (sortable, DYNO_RUN_LIST_TITLE, GTK_SORT_ASCENDING);
  dyno_run_list_set_runs (list, make_named (names, tags, 3));
  check_listed (list, "acd");
  dyno_run_list_set_words (list, "night");
  check_listed (list, "cd");
  g_assert_cmpint (dyno_run_list_get_n_runs (list), ==, 3);
  gtk_tree_sortable_set_sort_column_id (sortable, DYNO_RUN_LIST_TITLE, GTK_SORT_DESCENDING);
  check_listed (list, "dc");
  dyno_run_list_set_runs (list, make_named (names, tags, 4)); /* the words stay */
  check_listed (list, "dcb");
  dyno_run_list_set_words (list, "day");
  check_listed (list, "a");
  dyno_run_list_set_words (list, "dusk");
  check_listed (list, "");
  dyno_run_list_set_words (list, "");
  check_listed (list, "dcba");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ui/words/units-stand-at-their-right", test_units_stand_at_their_right);
  g_test_add_func ("/ui/words/keys-become-titles", test_keys_become_titles);
  g_test_add_func ("/ui/words/runs-without-a-name-say-what-and-when",
                   test_runs_without_a_name_say_what_and_when);
  g_test_add_func ("/ui/runresume/an-interrupted-run-is-found", test_an_interrupted_run_is_found);
  g_test_add_func ("/ui/words/runs-that-ended-early-say-how", test_runs_that_ended_early_say_how);
  g_test_add_func ("/ui/words/result-on-the-test-part", test_result_on_the_test_part);
  g_test_add_func ("/ui/words/a-preparation-is-no-part-of-a-run",
                   test_a_preparation_is_no_part_of_a_run);
  g_test_add_func ("/ui/format/numbers-have-useful-digits", test_numbers_have_useful_digits);
  g_test_add_func ("/ui/format/measures-have-their-unit", test_measures_have_their_unit);
  g_test_add_func ("/ui/format/a-day-has-its-year", test_a_day_has_its_year);
  g_test_add_func ("/ui/words/settings-have-words-and-units", test_settings_have_words_and_units);
  g_test_add_func ("/ui/words/data-is-named-without-its-sizes",
                   test_data_is_named_without_its_sizes);
  g_test_add_func ("/ui/words/advice-is-what-fits", test_advice_is_what_fits);
  g_test_add_func ("/ui/words/errors-name-a-next-step", test_errors_name_a_next_step);
  g_test_add_func ("/ui/runlist/has-runs-of-the-words", test_the_list_has_runs_of_the_words);
  g_test_add_func ("/ui/runlist/puts-what-is-unknown-last",
                   test_the_list_puts_what_is_unknown_last);
  g_test_add_func ("/ui/runlist/tells-six-settings", test_the_list_tells_six_settings);
  g_test_add_func ("/ui/tune/stages-light-up-in-their-order", test_stages_light_up_in_their_order);
  g_test_add_func ("/ui/runlist/finds-runs-by-any-word", test_runs_are_found_by_any_word);
  g_test_add_func ("/ui/setuphistory/changes-are-undone-in-their-order",
                   test_changes_are_undone_in_their_order);
  g_test_add_func ("/ui/setuphistory/changes-in-quick-succession-are-one-step",
                   test_changes_in_quick_succession_are_one_step);
  return g_test_run ();
}
