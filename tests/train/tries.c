/* SPDX-License-Identifier: MIT */
/* Attempts to reach a data set again, during one outage and several. */
#include "tries.h"

#define FIRST_US 1000000

static void
fail_times (DynoTries *tries, guint n)
{
  for (guint i = 0; i < n; i++)
    dyno_tries_take (tries, FALSE);
}

static void
test_intervals (void)
{
  static const gint64 seconds[] = { 1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60, 60, 60, 60, 60 };
  DynoTries tries = { 0 };
  gint64 sum = 0;

  g_assert_true (dyno_tries_begin (&tries, 7));
  for (guint i = 0; i < G_N_ELEMENTS (seconds); i++)
    {
      g_assert_false (dyno_tries_are_spent (&tries));
      g_assert_cmpint (dyno_tries_get_interval_us (&tries, FIRST_US), ==, seconds[i] * FIRST_US);
      sum += seconds[i] * FIRST_US;
      dyno_tries_take (&tries, FALSE);
    }
  g_assert_true (dyno_tries_are_spent (&tries));
  g_assert_cmpint (dyno_tries_sum_intervals_us (FIRST_US), ==, sum);
}

/* A second outage at the same step counts with the first; at another step the attempts begin anew,
 * also at an earlier step, to which a run was set back. */
static void
test_two_outages (void)
{
  static const guint64 steps[] = { 8, 3, 0 };
  DynoTries tries = { 0 };

  g_assert_true (dyno_tries_begin (&tries, 7));
  fail_times (&tries, 8);
  g_assert_false (dyno_tries_begin (&tries, 7));
  fail_times (&tries, 7);
  g_assert_true (dyno_tries_are_spent (&tries));
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    {
      g_assert_true (dyno_tries_begin (&tries, steps[i]));
      g_assert_cmpint (dyno_tries_get_interval_us (&tries, FIRST_US), ==, FIRST_US);
      fail_times (&tries, 14 - i);
      g_assert_false (dyno_tries_are_spent (&tries));
      g_assert_false (dyno_tries_begin (&tries, steps[i]));
      g_assert_cmpuint (tries.n, ==, 14 - i);
    }
}

/* The same holds before the first step. */
static void
test_before_the_first_step (void)
{
  DynoTries tries = { 0 };

  g_assert_true (dyno_tries_begin (&tries, 0));
  fail_times (&tries, 15);
  g_assert_true (dyno_tries_are_spent (&tries));
  g_assert_false (dyno_tries_begin (&tries, 0));
}

static void
test_resumed (void)
{
  DynoTries tries = { 0 };

  g_assert_true (dyno_tries_begin (&tries, 7));
  for (guint i = 0; i < 2; i++)
    {
      fail_times (&tries, 14);
      dyno_tries_take (&tries, TRUE);
      g_assert_cmpint (dyno_tries_get_interval_us (&tries, FIRST_US), ==, FIRST_US);
      g_assert_true (dyno_tries_begin (&tries, 7));
    }
  fail_times (&tries, 15);
  g_assert_true (dyno_tries_are_spent (&tries));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/train/tries/intervals-grow-to-a-bound", test_intervals);
  g_test_add_func ("/train/tries/two-outages-count-apart", test_two_outages);
  g_test_add_func ("/train/tries/before-the-first-step", test_before_the_first_step);
  g_test_add_func ("/train/tries/resuming-gives-all-back", test_resumed);
  return g_test_run ();
}
