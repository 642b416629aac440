/* SPDX-License-Identifier: MIT */
/* Viewing a plot: zooming and panning, steps as epochs and as time, marks at NaN values, lines that
 * differ without colours. */
#include "axis.h"
#include "draw.h"
#include "range.h"
#include "span.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static const DynoPlotSpan all = { 0, 1000 };

static void
assert_span (DynoPlotSpan span, double x0, double x1)
{
  g_assert_cmpfloat_with_epsilon (span.x0, x0, 1e-9);
  g_assert_cmpfloat_with_epsilon (span.x1, x1, 1e-9);
}

static void
test_zoom_keeps_the_pointed_value (void)
{
  DynoPlotSpan whole = { 0, 0 };
  DynoPlotSpan near = dyno_plot_span_zoom (whole, all, 250, 0.5, 10);

  assert_span (near, 125, 625); /* 250 is a quarter of the width from the left, as before */
  assert_span (dyno_plot_span_zoom (near, all, 250, 0.5, 10), 187.5, 437.5);
  assert_span (dyno_plot_span_zoom (near, all, (double) NAN, 0.5, 10), 250, 500);
}

static void
test_zoom_stops_at_the_least_width (void)
{
  DynoPlotSpan near = { 500, 512 };

  assert_span (dyno_plot_span_zoom (near, all, 500, 0.1, 10), 500, 510);
  assert_span (dyno_plot_span_zoom ((DynoPlotSpan){ 500, 504 }, all, 500, 0.1, 10), 500, 504);
}

static void
test_zooming_out_ends_at_the_whole (void)
{
  g_assert_true (
      dyno_plot_span_is_all (dyno_plot_span_zoom ((DynoPlotSpan){ 200, 800 }, all, 500, 2, 10)));
  assert_span (dyno_plot_span_zoom ((DynoPlotSpan){ 0, 100 }, all, 0, 2, 10), 0, 200);
  /* Zooming stops at the ends. */
  assert_span (dyno_plot_span_zoom ((DynoPlotSpan){ 900, 1000 }, all, 900, 3, 10), 700, 1000);
  g_assert_true (
      dyno_plot_span_is_all (dyno_plot_span_zoom (all, (DynoPlotSpan){ 5, 5 }, 5, 0.5, 1)));
}

static void
test_panning_stops_at_the_ends (void)
{
  DynoPlotSpan part = { 100, 300 };

  assert_span (dyno_plot_span_pan (part, all, 0.25), 150, 350);
  assert_span (dyno_plot_span_pan (part, all, -4), 0, 200);
  assert_span (dyno_plot_span_pan (part, all, 40), 800, 1000);
  g_assert_true (dyno_plot_span_is_all (dyno_plot_span_pan ((DynoPlotSpan){ 0, 0 }, all, 0.5)));
}

/* Steps of 2 s, then of 10 s. */
static DynoSeries *
make_clock (void)
{
  DynoSeries *map = dyno_series_new ("Time", "s");

  for (guint i = 0; i <= 100; i++)
    dyno_series_append (map, i, i <= 50 ? i * 2 : 100 + (i - 50) * 10);
  return map;
}

static void
test_a_map_goes_both_ways (void)
{
  g_autoptr (DynoSeries) map = make_clock (), none = dyno_series_new ("", ""),
                         one = dyno_series_new ("", "");

  g_assert_cmpfloat_with_epsilon (dyno_plot_map_x (map, 25.5), 51, 1e-9);
  g_assert_cmpfloat_with_epsilon (dyno_plot_map_x (map, 75), 350, 1e-9);
  /* Extrapolated with the last rate. */
  g_assert_cmpfloat_with_epsilon (dyno_plot_map_x (map, 120), 800, 1e-9);
  for (double x = 0; x <= 130; x += 0.7)
    g_assert_cmpfloat_with_epsilon (dyno_plot_unmap_x (map, dyno_plot_map_x (map, x)), x, 1e-6);
  g_assert_cmpfloat (dyno_plot_map_x (NULL, 7), ==, 7);
  g_assert_cmpfloat (dyno_plot_map_x (none, 7), ==, 0);
  dyno_series_append (one, 3, 9);
  g_assert_cmpfloat (dyno_plot_map_x (one, 7), ==, 21);
  g_assert_cmpfloat (dyno_plot_unmap_x (one, 21), ==, 7);
  g_assert_true (isinf (dyno_plot_unmap_x (map, INFINITY)));
}

