/* SPDX-License-Identifier: MIT */
/* Steps are timed from the end of the last that is not counted. */
#include "measure.h"
#include <math.h>

void
dyno_measure_step (DynoMeasure *m, gint64 time_us, double wait_ms, double loss, guint64 vram_bytes)
{
  m->seen++;
  m->vram_bytes = MAX (m->vram_bytes, vram_bytes);
  m->nonfinite |= !isfinite (loss);
  if (m->seen <= DYNO_MEASURE_WARM_UP_STEPS)
    {
      m->begin_us = m->end_us = time_us;
      return;
    }
  m->counted++;
  m->end_us = time_us;
  m->wait_ms += wait_ms;
}

void
dyno_measure_epoch (DynoMeasure *m, gint64 time_us)
{
  gint64 gap = time_us - m->end_us;

  if (m->seen == 0)
    return;
  m->begin_us += gap;
  m->end_us += gap;
}

gboolean
dyno_measure_is_enough (const DynoMeasure *m, double seconds)
{
  return m->counted >= DYNO_MEASURE_LEAST_STEPS
         && (double) (m->end_us - m->begin_us) >= seconds * 1e6;
}

double
dyno_measure_step_ms (const DynoMeasure *m)
{
  return m->counted >= DYNO_MEASURE_LEAST_STEPS
             ? (double) (m->end_us - m->begin_us) / 1e3 / (double) m->counted
             : 0;
}
