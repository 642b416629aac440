/* SPDX-License-Identifier: MIT */
/* The detection of a slow rank and its reason, with simulated steps. */
#include "ranktimes.h"
#include <math.h>

#define RANKS 4

/* The time that a rank needs for a step on its own, and the parts of it for waiting for data and
 * computing. */
typedef struct {
  double own_ms, data_ms, device_ms;
} Load;

static const Load usual = { 100, 5, 90 };

/* Adds a step in which all ranks wait for the slowest; TRUE: a window is full. */
static gboolean
add_step (DynoRankTimes *times, guint64 epoch, const Load *loads, guint n)
{
  DynoRankStep steps[RANKS];
  double longest = 0;

  for (guint r = 0; r < n; r++)
    longest = MAX (longest, loads[r].own_ms);
  for (guint r = 0; r < n; r++)
    steps[r] = (DynoRankStep){ 16, longest - loads[r].own_ms + 2, loads[r].data_ms,
                               loads[r].device_ms, longest - loads[r].own_ms + 7 };
  return dyno_rank_times_add (times, epoch, longest + 2, steps);
}

/* Adds this number of windows. */
static void
add_windows (DynoRankTimes *times, const Load *loads, guint n, guint windows)
{
  for (guint full = 0; full < windows;)
    full += add_step (times, 0, loads, n);
}

static void
test_rates (void)
{
  g_autoptr (DynoRankTimes) times = dyno_rank_times_new (2);
  const Load loads[2] = { usual, { 160, 65, 90 } };
  DynoRankRate rates[2];
  double wait_ms, sum_ms;

  dyno_rank_times_get_all (times, rates);
  g_assert_true (isnan (rates[0].own_ms) && isnan (rates[0].samples_per_s));
  add_windows (times, loads, 2, 1);
  dyno_rank_times_get_window (times, rates);
  g_assert_cmpfloat_with_epsilon (rates[0].own_ms, 100, 1e-9);
  g_assert_cmpfloat_with_epsilon (rates[0].wait_ms, 62, 1e-9);
  g_assert_cmpfloat_with_epsilon (rates[0].samples_per_s, 160, 1e-9);
  g_assert_cmpfloat_with_epsilon (rates[1].own_ms, 160, 1e-9);
  g_assert_cmpfloat_with_epsilon (rates[1].wait_ms, 2, 1e-9);
  g_assert_cmpfloat_with_epsilon (rates[1].samples_per_s, 100, 1e-9);
  g_assert_cmpfloat_with_epsilon (rates[1].data_ms, 65, 1e-9);
  g_assert_cmpfloat_with_epsilon (rates[1].device_ms, 90, 1e-9);
  dyno_rank_times_get_exchange (times, &wait_ms, &sum_ms);
  g_assert_cmpfloat_with_epsilon (wait_ms, 2, 1e-9);
  g_assert_cmpfloat_with_epsilon (sum_ms, 7, 1e-9);
}

/* A rank just below the threshold is not slow; from the threshold on it is reported in the fifth
 * window, once. */
static void
test_slow (void)
{
  for (guint slower = 0; slower < RANKS; slower++)
    {
      g_autoptr (DynoRankTimes) times = dyno_rank_times_new (RANKS);
      Load loads[RANKS] = { usual, usual, usual, usual };
      DynoSlowRank slow;

      loads[slower] = (Load){ 124, 5, 114 };
      add_windows (times, loads, RANKS, 20);
      g_assert_false (dyno_rank_times_find_slow (times, &slow));
      loads[slower] = (Load){ 130, 5, 120 };
      add_step (times, 0, loads, RANKS);
      add_windows (times, loads, RANKS, 4);
      g_assert_false (dyno_rank_times_find_slow (times, &slow));
      add_windows (times, loads, RANKS, 1);
      g_assert_true (dyno_rank_times_find_slow (times, &slow));
      g_assert_cmpuint (slow.rank, ==, slower);
      g_assert_cmpfloat_with_epsilon (slow.own.own_ms, 130, 1e-9);
      g_assert_cmpfloat_with_epsilon (slow.others.own_ms, 100, 1e-9);
      add_windows (times, loads, RANKS, 6);
      g_assert_false (dyno_rank_times_find_slow (times, &slow));
    }
}

