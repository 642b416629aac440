/* SPDX-License-Identifier: MIT */
/* A table with one row per layer in the order of the forward pass, as the job would train the
 * model: with its sample size, classes, width, batch and precision.  Layers are listed before
 * fusion, so that they correspond to those of other programs. */
#include "layersdialog.h"
#include "format.h"
#include "network.h"
#include "row.h"
#include "settingtitles.h"
#include "summary.h"
#include <glib/gi18n.h>

enum {
  COLUMN_NAME,
  COLUMN_KIND,
  COLUMN_OUTPUT,
  COLUMN_PARAMETERS,
  COLUMN_WORK,
  COLUMN_MEMORY,
  N_COLUMNS
};

#define WIDTH        720
#define HEIGHT       560
#define NOTES_HEIGHT 120

static GArray *
list_layers (DynoSetup *setup, DynoGraph **graph, GError **error)
{
  const DynoDatasetInfo *info = dyno_setup_get_info (setup);
  DynoNetworkParams params;

  if (!info)
    {
      g_set_error_literal (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE,
                           _ ("Choose a data set first: shapes follow from its samples."));
      return NULL;
    }
  if (!dyno_job_get_network (dyno_setup_get_job (setup), info, DYNO_MODE_PREDICT, &params, error))
    return NULL;
  params.no_fusion = TRUE;
  *graph = dyno_network_build (&params, error);
  return *graph ? dyno_network_list_layers (*graph) : NULL;
}

static void
add_row (GtkListStore *store, const DynoLayer *layer)
{
  g_autofree char *output = dyno_format_size (layer->w, layer->h, layer->c);
  g_autofree char *parameters =
      layer->parameters > 0 ? dyno_format_count (layer->parameters) : g_strdup ("");
  g_autofree char *work = dyno_format_large ((double) layer->flops);
  g_autofree char *memory = dyno_format_bytes (layer->output_bytes);

  gtk_list_store_insert_with_values (store, NULL, -1, COLUMN_NAME, layer->name, COLUMN_KIND,
                                     layer->kind, COLUMN_OUTPUT, output, COLUMN_PARAMETERS,
                                     parameters, COLUMN_WORK, work, COLUMN_MEMORY, memory, -1);
}

static void
add_column (GtkTreeView *view, const char *title, int column, gboolean number)
{
  GtkCellRenderer *cell = gtk_cell_renderer_text_new ();
  GtkTreeViewColumn *header =
      gtk_tree_view_column_new_with_attributes (title, cell, "text", column, NULL);

  g_object_set (cell, "xalign", number ? 1.0 : 0.0, NULL);
  gtk_tree_view_column_set_alignment (header, number ? 1.0f : 0.0f);
  gtk_tree_view_column_set_resizable (header, TRUE);
  gtk_tree_view_column_set_expand (header, column == COLUMN_NAME);
  gtk_tree_view_append_column (view, header);
}

static GtkWidget *
make_table (const GArray *layers)
{
  g_autoptr (GtkListStore) store =
      gtk_list_store_new (N_COLUMNS, G_TYPE_STRING, G_TYPE_STRING, G_TYPE_STRING, G_TYPE_STRING,
                          G_TYPE_STRING, G_TYPE_STRING);
  GtkWidget *view, *scrolled = gtk_scrolled_window_new (NULL, NULL);

  for (guint i = 0; i < layers->len; i++)
    add_row (store, &g_array_index (layers, DynoLayer, i));
  view = gtk_tree_view_new_with_model (GTK_TREE_MODEL (store));
  add_column (GTK_TREE_VIEW (view), _ ("Layer"), COLUMN_NAME, FALSE);
  add_column (GTK_TREE_VIEW (view), _ ("Kind"), COLUMN_KIND, FALSE);
  add_column (GTK_TREE_VIEW (view), _ ("Output"), COLUMN_OUTPUT, TRUE);
  add_column (GTK_TREE_VIEW (view), _ ("Parameters"), COLUMN_PARAMETERS, TRUE);
  add_column (GTK_TREE_VIEW (view), _ ("FLOP"), COLUMN_WORK, TRUE);
  add_column (GTK_TREE_VIEW (view), _ ("Memory"), COLUMN_MEMORY, TRUE);
  gtk_tree_view_set_search_column (GTK_TREE_VIEW (view), COLUMN_NAME);
  dyno_widget_set_accessible_name (view, _ ("Layers of the model"));
  gtk_container_add (GTK_CONTAINER (scrolled), view);
  gtk_widget_set_vexpand (scrolled, TRUE);
  return scrolled;
}

