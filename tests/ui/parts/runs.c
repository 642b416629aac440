/* SPDX-License-Identifier: MIT */
/* Past runs: evaluations, the list with its finder, compared runs. */
#include "parts.h"
#include "confusionview.h"
#include "evaluatefigures.h"
#include "evaluatelabels.h"
#include "plot/view.h"
#include "predictdialog.h"
#include "predictwork.h"
#include "range.h"
#include "runcompare.h"
#include "runexport.h"
#include "runfinder.h"
#include "runhistory.h"
#include "runlist.h"
#include "runtable.h"
#include "undobar.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

/* --- evaluations ------------------------------------------------------------------------------ */

static char *class_names[] = { (char *) "cat", (char *) "dog", (char *) "elk", NULL };
static char *value_names[] = { (char *) "yaw", (char *) "x", NULL };
static char *value_units[] = { (char *) "degrees", (char *) "", NULL };

/* Adds n samples of a class that are predicted as another one. */
static void
add_samples (DynoScores *scores, guint n, guint32 truth, guint32 predicted)
{
  float logits[3] = { 0 }, shares[3] = { 0.1f, 0.1f, 0.1f };
  DynoPrediction prediction = { .logits = logits, .shares = shares };

  logits[predicted] = 2;
  shares[predicted] = 0.8f;
  for (guint i = 0; i < n; i++, prediction.index++)
    dyno_scores_add_class (scores, &prediction, truth);
}

static void
sort_by (GtkTreeView *table, int column, GtkSortType order)
{
  int id = gtk_tree_view_column_get_sort_column_id (gtk_tree_view_get_column (table, column));

  gtk_tree_sortable_set_sort_column_id (GTK_TREE_SORTABLE (gtk_tree_view_get_model (table)), id,
                                        order);
}

static const char *
get_title (GtkTreeView *table, int column)
{
  return gtk_tree_view_column_get_title (gtk_tree_view_get_column (table, column));
}

/* Numbers are sorted by their size, shares too, and those that are not known are the least. */
static void
test_evaluations_are_sorted_by_number (void)
{
  GtkTreeView *table = GTK_TREE_VIEW (g_object_ref_sink (gtk_tree_view_new ()));
  DynoEvaluation e = { .info = { .n_outputs = 3, .class_names = class_names } };

  e.scores = dyno_scores_new (&e.info, 4);
  add_samples (e.scores, 9, 0, 0);
  add_samples (e.scores, 100, 1, 1);
  add_samples (e.scores, 1, 0, 1);
  add_samples (e.scores, 20, 2, 1);
  dyno_evaluate_table_show (table, &e);
  g_assert_cmpstr (get_title (table, 0), ==, "Class");
  g_assert_cmpstr (get_title (table, 1), ==, "Samples");
  g_assert_cmpuint (gtk_tree_view_get_n_columns (table), ==, 5);
  parts_assert_column (table, 0, "cat\ndog\nelk");
  parts_assert_column (table, 8, "10\n100\n20");
  parts_assert_column (table, 9, "100.0 %\n82.6 %\n–");      /* precision */
  parts_assert_column (table, 10, "90.0 %\n100.0 %\n0.0 %"); /* recall */
  sort_by (table, 1, GTK_SORT_ASCENDING);
  parts_assert_column (table, 0, "cat\nelk\ndog");
  sort_by (table, 2, GTK_SORT_ASCENDING);
  parts_assert_column (table, 0, "elk\ndog\ncat");
  sort_by (table, 3, GTK_SORT_DESCENDING);
  parts_assert_column (table, 0, "dog\ncat\nelk");
  sort_by (table, 0, GTK_SORT_DESCENDING);
  parts_assert_column (table, 0, "elk\ndog\ncat");
  dyno_scores_free (e.scores);
  /* Another evaluation in the same table: values.  R² may be far below 0, and is not known where
   * the truth is constant. */
  e.info = (DynoWeightsInfo){
    .n_outputs = 2, .is_values = TRUE, .target_names = value_names, .target_units = value_units
  };
  e.scores = dyno_scores_new (&e.info, 4);
  static const float truth[2][2] = { { 1, 5 }, { 3, 5 } }, values[2][2] = { { 21, 6 }, { 13, 8 } };
  for (guint i = 0; i < 2; i++)
    {
      DynoPrediction prediction = { .index = i, .logits = values[i] };
      dyno_scores_add_values (e.scores, &prediction, truth[i]);
    }
  dyno_evaluate_table_show (table, &e);
  g_assert_cmpstr (get_title (table, 0), ==, "Value");
  g_assert_cmpuint (gtk_tree_view_get_n_columns (table), ==, 4);
  parts_assert_column (table, 0, "yaw (degrees)\nx");
  parts_assert_column (table, 8, "15.00\n2.000");
  parts_assert_column (table, 9, "15.81\n2.236");
  parts_assert_column (table, 10, "-249.0\n–");
  sort_by (table, 1, GTK_SORT_ASCENDING);
  parts_assert_column (table, 0, "x\nyaw (degrees)");
  sort_by (table, 3, GTK_SORT_ASCENDING);
  parts_assert_column (table, 0, "x\nyaw (degrees)");
  sort_by (table, 3, GTK_SORT_DESCENDING);
  parts_assert_column (table, 0, "yaw (degrees)\nx");
  dyno_scores_free (e.scores);
  g_object_unref (table);
}

