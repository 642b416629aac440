/* SPDX-License-Identifier: MIT */
/* The learning rate at a place of a run.  Private to the layers up to train.
 *
 * A place counts the steps that the run would have made up to there with the settings that it has
 * now: those of its whole epochs, and those of the samples that its epoch has gone through.  A run
 * that was resumed with steps of another size has made another number of updates. */
#pragma once
#include "settings.h"

G_BEGIN_DECLS

/* place counts from 0; total_steps is the length of the whole run, over which the schedule spans
 * where schedule_epochs does not say otherwise; beyond its span the last rate holds.  Warm-up comes
 * first, as part of it.  constant: lr.  cosine: lr (1 + cos (pi t)) / 2, t from 0 to 1 over the
 * steps after warm-up (Loshchilov and Hutter 2016, without restarts).  step: lr, lr / 10, lr / 100
 * over the thirds of the span. */
double dyno_schedule_lr (const DynoSettings *settings, guint64 place, guint64 steps_per_epoch,
                         guint64 total_steps);

/* How an epoch is divided into steps. */
typedef struct {
  guint64 step_samples;    /* of a whole step, of all ranks */
  guint64 steps_per_epoch; /* the last may be shorter; 0: not known */
} DynoScheduleSpan;

/* The step of an epoch that begins no later than the samples that `epoch_step` steps of another
 * size have gone through: an epoch that was whole stays whole, and less than a step is gone through
 * again. */
guint64 dyno_schedule_move (guint64 epoch_step, const DynoScheduleSpan *was,
                            const DynoScheduleSpan *now);

/* A learning rate that grows by equal factors, step by step: to look for the best one. */
typedef struct {
  double from, to; /* rates of the first step and of the last; 0 < from < to */
  guint steps;     /* 2 or more */
} DynoLrSweep;

/* step counts from 0; beyond the last it stays. */
double dyno_lr_sweep_get (const DynoLrSweep *sweep, guint64 step);

/* A learning rate that changes by more than this share of it is said. */
#define DYNO_SCHEDULE_JUMP 0.1

/* A sentence about a rate that jumps because the schedule spans other epochs than before, with the
 * setting that keeps it; g_free.  NULL: it does not. */
char *dyno_schedule_describe_change (const DynoSettings *was, double was_lr,
                                     const DynoSettings *now, double now_lr);

G_END_DECLS
