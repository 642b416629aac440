/* SPDX-License-Identifier: MIT */
/* Ranges of plots.
 *
 * The robust range: a line's columns give two quantiles, and a value that lies many spans beyond
 * them is an outlier.  The quantiles bound the outliers to a twentieth of the columns at each side,
 * so that a line that has grown is never taken for a spike.  A curve that starts high and falls is
 * no spike either: where a plot does not begin at zero, its first columns always count. */
#include "range.h"
#include <math.h>
#include <string.h>

#define COLUMNS       240
#define LEAST_COLUMNS 12
#define QUANTILE      0.05
#define FAR           5.0 /* spans beyond a quantile */

/* --- the x that is shown ---------------------------------------------------------------------- */

/* Looks value up in `from`, and interpolates the corresponding value of `to`. */
static double
interpolate (const double *from, const double *to, guint64 n, double value)
{
  guint64 low = 0, high = n;
  double span;

  if (n < 2)
    return n == 0 ? 0.0 : from[0] > 0.0 ? to[0] * (value / from[0]) : to[0];
  while (low < high)
    {
      guint64 middle = low + (high - low) / 2;
      if (from[middle] < value)
        low = middle + 1;
      else
        high = middle;
    }
  low = CLAMP (low, 1, n - 1);
  if (from[low] == value)
    return to[low];
  /* Beyond the last point the slope is that of the last 16 points, so that a single steep step has
   * little effect. */
  high = low;
  low--;
  if (value > from[n - 1])
    low = n > 16 ? n - 16 : 0;
  span = from[high] - from[low];
  return span > 0.0 ? to[low] + (to[high] - to[low]) * ((value - from[low]) / span) : to[high];
}

double
dyno_plot_map_x (const DynoSeries *map, double x)
{
  const double *from, *to;

  if (!map || !isfinite (x))
    return x;
  dyno_series_peek (map, &from, &to);
  return interpolate (from, to, dyno_series_get_length (map), x);
}

double
dyno_plot_unmap_x (const DynoSeries *map, double shown)
{
  const double *from, *to;

  if (!map || !isfinite (shown))
    return shown;
  dyno_series_peek (map, &from, &to);
  return interpolate (to, from, dyno_series_get_length (map), shown);
}

guint
dyno_plot_columns (const DynoPlotLine *line, const DynoSeries *series, double x0, double x1,
                   guint n, DynoColumn *columns)
{
  const DynoSeries *map = line->x_map;
  guint n_columns = dyno_series_columns (series, dyno_plot_unmap_x (map, x0),
                                         dyno_plot_unmap_x (map, x1), n, columns);

  for (guint i = 0; map && i < n_columns; i++)
    columns[i].x = dyno_plot_map_x (map, columns[i].x);
  return n_columns;
}

/* --- ranges ----------------------------------------------------------------------------------- */

