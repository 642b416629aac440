/* SPDX-License-Identifier: MIT */
/* The metrics that a graph's loss declares, and those of a validation. */
#include "metric.h"
#include "graph-private.h"
#include "intl.h"
#include <math.h>
#include <string.h>

const DynoMetricInfo dyno_class_validation_metrics[] = {
  [DYNO_CLASS_METRIC_BALANCED_ACCURACY] = { .name = "balanced_accuracy",
                                            .title = N_ ("Balanced accuracy"),
                                            .unit = "",
                                            .output = -1,
                                            .higher_is_better = TRUE,
                                            .of_validation = TRUE,
                                            .format = DYNO_METRIC_FRACTION },
  [DYNO_CLASS_METRIC_F1] = { .name = "f1_macro",
                             .title = N_ ("Macro F1"),
                             .unit = "",
                             .output = -1,
                             .higher_is_better = TRUE,
                             .of_validation = TRUE,
                             .format = DYNO_METRIC_FRACTION },
  [DYNO_CLASS_METRIC_PRECISION] = { .name = "precision_macro",
                                    .title = N_ ("Macro precision"),
                                    .unit = "",
                                    .output = -1,
                                    .higher_is_better = TRUE,
                                    .of_validation = TRUE,
                                    .format = DYNO_METRIC_FRACTION },
  [DYNO_CLASS_METRIC_ROC_AUC] = { .name = "roc_auc",
                                  .title = N_ ("ROC AUC"),
                                  .unit = "",
                                  .output = -1,
                                  .higher_is_better = TRUE,
                                  .of_validation = TRUE,
                                  .costly = TRUE,
                                  .format = DYNO_METRIC_FRACTION },
  [DYNO_CLASS_METRIC_CALIBRATION_ERROR] = { .name = "calibration_error",
                                            .title = N_ ("Calibration error"),
                                            .unit = "",
                                            .output = -1,
                                            .of_validation = TRUE,
                                            .costly = TRUE,
                                            .format = DYNO_METRIC_FRACTION },
  { 0 },
};

const DynoMetricInfo dyno_value_validation_metrics[] = {
  { .name = "rms_error",
    .title = N_ ("RMS error"),
    .unit = "",
    .output = -1,
    .of_targets = TRUE,
    .of_validation = TRUE,
    .format = DYNO_METRIC_NUMBER },
  { .name = "r2",
    .title = N_ ("R2"),
    .unit = "",
    .output = -1,
    .higher_is_better = TRUE,
    .of_validation = TRUE,
    .format = DYNO_METRIC_NUMBER },
  { 0 },
};

const DynoMetricInfo dyno_pixel_validation_metrics[] = {
  { .name = "mean_iou",
    .title = N_ ("Mean IoU"),
    .unit = "",
    .output = -1,
    .higher_is_better = TRUE,
    .of_validation = TRUE,
    .selects_best = TRUE,
    .format = DYNO_METRIC_FRACTION },
  { .name = "mean_dice",
    .title = N_ ("Mean Dice"),
    .unit = "",
    .output = -1,
    .higher_is_better = TRUE,
    .of_validation = TRUE,
    .format = DYNO_METRIC_FRACTION },
  { 0 },
};

const DynoMetricInfo dyno_label_validation_metrics[] = {
  { .name = "mean_average_precision",
    .title = N_ ("Mean average precision"),
    .unit = "",
    .output = -1,
    .higher_is_better = TRUE,
    .of_validation = TRUE,
    .selects_best = TRUE,
    .format = DYNO_METRIC_FRACTION },
  { .name = "f1_micro",
    .title = N_ ("Micro F1"),
    .unit = "",
    .output = -1,
    .higher_is_better = TRUE,
    .of_validation = TRUE,
    .format = DYNO_METRIC_FRACTION },
  { 0 },
};

guint
dyno_network_get_metrics (DynoGraph *graph, const DynoMetricInfo **metrics)
{
  *metrics = graph->metrics;
  return graph->n_metrics;
}

void
dyno_graph_declare_metrics (DynoGraph *graph, const DynoMetricInfo *metrics, guint n)
{
  g_return_if_fail (n <= DYNO_MAX_METRICS && graph->n_metrics == 0);
  graph->metrics = g_memdup2 (metrics, n * sizeof *metrics);
  graph->n_metrics = n;
}

/* The metric of one output, whose name is the metric's name, '_', and the output's name or
 * number. */
static gboolean
find_part (const char *name, DynoMetricInfo *metric)
{
  *metric = dyno_mse_metric;
  if (!g_str_has_prefix (name, metric->name) || name[strlen (metric->name)] != '_')
    return FALSE;
  metric->part = g_intern_string (name + strlen (metric->name) + 1);
  metric->name = g_intern_string (name);
  return TRUE;
}

static gboolean
find_among (const char *name, const DynoMetricInfo *metrics, guint n, DynoMetricInfo *metric)
{
  for (guint i = 0; i < n; i++)
    if (g_str_equal (metrics[i].name, name))
      {
        *metric = metrics[i];
        return TRUE;
      }
  return FALSE;
}

static gboolean
find_of_validation (const char *name, const DynoMetricInfo *metrics, DynoMetricInfo *metric)
{
  guint n = 0;

  while (metrics[n].name)
    n++;
  return find_among (name, metrics, n, metric);
}

gboolean
dyno_metric_find (const char *name, DynoMetricInfo *metric)
{
  if (find_among (name, dyno_cross_entropy_metrics, DYNO_N_CROSS_ENTROPY_METRICS, metric)
      || find_of_validation (name, dyno_class_validation_metrics, metric)
      || find_of_validation (name, dyno_value_validation_metrics, metric)
      || find_among (name, dyno_label_metrics, DYNO_N_LABEL_METRICS, metric)
      || find_of_validation (name, dyno_label_validation_metrics, metric)
      || find_among (name, dyno_pixel_metrics, DYNO_N_PIXEL_METRICS, metric)
      || find_of_validation (name, dyno_pixel_validation_metrics, metric))
    return TRUE;
  *metric = dyno_mse_metric;
  if (g_str_equal (metric->name, name) || find_part (name, metric))
    return TRUE;
  *metric = (DynoMetricInfo){ .name = g_intern_string (name),
                              .title = g_intern_string (name),
                              .unit = "",
                              .output = -1,
                              .format = DYNO_METRIC_NUMBER };
  return FALSE;
}

gboolean
dyno_metric_is_better (const DynoMetricInfo *metric, double value, double best)
{
  if (isnan (value) || isnan (best))
    return !isnan (value);
  return metric->higher_is_better ? value > best : value < best;
}