/* The figures of a second evaluation replace those of the first. */
static void
test_figures_are_of_the_evaluation (void)
{
  GtkWidget *flow = g_object_ref_sink (gtk_flow_box_new ());
  DynoEvaluation e = { .info = { .n_outputs = 3, .class_names = class_names } };

  gtk_widget_show (flow);
  e.scores = dyno_scores_new (&e.info, 4);
  add_samples (e.scores, 3, 0, 0);
  add_samples (e.scores, 1, 1, 0);
  dyno_class_figures_get (e.scores, &e.figures);
  e.figures.roc_auc = 0.875;
  e.figures.calibration_error = 0.05;
  dyno_evaluate_figures_show (flow, &e);
  g_autofree char *first = parts_get_texts (flow);
  g_assert_true (g_str_has_prefix (first, "Accuracy\n75.0 %\nBalanced Accuracy\n50.0 %\nF1\n"));
  parts_assert_says (flow, "ROC AUC");
  parts_assert_says (flow, "0.8750");
  parts_assert_says (flow, "5.0 %");
  parts_assert_says_not (flow, "Top 5");
  e.figures.roc_auc = (double) NAN;
  dyno_evaluate_figures_show (flow, &e);
  parts_assert_says_not (flow, "ROC AUC");
  DynoScored right = { .truth = 1, .predicted = 1, .share = 0.97f },
             wrong = { .truth = 1, .predicted = 2, .share = 0.6f };
  g_autofree char *sure = dyno_evaluate_describe_sample (&e, &right),
                  *other = dyno_evaluate_describe_sample (&e, &wrong);
  g_assert_cmpstr (sure, ==, "dog\n97 % sure");
  g_assert_cmpstr (other, ==, "dog\nnot elk (60 %)");
  dyno_scores_free (e.scores);
  e.info = (DynoWeightsInfo){
    .n_outputs = 2, .is_values = TRUE, .target_names = value_names, .target_units = value_units
  };
  e.scores = dyno_scores_new (&e.info, 4);
  static const float truth[] = { 1, 5 }, values[] = { 4, 6 };
  DynoPrediction prediction = { .logits = values };
  dyno_scores_add_values (e.scores, &prediction, truth);
  dyno_evaluate_figures_show (flow, &e);
  parts_assert_texts (flow, "yaw (degrees)\n3.000\nx\n1.000\nLoss\n5.000");
  dyno_scores_free (e.scores);
  g_object_unref (flow);
}

/* Of a sample's labels only known ones are wrong, by the limits of the weights. */
static void
test_unknown_labels_are_not_wrong (void)
{
  DynoWeightsInfo info = { .n_outputs = 3, .is_labels = TRUE, .class_names = class_names };
  DynoScores *scores = dyno_scores_new (&info, 9);
  static const float logits[5][3] = { { 1, 1, -1 },
                                      { -1, 1, 1 },
                                      { 1, -1, 1 },
                                      { 1, 1, 1 },
                                      { 3, -1, -1 } },
                     truths[5][3] = { { (float) NAN, 0, 1 },
                                      { 1, (float) NAN, (float) NAN },
                                      { 1, 0, 1 },
                                      { (float) NAN, (float) NAN, (float) NAN },
                                      { 1, 1, 0 } };
  static const char *const expected[] = {
    "2 of 2 labels wrong\nmissed: elk\nwrongly predicted: dog",
    "1 of 1 label wrong\nmissed: cat",
    "all labels are right",
    "no label is known",
    "1 of 3 labels wrong\nmissed: dog",
  };

  for (guint i = 0; i < 5; i++)
    {
      /* Samples have other indices than places. */
      DynoPrediction prediction = { .index = 40 - i, .logits = logits[i], .shares = logits[i] };
      dyno_scores_add_labels (scores, &prediction, truths[i]);
    }
  DynoLabelDetails *details = dyno_label_details_new (scores, NULL);
  for (guint i = 0; i < 5; i++)
    {
      const DynoScored *one = &g_array_index (scores->samples, DynoScored, i);
      g_autofree char *text = dyno_label_details_describe (details, scores, &info, one);
      g_assert_cmpstr (text, ==, expected[i]);
    }
  dyno_label_details_free (details);
  dyno_scores_free (scores);
  /* Calibrated weights: a label is predicted from its own probability on. */
  static float thresholds[] = { 0.5f, 0.99f, 0.1f };
  info.thresholds = thresholds;
  scores = dyno_scores_new (&info, 9);
  static const float none[] = { 0, 0, 0 };
  DynoPrediction prediction = { .index = 2, .logits = logits[0], .shares = logits[0] };
  dyno_scores_add_labels (scores, &prediction, none);
  details = dyno_label_details_new (scores, NULL);
  g_autofree char *text = dyno_label_details_describe (
      details, scores, &info, &g_array_index (scores->samples, DynoScored, 0));
  g_assert_cmpstr (text, ==, "2 of 3 labels wrong\nwrongly predicted: cat, elk");
  dyno_label_details_free (details);
  dyno_scores_free (scores);
}

static void
note_cell (GtkWidget *view, guint truth, guint predicted, GString *cells)
{
  g_string_append_printf (cells, "%u,%u ", truth, predicted);
}

static void
assert_described (GtkWidget *view, const char *expected)
{
  g_assert_cmpstr (atk_object_get_description (gtk_widget_get_accessible (view)), ==, expected);
}

