/* SPDX-License-Identifier: MIT */
/* The metrics of a run. */
#include "metrictable.h"
#include "intl.h"
#include <string.h>

/* For columns and keys: "mean_abs_error" and "yaw" make "mean_abs_error_yaw".  NULL: the output's
 * name has characters that are not allowed there. */
static const char *
join_name (const char *name, const char *part)
{
  g_autofree char *lower = g_ascii_strdown (part, -1);
  g_autofree char *joined = NULL;

  g_strdelimit (lower, " -", '_');
  if (strspn (lower, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen (lower))
    return NULL;
  joined = g_strconcat (name, "_", lower, NULL);
  return g_intern_string (joined);
}

/* Columns and keys have the outputs' names where these are all valid and distinct, else their
 * numbers, as in the loss. */
static void
name_columns (DynoMetricTable *table, const DynoDatasetInfo *info)
{
  const char *names[DYNO_MAX_RUN_METRICS] = { NULL };

  for (guint i = 0; i < table->n; i++)
    {
      const DynoMetricInfo *metric = &table->infos[i];

      names[i] = metric->name;
      if (metric->output >= 0)
        names[i] = join_name (table->infos[0].name, info->target_names[metric->output]);
      for (guint j = 0; j < i; j++)
        if (names[j] == names[i])
          return;
      if (!names[i])
        return;
    }
  for (guint i = 0; i < table->n; i++)
    table->infos[i].name = names[i];
}

/* The unit that all values share, or "". */
static const char *
common_unit (const DynoDatasetInfo *info)
{
  for (guint32 i = 1; i < dyno_schema_count_values (&info->schema); i++)
    if (!g_str_equal (info->target_units[i], info->target_units[0]))
      return "";
  return g_intern_string (info->target_units[0]);
}

/* Sets names and units of the metrics from the values of the data set. */
static void
name_targets (DynoMetricTable *table, const DynoDatasetInfo *info)
{
  name_columns (table, info);
  for (guint i = 0; i < table->n; i++)
    {
      DynoMetricInfo *metric = &table->infos[i];

      if (metric->of_targets)
        metric->unit = metric->output < 0 ? common_unit (info)
                                          : g_intern_string (info->target_units[metric->output]);
      if (metric->output >= 0)
        metric->part = g_intern_string (info->target_names[metric->output]);
    }
}

gboolean
dyno_metric_asks_predictions (const char *best_metric, const DynoMetricInfo *metrics)
{
  for (guint i = 0; metrics && metrics[i].name; i++)
    if (metrics[i].selects_best || g_strcmp0 (metrics[i].name, best_metric) == 0)
      return TRUE;
  return FALSE;
}

gboolean
dyno_metric_is_measured (const DynoMetricInfo *metric, const char *best_metric)
{
  return !metric->costly || g_strcmp0 (metric->name, best_metric) == 0;
}

/* All metrics but the costly ones are added where one is needed: they cost nothing more. */
static void
append_of_validation (DynoMetricTable *table, DynoGraph *graph, const char *best_metric,
                      gboolean all)
{
  const DynoMetricInfo *metrics = dyno_network_get_validation_metrics (graph);
  gboolean asked = all || dyno_metric_asks_predictions (best_metric, metrics);

  for (; asked && metrics && metrics->name; metrics++)
    if (all || dyno_metric_is_measured (metrics, best_metric))
      {
        DynoMetricInfo *metric = &table->infos[table->n++];

        *metric = *metrics;
        if (metric->of_targets)
          metric->unit = table->infos[0].unit;
      }
}

static void
fill (DynoMetricTable *table, DynoGraph *graph, const DynoDatasetInfo *info,
      const char *best_metric, gboolean all)
{
  const DynoMetricInfo *metrics;

  memset (table, 0, sizeof *table);
  table->n = dyno_network_get_metrics (graph, &metrics);
  if (table->n > 0)
    memcpy (table->infos, metrics, table->n * sizeof *metrics);
  append_of_validation (table, graph, best_metric, all);
  if (info->target_names)
    name_targets (table, info);
}

void
dyno_metric_table_init (DynoMetricTable *table, DynoGraph *graph, const DynoDatasetInfo *info,
                        const char *best_metric)
{
  fill (table, graph, info, best_metric, FALSE);
}

void
dyno_metric_table_init_all (DynoMetricTable *table, DynoGraph *graph, const DynoDatasetInfo *info)
{
  fill (table, graph, info, NULL, TRUE);
}

int
dyno_metric_table_find_selecting (const DynoMetricTable *table)
{
  for (guint i = 0; i < table->n; i++)
    if (table->infos[i].selects_best)
      return (int) i;
  return -1;
}

int
dyno_metric_table_find_best (const DynoMetricTable *table, const char *name)
{
  if (!name || !*name)
    return dyno_metric_table_find_selecting (table);
  if (strcmp (name, "loss") == 0)
    return -1;
  for (guint i = 0; i < table->n; i++)
    if (strcmp (table->infos[i].name, name) == 0)
      return (int) i;
  return -2;
}

guint
dyno_metric_table_find_validation (const DynoMetricTable *table)
{
  guint i = 0;

  while (i < table->n && !table->infos[i].of_validation)
    i++;
  return i;
}

char *
dyno_metric_table_list_names (const DynoMetricTable *table, DynoGraph *graph)
{
  const DynoMetricInfo *metrics = dyno_network_get_validation_metrics (graph);
  GString *names = g_string_new ("loss");
  guint n = dyno_metric_table_find_validation (table);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (names, ", %s", table->infos[i].name);
  for (guint i = 0; metrics && metrics[i].name; i++)
    g_string_append_printf (names, ", %s", metrics[i].name);
  return g_string_free (names, FALSE);
}

char *
dyno_metric_get_label (const DynoMetricInfo *metric)
{
  if (!metric->part)
    return g_strdup (_ (metric->title));
  return g_strdup_printf ("%s (%s)", _ (metric->title), metric->part);
}
