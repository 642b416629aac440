/* SPDX-License-Identifier: MIT */
/* The dialog owns the request; when a place was chosen, the thread's task owns it. */
#include "tunereport.h"
#include "export-dialog.h"
#include "file.h"
#include "heldtask.h"
#include "reporthtml.h"

typedef struct {
  DynoTuneResult *result;
  gboolean has_device;
  DynoDeviceInfo device;
  DynoDataset *dataset; /* or NULL */
  guint64 limit_bytes;
  char *path;
  DynoReportWritten done;
  GObject *data;
} Request;

static void
request_free (gpointer data)
{
  Request *self = data;
  dyno_tune_result_unref (self->result);
  g_clear_pointer (&self->dataset, dyno_dataset_unref);
  g_object_unref (self->data);
  g_free (self->path);
  g_free (self);
}

static void
write_in_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Request *self = data;
  DynoReportContext context;
  GError *error = NULL;
  dyno_report_context_init (&context);
  context.device = self->has_device ? &self->device : NULL;
  context.data = self->dataset ? dyno_dataset_get_info (self->dataset) : NULL;
  context.limit_bytes = self->limit_bytes;
  g_autofree char *html = dyno_report_html (self->result, &context);
  if (dyno_file_write_atomic (self->path, html, strlen (html), &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

static void
written (GObject *source, GAsyncResult *result, gpointer data)
{
  Request *self = g_task_get_task_data (G_TASK (result));
  g_autoptr (GError) error = NULL;
  g_task_propagate_boolean (G_TASK (result), &error);
  self->done (error, self->data);
}

static void
write_to (const Request *request, const char *path)
{
  Request *self = g_memdup2 (request, sizeof *request);
  /* The copy has its own references. */
  dyno_tune_result_ref (self->result);
  if (self->dataset)
    dyno_dataset_ref (self->dataset);
  g_object_ref (self->data);
  self->path = g_strdup (path);
  g_autoptr (GTask) task = g_task_new (NULL, NULL, written, NULL);
  g_task_set_task_data (task, self, request_free);
  dyno_task_run_held (task, write_in_thread);
}

static void
path_chosen (const char *path, const DynoExporter *exporter, gpointer data)
{
  write_to (data, path);
}

static Request *
request_new (DynoTuneResult *result, const DynoDeviceInfo *device, DynoDataset *dataset,
             guint64 limit_bytes, DynoReportWritten done, GObject *data)
{
  Request *self = g_new0 (Request, 1);
  self->result = dyno_tune_result_ref (result);
  self->has_device = device != NULL;
  if (device)
    self->device = *device;
  self->dataset = dataset ? dyno_dataset_ref (dataset) : NULL;
  self->limit_bytes = limit_bytes;
  self->done = done;
  self->data = g_object_ref (data);
  return self;
}

void
dyno_tune_report_save (GtkWindow *parent, DynoTuneResult *result, const DynoDeviceInfo *device,
                       DynoDataset *dataset, guint64 limit_bytes, DynoReportWritten done,
                       GObject *data)
{
  Request *self = request_new (result, device, dataset, limit_bytes, done, data);
  dyno_dialog_save_report (parent, path_chosen, self, request_free);
}

void
dyno_tune_report_write (const char *path, DynoTuneResult *result, const DynoDeviceInfo *device,
                        DynoDataset *dataset, guint64 limit_bytes, DynoReportWritten done,
                        GObject *data)
{
  Request *self = request_new (result, device, dataset, limit_bytes, done, data);
  write_to (self, path);
  request_free (self);
}
