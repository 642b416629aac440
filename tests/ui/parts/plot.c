/* SPDX-License-Identifier: MIT */
/* The grid of plots. */
#include "parts.h"
#include "plot/grid.h"

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

void
parts_add_plot (void)
{
  g_test_add_func ("/ui/parts/a-plot-alone-that-goes-brings-the-others-back",
                   test_a_plot_alone_that_goes_brings_the_others_back);
}
