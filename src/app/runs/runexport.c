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
#include <handy.h>
#include <string.h>

typedef struct {
  GtkWidget *page;
  GSimpleActionGroup *group;
  DynoRunExportDone done;
  gpointer data;
  const DynoStoredRun *const *runs; /* a copy of the list */
  guint n;
} Export;

static Export *
get_export (GtkWidget *page)
{
  return g_object_get_data (G_OBJECT (page), "dyno-export");
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
  return GTK_WINDOW (gtk_widget_get_toplevel (self->page));
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
  g_autoptr (GTask) task = g_task_new (request->export->page, NULL, run_written, NULL);
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
dyno_run_export_make_table (GtkWidget *page)
{
  Export *self = get_export (page);
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
  g_autoptr (GTask) task = g_task_new (self->page, NULL, run_written, NULL);
  Request *request = g_new0 (Request, 1);
  request->export = self;
  request->path = g_strdup (path);
  request->table = dyno_run_export_make_table (self->page);
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

/* --- the page --------------------------------------------------------------------------------- */

static void
show_groups (Export *self)
{
  g_autoptr (GList) groups = gtk_container_get_children (GTK_CONTAINER (self->page));
  for (GList *l = groups; l; l = l->next)
    gtk_widget_set_visible (
        l->data, g_action_group_get_action_enabled (G_ACTION_GROUP (self->group),
                                                    g_object_get_data (l->data, "dyno-action")));
}

static void
enable (Export *self, const char *name, gboolean enabled)
{
  GAction *action = g_action_map_lookup_action (G_ACTION_MAP (self->group), name);
  g_simple_action_set_enabled (G_SIMPLE_ACTION (action), enabled);
}

void
dyno_run_export_forget (GtkWidget *page)
{
  Export *self = get_export (page);
  g_clear_pointer ((gpointer *) &self->runs, g_free);
  self->n = 0;
}

void
dyno_run_export_set_runs (GtkWidget *page, const DynoStoredRun *const *runs, guint n)
{
  Export *self = get_export (page);
  g_free ((gpointer) self->runs);
  self->runs = n > 0 ? g_memdup2 (runs, n * sizeof *runs) : NULL;
  self->n = n;
  enable (self, "settings", n == 1);
  enable (self, "run", n == 1 && runs[0]->folder);
  enable (self, "network", n == 1 && dyno_predict_can_use (runs[0]->folder));
  enable (self, "table", n > 1);
  show_groups (self);
}

/* A group is shown while its action can be used. */
static GtkWidget *
add_group (Export *self, const char *title, const char *action)
{
  GtkWidget *group = hdy_preferences_group_new ();
  hdy_preferences_group_set_title (HDY_PREFERENCES_GROUP (group), title);
  g_object_set_data (G_OBJECT (group), "dyno-action", (gpointer) action);
  gtk_container_add (GTK_CONTAINER (self->page), group);
  return group;
}

/* Adds a form of export; target: of the group's action, or NULL. */
static void
add_form (GtkWidget *group, const char *title, const char *subtitle, const char *target)
{
  GtkWidget *row = dyno_row_new (title, subtitle),
            *button = gtk_button_new_with_label (_ ("Save…"));
  const char *action = g_object_get_data (G_OBJECT (group), "dyno-action");
  g_autofree char *whole = target ? g_strdup_printf ("export.%s('%s')", action, target)
                                  : g_strdup_printf ("export.%s", action),
                  *spoken = g_strdup_printf ("%s…", title);
  gtk_actionable_set_detailed_action_name (GTK_ACTIONABLE (button), whole);
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  dyno_row_add_control (DYNO_ROW (row), button);
  dyno_widget_set_accessible_name (button, spoken);
  gtk_container_add (GTK_CONTAINER (group), row);
}

static void
add_forms (Export *self)
{
  guint n;
  const DynoNetworkExport *kinds = dyno_network_export_list (&n);
  GtkWidget *settings = add_group (self, _ ("Settings"), "settings"),
            *networks = add_group (self, _ ("Trained Network"), "network"),
            *files = add_group (self, _ ("Files for Other Programs"), "run"),
            *table = add_group (self, _ ("Comparison"), "table");
  add_form (settings, _ ("Settings File"),
            _ ("For Dyno, PyTorch, Lightning, Accelerate or TensorFlow, with a preview"), NULL);
  for (guint i = 0; i < n; i++)
    add_form (networks, _ (kinds[i].title), kinds[i].file_name, kinds[i].id);
  for (const DynoRunExporter *const *e = dyno_run_exporter_list (); *e; e++)
    add_form (files, _ ((*e)->title), NULL, (*e)->id);
  add_form (table, _ ("Comparison (CSV)"),
            _ ("Results of the selected runs, and the settings in which they differ"), NULL);
}

GtkWidget *
dyno_run_export_new (DynoRunExportDone done, gpointer data)
{
  static const GActionEntry entries[] = { { "settings", settings_activated, NULL, NULL, NULL },
                                          { "run", run_activated, "s", NULL, NULL },
                                          { "network", network_activated, "s", NULL, NULL },
                                          { "table", table_activated, NULL, NULL, NULL } };
  Export *self = g_new0 (Export, 1);
  self->page = gtk_box_new (GTK_ORIENTATION_VERTICAL, 18);
  self->group = g_simple_action_group_new ();
  self->done = done;
  self->data = data;
  g_object_set_data_full (G_OBJECT (self->page), "dyno-export", self, export_free);
  g_action_map_add_action_entries (G_ACTION_MAP (self->group), entries, G_N_ELEMENTS (entries),
                                   self);
  gtk_widget_insert_action_group (self->page, "export", G_ACTION_GROUP (self->group));
  add_forms (self);
  gtk_widget_show_all (self->page);
  dyno_run_export_set_runs (self->page, NULL, 0);
  return self->page;
}
