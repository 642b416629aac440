/* SPDX-License-Identifier: MIT */
/* The views of evaluations and of predictions, with given results: no weights are read. */
#include "parts.h"
#include "confusionview.h"
#include "evaluatemasks.h"
#include "evaluateview.h"
#include "evaluatework.h"
#include "predictdialog.h"
#include "predictview.h"
#include "predictwork.h"
#include "runfacts.h"
#include "safetensors.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static gboolean
is_shown (GtkWidget *widget)
{
  for (; widget && !GTK_IS_WINDOW (widget); widget = gtk_widget_get_parent (widget))
    if (!gtk_widget_get_visible (widget))
      return FALSE;
  return TRUE;
}

static GtkWidget *
find_label (GtkWidget *widget, const char *prefix)
{
  g_autoptr (GPtrArray) labels = parts_find_all (widget, GTK_TYPE_LABEL);

  for (guint i = 0; i < labels->len; i++)
    if (g_str_has_prefix (gtk_label_get_text (labels->pdata[i]), prefix))
      return labels->pdata[i];
  return NULL;
}

static gboolean
is_bad (GtkWidget *label)
{
  return gtk_style_context_has_class (gtk_widget_get_style_context (label), "bad-text");
}

static void
set_uri (GtkClipboard *clipboard, GtkSelectionData *data, guint info, gpointer path)
{
  g_autofree char *uri = g_filename_to_uri (path, NULL, NULL);
  char *uris[] = { uri, NULL };

  gtk_selection_data_set_uris (data, uris);
}

static void
forget_uri (GtkClipboard *clipboard, gpointer path)
{
}

/* Drops a file on the view; the clipboard has data of the same kind as a drag. */
static void
drop (GtkWidget *view, const char *path)
{
  static const GtkTargetEntry target = { (char *) "text/uri-list", 0, 0 };
  GtkClipboard *clipboard = gtk_widget_get_clipboard (view, gdk_atom_intern ("DROPPED", FALSE));

  gtk_clipboard_set_with_data (clipboard, &target, 1, set_uri, forget_uri, (gpointer) path);
  GtkSelectionData *data =
      gtk_clipboard_wait_for_contents (clipboard, gdk_atom_intern (target.target, FALSE));
  g_assert_nonnull (data);
  g_signal_emit_by_name (view, "drag-data-received", NULL, 1, 1, data, 0, 0);
  gtk_selection_data_free (data);
  gtk_clipboard_clear (clipboard);
}

static char *
make_folder (const char *name)
{
  char *folder = g_build_filename (g_get_home_dir (), name, NULL);

  g_assert_cmpint (g_mkdir_with_parents (folder, 0700), ==, 0);
  return folder;
}

/* --- evaluations ------------------------------------------------------------------------------ */

typedef struct {
  GtkWidget *window, *view, *state, *save, *calibrate;
  DynoDataset *dataset;
} Evaluate;

/* A view whose first evaluation was begun by its button. */
static void
evaluate_init (Evaluate *e, const char *name, gboolean has_test)
{
  g_autofree char *folder = make_folder (name);
  g_autoptr (DynoJob) job = dyno_job_new ();
  DynoRunFacts facts = { .n_test = has_test ? 5 : 0 };

  g_assert_true (dyno_run_facts_write (folder, &facts, NULL));
  e->dataset =
      dyno_dataset_open ("builtin:shapes?size=16&samples=64", NULL, NULL, NULL, NULL, NULL);
  e->view = dyno_evaluate_view_new (folder, job);
  e->window = parts_show (e->view, 700, 600);
  e->save = parts_find_button (e->view, "Save Ta_ble…");
  e->calibrate = parts_find_button (e->view, "_Calibrate");
  GtkWidget *begin = parts_find_button (e->view, "E_valuate the Validation Samples");
  g_assert_false (dyno_evaluate_view_is_busy (e->view) || gtk_widget_get_sensitive (e->save)
                  || is_shown (e->calibrate)
                  || is_shown (parts_find (e->view, GTK_TYPE_PROGRESS_BAR)));
  g_assert_true (is_shown (begin));
  gtk_button_clicked (GTK_BUTTON (begin));
  g_assert_true (dyno_evaluate_view_is_busy (e->view) && !is_shown (begin));
  e->state = find_label (e->view, "Evaluating…");
}

static void
evaluate_clear (Evaluate *e)
{
  gtk_widget_destroy (e->window);
  dyno_dataset_unref (e->dataset);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Evaluate, evaluate_clear)

static GtkWidget *
find_results (Evaluate *e)
{
  GtkWidget *table = parts_find (e->view, GTK_TYPE_TREE_VIEW);

  g_assert_nonnull (table);
  return table;
}

