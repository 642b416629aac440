/* SPDX-License-Identifier: MIT */
/* The learning rate of a step: from the step's number and the settings alone, so that a resumed run
 * goes on exactly. */
#include "schedule.h"
#include <math.h>

double
dyno_schedule_lr (const DynoSettings *settings, guint64 step, guint64 steps_per_epoch,
                  guint64 total_steps)
{
  double warm_up = floor (settings->warmup_epochs * (double) steps_per_epoch);
  double at = (double) step, total = MAX ((double) total_steps, 1.0);

  if (at < warm_up)
    return settings->lr * (at + 1) / (warm_up + 1);
  switch ((DynoSchedule) settings->schedule)
    {
    case DYNO_SCHEDULE_COSINE:
      {
        double length = MAX (total - warm_up, 1.0), t = MIN ((at - warm_up) / length, 1.0);
        return settings->lr * 0.5 * (1.0 + cos (G_PI * t));
      }
    case DYNO_SCHEDULE_STEP:
      return settings->lr * pow (0.1, MIN (floor (3.0 * at / total), 2.0));
    case DYNO_SCHEDULE_CONSTANT:
    default:
      return settings->lr;
    }
}
