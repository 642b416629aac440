/* SPDX-License-Identifier: MIT */
/* A run for display: state, last numbers, time left, best values, series to draw with their units
 * and limits.  All displays of a run use it: the window, dynoctl's progress, the curves of a run's
 * folder.  It uses no toolkit, formats nothing and holds no session.
 *
 * It takes the session's events, and rows: from the log, which is complete (the window, the
 * curves), or one by one (dynoctl).  One thread. */
#pragma once
#include "event.h"
#include "series.h"
#include "stretch.h"

G_BEGIN_DECLS

typedef struct _DynoRunView DynoRunView;

/* Smoothing of noisy series, unless set otherwise: the factor of dyno_series_smoothed. */
#define DYNO_RUN_VIEW_SMOOTHING 0.8

typedef struct {
  DynoSessionState state; /* NEW: no run yet */
  gboolean released;      /* a pause in which the device's memory is freed */
  const DynoJob *job;     /* with live settings; NULL before the first run */
  gboolean has_plan;
  DynoJobPlan plan;
  char *device;
  guint64 n_train, n_validation, n_test;
  guint64 total_steps;      /* 0: not known */
  guint64 total_epochs;     /* number of epochs in total_steps, the last in part; 0: not known */
  double fraction;          /* part of the steps that is done */
  const char *progress;     /* the work in preparation (interned), or NULL */
  double progress_fraction; /* of the whole preparation with the first step; it never decreases */
  double progress_left_s;   /* negative: not known yet */
  guint64 n_steps;
  DynoStepMetrics step; /* the last step, once n_steps > 0 */
  guint64 step_samples; /* of a whole step: the last of an epoch may have fewer; 0: not known */
  guint64 n_epochs;
  DynoEpochMetrics epoch; /* the last epoch, once n_epochs > 0 */
  gboolean has_sensors;
  DynoSensorReading sensors;         /* the last reading, once has_sensors */
  DynoMetricTable metrics;           /* n 0: not known yet */
  double best[DYNO_MAX_RUN_METRICS]; /* best values of the validation; NaN: none */
  double eta_s;                      /* negative: not known */
  double seconds;                    /* of the whole run, once done */
  guint64 whole_steps;               /* once done: see event.h */
  DynoTestResult test;               /* once done: see event.h */
  double run_rate;                   /* samples/s of the run so far (runrate.h); NaN: not known */
  char *out_dir;                     /* folder of the run */
  double memory_unit;                /* bytes per unit of the memory series */
  const char *memory_unit_name;      /* "GiB", or "MiB" for small runs */
  double memory_limit;               /* in these units; NaN: none, or far above the need */
} DynoRunStatus;

/* Series over steps, except val_loss, train and val, which have a point per epoch.  They live as
 * long as the view: a new run clears them.  NULL where the view keeps none. */
typedef struct {
  DynoSeries *throughput, *loss, *val_loss, *vram, *vram_all;
  DynoSeries *lr, *loss_scale, *grad_norm;
  DynoSeries *gpu_busy, *gpu_temperature, *gpu_power; /* of the sensors, where there are any */
  /* For x axes: the seconds of training at the end of each step, and the number of epochs with
   * fractions; without a plan only at the ends of epochs. */
  DynoSeries *seconds, *epochs;
  /* Fractions are in percent; units are set once the table is known.  step: a point per step. */
  /* for a metric that only a validation has, train and step are empty */
  DynoSeries *train[DYNO_MAX_RUN_METRICS], *val[DYNO_MAX_RUN_METRICS], *step[DYNO_MAX_RUN_METRICS];
} DynoRunSeries;

/* with_series FALSE: the view keeps only the last numbers. */
DynoRunView *dyno_run_view_new (gboolean with_series);
void dyno_run_view_free (DynoRunView *view);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoRunView, dyno_run_view_free)

/* Clears the data of the run before.  Takes a reference to the job. */
void dyno_run_view_begin (DynoRunView *view, const DynoJob *job);
/* To be called after a live change. */
void dyno_run_view_set_job (DynoRunView *view, const DynoJob *job);
/* Shows that a stop was requested, before the session emits the state. */
void dyno_run_view_set_stopping (DynoRunView *view);
/* To be used where there is no PLAN event: most bytes, 0: no limit. */
void dyno_run_view_set_memory_limit (DynoRunView *view, guint64 bytes);

/* Takes all events except rows: STEP and EPOCH change nothing. */
void dyno_run_view_take_event (DynoRunView *view, const DynoEvent *event);
void dyno_run_view_take_step (DynoRunView *view, const DynoStepMetrics *step);
void dyno_run_view_take_epoch (DynoRunView *view, const DynoEpochMetrics *epoch);
/* Takes the new rows of the log: its table, about limit steps at most, all epochs.  TRUE: there
 * were any. */
gboolean dyno_run_view_take_log (DynoRunView *view, DynoMetrics *log, guint64 limit);
/* To be called regularly: counts the shown seconds down.  TRUE: something changed. */
gboolean dyno_run_view_tick (DynoRunView *view);

const DynoRunStatus *dyno_run_view_get_status (DynoRunView *view);
/* A summary of the rows so far; and the facts of the run, all 0 before they are known. */
const DynoStretches *dyno_run_view_get_stretches (DynoRunView *view);
const DynoRunFacts *dyno_run_view_get_facts (DynoRunView *view);
const DynoRunSeries *dyno_run_view_get_series (DynoRunView *view);

G_END_DECLS
