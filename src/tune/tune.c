/* SPDX-License-Identifier: MIT */
/* The thread of the tuner, its events and its records; the search itself is in search.c. */
#include "tune.h"
#include "asyncmeter.h"
#include "cores.h"
#include "foresight.h"
#include "gpu-error.h"
#include "intl.h"
#include "ranksmeter.h"
#include "ring.h"
#include "search.h"
#include "searchrecords.h"
#include "verdict.h"
#include <math.h>
#include <string.h>

#define STOP_S 1.0 /* most time for a measurement to end after the search was stopped */
/* limit of the search's duration, as a multiple of its minutes: a measurement that is still running
 * then is abandoned */
#define OVER 1.08

struct _DynoTune {
  const DynoJob *job;
  DynoDataset *dataset;
  DynoMeter *meter;
  gboolean own_meter; /* the meter is asynchronous */
  gint64 end_us;
  char *folder, *resumed; /* folder of the records; folder to resume from */
  /* TRUE: the search runs without its file where the file cannot be created; FALSE: it ends */
  gboolean may_lose;
  DynoTuneResult *known; /* result of an earlier search, or NULL */
  double minutes;
  DynoLearningGoal *goal; /* or NULL */
  guint hosts;            /* number of hosts of the ranks */
  GThread *thread;
  GCancellable *cancellable;
  DynoRing *events;
  DynoStore *store;   /* the history; NULL: none is kept */
  gboolean own_store; /* the history of this machine, opened when it is needed */
  DynoSearchRecords *records;
  DynoDeviceInfo device;
  DynoPreset *preset;
  DynoSettings preset_settings;
  guint64 limit_bytes;
  /* interned: the preparation that was last reported, and the time of that report; used only by the
   * thread that measures */
  const char *preparing;
  gint64 preparing_us;

  GMutex mutex; /* protects all below */
  GCond changed;
  gboolean paused;
  GPtrArray *ceilings, *trials; /* in the order in which they end */
  DynoTuneResult *result;       /* the final result */
};

void
dyno_tune_event_free (DynoTuneEvent *event)
{
  if (!event)
    return;
  dyno_trial_clear (&event->trial);
  dyno_trial_clear (&event->baseline);
  dyno_ceiling_clear (&event->ceiling);
  dyno_tune_result_unref (event->result);
  g_clear_error (&event->error);
  g_free (event->text);
  g_free (event);
}

DynoTune *
dyno_tune_new (const DynoJob *job, double minutes)
{
  DynoTune *tune = g_new0 (DynoTune, 1);
  g_autoptr (DynoTuneResult) empty = dyno_tune_result_new (job);

  tune->job = dyno_job_copy (job);
  tune->own_store = TRUE;
  tune->minutes = minutes > 0.0 ? minutes : 3.0;
  g_mutex_init (&tune->mutex);
  g_cond_init (&tune->changed);
  tune->cancellable = g_cancellable_new ();
  tune->events = dyno_ring_new (4096, (GDestroyNotify) dyno_tune_event_free);
  tune->ceilings = g_ptr_array_ref (empty->ceilings);
  tune->trials = g_ptr_array_ref (empty->trials);
  return tune;
}

DynoTune *
dyno_tune_new_with_meter (const DynoJob *job, double minutes, DynoMeter *meter)
{
  DynoTune *tune = dyno_tune_new (job, minutes);

  tune->meter = meter;
  tune->own_store = FALSE;
  return tune;
}

void
dyno_tune_set_store (DynoTune *tune, DynoStore *store)
{
  g_return_if_fail (!tune->thread);
  dyno_store_free (tune->store);
  tune->store = store ? dyno_store_ref (store) : NULL;
  tune->own_store = FALSE;
}

void
dyno_tune_set_dataset (DynoTune *tune, DynoDataset *dataset)
{
  g_return_if_fail (!tune->thread);
  g_clear_pointer (&tune->dataset, dyno_dataset_unref);
  tune->dataset = dyno_dataset_ref (dataset);
}

