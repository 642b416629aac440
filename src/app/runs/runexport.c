/* SPDX-License-Identifier: MIT */
/* Exports of past runs.  Exports of a run's folder may take long, and are made in a thread. */
#include "runexport.h"
#include "csvcell.h"
#include "export-dialog.h"
#include "exportchooser.h"
#include "file.h"
#include "heldtask.h"
#include "networkexport.h"
#include "predictdialog.h"
#include "row.h"
#include "runexporter.h"
#include <glib/gi18n.h>
#include <string.h>

typedef struct {
  GtkWidget *button;
  GSimpleActionGroup *group;
  DynoRunExportDone done;
  gpointer data;
  const DynoStoredRun *const *runs; /* a copy of the list */
  guint n;
} Export;

static Export *
get_export (GtkWidget *button)
{
  return g_object_get_data (G_OBJECT (button), "dyno-export");
}

static void
export_free (gpointer data)
{
  Export *self = data;
  g_object_unref (self->group);
  g_free ((gpointer) self->runs);
  g_free (self);
}

static GtkWindow *
get_window (Export *self)
{
  return GTK_WINDOW (gtk_widget_get_toplevel (self->button));
}

/* --- settings of one run ---------------------------------------------------------------------- */

static void
settings_done (const char *path, const GError *error, gpointer data)
{
  Export *self = data;
  self->done (path, error, self->data);
}

static void
settings_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  Export *self = data;
  const DynoStoredRun *run = self->runs[0];
  DynoJob *job = dyno_stored_run_get_job (run);
  DynoExportContext context = { .job = job,
                                .device = run->device,
                                .samples_per_s = run->samples_per_s,
                                .vram_bytes = run->vram_bytes };
  dyno_export_chooser_show (get_window (self), &context, NULL, settings_done, self);
  dyno_job_unref (job);
}

/* --- a run's folder for other programs -------------------------------------------------------- */

typedef struct {
  Export *export;
  const DynoRunExporter *exporter;
  char *folder, *path;
  /* table or network, if set, is written instead of an export of the folder: */
  char *table;
  const DynoNetworkExport *network; /* exports the weights in folder */
} Request;

static void
request_free (gpointer data)
{
  Request *request = data;
  g_free (request->folder);
  g_free (request->path);
  g_free (request->table);
  g_free (request);
}

static gboolean
write_request (const Request *request, GError **error)
{
  if (request->table)
    return dyno_file_write_atomic (request->path, request->table, strlen (request->table), error);
  if (!request->network)
    return dyno_run_export (request->exporter, request->folder, request->path, TRUE, NULL, error);
  g_autofree char *weights = g_build_filename (request->folder, "weights.safetensors", NULL);
  return request->network->write (weights, request->path, error);
}

