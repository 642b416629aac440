/* SPDX-License-Identifier: MIT */
/* Requests wait in a list of their own, so that the answer of an earlier one never replaces that of
 * a later one. */
#include "joblist.h"
#include "file.h"
#include "heldtask.h"
#include "process.h"
#include "runwriter.h"
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <gtk/gtk.h>
#include <signal.h>

#define POLL_S 2 /* interval of reading while a job runs or a widget shows the jobs */

struct _DynoJobList {
  GObject parent_instance;
  GPtrArray *jobs;      /* DynoListedJob */
  GSubprocess *process; /* started by this window, or NULL */
  GQueue requests;      /* Request: those that wait for the present one */
  GPtrArray *watchers;  /* GtkWidget, not owned */
  guint poll;
  char *awaited;    /* folder of the job that is to begin, or NULL */
  gint64 start_us;  /* when the process was started, by the clock of the jobs' times */
  gboolean known;   /* the jobs have been read */
  gboolean working; /* a request is being carried out */
  gboolean held;
};

enum { CHANGED, FAILED, BEGUN, ENDED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoJobList, dyno_job_list, G_TYPE_OBJECT)

static void
listed_job_free (gpointer data)
{
  DynoListedJob *self = data;
  dyno_queued_job_free (self->queued);
  g_free (self->error);
  g_free (self);
}

const char *
dyno_listed_job_get_state (const DynoListedJob *job)
{
  static const char *const states[] = { N_ ("Waiting"), N_ ("Running"), N_ ("Finished"),
                                        N_ ("Stopped"), N_ ("Failed") };
  return _ (states[job->queued->state]);
}

char *
dyno_listed_job_describe (const DynoListedJob *job)
{
  gint64 epochs = job->queued->job->settings.epochs;
  if (job->queued->state != DYNO_QUEUED_RUNNING || job->epochs == 0)
    return g_strdup (dyno_listed_job_get_state (job));
  return g_strdup_printf (_ ("Epoch %u of %u"), (guint) MIN ((gint64) job->epochs + 1, epochs),
                          (guint) epochs);
}

double
dyno_listed_job_get_fraction (const DynoListedJob *job)
{
  gint64 epochs = job->queued->job->settings.epochs;
  return epochs > 0 ? CLAMP ((double) job->epochs / (double) epochs, 0, 1) : 0;
}

/* --- requests, in a thread -------------------------------------------------------------------- */

typedef struct {
  /* LAST: LIST, after the process has ended */
  enum { LIST, LAST, ADD, BEGIN, MOVE, REMOVE, RETRY, CHANGE, RESUME } what;
  gint64 id, before;
  const DynoJob *job;
  char *runs;   /* for ADD and BEGIN: the parent of the job's folder */
  char *folder; /* of BEGIN: the job's own */
} Request;

static void
request_free (gpointer data)
{
  Request *self = data;
  dyno_job_unref (self->job);
  g_free (self->runs);
  g_free (self->folder);
  g_free (self);
}

/* Moves a job before the first that the queue would begin, or resume. */
static gboolean
put_first (DynoStore *store, gint64 id, GError **error)
{
  g_autoptr (GPtrArray) jobs = dyno_store_list_jobs (store, error);
  for (guint i = 0; jobs && i < jobs->len; i++)
    {
      const DynoQueuedJob *job = jobs->pdata[i];
      if (dyno_queued_job_is_open (job) && job->state != DYNO_QUEUED_RUNNING)
        return job->id == id || dyno_store_move_job (store, id, job->id, error);
    }
  return jobs != NULL;
}

static gboolean
add_job (DynoStore *store, Request *request, GError **error)
{
  g_autoptr (DynoJob) own = dyno_job_copy (request->job);
  gint64 id;
  g_clear_pointer (&own->out_dir, g_free);
  own->out_dir = dyno_run_writer_claim_folder (request->runs, own, error);
  if (!own->out_dir)
    return FALSE;
  id = dyno_store_add_job (store, own, error);
  if (id <= 0)
    {
      g_rmdir (own->out_dir);
      return FALSE;
    }
  if (request->before > 0)
    (void) dyno_store_move_job (store, id, request->before, NULL);
  if (request->what != BEGIN)
    return TRUE;
  request->folder = g_strdup (own->out_dir);
  return put_first (store, id, error);
}

