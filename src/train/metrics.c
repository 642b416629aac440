/* SPDX-License-Identifier: MIT */
/* The log of a run, in memory: whole, in order, read by any thread by copying out.
 *
 * Invariant: rows are only appended, and never change.  metricscsv.c writes them down. */
#include "metrics.h"
#include <string.h>

struct _DynoMetrics {
  GMutex lock;
  DynoMetricTable table;
  GArray *steps;  /* DynoStepMetrics */
  GArray *epochs; /* DynoEpochMetrics */
};

DynoMetrics *
dyno_metrics_new (void)
{
  DynoMetrics *metrics = g_new0 (DynoMetrics, 1);

  g_mutex_init (&metrics->lock);
  metrics->steps = g_array_new (FALSE, FALSE, sizeof (DynoStepMetrics));
  metrics->epochs = g_array_new (FALSE, FALSE, sizeof (DynoEpochMetrics));
  return metrics;
}

void
dyno_metrics_free (DynoMetrics *metrics)
{
  if (!metrics)
    return;
  g_array_unref (metrics->steps);
  g_array_unref (metrics->epochs);
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
append (DynoMetrics *metrics, GArray *rows, gconstpointer row)
{
  g_mutex_lock (&metrics->lock);
  g_array_append_vals (rows, row, 1);
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
get_length (DynoMetrics *metrics, const GArray *rows)
{
  guint64 n;

  g_mutex_lock (&metrics->lock);
  n = rows->len;
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
copy_rows (DynoMetrics *metrics, GArray *rows, guint64 first, guint64 count, gpointer out)
{
  guint size = g_array_get_element_size (rows);
  guint64 n;

  g_mutex_lock (&metrics->lock);
  n = first < rows->len ? MIN (count, rows->len - first) : 0;
  if (n > 0)
    memcpy (out, rows->data + first * size, n * size);
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
