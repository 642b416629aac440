/* SPDX-License-Identifier: MIT */
/* The metrics of a run: those that its loss declares, followed by those of its validation, where
 * best_metric names one of the latter or one of them selects the best epoch by default.  The rows
 * of the log, the columns of metrics.csv, keys of JSON, plots and the choice of the best epoch
 * follow this table. */
#pragma once
#include "dataset.h"
#include "metric.h"

G_BEGIN_DECLS

/* Copied by assignment. */
typedef struct {
  guint n; /* 0: not known yet */
  DynoMetricInfo infos[DYNO_MAX_RUN_METRICS];
} DynoMetricTable;

/* Fills the table for a graph that trains on a data set, which may name its values and their unit.
 * best_metric: the setting; may be NULL. */
void dyno_metric_table_init (DynoMetricTable *table, DynoGraph *graph, const DynoDatasetInfo *info,
                             const char *best_metric);

/* The same with all metrics that a run can measure, whatever best_metric is. */
void dyno_metric_table_init_all (DynoMetricTable *table, DynoGraph *graph,
                                 const DynoDatasetInfo *info);

/* TRUE: a validation has to compute metrics from predictions: best_metric (may be NULL) is one of
 * metrics, those of dyno_network_get_validation_metrics (may be NULL), or one of metrics selects
 * the best epoch.  All of metrics that are not costly are then measured. */
gboolean dyno_metric_asks_predictions (const char *best_metric, const DynoMetricInfo *metrics);

/* TRUE: where metrics are computed from predictions, this one of them is. */
gboolean dyno_metric_is_measured (const DynoMetricInfo *metric, const char *best_metric);

/* The index of the first metric of the validation; n: the table has none. */
guint dyno_metric_table_find_validation (const DynoMetricTable *table);

/* The possible values of best_metric in a run of the graph: "loss, accuracy, ...".  g_free. */
char *dyno_metric_table_list_names (const DynoMetricTable *table, DynoGraph *graph);

/* The index of the metric that selects the best epoch; -1: the loss does. */
int dyno_metric_table_find_selecting (const DynoMetricTable *table);

/* The same where the setting best_metric names a metric or "loss"; NULL and "": as the loss
 * declares. -2: there is no such metric. */
int dyno_metric_table_find_best (const DynoMetricTable *table, const char *name);

/* "Accuracy", "Mean error (yaw)": translated where the program has set a locale.  g_free. */
char *dyno_metric_get_label (const DynoMetricInfo *metric);

G_END_DECLS
