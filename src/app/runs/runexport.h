/* SPDX-License-Identifier: MIT */
/* The forms in which the selected runs are exported: of one run its settings, its trained network
 * and its files for other programs, of several a table. */
#pragma once
#include "store.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* error NULL: the file at path was written. */
typedef void (*DynoRunExportDone) (const char *path, const GError *error, gpointer data);

/* A list of the forms, each with a button.  done may be called as long as the list exists. */
GtkWidget *dyno_run_export_new (DynoRunExportDone done, gpointer data);
/* runs must live until the next call. */
void dyno_run_export_set_runs (GtkWidget *page, const DynoStoredRun *const *runs, guint n);
/* Forgets the runs, which may be freed then; the forms stay as they are until the next call. */
void dyno_run_export_forget (GtkWidget *page);
/* The table that is saved of the runs, as CSV: a row for each with its identity, its results,
 * and the settings that differ between them.  To be called with one run at least.  g_free. */
char *dyno_run_export_make_table (GtkWidget *page);

G_END_DECLS