/* Rows are truths, columns predictions; a second evaluation begins in its first cell. */
static void
test_cells_of_the_confusion_matrix (void)
{
  static const guint64 counts[] = { 7, 2, 1, 0, 50, 0, 3, 0, 0 };
  GtkWidget *view = dyno_confusion_view_new ();
  DynoConfusionView *self = DYNO_CONFUSION_VIEW (view);
  DynoWeightsInfo info = { .n_outputs = 3, .class_names = class_names };
  g_autoptr (GString) cells = g_string_new (NULL);

  dyno_confusion_view_set_counts (self, counts, &info, FALSE);
  GtkWidget *window = parts_show (view, 400, 400);
  g_signal_connect (view, "chosen", G_CALLBACK (note_cell), cells);
  assert_described (view, "7 of 10 of “cat” are right");
  parts_press (view, GDK_KEY_Right);
  assert_described (view, "2 of 10 of “cat” were taken for “dog”");
  parts_press (view, GDK_KEY_Return);
  parts_press (view, GDK_KEY_Down);
  parts_press (view, GDK_KEY_Down);
  parts_press (view, GDK_KEY_Down); /* there is no further row */
  parts_press (view, GDK_KEY_Home);
  assert_described (view, "3 of 3 of “elk” were taken for “cat”");
  parts_press (view, GDK_KEY_space);
  parts_press (view, GDK_KEY_End);
  parts_press (view, GDK_KEY_Right);
  parts_press (view, GDK_KEY_Return);
  g_assert_cmpstr (cells->str, ==, "0,1 2,0 2,2 ");
  dyno_confusion_view_set_counts (self, counts, &info, TRUE);
  assert_described (view, "70.0 % of the pixels of “cat” are right");
  parts_press (view, GDK_KEY_Right);
  assert_described (view, "20.0 % of the pixels of “cat” were taken for “dog”");
  info.n_outputs = 2;
  static const guint64 none[] = { 0, 0, 4, 4 };
  dyno_confusion_view_set_counts (self, none, &info, TRUE);
  assert_described (view, "No pixel is of “cat”");
  dyno_confusion_view_set_counts (self, NULL, &info, FALSE);
  assert_described (view, "");
  g_string_truncate (cells, 0);
  parts_press (view, GDK_KEY_Return);
  g_assert_cmpstr (cells->str, ==, "");
  gtk_widget_destroy (window);
}

/* The cell that was chosen is marked until the arrow keys leave it, and a click chooses its own. */
static void
test_the_chosen_cell_is_marked (void)
{
  static const guint64 counts[] = { 7, 2, 1, 0, 50, 0, 3, 0, 0 };
  GtkWidget *view = dyno_confusion_view_new ();
  DynoConfusionView *self = DYNO_CONFUSION_VIEW (view);
  DynoWeightsInfo info = { .n_outputs = 3, .class_names = class_names };
  g_autoptr (GString) cells = g_string_new (NULL);
  int size;

  dyno_confusion_view_set_counts (self, counts, &info, FALSE);
  GtkWidget *window = parts_show (view, 400, 400);
  gtk_window_set_focus_visible (GTK_WINDOW (window), FALSE);
  g_signal_connect (view, "chosen", G_CALLBACK (note_cell), cells);
  g_autofree char *bare = parts_draw (view);
  for (guint i = 0; i < 2; i++)
    {
      parts_press (view, GDK_KEY_Return);
      g_autofree char *chosen = parts_draw (view);
      g_assert_cmpstr (chosen, !=, bare);
      parts_press (view, GDK_KEY_Up); /* there is no row above */
      g_autofree char *stayed = parts_draw (view);
      g_assert_cmpstr (stayed, ==, chosen);
      parts_press (view, GDK_KEY_Down);
      g_autofree char *left = parts_draw (view);
      g_assert_cmpstr (left, ==, bare);
      parts_press (view, GDK_KEY_Up);
      g_autofree char *returned = parts_draw (view);
      g_assert_cmpstr (returned, ==, bare);
      parts_press (view, GDK_KEY_Return);
      dyno_confusion_view_unchoose (self);
      g_autofree char *unchosen = parts_draw (view);
      g_assert_cmpstr (unchosen, ==, bare);
      parts_press (view, GDK_KEY_Return);
      dyno_confusion_view_set_counts (self, counts, &info, FALSE);
      g_autofree char *again = parts_draw (view);
      g_assert_cmpstr (again, ==, bare);
    }
  /* The matrix is at the end of the view, with cells of 46 pixels for three classes. */
  gtk_widget_get_size_request (view, &size, NULL);
  int first = size - 1 - 3 * 46;
  g_string_truncate (cells, 0);
  parts_button (view, GDK_BUTTON_PRESS, first + 47, first + 45);
  parts_button (view, GDK_BUTTON_PRESS, first, first + 3 * 46 - 1);
  parts_button (view, GDK_BUTTON_PRESS, first - 1, first + 10);
  parts_button (view, GDK_BUTTON_PRESS, first + 10, first - 1);
  parts_button (view, GDK_BUTTON_PRESS, first + 3 * 46, first + 10);
  parts_button (view, GDK_2BUTTON_PRESS, first + 10, first + 10);
  g_assert_cmpstr (cells->str, ==, "0,1 2,0 ");
  assert_described (view, "3 of 3 of “elk” were taken for “cat”");
  gtk_widget_destroy (window);
}

static void
add_output (GString *text, const DynoPredictedSample *sample)
{
  for (guint i = 0; i < sample->n; i++)
    g_string_append_printf (text, "%s %u %.3f\n", sample->outputs[i].name,
                            sample->outputs[i].class_id, sample->outputs[i].number);
}

/* The classes of a mask are those that have a pixel, the largest first. */
static void
test_classes_of_a_mask_have_pixels (void)
{
  static const guint8 mixed[] = { 2, 0, 2, 2, 0, 2, 2, 2 }, single[] = { 1, 1, 1, 1 },
                      tie[] = { 2, 1, 0, 1, 2, 0 };
  static const struct {
    const guint8 *mask;
    gsize n;
    const char *expected;
  } rows[] = { { mixed, 8, "elk 2 0.750\ncat 0 0.250\n" },
               { single, 4, "dog 1 1.000\n" },
               { tie, 6, "cat 0 0.333\ndog 1 0.333\nelk 2 0.333\n" } };
  DynoWeightsInfo info = { .n_outputs = 3, .class_names = class_names };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      DynoPredictedSample sample = { 0 };
      g_autoptr (GString) text = g_string_new (NULL);
      dyno_predicted_sample_take_mask (&sample, &info, rows[i].mask, rows[i].n);
      add_output (text, &sample);
      g_assert_cmpstr (text->str, ==, rows[i].expected);
      g_assert_true (sample.has_mask && !sample.is_labels && !sample.is_values);
      for (guint k = 0; k < sample.n; k++)
        g_free (sample.outputs[k].name);
      g_free (sample.outputs);
    }
}

