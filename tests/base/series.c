/* SPDX-License-Identifier: MIT */
/* The pyramid of a series, compared with a plain scan over all points. */
#include "series.h"
#include "rng.h"
#include <math.h>

static DynoSeries *
make_series (guint n, double *y)
{
  DynoSeries *series = dyno_series_new ("Loss", "");
  DynoRng rng = dyno_rng_init (7, n);

  for (guint i = 0; i < n; i++)
    {
      y[i] = dyno_rng_below (&rng, 37) == 0 ? NAN : dyno_rng_normal (&rng);
      dyno_series_append (series, i * 0.5, y[i]);
    }
  return series;
}

static void
test_range_matches_scan (void)
{
  static const guint lengths[] = { 1, 2, 15, 16, 17, 255, 256, 257, 4096, 2 * DYNO_SERIES_NEWEST };

  for (guint k = 0; k < G_N_ELEMENTS (lengths); k++)
    {
      guint n = lengths[k];
      g_autofree double *y = g_new (double, n);
      g_autoptr (DynoSeries) series = make_series (n, y);
      DynoRng rng = dyno_rng_init (9, k);

      for (guint trial = 0; trial < 200; trial++)
        {
          guint first = (guint) dyno_rng_below (&rng, n),
                last = first + (guint) dyno_rng_below (&rng, n - first);
          double low = INFINITY, high = -INFINITY, x0, x1, y0, y1;
          gboolean any;

          for (guint i = first; i <= last; i++)
            if (isfinite (y[i]))
              {
                low = MIN (low, y[i]);
                high = MAX (high, y[i]);
              }
          any = dyno_series_get_range (series, first * 0.5, last * 0.5, &x0, &x1, &y0, &y1);
          g_assert_cmpint (any, ==, low <= high);
          if (!any)
            continue;
          g_assert_cmpfloat (y0, ==, low);
          g_assert_cmpfloat (y1, ==, high);
          g_assert_cmpfloat (x0, ==, first * 0.5);
          g_assert_cmpfloat (x1, ==, last * 0.5);
        }
    }
}

static void
test_columns_cover_every_point (void)
{
  guint n = 30000;
  g_autofree double *y = g_new (double, n);
  g_autoptr (DynoSeries) series = make_series (n, y);
  DynoColumn columns[304];
  guint n_columns = dyno_series_columns (series, 0.0, n * 0.5, 300, columns);
  guint64 counted = 0, finite = 0;
  double last_x = -1.0;

  for (guint i = 0; i < n; i++)
    finite += isfinite (y[i]) ? 1 : 0;
  g_assert_cmpuint (n_columns, ==, 300);
  for (guint i = 0; i < n_columns; i++)
    {
      counted += columns[i].count;
      g_assert_cmpfloat (columns[i].x, >, last_x);
      g_assert_cmpfloat (columns[i].y_min, <=, columns[i].y_first);
      g_assert_cmpfloat (columns[i].y_max, >=, columns[i].y_last);
      last_x = columns[i].x;
    }
  g_assert_cmpuint (counted, ==, finite);
}

static void
test_few_points_are_kept_as_they_are (void)
{
  g_autoptr (DynoSeries) series = dyno_series_new ("a", "b");
  DynoColumn columns[14];

  for (guint i = 0; i < 5; i++)
    dyno_series_append (series, i, i == 2 ? NAN : i * 10.0);
  g_assert_cmpuint (dyno_series_columns (series, 0.0, 4.0, 10, columns), ==, 5);
  g_assert_cmpfloat (columns[3].y_last, ==, 30.0);
  g_assert_cmpuint (columns[2].count, ==, 0);
  g_assert_cmpuint (dyno_series_nearest (series, 2.6), ==, 3);
  g_assert_cmpuint (dyno_series_nearest (series, 99.0), ==, 4);
  g_assert_cmpuint (dyno_series_nearest (series, -9.0), ==, 0);
}

static void
test_smoothing_has_no_bias_and_follows_appends (void)
{
  g_autoptr (DynoSeries) series = dyno_series_new ("a", "b");
  const DynoSeries *smoothed;
  double x, y;

  for (guint i = 0; i < 10; i++)
    dyno_series_append (series, i, 3.0);
  smoothed = dyno_series_smoothed (series, 0.9);
  dyno_series_get (smoothed, 0, &x, &y);
  g_assert_cmpfloat_with_epsilon (y, 3.0, 1e-12);
  dyno_series_append (series, 10, 5.0);
  g_assert_cmpuint (dyno_series_get_length (smoothed), ==, 11);
  dyno_series_get (smoothed, 10, &x, &y);
  g_assert_cmpfloat (y, >, 3.0);
  g_assert_cmpfloat (y, <, 3.5);
}