void
dyno_tune_set_folder (DynoTune *tune, const char *folder)
{
  g_return_if_fail (!tune->thread);
  g_free (tune->folder);
  tune->folder = g_strdup (folder);
}

void
dyno_tune_keep_in (DynoTune *tune, const char *folder)
{
  dyno_tune_set_folder (tune, folder);
  tune->may_lose = TRUE;
}

void
dyno_tune_set_goal (DynoTune *tune, const DynoLearningGoal *goal)
{
  g_return_if_fail (!tune->thread);
  g_free (tune->goal);
  tune->goal = g_memdup2 (goal, sizeof *goal);
}

void
dyno_tune_set_ranks (DynoTune *tune, guint ranks, guint hosts)
{
  DynoJob *job = dyno_job_copy (tune->job);

  g_return_if_fail (!tune->thread && hosts > 0 && hosts <= ranks);
  job->ranks = ranks;
  dyno_job_unref (tune->job);
  tune->job = job;
  tune->hosts = hosts;
  if (ranks > 1)
    dyno_tune_set_store (tune, NULL);
}

gboolean
dyno_tune_resume (DynoTune *tune, const char *folder, GError **error)
{
  g_autofree char *path = g_build_filename (folder, DYNO_TRIALS_FILE, NULL);

  g_return_val_if_fail (!tune->thread, FALSE);
  dyno_tune_result_unref (tune->known);
  g_free (tune->resumed);
  tune->resumed = g_strdup (folder);
  tune->known = dyno_trials_file_read (path, tune->job, error);
  return tune->known != NULL;
}

/* --- reports of the search -------------------------------------------------------------------- */

static void
tell (DynoTune *tune, DynoTuneEvent *event)
{
  if (!dyno_ring_push (tune->events, event))
    dyno_tune_event_free (event);
}

/* Events of progress may be dropped: the sender never waits for room, since a measurement that
 * reports progress cannot be abandoned while it reports. */
static void
report_progress (DynoTune *tune, DynoTuneEvent *event)
{
  if (!dyno_ring_try_push (tune->events, event))
    dyno_tune_event_free (event);
}

static void
report_error (DynoTune *tune, GError *error)
{
  DynoTuneEvent *event = g_new0 (DynoTuneEvent, 1);

  event->type = DYNO_TUNE_EVENT_ERROR;
  event->error = error;
  tell (tune, event);
}

/* The records cannot be written; the search continues. */
static void
report_lost (DynoTune *tune, GError *error)
{
  DynoTuneEvent *event = g_new0 (DynoTuneEvent, 1);

  event->type = tune->may_lose ? DYNO_TUNE_EVENT_WARNING : DYNO_TUNE_EVENT_ERROR;
  event->error = error;
  tell (tune, event);
}

static void
on_progress (gpointer user, const char *stage, const DynoSettings *settings, double fraction)
{
  DynoTuneEvent *event = g_new0 (DynoTuneEvent, 1);
  g_autofree char *description = dyno_trial_describe (settings);

  event->type = DYNO_TUNE_EVENT_PROGRESS;
  event->fraction = fraction;
  event->trial.stage = stage;
  event->trial.settings = *settings;
  event->text = g_strdup_printf ("%s: %s", dyno_trial_stage_text (stage), description);
  report_progress (user, event);
}

/* Least time between two reports of the same preparation. */
#define PREPARING_US (G_USEC_PER_SEC / 10)

static char *
describe_preparing (const char *what, guint done, guint total, const char *settings)
{
  g_autofree char *count = total > 0 ? g_strdup_printf (_ (" (%u of %u)"), done, total) : NULL;

  if (strcmp (what, "compile") == 0)
    return g_strdup_printf (_ ("compiling kernels for %s%s"), settings, count ? count : "");
  if (strcmp (what, "autotune") == 0)
    return g_strdup_printf (_ ("timing kernels for %s%s"), settings, count ? count : "");
  return g_strdup_printf (_ ("preparing %s"), settings);
}

