/* SPDX-License-Identifier: MIT */
/* The rows of the model have no state besides the setup, except for the list of networks, which is
 * read in a thread when the row is created and whenever another network becomes the model. */
#include "modelrow.h"
#include "format.h"
#include "layersdialog.h"
#include "networklist.h"
#include "row.h"
#include "words.h"
#include <glib/gi18n.h>

#define MOST_NETWORKS 8
#define OPEN          ":open" /* ids of rows that are no models */
#define SEPARATOR     ":"

typedef struct {
  DynoSetup *setup;
  GtkWidget *row, *combo, *spinner;
  GPtrArray *networks; /* names, as they are offered */
  gboolean by_key;     /* a key changes the choice while the list is closed */
} ModelRow;

static void
model_row_free (gpointer data)
{
  ModelRow *self = data;
  g_ptr_array_unref (self->networks);
  g_free (self);
}

static ModelRow *
get_model_row (GtkWidget *row)
{
  return g_object_get_data (G_OBJECT (row), "dyno-model-row");
}

/* --- the list --------------------------------------------------------------------------------- */

static void model_chosen (GtkComboBox *combo, ModelRow *self);

static gboolean
is_separator (GtkTreeModel *model, GtkTreeIter *iter, gpointer data)
{
  g_autofree char *id = NULL;
  gtk_tree_model_get (model, iter, 1, &id, -1);
  return g_strcmp0 (id, SEPARATOR) == 0;
}

/* Makes the present model the combo's active row; none is active until the list contains it. */
static void
show_active (ModelRow *self)
{
  const char *name = dyno_setup_get_job (self->setup)->model;
  g_signal_handlers_block_by_func (self->combo, model_chosen, self);
  if (!gtk_combo_box_set_active_id (GTK_COMBO_BOX (self->combo), name))
    gtk_combo_box_set_active (GTK_COMBO_BOX (self->combo), -1);
  g_signal_handlers_unblock_by_func (self->combo, model_chosen, self);
}

static void
fill (ModelRow *self)
{
  GtkComboBoxText *combo = GTK_COMBO_BOX_TEXT (self->combo);
  g_signal_handlers_block_by_func (combo, model_chosen, self);
  gtk_combo_box_text_remove_all (combo);
  for (const DynoModel *const *model = dyno_model_list (); *model; model++)
    gtk_combo_box_text_append (combo, (*model)->name, (*model)->title);
  gtk_combo_box_text_append (combo, SEPARATOR, "");
  for (guint i = 0; i < self->networks->len; i++)
    {
      g_autofree char *title = dyno_network_list_describe (self->networks, i);
      gtk_combo_box_text_append (combo, self->networks->pdata[i], title);
    }
  if (self->networks->len > 0)
    gtk_combo_box_text_append (combo, SEPARATOR, "");
  gtk_combo_box_text_append (combo, OPEN, _ ("Open a network…"));
  g_signal_handlers_unblock_by_func (combo, model_chosen, self);
  show_active (self);
}

static gboolean
is_offered (ModelRow *self, const char *name)
{
  for (const DynoModel *const *model = dyno_model_list (); *model; model++)
    if (g_strcmp0 ((*model)->name, name) == 0)
      return TRUE;
  return g_ptr_array_find_with_equal_func (self->networks, name, g_str_equal, NULL);
}

static void
networks_listed (GObject *owner, GPtrArray *names)
{
  ModelRow *self = get_model_row (GTK_WIDGET (owner));
  if (!self) /* the row was destroyed */
    return;
  const char *name = dyno_setup_get_job (self->setup)->model;
  g_ptr_array_unref (self->networks);
  self->networks = g_ptr_array_ref (names);
  if (!is_offered (self, name)) /* the model of a run, or a network that is not listed */
    g_ptr_array_insert (self->networks, 0, g_strdup (name));
  fill (self);
}

/* --- choosing --------------------------------------------------------------------------------- */

static void
ask_for_file (ModelRow *self)
{
  GtkWidget *window = gtk_widget_get_toplevel (self->row);
  if (G_IS_ACTION_GROUP (window))
    g_action_group_activate_action (G_ACTION_GROUP (window), "open-network", NULL);
}

/* A network of the list is opened again, in a thread: its file may be large or missing. */
static void
model_chosen (GtkComboBox *combo, ModelRow *self)
{
  g_autofree char *id = g_strdup (gtk_combo_box_get_active_id (combo));
  if (!id)
    return;
  if (g_str_equal (id, OPEN))
    {
      show_active (self);
      if (self->by_key)
        gtk_widget_error_bell (self->combo);
      else
        ask_for_file (self);
      return;
    }
  if (!g_ptr_array_find_with_equal_func (self->networks, id, g_str_equal, NULL))
    dyno_setup_set_model (self->setup, id);
  else
    {
      g_autofree char *path = dyno_network_list_get_path (id);
      dyno_setup_open_network (self->setup, path, FALSE);
    }
}

/* Arrow keys choose each row that they reach while the list is closed; they must not open a dialog
 * at the row for a file. */
static void
before_key (GtkComboBox *combo, GtkScrollType type, ModelRow *self)
{
  self->by_key = TRUE;
}

static void
after_key (GtkComboBox *combo, GtkScrollType type, ModelRow *self)
{
  self->by_key = FALSE;
}

/* --- what is shown ---------------------------------------------------------------------------- */

