/* SPDX-License-Identifier: MIT */
/* The jobs of the queue that is also used by `dynoctl queue`, and the process that runs them, which
 * continues when the window is closed.  All widgets of the window that show jobs share one list.
 * The history is used in a thread, one request after another in their order.  Main thread only. */
#pragma once
#include "jobqueue.h"
#include <gio/gio.h>

G_BEGIN_DECLS

#define DYNO_TYPE_JOB_LIST (dyno_job_list_get_type ())
G_DECLARE_FINAL_TYPE (DynoJobList, dyno_job_list, DYNO, JOB_LIST, GObject)

typedef struct {
  DynoQueuedJob *queued;
  guint64 epochs; /* that its run has made; 0 before its first epoch ends */
  char *error;    /* of its last attempt; NULL: none is known */
} DynoListedJob;

/* Signals: "changed": the jobs or the process; "failed" (GError); "begun" (the folder of its run): a
 * job of _begin no longer waits; "ended" (guint): the process of this window, in which so many jobs
 * failed. */
DynoJobList *dyno_job_list_new (void);

/* The jobs that are not finished, const DynoListedJob*, in their order; empty before the first
 * reading.  Valid until the next "changed". */
const GPtrArray *dyno_job_list_get (DynoJobList *self);
guint dyno_job_list_count_open (DynoJobList *self); /* jobs that wait, run, or were stopped */
guint dyno_job_list_count_failed (DynoJobList *self);
/* The job that runs, in whatever process; NULL: none. */
const DynoListedJob *dyno_job_list_get_running (DynoJobList *self);
/* Whether a process of this window runs the queue. */
gboolean dyno_job_list_is_started (DynoJobList *self);

/* Whether the window's own work needs the device, so that the next job is not to be begun beside it.
 * Only widgets heed it. */
void dyno_job_list_set_held (DynoJobList *self, gboolean held);
gboolean dyno_job_list_is_held (DynoJobList *self);

/* Reads the jobs anew. */
void dyno_job_list_refresh (DynoJobList *self);
/* Appends the job, as it is now, to the queue, with a folder of its own below `runs`. */
void dyno_job_list_add (DynoJobList *self, const DynoJob *job, const char *runs);
/* The same before another job; at the end where that is gone or 0. */
void dyno_job_list_add_before (DynoJobList *self, const DynoJob *job, const char *runs,
                               gint64 before);
/* Adds the job before all that wait or were stopped, and starts the queue. */
void dyno_job_list_begin (DynoJobList *self, const DynoJob *job, const char *runs);
/* See dyno_store_move_job, _remove_job, _retry_job, _change_job. */
void dyno_job_list_move (DynoJobList *self, gint64 id, gint64 before);
void dyno_job_list_remove (DynoJobList *self, gint64 id);
void dyno_job_list_retry (DynoJobList *self, gint64 id);
void dyno_job_list_change (DynoJobList *self, gint64 id, const DynoJob *job);
/* Moves a job that was stopped before all others, and starts the queue, which resumes it. */
void dyno_job_list_resume (DynoJobList *self, gint64 id);

/* Runs the jobs that wait, one after another, in a process of its own.  FALSE with the error:
 * dynoctl was not found or cannot be run.  Without effect while such a process runs. */
gboolean dyno_job_list_start (DynoJobList *self, GError **error);
/* Whether the queue is worked off by a process that _stop reaches: this window's, or another one of
 * this machine. */
gboolean dyno_job_list_can_stop (DynoJobList *self);
/* Requests that process to save and end the job that runs, and to run no other. */
void dyno_job_list_stop (DynoJobList *self);

/* Has the jobs read every two seconds while the widget is mapped. */
void dyno_job_list_watch (DynoJobList *self, GObject *widget);

const char *dyno_listed_job_get_state (const DynoListedJob *job); /* "Waiting", "Running" */
/* How far a job is: "Waiting", "Epoch 3 of 10", "Failed"; g_free. */
char *dyno_listed_job_describe (const DynoListedJob *job);
/* The share of the epochs that a job has made, 0 to 1. */
double dyno_listed_job_get_fraction (const DynoListedJob *job);

G_END_DECLS
