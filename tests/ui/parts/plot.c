/* SPDX-License-Identifier: MIT */
/* Live plots: their grid, and dragging; the lines of a learning-rate test. */
#include "parts.h"
#include "lrlines.h"
#include "plot/grid.h"
#include <math.h>

static gboolean
is_shown (DynoPlotView *view)
{
  for (GtkWidget *w = GTK_WIDGET (view); w; w = gtk_widget_get_parent (w))
    if (!gtk_widget_get_visible (w))
      return FALSE;
  return TRUE;
}

/* One plot alone stays alone until it has nothing to show any more. */
static void
test_a_plot_alone_that_goes_brings_the_others_back (void)
{
  GtkWidget *grid = g_object_ref_sink (dyno_plot_grid_new ());
  DynoPlotView *views[3];

  gtk_widget_show (grid);
  for (guint i = 0; i < 3; i++)
    {
      views[i] = DYNO_PLOT_VIEW (g_object_new (DYNO_TYPE_PLOT_VIEW, NULL));
      dyno_plot_grid_add (DYNO_PLOT_GRID (grid), views[i]);
      dyno_plot_grid_set_shown (DYNO_PLOT_GRID (grid), views[i], i < 2);
    }
  g_assert_true (is_shown (views[0]) && is_shown (views[1]) && !is_shown (views[2]));
  dyno_plot_grid_toggle_maximized (DYNO_PLOT_GRID (grid), views[1]);
  g_assert_true (!is_shown (views[0]) && is_shown (views[1]));
  dyno_plot_grid_set_shown (DYNO_PLOT_GRID (grid), views[2], TRUE);
  g_assert_true (!is_shown (views[0]) && is_shown (views[1]) && !is_shown (views[2]));
  dyno_plot_grid_set_shown (DYNO_PLOT_GRID (grid), views[0], FALSE);
  g_assert_true (is_shown (views[1]) && !is_shown (views[2]));
  dyno_plot_grid_set_shown (DYNO_PLOT_GRID (grid), views[1], FALSE);
  g_assert_true (!is_shown (views[0]) && !is_shown (views[1]) && is_shown (views[2]));
  dyno_plot_grid_set_shown (DYNO_PLOT_GRID (grid), views[1], TRUE);
  g_assert_true (is_shown (views[1]) && is_shown (views[2]));
  dyno_plot_grid_toggle_maximized (DYNO_PLOT_GRID (grid), views[1]);
  dyno_plot_grid_toggle_maximized (DYNO_PLOT_GRID (grid), views[1]);
  g_assert_true (is_shown (views[1]) && is_shown (views[2]));
  g_object_unref (grid);
}

typedef struct {
  guint n;
  DynoPlotSpan span;
} Asked;

static void
span_asked (DynoPlotView *view, double x0, double x1, Asked *asked)
{
  asked->n++;
  asked->span = (DynoPlotSpan){ x0, x1 };
  dyno_plot_view_set_span (view, asked->span);
}

