/* SPDX-License-Identifier: MIT */
/* The columns of the list of runs. */
#pragma once
#include "runcurves.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* A tree view for a DynoRunList; curves, which outlive it, are drawn small in its rows. */
GtkWidget *dyno_run_table_new (DynoRunCurves *curves);

G_END_DECLS