/* Noise around a falling curve; steps count from 1. */
static double
noise (DynoRng *rng, guint64 step)
{
  return 1.0 / sqrt ((double) step) + 0.1 * dyno_rng_normal (rng);
}

/* A series that is cleared is as a new one, its smoothed line included. */
static void
test_cleared_is_new (void)
{
  g_autoptr (DynoSeries) cleared = dyno_series_new ("Loss", "");

  for (guint round = 0; round < 2; round++)
    {
      /* In the second round so many points that the old ones are in groups of several. */
      guint n = round == 0 ? 20 : 3 * DYNO_SERIES_NEWEST;
      g_autoptr (DynoSeries) fresh = dyno_series_new ("Loss", "");
      const DynoSeries *a, *b;

      for (guint i = 0; i < (round == 0 ? 50 : 6 * DYNO_SERIES_NEWEST); i++)
        dyno_series_append (cleared, i, 1000 + i);
      dyno_series_smoothed (cleared, 0.9);
      dyno_series_clear (cleared);
      g_assert_cmpuint (dyno_series_get_length (cleared), ==, 0);
      for (guint i = 0; i < n; i++)
        {
          dyno_series_append (cleared, i, i % 3);
          dyno_series_append (fresh, i, i % 3);
        }
      a = dyno_series_smoothed (cleared, 0.9);
      b = dyno_series_smoothed (fresh, 0.9);
      g_assert_cmpuint (dyno_series_get_length (a), ==, dyno_series_get_length (b));
      g_assert_cmpuint (dyno_series_get_length (a), <=, n);
      for (guint i = 0; i < dyno_series_get_length (a); i++)
        {
          double x, y, fresh_x, fresh_y;

          dyno_series_get (a, i, &x, &y);
          dyno_series_get (b, i, &fresh_x, &fresh_y);
          g_assert_true (x == fresh_x && y == fresh_y);
        }
    }
}

static void
test_bounded_whatever_the_length (void)
{
  const guint64 n = 10000000, low_at = 1234567, high_at = 7654321, gap_at = 3333333;
  g_autoptr (DynoSeries) series = dyno_series_new ("Loss", "");
  DynoRng rng = dyno_rng_init (5, 1);
  g_autofree double *last = g_new (double, DYNO_SERIES_NEWEST);
  DynoColumn columns[1004];
  double first = 0, x0, x1, y0, y1, before = 0;
  guint64 length, gaps = 0, finite = 0;
  guint n_columns, marked = 0;

  dyno_series_smoothed (series, 0.8);
  for (guint64 step = 1; step <= n; step++)
    {
      double y = noise (&rng, step);

      if (step == low_at || step == high_at)
        y = step == low_at ? -777.0 : 888.0;
      if (step == 1 || step == gap_at) /* the first point must be no extreme */
        y = step == 1 ? 0.5 : (double) NAN;
      first = step == 1 ? y : first;
      last[step % DYNO_SERIES_NEWEST] = y;
      dyno_series_append (series, (double) step, y);
      if (step % 1000003 == 0)
        g_assert_cmpuint (dyno_series_get_bytes (series), <=, 2 * DYNO_SERIES_MOST_BYTES);
    }
  g_assert_cmpuint (dyno_series_get_bytes (series), <=, 2 * DYNO_SERIES_MOST_BYTES);

  /* The first and last points are kept, the extremes are at their steps, and so is the gap. */
  length = dyno_series_get_length (series);
  dyno_series_get (series, 0, &x0, &y0);
  g_assert_true (x0 == 1 && y0 == first);
  g_assert_true (dyno_series_get_range (series, -INFINITY, INFINITY, &x0, &x1, &y0, &y1));
  g_assert_true (x0 == 1 && x1 == (double) n && y0 == -777.0 && y1 == 888.0);
  dyno_series_get (series, dyno_series_nearest (series, (double) low_at), &x0, &y0);
  g_assert_true (x0 == (double) low_at && y0 == -777.0);
  dyno_series_get (series, dyno_series_nearest (series, (double) high_at), &x0, &y0);
  g_assert_true (x0 == (double) high_at && y0 == 888.0);
  dyno_series_get (series, dyno_series_nearest (series, (double) gap_at), &x0, &y0);
  g_assert_true (x0 == (double) gap_at && isnan (y0));

  /* Points are in the order of time, and the newest ones are exact. */
  for (guint64 i = 0; i < length; i++)
    {
      dyno_series_get (series, i, &x0, &y0);
      g_assert_cmpfloat (x0, >, before);
      before = x0;
      if (i >= length - DYNO_SERIES_NEWEST)
        g_assert_true (x0 == (double) (n - (length - 1 - i))
                       && y0 == last[(guint64) x0 % DYNO_SERIES_NEWEST]);
      gaps += isnan (y0) ? 1 : 0;
      finite += isfinite (y0) ? 1 : 0;
    }
  g_assert_cmpuint (gaps, ==, 1);
  /* The columns cover the whole run evenly: no column of a wide plot lacks its minimum and
   * maximum. */
  n_columns = dyno_series_columns (series, 1, (double) n, 1000, columns);
  g_assert_cmpuint (n_columns, ==, 1000);
  for (guint i = 0; i < n_columns; i++)
    {
      g_assert_cmpuint (columns[i].count, >=, 4);
      g_assert_cmpfloat (columns[i].y_max - columns[i].y_min, >, 0.3);
      marked += columns[i].count < columns[i].points ? 1 : 0;
    }
  g_assert_cmpuint (marked, ==, 1);
  g_assert_cmpuint (finite, >=, DYNO_SERIES_GROUPS + DYNO_SERIES_NEWEST);
}

