/* SPDX-License-Identifier: MIT */
/* A run is stopped after a number of epochs by max_steps, which depends on no clock.
 *
 * Threads: each run of a group has a thread, the first one that of the search; they take the runs
 * of the group in turn, so that they may be fewer than the runs where a device cannot be opened. */
#include "accuracyrunner.h"
#include "base-error.h"
#include "cores.h"
#include "gpu-error.h"
#include "intl.h"
#include "planjob.h"
#include "preset.h"
#include "runrecorder.h"
#include "sample-cache.h"
#include "scores.h"
#include <errno.h>
#include <math.h>
#include <string.h>

/* Share of the device's memory that runs at the same time may take by their plans. */
#define MEMORY_SHARE 0.8
/* Cores for each of the runs at the same time: its thread, which prepares and writes, and its
 * workers. */
#define CORES_EACH 2

struct _DynoAccuracyTrainer {
  DynoAccuracyRunnerParams params;
  char *folder;
  guint n_devices, most_at_once;
  DynoDevice *devices[DYNO_ACCURACY_MOST_AT_ONCE];
  guint64 n_train;
  GMutex lock; /* of params.event */
};

/* Runs that are trained at the same time. */
typedef struct {
  DynoAccuracyTrainer *trainer;
  DynoAccuracyRun *const *runs;
  guint n;
  GCancellable *cancellable;
  int next, failed; /* atomic; failed: the search ends, and no further run is begun */
  GError *error;    /* of the first run that failed so; under the trainer's lock */
} Group;

typedef struct {
  Group *group;
  DynoDevice *device;
} Worker;

char *
dyno_accuracy_run_get_folder (const DynoAccuracyRun *run)
{
  g_autofree char *name = run->final
                              ? g_strdup_printf ("%03u-%" G_GUINT64_FORMAT, run->trial, run->seed)
                              : g_strdup_printf ("%03u", run->trial);

  return g_build_filename ("trials", name, NULL);
}

/* The job of a run, with its epochs as a number of steps. */
static DynoJob *
make_job (const DynoAccuracyTrainer *t, const DynoAccuracyRun *run, const char *folder)
{
  DynoJob *job = dyno_job_copy (t->params.job);
  DynoSettings counted;

  g_free (job->out_dir);
  job->out_dir = g_strdup (folder);
  g_clear_pointer (&job->weights_out, g_free);
  g_free (job->resume);
  job->resume = run->from_epochs > 0 ? g_strdup (folder) : NULL;
  job->settings = run->settings;
  job->saves_at_end = job->no_last_checkpoint = TRUE;
  job->settings.seed = (gint64) run->seed;
  job->settings.early_stop_patience = 0;
  job->settings.best_metric = g_quark_from_string (t->params.metric.name);
  counted = job->settings;
  counted.batch_size = dyno_job_get_batch (job, t->n_train);
  job->no_test = TRUE;
  job->max_steps =
      (gint64) (run->epochs * dyno_job_count_steps (&counted, t->n_train, MAX (job->ranks, 1)));
  return job;
}

/* The best value among the epochs of the log; NaN where the log has fewer epochs than the run
 * should have. */
static double
find_best (const DynoAccuracyTrainer *t, const DynoAccuracyRun *run, DynoMetrics *metrics)
{
  guint64 n = dyno_metrics_get_epochs (metrics);
  double best = (double) NAN;
  DynoMetricTable table;
  int index;

  if (n < run->epochs)
    return best;
  dyno_metrics_get_table (metrics, &table);
  index = dyno_metric_table_find_best (&table, t->params.metric.name);
  for (guint64 i = 0; i < run->epochs && index > -2; i++)
    {
      DynoEpochMetrics row;
      double value;

      if (dyno_metrics_copy_epochs (metrics, i, 1, &row) != 1)
        return (double) NAN;
      value = index < 0 ? row.val_loss : row.val_metrics[index];
      if (dyno_metric_is_better (&t->params.metric, value, best))
        best = value;
    }
  return best;
}

/* The best value by the session's log, or by the folder's log where the session had nothing left to
 * train: an earlier search was killed after the run had ended and before its line was written. */
static double
find_value (const DynoAccuracyTrainer *t, const DynoAccuracyRun *run, DynoMetrics *metrics,
            const char *folder)
{
  double value = find_best (t, run, metrics);
  g_autofree char *path = g_build_filename (folder, "metrics.csv", NULL);
  g_autoptr (DynoMetrics) kept = isnan (value) ? dyno_metrics_read (path, NULL) : NULL;

  return kept ? find_best (t, run, kept) : value;
}

