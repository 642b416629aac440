/* SPDX-License-Identifier: MIT */
/* The numbers of an evaluation: those of the whole, large, and a table of its classes or values. */
#pragma once
#include "evaluatework.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Fills a GtkFlowBox; what was in it goes. */
void dyno_evaluate_figures_show (GtkWidget *flow, const DynoEvaluation *evaluation);
/* Gives the table its columns, which sort, and its rows. */
void dyno_evaluate_table_show (GtkTreeView *table, const DynoEvaluation *evaluation);
/* Of a picture: what it is, and what it was taken for, in two lines; g_free. */
char *dyno_evaluate_describe_sample (const DynoEvaluation *evaluation, const DynoScored *one);

G_END_DECLS