static void
test_only_images_can_be_dropped (void)
{
  g_autofree char *picture = g_build_filename (g_get_home_dir (), "a.png", NULL),
                  *text = g_build_filename (g_get_home_dir (), "a.txt", NULL),
                  *folder = g_build_filename (g_get_home_dir (), "b.png", NULL);
  const char *none[] = { NULL }, *one[] = { picture, NULL }, *mixed[] = { picture, text, NULL },
             *folders[] = { picture, folder, NULL };

  g_assert_true (g_file_set_contents (picture, "x", 1, NULL));
  g_assert_true (g_file_set_contents (text, "x", 1, NULL));
  g_assert_cmpint (g_mkdir (folder, 0700), ==, 0);
  g_assert_false (dyno_predict_are_images (none));
  g_assert_true (dyno_predict_are_images (one));
  g_assert_false (dyno_predict_are_images (mixed));
  g_assert_false (dyno_predict_are_images (folders));
  g_assert_false (dyno_predict_can_use (NULL));
  g_assert_false (dyno_predict_can_use (g_get_home_dir ()));
}

/* --- the list --------------------------------------------------------------------------------- */

static DynoStoredRun *
new_run (gint64 id, const char *name, const char *model, double best)
{
  DynoStoredRun *run = dyno_stored_run_new ();

  run->id = id;
  run->uid = (guint64) id + 100;
  run->name = g_strdup (name);
  run->model = g_strdup (model);
  run->data = g_strdup ("builtin:waves");
  run->metric = g_strdup ("accuracy");
  run->metric_is_fraction = TRUE;
  run->best_metric = best;
  run->begin_us = id * G_USEC_PER_SEC;
  run->state = DYNO_RUN_STATE_FINISHED;
  return run;
}

static void
sort_list (DynoRunList *list, DynoRunListColumn column, GtkSortType order, const char *expected)
{
  g_autoptr (GString) ids = g_string_new (NULL);

  gtk_tree_sortable_set_sort_column_id (GTK_TREE_SORTABLE (list), (int) column, order);
  for (guint i = 0; i < dyno_run_list_get_length (list); i++)
    g_string_append_printf (ids, "%d ", (int) dyno_run_list_get (list, i)->id);
  g_assert_cmpstr (ids->str, ==, expected);
}

/* Equal runs are newest first in either order, unknown values are last in either order, and the
 * order stays when the runs are read again. */
static void
test_equal_runs_are_newest_first (void)
{
  DynoRunList *list = dyno_run_list_new ();

  for (guint i = 0; i < 2; i++)
    {
      GPtrArray *runs = g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_stored_run_free);
      g_ptr_array_add (runs, new_run (3, "c", "mlp", 0.9));
      g_ptr_array_add (runs, new_run (5, "b", "simplecnn", (double) NAN));
      g_ptr_array_add (runs, new_run (4, "a", "mlp", 0.9));
      g_ptr_array_add (runs, new_run (1, "d", "mlp", 0.100));
      dyno_run_list_set_runs (list, runs);
      sort_list (list, DYNO_RUN_LIST_MODEL, GTK_SORT_ASCENDING, "4 3 1 5 ");
      sort_list (list, DYNO_RUN_LIST_MODEL, GTK_SORT_DESCENDING, "5 4 3 1 ");
      sort_list (list, DYNO_RUN_LIST_STATE, GTK_SORT_DESCENDING, "5 4 3 1 ");
      sort_list (list, DYNO_RUN_LIST_DATA, GTK_SORT_ASCENDING, "5 4 3 1 ");
      sort_list (list, DYNO_RUN_LIST_BEST, GTK_SORT_ASCENDING, "1 4 3 5 ");
      sort_list (list, DYNO_RUN_LIST_BEST, GTK_SORT_DESCENDING, "4 3 1 5 ");
      sort_list (list, DYNO_RUN_LIST_BEGUN, GTK_SORT_ASCENDING, "1 3 4 5 ");
      sort_list (list, DYNO_RUN_LIST_TITLE, GTK_SORT_DESCENDING, "1 3 5 4 ");
    }
  dyno_run_list_set_words (list, "MLP waves");
  sort_list (list, DYNO_RUN_LIST_TITLE, GTK_SORT_ASCENDING, "4 3 1 ");
  g_assert_cmpuint (dyno_run_list_get_n_runs (list), ==, 4);
  GtkTreeIter iter;
  DynoStoredRun *found;
  g_assert_true (gtk_tree_model_iter_nth_child (GTK_TREE_MODEL (list), &iter, NULL, 2));
  g_assert_true (gtk_tree_model_iter_previous (GTK_TREE_MODEL (list), &iter));
  gtk_tree_model_get (GTK_TREE_MODEL (list), &iter, DYNO_RUN_LIST_RUN, &found, -1);
  g_assert_cmpint (found->id, ==, 3);
  GPtrArray *fewer = g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_stored_run_free);
  g_ptr_array_add (fewer, new_run (5, "b", "simplecnn", 0.5));
  g_ptr_array_add (fewer, new_run (6, "e", "mlp", 0.5));
  ((DynoStoredRun *) fewer->pdata[0])->tags = g_strdup ("night");
  dyno_run_list_set_runs (list, fewer); /* the words still apply */
  sort_list (list, DYNO_RUN_LIST_BEST, GTK_SORT_ASCENDING, "6 ");
  dyno_run_list_set_words (list, "");
  sort_list (list, DYNO_RUN_LIST_BEST, GTK_SORT_DESCENDING, "6 5 ");
  sort_list (list, DYNO_RUN_LIST_TAGS, GTK_SORT_DESCENDING, "5 6 "); /* those without tags last */
  sort_list (list, DYNO_RUN_LIST_TAGS, GTK_SORT_ASCENDING, "5 6 ");
  g_object_unref (list);
}

