/* SPDX-License-Identifier: MIT */
/* Plots are drawn into files and read back: colours at the lines, clear errors, unchanged
 * numbers. */
#include "axis.h"
#include "curves-module.h"
#include "draw.h"
#include "range.h"
#include "sheet.h"
#include "base-error.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static DynoSeries *
ramp (const char *name, guint n)
{
  DynoSeries *series = dyno_series_new (name, "unit");

  for (guint i = 0; i < n; i++)
    dyno_series_append (series, i, 1.0 + i);
  return series;
}

static guint
count_blue (cairo_surface_t *surface)
{
  const guint8 *data;
  int stride = cairo_image_surface_get_stride (surface);
  guint count = 0;

  cairo_surface_flush (surface);
  data = cairo_image_surface_get_data (surface);
  for (int y = 0; y < cairo_image_surface_get_height (surface); y++)
    for (int x = 0; x < cairo_image_surface_get_width (surface); x++)
      {
        const guint8 *p = data + y * stride + x * 4; /* bytes B, G, R, x */
        count += p[0] > 190 && p[2] < 90;
      }
  return count;
}

static void
check_line_is_drawn (guint n, gboolean log)
{
  g_autoptr (DynoSeries) series = ramp ("Loss", n);
  DynoPlotLine line = { series, 0 };
  DynoPlot plot = { "Loss", "Step", "", &line, 1, .y_log = log, .y_limit = NAN, .cursor_x = NAN };
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, 400, 200);
  cairo_t *cr = cairo_create (surface);

  dyno_plot_draw (cr, &plot, &dyno_plot_theme_light, 400, 200, 1.0);
  g_assert_cmpint (cairo_status (cr), ==, CAIRO_STATUS_SUCCESS);
  g_assert_cmpuint (count_blue (surface), >, 150);
  cairo_destroy (cr);
  cairo_surface_destroy (surface);
}

/* The blue pixels of a line with this only value: of its name, and of its point. */
static guint
count_blue_of (double value)
{
  g_autoptr (DynoSeries) series = dyno_series_new ("Loss", "");
  DynoPlotLine line = { series, 0 };
  DynoPlot plot = { "Loss", "Step", "", &line, 1, .y_limit = NAN, .cursor_x = NAN };
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, 400, 200);
  cairo_t *cr = cairo_create (surface);
  guint n;

  dyno_series_append (series, 1, value);
  dyno_plot_draw (cr, &plot, &dyno_plot_theme_light, 400, 200, 1.0);
  n = count_blue (surface);
  cairo_destroy (cr);
  cairo_surface_destroy (surface);
  return n;
}

/* The first value is seen before there is a second one. */
static void
check_point_is_drawn (void)
{
  g_assert_cmpuint (count_blue_of (2), >=, count_blue_of ((double) NAN) + 5);
}

static void
test_line_is_drawn (void)
{
  check_point_is_drawn ();
  check_line_is_drawn (10, FALSE);
  check_line_is_drawn (100000, FALSE);
  check_line_is_drawn (10, TRUE);
  check_line_is_drawn (100000, TRUE);
}

static void
test_survives_odd_data (void)
{
  static const double values[] = { NAN, INFINITY, -INFINITY, 0.0, -1.0, 1e300, 1e-300 };

  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    for (guint log = 0; log < 2; log++)
      {
        g_autoptr (DynoSeries) series = dyno_series_new ("a", "");
        DynoPlotLine line = { series, 0 };
        DynoPlot plot = {
          "t", "x", "y", &line, 1, .y_log = log, .smoothing = 0.5, .y_limit = 1.0, .cursor_x = 0.0
        };
        cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, 30, 20);
        cairo_t *cr = cairo_create (surface);

        dyno_plot_draw (cr, &plot, &dyno_plot_theme_dark, 30, 20, 1.0);
        dyno_series_append (series, 0, values[i]);
        dyno_plot_draw (cr, &plot, &dyno_plot_theme_dark, 30, 20, 1.0);
        dyno_series_append (series, 0, values[i]);
        dyno_plot_draw (cr, &plot, &dyno_plot_theme_dark, 300, 200, 2.0);
        g_assert_cmpint (cairo_status (cr), ==, CAIRO_STATUS_SUCCESS);
        cairo_destroy (cr);
        cairo_surface_destroy (surface);
      }
}

static void
test_writes_each_format (void)
{
  static const char *const names[] = { "p.png", "p.svg", "p.pdf" };
  static const char *const heads[] = { "\x89PNG", "<?xml", "%PDF" };
  g_autofree char *folder = g_dir_make_tmp ("dyno-plot-XXXXXX", NULL);
  g_autoptr (DynoSeries) series = ramp ("Loss", 20);
  DynoPlotLine line = { series, 0 };
  DynoPlot plot = { "Loss", "Step", "", &line, 1, .y_limit = NAN, .cursor_x = NAN };
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (folder, names[i], NULL);
      g_autofree char *content = NULL;
      g_assert_true (
          dyno_plot_write (&plot, 1, &dyno_plot_theme_light, 400, 200, 2.0, path, &error));
      g_assert_no_error (error);
      g_assert_true (g_file_get_contents (path, &content, NULL, NULL));
      g_assert_true (g_str_has_prefix (content, heads[i]));
      g_unlink (path);
    }
  g_assert_false (
      dyno_plot_write (&plot, 1, &dyno_plot_theme_light, 400, 200, 1.0, "plot.gif", &error));
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL);
  g_assert_nonnull (strstr (error->message, "plot.gif"));
  g_clear_error (&error);
  g_assert_false (dyno_plot_write (&plot, 1, &dyno_plot_theme_light, 400, 200, 1.0,
                                   "/nonexistent/p.png", &error));
  g_assert_error (error, DYNO_BASE_ERROR, DYNO_BASE_ERROR_IO);
  g_rmdir (folder);
}

