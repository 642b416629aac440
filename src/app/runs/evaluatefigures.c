/* SPDX-License-Identifier: MIT */
#include "evaluatefigures.h"
#include "format.h"
#include "row.h"
#include <glib/gi18n.h>
#include <math.h>

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

void
dyno_evaluate_figures_show (GtkWidget *flow, const DynoEvaluation *e)
{
  dyno_widget_clear (flow);
  if (e->info.is_values)
    show_value_figures (flow, e);
  else
    show_class_figures (flow, e);
  gtk_widget_show_all (flow);
}

/* --- the table -------------------------------------------------------------------------------- */

enum {
  COLUMN_NAME,
  COLUMN_NUMBER, /* four numbers, and their texts */
  COLUMN_TEXT = COLUMN_NUMBER + 4,
  N_COLUMNS = COLUMN_TEXT + 4
};

static void
add_row (GtkListStore *rows, const char *name, const double numbers[4], char *const texts[4])
{
  GtkTreeIter iter;
  gtk_list_store_insert_with_values (
      rows, &iter, -1, COLUMN_NAME, name, COLUMN_NUMBER, numbers[0], COLUMN_NUMBER + 1, numbers[1],
      COLUMN_NUMBER + 2, numbers[2], COLUMN_NUMBER + 3, numbers[3], COLUMN_TEXT, texts[0],
      COLUMN_TEXT + 1, texts[1], COLUMN_TEXT + 2, texts[2], COLUMN_TEXT + 3, texts[3], -1);
}

static void
fill_classes (const DynoEvaluation *e, GtkListStore *rows)
{
  for (guint32 i = 0; i < e->scores->n_outputs; i++)
    {
      g_autofree char *name = dyno_weights_info_name_class (&e->info, i),
                      *count = dyno_format_count (dyno_scores_get_support (e->scores, i));
      double numbers[4] = { (double) dyno_scores_get_support (e->scores, i),
                            dyno_scores_get_precision (e->scores, i),
                            dyno_scores_get_recall (e->scores, i),
                            dyno_scores_get_f1 (e->scores, i) };
      g_autofree char *precision = dyno_format_percent (numbers[1]),
                      *recall = dyno_format_percent (numbers[2]),
                      *f1 = dyno_format_percent (numbers[3]);
      char *texts[4] = { count, precision, recall, f1 };
      for (guint k = 1; k < 4; k++)
        numbers[k] =
            isnan (numbers[k]) ? -1 : numbers[k]; /* a share that is not known is the least */
      add_row (rows, name, numbers, texts);
    }
}

static void
fill_values (const DynoEvaluation *e, GtkListStore *rows)
{
  double n = (double) e->scores->n_samples;
  for (guint32 i = 0; i < e->scores->n_outputs; i++)
    {
      g_autofree char *name = dyno_weights_info_name_value (&e->info, i);
      double numbers[4] = { e->scores->values.absolute[i] / n,
                            dyno_value_sums_get_rms_error (&e->scores->values, i),
                            dyno_scores_get_r2 (e->scores, i) };
      g_autofree char *absolute = dyno_format_value (numbers[0]),
                      *rms = dyno_format_value (numbers[1]), *r2 = dyno_format_value (numbers[2]);
      char *texts[4] = { absolute, rms, r2, NULL };
      add_row (rows, name, numbers, texts);
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
  gtk_tree_view_column_set_sort_column_id (column, sort);
  gtk_tree_view_append_column (table, column);
}

void
dyno_evaluate_table_show (GtkTreeView *table, const DynoEvaluation *e)
{
  const char *const titles[2][4] = {
    { _ ("Samples"), _ ("Precision"), _ ("Recall"), _ ("F1") },
    { _ ("Mean Absolute Error"), _ ("RMS Error"), _ ("R²"), NULL },
  };
  g_autoptr (GtkListStore) rows = gtk_list_store_new (
      N_COLUMNS, G_TYPE_STRING, G_TYPE_DOUBLE, G_TYPE_DOUBLE, G_TYPE_DOUBLE, G_TYPE_DOUBLE,
      G_TYPE_STRING, G_TYPE_STRING, G_TYPE_STRING, G_TYPE_STRING);
  while (gtk_tree_view_get_n_columns (table) > 0)
    gtk_tree_view_remove_column (table, gtk_tree_view_get_column (table, 0));
  add_column (table, e->info.is_values ? _ ("Value") : _ ("Class"), COLUMN_NAME, COLUMN_NAME,
              FALSE);
  for (int k = 0; k < 4; k++)
    if (titles[e->info.is_values][k])
      add_column (table, titles[e->info.is_values][k], COLUMN_TEXT + k, COLUMN_NUMBER + k, TRUE);
  if (e->info.is_values)
    fill_values (e, rows);
  else
    fill_classes (e, rows);
  gtk_tree_view_set_model (table, GTK_TREE_MODEL (rows));
}
