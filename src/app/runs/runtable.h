/* SPDX-License-Identifier: MIT */
/* The columns of the list of runs. */
#pragma once
#include "runcurves.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* A tree view for a DynoRunList, with small curves in its rows.  curves must outlive the view. */
GtkWidget *dyno_run_table_new (DynoRunCurves *curves);

G_END_DECLS
