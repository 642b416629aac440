/* SPDX-License-Identifier: MIT */
/* The thread runs the search and copies the result for each event that carries one.  The events of
 * runs come from their threads while that of the search waits for them. */
#include "accuracytune.h"
#include "cores.h"
#include "intl.h"
#include "ring.h"
#include <math.h>
#include <string.h>

struct _DynoAccuracyTune {
  const DynoJob *job;
  DynoDataset *dataset;
  char *metric_name, *device, *folder, **over;
  DynoAccuracyParams params;
  gboolean resume;
  gboolean (*write_best) (const char *folder, const DynoJob *job, const char *device,
                          const DynoAccuracyResult *result, GError **error);
  const DynoRunWriter *writer;
  gboolean has_runner;
  DynoAccuracyRunner runner;
  GThread *thread;
  GCancellable *cancellable;
  DynoRing *events;
  /* used by one thread at a time; space: constant after the first event of a run */
  DynoParamSpace space;
  DynoMetricInfo metric;
  DynoMetricTable table;
  DynoAccuracyFile *file;
  GHashTable *warned;    /* texts that were emitted: each trial may give the same warning */
  GHashTable *preparing; /* number of a trial + 1 -> what its run prepares, interned */
};

void
dyno_accuracy_event_free (DynoAccuracyEvent *event)
{
  if (!event)
    return;
  dyno_accuracy_run_free (event->run);
  dyno_accuracy_result_free (event->result);
  g_clear_error (&event->error);
  g_free (event->text);
  g_free (event);
}

DynoAccuracyTune *
dyno_accuracy_tune_new (const DynoAccuracyTuneParams *params)
{
  DynoAccuracyTune *tune = g_new0 (DynoAccuracyTune, 1);

  tune->job = dyno_job_copy (params->job);
  tune->dataset = dyno_dataset_ref (params->dataset);
  tune->metric_name = g_strdup (params->metric);
  tune->device = g_strdup (params->device);
  tune->folder = g_strdup (params->folder);
  tune->params = (DynoAccuracyParams){ .seconds = params->minutes * 60,
                                       .most_trials = params->most_trials,
                                       .most_seeds = params->most_seeds,
                                       .at_once = params->at_once };
  tune->over = g_strdupv ((char **) params->over);
  tune->resume = params->resume;
  tune->write_best = params->write_best;
  tune->writer = params->writer;
  tune->has_runner = params->runner != NULL;
  if (params->runner)
    tune->runner = *params->runner;
  tune->cancellable = g_cancellable_new ();
  tune->events = dyno_ring_new (4096, (GDestroyNotify) dyno_accuracy_event_free);
  tune->warned = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  tune->preparing = g_hash_table_new (NULL, NULL);
  return tune;
}

/* --- events ----------------------------------------------------------------------------------- */

static DynoAccuracyEvent *
make_event (DynoAccuracyEventType type, const DynoAccuracyRun *run,
            const DynoAccuracyResult *result)
{
  DynoAccuracyEvent *event = g_new0 (DynoAccuracyEvent, 1);

  event->type = type;
  event->value = (double) NAN;
  event->run = run ? dyno_accuracy_run_copy (run) : NULL;
  event->result = result ? dyno_accuracy_result_copy (result) : NULL;
  return event;
}

static void
emit (DynoAccuracyTune *tune, DynoAccuracyEvent *event)
{
  if (!dyno_ring_push (tune->events, event))
    dyno_accuracy_event_free (event);
}

/* The event may be dropped: training does not wait for a reader. */
static void
emit_passing (DynoAccuracyTune *tune, DynoAccuracyEvent *event)
{
  if (!dyno_ring_try_push (tune->events, event))
    dyno_accuracy_event_free (event);
}

