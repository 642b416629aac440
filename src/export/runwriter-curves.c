/* SPDX-License-Identifier: MIT */
/* The curves of a run, drawn by the module dyno-curves: loss, accuracy, throughput and VRAM over
 * steps.
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

typedef struct {
  guint64 n_steps, n_epochs;
  double *step, *loss, *rate, *vram;
  double *epoch_step, *train_loss, *val_loss, *train_accuracy, *val_accuracy;
  double memory_bytes; /* a unit of vram: MiB or GiB */
  gboolean is_error;
} Points;

static void
points_free (Points *points)
{
  double *const arrays[] = { points->step,     points->loss,           points->rate,
                             points->vram,     points->epoch_step,     points->train_loss,
                             points->val_loss, points->train_accuracy, points->val_accuracy };
  for (guint i = 0; i < G_N_ELEMENTS (arrays); i++)
    g_free (arrays[i]);
  g_free (points);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Points, points_free)

static Points *
collect (DynoMetrics *metrics)
{
  Points *points = g_new0 (Points, 1);
  guint64 n = dyno_metrics_get_steps (metrics), m = dyno_metrics_get_epochs (metrics);
  g_autofree DynoStepMetrics *steps = g_new0 (DynoStepMetrics, n + 1);
  g_autofree DynoEpochMetrics *epochs = g_new0 (DynoEpochMetrics, m + 1);

  points->n_steps = n = dyno_metrics_copy_steps (metrics, 0, n, steps);
  points->n_epochs = m = dyno_metrics_copy_epochs (metrics, 0, m, epochs);
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
  points->epoch_step = g_new (double, m + 1);
  points->train_loss = g_new (double, m + 1);
  points->val_loss = g_new (double, m + 1);
  points->train_accuracy = g_new (double, m + 1);
  points->val_accuracy = g_new (double, m + 1);
  for (guint64 i = 0; i < m; i++)
    {
      double unit = epochs[i].is_error ? 1 : 100;

      points->is_error |= epochs[i].is_error;
      points->epoch_step[i] = (double) epochs[i].step;
      points->train_loss[i] = epochs[i].train_loss;
      points->val_loss[i] = epochs[i].val_loss;
      points->train_accuracy[i] = epochs[i].train_accuracy * unit;
      points->val_accuracy[i] = epochs[i].val_accuracy * unit;
    }
  return points;
}

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
  p = collect (metrics);
  {
    const char *memory_unit = p->memory_bytes < (double) (1 << 30) ? "MiB" : "GiB";
    const DynoCurve loss[] = {
      { .name = "training", .x = p->step, .y = p->loss, .n = p->n_steps, .colour = 0 },
      { .name = "validation",
        .x = p->epoch_step,
        .y = p->val_loss,
        .n = p->n_epochs,
        .colour = 1,
        .points = TRUE },
    };
    const DynoCurve accuracy[] = {
      { .name = "training",
        .x = p->epoch_step,
        .y = p->train_accuracy,
        .n = p->n_epochs,
        .colour = 0,
        .points = TRUE },
      { .name = "validation",
        .x = p->epoch_step,
        .y = p->val_accuracy,
        .n = p->n_epochs,
        .colour = 1,
        .points = TRUE },
    };
    const DynoCurve rate[] = { { .name = "throughput",
                                 .unit = "samples/s",
                                 .x = p->step,
                                 .y = p->rate,
                                 .n = p->n_steps,
                                 .colour = 2 } };
    const DynoCurve vram[] = { { .name = "VRAM",
                                 .unit = memory_unit,
                                 .x = p->step,
                                 .y = p->vram,
                                 .n = p->n_steps,
                                 .colour = 3 } };
    double limit = budget_bytes ? (double) budget_bytes / p->memory_bytes : (double) NAN;
    double x0 = p->n_steps ? p->step[0] : 0, x1 = p->n_steps ? p->step[p->n_steps - 1] : 0;
    const DynoCurvePlot plots[] = {
      { .title = "Loss",
        .x_label = "step",
        .x0 = x0,
        .x1 = x1,
        .y_label = "",
        .curves = loss,
        .n_curves = 2,
        .smoothing = 0.9,
        .y_limit = (double) NAN },
      { .title = p->is_error ? "Mean absolute error" : "Accuracy",
        .x_label = "step",
        .x0 = x0,
        .x1 = x1,
        .y_label = p->is_error ? "" : "%",
        .curves = accuracy,
        .n_curves = 2,
        .y_limit = (double) NAN },
      { .title = "Throughput",
        .x_label = "step",
        .x0 = x0,
        .x1 = x1,
        .y_label = "samples/s",
        .curves = rate,
        .n_curves = 1,
        .y_from_zero = TRUE,
        .y_limit = (double) NAN },
      { .title = "VRAM",
        .x_label = "step",
        .x0 = x0,
        .x1 = x1,
        .y_label = memory_unit,
        .curves = vram,
        .n_curves = 1,
        .y_from_zero = TRUE,
        .y_limit = limit,
        .y_limit_label = "budget" },
    };
    return write_curves (DYNO_CURVES_VERSION, plots, G_N_ELEMENTS (plots), folder, error);
  }
}
