/* SPDX-License-Identifier: MIT */
#include "evaluatefigures.h"
#include "format.h"
#include "maskpicture.h"
#include "row.h"
#include <glib/gi18n.h>
#include <math.h>

#define SWATCH     12  /* pixels */
#define LEAST_NAME 110 /* pixels of the column; the table scrolls where there is less room */

static GtkWidget *
new_label (const char *text, const char *class)
{
  GtkWidget *label = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  dyno_widget_add_class (label, class, TRUE);
  return label;
}

static void
add_figure (GtkWidget *flow, const char *name, char *value, const char *help)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 2);
  g_autofree char *text = value, *spoken = g_strdup_printf ("%s: %s", name, value);
  gtk_container_add (GTK_CONTAINER (box), new_label (name, "stat-title"));
  gtk_container_add (GTK_CONTAINER (box), new_label (text, "stat-value"));
  dyno_widget_add_class (box, "stat", TRUE);
  gtk_widget_set_tooltip_text (box, help);
  gtk_container_add (GTK_CONTAINER (flow), box);
  GtkWidget *child = gtk_widget_get_parent (box);
  gtk_widget_set_can_focus (child, FALSE);
  dyno_widget_set_accessible_name (child, spoken);
}

static void
show_class_figures (GtkWidget *flow, const DynoEvaluation *e)
{
  const DynoScores *s = e->scores;
  const DynoClassFigures *f = &e->figures;
  add_figure (flow, _ ("Accuracy"),
              dyno_format_percent ((double) s->n_correct / (double) s->n_samples), NULL);
  if (s->n_outputs > 5)
    add_figure (flow, _ ("Top 5"),
                dyno_format_percent ((double) s->n_correct_5 / (double) s->n_samples),
                _ ("The true class is among the five most likely ones"));
  add_figure (flow, _ ("Balanced Accuracy"), dyno_format_percent (f->means.balanced_accuracy),
              _ ("The mean over the classes of the share that is right: rare classes count as much "
                 "as frequent ones"));
  add_figure (flow, _ ("F1"), dyno_format_percent (f->means.f1),
              _ ("The mean over the classes of the harmonic mean of precision and recall"));
  if (isfinite (f->roc_auc))
    add_figure (flow, _ ("ROC AUC"), dyno_format_value (f->roc_auc),
                _ ("How well the probabilities separate each class from all others: 0.5 by chance, "
                   "1 at the best"));
  add_figure (flow, _ ("Calibration Error"), dyno_format_percent (f->calibration_error),
              _ ("By how much the probabilities of the predicted classes miss their accuracy"));
  add_figure (flow, _ ("Loss"), dyno_format_value (dyno_scores_get_loss (s)), NULL);
}

static void
show_value_figures (GtkWidget *flow, const DynoEvaluation *e)
{
  const DynoScores *s = e->scores;
  double n = (double) s->n_samples;
  for (guint32 i = 0; i < MIN (s->n_outputs, 6); i++)
    {
      g_autofree char *name = dyno_weights_info_name_value (&e->info, i);
      add_figure (flow, name, dyno_format_value (s->values.absolute[i] / n),
                  _ ("Mean absolute error"));
    }
  add_figure (flow, _ ("Loss"), dyno_format_value (dyno_scores_get_loss (s)), NULL);
}

static void
show_mask_figures (GtkWidget *flow, const DynoEvaluation *e)
{
  DynoClassMeans means;
  dyno_class_counts_get_means (&e->masks->counts, &means);
  add_figure (flow, _ ("Mean IoU"), dyno_format_percent (means.iou),
              _ ("The mean over the classes of the pixels that truth and prediction share, of all "
                 "that one of them has"));
  add_figure (flow, _ ("Mean Dice"), dyno_format_percent (means.f1),
              _ ("The mean over the classes of the harmonic mean of precision and recall"));
  add_figure (flow, _ ("Pixel Accuracy"),
              dyno_format_percent (dyno_mask_scores_get_accuracy (e->masks)),
              _ ("The share of the pixels whose class is right"));
}

