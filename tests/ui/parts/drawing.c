/* SPDX-License-Identifier: MIT */
/* Small drawings, by some of their pixels: curves in a table, loads of cores, the curve of a search
 * for speed. */
#include "parts.h"
#include "confusionview.h"
#include "corebars.h"
#include "curveview.h"
#include "plot/theme.h"
#include "sparkcell.h"
#include <math.h>
#include <string.h>

static const guint8 *
get_pixel (cairo_surface_t *surface, int x, int y)
{
  return cairo_image_surface_get_data (surface) + y * cairo_image_surface_get_stride (surface)
         + 4 * x;
}

/* Whether something is drawn within two pixels of a place. */
static gboolean
is_drawn (cairo_surface_t *surface, int x, int y)
{
  for (int i = -2; i <= 2; i++)
    for (int k = -2; k <= 2; k++)
      if (x + i >= 0 && y + k >= 0 && x + i < cairo_image_surface_get_width (surface)
          && y + k < cairo_image_surface_get_height (surface)
          && get_pixel (surface, x + i, y + k)[3] > 60)
        return TRUE;
  return FALSE;
}

static gboolean
has_colour (cairo_surface_t *surface, int x, int y, DynoColour colour)
{
  const guint8 *p = get_pixel (surface, x, y);

  return p[3] == 255 && fabs (p[2] - 255 * colour.red) < 2 && fabs (p[1] - 255 * colour.green) < 2
         && fabs (p[0] - 255 * colour.blue) < 2;
}

static cairo_surface_t *
draw (GtkWidget *widget)
{
  cairo_surface_t *surface =
      cairo_image_surface_create (CAIRO_FORMAT_ARGB32, gtk_widget_get_allocated_width (widget),
                                  gtk_widget_get_allocated_height (widget));
  cairo_t *cr = cairo_create (surface);

  gtk_widget_draw (widget, cr);
  cairo_destroy (cr);
  cairo_surface_flush (surface);
  return surface;
}

static cairo_surface_t *
draw_spark (GtkWidget *widget, const float *values, guint n)
{
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, 120, 40);
  cairo_t *cr = cairo_create (surface);
  GtkCellRenderer *cell = g_object_ref_sink (dyno_spark_cell_new ());
  const GdkRectangle background = { 0, 0, 120, 40 }, area = { 2, 1, 106, 30 };

  gtk_cell_renderer_set_padding (cell, 8, 4);
  dyno_spark_cell_set_values (DYNO_SPARK_CELL (cell), values, n);
  gtk_cell_renderer_render (cell, cr, widget, &background, &area, 0);
  cairo_destroy (cr);
  cairo_surface_flush (surface);
  g_object_unref (cell);
  return surface;
}

/* A curve fills its cell within the padding, from its least to its greatest value. */
static void
test_small_curves_fill_their_cell (void)
{
  static const float bent[] = { -3, 5, 1 }, flat[] = { 2, 2 };
  GtkWidget *label = gtk_label_new ("x");
  GtkWidget *window = parts_show (label, 50, 50);
  GtkCellRenderer *cell = g_object_ref_sink (dyno_spark_cell_new ());
  int least, natural;

  cairo_surface_t *surface = draw_spark (label, bent, 3);
  g_assert_true (is_drawn (surface, 11, 24) && is_drawn (surface, 55, 8)
                 && is_drawn (surface, 99, 16));
  g_assert_false (is_drawn (surface, 11, 8) || is_drawn (surface, 99, 8)
                  || is_drawn (surface, 99, 24) || is_drawn (surface, 55, 24)
                  || is_drawn (surface, 4, 28) || is_drawn (surface, 106, 13));
  cairo_surface_destroy (surface);
  surface = draw_spark (label, flat, 2);
  g_assert_true (is_drawn (surface, 11, 25) && is_drawn (surface, 55, 25)
                 && is_drawn (surface, 99, 25));
  g_assert_false (is_drawn (surface, 55, 8));
  cairo_surface_destroy (surface);
  surface = draw_spark (label, bent, 1);
  for (int x = 0; x < 120; x += 4)
    g_assert_false (is_drawn (surface, x, 8) || is_drawn (surface, x, 24));
  cairo_surface_destroy (surface);
  gtk_cell_renderer_set_padding (cell, 8, 4);
  gtk_cell_renderer_get_preferred_width (cell, label, &least, &natural);
  g_assert_true (least == 106 && natural == 106);
  gtk_cell_renderer_get_preferred_height (cell, label, &least, &natural);
  g_assert_true (least == 30 && natural == 30);
  g_object_unref (cell);
  gtk_widget_destroy (window);
}

