/* SPDX-License-Identifier: MIT */
/* Dialogs that choose files: opening data and settings, saving settings and curves.  Each calls
 * back with a path in the locale's own bytes, or not at all when cancelled. */
#pragma once
#include "exporter.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

typedef gboolean (*DynoFileWrite) (gpointer data, const char *path, GError **error);
typedef void (*DynoPathChosen) (const char *path, const DynoExporter *exporter, gpointer data);

/* Sets the folder in which dialogs that open data begin, until the user has chosen in one of them;
 * NULL: Pictures. */
void dyno_dialog_set_data_folder (const char *folder);
/* patterns: NULL-terminated; NULL: all files.  Returns the dialog. */
GtkWidget *dyno_dialog_open (GtkWindow *parent, const char *title, gboolean folder,
                             const char *const *patterns, const char *pattern_name,
                             DynoPathChosen chosen, gpointer data);
/* Destroys the dialog when the owner of its data is destroyed before its parent is. */
void dyno_dialog_end_with (GtkWidget *dialog, GtkWidget *owner);
/* Asks for a file of this exporter; the dialog offers the exporter's file name. */
void dyno_dialog_export_settings (GtkWindow *parent, const DynoExporter *exporter,
                                  DynoPathChosen chosen, gpointer data);
/* The exporter that writes a file of this name.  Between Dyno's two own formats, which it can read,
 * the name decides: "run.json" is JSON whichever format was chosen; else it is the chosen one.
 * chosen: NULL for NULL. */
const DynoExporter *dyno_dialog_find_exporter (const char *path, const DynoExporter *chosen);
/* extension: "png", "svg", "pdf", "csv". */
void dyno_dialog_export_curves (GtkWindow *parent, const char *extension, const char *name,
                                DynoPathChosen chosen, gpointer data);
/* Asks for any file; the dialog, which is returned, offers the name.  data is freed when the dialog
 * is destroyed; free_data may be NULL. */
GtkWidget *dyno_dialog_save_as (GtkWindow *parent, const char *title, const char *name,
                                DynoPathChosen chosen, gpointer data, GDestroyNotify free_data);
/* Asks for a file name and writes the file in a thread, by `write` with data; then the label shows
 * where the file is, or the error.  parent: the label's window, which may be closed before the end;
 * the dialog is destroyed with the label.  free_data: may be called on either thread. */
void dyno_dialog_save_held (GtkWindow *parent, const char *title, const char *name,
                            DynoFileWrite write, gpointer data, GDestroyNotify free_data,
                            GtkWidget *label);
/* Asks for a file for a report in HTML. data is freed when the dialog is destroyed. */
void dyno_dialog_save_report (GtkWindow *parent, DynoPathChosen chosen, gpointer data,
                              GDestroyNotify free_data);

G_END_DECLS
