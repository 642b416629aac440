/* SPDX-License-Identifier: MIT */
/* metrics.csv: numbers with as many digits as are significant, '.' decimals in any locale.  One
 * table names the columns; the columns of the metrics follow the column of the loss to which they
 * belong. */
#include "metricscsv.h"
#include "base-error.h"
#include "outfile.h"
#include <math.h>
#include <string.h>

typedef struct {
  DynoStepMetrics step;
  DynoEpochMetrics epoch;
} Row;

typedef enum {
  COUNT,   /* guint64 */
  FLAG,    /* gboolean, 0 or 1 */
  REAL,    /* double */
  METRICS, /* a double for each metric; the name is the prefix of the metric's name */
} Kind;

typedef struct {
  const char *name;
  Kind kind;
  gboolean of_epoch;
  gsize offset;       /* in Row */
  const char *format; /* digits of REAL and METRICS */
} Column;

#define STEP(member)  FALSE, G_STRUCT_OFFSET (Row, step.member)
#define EPOCH(member) TRUE, G_STRUCT_OFFSET (Row, epoch.member)

static const Column columns[] = {
  { "step", COUNT, STEP (step), NULL },
  { "epoch", COUNT, STEP (epoch), NULL },
  { "loss", REAL, STEP (loss), "%.9g" },
  { "", METRICS, STEP (metrics), "%.6g" },
  { "lr", REAL, STEP (lr), "%.9g" },
  { "samples_per_s", REAL, STEP (samples_per_s), "%.6g" },
  { "step_ms", REAL, STEP (step_ms), "%.4f" },
  { "wait_data_ms", REAL, STEP (wait_data_ms), "%.4f" },
  { "upload_ms", REAL, STEP (upload_ms), "%.4f" },
  { "forward_ms", REAL, STEP (forward_ms), "%.4f" },
  { "backward_ms", REAL, STEP (backward_ms), "%.4f" },
  { "optimizer_ms", REAL, STEP (optimizer_ms), "%.4f" },
  { "grad_norm", REAL, STEP (grad_norm), "%.6g" },
  { "loss_scale", REAL, STEP (loss_scale), "%.9g" },
  { "skipped", FLAG, STEP (skipped), NULL },
  { "vram_bytes", COUNT, STEP (vram_bytes), NULL },
  { "vram_all_bytes", COUNT, STEP (vram_all_bytes), NULL },
  /* to the microsecond: differences are compared with step_ms */
  { "seconds", REAL, STEP (seconds), "%.6f" },
  { "train_loss", REAL, EPOCH (train_loss), "%.9g" },
  { "train_", METRICS, EPOCH (train_metrics), "%.6g" },
  { "val_loss", REAL, EPOCH (val_loss), "%.9g" },
  { "val_", METRICS, EPOCH (val_metrics), "%.6g" },
  { "epoch_samples_per_s", REAL, EPOCH (samples_per_s), "%.6g" },
  { "epoch_seconds", REAL, EPOCH (seconds), "%.4f" },
  { "validation_seconds", REAL, EPOCH (validation_seconds), "%.4f" },
  { "saving_seconds", REAL, EPOCH (saving_seconds), "%.4f" },
  { "samples", COUNT, STEP (samples), NULL },
  { "decoded", COUNT, STEP (decoded), NULL },
  { "workers", COUNT, STEP (workers), NULL },
  { "decode_ms", REAL, STEP (decode_ms), "%.4f" },
  { "fetch_ms", REAL, STEP (fetch_ms), "%.4f" },
  { "host_copy_ms", REAL, STEP (host_copy_ms), "%.4f" },
};

/* FALSE: no column of this kind holds the metric. */
static gboolean
holds (const Column *column, const DynoMetricTable *table, guint metric)
{
  return column->kind != METRICS || !table->infos[metric].of_validation
         || column->offset == G_STRUCT_OFFSET (Row, epoch.val_metrics);
}

#define N_PLACE    2 /* number of first columns that give the position of a row */
#define N_REQUIRED 3 /* the first columns: without them the file is no metrics.csv */

static void
append_number (GString *text, double value, const char *format)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  if (isnan (value))
    g_string_append (text, "nan");
  else if (isinf (value))
    g_string_append (text, value > 0 ? "inf" : "-inf");
  else
    g_string_append (text, g_ascii_formatd (number, sizeof number, format, value));
}

void
dyno_metrics_csv_append_head (GString *text, const DynoMetricTable *table)
{
  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    for (guint m = 0; m < (columns[i].kind == METRICS ? table->n : 1); m++)
      if (holds (&columns[i], table, m))
        g_string_append_printf (text, "%s%s%s", i > 0 ? "," : "", columns[i].name,
                                columns[i].kind == METRICS ? table->infos[m].name : "");
  g_string_append_c (text, '\n');
}