/* FALSE: the search cannot go on. */
static gboolean
take_failure (DynoAccuracyRun *run, const GError *problem)
{
  run->text = g_strdup (problem->message);
  run->outcome = g_error_matches (problem, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DIVERGED)
                     ? DYNO_TRIAL_DIVERGED
                 : g_error_matches (problem, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DOES_NOT_FIT)
                     ? DYNO_TRIAL_DOES_NOT_FIT
                 : g_error_matches (problem, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OUT_OF_DEVICE_MEMORY)
                         || g_error_matches (problem, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OVER_BUDGET)
                     ? DYNO_TRIAL_OUT_OF_MEMORY
                     : DYNO_TRIAL_FAILED;
  if (run->outcome == DYNO_TRIAL_DIVERGED)
    return TRUE;
  if (run->trial == 0)
    return FALSE;
  return !g_error_matches (problem, DYNO_GPU_ERROR, DYNO_GPU_ERROR_DEVICE_LOST)
         && !g_error_matches (problem, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_OUTPUT)
         && problem->domain != DYNO_BASE_ERROR;
}

static gboolean
should_stop (Group *group)
{
  return g_cancellable_is_cancelled (group->cancellable) || g_atomic_int_get (&group->failed);
}

/* Takes events until the session ends; returns the error that it reported, or NULL. */
static GError *
follow (Group *group, DynoAccuracyRun *run, DynoSession *session, DynoEventQueue *events,
        DynoSessionState *state)
{
  DynoAccuracyTrainer *t = group->trainer;
  GError *problem = NULL;
  gboolean done = FALSE, stopping = FALSE;

  *state = DYNO_SESSION_FAILED;
  while (!done)
    {
      g_autoptr (DynoEvent) event = dyno_event_queue_pop (events, G_USEC_PER_SEC / 20);

      if (!stopping && should_stop (group))
        {
          stopping = TRUE;
          dyno_session_stop (session, FALSE);
        }
      if (!event)
        continue;
      if (t->params.event)
        {
          g_mutex_lock (&t->lock);
          t->params.event (event, run, t->params.data);
          g_mutex_unlock (&t->lock);
        }
      if (event->type == DYNO_EVENT_ERROR && !problem)
        problem = g_error_copy (event->error);
      done = event->type == DYNO_EVENT_DONE;
      if (done)
        {
          *state = event->done.state;
          run->train_seconds = event->done.seconds - event->done.begin_seconds;
        }
    }
  return problem;
}

/* FALSE with the error: the search ends; without one: the run was stopped beside another that
 * failed. */
static gboolean
train_one (Group *group, DynoAccuracyRun *run, DynoDevice *device, GError **error)
{
  DynoAccuracyTrainer *t = group->trainer;
  g_autofree char *name = dyno_accuracy_run_get_folder (run),
                  *folder = g_build_filename (t->folder, name, NULL);
  g_autoptr (DynoJob) job = make_job (t, run, folder);
  g_autoptr (DynoSession) session = dyno_session_new (job);
  g_autoptr (DynoRunRecorder) recorder = NULL;
  DynoEventQueue *events = dyno_session_add_queue (session, 0, TRUE);
  g_autoptr (GError) problem = NULL;
  DynoSessionState state;

  dyno_session_set_dataset (session, t->params.dataset);
  dyno_session_set_device (session, device);
  if (t->params.writer)
    dyno_session_set_writer (session, t->params.writer);
  if (!t->params.no_history)
    recorder = dyno_run_recorder_new (NULL, session);
  dyno_session_start (session);
  problem = follow (group, run, session, events, &state);
  dyno_session_join (session);
  if (state == DYNO_SESSION_STOPPED && should_stop (group))
    {
      g_cancellable_set_error_if_cancelled (group->cancellable, error);
      return FALSE;
    }
  if (problem && !take_failure (run, problem))
    {
      g_propagate_error (error, g_steal_pointer (&problem));
      return FALSE;
    }
  run->has_ended = TRUE;
  if (problem)
    return TRUE;
  run->outcome = DYNO_TRIAL_OK;
  run->value = find_value (t, run, dyno_session_get_metrics (session), folder);
  if (isfinite (run->value))
    return TRUE;
  run->outcome = DYNO_TRIAL_DIVERGED;
  run->text = g_strdup (_ ("no epoch had a validation that is finite"));
  return TRUE;
}