/* There are 2,000 points between the steps of the map, so columns are drawn. */
static void
test_a_mapped_line_is_seen_over_its_time (void)
{
  g_autoptr (DynoSeries) map = make_clock (), series = dyno_series_new ("Loss", "");
  DynoPlotLine line = { .series = series, .x_map = map };
  DynoPlot plot = { .lines = &line, .n_lines = 1, .y_limit = NAN, .cursor_x = NAN };
  DynoPlotRange range;
  DynoPlotSpan extent;
  DynoColumn columns[64 + 4];

  for (guint i = 0; i <= 2000; i++)
    dyno_series_append (series, i * 0.05, i < 1000 ? 1 : 2);
  g_assert_true (dyno_plot_range (&plot, &range));
  g_assert_cmpfloat_with_epsilon (range.x1, 600, 1e-9);
  g_assert_true (dyno_plot_extent (&plot, &extent));
  assert_span (extent, 0, 600);
  plot.x0 = 0;
  plot.x1 = 90; /* the first 45 steps: all ones */
  g_assert_true (dyno_plot_range (&plot, &range));
  g_assert_cmpfloat (range.y1, ==, 1);
  g_assert_cmpfloat (range.x1, ==, 90);
  for (guint i = 0, n = dyno_plot_columns (&line, series, 200, 400, 64, columns); i < n; i++)
    {
      g_assert_cmpfloat (columns[i].x, >=, 195);
      g_assert_cmpfloat (columns[i].x, <=, 405);
      g_assert_cmpfloat (columns[i].y_min, ==, 2);
    }
}

static void
test_a_view_between_two_points_shows_the_line (void)
{
  g_autoptr (DynoSeries) series = dyno_series_new ("Accuracy", "%");
  DynoPlotLine line = { .series = series };
  DynoPlot plot = { .lines = &line, .n_lines = 1, .x0 = 12, .x1 = 18 };
  DynoPlotRange range;

  g_assert_false (dyno_plot_range (&plot, &range));
  dyno_series_append (series, 10, 50);
  dyno_series_append (series, 20, 70);
  g_assert_true (dyno_plot_range (&plot, &range));
  g_assert_cmpfloat (range.y0, ==, 50);
  g_assert_cmpfloat (range.y1, ==, 70);
}

static void
assert_time_ticks (double low, double high, guint most, const char *expected)
{
  DynoAxis axis;
  g_autoptr (GString) text = g_string_new (NULL);

  dyno_axis_init_time (&axis, low, high, most);
  for (guint i = 0; i < axis.n_ticks; i++)
    {
      g_autofree char *tick = dyno_axis_format (&axis, axis.ticks[i]);
      g_string_append_printf (text, "%s%s", i ? " " : "", tick);
    }
  g_assert_cmpstr (text->str, ==, expected);
}

static void
test_time_has_the_ticks_of_clocks (void)
{
  assert_time_ticks (0, 100, 7, "0:00 0:15 0:30 0:45 1:00 1:15 1:30");
  assert_time_ticks (0, 3700, 5, "0:00 15:00 30:00 45:00 1:00:00");
  assert_time_ticks (0, 90000, 5, "0:00 6:00:00 12:00:00 18:00:00 1d 0:00");
  assert_time_ticks (0, 1, 5, "0.0 0.2 0.4 0.6 0.8 1.0");
  assert_time_ticks (0, 1e13, 5, "0:00 – – – – –"); /* no time at all */
}

/* The number of pixels with the given property in rows of a drawing. */
static guint
count (const DynoPlot *plot, const DynoPlotTheme *theme, int from, int to,
       gboolean (*is) (const guint8 *p))
{
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, 400, 200);
  cairo_t *cr = cairo_create (surface);
  int stride = cairo_image_surface_get_stride (surface);
  const guint8 *data;
  guint n = 0;

  dyno_plot_draw (cr, plot, theme, 400, 200, 1.0);
  cairo_surface_flush (surface);
  data = cairo_image_surface_get_data (surface);
  for (int y = from; y < to; y++)
    for (int x = 0; x < 400; x++)
      n += is (data + y * stride + x * 4);
  cairo_destroy (cr);
  cairo_surface_destroy (surface);
  return n;
}

static gboolean
is_red (const guint8 *p)
{
  return p[2] > 170 && p[1] < 60 && p[0] < 80;
}