/* The bytes of a file, which is removed. */
static GBytes *
take_file (const char *path)
{
  g_autoptr (GError) error = NULL;
  char *content = NULL;
  gsize size = 0;

  g_file_get_contents (path, &content, &size, &error);
  g_assert_no_error (error);
  g_unlink (path);
  return g_bytes_new_take (content, size);
}

static guint32
take_uint32 (GBytes *bytes, gsize at)
{
  const guint8 *p = (const guint8 *) g_bytes_get_data (bytes, NULL) + at;

  return (guint32) p[0] << 24 | (guint32) p[1] << 16 | (guint32) p[2] << 8 | p[3];
}

/* Plots are one below the other, in pixels of the scale; a plot is drawn within its own height. */
static void
test_plots_are_one_below_the_other (void)
{
  g_autofree char *folder = g_dir_make_tmp ("dyno-plot-XXXXXX", NULL);
  g_autofree char *png = g_build_filename (folder, "p.PNG", NULL),
                  *svg = g_build_filename (folder, "p.svg", NULL), *text = NULL;
  g_autoptr (DynoSeries) series = ramp ("Loss", 20), empty = dyno_series_new ("None", "");
  DynoPlotLine line = { series, 0 }, none = { empty, 0 };
  DynoPlot plots[] = { { "", "", "", &none, 1, .y_limit = NAN, .cursor_x = NAN },
                       { "", "", "", &line, 1, .y_limit = NAN, .cursor_x = NAN } };
  g_autoptr (GBytes) picture = NULL, drawing = NULL;
  cairo_surface_t *surface;
  guint above = 0, below = 0;

  g_assert_true (dyno_plot_write (plots, 2, &dyno_plot_theme_light, 200.2, 100, 1.5, png, NULL));
  surface = cairo_image_surface_create_from_png (png);
  picture = take_file (png);
  g_assert_cmpuint (take_uint32 (picture, 16), ==, 301);
  g_assert_cmpuint (take_uint32 (picture, 20), ==, 300);
  g_assert_cmpint (cairo_surface_status (surface), ==, CAIRO_STATUS_SUCCESS);
  cairo_surface_flush (surface);
  for (int y = 20; y < 300; y++)
    for (int x = 0; x < 300; x++)
      {
        const guint8 *p = cairo_image_surface_get_data (surface)
                          + y * cairo_image_surface_get_stride (surface) + x * 4;

        *(y < 150 ? &above : &below) += p[0] > 190 && p[2] < 90;
      }
  cairo_surface_destroy (surface);
  g_assert_cmpuint (above, ==, 0);
  g_assert_cmpuint (below, >, 100);
  g_assert_true (dyno_plot_write (plots, 2, &dyno_plot_theme_light, 200, 100, 1.5, svg, NULL));
  drawing = take_file (svg);
  text = g_strndup (g_bytes_get_data (drawing, NULL), g_bytes_get_size (drawing));
  g_assert_nonnull (strstr (text, "width=\"200"));
  g_assert_nonnull (strstr (text, "height=\"200"));
  g_rmdir (folder);
}

extern gboolean dyno_curves_write (guint version, const DynoCurvePlot *plots, guint n_plots,
                                   const char *path, GError **error);
extern gboolean dyno_sheet_write_module (guint version, const char *title,
                                         const DynoSheetTile *tiles, guint n, const char *path,
                                         GError **error);

/* The module draws what the plot layer draws from the same values, of each member and each curve;
 * another version is refused. */
