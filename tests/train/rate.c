/* SPDX-License-Identifier: MIT */
/* Rates of a run, and its clock, which excludes time in which the process did not run: tested with
 * given times. */
#include "pulse.h"
#include "rate.h"
#include "runclock.h"
#include "saveinterval.h"

static void
test_rate (void)
{
  DynoRate rate = { .n = 0 };
  double got = 0;

  g_assert_cmpfloat (dyno_rate_add (&rate, 0, 16), ==, 0); /* the first step gives no rate */
  for (gint64 t = 1; t <= 3000; t++)                       /* 16 samples per millisecond */
    got = dyno_rate_add (&rate, t * 1000, 16);
  g_assert_cmpfloat_with_epsilon (got, 16000, 1);
  /* a slow step counts at once */
  got = dyno_rate_add (&rate, 3000 * 1000 + 4 * G_USEC_PER_SEC, 16);
  g_assert_cmpfloat_with_epsilon (got, 4, 0.1);
}

/* If a second has more steps than the buffer holds, all steps in the buffer count, also after it
 * was filled more than once, but no step from before a restart. */
static void
test_rate_of_many_steps (void)
{
  DynoRate rate = { .n = 0 };
  gint64 t = 0;

  for (guint part = 0; part < 2; part++)
    {
      double got = 0;

      dyno_rate_reset (&rate);
      for (guint i = 0; i < 3 * DYNO_RATE_ENTRIES + 7; i++)
        got = dyno_rate_add (&rate, t += i % 2 ? 100 : 300, 16);
      g_assert_cmpfloat_with_epsilon (got, 16 / 200e-6, 200);
      dyno_rate_reset (&rate);
      g_assert_cmpfloat (dyno_rate_add (&rate, t += 50, 64), ==, 0);
      g_assert_cmpfloat_with_epsilon (dyno_rate_add (&rate, t += 1000, 64), 64000, 1e-6);
      g_assert_cmpfloat_with_epsilon (dyno_rate_add (&rate, t += 3000, 64), 32000, 1e-6);
    }
}

/* Validation between two epochs does not lower the rate. */
static void
test_rate_skips_gaps (void)
{
  DynoRate rate = { .n = 0 };
  gint64 t = 0;

  dyno_rate_add (&rate, t, 16);
  for (guint i = 0; i < 100; i++)
    dyno_rate_add (&rate, t += 10000, 16);
  t += 5 * G_USEC_PER_SEC;
  dyno_rate_skip (&rate, 5 * G_USEC_PER_SEC);
  g_assert_cmpfloat_with_epsilon (dyno_rate_add (&rate, t += 10000, 16), 1600, 1e-6);
}

#define BEGIN_US G_GINT64_CONSTANT (5000000000)

/* The heartbeat is never scheduled. */
static gint64
stand (void)
{
  return BEGIN_US;
}

/* An hour without the process is a gap, a second is a slow step; moments from before the gap stay
 * before it. */
static void
test_pulse (void)
{
  const gint64 hour = G_GINT64_CONSTANT (3600) * G_USEC_PER_SEC, now = BEGIN_US;
  gint64 awake;
  DynoPulse *pulse = dyno_pulse_new (stand);

  g_assert_cmpint (dyno_pulse_awake (NULL, now), ==, now);
  g_assert_cmpint (dyno_pulse_awake (pulse, now), ==, now);
  awake = dyno_pulse_awake (pulse, now + hour);
  g_assert_cmpint (awake, >=, now);
  g_assert_cmpint (awake, <, now + G_USEC_PER_SEC);
  g_assert_cmpint (dyno_pulse_awake (pulse, now), ==, now);
  g_assert_cmpint (dyno_pulse_awake (pulse, now + hour / 2), ==, awake);
  g_assert_cmpint (dyno_pulse_awake (pulse, now + hour + G_USEC_PER_SEC), ==,
                   awake + G_USEC_PER_SEC);
  awake = dyno_pulse_awake (pulse, now + 2 * hour);
  g_assert_cmpint (awake, <, now + 3 * G_USEC_PER_SEC);
  g_assert_cmpint (dyno_pulse_awake (pulse, now + 2 * hour + 7), ==, awake + 7);
  dyno_pulse_free (pulse);
}

