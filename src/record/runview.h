/* SPDX-License-Identifier: MIT */
/* A run as people see it: state, last numbers, time left, best values, series to draw with their
 * units and limits.  One for all that show a run: the window, dynoctl's progress, the curves of a
 * run's folder.  It knows no toolkit, formats nothing and keeps no session.
 *
 * It is fed with the session's events, and with rows: from the log, which is whole (the window, the
 * curves), or one by one (dynoctl).  One thread. */
#pragma once
#include "event.h"
#include "series.h"
#include "stretch.h"

G_BEGIN_DECLS

typedef struct _DynoRunView DynoRunView;

/* Of noisy series, where nothing else was asked for: the factor of dyno_series_smoothed. */
#define DYNO_RUN_VIEW_SMOOTHING 0.8

typedef struct {
  DynoSessionState state; /* NEW: no run yet */
  gboolean released;      /* a pause in which the device's memory is given back */
  const DynoJob *job;     /* live settings followed; NULL before the first run */
  gboolean has_plan;
  DynoJobPlan plan;
  char *device;
  guint64 n_train, n_validation;
  guint64 total_steps;      /* 0: not known */
  guint64 total_epochs;     /* that they take, the last in part; 0: not known */
  double fraction;          /* of them that are done */
  const char *progress;     /* what is being prepared (interned), or NULL */
  double progress_fraction; /* of the whole preparation, first step included; it never falls */
  double progress_left_s;   /* negative: not known yet */
  guint64 n_steps;
  DynoStepMetrics step; /* the last, once n_steps > 0 */
  guint64 n_epochs;
  DynoEpochMetrics epoch; /* the last, once n_epochs > 0 */
  gboolean has_sensors;
  DynoSensorReading sensors;         /* the last, once has_sensors */
  DynoMetricTable metrics;           /* n 0: not known yet */
  double best[DYNO_MAX_RUN_METRICS]; /* of the validation; NaN: none */
  double eta_s;                      /* negative: not known */
  double seconds;                    /* of the whole, once done */
  guint64 whole_steps;               /* once done: see event.h */
  double run_rate;                   /* samples/s of the run so far (runrate.h); NaN: not known */
  char *out_dir;                     /* where the run is kept */
  double memory_unit;                /* bytes a unit of the memory series */
  const char *memory_unit_name;      /* "GiB", or "MiB" for small runs */
  double memory_limit;               /* in these units; NaN: none, or far above what is needed */
} DynoRunStatus;

/* Over steps, but for val_loss and those of metrics, which have a point an epoch.  They live as long
 * as the view: a new run clears them.  NULL where the view keeps none. */
typedef struct {
  DynoSeries *throughput, *loss, *val_loss, *vram, *vram_all;
  DynoSeries *lr, *loss_scale, *grad_norm;
  DynoSeries *gpu_busy, *gpu_temperature, *gpu_power; /* of the sensors, as far as there are some */
  /* For x axes: the seconds of training at the end of each step, and the epochs, begun ones in
   * part; without a plan those that are known from whole epochs. */
  DynoSeries *seconds, *epochs;
  /* Fractions in percent; their units are set once the table is known.  step: of each step. */
  /* of one that only a validation has, train and step are empty */
  DynoSeries *train[DYNO_MAX_RUN_METRICS], *val[DYNO_MAX_RUN_METRICS], *step[DYNO_MAX_RUN_METRICS];
} DynoRunSeries;

/* with_series FALSE: only the last numbers are kept. */
DynoRunView *dyno_run_view_new (gboolean with_series);
void dyno_run_view_free (DynoRunView *view);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoRunView, dyno_run_view_free)

/* Forgets the run before.  A reference to the job is taken. */
void dyno_run_view_begin (DynoRunView *view, const DynoJob *job);
/* After a live change. */
void dyno_run_view_set_job (DynoRunView *view, const DynoJob *job);
/* A state that was asked for, before the session says so. */
void dyno_run_view_set_stopping (DynoRunView *view);
/* Where there is no PLAN event: most bytes, 0: no limit. */
void dyno_run_view_set_memory_limit (DynoRunView *view, guint64 bytes);

/* All but rows: STEP and EPOCH change nothing. */
void dyno_run_view_take_event (DynoRunView *view, const DynoEvent *event);
void dyno_run_view_take_step (DynoRunView *view, const DynoStepMetrics *step);
void dyno_run_view_take_epoch (DynoRunView *view, const DynoEpochMetrics *epoch);
/* Takes what the log has more than was taken so far: its table, at most limit steps, all epochs.
 * TRUE: there was something. */
gboolean dyno_run_view_take_log (DynoRunView *view, DynoMetrics *log, guint64 limit);
/* The time has come: seconds that are shown go down.  TRUE: something changed. */
gboolean dyno_run_view_tick (DynoRunView *view);

const DynoRunStatus *dyno_run_view_get_status (DynoRunView *view);
/* The rows so far in few numbers; and what the run is made of, all 0 before it is known. */
const DynoStretches *dyno_run_view_get_stretches (DynoRunView *view);
const DynoRunFacts *dyno_run_view_get_facts (DynoRunView *view);
const DynoRunSeries *dyno_run_view_get_series (DynoRunView *view);

G_END_DECLS
