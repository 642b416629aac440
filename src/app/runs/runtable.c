/* SPDX-License-Identifier: MIT */
#include "runtable.h"
#include "row.h"
#include "runlist.h"
#include "sparkcell.h"
#include <glib/gi18n.h>

#define CELL_PAD   8   /* at each side of a text */
#define ARROW      18  /* of the column by which the list is sorted */
#define MOST_NAME  420 /* pixels: the width of the column of names at most */
#define MOST_ROWS  100 /* rows whose texts are measured */
#define MOST_WIDTH "dyno-most-width"
#define FIT_WIDTH  "dyno-fit-width"
#define MODEL      "dyno-model-column"

static double
get_enlargement (GtkWidget *list)
{
  return MAX (gdk_screen_get_resolution (gtk_widget_get_screen (list)) / 96, 1);
}

/* All rows are of one height and all columns of a known width, so that only visible rows are
 * measured.  width: in pixels, with text of the usual size; columns whose texts need less are
 * narrower (dyno_run_table_fit). */
static void
add_column (GtkWidget *list, const char *title, int column, double align, int width)
{
  double enlarged = get_enlargement (list);
  GtkCellRenderer *cell = gtk_cell_renderer_text_new ();
  GtkTreeViewColumn *view =
      gtk_tree_view_column_new_with_attributes (title, cell, "text", column, NULL);
  g_object_set (cell, "xalign", align, "xpad", CELL_PAD, "ypad", 6, "ellipsize",
                PANGO_ELLIPSIZE_END, NULL);
  gtk_tree_view_column_set_alignment (view, (float) align);
  gtk_tree_view_column_set_sizing (view, GTK_TREE_VIEW_COLUMN_FIXED);
  gtk_tree_view_column_set_fixed_width (view, (int) (width * enlarged));
  gtk_tree_view_column_set_resizable (view, TRUE);
  gtk_tree_view_column_set_expand (view, column == DYNO_RUN_LIST_SETTINGS);
  g_object_set_data (G_OBJECT (view), MODEL, GINT_TO_POINTER (column));
  g_object_set_data (
      G_OBJECT (view), MOST_WIDTH,
      GINT_TO_POINTER ((int) ((column == DYNO_RUN_LIST_TITLE ? MOST_NAME : width) * enlarged)));
  if (column != DYNO_RUN_LIST_SETTINGS) /* sorting by settings would make the texts of all rows */
    gtk_tree_view_column_set_sort_column_id (view, column);
  gtk_tree_view_append_column (GTK_TREE_VIEW (list), view);
}

static int
get_model_column (GtkTreeViewColumn *column)
{
  return GPOINTER_TO_INT (g_object_get_data (G_OBJECT (column), MODEL));
}

/* --- widths ----------------------------------------------------------------------------------- */

static int
measure_text (GtkWidget *list, const char *text)
{
  g_autoptr (PangoLayout) layout = gtk_widget_create_pango_layout (list, text);
  int width;
  pango_layout_get_pixel_size (layout, &width, NULL);
  return width;
}

/* The width of a cell beside its text. */
static int
measure_pads (GtkWidget *list)
{
  int separator;
  gtk_widget_style_get (list, "horizontal-separator", &separator, NULL);
  return 2 * (CELL_PAD + separator);
}

/* The width that the heading, with the arrow of the order, and the texts of a column need. */
static int
measure_column (GtkWidget *list, GtkTreeViewColumn *column)
{
  GtkTreeModel *model = gtk_tree_view_get_model (GTK_TREE_VIEW (list));
  int at = get_model_column (column), pads = measure_pads (list), most;
  GtkTreeIter iter;
  gboolean more = gtk_tree_model_get_iter_first (model, &iter);
  gtk_widget_get_preferred_width (gtk_tree_view_column_get_button (column), NULL, &most);
  if (!gtk_tree_view_column_get_sort_indicator (column))
    most += ARROW;
  for (guint i = 0; more && i < MOST_ROWS; i++)
    {
      g_autofree char *text = NULL;
      gtk_tree_model_get (model, &iter, at, &text, -1);
      most = MAX (most, measure_text (list, text) + pads + 2);
      more = gtk_tree_model_iter_next (model, &iter);
    }
  return most;
}

