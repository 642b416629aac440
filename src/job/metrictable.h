/* SPDX-License-Identifier: MIT */
/* The metrics of a run: those that its loss declares.  The rows of the log, the columns of
 * metrics.csv, keys of JSON, plots and the choice of the best epoch follow this table. */
#pragma once
#include "dataset.h"
#include "metric.h"

G_BEGIN_DECLS

/* Copied by assignment. */
typedef struct {
  guint n; /* 0: not known yet */
  DynoMetricInfo infos[DYNO_MAX_METRICS];
} DynoMetricTable;

/* Of a graph that trains on a data set, which may name its values and their unit. */
void dyno_metric_table_init (DynoMetricTable *table, DynoGraph *graph, const DynoDatasetInfo *info);

/* The metric whose best value makes the best epoch; -1: the loss does. */
int dyno_metric_table_find_selecting (const DynoMetricTable *table);

/* The same where the setting best_metric names one: a metric, or “loss”; NULL and "": as the loss
 * says.  -2: there is none of that name. */
int dyno_metric_table_find_best (const DynoMetricTable *table, const char *name);

/* "Accuracy", "Mean error (yaw)": translated where the program has set a locale.  g_free. */
char *dyno_metric_get_label (const DynoMetricInfo *metric);

G_END_DECLS