static int
compare (gconstpointer a, gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

static double
quantile (double *values, guint n, double share)
{
  qsort (values, n, sizeof *values, compare);
  return values[(guint) (share * (n - 1) + 0.5)];
}

/* The extent of a line without its outliers; FALSE: there are too few points. */
static gboolean
robust_extent (const DynoPlot *plot, const DynoPlotLine *line, double x0, double x1, double *y0,
               double *y1)
{
  DynoColumn columns[COLUMNS + 4];
  double least[COLUMNS + 4], greatest[COLUMNS + 4], low, high, far;
  guint n_columns = dyno_plot_columns (line, line->series, x0, x1, COLUMNS, columns), n = 0;

  for (guint i = 0; i < n_columns; i++)
    if (columns[i].count > 0)
      {
        least[n] = columns[i].y_min;
        greatest[n++] = columns[i].y_max;
      }
  if (n < LEAST_COLUMNS)
    return FALSE;
  low = quantile (least, n, QUANTILE);
  high = quantile (greatest, n, 1.0 - QUANTILE);
  far = FAR * MAX (high - low, 0.02 * MAX (fabs (low), fabs (high)));

  *y0 = low;
  *y1 = high;
  for (guint i = 0, seen = 0; i < n_columns; i++)
    {
      gboolean start = !plot->y_from_zero && seen < n / 20 + 1;

      if (columns[i].count == 0)
        continue;
      seen++;
      if (start || columns[i].y_min >= low - far)
        *y0 = MIN (*y0, columns[i].y_min);
      if (start || columns[i].y_max <= high + far)
        *y1 = MAX (*y1, columns[i].y_max);
    }
  return TRUE;
}

/* A span between two points shows the line from one to the other. */
static void
take_neighbours (const DynoPlot *plot, DynoPlotRange *range)
{
  gboolean any = FALSE;

  range->y0 = 0.0;
  range->y1 = 1.0;
  for (guint i = 0; i < plot->n_lines; i++)
    {
      DynoColumn columns[4 + 4];
      guint n = plot->lines[i].hidden ? 0
                                      : dyno_plot_columns (&plot->lines[i], plot->lines[i].series,
                                                           plot->x0, plot->x1, 4, columns);

      for (guint c = 0; c < n; c++)
        if (columns[c].count > 0)
          {
            range->y0 = any ? MIN (range->y0, columns[c].y_min) : columns[c].y_min;
            range->y1 = any ? MAX (range->y1, columns[c].y_max) : columns[c].y_max;
            any = TRUE;
          }
    }
}

gboolean
dyno_plot_extent (const DynoPlot *plot, DynoPlotSpan *all)
{
  gboolean any = FALSE;

  *all = (DynoPlotSpan){ 0.0, 0.0 };
  for (guint i = 0; i < plot->n_lines; i++)
    {
      const DynoPlotLine *line = &plot->lines[i];
      guint64 n = dyno_series_get_length (line->series);
      double x0, x1, y;

      if (n == 0)
        continue;
      dyno_series_get (line->series, 0, &x0, &y);
      dyno_series_get (line->series, n - 1, &x1, &y);
      x0 = dyno_plot_map_x (line->x_map, x0);
      x1 = dyno_plot_map_x (line->x_map, x1);
      all->x0 = any ? MIN (all->x0, x0) : x0;
      all->x1 = any ? MAX (all->x1, x1) : x1;
      any = TRUE;
    }
  return any;
}

gboolean
dyno_plot_range (const DynoPlot *plot, DynoPlotRange *range)
{
  gboolean viewed = plot->x0 < plot->x1, any = FALSE, any_y = FALSE;
  double from = viewed ? plot->x0 : -INFINITY, to = viewed ? plot->x1 : INFINITY;

  for (guint i = 0; i < plot->n_lines; i++)
    {
      const DynoPlotLine *line = &plot->lines[i];
      double x0, x1, y0, y1;

      if (!dyno_series_get_range (line->series, dyno_plot_unmap_x (line->x_map, from),
                                  dyno_plot_unmap_x (line->x_map, to), &x0, &x1, &y0, &y1))
        continue;
      x0 = dyno_plot_map_x (line->x_map, x0);
      x1 = dyno_plot_map_x (line->x_map, x1);
      if (plot->robust && !plot->y_log)
        robust_extent (plot, line, viewed ? plot->x0 : x0, viewed ? plot->x1 : x1, &y0, &y1);
      range->x0 = any ? MIN (range->x0, x0) : x0;
      range->x1 = any ? MAX (range->x1, x1) : x1;
      any = TRUE;
      if (line->hidden)
        continue;
      range->y0 = any_y ? MIN (range->y0, y0) : y0;
      range->y1 = any_y ? MAX (range->y1, y1) : y1;
      any_y = TRUE;
    }
  if (any && !any_y)
    {
      range->y0 = 0.0;
      range->y1 = 1.0;
    }
  if (viewed && !any && dyno_plot_extent (plot, &(DynoPlotSpan){ 0 }))
    {
      take_neighbours (plot, range);
      any = TRUE;
    }
  if (any && viewed)
    {
      range->x0 = plot->x0;
      range->x1 = plot->x1;
    }
  return any;
}

double
dyno_plot_least_positive (const DynoPlot *plot, double x0, double x1)
{
  double least = INFINITY;

  for (guint i = 0; i < plot->n_lines; i++)
    {
      DynoColumn columns[512 + 4];
      const DynoPlotLine *line = &plot->lines[i];
      guint n = line->hidden ? 0 : dyno_plot_columns (line, line->series, x0, x1, 512, columns);

      for (guint c = 0; c < n; c++)
        {
          if (columns[c].y_min > 0.0)
            least = MIN (least, columns[c].y_min);
          else if (columns[c].y_max > 0.0)
            least = MIN (least, columns[c].y_max);
        }
    }
  return least;
}