static void
test_module (void)
{
  enum { N = 5 };
  static const double x[N] = { 1, 2, 3, 4, 5 }, y[2][N] = { { 1, 3, 2, 50, 4 }, { 5, 4, 3, 2, 1 } };
  static const guint8 pixel[3] = { 200, 2, 3 };
  const DynoSheetTile tile = { pixel, 1, 1, "caption" };
  g_autofree char *folder = g_dir_make_tmp ("dyno-plot-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "p.png", NULL);
  const DynoCurve curves[] = { { "one", "u", x, y[0], N, 2, FALSE },
                               { "two", "v", x, y[1], N, 5, TRUE } };

  for (guint is_log = 0; is_log < 2; is_log++)
    {
      g_autoptr (DynoSeries) one = dyno_series_new ("one", "u"), two = dyno_series_new ("two", "v"),
                             map = dyno_series_new ("map", "");
      const DynoPlotLine lines[] = { { one, 2, .x_map = is_log ? map : NULL },
                                     { two, 5, TRUE, .x_map = is_log ? map : NULL } };
      const DynoCurvePlot plots[] = { { .title = "A title",
                                        .x_label = "x of it",
                                        .y_label = "y of it",
                                        .curves = curves,
                                        .n_curves = 2,
                                        .y_log = TRUE,
                                        .x_log = is_log,
                                        .x0 = 1.5,
                                        .x1 = 4.5,
                                        .smoothing = 0.5,
                                        .y_limit = 3.5,
                                        .y_limit_label = "limit",
                                        .x_mark = 2.5,
                                        .x_mark_label = "mark" },
                                      { .curves = curves,
                                        .n_curves = 1,
                                        .y_from_zero = TRUE,
                                        .x_log = is_log,
                                        .y_limit = (double) NAN } };
      DynoPlot drawn[] = { { .title = "A title",
                             .x_label = "x of it",
                             .y_label = "y of it",
                             .lines = lines,
                             .n_lines = 2,
                             .y_log = TRUE,
                             .x_whole = !is_log,
                             .x_log = is_log,
                             .robust = TRUE,
                             .x0 = 1.5,
                             .x1 = 4.5,
                             .smoothing = 0.5,
                             .y_limit = 3.5,
                             .y_limit_label = "limit",
                             .x_mark = 2.5,
                             .x_mark_label = "mark",
                             .cursor_x = (double) NAN },
                           { .lines = lines,
                             .n_lines = 1,
                             .y_from_zero = TRUE,
                             .x_whole = !is_log,
                             .x_log = is_log,
                             .robust = TRUE,
                             .y_limit = (double) NAN,
                             .cursor_x = (double) NAN } };
      g_autoptr (GBytes) expected = NULL, written = NULL;
      g_autoptr (GError) error = NULL;

      for (guint i = 0; i < N; i++)
        {
          double own = is_log ? log (x[i]) : x[i];

          dyno_series_append (one, own, y[0][i]);
          dyno_series_append (two, own, y[1][i]);
          dyno_series_append (map, own, x[i]);
        }
      dyno_plot_write (drawn, 2, &dyno_plot_theme_light, 900, 260, 2, path, &error);
      g_assert_no_error (error);
      expected = take_file (path);
      dyno_curves_write (DYNO_CURVES_VERSION, plots, 2, path, &error);
      g_assert_no_error (error);
      written = take_file (path);
      g_assert_true (g_bytes_equal (written, expected));
      g_assert_false (dyno_curves_write (DYNO_CURVES_VERSION - 1, plots, 2, path, &error));
      g_assert_cmpstr (error->message, ==, "the module is of version 3, the program of version 2");
    }
  {
    g_autoptr (GBytes) expected = NULL, written = NULL;
    g_autoptr (GError) error = NULL;

    g_assert_true (dyno_sheet_write ("Title", &tile, 1, path, NULL));
    expected = take_file (path);
    g_assert_true (dyno_sheet_write_module (DYNO_SHEET_VERSION, "Title", &tile, 1, path, NULL));
    written = take_file (path);
    g_assert_true (g_bytes_equal (written, expected));
    g_assert_false (
        dyno_sheet_write_module (DYNO_SHEET_VERSION + 1, "Title", &tile, 1, path, &error));
    g_assert_cmpstr (error->message, ==, "the module is of version 1, the program of version 2");
  }
  g_rmdir (folder);
}

static double
linear (double part)
{
  return part <= 0.04045 ? part / 12.92 : pow ((part + 0.055) / 1.055, 2.4);
}

/* The contrast of two colours as WCAG 2 defines it. */
static double
contrast (const DynoColour *a, const DynoColour *b)
{
  const DynoColour *both[] = { a, b };
  double light[2];

  for (guint i = 0; i < 2; i++)
    light[i] = 0.2126 * linear (both[i]->red) + 0.7152 * linear (both[i]->green)
               + 0.0722 * linear (both[i]->blue) + 0.05;
  return MAX (light[0], light[1]) / MIN (light[0], light[1]);
}

/* Texts and lines stand out from the background, and lines from each other; the grid is faint, and
 * the fifth line is red. */
static void
test_themes (void)
{
  const DynoPlotTheme *const themes[] = { &dyno_plot_theme_light, &dyno_plot_theme_dark };

  for (guint t = 0; t < 2; t++)
    {
      const DynoPlotTheme *theme = themes[t];
      const DynoColour *lines = theme->lines;

      g_assert_true (t == 0 ? theme->background.red > 0.9 : theme->background.red < 0.2);
      g_assert_cmpfloat (contrast (&theme->foreground, &theme->background), >, 12);
      g_assert_cmpfloat (contrast (&theme->muted, &theme->background), >, 5.5);
      g_assert_cmpfloat (contrast (&theme->grid, &theme->background), >, 12);
      g_assert_true (theme->grid.alpha > 0.05 && theme->grid.alpha < 0.15);
      g_assert_true (theme->background.alpha == 1 && theme->foreground.alpha == 1
                     && theme->muted.alpha == 1);
      for (guint i = 0; i < 8; i++)
        {
          g_assert_true (lines[i].alpha == 1);
          g_assert_cmpfloat (contrast (&lines[i], &theme->background), >, t == 0 ? 2.6 : 6);
          for (guint k = 0; k < i; k++)
            g_assert_cmpfloat (
                hypot (hypot (lines[i].red - lines[k].red, lines[i].green - lines[k].green),
                       lines[i].blue - lines[k].blue),
                >, 0.2);
        }
      g_assert_cmpfloat (lines[4].red - MAX (lines[4].green, lines[4].blue), >, 0.45);
    }
}

static void
test_csv_joins_series_by_x (void)
{
  g_autofree char *folder = g_dir_make_tmp ("dyno-plot-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "p.csv", NULL);
  g_autofree char *content = NULL;
  g_autoptr (DynoSeries) a = dyno_series_new ("Training", ""),
                         b = dyno_series_new ("Validation", "u"),
                         c = dyno_series_new ("=1,\"2\"", "");
  DynoPlotLine lines[] = { { a, 0 }, { b, 1 }, { c, 2 } };
  DynoPlot plot = { "Loss", "Step", "", lines, 3 };

  dyno_series_append (a, 1, 0.5);
  dyno_series_append (a, 2, 0.25);
  dyno_series_append (b, 2, 7);
  dyno_series_append (b, 3, NAN);
  g_assert_true (dyno_plot_write_csv (&plot, 1, path, NULL));
  g_assert_true (g_file_get_contents (path, &content, NULL, NULL));
  g_assert_cmpstr (content, ==,
                   "x,Training,Validation (u),\"'=1,\"\"2\"\"\"\n"
                   "1,0.5,,\n2,0.25,7,\n3,,,\n");
  g_unlink (path);
  /* Plots share the rows; of a series that begins with a gap, and of infinite values, cells are
   * empty. */
  {
    DynoPlotLine own = { b, 0 };
    DynoPlot plots[] = { plot, { "Other", "Step", "", &own, 1 } };
    g_autofree char *both = NULL;

    plots[0].n_lines = 1;
    dyno_series_append (b, 3.5, 123456789.25);
    dyno_series_append (b, 4, (double) INFINITY);
    g_assert_true (dyno_plot_write_csv (plots, 2, path, NULL));
    g_assert_true (g_file_get_contents (path, &both, NULL, NULL));
    g_assert_cmpstr (both, ==,
                     "x,Training,Validation (u)\n1,0.5,\n2,0.25,7\n3,,\n3.5,,123456789\n4,,\n");
    g_unlink (path);
  }
  g_rmdir (folder);
}

static void
test_axis_ticks_are_round (void)
{
  DynoAxis axis;
  g_autofree char *text = NULL;

  dyno_axis_init (&axis, 0.03, 0.97, 5, FALSE, TRUE, 0);
  g_assert_cmpfloat (axis.low, ==, 0.0);
  g_assert_cmpfloat_with_epsilon (axis.high, 1.0, 1e-12);
  g_assert_cmpuint (axis.n_ticks, ==, 6);
  text = dyno_axis_format (&axis, axis.ticks[1]);
  g_assert_cmpstr (text, ==, "0.2");
  dyno_axis_init (&axis, 5.0, 5.0, 5, FALSE, TRUE, 0);
  g_assert_cmpfloat (axis.low, <, 5.0);
  g_assert_cmpfloat (axis.high, >, 5.0);
  /* Where no value is below 0, neither is the axis: a device that is idle reads nothing. */
  dyno_axis_init (&axis, 0.0, 0.0, 5, FALSE, TRUE, 0);
  g_assert_true (axis.low == 0.0 && axis.high == 1.0);
  dyno_axis_init (&axis, 0.25, 0.25, 5, FALSE, TRUE, 0);
  g_assert_true (axis.low == 0.0 && axis.high > 0.5);
  dyno_axis_init (&axis, -0.25, -0.25, 5, FALSE, TRUE, 0);
  g_assert_true (axis.low < -0.25 && axis.high > -0.25);
  dyno_axis_init (&axis, 0.001, 10.0, 9, TRUE, FALSE, 0);
  g_assert_cmpuint (axis.n_ticks, >=, 4);
  g_assert_cmpfloat_with_epsilon (dyno_axis_value (&axis, dyno_axis_position (&axis, 0.5)), 0.5,
                                  1e-9);
}

static void
assert_ticks (double low, double high, guint max_ticks, gboolean log, double least_step,
              const char *expected)
{
  DynoAxis axis;
  g_autoptr (GString) text = g_string_new (NULL);

  dyno_axis_init (&axis, low, high, max_ticks, log, FALSE, least_step);
  for (guint i = 0; i < axis.n_ticks; i++)
    {
      g_autofree char *tick = dyno_axis_format (&axis, axis.ticks[i]);
      g_string_append_printf (text, "%s%s", i ? " " : "", tick);
    }
  g_assert_cmpstr (text->str, ==, expected);
}

static void
test_axis_ticks_of_steps_are_whole (void)
{
  assert_ticks (1, 2, 8, FALSE, 1, "1 2");
  assert_ticks (1, 4, 8, FALSE, 1, "1 2 3 4");
  assert_ticks (1, 4, 8, FALSE, 0, "1.0 1.5 2.0 2.5 3.0 3.5 4.0");
}

static void
test_axis_log_ticks_are_1_2_5 (void)
{
  assert_ticks (0.09, 2.6, 9, TRUE, 0, "0.1 0.2 0.5 1 2");
  assert_ticks (1e-6, 100, 9, TRUE, 0, "1e-6 1e-5 1e-4 0.001 0.01 0.1 1 10 100");
  assert_ticks (0.3, 0.45, 4, TRUE, 0, "0.3 0.35 0.4 0.45"); /* less than a decade */
  assert_ticks (1, 1e20, 7, TRUE, 0, "1 1,000 1e6 1e9 1e12 1e15 1e18");
  assert_ticks (900, 60000, 7, TRUE, 0, "1,000 2,000 5,000 10,000 20,000 50,000");
}

/* The thousands are separated, as in the numbers beside a plot. */
static void
test_axis_thousands_stand_apart (void)
{
  g_autofree char *value = dyno_axis_format_value (-2345), *less = dyno_axis_format_value (999);

  assert_ticks (0, 6000, 4, FALSE, 0, "0 2,000 4,000 6,000");
  assert_ticks (999, 1001, 4, FALSE, 0, "999.0 999.5 1000.0 1000.5 1001.0");
  g_assert_cmpstr (value, ==, "-2,345");
  g_assert_cmpstr (less, ==, "999.0");
}

static void
test_rates_have_three_digits (void)
{
  g_autofree char *rate = dyno_axis_format_measure (167.04, "samples/s"),
                  *large = dyno_axis_format_measure (12345, "samples/s"),
                  *loss = dyno_axis_format_measure (1.23456, ""),
                  *bare = dyno_axis_format_measure (1.23456, NULL);

  g_assert_cmpstr (rate, ==, "167");
  g_assert_cmpstr (large, ==, "12.3k");
  g_assert_cmpstr (loss, ==, "1.235");
  g_assert_cmpstr (bare, ==, "1.235");
}

/* The value at the point of the read-out; points (validation) and short series are not smoothed. */
static void
test_the_smoothed_value_is_read (void)
{
  g_autoptr (DynoSeries) series = dyno_series_new ("Loss", "");
  DynoPlotLine lines[] = { { series, 0 }, { series, 0, .points = TRUE } };
  DynoPlot plot = {
    "Loss", "Step", "", lines, 2, .y_limit = NAN, .cursor_x = NAN, .smoothing = 0.5
  };
  double x, expected;

  dyno_series_append (series, 1, 4);
  dyno_series_append (series, 2, 2);
  g_assert_true (isnan (dyno_plot_get_smoothed (&plot, 0, 2)));
  dyno_series_append (series, 3, 0);
  dyno_series_get (dyno_series_smoothed (series, 0.5), 1, &x, &expected);
  g_assert_cmpfloat (dyno_plot_get_smoothed (&plot, 0, 2), ==, expected);
  g_assert_cmpfloat (expected, >, 2);
  g_assert_true (isnan (dyno_plot_get_smoothed (&plot, 1, 2)));
  plot.smoothing = 0;
  g_assert_true (isnan (dyno_plot_get_smoothed (&plot, 0, 2)));
}

static void
test_axis_large_values_have_exponents (void)
{
  assert_ticks (0, 2e15, 5, FALSE, 0, "0 5e14 1e15 1.5e15 2e15");
  assert_ticks (0, 3e6, 4, FALSE, 0, "0 1M 2M 3M");
  g_autofree char *value = dyno_axis_format_value (1.5e15),
                  *small = dyno_axis_format_value (-2.5e-7);
  g_assert_cmpstr (value, ==, "1.5e15");
  g_assert_cmpstr (small, ==, "-2.5e-7");
}

/* A falling curve with noise and one value far outside; the axes show the curve, including its high
 * start. */
static void
test_one_spike_does_not_flatten_the_rest (void)
{
  g_autoptr (DynoSeries) series = dyno_series_new ("Loss", "");
  DynoPlotLine line = { series, 0 };
  DynoPlot plot = { "Loss", "Step", "", &line, 1, .robust = TRUE, .y_limit = NAN, .cursor_x = NAN };
  DynoPlotRange all, robust;

  for (guint i = 0; i < 2000; i++)
    dyno_series_append (series, i,
                        i == 700 ? 1e6 : 0.1 + 2.2 * exp (-(double) i / 20.0) + 0.02 * (i % 3));
  g_assert_true (dyno_plot_range (&plot, &robust));
  g_assert_cmpfloat (robust.y1, <, 3.0);
  g_assert_cmpfloat (robust.y1, >, 2.0);
  plot.robust = FALSE;
  g_assert_true (dyno_plot_range (&plot, &all));
  g_assert_cmpfloat (all.y1, ==, 1e6);
}

/* Values that make up more than a twentieth are not a spike. */
static void
test_growth_is_no_spike (void)
{
  g_autoptr (DynoSeries) series = dyno_series_new ("Loss", "");
  DynoPlotLine line = { series, 0 };
  DynoPlot plot = { "Loss", "Step", "", &line, 1, .robust = TRUE, .y_limit = NAN, .cursor_x = NAN };
  DynoPlotRange robust;

  for (guint i = 0; i < 1000; i++)
    dyno_series_append (series, i, i < 800 ? 1.0 : 1.0 + (i - 800) * 0.5);
  g_assert_true (dyno_plot_range (&plot, &robust));
  g_assert_cmpfloat (robust.y1, >, 90.0);
}

static guint
count_blue_in_rows (const DynoPlot *plot, int from, int to)
{
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, 400, 200);
  cairo_t *cr = cairo_create (surface);
  guint n;

  dyno_plot_draw (cr, plot, &dyno_plot_theme_light, 400, 200, 1.0);
  cairo_rectangle (cr, 0, 0, 400, from);
  cairo_rectangle (cr, 0, to, 400, 200);
  cairo_set_source_rgb (cr, 1, 1, 1);
  cairo_fill (cr);
  n = count_blue (surface);
  cairo_destroy (cr);
  cairo_surface_destroy (surface);
  return n;
}

static void
test_clipped_points_are_marked (void)
{
  g_autoptr (DynoSeries) series = dyno_series_new ("Rate", "");
  DynoPlotLine line = { series, 0 };
  DynoPlot plot = {
    "", "Step", "", &line, 1, .y_from_zero = TRUE, .robust = TRUE, .y_limit = NAN, .cursor_x = NAN
  };
  guint plain;

  for (guint i = 0; i < 100; i++)
    dyno_series_append (series, i, 1.0 + 0.1 * (i % 5));
  plain = count_blue_in_rows (&plot, 28, 36);
  dyno_series_append (series, 100, 1000);
  for (guint i = 101; i < 140; i++)
    dyno_series_append (series, i, 1.0 + 0.1 * (i % 5));
  g_assert_cmpuint (count_blue_in_rows (&plot, 28, 36), >, plain + 12);
}

/* Plots below each other, one with wide numbers, have their axes at the same pixel. */
static void
test_plots_stand_in_line (void)
{
  g_autoptr (DynoSeries) narrow = ramp ("a", 10), wide = ramp ("b", 10);
  DynoPlotLine lines[] = { { narrow, 0 }, { wide, 0 } };
  DynoPlot a = { "t", "x", "y", &lines[0], 1, .y_limit = NAN, .cursor_x = NAN };
  DynoPlot b = { "t", "x", "y", &lines[1], 1, .y_limit = NAN, .cursor_x = NAN };
  double first, second;

  for (guint i = 10; i < 20; i++)
    dyno_series_append (wide, i, 9000 + i * 0.013);
  first = dyno_plot_label_width (&a, &dyno_plot_theme_light, 400, 200);
  b.x0 = 11;
  b.x1 = 18; /* the labels are 9000.14 and so on */
  second = dyno_plot_label_width (&b, &dyno_plot_theme_light, 400, 200);
  g_assert_cmpfloat (second, >, first + 5);
  a.label_width = b.label_width = second;
  g_assert_true (isnan (dyno_plot_x_at (&a, &dyno_plot_theme_light, 400, 200, 10 + second + 4)));
  g_assert_false (isnan (dyno_plot_x_at (&a, &dyno_plot_theme_light, 400, 200, 10 + second + 8)));
  g_assert_true (isnan (dyno_plot_x_at (&b, &dyno_plot_theme_light, 400, 200, 10 + second + 4)));
  g_assert_false (isnan (dyno_plot_x_at (&b, &dyno_plot_theme_light, 400, 200, 10 + second + 8)));
}

static void
test_cursor_maps_back_to_data (void)
{
  g_autoptr (DynoSeries) series = ramp ("a", 101);
  DynoPlotLine line = { series, 0 };
  DynoPlot plot = { "t", "x", "y", &line, 1, .y_limit = NAN, .cursor_x = NAN };

  g_assert_true (isnan (dyno_plot_x_at (&plot, &dyno_plot_theme_light, 400, 200, 2.0)));
  g_assert_cmpfloat (dyno_plot_x_at (&plot, &dyno_plot_theme_light, 400, 200, 383.0), >, 95.0);
}

/* A plot over epochs is the same whether the series has steps, which are mapped, or epochs: its line,
 * and the mark and the read-out at the cursor. */
static void
test_a_mapped_axis_is_drawn_alike (void)
{
  g_autoptr (DynoSeries) steps = dyno_series_new ("Loss", ""),
                         epochs = dyno_series_new ("Loss", ""), map = dyno_series_new ("Epoch", "");
  DynoPlotLine lines[] = { { steps, 0, .x_map = map }, { epochs, 0 } };
  cairo_surface_t *surfaces[2];

  for (guint i = 1; i <= 20; i++)
    {
      dyno_series_append (steps, 8 * i, 1.0 / i);
      dyno_series_append (epochs, i, 1.0 / i);
      dyno_series_append (map, 8 * i, i);
    }
  for (guint i = 0; i < 2; i++)
    {
      DynoPlot plot = { "Loss", "Epoch", "", &lines[i], 1, .y_limit = NAN, .cursor_x = 12 };
      cairo_t *cr;

      surfaces[i] = cairo_image_surface_create (CAIRO_FORMAT_RGB24, 400, 200);
      cr = cairo_create (surfaces[i]);
      dyno_plot_draw (cr, &plot, &dyno_plot_theme_light, 400, 200, 1.0);
      cairo_destroy (cr);
      cairo_surface_flush (surfaces[i]);
    }
  g_assert_cmpmem (cairo_image_surface_get_data (surfaces[0]), 200 * 1600,
                   cairo_image_surface_get_data (surfaces[1]), 200 * 1600);
  cairo_surface_destroy (surfaces[0]);
  cairo_surface_destroy (surfaces[1]);
}

/* The cursor is at the nearest point of any line that is shown, by the displayed x; the row of a line
 * whose nearest point lies elsewhere, since it has ended, is longer by that x. */
static void
test_cursor_is_at_the_nearest_point (void)
{
  g_autoptr (DynoSeries) sparse = dyno_series_new ("s", ""), dense = ramp ("d", 101),
                         map = dyno_series_new ("Epoch", ""), flat = dyno_series_new ("f", "");
  DynoPlotLine lines[] = { { sparse, 0 }, { dense, 1 } };
  DynoPlot plot = { "t", "x", "", lines, 2, .y_limit = NAN, .cursor_x = NAN };
  DynoSeries *ends[2];
  int last[2] = { 0, 0 };

  g_assert_true (isnan (dyno_plot_find_cursor (&(DynoPlot){ .n_lines = 0 }, 3)));
  dyno_series_append (sparse, 0.25, 0);
  dyno_series_append (sparse, 44.25, 0);
  g_assert_cmpfloat (dyno_plot_find_cursor (&plot, 90.2), ==, 90);
  g_assert_cmpfloat (dyno_plot_find_cursor (&plot, 44.2), ==, 44.25);
  g_assert_cmpfloat (dyno_plot_find_cursor (&plot, 44.125), ==,
                     44.25); /* as near: the first line */
  lines[1].hidden = TRUE;
  g_assert_cmpfloat (dyno_plot_find_cursor (&plot, 90.2), ==, 44.25);
  lines[1].hidden = FALSE;
  dyno_series_append (map, 0, 0);
  dyno_series_append (map, 100, 10);
  lines[1].x_map = map;
  g_assert_cmpfloat (dyno_plot_find_cursor (&plot, 9.04), ==, 9);
  for (guint i = 0; i <= 100; i++)
    dyno_series_append (flat, i, i == 0 ? 10 : 0);
  for (guint i = 0; i < 2; i++)
    {
      DynoPlotLine both[2] = { { flat, 0 } };
      DynoPlot drawn = { "t", "x", "", both, 2, .y_limit = NAN, .cursor_x = 20 };
      cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, 400, 200);
      cairo_t *cr = cairo_create (surface);

      ends[i] = dyno_series_new ("e", "");
      for (guint k = 0; k <= (i == 0 ? 20 : 10); k++)
        dyno_series_append (ends[i], k, 0);
      both[1] = (DynoPlotLine){ ends[i], 1 };
      dyno_plot_draw (cr, &drawn, &dyno_plot_theme_light, 400, 200, 1.0);
      cairo_destroy (cr);
      cairo_surface_flush (surface);
      /* Of the dark texts right of the cursor, above the lines. */
      for (int y = 40; y < 110; y++)
        for (int x = 130; x < 330; x++)
          if (cairo_image_surface_get_data (surface)[1600 * y + 4 * x + 1] < 120)
            last[i] = MAX (last[i], x);
      cairo_surface_destroy (surface);
      dyno_series_free (ends[i]);
    }
  g_assert_cmpint (last[0], >, 130);
  g_assert_cmpint (last[1], >, last[0] + 20);
}