/* Each core has its bar; where there is no room for all, a bar is the busiest of its cores. */
static void
test_bars_of_the_cores (void)
{
  static const float few[] = { 0, 50, (float) NAN, 140 };
  GtkWidget *bars = g_object_new (DYNO_TYPE_CORE_BARS, NULL);
  DynoCoreBars *self = DYNO_CORE_BARS (bars);
  GtkWidget *window = parts_show (bars, 200, 48);
  float many[990] = { 0 };

  DynoPlotTheme theme = *dyno_plot_theme_for_widget (bars);
  int width = gtk_widget_get_allocated_width (bars),
      height = gtk_widget_get_allocated_height (bars);
  dyno_core_bars_set (self, few, 4);
  cairo_surface_t *surface = draw (bars);
  g_assert_true (has_colour (surface, 27, height - 1, theme.grid)
                 && has_colour (surface, 30, height - 1, theme.lines[0])
                 && has_colour (surface, 57, height / 2 + 2, theme.lines[0])
                 && has_colour (surface, 57, height / 2 - 2, theme.grid)
                 && has_colour (surface, 60, height - 1, theme.grid)
                 && has_colour (surface, 90, 0, theme.lines[0]));
  g_assert_true (get_pixel (surface, 28, height - 1)[3] == 0
                 && get_pixel (surface, 29, height - 1)[3] == 0
                 && get_pixel (surface, 118, height - 1)[3] == 0);
  cairo_surface_destroy (surface);
  guint fit = (guint) width / 5, each = (990 + fit - 1) / fit;
  int step = width / (int) ((990 + each - 1) / each);
  many[each] = 100;
  many[2 * each - 1] = 10;
  many[989] = 100;
  dyno_core_bars_set (self, many, 990);
  surface = draw (bars);
  g_assert_true (has_colour (surface, 0, 0, theme.grid)
                 && has_colour (surface, 0, height - 1, theme.grid)
                 && has_colour (surface, step, 0, theme.lines[0])
                 && has_colour (surface, 2 * step, height - 1, theme.grid)
                 && has_colour (surface, (int) (989 / each) * step, 0, theme.lines[0]));
  cairo_surface_destroy (surface);
  dyno_core_bars_set (self, NULL, 0);
  surface = draw (bars);
  g_assert_true (get_pixel (surface, 0, height - 1)[3] == 0);
  cairo_surface_destroy (surface);
  gtk_widget_destroy (window);
}

/* --- the curve of a search for speed ---------------------------------------------------------- */

static DynoTuneResult *
make_curve (const DynoCurvePoint *points, guint n)
{
  g_autoptr (DynoJob) job = dyno_job_new ();
  DynoTuneResult *r = dyno_tune_result_new (job);

  r->curve.n = n;
  r->curve.points = g_memdup2 (points, n * sizeof *points);
  return r;
}

/* The first x from which on the tooltip begins with this text. */
static int
find_text (GtkWidget *view, const char *begin)
{
  for (int x = 0; x < gtk_widget_get_allocated_width (view); x++)
    {
      g_autofree char *text = parts_get_tooltip (view, x, 50, FALSE);
      if (text && g_str_has_prefix (text, begin))
        return x;
    }
  g_error ("no tooltip “%s”", begin);
}

/* The number of pixels of a bar of memory in this column, which are the only translucent ones. */
static int
measure_bar (cairo_surface_t *surface, int x)
{
  int n = 0;

  for (int y = cairo_image_surface_get_height (surface) / 2;
       y < cairo_image_surface_get_height (surface); y++)
    n += abs (get_pixel (surface, x, y)[3] - 217) <= 1;
  return n;
}

