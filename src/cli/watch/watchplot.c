/* SPDX-License-Identifier: MIT */
/* Plots of characters: each column of the terminal shows one value, the middle of its points, in
 * eighths of a line. */
#include "watchplot.h"
#include "watchline.h"
#include <math.h>

#define PLOT_LABEL 9 /* columns for the limits of the y axis */
#define PLOT_MOST  12
#define TWO_PLOTS  90    /* columns from which on plots are side by side */
#define PLOT_S     300.0 /* span of the sensors' plots */

typedef struct {
  const char *title, *colour;
  DynoSeries *series;
  double x0, x1, low, high; /* low, high NaN: from the values */
  char *last;
} Plot;

/* The middle of the values in each column; a column without points repeats the previous column; NaN
 * before the first point. */
static void
sample (const Plot *plot, guint n, double *values)
{
  g_autofree DynoColumn *columns = g_new0 (DynoColumn, n);
  guint count = dyno_series_columns (plot->series, plot->x0, plot->x1, n, columns);
  double last = (double) NAN, span = plot->x1 - plot->x0;
  guint next = 0;

  for (guint i = 0; i < n; i++)
    {
      double x = plot->x0 + (i + 1) * span / n;

      while (next < count && (columns[next].x <= x || i == n - 1))
        {
          last = (columns[next].y_min + columns[next].y_max) / 2;
          next++;
        }
      values[i] = last;
    }
}

static void
find_limits (const double *values, guint n, double *low, double *high)
{
  gboolean fixed_low = isfinite (*low), fixed_high = isfinite (*high);

  for (guint i = 0; i < n; i++)
    if (isfinite (values[i]))
      {
        if (!fixed_low)
          *low = isfinite (*low) ? MIN (*low, values[i]) : values[i];
        if (!fixed_high)
          *high = isfinite (*high) ? MAX (*high, values[i]) : values[i];
      }
  if (!isfinite (*low))
    *low = 0;
  if (!isfinite (*high) || *high <= *low)
    *high = *low + MAX (fabs (*low) / 10, 1e-9);
}

/* Draws the lines of a plot, its title first. */
static void
draw_plot (const DynoWatchView *view, const Plot *plot, guint width, guint height,
           DynoWatchLine *lines)
{
  guint n = width > PLOT_LABEL + 2 ? width - PLOT_LABEL - 1 : 1;
  g_autofree double *values = g_new (double, n);
  double low = plot->low, high = plot->high;

  sample (plot, n, values);
  find_limits (values, n, &low, &high);
  dyno_watch_line_put (&lines[0], DYNO_TEXT_BOLD, plot->title);
  dyno_watch_line_printf (&lines[0], DYNO_TEXT_PLAIN, "  %s", plot->last);
  for (guint row = 1; row < height; row++)
    {
      guint from = (height - 1 - row) * 8; /* eighths of the column below this line */
      g_autoptr (GString) cells = g_string_new (NULL);
      g_autofree char *limit = g_strdup_printf ("%.4g", row == 1 ? high : low);
      guint start = lines[row].used;

      if (row == 1 || row == height - 1)
        dyno_watch_line_printf (&lines[row], DYNO_TEXT_DIM, "%*s ", PLOT_LABEL - 1, limit);
      dyno_watch_line_pad (&lines[row], start + PLOT_LABEL);
      for (guint i = 0; i < n; i++)
        {
          double share = (values[i] - low) / (high - low);
          glong level =
              isfinite (share) ? lround (CLAMP (share, 0, 1) * ((height - 1) * 8 - 1)) + 1 : 0;

          g_string_append (cells, dyno_watch_levels[CLAMP (level - (glong) from, 0, 8)]);
        }
      dyno_watch_line_put (&lines[row], plot->colour, cells->str);
    }
}

static char *
last_words (DynoSeries *series, const char *format)
{
  guint64 n = dyno_series_get_length (series);
  double x, y = (double) NAN;

  if (n > 0)
    dyno_series_get (series, n - 1, &x, &y);
  if (!isfinite (y))
    return g_strdup ("-");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  return g_strdup_printf (format, y);
#pragma GCC diagnostic pop
}

static gboolean
set_range (Plot *plot, double most)
{
  double low, high;

  if (!dyno_series_get_range (plot->series, -INFINITY, INFINITY, &plot->x0, &plot->x1, &low, &high))
    return FALSE;
  if (most > 0)
    plot->x0 = MAX (plot->x0, plot->x1 - most);
  if (plot->x1 <= plot->x0)
    plot->x1 = plot->x0 + 1;
  return TRUE;
}

/* Chooses the plots that have a point; returns their number. */
static guint
choose_plots (const DynoWatchView *view, Plot *plots)
{
  const DynoWatchStatus *run = view->run;
  gboolean of_run = run && run->has_sensors;
  const Plot all[] = {
    { "samples/s", DYNO_TEXT_GREEN, run ? run->rate : NULL, 0, 0, 0, (double) NAN, NULL },
    { "loss", DYNO_TEXT_BLUE, run ? run->loss_series : NULL, 0, 0, (double) NAN, (double) NAN,
      NULL },
    { "GPU busy, last 5 minutes", DYNO_TEXT_GREEN, of_run ? run->gpu : view->gpu, 0, 0, 0, 100,
      NULL },
    { "CPU busy, last 5 minutes", DYNO_TEXT_CYAN, of_run ? run->cpu : view->cpu, 0, 0, 0, 100,
      NULL },
  };
  static const char *const formats[] = { "%.4g", "%.4f", "%.0f %%", "%.0f %%" };
  guint n = 0;

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    {
      plots[n] = all[i];
      if (!all[i].series || !set_range (&plots[n], i < 2 ? 0 : PLOT_S))
        continue;
      plots[n].last = last_words (all[i].series, formats[i]);
      n++;
    }
  return n;
}

void
dyno_watch_add_plots (const DynoWatchView *view, guint height, GPtrArray *lines)
{
  Plot plots[4];
  guint n = choose_plots (view, plots), across = view->width >= TWO_PLOTS && n > 1 ? 2 : 1;
  guint down = CLAMP (height / (DYNO_WATCH_PLOT_LEAST + 1), 1, MAX ((n + across - 1) / across, 1));
  guint each = MIN (height / down, PLOT_MOST), width = view->width / across;

  for (guint row = 0; n > 0 && each >= DYNO_WATCH_PLOT_LEAST && row < down; row++)
    {
      g_autofree DynoWatchLine *cells = g_new0 (DynoWatchLine, each);

      for (guint i = 0; i < each; i++)
        dyno_watch_line_init (&cells[i], view->width, view->colour);
      for (guint k = 0; k < across && row * across + k < n; k++)
        {
          for (guint i = 0; i < each; i++)
            {
              cells[i].width = view->width;
              dyno_watch_line_pad (&cells[i], k * width);
              cells[i].width = (k + 1) * width;
            }
          draw_plot (view, &plots[row * across + k], width, each, cells);
        }
      for (guint i = 0; i < each; i++)
        dyno_watch_line_end (&cells[i], lines);
    }
  for (guint i = 0; i < n; i++)
    g_free (plots[i].last);
}
