/* SPDX-License-Identifier: MIT */
/* Dialogs that choose files.  They are modal to their window and never block: the answer comes by
 * "response".  The chooser itself asks before a file is overwritten. */
#include "export-dialog.h"
#include "heldtask.h"
#include "row.h"
#include <glib/gi18n.h>

typedef struct {
  DynoPathChosen chosen;
  gpointer data;
} Asked;

/* The folder of the last file or folder that was chosen since the program began. */
static char *last_folder;
static char *data_folder; /* the folder of dyno_dialog_set_data_folder; or NULL */

void
dyno_dialog_set_data_folder (const char *folder)
{
  g_free (data_folder);
  data_folder = g_strdup (folder);
}

static void
set_folder (GtkFileChooser *chooser, gboolean pictures)
{
  const char *special = g_get_user_special_dir (G_USER_DIRECTORY_PICTURES);
  if (last_folder)
    gtk_file_chooser_set_current_folder (chooser, last_folder);
  else if (pictures && data_folder && g_file_test (data_folder, G_FILE_TEST_IS_DIR))
    gtk_file_chooser_set_current_folder (chooser, data_folder);
  else if (pictures && special && g_file_test (special, G_FILE_TEST_IS_DIR))
    gtk_file_chooser_set_current_folder (chooser, special);
  else if (pictures) /* "Recent" is no folder that can be chosen */
    gtk_file_chooser_set_current_folder (chooser, g_get_home_dir ());
}

static const DynoExporter *
get_exporter (GtkFileChooser *chooser)
{
  GtkFileFilter *filter = gtk_file_chooser_get_filter (chooser);
  return filter ? g_object_get_data (G_OBJECT (filter), "dyno-exporter") : NULL;
}

const DynoExporter *
dyno_dialog_find_exporter (const char *path, const DynoExporter *chosen)
{
  static const char *const own[] = { "keyfile", "json" };
  const char *dot = strrchr (path, '.');
  gboolean is_own = FALSE;

  for (guint i = 0; chosen && i < G_N_ELEMENTS (own); i++)
    is_own |= strcmp (chosen->id, own[i]) == 0;
  for (guint i = 0; is_own && dot && i < G_N_ELEMENTS (own); i++)
    {
      const DynoExporter *exporter = dyno_exporter_find (own[i]);
      if (g_ascii_strcasecmp (dot + 1, exporter->extension) == 0)
        return exporter;
    }
  if (is_own && dot && g_ascii_strcasecmp (dot, ".dyno") == 0)
    return dyno_exporter_find (own[0]);
  return chosen;
}

static void
answered (GtkDialog *dialog, int response, Asked *asked)
{
  g_autofree char *path = NULL;
  const DynoExporter *exporter = get_exporter (GTK_FILE_CHOOSER (dialog));
  if (response == GTK_RESPONSE_ACCEPT)
    path = gtk_file_chooser_get_filename (GTK_FILE_CHOOSER (dialog));
  if (path)
    {
      g_free (last_folder);
      last_folder = g_path_get_dirname (path);
    }
  gtk_widget_destroy (GTK_WIDGET (dialog));
  if (path)
    asked->chosen (path, dyno_dialog_find_exporter (path, exporter), asked->data);
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
  /* The dialog is destroyed with its parent, which may own `data`. */
  gtk_window_set_destroy_with_parent (GTK_WINDOW (dialog), TRUE);
  gtk_dialog_set_default_response (GTK_DIALOG (dialog), GTK_RESPONSE_ACCEPT);
  gtk_file_chooser_set_do_overwrite_confirmation (GTK_FILE_CHOOSER (dialog), TRUE);
  g_signal_connect_data (dialog, "response", G_CALLBACK (answered), asked, free_asked, 0);
  return dialog;
}

void
dyno_dialog_end_with (GtkWidget *dialog, GtkWidget *owner)
{
  g_signal_connect_object (owner, "destroy", G_CALLBACK (gtk_widget_destroy), dialog,
                           G_CONNECT_SWAPPED);
}

GtkWidget *
dyno_dialog_open (GtkWindow *parent, const char *title, gboolean folder,
                  const char *const *patterns, const char *pattern_name, DynoPathChosen chosen,
                  gpointer data)
{
  GtkWidget *dialog = new_dialog (
      parent, title, folder ? GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER : GTK_FILE_CHOOSER_ACTION_OPEN,
      _ ("_Open"), chosen, data);
  set_folder (GTK_FILE_CHOOSER (dialog), !patterns);
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
  return dialog;
}

