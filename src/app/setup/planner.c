/* SPDX-License-Identifier: MIT */
/* Plans in a thread.  A request waits until its delay is over, then its task owns it; the planner
 * refers only to the newest one, and the result of a dropped request is not reported. */
#include "planner.h"
#include "parts.h"
#include "ranksestimate.h"
#include <gio/gio.h>
#include <math.h>

#define DELAY_MS 60

typedef struct {
  DynoPlanner *planner; /* NULL: the request was dropped */
  DynoJob *job;
  DynoDataset *dataset; /* or NULL */
  gboolean has_device;
  DynoDeviceInfo device;
  DynoJobPlan plan;
  DynoRunEstimate estimate;
} Question;

struct _DynoPlanner {
  DynoPlannerAnswer answer;
  gpointer data;
  Question *question; /* the newest request: delayed while timer is set, else planned in a thread */
  guint timer;
};

static void
question_free (Question *q)
{
  dyno_job_unref (q->job);
  dyno_dataset_unref (q->dataset);
  g_free (q);
}

/* Estimates from a rate that the history has for the same training; without one no time is
 * estimated. */
static void
estimate (Question *q)
{
  DynoStoredRate rate = { .samples_per_s = (double) NAN };
  g_auto (DynoDatasetParts) parts = { 0 };
  g_autoptr (DynoStore) store = dyno_store_open (NULL, NULL);
  if (store)
    dyno_store_find_rates (store, q->job, &q->device,
                           dyno_dataset_get_info (q->dataset)->content_hash, &rate);
  dyno_settings_divide (&q->job->settings, q->dataset, &parts);
  dyno_run_estimate_ranks (&q->estimate, q->job, &q->plan,
                           q->device.type == DYNO_DEVICE_TYPE_SOFTWARE, parts.train->len,
                           parts.validation->len, &rate);
}

static void
plan_in_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Question *q = data;
  g_autoptr (GError) error = NULL;
  if (!dyno_job_plan (q->job, dyno_dataset_get_info (q->dataset), &q->device, &q->plan, &error))
    g_task_return_error (task, g_steal_pointer (&error));
  else
    {
      estimate (q);
      g_task_return_boolean (task, TRUE);
    }
}

static void
plan_done (GObject *source, GAsyncResult *result, gpointer user)
{
  Question *q = g_task_get_task_data (G_TASK (result));
  DynoPlanner *self = q->planner;
  g_autoptr (GError) error = NULL;
  gboolean planned = g_task_propagate_boolean (G_TASK (result), &error);
  if (!self)
    return;
  self->question = NULL;
  self->answer (q->job, planned ? &q->plan : NULL, &q->estimate, error, self->data);
}

static gboolean
plan_now (gpointer data)
{
  DynoPlanner *self = data;
  Question *q = self->question;
  self->timer = 0;
  if (!q->dataset || !q->has_device)
    {
      self->question = NULL;
      self->answer (q->job, NULL, NULL, NULL, self->data);
      question_free (q);
      return G_SOURCE_REMOVE;
    }
  g_autoptr (GTask) task = g_task_new (NULL, NULL, plan_done, NULL);
  g_task_set_task_data (task, q, (GDestroyNotify) question_free);
  g_task_run_in_thread (task, plan_in_thread);
  return G_SOURCE_REMOVE;
}

/* Drops the request: a delayed request is freed, a request that is being planned is left to its
 * task. */
static void
let_go (DynoPlanner *self)
{
  if (self->timer != 0)
    question_free (self->question);
  else if (self->question)
    self->question->planner = NULL;
  self->question = NULL;
}

void
dyno_planner_ask (DynoPlanner *self, const DynoJob *job, DynoDataset *dataset,
                  const DynoDeviceInfo *device, guint n_devices)
{
  Question *q = g_new0 (Question, 1);
  q->planner = self;
  q->job = dyno_job_copy (job);
  q->job->ranks = n_devices > 1 ? n_devices : 0;
  q->dataset = dataset ? dyno_dataset_ref (dataset) : NULL;
  q->has_device = device != NULL;
  if (device)
    q->device = *device;
  let_go (self);
  self->question = q;
  if (self->timer == 0)
    self->timer = g_timeout_add (DELAY_MS, plan_now, self);
}

DynoPlanner *
dyno_planner_new (DynoPlannerAnswer answer, gpointer data)
{
  DynoPlanner *self = g_new0 (DynoPlanner, 1);
  self->answer = answer;
  self->data = data;
  return self;
}

void
dyno_planner_free (DynoPlanner *self)
{
  if (!self)
    return;
  let_go (self);
  g_clear_handle_id (&self->timer, g_source_remove);
  g_free (self);
}
