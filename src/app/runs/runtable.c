/* SPDX-License-Identifier: MIT */
#include "runtable.h"
#include "row.h"
#include "runlist.h"
#include "sparkcell.h"
#include <glib/gi18n.h>

/* All rows are of one height and all columns of a known width, so that only visible rows are
 * measured.  width: in pixels, with text of the usual size. */
static void
add_column (GtkWidget *list, const char *title, int column, double align, int width)
{
  double enlarged = gdk_screen_get_resolution (gtk_widget_get_screen (list)) / 96;
  GtkCellRenderer *cell = gtk_cell_renderer_text_new ();
  GtkTreeViewColumn *view =
      gtk_tree_view_column_new_with_attributes (title, cell, "text", column, NULL);
  g_object_set (cell, "xalign", align, "xpad", 8, "ypad", 6, "ellipsize", PANGO_ELLIPSIZE_END,
                NULL);
  gtk_tree_view_column_set_alignment (view, (float) align);
  gtk_tree_view_column_set_sizing (view, GTK_TREE_VIEW_COLUMN_FIXED);
  gtk_tree_view_column_set_fixed_width (view, (int) (width * MAX (enlarged, 1)));
  gtk_tree_view_column_set_resizable (view, TRUE);
  gtk_tree_view_column_set_expand (view, column == DYNO_RUN_LIST_TITLE
                                             || column == DYNO_RUN_LIST_SETTINGS);
  if (column != DYNO_RUN_LIST_SETTINGS) /* sorting by settings would make the texts of all rows */
    gtk_tree_view_column_set_sort_column_id (view, column);
  gtk_tree_view_append_column (GTK_TREE_VIEW (list), view);
}

static void
show_spark (GtkTreeViewColumn *column, GtkCellRenderer *cell, GtkTreeModel *model,
            GtkTreeIter *iter, gpointer data)
{
  const DynoStoredRun *run;
  gtk_tree_model_get (model, iter, DYNO_RUN_LIST_RUN, &run, -1);
  const DynoRunCurve *curve = run ? dyno_run_curves_get (data, run, FALSE) : NULL;
  dyno_spark_cell_set_values (DYNO_SPARK_CELL (cell), curve ? curve->spark : NULL,
                              curve ? curve->n_spark : 0);
}

static void
add_spark_column (GtkWidget *list, DynoRunCurves *curves)
{
  GtkCellRenderer *cell = dyno_spark_cell_new ();
  GtkTreeViewColumn *view = gtk_tree_view_column_new_with_attributes (_ ("Loss"), cell, NULL);
  g_object_set (cell, "xpad", 8, "ypad", 4, NULL);
  gtk_tree_view_column_set_sizing (view, GTK_TREE_VIEW_COLUMN_FIXED);
  gtk_tree_view_column_set_fixed_width (view, 90);
  gtk_tree_view_column_set_cell_data_func (view, cell, show_spark, curves, NULL);
  gtk_tree_view_append_column (GTK_TREE_VIEW (list), view);
}

GtkWidget *
dyno_run_table_new (DynoRunCurves *curves)
{
  GtkWidget *list = gtk_tree_view_new ();
  dyno_widget_set_accessible_name (list, _ ("Runs"));
  add_column (list, _ ("Run"), DYNO_RUN_LIST_TITLE, 0, 144);
  add_spark_column (list, curves);
  add_column (list, _ ("Best"), DYNO_RUN_LIST_BEST, 1, 78);
  add_column (list, _ ("Begun"), DYNO_RUN_LIST_BEGUN, 0, 130);
  add_column (list, _ ("Model"), DYNO_RUN_LIST_MODEL, 0, 98);
  add_column (list, _ ("Data"), DYNO_RUN_LIST_DATA, 0, 84);
  add_column (list, _ ("Samples/s"), DYNO_RUN_LIST_RATE, 1, 108);
  add_column (list, _ ("Time"), DYNO_RUN_LIST_TIME, 1, 72);
  add_column (list, _ ("State"), DYNO_RUN_LIST_STATE, 0, 120);
  add_column (list, _ ("Tags"), DYNO_RUN_LIST_TAGS, 0, 108);
  add_column (list, _ ("Settings"), DYNO_RUN_LIST_SETTINGS, 0, 102);
  gtk_tree_view_set_fixed_height_mode (GTK_TREE_VIEW (list), TRUE);
  gtk_tree_view_set_enable_search (GTK_TREE_VIEW (list), FALSE); /* the finder searches */
  gtk_tree_view_set_rubber_banding (GTK_TREE_VIEW (list), TRUE);
  gtk_tree_selection_set_mode (gtk_tree_view_get_selection (GTK_TREE_VIEW (list)),
                               GTK_SELECTION_MULTIPLE);
  g_signal_connect_object (curves, "read", G_CALLBACK (gtk_widget_queue_draw), list,
                           G_CONNECT_SWAPPED);
  return list;
}
