/* SPDX-License-Identifier: MIT */
/* The numbers of an evaluation: the overall figures in large type, and a table of its classes,
 * labels or values. */
#pragma once
#include "evaluatework.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Fills a GtkFlowBox, replacing its contents. */
void dyno_evaluate_figures_show (GtkWidget *flow, const DynoEvaluation *evaluation);
/* Gives the table its columns, which sort, and its rows. */
void dyno_evaluate_table_show (GtkTreeView *table, const DynoEvaluation *evaluation);
/* The label of a sample's picture: the true class, the predicted one if it differs, and its
 * probability; its wrong labels; or the first true values and the squared error.  g_free. */
char *dyno_evaluate_describe_sample (const DynoEvaluation *evaluation, const DynoScored *one);

G_END_DECLS
