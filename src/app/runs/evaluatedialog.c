/* SPDX-License-Identifier: MIT */
/* One evaluation runs at a time: choosing other data cancels the one under way.  The samples that
 * are shown are the worst ones, or those of a cell of the confusion matrix. */
#include "evaluatedialog.h"
#include "confusionview.h"
#include "datasampler.h"
#include "evaluatefigures.h"
#include "evaluatemasks.h"
#include "export-dialog.h"
#include "format.h"
#include "row.h"
#include "scorestable.h"
#include <glib/gi18n.h>

#define PICTURE     88  /* pixels */
#define LABELS_WIDE 120 /* pixels below a picture for the names of labels */
#define MOST_SHOWN  DYNO_EVALUATE_WORST
#define TICK_MS     150

typedef struct {
  GtkWidget *dialog, *state, *spinner, *progress, *save, *calibrate, *results, *stats, *matrix_box,
      *matrix_title, *matrix, *table, *samples_title, *worst, *flow;
  DynoEvaluateRequest *request;
  DynoEvaluation *evaluation;        /* NULL: none yet */
  GCancellable *measuring, *loading; /* cancel the evaluation, and the loading of pictures */
  GPtrArray *images;                 /* GtkImage*, of the samples that are shown */
  guint ticks;                       /* timer that shows the progress */
  char *calibrated; /* the result of a calibration, until other data are evaluated; or NULL */
} Dialog;

static void
stop (GCancellable **cancellable)
{
  if (*cancellable)
    g_cancellable_cancel (*cancellable);
  g_clear_object (cancellable);
}

static void
dialog_free (gpointer data)
{
  Dialog *self = data;
  stop (&self->measuring);
  stop (&self->loading);
  g_clear_handle_id (&self->ticks, g_source_remove);
  dyno_evaluate_request_unref (self->request);
  dyno_evaluation_unref (self->evaluation);
  g_ptr_array_unref (self->images);
  g_free (self->calibrated);
  g_free (self);
}

static GtkWidget *
new_label (const char *text, float align, const char *class)
{
  GtkWidget *label = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), align);
  if (class)
    dyno_widget_add_class (label, class, TRUE);
  return label;
}

/* --- samples ---------------------------------------------------------------------------------- */

static void
pictures_loaded (GObject *source, GAsyncResult *result, gpointer data)
{
  Dialog *self = data; /* freed if the loading was cancelled */
  g_autoptr (DynoSamples) samples = dyno_sampler_finish (result, NULL);
  if (!samples)
    return;
  g_clear_object (&self->loading);
  for (guint i = 0; i < samples->shots->len && i < self->images->len; i++)
    if (samples->shots->pdata[i])
      {
        cairo_surface_t *surface = gdk_cairo_surface_create_from_pixbuf (
            samples->shots->pdata[i], gtk_widget_get_scale_factor (self->dialog), NULL);
        gtk_image_set_from_surface (self->images->pdata[i], surface);
        gtk_widget_show (self->images->pdata[i]);
        cairo_surface_destroy (surface);
      }
}

static void
add_box (Dialog *self, guint64 index, const char *words, GtkWidget *image, int width)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 4);
  g_autofree char *sample = dyno_dataset_describe_sample (self->evaluation->dataset, index),
                  *spoken = g_strdup_printf ("%s: %s", sample, words);
  GtkWidget *label = new_label (words, 0.5, "caption");
  gtk_label_set_justify (GTK_LABEL (label), GTK_JUSTIFY_CENTER);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 18);
  if (self->evaluation->labels) /* names of labels are long */
    g_object_set (label, "wrap", TRUE, "lines", 2, "valign", GTK_ALIGN_START, NULL);
  gtk_widget_set_size_request (box, width + 12, -1);
  gtk_container_add (GTK_CONTAINER (box), image);
  gtk_container_add (GTK_CONTAINER (box), label);
  gtk_widget_set_tooltip_text (box, spoken);
  gtk_container_add (GTK_CONTAINER (self->flow), box);
  GtkWidget *child = gtk_widget_get_parent (box);
  dyno_widget_set_accessible_name (child, spoken);
  gtk_widget_show_all (child);
}