static gboolean
is_blue (const guint8 *p)
{
  return p[0] > 190 && p[2] < 90;
}

static void
test_no_number_is_marked (void)
{
  g_autoptr (DynoSeries) series = dyno_series_new ("Loss", "");
  DynoPlotLine line = { .series = series, .mark_gaps = TRUE };
  DynoPlot plot = {
    .x_label = "Step", .lines = &line, .n_lines = 1, .y_limit = NAN, .cursor_x = NAN
  };
  guint marked;

  for (guint i = 0; i < 3000; i++)
    dyno_series_append (series, i, 1 + 0.1 * (i % 7));
  g_assert_cmpuint (count (&plot, &dyno_plot_theme_light, 150, 180, is_red), ==, 0);
  dyno_series_append (series, 3000, (double) NAN); /* a single NaN, in a column of its own */
  for (guint i = 3001; i < 4000; i++)
    dyno_series_append (series, i, 1);
  marked = count (&plot, &dyno_plot_theme_light, 150, 180, is_red);
  g_assert_cmpuint (marked, >, 6);
  line.mark_gaps = FALSE;
  g_assert_cmpuint (count (&plot, &dyno_plot_theme_light, 150, 180, is_red), ==, 0);
}

static void
test_high_contrast_lines_are_wide_and_dashed (void)
{
  g_autoptr (DynoSeries) low = dyno_series_new ("a", ""), high = dyno_series_new ("b", "");
  /* the second line is blue */
  DynoPlotLine lines[] = { { .series = low, .colour = 4 }, { .series = high } };
  DynoPlot plot = {
    .x_label = "Step", .lines = lines, .n_lines = 2, .y_limit = NAN, .cursor_x = NAN
  };
  DynoPlotTheme theme = dyno_plot_theme_light;
  guint thin, wide, dashed;

  for (guint i = 0; i < 50; i++)
    {
      dyno_series_append (low, i, 0);
      dyno_series_append (high, i, 1);
    }
  theme.line_width = 2;
  thin = count (&plot, &theme, 27, 170, is_blue);
  theme.line_width = 4;
  wide = count (&plot, &theme, 27, 170, is_blue);
  theme.dashed = TRUE;
  dashed = count (&plot, &theme, 27, 170, is_blue);
  g_assert_cmpuint (wide, >, thin * 3 / 2);
  g_assert_cmpuint (dashed, <, wide * 95 / 100);
}

/* A smoothed line with many more points than pixels, whose columns are bars, is dashed too. */
static void
test_a_line_of_many_points_is_dashed (void)
{
  g_autoptr (DynoSeries) low = dyno_series_new ("a", ""), high = dyno_series_new ("b", "");
  DynoPlotLine lines[] = { { .series = low, .colour = 4 }, { .series = high } };
  DynoPlot plot = { .x_label = "Step",
                    .lines = lines,
                    .n_lines = 2,
                    .smoothing = 0.9,
                    .y_limit = NAN,
                    .cursor_x = NAN };
  DynoPlotTheme theme = dyno_plot_theme_light;
  guint whole;

  for (guint i = 0; i < 20000; i++)
    {
      dyno_series_append (low, i, 0);
      dyno_series_append (high, i, 1 + 1e-3 * (i % 7));
    }
  theme.line_width = 4;
  whole = count (&plot, &theme, 27, 170, is_blue);
  theme.dashed = TRUE;
  g_assert_cmpuint (count (&plot, &theme, 27, 170, is_blue), <, whole * 90 / 100);
}

static double
measure (cairo_t *cr, const DynoPlotTheme *theme, const char *text, double size, gboolean bold,
         gboolean show)
{
  if (show)
    {
      cairo_set_source_rgb (cr, 1, 0, 0);
      cairo_rel_line_to (cr, 5, 0);
      cairo_stroke (cr);
    }
  return 30;
}

static void
test_text_is_the_themes (void)
{
  g_autoptr (DynoSeries) series = dyno_series_new ("a", "");
  DynoPlotLine line = { .series = series };
  DynoPlot plot = {
    .title = "t", .x_label = "x", .lines = &line, .n_lines = 1, .y_limit = NAN, .cursor_x = NAN
  };
  DynoPlotTheme theme = dyno_plot_theme_light;

  dyno_series_append (series, 0, 1);
  dyno_series_append (series, 9, 2);
  theme.text = measure;
  g_assert_cmpuint (count (&plot, &theme, 0, 26, is_red), >, 3); /* the title */
  g_assert_cmpfloat (dyno_plot_label_width (&plot, &theme, 400, 200), >=, 30);
}

