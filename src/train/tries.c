/* SPDX-License-Identifier: MIT */
/* Intervals double up to a minute, if the first is a second. */
#include "tries.h"

#define MOST_TRIES    15 /* with the intervals below: ten minutes */
#define MOST_DOUBLING 6
#define MOST_FIRSTS   60 /* no interval is longer than this many times the first */

gboolean
dyno_tries_begin (DynoTries *tries, guint64 step)
{
  if (step != tries->step)
    tries->n = 0;
  tries->step = step;
  return tries->n == 0;
}

gint64
dyno_tries_get_interval_us (const DynoTries *tries, gint64 first_us)
{
  return first_us * MIN (1 << MIN (tries->n, MOST_DOUBLING), MOST_FIRSTS);
}

gint64
dyno_tries_sum_intervals_us (gint64 first_us)
{
  gint64 all_us = 0;

  for (DynoTries tries = { 0 }; tries.n < MOST_TRIES; tries.n++)
    all_us += dyno_tries_get_interval_us (&tries, first_us);
  return all_us;
}

void
dyno_tries_take (DynoTries *tries, gboolean resumed)
{
  tries->n = resumed ? 0 : tries->n + 1;
}

gboolean
dyno_tries_are_spent (const DynoTries *tries)
{
  return tries->n >= MOST_TRIES;
}