/* A zoomed plot follows the pointer: each motion counts from where the drag began. */
static void
test_a_dragged_plot_follows_the_pointer (void)
{
  GtkWidget *view = g_object_new (DYNO_TYPE_PLOT_VIEW, NULL);
  DynoPlotView *self = DYNO_PLOT_VIEW (view);
  DynoSeries *series = dyno_series_new ("loss", "");
  Asked asked = { 0 };

  for (guint i = 0; i <= 1000; i++)
    dyno_series_append (series, i, 1 + (i % 3));
  dyno_plot_view_set_lines (self, &(DynoPlotLine){ .series = series }, 1);
  GtkWidget *window = parts_show (view, 600, 300);
  g_signal_connect (view, "span", G_CALLBACK (span_asked), &asked);
  dyno_plot_view_set_span (self, (DynoPlotSpan){ 400, 600 });
  for (guint i = 0; i < 2; i++)
    {
      parts_button (view, GDK_BUTTON_PRESS, 300, 150);
      parts_move (view, 290, 150);
      double moved = asked.span.x0 - 400;
      g_assert_cmpfloat (moved, >, 1);
      g_assert_cmpfloat_with_epsilon (asked.span.x1, 600 + moved, 1e-6);
      parts_move (view, 280, 150);
      g_assert_cmpfloat_with_epsilon (asked.span.x0, 400 + 2 * moved, 1e-6);
      parts_move (view, 250, 150);
      g_assert_cmpfloat_with_epsilon (asked.span.x0, 400 + 5 * moved, 1e-6);
      parts_move (view, 320, 150);
      g_assert_cmpfloat_with_epsilon (asked.span.x0, 400 - 2 * moved, 1e-6);
      parts_move (view, 300, 150);
      g_assert_cmpfloat_with_epsilon (asked.span.x0, 400, 1e-6);
      parts_button (view, GDK_BUTTON_RELEASE, 300, 150);
      guint n = asked.n;
      parts_move (view, 200, 150); /* the drag is over */
      g_assert_cmpuint (asked.n, ==, n);
    }
  parts_button (view, GDK_2BUTTON_PRESS, 300, 150);
  g_assert_true (asked.span.x0 == 0 && asked.span.x1 == 0);
  /* While all is shown, a drag selects a part, in either direction; a click selects nothing. */
  guint n = asked.n;
  parts_button (view, GDK_BUTTON_PRESS, 200, 150);
  parts_move (view, 400, 150);
  parts_button (view, GDK_BUTTON_RELEASE, 400, 150);
  DynoPlotSpan first = asked.span;
  g_assert_true (asked.n == n + 1 && first.x0 > 100 && first.x1 > first.x0 + 100 && first.x1 < 900);
  dyno_plot_view_set_span (self, (DynoPlotSpan){ 0, 0 });
  parts_button (view, GDK_BUTTON_PRESS, 400, 150);
  parts_move (view, 200, 150);
  parts_button (view, GDK_BUTTON_RELEASE, 200, 150);
  g_assert_cmpfloat_with_epsilon (asked.span.x0, first.x0, 1e-6);
  g_assert_cmpfloat_with_epsilon (asked.span.x1, first.x1, 1e-6);
  dyno_plot_view_set_span (self, (DynoPlotSpan){ 0, 0 });
  n = asked.n;
  parts_button (view, GDK_BUTTON_PRESS, 300, 150);
  parts_button (view, GDK_BUTTON_RELEASE, 300, 150);
  g_assert_cmpuint (asked.n, ==, n);
  dyno_plot_view_set_lines (self, NULL, 0);
  gtk_widget_destroy (window);
  dyno_series_free (series);
}

static void
note_cursor (DynoPlotView *view, double x, double *cursor)
{
  *cursor = x;
  dyno_plot_view_set_cursor (view, x);
}

static void
assert_description (GtkWidget *view, const char *expected)
{
  g_assert_cmpstr (atk_object_get_description (gtk_widget_get_accessible (view)), ==, expected);
}

/* Keys move the read-out by whole steps, within the data, and hide lines, which stay hidden when
 * the plot gets its lines anew. */
