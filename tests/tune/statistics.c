/* SPDX-License-Identifier: MIT */
/* Estimates of simulated series. */
#include "statistics.h"
#include "rng.h"
#include <math.h>

#define N 40

/* Fills x with 1000 and this relative noise. */
static void
fill (double *x, guint n, double noise, guint64 seed)
{
  DynoRng rng = dyno_rng_init (seed, 0);

  for (guint i = 0; i < n; i++)
    x[i] = 1000 * (1 + noise * dyno_rng_normal (&rng));
}

static void
test_constant (void)
{
  double x[N];
  DynoEstimate e;

  fill (x, N, 0, 1);
  dyno_estimate (x, N, &e);
  g_assert_cmpfloat (e.median, ==, 1000);
  g_assert_cmpuint (e.n, ==, N);
  g_assert_true (e.stationary);
  /* not exact, even if the windows are equal */
  g_assert_cmpfloat (e.low, <, 1000);
  g_assert_cmpfloat (e.low, >, 995);
  g_assert_cmpfloat (1000 - e.low, >=, 4.999 / sqrt (N)); /* half a percent for each window */
  g_assert_cmpfloat (e.high, >, 1000);
  g_assert_cmpfloat (e.high, <, 1005);
}

/* A clock that rises over a third of the windows. */
static void
test_ramp (void)
{
  double x[N];
  DynoEstimate e;

  fill (x, N, 0.01, 2);
  for (guint i = 0; i < 14; i++)
    x[i] *= 0.3 + 0.05 * i;
  dyno_estimate (x, N, &e);
  g_assert_true (e.stationary);
  g_assert_cmpfloat (fabs (e.median - 1000), <, 8);
  g_assert_cmpfloat (e.low, >, 985);
  g_assert_cmpuint (e.n, <=, N - 10);
  g_assert_cmpuint (e.n, >=, N / 2);
}

/* Two windows with the loading of kernels are not enough for a trend. */
static void
test_slow_start (void)
{
  double x[9];
  DynoEstimate e;

  fill (x, 9, 0.01, 3);
  x[0] = 5;
  x[1] = 300;
  dyno_estimate (x, 9, &e);
  g_assert_cmpuint (e.n, <=, 7);
  g_assert_cmpfloat (e.low, >, 970);
}

/* The series never settles: this is reported, and its later half counts. */
static void
test_drift (void)
{
  double x[N];
  DynoEstimate e;

  fill (x, N, 0.001, 4);
  for (guint i = 0; i < N; i++)
    x[i] *= 1 - 0.01 * i;
  dyno_estimate (x, N, &e);
  g_assert_false (e.stationary);
  g_assert_cmpuint (e.n, ==, N / 2);
  g_assert_cmpfloat (e.median, <, 760);
}

/* A trend that exists but is too small to matter. */
static void
test_small_drift (void)
{
  double x[N];
  DynoEstimate e;

  for (guint i = 0; i < N; i++)
    x[i] = 1000 + 0.1 * i;
  dyno_estimate (x, N, &e);
  g_assert_true (e.stationary);
  g_assert_cmpuint (e.n, >=, N - N / 3);
}

/* Another program delays every sixth window. */
static void
test_spikes (void)
{
  double x[N];
  DynoEstimate e;

  fill (x, N, 0.01, 5);
  for (guint i = 3; i < N; i += 6)
    x[i] = 100;
  dyno_estimate (x, N, &e);
  g_assert_cmpfloat (fabs (e.median - 1000), <, 12);
  g_assert_cmpfloat (e.low, >, 970);
  g_assert_true (e.stationary);
}

/* Two alternating rates: the interval contains both. */
static void
test_bimodal (void)
{
  double x[N];
  DynoEstimate e, lower = { 700, 690, 710, 20, TRUE };

  for (guint i = 0; i < N; i++)
    x[i] = i % 2 ? 600 : 1000;
  dyno_estimate (x, N, &e);
  g_assert_cmpfloat (e.low, ==, 600);
  g_assert_cmpfloat (e.high, ==, 1000);
  g_assert_false (dyno_estimate_is_above (&e, &lower, 1));
}