/* Trains runs of the group until there is none left. */
static gpointer
work (gpointer data)
{
  Worker *worker = data;
  Group *group = worker->group;

  while (!g_atomic_int_get (&group->failed))
    {
      guint i = (guint) g_atomic_int_add (&group->next, 1);
      GError *problem = NULL;

      if (i >= group->n || train_one (group, group->runs[i], worker->device, &problem))
        {
          if (i >= group->n)
            break;
          continue;
        }
      g_mutex_lock (&group->trainer->lock);
      if (group->error)
        g_clear_error (&problem);
      else
        group->error = problem;
      g_mutex_unlock (&group->trainer->lock);
      g_atomic_int_set (&group->failed, TRUE);
    }
  return NULL;
}

/* Opens a device for each of n runs; the runs share those that could be opened. */
static guint
open_devices (DynoAccuracyTrainer *t, guint n)
{
  DynoDeviceParams params = { .index = t->params.job->device };

  while (t->n_devices < n)
    {
      g_autoptr (GError) problem = NULL;

      t->devices[t->n_devices] = dyno_device_open (&params, &problem);
      if (!t->devices[t->n_devices])
        {
          g_info ("Runs share a device: %s", problem->message);
          break;
        }
      t->n_devices++;
    }
  return MIN (n, t->n_devices);
}

static gboolean
train (DynoAccuracyRun *const *runs, guint n, gpointer data, GCancellable *cancellable,
       GError **error)
{
  DynoAccuracyTrainer *t = data;
  Group group = { .trainer = t, .runs = runs, .n = n, .cancellable = cancellable };
  guint n_workers = open_devices (t, MIN (n, t->most_at_once));
  Worker workers[DYNO_ACCURACY_MOST_AT_ONCE];
  GThread *threads[DYNO_ACCURACY_MOST_AT_ONCE] = { NULL };

  for (guint i = 0; i < n_workers; i++)
    workers[i] = (Worker){ &group, t->devices[i] };
  for (guint i = 1; i < n_workers; i++)
    threads[i] = g_thread_try_new ("dyno-trial", work, &workers[i], NULL);
  work (&workers[0]);
  for (guint i = 1; i < n_workers; i++)
    if (threads[i])
      g_thread_join (threads[i]);
  if (group.error)
    g_propagate_error (error, group.error);
  return !group.failed;
}

static double
get_time (gpointer data)
{
  (void) data;
  return (double) g_get_monotonic_time () / G_USEC_PER_SEC;
}

/* The number of runs that can keep all decoded samples, each its own, in main memory. */
static guint
count_caches (const DynoAccuracyTrainer *t, guint most)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (t->params.dataset);
  guint32 width, height;
  DynoBatchSchema schema;

  if (!t->params.job->settings.cache || info->schema.generated
      || !dyno_job_get_size (t->params.job, info, &width, &height, NULL))
    return most;
  dyno_dataset_get_schema (info, width, height, &schema);
  while (most > 1 && dyno_sample_cache_get_share (&schema, info->n_samples * most) < 1)
    most--;
  return most;
}

/* The number of runs that fit the device's memory beside each other, by the plan of the job's own
 * settings, whose decoded samples fit main memory, and that have cores enough. */
static guint
find_most_at_once (const DynoAccuracyTrainer *t)
{
  const DynoDeviceInfo *device = dyno_device_get_info (t->devices[0]);
  const DynoJob *job = t->params.job;
  guint most = MIN (t->params.at_once, DYNO_ACCURACY_MOST_AT_ONCE);
  DynoJobPlan plan;

  /* A CPU that is the device has no time to spare. */
  if (most == 0)
    most = device->type == DYNO_DEVICE_TYPE_SOFTWARE
               ? 1
               : CLAMP (dyno_cores_count () / CORES_EACH, 1, DYNO_ACCURACY_MOST_AT_ONCE);
  if (most == 1
      || !dyno_job_plan (job, dyno_dataset_get_info (t->params.dataset), device, &plan, NULL)
      || plan.plan.total_bytes == 0)
    return 1;
  most = count_caches (t, most);
  return (guint) CLAMP (MEMORY_SHARE * (double) plan.limit_bytes / (double) plan.plan.total_bytes,
                        1, most);
}

