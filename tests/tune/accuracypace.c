/* SPDX-License-Identifier: MIT */
/* The number of runs at once that a search chooses from the times that they took. */
#include "accuracypace.h"

/* Adds two groups of each level that is chosen, until the choice stays: n at once take these times
 * as long as one alone. */
static guint
settle (DynoAccuracyPace *pace, guint most, const double *slowdown)
{
  guint n = 1;

  for (guint k = 0; k < 20; k++)
    {
      n = dyno_accuracy_pace_choose (pace, most);
      if (n > 1)
        dyno_accuracy_pace_add_group (pace, n, 3, 5 * slowdown[n]);
    }
  return n;
}

/* Runs alone that take 2 s and 1 s for each epoch, so 5 s for three. */
static void
add_alone (DynoAccuracyPace *pace, guint n)
{
  for (guint i = 0; i < n; i++)
    dyno_accuracy_pace_add_run (pace, 10, 12, 10);
}

static void
test_levels_rise_as_long_as_they_pay (void)
{
  static const double free_until_8[9] = { [2] = 1, [4] = 1, [8] = 1 },
                      free_until_4[9] = { [2] = 1, [4] = 1, [8] = 2 },
                      halves[9] = { [2] = 1.5, [4] = 3, [8] = 6 },
                      never[9] = { [2] = 2, [4] = 1, [8] = 1 },
                      hardly[9] = { [2] = 1.75, [4] = 1, [8] = 1 };
  static const struct {
    const double *slowdown;
    guint most, n;
  } cases[] = {
    { free_until_8, 8, 8 }, { free_until_8, 7, 4 }, { free_until_8, 1, 1 }, { free_until_4, 8, 4 },
    { halves, 8, 2 },       { never, 8, 1 },        { hardly, 8, 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      DynoAccuracyPace pace = { 0 };

      add_alone (&pace, 7);
      g_assert_cmpuint (dyno_accuracy_pace_choose (&pace, cases[i].most), ==, 1);
      add_alone (&pace, 1);
      g_assert_cmpuint (settle (&pace, cases[i].most, cases[i].slowdown), ==, cases[i].n);
    }
}

/* The first group of a level, which compiles, does not decide; a slower one later neither. */
static void
test_the_fastest_group_counts (void)
{
  DynoAccuracyPace pace = { 0 };

  add_alone (&pace, 8);
  g_assert_cmpuint (dyno_accuracy_pace_choose (&pace, 2), ==, 2);
  dyno_accuracy_pace_add_group (&pace, 2, 3, 30);
  g_assert_cmpuint (dyno_accuracy_pace_choose (&pace, 2), ==, 2);
  dyno_accuracy_pace_add_group (&pace, 2, 3, 5);
  g_assert_cmpuint (dyno_accuracy_pace_choose (&pace, 2), ==, 2);
  dyno_accuracy_pace_add_group (&pace, 2, 3, 30);
  g_assert_cmpuint (dyno_accuracy_pace_choose (&pace, 2), ==, 2);
}

static void
test_expected_times (void)
{
  DynoAccuracyPace pace = { 0 };

  g_assert_cmpfloat (dyno_accuracy_pace_expect (&pace, 10, 1, 1), ==, 0);
  dyno_accuracy_pace_add_run (&pace, 4, 30, 4); /* it compiles */
  dyno_accuracy_pace_add_run (&pace, 6, 8, 6);
  g_assert_cmpfloat (dyno_accuracy_pace_get_epoch (&pace), ==, 1);
  dyno_accuracy_pace_add_run (&pace, 6, 12, 6);
  g_assert_cmpfloat (pace.start_seconds, ==, 4);
  dyno_accuracy_pace_add_run (&pace, 6, 6, 6);
  g_assert_cmpfloat_with_epsilon (dyno_accuracy_pace_expect (&pace, 10, 1, 1), 13, 1e-9);
  g_assert_cmpfloat_with_epsilon (dyno_accuracy_pace_expect (&pace, 10, 3, 1), 39, 1e-9);
  /* Not measured: as one after the other. */
  g_assert_cmpfloat_with_epsilon (dyno_accuracy_pace_expect (&pace, 10, 4, 4), 52, 1e-9);
  dyno_accuracy_pace_add_group (&pace, 4, 10, 24); /* twice the 12 s of one */
  g_assert_cmpfloat_with_epsilon (dyno_accuracy_pace_expect (&pace, 10, 4, 4), 26, 1e-9);
  g_assert_cmpfloat_with_epsilon (dyno_accuracy_pace_expect (&pace, 10, 3, 4), 26, 1e-9);
  g_assert_cmpfloat_with_epsilon (dyno_accuracy_pace_expect (&pace, 10, 5, 4), 39, 1e-9);
  g_assert_cmpfloat_with_epsilon (dyno_accuracy_pace_expect (&pace, 10, 8, 4), 52, 1e-9);
  g_assert_cmpfloat_with_epsilon (dyno_accuracy_pace_expect (&pace, 10, 2, 2), 26, 1e-9);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/accuracypace/levels-rise-as-long-as-they-pay",
                   test_levels_rise_as_long_as_they_pay);
  g_test_add_func ("/tune/accuracypace/the-fastest-group-counts", test_the_fastest_group_counts);
  g_test_add_func ("/tune/accuracypace/expected-times", test_expected_times);
  return g_test_run ();
}