static void
add_sample (Dialog *self, const DynoScored *one)
{
  GtkWidget *image = gtk_image_new ();
  g_autofree char *words = dyno_evaluate_describe_sample (self->evaluation, one);
  gtk_widget_set_no_show_all (image, TRUE);
  add_box (self, one->index, words, image, self->evaluation->labels ? LABELS_WIDE : PICTURE);
  g_ptr_array_add (self->images, image);
}

static void
forget_samples (Dialog *self, const char *title)
{
  stop (&self->loading);
  g_ptr_array_set_size (self->images, 0);
  dyno_widget_clear (self->flow);
  gtk_label_set_text (GTK_LABEL (self->samples_title), title);
}

/* samples: DynoMaskScored; all have pictures. */
static void
show_masks (Dialog *self, const GArray *samples, const char *title)
{
  forget_samples (self, title);
  for (guint i = 0; i < samples->len; i++)
    {
      const DynoMaskScored *one = &g_array_index (samples, DynoMaskScored, i);
      g_autofree char *iou = dyno_format_percent (one->iou),
                      *right = dyno_format_percent (one->accuracy),
                      /* Translators: shares */
                          *words =
                              g_strdup_printf (_ ("IoU %s\n%s of the pixels right"), iou, right);
      GtkWidget *pair = dyno_mask_pair_new (
          g_hash_table_lookup (self->evaluation->pairs, GUINT_TO_POINTER ((guint) one->index)),
          gtk_widget_get_scale_factor (self->dialog));
      add_box (self, one->index, words, pair, 2 * PICTURE);
    }
}

/* samples: DynoScored; the first MOST_SHOWN are shown. */
static void
show_samples (Dialog *self, const GArray *samples, const char *title)
{
  g_autoptr (GArray) indices = g_array_new (FALSE, FALSE, sizeof (guint32));
  forget_samples (self, title);
  for (guint i = 0; i < MIN (samples->len, MOST_SHOWN); i++)
    {
      const DynoScored *one = &g_array_index (samples, DynoScored, i);
      guint32 index = (guint32) one->index;
      g_array_append_val (indices, index);
      add_sample (self, one);
    }
  self->loading = g_cancellable_new ();
  dyno_sampler_show_async (self->evaluation->dataset, indices,
                           (guint) (PICTURE * gtk_widget_get_scale_factor (self->dialog)),
                           self->loading, pictures_loaded, self);
}

static void
show_worst (Dialog *self)
{
  dyno_confusion_view_unchoose (DYNO_CONFUSION_VIEW (self->matrix));
  gtk_widget_hide (self->worst);
  if (self->evaluation->masks)
    show_masks (self, self->evaluation->masks->worst,
                _ ("Samples with the Lowest Mean IoU: Truth, Prediction"));
  else
    show_samples (self, self->evaluation->scores->worst, _ ("Samples with the Largest Loss"));
}

static int
compare_loss (gconstpointer a, gconstpointer b)
{
  double x = ((const DynoScored *) a)->loss, y = ((const DynoScored *) b)->loss;
  return (x < y) - (x > y);
}

/* The samples that have the pixels of one cell are not known, only those of the cell's row. */
static void
show_worst_of_class (Dialog *self, guint truth)
{
  const DynoEvaluation *e = self->evaluation;
  g_autoptr (GArray) samples = dyno_mask_pairs_list_worst (e->masks, truth);
  g_autofree char *name = dyno_weights_info_name_class (&e->info, truth),
                  *title = g_strdup_printf (
                      /* Translators: a class */
                      _ ("Samples with the Lowest IoU of “%s”: Truth, Prediction"), name);
  gtk_widget_show (self->worst);
  show_masks (self, samples, title);
}