static gboolean
remove_job (DynoStore *store, gint64 id, GError **error)
{
  g_autoptr (GPtrArray) jobs = dyno_store_list_jobs (store, error);
  g_autofree char *left = dyno_queued_job_get_error_path (id);
  if (!jobs || !dyno_store_remove_job (store, id, error))
    return FALSE;
  g_unlink (left);
  for (guint i = 0; i < jobs->len; i++)
    {
      const DynoQueuedJob *job = jobs->pdata[i];
      if (job->id == id)
        g_rmdir (job->job->out_dir); /* a claimed folder that was never used */
    }
  return TRUE;
}

/* A job that has failed gets a folder of its own, beside the one of its attempts so far. */
static gboolean
change_job (DynoStore *store, const Request *request, GError **error)
{
  g_autoptr (GPtrArray) jobs = dyno_store_list_jobs (store, error);
  g_autoptr (DynoJob) own = dyno_job_copy (request->job);
  const DynoQueuedJob *before = NULL;
  for (guint i = 0; jobs && i < jobs->len && !before; i++)
    {
      const DynoQueuedJob *job = jobs->pdata[i];
      before = job->id == request->id ? job : NULL;
    }
  if (!jobs || !before || before->attempts == 0)
    return jobs && dyno_store_change_job (store, request->id, own, error);
  g_autofree char *runs = g_path_get_dirname (before->job->out_dir);
  g_clear_pointer (&own->out_dir, g_free);
  own->out_dir = dyno_run_writer_claim_folder (runs, own, error);
  if (!own->out_dir)
    return FALSE;
  gboolean changed = dyno_store_change_job (store, request->id, own, error);
  g_rmdir (changed ? before->job->out_dir : own->out_dir); /* if it is empty */
  return changed;
}

static gboolean
carry_out (DynoStore *store, Request *request, GError **error)
{
  switch (request->what)
    {
    case ADD:
    case BEGIN:
      return add_job (store, request, error);
    case MOVE:
      return dyno_store_move_job (store, request->id, request->before, error);
    case REMOVE:
      return remove_job (store, request->id, error);
    case RETRY:
      return dyno_store_retry_job (store, request->id, error);
    case CHANGE:
      return change_job (store, request, error);
    case RESUME:
      return put_first (store, request->id, error);
    default:
      return TRUE;
    }
}

/* Reads the outcome of a job's run from the history, in which its first epoch enters it. */
static void
read_run (DynoStore *store, DynoListedJob *job)
{
  const DynoRunFilter filter = { .folder = job->queued->job->out_dir, .limit = 1 };
  g_autoptr (GPtrArray) runs = dyno_store_list_runs (store, &filter, NULL);
  const DynoStoredRun *run = runs && runs->len > 0 ? runs->pdata[0] : NULL;
  if (run)
    job->epochs = run->epochs;
  if (run && job->queued->state == DYNO_QUEUED_FAILED)
    job->error = g_strdup (run->error);
  if (!job->error)
    job->error = dyno_queued_job_read_error (job->queued);
}

static GPtrArray *
list_jobs (DynoStore *store, GError **error)
{
  g_autoptr (GPtrArray) all = dyno_store_list_jobs (store, error),
                        jobs = g_ptr_array_new_with_free_func (listed_job_free);
  while (all && all->len > 0)
    {
      g_autoptr (DynoQueuedJob) queued = g_ptr_array_steal_index (all, 0);
      if (queued->state == DYNO_QUEUED_FINISHED)
        continue;
      DynoListedJob *job = g_new0 (DynoListedJob, 1);
      job->queued = g_steal_pointer (&queued);
      if (job->queued->attempts > 0)
        read_run (store, job);
      g_ptr_array_add (jobs, job);
    }
  return all ? g_steal_pointer (&jobs) : NULL;
}

