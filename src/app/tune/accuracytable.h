/* SPDX-License-Identifier: MIT */
/* The trials of a search for the best model as a list: value, epochs, state, and a column for each
 * parameter that is searched. */
#pragma once
#include "accuracyview.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Gives the list a model and the columns of a search; earlier rows are removed. */
void dyno_accuracy_table_begin (GtkTreeView *list, const DynoParamSpace *space,
                                const DynoMetricInfo *metric);
/* Updates the list to the rows; selection and scrolling stay.  best: index of the trial in bold;
 * -1: none. */
void dyno_accuracy_table_set_rows (GtkTreeView *list, const DynoParamSpace *space,
                                   const DynoMetricInfo *metric, const GArray *rows,
                                   guint64 n_epochs, int best);
/* Selects the row of a trial and scrolls to it; -1: none. */
void dyno_accuracy_table_select (GtkTreeView *list, int trial);
/* The selected trial; -1: none. */
int dyno_accuracy_table_get_selected (GtkTreeView *list);

G_END_DECLS