static struct {
  GMutex mutex;
  GCond read;
  gint64 readings;
} beats;

/* 1.5 s pass between readings. */
static gint64
go_on (void)
{
  G_GNUC_UNUSED g_autoptr (GMutexLocker) lock = g_mutex_locker_new (&beats.mutex);

  g_cond_signal (&beats.read);
  return BEGIN_US + beats.readings++ * 3 * G_USEC_PER_SEC / 2;
}

/* Six seconds pass without a reading by the caller, but with readings by the heartbeat, so the
 * process was running. */
static void
test_pulse_beats (void)
{
  const gint64 later = BEGIN_US + 6 * G_USEC_PER_SEC;
  DynoPulse *pulse = dyno_pulse_new (go_on);

  g_mutex_lock (&beats.mutex);
  while (beats.readings < 5)
    g_cond_wait (&beats.read, &beats.mutex);
  g_mutex_unlock (&beats.mutex);
  g_assert_cmpint (dyno_pulse_awake (pulse, later), ==, later);
  dyno_pulse_free (pulse);
}

/* A step that ends after 40 s of compiling is in no rate, nor is a step after a restart. */
static void
test_rate_leaves_preparation_out (void)
{
  DynoRate rate = { .n = 0 };
  gint64 t = 0;

  for (guint part = 0; part < 2; part++)
    {
      dyno_rate_reset (&rate);
      t += 40 * G_USEC_PER_SEC;
      g_assert_cmpfloat (dyno_rate_add (&rate, t, 16), ==, 0);
      g_assert_cmpfloat_with_epsilon (dyno_rate_add (&rate, t += 10000, 16), 1600, 1e-6);
    }
}

/* --- the clock of a run -------------------------------------------------------------------------- */

static gint64 now_us; /* atomic: the heartbeat reads it too */

static gint64
read_now (void)
{
  return __atomic_load_n (&now_us, __ATOMIC_RELAXED);
}

static gint64
pass (double seconds)
{
  return __atomic_add_fetch (&now_us, (gint64) (seconds * 1e6), __ATOMIC_RELAXED);
}

static void
end_step (DynoRunClock *clock, double seconds, DynoStepTimes *times)
{
  gint64 end_us = pass (seconds);

  g_assert_cmpfloat_with_epsilon (dyno_run_clock_measure_step (clock, end_us, 16), seconds, 1e-6);
  dyno_run_clock_end_step (clock, end_us, 16, times);
  g_assert_cmpfloat_with_epsilon (times->step_ms, seconds * 1e3, 1e-3);
}

/* Steps of 0.25 s: their times exclude pauses, preparations, saves and validation, and the first
 * step is in no rate. */
static void
test_run_clock (void)
{
  DynoRunClock clock;
  DynoStepTimes times;
  double validation_s, saving_s;
  gint64 began;

  __atomic_store_n (&now_us, BEGIN_US, __ATOMIC_RELAXED);
  dyno_run_clock_init (&clock, read_now);
  dyno_run_clock_add_preparation (&clock, 1.5);
  dyno_run_clock_begin (&clock, 100);
  dyno_run_clock_begin_steps (&clock);
  end_step (&clock, 0.75, &times);
  g_assert_cmpfloat (times.samples_per_s, ==, 0);
  end_step (&clock, 0.25, &times);
  began = dyno_run_clock_now (&clock);
  pass (0.5);
  dyno_run_clock_end_pause (&clock, began);
  end_step (&clock, 0.25, &times);
  pass (0.125);
  dyno_run_clock_end_save (&clock);
  end_step (&clock, 0.25, &times);
  g_assert_cmpfloat_with_epsilon (times.samples_per_s, 64, 1e-9);
  g_assert_cmpfloat_with_epsilon (times.seconds, 101.625, 1e-9);
  g_assert_cmpfloat_with_epsilon (dyno_run_clock_take_epoch_rate (&clock, 64, 1.5), 64, 1e-9);
  g_assert_cmpfloat_with_epsilon (dyno_run_clock_take_epoch_rate (&clock, 64, 2), 32, 1e-9);
  pass (0.5);
  dyno_run_clock_end_validation (&clock, &validation_s, &saving_s);
  g_assert_cmpfloat_with_epsilon (validation_s, 0.5, 1e-9);
  g_assert_cmpfloat_with_epsilon (saving_s, 0.125, 1e-9);
  pass (0.25);
  dyno_run_clock_end_epoch (&clock);
  end_step (&clock, 0.25, &times);
  g_assert_cmpfloat_with_epsilon (times.samples_per_s, 64, 1e-9);
  for (guint i = 0; i < 2; i++) /* the saves of an epoch add up */
    {
      pass (0.5);
      dyno_run_clock_end_save (&clock);
    }
  dyno_run_clock_end_validation (&clock, &validation_s, &saving_s);
  g_assert_cmpfloat_with_epsilon (saving_s, 1.25, 1e-9);
  dyno_run_clock_end_epoch (&clock); /* and belong to it alone */
  dyno_run_clock_end_validation (&clock, &validation_s, &saving_s);
  g_assert_cmpfloat_with_epsilon (saving_s, 0, 1e-9);
  began = dyno_run_clock_now (&clock);
  pass (0.5);
  dyno_run_clock_end_preparation (&clock, began);
  g_assert_cmpint (dyno_run_clock_now (&clock), ==, began);
  g_assert_cmpfloat_with_epsilon (dyno_run_clock_get_preparation (&clock), 2, 1e-9);
  /* A first step that was measured before steps begin again is none of the next epoch's. */
  dyno_run_clock_begin_steps (&clock);
  end_step (&clock, 0.25, &times);
  dyno_run_clock_begin_steps (&clock);
  g_assert_cmpfloat_with_epsilon (dyno_run_clock_take_epoch_rate (&clock, 64, 2), 32, 1e-9);
  dyno_run_clock_clear (&clock);
}

