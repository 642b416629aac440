/* SPDX-License-Identifier: MIT */
/* Parallel coordinates: the positions of axes and curves, and the curve at a point. */
#include "parallelplot.h"
#include <math.h>

static const DynoParallelTick ticks[] = { { 0, "0.001" }, { 0.5, "0.01" }, { 1, "0.1" } };
static const DynoParallelAxis axes[] = {
  { "Learning rate", ticks, 3, FALSE },
  { "Momentum", ticks, 3, TRUE },
  { "Accuracy (%)", ticks, 3, FALSE },
};
static const double low[] = { 0, 0, 0 }, high[] = { 1, 1, 1 }, none[] = { 0.5, NAN, 0.5 };
static const DynoParallelCurve curves[] = { { low, 0, FALSE },
                                            { high, 1, FALSE },
                                            { none, 0.5, FALSE } };

static DynoParallel
make_plot (void)
{
  return (DynoParallel){ .axes = axes,
                         .n_axes = G_N_ELEMENTS (axes),
                         .curves = curves,
                         .n_curves = G_N_ELEMENTS (curves),
                         .best = -1,
                         .own = -1,
                         .pointed = -1,
                         .best_name = "best",
                         .own_name = "yours",
                         .worse_name = "worse",
                         .better_name = "better" };
}

typedef struct {
  double x, y;
} Place;

static Place
point (const DynoParallel *plot, double width, double height, guint curve, guint axis)
{
  Place at;

  dyno_parallel_point (plot, &dyno_plot_theme_light, width, height, curve, axis, &at.x, &at.y);
  return at;
}

static void
test_axes_stand_where_there_is_room (void)
{
  DynoParallel plot = make_plot ();
  double height = dyno_parallel_height (&plot, &dyno_plot_theme_light, 700);
  Place first = point (&plot, 700, height, 0, 0), last = point (&plot, 700, height, 0, 2),
        top = point (&plot, 700, height, 1, 0), beside = point (&plot, 700, height, 2, 1);

  g_assert_cmpfloat (first.y, ==, last.y);
  g_assert_cmpfloat (first.x + 200, <, last.x);
  g_assert_cmpfloat (first.y - top.y, >=, 150);
  g_assert_cmpfloat (beside.y, >, first.y); /* below the axis */
  g_assert_cmpfloat (top.y, >, 0);
  g_assert_cmpfloat (beside.y, <, height);
  g_assert_cmpfloat (last.x, <, 700);
}

static void
test_axes_lie_where_it_is_narrow (void)
{
  DynoParallel plot = make_plot ();
  double height = dyno_parallel_height (&plot, &dyno_plot_theme_light, 180);
  Place first = point (&plot, 180, height, 0, 0), last = point (&plot, 180, height, 0, 2),
        top = point (&plot, 180, height, 1, 0), beside = point (&plot, 180, height, 2, 1);

  g_assert_cmpfloat (first.x, ==, last.x);
  g_assert_cmpfloat (first.y, <, last.y);
  g_assert_cmpfloat (top.x, >, first.x + 100);
  g_assert_cmpfloat (beside.x, <, first.x); /* left of the axis */
  g_assert_cmpfloat (last.y, <, height);
  g_assert_cmpfloat (top.x, <, 180);
}

static void
check_pointed (double width)
{
  DynoParallel plot = make_plot ();
  double height = dyno_parallel_height (&plot, &dyno_plot_theme_light, width);

  for (guint c = 0; c < plot.n_curves; c++)
    for (guint a = 0; a < plot.n_axes; a++)
      {
        Place at = point (&plot, width, height, c, a);

        g_assert_cmpint (
            dyno_parallel_curve_at (&plot, &dyno_plot_theme_light, width, height, at.x, at.y), ==,
            c);
      }
  g_assert_cmpint (dyno_parallel_curve_at (&plot, &dyno_plot_theme_light, width, height, -50, -50),
                   ==, -1);
}

/* Of curves that coincide the best one is meant, wherever it is among them. */
static void
test_points_at_the_best_of_equal_curves (void)
{
  DynoParallel plot = make_plot ();
  g_autofree DynoParallelCurve *equal =
      g_memdup2 (plot.curves, plot.n_curves * sizeof *plot.curves);
  double height = dyno_parallel_height (&plot, &dyno_plot_theme_light, 700);

  g_assert_cmpuint (plot.n_curves, >, 2);
  plot.curves = equal;
  for (guint best = 0; best < plot.n_curves; best++)
    {
      for (guint i = 0; i < plot.n_curves; i++)
        equal[i].places = equal[0].places;
      plot.best = (int) best;
      Place at = point (&plot, 700, height, best, 0);
      g_assert_cmpint (
          dyno_parallel_curve_at (&plot, &dyno_plot_theme_light, 700, height, at.x, at.y), ==,
          best);
    }
}