static void
take_progress (DynoAccuracyTune *tune, const DynoEvent *event, const DynoAccuracyRun *run)
{
  gboolean prepares = event->type == DYNO_EVENT_PROGRESS;
  gpointer key = GUINT_TO_POINTER (run->trial + 1);
  DynoAccuracyEvent *out;

  if (!prepares && !g_hash_table_remove (tune->preparing, key))
    return;
  out = make_event (DYNO_ACCURACY_EVENT_PROGRESS, run, NULL);
  out->preparing = prepares ? g_intern_string (event->progress.what) : NULL;
  if (prepares)
    g_hash_table_insert (tune->preparing, key, (gpointer) out->preparing);
  if (prepares)
    {
      out->n_prepared = event->progress.done;
      out->n_to_prepare = event->progress.total;
    }
  emit_passing (tune, out);
}

static void
take_epoch (DynoAccuracyTune *tune, const DynoEvent *event, const DynoAccuracyRun *run)
{
  DynoAccuracyEvent *out = make_event (DYNO_ACCURACY_EVENT_EPOCH, run, NULL);
  int index = dyno_metric_table_find_best (&tune->table, tune->metric.name);

  out->epoch = event->epoch.epoch;
  if (index >= 0)
    out->value = event->epoch.val_metrics[index];
  else if (index == -1)
    out->value = event->epoch.val_loss;
  emit_passing (tune, out);
}

/* Receives the events of the trainer's sessions, one at a time, while the search's thread waits. */
static void
on_event (const DynoEvent *event, const DynoAccuracyRun *run, gpointer data)
{
  DynoAccuracyTune *tune = data;
  DynoAccuracyEvent *out;

  switch (event->type)
    {
    case DYNO_EVENT_METRICS:
      tune->table = event->metrics;
      break;
    case DYNO_EVENT_PROGRESS:
    case DYNO_EVENT_STEP:
      take_progress (tune, event, run);
      break;
    case DYNO_EVENT_EPOCH:
      take_epoch (tune, event, run);
      break;
    case DYNO_EVENT_WARNING:
      if (!g_hash_table_add (tune->warned, g_strdup (event->text)))
        break;
      out = make_event (DYNO_ACCURACY_EVENT_WARNING, run, NULL);
      out->text = g_strdup (event->text);
      emit (tune, out);
      break;
    default:
      break;
    }
}

static void
on_begin (const DynoAccuracyResult *result, const DynoAccuracyRun *run, gpointer data)
{
  DynoAccuracyTune *tune = data;

  g_hash_table_remove (tune->preparing, GUINT_TO_POINTER (run->trial + 1));
  emit (tune, make_event (DYNO_ACCURACY_EVENT_BEGIN, run, result));
}

static gboolean
on_end (const DynoAccuracyResult *result, const DynoAccuracyRun *run, gpointer data, GError **error)
{
  DynoAccuracyTune *tune = data;

  if (!dyno_accuracy_file_add (tune->file, run, error))
    return FALSE;
  emit (tune, make_event (DYNO_ACCURACY_EVENT_END, run, result));
  return TRUE;
}

/* --- the thread ------------------------------------------------------------------------------- */

/* Reads the runs of an earlier search.  FALSE with the error where the file is of another
 * search. */
static gboolean
read_record (DynoAccuracyTune *tune, const char *path, DynoAccuracyRecord **record, GError **error)
{
  if (!tune->resume)
    return TRUE;
  *record = dyno_accuracy_file_read (path, error);
  return *record && dyno_accuracy_record_check (*record, tune->job, tune->metric_name, path, error);
}

static gboolean
open_trainer (DynoAccuracyTune *tune, DynoAccuracyTrainer **trainer, GError **error)
{
  const DynoAccuracyRunnerParams params = { .job = tune->job,
                                            .dataset = tune->dataset,
                                            .folder = tune->folder,
                                            .metric = tune->metric,
                                            .writer = tune->writer,
                                            .at_once = tune->params.at_once,
                                            .event = on_event,
                                            .data = tune };

  if (tune->has_runner)
    return TRUE;
  *trainer = dyno_accuracy_trainer_new (&params, error);
  if (*trainer)
    tune->runner = dyno_accuracy_trainer_get_runner (*trainer);
  return *trainer != NULL;
}