static void
test_keys_read_a_plot (void)
{
  GtkWidget *view = g_object_new (DYNO_TYPE_PLOT_VIEW, NULL);
  DynoPlotView *self = DYNO_PLOT_VIEW (view);
  DynoSeries *one = dyno_series_new ("Training", ""), *two = dyno_series_new ("Validation", "");
  DynoPlotLine lines[] = { { .series = one }, { .series = two } };
  double cursor = -1;
  Asked asked = { 0 };

  dyno_plot_view_set_labels (self, "Loss", "", "No step yet");
  dyno_plot_view_set_x (self, "Step", TRUE, FALSE);
  dyno_plot_view_set_smoothing (self, 0);
  dyno_plot_view_set_lines (self, lines, 2);
  GtkWidget *window = parts_show (view, 600, 300);
  assert_description (view, "No step yet");
  g_assert_false (parts_press (view, GDK_KEY_Right));
  for (guint i = 1; i <= 50; i++)
    {
      dyno_series_append (one, i, 0.5 * i);
      if (i % 10 == 0)
        dyno_series_append (two, i, 0.25 * i);
    }
  g_signal_connect (view, "cursor", G_CALLBACK (note_cursor), &cursor);
  g_signal_connect (view, "span", G_CALLBACK (span_asked), &asked);
  assert_description (view, "Step 50: Training 25.00, Validation 12.50");
  parts_press (view, GDK_KEY_Right);
  g_assert_cmpfloat (cursor, ==, 1);
  parts_press (view, GDK_KEY_Right);
  g_assert_cmpfloat (cursor, ==, 2);
  parts_press (view, GDK_KEY_End);
  parts_press (view, GDK_KEY_Right);
  g_assert_cmpfloat (cursor, ==, 50);
  parts_press (view, GDK_KEY_Left);
  g_assert_cmpfloat (cursor, ==, 49);
  parts_press (view, GDK_KEY_Home);
  parts_press (view, GDK_KEY_Left);
  g_assert_cmpfloat (cursor, ==, 1);
  assert_description (view, "Step 1: Training 0.5000, Validation 2.500");
  parts_press (view, GDK_KEY_Escape);
  g_assert_true (isnan (cursor));
  g_assert_false (parts_press (view, GDK_KEY_Escape));
  parts_press (view, GDK_KEY_Left);
  g_assert_cmpfloat (cursor, ==, 50);
  parts_press (view, GDK_KEY_2);
  assert_description (view, "Step 50: Training 25.00; hidden: Validation");
  dyno_plot_view_set_lines (self, lines + 1, 1);
  dyno_plot_view_set_lines (self, lines, 2);
  assert_description (view, "Step 50: Training 25.00; hidden: Validation");
  parts_press (view, GDK_KEY_2);
  assert_description (view, "Step 50: Training 25.00, Validation 12.50");
  g_assert_false (parts_press (view, GDK_KEY_3));
  /* Zooming stays around the read-out, and what is shown moves with it. */
  g_assert_cmpuint (asked.n, ==, 0);
  parts_press (view, GDK_KEY_plus);
  g_assert_true (asked.n == 1 && asked.span.x1 <= 50 && asked.span.x0 > 1);
  DynoPlotSpan before = asked.span;
  parts_press (view, GDK_KEY_Home);
  g_assert_true (asked.span.x0 == 1 && asked.span.x1 < before.x1);
  g_assert_cmpfloat_with_epsilon (asked.span.x1 - asked.span.x0, before.x1 - before.x0, 1e-6);
  parts_press (view, GDK_KEY_0);
  g_assert_true (asked.span.x0 == 0 && asked.span.x1 == 0);
  dyno_plot_view_set_lines (self, NULL, 0);
  gtk_widget_destroy (window);
  dyno_series_free (one);
  dyno_series_free (two);
}

static double
find_y (DynoSeries *series, double x)
{
  double x0, x1, y0, y1;

  g_assert_true (dyno_series_get_range (series, x, x, &x0, &x1, &y0, &y1));
  g_assert_cmpfloat (y0, ==, y1);
  return y0;
}

/* Points are taken once, each into both lines. */
static void
test_lines_of_a_learning_rate_test (void)
{
  g_autoptr (GArray) points = g_array_new (FALSE, FALSE, sizeof (DynoLrPoint));
  g_auto (DynoLrLines) lines = { 0 };

  dyno_lr_lines_init (&lines);
  for (guint i = 1; i <= 4; i++)
    {
      DynoLrPoint point = { .step = i, .lr = 0.001 * i, .loss = i % 2 ? 4 : 2, .smoothed = 3 };
      g_array_append_val (points, point);
      dyno_lr_lines_take (&lines, points);
    }
  dyno_lr_lines_take (&lines, points);
  g_assert_cmpuint (dyno_series_get_length (lines.loss), ==, 4);
  g_assert_cmpuint (dyno_series_get_length (lines.smoothed), ==, 4);
  for (guint i = 1; i <= 4; i++)
    {
      g_assert_cmpfloat (find_y (lines.loss, 0.001 * i), ==, i % 2 ? 4 : 2);
      g_assert_cmpfloat (find_y (lines.smoothed, 0.001 * i), ==, 3);
    }
}

