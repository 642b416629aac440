/* SPDX-License-Identifier: MIT */
/* Reads metrics.csv of a run's folder as its log, without the run's data set and model. */
#include "base-error.h"
#include "file.h"
#include "metricscsv.h"
#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALIDATED "val_" /* before the name of a metric: its mean over the validation samples */
#define TRAINED   "train_"

static gboolean
has_column (char **names, const char *prefix, const char *name)
{
  g_autofree char *whole = g_strconcat (prefix, name, NULL);

  return g_strv_contains ((const char *const *) names, whole);
}

/* Reads the metrics in the order of their columns: metrics with columns for each step, each epoch's
 * training and its validation, and metrics that only a validation has. */
static gboolean
read_table (const char *head, DynoMetricTable *table)
{
  g_auto (GStrv) names = g_strsplit (head, ",", -1);
  int n_parts = 0;

  memset (table, 0, sizeof *table);
  for (guint i = 0; names[i]; i++)
    {
      const char *name = names[i] + strlen (VALIDATED);
      DynoMetricInfo metric;

      if (!g_str_has_prefix (names[i], VALIDATED) || g_str_equal (name, "loss"))
        continue;
      dyno_metric_find (name, &metric);
      if (!metric.of_validation
          && (!has_column (names, "", name) || !has_column (names, TRAINED, name)))
        continue;
      if (table->n == DYNO_MAX_RUN_METRICS)
        return FALSE;
      if (metric.part)
        metric.output = n_parts++;
      table->infos[table->n++] = metric;
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

/* Reads a line without its end; FALSE: there is no line, or it is incomplete. */
static gboolean
next_line (FILE *file, char **line, size_t *size)
{
  gssize length = getline (line, size, file);

  if (length < 1 || (*line)[length - 1] != '\n')
    return FALSE;
  (*line)[length - 1] = '\0';
  return TRUE;
}

static gboolean
set_damaged (GError **error, const char *path, guint64 n)
{
  g_autofree char *shown = g_filename_display_name (path);

  g_set_error (error, DYNO_BASE_ERROR, DYNO_BASE_ERROR_CORRUPT,
               "“%s” is damaged: line %" G_GUINT64_FORMAT " is no row of its columns; remove that "
               "line, or take a copy of the file",
               shown, n);
  return FALSE;
}

static gboolean
read_lines (DynoMetrics *metrics, FILE *file, const char *path, GError **error)
{
  g_autoptr (DynoMetricsCsv) csv = NULL;
  DynoMetricTable table;
  char *line = NULL;
  size_t size = 0;
  gboolean good = TRUE;

  if (next_line (file, &line, &size) && read_table (line, &table)
      && (csv = dyno_metrics_csv_new (line, &table)))
    dyno_metrics_set_table (metrics, &table);
  for (guint64 n = 2; csv && good && next_line (file, &line, &size); n++)
    if (!take_line (metrics, csv, line))
      good = set_damaged (error, path, n);
  free (line);
  if (!csv)
    {
      g_autofree char *shown = g_filename_display_name (path);
      g_set_error (error, DYNO_BASE_ERROR, DYNO_BASE_ERROR_CORRUPT,
                   "“%s” is no metrics.csv of a run: its first line has other columns", shown);
    }
  else if (good && ferror (file))
    return dyno_file_set_error (error, EIO, path);
  return csv && good;
}

DynoMetrics *
dyno_metrics_read (const char *path, GError **error)
{
  g_autoptr (DynoMetrics) metrics = dyno_metrics_new ();
  FILE *file = g_fopen (path, "re");
  gboolean read;

  if (!file)
    {
      int code = errno;
      g_autofree char *shown = g_filename_display_name (path);

      g_set_error (error, DYNO_BASE_ERROR, DYNO_BASE_ERROR_IO, "Failed to open file “%s”: %s",
                   shown, g_strerror (code));
      return NULL;
    }
  read = read_lines (metrics, file, path, error);
  fclose (file);
  return read ? g_steal_pointer (&metrics) : NULL;
}

void
dyno_metrics_recall (DynoMetrics *metrics, const char *path, guint64 last_step)
{
  g_autoptr (DynoMetricsCsv) csv = NULL;
  FILE *file = g_fopen (path, "re");
  DynoMetricTable table;
  char *line = NULL;
  size_t size = 0;

  if (!file)
    return;
  dyno_metrics_get_table (metrics, &table);
  if (next_line (file, &line, &size))
    csv = dyno_metrics_csv_new (line, &table);
  while (csv && next_line (file, &line, &size))
    {
      DynoStepMetrics step;
      DynoEpochMetrics epoch;
      gboolean has_epoch;

      if (!dyno_metrics_csv_parse (csv, line, &step, &epoch, &has_epoch) || step.step > last_step)
        break;
      dyno_metrics_add_step (metrics, &step);
      if (has_epoch)
        dyno_metrics_add_epoch (metrics, &epoch);
    }
  free (line);
  fclose (file);
}
