/* SPDX-License-Identifier: MIT */
/* Draws the curves of a run by the module dyno-curves: loss, metrics, throughput and VRAM over
 * steps.  A metric of all outputs has a plot of its own; metrics of single outputs share one. */
#include "runwriter.h"
#include "plotmodule.h"
#include "runview.h"
#include <math.h>
#include <string.h>

#define MAX_PLOTS (3 + DYNO_MAX_RUN_METRICS)

typedef struct {
  const DynoRunStatus *status;
  const DynoRunSeries *series;
  DynoCurve curves[2 * MAX_PLOTS];
  guint n_curves;
  DynoCurvePlot plots[MAX_PLOTS];
  guint n_plots;
} Figure;

static void
add_curve (Figure *f, const char *name, const DynoSeries *series, gboolean points, guint colour)
{
  DynoCurve *curve = &f->curves[f->n_curves++];

  *curve = (DynoCurve){ .name = name,
                        .unit = dyno_series_get_unit (series),
                        .n = dyno_series_get_length (series),
                        .colour = colour % 8,
                        .points = points };
  dyno_series_peek (series, &curve->x, &curve->y);
  f->plots[f->n_plots - 1].n_curves++;
}

/* The caller adds the curves of this plot next. */
static DynoCurvePlot *
add_plot (Figure *f, const char *title, const char *unit)
{
  DynoSeries *loss = f->series->loss;
  guint64 n = dyno_series_get_length (loss);
  double x0 = 0, x1 = 0, y;

  if (n > 0)
    {
      dyno_series_get (loss, 0, &x0, &y);
      dyno_series_get (loss, n - 1, &x1, &y);
    }
  f->plots[f->n_plots] = (DynoCurvePlot){ .title = title,
                                          .x_label = "step",
                                          .x0 = x0,
                                          .x1 = x1,
                                          .y_label = unit,
                                          .curves = &f->curves[f->n_curves],
                                          .y_limit = (double) NAN };
  return &f->plots[f->n_plots++];
}

static void
add_metrics (Figure *f)
{
  const DynoMetricTable *table = &f->status->metrics;
  gboolean parts = FALSE, validated = dyno_series_get_length (f->series->val_loss) > 0;

  for (guint i = 0; i < table->n; i++)
    if (!table->infos[i].part)
      {
        add_plot (f, table->infos[i].title, dyno_series_get_unit (f->series->train[i]));
        if (!table->infos[i].of_validation)
          add_curve (f, "training", f->series->train[i], TRUE, 0);
        add_curve (f, "validation", f->series->val[i], TRUE, 1);
      }
  for (guint i = 0; i < table->n; i++)
    if (table->infos[i].part)
      {
        if (!parts)
          add_plot (f, validated ? "Each output, validation" : "Each output, training", "");
        parts = TRUE;
        add_curve (f, table->infos[i].part, validated ? f->series->val[i] : f->series->train[i],
                   TRUE, i);
      }
}

static void
add_plots (Figure *f)
{
  DynoCurvePlot *plot = add_plot (f, "Loss", "");

  plot->smoothing = DYNO_RUN_VIEW_SMOOTHING;
  add_curve (f, "training", f->series->loss, FALSE, 0);
  add_curve (f, "validation", f->series->val_loss, TRUE, 1);
  add_metrics (f);
  plot = add_plot (f, "Throughput", "samples/s");
  plot->y_from_zero = TRUE;
  add_curve (f, "throughput", f->series->throughput, FALSE, 2);
  plot = add_plot (f, "VRAM", f->status->memory_unit_name);
  plot->y_from_zero = TRUE;
  plot->y_limit = f->status->memory_limit;
  plot->y_limit_label = "budget";
  add_curve (f, "VRAM", f->series->vram, FALSE, 3);
}

/* Writes the plots to all paths; NULL ends them. */
static gboolean
draw (const char *const *paths, DynoMetrics *metrics, guint64 budget_bytes, GError **error)
{
  DynoCurvesWrite write_curves =
      (DynoCurvesWrite) dyno_plot_module_find (DYNO_CURVES_SYMBOL, error);
  g_autoptr (DynoRunView) view = NULL;
  Figure f = { 0 };

  if (!write_curves)
    return FALSE;
  view = dyno_run_view_new (TRUE);
  dyno_run_view_set_memory_limit (view, budget_bytes);
  dyno_run_view_take_log (view, metrics, G_MAXUINT64);
  f.status = dyno_run_view_get_status (view);
  f.series = dyno_run_view_get_series (view);
  add_plots (&f);
  for (guint i = 0; paths[i]; i++)
    if (!write_curves (DYNO_CURVES_VERSION, f.plots, f.n_plots, paths[i], error))
      return FALSE;
  return TRUE;
}

gboolean
dyno_run_writer_write_curves (const char *folder, DynoMetrics *metrics, guint64 budget_bytes,
                              GError **error)
{
  g_autofree char *svg = g_build_filename (folder, "curves.svg", NULL),
                  *png = g_build_filename (folder, "curves.png", NULL);
  const char *const paths[] = { svg, png, NULL };

  return draw (paths, metrics, budget_bytes, error);
}

gboolean
dyno_run_writer_draw_curves (const char *path, DynoMetrics *metrics, guint64 budget_bytes,
                             GError **error)
{
  const char *const paths[] = { path, NULL };

  return draw (paths, metrics, budget_bytes, error);
}