static void
cell_chosen (Dialog *self, guint truth, guint predicted)
{
  const DynoEvaluation *e = self->evaluation;
  if (e->masks)
    {
      show_worst_of_class (self, truth);
      return;
    }
  g_autoptr (GArray) samples = g_array_new (FALSE, FALSE, sizeof (DynoScored));
  for (guint i = 0; i < e->scores->samples->len; i++)
    {
      const DynoScored *one = &g_array_index (e->scores->samples, DynoScored, i);
      if (one->truth == truth && one->predicted == predicted)
        g_array_append_val (samples, *one);
    }
  g_array_sort (samples, compare_loss);
  g_autofree char *is = dyno_weights_info_name_class (&e->info, truth),
                  *was = dyno_weights_info_name_class (&e->info, predicted),
                  *count = dyno_format_count (samples->len), *title = NULL;
  title = truth == predicted
              /* Translators: samples, a class */
              ? g_strdup_printf (ngettext ("%s Sample of “%s” That Is Right",
                                           "%s Samples of “%s” That Are Right", samples->len),
                                 count, is)
              /* Translators: samples, the true class, the predicted class */
              : g_strdup_printf (ngettext ("%s Sample of “%s”, Taken for “%s”",
                                           "%s Samples of “%s”, Taken for “%s”", samples->len),
                                 count, is, was);
  gtk_widget_show (self->worst);
  show_samples (self, samples, title);
}

/* --- measuring -------------------------------------------------------------------------------- */

static void
show_matrix (Dialog *self)
{
  const DynoEvaluation *e = self->evaluation;
  gboolean shown = !e->info.is_values && !e->labels && e->info.n_outputs <= DYNO_EVALUATE_CLASSES;
  const guint64 *counts = e->masks ? e->masks->confusion : e->scores->confusion;
  dyno_confusion_view_set_counts (DYNO_CONFUSION_VIEW (self->matrix), shown ? counts : NULL,
                                  &e->info, e->masks != NULL);
  gtk_label_set_text (GTK_LABEL (self->matrix_title),
                      e->masks ? _ ("Percent of the Pixels, by True Class")
                               : _ ("Predicted, by True Class"));
  gtk_widget_set_visible (self->matrix_box, shown);
}

static void
show_evaluation (Dialog *self)
{
  const DynoEvaluation *e = self->evaluation;
  const DynoDatasetInfo *data = dyno_dataset_get_info (e->dataset);
  g_autofree char *count = dyno_format_count (e->n_samples),
                  *rate =
                      dyno_format_rate (e->seconds > 0 ? (double) e->n_samples / e->seconds : 0);
  g_autoptr (GString) text = g_string_new (NULL);
  if (self->request->data)
    g_string_append_printf (text,
                            /* Translators: samples, data set, samples per second, device */
                            ngettext ("%s sample of “%s”, %s samples/s on %s",
                                      "%s samples of “%s”, %s samples/s on %s",
                                      (gulong) e->n_samples),
                            count, data->name, rate, e->device);
  else if (self->request->test)
    g_string_append_printf (text,
                            ngettext ("%s test sample of “%s”, %s samples/s on %s",
                                      "%s test samples of “%s”, %s samples/s on %s",
                                      (gulong) e->n_samples),
                            count, data->name, rate, e->device);
  else
    g_string_append_printf (text,
                            ngettext ("%s validation sample of “%s”, %s samples/s on %s",
                                      "%s validation samples of “%s”, %s samples/s on %s",
                                      (gulong) e->n_samples),
                            count, data->name, rate, e->device);
  if (e->n_unreadable > 0)
    {
      g_autofree char *bad = dyno_format_count (e->n_unreadable);
      g_string_append (text, "; ");
      g_string_append_printf (
          text, ngettext ("%s could not be read", "%s could not be read", (gulong) e->n_unreadable),
          bad);
    }
  if (e->notes)
    g_string_append_printf (text, "\n%s", e->notes);
  if (self->calibrated)
    g_string_append_printf (text, "\n%s", self->calibrated);
  gtk_label_set_text (GTK_LABEL (self->state), text->str);
  dyno_evaluate_figures_show (self->stats, e);
  dyno_evaluate_table_show (GTK_TREE_VIEW (self->table), e);
  show_matrix (self);
  gtk_widget_set_tooltip_text (
      self->save, e->masks
                      ? _ ("Mean IoU, pixel accuracy and the IoU of each class of each sample, "
                           "as CSV")
                      : _ ("Truth, prediction and loss of each sample, as CSV"));
  gtk_widget_show (self->results);
  show_worst (self);
}

