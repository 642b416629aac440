/* SPDX-License-Identifier: MIT */
/* The metrics that a graph's loss declares. */
#include "metric.h"
#include "graph-private.h"
#include <math.h>
#include <string.h>

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

gboolean
dyno_metric_is_better (const DynoMetricInfo *metric, double value, double best)
{
  if (isnan (value) || isnan (best))
    return !isnan (value);
  return metric->higher_is_better ? value > best : value < best;
}