static void
show_label_figures (GtkWidget *flow, const DynoEvaluation *e)
{
  const DynoLabelFigures *f = &e->labels->figures;
  add_figure (
      flow, _ ("Mean Average Precision"), dyno_format_percent (f->mean_average_precision),
      _ ("The mean over the labels of the area under the curve of precision over recall, which "
         "is whole where all samples with a label have a higher probability of it than "
         "all samples without"));
  add_figure (
      flow, _ ("Micro F1"), dyno_format_percent (f->f1_micro),
      _ ("The harmonic mean of precision and recall of all labels together: frequent labels "
         "count more"));
  add_figure (flow, _ ("Macro F1"), dyno_format_percent (f->f1_macro),
              _ ("The mean over the labels of the harmonic mean of precision and recall: rare "
                 "labels count as much as frequent ones"));
  if (isfinite (f->roc_auc))
    add_figure (flow, _ ("ROC AUC"), dyno_format_value (f->roc_auc),
                _ ("How well the probabilities separate the samples with a label from those "
                   "without: 0.5 by chance, 1 at the best"));
  add_figure (flow, _ ("Label Accuracy"), dyno_format_percent (f->label_accuracy),
              _ ("The mean over the samples of the share of their known labels that are right"));
  add_figure (flow, _ ("Exact Match"), dyno_format_percent (f->exact_match),
              _ ("The share of the samples whose labels are all right"));
  add_figure (flow, _ ("Loss"), dyno_format_value (dyno_scores_get_loss (e->scores)), NULL);
}

void
dyno_evaluate_figures_show (GtkWidget *flow, const DynoEvaluation *e)
{
  dyno_widget_clear (flow);
  if (e->masks)
    show_mask_figures (flow, e);
  else if (e->labels)
    show_label_figures (flow, e);
  else if (e->info.is_values)
    show_value_figures (flow, e);
  else
    show_class_figures (flow, e);
  gtk_widget_show_all (flow);
}

/* --- the table -------------------------------------------------------------------------------- */

#define MOST 6 /* numbers of a row */

enum {
  COLUMN_NAME,
  COLUMN_SWATCH,
  COLUMN_NUMBER, /* numbers, and their texts */
  COLUMN_TEXT = COLUMN_NUMBER + MOST,
  N_COLUMNS = COLUMN_TEXT + MOST
};

static void
add_row (GtkListStore *rows, const char *name, GdkPixbuf *swatch, const double numbers[MOST],
         char *const texts[MOST])
{
  GtkTreeIter iter;
  gtk_list_store_insert_with_values (rows, &iter, -1, COLUMN_NAME, name, COLUMN_SWATCH, swatch, -1);
  for (int k = 0; k < MOST; k++)
    gtk_list_store_set (rows, &iter, COLUMN_NUMBER + k, numbers[k], COLUMN_TEXT + k, texts[k], -1);
}

/* Adds a row of numbers.  forms has one character for each: n: a count; %: a share; v: another
 * value.  A number that is not known sorts as the least. */
static void
add_numbers (GtkListStore *rows, const char *name, GdkPixbuf *swatch, double numbers[MOST],
             const char *forms)
{
  char *texts[MOST] = { NULL };
  for (guint k = 0; forms[k]; k++)
    {
      texts[k] = forms[k] == 'n'   ? dyno_format_count ((guint64) numbers[k])
                 : forms[k] == '%' ? dyno_format_percent (numbers[k])
                                   : dyno_format_value (numbers[k]);
      numbers[k] = isnan (numbers[k]) ? -INFINITY : numbers[k];
    }
  add_row (rows, name, swatch, numbers, texts);
  for (guint k = 0; forms[k]; k++)
    g_free (texts[k]);
}

