/* SPDX-License-Identifier: MIT */
/* The state of a run, for the files of the session's thread: sessionthread.c (its life),
 * trainloop.c (epochs and steps), report.c (its reports and its folder), savepolicy.c (its
 * checkpoints and weights), runclock.c (its times), and some smaller ones.  They call each other
 * through this header only: any of them may warn, and the loop saves and reports.  Each struct in
 * DynoRun belongs to one of the files, and the others use its functions; the remaining members are
 * of the run as a whole.  Private to the train layer. */
#pragma once
#include "checkpoint.h"
#include "engine.h"
#include "health.h"
#include "runclock.h"
#include "runfacts.h"
#include "runfolder.h"
#include "session-private.h"
#include "tries.h"

G_BEGIN_DECLS

typedef enum {
  DYNO_RUN_GOES_ON,
  DYNO_RUN_FINISHED,
  DYNO_RUN_STOPPED, /* asked to save and end */
  DYNO_RUN_ENDED,   /* asked to end at once */
  DYNO_RUN_FAILED,  /* error set */
  DYNO_RUN_RELEASE, /* paused, all saved: the engine is to go meanwhile */
} DynoRunOutcome;

typedef struct _DynoRunLog DynoRunLog;       /* report.c */
typedef struct _DynoRunSaving DynoRunSaving; /* savepolicy.c */

/* Members belong to rankreport.c. */
typedef struct {
  DynoRankTimes *times;    /* on rank 0 of several; else NULL */
  DynoRankReport *reports; /* with it: who they are */
} DynoRunRanks;

/* Members belong to unreadable.c. */
typedef struct {
  gboolean warned;
  GPtrArray *names; /* char*, "sample: reason"; collected when an engine ends */
  guint64 n;
} DynoRunUnreadable;

typedef struct {
  DynoSession *session;
  const DynoJob
      *job; /* the session's, as the run has obeyed it; engine->job: what it became here */
  DynoDataset *dataset;
  guint64 content_hash;
  DynoEngine *engine;
  DynoPosition position; /* after the last step whose result is known */
  DynoRunClock clock;
  DynoRunLog *log;
  DynoRunSaving *saving;
  DynoTries tries;    /* to reach the data set again */
  gboolean recovered; /* from a lost device, which is done once */
  guint parts;        /* of a batch that an engine needed before; see DynoEngine */
  guint64 batch_size; /* the engine's, when it has ended */
  DynoHealth health;
  gboolean validation_warned; /* the last validation had no finite loss */
  gboolean is_idle;           /* nothing was left to do */
  DynoPosition begin;         /* where this part of the run began */
  guint64 whole_steps;        /* see event.h */
  DynoSensors *sensors;       /* of runsensors.c: from the first engine on */
  DynoRunRanks ranks;
  DynoRunUnreadable unreadable;
} DynoRun;

/* trainloop.c: from the run's position to its end. */
DynoRunOutcome dyno_run_loop (DynoRun *run, GError **error);

/* reconnect.c.  A reason of UNREACHABLE, nothing being in flight: pauses until the data set can be
 * read again.  restart begins the loader's epoch again at the batch that could not be had, and
 * gives the loader. */
typedef DynoLoader *(*DynoRunRestart) (gpointer data);
DynoRunOutcome dyno_run_reconnect (DynoRun *run, DynoRunRestart restart, gpointer data,
                                   const GError *reason, GError **error);

/* report.c: what was reported so far, the folder of the run and the rows in it.  The log outlives
 * the observer below. */
DynoRunLog *dyno_run_log_new (void);
void dyno_run_log_free (DynoRunLog *log); /* also closes the folder */

void dyno_run_warn (DynoRun *run, const char *format, ...) G_GNUC_PRINTF (2, 3);
void dyno_run_report_plan (DynoRun *run);
/* The metrics of the graph: event and log. */
void dyno_run_report_metrics (DynoRun *run);
/* The facts of the run, once its engine is there: event, and facts.ini where the folder has
 * begun. */
void dyno_run_report_facts (DynoRun *run);
/* The same after an epoch, where there is news: of several ranks. */
void dyno_run_report_epoch_facts (DynoRun *run);
/* The same with how it ended; reason: the error, or NULL.  Nothing of a run that has not come near
 * its first step. */
void dyno_run_report_last_facts (DynoRun *run, DynoSessionState state, const GError *reason);
/* Before the last facts: the layer whose output was the first that is not finite, or NULL. */
void dyno_run_set_bad_layer (DynoRun *run, const char *name);
/* See whole_steps in event.h; with an engine. */
guint64 dyno_run_find_whole (const DynoRun *run);

/* Writes metrics.csv and sensors.csv; its data is the run. */
extern const DynoObserver dyno_run_row_writer;
/* The folder that the job names, if it names one.  Errors: those of dyno_run_folder_open. */
gboolean dyno_run_open_folder (DynoRun *run, GError **error);
void dyno_run_close_folder (DynoRun *run);
/* For the names of its files; NULL: nothing is written. */
DynoRunFolder *dyno_run_get_folder (const DynoRun *run);
/* Begins the run's folder, if there is one and it is not begun: nothing in it changes before the
 * first step is done, or the run ends well without one. */
