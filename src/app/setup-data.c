/* SPDX-License-Identifier: MIT */
/* Opening a data set in a thread.  The one in use stays until another is open; a new opening
 * cancels the one under way. */
#include "setup-private.h"

#define SCAN_POLL_MS 120

typedef struct _Opening {
  char *location;
  DynoDatasetParams params;
  gint found; /* atomic; more than 2^31 samples show as that many */
  DynoSetup *setup;
} Opening;

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

void
dyno_setup_end_opening (DynoSetup *self)
{
  g_clear_object (&self->opening);
  self->open_data = NULL;
  g_clear_handle_id (&self->scan_timer, g_source_remove);
}

static void
open_done (GObject *source, GAsyncResult *result, gpointer user)
{
  DynoSetup *self = DYNO_SETUP (source);
  Opening *o = g_task_get_task_data (G_TASK (result));
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoDataset) dataset = g_task_propagate_pointer (G_TASK (result), &error);
  if (self->open_data != o)
    return; /* a newer one was asked for */
  dyno_setup_end_opening (self);
  if (dataset)
    {
      g_clear_pointer (&self->dataset, dyno_dataset_unref);
      self->dataset = g_steal_pointer (&dataset);
      g_free (self->job->data);
      self->job->data = g_strdup (o->location);
      if (!self->by_hand)
        dyno_setup_follow_preset (self);
      dyno_setup_announce (self, DYNO_SETUP_DATASET | DYNO_SETUP_SETTINGS);
      dyno_setup_plan_later (self);
      return;
    }
  dyno_setup_announce (self, DYNO_SETUP_DATASET);
  if (!g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    dyno_setup_announce_failure (self, error);
}

static gboolean
poll_scan (gpointer data)
{
  dyno_setup_announce (data, DYNO_SETUP_DATASET);
  return G_SOURCE_CONTINUE;
}

void
dyno_setup_open_data (DynoSetup *self, const char *location)
{
  g_return_if_fail (DYNO_IS_SETUP (self) && location);
  if (self->locked)
    return;
  dyno_setup_cancel_open (self);
  Opening *o = g_new0 (Opening, 1);
  o->location =
      g_str_has_prefix (location, "file:") ? g_filename_from_uri (location, NULL, NULL) : NULL;
  if (!o->location)
    o->location = g_strdup (location);
  dyno_job_get_dataset_params (self->job, &o->params);
  o->params.targets = NULL; /* found beside the data */
  self->open_data = o;
  self->opening = g_cancellable_new ();
  g_autoptr (GTask) task = g_task_new (self, self->opening, open_done, NULL);
  g_task_set_task_data (task, o, (GDestroyNotify) opening_free);
  g_task_run_in_thread (task, open_in_thread);
  self->scan_timer = g_timeout_add (SCAN_POLL_MS, poll_scan, self);
  dyno_setup_announce (self, DYNO_SETUP_DATASET);
}

void
dyno_setup_cancel_open (DynoSetup *self)
{
  if (!self->opening)
    return;
  g_cancellable_cancel (self->opening);
  dyno_setup_end_opening (self);
  dyno_setup_announce (self, DYNO_SETUP_DATASET);
}

const char *
dyno_setup_get_opening (DynoSetup *self, guint64 *found)
{
  if (!self->open_data)
    return NULL;
  if (found)
    *found = (guint64) g_atomic_int_get (&self->open_data->found);
  return self->open_data->location;
}

DynoDataset *
dyno_setup_get_dataset (DynoSetup *self)
{
  return self->dataset;
}

const DynoDatasetInfo *
dyno_setup_get_info (DynoSetup *self)
{
  return self->dataset ? dyno_dataset_get_info (self->dataset) : NULL;
}
