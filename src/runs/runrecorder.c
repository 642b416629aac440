/* SPDX-License-Identifier: MIT */
/* Invariants: the lock guards the members that the observer fills for the thread, and is never held
 * while something is written; all other members belong to the thread.  Of several steps only the
 * last counts.  An entry is written as a whole each time, so that the next write makes up for one
 * that failed. */
#include "runrecorder.h"
#include "file.h"
#include "lateentry.h"
#include "median.h"
#include "process.h"
#include "runrate.h"
#include "store-private.h"
#include <math.h>

#define BEAT_US    (5 * G_USEC_PER_SEC)  /* interval at which steps are written */
#define ALIVE_US   (60 * G_USEC_PER_SEC) /* interval of the sign of life of a run without steps */
#define PACE_US    (G_USEC_PER_SEC / 5)  /* time for which short epochs are gathered */
#define END_US     (8 * G_USEC_PER_SEC)  /* time that the end waits for a slow disk */
#define MAX_LEFT   65536                 /* most epochs that are kept until they can be written */
#define MAX_LOGGED 4096 /* most epochs of earlier parts that are read from the log */
#define LOGGED     -1.0 /* marks an epoch of an earlier part, instead of its end */

struct _DynoRunRecorder {
  GMutex lock;
  GCond changed;
  DynoSession *session; /* NULL: the session was freed */
  GQueue events;        /* DynoEvent*, except steps */
  const DynoJob *job;   /* the newest job; taken by the thread */
  DynoStepMetrics step; /* the last step; step 0: none since the thread took it */
  guint64 vram_bytes;   /* the maximum so far */
  DynoRunRate rate;     /* from the facts, updated by the steps since then */
  double step_seconds;  /* of the last step */
  GArray *epoch_ends;   /* double, the time of the end, for each EPOCH of events; LOGGED */
  gboolean looked_up;   /* the log was looked up */
  gboolean over;        /* no event comes any more */
  gboolean ended;       /* the thread has ended */
  gboolean left;        /* abandoned: the thread frees the recorder */
  gint hurry;           /* atomic: somebody waits for the thread */
  GThread *thread;

  /* used only by the thread: */
  DynoStore *store;
  DynoStoredRun *run;
  gboolean adopted; /* the entry is that of the resumed run, and its values are kept */
  gboolean folder_claimed, reported;
  int selecting; /* metric that selects the best epoch; negative: the loss does */
  int shown;     /* index of the run's metric: selecting, else the first metric; -1: none */
  DynoMetricTable metrics;
  GArray *left_epochs; /* DynoEpochMetrics, not written yet */
  guint ranks;
  GArray *overheads;
  guint64 epoch_samples;      /* samples of an epoch in whole batches */
  guint n_epochs;             /* of this part */
  double last_end;            /* of the last epoch, in seconds of the run */
  gint64 written_us, next_us; /* time of the last write; earliest time of the next */
};

/* --- handling of events, on the recorder's thread --------------------------------------------- */

static double
median_of (GArray *values)
{
  g_autoptr (GArray) copy = NULL;

  if (values->len == 0)
    return (double) NAN;
  copy = g_array_copy (values);
  return dyno_median ((double *) (gpointer) copy->data, copy->len);
}

static void
set_text (char **field, const char *text)
{
  g_free (*field);
  *field = g_strdup (text);
}

static void
take_plan (DynoRunRecorder *r, const DynoEvent *event)
{
  DynoStoredRun *run = r->run;

  run->planned_bytes = event->plan.plan.plan.total_bytes;
  run->n_parameters = event->plan.plan.n_parameters;
  r->epoch_samples = run->n_train = event->plan.n_train;
  r->epoch_samples -= r->epoch_samples % (guint64) run->settings.batch_size;
  r->epoch_samples = r->epoch_samples ? r->epoch_samples : run->n_train;
  run->n_validation = event->plan.n_validation;
  run->n_test = event->plan.n_test;
  run->fingerprint = event->plan.content_hash;
  run->software_device = event->plan.software_device;
  set_text (&run->device, event->plan.device);
  if (r->ranks > 1) /* the rate is not that of one device */
    {
      g_free (run->device);
      run->device = g_strdup_printf ("%u x %s", r->ranks, event->plan.device);
    }
  set_text (&run->driver, event->plan.driver);
}

