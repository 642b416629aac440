/* SPDX-License-Identifier: MIT */
/* The queue: jobs with frozen settings, which dynoctl queue start runs one after another.  The jobs
 * are kept in the file of the history.  Errors: DYNO_RUNS_ERROR. */
#pragma once
#include "store.h"

G_BEGIN_DECLS

typedef enum {
  DYNO_QUEUED_WAITING,
  DYNO_QUEUED_RUNNING,
  DYNO_QUEUED_FINISHED,
  DYNO_QUEUED_STOPPED, /* by request, or its process died; the next start of the queue resumes it */
  DYNO_QUEUED_FAILED,
} DynoQueuedState;
const char *dyno_queued_state_name (DynoQueuedState state);

typedef struct {
  gint64 id;
  DynoJob *job; /* out_dir: the job's folder, absolute; paths are absolute */
  DynoQueuedState state;
  guint attempts; /* number of times that the job was begun */
  int exit_code;  /* of the last attempt; -1: none */
  char *process;  /* process of its present or last run; or NULL */
  /* A line of its settings that cannot be read; that setting has its default value in job, so that
   * it is not known what the job should train; "": no line can be read.  NULL: all lines can be
   * read. */
  char *bad_setting;
  gint64 add_us, begin_us, end_us;
} DynoQueuedJob;
void dyno_queued_job_free (DynoQueuedJob *job);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoQueuedJob, dyno_queued_job_free)

/* The process of a job leaves its error in this file, in dyno_data_dir ("queue"), since a job may
 * fail before its run is in the history.  g_free. */
char *dyno_queued_job_get_error_path (gint64 id);
/* The error of the last attempt of a job that failed; NULL: none is known.  g_free. */
char *dyno_queued_job_read_error (const DynoQueuedJob *job);

/* Adds a job after the existing ones; it has an out_dir of its own.  0 with the error; ACTIVE: a
 * job that waits or runs has that folder. */
gint64 dyno_store_add_job (DynoStore *store, const DynoJob *job, GError **error);
/* Whether a start of the queue would begin the job, or has begun it. */
gboolean dyno_queued_job_is_open (const DynoQueuedJob *job);
/* All jobs in their order, DynoQueuedJob*. */
GPtrArray *dyno_store_list_jobs (DynoStore *store, GError **error);
/* Moves a job right before the job `before`; 0: to the end.  A running job may be moved, too, and
 * continues.  NOT_FOUND. */
gboolean dyno_store_move_job (DynoStore *store, gint64 id, gint64 before, GError **error);
/* NOT_FOUND; ACTIVE: the job is running. */
gboolean dyno_store_remove_job (DynoStore *store, gint64 id, GError **error);
/* A job that failed waits again, at its place; its next attempt resumes from its checkpoint, if
 * there is one.  A job that waits or was stopped is left as it is.  NOT_FOUND: there is no such
 * job, or it has finished; ACTIVE: it is running, or another job has its folder. */
gboolean dyno_store_retry_job (DynoStore *store, gint64 id, GError **error);
/* Gives a job another request; it keeps its place.  A job that was never begun keeps its folder,
 * too, whatever job->out_dir is.  One that has failed, or waits for another attempt, becomes a job
 * that was never begun, with the folder job->out_dir.  NOT_FOUND; ACTIVE: the job is running, was
 * stopped or has finished, or another job has that folder. */
gboolean dyno_store_change_job (DynoStore *store, gint64 id, const DynoJob *job, GError **error);

/* Only one process at a time may run the queue.  ACTIVE: another process runs it.  _touch_queue
 * must be called periodically, to show processes on other machines that this process is alive. */
gboolean dyno_store_claim_queue (DynoStore *store, GError **error);
gboolean dyno_store_touch_queue (DynoStore *store, GError **error);
void dyno_store_release_queue (DynoStore *store);

/* The first job that is not done: it waits, was stopped, or its process died.  Jobs whose ids are
 * in tried (gint64; NULL: none) are skipped.  NULL without an error: no job is left. */
DynoQueuedJob *dyno_store_next_job (DynoStore *store, const GArray *tried, GError **error);
/* process: the result of dyno_process_describe.  Errors of both: NOT_FOUND: the job was removed. */
gboolean dyno_store_begin_job (DynoStore *store, gint64 id, const char *process, GError **error);
gboolean dyno_store_end_job (DynoStore *store, gint64 id, DynoQueuedState state, int exit_code,
                             GError **error);

G_END_DECLS