/* The row of a line in the colour of errors; -1: there is none. */
static int
find_budget (cairo_surface_t *surface, int x)
{
  for (int y = 0; y < cairo_image_surface_get_height (surface); y++)
    for (int i = 0; i < 12; i++)
      {
        const guint8 *p = get_pixel (surface, x + i, y);
        if (p[3] == 255 && p[2] > 190 && p[1] < 40 && p[0] < 40)
          return y;
      }
  return -1;
}

/* Batches lie at the logarithm of their sizes, the memory below is drawn to scale, and a budget
 * that is much higher is only stated. */
static void
test_the_curve_of_a_search_is_drawn_to_scale (void)
{
  static const DynoCurvePoint points[] = {
    { .batch_size = 16, .samples_per_s = 500, .measured = TRUE, .vram_bytes = 40 << 20 },
    { .batch_size = 32, .samples_per_s = 800, .vram_bytes = 80 << 20 },
    { .batch_size = 1024, .vram_bytes = 160 << 20 }
  };
  GtkWidget *view = g_object_new (DYNO_TYPE_CURVE_VIEW, NULL);
  DynoCurveView *self = DYNO_CURVE_VIEW (view);
  GtkWidget *window = parts_show (view, 500, 400);
  g_autoptr (DynoTuneResult) r = make_curve (points, 3), one = make_curve (points, 1);
  int width = gtk_widget_get_allocated_width (view);

  g_assert_null (parts_get_tooltip (view, width / 2, 50, FALSE));
  dyno_curve_view_set_result (self, r, 0);
  cairo_surface_t *surface = draw (view);
  int left = find_text (view, "Batch 16:"), second = find_text (view, "Batch 32:"),
      third = find_text (view, "Batch 1,024:");
  /* The largest batch is 24 pixels before the end of the axes, which is 10 before that of the view;
   * the tooltips change 0.5 and 3.5 doublings after the first batch of six. */
  double last = width - 34, doubling = (last - third) / 2.5, first = last - 6 * doubling;
  g_assert_cmpfloat_with_epsilon (second, first + doubling / 2, 1.5);
  g_assert_cmpfloat_with_epsilon (first, left + 24, 2.5);
  g_assert_true (left > 10 && parts_get_tooltip (view, left - 1, 50, FALSE) == NULL);
  g_assert_null (parts_get_tooltip (view, (int) last, 50, TRUE));
  int bars[3];
  for (int i = 0; i < 3; i++)
    bars[i] = measure_bar (surface, (int) (first + (i == 2 ? 6 : i) * doubling) - 8);
  g_assert_cmpint (bars[0], >, 10);
  g_assert_cmpint (abs (bars[1] - 2 * bars[0]), <=, 3);
  g_assert_cmpint (abs (bars[2] - 4 * bars[0]), <=, 5);
  g_assert_cmpint (find_budget (surface, (int) first), ==, -1);
  cairo_surface_destroy (surface);
  /* The budget is twice as high as the last bar. */
  dyno_curve_view_set_result (self, r, 320 << 20);
  surface = draw (view);
  int budget = find_budget (surface, (int) (first + 3 * doubling)),
      bar = measure_bar (surface, (int) last - 8);
  g_assert_cmpint (budget, >, 0);
  g_assert_cmpint (abs (2 * bar - bars[2]), <=, 6);
  int top = 0;
  for (top = budget; abs (get_pixel (surface, (int) last - 8, top)[3] - 217) > 1;)
    top++;
  g_assert_cmpint (abs (top - budget - bar), <=, 4);
  cairo_surface_destroy (surface);
  dyno_curve_view_set_result (self, r, (guint64) 644 << 20);
  surface = draw (view);
  g_assert_cmpint (find_budget (surface, (int) (first + 3 * doubling)), ==, -1);
  g_assert_cmpint (abs (measure_bar (surface, (int) last - 8) - bars[2]), <=, 1);
  cairo_surface_destroy (surface);
  /* A single batch is in the middle. */
  dyno_curve_view_set_result (self, one, 0);
  surface = draw (view);
  int middle = (find_text (view, "Batch 16:") + width - 10) / 2;
  g_assert_cmpint (measure_bar (surface, middle), >, 10);
  g_assert_cmpint (measure_bar (surface, middle - 15), ==, 0);
  cairo_surface_destroy (surface);
  gtk_widget_destroy (window);
}