static void
write_run (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  GError *error = NULL;
  if (write_request (data, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

static void
run_written (GObject *source, GAsyncResult *result, gpointer data)
{
  const Request *request = g_task_get_task_data (G_TASK (result));
  g_autoptr (GError) error = NULL;
  g_task_propagate_boolean (G_TASK (result), &error);
  if (gtk_widget_get_parent (GTK_WIDGET (source))) /* the window still exists */
    request->export->done (request->path, error, request->export->data);
}

static void
run_path_chosen (const char *path, const DynoExporter *exporter, gpointer data)
{
  Request *request = data;
  request->path = g_strdup (path);
  g_autoptr (GTask) task = g_task_new (request->export->button, NULL, run_written, NULL);
  Request *kept = g_memdup2 (request, sizeof *request);
  request->path = request->folder = NULL;
  g_task_set_task_data (task, kept, request_free);
  dyno_task_run_held (task, write_run);
}

static void
run_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  Export *self = data;
  Request *request = g_new0 (Request, 1);
  request->export = self;
  request->exporter = dyno_run_exporter_find (g_variant_get_string (parameter, NULL));
  request->folder = g_strdup (self->runs[0]->folder);
  g_autofree char *name = dyno_run_exporter_name_file (request->exporter, request->folder);
  if (request->exporter->add) /* the exporter writes to a fixed place, so no path is asked for */
    {
      run_path_chosen (name, NULL, request);
      request_free (request);
      return;
    }
  dyno_dialog_save_as (get_window (self), _ ("Export the Run"), name, run_path_chosen, request,
                       request_free);
}

static void
network_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  Export *self = data;
  Request *request = g_new0 (Request, 1);
  request->export = self;
  request->network = dyno_network_export_find (g_variant_get_string (parameter, NULL));
  request->folder = g_strdup (self->runs[0]->folder);
  dyno_dialog_save_as (get_window (self), _ ("Export the Trained Network"),
                       request->network->file_name, run_path_chosen, request, request_free);
}

/* --- a table of several ----------------------------------------------------------------------- */

static gboolean
settings_differ (Export *self, const char *key)
{
  g_autofree char *first = dyno_settings_get (&self->runs[0]->settings, key);
  for (guint i = 1; i < self->n; i++)
    {
      g_autofree char *other = dyno_settings_get (&self->runs[i]->settings, key);
      if (!g_str_equal (first, other))
        return TRUE;
    }
  return FALSE;
}

static void
add_settings (GString *text, const DynoStoredRun *run, const GPtrArray *keys)
{
  for (guint i = 0; i < keys->len; i++)
    {
      g_autofree char *value = dyno_settings_get (&run->settings, keys->pdata[i]);
      dyno_csv_add_cell (text, value);
    }
}

char *
dyno_run_export_make_table (GtkWidget *button)
{
  Export *self = get_export (button);
  static const char *const heads[] = { "run",         "model",         "data",
                                       "state",       "steps",         "epochs_done",
                                       "seconds",     "samples_per_s", "best_val_loss",
                                       "best_metric", "best_epoch",    "metric",
                                       "folder" };
  GString *text = g_string_new (NULL);
  g_autoptr (GPtrArray) keys = g_ptr_array_new ();
  guint n;
  const DynoSettingInfo *settings = dyno_setting_list (&n);
  for (guint i = 0; i < G_N_ELEMENTS (heads); i++)
    dyno_csv_add_cell (text, heads[i]);
  for (guint i = 0; i < n; i++)
    if (settings_differ (self, settings[i].key))
      {
        g_ptr_array_add (keys, (gpointer) settings[i].key);
        dyno_csv_add_cell (text, settings[i].key);
      }
  g_string_append_c (text, '\n');
  for (guint r = 0; r < self->n; r++)
    {
      const DynoStoredRun *run = self->runs[r];
      g_autofree char *title = dyno_stored_run_get_title (run);
      dyno_csv_add_cell (text, title);
      dyno_csv_add_cell (text, run->model ? run->model : "");
      dyno_csv_add_cell (text, run->data ? run->data : "");
      dyno_csv_add_cell (text, dyno_run_state_name (run->state));
      dyno_csv_add_number (text, (double) run->steps);
      dyno_csv_add_number (text, (double) run->epochs);
      dyno_csv_add_number (text, run->seconds);
      dyno_csv_add_number (text, run->samples_per_s);
      dyno_csv_add_number (text, run->best_val_loss);
      dyno_csv_add_number (text, run->best_metric);
      dyno_csv_add_number (text, (double) run->best_epoch);
      dyno_csv_add_cell (text, run->metric ? run->metric : "");
      dyno_csv_add_cell (text, run->folder ? run->folder : "");
      add_settings (text, run, keys);
      g_string_append_c (text, '\n');
    }
  return g_string_free (text, FALSE);
}

static void
table_path_chosen (const char *path, const DynoExporter *exporter, gpointer data)
{
  Export *self = data;
  if (self->n == 0) /* the runs were deleted while the dialog was open */
    return;
  g_autoptr (GTask) task = g_task_new (self->button, NULL, run_written, NULL);
  Request *request = g_new0 (Request, 1);
  request->export = self;
  request->path = g_strdup (path);
  request->table = dyno_run_export_make_table (self->button);
  g_task_set_task_data (task, request, request_free);
  dyno_task_run_held (task, write_run);
}

static void
table_activated (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  Export *self = data;
  dyno_dialog_save_as (get_window (self), _ ("Export the Comparison"), "dyno-runs.csv",
                       table_path_chosen, self, NULL);
}

/* --- the button ------------------------------------------------------------------------------- */

static void
enable (Export *self, const char *name, gboolean enabled)
{
  GAction *action = g_action_map_lookup_action (G_ACTION_MAP (self->group), name);
  g_simple_action_set_enabled (G_SIMPLE_ACTION (action), enabled);
}

void
dyno_run_export_set_runs (GtkWidget *button, const DynoStoredRun *const *runs, guint n)
{
  Export *self = get_export (button);
  g_free ((gpointer) self->runs);
  self->runs = n > 0 ? g_memdup2 (runs, n * sizeof *runs) : NULL;
  self->n = n;
  enable (self, "settings", n == 1);
  enable (self, "run", n == 1 && runs[0]->folder);
  enable (self, "network", n == 1 && dyno_predict_can_use (runs[0]->folder));
  enable (self, "table", n > 1);
  gtk_widget_set_sensitive (button, n > 0);
}

static GMenu *
make_menu (void)
{
  GMenu *menu = g_menu_new ();
  g_autoptr (GMenu) own = g_menu_new (), files = g_menu_new (), networks = g_menu_new ();
  guint n;
  const DynoNetworkExport *kinds = dyno_network_export_list (&n);
  g_menu_append (own, _ ("_Settings…"), "export.settings");
  g_menu_append (own, _ ("_Comparison (CSV)…"), "export.table");
  for (const DynoRunExporter *const *e = dyno_run_exporter_list (); *e; e++)
    {
      g_autofree char *action = g_strdup_printf ("export.run('%s')", (*e)->id),
                      *title = g_strdup_printf ("%s…", _ ((*e)->title));
      g_menu_append (files, title, action);
    }
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *action = g_strdup_printf ("export.network('%s')", kinds[i].id),
                      *title = g_strdup_printf ("%s…", _ (kinds[i].title));
      g_menu_append (networks, title, action);
    }
  g_menu_append_section (menu, NULL, G_MENU_MODEL (own));
  g_menu_append_section (menu, NULL, G_MENU_MODEL (networks));
  g_menu_append_section (menu, NULL, G_MENU_MODEL (files));
  return menu;
}

