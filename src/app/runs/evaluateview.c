/* SPDX-License-Identifier: MIT */
/* One evaluation runs at a time: choosing other data cancels the one under way.  The samples that
 * are shown are the worst ones, or those of a cell of the confusion matrix. */
#include "evaluateview.h"
#include "confusionview.h"
#include "datasampler.h"
#include "evaluatefigures.h"
#include "evaluatemasks.h"
#include "export-dialog.h"
#include "format.h"
#include "oldnote.h"
#include "row.h"
#include "scorestable.h"
#include "settingtitles.h"
#include <glib/gi18n.h>

#define PICTURE     88  /* pixels */
#define LABELS_WIDE 120 /* pixels below a picture for the names of labels */
#define MOST_SHOWN  DYNO_EVALUATE_WORST
#define TICK_MS     150

typedef struct {
  GtkWidget *view, *offer, *state, *spinner, *progress, *save, *calibrate, *results, *stats,
      *matrix_box, *matrix_title, *matrix, *table, *samples_title, *worst, *flow, *old;
  DynoEvaluateRequest *request;
  DynoEvaluation *evaluation;        /* NULL: none yet */
  GCancellable *measuring, *loading; /* cancel the evaluation, and the loading of pictures */
  GPtrArray *images;                 /* GtkImage*, of the samples that are shown */
  int device;                        /* index for the next evaluation, -1: the best */
  guint ticks;                       /* timer that shows the progress */
  char *calibrated; /* the result of a calibration, until other data are evaluated; or NULL */
} View;

static void
stop (GCancellable **cancellable)
{
  if (*cancellable)
    g_cancellable_cancel (*cancellable);
  g_clear_object (cancellable);
}

static void
view_free (gpointer data)
{
  View *self = data;
  stop (&self->measuring);
  stop (&self->loading);
  g_clear_handle_id (&self->ticks, g_source_remove);
  dyno_evaluate_request_unref (self->request);
  dyno_evaluation_unref (self->evaluation);
  g_ptr_array_unref (self->images);
  g_free (self->calibrated);
  g_free (self);
}

static View *
get_view (GtkWidget *view)
{
  return g_object_get_data (G_OBJECT (view), "dyno-evaluate");
}

static GtkWindow *
get_window (View *self)
{
  return GTK_WINDOW (gtk_widget_get_toplevel (self->view));
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
  View *self = data; /* freed if the loading was cancelled */
  g_autoptr (DynoSamples) samples = dyno_sampler_finish (result, NULL);
  if (!samples)
    return;
  g_clear_object (&self->loading);
  for (guint i = 0; i < samples->shots->len && i < self->images->len; i++)
    if (samples->shots->pdata[i])
      {
        cairo_surface_t *surface = gdk_cairo_surface_create_from_pixbuf (
            samples->shots->pdata[i], gtk_widget_get_scale_factor (self->view), NULL);
        gtk_image_set_from_surface (self->images->pdata[i], surface);
        gtk_widget_show (self->images->pdata[i]);
        cairo_surface_destroy (surface);
      }
}

static void
add_box (View *self, guint64 index, const char *words, GtkWidget *image, int width)
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
add_sample (View *self, const DynoScored *one)
{
  GtkWidget *image = gtk_image_new ();
  g_autofree char *words = dyno_evaluate_describe_sample (self->evaluation, one);
  gtk_widget_set_no_show_all (image, TRUE);
  add_box (self, one->index, words, image, self->evaluation->labels ? LABELS_WIDE : PICTURE);
  g_ptr_array_add (self->images, image);
}

static void
forget_samples (View *self, const char *title)
{
  stop (&self->loading);
  g_ptr_array_set_size (self->images, 0);
  dyno_widget_clear (self->flow);
  gtk_label_set_text (GTK_LABEL (self->samples_title), title);
}

/* samples: DynoMaskScored; all have pictures. */
static void
show_masks (View *self, const GArray *samples, const char *title)
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
          gtk_widget_get_scale_factor (self->view));
      add_box (self, one->index, words, pair, 2 * PICTURE);
    }
}

/* samples: DynoScored; the first MOST_SHOWN are shown. */
static void
show_samples (View *self, const GArray *samples, const char *title)
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
                           (guint) (PICTURE * gtk_widget_get_scale_factor (self->view)),
                           self->loading, pictures_loaded, self);
}

static void
show_worst (View *self)
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
show_worst_of_class (View *self, guint truth)
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
cell_chosen (View *self, guint truth, guint predicted)
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
show_matrix (View *self)
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
show_evaluation (View *self)
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
show_progress (View *self)
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
set_busy (View *self, gboolean busy)
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

static void
show_error (View *self, const GError *error)
{
  g_autofree char *text = dyno_setting_titles_put (error->message);
  gtk_label_set_text (GTK_LABEL (self->state), text);
}