static void
on_preparing (gpointer user, const char *stage, const DynoSettings *settings, double fraction,
              const char *what, guint done, guint total)
{
  DynoTune *tune = user;
  gint64 now = g_get_monotonic_time ();
  g_autofree char *description = NULL, *text = NULL;
  DynoTuneEvent *event;

  if (!what)
    {
      if (tune->preparing)
        on_progress (user, stage, settings, fraction);
      tune->preparing = NULL;
      return;
    }
  what = g_intern_string (what);
  if (what == tune->preparing && now - tune->preparing_us < PREPARING_US)
    return;
  tune->preparing = what;
  tune->preparing_us = now;
  event = g_new0 (DynoTuneEvent, 1);
  description = dyno_trial_describe (settings);
  text = describe_preparing (what, done, total, description);
  event->type = DYNO_TUNE_EVENT_PROGRESS;
  event->fraction = fraction;
  event->trial.stage = stage;
  event->trial.settings = *settings;
  event->text = g_strdup_printf ("%s: %s", dyno_trial_stage_text (stage), text);
  event->preparing = what;
  event->n_prepared = done;
  event->n_to_prepare = total;
  report_progress (tune, event);
}

static void
on_ceiling (gpointer user, const DynoCeiling *ceiling)
{
  DynoTune *tune = user;
  DynoTuneEvent *event = g_new0 (DynoTuneEvent, 1);
  DynoCeiling *copy = g_new0 (DynoCeiling, 1);
  GError *error = NULL;

  if (!dyno_search_records_add_ceiling (tune->records, ceiling, &error))
    report_lost (tune, error);
  dyno_ceiling_copy (ceiling, copy);
  g_mutex_lock (&tune->mutex);
  g_ptr_array_add (tune->ceilings, copy);
  g_mutex_unlock (&tune->mutex);
  event->type = DYNO_TUNE_EVENT_CEILING;
  dyno_ceiling_copy (ceiling, &event->ceiling);
  tell (tune, event);
}

static void
on_trial (gpointer user, const DynoTrial *trial)
{
  DynoTune *tune = user;
  DynoTuneEvent *event = g_new0 (DynoTuneEvent, 1);
  DynoTrial *copy = g_new0 (DynoTrial, 1);
  GError *error = NULL;

  if (!dyno_search_records_add_trial (tune->records, trial, &error))
    report_lost (tune, error);
  dyno_trial_copy (trial, copy);
  g_mutex_lock (&tune->mutex);
  g_ptr_array_add (tune->trials, copy);
  g_mutex_unlock (&tune->mutex);
  event->type = DYNO_TUNE_EVENT_TRIAL;
  dyno_trial_copy (trial, &event->trial);
  tell (tune, event);
}

/* The end of the search is moved by the length of a pause. */
static void
wait_while_paused (gpointer user)
{
  DynoTune *tune = user;
  gint64 begin_us = g_get_monotonic_time ();

  g_mutex_lock (&tune->mutex);
  while (tune->paused && !g_cancellable_is_cancelled (tune->cancellable))
    g_cond_wait (&tune->changed, &tune->mutex);
  g_mutex_unlock (&tune->mutex);
  tune->end_us += g_get_monotonic_time () - begin_us;
  if (tune->own_meter)
    dyno_async_meter_set_end (tune->meter, tune->end_us);
}

static void
report_best (DynoTune *tune, DynoTuneResult *result)
{
  DynoTuneEvent *event = g_new0 (DynoTuneEvent, 1);

  event->type = DYNO_TUNE_EVENT_BEST;
  event->result = dyno_tune_result_ref (result);
  dyno_trial_copy (&result->best, &event->trial);
  dyno_trial_copy (&result->baseline, &event->baseline);
  event->proven = result->proven;
  event->keep_today = result->keep_today;
  event->speedup = dyno_tune_result_claims_gain (result) ? result->speedup : (double) NAN;
  event->gain = dyno_tune_result_claims_gain (result) ? result->gain : (double) NAN;
  event->text = g_strjoinv (" ", result->reasons);
  tell (tune, event);
}

