/* SPDX-License-Identifier: MIT */
/* The plan of the next run: asked for after each change, a moment later, so that typing makes one
 * plan and not five; made in a thread.  Each question has a serial number, and an answer to an
 * older one is dropped. */
#include "setup-private.h"
#include "words.h"

#define PLAN_DELAY_MS 60

typedef struct {
  DynoJob *job;
  DynoDataset *dataset;
  DynoDeviceInfo device;
  guint serial;
  DynoJobPlan plan;
} Planning;

static void
planning_free (Planning *p)
{
  dyno_job_unref (p->job);
  g_clear_pointer (&p->dataset, dyno_dataset_unref);
  g_free (p);
}

static void
plan_in_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Planning *p = data;
  g_autoptr (GError) error = NULL;
  if (!dyno_job_plan (p->job, dyno_dataset_get_info (p->dataset), &p->device, &p->plan, &error))
    {
      g_task_return_error (task, g_steal_pointer (&error));
      return;
    }
  g_task_return_boolean (task, TRUE);
}

static void
plan_done (GObject *source, GAsyncResult *result, gpointer data)
{
  DynoSetup *self = DYNO_SETUP (source);
  Planning *p = g_task_get_task_data (G_TASK (result));
  g_autoptr (GError) error = NULL;
  gboolean ok = g_task_propagate_boolean (G_TASK (result), &error);
  if (p->serial != self->plan_serial)
    return;
  self->has_plan = ok;
  g_clear_pointer (&self->advice, g_free);
  if (ok)
    {
      self->plan = p->plan;
      self->advice = dyno_words_plan_advice (&p->job->settings, &p->plan);
    }
  else
    self->advice = g_strdup (error->message);
  dyno_setup_announce (self, DYNO_SETUP_PLAN);
}

static gboolean
plan_now (gpointer data)
{
  DynoSetup *self = data;
  self->plan_timer = 0;
  const DynoDeviceInfo *device = dyno_setup_get_device (self);
  if (!self->dataset || !device)
    {
      self->has_plan = FALSE;
      g_clear_pointer (&self->advice, g_free);
      dyno_setup_announce (self, DYNO_SETUP_PLAN);
      return G_SOURCE_REMOVE;
    }
  Planning *p = g_new0 (Planning, 1);
  p->job = dyno_job_copy (self->job);
  p->dataset = dyno_dataset_ref (self->dataset);
  p->device = *device;
  p->serial = self->plan_serial;
  g_autoptr (GTask) task = g_task_new (self, NULL, plan_done, NULL);
  g_task_set_task_data (task, p, (GDestroyNotify) planning_free);
  g_task_run_in_thread (task, plan_in_thread);
  return G_SOURCE_REMOVE;
}

void
dyno_setup_plan_later (DynoSetup *self)
{
  self->plan_serial++;
  if (self->plan_timer == 0 && !self->closed)
    self->plan_timer = g_timeout_add (PLAN_DELAY_MS, plan_now, self);
}
