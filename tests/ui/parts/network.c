/* SPDX-License-Identifier: MIT */
/* The model: its choice, its layers, and networks that are refused. */
#include "parts.h"
#include "fittingmodel.h"
#include "layersdialog.h"
#include "modelrow.h"
#include "networkrefusal.h"
#include <string.h>

static gboolean
is_open (gpointer setup)
{
  return !dyno_setup_get_opening (setup, NULL);
}

static void
open (DynoSetup *setup, const char *location)
{
  dyno_setup_open_data (setup, location);
  parts_wait (is_open, setup);
}

static void
drop (DynoSetup *setup)
{
  dyno_setup_shutdown (setup);
  g_object_unref (setup);
}

static guint
count_lines (const char *text, const char *line)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  guint n = 0;

  for (char **at = lines; *at; at++)
    n += strcmp (*at, line) == 0;
  return n;
}

/* Layers are listed as other programs count them, and follow the job of this moment. */
static void
test_layers_are_those_before_fusion (void)
{
  GtkWidget *window = gtk_window_new (GTK_WINDOW_TOPLEVEL);
  DynoSetup *setup = dyno_setup_new ();

  dyno_layers_dialog_show (GTK_WINDOW (window), setup);
  GtkWidget *dialog = parts_find_dialog ("Layers");
  parts_assert_says (dialog, "Choose a data set first: shapes follow from its samples.");
  g_assert_null (parts_find (dialog, GTK_TYPE_TREE_VIEW));
  gtk_widget_destroy (dialog);
  open (setup, "builtin:shapes?size=16&samples=64&classes=3");
  dyno_setup_set_number (setup, "batch_size", 8, NULL);
  dyno_layers_dialog_show (GTK_WINDOW (window), setup);
  dialog = parts_find_dialog ("Layers");
  GtkTreeView *table = GTK_TREE_VIEW (parts_find (dialog, GTK_TYPE_TREE_VIEW));
  g_autofree char *kinds = parts_get_column (table, 1), *texts = parts_get_texts (dialog);
  guint n_convolutions = count_lines (kinds, "conv2d");
  g_assert_cmpuint (n_convolutions, >, 0);
  g_assert_cmpuint (count_lines (kinds, "batch_norm"), ==, n_convolutions);
  g_assert_cmpuint (count_lines (kinds, "relu"), ==, n_convolutions);
  g_assert_nonnull (strstr (texts, "\nA batch of 8: "));
  gtk_widget_destroy (dialog);
  dyno_setup_set_number (setup, "batch_size", 4, NULL);
  dyno_setup_set_model (setup, "mlp");
  dyno_layers_dialog_show (GTK_WINDOW (window), setup);
  dialog = parts_find_dialog ("Layers");
  g_autofree char *others = parts_get_texts (dialog);
  g_assert_nonnull (strstr (others, "\nA batch of 4: "));
  g_autofree char *linear =
      parts_get_column (GTK_TREE_VIEW (parts_find (dialog, GTK_TYPE_TREE_VIEW)), 1);
  g_assert_cmpuint (count_lines (linear, "conv2d"), ==, 0);
  gtk_widget_destroy (window);
  drop (setup);
}

/* The combo follows the model, also by undo. */
static void
test_the_combo_follows_the_model (void)
{
  DynoSetup *setup = dyno_setup_new ();
  GtkWidget *row = g_object_ref_sink (dyno_model_row_new (setup));
  GtkComboBox *combo = GTK_COMBO_BOX (parts_find (row, GTK_TYPE_COMBO_BOX_TEXT));

  g_assert_cmpstr (gtk_combo_box_get_active_id (combo), ==, "simplecnn");
  gtk_combo_box_set_active_id (combo, "mlp");
  g_assert_cmpstr (dyno_setup_get_job (setup)->model, ==, "mlp");
  gtk_combo_box_set_active_id (combo, ":open"); /* this is no model: the choice stays */
  g_assert_cmpstr (gtk_combo_box_get_active_id (combo), ==, "mlp");
  g_assert_cmpstr (dyno_setup_get_job (setup)->model, ==, "mlp");
  g_assert_true (dyno_setup_step (setup, TRUE));
  g_assert_cmpstr (gtk_combo_box_get_active_id (combo), ==, "simplecnn");
  g_assert_false (dyno_setup_can_step (setup, TRUE));
  g_assert_true (dyno_setup_step (setup, FALSE));
  g_assert_cmpstr (gtk_combo_box_get_active_id (combo), ==, "mlp");
  gtk_widget_destroy (row);
  g_object_unref (row);
  drop (setup);
}

static void
count_activation (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  (*(guint *) data)++;
}

/* The row for a file asks for one where it is chosen in the open list, but not where an arrow key
 * reaches it while the list is closed. */
static void
test_arrow_keys_ask_for_no_file (void)
{
  DynoSetup *setup = dyno_setup_new ();
  GtkWidget *window = g_object_new (GTK_TYPE_APPLICATION_WINDOW, NULL);
  GtkWidget *row = dyno_model_row_new (setup);
  GtkWidget *combo = parts_find (row, GTK_TYPE_COMBO_BOX_TEXT);
  g_autoptr (GSimpleAction) action = g_simple_action_new ("open-network", NULL);
  guint n = 0;

  g_signal_connect (action, "activate", G_CALLBACK (count_activation), &n);
  g_action_map_add_action (G_ACTION_MAP (window), G_ACTION (action));
  gtk_container_add (GTK_CONTAINER (window), row);
  for (guint i = 0; i < 2; i++)
    {
      g_signal_emit_by_name (combo, "move-active", GTK_SCROLL_END);
      g_assert_cmpuint (n, ==, i);
      g_assert_cmpstr (gtk_combo_box_get_active_id (GTK_COMBO_BOX (combo)), ==, "simplecnn");
      gtk_combo_box_set_active_id (GTK_COMBO_BOX (combo), ":open");
      g_assert_cmpuint (n, ==, i + 1);
    }
  gtk_widget_destroy (window);
  drop (setup);
}