static GString *shown; /* texts, and the x at which each begins */

static double
write_down (cairo_t *cr, const DynoPlotTheme *theme, const char *text, double size, gboolean bold,
            gboolean show)
{
  double x, y;

  cairo_get_current_point (cr, &x, &y);
  if (show)
    g_string_append_printf (shown, "%s@%.0f ", text, x);
  return 8;
}

/* Decades are equally wide, the mark is at its value, and the cursor reads rates.  5,000 points are
 * drawn in columns that are equally wide too, by their map. */
static void
test_x_may_be_logarithmic (void)
{
  g_autoptr (DynoSeries) map = dyno_series_new ("", ""), series = dyno_series_new ("Loss", "");
  DynoPlotLine line = { .series = series, .x_map = map };
  DynoPlot plot = { .title = "Loss",
                    .x_label = "Rate",
                    .y_label = "",
                    .lines = &line,
                    .n_lines = 1,
                    .x_log = TRUE,
                    .x_mark = 0.01,
                    .x_mark_label = "best",
                    .y_limit = NAN,
                    .cursor_x = 1e-4 };
  DynoPlotTheme theme = dyno_plot_theme_light;
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, 800, 200);
  cairo_t *cr = cairo_create (surface);
  double x[7], left = 0, right = 0;
  const char *at;

  for (guint i = 0; i <= 5000; i++)
    {
      dyno_series_append (series, i, i < 2500 ? 2 : 1);
      dyno_series_append (map, i, 1e-6 * pow (1e6, i / 5000.0));
    }
  theme.text = write_down;
  shown = g_string_new (NULL);
  dyno_plot_draw (cr, &plot, &theme, 800, 200, 1.0);
  for (int i = 0; i < 7; i++)
    {
      g_autofree char *tick =
          i < 3 ? g_strdup_printf (" 1e%d@", i - 6) : g_strdup_printf (" %g@", pow (10, i - 6));

      at = strstr (shown->str, tick);
      g_assert_nonnull (at);
      x[i] = g_ascii_strtod (strchr (at, '@') + 1, NULL);
    }
  for (guint i = 2; i + 1 < 7; i++) /* the first label begins at the axis */
    g_assert_cmpfloat_with_epsilon (x[i + 1] - x[i], x[2] - x[1], 2);
  at = strstr (shown->str, " Rate@"); /* before the first of them */
  g_assert_nonnull (at);
  g_assert_cmpfloat (g_ascii_strtod (at + 6, NULL), <, x[0] - 8);
  at = strstr (shown->str, "best@");
  g_assert_nonnull (at);
  /* left of the mark, which is 4 units right of the tick's text of 8 */
  g_assert_cmpfloat_with_epsilon (g_ascii_strtod (at + 5, NULL), x[4] + 4 - 8 - 5, 2);
  g_assert_nonnull (strstr (shown->str, "Rate 1e-4@"));
  for (double pixel = 0; pixel < 800; pixel++)
    {
      double value = dyno_plot_x_at (&plot, &theme, 800, 200, pixel);

      left = isfinite (value) && left == 0 ? pixel : left;
      right = isfinite (value) ? pixel : right;
    }
  g_assert_cmpfloat_with_epsilon (
      log10 (dyno_plot_x_at (&plot, &theme, 800, 200, (left + right) / 2)), -3, 0.02);
  plot.x_mark_label = NULL;
  g_string_truncate (shown, 0);
  dyno_plot_draw (cr, &plot, &theme, 800, 200, 1.0);
  g_assert_null (strstr (shown->str, "best@"));
  g_string_free (shown, TRUE);
  cairo_destroy (cr);
  cairo_surface_destroy (surface);
}

static cairo_status_t
take_text (void *closure, const guint8 *data, guint length)
{
  g_string_append_len (closure, (const char *) data, length);
  return CAIRO_STATUS_SUCCESS;
}