/* A column without any text is hidden; the list has a few thousand rows at most. */
static gboolean
is_empty (GtkWidget *list, int at)
{
  GtkTreeModel *model = gtk_tree_view_get_model (GTK_TREE_VIEW (list));
  GtkTreeIter iter;
  gboolean more = gtk_tree_model_get_iter_first (model, &iter), empty = TRUE;
  for (; more && empty; more = gtk_tree_model_iter_next (model, &iter))
    {
      g_autofree char *text = NULL;
      gtk_tree_model_get (model, &iter, at, &text, -1);
      empty = !*text;
    }
  return empty;
}

void
dyno_run_table_fit (GtkWidget *list)
{
  guint n = gtk_tree_view_get_n_columns (GTK_TREE_VIEW (list));
  for (guint i = 0; i < n; i++)
    {
      GtkTreeViewColumn *column = gtk_tree_view_get_column (GTK_TREE_VIEW (list), (int) i);
      int most = GPOINTER_TO_INT (g_object_get_data (G_OBJECT (column), MOST_WIDTH)),
          before = GPOINTER_TO_INT (g_object_get_data (G_OBJECT (column), FIT_WIDTH));
      if (get_model_column (column) == DYNO_RUN_LIST_TAGS)
        gtk_tree_view_column_set_visible (column, !is_empty (list, DYNO_RUN_LIST_TAGS));
      if (most == 0 || gtk_tree_view_column_get_expand (column)
          || (before > 0 && gtk_tree_view_column_get_fixed_width (column) != before))
        continue; /* no text; it takes what is left; the user has set its width */
      int width = MIN (measure_column (list, column), most);
      gtk_tree_view_column_set_fixed_width (column, width);
      g_object_set_data (G_OBJECT (column), FIT_WIDTH, GINT_TO_POINTER (width));
    }
}

/* A text that is cut is shown whole. */
static gboolean
tell_cut_text (GtkWidget *list, int x, int y, gboolean keyboard, GtkTooltip *tooltip)
{
  GtkTreeView *view = GTK_TREE_VIEW (list);
  g_autoptr (GtkTreePath) path = NULL;
  g_autofree char *text = NULL;
  GtkTreeViewColumn *column = NULL;
  GtkTreeModel *model;
  GtkTreeIter iter;
  if (keyboard)
    {
      gtk_tree_view_get_cursor (view, &path, NULL);
      column = gtk_tree_view_get_column (view, 0);
    }
  else
    {
      gtk_tree_view_convert_widget_to_bin_window_coords (view, x, y, &x, &y);
      gtk_tree_view_get_path_at_pos (view, x, y, &path, &column, NULL, NULL);
    }
  model = gtk_tree_view_get_model (view);
  if (!path || !column || !g_object_get_data (G_OBJECT (column), MOST_WIDTH) || !model
      || !gtk_tree_model_get_iter (model, &iter, path))
    return FALSE;
  gtk_tree_model_get (model, &iter, get_model_column (column), &text, -1);
  if (measure_text (list, text) + measure_pads (list) <= MAX (
          gtk_tree_view_column_get_width (column), gtk_tree_view_column_get_fixed_width (column)))
    return FALSE;
  gtk_tooltip_set_text (tooltip, text);
  gtk_tree_view_set_tooltip_cell (view, tooltip, path, column, NULL);
  return TRUE;
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
  gtk_widget_set_has_tooltip (list, TRUE);
  g_signal_connect (list, "query-tooltip", G_CALLBACK (tell_cut_text), NULL);
  g_signal_connect_object (curves, "read", G_CALLBACK (gtk_widget_queue_draw), list,
                           G_CONNECT_SWAPPED);
  return list;
}