static void
show_progress (Dialog *self)
{
  int n = g_atomic_int_get (&self->request->n_samples),
      done = g_atomic_int_get (&self->request->n_done);
  gtk_progress_bar_set_fraction (GTK_PROGRESS_BAR (self->progress),
                                 n > 0 ? CLAMP ((double) done / n, 0, 1) : 0);
}

static gboolean
tick (gpointer data)
{
  show_progress (data);
  return G_SOURCE_CONTINUE;
}

static void
set_busy (Dialog *self, gboolean busy)
{
  g_clear_handle_id (&self->ticks, g_source_remove);
  if (busy)
    self->ticks = g_timeout_add (TICK_MS, tick, self);
  g_object_set (self->spinner, "active", busy, NULL);
  gtk_widget_set_visible (self->progress, busy);
  gtk_widget_set_sensitive (self->save, self->evaluation && self->evaluation->n_samples > 0);
  if (self->evaluation) /* values and masks have no probabilities */
    gtk_widget_set_visible (self->calibrate,
                            self->evaluation->scores && !self->evaluation->info.is_values);
  gtk_widget_set_sensitive (self->calibrate,
                            !busy && self->evaluation
                                && dyno_evaluation_can_calibrate (self->request, self->evaluation));
}

void
dyno_evaluate_dialog_show_result (GtkWidget *dialog, DynoEvaluation *evaluation,
                                  const GError *error)
{
  Dialog *self = g_object_get_data (G_OBJECT (dialog), "dyno-evaluate");
  g_return_if_fail (!self->evaluation);
  stop (&self->measuring);
  self->evaluation = evaluation;
  set_busy (self, FALSE);
  dyno_widget_add_class (self->state, "bad-text", error != NULL);
  if (error)
    gtk_label_set_text (GTK_LABEL (self->state), error->message);
  else if (evaluation->n_samples == 0)
    gtk_label_set_text (GTK_LABEL (self->state), _ ("None of the samples could be read."));
  else
    show_evaluation (self);
}

static void
measured (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;
  DynoEvaluation *evaluation = dyno_evaluate_finish (result, &error);
  Dialog *self = data; /* freed if the work was cancelled */
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return;
  g_clear_object (&self->measuring);
  dyno_evaluate_dialog_show_result (self->dialog, evaluation, error);
}

/* data: another data set; NULL: a part of the run's, the test part if test. */
static void
start (Dialog *self, const char *data, gboolean test)
{
  DynoEvaluateRequest *request =
      dyno_evaluate_request_new (self->request->folder, self->request->job, self->request->device);
  request->data = g_strdup (data);
  request->test = test;
  request->pixels = (guint) (PICTURE * gtk_widget_get_scale_factor (self->dialog));
  stop (&self->measuring);
  stop (&self->loading);
  gtk_widget_hide (self->results);
  dyno_confusion_view_set_counts (DYNO_CONFUSION_VIEW (self->matrix), NULL, NULL, FALSE);
  g_clear_pointer (&self->evaluation, dyno_evaluation_unref);
  dyno_evaluate_request_unref (self->request);
  self->request = request;
  dyno_widget_add_class (self->state, "bad-text", FALSE);
  gtk_label_set_text (GTK_LABEL (self->state), _ ("Evaluating…"));
  set_busy (self, TRUE);
  show_progress (self);
  self->measuring = g_cancellable_new ();
  dyno_evaluate_async (request, self->measuring, measured, self);
}

static void
calibrated (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = dyno_evaluation_calibrate_finish (result, &error);
  Dialog *self = data; /* freed if the work was cancelled */
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return;
  g_clear_object (&self->measuring);
  set_busy (self, FALSE);
  if (error)
    {
      dyno_widget_add_class (self->state, "bad-text", TRUE);
      gtk_label_set_text (GTK_LABEL (self->state), error->message);
      return;
    }
  g_autofree char *again = g_strdup (self->request->data);
  self->calibrated = g_steal_pointer (&text);
  start (self, again, FALSE);
}

static void
calibrate (Dialog *self)
{
  g_clear_pointer (&self->calibrated, g_free);
  stop (&self->measuring);
  self->measuring = g_cancellable_new ();
  dyno_evaluation_calibrate_async (self->request, self->evaluation, self->measuring, calibrated,
                                   self);
  set_busy (self, TRUE);
}

