/* SPDX-License-Identifier: MIT */
/* metrics.csv of a run's folder as its log, without the data set and the model that it came of. */
#include "base-error.h"
#include "metricscsv.h"
#include <string.h>

#define VALIDATED "val_" /* before the name of a metric: its mean over the validation samples */
#define TRAINED   "train_"

static gboolean
has_column (char **names, const char *prefix, const char *name)
{
  g_autofree char *whole = g_strconcat (prefix, name, NULL);

  return g_strv_contains ((const char *const *) names, whole);
}

/* The metrics, in their order: what has a column of each step, one of each epoch's training and one
 * of its validation. */
static gboolean
read_table (const char *head, DynoMetricTable *table)
{
  g_auto (GStrv) names = g_strsplit (head, ",", -1);
  int n_parts = 0;

  memset (table, 0, sizeof *table);
  for (guint i = 0; names[i]; i++)
    {
      const char *name = names[i] + strlen (VALIDATED);
      DynoMetricInfo *metric = &table->infos[table->n];

      if (!g_str_has_prefix (names[i], VALIDATED) || g_str_equal (name, "loss")
          || !has_column (names, "", name) || !has_column (names, TRAINED, name))
        continue;
      if (table->n == DYNO_MAX_METRICS)
        return FALSE;
      dyno_metric_find (name, metric);
      if (metric->part)
        metric->output = n_parts++;
      table->n++;
    }
  return TRUE;
}

static gboolean
take_line (DynoMetrics *metrics, const DynoMetricsCsv *csv, const char *line)
{
  DynoStepMetrics step;
  DynoEpochMetrics epoch;
  gboolean has_epoch;

  if (!dyno_metrics_csv_parse (csv, line, &step, &epoch, &has_epoch))
    return FALSE;
  dyno_metrics_add_step (metrics, &step);
  if (has_epoch)
    dyno_metrics_add_epoch (metrics, &epoch);
  return TRUE;
}

DynoMetrics *
dyno_metrics_read (const char *path, GError **error)
{
  g_autoptr (DynoMetrics) metrics = dyno_metrics_new ();
  g_autoptr (DynoMetricsCsv) csv = NULL;
  g_autoptr (GError) problem = NULL;
  g_autofree char *text = NULL;
  DynoMetricTable table;
  guint n = 1;

  if (!g_file_get_contents (path, &text, NULL, &problem))
    {
      g_set_error (error, DYNO_BASE_ERROR, DYNO_BASE_ERROR_IO, "%s", problem->message);
      return NULL;
    }
  for (char *line = text, *end; (end = strchr (line, '\n')); line = end + 1, n++)
    {
      *end = '\0';
      if (n == 1)
        {
          csv = read_table (line, &table) ? dyno_metrics_csv_new (line, &table) : NULL;
          if (!csv)
            break;
          dyno_metrics_set_table (metrics, &table);
        }
      else if (!take_line (metrics, csv, line))
        {
          g_autofree char *shown = g_filename_display_name (path);
          g_set_error (error, DYNO_BASE_ERROR, DYNO_BASE_ERROR_CORRUPT,
                       "“%s” is damaged: line %u is no row of its columns; remove that line, or "
                       "take a copy of the file",
                       shown, n);
          return NULL;
        }
    }
  if (!csv)
    {
      g_autofree char *shown = g_filename_display_name (path);
      g_set_error (error, DYNO_BASE_ERROR, DYNO_BASE_ERROR_CORRUPT,
                   "“%s” is no metrics.csv of a run: its first line has other columns", shown);
      return NULL;
    }
  return g_steal_pointer (&metrics);
}