#define MINUTE (60 * G_USEC_PER_SEC)

/* An interval begins anew with each state that is taken; a request holds until then. */
static void
test_save_interval (void)
{
  DynoSaveInterval interval = { .due = TRUE };

  dyno_save_interval_begin (&interval, 100, BEGIN_US);
  g_assert_false (dyno_save_interval_check (&interval, 3, 200, BEGIN_US + 3 * MINUTE - 1));
  g_assert_false (dyno_save_interval_check (&interval, 3, 100, BEGIN_US + 9 * MINUTE));
  g_assert_false (dyno_save_interval_check (&interval, 0, 200, BEGIN_US + 9 * MINUTE));
  for (gint64 n = 1; n <= 3; n++)
    {
      gint64 now = BEGIN_US + 3 * n * MINUTE;

      g_assert_true (dyno_save_interval_check (&interval, 3, 100 + n, now));
      g_assert_true (dyno_save_interval_check (&interval, 100, 100 + n, now)); /* it stays due */
      dyno_save_interval_take (&interval, 100 + n, now);
      g_assert_false (dyno_save_interval_check (&interval, 3, 101 + n, now + MINUTE));
    }
  interval.due = TRUE; /* asked for */
  g_assert_true (dyno_save_interval_check (&interval, 0, 103, BEGIN_US + 9 * MINUTE));
  /* Best weights that stay in memory are no checkpoint: neither the request nor the interval ends
   * with them, but their step is not saved again by the interval. */
  dyno_save_interval_keep (&interval, 110);
  g_assert_true (dyno_save_interval_check (&interval, 3, 110, BEGIN_US + 9 * MINUTE));
  interval.due = FALSE;
  g_assert_false (dyno_save_interval_check (&interval, 3, 110, BEGIN_US + 12 * MINUTE));
  g_assert_true (dyno_save_interval_check (&interval, 3, 111, BEGIN_US + 12 * MINUTE));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/train/rate/last-second", test_rate);
  g_test_add_func ("/train/rate/many-steps-in-a-second", test_rate_of_many_steps);
  g_test_add_func ("/train/rate/skips-gaps", test_rate_skips_gaps);
  g_test_add_func ("/train/rate/leaves-preparation-out", test_rate_leaves_preparation_out);
  g_test_add_func ("/train/pulse/leaves-gaps-out", test_pulse);
  g_test_add_func ("/train/pulse/beats-while-nobody-asks", test_pulse_beats);
  g_test_add_func ("/train/run-clock/leaves-out-what-is-not-training", test_run_clock);
  g_test_add_func ("/train/save-interval/begins-anew", test_save_interval);
  return g_test_run ();
}
