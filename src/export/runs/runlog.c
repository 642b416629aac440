/* SPDX-License-Identifier: MIT */
#include "runlog.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#define ROWS 256 /* copied out of the log at a time */

/* The last step ended when the file was last written; for a run that still trains this is about
 * now. */
static void
find_times (DynoRunLog *log, const char *path)
{
  guint64 n = dyno_metrics_get_steps (log->metrics);
  DynoStepMetrics last = { 0 };
  GStatBuf status;

  if (n > 0)
    dyno_metrics_copy_steps (log->metrics, n - 1, 1, &last);
  log->end = path && g_stat (path, &status) == 0
                 ? (double) status.st_mtim.tv_sec + (double) status.st_mtim.tv_nsec / 1e9
                 : (double) g_get_real_time () / G_USEC_PER_SEC;
  log->begin = log->end - last.seconds;
}

static void
name_columns (DynoRunLog *log)
{
  log->names = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < log->columns->len; i++)
    {
      const DynoMetricColumn *column = log->columns->pdata[i];
      g_ptr_array_add (log->names,
                       g_strconcat (column->of_epoch ? "epoch/" : "step/", column->name, NULL));
    }
}

gboolean
dyno_run_log_open (DynoRunLog *log, const char *folder, DynoMetrics *metrics, GError **error)
{
  g_autofree char *path = g_build_filename (folder, "metrics.csv", NULL),
                  *settings = g_build_filename (folder, "settings.ini", NULL);
  DynoMetricTable table;
  guint64 n;

  memset (log, 0, sizeof *log);
  log->metrics = metrics ? dyno_metrics_ref (metrics) : dyno_metrics_read (path, error);
  if (!log->metrics)
    return FALSE;
  log->folder = g_canonicalize_filename (folder, NULL);
  log->name = g_filename_display_basename (log->folder);
  dyno_metrics_get_table (log->metrics, &table);
  log->columns = dyno_metrics_list_columns (&table);
  name_columns (log);
  n = dyno_metrics_get_epochs (log->metrics);
  log->epochs = g_array_new (FALSE, TRUE, sizeof (DynoEpochMetrics));
  g_array_set_size (log->epochs, (guint) n);
  dyno_metrics_copy_epochs (log->metrics, 0, n, (DynoEpochMetrics *) (gpointer) log->epochs->data);
  find_times (log, metrics ? NULL : path);
  log->job = dyno_job_new ();
  dyno_settings_file_read (settings, log->job, NULL, NULL);
  log->facts = g_new0 (DynoRunFacts, 1);
  dyno_run_facts_read (folder, log->facts);
  return TRUE;
}

void
dyno_run_log_clear (DynoRunLog *log)
{
  g_clear_pointer (&log->metrics, dyno_metrics_unref);
  g_clear_pointer (&log->columns, g_ptr_array_unref);
  g_clear_pointer (&log->names, g_ptr_array_unref);
  g_clear_pointer (&log->epochs, g_array_unref);
  g_clear_pointer (&log->job, dyno_job_unref);
  g_clear_pointer (&log->facts, g_free);
  g_clear_pointer (&log->folder, g_free);
  g_clear_pointer (&log->name, g_free);
}

gboolean
dyno_run_log_each (const DynoRunLog *log, guint64 after_step, DynoRunLogFunc func, gpointer data)
{
  DynoStepMetrics rows[ROWS];
  guint64 n;
  guint next = 0;

  for (guint64 first = 0; (n = dyno_metrics_copy_steps (log->metrics, first, ROWS, rows));
       first += n)
    for (guint64 i = 0; i < n; i++)
      {
        const DynoEpochMetrics *epoch = NULL;

        while (next < log->epochs->len
               && g_array_index (log->epochs, DynoEpochMetrics, next).step <= rows[i].step)
          epoch = &g_array_index (log->epochs, DynoEpochMetrics, next++);
        if (rows[i].step > after_step
            && !func (log, &rows[i], epoch, log->begin + rows[i].seconds, data))
          return FALSE;
      }
  return TRUE;
}

double
dyno_run_log_get (const DynoRunLog *log, guint i, const DynoStepMetrics *step,
                  const DynoEpochMetrics *epoch)
{
  const DynoMetricColumn *column = log->columns->pdata[i];
  gconstpointer row = column->of_epoch ? (gconstpointer) epoch : (gconstpointer) step;
  double value = row ? dyno_metric_column_get (column, row) : (double) NAN;

  return isfinite (value) ? value : (double) NAN;
}