/* Evaluates on data that were chosen. */
static void
take (Dialog *self, const char *data, gboolean test)
{
  g_clear_pointer (&self->calibrated, g_free);
  start (self, data, test);
}

/* --- data and table --------------------------------------------------------------------------- */

static void
data_chosen (const char *path, const DynoExporter *exporter, gpointer data)
{
  take (data, path, FALSE);
}

static void
dropped (GtkWidget *widget, GdkDragContext *context, int x, int y, GtkSelectionData *selection,
         guint info, guint time, Dialog *self)
{
  g_auto (GStrv) uris = gtk_selection_data_get_uris (selection);
  g_autofree char *path = uris && uris[0] ? g_filename_from_uri (uris[0], NULL, NULL) : NULL;
  if (path)
    take (self, path, FALSE);
}

static void
choose_folder (Dialog *self)
{
  dyno_dialog_open (GTK_WINDOW (self->dialog), _ ("Labelled Data"), TRUE, NULL, NULL, data_chosen,
                    self);
}

static void
choose_file (Dialog *self)
{
  dyno_dialog_open (GTK_WINDOW (self->dialog), _ ("Labelled Data"), FALSE, NULL, NULL, data_chosen,
                    self);
}

static void
take_validation (Dialog *self)
{
  take (self, NULL, FALSE);
}

static void
take_test (Dialog *self)
{
  take (self, NULL, TRUE);
}

static gboolean
write_table (gpointer data, const char *path, GError **error)
{
  const DynoEvaluation *e = data;
  if (e->masks)
    return dyno_mask_scores_write_table (e->masks, &e->info, e->dataset, path, error);
  return dyno_scores_write_table (e->scores, &e->info, e->dataset, path, error);
}

static void
save_table (Dialog *self)
{
  dyno_dialog_save_held (GTK_WINDOW (self->dialog), _ ("Save the Table of Samples"),
                         "evaluation.csv", write_table, dyno_evaluation_ref (self->evaluation),
                         (GDestroyNotify) dyno_evaluation_unref, self->state);
}

/* --- the dialog ------------------------------------------------------------------------------- */

static void
add_choice (GtkWidget *box, const char *label, GCallback clicked, Dialog *self)
{
  GtkWidget *button = gtk_model_button_new ();
  g_object_set (button, "text", label, NULL);
  g_signal_connect_swapped (button, "clicked", clicked, self);
  gtk_container_add (GTK_CONTAINER (box), button);
}

static void
add_head (Dialog *self)
{
  GtkHeaderBar *bar = GTK_HEADER_BAR (gtk_dialog_get_header_bar (GTK_DIALOG (self->dialog)));
  GtkWidget *data = gtk_menu_button_new (), *popover = gtk_popover_new (data),
            *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0),
            *label = gtk_label_new_with_mnemonic (_ ("_Data"));
  gtk_container_add (GTK_CONTAINER (data), label);
  g_object_set (box, "margin", 8, NULL);
  add_choice (box, _ ("Validation Samples of the Run"), G_CALLBACK (take_validation), self);
  if (dyno_evaluate_has_test (self->request->folder))
    add_choice (box, _ ("Test Samples of the Run"), G_CALLBACK (take_test), self);
  add_choice (box, _ ("Folder…"), G_CALLBACK (choose_folder), self);
  add_choice (box, _ ("File…"), G_CALLBACK (choose_file), self);
  gtk_container_add (GTK_CONTAINER (popover), box);
  gtk_widget_show_all (box);
  gtk_menu_button_set_popover (GTK_MENU_BUTTON (data), popover);
  gtk_widget_set_tooltip_text (data, _ ("Labelled data to evaluate on"));
  gtk_widget_show_all (data);
  gtk_header_bar_pack_start (bar, data);
  self->save = gtk_button_new_with_mnemonic (_ ("_Save Table…"));
  g_signal_connect_swapped (self->save, "clicked", G_CALLBACK (save_table), self);
  gtk_widget_show (self->save);
  gtk_header_bar_pack_end (bar, self->save);
}