/* A view is higher where the names of its lines need rows, each name can be clicked there, and one
 * that is cut has its whole text as tooltip. */
static void
test_names_in_rows_are_clicked (void)
{
  enum { N = 8 };
  GtkWidget *view = g_object_new (DYNO_TYPE_PLOT_VIEW, NULL);
  DynoPlotView *self = DYNO_PLOT_VIEW (view);
  DynoSeries *series[N];
  DynoPlotLine lines[N + 1];
  int one, few, many;

  for (guint i = 0; i < N; i++)
    {
      g_autofree char *name = g_strdup_printf ("run %u with half the learning rate", i);
      series[i] = dyno_series_new (name, "");
      dyno_series_append (series[i], 0, i);
      dyno_series_append (series[i], 9, 2 * i);
      lines[i] = (DynoPlotLine){ .series = series[i], .colour = i };
    }
  lines[N] = (DynoPlotLine){ .series = series[6], .colour = 6, .dash = 1, .unnamed = TRUE };
  dyno_plot_view_set_labels (self, "Loss", "", "");
  dyno_plot_view_set_least_height (self, 190);
  GtkWidget *window = parts_show (view, 400, 400);
  dyno_plot_view_set_lines (self, lines, 1);
  gtk_widget_get_preferred_height_for_width (view, 400, &one, NULL);
  g_assert_cmpint (one, ==, 190);
  dyno_plot_view_set_lines (self, lines, N + 1);
  gtk_widget_get_preferred_height_for_width (view, 400, &many, NULL);
  gtk_widget_get_preferred_height_for_width (view, 800, &few, NULL);
  g_assert_true (many > few && few > one);

  /* Over a name, which may have a tooltip, there is no read-out below that. */
  double cursor = -1;
  g_signal_connect (view, "cursor", G_CALLBACK (note_cursor), &cursor);
  parts_move (view, 200, many - 60);
  g_assert_true (isfinite (cursor));
  parts_move (view, 60, 43);
  g_assert_true (isnan (cursor));

  const DynoPlot *plot = dyno_plot_view_get_plot (self);
  guint clicked = 0, told = 0, before = N;
  for (int y = 30; y < many - 100; y += 4)
    for (int x = 12; x < 400; x += 12)
      {
        g_autofree char *tip = parts_get_tooltip (view, x, y, FALSE);
        parts_button (view, GDK_BUTTON_PRESS, x, y);
        parts_button (view, GDK_BUTTON_RELEASE, x, y);
        for (guint i = 0; i < N; i++)
          if (plot->lines[i].hidden)
            {
              g_assert_cmpint (plot->lines[N].hidden, ==, i == 6);
              clicked |= 1u << i;
              if (tip && before != i)
                told++;
              if (tip)
                g_assert_cmpstr (tip, ==, dyno_series_get_name (series[i]));
              before = i;
              parts_button (view, GDK_BUTTON_PRESS, x, y); /* it is shown again */
              g_assert_false (plot->lines[i].hidden || plot->lines[N].hidden);
              tip = (g_free (tip), NULL);
            }
        g_assert_null (tip); /* the axes have none */
      }
  g_assert_cmphex (clicked, ==, 0xff);
  g_assert_cmpuint (told, >=, N);
  dyno_plot_view_set_lines (self, NULL, 0);
  gtk_widget_destroy (window);
  for (guint i = 0; i < N; i++)
    dyno_series_free (series[i]);
}

void
parts_add_plot (void)
{
  g_test_add_func ("/ui/parts/names-in-rows-are-clicked", test_names_in_rows_are_clicked);
  g_test_add_func ("/ui/parts/a-dragged-plot-follows-the-pointer",
                   test_a_dragged_plot_follows_the_pointer);
  g_test_add_func ("/ui/parts/keys-read-a-plot", test_keys_read_a_plot);
  g_test_add_func ("/ui/parts/lines-of-a-learning-rate-test", test_lines_of_a_learning_rate_test);
  g_test_add_func ("/ui/parts/a-plot-alone-that-goes-brings-the-others-back",
                   test_a_plot_alone_that_goes_brings_the_others_back);
}
