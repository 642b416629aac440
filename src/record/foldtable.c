/* SPDX-License-Identifier: MIT */
#include "foldtable.h"
#include "csvcell.h"
#include "file.h"
#include <math.h>
#include <string.h>

DynoFoldTable *
dyno_fold_table_new (void)
{
  DynoFoldTable *table = g_new0 (DynoFoldTable, 1);

  table->n_parts = 1;
  table->results = g_array_new (FALSE, FALSE, sizeof (DynoFoldResult));
  return table;
}

void
dyno_fold_table_free (DynoFoldTable *table)
{
  if (!table)
    return;
  g_array_unref (table->results);
  g_free (table);
}

const char *
dyno_fold_part_get_prefix (DynoFoldPart part)
{
  return part == DYNO_FOLD_TEST ? "test_" : "val_";
}

static void
take_test (DynoFoldTable *table, const DynoTestResult *test, double *values)
{
  gboolean tested = test->n_samples > 0;

  if (tested)
    table->n_parts = DYNO_FOLD_N_PARTS;
  values[0] = tested ? test->loss : (double) NAN;
  for (guint i = 0; i < DYNO_MAX_RUN_METRICS; i++)
    values[1 + i] = tested ? test->metrics[i] : (double) NAN;
}

gboolean
dyno_fold_table_take (DynoFoldTable *table, guint fold, DynoMetrics *log, guint64 best_epoch,
                      const DynoTestResult *test)
{
  DynoFoldResult result = { .fold = fold, .epoch = best_epoch };
  guint64 n = dyno_metrics_get_epochs (log);
  DynoEpochMetrics epoch;

  for (guint64 i = 0; i < n; i++)
    {
      if (dyno_metrics_copy_epochs (log, i, 1, &epoch) != 1 || epoch.epoch != best_epoch)
        continue;
      dyno_metrics_get_table (log, &table->metrics);
      result.values[DYNO_FOLD_VALIDATION][0] = epoch.val_loss;
      memcpy (&result.values[DYNO_FOLD_VALIDATION][1], epoch.val_metrics, sizeof epoch.val_metrics);
      take_test (table, test, result.values[DYNO_FOLD_TEST]);
      g_array_append_val (table->results, result);
      return TRUE;
    }
  return FALSE;
}

void
dyno_fold_table_get (const DynoFoldTable *table, DynoFoldPart part, guint value, double *mean,
                     double *deviation)
{
  const DynoFoldResult *results = (const DynoFoldResult *) (gconstpointer) table->results->data;
  guint n = table->results->len;
  double sum = 0, squares = 0;

  for (guint i = 0; i < n; i++)
    sum += results[i].values[part][value];
  *mean = n > 0 ? sum / n : (double) NAN;
  for (guint i = 0; i < n; i++)
    squares += (results[i].values[part][value] - *mean) * (results[i].values[part][value] - *mean);
  *deviation = n > 1 ? sqrt (squares / (n - 1)) : (double) NAN;
}

/* With no more digits than metrics.csv, from which the results of an earlier process are read. */
static void
add_value (GString *line, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  dyno_csv_add_cell (line,
                     isfinite (value) ? g_ascii_formatd (text, sizeof text, "%.6g", value) : "");
}

gboolean
dyno_fold_table_write (const DynoFoldTable *table, const char *path, GError **error)
{
  g_autoptr (GString) text = g_string_new ("fold,epoch");

  for (guint p = 0; p < table->n_parts; p++)
    {
      const char *prefix = dyno_fold_part_get_prefix (p);

      g_string_append_printf (text, ",%sloss", prefix);
      for (guint m = 0; m < table->metrics.n; m++)
        g_string_append_printf (text, ",%s%s", prefix, table->metrics.infos[m].name);
    }
  for (guint i = 0; i < table->results->len; i++)
    {
      const DynoFoldResult *result = &g_array_index (table->results, DynoFoldResult, i);

      g_string_append_printf (text, "\n%u,%" G_GUINT64_FORMAT, result->fold, result->epoch);
      for (guint p = 0; p < table->n_parts; p++)
        for (guint v = 0; v <= table->metrics.n; v++)
          add_value (text, result->values[p][v]);
    }
  g_string_append_c (text, '\n');
  return dyno_file_write_atomic (path, text->str, text->len, error);
}