static void
use_queue (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  GError *error = NULL;
  g_autoptr (DynoStore) store = dyno_store_open (NULL, &error);
  GPtrArray *jobs = store && carry_out (store, data, &error) ? list_jobs (store, &error) : NULL;
  if (jobs)
    g_task_return_pointer (task, jobs, (GDestroyNotify) g_ptr_array_unref);
  else
    g_task_return_error (task, error);
}

static gboolean
same_jobs (const GPtrArray *a, const GPtrArray *b)
{
  if (a->len != b->len)
    return FALSE;
  for (guint i = 0; i < a->len; i++)
    {
      const DynoListedJob *one = a->pdata[i], *other = b->pdata[i];
      if (one->queued->id != other->queued->id || one->queued->state != other->queued->state
          || one->epochs != other->epochs || g_strcmp0 (one->error, other->error) != 0)
        return FALSE;
    }
  return TRUE;
}

/* Starts the queue for a job that was added to be begun, in this folder, or is to be resumed. */
static void
start_for (DynoJobList *self, const char *folder)
{
  g_autoptr (GError) error = NULL;
  g_free (self->awaited);
  self->awaited = g_strdup (folder);
  if (!dyno_job_list_start (self, &error))
    g_signal_emit (self, signals[FAILED], 0, error);
}

/* Reports the awaited job once it no longer waits; one that has finished is not listed. */
static void
look_for_awaited (DynoJobList *self, const GPtrArray *jobs)
{
  gboolean waits = FALSE;
  for (guint i = 0; i < jobs->len; i++)
    {
      const DynoQueuedJob *job = ((const DynoListedJob *) jobs->pdata[i])->queued;
      waits |=
          job->state == DYNO_QUEUED_WAITING && g_strcmp0 (job->job->out_dir, self->awaited) == 0;
    }
  if (!self->awaited || waits)
    return;
  g_autofree char *folder = g_steal_pointer (&self->awaited);
  g_signal_emit (self, signals[BEGUN], 0, folder);
}

static void
report_end (DynoJobList *self, const GPtrArray *jobs)
{
  guint n_failed = 0;
  for (guint i = 0; i < jobs->len; i++)
    {
      const DynoQueuedJob *job = ((const DynoListedJob *) jobs->pdata[i])->queued;
      n_failed += job->state == DYNO_QUEUED_FAILED && job->end_us >= self->start_us;
    }
  g_signal_emit (self, signals[ENDED], 0, n_failed);
}

static void begin_next (DynoJobList *self);

static void
queue_used (GObject *source, GAsyncResult *result, gpointer data)
{
  DynoJobList *self = DYNO_JOB_LIST (source);
  const Request *request = g_task_get_task_data (G_TASK (result));
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) jobs = g_task_propagate_pointer (G_TASK (result), &error);
  self->working = FALSE;
  if (jobs && (request->folder || request->what == RESUME))
    start_for (self, request->folder);
  if (jobs)
    look_for_awaited (self, jobs);
  if (jobs && request->what == LAST)
    report_end (self, jobs);
  if (jobs && (!self->known || request->what == CHANGE || !same_jobs (self->jobs, jobs)))
    {
      self->known = TRUE;
      g_clear_pointer (&self->jobs, g_ptr_array_unref);
      self->jobs = g_steal_pointer (&jobs);
      g_signal_emit (self, signals[CHANGED], 0);
    }
  else if (error)
    g_signal_emit (self, signals[FAILED], 0, error);
  begin_next (self);
}

static void
begin_next (DynoJobList *self)
{
  Request *request = self->working ? NULL : g_queue_pop_head (&self->requests);
  if (!request)
    return;
  g_autoptr (GTask) task = g_task_new (self, NULL, queue_used, NULL);
  g_task_set_task_data (task, request, request_free);
  self->working = TRUE;
  dyno_task_run_held (task, use_queue);
}

/* Takes job. */
static void
ask_queue (DynoJobList *self, int what, gint64 id, gint64 before, const DynoJob *job,
           const char *runs)
{
  Request *request = g_new0 (Request, 1);
  request->what = what;
  request->id = id;
  request->before = before;
  request->job = job;
  request->runs = g_strdup (runs);
  g_queue_push_tail (&self->requests, request);
  begin_next (self);
}

/* A request that waits reads the jobs anyway; one that is being carried out may have read them
 * already. */
