/* SPDX-License-Identifier: MIT */
/* Steep lines and the area below them compared with Cairo's own stroke and fill. */
#include "steep.h"
#include <math.h>
#include <stdlib.h>

enum { WIDTH = 300, HEIGHT = 200 };

typedef struct {
  double x[256], y[256];
  guint n;
} Points;

static DynoPlotLayout
begin (double scale)
{
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, (int) (WIDTH * scale),
                                                         (int) (HEIGHT * scale));
  DynoPlotLayout l = {
    .cr = cairo_create (surface), .scale = scale, .x = 40.5, .y = 30.25, .w = 250, .h = 150
  };

  cairo_surface_destroy (surface);
  cairo_scale (l.cr, scale, scale);
  cairo_set_source_rgb (l.cr, 1, 1, 1);
  cairo_paint (l.cr);
  cairo_rectangle (l.cr, floor (l.x), floor (l.y), l.w, l.h);
  cairo_clip (l.cr);
  cairo_set_source_rgb (l.cr, 0, 0, 0);
  cairo_set_line_join (l.cr, CAIRO_LINE_JOIN_ROUND);
  cairo_set_line_cap (l.cr, CAIRO_LINE_CAP_ROUND);
  return l;
}

/* Lines up and down, with each fifth corner at half the height; corners are at least `apart` pixels
 * apart in x. */
static Points
zigzag (const DynoPlotLayout *l, double apart, double tall)
{
  Points p = { .n = 0 };
  guint32 random = 1;

  for (double x = l->x; x < l->x + l->w && p.n < 250;
       x += apart * (1 + (double) random / G_MAXUINT32))
    {
      random = random * 1664525 + 1013904223;
      p.x[p.n] = x;
      p.y[p.n] = l->y + l->h / 2
                 + (p.n % 5 == 4   ? 2
                    : p.n % 2 == 0 ? -tall
                                   : tall)
                 + 20.0 * random / G_MAXUINT32;
      p.n++;
    }
  return p;
}

static void
trace (const DynoPlotLayout *l, const Points *p)
{
  for (guint i = 0; i < p->n; i++)
    cairo_line_to (l->cr, p->x[i], p->y[i]);
}

/* For one colour channel, 0 to 255: the mean difference of all pixels, the largest difference, and
 * how far a is below white on average. */
static void
compare (const DynoPlotLayout *a, const DynoPlotLayout *b, double *mean, int *most, double *inked)
{
  cairo_surface_t *one = cairo_get_target (a->cr), *other = cairo_get_target (b->cr);
  int width = cairo_image_surface_get_width (one), height = cairo_image_surface_get_height (one),
      stride = cairo_image_surface_get_stride (one);
  gint64 sum = 0, ink = 0;

  cairo_surface_flush (one);
  cairo_surface_flush (other);
  *most = 0;
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++)
      {
        int left = cairo_image_surface_get_data (one)[y * stride + x * 4],
            right = cairo_image_surface_get_data (other)[y * stride + x * 4];
        sum += abs (left - right);
        ink += 255 - left;
        *most = MAX (*most, abs (left - right));
      }
  *mean = (double) sum / (width * height);
  *inked = (double) ink / (width * height);
}

static void
check_stroke (double scale, double apart, double tall, double width, gboolean gap)
{
  DynoPlotLayout fast = begin (scale), slow = begin (scale);
  Points p = zigzag (&fast, apart, tall);
  double mean, inked;
  int most;

  trace (&fast, &p);
  trace (&slow, &p);
  if (gap)
    {
      cairo_move_to (fast.cr, fast.x + 1, fast.y + 3);
      cairo_line_to (fast.cr, fast.x + 200, fast.y + 40);
      cairo_move_to (slow.cr, slow.x + 1, slow.y + 3);
      cairo_line_to (slow.cr, slow.x + 200, slow.y + 40);
    }
  dyno_plot_steep_stroke (&fast, width);
  g_assert_false (cairo_has_current_point (fast.cr));
  cairo_set_line_width (slow.cr, width);
  cairo_stroke (slow.cr);
  compare (&slow, &fast, &mean, &most, &inked);
  g_test_message ("scale %g, %g apart, %g tall, width %g: mean %g of %g, most %d", scale, apart,
                  tall, width, mean, inked, most);
  g_assert_cmpfloat (inked, >, 5.0);
  g_assert_cmpfloat (mean, <, 0.05 * inked);
  g_assert_cmpint (cairo_status (fast.cr), ==, CAIRO_STATUS_SUCCESS);
  cairo_destroy (fast.cr);
  cairo_destroy (slow.cr);
}