static void
test_points_at_the_nearest (void)
{
  DynoParallel plot = make_plot ();
  double height = dyno_parallel_height (&plot, &dyno_plot_theme_light, 700);
  Place a = point (&plot, 700, height, 2, 0), b = point (&plot, 700, height, 2, 1);

  check_pointed (700);
  check_pointed (180);
  /* Halfway between the axes the curve is halfway between its end points. */
  g_assert_cmpint (dyno_parallel_curve_at (&plot, &dyno_plot_theme_light, 700, height,
                                           (a.x + b.x) / 2, (a.y + b.y) / 2),
                   ==, 2);
  /* Before that, the curve is nearer to the first end point than a straight line is. */
  g_assert_cmpint (dyno_parallel_curve_at (&plot, &dyno_plot_theme_light, 700, height,
                                           a.x + (b.x - a.x) * 0.25, a.y + (b.y - a.y) * 0.15625),
                   ==, 2);
  g_assert_cmpint (dyno_parallel_curve_at (&plot, &dyno_plot_theme_light, 700, height,
                                           a.x + (b.x - a.x) * 0.25,
                                           a.y + (b.y - a.y) * 0.15625 - 12),
                   ==, -1);
}

/* The pixel of a drawing. */
static guint32
get_pixel (cairo_surface_t *surface, double x, double y)
{
  const unsigned char *data = cairo_image_surface_get_data (surface);
  int stride = cairo_image_surface_get_stride (surface);

  return *(const guint32 *) (gconstpointer) (data + stride * (int) y + 4 * (int) x);
}

static void
test_draws_the_best_in_its_colour (void)
{
  DynoParallel plot = make_plot ();
  double width = 700, height = dyno_parallel_height (&plot, &dyno_plot_theme_light, width);
  cairo_surface_t *surface =
      cairo_image_surface_create (CAIRO_FORMAT_RGB24, (int) width, (int) height);
  cairo_t *cr = cairo_create (surface);
  Place at, other;

  plot.best = 1;
  plot.own = 0;
  plot.accent = (DynoColour){ 1, 0, 0, 1 };
  cairo_set_source_rgb (cr, 1, 1, 1);
  cairo_paint (cr);
  dyno_parallel_draw (cr, &plot, &dyno_plot_theme_light, width, height, 1);
  cairo_surface_flush (surface);
  at = point (&plot, width, height, 1, 1);
  other = point (&plot, width, height, 0, 1);
  g_assert_cmphex (get_pixel (surface, at.x - 20, at.y) & 0xffffff, ==, 0xff0000);
  g_assert_cmphex (get_pixel (surface, other.x - 20, other.y) & 0xffffff, !=, 0xff0000);
  cairo_destroy (cr);
  cairo_surface_destroy (surface);
}

static void
test_nothing_is_no_fault (void)
{
  DynoParallel plot = { .best = -1, .own = -1, .pointed = -1 };
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_A8, 10, 10);
  cairo_t *cr = cairo_create (surface);

  dyno_parallel_draw (cr, &plot, &dyno_plot_theme_dark, 10, 10, 1);
  g_assert_cmpint (dyno_parallel_curve_at (&plot, &dyno_plot_theme_dark, 10, 10, 5, 5), ==, -1);
  plot.axes = axes;
  plot.n_axes = 1;
  dyno_parallel_draw (cr, &plot, &dyno_plot_theme_dark, 10, 10, 1);
  g_assert_cmpint (dyno_parallel_curve_at (&plot, &dyno_plot_theme_dark, 10, 10, 5, 5), ==, -1);
  g_assert_cmpint (cairo_status (cr), ==, CAIRO_STATUS_SUCCESS);
  cairo_destroy (cr);
  cairo_surface_destroy (surface);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plot/parallelplot/axes-stand-where-there-is-room",
                   test_axes_stand_where_there_is_room);
  g_test_add_func ("/plot/parallelplot/axes-lie-where-it-is-narrow",
                   test_axes_lie_where_it_is_narrow);
  g_test_add_func ("/plot/parallelplot/points-at-the-nearest", test_points_at_the_nearest);
  g_test_add_func ("/plot/parallelplot/points-at-the-best-of-equal-curves",
                   test_points_at_the_best_of_equal_curves);
  g_test_add_func ("/plot/parallelplot/draws-the-best-in-its-colour",
                   test_draws_the_best_in_its_colour);
  g_test_add_func ("/plot/parallelplot/nothing-is-no-fault", test_nothing_is_no_fault);
  return g_test_run ();
}