/* The texts at the cursor begin behind the widest sample, whichever line has it: of two lines that
 * differ in their dashes only the samples are exchanged where the lines are. */
static void
test_texts_begin_behind_the_samples (void)
{
  g_autoptr (DynoSeries) series = dyno_series_new ("Loss", "");
  int first = 400, last = 0;
  cairo_surface_t *surfaces[2];

  for (guint i = 0; i <= 10; i++)
    dyno_series_append (series, i, i == 0 ? 10 : 0);
  for (guint i = 0; i < 2; i++)
    {
      DynoPlotLine lines[] = { { series, 0, .dash = i == 0 }, { series, 0, .dash = i == 1 } };
      DynoPlot plot = { "t", "x", "", lines, 2, .y_limit = NAN, .cursor_x = 5 };
      cairo_t *cr;

      surfaces[i] = cairo_image_surface_create (CAIRO_FORMAT_RGB24, 400, 200);
      cr = cairo_create (surfaces[i]);
      dyno_plot_draw (cr, &plot, &dyno_plot_theme_light, 400, 200, 1.0);
      cairo_destroy (cr);
      cairo_surface_flush (surfaces[i]);
    }
  /* Below the names, above the lines, right of the cursor. */
  for (int y = 40; y < 120; y++)
    for (int x = 200; x < 400; x++)
      if (memcmp (cairo_image_surface_get_data (surfaces[0]) + 1600 * y + 4 * x,
                  cairo_image_surface_get_data (surfaces[1]) + 1600 * y + 4 * x, 4)
          != 0)
        {
          first = MIN (first, x);
          last = MAX (last, x);
        }
  g_assert_cmpint (last, >, first + 15);
  g_assert_cmpint (last, <, first + 26);
  cairo_surface_destroy (surfaces[0]);
  cairo_surface_destroy (surfaces[1]);
}

