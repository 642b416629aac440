/* SPDX-License-Identifier: MIT */
/* The metrics of a run. */
#include "metrictable.h"
#include "intl.h"
#include <string.h>

void
dyno_metric_table_init (DynoMetricTable *table, DynoGraph *graph, const DynoDatasetInfo *info)
{
  const DynoMetricInfo *metrics;

  memset (table, 0, sizeof *table);
  table->n = dyno_network_get_metrics (graph, &metrics);
  if (table->n > 0)
    memcpy (table->infos, metrics, table->n * sizeof *metrics);
}

int
dyno_metric_table_find_selecting (const DynoMetricTable *table)
{
  for (guint i = 0; i < table->n; i++)
    if (table->infos[i].selects_best)
      return (int) i;
  return -1;
}

char *
dyno_metric_get_label (const DynoMetricInfo *metric)
{
  if (!metric->part)
    return g_strdup (_ (metric->title));
  return g_strdup_printf ("%s (%s)", _ (metric->title), metric->part);
}
