/* SPDX-License-Identifier: MIT */
/* See runclock.h.  Invariant: no rate and no time of a step includes a pause, a preparation, a
 * validation or a save. */
#include "runclock.h"

void
dyno_run_clock_init (DynoRunClock *clock, gint64 (*monotonic) (void))
{
  *clock = (DynoRunClock){ .monotonic = monotonic, .pulse = dyno_pulse_new (monotonic) };
}

void
dyno_run_clock_clear (DynoRunClock *clock)
{
  g_clear_pointer (&clock->pulse, dyno_pulse_free);
}

static gint64
moment_of (const DynoRunClock *clock, gint64 monotonic_us)
{
  return dyno_pulse_awake (clock->pulse, monotonic_us) - clock->base_us - clock->paused_us;
}

void
dyno_run_clock_begin (DynoRunClock *clock, double seconds)
{
  clock->base_us = dyno_pulse_awake (clock->pulse, clock->monotonic ());
  clock->base_seconds = seconds;
}

gint64
dyno_run_clock_now (const DynoRunClock *clock)
{
  return moment_of (clock, clock->monotonic ());
}

void
dyno_run_clock_end_pause (DynoRunClock *clock, gint64 began_us)
{
  clock->paused_us += dyno_run_clock_now (clock) - began_us;
}

void
dyno_run_clock_end_preparation (DynoRunClock *clock, gint64 began_us)
{
  gint64 took_us = dyno_run_clock_now (clock) - began_us;

  clock->preparation_seconds += (double) took_us / 1e6;
  clock->paused_us += took_us;
}

void
dyno_run_clock_add_preparation (DynoRunClock *clock, double seconds)
{
  clock->preparation_seconds += seconds;
}

double
dyno_run_clock_get_preparation (const DynoRunClock *clock)
{
  return clock->preparation_seconds;
}

void
dyno_run_clock_begin_steps (DynoRunClock *clock)
{
  clock->last_end_us = dyno_run_clock_now (clock);
  dyno_rate_reset (&clock->rate);
  clock->first_seconds = 0;
  clock->first_samples = 0;
}

double
dyno_run_clock_measure_step (DynoRunClock *clock, gint64 end_us, guint64 samples)
{
  double seconds = MAX (0.0, (double) (moment_of (clock, end_us) - clock->last_end_us) / 1e6);

  if (clock->rate.n == 0)
    {
      clock->first_seconds = seconds;
      clock->first_samples = samples;
    }
  return seconds;
}

void
dyno_run_clock_end_step (DynoRunClock *clock, gint64 end_us, guint64 samples, DynoStepTimes *times)
{
  gint64 moment = moment_of (clock, end_us);

  times->samples_per_s = dyno_rate_add (&clock->rate, moment, samples);
  times->step_ms = (double) (moment - clock->last_end_us) / 1000.0;
  clock->last_end_us = moment;
  times->seconds = dyno_run_clock_get_seconds (clock);
}

double
dyno_run_clock_get_seconds (const DynoRunClock *clock)
{
  return clock->base_seconds + (double) clock->last_end_us / 1e6;
}

void
dyno_run_clock_end_save (DynoRunClock *clock)
{
  gint64 gap = dyno_run_clock_now (clock) - clock->last_end_us;

  dyno_rate_skip (&clock->rate, gap);
  clock->last_end_us += gap;
  clock->saving_us += gap;
}

double
dyno_run_clock_take_epoch_rate (DynoRunClock *clock, guint64 samples, double seconds)
{
  if (samples > clock->first_samples)
    {
      seconds -= clock->first_seconds;
      samples -= clock->first_samples;
    }
  clock->first_seconds = 0;
  clock->first_samples = 0;
  return seconds > 0 ? (double) samples / seconds : 0;
}

void
dyno_run_clock_end_validation (DynoRunClock *clock, double *validation_s, double *saving_s)
{
  gint64 now = dyno_run_clock_now (clock);

  *validation_s = (double) (now - clock->last_end_us) / 1e6;
  *saving_s = (double) clock->saving_us / 1e6;
  clock->epoch_us = clock->last_end_us;
  clock->last_end_us = now;
}

void
dyno_run_clock_end_epoch (DynoRunClock *clock)
{
  gint64 now = dyno_run_clock_now (clock);

  dyno_rate_skip (&clock->rate, now - clock->epoch_us);
  clock->saving_us = now - clock->last_end_us;
  clock->last_end_us = now;
}
