/* SPDX-License-Identifier: MIT */
/* The curves of a run, drawn by the module dyno-curves: loss, metrics, throughput and VRAM over
 * steps.  A metric of all outputs has a plot of its own; those of single outputs share one.
 *
 * The module is searched in $DYNO_MODULE_DIR alone when that is set, else in the build tree beside
 * this program, then where it was installed: there may lie another version.  It is kept: Cairo and
 * X do not like to be unloaded. */
#include "runwriter.h"
#include "curves-module.h"
#include "runview.h"
#include <gmodule.h>
#include <math.h>
#include <string.h>

#define MODULE_NAME "dyno-curves.so"

#define MAX_PLOTS (3 + DYNO_MAX_METRICS)

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

/* Its curves are added next. */
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

/* --- the module ------------------------------------------------------------------------------- */

static GModule *
open_at (const char *folder)
{
  g_autofree char *path = folder ? g_build_filename (folder, MODULE_NAME, NULL) : NULL;

  if (!path || !g_file_test (path, G_FILE_TEST_IS_REGULAR))
    return NULL;
  return g_module_open (path, G_MODULE_BIND_LAZY | G_MODULE_BIND_LOCAL);
}

/* src/plot of the build tree that this program runs in, or NULL. */
static char *
build_folder (void)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *folder = program ? g_path_get_dirname (program) : NULL;

  if (!folder || !(g_str_has_suffix (folder, "/src/cli") || g_str_has_suffix (folder, "/src/app")))
    return NULL;
  return g_build_filename (folder, "..", "plot", NULL);
}

static GModule *
find_module (void)
{
  const char *named = g_getenv ("DYNO_MODULE_DIR");
  g_autofree char *folder = NULL;
  GModule *module;

  if (named && *named)
    return open_at (named);
  folder = build_folder ();
  module = open_at (folder);
  return module ? module : open_at (DYNO_MODULE_DIR);
}

static DynoCurvesWrite
load (GError **error)
{
  static GModule *module;
  gpointer symbol = NULL;

  if (!module)
    module = find_module ();
  if (!module || !g_module_symbol (module, DYNO_CURVES_SYMBOL, &symbol) || !symbol)
    {
      const char *cause = g_module_error ();
      g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_NOENT, "%s",
                   cause ? cause : "the module " MODULE_NAME " is not installed");
      return NULL;
    }
  g_module_make_resident (module);
  return (DynoCurvesWrite) symbol;
}

/* To all of the paths; NULL ends them. */
static gboolean
draw (const char *const *paths, DynoMetrics *metrics, guint64 budget_bytes, GError **error)
{
  DynoCurvesWrite write_curves = load (error);
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
