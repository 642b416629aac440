/* SPDX-License-Identifier: MIT */
/* How long a run will take, and how much of the disk, before its start: for dynoctl plan and the
 * window.  The rate is one that was measured (meter, search) or that the history remembers; without
 * one no time is told. */
#pragma once
#include "store.h"

G_BEGIN_DECLS

typedef struct {
  DynoStoredRate rate; /* what the times come from; samples_per_s NaN: not known */
  guint64 steps;       /* of the whole run */
  guint64 steps_per_epoch;
  /* NaN: not known */
  double step_seconds;
  double epoch_seconds;           /* validation and saving included */
  double total_seconds;           /* what comes before the first step included, where it is known */
  gboolean validation_is_guessed; /* that of a forward pass, since none was measured */
  /* Where no rate is known: by what searches measured of the loader and of the device alone.  NaN:
   * neither is known, or the rate is. */
  double most_samples_per_s;
  double least_seconds; /* of the whole run, without validation */
  /* on the disk */
  guint64 checkpoint_bytes; /* one; the last two are kept, and a third while it is written */
  guint64 weights_bytes;    /* one; the best, and the last beside them */
  guint64 disk_bytes;       /* most at a time; 0: the run has no folder */
} DynoRunEstimate;

/* rate NULL, or of NaN: not known.  plan: as dyno_job_plan gives it.  n_train, n_validation: samples
 * of the two parts. */
void dyno_run_estimate (DynoRunEstimate *estimate, const DynoJob *job, const DynoJobPlan *plan,
                        guint64 n_train, guint64 n_validation, const DynoStoredRate *rate);
/* The same, where that told no rate: loader and gpu in samples/s, NaN: not known. */
void dyno_run_estimate_bound (DynoRunEstimate *estimate, const DynoJob *job, guint64 n_train,
                              double loader, double gpu);

G_END_DECLS
