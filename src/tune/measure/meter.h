/* SPDX-License-Identifier: MIT */
/* The meter of a search: a table of functions that measure, so that the search is tested on
 * simulated machines.  One thread at a time.
 *
 * The error of a measurement gives its outcome: DYNO_TRAIN_ERROR_DOES_NOT_FIT,
 * DYNO_GPU_ERROR_OUT_OF_DEVICE_MEMORY or _OVER_BUDGET, DYNO_TRAIN_ERROR_DIVERGED,
 * G_IO_ERROR_CANCELLED, G_IO_ERROR_TIMED_OUT (the deadline came before enough was measured); any
 * other error is a failure.  After any of these errors the meter can measure again. */
#pragma once
#include "learning.h"
#include "numerics.h"
#include "ranksestimate.h"
#include "statistics.h"
#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _DynoMeter DynoMeter;

typedef struct {
  /* samples/s.  LOADER: the rate of the data pipeline; GPU: the training rate of the device; TRIAL:
   * the rate within an epoch, without its end. */
  DynoEstimate rate;
  /* TRIAL: samples/s of a run, including ends of epochs: by the clock where an epoch takes less
   * time than the trial, else from rate, validation_rate and epoch_overhead_s.  Equal to rate where
   * nothing of an epoch's end was measured. */
  DynoEstimate run_rate;
  double outside_cpu;      /* share of all cores that other programs took, 0..1; NaN: not known */
  double epoch_overhead_s; /* TRIAL: end of an epoch without validation; NaN: no epoch ended */
  double validation_rate;  /* samples/s of validation; NaN: not measured */
  double prepare_s;        /* TRIAL: time until the end of its first step; NaN: not reported */
  /* wait_data_ms: part of step_ms in which the device waits for data */
  double step_ms, wait_data_ms;
  guint64 vram_bytes, planned_bytes, steps;
  guint64 n_samples; /* GPU: samples of these steps */
  /* TRIAL: unreadable samples, which others replaced; set also where the trial failed */
  guint64 n_unreadable;
  /* TRIAL with a cache.  filling: the cache did not hold all samples yet, so the rates are those
   * without it.  FALSE: the cache held all samples after fill_s seconds, and only the steps after
   * that count. */
  gboolean filling;
  double fill_s;
} DynoMeasurement;

/* seconds: the time to be measured, without preparation.  Each measurement ends by deadline_us
 * (monotonic), to the precision of a step, with the data so far where these are enough. */
typedef struct {
  /* The data pipeline by itself: no GPU work.  workers, prefetch, cache, image_size and batch_size
   * count. */
  gboolean (*loader) (DynoMeter *meter, const DynoSettings *settings, double seconds,
                      gint64 deadline_us, GCancellable *cancellable, DynoMeasurement *measurement,
                      GError **error);
  /* The device by itself: data resident on it, real steps (forward, backward, optimizer). */
  gboolean (*gpu) (DynoMeter *meter, const DynoSettings *settings, double seconds,
                   gint64 deadline_us, GCancellable *cancellable, DynoMeasurement *measurement,
                   GError **error);
  /* End to end, as in a run: loader, uploads, steps, ends of epochs with validation. */
  gboolean (*trial) (DynoMeter *meter, const DynoSettings *settings, double seconds,
                     gint64 deadline_us, GCancellable *cancellable, DynoMeasurement *measurement,
                     GError **error);
  /* The planner only: the bytes, and whether they fit; no device work.  *advice: the reason why
   * not, and what would fit; NULL where it fits; g_free. */
  gboolean (*plan) (DynoMeter *meter, const DynoSettings *settings, guint64 *bytes, gboolean *fits,
                    char **advice, GError **error);
  void (*free) (DynoMeter *meter);
  /* See numerics.h; NULL: the meter cannot measure it. */
  gboolean (*numerics) (DynoMeter *meter, const DynoSettings *settings, gint64 deadline_us,
                        GCancellable *cancellable, DynoNumerics *numerics, GError **error);
  /* See learning.h; NULL: the meter cannot measure it. */
  gboolean (*learn) (DynoMeter *meter, const DynoSettings *settings, const DynoLearningGoal *goal,
                     gint64 deadline_us, GCancellable *cancellable, DynoLearning *learning,
                     GError **error);
  /* The estimate for several ranks, from the time of a step of one rank (NaN: not known); NULL: the
   * meter is of one rank.  Rates and samples are those of each rank. */
  void (*ranks) (DynoMeter *meter, const DynoSettings *settings, double step_seconds,
                 DynoRanksEstimate *estimate);
} DynoMeterClass;

/* Reports the preparation that runs before a measurement, with the members of a session's PROGRESS;
 * what NULL: the preparation has ended. */
typedef void (*DynoMeterPreparing) (const char *what, guint done, guint total, gpointer user);

struct _DynoMeter {
  const DynoMeterClass *class;
  guint n_cores;
  gboolean has_fp16;
  gboolean
      software; /* the device is a CPU: AMP is slower there, and its kernels compile for long */
  gboolean generated; /* the device makes its own input: there is no loader to measure */
  gboolean can_cache; /* all decoded samples fit into the memory that a loader would use */
  guint64 n_train, n_validation;
  /* gpu and trial measure kernels that are not known yet, as a run does where its settings ask for
   * that: this takes some seconds for each new network.  FALSE: they use the likely kernels.
   * Initially TRUE. */
  gboolean tune_kernels;
  /* Seconds for which a trial should wait until its cache holds all samples, in addition to the
   * time to be measured.  0: it measures at once. */
  double fill_s;
  /* Where an epoch takes longer than the trial, the trial does not measure the end of the epoch:
   * the caller knows its time already.  validation_rate and epoch_overhead_s may be NaN, and
   * run_rate is rate then. */
  gboolean steps_only;
  DynoMeterPreparing preparing; /* called in the measurement's thread; or NULL */
  gpointer preparing_user;
};

/* For a meter that measures by another one: copies all that a caller asks of a measurement, except
 * `preparing`. */
static inline void
dyno_meter_forward (const DynoMeter *outer, DynoMeter *inner)
{
  inner->tune_kernels = outer->tune_kernels;
  inner->fill_s = outer->fill_s;
  inner->steps_only = outer->steps_only;
}

/* Keeps device and builds between measurements.  info: the device that job->device names. */
DynoMeter *dyno_meter_new (const DynoJob *job, DynoDataset *dataset, const DynoDeviceInfo *info);
void dyno_meter_free (DynoMeter *meter);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoMeter, dyno_meter_free)

/* Sets all members to NaN and 0. */
void dyno_measurement_init (DynoMeasurement *m);

G_END_DECLS
