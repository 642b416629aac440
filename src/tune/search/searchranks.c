/* SPDX-License-Identifier: MIT */
/* Estimates the best, which was measured on one rank, on several ranks. */
#include "searchstate.h"
#include <math.h>

/* share of a step that waits for data, above which a shorter exchange gains nothing */
#define WAITS 0.02

/* Seconds of a step of a single rank, from the seconds of a step with the exchange. */
static double
find_alone (DynoMeter *meter, const DynoSettings *settings, double step_s)
{
  double alone_s = step_s;
  DynoRanksEstimate e;

  /* A longer step hides more of the exchange, so that each iteration is nearer to the solution. */
  for (guint i = 0; i < 32; i++)
    {
      meter->class->ranks (meter, settings, MAX (alone_s, 0), &e);
      alone_s = step_s - e.exposed_seconds;
    }
  return MAX (alone_s, 0);
}

/* Samples/s relative to the best; NaN: the setting cannot have such a value. */
static double
find_gain (DynoMeter *meter, const DynoSettings *best, const char *key, double value,
           double alone_s, double step_s)
{
  DynoSettings s = *best;
  DynoRanksEstimate e;
  double times;

  if (!dyno_settings_set_number (&s, key, value, NULL))
    return (double) NAN;
  times = (double) s.accumulate / (double) best->accumulate;
  meter->class->ranks (meter, &s, times * alone_s, &e);
  return times * step_s / (times * alone_s + e.exposed_seconds);
}

static void
add_ceiling (DynoSearch *search, const DynoRanksEstimate *e)
{
  const DynoSettings *s = &search->result->best.settings;
  DynoCeiling *c = g_new0 (DynoCeiling, 1);

  c->of = DYNO_CEILING_EXCHANGE;
  c->settings = *s;
  c->samples_per_s = c->low = c->high =
      (double) (s->batch_size * s->accumulate) / e->exchange_seconds;
  c->outside_cpu = (double) NAN;
  g_ptr_array_add (search->result->ceilings, c);
  if (search->params->hooks.ceiling)
    search->params->hooks.ceiling (search->params->hooks.user, c);
}

void
dyno_search_judge_ranks (DynoSearch *search)
{
  DynoMeter *meter = search->meter;
  DynoTuneResult *r = search->result;
  const DynoTrial *best = &r->best;
  const DynoSettings *s = &best->settings;
  double wait = best->step_ms > 0 ? CLAMP (best->wait_data_ms / best->step_ms, 0, 1) : 0, step_s,
         alone_s;

  if (!meter->class->ranks || !(best->train_samples_per_s > 0))
    return;
  step_s = (1 - wait) * (double) (s->batch_size * s->accumulate) / best->train_samples_per_s;
  alone_s = find_alone (meter, s, step_s);
  meter->class->ranks (meter, s, alone_s, &r->ranks);
  if (r->ranks.exchange_seconds > 0)
    add_ceiling (search, &r->ranks);
  if (wait > WAITS)
    return;
  r->accumulate_gain =
      find_gain (meter, s, "accumulate", 2 * (double) s->accumulate, alone_s, step_s);
  if (s->amp && !s->exchange_half)
    r->half_gain = find_gain (meter, s, "exchange.half", 1, alone_s, step_s);
}