void
dyno_evaluate_view_show_result (GtkWidget *view, DynoEvaluation *evaluation, const GError *error)
{
  View *self = get_view (view);
  g_clear_pointer (&self->evaluation, dyno_evaluation_unref);
  stop (&self->measuring);
  self->evaluation = evaluation;
  set_busy (self, FALSE);
  dyno_widget_add_class (self->state, "bad-text", error != NULL);
  if (error)
    dyno_old_note_clear (self->old);
  if (error)
    show_error (self, error);
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
  View *self = data; /* freed if the work was cancelled */
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return;
  g_clear_object (&self->measuring);
  dyno_evaluate_view_show_result (self->view, evaluation, error);
}

/* data: another data set; NULL: a part of the run's, the test part if test. */
static void
start (View *self, const char *data, gboolean test)
{
  DynoEvaluateRequest *request =
      dyno_evaluate_request_new (self->request->folder, self->request->job, self->device);
  request->data = g_strdup (data);
  request->test = test;
  request->pixels = (guint) (PICTURE * gtk_widget_get_scale_factor (self->view));
  stop (&self->measuring);
  stop (&self->loading);
  gtk_widget_hide (self->offer);
  gtk_widget_hide (self->results);
  dyno_confusion_view_set_counts (DYNO_CONFUSION_VIEW (self->matrix), NULL, NULL, FALSE);
  g_clear_pointer (&self->evaluation, dyno_evaluation_unref);
  dyno_evaluate_request_unref (self->request);
  self->request = request;
  dyno_widget_add_class (self->state, "bad-text", FALSE);
  gtk_label_set_text (GTK_LABEL (self->state), _ ("Evaluating…"));
  dyno_old_note_begin (self->old);
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
  View *self = data; /* freed if the work was cancelled */
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return;
  g_clear_object (&self->measuring);
  set_busy (self, FALSE);
  if (error)
    {
      dyno_widget_add_class (self->state, "bad-text", TRUE);
      show_error (self, error);
      return;
    }
  g_autofree char *again = g_strdup (self->request->data);
  self->calibrated = g_steal_pointer (&text);
  start (self, again, FALSE);
}

static void
calibrate (View *self)
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
take (View *self, const char *data, gboolean test)
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
         guint info, guint time, View *self)
{
  g_auto (GStrv) uris = gtk_selection_data_get_uris (selection);
  g_autofree char *path = uris && uris[0] ? g_filename_from_uri (uris[0], NULL, NULL) : NULL;
  if (path)
    take (self, path, FALSE);
}

static void
choose (View *self, gboolean folder)
{
  dyno_dialog_end_with (dyno_dialog_open (get_window (self), _ ("Labelled Data"), folder, NULL,
                                          NULL, data_chosen, self),
                        self->view);
}

static void
choose_folder (View *self)
{
  choose (self, TRUE);
}

static void
choose_file (View *self)
{
  choose (self, FALSE);
}

static void
take_validation (View *self)
{
  take (self, NULL, FALSE);
}

static void
take_test (View *self)
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
save_table (View *self)
{
  dyno_dialog_save_held (get_window (self), _ ("Save the Table of Samples"), "evaluation.csv",
                         write_table, dyno_evaluation_ref (self->evaluation),
                         (GDestroyNotify) dyno_evaluation_unref, self->state);
}

/* --- the view --------------------------------------------------------------------------------- */

static void
add_choice (GtkWidget *box, const char *label, GCallback clicked, View *self)
{
  GtkWidget *button = gtk_model_button_new ();
  g_object_set (button, "text", label, NULL);
  g_signal_connect_swapped (button, "clicked", clicked, self);
  gtk_container_add (GTK_CONTAINER (box), button);
}

static GtkWidget *
new_data_button (View *self)
{
  GtkWidget *data = gtk_menu_button_new (), *popover = gtk_popover_new (data),
            *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  gtk_container_add (GTK_CONTAINER (data), gtk_label_new_with_mnemonic (_ ("D_ata")));
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
  return data;
}

