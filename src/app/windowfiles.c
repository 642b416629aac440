/* SPDX-License-Identifier: MIT */
/* Files that the window opens and exports, by its menu, by dropping, or from outside; and images
 * that a run is to predict. */
#include "window-private.h"
#include "errorbar.h"
#include "export-dialog.h"
#include "exportchooser.h"
#include "predictdialog.h"
#include "runpage.h"
#include "runspage.h"
#include "toast.h"
#include <glib/gi18n.h>

void
dyno_window_open_settings (DynoWindow *self, const char *path)
{
  g_autoptr (DynoJob) job = dyno_job_copy (dyno_setup_get_job (self->setup));
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  if (!dyno_settings_file_read (path, job, warnings, &error))
    {
      dyno_error_bar_show_error (DYNO_ERROR_BAR (self->error_bar),
                                 _ ("The settings file cannot be read"), error);
      return;
    }
  dyno_error_bar_dismiss (DYNO_ERROR_BAR (self->error_bar));
  dyno_setup_set_job (self->setup, job);
  if (warnings->len == 0)
    return;
  g_ptr_array_add (warnings, NULL);
  g_autofree char *text = g_strjoinv ("\n", (char **) warnings->pdata);
  dyno_error_bar_show_text (DYNO_ERROR_BAR (self->error_bar), GTK_MESSAGE_WARNING,
                            _ ("Parts of the settings file were left out"), text);
}

static gboolean
is_network_file (const char *path)
{
  g_autofree char *lower = g_ascii_strdown (path, -1);
  return g_str_has_suffix (lower, ".onnx");
}

/* Decides by the extension of the name. */
gboolean
dyno_is_settings_file (const char *path)
{
  g_autofree char *lower = g_ascii_strdown (path, -1);
  return g_str_has_suffix (lower, ".dyno") || g_str_has_suffix (lower, ".ini")
         || g_str_has_suffix (lower, ".json");
}

void
dyno_window_open (DynoWindow *self, const char *path)
{
  if (is_network_file (path)) /* for the next run, so also during a run */
    {
      dyno_window_show_page (self, "train");
      dyno_setup_open_network (self->setup, path, TRUE);
      return;
    }
  if (dyno_setup_is_locked (self->setup))
    {
      g_autofree char *name = g_filename_display_basename (path);
      g_autofree char *title = g_strdup_printf (_ ("“%s” was not opened"), name);
      dyno_error_bar_show_text (
          DYNO_ERROR_BAR (self->error_bar), GTK_MESSAGE_INFO, title,
          _ ("The tuner or a test measures. Stop it first, then open it again."));
      return;
    }
  if (g_str_equal (gtk_stack_get_visible_child_name (GTK_STACK (self->pages)), "home"))
    dyno_window_show_page (self, dyno_is_settings_file (path) ? "train" : "data");
  if (dyno_is_settings_file (path))
    {
      dyno_window_open_settings (self, path);
      return;
    }
  dyno_error_bar_dismiss (DYNO_ERROR_BAR (self->error_bar));
  dyno_setup_open_data (self->setup, path);
}

static void
path_chosen (const char *path, const DynoExporter *exporter, gpointer data)
{
  dyno_window_open (data, path);
}

static void
settings_chosen (const char *path, const DynoExporter *exporter, gpointer data)
{
  dyno_window_open_settings (data, path);
}

static void
open_data_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  dyno_window_open (data, g_variant_get_string (parameter, NULL));
}

static void
open_folder_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  dyno_dialog_open (data, _ ("Open a Folder of Samples"), TRUE, NULL, NULL, path_chosen, data);
}

static void
open_file_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  dyno_dialog_open (data, _ ("Open a Data File"), FALSE, NULL, NULL, path_chosen, data);
}

static void
network_chosen (const char *path, const DynoExporter *exporter, gpointer data)
{
  dyno_setup_open_network (DYNO_WINDOW (data)->setup, path, FALSE);
}

static void
open_network_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  static const char *const patterns[] = { "*.onnx", NULL };
  dyno_dialog_open (data, _ ("Open a Network"), FALSE, patterns, _ ("ONNX networks (*.onnx)"),
                    network_chosen, data);
}

static void
open_settings_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  static const char *const patterns[] = { "*.dyno", "*.ini", "*.json", NULL };
  dyno_dialog_open (data, _ ("Open Settings"), FALSE, patterns,
                    _ ("Dyno settings (*.dyno, *.ini, *.json)"), settings_chosen, data);
}

void
dyno_window_show_exported (DynoWindow *self, const char *path)
{
  g_autofree char *name = g_filename_display_basename (path);
  /* Translators: a file's name */
  g_autofree char *text = g_strdup_printf (_ ("“%s” exported"), name);
  dyno_toast_show (DYNO_TOAST (self->toast), text, path);
}

static void
export_done (const char *path, const GError *error, gpointer data)
{
  DynoWindow *self = data;
  if (error)
    dyno_error_bar_show_error (DYNO_ERROR_BAR (self->error_bar),
                               _ ("The settings were not exported"), error);
  else
    dyno_window_show_exported (self, path);
}