/* --- the thread ------------------------------------------------------------------------------- */

static gboolean
open_device (DynoTune *tune, GError **error)
{
  g_autoptr (GPtrArray) devices = dyno_device_list (error);
  int index = MAX (tune->job->device, 0);

  if (!devices)
    return FALSE;
  if (index >= (int) devices->len)
    {
      g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_NO_DEVICE,
                   _ ("There is no device %d: choose one of 0 to %u"), index, devices->len - 1);
      return FALSE;
    }
  tune->device = *(const DynoDeviceInfo *) devices->pdata[index];
  return TRUE;
}

static DynoPresetUse
get_preset_use (const DynoTune *tune)
{
  return (DynoPresetUse){ .level = DYNO_LEVEL_RECOMMENDED,
                          .job = tune->job,
                          .data = tune->dataset ? dyno_dataset_get_info (tune->dataset) : NULL,
                          .device = &tune->device };
}

/* Applies the preset to a copy of the job's settings; the memory budget stays the job's. */
static void
read_preset (DynoTune *tune)
{
  DynoPresetUse use = get_preset_use (tune);

  if (!tune->job->preset)
    return;
  tune->preset = dyno_preset_find (tune->job->preset, &tune->device, NULL);
  if (!tune->preset)
    return;
  tune->preset_settings = tune->job->settings;
  dyno_preset_apply (tune->preset, &use, &tune->preset_settings);
  tune->preset_settings.vram_budget = tune->job->settings.vram_budget;
}

/* The meter of this machine, or of one rank of several. */
static DynoMeter *
make_meter (DynoTune *tune)
{
  g_autoptr (DynoJob) one = NULL;

  if (tune->job->ranks <= 1)
    return dyno_meter_new (tune->job, tune->dataset, &tune->device);
  one = dyno_job_copy (tune->job);
  one->ranks = 1;
  return dyno_ranks_meter_new (dyno_meter_new (one, tune->dataset, &tune->device), tune->job,
                               tune->dataset, &tune->device, tune->hosts);
}

/* Emits a NOTE, before the search begins, where its time is too short for a proof. */
static void
foresee (DynoTune *tune, double flops_per_sample)
{
  char *text = dyno_foresee_job (tune->job, dyno_dataset_get_info (tune->dataset), &tune->device,
                                 flops_per_sample, tune->minutes);
  DynoTuneEvent *event;

  if (!text)
    return;
  event = g_new0 (DynoTuneEvent, 1);
  event->type = DYNO_TUNE_EVENT_NOTE;
  event->text = text;
  tell (tune, event);
}

static gboolean
prepare (DynoTune *tune, GError **error)
{
  DynoJobPlan plan;

  if (tune->meter)
    return TRUE;
  if (!open_device (tune, error))
    return FALSE;
  if (!tune->dataset)
    {
      DynoDatasetParams params;

      dyno_job_get_dataset_params (tune->job, &params);
      tune->dataset =
          dyno_dataset_open (tune->job->data, &params, NULL, NULL, tune->cancellable, error);
      if (!tune->dataset)
        return FALSE;
    }
  if (dyno_job_plan (tune->job, dyno_dataset_get_info (tune->dataset), &tune->device, &plan, NULL))
    {
      tune->limit_bytes = plan.limit_bytes;
      foresee (tune, plan.flops_per_sample);
    }
  read_preset (tune);
  tune->meter = dyno_async_meter_new (make_meter (tune), STOP_S);
  tune->own_meter = TRUE;
  return TRUE;
}

