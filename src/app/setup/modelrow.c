/* SPDX-License-Identifier: MIT */
/* The rows of the model: the setup is their only state. */
#include "modelrow.h"
#include "format.h"
#include "layersdialog.h"
#include "network.h"
#include "row.h"
#include <glib/gi18n.h>

static void
model_chosen (GtkComboBox *combo, DynoSetup *setup)
{
  const char *id = gtk_combo_box_get_active_id (combo);
  if (id)
    dyno_setup_set_model (setup, id);
}

static void
layers_asked (GtkWidget *button, DynoSetup *setup)
{
  dyno_layers_dialog_show (GTK_WINDOW (gtk_widget_get_toplevel (button)), setup);
}

static void
setup_changed (DynoSetup *setup, guint flags, GtkWidget *row)
{
  GtkWidget *combo = hdy_action_row_get_activatable_widget (HDY_ACTION_ROW (row));
  const DynoJob *job = dyno_setup_get_job (setup);
  const DynoModel *model = dyno_model_find (job->model, NULL);
  const DynoJobPlan *plan = dyno_setup_get_plan (setup);
  if (!(flags & (DYNO_SETUP_MODEL | DYNO_SETUP_PLAN)))
    return;
  g_signal_handlers_block_by_func (combo, model_chosen, setup);
  gtk_combo_box_set_active_id (GTK_COMBO_BOX (combo), job->model);
  g_signal_handlers_unblock_by_func (combo, model_chosen, setup);
  gtk_widget_set_tooltip_text (row, model ? model->summary : NULL);
  if (!plan)
    return;
  g_autofree char *parameters = dyno_format_large ((double) plan->n_parameters);
  g_autofree char *flops = dyno_format_large (plan->flops_per_sample);
  /* Translators: facts of a model: "11.2 M parameters, 3.6 GFLOP per sample"; the second number
   * has its prefix already */
  g_autofree char *text =
      g_strdup_printf (_ ("%s parameters, %sFLOP per sample"), parameters, flops);
  dyno_row_set_subtitle (DYNO_ROW (row), text);
}

GtkWidget *
dyno_model_row_new (DynoSetup *setup)
{
  GtkWidget *row = dyno_row_new (_ ("Mod_el"), NULL), *combo = gtk_combo_box_text_new ();
  for (const DynoModel *const *model = dyno_model_list (); *model; model++)
    gtk_combo_box_text_append (GTK_COMBO_BOX_TEXT (combo), (*model)->name, (*model)->title);
  dyno_widget_limit_combo (combo, 16);
  dyno_row_add_control (DYNO_ROW (row), combo);
  gtk_widget_show (combo);
  g_signal_connect_object (combo, "changed", G_CALLBACK (model_chosen), setup, 0);
  g_signal_connect_object (setup, "changed", G_CALLBACK (setup_changed), row, 0);
  setup_changed (setup, DYNO_SETUP_ALL, row);
  return row;
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
