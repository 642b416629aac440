/* SPDX-License-Identifier: MIT */
/* The learning rate of a step.  Private to the train layer. */
#pragma once
#include "settings.h"

G_BEGIN_DECLS

/* step counts updates from 0; total_steps is the length of the whole run; warm-up comes first, as
 * part of it.  constant: lr.  cosine: lr (1 + cos (pi t)) / 2, t from 0 to 1 over the steps after
 * warm-up (Loshchilov and Hutter 2016, without restarts).  step: lr, lr / 10, lr / 100 over the
 * thirds of the run. */
double dyno_schedule_lr (const DynoSettings *settings, guint64 step, guint64 steps_per_epoch,
                         guint64 total_steps);

G_END_DECLS
