/* SPDX-License-Identifier: MIT */
/* The CPU load of other programs, from made-up lines of /proc/stat. */
#include "outsidecpu.h"
#include <math.h>

static DynoCpuTimes
at (const char *line, double own_s)
{
  DynoCpuTimes times = { .own_s = own_s };

  g_assert_true (dyno_cpu_times_parse (&times, line, 100));
  return times;
}

/* 600 of 1000 ticks were busy, 250 of them in this process; iowait counts as idle, steal does not,
 * and guest is included in user. */
static void
test_share (void)
{
  DynoCpuTimes begin = at ("cpu  1000 10 100 5000 50 5 5 20 400 0\n", 7),
               end = at ("cpu  1400 20 200 5300 150 15 15 90 800 0\n", 9.5);

  g_assert_cmpfloat (fabs (dyno_cpu_times_get_outside (&begin, &end) - 0.35), <, 1e-9);
  /* own time has microseconds, other time has ticks */
  end.own_s = 20;
  g_assert_cmpfloat (dyno_cpu_times_get_outside (&begin, &end), ==, 0);
}

static void
test_not_known (void)
{
  DynoCpuTimes begin = at ("cpu  1000 10 100 5000\n", 0), end = at ("cpu  1005 10 100 5005\n", 0),
               none = { 0 }, now;

  g_assert_true (isnan (dyno_cpu_times_get_outside (&begin, &end))); /* only 10 ticks */
  g_assert_true (isnan (dyno_cpu_times_get_outside (&none, &end)));
  g_assert_true (isnan (dyno_cpu_times_get_outside (&begin, &none)));
  for (guint i = 0; i < 3; i++)
    {
      const char *const lines[] = { "", "cpu0 1 2 3 4", "cpu a b c d" };
      g_assert_false (dyno_cpu_times_parse (&none, lines[i], 100));
    }
  dyno_cpu_times_read (&now);
  g_assert_true (now.known);
  g_assert_cmpfloat (now.busy_s, <=, now.all_s);
  g_assert_cmpfloat (now.own_s, >, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/outsidecpu/others-share-of-all-cores", test_share);
  g_test_add_func ("/tune/outsidecpu/not-known", test_not_known);
  return g_test_run ();
}