static DynoEvaluation *
new_evaluation (Evaluate *e, guint n_outputs)
{
  static const char *const names[] = { "cat", "dog", "elk", NULL };
  DynoEvaluation *evaluation = g_atomic_rc_box_new0 (DynoEvaluation);

  evaluation->dataset = dyno_dataset_ref (e->dataset);
  evaluation->info.n_outputs = n_outputs;
  evaluation->device = g_strdup ("Card");
  evaluation->seconds = 2;
  if (n_outputs == 3)
    evaluation->info.class_names = g_strdupv ((char **) names);
  return evaluation;
}

/* Adds a sample of a class that is predicted as another one, the surer the larger the number. */
static void
add_sample (DynoEvaluation *e, guint index, guint truth, guint predicted, float sure)
{
  float logits[3] = { 0 }, shares[3] = { 0.1f, 0.1f, 0.1f };
  DynoPrediction prediction = { .index = index, .logits = logits, .shares = shares };

  logits[predicted] = sure;
  shares[predicted] = 0.8f;
  dyno_scores_add_class (e->scores, &prediction, truth);
}

static DynoEvaluation *
new_classes (Evaluate *e)
{
  DynoEvaluation *evaluation = new_evaluation (e, 3);

  evaluation->scores = dyno_scores_new (&evaluation->info, DYNO_EVALUATE_WORST);
  add_sample (evaluation, 7, 0, 1, 2);
  add_sample (evaluation, 3, 0, 1, 4);
  add_sample (evaluation, 5, 0, 1, 3);
  add_sample (evaluation, 9, 1, 1, 3);
  add_sample (evaluation, 1, 2, 0, 9);
  dyno_class_figures_get (evaluation->scores, &evaluation->figures);
  evaluation->n_samples = 5;
  return evaluation;
}

/* Another data set is dropped: the view evaluates again. */
static void
evaluate_again (Evaluate *e)
{
  drop (e->view, "/nowhere/at/all");
  g_assert_cmpstr (gtk_label_get_text (GTK_LABEL (e->state)), ==, "Evaluating…");
  g_assert_false (is_bad (e->state) || is_shown (find_results (e)));
  g_assert_false (gtk_widget_get_sensitive (e->save) || gtk_widget_get_sensitive (e->calibrate));
  g_assert_true (is_shown (parts_find (e->view, GTK_TYPE_PROGRESS_BAR)));
}

static void
press_choice (Evaluate *e, const char *text)
{
  g_autoptr (GPtrArray) buttons = parts_find_all (e->view, GTK_TYPE_MENU_BUTTON);
  GtkPopover *popover = gtk_menu_button_get_popover (buttons->pdata[0]);
  g_autoptr (GPtrArray) choices =
      parts_find_all (gtk_bin_get_child (GTK_BIN (popover)), GTK_TYPE_MODEL_BUTTON);

  for (guint i = 0; i < choices->len; i++)
    {
      g_autofree char *label = NULL;
      g_object_get (choices->pdata[i], "text", &label, NULL);
      if (strcmp (label, text) == 0)
        {
          gtk_button_clicked (choices->pdata[i]);
          return;
        }
    }
  g_assert_null (text);
}

static void
assert_state (Evaluate *e, const char *expected)
{
  g_autofree char *text = parts_get_texts (e->state);

  g_assert_cmpstr (text, ==, expected);
  g_assert_false (is_shown (parts_find (e->view, GTK_TYPE_PROGRESS_BAR)));
}

/* The samples are named as what they are of the run, the sentence is of this evaluation alone, and
 * weights are calibrated neither on their test nor on what they were trained with. */
static void
test_an_evaluation_names_its_samples (void)
{
  g_auto (Evaluate) e = { 0 };
  g_autoptr (GError) error =
      g_error_new_literal (G_IO_ERROR, G_IO_ERROR_FAILED, "It broke: lower model.width.");

  evaluate_init (&e, "evaluated", TRUE);
  g_assert_false (gtk_widget_get_sensitive (e.save) || is_shown (e.calibrate));
  dyno_evaluate_view_show_result (e.view, new_classes (&e), NULL);
  assert_state (&e, "5 validation samples of “shapes”, 2.50 samples/s on Card");
  g_assert_true (is_shown (e.calibrate) && gtk_widget_get_sensitive (e.calibrate));
  g_assert_true (gtk_widget_get_sensitive (e.save) && is_shown (find_results (&e)));
  for (guint i = 0; i < 2; i++)
    {
      press_choice (&e, "Test Samples of the Run");
      DynoEvaluation *one = new_classes (&e);
      one->n_samples = 1;
      one->seconds = 0;
      one->n_unreadable = 2;
      one->notes = g_strdup ("A note.");
      dyno_evaluate_view_show_result (e.view, one, NULL);
      assert_state (&e, "1 test sample of “shapes”, – samples/s on Card; 2 could not be read\n"
                        "A note.");
      g_assert_true (is_shown (e.calibrate) && !gtk_widget_get_sensitive (e.calibrate));
      evaluate_again (&e);
      dyno_evaluate_view_show_result (e.view, new_classes (&e), NULL);
      assert_state (&e, "5 samples of “shapes”, 2.50 samples/s on Card");
      g_assert_true (gtk_widget_get_sensitive (e.calibrate));
      evaluate_again (&e);
      one = new_classes (&e);
      one->is_trained = TRUE;
      dyno_evaluate_view_show_result (e.view, one, NULL);
      g_assert_false (gtk_widget_get_sensitive (e.calibrate));
      press_choice (&e, "Validation Samples of the Run");
      dyno_evaluate_view_show_result (e.view, new_classes (&e), NULL);
      assert_state (&e, "5 validation samples of “shapes”, 2.50 samples/s on Card");
      evaluate_again (&e);
      dyno_evaluate_view_show_result (e.view, NULL, error);
      assert_state (&e, "It broke: lower “Model width”.");
      g_assert_true (is_bad (e.state) && !is_shown (find_results (&e)));
      g_assert_false (gtk_widget_get_sensitive (e.save) || gtk_widget_get_sensitive (e.calibrate));
      evaluate_again (&e);
      one = new_evaluation (&e, 3);
      one->scores = dyno_scores_new (&one->info, 1);
      one->n_unreadable = 4;
      dyno_evaluate_view_show_result (e.view, one, NULL);
      assert_state (&e, "None of the samples could be read.");
      g_assert_false (is_bad (e.state) || is_shown (find_results (&e))
                      || gtk_widget_get_sensitive (e.save)
                      || gtk_widget_get_sensitive (e.calibrate));
    }
}

