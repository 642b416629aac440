/* SPDX-License-Identifier: MIT */
/* The state of a run, for the files of the session's thread: sessionthread.c (its life),
 * trainloop.c (epochs and steps), report.c (its reports and its folder), savepolicy.c (its
 * checkpoints and weights), testpart.c (the test at its end), runclock.c (its times), and some
 * smaller ones.  They call each other only through this header: any of them may warn, and the loop
 * saves and reports.  Each struct in DynoRun belongs to one of the files, and the others use its
 * functions; the remaining members belong to the run as a whole.  Private to the train layer. */
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
  DYNO_RUN_RELEASE, /* paused, all is saved: the engine is to be freed during the pause */
} DynoRunOutcome;

typedef struct _DynoRunLog DynoRunLog;       /* report.c */
typedef struct _DynoRunSaving DynoRunSaving; /* savepolicy.c */

/* Members belong to rankreport.c. */
typedef struct {
  DynoRankTimes *times;    /* on rank 0 of several ranks; else NULL */
  DynoRankReport *reports; /* the ranks' hosts and devices; NULL where times is */
} DynoRunRanks;

/* Members belong to unreadable.c. */
typedef struct {
  gboolean warned;
  GPtrArray *names; /* char*, "sample: reason"; see dyno_run_collect_unreadable */
  guint64 n;
} DynoRunUnreadable;

typedef struct {
  DynoSession *session;
  const DynoJob *job; /* with the changes obeyed so far; engine->job is adapted to the device */
  DynoDataset *dataset;
  guint64 content_hash;
  DynoEngine *engine;
  DynoPosition position; /* after the last step whose result is known */
  DynoRunClock clock;
  DynoRunLog *log;
  DynoRunSaving *saving;
  DynoTries tries;    /* attempts to reach the data set again */
  gboolean recovered; /* TRUE: from a lost device, which is possible only once */
  guint parts;        /* micro-batches of an earlier engine; see DynoEngine */
  guint64 batch_size; /* the engine's, once it was freed */
  DynoHealth health;
  gboolean validation_warned; /* the last validation had no finite loss */
  gboolean is_idle;           /* there was nothing left to do */
  DynoTestResult test;        /* belongs to testpart.c */
  DynoPosition begin;         /* position at which this part of the run began */
  guint64 whole_steps;        /* see event.h */
  DynoSensors *sensors;       /* belongs to runsensors.c: from the first engine on */
  DynoRunRanks ranks;
  DynoRunUnreadable unreadable;
} DynoRun;

/* trainloop.c: trains from the run's position to its end. */
DynoRunOutcome dyno_run_loop (DynoRun *run, GError **error);

/* reconnect.c.  Pauses until the data set can be read again, after an UNREACHABLE error (reason);
 * no submission may be in flight. */
typedef struct {
  /* For each try: starts the loader's epoch again at the batch that could not be read, and returns
   * the loader. */
  DynoLoader *(*try) (gpointer data);
  /* After the try that succeeded: starts the loader that reads ahead again.  It is left alone
   * before, since its own failure would be a second outage after the end of the first. */
  void (*ahead) (gpointer data);
} DynoRunRestart;
DynoRunOutcome dyno_run_reconnect (DynoRun *run, const DynoRunRestart *restart, gpointer data,
                                   const GError *reason, GError **error);

/* report.c: the state of the reports, the folder of the run and its rows.  The log outlives the
 * observer below. */
DynoRunLog *dyno_run_log_new (void);
void dyno_run_log_free (DynoRunLog *log); /* also closes the folder */

void dyno_run_warn (DynoRun *run, const char *format, ...) G_GNUC_PRINTF (2, 3);
void dyno_run_report_plan (DynoRun *run);
/* Reports the metrics of the graph, by an event and in the log. */
void dyno_run_report_metrics (DynoRun *run);
/* Reports the facts of the run, once its engine exists, by an event and in facts.ini where the
 * folder has begun. */
void dyno_run_report_facts (DynoRun *run);
/* Reports the facts after an epoch, for several ranks, whose facts change. */
void dyno_run_report_epoch_facts (DynoRun *run);
/* Reports the facts with the end state; reason: the error, or NULL.  Nothing is reported for a run
 * that did not come near its first step. */