static void
test_few (void)
{
  const double x[] = { 1000, 1010, 990 };
  DynoEstimate e;

  dyno_estimate (x, 0, &e);
  g_assert_cmpuint (e.n, ==, 0);
  g_assert_true (isnan (e.median) && isnan (e.low) && isnan (e.high));
  dyno_estimate (x, 1, &e);
  g_assert_cmpfloat (e.median, ==, 1000);
  g_assert_cmpfloat (e.low, ==, 500);
  g_assert_cmpfloat (e.high, ==, 2000);
  dyno_estimate (x, 2, &e);
  g_assert_cmpfloat (e.median, ==, 1005);
  g_assert_cmpfloat (fabs (e.high - e.median - 12.706 * 5), <, 1e-9);
  dyno_estimate (x, 3, &e);
  g_assert_cmpfloat (e.median, ==, 1000);
  g_assert_cmpfloat (fabs (e.median - e.low - 4.303 * 10 / sqrt (3)), <, 1e-9);
  g_assert_false (e.stationary);
}

static void
test_not_finite (void)
{
  const double x[] = { NAN, 1000, INFINITY, 1010, -INFINITY, 990 };
  DynoEstimate e;

  dyno_estimate (x, G_N_ELEMENTS (x), &e);
  g_assert_cmpuint (e.n, ==, 3);
  g_assert_cmpfloat (e.median, ==, 1000);
}

/* The interval contains the true median in about 95 % of 200 series. */
static void
test_coverage (void)
{
  for (guint n = 3; n <= 30; n += 9)
    {
      guint held = 0;

      for (guint s = 0; s < 200; s++)
        {
          double x[30];
          DynoEstimate e;

          fill (x, n, 0.05, 100 + s);
          dyno_estimate (x, n, &e);
          held += e.low <= 1000 && 1000 <= e.high;
        }
      g_assert_cmpuint (held, >=, 178);
    }
}

static void
test_compare (void)
{
  guint wrong = 0, right = 0;

  for (guint s = 0; s < 200; s++)
    {
      double x[12], y[12];
      DynoEstimate a, b;

      fill (x, 12, 0.03, 1000 + s);
      fill (y, 12, 0.03, 5000 + s);
      dyno_estimate (x, 12, &a);
      dyno_estimate (y, 12, &b);
      wrong += dyno_estimate_is_above (&a, &b, 1) || dyno_estimate_is_above (&b, &a, 1);
      for (guint i = 0; i < 12; i++)
        x[i] *= 1.15;
      dyno_estimate (x, 12, &a);
      right += dyno_estimate_is_above (&a, &b, 1.03);
    }
  g_assert_cmpuint (wrong, <=, 4);
  g_assert_cmpuint (right, >=, 180);
}

static void
test_nan_is_not_above (void)
{
  DynoEstimate none, some = { 1000, 990, 1010, 10, TRUE };

  dyno_estimate (NULL, 0, &none);
  g_assert_false (dyno_estimate_is_above (&none, &some, 1));
  g_assert_false (dyno_estimate_is_above (&some, &none, 1));
  g_assert_true (dyno_estimate_is_above (&some, &some, 0.97));
  g_assert_false (dyno_estimate_is_above (&some, &some, 1));
}

/* Three trials of the same settings, each with a narrow interval, that differ: the combined
 * interval is wider than any of theirs. */
static void
test_combine (void)
{
  const DynoEstimate trials[] = { { 1000, 999, 1001, 20, TRUE },
                                  { 1050, 1049, 1051, 20, TRUE },
                                  { 950, 949, 951, 20, TRUE } },
                     wide[] = { { 1000, 800, 1200, 20, TRUE }, { 1000, 800, 1200, 20, TRUE } },
                     unlike[] = { { 1000, 800, 1200, 20, TRUE },
                                  { 1000, 900, 1100, 20, TRUE },
                                  { 1000, 780, 1220, 20, TRUE },
                                  { 1000, 880, 1120, 20, TRUE } };
  DynoEstimate e;

  dyno_estimate_combine (trials, 3, &e);
  g_assert_cmpfloat (e.median, ==, 1000);
  g_assert_cmpfloat (e.low, <, 950);
  g_assert_cmpfloat (e.high, >, 1050);
  g_assert_cmpuint (e.n, ==, 60);
  dyno_estimate_combine (trials, 1, &e);
  g_assert_cmpfloat (e.high, ==, 1001);
  /* Independent and equal: the half width divided by the root of their number. */
  dyno_estimate_combine (wide, 2, &e);
  g_assert_cmpfloat_with_epsilon (e.low, 1000 - 200 / sqrt (2), 1e-9);
  g_assert_cmpfloat_with_epsilon (e.high, 1000 + 200 / sqrt (2), 1e-9);
  dyno_estimate_combine (unlike, 4, &e);
  g_assert_cmpfloat_with_epsilon (e.low, 1000 - 160 / sqrt (4), 1e-9);
  g_assert_cmpfloat_with_epsilon (e.high, 1000 + 160 / sqrt (4), 1e-9);
  /* The combination is stationary only if all trials are, whichever of them is not. */
  for (guint odd = 0; odd < 4; odd++)
    {
      DynoEstimate some[] = { trials[0], trials[1], trials[2] };

      if (odd < 3)
        some[odd].stationary = FALSE;
      some[1].n = 7;
      dyno_estimate_combine (some, 3, &e);
      g_assert_cmpint (e.stationary, ==, odd == 3);
      g_assert_cmpuint (e.n, ==, 47);
    }
  dyno_estimate_combine (NULL, 0, &e);
  g_assert_true (isnan (e.median));
}

