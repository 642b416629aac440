/* SPDX-License-Identifier: MIT */
/* One trial: real training steps with given settings, measured for a while.  What a trial is, for
 * all; running one is the tuner's. */
#pragma once
#include "job.h"
#include "measure.h"
#include <gio/gio.h>

G_BEGIN_DECLS

typedef enum {
  DYNO_TRIAL_OK,
  DYNO_TRIAL_DOES_NOT_FIT,  /* the planner ruled it out; nothing ran */
  DYNO_TRIAL_OUT_OF_MEMORY, /* the driver refused */
  DYNO_TRIAL_FAILED,        /* another error: text says */
  DYNO_TRIAL_DIVERGED,      /* Inf or NaN loss */
} DynoTrialOutcome;

const char *dyno_trial_outcome_name (
    DynoTrialOutcome outcome); /* "ok", "does-not-fit", ...: for --json */

typedef struct {
  guint number;      /* from 1 */
  const char *stage; /* static: "baseline", "today", "batch", "amp", "workers", "proof" */
  DynoSettings settings;
  DynoTrialOutcome outcome;
  double samples_per_s; /* 0 unless OK */
  double step_ms, wait_data_ms;
  guint64 vram_bytes; /* allocated, or planned when it does not fit */
  guint64 steps;
  char *text; /* why not, or NULL */
} DynoTrial;

/* "batch 16, fp32, 0 workers": for --json and text.  g_free. */
char *dyno_trial_describe (const DynoSettings *settings);

/* Fills outcome, rates, memory and text of trial from its settings.  Steps of the first moments are
 * not counted.  Cancelling and the deadline (monotonic) end the trial, wherever it is; what was
 * measured until then counts when it is enough. */
#define DYNO_TRIAL_LEAST_STEPS (DYNO_MEASURE_WARM_UP_STEPS + DYNO_MEASURE_LEAST_STEPS)
void dyno_trial_run (DynoTrial *trial, const DynoJob *job, DynoDataset *dataset, double seconds,
                     gint64 deadline_us, GCancellable *cancellable);

/* Rules a trial out by the planner alone: TRUE and the outcome when it cannot fit. */
gboolean dyno_trial_rule_out (DynoTrial *trial, const DynoJob *job, DynoDataset *dataset,
                              const DynoDeviceInfo *device);

void dyno_trial_clear (DynoTrial *trial);
void dyno_trial_copy (const DynoTrial *trial, DynoTrial *copy);

G_END_DECLS
