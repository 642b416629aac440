/* SPDX-License-Identifier: MIT */
/* The learning rate at a place in a run.  Private to the layers up to train.
 *
 * A place is the number of steps that the run would have made so far with its present settings: the
 * steps of its whole epochs, and of the samples that its present epoch has processed.  The number
 * of updates differs from it where the run was resumed with steps of another size. */
#pragma once
#include "settings.h"

G_BEGIN_DECLS

/* place counts from 0; total_steps is the length of the whole run, which the schedule spans unless
 * schedule_epochs is set; beyond its span the last rate stays.  The span begins with the warm-up.
 * constant: lr.  cosine: lr (1 + cos (pi t)) / 2, t from 0 to 1 over the steps after warm-up
 * (Loshchilov and Hutter 2016, without restarts).  step: lr, lr / 10, lr / 100 over the thirds of
 * the span. */
double dyno_schedule_lr (const DynoSettings *settings, guint64 place, guint64 steps_per_epoch,
                         guint64 total_steps);

/* How an epoch is divided into steps. */
typedef struct {
  guint64 step_samples;    /* samples of a whole step, over all ranks */
  guint64 steps_per_epoch; /* the last may be shorter; 0: not known */
} DynoScheduleSpan;

/* The last step of an epoch that begins within the samples which `epoch_step` steps of another size
 * have processed: a whole epoch stays whole, and less than a step is repeated. */
guint64 dyno_schedule_move (guint64 epoch_step, const DynoScheduleSpan *was,
                            const DynoScheduleSpan *now);

/* A learning rate that grows by equal factors, step by step, to find the best rate. */
typedef struct {
  double from, to; /* rates of the first step and of the last; 0 < from < to */
  guint steps;     /* 2 or more */
} DynoLrSweep;

/* step counts from 0; after the last step the rate stays. */
double dyno_lr_sweep_get (const DynoLrSweep *sweep, guint64 step);

/* A change of the learning rate by more than this share is reported. */
#define DYNO_SCHEDULE_JUMP 0.1

/* A sentence about a rate that jumps because the schedule spans another number of epochs than
 * before, with the setting that keeps the rate; g_free.  NULL: it does not jump. */
char *dyno_schedule_describe_change (const DynoSettings *was, double was_lr,
                                     const DynoSettings *now, double now_lr);

G_END_DECLS
