/* SPDX-License-Identifier: MIT */
/* A training session: one thread that owns the device, the program and the loader, and trains a
 * job.
 *
 * A session receives commands (pause, resume, stop, a live setting) and emits events to observers
 * (event.h): the window, dynoctl and the search for settings each have a queue (eventqueue.h), the
 * writer of metrics.csv observes without one.  The metrics log is complete whatever a queue drops.
 * The same seed gives the same losses for any workers, prefetch and timing.
 * Threads: all functions may be called from any thread, but _free not from the session's own. */
#pragma once
#include "comm.h"
#include "eventqueue.h"

G_BEGIN_DECLS

typedef struct _DynoSession DynoSession;

/* Writes the other files that a run leaves in its folder; called on the session's thread. */
typedef struct {
  /* Writes the job as requested, with live changes applied: at the first step, and after each
   * change. */
  gboolean (*write_settings) (const char *folder, const DynoJob *job, const char *device,
                              GError **error);
  /* Called at the end of a run that has done a step; budget_bytes 0: none was set. */
  gboolean (*write_curves) (const char *folder, DynoMetrics *metrics, guint64 budget_bytes,
                            GError **error);
  /* Called with each epoch, and at the end: writes the new rows for other programs, as the settings
   * require; first: the session has written none yet, and existing rows may be of a later step.  Or
   * NULL. */
  gboolean (*follow) (const char *folder, const DynoJob *job, DynoMetrics *metrics, gboolean first,
                      GError **error);
  /* Called after write_curves: writes what limited the run, from the folder's content.  Or NULL. */
  gboolean (*write_diagnosis) (const char *folder, GError **error);
} DynoRunWriter;

/* The job is copied, and the session owns the copy.  Nothing happens before _start. */
DynoSession *dyno_session_new (const DynoJob *job);
/* Stops the session, joins its thread, and frees it. */
void dyno_session_free (DynoSession *session);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoSession, dyno_session_free)

/* Sets an open data set (the window's), used instead of opening job->data; to be called before
 * _start. */
void dyno_session_set_dataset (DynoSession *session, DynoDataset *dataset);

/* Sets an open device, used instead of opening the job's, as long as it is not lost; to be called
 * before _start.  Its budget becomes the job's. */
void dyno_session_set_device (DynoSession *session, DynoDevice *device);

/* Makes this session one of several ranks that train the job together, each with a session of its
 * own; to be called before _start.  A communicator of one rank has no effect.  Only rank 0 reads
 * the job's start files and writes its results: the jobs of the other ranks lose the names of files
 * and folders.  Only rank 0 takes commands, except for stopping and checkpoints, which any rank's
 * session takes.  A rank that fails ends all ranks. */
void dyno_session_set_comm (DynoSession *session, DynoComm *comm);

/* writer is static; to be called before _start.  Without a writer the folder holds only the
 * session's own files. */
void dyno_session_set_writer (DynoSession *session, const DynoRunWriter *writer);

/* The observer receives every event that is emitted after this call; it is static.  May be called
 * at any time. */
void dyno_session_add_observer (DynoSession *session, const DynoObserver *observer, gpointer data);
/* Removes the observer that was added with this data.  When this returns, no call of it is in
 * progress, except one on the calling thread.  Any thread. */
void dyno_session_remove_observer (DynoSession *session, const DynoObserver *observer,
                                   gpointer data);
/* Adds a queue as an observer, which the session owns.  capacity 0: some thousand. */
DynoEventQueue *dyno_session_add_queue (DynoSession *session, guint capacity, gboolean every_event);

/* The learning rate grows by equal factors between these two rates, whatever the settings' rate and
 * schedule, over this many steps (2 or more), after which the run ends.  Nothing is validated, and
 * no loss ends the run: the caller decides that.  0 < from < to; for a single process, and to be
 * called before _start. */
void dyno_session_sweep_lr (DynoSession *session, double from, double to, guint steps);

void dyno_session_start (DynoSession *session);
void dyno_session_pause (DynoSession *session);
/* Pauses, also where the run is paused already: saves a checkpoint, then frees the device and its
 * memory.  Resuming prepares again and continues with bit-identical results.  RELEASED is emitted
 * after that; where saving is not possible the run is only paused, with a warning. */
void dyno_session_release (DynoSession *session);
void dyno_session_resume (DynoSession *session);
/* Finishes the step in flight, saves, ends.  A second call, or now = TRUE, ends without saving. */
void dyno_session_stop (DynoSession *session, gboolean now);
/* Saves a checkpoint at the end of the present step. */
void dyno_session_checkpoint (DynoSession *session);
/* For measuring: the present epoch ends as early as it can with its validation prepared as usual,
 * and the validation ends after so many batches (0: all). */
void dyno_session_end_epoch (DynoSession *session, guint validation_batches);
/* Changes a setting that the table of settings marks as live.  Errors: SETTING. */
gboolean dyno_session_set (DynoSession *session, const char *key, const char *value,
                           GError **error);
void dyno_session_join (DynoSession *session);

DynoSessionState dyno_session_get_state (DynoSession *session);
/* The job as it was started, with all changes so far.  dyno_job_unref. */
const DynoJob *dyno_session_get_job (DynoSession *session);
DynoMetrics *dyno_session_get_metrics (DynoSession *session); /* valid as long as the session */

G_END_DECLS