static void
export_settings_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  DynoWindow *self = data;
  const DynoRunStatus *status = dyno_run_monitor_get_status (self->monitor);
  const DynoDeviceInfo *device = dyno_setup_get_device (self->setup);
  DynoExportContext context = { .job = dyno_setup_get_job (self->setup),
                                .device = device ? device->name : NULL };
  if (dyno_setup_is_like (self->setup, status->job) && status->n_steps > 0
      && dyno_settings_equal (&status->job->settings, &context.job->settings))
    {
      context.samples_per_s = status->run_rate > 0 ? status->run_rate : 0;
      context.vram_bytes = status->step.vram_bytes;
    }
  dyno_export_chooser_show (GTK_WINDOW (self), &context, dyno_setup_get_dataset (self->setup),
                            export_done, self);
}

static void
curves_written (DynoWindow *self, const char *path, const GError *error)
{
  if (error)
    dyno_error_bar_show_error (DYNO_ERROR_BAR (self->error_bar), _ ("The curves were not exported"),
                               error);
  else
    dyno_window_show_exported (self, path);
}

static void
steps_written (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (DynoWindow) self = data;
  g_autoptr (GError) error = NULL;
  const char *path;
  dyno_run_monitor_write_csv_finish (result, &path, &error);
  if (gtk_window_get_application (GTK_WINDOW (self))) /* the window still exists */
    curves_written (self, path, error);
}

/* CSV is written in a thread, since a long run has many steps. */
static void
export_curves_chosen (const char *path, const DynoExporter *exporter, gpointer data)
{
  DynoWindow *self = data;
  g_autofree char *lower = g_ascii_strdown (path, -1);
  g_autoptr (GError) error = NULL;
  if (g_str_has_suffix (lower, ".csv"))
    {
      dyno_run_monitor_write_csv (self->monitor, path, steps_written, g_object_ref (self));
      return;
    }
  dyno_run_page_export (DYNO_RUN_PAGE (self->run_page), path, &error);
  curves_written (self, path, error);
}

static void
export_curves_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  dyno_dialog_export_curves (data, g_variant_get_string (parameter, NULL), "dyno-curves",
                             export_curves_chosen, data);
}

/* Predicts images that are dropped on a page that shows a run with weights. */
static gboolean
predict (DynoWindow *self, const char *const *paths)
{
  const char *page = gtk_stack_get_visible_child_name (GTK_STACK (self->pages));
  if (!dyno_predict_are_images (paths))
    return FALSE;
  if (g_str_equal (page, "train"))
    return dyno_run_page_predict (DYNO_RUN_PAGE (self->run_page), paths);
  return g_str_equal (page, "runs")
         && dyno_runs_page_predict (DYNO_RUNS_PAGE (self->runs_page), paths);
}

/* The parameter has the paths of images; if it is empty, the user is asked for images. */
static void
predict_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  g_autofree const char **paths = g_variant_get_bytestring_array (parameter, NULL);
  predict (data, paths);
}

static const GActionEntry entries[] = {
  { "open-data", open_data_activated, "s" },
  { "open-folder", open_folder_activated },
  { "open-file", open_file_activated },
  { "open-network", open_network_activated },
  { "open-settings", open_settings_activated },
  { "export-settings", export_settings_activated },
  { "export-curves", export_curves_activated, "s" },
  { "predict", predict_activated, "aay" },
};

void
dyno_window_add_file_actions (DynoWindow *self)
{
  g_action_map_add_action_entries (G_ACTION_MAP (self), entries, G_N_ELEMENTS (entries), self);
}

/* Drag and drop */

static gboolean
drag_motion (GtkWidget *widget, GdkDragContext *context, int x, int y, guint time, DynoWindow *self)
{
  gtk_style_context_add_class (gtk_widget_get_style_context (self->pages), "drop");
  return FALSE;
}

static void
drag_leave (GtkWidget *widget, GdkDragContext *context, guint time, DynoWindow *self)
{
  gtk_style_context_remove_class (gtk_widget_get_style_context (self->pages), "drop");
}

static void
drag_received (GtkWidget *widget, GdkDragContext *context, int x, int y,
               GtkSelectionData *selection, guint info, guint time, DynoWindow *self)
{
  g_auto (GStrv) uris = gtk_selection_data_get_uris (selection);
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; uris && uris[i]; i++)
    {
      char *path = g_filename_from_uri (uris[i], NULL, NULL);
      if (path)
        g_ptr_array_add (paths, path);
    }
  g_ptr_array_add (paths, NULL);
  if (paths->len > 1 && !predict (self, (const char *const *) paths->pdata))
    dyno_window_open (self, paths->pdata[0]);
}

void
dyno_window_take_drops (DynoWindow *self)
{
  gtk_drag_dest_set (GTK_WIDGET (self), GTK_DEST_DEFAULT_ALL, NULL, 0, GDK_ACTION_COPY);
  gtk_drag_dest_add_uri_targets (GTK_WIDGET (self));
  g_signal_connect (self, "drag-motion", G_CALLBACK (drag_motion), self);
  g_signal_connect (self, "drag-leave", G_CALLBACK (drag_leave), self);
  g_signal_connect (self, "drag-data-received", G_CALLBACK (drag_received), self);
}