/* The sentence and the button that are there before the first evaluation. */
static void
add_offer (View *self)
{
  GtkWidget *button = gtk_button_new_with_mnemonic (_ ("E_valuate the Validation Samples")),
            *label = gtk_label_new (_ ("Accuracy, confusion matrix and worst samples of the run's "
                                       "weights on labelled data"));
  self->offer = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12);
  g_object_set (self->offer, "halign", GTK_ALIGN_CENTER, "margin", 24, NULL);
  g_object_set (label, "wrap", TRUE, "justify", GTK_JUSTIFY_CENTER, "max-width-chars", 50, NULL);
  dyno_widget_add_class (label, "dim-label", TRUE);
  dyno_widget_add_class (button, "suggested-action", TRUE);
  gtk_widget_set_halign (button, GTK_ALIGN_CENTER);
  g_signal_connect_swapped (button, "clicked", G_CALLBACK (take_validation), self);
  gtk_container_add (GTK_CONTAINER (self->offer), label);
  gtk_container_add (GTK_CONTAINER (self->offer), button);
  gtk_container_add (GTK_CONTAINER (self->view), self->offer);
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
add_matrix_and_table (View *self)
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
add_samples (View *self)
{
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  self->samples_title = new_label ("", 0, "bar-title");
  gtk_label_set_ellipsize (GTK_LABEL (self->samples_title), PANGO_ELLIPSIZE_END);
  gtk_widget_set_hexpand (self->samples_title, TRUE);
  self->worst = gtk_button_new_with_mnemonic (_ ("Show the Wo_rst"));
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

/* Adds a line of parts; NULL ends the list. */
static void
add_line (View *self, GtkWidget *first, ...)
{
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8);
  va_list parts;
  va_start (parts, first);
  for (GtkWidget *part = first; part; part = va_arg (parts, GtkWidget *))
    {
      gtk_widget_set_valign (part, GTK_ALIGN_CENTER);
      gtk_container_add (GTK_CONTAINER (line), part);
    }
  va_end (parts);
  gtk_container_add (GTK_CONTAINER (self->view), line);
}

/* The data, the actions on the results, and a sentence on what was measured. */
static void
add_head (View *self)
{
  GtkWidget *data = new_data_button (self);
  self->calibrate = gtk_button_new_with_mnemonic (_ ("_Calibrate"));
  gtk_widget_set_no_show_all (self->calibrate, TRUE);
  gtk_widget_set_tooltip_text (
      self->calibrate,
      _ ("Fit the probabilities, and the thresholds of labels, to these samples, and keep that in "
         "the weights of the run"));
  g_signal_connect_swapped (self->calibrate, "clicked", G_CALLBACK (calibrate), self);
  self->save = gtk_button_new_with_mnemonic (_ ("Save Ta_ble…"));
  g_signal_connect_swapped (self->save, "clicked", G_CALLBACK (save_table), self);
  self->spinner = gtk_spinner_new ();
  gtk_widget_set_no_show_all (self->spinner, TRUE);
  g_object_bind_property (self->spinner, "active", self->spinner, "visible", G_BINDING_SYNC_CREATE);
  self->state = new_label ("", 0, NULL);
  g_object_set (self->state, "wrap", TRUE, "hexpand", TRUE, NULL);
  add_line (self, data, self->calibrate, self->save, NULL);
  add_line (self, self->spinner, self->state, NULL);
  self->old = dyno_old_note_new ();
  gtk_container_add (GTK_CONTAINER (self->view), self->old);
}

static void
add_results (View *self)
{
  self->progress = gtk_progress_bar_new ();
  gtk_widget_set_no_show_all (self->progress, TRUE);
  dyno_widget_add_class (self->progress, "thin", TRUE);
  dyno_widget_set_accessible_name (self->progress, _ ("Samples evaluated"));
  gtk_container_add (GTK_CONTAINER (self->view), self->progress);
  self->results = gtk_box_new (GTK_ORIENTATION_VERTICAL, 18);
  self->stats = gtk_flow_box_new ();
  g_object_set (self->stats, "selection-mode", GTK_SELECTION_NONE, "max-children-per-line", 8,
                "homogeneous", TRUE, NULL);
  dyno_widget_add_class (self->stats, "stats", TRUE);
  gtk_container_add (GTK_CONTAINER (self->results), self->stats);
  add_matrix_and_table (self);
  add_samples (self);
  gtk_container_add (GTK_CONTAINER (self->view), self->results);
}

gboolean
dyno_evaluate_view_is_busy (GtkWidget *view)
{
  return get_view (view)->measuring != NULL;
}

void
dyno_evaluate_view_set_device (GtkWidget *view, int device)
{
  get_view (view)->device = device;
}

void
dyno_evaluate_view_set_steps (GtkWidget *view, guint64 steps)
{
  dyno_old_note_set_steps (get_view (view)->old, steps);
}

GtkWidget *
dyno_evaluate_view_new (const char *folder, const DynoJob *job)
{
  View *self = g_new0 (View, 1);
  self->device = -1;
  self->request = dyno_evaluate_request_new (folder, job, -1);
  self->images = g_ptr_array_new ();
  self->view = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12);
  g_object_set_data_full (G_OBJECT (self->view), "dyno-evaluate", self, view_free);
  dyno_widget_set_accessible_name (self->view, _ ("Evaluation"));
  add_head (self);
  add_offer (self);
  add_results (self);
  gtk_widget_show_all (self->view);
  gtk_widget_hide (self->results);
  gtk_widget_set_sensitive (self->save, FALSE);
  gtk_drag_dest_set (self->view, GTK_DEST_DEFAULT_ALL, NULL, 0, GDK_ACTION_COPY);
  gtk_drag_dest_add_uri_targets (self->view);
  g_signal_connect (self->view, "drag-data-received", G_CALLBACK (dropped), self);
  return self->view;
}
