/* SPDX-License-Identifier: MIT */
/* The current stage is at work, earlier ones are marked as done or failed, later ones are faint. */
#include "stagecells.h"
#include "row.h"

void
dyno_stage_cells_show (DynoStageCells *self, guint stage, DynoStand stand, const char *title)
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
  gtk_box_set_homogeneous (box, TRUE);
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
      gtk_container_add (GTK_CONTAINER (box), self->cells[i]);
      gtk_widget_show_all (self->cells[i]);
    }
}