static void
take_metrics (DynoRunRecorder *r, const DynoMetricTable *table)
{
  r->metrics = *table;
  r->selecting =
      dyno_metric_table_find_best (table, g_quark_to_string (r->run->settings.best_metric));
  r->shown = r->selecting >= 0 ? r->selecting : table->n > 0 ? 0 : -1;
  if (r->shown < 0)
    return;
  set_text (&r->run->metric, table->infos[r->shown].name);
  set_text (&r->run->metric_unit, table->infos[r->shown].unit);
  r->run->metric_is_fraction = table->infos[r->shown].format == DYNO_METRIC_FRACTION;
}

/* The time of an epoch besides its steps: from the end of one epoch to the end of the next, less
 * the steps.  The first epoch of a part contains the first step, which compiles; where it is the
 * only epoch, its times of validation and saving are taken. */
static void
take_times (DynoRunRecorder *r, const DynoEpochMetrics *epoch, double end)
{
  double steps, overhead = epoch->validation_seconds + epoch->saving_seconds;

  if (!(epoch->samples_per_s > 0))
    return;
  steps = (double) r->epoch_samples / epoch->samples_per_s;
  if (r->n_epochs > 1)
    overhead = MAX (0, end - r->last_end - steps);
  if (r->n_epochs > 1)
    g_array_append_val (r->overheads, overhead);
  r->last_end = end;
  r->run->epoch_overhead_seconds = r->overheads->len ? median_of (r->overheads) : overhead;
}

static void
take_epoch (DynoRunRecorder *r, const DynoEpochMetrics *given, double end)
{
  DynoEpochMetrics epoch = *given;
  DynoStoredRun *run = r->run;
  guint at = (guint) MAX (0, r->shown);

  if (end == LOGGED && (!r->adopted || given->epoch <= run->epochs))
    return;
  r->n_epochs += end != LOGGED;
  epoch.train_metrics[0] = r->shown < 0 ? (double) NAN : given->train_metrics[at];
  epoch.val_metrics[0] = r->shown < 0 ? (double) NAN : given->val_metrics[at];
  g_array_append_val (r->left_epochs, epoch);
  if (r->left_epochs->len > MAX_LEFT)
    g_array_remove_index (r->left_epochs, 0);
  if (end != LOGGED)
    take_times (r, &epoch, end);
  run->epochs = epoch.epoch;
  run->steps = MAX (run->steps, epoch.step);
  run->loss = epoch.train_loss;
  dyno_stored_run_take_best (run, r->selecting < 0 ? NULL : &r->metrics.infos[at],
                             epoch.val_metrics[0], &epoch);
}

/* A run that was resumed and did not come to its end has no result any more. */
static void
take_test (DynoRunRecorder *r, const DynoTestResult *test)
{
  gboolean tested = test->n_samples > 0;

  r->run->test_loss = tested ? test->loss : (double) NAN;
  r->run->test_metric = tested && r->shown >= 0 ? test->metrics[r->shown] : (double) NAN;
}

static void
take_done (DynoRunRecorder *r, const DynoEvent *event)
{
  DynoStoredRun *run = r->run;

  run->state = event->done.state == DYNO_SESSION_FINISHED  ? DYNO_RUN_STATE_FINISHED
               : event->done.state == DYNO_SESSION_STOPPED ? DYNO_RUN_STATE_STOPPED
                                                           : DYNO_RUN_STATE_FAILED;
  run->end_us = g_get_real_time ();
  run->parts = MAX (1, event->done.parts);
  run->preparation_seconds = event->done.preparation_seconds;
  if (event->done.steps > 0)
    {
      run->steps = event->done.steps;
      run->seconds = event->done.seconds;
      if (r->selecting >= 0)
        run->best_metric = event->done.best_val_metric;
      run->best_epoch = event->done.best_epoch;
      take_test (r, &event->done.test);
    }
  else if (!r->adopted && run->state != DYNO_RUN_STATE_FINISHED)
    g_clear_pointer (&run->folder, g_free); /* nothing was written to that folder */
}

static void
take_event (DynoRunRecorder *r, const DynoEvent *event, double end)
{
  switch (event->type)
    {
    case DYNO_EVENT_PLAN:
      take_plan (r, event);
      break;
    case DYNO_EVENT_METRICS:
      take_metrics (r, &event->metrics);
      break;
    case DYNO_EVENT_EPOCH:
      take_epoch (r, &event->epoch, end);
      break;
    case DYNO_EVENT_ERROR:
      set_text (&r->run->error, event->error->message);
      break;
    case DYNO_EVENT_DONE:
      take_done (r, event);
      break;
    default:
      break;
    }
}