/* Until the first points are merged, the bound on their number does not change even the layout of
 * the pyramid. */
static void
test_short_series_is_whole (void)
{
  const guint n = 2 * DYNO_SERIES_NEWEST;
  g_autofree double *y = g_new (double, n + 1);
  g_autoptr (DynoSeries) series = make_series (n, y);
  double px, py;
  guint64 last = 0;

  g_assert_cmpuint (dyno_series_get_length (series), ==, n);
  for (guint i = 0; i < n; i++)
    {
      dyno_series_get (series, i, &px, &py);
      g_assert_true (px == i * 0.5 && (py == y[i] || (isnan (py) && isnan (y[i]))));
    }
  /* One more point: the old points become pairs, of which both points stay, except that one of two
   * gaps is dropped. */
  dyno_series_append (series, n * 0.5, 1.0);
  y[n] = 1.0;
  for (guint64 i = 0, at = 0; i < dyno_series_get_length (series); i++)
    {
      dyno_series_get (series, i, &px, &py);
      if (isnan (py))
        continue;
      while (isnan (y[at]))
        at++;
      g_assert_true (px == (double) at * 0.5 && py == y[at]);
      last = at++;
    }
  g_assert_cmpuint (last, ==, n);
}

/* Smoothing that is requested late averages all points and not just the extremes that were kept. */
static void
test_smoothing_goes_by_means (void)
{
  g_autoptr (DynoSeries) series = dyno_series_new ("a", "");
  const DynoSeries *smoothed;

  /* nine low values for each high one: the extremes by themselves would give 5 */
  for (guint i = 0; i < 1000000; i++)
    dyno_series_append (series, i, i % 10 == 9 ? 10.0 : 0.0);
  smoothed = dyno_series_smoothed (series, 0.99);
  for (guint64 i = dyno_series_get_length (smoothed) / 20; i < dyno_series_get_length (smoothed);
       i++)
    {
      double x, y;

      dyno_series_get (smoothed, i, &x, &y);
      g_assert_cmpfloat (fabs (y - 1.0), <, 0.1);
    }
  g_assert_cmpuint (dyno_series_get_bytes (series), <=, 2 * DYNO_SERIES_MOST_BYTES);
}

/* Each point takes two numbers as long as all points are kept. */
static void
test_bytes (void)
{
  g_autoptr (DynoSeries) series = dyno_series_new ("Loss", NULL);
  gsize empty = dyno_series_get_bytes (series);

  for (guint i = 1; i <= DYNO_SERIES_NEWEST; i++)
    {
      gsize now;

      dyno_series_append (series, i, 1.0);
      now = dyno_series_get_bytes (series);
      g_assert_cmpuint (now, >=, empty + i * 2 * sizeof (double));
      g_assert_cmpuint (now, <, empty + 4096 + i * 4 * sizeof (double));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/series/range-matches-scan", test_range_matches_scan);
  g_test_add_func ("/base/series/columns-cover-every-point", test_columns_cover_every_point);
  g_test_add_func ("/base/series/few-points-are-kept-as-they-are",
                   test_few_points_are_kept_as_they_are);
  g_test_add_func ("/base/series/smoothing-has-no-bias-and-follows-appends",
                   test_smoothing_has_no_bias_and_follows_appends);
  g_test_add_func ("/base/series/cleared-is-new", test_cleared_is_new);
  g_test_add_func ("/base/series/bounded-whatever-the-length", test_bounded_whatever_the_length);
  g_test_add_func ("/base/series/short-series-is-whole", test_short_series_is_whole);
  g_test_add_func ("/base/series/smoothing-goes-by-means", test_smoothing_goes_by_means);
  g_test_add_func ("/base/series/bytes-are-those-of-its-points", test_bytes);
  return g_test_run ();
}