/* Of the run's data only parts are evaluated that did not train it; chosen by hand, they are all
 * its samples. */
static void
test_samples_that_trained_the_run (void)
{
  g_autofree char *known = make_folder ("of known data"),
                  *unknown = make_folder ("of unknown data");
  DynoRunFacts facts = { .n_train = 5, .fingerprint = 7 };
  g_autoptr (DynoJob) job = dyno_job_new ();

  g_assert_true (dyno_run_facts_write (known, &facts, NULL));
  facts.fingerprint = 0;
  g_assert_true (dyno_run_facts_write (unknown, &facts, NULL));
  const struct {
    const char *folder, *data;
    gboolean test;
    guint64 hash;
    gboolean trained;
  } rows[] = {
    { known, "/some/data", FALSE, 7, TRUE },
    { known, "/some/data", FALSE, 8, FALSE },
    { known, NULL, FALSE, 7, FALSE },
    { known, NULL, TRUE, 7, FALSE },
    { unknown, "/some/data", FALSE, 0, FALSE },
    { "/nowhere/at/all", "/some/data", FALSE, 7, FALSE },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      DynoEvaluateRequest *request = dyno_evaluate_request_new (rows[i].folder, job, -1);
      request->data = g_strdup (rows[i].data);
      request->test = rows[i].test;
      g_assert_true (dyno_evaluate_has_trained (request, rows[i].hash) == rows[i].trained);
      dyno_evaluate_request_unref (request);
    }
}

/* A part that the run has not is not offered. */
static void
test_only_a_run_with_a_test_part_offers_it (void)
{
  g_auto (Evaluate) with = { 0 }, without = { 0 };

  evaluate_init (&with, "with a test", TRUE);
  evaluate_init (&without, "without a test", FALSE);
  GtkWidget *views[] = { with.view, without.view };
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GPtrArray) buttons = parts_find_all (views[i], GTK_TYPE_MENU_BUTTON);
      GtkPopover *popover = gtk_menu_button_get_popover (buttons->pdata[0]);
      g_autoptr (GPtrArray) choices =
          parts_find_all (gtk_bin_get_child (GTK_BIN (popover)), GTK_TYPE_MODEL_BUTTON);
      g_assert_cmpuint (choices->len, ==, i == 0 ? 4 : 3);
    }
}

/* The samples of the flow by their accessible names, a line each without what is after ":". */
static void
assert_samples (Evaluate *e, const char *title, guint n, const guint *indices)
{
  g_autoptr (GPtrArray) flows = parts_find_all (e->view, GTK_TYPE_FLOW_BOX_CHILD);
  guint at = 0;

  g_assert_nonnull (find_label (e->view, title));
  for (guint i = 0; i < flows->len; i++)
    {
      GtkWidget *flow = gtk_widget_get_parent (flows->pdata[i]);
      if (g_strcmp0 (atk_object_get_name (gtk_widget_get_accessible (flow)), "Samples shown") != 0)
        continue;
      g_assert_cmpuint (at, <, n);
      g_autofree char *sample = dyno_dataset_describe_sample (e->dataset, indices[at]),
                      *prefix = g_strdup_printf ("%s: ", sample);
      const char *name = atk_object_get_name (gtk_widget_get_accessible (flows->pdata[i]));
      if (!g_str_has_prefix (name, prefix))
        g_error ("sample %u is “%s”, not “%s”", at, name, prefix);
      at++;
    }
  g_assert_cmpuint (at, ==, n);
}

/* The samples of a cell are those of its truth and its prediction, the worst first; another
 * evaluation begins with its own worst. */
