/* SPDX-License-Identifier: MIT */
#include "runrate.h"
#include <math.h>

void
dyno_run_rate_add (DynoRunRate *rate, const DynoStepMetrics *step)
{
  if (!(step->samples_per_s > 0) || !(step->step_ms >= 0))
    return;
  rate->samples += step->samples;
  rate->seconds += step->step_ms / 1e3;
}

double
dyno_run_rate_get (const DynoRunRate *rate)
{
  return rate->samples > 0 && rate->seconds > 0 ? (double) rate->samples / rate->seconds
                                                : (double) NAN;
}

double
dyno_run_rate_find (const DynoRunFacts *facts, const DynoStretches *log)
{
  double reported = dyno_run_rate_get (&facts->rate);

  return facts->state >= DYNO_SESSION_FINISHED && reported > 0 ? reported
                                                               : dyno_run_rate_get (&log->rate);
}
