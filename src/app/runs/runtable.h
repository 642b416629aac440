/* SPDX-License-Identifier: MIT */
/* The columns of the list of runs. */
#pragma once
#include "runcurves.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* A tree view for a DynoRunList, with small curves in its rows.  curves must outlive the view. */
GtkWidget *dyno_run_table_new (DynoRunCurves *curves);
/* Gives the columns the width that their texts need, up to a greatest one, which for the names of
 * runs is large; the settings take what is left, and tags are hidden where no run has any.  A
 * column that the user has resized keeps its width.  Call it when the view has got a model. */
void dyno_run_table_fit (GtkWidget *list);

G_END_DECLS
