/* SPDX-License-Identifier: MIT */
/* Throughput: from the youngest entry that is a second old, or from the last but one where steps
 * take longer. */
#include "rate.h"

void
dyno_rate_reset (DynoRate *rate)
{
  rate->n = 0;
}

double
dyno_rate_add (DynoRate *rate, gint64 time_us, guint64 samples)
{
  guint64 last = rate->n;
  guint64 total = last > 0 ? samples + rate->samples[(last - 1) % DYNO_RATE_ENTRIES] : 0, from;

  rate->times_us[last % DYNO_RATE_ENTRIES] = time_us;
  rate->samples[last % DYNO_RATE_ENTRIES] = total;
  rate->n++;
  if (last == 0)
    return 0;
  from = last - 1;
  while (from > 0 && last - from < DYNO_RATE_ENTRIES - 1
         && time_us - rate->times_us[from % DYNO_RATE_ENTRIES] < G_USEC_PER_SEC)
    from--;
  return (double) (total - rate->samples[from % DYNO_RATE_ENTRIES]) * 1e6
         / (double) MAX (1, time_us - rate->times_us[from % DYNO_RATE_ENTRIES]);
}

void
dyno_rate_skip (DynoRate *rate, gint64 gap_us)
{
  for (guint i = 0; i < DYNO_RATE_ENTRIES; i++)
    rate->times_us[i] += gap_us;
}