static GtkWidget *
new_scrolled (GtkWidget *child, const char *name, GtkPolicyType horizontal, GtkPolicyType vertical)
{
  GtkWidget *scrolled = gtk_scrolled_window_new (NULL, NULL);
  dyno_widget_set_accessible_name (scrolled, name);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scrolled), horizontal, vertical);
  gtk_container_add (GTK_CONTAINER (scrolled), child);
  return scrolled;
}

static void
add_matrix_and_table (Dialog *self)
{
  GtkWidget *both = gtk_flow_box_new (), *table;
  g_object_set (both, "max-children-per-line", 2, "selection-mode", GTK_SELECTION_NONE,
                "column-spacing", 18, "row-spacing", 12, "homogeneous", FALSE, NULL);
  self->matrix = dyno_confusion_view_new ();
  g_object_set (self->matrix, "halign", GTK_ALIGN_START, "valign", GTK_ALIGN_START, NULL);
  g_signal_connect_swapped (self->matrix, "chosen", G_CALLBACK (cell_chosen), self);
  self->matrix_box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  self->matrix_title = new_label ("", 0, "bar-title");
  gtk_container_add (GTK_CONTAINER (self->matrix_box), self->matrix_title);
  table =
      new_scrolled (self->matrix, _ ("Confusion matrix"), GTK_POLICY_AUTOMATIC, GTK_POLICY_NEVER);
  g_object_set (table, "propagate-natural-width", TRUE, "min-content-width", 260, NULL);
  gtk_container_add (GTK_CONTAINER (self->matrix_box), table);
  gtk_container_add (GTK_CONTAINER (both), self->matrix_box);
  /* Without the matrix the table has the whole width. */
  g_object_bind_property (self->matrix_box, "visible", gtk_widget_get_parent (self->matrix_box),
                          "visible", G_BINDING_SYNC_CREATE);
  self->table = gtk_tree_view_new ();
  dyno_widget_set_accessible_name (self->table, _ ("Figures of each output"));
  gtk_tree_view_set_enable_search (GTK_TREE_VIEW (self->table), FALSE);
  table = new_scrolled (self->table, _ ("Figures of each output"), GTK_POLICY_AUTOMATIC,
                        GTK_POLICY_AUTOMATIC);
  g_object_set (table, "min-content-height", 190, "max-content-height", 340, "min-content-width",
                320, "propagate-natural-height", TRUE, "propagate-natural-width", TRUE, "valign",
                GTK_ALIGN_START, NULL);
  dyno_widget_add_class (table, "card", TRUE);
  dyno_widget_add_class (table, "list-card", TRUE);
  gtk_container_add (GTK_CONTAINER (both), table);
  g_autoptr (GList) children = gtk_container_get_children (GTK_CONTAINER (both));
  for (GList *l = children; l; l = l->next)
    gtk_widget_set_can_focus (l->data, FALSE);
  gtk_container_add (GTK_CONTAINER (self->results), both);
}

static void
add_samples (Dialog *self)
{
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  self->samples_title = new_label ("", 0, "bar-title");
  gtk_label_set_ellipsize (GTK_LABEL (self->samples_title), PANGO_ELLIPSIZE_END);
  gtk_widget_set_hexpand (self->samples_title, TRUE);
  self->worst = gtk_button_new_with_mnemonic (_ ("Show the _Worst"));
  gtk_widget_set_no_show_all (self->worst, TRUE);
  g_signal_connect_swapped (self->worst, "clicked", G_CALLBACK (show_worst), self);
  gtk_container_add (GTK_CONTAINER (head), self->samples_title);
  gtk_container_add (GTK_CONTAINER (head), self->worst);
  gtk_container_add (GTK_CONTAINER (self->results), head);
  self->flow = gtk_flow_box_new ();
  g_object_set (self->flow, "selection-mode", GTK_SELECTION_NONE, "max-children-per-line", 12,
                "column-spacing", 6, "row-spacing", 12, "homogeneous", TRUE, "valign",
                GTK_ALIGN_START, NULL);
  dyno_widget_set_accessible_name (self->flow, _ ("Samples shown"));
  gtk_container_add (GTK_CONTAINER (self->results), self->flow);
}

