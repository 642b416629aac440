/* SPDX-License-Identifier: MIT */
/* Running one trial: real training steps with given settings, measured for a while.  What a trial
 * is, for all: tuneresult.h. */
#pragma once
#include "measure.h"
#include "tuneresult.h"
#include <gio/gio.h>

G_BEGIN_DECLS

/* Fills outcome, rates, memory and text of trial from its settings.  Steps of the first moments are
 * not counted.  Cancelling and the deadline (monotonic) end the trial, wherever it is; what was
 * measured until then counts when it is enough. */
#define DYNO_TRIAL_LEAST_STEPS (DYNO_MEASURE_WARM_UP_STEPS + DYNO_MEASURE_LEAST_STEPS)
void dyno_trial_run (DynoTrial *trial, const DynoJob *job, DynoDataset *dataset, double seconds,
                     gint64 deadline_us, GCancellable *cancellable);

/* Rules a trial out by the planner alone: TRUE and the outcome when it cannot fit. */
gboolean dyno_trial_rule_out (DynoTrial *trial, const DynoJob *job, DynoDataset *dataset,
                              const DynoDeviceInfo *device);

G_END_DECLS