/* Opens the history of this machine; without it the search continues. */
static void
open_store (DynoTune *tune)
{
  g_autoptr (GError) problem = NULL;

  if (!tune->own_store)
    return;
  tune->store = dyno_store_open (NULL, &problem);
  if (!tune->store)
    g_warning ("The search is not kept in the history: %s", problem->message);
  else if (dyno_store_get_read_only (tune->store))
    /* a run reports that the history is read-only */
    g_clear_pointer (&tune->store, dyno_store_free);
}

/* Measurements of an earlier search come before those of this one, also in the folder. */
static gboolean
begin_records (DynoTune *tune, GError **error)
{
  const DynoTuneResult *known = tune->known;
  DynoSearchRecordsParams params = {
    .job = tune->job,
    .device = &tune->device,
    .fingerprint = tune->dataset ? dyno_dataset_get_info (tune->dataset)->content_hash : 0,
    .folder = tune->folder,
    .append = tune->folder && g_strcmp0 (tune->folder, tune->resumed) == 0,
    .known = known
  };
  GError *problem = NULL;

  open_store (tune);
  params.store = tune->store;
  tune->records = dyno_search_records_new (&params, &problem);
  if (!tune->records && !tune->may_lose)
    {
      g_propagate_error (error, problem);
      return FALSE;
    }
  if (!tune->records)
    {
      report_lost (tune, problem);
      /* without a folder there is only the history, which never fails a search */
      params.folder = NULL;
      tune->records = dyno_search_records_new (&params, NULL);
    }
  g_mutex_lock (&tune->mutex);
  for (guint i = 0; known && i < known->ceilings->len; i++)
    {
      DynoCeiling *copy = g_new0 (DynoCeiling, 1);

      dyno_ceiling_copy (known->ceilings->pdata[i], copy);
      g_ptr_array_add (tune->ceilings, copy);
    }
  for (guint i = 0; known && i < known->trials->len; i++)
    {
      DynoTrial *copy = g_new0 (DynoTrial, 1);

      dyno_trial_copy (known->trials->pdata[i], copy);
      g_ptr_array_add (tune->trials, copy);
    }
  g_mutex_unlock (&tune->mutex);
  return TRUE;
}

static gboolean
search (DynoTune *tune, GError **error)
{
  g_autoptr (DynoTuneResult) result = dyno_tune_result_new (tune->job);
  DynoSearchParams params = { .job = tune->job,
                              .meter = tune->meter,
                              .minutes = tune->minutes,
                              .limit_bytes = tune->limit_bytes,
                              .preset = tune->preset ? &tune->preset_settings : NULL,
                              .preset_name = tune->preset ? tune->preset->name : NULL,
                              .known = tune->known,
                              .goal = tune->goal,
                              .cancellable = tune->cancellable,
                              .hooks = { .progress = on_progress,
                                         .preparing = on_preparing,
                                         .ceiling = on_ceiling,
                                         .trial = on_trial,
                                         .wait = wait_while_paused,
                                         .user = tune } };
  DynoPresetUse use = get_preset_use (tune);
  GError *problem = NULL;
  gboolean found;

  if (!begin_records (tune, error))
    return FALSE;
  result->device = g_strdup (tune->device.name);
  tune->end_us = g_get_monotonic_time () + (gint64) (OVER * tune->minutes * 60 * 1e6);
  /* waits before each measurement while the search is paused */
  found = dyno_search_run (&params, result, &problem);
  if (tune->preset)
    dyno_verdict_add_preset (result, tune->preset, &use);
  dyno_search_records_end (tune->records, result, problem);
  if (problem)
    g_propagate_error (error, problem);
  g_mutex_lock (&tune->mutex);
  tune->result = dyno_tune_result_ref (result);
  g_mutex_unlock (&tune->mutex);
  if (found)
    report_best (tune, result);
  return found;
}

