/* SPDX-License-Identifier: MIT */
/* A training session: one thread that owns the device, the program and the loader, and trains a
 * job.
 *
 * Commands go in (pause, resume, stop, a live setting), events come out to observers (event.h): the
 * window, dynoctl and the search for settings each have a queue (eventqueue.h), what writes
 * metrics.csv observes without one.  The metrics log is whole whatever a queue drops.  The same
 * seed gives the same losses whatever the workers, prefetch or timing.
 * Threads: all functions from any thread, _free not from the session's own. */
#pragma once
#include "comm.h"
#include "eventqueue.h"

G_BEGIN_DECLS

typedef struct _DynoSession DynoSession;

/* The writer of the other files that a run leaves in its folder; called on the session's thread. */
typedef struct {
  /* The job as it was asked for, live changes followed: with the first step, and after each
   * change. */
  gboolean (*write_settings) (const char *folder, const DynoJob *job, const char *device,
                              GError **error);
  /* At the end, of a run that has done a step; budget_bytes 0: none was set. */
  gboolean (*write_curves) (const char *folder, DynoMetrics *metrics, guint64 budget_bytes,
                            GError **error);
  /* With each epoch, and at the end: the rows since then for other programs, as the settings say;
   * first: the session has done none yet, and those there may be of a later step.  Or NULL. */
  gboolean (*follow) (const char *folder, const DynoJob *job, DynoMetrics *metrics, gboolean first,
                      GError **error);
  /* Last of all, of such a run: what limited it, from what the folder holds.  Or NULL. */
  gboolean (*write_diagnosis) (const char *folder, GError **error);
} DynoRunWriter;

/* The job is copied: from here on the session owns it, and its settings.  Nothing happens before
 * _start. */
DynoSession *dyno_session_new (const DynoJob *job);
/* Stops, joins, frees. */
void dyno_session_free (DynoSession *session);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoSession, dyno_session_free)

/* A data set that is open already (the window's), used instead of opening job->data; before
 * _start. */
void dyno_session_set_dataset (DynoSession *session, DynoDataset *dataset);

/* A device that is open already, used instead of opening the job's, as long as it is not lost;
 * before _start.  Its budget becomes the job's. */
void dyno_session_set_device (DynoSession *session, DynoDevice *device);

/* This is one rank of several that train the job together, each with a session of its own;
 * before _start.  A communicator of one rank is none.  Rank 0 reads what the job starts from,
 * and only it writes what the job leaves: the others' job loses the names of files and folders.
 * Commands are rank 0's but for stopping and checkpoints, which any rank's session may be asked
 * for.  A rank that fails ends all. */
void dyno_session_set_comm (DynoSession *session, DynoComm *comm);

/* writer is static; before _start.  Without one the folder holds what the session itself writes. */
void dyno_session_set_writer (DynoSession *session, const DynoRunWriter *writer);

/* Sees every event that is emitted after this call; observer is static.  At any time. */
void dyno_session_add_observer (DynoSession *session, const DynoObserver *observer, gpointer data);
/* The one that was added with both.  No call of it goes on when this returns, but for one on this
 * very thread.  Any thread. */
void dyno_session_remove_observer (DynoSession *session, const DynoObserver *observer,
                                   gpointer data);
/* A queue that observes the session, which owns it.  capacity 0: some thousand. */
DynoEventQueue *dyno_session_add_queue (DynoSession *session, guint capacity, gboolean every_event);

/* The learning rate grows by equal factors from one to the other, whatever the settings' rate and
 * schedule, over this many steps (2 or more), which are all of the run.  Nothing is validated, and
 * no loss ends the run: that is for who follows it.  0 < from < to; of one process, before
 * _start. */
void dyno_session_sweep_lr (DynoSession *session, double from, double to, guint steps);

void dyno_session_start (DynoSession *session);
void dyno_session_pause (DynoSession *session);
/* The same, also in a pause: saves a checkpoint, then gives the device and its memory back.
 * Resuming prepares anew and goes on to the same bits.  RELEASED reports that it was done; where
 * nothing can be saved it is a pause like any other, with a warning. */
void dyno_session_release (DynoSession *session);
void dyno_session_resume (DynoSession *session);
/* Finishes the step in flight, saves, ends.  A second call, or now = TRUE, does not save. */
void dyno_session_stop (DynoSession *session, gboolean now);
/* Saves a checkpoint at the next step's end. */
void dyno_session_checkpoint (DynoSession *session);
/* For measuring: the epoch ends as early as it can while its validation is prepared as ever, and
 * that one after so many batches (0: all).  For the epoch that goes on. */
void dyno_session_end_epoch (DynoSession *session, guint validation_batches);
/* Changes a setting that the table calls live.  Errors: SETTING. */
gboolean dyno_session_set (DynoSession *session, const char *key, const char *value,
                           GError **error);
void dyno_session_join (DynoSession *session);

DynoSessionState dyno_session_get_state (DynoSession *session);
/* A snapshot: as the job was started, with all changes so far.  dyno_job_unref. */
const DynoJob *dyno_session_get_job (DynoSession *session);
DynoMetrics *dyno_session_get_metrics (DynoSession *session); /* valid as long as the session */

G_END_DECLS
