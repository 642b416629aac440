/* SPDX-License-Identifier: MIT */
/* The mean loss of the last quarter of the run against that of the quarter before it.  A fall
 * counts from 2 % on, a rise from 5 % on, since batches differ and a run that has converged goes up
 * and down. */
#include "losstrend.h"
#include <math.h>

#define LEAST_STRETCHES 8
#define FALLS           0.98
#define RISES           1.05

DynoLossTrend
dyno_stretches_judge_loss (const DynoStretches *log)
{
  DynoStretch late, early;
  guint part = log->n / 4;

  if (log->n < LEAST_STRETCHES)
    return DYNO_LOSS_UNKNOWN;
  dyno_stretches_sum (log, log->n - part, part, &late);
  dyno_stretches_sum (log, log->n - 2 * part, part, &early);
  if (late.n_losses == 0 || early.n_losses == 0 || late.n_bad > 0)
    return DYNO_LOSS_UNKNOWN;
  double now = late.loss / (double) late.n_losses, then = early.loss / (double) early.n_losses;
  if (now < then - (1 - FALLS) * fabs (then))
    return DYNO_LOSS_FALLING;
  return now > then + (RISES - 1) * fabs (then) ? DYNO_LOSS_RISING : DYNO_LOSS_STEADY;
}