/* Emits the error, if there is one, and takes it. */
static void
end (DynoTune *tune, GError *error)
{
  DynoTuneEvent *done = g_new0 (DynoTuneEvent, 1);

  if (error)
    report_error (tune, error);
  done->type = DYNO_TUNE_EVENT_DONE;
  done->fraction = 1.0;
  tell (tune, done);
  dyno_ring_close (tune->events);
}

static gpointer
run (gpointer data)
{
  DynoTune *tune = data;
  GError *error = NULL;
  gboolean good;

  (void) dyno_cores_keep ((guint) tune->job->settings.threads);
  good = prepare (tune, &error) && search (tune, &error);

  g_clear_pointer (&tune->records, dyno_search_records_free);
  g_clear_pointer (&tune->meter, dyno_meter_free);
  end (tune, good ? NULL : error);
  return NULL;
}

void
dyno_tune_start (DynoTune *tune)
{
  GError *error = NULL;

  g_return_if_fail (!tune->thread);
  tune->thread = g_thread_try_new ("dyno-tune", run, tune, &error);
  if (tune->thread)
    return;
  g_prefix_error (&error, _ ("The search was not started, for want of a thread (end other "
                             "programs, or raise their limit): "));
  end (tune, error);
}

void
dyno_tune_pause (DynoTune *tune, gboolean paused)
{
  g_mutex_lock (&tune->mutex);
  tune->paused = paused;
  g_cond_broadcast (&tune->changed);
  g_mutex_unlock (&tune->mutex);
}

void
dyno_tune_stop (DynoTune *tune)
{
  g_cancellable_cancel (tune->cancellable);
  g_mutex_lock (&tune->mutex);
  g_cond_broadcast (&tune->changed);
  g_mutex_unlock (&tune->mutex);
}

void
dyno_tune_free (DynoTune *tune)
{
  if (!tune)
    return;
  dyno_ring_close (tune->events); /* nobody takes events any more, so no push may wait */
  dyno_tune_stop (tune);
  if (tune->thread)
    g_thread_join (tune->thread);
  dyno_ring_free (tune->events);
  g_clear_pointer (&tune->meter, dyno_meter_free);
  g_ptr_array_unref (tune->ceilings);
  g_ptr_array_unref (tune->trials);
  dyno_tune_result_unref (tune->known);
  dyno_tune_result_unref (tune->result);
  dyno_preset_free (tune->preset);
  dyno_store_free (tune->store);
  g_clear_pointer (&tune->dataset, dyno_dataset_unref);
  g_mutex_clear (&tune->mutex);
  g_cond_clear (&tune->changed);
  dyno_job_unref (tune->job);
  g_object_unref (tune->cancellable);
  g_free (tune->folder);
  g_free (tune->resumed);
  g_free (tune->goal);
  g_free (tune);
}

DynoTuneEvent *
dyno_tune_try_pop (DynoTune *tune)
{
  return dyno_ring_try_pop (tune->events);
}

DynoTuneEvent *
dyno_tune_pop (DynoTune *tune, gint64 timeout_us)
{
  return dyno_ring_pop (tune->events, timeout_us);
}

DynoTuneResult *
dyno_tune_get_result (DynoTune *tune)
{
  DynoTuneResult *result;

  g_mutex_lock (&tune->mutex);
  if (tune->result)
    result = dyno_tune_result_ref (tune->result);
  else
    {
      result = dyno_tune_result_new (tune->job);
      for (guint i = 0; i < tune->ceilings->len; i++)
        {
          DynoCeiling *copy = g_new0 (DynoCeiling, 1);

          dyno_ceiling_copy (tune->ceilings->pdata[i], copy);
          g_ptr_array_add (result->ceilings, copy);
        }
      for (guint i = 0; i < tune->trials->len; i++)
        {
          DynoTrial *copy = g_new0 (DynoTrial, 1);

          dyno_trial_copy (tune->trials->pdata[i], copy);
          g_ptr_array_add (result->trials, copy);
        }
    }
  g_mutex_unlock (&tune->mutex);
  return result;
}
