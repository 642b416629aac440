/* SPDX-License-Identifier: MIT */
/* A training session: one thread that owns the device, the program and the loader, and trains a
 * job.
 *
 * Commands go in (pause, resume, stop, a live setting), events come out through a bounded ring, as
 * immutable values that the taker frees.  Only STEP events are ever dropped when the ring is full,
 * and never with every_event; the metrics log is whole either way.  The same seed gives the same
 * losses whatever the workers, prefetch or timing.
 * Threads: all functions from any thread, _free not from the session's own. */
#pragma once
#include "job.h"
#include "metrics.h"

G_BEGIN_DECLS

typedef struct _DynoSession DynoSession;

typedef enum {
  DYNO_SESSION_NEW,
  DYNO_SESSION_PREPARING, /* opening the data set and the device, compiling, autotuning */
  DYNO_SESSION_RUNNING,
  DYNO_SESSION_PAUSED,
  DYNO_SESSION_STOPPING, /* finishing the step, saving */
  DYNO_SESSION_FINISHED,
  DYNO_SESSION_STOPPED, /* by request; resumable */
  DYNO_SESSION_FAILED,
} DynoSessionState;

typedef enum {
  DYNO_EVENT_STATE,
  DYNO_EVENT_PLAN,     /* the data set is open and the memory planned */
  DYNO_EVENT_PROGRESS, /* preparing: scanning, compiling, tuning */
  DYNO_EVENT_METRICS,  /* what is measured: before the first step */
  DYNO_EVENT_STEP,
  DYNO_EVENT_EPOCH,
  DYNO_EVENT_CHECKPOINT, /* saved */
  DYNO_EVENT_WARNING,
  DYNO_EVENT_ERROR, /* the session failed; DONE follows */
  DYNO_EVENT_DONE,  /* the last event of a session */
} DynoEventType;

typedef struct {
  DynoEventType type;
  gint64 time_us; /* monotonic */
  union {
    DynoSessionState state;
    struct {
      DynoJobPlan plan;
      char *device; /* name */
      gboolean software_device;
      guint64 n_train, n_validation;
    } plan;
    struct {
      char *what;        /* translated by the reader: "scan", "compile", "autotune", "weights" */
      guint done, total; /* total 0: unknown */
    } progress;
    DynoMetricTable metrics;
    DynoStepMetrics step;
    DynoEpochMetrics epoch;
    char *text; /* CHECKPOINT: path; WARNING: sentence */
    GError *error;
    struct {
      DynoSessionState state; /* FINISHED, STOPPED or FAILED */
      /* of training, validation included; pauses left out, earlier parts of a resumed run
       * counted */
      double seconds;
      /* of this part: opening, planning, compiling, tuning, and again after a lost device */
      double preparation_seconds;
      guint64 steps;
      /* of the metric that selects the best epoch; NaN without one, or without validation */
      double best_val_metric;
      /* from 1, whose weights are weights.safetensors; 0: those are the last, or there are none */
      guint64 best_epoch;
      char *out_dir;        /* or NULL */
      guint64 n_unreadable; /* samples that others took the place of, in this part of the run */
      char **unreadable;    /* "sample: reason" of at most 100 */
    } done;
  };
} DynoEvent;

void dyno_event_free (DynoEvent *event);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoEvent, dyno_event_free)

/* What else a run leaves in its folder, written by who knows how; called on the session's
 * thread. */
typedef struct {
  /* What was asked for, live changes followed: with the first step, and after each change. */
  gboolean (*write_settings) (const char *folder, const DynoJob *job, const char *device,
                              GError **error);
  /* At the end, of a run that has done a step; budget_bytes 0: none was set. */
  gboolean (*write_curves) (const char *folder, DynoMetrics *metrics, guint64 budget_bytes,
                            GError **error);
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

/* writer is static; before _start.  Without one the folder holds what the session itself writes. */
void dyno_session_set_writer (DynoSession *session, const DynoRunWriter *writer);

void dyno_session_start (DynoSession *session);
void dyno_session_pause (DynoSession *session);
void dyno_session_resume (DynoSession *session);
/* Finishes the step in flight, saves, ends.  A second call, or now = TRUE, does not save. */
void dyno_session_stop (DynoSession *session, gboolean now);
/* Saves a checkpoint at the next step's end. */
void dyno_session_checkpoint (DynoSession *session);
/* Changes a setting that the table calls live.  Errors: SETTING. */
gboolean dyno_session_set (DynoSession *session, const char *key, const char *value,
                           GError **error);
void dyno_session_join (DynoSession *session);

DynoSessionState dyno_session_get_state (DynoSession *session);
/* A snapshot: as the job was started, with all changes so far.  dyno_job_unref. */
const DynoJob *dyno_session_get_job (DynoSession *session);
DynoMetrics *dyno_session_get_metrics (DynoSession *session); /* valid as long as the session */
DynoEvent *dyno_session_try_pop (DynoSession *session);
/* NULL: nothing came in time, or all is over */
DynoEvent *dyno_session_pop (DynoSession *session, gint64 timeout_us);

G_END_DECLS
