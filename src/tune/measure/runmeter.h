/* SPDX-License-Identifier: MIT */
/* Measures training end to end, as a run does it, by a session without a folder: the events of its
 * steps and of its ends of epochs are evaluated. */
#pragma once
#include "meter.h"
#include "metrics.h"

G_BEGIN_DECLS

/* Measures from the events of a run, by the run's own clock.  Initially the first five members and
 * the lengths of the windows are set, and all others are zero.  The very first step never counts:
 * queues fill, and memory is touched for the first time. */
typedef struct {
  guint64 n_used, n_validation; /* samples of an epoch: for training, and for validation */
  guint64 steps_per_epoch;
  /* Samples of a validation that its loader has decoded before the validation begins, as far as
   * that can be known: they take less time than the other samples, and are a large share of an
   * early-ended validation. */
  guint64 n_ahead;
  /* a cache is filled: measuring restarts after the first whole epoch, which does not count */
  gboolean fills;
  DynoWindows steps;  /* training only */
  DynoWindows epochs; /* whole epochs, including their ends, from the second epoch on */
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
  /* Training waits for its data, and validation was not measured: since validation reads as much
   * per sample, it is given the same rate. */
  gboolean held_up;
} DynoRunMeasure;

void dyno_run_measure_step (DynoRunMeasure *m, const DynoStepMetrics *step);
/* most_validated: the most samples that were validated if the epoch was ended early, that is after
 * fewer than n_used samples. */
void dyno_run_measure_epoch (DynoRunMeasure *m, const DynoEpochMetrics *epoch,
                             guint64 most_validated);
/* No event will follow: where there are very few windows, the open one counts too. */
void dyno_run_measure_end (DynoRunMeasure *m);
/* Rates, steps and memory. */
void dyno_run_measure_get (const DynoRunMeasure *m, DynoMeasurement *measurement);

/* TRUE where training waits for its data and this many further batches would take longer than
 * seconds. */
gboolean dyno_run_measure_is_held_up (const DynoRunMeasure *m, guint64 batches, double seconds);

/* Runs a session of the job for this many seconds after its preparation, and to the end of an epoch
 * where no epoch ended by itself and training does not wait for data.  Of meter only n_train,
 * n_validation, fill_s, steps_only and preparing are used.  device: NULL, or a device that is
 * open.  Errors: those of the session; CANCELLED, TIMED_OUT. */
gboolean dyno_run_meter_measure (const DynoJob *job, DynoDataset *dataset, DynoDevice *device,
                                 const DynoMeter *meter, double seconds, gint64 deadline_us,
                                 GCancellable *cancellable, DynoMeasurement *measurement,
                                 GError **error);

/* The error that explains why nothing was measured in the time: where the time went, and how much
 * more would have been needed as far as that can be known.  what: the last preparation, NULL: none;
 * spent_s: the seconds in which `done` of its `total` parts were prepared. */
GError *dyno_run_meter_make_late_error (guint64 n_steps, const char *what, guint done, guint total,
                                        double spent_s);

/* The job with these settings, changed for measuring: it writes nothing, resumes nothing, has no
 * limit of epochs or steps of its own, and a refusal of memory is a result.  Owned. */
DynoJob *dyno_run_meter_job (const DynoJob *job, const DynoSettings *settings);

G_END_DECLS