static void
take_step (DynoRunRecorder *r, const DynoStepMetrics *step)
{
  r->run->steps = MAX (r->run->steps, step->step);
  r->run->seconds = step->seconds;
  if (r->n_epochs == 0 || isnan (r->run->loss))
    r->run->loss = step->loss;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void
tell (DynoRunRecorder *r, const GError *problem)
{
  if (!r->reported)
    g_message ("The run continues, but is not recorded in the history of runs: %s",
               problem->message);
  r->reported = TRUE;
}

/* TRUE where another process has resumed the run.  A lock on the folder does not show this: the
 * recorded session may have locked it already, and does not start where another session has locked
 * it. */
static gboolean
is_held (const DynoStoredRun *run)
{
  return run->state == DYNO_RUN_STATE_RUNNING
         && dyno_process_find (run->process) != DYNO_PROCESS_GONE;
}

/* Continues the entry of the resumed run, unless another process uses it. */
static void
adopt (DynoRunRecorder *r, const DynoJob *job)
{
  DynoRunFilter filter = { .folder = r->run->folder, .limit = 1 };
  g_autoptr (GPtrArray) found = NULL;
  DynoStoredRun *old, *made = r->run;

  if (!job->resume || !made->folder)
    return;
  found = dyno_store_list_runs (r->store, &filter, NULL);
  if (!found || found->len == 0)
    return;
  old = g_ptr_array_index (found, 0);
  if (is_held (old))
    return;
  r->run = g_ptr_array_steal_index (found, 0);
  r->run->state = DYNO_RUN_STATE_RUNNING;
  r->run->end_us = 0;
  g_clear_pointer (&r->run->error, g_free);
  set_text (&r->run->process, made->process);
  set_text (&r->run->version, made->version);
  r->adopted = r->folder_claimed = TRUE;
  dyno_stored_run_free (made);
}

/* A store that could not be opened at the start is tried again: the disk may have been full, or
 * another process may have held the file. */
static gboolean
open_store (DynoRunRecorder *r, GError **error)
{
  if (!r->store)
    r->store = dyno_store_open_in_hurry (NULL, &r->hurry, error);
  return r->store != NULL;
}

static gboolean
write_entry (DynoRunRecorder *r, GError **error)
{
  const DynoEpochMetrics *epochs = (const DynoEpochMetrics *) (gconstpointer) r->left_epochs->data;

  r->run->seen_us = g_get_real_time ();
  if (!dyno_store_put_run (r->store, r->run, epochs, r->left_epochs->len, error))
    return FALSE;
  g_array_set_size (r->left_epochs, 0);
  if (!r->folder_claimed && r->run->steps > 0)
    r->folder_claimed = dyno_store_claim_folder (r->store, r->run, NULL);
  return TRUE;
}

/* A run does not wait at its end until another process releases the history. */
static gboolean
write_late (DynoRunRecorder *r, GError **error)
{
  const DynoEpochMetrics *epochs = (const DynoEpochMetrics *) (gconstpointer) r->left_epochs->data;
  g_autofree char *own = r->store ? NULL : dyno_data_dir ("history.sqlite");
  const char *path = r->store ? dyno_store_get_path (r->store) : own;
  g_autofree char *shown = g_filename_display_name (path);

  r->run->seen_us = g_get_real_time ();
  if (!dyno_late_entry_write (path, r->run, epochs, r->left_epochs->len, error))
    return FALSE;
  g_array_set_size (r->left_epochs, 0);
  g_message ("Another process holds the history “%s”: the entry of this run is kept beside it, and "
             "is put into it when it is opened the next time",
             shown);
  return TRUE;
}

/* Writes the entry.  last: there is no later attempt. */
static void
write_it (DynoRunRecorder *r, gboolean last)
{
  g_autoptr (GError) problem = NULL;
  gboolean good = open_store (r, &problem) && write_entry (r, &problem),
           busy = g_error_matches (problem, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_BUSY);

  if (last && busy)
    {
      g_clear_error (&problem);
      good = write_late (r, &problem);
    }
  if (problem && (last || !busy))
    tell (r, problem);
  r->written_us = g_get_monotonic_time ();
  r->next_us = r->written_us + (good ? PACE_US : BEAT_US);
}

/* --- the thread ------------------------------------------------------------------------------- */

static void
free_it (DynoRunRecorder *r)
{
  g_queue_clear_full (&r->events, (GDestroyNotify) dyno_event_unref);
  g_mutex_clear (&r->lock);
  g_cond_clear (&r->changed);
  dyno_job_unref (r->job);
  dyno_store_free (r->store);
  dyno_stored_run_free (r->run);
  g_array_unref (r->epoch_ends);
  g_array_unref (r->left_epochs);
  g_array_unref (r->overheads);
  g_free (r);
}

/* Called with the lock held, which is released meanwhile.  TRUE: an event came that is to be
 * written soon. */
static gboolean
take_all (DynoRunRecorder *r)
{
  GQueue events = r->events;
  DynoStepMetrics step = r->step;
  const DynoJob *job = g_steal_pointer (&r->job);
  g_autoptr (GArray) ends = g_steal_pointer (&r->epoch_ends);
  guint n_ends = 0;
  DynoEvent *event;
  gboolean any = !g_queue_is_empty (&events);

  g_queue_init (&r->events);
  r->epoch_ends = g_array_new (FALSE, FALSE, sizeof (double));
  r->step.step = 0;
  r->run->vram_bytes = MAX (r->run->vram_bytes, r->vram_bytes);
  if (dyno_run_rate_get (&r->rate) > 0)
    r->run->samples_per_s = dyno_run_rate_get (&r->rate);
  g_mutex_unlock (&r->lock);
  if (job)
    dyno_stored_run_set_job (r->run, job);
  dyno_job_unref (job);
  if (step.step > 0)
    take_step (r, &step);
  while ((event = g_queue_pop_head (&events)))
    {
      /* No pointer to the array's data is used, since it is NULL without an epoch. */
      double end = event->type == DYNO_EVENT_EPOCH ? g_array_index (ends, double, n_ends++) : 0;

      take_event (r, event, end);
      dyno_event_unref (event);
    }
  g_mutex_lock (&r->lock);
  return any;
}

static void
begin (DynoRunRecorder *r)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (DynoJob) job = NULL;

  g_mutex_lock (&r->lock);
  job = dyno_job_copy (r->job);
  g_mutex_unlock (&r->lock);
  if (!open_store (r, &problem)
      && !g_error_matches (problem, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_BUSY))
    tell (r, problem);
  dyno_stored_run_set_job (r->run, job);
  if (r->store)
    adopt (r, job);
  dyno_stored_run_set_job (r->run, job);
}

