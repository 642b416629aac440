/* SPDX-License-Identifier: MIT */
/* The menu of what can be exported of the runs that are selected: the settings of one, its files for
 * other programs, a table of several. */
#pragma once
#include "store.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* path: it was written; or error. */
typedef void (*DynoRunExportDone) (const char *path, const GError *error, gpointer data);

/* A button with the menu.  done may come as long as it is there. */
GtkWidget *dyno_run_export_new (DynoRunExportDone done, gpointer data);
/* runs live until the next call. */
void dyno_run_export_set_runs (GtkWidget *button, const DynoStoredRun *const *runs, guint n);

G_END_DECLS