/* "11.2 M parameters, 3.6 GFLOP per sample"; NULL: not known */
static char *
describe_plan (const DynoJobPlan *plan)
{
  if (!plan)
    return NULL;
  g_autofree char *parameters = dyno_format_large ((double) plan->n_parameters);
  g_autofree char *flops = dyno_format_large (plan->flops_per_sample);
  /* Translators: facts of a model: "11.2 M parameters, 3.6 GFLOP per sample"; the second number
   * has its prefix already */
  return g_strdup_printf (_ ("%s parameters, %sFLOP per sample"), parameters, flops);
}

static void
show_reading (ModelRow *self, const char *path)
{
  g_autofree char *name = path ? dyno_network_list_describe_path (path) : NULL;
  /* Translators: a file's name */
  g_autofree char *text = path ? g_strdup_printf (_ ("Reading “%s”…"), name)
                               : describe_plan (dyno_setup_get_plan (self->setup));
  g_object_set (self->spinner, "active", path != NULL, "visible", path != NULL, NULL);
  dyno_row_set_subtitle (DYNO_ROW (self->row), text);
}

static void
setup_changed (DynoSetup *setup, guint flags, GtkWidget *row)
{
  ModelRow *self = get_model_row (row);
  const char *name = dyno_setup_get_job (setup)->model;
  if (!self || !(flags & (DYNO_SETUP_MODEL | DYNO_SETUP_PLAN)))
    return;
  const DynoModel *model = dyno_model_find (name, NULL);
  show_active (self);
  if ((flags & DYNO_SETUP_MODEL) && (!is_offered (self, name) || (model && model->network)))
    dyno_network_list_ask (MOST_NETWORKS, G_OBJECT (row), networks_listed);
  gtk_widget_set_tooltip_text (row, model ? _ (model->summary) : NULL);
  show_reading (self, dyno_setup_get_reading (setup));
}

/* Names differ at their end: in their depth, or in their digest. */
static void
shorten_in_the_middle (GtkWidget *combo)
{
  g_autoptr (GList) cells = gtk_cell_layout_get_cells (GTK_CELL_LAYOUT (combo));
  for (GList *l = cells; l; l = l->next)
    g_object_set (l->data, "ellipsize", PANGO_ELLIPSIZE_MIDDLE, NULL);
}

/* A thread that reads the list may keep the row alive after its controls were destroyed: the
 * callback then finds no ModelRow. */
static void
row_destroyed (GtkWidget *row, gpointer data)
{
  ModelRow *self = get_model_row (row);
  if (!self)
    return;
  g_signal_handlers_disconnect_by_data (self->combo, self);
  g_object_set_data (G_OBJECT (row), "dyno-model-row", NULL);
}

GtkWidget *
dyno_model_row_new (DynoSetup *setup)
{
  ModelRow *self = g_new0 (ModelRow, 1);
  self->setup = setup;
  self->row = dyno_row_new (_ ("Mod_el"), NULL);
  self->combo = gtk_combo_box_text_new ();
  self->spinner = gtk_spinner_new ();
  self->networks = g_ptr_array_new_with_free_func (g_free);
  g_object_set_data_full (G_OBJECT (self->row), "dyno-model-row", self, model_row_free);
  gtk_combo_box_set_row_separator_func (GTK_COMBO_BOX (self->combo), is_separator, NULL, NULL);
  /* A list of one column opens below its button: else GTK would place the active row of a long list
   * over the button, and most of its models would be scrolled out of sight. */
  gtk_combo_box_set_wrap_width (GTK_COMBO_BOX (self->combo), 1);
  dyno_widget_limit_combo (self->combo, 20);
  shorten_in_the_middle (self->combo);
  dyno_row_add_control (DYNO_ROW (self->row), self->combo);
  dyno_row_add_control (DYNO_ROW (self->row), self->spinner);
  gtk_box_reorder_child (GTK_BOX (gtk_widget_get_parent (self->spinner)), self->spinner, 0);
  gtk_widget_set_no_show_all (self->spinner, TRUE);
  gtk_widget_show (self->combo);
  g_signal_connect (self->combo, "changed", G_CALLBACK (model_chosen), self);
  g_signal_connect (self->combo, "move-active", G_CALLBACK (before_key), self);
  g_signal_connect_after (self->combo, "move-active", G_CALLBACK (after_key), self);
  g_signal_connect_object (setup, "changed", G_CALLBACK (setup_changed), self->row, 0);
  g_signal_connect (self->row, "destroy", G_CALLBACK (row_destroyed), NULL);
  fill (self);
  setup_changed (setup, DYNO_SETUP_ALL, self->row);
  dyno_network_list_ask (MOST_NETWORKS, G_OBJECT (self->row), networks_listed);
  return self->row;
}

/* --- its layers ------------------------------------------------------------------------------- */

static void
layers_asked (GtkWidget *button, DynoSetup *setup)
{
  dyno_layers_dialog_show (GTK_WINDOW (gtk_widget_get_toplevel (button)), setup);
}

GtkWidget *
dyno_layers_row_new (DynoSetup *setup)
{
  GtkWidget *row = dyno_row_new (_ ("Layers"), NULL),
            *button = gtk_button_new_with_label (_ ("Show…"));

  gtk_widget_set_tooltip_text (row, _ ("What the model is made of: shapes, parameters, work"));
  dyno_widget_set_accessible_name (button, _ ("Show the layers"));
  g_signal_connect_object (button, "clicked", G_CALLBACK (layers_asked), setup, 0);
  dyno_row_add_control (DYNO_ROW (row), button);
  gtk_widget_show (button);
  return row;
}