void
dyno_job_list_refresh (DynoJobList *self)
{
  if (g_queue_is_empty (&self->requests))
    ask_queue (self, LIST, 0, 0, NULL, NULL);
}

void
dyno_job_list_add (DynoJobList *self, const DynoJob *job, const char *runs)
{
  ask_queue (self, ADD, 0, 0, dyno_job_copy (job), runs);
}

void
dyno_job_list_add_before (DynoJobList *self, const DynoJob *job, const char *runs, gint64 before)
{
  ask_queue (self, ADD, 0, before, dyno_job_copy (job), runs);
}

void
dyno_job_list_begin (DynoJobList *self, const DynoJob *job, const char *runs)
{
  ask_queue (self, BEGIN, 0, 0, dyno_job_copy (job), runs);
}

void
dyno_job_list_move (DynoJobList *self, gint64 id, gint64 before)
{
  ask_queue (self, MOVE, id, before, NULL, NULL);
}

void
dyno_job_list_remove (DynoJobList *self, gint64 id)
{
  ask_queue (self, REMOVE, id, 0, NULL, NULL);
}

void
dyno_job_list_retry (DynoJobList *self, gint64 id)
{
  ask_queue (self, RETRY, id, 0, NULL, NULL);
}

void
dyno_job_list_resume (DynoJobList *self, gint64 id)
{
  ask_queue (self, RESUME, id, 0, NULL, NULL);
}

void
dyno_job_list_change (DynoJobList *self, gint64 id, const DynoJob *job)
{
  ask_queue (self, CHANGE, id, 0, dyno_job_copy (job), NULL);
}

/* --- the jobs --------------------------------------------------------------------------------- */

const GPtrArray *
dyno_job_list_get (DynoJobList *self)
{
  return self->jobs;
}

guint
dyno_job_list_count_open (DynoJobList *self)
{
  guint n = 0;
  for (guint i = 0; i < self->jobs->len; i++)
    n += dyno_queued_job_is_open (((const DynoListedJob *) self->jobs->pdata[i])->queued);
  return n;
}

guint
dyno_job_list_count_failed (DynoJobList *self)
{
  guint n = 0;
  for (guint i = 0; i < self->jobs->len; i++)
    n += ((const DynoListedJob *) self->jobs->pdata[i])->queued->state == DYNO_QUEUED_FAILED;
  return n;
}

void
dyno_job_list_set_held (DynoJobList *self, gboolean held)
{
  if (self->held == held)
    return;
  self->held = held;
  g_signal_emit (self, signals[CHANGED], 0);
}

gboolean
dyno_job_list_is_held (DynoJobList *self)
{
  return self->held;
}

const DynoListedJob *
dyno_job_list_get_running (DynoJobList *self)
{
  for (guint i = 0; i < self->jobs->len; i++)
    if (((const DynoListedJob *) self->jobs->pdata[i])->queued->state == DYNO_QUEUED_RUNNING)
      return self->jobs->pdata[i];
  return NULL;
}

/* --- working them off ------------------------------------------------------------------------- */

/* Finds dynoctl beside this program, in the build folder, or in PATH.  g_free. */
static char *
find_dynoctl (void)
{
  static const char *const places[] = { "dynoctl", "../cli/dynoctl" };
  g_autofree char *own = g_file_read_link ("/proc/self/exe", NULL), *folder = NULL;
  folder = own ? g_path_get_dirname (own) : g_strdup (".");
  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    {
      g_autofree char *path = g_build_filename (folder, places[i], NULL);
      if (g_file_test (path, G_FILE_TEST_IS_EXECUTABLE))
        return g_steal_pointer (&path);
    }
  return g_find_program_in_path ("dynoctl");
}

static void
process_ended (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (DynoJobList) self = data;
  g_subprocess_wait_finish (G_SUBPROCESS (source), result, NULL);
  g_clear_object (&self->process);
  g_signal_emit (self, signals[CHANGED], 0);
  ask_queue (self, LAST, 0, 0, NULL, NULL);
}

gboolean
dyno_job_list_is_started (DynoJobList *self)
{
  return self->process != NULL;
}

