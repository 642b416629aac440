/* SPDX-License-Identifier: MIT */
/* The current stage is at work, earlier ones are marked as done or failed, later ones are faint.
 * In a narrow box the cells are in two rows. */
#include "stagecells.h"
#include "row.h"
#include <glib/gi18n.h>

void
dyno_stage_cells_show (DynoStageCells *self, guint stage, DynoCheckState stand, const char *title)
{
  static const char *const signs[] = { "\342\227\213", "\342\227\217", "\342\234\223",
                                       "\342\234\227" };
  g_autofree char *text = g_strdup_printf ("%s %s", signs[stand], title);
  gtk_label_set_text (GTK_LABEL (self->titles[stage]), text);
  dyno_widget_add_class (self->cells[stage], "off", stand == DYNO_STAND_TO_COME);
  dyno_widget_add_class (self->titles[stage], "stage-now", stand == DYNO_STAND_AT_WORK);
  dyno_widget_add_class (self->titles[stage], "bad-text", stand == DYNO_STAND_FAILED);
}

void
dyno_stage_cells_set_value (DynoStageCells *self, guint stage, const char *text)
{
  gtk_label_set_text (GTK_LABEL (self->values[stage]), text);
}

void
dyno_stage_cells_init (DynoStageCells *self, GtkBox *box)
{
  GtkWidget *flow = gtk_flow_box_new ();
  gtk_flow_box_set_homogeneous (GTK_FLOW_BOX (flow), TRUE);
  gtk_flow_box_set_min_children_per_line (GTK_FLOW_BOX (flow), DYNO_STAGE_CELLS / 2);
  gtk_flow_box_set_max_children_per_line (GTK_FLOW_BOX (flow), DYNO_STAGE_CELLS);
  gtk_flow_box_set_selection_mode (GTK_FLOW_BOX (flow), GTK_SELECTION_NONE);
  gtk_widget_set_hexpand (flow, TRUE);
  dyno_widget_set_accessible_name (flow, _ ("Stages"));
  gtk_container_add (GTK_CONTAINER (box), flow);
  gtk_widget_show (flow);
  dyno_widget_add_class (GTK_WIDGET (box), "stats", TRUE);
  for (guint i = 0; i < DYNO_STAGE_CELLS; i++)
    {
      self->cells[i] = gtk_box_new (GTK_ORIENTATION_VERTICAL, 2);
      self->titles[i] = gtk_label_new (NULL);
      self->values[i] = gtk_label_new (NULL);
      dyno_widget_add_class (self->cells[i], "stat", TRUE);
      dyno_widget_add_class (self->titles[i], "stat-title", TRUE);
      dyno_widget_add_class (self->values[i], "numeric", TRUE);
      gtk_label_set_xalign (GTK_LABEL (self->titles[i]), 0);
      gtk_label_set_xalign (GTK_LABEL (self->values[i]), 0);
      gtk_label_set_ellipsize (GTK_LABEL (self->titles[i]), PANGO_ELLIPSIZE_END);
      gtk_label_set_line_wrap (GTK_LABEL (self->values[i]), TRUE);
      gtk_container_add (GTK_CONTAINER (self->cells[i]), self->titles[i]);
      gtk_container_add (GTK_CONTAINER (self->cells[i]), self->values[i]);
      gtk_flow_box_insert (GTK_FLOW_BOX (flow), self->cells[i], -1);
      gtk_widget_set_can_focus (gtk_widget_get_parent (self->cells[i]), FALSE);
      gtk_widget_show (gtk_widget_get_parent (self->cells[i]));
      gtk_widget_show_all (self->cells[i]);
    }
}