static gpointer
record (gpointer data)
{
  DynoRunRecorder *r = data;
  gboolean due = TRUE, left;

  begin (r);
  g_mutex_lock (&r->lock);
  for (;;)
    {
      gint64 now = g_get_monotonic_time ();
      gboolean over = r->over && g_queue_is_empty (&r->events),
               steps = r->step.step > 0 && now >= r->written_us + BEAT_US;
      gint64 wake_us = r->step.step > 0 ? r->written_us + BEAT_US : r->written_us + ALIVE_US;

      if (!g_queue_is_empty (&r->events) || r->job || steps || over)
        due |= take_all (r) || over || steps;
      if (over || (due && now >= r->next_us) || now >= r->written_us + ALIVE_US)
        {
          g_mutex_unlock (&r->lock);
          write_it (r, over);
          due = r->left_epochs->len > 0;
          g_mutex_lock (&r->lock);
        }
      else
        g_cond_wait_until (&r->changed, &r->lock, due ? r->next_us : MIN (wake_us, now + BEAT_US));
      if (over)
        break;
    }
  r->ended = TRUE;
  left = r->left;
  g_cond_broadcast (&r->changed);
  g_mutex_unlock (&r->lock);
  if (left)
    free_it (r);
  return NULL;
}

/* --- the observer ----------------------------------------------------------------------------- */

static gboolean
is_kept (DynoEventType type)
{
  return type == DYNO_EVENT_PLAN || type == DYNO_EVENT_METRICS || type == DYNO_EVENT_EPOCH
         || type == DYNO_EVENT_ERROR || type == DYNO_EVENT_DONE;
}

/* Adds the epochs that an earlier part has logged, since a part that was killed may not have
 * written its last ones into the history.  Called with the lock held, on the session's thread. */