void dyno_run_report_last_facts (DynoRun *run, DynoSessionState state, const GError *reason);
/* Sets the first layer whose output is not finite, or NULL; to be called before the last facts. */
void dyno_run_set_bad_layer (DynoRun *run, const char *name);
/* See whole_steps in event.h; needs an engine. */
guint64 dyno_run_find_whole (const DynoRun *run);

/* Writes metrics.csv and sensors.csv; the observer's data is the run. */
extern const DynoObserver dyno_run_row_writer;
/* Opens the folder that the job names, if any.  Errors: those of dyno_run_folder_open. */
gboolean dyno_run_open_folder (DynoRun *run, GError **error);
void dyno_run_close_folder (DynoRun *run);
/* The run's folder, which names its files; NULL: nothing is written. */
DynoRunFolder *dyno_run_get_folder (const DynoRun *run);
/* Begins the run's folder, if there is one and it has not begun: nothing in it changes before the
 * first step is done, or the run ends well without a step. */
void dyno_run_begin_folder (DynoRun *run);
gboolean dyno_run_has_begun (const DynoRun *run);
/* At the end of a run whose folder has begun: writes pending files, the whole log, curves and
 * diagnosis. */
void dyno_run_finish_folder (DynoRun *run);
/* Loads the log of the run that wrote the checkpoint, up to the run's position, so that the log
 * stays whole. */
void dyno_run_recall_log (DynoRun *run, const char *checkpoint);
/* Marks the rows up to the run's position as reported: a run that was set back reports nothing
 * twice. */
void dyno_run_skip_logged (DynoRun *run);
/* Writes settings.ini again, where the folder has begun; a failure is a warning, and it is tried
 * again at the end. */
void dyno_run_write_settings (DynoRun *run);
/* Report a step and an epoch in the log and by an event; after an epoch the masks of its
 * validation, where they are watched. */
void dyno_run_report_step (DynoRun *run, const DynoStepResult *result);
void dyno_run_report_epoch (DynoRun *run, const DynoEpochMetrics *epoch);

/* rankreport.c, for several ranks.  begin: exchanges the ranks' hosts and devices; then rank 0
 * reports how each rank uses its time.  take: adds the result of a step that took step_ms.  skip:
 * leaves the next step out.  describe: fills the members of facts that concern ranks; FALSE: there
 * is one rank, or this is not rank 0.  end: fills the DONE event. */
gboolean dyno_run_begin_ranks (DynoRun *run, GError **error);
void dyno_run_take_ranks (DynoRun *run, const DynoStepResult *result, double step_ms);
void dyno_run_skip_ranks (DynoRun *run);
gboolean dyno_run_describe_ranks (DynoRun *run, DynoRunFacts *facts);
void dyno_run_end_ranks (DynoRun *run, DynoEvent *done);

/* runsensors.c.  Starts to emit SENSORS events, once the run has an engine; a later call only
 * reports the memory of a new engine. */
void dyno_run_begin_sensors (DynoRun *run);
void dyno_run_end_sensors (DynoRun *run);
/* Asks the driver for the device's memory; returns the memory that all programs use (0: not
 * known). */
guint64 dyno_run_ask_memory (DynoRun *run);
/* Reports to the sensors that the run holds no device memory any more. */
void dyno_run_clear_memory (DynoRun *run);

/* testpart.c: the result on the test part.  keeps: this rank needs its best weights for it at the
 * end.  lacks: the run, which has done all that its settings ask for, has no result of this state.
 * recall: after a checkpoint was loaded, takes over the result beside it.  drop_old: removes the
 * result of another state from the run's folder, which has begun. */
gboolean dyno_run_keeps_test (const DynoRun *run);
gboolean dyno_run_lacks_test (const DynoRun *run);
void dyno_run_recall_test (DynoRun *run, const char *checkpoint);
void dyno_run_drop_old_test (DynoRun *run);
/* To be called when the run has finished and its weights are saved: measures the test part, once,
 * where there is one; afterwards the device no longer holds the run's last weights.  With several
 * ranks it is collective, and rank 0 measures.  FINISHED, or STOPPED or ENDED as asked.  Errors:
 * DEVICE_LOST, TIMEOUT, the communicator's; others are warnings. */
DynoRunOutcome dyno_run_test (DynoRun *run, GError **error);
/* The result of the run's present state; no samples: there is none. */
DynoTestResult dyno_run_get_test (const DynoRun *run);