static void
test_reasons (void)
{
  static const struct {
    Load load;
    DynoSlowReason reason;
  } cases[] = {
    { { 200, 105, 90 }, DYNO_SLOW_DATA },   { { 200, 5, 190 }, DYNO_SLOW_DEVICE },
    { { 200, 5, 90 }, DYNO_SLOW_OTHER },    { { 200, 70, 125 }, DYNO_SLOW_DATA },
    { { 200, 40, 155 }, DYNO_SLOW_DEVICE }, { { 200, 40, 0 }, DYNO_SLOW_OTHER },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (DynoRankTimes) times = dyno_rank_times_new (2);
      const Load loads[2] = { cases[i].load, usual };
      DynoSlowRank slow;

      add_windows (times, loads, 2, 5);
      g_assert_true (dyno_rank_times_find_slow (times, &slow));
      g_assert_cmpuint (slow.rank, ==, 0);
      g_assert_cmpint (slow.reason, ==, cases[i].reason);
      g_assert_false (dyno_rank_times_find_slow (times, &slow));
    }
}

/* A slow rank does not hide another one; a single long step does not make a rank slow. */
static void
test_robust (void)
{
  g_autoptr (DynoRankTimes) times = dyno_rank_times_new (RANKS), passing = dyno_rank_times_new (2);
  const Load loads[RANKS] = { usual, { 150, 5, 140 }, usual, { 300, 205, 90 } },
             even[2] = { usual, usual }, held[2] = { usual, { 4000, 5, 90 } };
  DynoSlowRank slow;

  add_windows (times, loads, RANKS, 5);
  g_assert_true (dyno_rank_times_find_slow (times, &slow));
  g_assert_cmpuint (slow.rank, ==, 1);
  g_assert_true (dyno_rank_times_find_slow (times, &slow));
  g_assert_cmpuint (slow.rank, ==, 3);
  g_assert_cmpfloat_with_epsilon (slow.others.own_ms, 100, 1e-9);
  for (guint i = 0; i < 10; i++)
    {
      add_step (passing, 0, held, 2);
      add_windows (passing, even, 2, 3);
      g_assert_false (dyno_rank_times_find_slow (passing, &slow));
    }
}

/* Rank 0 is late for the first step of each epoch, before which it saves, and for a step after a
 * checkpoint. */
static void
test_first_steps (void)
{
  g_autoptr (DynoRankTimes) times = dyno_rank_times_new (2);
  const Load even[2] = { usual, usual }, late[2] = { { 3000, 5, 90 }, usual };
  DynoRankRate rates[2];
  DynoSlowRank slow;

  for (guint64 epoch = 0; epoch < 200; epoch++)
    {
      add_step (times, epoch, late, 2);
      add_step (times, epoch, even, 2);
      dyno_rank_times_skip (times);
      add_step (times, epoch, late, 2);
      add_step (times, epoch, even, 2);
      g_assert_false (dyno_rank_times_find_slow (times, &slow));
    }
  dyno_rank_times_get_all (times, rates);
  g_assert_cmpfloat_with_epsilon (rates[0].own_ms, 100, 1e-9);
}

/* Waits that are longer than the step, since the clocks of two ranks differ, count as long as the
 * step; a rank that only waited has no rate, and is not slow. */
static void
test_long_waits (void)
{
  g_autoptr (DynoRankTimes) times = dyno_rank_times_new (2);
  const DynoRankStep waits = { 16, 150, 5, 90, 150 }, works = { 16, 20, 5, 70, 20 };
  DynoRankRate rates[2];
  DynoSlowRank slow;
  double wait_ms, sum_ms;

  for (guint i = 0; i <= 100; i++)
    dyno_rank_times_add (times, 0, 100, (DynoRankStep[]){ i % 10 == 0 ? works : waits, waits });
  dyno_rank_times_get_all (times, rates);
  g_assert_cmpfloat_with_epsilon (rates[0].own_ms, 8, 1e-9);
  g_assert_cmpfloat_with_epsilon (rates[0].wait_ms, 92, 1e-9);
  g_assert_cmpfloat_with_epsilon (rates[0].samples_per_s, 2000, 1e-9);
  g_assert_cmpfloat (rates[1].own_ms, ==, 0);
  g_assert_cmpfloat_with_epsilon (rates[1].wait_ms, 100, 1e-9);
  g_assert_true (isnan (rates[1].samples_per_s));
  dyno_rank_times_get_exchange (times, &wait_ms, &sum_ms);
  g_assert_cmpfloat_with_epsilon (wait_ms, 92, 1e-9);
  while (dyno_rank_times_find_slow (times, &slow))
    g_assert_cmpuint (slow.rank, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/record/ranktimes/rates-without-waiting-for-the-others", test_rates);
  g_test_add_func ("/record/ranktimes/slow-from-five-windows-on-told-once", test_slow);
  g_test_add_func ("/record/ranktimes/data-or-device-is-the-reason", test_reasons);
  g_test_add_func ("/record/ranktimes/what-passes-is-not-slow", test_robust);
  g_test_add_func ("/record/ranktimes/first-steps-do-not-count", test_first_steps);
  g_test_add_func ("/record/ranktimes/waits-are-no-longer-than-the-step", test_long_waits);
  return g_test_run ();
}