static void
count (GtkWidget *widget, guint *n)
{
  (*n)++;
}

static void
test_the_finder_counts_what_it_shows (void)
{
  GtkWidget *finder = dyno_run_finder_new ();
  DynoRunFinder *self = DYNO_RUN_FINDER (finder);
  GtkWidget *window = parts_show (finder, 400, 40);
  GtkWidget *entry = parts_find (finder, GTK_TYPE_SEARCH_ENTRY);
  guint n_changed = 0, n_left = 0;

  g_signal_connect (finder, "changed", G_CALLBACK (count), &n_changed);
  g_signal_connect (finder, "left", G_CALLBACK (count), &n_left);
  dyno_run_finder_set_count (self, 7, 7);
  parts_assert_says_not (finder, "7 of 7 runs");
  gtk_entry_set_text (GTK_ENTRY (entry), "mlp");
  dyno_run_finder_set_count (self, 1, 7);
  parts_assert_says (finder, "1 of 7 runs");
  dyno_run_finder_set_count (self, 0, 1);
  parts_assert_says (finder, "0 of 1 run");
  dyno_run_finder_set_count (self, 7, 7); /* all have the word */
  parts_assert_says (finder, "7 of 7 runs");
  g_assert_cmpstr (dyno_run_finder_get_text (self), ==, "mlp");
  parts_press (entry, GDK_KEY_Down);
  g_assert_true (n_left == 1 && n_changed == 0);
  g_signal_emit_by_name (entry, "stop-search");
  g_assert_cmpstr (dyno_run_finder_get_text (self), ==, "");
  g_assert_true (n_left == 2 && n_changed > 0);
  dyno_run_finder_set_count (self, 7, 7);
  parts_assert_says_not (finder, "7 of 7 runs");
  gtk_widget_destroy (window);
}

static GPtrArray *
new_deleted (guint n)
{
  GPtrArray *deleted = g_ptr_array_new ();

  for (guint i = 0; i < n; i++)
    {
      DynoDeletedRun *one = g_new0 (DynoDeletedRun, 1);
      one->run = new_run (i + 1, i == 0 ? "night" : "day", "mlp", 0.5);
      g_ptr_array_add (deleted, one);
    }
  return deleted;
}

static void
drop_deleted (GPtrArray *deleted)
{
  for (guint i = 0; i < deleted->len; i++)
    {
      dyno_stored_run_free (((DynoDeletedRun *) deleted->pdata[i])->run);
      g_free (deleted->pdata[i]);
    }
  g_ptr_array_unref (deleted);
}

/* Only what was deleted last can be restored, once, and not after the page was left. */
static void
test_the_last_deletion_is_offered_to_be_undone (void)
{
  GtkWidget *bar = dyno_undo_bar_new ();
  DynoUndoBar *self = DYNO_UNDO_BAR (bar);
  GtkWidget *window = parts_show (bar, 500, 60);
  GPtrArray *one = new_deleted (1), *two = new_deleted (2);
  guint n = 0;

  g_signal_connect (bar, "undo", G_CALLBACK (count), &n);
  g_assert_false (dyno_undo_bar_has (self));
  g_assert_null (dyno_undo_bar_take (self));
  dyno_undo_bar_offer (self, two);
  parts_assert_says (bar, "2 runs were deleted; their folders stay");
  dyno_undo_bar_offer (self, one);
  parts_assert_says (bar, "“night” was deleted; its folder stays");
  gtk_button_clicked (GTK_BUTTON (parts_find_button (bar, "_Undo")));
  g_assert_cmpuint (n, ==, 1);
  GPtrArray *taken = dyno_undo_bar_take (self);
  g_assert_true (taken == one);
  g_ptr_array_unref (taken);
  g_assert_null (dyno_undo_bar_take (self));
  dyno_undo_bar_offer (self, two);
  gtk_widget_hide (bar);
  g_assert_false (dyno_undo_bar_has (self));
  gtk_widget_destroy (window);
  drop_deleted (one);
  drop_deleted (two);
}

/* --- compared runs ---------------------------------------------------------------------------- */