static void
test_samples_are_of_the_chosen_cell (void)
{
  static const guint worst[] = { 1, 3, 5, 7, 9 }, taken[] = { 3, 5, 7 }, right[] = { 9 },
                     elk[] = { 1 };
  g_auto (Evaluate) e = { 0 };

  evaluate_init (&e, "cells", FALSE);
  GtkWidget *matrix = parts_find (e.view, DYNO_TYPE_CONFUSION_VIEW),
            *show = parts_find_button (e.view, "Show the Wo_rst");
  for (guint i = 0; i < 2; i++)
    {
      dyno_evaluate_view_show_result (e.view, new_classes (&e), NULL);
      assert_samples (&e, "Samples with the Largest Loss", 5, worst);
      g_assert_true (is_shown (matrix) && !is_shown (show));
      g_assert_nonnull (find_label (e.view, "Predicted, by True Class"));
      g_signal_emit_by_name (matrix, "chosen", 0, 1);
      assert_samples (&e, "3 Samples of “cat”, Taken for “dog”", 3, taken);
      g_assert_true (is_shown (show));
      g_signal_emit_by_name (matrix, "chosen", 1, 1);
      assert_samples (&e, "1 Sample of “dog” That Is Right", 1, right);
      g_signal_emit_by_name (matrix, "chosen", 2, 0);
      assert_samples (&e, "1 Sample of “elk”, Taken for “cat”", 1, elk);
      g_signal_emit_by_name (matrix, "chosen", 1, 0);
      assert_samples (&e, "0 Samples of “dog”, Taken for “cat”", 0, NULL);
      g_assert_true (is_shown (show));
      gtk_button_clicked (GTK_BUTTON (show));
      assert_samples (&e, "Samples with the Largest Loss", 5, worst);
      g_assert_false (is_shown (show));
      g_signal_emit_by_name (matrix, "chosen", 0, 1);
      evaluate_again (&e);
    }
}

/* Values, labels, and more classes than can be drawn have no matrix, and values no
 * probabilities. */
static void
test_only_few_classes_have_a_matrix (void)
{
  g_auto (Evaluate) e = { 0 };
  static const float truth[2] = { 1, 5 }, logits[2] = { 4, -6 };
  DynoPrediction prediction = { .logits = logits, .shares = logits };

  evaluate_init (&e, "matrices", FALSE);
  GtkWidget *matrix = parts_find (e.view, DYNO_TYPE_CONFUSION_VIEW);
  for (guint i = 0; i < 2; i++)
    {
      for (guint n = DYNO_EVALUATE_CLASSES; n <= DYNO_EVALUATE_CLASSES + 1; n++)
        {
          DynoEvaluation *classes = new_evaluation (&e, n);
          classes->scores = dyno_scores_new (&classes->info, 2);
          g_autofree float *zeros = g_new0 (float, n);
          DynoPrediction one = { .logits = zeros, .shares = zeros };
          dyno_scores_add_class (classes->scores, &one, n - 1);
          dyno_class_figures_get (classes->scores, &classes->figures);
          classes->n_samples = 1;
          dyno_evaluate_view_show_result (e.view, classes, NULL);
          g_assert_true (is_shown (matrix) == (n == DYNO_EVALUATE_CLASSES));
          g_assert_true (is_shown (e.calibrate));
          evaluate_again (&e);
        }
      DynoEvaluation *values = new_evaluation (&e, 2);
      values->info.is_values = TRUE;
      dyno_dataset_unref (values->dataset);
      values->dataset =
          dyno_dataset_open ("builtin:poses?size=16&samples=64", NULL, NULL, NULL, NULL, NULL);
      values->scores = dyno_scores_new (&values->info, 2);
      dyno_scores_add_values (values->scores, &prediction, truth);
      values->n_samples = 1;
      dyno_evaluate_view_show_result (e.view, values, NULL);
      g_assert_false (is_shown (matrix) || is_shown (e.calibrate));
      g_assert_nonnull (find_label (e.view, "Samples with the Largest Loss"));
      evaluate_again (&e);
      DynoEvaluation *labels = new_evaluation (&e, 2);
      labels->info.is_labels = TRUE;
      labels->scores = dyno_scores_new (&labels->info, 2);
      static const float known[2] = { 1, 0 };
      dyno_scores_add_labels (labels->scores, &prediction, known);
      labels->labels = dyno_label_details_new (labels->scores, NULL);
      labels->n_samples = 1;
      dyno_evaluate_view_show_result (e.view, labels, NULL);
      g_assert_true (!is_shown (matrix) && is_shown (e.calibrate));
      evaluate_again (&e);
    }
}

/* --- calibration ------------------------------------------------------------------------------ */

/* Adds a sample whose probability for the predicted class is 0.8. */
static void
add_sure_sample (DynoEvaluation *e, guint index, guint truth, guint predicted)
{
  float logits[3] = { 0 }, shares[3] = { 0.1f, 0.1f, 0.1f };
  DynoPrediction prediction = { .index = index, .logits = logits, .shares = shares };

  logits[predicted] = 2.0794415f; /* log (0.8 / 0.1) */
  shares[predicted] = 0.8f;
  dyno_scores_add_class (e->scores, &prediction, truth);
}

