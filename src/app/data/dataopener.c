/* SPDX-License-Identifier: MIT */
/* Opening a data set in a thread.  The task owns the opening; the opener knows only the newest, and
 * an opening that it has dropped reports to nobody. */
#include "dataopener.h"
#include <gio/gio.h>

#define SCAN_POLL_MS 120

typedef struct {
  DynoDataOpener *opener; /* NULL: the opening was dropped */
  char *location;
  DynoDatasetParams params;
  gint found; /* atomic; saturates at the largest int */
} Opening;

struct _DynoDataOpener {
  DynoDataOpenerWatch watch;
  gpointer data;
  Opening *opening; /* NULL: none is under way */
  GCancellable *cancellable;
  guint timer;
};

static void
opening_free (Opening *o)
{
  g_free (o->location);
  g_free (o);
}

static void
count_found (guint64 found, gpointer data)
{
  Opening *o = data;
  g_atomic_int_set (&o->found, (gint) MIN (found, (guint64) G_MAXINT));
}

static void
open_in_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Opening *o = data;
  GError *error = NULL;
  DynoDataset *dataset =
      dyno_dataset_open (o->location, &o->params, count_found, o, cancellable, &error);
  if (dataset)
    g_task_return_pointer (task, dataset, (GDestroyNotify) dyno_dataset_unref);
  else
    g_task_return_error (task, error);
}

static void
let_go (DynoDataOpener *self)
{
  if (self->opening)
    self->opening->opener = NULL;
  self->opening = NULL;
  g_clear_object (&self->cancellable);
  g_clear_handle_id (&self->timer, g_source_remove);
}

static void
open_done (GObject *source, GAsyncResult *result, gpointer user)
{
  Opening *o = g_task_get_task_data (G_TASK (result));
  DynoDataOpener *self = o->opener;
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoDataset) dataset = g_task_propagate_pointer (G_TASK (result), &error);
  if (!self)
    return;
  let_go (self);
  self->watch.opened (o->location, dataset, error, self->data);
}

static gboolean
poll_scan (gpointer data)
{
  DynoDataOpener *self = data;
  self->watch.scanned (self->data);
  return G_SOURCE_CONTINUE;
}

void
dyno_data_opener_open (DynoDataOpener *self, const char *location, const DynoDatasetParams *params)
{
  dyno_data_opener_cancel (self);
  Opening *o = g_new0 (Opening, 1);
  if (g_str_has_prefix (location, "file:"))
    o->location = g_filename_from_uri (location, NULL, NULL);
  if (!o->location)
    o->location = g_strdup (location);
  o->params = *params;
  o->opener = self;
  self->opening = o;
  self->cancellable = g_cancellable_new ();
  g_autoptr (GTask) task = g_task_new (NULL, self->cancellable, open_done, NULL);
  g_task_set_task_data (task, o, (GDestroyNotify) opening_free);
  g_task_run_in_thread (task, open_in_thread);
  self->timer = g_timeout_add (SCAN_POLL_MS, poll_scan, self);
}

gboolean
dyno_data_opener_cancel (DynoDataOpener *self)
{
  if (!self->opening)
    return FALSE;
  g_cancellable_cancel (self->cancellable);
  let_go (self);
  return TRUE;
}

const char *
dyno_data_opener_get_location (DynoDataOpener *self, guint64 *found)
{
  if (!self->opening)
    return NULL;
  if (found)
    *found = (guint64) g_atomic_int_get (&self->opening->found);
  return self->opening->location;
}

DynoDataOpener *
dyno_data_opener_new (const DynoDataOpenerWatch *watch, gpointer data)
{
  DynoDataOpener *self = g_new0 (DynoDataOpener, 1);
  self->watch = *watch;
  self->data = data;
  return self;
}

void
dyno_data_opener_free (DynoDataOpener *self)
{
  if (!self)
    return;
  dyno_data_opener_cancel (self);
  g_free (self);
}