/* A row is shown for what any two of the runs differ in, not only the first two. */
static void
test_what_any_of_the_runs_differs_in (void)
{
  GtkWidget *compare = g_object_ref_sink (dyno_run_compare_new ());
  GtkWidget *grid = parts_find (compare, GTK_TYPE_GRID);
  DynoRunCompare *self = DYNO_RUN_COMPARE (compare);
  DynoRunCurves *curves = dyno_run_curves_new ();
  DynoStoredRun *runs[] = { new_run (1, "a", "mlp", 0.5), new_run (2, "b", "mlp", 0.6),
                            new_run (3, "c", "mlp", 0.7) };

  runs[0]->samples_per_s = 100;
  runs[1]->samples_per_s = 200;
  runs[2]->settings.batch_size = runs[0]->settings.batch_size * 2;
  dyno_run_compare_show (self, curves, (const DynoStoredRun *const *) runs, 3);
  g_autofree char *batch = g_strdup_printf ("%d", (int) runs[0]->settings.batch_size),
                  *other = g_strdup_printf ("%d", (int) runs[2]->settings.batch_size);
  parts_assert_says (grid, "Batch size");
  parts_assert_says (grid, batch);
  parts_assert_says (grid, other);
  parts_assert_says (grid, "50.0 %");
  parts_assert_says (grid, "200");
  parts_assert_says_not (grid, "Model");
  parts_assert_says_not (grid, "Data");
  parts_assert_says_not (grid, "All settings are equal");
  /* Fewer runs afterwards: those two are equal. */
  dyno_run_compare_show (self, curves, (const DynoStoredRun *const *) runs, 2);
  parts_assert_says_not (grid, "Batch size");
  parts_assert_says_not (grid, "c");
  parts_assert_says (grid, "All settings are equal");
  g_free (runs[1]->model);
  runs[1]->model = g_strdup ("simplecnn");
  g_free (runs[2]->data);
  runs[2]->data = g_strdup ("builtin:shapes?size=16&samples=64");
  runs[2]->settings.batch_size = runs[0]->settings.batch_size;
  dyno_run_compare_show (self, curves, (const DynoStoredRun *const *) runs, 3);
  parts_assert_says (grid, "Model");
  parts_assert_says (grid, "SimpleCNN");
  parts_assert_says (grid, "Data");
  parts_assert_says (grid, "Shapes (size 16, samples 64)");
  parts_assert_says_not (grid, "All settings are equal");
  dyno_run_compare_show (self, curves, (const DynoStoredRun *const *) runs, 1);
  parts_assert_says_not (grid, "All settings are equal");
  dyno_run_compare_show (self, curves, NULL, 0);
  g_assert_false (gtk_widget_get_visible (compare));
  gtk_widget_destroy (compare);
  g_object_unref (compare);
  g_object_unref (curves);
  for (guint i = 0; i < 3; i++)
    dyno_stored_run_free (runs[i]);
}

static void
exported (const char *path, const GError *error, gpointer data)
{
}

/* Each value of the table stands below its name; those that are not known are empty. */
static void
test_the_table_of_runs_has_its_columns (void)
{
  GtkWidget *button = g_object_ref_sink (dyno_run_export_new (exported, NULL));
  DynoStoredRun *runs[] = { new_run (1, "a", "mlp", 0.75), new_run (2, "b", "mlp", 0.5) };

  runs[0]->folder = g_strdup ("/runs/a");
  runs[0]->steps = 70;
  runs[0]->epochs = 3;
  runs[0]->seconds = 8.5;
  runs[0]->samples_per_s = 1250;
  runs[0]->best_val_loss = 0.25;
  runs[0]->best_epoch = 2;
  runs[1]->state = DYNO_RUN_STATE_STOPPED;
  runs[1]->samples_per_s = runs[1]->best_val_loss = runs[1]->best_metric = (double) NAN;
  g_clear_pointer (&runs[1]->metric, g_free);
  dyno_run_export_set_runs (button, (const DynoStoredRun *const *) runs, 2);
  g_autofree char *table = dyno_run_export_make_table (button);
  g_assert_cmpstr (table, ==,
                   "run,model,data,state,steps,epochs_done,seconds,samples_per_s,best_val_loss,"
                   "best_metric,best_epoch,metric,folder\n"
                   "a,mlp,builtin:waves,finished,70,3,8.5,1250,0.25,0.75,2,accuracy,/runs/a\n"
                   "b,mlp,builtin:waves,stopped,0,0,,,,,0,,\n");
  for (guint i = 0; i < 2; i++)
    dyno_stored_run_free (runs[i]);
  g_object_unref (button);
}

/* A folder with the log of a run: n steps of 0.1 s, and an epoch after each ten. */
static char *
make_folder (const char *name, guint n)
{
  char *folder = g_build_filename (g_get_home_dir (), name, NULL);
  g_autofree char *path = g_build_filename (folder, "metrics.csv", NULL);
  DynoMetrics *log = dyno_metrics_new ();

  g_assert_cmpint (g_mkdir_with_parents (folder, 0700), ==, 0);
  for (guint i = 1; i <= n; i++)
    {
      DynoStepMetrics step = {
        .step = i, .epoch = (i + 9) / 10, .loss = 10.0 / i, .seconds = 0.1 * i
      };
      dyno_metrics_add_step (log, &step);
      if (i % 10 == 0)
        dyno_metrics_add_epoch (
            log, &(DynoEpochMetrics){ .step = i, .epoch = i / 10, .val_loss = 20.0 / i });
    }
  g_assert_true (dyno_metrics_write_csv (log, path, NULL));
  dyno_metrics_unref (log);
  return folder;
}

typedef struct {
  DynoPlotView *view;
  guint n; /* lines */
} Curves;

static gboolean
has_curves (gpointer data)
{
  const Curves *curves = data;

  return dyno_plot_view_get_plot (curves->view)->n_lines == curves->n;
}

/* The name of a run hides both of its curves, and shows them again, also over another quantity. */
static void
assert_hidden_together (DynoPlotView *view)
{
  const DynoPlot *plot = dyno_plot_view_get_plot (view);

  for (guint hidden = 1; hidden < 2; hidden--)
    {
      parts_press (GTK_WIDGET (view), GDK_KEY_2);
      for (guint i = 0; i < 4; i++)
        g_assert_cmpint (plot->lines[i].hidden, ==, hidden && i % 2 == 1);
    }
}

/* The curves of the selected runs are drawn, the training before the validation, each run with its
 * own colour, over the chosen axis. */
