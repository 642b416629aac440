/* SPDX-License-Identifier: MIT */
#include "barlist.h"
#include "row.h"

GtkWidget *
dyno_bar_row_new (const char *name, const char *value, double share)
{
  GtkWidget *row = gtk_box_new (GTK_ORIENTATION_VERTICAL, 3),
            *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12),
            *title = dyno_text_new (name, NULL), *number = dyno_text_new (value, "numeric"),
            *bar = gtk_progress_bar_new ();
  gtk_widget_set_hexpand (title, TRUE);
  gtk_label_set_xalign (GTK_LABEL (number), 1);
  gtk_progress_bar_set_fraction (GTK_PROGRESS_BAR (bar), CLAMP (share, 0, 1));
  dyno_widget_add_class (bar, "thin", TRUE);
  dyno_widget_set_accessible_name (bar, name);
  gtk_container_add (GTK_CONTAINER (line), title);
  gtk_container_add (GTK_CONTAINER (line), number);
  gtk_container_add (GTK_CONTAINER (row), line);
  gtk_container_add (GTK_CONTAINER (row), bar);
  return row;
}