static void
append_cell (GString *text, const Column *column, const Row *row, guint metric)
{
  switch (column->kind)
    {
    case COUNT:
      g_string_append_printf (text, "%" G_GUINT64_FORMAT,
                              G_STRUCT_MEMBER (guint64, row, column->offset));
      break;
    case FLAG:
      g_string_append_c (text, G_STRUCT_MEMBER (gboolean, row, column->offset) ? '1' : '0');
      break;
    case REAL:
    case METRICS:
    default:
      append_number (text, G_STRUCT_MEMBER (double, row, column->offset + metric * sizeof (double)),
                     column->format);
      break;
    }
}

void
dyno_metrics_csv_append (GString *text, const DynoMetricTable *table, const DynoStepMetrics *step,
                         const DynoEpochMetrics *epoch)
{
  Row row = { .step = *step };

  if (epoch)
    row.epoch = *epoch;
  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    for (guint m = 0; m < (columns[i].kind == METRICS ? table->n : 1); m++)
      {
        if (!holds (&columns[i], table, m))
          continue;
        if (i > 0)
          g_string_append_c (text, ',');
        if (!columns[i].of_epoch || epoch)
          append_cell (text, &columns[i], &row, m);
      }
  g_string_append_c (text, '\n');
}

/* --- columns for other formats ---------------------------------------------------------------- */

static void
free_column (gpointer data)
{
  DynoMetricColumn *column = data;

  g_free (column->name);
  g_free (column);
}

GPtrArray *
dyno_metrics_list_columns (const DynoMetricTable *table)
{
  GPtrArray *list = g_ptr_array_new_with_free_func (free_column);

  for (guint i = N_PLACE; i < G_N_ELEMENTS (columns); i++)
    for (guint m = 0; m < (columns[i].kind == METRICS ? table->n : 1); m++)
      {
        DynoMetricColumn *column;

        if (!holds (&columns[i], table, m))
          continue;
        column = g_new (DynoMetricColumn, 1);
        *column = (DynoMetricColumn){ .of_epoch = columns[i].of_epoch, .index = i, .metric = m };
        column->name = g_strconcat (columns[i].name,
                                    columns[i].kind == METRICS ? table->infos[m].name : "", NULL);
        g_ptr_array_add (list, column);
      }
  return list;
}

double
dyno_metric_column_get (const DynoMetricColumn *column, gconstpointer row)
{
  const Column *c = &columns[column->index];
  const guint8 *value =
      (const guint8 *) row + c->offset - (c->of_epoch ? G_STRUCT_OFFSET (Row, epoch) : 0);

  switch (c->kind)
    {
    case COUNT:
      return (double) *(const guint64 *) (gconstpointer) value;
    case FLAG:
      return *(const gboolean *) (gconstpointer) value != 0;
    case REAL:
    case METRICS:
    default:
      return ((const double *) (gconstpointer) value)[column->metric];
    }
}

/* --- reading ---------------------------------------------------------------------------------- */

typedef struct {
  const Column *column; /* NULL: unknown */
  guint metric;
} Cell;

struct _DynoMetricsCsv {
  guint n;
  Cell *cells;
};

static gboolean
find_cell (const char *name, const DynoMetricTable *table, Cell *cell)
{
  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    {
      const Column *column = &columns[i];
      const char *rest = name;

      *cell = (Cell){ column, 0 };
      if (column->kind != METRICS && g_str_equal (column->name, name))
        return TRUE;
      if (column->kind != METRICS || !g_str_has_prefix (name, column->name))
        continue;
      rest += strlen (column->name);
      for (; cell->metric < table->n; cell->metric++)
        if (g_str_equal (rest, table->infos[cell->metric].name))
          return TRUE;
      /* Earlier versions named the first metric "accuracy", whatever it was. */
      cell->metric = 0;
      if (table->n > 0 && g_str_equal (rest, "accuracy"))
        return TRUE;
    }
  *cell = (Cell){ 0 };
  return FALSE;
}

DynoMetricsCsv *
dyno_metrics_csv_new (const char *head, const DynoMetricTable *table)
{
  g_autoptr (DynoMetricsCsv) csv = g_new0 (DynoMetricsCsv, 1);
  g_auto (GStrv) names = g_strsplit (head, ",", -1);
  guint found = 0;

  csv->n = g_strv_length (names);
  csv->cells = g_new0 (Cell, csv->n);
  for (guint i = 0; i < csv->n; i++)
    if (find_cell (names[i], table, &csv->cells[i]) && csv->cells[i].column < columns + N_REQUIRED)
      found++;
  return found == N_REQUIRED ? g_steal_pointer (&csv) : NULL;
}

void
dyno_metrics_csv_free (DynoMetricsCsv *csv)
{
  if (!csv)
    return;
  g_free (csv->cells);
  g_free (csv);
}

