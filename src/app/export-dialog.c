/* SPDX-License-Identifier: MIT */
/* Dialogs that choose files.  They are modal to their window and never block: the answer comes by
 * "response".  Overwriting is asked by the chooser itself. */
#include "export-dialog.h"
#include <glib/gi18n.h>

typedef struct {
  DynoPathChosen chosen;
  gpointer data;
} Asked;

static const DynoExporter *
get_exporter (GtkFileChooser *chooser)
{
  GtkFileFilter *filter = gtk_file_chooser_get_filter (chooser);
  return filter ? g_object_get_data (G_OBJECT (filter), "dyno-exporter") : NULL;
}

/* A name with another exporter's ending is meant for that one: "run.json" is JSON whatever kind of
 * file is chosen. */
static const DynoExporter *
exporter_for (const char *path, const DynoExporter *chosen)
{
  const char *dot = strrchr (path, '.');
  if (!chosen || !dot || g_ascii_strcasecmp (dot + 1, chosen->extension) == 0)
    return chosen;
  for (const DynoExporter *const *other = dyno_exporter_list (); *other; other++)
    {
      if (g_ascii_strcasecmp (dot + 1, (*other)->extension) == 0)
        return *other;
    }
  return chosen;
}

static void
answered (GtkDialog *dialog, int response, Asked *asked)
{
  g_autofree char *path = NULL;
  const DynoExporter *exporter = get_exporter (GTK_FILE_CHOOSER (dialog));
  if (response == GTK_RESPONSE_ACCEPT)
    path = gtk_file_chooser_get_filename (GTK_FILE_CHOOSER (dialog));
  gtk_widget_destroy (GTK_WIDGET (dialog));
  if (path)
    asked->chosen (path, exporter_for (path, exporter), asked->data);
}

static void
free_asked (gpointer data, GClosure *closure)
{
  g_free (data);
}

static GtkWidget *
new_dialog (GtkWindow *parent, const char *title, GtkFileChooserAction action, const char *accept,
            DynoPathChosen chosen, gpointer data)
{
  GtkWidget *dialog = gtk_file_chooser_dialog_new (
      title, parent, action, _ ("_Cancel"), GTK_RESPONSE_CANCEL, accept, GTK_RESPONSE_ACCEPT, NULL);
  Asked *asked = g_new0 (Asked, 1);
  asked->chosen = chosen;
  asked->data = data;
  gtk_window_set_modal (GTK_WINDOW (dialog), TRUE);
  gtk_dialog_set_default_response (GTK_DIALOG (dialog), GTK_RESPONSE_ACCEPT);
  gtk_file_chooser_set_do_overwrite_confirmation (GTK_FILE_CHOOSER (dialog), TRUE);
  g_signal_connect_data (dialog, "response", G_CALLBACK (answered), asked, free_asked, 0);
  return dialog;
}

void
dyno_dialog_open (GtkWindow *parent, const char *title, gboolean folder,
                  const char *const *patterns, const char *pattern_name, DynoPathChosen chosen,
                  gpointer data)
{
  GtkWidget *dialog = new_dialog (
      parent, title, folder ? GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER : GTK_FILE_CHOOSER_ACTION_OPEN,
      _ ("_Open"), chosen, data);
  if (patterns)
    {
      GtkFileFilter *some = gtk_file_filter_new (), *all = gtk_file_filter_new ();
      gtk_file_filter_set_name (some, pattern_name);
      for (; *patterns; patterns++)
        gtk_file_filter_add_pattern (some, *patterns);
      gtk_file_filter_set_name (all, _ ("All files"));
      gtk_file_filter_add_pattern (all, "*");
      gtk_file_chooser_add_filter (GTK_FILE_CHOOSER (dialog), some);
      gtk_file_chooser_add_filter (GTK_FILE_CHOOSER (dialog), all);
    }
  gtk_widget_show (dialog);
}

/* The name's ending follows the kind of file that is chosen. */
static void
filter_changed (GtkFileChooser *chooser, GParamSpec *spec, gpointer data)
{
  const DynoExporter *exporter = get_exporter (chooser);
  g_autofree char *name = gtk_file_chooser_get_current_name (chooser);
  char *dot = name ? strrchr (name, '.') : NULL;
  if (!exporter || !name || !*name || strchr (name, '/'))
    return;
  if (dot && dot != name)
    *dot = 0;
  g_autofree char *full = g_strconcat (name, ".", exporter->extension, NULL);
  gtk_file_chooser_set_current_name (chooser, full);
}

void
dyno_dialog_export_settings (GtkWindow *parent, const char *name, DynoPathChosen chosen,
                             gpointer data)
{
  GtkWidget *dialog = new_dialog (parent, _ ("Export Settings"), GTK_FILE_CHOOSER_ACTION_SAVE,
                                  _ ("_Export"), chosen, data);
  g_autofree char *full = g_strconcat (name, ".ini", NULL);
  for (const DynoExporter *const *exporter = dyno_exporter_list (); *exporter; exporter++)
    {
      GtkFileFilter *filter = gtk_file_filter_new ();
      g_autofree char *pattern = g_strconcat ("*.", (*exporter)->extension, NULL);
      g_autofree char *title = g_strdup_printf ("%s (%s)", _ ((*exporter)->title), pattern);
      gtk_file_filter_set_name (filter, title);
      gtk_file_filter_add_pattern (filter, pattern);
      g_object_set_data (G_OBJECT (filter), "dyno-exporter", (gpointer) *exporter);
      gtk_file_chooser_add_filter (GTK_FILE_CHOOSER (dialog), filter);
    }
  gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (dialog), full);
  g_signal_connect (dialog, "notify::filter", G_CALLBACK (filter_changed), NULL);
  gtk_widget_show (dialog);
}

void
dyno_dialog_export_curves (GtkWindow *parent, const char *extension, const char *name,
                           DynoPathChosen chosen, gpointer data)
{
  GtkWidget *dialog = new_dialog (parent, _ ("Export Curves"), GTK_FILE_CHOOSER_ACTION_SAVE,
                                  _ ("_Export"), chosen, data);
  g_autofree char *full = g_strconcat (name, ".", extension, NULL);
  gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (dialog), full);
  gtk_widget_show (dialog);
}
