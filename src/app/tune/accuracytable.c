/* SPDX-License-Identifier: MIT */
/* Rows are the trials in their order, so that a row's index is the trial's number. */
#include "accuracytable.h"
#include "accuracywords.h"
#include <glib/gi18n.h>
#include <math.h>

enum {
  COLUMN_TRIAL,
  COLUMN_VALUE,
  COLUMN_EPOCHS,
  COLUMN_STATE,
  COLUMN_WEIGHT,
  COLUMN_TIP,
  COLUMN_STAMP,
  N_FIXED
};

static void
add_column (GtkTreeView *list, const char *title, int column, double align)
{
  GtkCellRenderer *cell = gtk_cell_renderer_text_new ();
  GtkTreeViewColumn *shown = gtk_tree_view_column_new_with_attributes (
      title, cell, "text", column, "weight", COLUMN_WEIGHT, NULL);
  g_object_set (cell, "xalign", align, "ypad", 6, "xpad", 8, NULL);
  gtk_tree_view_column_set_alignment (shown, (float) align);
  gtk_tree_view_column_set_resizable (shown, TRUE);
  gtk_tree_view_append_column (list, shown);
}

void
dyno_accuracy_table_begin (GtkTreeView *list, const DynoParamSpace *space,
                           const DynoMetricInfo *metric)
{
  GType types[N_FIXED + DYNO_PARAMS_MOST];
  GtkTreeViewColumn *column;
  while ((column = gtk_tree_view_get_column (list, 0)))
    gtk_tree_view_remove_column (list, column);
  for (guint i = 0; i < N_FIXED + space->n; i++)
    types[i] = i == COLUMN_TRIAL ? G_TYPE_UINT : i == COLUMN_WEIGHT ? G_TYPE_INT : G_TYPE_STRING;
  g_autoptr (GtkListStore) store = gtk_list_store_newv ((gint) (N_FIXED + space->n), types);
  gtk_tree_view_set_model (list, GTK_TREE_MODEL (store));
  gtk_tree_view_set_tooltip_column (list, COLUMN_TIP);
  g_autofree char *value = dyno_accuracy_words_metric (metric);
  add_column (list, _ ("Trial"), COLUMN_TRIAL, 1);
  add_column (list, value, COLUMN_VALUE, 1);
  add_column (list, _ ("Epochs"), COLUMN_EPOCHS, 1);
  add_column (list, _ ("State"), COLUMN_STATE, 0);
  for (guint i = 0; i < space->n; i++)
    add_column (list, dyno_accuracy_get_title (&space->params[i]), (int) (N_FIXED + i),
                space->params[i].kind == DYNO_PARAM_CHOICE ? 0 : 1);
}

/* A value without its unit, which is in the title. */
static char *
describe_value (const DynoMetricInfo *metric, double value)
{
  if (!isfinite (value))
    return g_strdup ("\342\200\223");
  return metric->format == DYNO_METRIC_FRACTION ? g_strdup_printf ("%.2f", 100 * value)
                                                : dyno_accuracy_format (metric, value);
}

/* All values of a row that can change, as a string: rows whose string is unchanged are not
 * updated. */
static char *
make_stamp (const DynoAccuracyRow *row, gboolean best)
{
  return g_strdup_printf ("%d %u %.9g %d", row->state, (guint) row->epochs, row->value, best);
}

static gboolean
is_current (GtkTreeModel *model, GtkTreeIter *iter, const char *stamp)
{
  g_autofree char *before = NULL;
  gtk_tree_model_get (model, iter, COLUMN_STAMP, &before, -1);
  return g_strcmp0 (before, stamp) == 0;
}

static void
set_row (GtkListStore *store, GtkTreeIter *iter, const DynoParamSpace *space,
         const DynoMetricInfo *metric, const DynoAccuracyRow *row, guint64 n_epochs, gboolean best)
{
  g_autofree char *value = describe_value (metric, row->value),
                  *epochs = g_strdup_printf ("%u / %u", (guint) row->epochs, (guint) n_epochs),
                  *words = dyno_accuracy_words_row (space, metric, row),
                  *tip = g_markup_escape_text (words, -1);
  gtk_list_store_set (store, iter, COLUMN_TRIAL, row->trial, COLUMN_VALUE, value, COLUMN_EPOCHS,
                      epochs, COLUMN_STATE, dyno_accuracy_words_state (row->state), COLUMN_WEIGHT,
                      best ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL, COLUMN_TIP, tip, -1);
  for (guint i = 0; i < space->n; i++)
    {
      g_autofree char *param = dyno_accuracy_words_param (space, i, row->settings);
      gtk_list_store_set (store, iter, (int) (N_FIXED + i), param, -1);
    }
}

void
dyno_accuracy_table_set_rows (GtkTreeView *list, const DynoParamSpace *space,
                              const DynoMetricInfo *metric, const GArray *rows, guint64 n_epochs,
                              int best)
{
  GtkTreeModel *model = gtk_tree_view_get_model (list);
  GtkTreeIter iter;
  for (guint i = 0; i < rows->len; i++)
    {
      const DynoAccuracyRow *row = &g_array_index (rows, DynoAccuracyRow, i);
      gboolean there = gtk_tree_model_iter_nth_child (model, &iter, NULL, (gint) i);
      if (!there)
        gtk_list_store_append (GTK_LIST_STORE (model), &iter);
      g_autofree char *stamp = make_stamp (row, best == (int) row->trial);
      if (there && is_current (model, &iter, stamp))
        continue;
      set_row (GTK_LIST_STORE (model), &iter, space, metric, row, n_epochs,
               best == (int) row->trial);
      gtk_list_store_set (GTK_LIST_STORE (model), &iter, COLUMN_STAMP, stamp, -1);
      if (!there && i > 0)
        {
          g_autoptr (GtkTreePath) path = gtk_tree_model_get_path (model, &iter);
          gtk_tree_view_scroll_to_cell (list, path, NULL, FALSE, 0, 0);
        }
    }
  /* A run that was stopped before its trial had a value has no row any more. */
  while (gtk_tree_model_iter_nth_child (model, &iter, NULL, (gint) rows->len))
    gtk_list_store_remove (GTK_LIST_STORE (model), &iter);
}

void
dyno_accuracy_table_select (GtkTreeView *list, int trial)
{
  GtkTreeSelection *selection = gtk_tree_view_get_selection (list);
  GtkTreeModel *model = gtk_tree_view_get_model (list);
  GtkTreeIter iter;
  if (trial < 0 || !model || !gtk_tree_model_iter_nth_child (model, &iter, NULL, trial))
    {
      gtk_tree_selection_unselect_all (selection);
      return;
    }
  g_autoptr (GtkTreePath) path = gtk_tree_model_get_path (model, &iter);
  gtk_tree_selection_select_iter (selection, &iter);
  gtk_tree_view_scroll_to_cell (list, path, NULL, FALSE, 0, 0);
}

int
dyno_accuracy_table_get_selected (GtkTreeView *list)
{
  GtkTreeIter iter;
  GtkTreeModel *model;
  guint trial;
  if (!gtk_tree_selection_get_selected (gtk_tree_view_get_selection (list), &model, &iter))
    return -1;
  gtk_tree_model_get (model, &iter, COLUMN_TRIAL, &trial, -1);
  return (int) trial;
}
