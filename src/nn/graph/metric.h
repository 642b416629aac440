/* SPDX-License-Identifier: MIT */
/* What a loss measures besides itself: the one table that logs, files, plots and the choice of the
 * best epoch follow.
 *
 * A loss op declares its metrics when it is built (dyno_graph_declare_metrics) and writes the sum
 * of each over the valid samples to metric_sums of the step's output, in the order declared: a
 * metric is a mean over samples.  The first one is the one that is shown where there is room for
 * one. */
#pragma once
#include "graph.h"
#include "step.h"

G_BEGIN_DECLS

typedef enum {
  DYNO_METRIC_FRACTION, /* 0..1, shown in percent */
  DYNO_METRIC_NUMBER,   /* shown as it is, with its unit */
} DynoMetricFormat;

/* Copied by assignment: the strings are static or interned. */
typedef struct {
  const char *name;  /* "accuracy": of columns and keys; [a-z0-9_] */
  const char *title; /* N_(), for people: "Accuracy" */
  const char *part;  /* which output it is of, "yaw"; NULL: of all */
  const char *unit;  /* "degrees"; "": none, or not known */
  int output;        /* index of that output in the targets; -1: of all */
  gboolean higher_is_better;
  gboolean of_targets;   /* in the unit of the targets */
  gboolean selects_best; /* the epoch of its best value is the best one; else that of the loss */
  DynoMetricFormat format;
} DynoMetricInfo;

/* What the losses may declare, in their order. */
#define DYNO_N_CROSS_ENTROPY_METRICS 3
extern const DynoMetricInfo dyno_cross_entropy_metrics[DYNO_N_CROSS_ENTROPY_METRICS];
extern const DynoMetricInfo dyno_mse_metric; /* and one of each output, <name>_<output> */

/* What the graph's loss measures, in the order of metric_sums; at most DYNO_MAX_METRICS, and 0
 * without a loss.  *metrics is the graph's. */
guint dyno_network_get_metrics (DynoGraph *graph, const DynoMetricInfo **metrics);

/* Of a name as a loss declares it, or of one output of it ("mean_abs_error_yaw"): for files that know
 * names alone.  The units of a data set are not in it.  FALSE: no loss measures that, and metric is a
 * plain number of that name. */
gboolean dyno_metric_find (const char *name, DynoMetricInfo *metric);

/* For losses: copies the table; once a graph. */
void dyno_graph_declare_metrics (DynoGraph *graph, const DynoMetricInfo *metrics, guint n);

/* TRUE: value is better than the best so far.  A NaN is never better, and any number is better than
 * none (NaN). */
gboolean dyno_metric_is_better (const DynoMetricInfo *metric, double value, double best);

G_END_DECLS