static void
test_a_stroke_is_as_cairos (void)
{
  check_stroke (1, 4, 60, 1.5, FALSE);
  check_stroke (1, 9, 60, 1.0, TRUE);
  check_stroke (2, 4, 60, 1.8, FALSE);
  check_stroke (1, 30, 20, 3.0, TRUE); /* leaning, also less than 45 degrees */
  check_stroke (1, 6, 1e6, 1.5, FALSE);
}

static void
check_fill (double scale, double apart, double tall)
{
  DynoPlotLayout fast = begin (scale), slow = begin (scale);
  Points p = zigzag (&fast, apart, tall);
  DynoColour colour = { 0.2, 0.4, 0.1, 1.0 };
  cairo_pattern_t *pattern = cairo_pattern_create_linear (0.0, slow.y, 0.0, slow.y + slow.h);
  double mean, inked;
  int most;

  dyno_plot_steep_fill (&fast, p.x, p.y, p.n, &colour, 0.8, 0.1);
  cairo_pattern_add_color_stop_rgba (pattern, 0.0, colour.red, colour.green, colour.blue, 0.8);
  cairo_pattern_add_color_stop_rgba (pattern, 1.0, colour.red, colour.green, colour.blue, 0.1);
  cairo_move_to (slow.cr, p.x[0], slow.y + slow.h);
  trace (&slow, &p);
  cairo_line_to (slow.cr, p.x[p.n - 1], slow.y + slow.h);
  cairo_set_source (slow.cr, pattern);
  cairo_fill (slow.cr);
  compare (&slow, &fast, &mean, &most, &inked);
  g_test_message ("scale %g, %g apart, %g tall: mean %g of %g, most %d", scale, apart, tall, mean,
                  inked, most);
  g_assert_cmpfloat (inked, >, 10.0);
  g_assert_cmpfloat (mean, <, 0.03 * inked);
  cairo_pattern_destroy (pattern);
  cairo_destroy (fast.cr);
  cairo_destroy (slow.cr);
}

static void
test_a_fill_is_as_cairos (void)
{
  check_fill (1, 9, 60);
  check_fill (2, 9, 60);
  check_fill (1, 40, 20);
  check_fill (1, 12, 1e4);
}

/* Axes of size zero and axes larger than any screen. */
static void
test_no_size_is_none (void)
{
  static const double sizes[] = { 0.0, -20.0, 1e9, INFINITY };
  DynoPlotLayout l = begin (1);
  Points p = zigzag (&l, 9, 60);

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      l.w = l.h = sizes[i];
      trace (&l, &p);
      dyno_plot_steep_stroke (&l, 1.5);
      dyno_plot_steep_fill (&l, p.x, p.y, p.n, &(DynoColour){ 0, 0, 0, 1 }, 1.0, 1.0);
    }
  l.w = l.h = 20;
  dyno_plot_steep_stroke (&l, 1.5); /* no path */
  dyno_plot_steep_fill (&l, p.x, p.y, 0, &(DynoColour){ 0, 0, 0, 1 }, 1.0, 1.0);
  g_assert_cmpint (cairo_status (l.cr), ==, CAIRO_STATUS_SUCCESS);
  cairo_destroy (l.cr);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plot/steep/a-stroke-is-as-cairos", test_a_stroke_is_as_cairos);
  g_test_add_func ("/plot/steep/a-fill-is-as-cairos", test_a_fill_is_as_cairos);
  g_test_add_func ("/plot/steep/no-size-is-none", test_no_size_is_none);
  return g_test_run ();
}