static gboolean
search (DynoAccuracyTune *tune, GError **error)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (tune->dataset);
  g_autofree char *path = g_build_filename (tune->folder, DYNO_ACCURACY_FILE, NULL);
  const DynoAccuracyWatch watch = { on_begin, on_end, tune };
  g_autoptr (DynoAccuracyRecord) record = NULL;
  g_autoptr (DynoAccuracyTrainer) trainer = NULL;
  g_autoptr (DynoAccuracyResult) result = NULL;
  const char *const *over;

  if (!dyno_accuracy_check (tune->job, info, tune->metric_name, &tune->metric, error)
      || !read_record (tune, path, &record, error) || !open_trainer (tune, &trainer, error))
    return FALSE;
  dyno_param_space_init (&tune->space, tune->job, info);
  over = (const char *const *) (record ? record->over : tune->over);
  if (over && !dyno_param_space_choose (&tune->space, tune->job, info, over, error))
    return FALSE;
  tune->file = dyno_accuracy_file_new (path, tune->job, tune->metric_name, tune->device, over,
                                       record != NULL);
  tune->params.known = record ? record->runs : NULL;
  result = dyno_accuracy_search (&tune->space, &tune->metric, &tune->params, &tune->runner, &watch,
                                 tune->cancellable, error);
  tune->params.known = NULL;
  g_clear_pointer (&tune->file, dyno_accuracy_file_free);
  if (!result)
    return FALSE;
  emit (tune, make_event (DYNO_ACCURACY_EVENT_RESULT, NULL, result));
  return !tune->write_best
         || tune->write_best (tune->folder, tune->job, tune->device, result, error);
}

/* Emits the error, if there is one, and takes it. */
static void
end (DynoAccuracyTune *tune, GError *error)
{
  DynoAccuracyEvent *event;

  if (error)
    {
      event = make_event (DYNO_ACCURACY_EVENT_ERROR, NULL, NULL);
      event->error = error;
      emit (tune, event);
    }
  emit (tune, make_event (DYNO_ACCURACY_EVENT_DONE, NULL, NULL));
  dyno_ring_close (tune->events);
}

static gpointer
run (gpointer data)
{
  DynoAccuracyTune *tune = data;
  GError *error = NULL;
  gboolean good;

  (void) dyno_cores_keep ((guint) tune->job->settings.threads);
  good = search (tune, &error);
  end (tune, good ? NULL : error);
  return NULL;
}

void
dyno_accuracy_tune_start (DynoAccuracyTune *tune)
{
  GError *error = NULL;

  g_return_if_fail (!tune->thread);
  tune->thread = g_thread_try_new ("dyno-accuracy", run, tune, &error);
  if (tune->thread)
    return;
  g_prefix_error (&error, _ ("The search was not started, for want of a thread (end other "
                             "programs, or raise their limit): "));
  end (tune, error);
}

void
dyno_accuracy_tune_stop (DynoAccuracyTune *tune)
{
  g_cancellable_cancel (tune->cancellable);
}

void
dyno_accuracy_tune_free (DynoAccuracyTune *tune)
{
  if (!tune)
    return;
  dyno_ring_close (tune->events); /* nobody takes events any more, so no push may wait */
  dyno_accuracy_tune_stop (tune);
  if (tune->thread)
    g_thread_join (tune->thread);
  dyno_ring_free (tune->events);
  dyno_dataset_unref (tune->dataset);
  g_hash_table_unref (tune->warned);
  g_hash_table_unref (tune->preparing);
  g_object_unref (tune->cancellable);
  dyno_job_unref (tune->job);
  g_free (tune->metric_name);
  g_free (tune->device);
  g_free (tune->folder);
  g_strfreev (tune->over);
  g_free (tune);
}

DynoAccuracyEvent *
dyno_accuracy_tune_try_pop (DynoAccuracyTune *tune)
{
  return dyno_ring_try_pop (tune->events);
}

DynoAccuracyEvent *
dyno_accuracy_tune_pop (DynoAccuracyTune *tune, gint64 timeout_us)
{
  return dyno_ring_pop (tune->events, timeout_us);
}

const DynoParamSpace *
dyno_accuracy_tune_get_space (DynoAccuracyTune *tune)
{
  return &tune->space;
}
