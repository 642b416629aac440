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

G_END_DECLS
