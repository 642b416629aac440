/* SPDX-License-Identifier: MIT */
/* The curves of a run, drawn by the module dyno-curves: loss, metrics, throughput and VRAM over
 * steps.  A metric of all outputs has a plot of its own; those of single outputs share one.
 *
 * The module is searched in $DYNO_MODULE_DIR alone when that is set, else where it was installed,
 * then in the build tree beside this program.  It is kept: Cairo and X do not like to be
 * unloaded. */
#include "runwriter.h"
#include "curves-module.h"
#include <gmodule.h>
#include <math.h>
#include <string.h>

#define MODULE_NAME "dyno-curves.so"

#define MAX_PLOTS (3 + DYNO_MAX_METRICS)

typedef struct {
  DynoMetricTable table;
  guint64 n_steps, n_epochs;
  double *step, *loss, *rate, *vram;
  double *epoch_step, *train_loss, *val_loss;
  double *train[DYNO_MAX_METRICS], *val[DYNO_MAX_METRICS]; /* in percent where they are fractions */
  double memory_bytes;                                     /* a unit of vram: MiB or GiB */
  gboolean validated;

  DynoCurve curves[2 * MAX_PLOTS];
  guint n_curves;
  DynoCurvePlot plots[MAX_PLOTS];
  guint n_plots;
} Points;

static void
points_free (Points *points)
{
  double *const arrays[] = { points->step,       points->loss,       points->rate,    points->vram,
                             points->epoch_step, points->train_loss, points->val_loss };
  for (guint i = 0; i < G_N_ELEMENTS (arrays); i++)
    g_free (arrays[i]);
  for (guint i = 0; i < DYNO_MAX_METRICS; i++)
    {
      g_free (points->train[i]);
      g_free (points->val[i]);
    }
  g_free (points);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Points, points_free)

static void
collect_steps (Points *points, DynoMetrics *metrics)
{
  guint64 n = dyno_metrics_get_steps (metrics);
  g_autofree DynoStepMetrics *steps = g_new0 (DynoStepMetrics, n + 1);

  points->n_steps = n = dyno_metrics_copy_steps (metrics, 0, n, steps);
  points->step = g_new (double, n + 1);
  points->loss = g_new (double, n + 1);
  points->rate = g_new (double, n + 1);
  points->vram = g_new (double, n + 1);
  points->memory_bytes =
      n && steps[n - 1].vram_bytes < (guint64) 1 << 30 ? (double) (1 << 20) : (double) (1 << 30);
  for (guint64 i = 0; i < n; i++)
    {
      points->step[i] = (double) steps[i].step;
      points->loss[i] = steps[i].loss;
      points->rate[i] = steps[i].samples_per_s > 0 ? steps[i].samples_per_s : (double) NAN;
      points->vram[i] = (double) steps[i].vram_bytes / points->memory_bytes;
    }
}

static void
collect_epochs (Points *points, DynoMetrics *metrics)
{
  guint64 m = dyno_metrics_get_epochs (metrics);
  g_autofree DynoEpochMetrics *epochs = g_new0 (DynoEpochMetrics, m + 1);

  points->n_epochs = m = dyno_metrics_copy_epochs (metrics, 0, m, epochs);
  points->epoch_step = g_new (double, m + 1);
  points->train_loss = g_new (double, m + 1);
  points->val_loss = g_new (double, m + 1);
  for (guint64 i = 0; i < m; i++)
    {
      points->epoch_step[i] = (double) epochs[i].step;
      points->train_loss[i] = epochs[i].train_loss;
      points->val_loss[i] = epochs[i].val_loss;
      points->validated = points->validated || isfinite (epochs[i].val_loss);
    }
  dyno_metrics_get_table (metrics, &points->table);
  for (guint k = 0; k < points->table.n; k++)
    {
      double unit = points->table.infos[k].format == DYNO_METRIC_FRACTION ? 100 : 1;

      points->train[k] = g_new (double, m + 1);
      points->val[k] = g_new (double, m + 1);
      for (guint64 i = 0; i < m; i++)
        {
          points->train[k][i] = epochs[i].train_metrics[k] * unit;
          points->val[k][i] = epochs[i].val_metrics[k] * unit;
        }
    }
}