/* More often wrong than the weights are sure of. */
static DynoEvaluation *
new_unsure (Evaluate *e)
{
  DynoEvaluation *evaluation = new_evaluation (e, 3);

  evaluation->scores = dyno_scores_new (&evaluation->info, DYNO_EVALUATE_WORST);
  evaluation->info.temperature = 1;
  for (guint i = 0; i < 9; i++)
    add_sure_sample (evaluation, i, i % 3, i < 5 ? i % 3 : (i + 1) % 3);
  dyno_class_figures_get (evaluation->scores, &evaluation->figures);
  evaluation->n_samples = 9;
  return evaluation;
}

static gboolean
is_not_busy (gpointer data)
{
  return !is_shown (parts_find (((Evaluate *) data)->view, GTK_TYPE_PROGRESS_BAR));
}

static gboolean
evaluates (gpointer data)
{
  return strcmp (gtk_label_get_text (GTK_LABEL (((Evaluate *) data)->state)), "Evaluating…") == 0;
}

static void
write_weights (const char *name)
{
  g_autofree char *folder = make_folder (name),
                  *path = g_build_filename (folder, "weights.safetensors", NULL);
  static const float values[] = { 1, 2 };
  DynoSafetensor tensor = { .name = "fc.weight",
                            .type = DYNO_TENSOR_F32,
                            .n_dims = 1,
                            .size_bytes = sizeof values,
                            .shape = { 2 },
                            .data = values };
  const char *none[] = { NULL };

  g_assert_true (dyno_safetensors_write (path, &tensor, 1, none, NULL));
}

/* A calibration that fails can be repeated, and leaves what was evaluated; one that succeeds is
 * told with the evaluation that follows it, but not with that of other data. */
static void
test_a_calibration_is_told_once (void)
{
  g_auto (Evaluate) e = { 0 };

  evaluate_init (&e, "calibrated", FALSE);
  dyno_evaluate_view_show_result (e.view, new_unsure (&e), NULL);
  for (guint i = 0; i < 2; i++) /* there are no weights to write to */
    {
      gtk_button_clicked (GTK_BUTTON (e.calibrate));
      g_assert_false (is_not_busy (&e) || gtk_widget_get_sensitive (e.calibrate));
      parts_wait (is_not_busy, &e);
      g_assert_true (is_bad (e.state) && gtk_widget_get_sensitive (e.calibrate));
      g_assert_true (is_shown (find_results (&e)) && gtk_widget_get_sensitive (e.save));
    }
  write_weights ("calibrated");
  for (guint i = 0; i < 2; i++)
    {
      gtk_button_clicked (GTK_BUTTON (e.calibrate));
      parts_wait (evaluates, &e);
      g_assert_false (is_bad (e.state));
      dyno_evaluate_view_show_result (e.view, new_unsure (&e), NULL);
      g_assert_true (g_str_has_prefix (gtk_label_get_text (GTK_LABEL (e.state)),
                                       i == 0 ? "9 validation samples of" : "9 samples of"));
      g_assert_nonnull (strstr (gtk_label_get_text (GTK_LABEL (e.state)),
                                "\nThe weights are calibrated: temperature "));
      evaluate_again (&e);
      dyno_evaluate_view_show_result (e.view, new_unsure (&e), NULL);
      g_assert_null (strstr (gtk_label_get_text (GTK_LABEL (e.state)), "calibrated"));
    }
  gtk_button_clicked (GTK_BUTTON (e.calibrate)); /* it goes on, but other data are chosen */
  evaluate_again (&e);
  dyno_evaluate_view_show_result (e.view, new_unsure (&e), NULL);
  g_assert_null (strstr (gtk_label_get_text (GTK_LABEL (e.state)), "calibrated"));
}

/* --- masks ------------------------------------------------------------------------------------ */

static DynoMaskScores *
new_masks (guint n_samples)
{
  DynoMaskScores *scores = g_new0 (DynoMaskScores, 1);

  scores->n_outputs = 3;
  scores->n_samples = n_samples;
  scores->confusion = g_new0 (guint64, 9);
  scores->confusion[0] = 10;
  dyno_class_counts_init (&scores->counts, 3);
  scores->samples = g_array_new (FALSE, FALSE, sizeof (DynoMaskScored));
  scores->worst = g_array_new (FALSE, FALSE, sizeof (DynoMaskScored));
  scores->ious = g_new (double, (gsize) n_samples * 3);
  for (guint i = 0; i < n_samples * 3; i++)
    scores->ious[i] = (double) NAN;
  for (guint i = 0; i < n_samples; i++)
    {
      DynoMaskScored one = { .index = 50 - i, .iou = 0.25, .accuracy = 0.75 };
      g_array_append_val (scores->samples, one);
    }
  return scores;
}

