/* SPDX-License-Identifier: MIT */
/* What the search measures with: a table of functions, so that the search is tested against
 * simulated machines.  One thread at a time.
 *
 * How a measurement ends is told by its error: DYNO_TRAIN_ERROR_DOES_NOT_FIT,
 * DYNO_GPU_ERROR_OUT_OF_DEVICE_MEMORY or _OVER_BUDGET, DYNO_TRAIN_ERROR_DIVERGED,
 * G_IO_ERROR_CANCELLED, G_IO_ERROR_TIMED_OUT (the deadline came before enough was measured);
 * anything else failed.  None of them spoils the meter for the next measurement. */
#pragma once
#include "learning.h"
#include "numerics.h"
#include "ranksestimate.h"
#include "statistics.h"
#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _DynoMeter DynoMeter;

typedef struct {
  /* samples/s.  LOADER: that the data pipeline gives; GPU: that the device trains; TRIAL: while
   * an epoch goes on, its end not counted. */
  DynoEstimate rate;
  /* TRIAL: samples/s of a run, ends of epochs included; where an epoch takes less than the trial
   * by the clock, else from rate, validation_rate and epoch_overhead_s.  Equal to rate where
   * nothing of an epoch's end was measured. */
  DynoEstimate run_rate;
  double outside_cpu;      /* share of all cores that other programs took, 0..1; NaN: not known */
  double epoch_overhead_s; /* TRIAL: end of an epoch but for validation; NaN: none ended */
  double validation_rate;  /* samples/s of validation; NaN: not measured */
  double prepare_s;        /* TRIAL: until its first step had ended; NaN: not told */
  double step_ms, wait_data_ms; /* of it, the device has nothing to compute for want of data */
  guint64 vram_bytes, planned_bytes, steps;
  guint64 n_samples;    /* GPU: that these steps took */
  guint64 n_unreadable; /* TRIAL: samples that others took the place of, also where it failed */
  /* TRIAL with a cache.  filling: it did not hold all samples yet, so the rates are those without
   * it; else it took fill_s until it did, of which nothing counts. */
  gboolean filling;
  double fill_s;
} DynoMeasurement;

/* seconds: how long is to be measured, preparation aside; each measurement ends by deadline_us
 * (monotonic) to a step's precision, with what it has where that is enough. */
typedef struct {
  /* The data pipeline alone: no GPU work.  workers, prefetch, cache, image_size and batch_size
   * count. */
  gboolean (*loader) (DynoMeter *meter, const DynoSettings *settings, double seconds,
                      gint64 deadline_us, GCancellable *cancellable, DynoMeasurement *measurement,
                      GError **error);
  /* The device alone: data resident on it, real steps (forward, backward, optimizer). */
  gboolean (*gpu) (DynoMeter *meter, const DynoSettings *settings, double seconds,
                   gint64 deadline_us, GCancellable *cancellable, DynoMeasurement *measurement,
                   GError **error);
  /* End to end, as a run: loader, uploads, steps, ends of epochs with validation. */
  gboolean (*trial) (DynoMeter *meter, const DynoSettings *settings, double seconds,
                     gint64 deadline_us, GCancellable *cancellable, DynoMeasurement *measurement,
                     GError **error);
  /* The planner alone: bytes, and whether it fits; no device work.  *advice: why not, and what
   * would; NULL where it fits; g_free. */
  gboolean (*plan) (DynoMeter *meter, const DynoSettings *settings, guint64 *bytes, gboolean *fits,
                    char **advice, GError **error);
  void (*free) (DynoMeter *meter);
  /* See numerics.h; NULL: the meter cannot tell. */
  gboolean (*numerics) (DynoMeter *meter, const DynoSettings *settings, gint64 deadline_us,
                        GCancellable *cancellable, DynoNumerics *numerics, GError **error);
  /* See learning.h; NULL: the meter cannot tell. */
  gboolean (*learn) (DynoMeter *meter, const DynoSettings *settings, const DynoLearningGoal *goal,
                     gint64 deadline_us, GCancellable *cancellable, DynoLearning *learning,
                     GError **error);
  /* What several ranks make of a step of one, whose time this is (NaN: not known); NULL: the meter
   * is of one rank.  Rates and samples are those of each. */
  void (*ranks) (DynoMeter *meter, const DynoSettings *settings, double step_seconds,
                 DynoRanksEstimate *estimate);
} DynoMeterClass;

/* What a measurement prepares, as a session's PROGRESS tells it; NULL: nothing, it measures. */
typedef void (*DynoMeterPreparing) (const char *what, guint done, guint total, gpointer user);

struct _DynoMeter {
  const DynoMeterClass *class;
  guint n_cores;
  gboolean has_fp16;
  gboolean
      software; /* the device is a CPU: AMP is slower there, and its kernels compile for long */
  gboolean generated; /* the device makes its own input: there is no loader to measure */
  gboolean can_cache; /* all decoded samples fit what a loader would keep */
  guint64 n_train, n_validation;
  /* gpu and trial measure kernels that are not known yet, as a run does where its settings want
   * it: some seconds for each new network.  FALSE: they take the likely ones; TRUE at first. */
  gboolean tune_kernels;
  /* Seconds that a trial should wait for until its cache holds all samples; they come on top of
   * what is to be measured.  0: it measures at once. */
  double fill_s;
  DynoMeterPreparing preparing; /* in the measurement's thread; or NULL */
  gpointer preparing_user;
};

/* Keeps device and builds between measurements.  info: the device that job->device names. */
DynoMeter *dyno_meter_new (const DynoJob *job, DynoDataset *dataset, const DynoDeviceInfo *info);
void dyno_meter_free (DynoMeter *meter);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoMeter, dyno_meter_free)

/* All NaN and 0. */
void dyno_measurement_init (DynoMeasurement *m);

G_END_DECLS