static void
look_up_log (DynoRunRecorder *r)
{
  DynoMetrics *metrics = dyno_session_get_metrics (r->session);
  guint64 n = dyno_metrics_get_epochs (metrics);
  const double end = LOGGED;

  r->looked_up = TRUE;
  for (guint64 i = n - MIN (n, MAX_LOGGED); i < n; i++)
    {
      DynoEvent *event = dyno_event_new (DYNO_EVENT_EPOCH);

      dyno_metrics_copy_epochs (metrics, i, 1, &event->epoch);
      g_queue_push_tail (&r->events, event);
      g_array_append_val (r->epoch_ends, end);
    }
}

/* Called on the thread that emits the event. */
static void
on_event (DynoEvent *event, gpointer data)
{
  DynoRunRecorder *r = data;
  const DynoJob *job = NULL;

  /* Live changes of settings are rare, so they are read only at these events. */
  if (r->session && (event->type == DYNO_EVENT_EPOCH || event->type == DYNO_EVENT_DONE))
    job = dyno_session_get_job (r->session);
  g_mutex_lock (&r->lock);
  if (job)
    {
      dyno_job_unref (r->job);
      r->job = job;
    }
  if (event->type == DYNO_EVENT_STEP)
    {
      r->step = event->step;
      dyno_run_rate_add (&r->rate, &event->step);
      r->step_seconds = event->step.seconds;
      r->vram_bytes = MAX (r->vram_bytes, event->step.vram_bytes);
    }
  else if (event->type == DYNO_EVENT_FACTS)
    {
      r->rate = event->facts.rate;
      if (r->session && !r->looked_up)
        look_up_log (r);
    }
  else if (is_kept (event->type))
    {
      g_queue_push_tail (&r->events, dyno_event_ref (event));
      if (event->type == DYNO_EVENT_EPOCH)
        g_array_append_val (r->epoch_ends, r->step_seconds);
      g_cond_signal (&r->changed);
    }
  g_mutex_unlock (&r->lock);
}

static void
on_session_free (gpointer data)
{
  DynoRunRecorder *r = data;

  g_mutex_lock (&r->lock);
  r->session = NULL;
  g_mutex_unlock (&r->lock);
}

static const DynoObserver observer = { .event = on_event, .free = on_session_free };

DynoRunRecorder *
dyno_run_recorder_new (DynoStore *store, DynoSession *session)
{
  DynoRunRecorder *r = g_new0 (DynoRunRecorder, 1);
  g_autoptr (GError) problem = NULL;

  g_mutex_init (&r->lock);
  g_cond_init (&r->changed);
  g_queue_init (&r->events);
  r->epoch_ends = g_array_new (FALSE, FALSE, sizeof (double));
  r->left_epochs = g_array_new (FALSE, FALSE, sizeof (DynoEpochMetrics));
  r->overheads = g_array_new (FALSE, FALSE, sizeof (double));
  r->selecting = r->shown = -1;
  r->store = store ? dyno_store_ref (store) : NULL;
  r->run = dyno_stored_run_new ();
  r->run->begin_us = r->run->seen_us = g_get_real_time ();
  r->run->process = dyno_process_describe ();
  r->run->version = g_strdup (DYNO_VERSION);
  r->job = dyno_session_get_job (session);
  r->ranks = r->job->ranks;
  r->session = session;
  r->thread = g_thread_try_new ("dyno-history", record, r, &problem);
  if (r->thread)
    {
      dyno_session_add_observer (session, &observer, r);
      return r;
    }
  tell (r, problem);
  free_it (r);
  return NULL;
}

void
dyno_run_recorder_free (DynoRunRecorder *r)
{
  gint64 until = g_get_monotonic_time () + END_US;
  DynoSession *session;
  gboolean ended;

  if (!r)
    return;
  g_mutex_lock (&r->lock);
  session = r->session;
  g_mutex_unlock (&r->lock);
  if (session)
    dyno_session_remove_observer (session, &observer, r);
  g_atomic_int_set (&r->hurry, TRUE);
  g_mutex_lock (&r->lock);
  r->over = TRUE;
  g_cond_broadcast (&r->changed);
  while (!r->ended && g_cond_wait_until (&r->changed, &r->lock, until))
    ;
  ended = r->ended;
  r->left = !ended;
  g_mutex_unlock (&r->lock);
  if (!ended)
    {
      g_message ("The history of runs does not answer: the end of this run is not in it");
      g_thread_unref (r->thread);
      return;
    }
  g_thread_join (r->thread);
  free_it (r);
}
