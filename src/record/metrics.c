/* SPDX-License-Identifier: MIT */
/* The log of a run: whole, in order, read by any thread by copying out.
 *
 * Invariant: rows are only appended, and never change.  metricscsv.c writes them down. */
#include "metrics.h"
#include "rowlog.h"

struct _DynoMetrics {
  GMutex lock;
  DynoMetricTable table;
  DynoRowLog *steps;  /* DynoStepMetrics */
  DynoRowLog *epochs; /* DynoEpochMetrics */
  int references;     /* atomic */
};

DynoMetrics *
dyno_metrics_new (void)
{
  DynoMetrics *metrics = g_new0 (DynoMetrics, 1);

  g_mutex_init (&metrics->lock);
  metrics->steps = dyno_row_log_new (sizeof (DynoStepMetrics));
  metrics->epochs = dyno_row_log_new (sizeof (DynoEpochMetrics));
  metrics->references = 1;
  return metrics;
}

DynoMetrics *
dyno_metrics_ref (DynoMetrics *metrics)
{
  g_atomic_int_inc (&metrics->references);
  return metrics;
}

void
dyno_metrics_unref (DynoMetrics *metrics)
{
  if (!metrics || !g_atomic_int_dec_and_test (&metrics->references))
    return;
  dyno_row_log_free (metrics->steps);
  dyno_row_log_free (metrics->epochs);
  g_mutex_clear (&metrics->lock);
  g_free (metrics);
}

void
dyno_metrics_set_table (DynoMetrics *metrics, const DynoMetricTable *table)
{
  g_mutex_lock (&metrics->lock);
  metrics->table = *table;
  g_mutex_unlock (&metrics->lock);
}

void
dyno_metrics_get_table (DynoMetrics *metrics, DynoMetricTable *table)
{
  g_mutex_lock (&metrics->lock);
  *table = metrics->table;
  g_mutex_unlock (&metrics->lock);
}

static void
append (DynoMetrics *metrics, DynoRowLog *rows, gconstpointer row)
{
  g_mutex_lock (&metrics->lock);
  dyno_row_log_append (rows, row);
  g_mutex_unlock (&metrics->lock);
}

void
dyno_metrics_add_step (DynoMetrics *metrics, const DynoStepMetrics *step)
{
  append (metrics, metrics->steps, step);
}

void
dyno_metrics_add_epoch (DynoMetrics *metrics, const DynoEpochMetrics *epoch)
{
  append (metrics, metrics->epochs, epoch);
}

static guint64
get_length (DynoMetrics *metrics, const DynoRowLog *rows)
{
  guint64 n;

  g_mutex_lock (&metrics->lock);
  n = dyno_row_log_get_length (rows);
  g_mutex_unlock (&metrics->lock);
  return n;
}

guint64
dyno_metrics_get_steps (DynoMetrics *metrics)
{
  return get_length (metrics, metrics->steps);
}

guint64
dyno_metrics_get_epochs (DynoMetrics *metrics)
{
  return get_length (metrics, metrics->epochs);
}

static guint64
copy_rows (DynoMetrics *metrics, DynoRowLog *rows, guint64 first, guint64 count, gpointer out)
{
  guint64 n;

  g_mutex_lock (&metrics->lock);
  n = dyno_row_log_copy (rows, first, count, out);
  g_mutex_unlock (&metrics->lock);
  return n;
}

guint64
dyno_metrics_copy_steps (DynoMetrics *metrics, guint64 first, guint64 count, DynoStepMetrics *rows)
{
  return copy_rows (metrics, metrics->steps, first, count, rows);
}

guint64
dyno_metrics_copy_epochs (DynoMetrics *metrics, guint64 first, guint64 count,
                          DynoEpochMetrics *rows)
{
  return copy_rows (metrics, metrics->epochs, first, count, rows);
}

gsize
dyno_metrics_get_bytes (DynoMetrics *metrics)
{
  gsize bytes;

  g_mutex_lock (&metrics->lock);
  bytes = sizeof *metrics + dyno_row_log_get_bytes (metrics->steps)
          + dyno_row_log_get_bytes (metrics->epochs);
  g_mutex_unlock (&metrics->lock);
  return bytes;
}