static gboolean
take_cell (const Cell *cell, const char *text, Row *row, gboolean *has_epoch)
{
  const Column *column = cell->column;
  char *end;
  double value = g_ascii_strtod (text, &end);

  if (!column)
    return TRUE;
  if (column->of_epoch && *text == '\0')
    return TRUE;
  if (*end != '\0' || end == text)
    return FALSE;
  *has_epoch = *has_epoch || column->of_epoch;
  if (column->kind == COUNT)
    G_STRUCT_MEMBER (guint64, row, column->offset) =
        value >= 0 && value < 1e18 ? (guint64) value : 0;
  else if (column->kind == FLAG)
    G_STRUCT_MEMBER (gboolean, row, column->offset) = value != 0;
  else
    G_STRUCT_MEMBER (double, row, column->offset + cell->metric * sizeof (double)) = value;
  return TRUE;
}

gboolean
dyno_metrics_csv_parse (const DynoMetricsCsv *csv, const char *line, DynoStepMetrics *step,
                        DynoEpochMetrics *epoch, gboolean *has_epoch)
{
  g_auto (GStrv) cells = g_strsplit (line, ",", -1);
  Row row = { 0 };

  *has_epoch = FALSE;
  if (g_strv_length (cells) != csv->n)
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    for (guint m = 0; m < (columns[i].kind == METRICS ? DYNO_MAX_RUN_METRICS : 1); m++)
      if (columns[i].kind == REAL || columns[i].kind == METRICS)
        G_STRUCT_MEMBER (double, &row, columns[i].offset + m * sizeof (double)) = (double) NAN;
  for (guint i = 0; i < csv->n; i++)
    if (!take_cell (&csv->cells[i], cells[i], &row, has_epoch))
      return FALSE;
  row.epoch.step = row.step.step;
  row.epoch.epoch = row.step.epoch;
  *step = row.step;
  *epoch = row.epoch;
  return TRUE;
}

/* --- a whole log ------------------------------------------------------------------------------ */

#define CHUNK 64 /* number of steps copied at once */

typedef struct {
  DynoMetrics *metrics;
  guint64 n_steps, n_epochs, next; /* next: index of the next epoch */
  gboolean has_epoch;              /* TRUE: epoch was read */
  DynoEpochMetrics epoch;
} Rows;

/* The epoch whose last step this is; or NULL. */
static const DynoEpochMetrics *
find_epoch (Rows *rows, guint64 step)
{
  while (!rows->has_epoch || rows->epoch.step < step)
    {
      rows->has_epoch = rows->next < rows->n_epochs
                        && dyno_metrics_copy_epochs (rows->metrics, rows->next, 1, &rows->epoch);
      if (!rows->has_epoch)
        return NULL;
      rows->next++;
    }
  return rows->epoch.step == step ? &rows->epoch : NULL;
}

/* FALSE: rows are lost. */
static gboolean
write_rows (Rows *rows, const DynoMetricTable *table, DynoOutFile *file)
{
  g_autoptr (GString) text = g_string_new (NULL);
  DynoStepMetrics steps[CHUNK];
  guint64 n = 0;

  dyno_metrics_csv_append_head (text, table);
  for (guint64 done = 0; done < rows->n_steps; done += n)
    {
      n = dyno_metrics_copy_steps (rows->metrics, done, MIN (CHUNK, rows->n_steps - done), steps);
      if (n == 0)
        return FALSE;
      for (guint64 i = 0; i < n; i++)
        dyno_metrics_csv_append (text, table, &steps[i], find_epoch (rows, steps[i].step));
      if (!dyno_out_file_append (file, text->str, text->len))
        return TRUE;
      g_string_truncate (text, 0);
    }
  dyno_out_file_append (file, text->str, text->len);
  return TRUE;
}

gboolean
dyno_metrics_write_csv_begin (DynoMetrics *metrics, guint64 n_steps, guint64 n_epochs,
                              const char *path, GError **error)
{
  Rows rows = { .metrics = metrics, .n_steps = n_steps, .n_epochs = n_epochs };
  g_autoptr (DynoOutFile) file = dyno_out_file_new (path, error);
  DynoMetricTable table;

  if (!file)
    return FALSE;
  dyno_metrics_get_table (metrics, &table);
  if (!write_rows (&rows, &table, file))
    {
      g_autofree char *shown = g_filename_display_name (path);
      g_set_error (error, DYNO_BASE_ERROR, DYNO_BASE_ERROR_IO,
                   "“%s” cannot be written: older rows are not to be read again from the cache "
                   "folder; see to it that its disk has room",
                   shown);
      return FALSE;
    }
  return dyno_out_file_finish (g_steal_pointer (&file), error);
}

gboolean
dyno_metrics_write_csv (DynoMetrics *metrics, const char *path, GError **error)
{
  /* The epochs are counted first: the last step of an epoch is added to the log before the
   * epoch. */
  guint64 n_epochs = dyno_metrics_get_epochs (metrics), n_steps = dyno_metrics_get_steps (metrics);

  return dyno_metrics_write_csv_begin (metrics, n_steps, n_epochs, path, error);
}
