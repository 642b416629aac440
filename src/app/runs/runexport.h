/* SPDX-License-Identifier: MIT */
/* The menu of exports of the selected runs: the settings of one, its files for other programs, a
 * table of several. */
#pragma once
#include "store.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* error NULL: the file at path was written. */
typedef void (*DynoRunExportDone) (const char *path, const GError *error, gpointer data);

/* A button with the menu.  done may be called as long as the button exists. */
GtkWidget *dyno_run_export_new (DynoRunExportDone done, gpointer data);
/* runs live until the next call. */
void dyno_run_export_set_runs (GtkWidget *button, const DynoStoredRun *const *runs, guint n);

G_END_DECLS