gboolean
dyno_job_list_start (DynoJobList *self, GError **error)
{
  g_autofree char *program = find_dynoctl ();
  const char *arguments[] = { program, "queue", "start", "--quiet", NULL, NULL, NULL };
  if (self->process)
    return TRUE;
  if (dyno_state_dir_get ())
    {
      arguments[4] = "--state-dir";
      arguments[5] = dyno_state_dir_get ();
    }
  self->start_us = g_get_real_time ();
  if (program)
    self->process = g_subprocess_newv (arguments, G_SUBPROCESS_FLAGS_NONE, error);
  else
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                 _ ("dynoctl, which runs the queue, is not installed"));
  if (!self->process)
    return FALSE;
  g_subprocess_wait_async (self->process, NULL, process_ended, g_object_ref (self));
  g_signal_emit (self, signals[CHANGED], 0);
  return TRUE;
}

gboolean
dyno_job_list_can_stop (DynoJobList *self)
{
  const DynoListedJob *job = dyno_job_list_get_running (self);
  return self->process || (job && dyno_process_find (job->queued->process) == DYNO_PROCESS_ALIVE);
}

void
dyno_job_list_stop (DynoJobList *self)
{
  const DynoListedJob *job = dyno_job_list_get_running (self);
  if (self->process)
    g_subprocess_send_signal (self->process, SIGTERM);
  else if (job)
    dyno_process_signal (job->queued->process, SIGTERM);
}

/* --- following them --------------------------------------------------------------------------- */

static gboolean
is_watched (DynoJobList *self)
{
  for (guint i = 0; i < self->watchers->len; i++)
    if (gtk_widget_get_mapped (self->watchers->pdata[i]))
      return TRUE;
  return FALSE;
}

static gboolean
poll_queue (gpointer data)
{
  DynoJobList *self = data;
  if (self->process || dyno_job_list_get_running (self) || is_watched (self))
    dyno_job_list_refresh (self);
  return G_SOURCE_CONTINUE;
}

static void
forget_watcher (gpointer data, GObject *widget)
{
  DynoJobList *self = data;
  g_ptr_array_remove (self->watchers, widget);
}

void
dyno_job_list_watch (DynoJobList *self, GObject *widget)
{
  g_ptr_array_add (self->watchers, widget);
  g_object_weak_ref (widget, forget_watcher, self);
}

/* --- the object ------------------------------------------------------------------------------- */

static void
dyno_job_list_finalize (GObject *object)
{
  DynoJobList *self = DYNO_JOB_LIST (object);
  g_clear_handle_id (&self->poll, g_source_remove);
  for (guint i = 0; i < self->watchers->len; i++)
    g_object_weak_unref (self->watchers->pdata[i], forget_watcher, self);
  g_clear_pointer (&self->watchers, g_ptr_array_unref);
  g_queue_clear_full (&self->requests, request_free);
  g_clear_pointer (&self->jobs, g_ptr_array_unref);
  g_free (self->awaited);
  g_clear_object (&self->process);
  G_OBJECT_CLASS (dyno_job_list_parent_class)->finalize (object);
}

static void
dyno_job_list_class_init (DynoJobListClass *class)
{
  GType type = DYNO_TYPE_JOB_LIST;
  G_OBJECT_CLASS (class)->finalize = dyno_job_list_finalize;
  signals[CHANGED] =
      g_signal_new ("changed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[FAILED] = g_signal_new ("failed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                  G_TYPE_NONE, 1, G_TYPE_ERROR);
  signals[ENDED] = g_signal_new ("ended", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE,
                                 1, G_TYPE_UINT);
  signals[BEGUN] = g_signal_new ("begun", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE,
                                 1, G_TYPE_STRING);
}

static void
dyno_job_list_init (DynoJobList *self)
{
  self->jobs = g_ptr_array_new_with_free_func (listed_job_free);
  self->watchers = g_ptr_array_new ();
  g_queue_init (&self->requests);
  self->poll = g_timeout_add_seconds (POLL_S, poll_queue, self);
}

DynoJobList *
dyno_job_list_new (void)
{
  return g_object_new (DYNO_TYPE_JOB_LIST, NULL);
}