void dyno_run_begin_folder (DynoRun *run);
gboolean dyno_run_has_begun (const DynoRun *run);
/* At the end of a run whose folder has begun: what is due, the whole log, curves and diagnosis. */
void dyno_run_finish_folder (DynoRun *run);
/* The log of the run that wrote the checkpoint, up to the run's position, so that it stays whole. */
void dyno_run_recall_log (DynoRun *run, const char *checkpoint);
/* The log holds what is up to the run's position: a run that was set back reports nothing twice. */
void dyno_run_skip_logged (DynoRun *run);
/* settings.ini anew, where the folder has begun; a failure is a warning, and the end tries again. */
void dyno_run_write_settings (DynoRun *run);
/* Log and event of a step and of an epoch, which the masks of its validation follow where they are
 * watched. */
void dyno_run_report_step (DynoRun *run, const DynoStepResult *result);
void dyno_run_report_epoch (DynoRun *run, const DynoEpochMetrics *epoch);

/* rankreport.c.  Of several ranks: who they are, which all of them send; then, on rank 0, the
 * use that each makes of its time.  taken: with a step's result, of step_ms.  skip: the next
 * step does not count.  describe: FALSE: there is one rank, or this is not rank 0.  end: fills
 * DONE. */
gboolean dyno_run_begin_ranks (DynoRun *run, GError **error);
void dyno_run_take_ranks (DynoRun *run, const DynoStepResult *result, double step_ms);
void dyno_run_skip_ranks (DynoRun *run);
gboolean dyno_run_describe_ranks (DynoRun *run, DynoRunFacts *facts);
void dyno_run_end_ranks (DynoRun *run, DynoEvent *done);

/* runsensors.c.  With an engine: SENSORS events from now on; a second call only counts for the
 * memory of another engine. */
void dyno_run_begin_sensors (DynoRun *run);
void dyno_run_end_sensors (DynoRun *run);
/* Asks the driver for the device's memory; gives what all programs hold (0: not known). */
guint64 dyno_run_ask_memory (DynoRun *run);
/* The device holds nothing of the run's. */
void dyno_run_clear_memory (DynoRun *run);

/* unreadable.c.  Warns of the first sample that could not be read; and takes count and names,
 * before an engine is freed. */
void dyno_run_warn_unreadable (DynoRun *run);
void dyno_run_collect_unreadable (DynoRun *run);
/* All ranks know those of each; collective.  Nothing where there is one. */
gboolean dyno_run_share_unreadable (DynoRun *run, GError **error);
/* Once all are collected: fills DONE. */
void dyno_run_end_unreadable (DynoRun *run, DynoEvent *done);

/* savepolicy.c: checkpoints, the best weights, and when they are saved.  Free it before the engine:
 * what only waits to be written is dropped. */
DynoRunSaving *dyno_run_saving_new (void);
void dyno_run_saving_free (DynoRunSaving *saving);

/* The checkpoint that this run began with, or the last that it had saved when saving ended; NULL:
 * none yet. */
void dyno_run_set_checkpoint (DynoRun *run, const char *checkpoint);
const char *dyno_run_get_checkpoint (const DynoRun *run);
/* A checkpoint was saved since saving began. */
gboolean dyno_run_has_saved (const DynoRun *run);

/* Between them saves can be asked for; ending waits for what is being written, and takes over the
 * checkpoint. */
void dyno_run_begin_saving (DynoRun *run);
void dyno_run_end_saving (DynoRun *run);

/* A checkpoint is to be saved as soon as there is room; and whether one still is. */
void dyno_run_ask_save (DynoRun *run);
gboolean dyno_run_is_save_asked (const DynoRun *run);
/* A checkpoint was asked for, or its time has come, and there is room for one.  step: updates that
 * were submitted so far. */
gboolean dyno_run_save_is_due (DynoRun *run, guint64 step);
/* Saves the state after `step` updates, which is what was submitted so far; without a snapshot
 * nothing is in flight.  It is written beside the training, when the result of that step is known.
 * Without room it becomes due.  best: its weights are the best so far, which makes room.  Errors
 * are the device's; a full disk and a state that is not finite are warnings. */
gboolean dyno_run_save (DynoRun *run, guint64 step, gboolean best, GError **error);

/* Saves all that the run needs to go on without its engine, and to end without it, nothing being
 * in flight.  *saved FALSE: it could not, which was reported.  Errors: the device's. */
gboolean dyno_run_save_all (DynoRun *run, gboolean *saved, GError **error);
/* The run's position has moved. */
void dyno_run_save_known (DynoRun *run);
/* Saves the state of the position, nothing being in flight, and waits until all is written. */
gboolean dyno_run_save_last (DynoRun *run, GError **error);
/* Waits until what is being saved is written.  Errors: the device's. */
gboolean dyno_run_flush_saves (DynoRun *run, GError **error);

/* TRUE: the epoch is the best so far, and the position says so. */
gboolean dyno_run_take_validation (DynoRun *run, const DynoEpochMetrics *metrics);
/* TRUE, and says so: the validation has not become better for as long as the settings allow. */
gboolean dyno_run_stops_early (DynoRun *run);
/* The run begins anew: no weights of earlier parts are the best. */
void dyno_run_forget_best (DynoRun *run);
/* After a checkpoint was loaded: the best weights beside it go on being the best.  They are placed
 * in the run's folder when that is begun.  Errors: OUTPUT. */
gboolean dyno_run_adopt_best (DynoRun *run, const char *checkpoint, GError **error);
/* Weights that were adopted and are not in the run's folder go there.  Errors: OUTPUT. */
gboolean dyno_run_place_best (DynoRun *run, GError **error);

/* Weights in the run's folder, and where else they were asked for; last: with those that are on the
 * device.  Errors: OUTPUT, DIVERGED, the device's. */
gboolean dyno_run_save_weights (DynoRun *run, gboolean last, GError **error);

G_END_DECLS
