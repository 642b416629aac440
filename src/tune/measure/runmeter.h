/* SPDX-License-Identifier: MIT */
/* Training measured end to end, as a run does it: a session without a folder, and what its steps
 * and the ends of its epochs say. */
#pragma once
#include "meter.h"
#include "metrics.h"

G_BEGIN_DECLS

/* What the events of a run say, by the run's own clock.  All zero but for the first five at first.
 * The first step of all counts nowhere: queues fill, memory is touched first. */
typedef struct {
  guint64 n_used, n_validation; /* samples of an epoch: those that it trains on, and validates */
  guint64 steps_per_epoch;
  /* Samples of a validation that its loader has decoded by the time it begins, as far as that can
   * be known: they cost less than the others, of which part of a validation has few. */
  guint64 n_ahead;
  gboolean fills;    /* a cache: when the first whole epoch ends, all begins once more without it */
  DynoWindows steps; /* training alone */
  DynoWindows epochs; /* whole epochs, their ends included, from the second on */
  guint64 n_steps, n_epochs;
  double step_ms, wait_ms; /* sums over the counted steps */
  guint64 n_counted;
  guint64 epoch; /* of the last step */
  double end_s;  /* of the last step, or of the validation after it */
  gboolean epoch_ended, early;
  guint64 epoch_samples;
  double validation_s, first_step_s, gap_s; /* sums */
  guint64 n_validated, n_begun;             /* n_begun: epochs that began after another's end */
  guint64 vram_bytes;
  gboolean nonfinite;
  /* Training waits for its data: validation, which reads as much of a sample, was not measured, and
   * has the same rate. */
  gboolean held_up;
} DynoRunMeasure;

void dyno_run_measure_step (DynoRunMeasure *m, const DynoStepMetrics *step);
/* most_validated: samples that were validated at the most, if the epoch was ended early, which its
 * steps tell. */
void dyno_run_measure_epoch (DynoRunMeasure *m, const DynoEpochMetrics *epoch,
                             guint64 most_validated);
/* No event will come any more: where there is hardly a window, the open one counts. */
void dyno_run_measure_end (DynoRunMeasure *m);
/* Rates, steps and memory. */
void dyno_run_measure_get (const DynoRunMeasure *m, DynoMeasurement *measurement);

/* Whether training waits for its data, and so many batches more would take longer than seconds. */
gboolean dyno_run_measure_is_held_up (const DynoRunMeasure *m, guint64 batches, double seconds);

/* A session of the job for so many seconds after its preparation, and for the end of an epoch where
 * none came by itself and training is not held up.  meter: the samples of both parts, fill_s and preparing count.  device: NULL, or one that is open.  Errors: those
 * of the session; CANCELLED, TIMED_OUT. */
gboolean dyno_run_meter_measure (const DynoJob *job, DynoDataset *dataset, DynoDevice *device,
                                 const DynoMeter *meter, double seconds, gint64 deadline_us,
                                 GCancellable *cancellable, DynoMeasurement *measurement,
                                 GError **error);

/* Why nothing was measured in the time: what it went into, and how much more it would have taken as
 * far as that can be told.  what: the last that was prepared, NULL: nothing; spent_s: on those
 * that are done. */
GError *dyno_run_meter_make_late_error (guint64 n_steps, const char *what, guint done, guint total,
                                        double spent_s);

/* The job with these settings, as something to be measured: it writes nothing, resumes nothing,
 * ends by no count of its own, and a refusal of memory is a result.  Owned. */
DynoJob *dyno_run_meter_job (const DynoJob *job, const DynoSettings *settings);

G_END_DECLS
