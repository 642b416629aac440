/* SPDX-License-Identifier: MIT */
/* The pyramid against a plain scan over all points. */
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
  static const guint lengths[] = { 1, 2, 15, 16, 17, 255, 256, 257, 4096, 70000 };

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
  guint n = 50000;
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
  return g_test_run ();
}