/* unreadable.c.  Warns, once, of the first sample that could not be read. */
void dyno_run_warn_unreadable (DynoRun *run);
/* Collects count and names of the samples that could not be read; to be called before an engine is
 * freed. */
void dyno_run_collect_unreadable (DynoRun *run);
/* Shares names and count of the unreadable samples between all ranks; collective.  Does nothing
 * where there is one rank. */
gboolean dyno_run_share_unreadable (DynoRun *run, GError **error);
/* Fills the DONE event, after dyno_run_collect_unreadable. */
void dyno_run_end_unreadable (DynoRun *run, DynoEvent *done);

/* savepolicy.c: checkpoints, the best weights, and when they are saved.  To be freed before the
 * engine: saves that are queued but not being written are dropped. */
DynoRunSaving *dyno_run_saving_new (void);
void dyno_run_saving_free (DynoRunSaving *saving);

/* The checkpoint with which this run began, or which dyno_run_end_saving took over; NULL: none
 * yet. */
void dyno_run_set_checkpoint (DynoRun *run, const char *checkpoint);
const char *dyno_run_get_checkpoint (const DynoRun *run);
/* TRUE: a checkpoint was saved since saving began. */
gboolean dyno_run_has_saved (const DynoRun *run);

/* Saves can be requested between these two calls; ending waits for the save in progress, and takes
 * over its checkpoint. */
void dyno_run_begin_saving (DynoRun *run);
void dyno_run_end_saving (DynoRun *run);

/* Requests a checkpoint, which is taken as soon as there is room; _is_save_asked returns whether a
 * request is pending. */
void dyno_run_ask_save (DynoRun *run);
gboolean dyno_run_is_save_asked (const DynoRun *run);
/* TRUE: a checkpoint was requested, or its time has come, and there is room for it.  step: updates
 * that were submitted so far. */
gboolean dyno_run_save_is_due (DynoRun *run, guint64 step);
/* Saves the state after `step` updates, all of which were submitted; without a snapshot no
 * submission may be in flight.  It is written in the background, once the result of that step is
 * known.  Where there is no room, the save is postponed.  best: its weights are the best so far,
 * for which room is made.  Errors are the device's; a full disk and a state that is not finite are
 * warnings. */
gboolean dyno_run_save (DynoRun *run, guint64 step, gboolean best, GError **error);

/* Saves all that the run needs to continue, or to end, without its engine; no submission may be in
 * flight.  *saved FALSE: it could not be saved, which was reported.  Errors: the device's. */
gboolean dyno_run_save_all (DynoRun *run, gboolean *saved, GError **error);
/* To be called when the run's position has moved: commits the save of that step. */
void dyno_run_save_known (DynoRun *run);
/* Saves the state of the position and waits until all is written; no submission may be in
 * flight. */
gboolean dyno_run_save_last (DynoRun *run, GError **error);
/* Waits until the save in progress is written.  Errors: the device's. */
gboolean dyno_run_flush_saves (DynoRun *run, GError **error);

/* TRUE: the epoch is the best so far; the position is updated. */
gboolean dyno_run_take_validation (DynoRun *run, const DynoEpochMetrics *metrics);
/* TRUE, and reports it: the validation has not improved for as long as the settings allow. */
gboolean dyno_run_stops_early (DynoRun *run);
/* The run begins anew: no earlier weights count as the best. */
void dyno_run_forget_best (DynoRun *run);
/* After a checkpoint was loaded: takes over the best weights beside it.  They are copied to the
 * run's folder when the folder begins.  Errors: OUTPUT. */
gboolean dyno_run_adopt_best (DynoRun *run, const char *checkpoint, GError **error);
/* Copies adopted weights to the run's folder, where they are not in it.  Errors: OUTPUT. */
gboolean dyno_run_place_best (DynoRun *run, GError **error);

/* Loads the best weights onto the device, in place of the last ones; does nothing where the last
 * ones are kept as the best.  Errors: CHECKPOINT, those of reading a file, the device's. */
gboolean dyno_run_load_best (DynoRun *run, GError **error);
/* Writes the best weights to the run's folder and to the job's weights_out, where there are any;
 * last: also the last weights, which are on the device.  Errors: OUTPUT, DIVERGED, the device's. */
gboolean dyno_run_save_weights (DynoRun *run, gboolean last, GError **error);

G_END_DECLS
