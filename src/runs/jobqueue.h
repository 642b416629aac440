/* SPDX-License-Identifier: MIT */
/* The queue: jobs with frozen settings that dynoctl queue start runs one after another.  They stand
 * in the file of the history.  Errors: DYNO_RUNS_ERROR. */
#pragma once
#include "store.h"

G_BEGIN_DECLS

typedef enum {
  DYNO_QUEUED_WAITING,
  DYNO_QUEUED_RUNNING,
  DYNO_QUEUED_FINISHED,
  DYNO_QUEUED_STOPPED, /* by request; taken up by the next start */
  DYNO_QUEUED_FAILED,
} DynoQueuedState;
const char *dyno_queued_state_name (DynoQueuedState state);

typedef struct {
  gint64 id;
  DynoJob *job; /* out_dir: its folder, absolute; paths absolute */
  DynoQueuedState state;
  guint attempts; /* how often it was begun */
  int exit_code;  /* of the last; -1: none */
  char *process;  /* that runs it, or ran it last; or NULL */
  /* A line of its settings that cannot be read, which has its default value in job: what it should
   * train is not known; "": none can be.  NULL: all are. */
  char *bad_setting;
  gint64 add_us, begin_us, end_us;
} DynoQueuedJob;
void dyno_queued_job_free (DynoQueuedJob *job);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoQueuedJob, dyno_queued_job_free)

/* Behind those that are there; the job has an out_dir of its own.  0 with the error; ACTIVE: a job
 * that waits or runs has that folder. */
gint64 dyno_store_add_job (DynoStore *store, const DynoJob *job, GError **error);
/* In their order, DynoQueuedJob*. */
GPtrArray *dyno_store_list_jobs (DynoStore *store, GError **error);
/* To stand right before that job; 0: behind all.  One that runs may be moved, too: it goes on.
 * NOT_FOUND. */
gboolean dyno_store_move_job (DynoStore *store, gint64 id, gint64 before, GError **error);
/* NOT_FOUND; ACTIVE: it is running. */
gboolean dyno_store_remove_job (DynoStore *store, gint64 id, GError **error);

/* One process at a time works the queue off.  ACTIVE: another one does.  _touch, now and then:
 * tells those on other machines that it goes on. */
gboolean dyno_store_claim_queue (DynoStore *store, GError **error);
gboolean dyno_store_touch_queue (DynoStore *store, GError **error);
void dyno_store_release_queue (DynoStore *store);

/* The first job that is not done: one that waits, that was stopped, or whose runner died; but for
 * those of tried (gint64; NULL: none).  NULL without an error: none is left. */
DynoQueuedJob *dyno_store_next_job (DynoStore *store, const GArray *tried, GError **error);
/* process: as dyno_process_describe gives it. */
gboolean dyno_store_begin_job (DynoStore *store, gint64 id, const char *process, GError **error);
gboolean dyno_store_end_job (DynoStore *store, gint64 id, DynoQueuedState state, int exit_code,
                             GError **error);

G_END_DECLS