/* Returns Cairo's operations: the number of fills, strokes and so on, of each kind. */
static char *
observe (const DynoPlot *plot)
{
  cairo_surface_t *image = cairo_image_surface_create (CAIRO_FORMAT_RGB24, 1600, 400);
  cairo_surface_t *observer = cairo_surface_create_observer (image, CAIRO_SURFACE_OBSERVER_NORMAL);
  cairo_t *cr = cairo_create (observer);
  GString *text = g_string_new (NULL);

  dyno_plot_draw (cr, plot, &dyno_plot_theme_light, 1600, 400, 1.0);
  cairo_destroy (cr);
  g_assert_cmpint (cairo_surface_observer_print (observer, take_text, text), ==,
                   CAIRO_STATUS_SUCCESS);
  cairo_surface_destroy (observer);
  cairo_surface_destroy (image);
  return g_string_free (text, FALSE);
}

/* The number of fills or strokes of a kind; what: "antialias: " or "caps: ". */
static guint
count_kind (const char *observed, const char *drawn, const char *what, const char *kind)
{
  const char *from = strstr (observed, drawn), *end, *at;

  g_assert_nonnull (from);
  from = strstr (from, what);
  g_assert_nonnull (from);
  from += strlen (what);
  end = strchr (from, '\n');
  at = g_strstr_len (from, end - from, kind);
  while (at && at > from && at[-1] != ',' && at[-1] != ':')
    at--;
  return at ? (guint) g_ascii_strtoull (at, NULL, 10) : 0;
}