static void
test_curves_of_the_selected_runs (void)
{
  GtkWidget *compare = dyno_run_compare_new (), *window = parts_show (compare, 900, 600);
  DynoRunCompare *self = DYNO_RUN_COMPARE (compare);
  g_autoptr (GPtrArray) combos = parts_find_all (compare, GTK_TYPE_COMBO_BOX_TEXT);
  GtkComboBox *axis = GTK_COMBO_BOX (combos->pdata[1]);
  DynoRunCurves *curves = dyno_run_curves_new ();
  DynoStoredRun *runs[] = { new_run (1, "a", "mlp", 0.5), new_run (2, "b", "mlp", 0.6),
                            new_run (3, "c", "mlp", 0.7) };
  Curves drawn = { DYNO_PLOT_VIEW (parts_find (compare, DYNO_TYPE_PLOT_VIEW)), 4 };

  runs[0]->folder = make_folder ("run a", 20);
  runs[1]->folder = make_folder ("run b", 50);
  runs[0]->steps = 20;
  runs[0]->epochs = 2;
  runs[1]->steps = 50;
  runs[1]->epochs = 5; /* nothing was kept of the third run */
  dyno_run_compare_show (self, curves, (const DynoStoredRun *const *) runs, 3);
  parts_wait (has_curves, &drawn);
  const DynoPlot *plot = dyno_plot_view_get_plot (drawn.view);
  const guint lengths[] = { 20, 50, 2, 5 };
  for (guint i = 0; i < 4; i++)
    {
      g_assert_cmpuint (dyno_series_get_length (plot->lines[i].series), ==, lengths[i]);
      g_assert_cmpuint (plot->lines[i].colour, ==, i % 2);
      g_assert_true (plot->lines[i].unnamed == (i >= 2));
      g_assert_null (plot->lines[i].x_map);
      const char *const names[] = { "a", "b", "a, validation", "b, validation" };
      g_assert_cmpstr (dyno_plot_line_name (&plot->lines[i]), ==, names[i]);
      /* Validations lie at the steps after which they were made. */
      double x0, x1, y0, y1;
      g_assert_true (
          dyno_series_get_range (plot->lines[i].series, -INFINITY, INFINITY, &x0, &x1, &y0, &y1));
      g_assert_true (x0 == (i < 2 ? 1 : 10) && x1 == (i % 2 ? 50 : 20));
    }
  for (int x = 1; x < 3; x++)
    {
      g_signal_emit_by_name (drawn.view, "span", 1.0, 2.0);
      g_signal_emit_by_name (drawn.view, "cursor", 1.5);
      g_assert_true (plot->x0 == 1 && plot->x1 == 2 && plot->cursor_x == 1.5);
      gtk_combo_box_set_active (axis, x);
      g_assert_cmpfloat_with_epsilon (dyno_plot_map_x (plot->lines[1].x_map, 30), 3, 1e-9);
      /* They were of the other axis. */
      g_assert_true (plot->x0 == 0 && plot->x1 == 0 && isnan (plot->cursor_x));
    }
  g_assert_cmpstr (plot->x_label, ==, "Time");
  gtk_combo_box_set_active (axis, 0);
  g_assert_null (plot->lines[0].x_map);
  g_assert_cmpstr (plot->x_label, ==, "Step");
  g_signal_emit_by_name (drawn.view, "span", 5.0, 15.0);
  g_assert_true (plot->x0 == 5 && plot->x1 == 15);
  assert_hidden_together (drawn.view);
  drawn.n = 2;
  dyno_run_compare_show (self, curves, (const DynoStoredRun *const *) runs + 1, 2);
  parts_wait (has_curves, &drawn);
  g_assert_true (plot->x0 == 0 && plot->x1 == 0); /* the zoom was of the other runs */
  g_assert_cmpuint (dyno_series_get_length (plot->lines[0].series), ==, 50);
  g_assert_cmpuint (dyno_series_get_length (plot->lines[1].series), ==, 5);
  /* The curves of one run are named by what they are of. */
  dyno_run_compare_show (self, curves, (const DynoStoredRun *const *) runs, 1);
  g_assert_cmpuint (plot->n_lines, ==, 0);
  parts_wait (has_curves, &drawn);
  for (guint i = 0; i < 2; i++)
    {
      g_assert_false (plot->lines[i].unnamed || plot->lines[i].hidden);
      g_assert_cmpstr (dyno_plot_line_name (&plot->lines[i]), ==, i ? "Validation" : "Training");
    }
  parts_press (GTK_WIDGET (drawn.view), GDK_KEY_2);
  g_assert_true (!plot->lines[0].hidden && plot->lines[1].hidden);
  dyno_run_compare_show (self, curves, NULL, 0);
  gtk_widget_destroy (window);
  g_object_unref (curves);
  for (guint i = 0; i < 3; i++)
    dyno_stored_run_free (runs[i]);
}

static gboolean
fits_its_text (gpointer table)
{
  GtkWidget *grid = parts_find (table, GTK_TYPE_GRID);
  int height, width = gtk_widget_get_allocated_width (grid) + 2 * 14; /* with its margins */

  gtk_widget_get_preferred_height_for_width (grid, width, NULL, &height);
  return width > 600 && abs (gtk_widget_get_allocated_height (table) - height) <= 6;
}

/* There is no empty room below the settings, whose texts have one line each where they have room,
 * nor after others were shown. */
static void
test_the_settings_of_a_comparison_fill_their_card (void)
{
  GtkWidget *compare = dyno_run_compare_new (), *window = parts_show (compare, 1100, 600);
  DynoRunCurves *curves = dyno_run_curves_new ();
  g_autoptr (GPtrArray) tables = parts_find_all (compare, GTK_TYPE_SCROLLED_WINDOW);
  DynoStoredRun *runs[] = { new_run (1, "half the rate", "mlp", 0.5),
                            new_run (2, "with a longer warm-up", "mlp", 0.6) };

  runs[1]->settings.lr = 0.25;
  for (guint n = 1; n <= 2; n++)
    {
      dyno_run_compare_show (DYNO_RUN_COMPARE (compare), curves,
                             (const DynoStoredRun *const *) runs, n);
      parts_wait (fits_its_text, tables->pdata[tables->len - 1]);
    }
  dyno_run_compare_show (DYNO_RUN_COMPARE (compare), curves, NULL, 0);
  gtk_widget_destroy (window);
  g_object_unref (curves);
  for (guint i = 0; i < 2; i++)
    dyno_stored_run_free (runs[i]);
}