static void
test_a_model_that_suits_the_data (void)
{
  DynoSetup *setup = dyno_setup_new ();

  g_assert_null (dyno_fitting_model_find (setup));
  open (setup, "builtin:shapes?size=16&samples=64");
  g_assert_null (dyno_fitting_model_find (setup));
  dyno_setup_set_model (setup, "unet_small");
  g_assert_cmpstr (dyno_fitting_model_find (setup)->name, ==, "simplecnn");
  open (setup, "builtin:shapes?size=96&samples=64");
  g_assert_cmpstr (dyno_fitting_model_find (setup)->name, ==, "simplecnn");
  open (setup, "builtin:shapes?size=97&samples=64");
  g_assert_cmpstr (dyno_fitting_model_find (setup)->name, ==, "resnet18");
  open (setup, "builtin:masks?samples=16");
  g_assert_null (dyno_fitting_model_find (setup));
  dyno_setup_set_model (setup, "mlp");
  g_assert_cmpstr (dyno_fitting_model_find (setup)->name, ==, "unet_small");
  open (setup, "builtin:waves"); /* sequences have no image model */
  g_assert_null (dyno_fitting_model_find (setup));
  drop (setup);
}

/* More than five reasons scroll. */
static void
test_many_reasons_scroll (void)
{
  GtkWidget *window = gtk_window_new (GTK_WINDOW_TOPLEVEL);
  g_autoptr (GError)
      five = g_error_new_literal (DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE, "Several:\na\nb\nc\nd\ne"),
      six = g_error_new_literal (DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE, "Several:\na\nb\nc\nd\ne\nf");

  for (guint i = 0; i < 2; i++)
    {
      dyno_network_refusal_show (GTK_WINDOW (window), "/n/many.onnx", i == 0 ? five : six);
      g_autoptr (GList) windows = gtk_window_list_toplevels ();
      GtkWidget *dialog = NULL;
      for (GList *l = windows; l; l = l->next)
        if (g_strcmp0 (atk_object_get_name (gtk_widget_get_accessible (l->data)),
                       "“many.onnx” cannot be trained as it is")
            == 0)
          dialog = l->data;
      g_assert_nonnull (dialog);
      g_autoptr (GPtrArray) rows = parts_find_all (dialog, GTK_TYPE_LIST_BOX_ROW);
      g_assert_cmpuint (rows->len, ==, 5 + i);
      g_assert_true ((parts_find (dialog, GTK_TYPE_SCROLLED_WINDOW) != NULL) == (i == 1));
      gtk_widget_destroy (dialog);
    }
  gtk_widget_destroy (window);
}

static void
test_each_reason_of_a_refusal_has_a_row (void)
{
  GtkWidget *window = gtk_window_new (GTK_WINDOW_TOPLEVEL);
  const char *titles[] = { "“a.onnx” cannot be trained as it is",
                           "“b.onnx” cannot be trained as it is" };
  g_autoptr (GError) one = g_error_new_literal (DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE, "It is flat."),
                     two = g_error_new_literal (DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE,
                                                "Several:\nIt loops.\nIt is large.");

  dyno_network_refusal_show (GTK_WINDOW (window), "/n/a.onnx", one);
  dyno_network_refusal_show (GTK_WINDOW (window), "/n/b.onnx", two);
  GtkWidget *first = NULL, *second = NULL;
  g_autoptr (GList) windows = gtk_window_list_toplevels ();
  for (GList *l = windows; l; l = l->next)
    {
      const char *name = atk_object_get_name (gtk_widget_get_accessible (l->data));
      if (g_strcmp0 (name, titles[0]) == 0)
        first = l->data;
      if (g_strcmp0 (name, titles[1]) == 0)
        second = l->data;
    }
  g_assert_true (first && second);
  g_autoptr (GPtrArray) rows = parts_find_all (first, GTK_TYPE_LIST_BOX_ROW);
  g_assert_cmpuint (rows->len, ==, 1);
  parts_assert_says (first, "It is flat.");
  parts_assert_says (first, titles[0]);
  g_autoptr (GPtrArray) more = parts_find_all (second, GTK_TYPE_LIST_BOX_ROW);
  g_assert_cmpuint (more->len, ==, 2);
  parts_assert_texts (more->pdata[0], "It loops.");
  parts_assert_texts (more->pdata[1], "It is large.");
  gtk_button_clicked (GTK_BUTTON (parts_find_button (second, "_Copy")));
  g_autofree char *copied =
      gtk_clipboard_wait_for_text (gtk_widget_get_clipboard (window, GDK_SELECTION_CLIPBOARD));
  g_assert_cmpstr (copied, ==, "“b.onnx” cannot be trained as it is\nIt loops.\nIt is large.");
  gtk_widget_destroy (window);
}

void
parts_add_network (void)
{
  g_test_add_func ("/ui/parts/layers-are-those-before-fusion", test_layers_are_those_before_fusion);
  g_test_add_func ("/ui/parts/the-combo-follows-the-model", test_the_combo_follows_the_model);
  g_test_add_func ("/ui/parts/arrow-keys-ask-for-no-file", test_arrow_keys_ask_for_no_file);
  g_test_add_func ("/ui/parts/a-model-that-suits-the-data", test_a_model_that_suits_the_data);
  g_test_add_func ("/ui/parts/many-reasons-scroll", test_many_reasons_scroll);
  g_test_add_func ("/ui/parts/each-reason-of-a-refusal-has-a-row",
                   test_each_reason_of_a_refusal_has_a_row);
}