DynoAccuracyTrainer *
dyno_accuracy_trainer_new (const DynoAccuracyRunnerParams *params, GError **error)
{
  g_autoptr (DynoAccuracyTrainer) t = g_new0 (DynoAccuracyTrainer, 1);
  DynoDeviceParams device_params = { .index = params->job->device };
  DynoPartCounts counts;

  t->params = *params;
  t->folder = g_strdup (params->folder);
  g_mutex_init (&t->lock);
  t->devices[0] =
      params->device ? dyno_device_ref (params->device) : dyno_device_open (&device_params, error);
  if (!t->devices[0])
    return NULL;
  t->n_devices = 1;
  dyno_job_count_parts (params->job, dyno_dataset_get_info (params->dataset), &counts);
  t->n_train = counts.n_train;
  t->most_at_once = find_most_at_once (t);
  return g_steal_pointer (&t);
}

void
dyno_accuracy_trainer_free (DynoAccuracyTrainer *trainer)
{
  if (!trainer)
    return;
  for (guint i = 0; i < trainer->n_devices; i++)
    dyno_device_unref (trainer->devices[i]);
  g_mutex_clear (&trainer->lock);
  g_free (trainer->folder);
  g_free (trainer);
}

DynoAccuracyRunner
dyno_accuracy_trainer_get_runner (DynoAccuracyTrainer *trainer)
{
  return (DynoAccuracyRunner){ train, get_time, trainer, trainer->most_at_once };
}

/* --- before a search -------------------------------------------------------------------------- */

static guint
count_used_classes (const DynoDatasetInfo *info)
{
  guint n = 0;

  for (guint i = 0; i < info->n_classes; i++)
    n += info->class_counts[i] > 0;
  return n;
}

static const DynoMetricInfo loss_metric = { "loss", N_ ("Loss"), NULL,
                                            "",     -1,          .format = DYNO_METRIC_NUMBER };

/* NULL with the error.  dyno_graph_free. */
static DynoGraph *
build_graph (const DynoJob *job, const DynoDatasetInfo *info, GError **error)
{
  DynoNetworkParams params;

  if (!dyno_job_get_network (job, info, DYNO_MODE_TRAIN, &params, error))
    return NULL;
  return dyno_network_build (&params, error);
}

GArray *
dyno_accuracy_list_metrics (const DynoJob *job, const DynoDatasetInfo *info, GError **error)
{
  GArray *metrics;
  DynoGraph *graph = build_graph (job, info, error);
  DynoMetricTable table;
  int first;

  if (!graph)
    return NULL;
  metrics = g_array_new (FALSE, FALSE, sizeof (DynoMetricInfo));
  dyno_metric_table_init_all (&table, graph, info);
  first = dyno_metric_table_find_selecting (&table);
  if (first >= 0)
    g_array_append_val (metrics, table.infos[first]);
  g_array_append_val (metrics, loss_metric);
  for (guint i = 0; i < table.n; i++)
    if ((int) i != first)
      g_array_append_val (metrics, table.infos[i]);
  dyno_graph_free (graph);
  return metrics;
}

gboolean
dyno_accuracy_check (const DynoJob *job, const DynoDatasetInfo *info, const char *name,
                     DynoMetricInfo *metric, GError **error)
{
  DynoPartCounts counts;
  DynoMetricTable table;
  g_autofree char *names = NULL;
  DynoGraph *graph;
  int index;

  dyno_job_count_parts (job, info, &counts);
  /* Of labels a single one suffices, which some samples have. */
  if (info->n_classes > 0 && dyno_dataset_get_task (info) != DYNO_TASK_LABELS
      && count_used_classes (info) < 2)
    return dyno_train_refuse_data (error,
                                   _ ("“%s” has samples of one class only, so that no settings can "
                                      "be better than others: add samples of another class"),
                                   info->name);
  if (counts.n_validation == 0)
    return dyno_train_refuse_data (
        error,
        _ ("“%s” has nothing to validate on, and settings could not be compared: set "
           "data.val_split above 0, such as 0.2"),
        info->name);
  graph = build_graph (job, info, error);
  if (!graph)
    return FALSE;
  dyno_metric_table_init (&table, graph, info, name);
  index = dyno_metric_table_find_best (&table, name);
  names = dyno_metric_table_list_names (&table, graph);
  dyno_graph_free (graph);
  if (index < -1 || (index < 0 && strcmp (name, "loss") != 0))
    {
      g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING,
                   _ ("This run does not measure “%s”; there are %s"), name, names);
      return FALSE;
    }
  *metric = index >= 0 ? table.infos[index] : loss_metric;
  return dyno_scores_check_metric (metric, counts.n_validation, info->n_classes, error);
}