/* A span between two points has the range of the line between them, without that of a hidden
 * line. */
static void
test_hidden_lines_do_not_stretch_a_span (void)
{
  g_autoptr (DynoSeries) low = dyno_series_new ("low", ""), high = dyno_series_new ("high", "");
  DynoPlotLine lines[] = { { low, 0 }, { high, 1, .hidden = TRUE } };
  DynoPlot plot = { "t", "x", "y", lines, 2, .x0 = 4, .x1 = 6, .y_limit = NAN, .cursor_x = NAN };
  DynoPlotRange range;

  for (guint i = 0; i <= 2; i++)
    {
      dyno_series_append (low, 10 * i, 1 + i);
      dyno_series_append (high, 10 * i, 1000);
    }
  g_assert_true (dyno_plot_range (&plot, &range));
  g_assert_cmpfloat (range.y1, <, 10);
  lines[1].hidden = FALSE;
  g_assert_true (dyno_plot_range (&plot, &range));
  g_assert_cmpfloat (range.y1, >, 900);
  /* Nor does it lower the beginning of a logarithmic axis. */
  lines[0].hidden = TRUE;
  g_assert_cmpfloat (dyno_plot_least_positive (&plot, 0, 20), ==, 1000);
  lines[0].hidden = FALSE;
  g_assert_cmpfloat (dyno_plot_least_positive (&plot, 0, 20), ==, 1);
}