/* Equal samples are in the order of the data set, those without the class are left out, and no
 * more are listed than have pictures. */
static void
test_the_worst_masks_of_a_class (void)
{
  g_autoptr (DynoMaskScores) scores = new_masks (DYNO_MASK_WORST_OF_CLASS + 3);

  for (guint i = 0; i < 3; i++)
    {
      g_autoptr (GArray) none = dyno_mask_pairs_list_worst (scores, i);
      g_assert_cmpuint (none->len, ==, 0);
    }
  scores->ious[3 * 4 + 1] = 0.5; /* sample 46 */
  scores->ious[3 * 2 + 1] = 0.5; /* sample 48 */
  scores->ious[3 * 6 + 1] = 0.1; /* sample 44 */
  scores->ious[3 * 0 + 1] = 0;   /* sample 50 */
  scores->ious[3 * 5 + 2] = 0.9; /* of another class */
  g_autoptr (GArray) few = dyno_mask_pairs_list_worst (scores, 1);
  const guint indices[] = { 50, 44, 46, 48 };
  const double ious[] = { 0, 0.1, 0.5, 0.5 };
  g_assert_cmpuint (few->len, ==, 4);
  for (guint i = 0; i < few->len; i++)
    {
      const DynoMaskScored *one = &g_array_index (few, DynoMaskScored, i);
      g_assert_true (one->index == indices[i] && one->iou == ious[i] && one->accuracy == 0.75);
    }
  for (guint i = 0; i < scores->samples->len; i++)
    scores->ious[3 * i + 2] = 0.01 * (scores->samples->len - i);
  g_autoptr (GArray) many = dyno_mask_pairs_list_worst (scores, 2);
  g_assert_cmpuint (many->len, ==, DYNO_MASK_WORST_OF_CLASS);
  g_assert_cmpfloat_with_epsilon (g_array_index (many, DynoMaskScored, 0).iou, 0.01, 1e-9);
  g_assert_cmpfloat_with_epsilon (
      g_array_index (many, DynoMaskScored, DYNO_MASK_WORST_OF_CLASS - 1).iou,
      0.01 * DYNO_MASK_WORST_OF_CLASS, 1e-9);
}

/* Of masks a cell stands for its true class; an evaluation of classes afterwards shows samples
 * again. */
static void
test_masks_are_of_the_chosen_class (void)
{
  static const guint overall[] = { 40, 41 }, of_dog[] = { 48, 49 }, worst[] = { 1, 3, 5, 7, 9 };
  g_auto (Evaluate) e = { 0 };

  evaluate_init (&e, "masks", FALSE);
  GtkWidget *matrix = parts_find (e.view, DYNO_TYPE_CONFUSION_VIEW),
            *show = parts_find_button (e.view, "Show the Wo_rst");
  for (guint i = 0; i < 2; i++)
    {
      DynoEvaluation *masks = new_evaluation (&e, 3);
      masks->masks = new_masks (3);
      masks->pairs = g_hash_table_new (NULL, NULL);
      masks->n_samples = 3;
      masks->masks->ious[3 * 2 + 1] = 0.125;
      masks->masks->ious[3 * 1 + 1] = 0.5;
      for (guint k = 0; k < 2; k++)
        {
          DynoMaskScored one = { .index = overall[k], .iou = 0.5, .accuracy = 0.75 };
          g_array_append_val (masks->masks->worst, one);
        }
      dyno_evaluate_view_show_result (e.view, masks, NULL);
      assert_samples (&e, "Samples with the Lowest Mean IoU: Truth, Prediction", 2, overall);
      g_assert_nonnull (find_label (e.view, "IoU 50.0"));
      g_assert_nonnull (find_label (e.view, "Percent of the Pixels, by True Class"));
      g_assert_false (is_shown (e.calibrate) || is_shown (show));
      g_autofree char *tooltip = gtk_widget_get_tooltip_text (e.save);
      g_assert_nonnull (strstr (tooltip, "IoU"));
      g_signal_emit_by_name (matrix, "chosen", 1, 0);
      assert_samples (&e, "Samples with the Lowest IoU of “dog”: Truth, Prediction", 2, of_dog);
      g_assert_nonnull (find_label (e.view, "IoU 12.5"));
      g_assert_true (is_shown (show));
      gtk_button_clicked (GTK_BUTTON (show));
      assert_samples (&e, "Samples with the Lowest Mean IoU: Truth, Prediction", 2, overall);
      g_assert_false (is_shown (show));
      evaluate_again (&e);
      dyno_evaluate_view_show_result (e.view, new_classes (&e), NULL);
      assert_samples (&e, "Samples with the Largest Loss", 5, worst);
      g_autofree char *other = gtk_widget_get_tooltip_text (e.save);
      g_assert_null (strstr (other, "IoU"));
      g_assert_true (is_shown (e.calibrate));
      evaluate_again (&e);
    }
}

/* --- predictions ------------------------------------------------------------------------------ */