static int
width_of (GtkWidget *list, int column)
{
  return gtk_tree_view_column_get_fixed_width (
      gtk_tree_view_get_column (GTK_TREE_VIEW (list), column));
}

static char *
tooltip_of (GtkWidget *list, int row)
{
  g_autoptr (GtkTreePath) path = gtk_tree_path_new_from_indices (row, -1);
  GdkRectangle area;
  int x, y;

  gtk_tree_view_get_cell_area (GTK_TREE_VIEW (list), path,
                               gtk_tree_view_get_column (GTK_TREE_VIEW (list), 0), &area);
  gtk_tree_view_convert_bin_window_to_widget_coords (GTK_TREE_VIEW (list), area.x + area.width / 2,
                                                     area.y + area.height / 2, &x, &y);
  return parts_get_tooltip (list, x, y, FALSE);
}

/* The column of names is as wide as the longest name, up to a limit, and the other columns are as
 * wide as their texts need; a column that the user has resized stays. */
static void
test_columns_fit_the_runs (void)
{
  static const char longer[] = "half the learning rate and no warm-up",
                    longest[] = "fine-tuned from the weights of ImageNet, with half the learning "
                                "rate, no warm-up and two frozen stages";
  DynoRunCurves *curves = dyno_run_curves_new ();
  GtkWidget *list = dyno_run_table_new (curves), *window = parts_show (list, 1150, 300);
  DynoRunList *runs = dyno_run_list_new ();
  enum { STATE = 8, TAGS = 9 };
  int state = width_of (list, STATE), narrow = 0, wide = 0;

  for (guint i = 0; i < 3; i++)
    {
      GPtrArray *some = g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_stored_run_free);
      g_ptr_array_add (some, new_run (1, "a", "mlp", 0.5));
      if (i > 0)
        g_ptr_array_add (some, new_run (2, i == 1 ? longer : longest, "mlp", 0.6));
      if (i == 2)
        ((DynoStoredRun *) some->pdata[0])->tags = g_strdup ("good");
      gtk_tree_view_set_model (GTK_TREE_VIEW (list), NULL);
      dyno_run_list_set_runs (runs, some);
      gtk_tree_view_set_model (GTK_TREE_VIEW (list), GTK_TREE_MODEL (runs));
      dyno_run_table_fit (list);
      while (gtk_events_pending ())
        gtk_main_iteration ();
      g_assert_cmpint (
          gtk_tree_view_column_get_visible (gtk_tree_view_get_column (GTK_TREE_VIEW (list), TAGS)),
          ==, i == 2);
      if (i == 0)
        {
          narrow = width_of (list, 0);
          g_assert_cmpint (width_of (list, STATE), <, state);
          gtk_tree_view_column_set_fixed_width (
              gtk_tree_view_get_column (GTK_TREE_VIEW (list), STATE), 60);
          continue;
        }
      g_assert_cmpint (width_of (list, STATE), ==, 60);
      /* The newest run is first: the later one has the greater number. */
      g_autofree char *first = tooltip_of (list, 0), *second = tooltip_of (list, 1);
      g_assert_null (second);
      if (i == 1)
        {
          wide = width_of (list, 0);
          g_assert_cmpint (wide, >, 2 * narrow);
          g_assert_null (first); /* it is whole */
          continue;
        }
      g_assert_cmpint (width_of (list, 0), >, wide);
      g_assert_cmpstr (first, ==, longest);
    }
  gtk_widget_destroy (window);
  g_object_unref (runs);
  g_object_unref (curves);
}

void
parts_add_runs (void)
{
  g_test_add_func ("/ui/parts/the-settings-of-a-comparison-fill-their-card",
                   test_the_settings_of_a_comparison_fill_their_card);
  g_test_add_func ("/ui/parts/columns-fit-the-runs", test_columns_fit_the_runs);
  g_test_add_func ("/ui/parts/curves-of-the-selected-runs", test_curves_of_the_selected_runs);
  g_test_add_func ("/ui/parts/the-table-of-runs-has-its-columns",
                   test_the_table_of_runs_has_its_columns);
  g_test_add_func ("/ui/parts/evaluations-are-sorted-by-number",
                   test_evaluations_are_sorted_by_number);
  g_test_add_func ("/ui/parts/figures-are-of-the-evaluation", test_figures_are_of_the_evaluation);
  g_test_add_func ("/ui/parts/unknown-labels-are-not-wrong", test_unknown_labels_are_not_wrong);
  g_test_add_func ("/ui/parts/cells-of-the-confusion-matrix", test_cells_of_the_confusion_matrix);
  g_test_add_func ("/ui/parts/the-chosen-cell-is-marked", test_the_chosen_cell_is_marked);
  g_test_add_func ("/ui/parts/classes-of-a-mask-have-pixels", test_classes_of_a_mask_have_pixels);
  g_test_add_func ("/ui/parts/only-images-can-be-dropped", test_only_images_can_be_dropped);
  g_test_add_func ("/ui/parts/equal-runs-are-newest-first", test_equal_runs_are_newest_first);
  g_test_add_func ("/ui/parts/the-finder-counts-what-it-shows",
                   test_the_finder_counts_what_it_shows);
  g_test_add_func ("/ui/parts/the-last-deletion-is-offered-to-be-undone",
                   test_the_last_deletion_is_offered_to_be_undone);
  g_test_add_func ("/ui/parts/what-any-of-the-runs-differs-in",
                   test_what_any_of_the_runs_differs_in);
}