/* The red, green and blue of a pixel in a surface. */
static guint32
colour_at (cairo_surface_t *surface, int x, int y)
{
  const guint8 *p;

  cairo_surface_flush (surface);
  p = cairo_image_surface_get_data (surface) + y * cairo_image_surface_get_stride (surface) + x * 4;
  return (guint32) p[2] << 16 | (guint32) p[1] << 8 | p[0];
}

/* Seven tiles: six in the first row, one below; small ones are not blurred, a wide one keeps its
 * aspect ratio. */
static void
test_sheet_tiles_stand_in_rows (void)
{
  static const guint8 pixels[2 * 2 * 3] = { 255, 0, 0, 0, 255, 0, 0, 0, 255, 10, 20, 30 };
  DynoSheetTile tiles[7];
  cairo_surface_t *surface;
  double width, height, one, two;
  cairo_t *cr;

  for (guint i = 0; i < 7; i++)
    tiles[i] = (DynoSheetTile){ pixels, 2, 2, "a caption that is far too long for its tile" };
  tiles[6].height = 1;
  dyno_sheet_measure (6, FALSE, &width, &one);
  dyno_sheet_measure (7, FALSE, &width, &two);
  g_assert_cmpfloat (two, >, one);
  dyno_sheet_measure (7, TRUE, &width, &height);
  g_assert_cmpfloat (height, >, two);
  surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, (int) width, (int) two);
  cr = cairo_create (surface);
  dyno_sheet_draw (cr, NULL, tiles, 7);
  g_assert_cmpint (cairo_status (cr), ==, CAIRO_STATUS_SUCCESS);
  for (int i = 0; i < 6; i++)
    {
      int x = 12 + i * 124, y = 12;

      g_assert_cmphex (colour_at (surface, x + 2, y + 2), ==, 0xff0000);
      g_assert_cmphex (colour_at (surface, x + 53, y + 53), ==, 0xff0000);
      g_assert_cmphex (colour_at (surface, x + 58, y + 53), ==, 0x00ff00);
      g_assert_cmphex (colour_at (surface, x + 53, y + 58), ==, 0x0000ff);
      g_assert_cmphex (colour_at (surface, x + 109, y + 109), ==, 0x0a141e);
      g_assert_cmphex (colour_at (surface, x + 115, y + 135), ==, 0xffffff);
    }
  g_assert_cmphex (colour_at (surface, 14, 156), ==, 0xffffff);
  g_assert_cmphex (colour_at (surface, 14, 154 + 56), ==, 0xff0000);
  g_assert_cmphex (colour_at (surface, 14, 154 + 100), ==, 0xffffff);
  cairo_destroy (cr);
  cairo_surface_destroy (surface);
}