/* Adds the row of a class of masks. */
static void
add_mask_row (const DynoEvaluation *e, guint32 i, double all, GtkListStore *rows)
{
  const DynoClassCounts *counts = &e->masks->counts;
  g_autofree char *name = dyno_weights_info_name_class (&e->info, i);
  g_autoptr (GdkPixbuf) swatch = dyno_mask_swatch_draw ((guint8) i, SWATCH);
  double numbers[MOST] = { (double) counts->there[i] / all, dyno_class_counts_get_iou (counts, i),
                           dyno_class_counts_get_f1 (counts, i),
                           dyno_class_counts_get_precision (counts, i),
                           dyno_class_counts_get_recall (counts, i) };
  add_numbers (rows, name, swatch, numbers, "%%%%%");
}

static void
fill_masks (const DynoEvaluation *e, GtkListStore *rows)
{
  double all = 0;
  for (guint32 i = 0; i < e->masks->n_outputs; i++)
    all += (double) e->masks->counts.there[i];
  for (guint32 i = 0; i < e->masks->n_outputs; i++)
    add_mask_row (e, i, all, rows);
}

static void
fill_classes (const DynoEvaluation *e, GtkListStore *rows)
{
  for (guint32 i = 0; i < e->scores->n_outputs; i++)
    {
      g_autofree char *name = dyno_weights_info_name_class (&e->info, i);
      double numbers[MOST] = { (double) dyno_scores_get_support (e->scores, i),
                               dyno_scores_get_precision (e->scores, i),
                               dyno_scores_get_recall (e->scores, i),
                               dyno_scores_get_f1 (e->scores, i) };
      add_numbers (rows, name, NULL, numbers, "n%%%");
    }
}

static void
fill_labels (const DynoEvaluation *e, GtkListStore *rows)
{
  const DynoClassCounts *counts = &e->scores->labels.counts;
  for (guint32 i = 0; i < e->scores->n_outputs; i++)
    {
      g_autofree char *name = dyno_weights_info_name_class (&e->info, i);
      double numbers[MOST] = { (double) counts->there[i],
                               dyno_class_counts_get_precision (counts, i),
                               dyno_class_counts_get_recall (counts, i),
                               dyno_class_counts_get_f1 (counts, i),
                               e->labels->areas[i].average_precision,
                               e->labels->areas[i].roc_auc };
      add_numbers (rows, name, NULL, numbers, "n%%%%v");
    }
}

static void
fill_values (const DynoEvaluation *e, GtkListStore *rows)
{
  double n = (double) e->scores->n_samples;
  for (guint32 i = 0; i < e->scores->n_outputs; i++)
    {
      g_autofree char *name = dyno_weights_info_name_value (&e->info, i);
      double numbers[MOST] = { e->scores->values.absolute[i] / n,
                               dyno_value_sums_get_rms_error (&e->scores->values, i),
                               dyno_scores_get_r2 (e->scores, i) };
      add_numbers (rows, name, NULL, numbers, "vvv");
    }
}

static void
add_column (GtkTreeView *table, const char *title, int text, int sort, gboolean is_number)
{
  GtkCellRenderer *cell = gtk_cell_renderer_text_new ();
  GtkTreeViewColumn *column =
      gtk_tree_view_column_new_with_attributes (title, cell, "text", text, NULL);
  g_object_set (cell, "xalign", is_number ? 1.0 : 0.0, "ellipsize",
                is_number ? PANGO_ELLIPSIZE_NONE : PANGO_ELLIPSIZE_END, NULL);
  gtk_tree_view_column_set_alignment (column, is_number ? 1 : 0);
  gtk_tree_view_column_set_expand (column, !is_number);
  if (!is_number)
    gtk_tree_view_column_set_min_width (column, LEAST_NAME);
  gtk_tree_view_column_set_sort_column_id (column, sort);
  gtk_tree_view_append_column (table, column);
}

/* Shows the class's colour beside its name. */
static void
add_swatch (GtkTreeView *table)
{
  GtkTreeViewColumn *column = gtk_tree_view_get_column (table, 0);
  GtkCellRenderer *cell = gtk_cell_renderer_pixbuf_new ();
  g_object_set (cell, "xpad", 4, NULL);
  gtk_tree_view_column_pack_start (column, cell, FALSE);
  gtk_cell_layout_reorder (GTK_CELL_LAYOUT (column), cell, 0);
  gtk_tree_view_column_add_attribute (column, cell, "pixbuf", COLUMN_SWATCH);
}

