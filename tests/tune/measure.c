/* SPDX-License-Identifier: MIT */
/* What counts of a trial, by the clock of the test. */
#include "measure.h"
#include <math.h>

#define MS 1000

/* The first steps, which load and compile, are thousands of times as slow as the others. */
static void
test_warm_up (void)
{
  DynoMeasure m = { 0 };
  gint64 time_us = 5 * MS;

  for (guint i = 0; i < 3; i++)
    dyno_measure_step (&m, time_us += 20000 * MS, 19000, 1, i == 1 ? 11 : 7);
  for (guint i = 0; i < 4; i++)
    {
      g_assert_false (dyno_measure_is_enough (&m, 0));
      g_assert_cmpfloat (dyno_measure_step_ms (&m), ==, 0);
      dyno_measure_step (&m, time_us += 10 * MS, 2, 1, 9);
    }
  g_assert_true (dyno_measure_is_enough (&m, 0.04));
  g_assert_false (dyno_measure_is_enough (&m, 0.041));
  g_assert_cmpfloat (dyno_measure_step_ms (&m), ==, 10);
  g_assert_cmpuint (m.counted, ==, 4);
  g_assert_cmpfloat (m.wait_ms, ==, 8);
  g_assert_cmpuint (m.vram_bytes, ==, 11); /* the most, wherever it was */
  g_assert_false (m.nonfinite);
}

/* Validation is none of the training's time, wherever it falls; a loss that is not finite counts
 * wherever it falls. */
static void
test_validation (void)
{
  for (guint epoch_after = 1; epoch_after < 9; epoch_after++)
    {
      DynoMeasure m = { 0 };
      gint64 time_us = 0;

      for (guint i = 1; i <= 9; i++)
        {
          dyno_measure_step (&m, time_us += 10 * MS, 0, i == epoch_after ? (double) NAN : 1, 0);
          if (i == epoch_after)
            dyno_measure_epoch (&m, time_us += 700 * MS);
        }
      g_assert_cmpfloat (dyno_measure_step_ms (&m), ==, 10);
      g_assert_true (m.nonfinite);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/measure/warm-up-does-not-count", test_warm_up);
  g_test_add_func ("/tune/measure/validation-does-not-count", test_validation);
  return g_test_run ();
}