static void
add_content (Dialog *self)
{
  GtkWidget *content = gtk_dialog_get_content_area (GTK_DIALOG (self->dialog)),
            *state = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8), *scrolled;
  g_object_set (content, "spacing", 0, "border-width", 0, NULL);
  self->spinner = gtk_spinner_new ();
  gtk_widget_set_no_show_all (self->spinner, TRUE);
  g_object_bind_property (self->spinner, "active", self->spinner, "visible", G_BINDING_SYNC_CREATE);
  self->state = new_label ("", 0, NULL);
  g_object_set (self->state, "wrap", TRUE, "hexpand", TRUE, NULL);
  gtk_container_add (GTK_CONTAINER (state), self->spinner);
  gtk_container_add (GTK_CONTAINER (state), self->state);
  self->calibrate = gtk_button_new_with_mnemonic (_ ("_Calibrate"));
  gtk_widget_set_valign (self->calibrate, GTK_ALIGN_CENTER);
  gtk_widget_set_no_show_all (self->calibrate, TRUE);
  gtk_widget_set_tooltip_text (
      self->calibrate,
      _ ("Fit the probabilities, and the thresholds of labels, to these samples, and keep that in "
         "the weights of the run"));
  g_signal_connect_swapped (self->calibrate, "clicked", G_CALLBACK (calibrate), self);
  gtk_container_add (GTK_CONTAINER (state), self->calibrate);
  g_object_set (state, "margin", 18, "margin-bottom", 12, NULL);
  gtk_container_add (GTK_CONTAINER (content), state);
  self->progress = gtk_progress_bar_new ();
  dyno_widget_add_class (self->progress, "thin", TRUE);
  dyno_widget_set_accessible_name (self->progress, _ ("Samples evaluated"));
  g_object_set (self->progress, "margin-start", 18, "margin-end", 18, NULL);
  gtk_container_add (GTK_CONTAINER (content), self->progress);
  self->results = gtk_box_new (GTK_ORIENTATION_VERTICAL, 18);
  g_object_set (self->results, "margin", 18, "margin-top", 6, NULL);
  self->stats = gtk_flow_box_new ();
  g_object_set (self->stats, "selection-mode", GTK_SELECTION_NONE, "max-children-per-line", 8,
                "homogeneous", TRUE, NULL);
  dyno_widget_add_class (self->stats, "stats", TRUE);
  gtk_container_add (GTK_CONTAINER (self->results), self->stats);
  add_matrix_and_table (self);
  add_samples (self);
  scrolled = new_scrolled (self->results, _ ("Evaluation"), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_widget_set_vexpand (scrolled, TRUE);
  gtk_container_add (GTK_CONTAINER (content), scrolled);
  gtk_widget_show_all (content);
}

GtkWidget *
dyno_evaluate_dialog_show (GtkWindow *parent, const char *folder, const DynoJob *job,
                           const char *title, int device)
{
  Dialog *self = g_new0 (Dialog, 1);
  /* Translators: a run's name */
  g_autofree char *whole = g_strdup_printf (_ ("Evaluation of “%s”"), title);
  int width, height;
  self->request = dyno_evaluate_request_new (folder, job, device);
  self->images = g_ptr_array_new ();
  self->dialog = gtk_dialog_new_with_buttons (
      whole, parent, GTK_DIALOG_DESTROY_WITH_PARENT | GTK_DIALOG_USE_HEADER_BAR, NULL, NULL);
  g_object_set_data_full (G_OBJECT (self->dialog), "dyno-evaluate", self, dialog_free);
  g_signal_connect (self->dialog, "response", G_CALLBACK (gtk_widget_destroy), NULL);
  gtk_window_get_size (parent, &width, &height);
  gtk_window_set_default_size (GTK_WINDOW (self->dialog), CLAMP (width - 80, 360, 980),
                               CLAMP (height - 40, 320, 820));
  add_head (self);
  add_content (self);
  gtk_drag_dest_set (self->dialog, GTK_DEST_DEFAULT_ALL, NULL, 0, GDK_ACTION_COPY);
  gtk_drag_dest_add_uri_targets (self->dialog);
  g_signal_connect (self->dialog, "drag-data-received", G_CALLBACK (dropped), self);
  gtk_widget_show (self->dialog);
  start (self, NULL, FALSE);
  return self->dialog;
}