static guint
count_dark (cairo_surface_t *surface, int x0, int y0, int x1, int y1)
{
  guint count = 0;

  for (int y = y0; y < y1; y++)
    for (int x = x0; x < x1; x++)
      count += (colour_at (surface, x, y) & 0xff) < 160;
  return count;
}

/* Sizes by the number of tiles; a title is above them; a caption is cut at the width of its tile,
 * between characters, and a high tile is in the middle of its square. */
static void
test_sheet_has_its_measures (void)
{
  static const struct {
    guint n;
    double width, height;
  } rows[] = { { 0, 136, 154 }, { 1, 136, 154 }, { 2, 260, 154 },
               { 6, 756, 154 }, { 7, 756, 296 }, { 13, 756, 438 } };
  static const guint8 red[2 * 3] = { 255, 0, 0, 255, 0, 0 };
  const DynoSheetTile tiles[] = {
    { red, 1, 2, "i" },
    { red, 1, 2, "ääääääääääääääääääääääääääääääääääääääääää" },
    { NULL, 1, 2, "none" },
    { red, 0, 2, NULL },
  };
  cairo_surface_t *surface;
  cairo_t *cr;

  for (guint i = 0; i < G_N_ELEMENTS (rows) * 2; i++)
    {
      double width, height;

      dyno_sheet_measure (rows[i / 2].n, i % 2, &width, &height);
      g_assert_cmpfloat (width, ==, rows[i / 2].width);
      g_assert_cmpfloat (height, ==, rows[i / 2].height + (i % 2 ? 26 : 0));
    }
  surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, 508, 180);
  cr = cairo_create (surface);
  dyno_sheet_draw (cr, "Title", tiles, 4);
  g_assert_cmpint (cairo_status (cr), ==, CAIRO_STATUS_SUCCESS);
  g_assert_cmpuint (count_dark (surface, 12, 12, 200, 34), >, 20);
  g_assert_cmphex (colour_at (surface, 12 + 26, 38 + 56), ==, 0xffffff);
  g_assert_cmphex (colour_at (surface, 12 + 30, 38 + 2), ==, 0xff0000);
  g_assert_cmphex (colour_at (surface, 12 + 82, 38 + 110), ==, 0xff0000);
  g_assert_cmphex (colour_at (surface, 12 + 86, 38 + 56), ==, 0xffffff);
  g_assert_cmpuint (count_dark (surface, 12, 151, 20, 170), >, 0);
  g_assert_cmpuint (count_dark (surface, 20, 151, 124, 170), ==, 0);
  g_assert_cmpuint (count_dark (surface, 136, 151, 248, 170), >, 50);
  g_assert_cmpuint (count_dark (surface, 236, 151, 248, 170), >, 0);
  g_assert_cmpuint (count_dark (surface, 249, 151, 259, 170), ==, 0);
  g_assert_cmpuint (count_dark (surface, 260, 38, 372, 150), ==, 0);
  g_assert_cmpuint (count_dark (surface, 260, 151, 372, 170), >, 10);
  cairo_destroy (cr);
  cairo_surface_destroy (surface);
}