/* --- windows ---------------------------------------------------------------------------------- */

/* 10 samples every 10 ms, for an hour or for a moment, give as many windows as count. */
static void
test_windows_any_duration (void)
{
  for (guint n = 100; n <= 360000; n *= 10)
    {
      DynoWindows w = { .length_s = 0.05 };
      DynoEstimate e;

      dyno_windows_begin (&w, 7);
      for (guint i = 1; i <= n; i++)
        dyno_windows_add (&w, 7 + 0.01 * i, 10);
      g_assert_cmpuint (w.n, >=, MIN (n / 6, DYNO_WINDOWS_MOST / 2));
      g_assert_cmpuint (w.n, <=, DYNO_WINDOWS_MOST);
      g_assert_cmpfloat (dyno_windows_get_seconds (&w), >, 0.01 * n * 0.9);
      dyno_windows_estimate (&w, &e);
      g_assert_cmpfloat (fabs (e.median - 1000), <, 1e-3);
    }
}

/* Steps longer than a window are windows themselves; time before a call of dyno_windows_begin does
 * not count. */
static void
test_windows_skip (void)
{
  DynoWindows w = { .length_s = 0.05 };
  DynoEstimate e;
  double time_s = 0;

  for (guint i = 0; i < 8; i++)
    {
      dyno_windows_begin (&w, time_s += 1000);
      dyno_windows_add (&w, time_s += 0.5, 4);
    }
  g_assert_cmpuint (w.n, ==, 8);
  dyno_windows_estimate (&w, &e);
  g_assert_cmpfloat (fabs (e.median - 8), <, 1e-9);
}

/* Epochs shorter than a window: their steps are added across the ends of epochs. */
static void
test_windows_short_epochs (void)
{
  DynoWindows w = { .length_s = 0.05 };
  double time_s = 0;

  for (guint i = 0; i < 100; i++)
    {
      dyno_windows_begin (&w, time_s += 3);
      dyno_windows_add (&w, time_s += 0.01, 1);
    }
  g_assert_cmpuint (w.n, >=, 16);
  g_assert_cmpfloat (fabs (w.samples[3] / w.seconds[3] - 100), <, 1e-6);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/statistics/constant", test_constant);
  g_test_add_func ("/tune/statistics/ramp-is-dropped", test_ramp);
  g_test_add_func ("/tune/statistics/slow-first-windows-are-dropped", test_slow_start);
  g_test_add_func ("/tune/statistics/drift-is-not-stationary", test_drift);
  g_test_add_func ("/tune/statistics/small-drift-does-not-matter", test_small_drift);
  g_test_add_func ("/tune/statistics/spikes-move-little", test_spikes);
  g_test_add_func ("/tune/statistics/bimodal-interval-holds-both", test_bimodal);
  g_test_add_func ("/tune/statistics/few-windows-say-little", test_few);
  g_test_add_func ("/tune/statistics/not-finite-does-not-count", test_not_finite);
  g_test_add_func ("/tune/statistics/interval-holds-the-median", test_coverage);
  g_test_add_func ("/tune/statistics/no-claim-inside-the-noise", test_compare);
  g_test_add_func ("/tune/statistics/nothing-is-above-what-was-not-measured",
                   test_nan_is_not_above);
  g_test_add_func ("/tune/statistics/trials-that-differ-are-less-sure", test_combine);
  g_test_add_func ("/tune/statistics/windows-of-any-duration", test_windows_any_duration);
  g_test_add_func ("/tune/statistics/windows-leave-gaps-out", test_windows_skip);
  g_test_add_func ("/tune/statistics/windows-over-short-epochs", test_windows_short_epochs);
  return g_test_run ();
}