/* --- plots ------------------------------------------------------------------------------------ */

/* Over steps (in_epochs FALSE), or a point an epoch; of the plot that was added last. */
static void
add_curve (Points *p, const char *name, const char *unit, const double *y, gboolean in_epochs,
           guint colour)
{
  p->curves[p->n_curves++] = (DynoCurve){ .name = name,
                                          .unit = unit,
                                          .x = in_epochs ? p->epoch_step : p->step,
                                          .y = y,
                                          .n = in_epochs ? p->n_epochs : p->n_steps,
                                          .colour = colour % 8,
                                          .points = in_epochs };
  p->plots[p->n_plots - 1].n_curves++;
}

static DynoCurvePlot *
add_plot (Points *p, const char *title, const char *unit)
{
  p->plots[p->n_plots] = (DynoCurvePlot){ .title = title,
                                          .x_label = "step",
                                          .x0 = p->n_steps ? p->step[0] : 0,
                                          .x1 = p->n_steps ? p->step[p->n_steps - 1] : 0,
                                          .y_label = unit,
                                          .curves = &p->curves[p->n_curves],
                                          .y_limit = (double) NAN };
  return &p->plots[p->n_plots++];
}

static void
add_metrics (Points *p)
{
  gboolean parts = FALSE;

  for (guint i = 0; i < p->table.n; i++)
    {
      const DynoMetricInfo *metric = &p->table.infos[i];

      if (metric->part)
        continue;
      add_plot (p, metric->title, metric->format == DYNO_METRIC_FRACTION ? "%" : metric->unit);
      add_curve (p, "training", NULL, p->train[i], TRUE, 0);
      add_curve (p, "validation", NULL, p->val[i], TRUE, 1);
    }
  for (guint i = 0; i < p->table.n; i++)
    {
      const DynoMetricInfo *metric = &p->table.infos[i];

      if (!metric->part)
        continue;
      if (!parts)
        add_plot (p, p->validated ? "Each output, validation" : "Each output, training", "");
      parts = TRUE;
      add_curve (p, metric->part, metric->unit, p->validated ? p->val[i] : p->train[i], TRUE, i);
    }
}

static void
add_plots (Points *p, guint64 budget_bytes)
{
  const char *memory_unit = p->memory_bytes < (double) (1 << 30) ? "MiB" : "GiB";
  DynoCurvePlot *plot = add_plot (p, "Loss", "");

  plot->smoothing = 0.9;
  add_curve (p, "training", NULL, p->loss, FALSE, 0);
  add_curve (p, "validation", NULL, p->val_loss, TRUE, 1);
  add_metrics (p);
  plot = add_plot (p, "Throughput", "samples/s");
  plot->y_from_zero = TRUE;
  add_curve (p, "throughput", "samples/s", p->rate, FALSE, 2);
  plot = add_plot (p, "VRAM", memory_unit);
  plot->y_from_zero = TRUE;
  plot->y_limit = budget_bytes ? (double) budget_bytes / p->memory_bytes : (double) NAN;
  plot->y_limit_label = "budget";
  add_curve (p, "VRAM", memory_unit, p->vram, FALSE, 3);
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
  module = open_at (DYNO_MODULE_DIR);
  if (module)
    return module;
  folder = build_folder ();
  return open_at (folder);
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

gboolean
dyno_run_writer_write_curves (const char *folder, DynoMetrics *metrics, guint64 budget_bytes,
                              GError **error)
{
  DynoCurvesWrite write_curves = load (error);
  g_autoptr (Points) p = NULL;

  if (!write_curves)
    return FALSE;
  p = g_new0 (Points, 1);
  collect_steps (p, metrics);
  collect_epochs (p, metrics);
  add_plots (p, budget_bytes);
  return write_curves (DYNO_CURVES_VERSION, p->plots, p->n_plots, folder, error);
}