static GtkListStore *
new_rows (void)
{
  GType types[N_COLUMNS] = { [COLUMN_NAME] = G_TYPE_STRING, [COLUMN_SWATCH] = GDK_TYPE_PIXBUF };
  for (int k = 0; k < MOST; k++)
    {
      types[COLUMN_NUMBER + k] = G_TYPE_DOUBLE;
      types[COLUMN_TEXT + k] = G_TYPE_STRING;
    }
  return gtk_list_store_newv (N_COLUMNS, types);
}

void
dyno_evaluate_table_show (GtkTreeView *table, const DynoEvaluation *e)
{
  const char *const titles[4][MOST] = {
    { _ ("Samples"), _ ("Precision"), _ ("Recall"), _ ("F1") },
    { _ ("Mean Absolute Error"), _ ("RMS Error"), _ ("R²") },
    { _ ("Pixels"), _ ("IoU"), _ ("Dice"), _ ("Precision"), _ ("Recall") },
    { _ ("Samples"), _ ("Precision"), _ ("Recall"), _ ("F1"), _ ("Average Precision"),
      _ ("ROC AUC") },
  };
  const char *const *own = titles[e->masks ? 2 : e->labels ? 3 : e->info.is_values ? 1 : 0];
  g_autoptr (GtkListStore) rows = new_rows ();
  while (gtk_tree_view_get_n_columns (table) > 0)
    gtk_tree_view_remove_column (table, gtk_tree_view_get_column (table, 0));
  add_column (table,
              e->info.is_values ? _ ("Value")
              : e->labels       ? _ ("Label")
                                : _ ("Class"),
              COLUMN_NAME, COLUMN_NAME, FALSE);
  for (int k = 0; k < MOST; k++)
    if (own[k])
      add_column (table, own[k], COLUMN_TEXT + k, COLUMN_NUMBER + k, TRUE);
  if (e->masks)
    {
      add_swatch (table);
      fill_masks (e, rows);
    }
  else if (e->labels)
    fill_labels (e, rows);
  else if (e->info.is_values)
    fill_values (e, rows);
  else
    fill_classes (e, rows);
  gtk_tree_view_set_model (table, GTK_TREE_MODEL (rows));
}

/* --- a sample --------------------------------------------------------------------------------- */

/* The first true values, one per line: "yaw 12.3". */
static char *
describe_values (const DynoEvaluation *e, const DynoScored *one)
{
  const float *truth = dyno_dataset_get_values (e->dataset, one->index);
  GString *text = g_string_new (NULL);
  for (guint32 i = 0; i < MIN (e->scores->n_outputs, 3); i++)
    {
      g_autofree char *name = dyno_weights_info_name_value (&e->info, i),
                      *value = dyno_format_value ((double) truth[i]);
      g_string_append_printf (text, "%s%s %s", i ? "\n" : "", name, value);
    }
  return g_string_free (text, FALSE);
}

char *
dyno_evaluate_describe_sample (const DynoEvaluation *e, const DynoScored *one)
{
  g_autofree char *share = dyno_format_share ((double) one->share), *loss = NULL;
  if (e->labels)
    return dyno_label_details_describe (e->labels, e->scores, &e->info, one);
  if (e->info.is_values)
    {
      loss = dyno_format_value (one->loss);
      g_autofree char *values = describe_values (e, one);
      /* Translators: values of a sample, its squared error */
      return g_strdup_printf (_ ("%s\nsquared error %s"), values, loss);
    }
  g_autofree char *truth = dyno_weights_info_name_class (&e->info, one->truth),
                  *predicted = dyno_weights_info_name_class (&e->info, one->predicted);
  if (one->truth == one->predicted)
    /* Translators: a class, a probability */
    return g_strdup_printf (_ ("%s\n%s sure"), truth, share);
  /* Translators: the true class, the predicted class, a probability */
  return g_strdup_printf (_ ("%s\nnot %s (%s)"), truth, predicted, share);
}