typedef struct {
  GtkWidget *window, *view, *state, *save, *save_masks, *list;
} Predict;

static gboolean
has_ended (gpointer data)
{
  return strcmp (gtk_label_get_text (GTK_LABEL (data)), "Predicting…") != 0;
}

static void
predict_init (Predict *p, const char *name)
{
  g_autofree char *folder = make_folder (name);
  const char *paths[] = { "/nowhere/a.png", NULL };

  p->view = dyno_predict_view_new (folder);
  p->window = parts_show (p->view, 500, 400);
  p->save = parts_find_button (p->view, "Save Ta_ble…");
  p->save_masks = parts_find_button (p->view, "Save Mas_ks…");
  p->list = parts_find (p->view, GTK_TYPE_LIST_BOX);
  g_assert_true (is_shown (find_label (p->view, "Drop images here")) && !is_shown (p->list));
  g_assert_false (dyno_predict_view_is_busy (p->view));
  dyno_predict_view_start (p->view, paths);
  g_assert_true (dyno_predict_view_is_busy (p->view));
  g_assert_true (!is_shown (find_label (p->view, "Drop images here")) && is_shown (p->list));
  p->state = find_label (p->view, "Predicting…");
  parts_wait (has_ended, p->state); /* there are no weights */
  g_assert_false (dyno_predict_view_is_busy (p->view));
}

static void
predict_clear (Predict *p)
{
  gtk_widget_destroy (p->window);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Predict, predict_clear)

static void
predict_again (Predict *p)
{
  drop (p->view, "/nowhere/b.png");
  g_assert_cmpstr (gtk_label_get_text (GTK_LABEL (p->state)), ==, "Predicting…");
  g_assert_false (is_bad (p->state) || gtk_widget_get_sensitive (p->save)
                  || gtk_widget_get_sensitive (p->save_masks));
  g_autoptr (GPtrArray) rows = parts_find_all (p->list, GTK_TYPE_LIST_BOX_ROW);
  g_assert_cmpuint (rows->len, ==, 0);
  parts_wait (has_ended, p->state);
  g_assert_true (is_bad (p->state));
}

/* The last predictions can be saved, and have a sentence of their own. */
static void
test_predictions_are_counted (void)
{
  g_auto (Predict) p = { 0 };
  g_autoptr (GBytes) table = g_bytes_new_static ("x", 1);
  g_autoptr (GError) error = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_FAILED, "It broke.");

  predict_init (&p, "predicted");
  g_assert_true (is_bad (p.state));
  g_assert_false (gtk_widget_get_sensitive (p.save) || is_shown (p.save_masks));
  const struct {
    DynoPredictSummary summary;
    gboolean fails;
    const char *words;
    gboolean saves, has_masks, saves_masks;
  } rows[] = {
    { { .n = 1, .n_predicted = 1, .seconds = 0.5, .table = table },
      FALSE,
      "1 image, 2.00 images/s on Card",
      TRUE,
      FALSE,
      TRUE },
    { { .n = 3,
        .n_predicted = 2,
        .n_unreadable = 1,
        .seconds = 1,
        .table = table,
        .has_masks = TRUE },
      FALSE,
      "3 images, 3.00 images/s on Card; 1 could not be read",
      TRUE,
      TRUE,
      TRUE },
    { { .n = 2, .n_unreadable = 2, .table = table, .has_masks = TRUE },
      FALSE,
      "2 images, – images/s on Card; 2 could not be read",
      TRUE,
      TRUE,
      FALSE },
    /* Files that were refused before are not among the images. */
    { { .n = 1,
        .n_predicted = 1,
        .n_unreadable = 2,
        .seconds = 1,
        .table = table,
        .has_masks = TRUE },
      FALSE,
      "1 image, 1.00 images/s on Card; 2 could not be read",
      TRUE,
      TRUE,
      TRUE },
    { { .n = 0 }, FALSE, "0 images, – images/s on Card", FALSE, FALSE, FALSE },
    { { .n = 2, .n_predicted = 2, .seconds = 1, .table = table },
      TRUE,
      "It broke.",
      TRUE,
      FALSE,
      TRUE },
    { { .n = 0 }, TRUE, "It broke.", FALSE, FALSE, FALSE },
    { { .n = 2, .n_predicted = 2, .seconds = 1, .table = table, .notes = (char *) "A note." },
      FALSE,
      "2 images, 2.00 images/s on Card",
      TRUE,
      FALSE,
      TRUE },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      DynoPredictSummary summary = rows[i].summary;
      summary.device = (char *) "Card";
      dyno_predict_view_take_end (&summary, rows[i].fails ? error : NULL, p.view);
      g_autofree char *text = parts_get_texts (p.state),
                      *notes = gtk_widget_get_tooltip_text (p.state);
      g_assert_cmpstr (text, ==, rows[i].words);
      g_assert_cmpstr (notes, ==, summary.notes);
      g_assert_true (is_bad (p.state) == rows[i].fails);
      g_assert_true (gtk_widget_get_sensitive (p.save) == rows[i].saves);
      g_assert_true (is_shown (p.save_masks) == rows[i].has_masks);
      g_assert_true (gtk_widget_get_sensitive (p.save_masks) == rows[i].saves_masks);
      predict_again (&p);
    }
}