GtkWidget *
dyno_run_export_new (DynoRunExportDone done, gpointer data)
{
  static const GActionEntry entries[] = { { "settings", settings_activated, NULL, NULL, NULL },
                                          { "run", run_activated, "s", NULL, NULL },
                                          { "network", network_activated, "s", NULL, NULL },
                                          { "table", table_activated, NULL, NULL, NULL } };
  Export *self = g_new0 (Export, 1);
  g_autoptr (GMenu) menu = make_menu ();
  self->button = gtk_menu_button_new ();
  self->group = g_simple_action_group_new ();
  self->done = done;
  self->data = data;
  g_object_set_data_full (G_OBJECT (self->button), "dyno-export", self, export_free);
  g_action_map_add_action_entries (G_ACTION_MAP (self->group), entries, G_N_ELEMENTS (entries),
                                   self);
  gtk_widget_insert_action_group (self->button, "export", G_ACTION_GROUP (self->group));
  gtk_button_set_label (GTK_BUTTON (self->button), _ ("E_xport"));
  gtk_button_set_use_underline (GTK_BUTTON (self->button), TRUE);
  gtk_menu_button_set_menu_model (GTK_MENU_BUTTON (self->button), G_MENU_MODEL (menu));
  gtk_widget_set_tooltip_text (
      self->button, _ ("Settings of the selected run, its trained network, its files for "
                       "other programs, or a table of several runs"));
  return self->button;
}
