/* SPDX-License-Identifier: MIT */
/* Metrics: the values that a loss measures besides itself.  Logs, files, plots and the choice of
 * the best epoch all follow this one table.
 *
 * A loss op declares its metrics when it is built (dyno_graph_declare_metrics) and writes the sum
 * of each over the valid samples to metric_sums of the step's output, in the order declared: a
 * metric is a mean over samples.  The first metric is shown where there is room for only one.
 *
 * Other metrics are not means over samples: a validation computes them from all of its predictions,
 * where a setting asks for one or where one of them selects the best epoch; training steps have no
 * such metrics. */
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
  const char *name;  /* "accuracy": used in columns and keys; [a-z0-9_] */
  const char *title; /* N_(), shown to the user: "Accuracy" */
  const char *part;  /* the output that it measures, "yaw"; NULL: all outputs */
  const char *unit;  /* "degrees"; "": no unit, or an unknown one */
  int output;        /* index of that output in the targets; -1: all outputs */
  gboolean higher_is_better;
  gboolean of_targets;    /* in the unit of the targets */
  gboolean of_validation; /* no loss measures it: NaN in steps and epochs of the training */
  /* of_validation: measured only where a setting asks for this one, not with others of its table */
  gboolean costly;
  /* the best epoch is the epoch with the best value of this metric; FALSE for all metrics: the
   * epoch with the best loss */
  gboolean selects_best;
  DynoMetricFormat format;
} DynoMetricInfo;

/* The metrics that the losses may declare, in their order. */
#define DYNO_N_CROSS_ENTROPY_METRICS 3
extern const DynoMetricInfo dyno_cross_entropy_metrics[DYNO_N_CROSS_ENTROPY_METRICS];
#define DYNO_N_LABEL_METRICS 2
extern const DynoMetricInfo dyno_label_metrics[DYNO_N_LABEL_METRICS];
#define DYNO_N_PIXEL_METRICS 2
extern const DynoMetricInfo dyno_pixel_metrics[DYNO_N_PIXEL_METRICS];
extern const DynoMetricInfo dyno_mse_metric; /* and one metric for each output, <name>_<output> */

/* The metrics that a validation computes from its predictions: those of classes by
 * DynoClassMetric; the RMS error of all values and the mean of their R2; the means over the classes
 * of the pixels' IoU and Dice; or of labels the mean over the classes of the average precision, and
 * F1 over the labels of all classes.  A row without a name ends each table. */
typedef enum {
  DYNO_CLASS_METRIC_BALANCED_ACCURACY,
  DYNO_CLASS_METRIC_F1,
  DYNO_CLASS_METRIC_PRECISION,
  DYNO_CLASS_METRIC_ROC_AUC,           /* from the probabilities of all samples, which are kept */
  DYNO_CLASS_METRIC_CALIBRATION_ERROR, /* from the probabilities of the predicted classes */
} DynoClassMetric;

extern const DynoMetricInfo dyno_class_validation_metrics[];
extern const DynoMetricInfo dyno_value_validation_metrics[];
extern const DynoMetricInfo dyno_pixel_validation_metrics[];
extern const DynoMetricInfo dyno_label_validation_metrics[];
#define DYNO_MOST_VALIDATION_METRICS 5

/* Most metrics of one run. */
#define DYNO_MAX_RUN_METRICS (DYNO_MAX_METRICS + DYNO_MOST_VALIDATION_METRICS)

/* The table whose metrics a validation can compute for the graph; NULL: none, since the samples
 * have no labels, or several rows of outputs each. */
const DynoMetricInfo *dyno_network_get_validation_metrics (DynoGraph *graph);

/* The metrics of the graph's loss, in the order of metric_sums; at most DYNO_MAX_METRICS, and 0
 * without a loss.  *metrics is owned by the graph. */
guint dyno_network_get_metrics (DynoGraph *graph, const DynoMetricInfo **metrics);

/* Finds a metric of a loss or of a validation by its name, or the metric of one output by its name
 * ("mean_abs_error_yaw"), for files that hold only names.  The result has no units of a data set.
 * FALSE: the name is not known, and *metric becomes a plain number of that name. */
gboolean dyno_metric_find (const char *name, DynoMetricInfo *metric);

/* For losses: copies the table; to be called once per graph. */
void dyno_graph_declare_metrics (DynoGraph *graph, const DynoMetricInfo *metrics, guint n);

/* TRUE: value is better than the best so far.  A NaN is never better, and any number is better than
 * none (NaN). */
gboolean dyno_metric_is_better (const DynoMetricInfo *metric, double value, double best);

G_END_DECLS