/* Rows are read aloud with all that they show; values have no bars, and numbers are of their
 * kind. */
static void
test_each_image_has_its_outputs (void)
{
  g_auto (Predict) p = { 0 };
  DynoPredictedOutput classes[] = { { (char *) "cat", 0, 0.875 }, { (char *) "dog", 1, 0.125 } },
                      values[] = { { (char *) "yaw (degrees)", 0, -12.5 } };
  const struct {
    DynoPredictedSample sample;
    const char *texts; /* a grid lists its children backwards */
    const char *name;
    guint n_bars;
  } rows[] = {
    { { .sample = (char *) "/a/one.png", .n = 2, .outputs = classes },
      "one.png\n12.5 %\ndog\n87.5 %\ncat",
      "/a/one.png: cat 87.5 %, dog 12.5 %",
      2 },
    { { .sample = (char *) "/a/two.png", .n = 1, .outputs = values, .is_values = TRUE },
      "two.png\n-12.5\nyaw (degrees)",
      "/a/two.png: yaw (degrees) -12.5",
      0 },
    { { .sample = (char *) "/a/three.png", .is_labels = TRUE },
      "three.png\nno label",
      "/a/three.png: no label",
      0 },
    { { .sample = (char *) "/a/four.png", .is_labels = TRUE, .n = 1, .outputs = classes },
      "four.png\n87.5 %\ncat",
      "/a/four.png: cat 87.5 %",
      1 },
    { { .sample = (char *) "/a/five.png", .problem = (char *) "It is broken." },
      "five.png\nIt is broken.",
      "/a/five.png: It is broken.",
      0 },
    { { .sample = (char *) "/a/six.png", .problem = (char *) "It is empty.", .is_labels = TRUE },
      "six.png\nIt is empty.",
      "/a/six.png: It is empty.",
      0 },
    { { .sample = (char *) "/a/seven.png", .has_mask = TRUE, .n = 1, .outputs = classes },
      "seven.png\n87.5 %\ncat",
      "/a/seven.png: cat 87.5 %",
      1 },
  };

  predict_init (&p, "outputs");
  for (guint round = 0; round < 2; round++)
    {
      for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
        dyno_predict_view_take_sample (&rows[i].sample, p.view);
      g_autoptr (GPtrArray) shown = parts_find_all (p.list, GTK_TYPE_LIST_BOX_ROW);
      g_assert_cmpuint (shown->len, ==, G_N_ELEMENTS (rows));
      for (guint i = 0; i < shown->len; i++)
        {
          g_autofree char *name =
              g_strdup (atk_object_get_name (gtk_widget_get_accessible (shown->pdata[i])));
          g_auto (GStrv) parts = g_strsplit (name, "\302\240", -1);
          g_autofree char *plain = g_strjoinv (" ", parts);
          g_autoptr (GPtrArray) bars = parts_find_all (shown->pdata[i], GTK_TYPE_LEVEL_BAR);
          parts_assert_texts (shown->pdata[i], rows[i].texts);
          g_assert_cmpstr (plain, ==, rows[i].name);
          g_assert_cmpuint (bars->len, ==, rows[i].n_bars);
          for (guint k = 0; k < bars->len; k++)
            g_assert_cmpfloat_with_epsilon (gtk_level_bar_get_value (bars->pdata[k]),
                                            classes[bars->len - 1 - k].number, 1e-9);
        }
      predict_again (&p);
    }
}

void
parts_add_evaluate (void)
{
  g_test_add_func ("/ui/parts/an-evaluation-names-its-samples",
                   test_an_evaluation_names_its_samples);
  g_test_add_func ("/ui/parts/samples-that-trained-the-run", test_samples_that_trained_the_run);
  g_test_add_func ("/ui/parts/only-a-run-with-a-test-part-offers-it",
                   test_only_a_run_with_a_test_part_offers_it);
  g_test_add_func ("/ui/parts/samples-are-of-the-chosen-cell", test_samples_are_of_the_chosen_cell);
  g_test_add_func ("/ui/parts/only-few-classes-have-a-matrix", test_only_few_classes_have_a_matrix);
  g_test_add_func ("/ui/parts/a-calibration-is-told-once", test_a_calibration_is_told_once);
  g_test_add_func ("/ui/parts/the-worst-masks-of-a-class", test_the_worst_masks_of_a_class);
  g_test_add_func ("/ui/parts/masks-are-of-the-chosen-class", test_masks_are_of_the_chosen_class);
  g_test_add_func ("/ui/parts/predictions-are-counted", test_predictions_are_counted);
  g_test_add_func ("/ui/parts/each-image-has-its-outputs", test_each_image_has_its_outputs);
}