static void
test_sheet_writes_a_png (void)
{
  static const guint8 pixel[3] = { 1, 2, 3 };
  const DynoSheetTile tile = { pixel, 1, 1, NULL };
  g_autofree char *folder = g_dir_make_tmp ("dyno-plot-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "s.PNG", NULL);
  g_autofree char *content = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (dyno_sheet_write ("Title", &tile, 1, path, &error));
  g_assert_true (g_file_get_contents (path, &content, NULL, NULL));
  g_assert_true (g_str_has_prefix (content, "\x89PNG"));
  /* Two pixels per unit. */
  g_assert_cmpmem (content + 16, 8, "\0\0\1\x10\0\0\1\x68", 8);
  g_assert_false (dyno_sheet_write (NULL, &tile, 1, "sheet.jpg", &error));
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL);
  g_unlink (path);
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plot/draw/line-is-drawn", test_line_is_drawn);
  g_test_add_func ("/plot/draw/survives-odd-data", test_survives_odd_data);
  g_test_add_func ("/plot/draw/cursor-maps-back-to-data", test_cursor_maps_back_to_data);
  g_test_add_func ("/plot/draw/cursor-is-at-the-nearest-point",
                   test_cursor_is_at_the_nearest_point);
  g_test_add_func ("/plot/draw/texts-begin-behind-the-samples",
                   test_texts_begin_behind_the_samples);
  g_test_add_func ("/plot/draw/a-mapped-axis-is-drawn-alike", test_a_mapped_axis_is_drawn_alike);
  g_test_add_func ("/plot/hidden-lines-do-not-stretch-a-span",
                   test_hidden_lines_do_not_stretch_a_span);
  g_test_add_func ("/plot/write/each-format", test_writes_each_format);
  g_test_add_func ("/plot/write/one-below-the-other", test_plots_are_one_below_the_other);
  g_test_add_func ("/plot/module/draws-what-the-layer-draws", test_module);
  g_test_add_func ("/plot/themes/are-legible", test_themes);
  g_test_add_func ("/plot/write/csv-joins-series-by-x", test_csv_joins_series_by_x);
  g_test_add_func ("/plot/axis/ticks-are-round", test_axis_ticks_are_round);
  g_test_add_func ("/plot/axis/ticks-of-steps-are-whole", test_axis_ticks_of_steps_are_whole);
  g_test_add_func ("/plot/axis/log-ticks-are-1-2-5", test_axis_log_ticks_are_1_2_5);
  g_test_add_func ("/plot/axis/thousands-stand-apart", test_axis_thousands_stand_apart);
  g_test_add_func ("/plot/axis/rates-have-three-digits", test_rates_have_three_digits);
  g_test_add_func ("/plot/draw/the-smoothed-value-is-read", test_the_smoothed_value_is_read);
  g_test_add_func ("/plot/axis/large-values-have-exponents", test_axis_large_values_have_exponents);
  g_test_add_func ("/plot/range/one-spike-does-not-flatten-the-rest",
                   test_one_spike_does_not_flatten_the_rest);
  g_test_add_func ("/plot/range/growth-is-no-spike", test_growth_is_no_spike);
  g_test_add_func ("/plot/draw/clipped-points-are-marked", test_clipped_points_are_marked);
  g_test_add_func ("/plot/draw/plots-stand-in-line", test_plots_stand_in_line);
  g_test_add_func ("/plot/sheet/tiles-stand-in-rows", test_sheet_tiles_stand_in_rows);
  g_test_add_func ("/plot/sheet/has-its-measures", test_sheet_has_its_measures);
  g_test_add_func ("/plot/sheet/writes-a-png", test_sheet_writes_a_png);
  return g_test_run ();
}