static guint
count_paths_of_svg (const DynoPlot *plot)
{
  g_autofree char *folder = g_dir_make_tmp ("dyno-plot-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "p.svg", NULL);
  g_autofree char *content = NULL;
  guint n = 0;

  g_assert_true (dyno_plot_write (plot, 1, &dyno_plot_theme_light, 1600, 400, 1.0, path, NULL));
  g_assert_true (g_file_get_contents (path, &content, NULL, NULL));
  for (const char *at = content; (at = strstr (at, "<path")); at++)
    n++;
  g_unlink (path);
  g_rmdir (folder);
  return n;
}

/* A million jumping points, a fifth of them in view: bars in portions, and a steep line without a
 * Cairo stroke.  A vector file has the bars in one piece. */
static void
test_many_points_are_drawn_cheaply (void)
{
  g_autoptr (DynoSeries) jumps = dyno_series_new ("Loss", ""), calm = dyno_series_new ("Loss", "");
  DynoPlotLine line = { .series = jumps };
  DynoPlot plot = { .title = "Loss",
                    .x_label = "Step",
                    .y_label = "",
                    .lines = &line,
                    .n_lines = 1,
                    .smoothing = 0.8,
                    .x0 = 400000,
                    .x1 = 600000,
                    .y_limit = NAN,
                    .cursor_x = NAN };
  g_autofree char *many = NULL, *few = NULL;
  guint32 random = 1;

  for (guint i = 0; i < 1000000; i++)
    {
      random = random * 1664525 + 1013904223;
      dyno_series_append (jumps, i, (double) random / G_MAXUINT32);
    }
  many = observe (&plot);
  g_assert_cmpuint (count_kind (many, "fill: ", "antialias: ", "none"), >=, 1400 / 32);
  g_assert_cmpuint (count_kind (many, "stroke: ", "caps: ", "round"), ==, 0);
  g_assert_cmpuint (count_paths_of_svg (&plot), <, 40);

  for (guint i = 0; i < 1000; i++)
    dyno_series_append (calm, i, sin (i / 50.0));
  line.series = calm;
  plot.x0 = plot.x1 = 0;
  few = observe (&plot);
  g_assert_cmpuint (count_kind (few, "stroke: ", "caps: ", "round"), >=, 1);
}

/* --- hidden lines ----------------------------------------------------------------------------- */

/* The horizontal centres of the names of lines 0 and 1; NaN: no name. */
static void
find_names (const DynoPlot *plot, double y, double middle[2])
{
  double from[2] = { NAN, NAN }, to[2] = { NAN, NAN };

  for (double x = 0; x < 400; x++)
    {
      int line = dyno_plot_name_at (plot, &dyno_plot_theme_light, 400, x, y, NULL);

      if (line < 0)
        continue;
      from[line] = isnan (from[line]) ? x : from[line];
      to[line] = x;
    }
  for (guint i = 0; i < 2; i++)
    middle[i] = (from[i] + to[i]) / 2;
}

static void
test_a_hidden_line_is_only_a_name (void)
{
  g_autoptr (DynoSeries) low = dyno_series_new ("low", ""), high = dyno_series_new ("high", "");
  DynoPlotLine lines[] = { { .series = low }, { .series = high, .colour = 4 } };
  DynoPlot plot = {
    .title = "Loss", .lines = lines, .n_lines = 2, .y_limit = (double) NAN, .cursor_x = (double) NAN
  };
  DynoPlotRange range;
  DynoPlotSpan span;
  double names[2];

  for (guint i = 0; i < 10; i++)
    {
      dyno_series_append (low, i, 1 + i);
      dyno_series_append (high, i + 5, 500 + 50 * i);
    }
  find_names (&plot, 12, names);
  g_assert_cmpfloat (names[0], >, 60); /* after the title */
  g_assert_cmpfloat (names[1], >, names[0] + 20);
  /* Lines without a name, as of validations, come after those with one. */
  DynoPlotLine four[] = { lines[0], lines[1], lines[0], lines[1] };
  double same[2];
  four[2].unnamed = four[3].unnamed = TRUE;
  plot.lines = four;
  plot.n_lines = 4;
  find_names (&plot, 12, same);
  g_assert_true (same[0] == names[0] && same[1] == names[1]);
  plot.lines = lines;
  plot.n_lines = 2;
  g_assert_cmpint (dyno_plot_name_at (&plot, &dyno_plot_theme_light, 400, names[0], 100, NULL), ==,
                   -1);
  g_assert_cmpuint (count (&plot, &dyno_plot_theme_light, 40, 180, is_red), >, 30);
  lines[1].hidden = TRUE;
  g_assert_cmpuint (count (&plot, &dyno_plot_theme_light, 40, 180, is_red), ==, 0);
  g_assert_true (dyno_plot_range (&plot, &range));
  g_assert_cmpfloat (range.y0, ==, 1);
  g_assert_cmpfloat (range.y1, ==, 10);
  g_assert_cmpfloat (range.x1, ==, 14); /* the view does not jump */
  g_assert_true (dyno_plot_extent (&plot, &span));
  g_assert_cmpfloat (span.x1, ==, 14);
  g_assert_cmpfloat (dyno_plot_least_positive (&plot, 0, 20), ==, 1);
  find_names (&plot, 12, names);
  g_assert_cmpfloat (names[1], >, names[0]);
  lines[0].hidden = TRUE;
  lines[1].hidden = FALSE;
  g_assert_cmpfloat (dyno_plot_least_positive (&plot, 0, 20), ==, 500);
  lines[1].hidden = TRUE;
  g_assert_true (dyno_plot_range (&plot, &range));
  g_assert_cmpfloat (range.y0, <, range.y1);
  lines[0].unnamed = TRUE;
  find_names (&plot, 12, names);
  g_assert_true (isnan (names[0]) && isfinite (names[1]));
}

/* --- names of many lines ---------------------------------------------------------------------- */

#define N_NAMES 8

/* Finds the names in a drawing of a width: how many rows they have, in pixels of y at which one of
 * them is found; which are found, and which of these are cut.  Each is asserted to be one piece. */
static guint
find_all_names (const DynoPlot *plot, double width, guint *found, guint *cut)
{
  guint tall = 0;

  *found = *cut = 0;
  for (double y = 0; y < 200; y++)
    {
      gboolean any = FALSE;
      int before = -1;
      for (double x = 0; x < width; x++)
        {
          gboolean is_cut = FALSE;
          int line = dyno_plot_name_at (plot, &dyno_plot_theme_light, width, x, y, &is_cut);
          if (line < 0)
            continue;
          g_assert_cmpint (line, >=, before); /* from left to right */
          before = line;
          any = TRUE;
          *found |= 1u << line;
          if (is_cut)
            *cut |= 1u << line;
        }
      tall += any;
    }
  return tall;
}

/* Names that have no room beside the title are in rows below it, all of them; the drawing needs
 * their height.  They are cut only where they would need many rows. */
static void
test_every_line_has_its_name (void)
{
  static const char *const names[N_NAMES] = { "baseline",
                                              "half the learning rate",
                                              "AdamW, 6 epochs",
                                              "wide",
                                              "label smoothing 0.1",
                                              "fine-tuned from the ImageNet weights",
                                              "mixup",
                                              "batch 256" };
  DynoSeries *series[N_NAMES];
  DynoPlotLine lines[N_NAMES + 1] = { 0 };
  DynoPlot plot = {
    .title = "Loss", .lines = lines, .n_lines = 2, .y_limit = (double) NAN, .cursor_x = (double) NAN
  };
  const DynoPlotTheme *theme = &dyno_plot_theme_light;
  guint found, cut, tall;

  for (guint i = 0; i < N_NAMES; i++)
    {
      series[i] = dyno_series_new (names[i], "");
      dyno_series_append (series[i], 0, i == 4 ? 20 : i);
      dyno_series_append (series[i], 1, i == 4 ? 20 : i + 1);
      lines[i] = (DynoPlotLine){ .series = series[i], .colour = i };
    }
  lines[N_NAMES] = (DynoPlotLine){ .series = series[0], .unnamed = TRUE };
  g_assert_cmpfloat (dyno_plot_names_height (&plot, theme, 400), ==, 0);
  g_assert_cmpfloat (dyno_plot_names_height (&plot, theme, 200), >, 0);
  plot.n_lines = N_NAMES + 1;
  find_all_names (&plot, 2000, &found, &cut);
  g_assert_true (found == 0xff && cut == 0);
  g_assert_cmpfloat (dyno_plot_names_height (&plot, theme, 2000), ==, 0);
  for (double width = 900; width >= 300; width -= 150)
    {
      double height = dyno_plot_names_height (&plot, theme, width);
      tall = find_all_names (&plot, width, &found, &cut);
      g_assert_cmphex (found, ==, 0xff);
      if (width == 900) /* all beside the title */
        g_assert_cmpfloat (height, ==, 0);
      else
        {
          double y = 10 + 1.96 * theme->font_size + 4; /* in the first row */
          g_assert_cmpfloat_with_epsilon (tall, height, 1);
          g_assert_cmpint (dyno_plot_name_at (&plot, theme, width, 14, y, NULL), ==, 0);
        }
      g_assert_cmpfloat (height, <=, 5 * 1.55 * theme->font_size);
      g_assert_true (width < 600 || cut == 0);
    }
  g_assert_cmphex (cut, ==, 1u << 5); /* only the longest */
  /* The axes begin below the names: the highest line, a flat one, is drawn there. */
  int top = (int) (10 + 1.96 * theme->font_size + dyno_plot_names_height (&plot, theme, 400));
  g_assert_cmpuint (count (&plot, theme, 30, top - 4, is_red), <, 100); /* the name's sample */
  g_assert_cmpuint (count (&plot, theme, top - 4, top + 4, is_red), >, 200);
  for (guint i = 0; i < N_NAMES; i++)
    dyno_series_free (series[i]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plot/span/zoom-keeps-the-pointed-value", test_zoom_keeps_the_pointed_value);
  g_test_add_func ("/plot/span/zoom-stops-at-the-least-width", test_zoom_stops_at_the_least_width);
  g_test_add_func ("/plot/span/zooming-out-ends-at-the-whole", test_zooming_out_ends_at_the_whole);
  g_test_add_func ("/plot/span/panning-stops-at-the-ends", test_panning_stops_at_the_ends);
  g_test_add_func ("/plot/map/goes-both-ways", test_a_map_goes_both_ways);
  g_test_add_func ("/plot/map/line-is-seen-over-its-time",
                   test_a_mapped_line_is_seen_over_its_time);
  g_test_add_func ("/plot/range/view-between-two-points-shows-the-line",
                   test_a_view_between_two_points_shows_the_line);
  g_test_add_func ("/plot/axis/time-has-the-ticks-of-clocks", test_time_has_the_ticks_of_clocks);
  g_test_add_func ("/plot/draw/no-number-is-marked", test_no_number_is_marked);
  g_test_add_func ("/plot/draw/high-contrast-lines-are-wide-and-dashed",
                   test_high_contrast_lines_are_wide_and_dashed);
  g_test_add_func ("/plot/draw/a-line-of-many-points-is-dashed",
                   test_a_line_of_many_points_is_dashed);
  g_test_add_func ("/plot/draw/text-is-the-themes", test_text_is_the_themes);
  g_test_add_func ("/plot/draw/a-hidden-line-is-only-a-name", test_a_hidden_line_is_only_a_name);
  g_test_add_func ("/plot/draw/every-line-has-its-name", test_every_line_has_its_name);
  g_test_add_func ("/plot/draw/x-may-be-logarithmic", test_x_may_be_logarithmic);
  g_test_add_func ("/plot/draw/many-points-are-drawn-cheaply", test_many_points_are_drawn_cheaply);
  return g_test_run ();
}
