/* SPDX-License-Identifier: MIT */
/* The menu that exports the selected runs: the settings of one run, its files for other programs,
 * or a table of several runs. */
#pragma once
#include "store.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* error NULL: the file at path was written. */
typedef void (*DynoRunExportDone) (const char *path, const GError *error, gpointer data);

/* A button with the menu.  done may be called as long as the button exists. */
GtkWidget *dyno_run_export_new (DynoRunExportDone done, gpointer data);
/* runs must live until the next call. */
void dyno_run_export_set_runs (GtkWidget *button, const DynoStoredRun *const *runs, guint n);
/* The table of the runs that the menu saves, as CSV: a row for each with its identity, its results,
 * and the settings that differ between them.  To be called with one run at least.  g_free. */
char *dyno_run_export_make_table (GtkWidget *button);

G_END_DECLS
