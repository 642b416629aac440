/* SPDX-License-Identifier: MIT */
/* An estimate, before a run starts, of its time and of the disk space that it takes, for dynoctl
 * plan and the window.  The rate was measured (meter, search) or is remembered by the history;
 * without a rate no time is estimated. */
#pragma once
#include "store.h"

G_BEGIN_DECLS

typedef struct {
  DynoStoredRate rate; /* the source of the times; samples_per_s NaN: not known */
  guint64 steps;       /* of the whole run */
  guint64 steps_per_epoch;
  /* NaN: not known */
  double step_seconds;
  double epoch_seconds;           /* validation and saving included */
  double total_seconds;           /* including the time before the first step, where it is known */
  double speedup;                 /* samples/s of several ranks over those of one; one rank: NaN */
  gboolean validation_is_guessed; /* estimated from the forward pass, since none was measured */
  /* Bounds where no rate is known, from measurements of the loader by itself and of the device by
   * itself in searches.  NaN: there is no such measurement, or the rate is known. */
  double most_samples_per_s;
  double least_seconds; /* of the whole run, without validation */
  /* on the disk */
  guint64 checkpoint_bytes; /* of one; two are kept, and a third exists while it is written */
  guint64 weights_bytes;    /* of one file; the best and the last are kept */
  guint64 disk_bytes;       /* the maximum at any time */
} DynoRunEstimate;

/* rate: NULL or NaN where it is not known.  plan: the result of dyno_job_plan.  n_train,
 * n_validation: samples of the two parts. */
void dyno_run_estimate (DynoRunEstimate *estimate, const DynoJob *job, const DynoJobPlan *plan,
                        guint64 n_train, guint64 n_validation, const DynoStoredRate *rate);
/* The same where dyno_run_estimate found no rate.  loader and gpu are in samples/s, NaN: not
 * known. */
void dyno_run_estimate_bound (DynoRunEstimate *estimate, const DynoJob *job, guint64 n_train,
                              double loader, double gpu);

G_END_DECLS
