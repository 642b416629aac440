/* SPDX-License-Identifier: MIT */
/* The module dyno-curves: draws plain arrays into a picture. */
#include "curves-module.h"
#include "draw.h"
#include "sheet.h"
#include <gmodule.h>
#include <math.h>

#define WIDTH  900 /* of each plot */
#define HEIGHT 260
#define PIXELS 2 /* of a PNG, per unit */

G_MODULE_EXPORT gboolean dyno_curves_write (guint version, const DynoCurvePlot *plots,
                                            guint n_plots, const char *path, GError **error);

G_MODULE_EXPORT gboolean dyno_sheet_write_module (guint version, const char *title,
                                                  const DynoSheetTile *tiles, guint n,
                                                  const char *path, GError **error);

/* own_log: uses the logarithms of x, so that points are grouped as a logarithmic axis shows
 * them. */
static DynoSeries *
make_series (const DynoCurve *curve, const double *y, gboolean own_log)
{
  DynoSeries *series = dyno_series_new (curve->name, curve->unit);

  for (guint64 i = 0; i < curve->n; i++)
    dyno_series_append (series, own_log ? log (curve->x[i]) : curve->x[i], y[i]);
  return series;
}

gboolean
dyno_curves_write (guint version, const DynoCurvePlot *plots, guint n_plots, const char *path,
                   GError **error)
{
  g_autoptr (GPtrArray) series = g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_series_free);
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);
  g_autofree DynoPlot *drawn = g_new0 (DynoPlot, n_plots);

  if (version != DYNO_CURVES_VERSION)
    {
      g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_NOSYS,
                   "the module is of version %d, the program of version %u", DYNO_CURVES_VERSION,
                   version);
      return FALSE;
    }
  for (guint p = 0; p < n_plots; p++)
    {
      const DynoCurvePlot *plot = &plots[p];
      DynoPlotLine *line = g_new0 (DynoPlotLine, plot->n_curves);

      g_ptr_array_add (lines, line);
      for (guint i = 0; i < plot->n_curves; i++)
        {
          const DynoCurve *curve = &plot->curves[i];
          DynoSeries *one = make_series (curve, curve->y, plot->x_log);
          DynoSeries *map = plot->x_log ? make_series (curve, curve->x, TRUE) : NULL;

          g_ptr_array_add (series, one);
          if (map)
            g_ptr_array_add (series, map);
          line[i] = (DynoPlotLine){
            .series = one, .colour = curve->colour, .points = curve->points, .x_map = map
          };
        }
      drawn[p] = (DynoPlot){
        .title = plot->title,
        .x_label = plot->x_label,
        .y_label = plot->y_label,
        .lines = line,
        .n_lines = plot->n_curves,
        .y_log = plot->y_log,
        .y_from_zero = plot->y_from_zero,
        .x_whole = !plot->x_log,
        .x_log = plot->x_log,
        .robust = TRUE,
        .x0 = plot->x0,
        .x1 = plot->x1,
        .smoothing = plot->smoothing,
        .y_limit = plot->y_limit,
        .y_limit_label = plot->y_limit_label,
        .x_mark = plot->x_mark,
        .x_mark_label = plot->x_mark_label,
        .cursor_x = (double) NAN,
        .empty = "no points",
      };
    }
  return dyno_plot_write (drawn, n_plots, &dyno_plot_theme_light, WIDTH, HEIGHT, PIXELS, path,
                          error);
}

gboolean
dyno_sheet_write_module (guint version, const char *title, const DynoSheetTile *tiles, guint n,
                         const char *path, GError **error)
{
  if (version == DYNO_SHEET_VERSION)
    return dyno_sheet_write (title, tiles, n, path, error);
  g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_NOSYS,
               "the module is of version %d, the program of version %u", DYNO_SHEET_VERSION,
               version);
  return FALSE;
}