static GtkWidget *
make_text (const char *text, const char *name)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_line_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  g_object_set (label, "margin", 12, NULL);
  if (name)
    dyno_widget_add_class (label, name, TRUE);
  return label;
}

/* The notes on a network that was read from a file, each on a line; NULL: there are none. */
static GtkWidget *
make_notes (DynoGraph *graph)
{
  const GPtrArray *notes = dyno_network_get_notes (graph);
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; notes && i < notes->len; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? "\n" : "", (const char *) notes->pdata[i]);
  if (text->len == 0)
    return NULL;
  GtkWidget *label = make_text (text->str, NULL), *scrolled = gtk_scrolled_window_new (NULL, NULL);
  g_object_set (label, "margin-top", 0, NULL);
  g_object_set (scrolled, "hscrollbar-policy", GTK_POLICY_NEVER, "propagate-natural-height", TRUE,
                "max-content-height", NOTES_HEIGHT, NULL);
  dyno_widget_set_accessible_name (scrolled, _ ("Notes on the network"));
  gtk_container_add (GTK_CONTAINER (scrolled), label);
  return scrolled;
}

/* "A batch of 32: 391,466 parameters, 2.9 GFLOP forward, 24.3 MiB if all outputs were kept. ..." */
static GtkWidget *
make_totals (const GArray *layers)
{
  guint64 parameters = 0, flops = 0, bytes = 0;
  guint32 batch = 0;

  for (guint i = 0; i < layers->len; i++)
    {
      const DynoLayer *layer = &g_array_index (layers, DynoLayer, i);
      parameters += layer->parameters;
      flops += layer->flops;
      bytes += layer->output_bytes;
      batch = MAX (batch, layer->n);
    }
  g_autofree char *count = dyno_format_count (parameters);
  g_autofree char *work = dyno_format_large ((double) flops);
  g_autofree char *memory = dyno_format_bytes (bytes);
  /* Translators: of all layers of a model; the third value has its prefix already, "2.9 G" */
  g_autofree char *text = g_strdup_printf (
      _ ("A batch of %u: %s parameters, %sFLOP forward, %s if all outputs were kept. A plan shares "
         "memory between layers; see the bar of memory."),
      batch, count, work, memory);

  return make_text (text, "note");
}

void
dyno_layers_dialog_show (GtkWindow *parent, DynoSetup *setup)
{
  GtkWidget *dialog = gtk_dialog_new_with_buttons (
      _ ("Layers"), parent, GTK_DIALOG_DESTROY_WITH_PARENT | GTK_DIALOG_USE_HEADER_BAR, NULL, NULL);
  GtkWidget *content = gtk_dialog_get_content_area (GTK_DIALOG (dialog));
  g_autoptr (GError) error = NULL;
  DynoGraph *graph = NULL;
  g_autoptr (GArray) layers = list_layers (setup, &graph, &error);

  gtk_container_set_border_width (GTK_CONTAINER (content), 0);
  if (layers)
    {
      gtk_container_add (GTK_CONTAINER (content), make_table (layers));
      gtk_container_add (GTK_CONTAINER (content), make_totals (layers));
      GtkWidget *notes = make_notes (graph);
      if (notes)
        gtk_container_add (GTK_CONTAINER (content), notes);
      dyno_widget_fit_dialog (dialog, parent, WIDTH, HEIGHT);
    }
  else
    {
      g_autofree char *cause = dyno_setting_titles_put (error->message);
      gtk_container_add (GTK_CONTAINER (content), make_text (cause, NULL));
    }
  g_clear_pointer (&graph, dyno_graph_free);
  g_signal_connect (dialog, "response", G_CALLBACK (gtk_widget_destroy), NULL);
  gtk_widget_show_all (dialog);
}