void
dyno_dialog_export_settings (GtkWindow *parent, const DynoExporter *chosen_exporter,
                             DynoPathChosen chosen, gpointer data)
{
  GtkWidget *dialog = new_dialog (parent, _ ("Export Settings"), GTK_FILE_CHOOSER_ACTION_SAVE,
                                  _ ("_Export"), chosen, data);
  GtkFileFilter *filter = gtk_file_filter_new ();
  g_autofree char *pattern = g_strconcat ("*.", chosen_exporter->extension, NULL),
                  *title = g_strdup_printf ("%s (%s)", _ (chosen_exporter->title), pattern);

  gtk_file_filter_set_name (filter, title);
  gtk_file_filter_add_pattern (filter, pattern);
  g_object_set_data (G_OBJECT (filter), "dyno-exporter", (gpointer) chosen_exporter);
  gtk_file_chooser_add_filter (GTK_FILE_CHOOSER (dialog), filter);
  gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (dialog), chosen_exporter->file_name);
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

GtkWidget *
dyno_dialog_save_as (GtkWindow *parent, const char *title, const char *name, DynoPathChosen chosen,
                     gpointer data, GDestroyNotify free_data)
{
  GtkWidget *dialog =
      new_dialog (parent, title, GTK_FILE_CHOOSER_ACTION_SAVE, _ ("_Save"), chosen, data);
  g_object_set_data_full (G_OBJECT (dialog), "dyno-data", data, free_data);
  gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (dialog), name);
  gtk_widget_show (dialog);
  return dialog;
}

/* --- writing ---------------------------------------------------------------------------------- */

typedef struct {
  gatomicrefcount references; /* held by the dialog and by the task */
  DynoFileWrite write;
  gpointer data;
  GDestroyNotify free_data;
  GtkWidget *label;
  char *path;
} Save;

static void
save_unref (gpointer data)
{
  Save *self = data;
  if (!g_atomic_ref_count_dec (&self->references))
    return;
  self->free_data (self->data);
  g_free (self->path);
  g_free (self);
}

static void
write_file (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Save *self = data;
  GError *error = NULL;
  if (self->write (self->data, self->path, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

static void
file_written (GObject *label, GAsyncResult *result, gpointer data)
{
  const Save *self = g_task_get_task_data (G_TASK (result));
  g_autoptr (GError) error = NULL;
  gboolean done = g_task_propagate_boolean (G_TASK (result), &error);
  g_autofree char *shown = g_filename_display_name (self->path),
                  *text =
                      done ? g_strdup_printf (_ ("Saved in %s"), shown) : g_strdup (error->message);
  if (!gtk_widget_get_parent (GTK_WIDGET (label))) /* its window was closed */
    return;
  dyno_widget_add_class (GTK_WIDGET (label), "bad-text", !done);
  gtk_label_set_text (GTK_LABEL (label), text);
}

static void
save_path_chosen (const char *path, const DynoExporter *exporter, gpointer data)
{
  Save *self = data;
  g_autoptr (GTask) task = g_task_new (self->label, NULL, file_written, NULL);
  self->path = g_strdup (path);
  g_atomic_ref_count_inc (&self->references);
  g_task_set_task_data (task, self, save_unref);
  dyno_task_run_held (task, write_file);
}

void
dyno_dialog_save_held (GtkWindow *parent, const char *title, const char *name, DynoFileWrite write,
                       gpointer data, GDestroyNotify free_data, GtkWidget *label)
{
  Save *self = g_new0 (Save, 1);
  g_atomic_ref_count_init (&self->references);
  self->write = write;
  self->data = data;
  self->free_data = free_data;
  self->label = label;
  dyno_dialog_end_with (
      dyno_dialog_save_as (parent, title, name, save_path_chosen, self, save_unref), label);
}

void
dyno_dialog_save_report (GtkWindow *parent, DynoPathChosen chosen, gpointer data,
                         GDestroyNotify free_data)
{
  dyno_dialog_save_as (parent, _ ("Save Report"), "dyno-report.html", chosen, data, free_data);
}