/* The batches with a mark and the budget are in the words, too. */
static void
test_marks_of_the_curve_in_words (void)
{
  static const DynoCurvePoint points[] = {
    { .batch_size = 16, .samples_per_s = 500, .measured = TRUE, .vram_bytes = 1 << 20 },
    { .batch_size = 32, .samples_per_s = 800, .measured = TRUE, .vram_bytes = 2 << 20 },
    { .batch_size = 64, .samples_per_s = 1000, .vram_bytes = 4 << 20 }
  };
  GtkWidget *view = g_object_ref_sink (g_object_new (DYNO_TYPE_CURVE_VIEW, NULL));
  g_autoptr (DynoTuneResult) r = make_curve (points, 3);
  AtkObject *accessible = gtk_widget_get_accessible (view);

  r->curve.knee = 16;
  r->curve.smallest = 32;
  r->curve.fastest = 64;
  for (guint i = 0; i < 2; i++)
    {
      dyno_curve_view_set_result (DYNO_CURVE_VIEW (view), r, i == 0 ? 8 << 20 : 0);
      g_auto (GStrv) parts = g_strsplit (atk_object_get_description (accessible), "\302\240", -1);
      g_autofree char *plain = g_strjoinv (" ", parts);
      g_assert_true (g_str_has_suffix (
          plain, i == 0 ? "4.00 MiB\nknee: 16\nadvised: 32\nfastest, predicted: 64\n"
                          "Budget 8.00 MiB"
                        : "\nknee: 16\nadvised: 32\nfastest, predicted: 64"));
    }
  g_object_unref (view);
}

/* The tooltip is of the cell below the pointer, or of the one that the keys have reached. */
static void
test_tooltips_are_of_the_cell (void)
{
  static const guint64 counts[] = { 7, 2, 0, 4 };
  static char *names[] = { (char *) "cat", (char *) "dog", NULL };
  GtkWidget *view = dyno_confusion_view_new ();
  DynoWeightsInfo info = { .n_outputs = 2, .class_names = names };
  int size;

  dyno_confusion_view_set_counts (DYNO_CONFUSION_VIEW (view), counts, &info, FALSE);
  GtkWidget *window = parts_show (view, 300, 300);
  gtk_widget_get_size_request (view, &size, NULL);
  int first = size - 1 - 2 * 46;
  g_autofree char *below = parts_get_tooltip (view, first + 50, first + 10, FALSE),
                  *other = parts_get_tooltip (view, first + 10, first + 50, FALSE),
                  *key = parts_get_tooltip (view, first + 10, first + 50, TRUE);
  g_assert_cmpstr (below, ==, "2 of 9 of “cat” were taken for “dog”");
  g_assert_cmpstr (other, ==, "0 of 4 of “dog” were taken for “cat”");
  g_assert_cmpstr (key, ==, "7 of 9 of “cat” are right");
  g_assert_null (parts_get_tooltip (view, first - 2, first + 10, FALSE));
  gtk_widget_destroy (window);
}

void
parts_add_drawing (void)
{
  g_test_add_func ("/ui/parts/small-curves-fill-their-cell", test_small_curves_fill_their_cell);
  g_test_add_func ("/ui/parts/bars-of-the-cores", test_bars_of_the_cores);
  g_test_add_func ("/ui/parts/the-curve-of-a-search-is-drawn-to-scale",
                   test_the_curve_of_a_search_is_drawn_to_scale);
  g_test_add_func ("/ui/parts/marks-of-the-curve-in-words", test_marks_of_the_curve_in_words);
  g_test_add_func ("/ui/parts/tooltips-are-of-the-cell", test_tooltips_are_of_the_cell);
}
