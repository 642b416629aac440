/* SPDX-License-Identifier: MIT */
/* A measurement without values.  It is separate from meter.c, which calls the functions that fill
 * it. */
#include "meter.h"
#include <math.h>

void
dyno_measurement_init (DynoMeasurement *m)
{
  const DynoEstimate none = { (double) NAN, (double) NAN, (double) NAN, 0, FALSE };

  *m = (DynoMeasurement){ .rate = none,
                          .run_rate = none,
                          .outside_cpu = (double) NAN,
                          .epoch_overhead_s = (double) NAN,
                          .prepare_s = (double) NAN,
                          .validation_rate = (double) NAN };
}
