/* SPDX-License-Identifier: MIT */
/* The log of a run and metrics.csv, which follow the table of metrics. */
#include "base-error.h"
#include "foldtable.h"
#include "testresult.h"
#include "metrics.h"
#include "metricscsv.h"
#include <glib/gstdio.h>
#include <locale.h>
#include <math.h>
#include <string.h>

/* The metrics that cross entropy and the squared error declare. */
static const DynoMetricTable classes = {
  .n = 2,
  .infos = { { .name = "accuracy",
               .title = "Accuracy",
               .unit = "",
               .higher_is_better = TRUE,
               .selects_best = TRUE,
               .format = DYNO_METRIC_FRACTION },
             { .name = "top5", .title = "Top-5 accuracy", .unit = "", .higher_is_better = TRUE } }
};
static const DynoMetricTable values = {
  .n = 2,
  .infos = { { .name = "mean_abs_error", .title = "Mean error", .unit = "" },
             { .name = "mean_abs_error_yaw",
               .title = "Mean error",
               .part = "yaw",
               .unit = "degrees" } }
};

static char *
get_csv (DynoMetrics *metrics)
{
  g_autofree char *folder = g_dir_make_tmp ("dyno-metrics-XXXXXX", NULL),
                  *path = g_build_filename (folder, "out.csv", NULL);
  g_autoptr (GError) error = NULL;
  char *text = NULL;

  dyno_metrics_write_csv (metrics, path, &error);
  g_assert_no_error (error);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_remove (path);
  g_remove (folder);
  return text;
}

static void
test_csv (void)
{
  g_autoptr (DynoMetrics) metrics = dyno_metrics_new ();
  DynoStepMetrics step = { .epoch = 1,
                           .loss = 0.123456789,
                           .metrics = { 0.5, 0.75 },
                           .lr = 0.05,
                           .vram_bytes = 123456789012,
                           .loss_scale = 4096,
                           .samples = 32,
                           .decoded = 40,
                           .workers = 3,
                           .decode_ms = 12.5,
                           .host_copy_ms = 0.25 };
  DynoEpochMetrics epoch = { .epoch = 1,
                             .step = 2,
                             .train_loss = 1.5,
                             .train_metrics = { 0.25, 1 },
                             .val_loss = 2.25,
                             .val_metrics = { (double) NAN, 0.125 },
                             .validation_seconds = 0.5,
                             .saving_seconds = 0.25 };
  DynoStepMetrics rows[5];
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  g_autoptr (DynoMetricsCsv) csv = NULL;
  gboolean has_epoch;

  setlocale (LC_ALL, "de_DE.UTF-8");
  dyno_metrics_set_table (metrics, &classes);
  for (step.step = 1; step.step <= 3; step.step++)
    dyno_metrics_add_step (metrics, &step);
  dyno_metrics_add_epoch (metrics, &epoch);
  step.loss = (double) INFINITY;
  step.metrics[0] = (double) -INFINITY;
  dyno_metrics_add_step (metrics, &step);
  text = get_csv (metrics);
  lines = g_strsplit (text, "\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, 6);
  g_assert_cmpstr (lines[0], ==,
                   "step,epoch,loss,accuracy,top5,lr,samples_per_s,step_ms,wait_data_ms,upload_ms,"
                   "forward_ms,backward_ms,optimizer_ms,grad_norm,loss_scale,skipped,vram_bytes,"
                   "vram_all_bytes,seconds,train_loss,train_accuracy,train_top5,val_loss,"
                   "val_accuracy,val_top5,epoch_samples_per_s,epoch_seconds,validation_seconds,"
                   "saving_seconds,samples,decoded,workers,decode_ms,fetch_ms,host_copy_ms");
  g_assert_true (g_str_has_prefix (lines[1], "1,1,0.123456789,0.5,0.75,0.05,"));
  g_assert_true (g_str_has_suffix (lines[1], ",0.000000,,,,,,,,,,,32,40,3,12.5000,0.0000,0.2500"));
  g_assert_nonnull (strstr (lines[2], ",1.5,0.25,1,2.25,nan,0.125,"));
  g_assert_true (g_str_has_prefix (lines[4], "4,1,inf,-inf,0.75,"));
  g_assert_cmpuint (dyno_metrics_copy_steps (metrics, 2, 5, rows), ==, 2);
  g_assert_cmpuint (rows[0].step, ==, 3);
  g_assert_cmpuint (dyno_metrics_copy_steps (metrics, 9, 5, rows), ==, 0);
  /* The rows are read back. */
  csv = dyno_metrics_csv_new (lines[0], &classes);
  g_assert_nonnull (csv);
  g_assert_true (dyno_metrics_csv_parse (csv, lines[2], &step, &epoch, &has_epoch));
  g_assert_true (has_epoch && epoch.val_loss == 2.25 && step.vram_bytes == 123456789012
                 && step.metrics[1] == 0.75 && isnan (epoch.val_metrics[0])
                 && epoch.val_metrics[1] == 0.125 && epoch.step == 2
                 && epoch.validation_seconds == 0.5 && epoch.saving_seconds == 0.25
                 && step.samples == 32 && step.decoded == 40 && step.workers == 3
                 && step.decode_ms == 12.5 && step.fetch_ms == 0 && step.host_copy_ms == 0.25);
  g_assert_true (dyno_metrics_csv_parse (csv, lines[1], &step, &epoch, &has_epoch));
  g_assert_false (has_epoch);
  g_assert_true (dyno_metrics_csv_parse (csv, lines[4], &step, &epoch, &has_epoch));
  g_assert_true (isinf (step.loss) > 0 && isinf (step.metrics[0]) < 0);
  lines[1][20] = '\0'; /* a truncated line */
  g_assert_false (dyno_metrics_csv_parse (csv, lines[1], &step, &epoch, &has_epoch));
  setlocale (LC_ALL, "C");
}

/* Validation metrics have only a column for the validation; the table is restored from the column
 * names. */
static void
test_csv_of_validation (void)
{
  DynoMetricTable all = { .n = 3, .infos = { classes.infos[0] } };
  g_autoptr (DynoMetrics) metrics = dyno_metrics_new (), again = NULL;
  g_autofree char *text = NULL, *path = g_build_filename (g_get_tmp_dir (), "XXXXXX", NULL);
  g_autoptr (GPtrArray) columns = NULL;
  g_autoptr (GError) error = NULL;
  DynoStepMetrics step = { .step = 1, .epoch = 1, .metrics = { 0.5, (double) NAN, (double) NAN } };
  DynoEpochMetrics epoch = { .epoch = 1,
                             .step = 1,
                             .train_metrics = { 0.25, (double) NAN, (double) NAN },
                             .val_metrics = { 0.125, 0.75, 0.625 } };
  DynoMetricTable found;
  guint n = 0;

  memcpy (&all.infos[1], dyno_class_validation_metrics, 2 * sizeof all.infos[0]);
  dyno_metrics_set_table (metrics, &all);
  dyno_metrics_add_step (metrics, &step);
  dyno_metrics_add_epoch (metrics, &epoch);
  text = get_csv (metrics);
  g_assert_nonnull (strstr (text, "step,epoch,loss,accuracy,lr,"));
  g_assert_nonnull (strstr (text, ",train_loss,train_accuracy,val_loss,val_accuracy,"
                                  "val_balanced_accuracy,val_f1_macro,epoch_samples_per_s,"));
  g_assert_nonnull (strstr (text, ",0,0.25,0,0.125,0.75,0.625,"));
  columns = dyno_metrics_list_columns (&all);
  for (guint i = 0; i < columns->len; i++)
    {
      const DynoMetricColumn *column = columns->pdata[i];

      n += strstr (column->name, "f1_macro") != NULL;
      if (g_str_equal (column->name, "val_f1_macro"))
        g_assert_cmpfloat (dyno_metric_column_get (column, &epoch), ==, 0.625);
    }
  g_assert_cmpuint (n, ==, 1);
  g_close (g_mkstemp (path), NULL);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  again = dyno_metrics_read (path, &error);
  g_assert_no_error (error);
  g_remove (path);
  dyno_metrics_get_table (again, &found);
  g_assert_cmpuint (found.n, ==, 3);
  g_assert_true (found.infos[2].of_validation && found.infos[2].higher_is_better);
  g_assert_cmpuint (dyno_metrics_copy_epochs (again, 0, 1, &epoch), ==, 1);
  g_assert_true (epoch.val_metrics[1] == 0.75 && epoch.val_metrics[2] == 0.625
                 && isnan (epoch.train_metrics[1]));
  g_assert_cmpuint (dyno_metrics_copy_steps (again, 0, 1, &step), ==, 1);
  g_assert_true (step.metrics[0] == 0.5 && isnan (step.metrics[2]));
}

/* A run that an earlier version began: its accuracy is the first metric, other metrics are
 * unknown. */
static void
test_csv_earlier (void)
{
  const char *head =
      "step,epoch,loss,accuracy,lr,samples_per_s,step_ms,wait_data_ms,upload_ms,forward_ms,"
      "backward_ms,optimizer_ms,grad_norm,loss_scale,skipped,vram_bytes,vram_all_bytes,seconds,"
      "train_loss,train_accuracy,val_loss,val_accuracy,is_error,epoch_samples_per_s,epoch_seconds";
  const char *line = "7,2,0.5,1.25,0.1,100,1.0,0,0,0,0,0,0,1,1,4096,0,3.5,"
                     "0.25,2.5,0.75,3.5,1,99,2.0";
  const DynoMetricTable *const tables[] = { &classes, &values };

  for (guint i = 0; i < G_N_ELEMENTS (tables); i++)
    {
      g_autoptr (DynoMetricsCsv) csv = dyno_metrics_csv_new (head, tables[i]);
      DynoStepMetrics step;
      DynoEpochMetrics epoch;
      gboolean has_epoch;

      g_assert_nonnull (csv);
      g_assert_true (dyno_metrics_csv_parse (csv, line, &step, &epoch, &has_epoch));
      g_assert_true (has_epoch && step.step == 7 && step.skipped && step.vram_bytes == 4096);
      g_assert_true (step.metrics[0] == 1.25 && isnan (step.metrics[1]));
      g_assert_true (epoch.train_metrics[0] == 2.5 && epoch.val_metrics[0] == 3.5
                     && isnan (epoch.val_metrics[1]) && epoch.seconds == 2);
      /* not measured by that version */
      g_assert_true (isnan (epoch.validation_seconds) && isnan (step.decode_ms)
                     && step.samples == 0);
    }
  g_assert_null (dyno_metrics_csv_new ("a,b,c", &classes));
  g_assert_null (dyno_metrics_csv_new ("", &classes));
}

static void
write_log (const char *path, const DynoMetricTable *table, guint64 n)
{
  g_autoptr (DynoMetrics) metrics = dyno_metrics_new ();

  dyno_metrics_set_table (metrics, table);
  for (guint64 i = 1; i <= n; i++)
    {
      DynoStepMetrics step = { .step = i, .epoch = 1 + i / 4, .loss = 1 / (double) i, .lr = 0.1 };
      DynoEpochMetrics epoch = { .step = i, .epoch = step.epoch, .val_metrics = { 0.5, 0.25 } };

      dyno_metrics_add_step (metrics, &step);
      if (i % 4 == 3)
        dyno_metrics_add_epoch (metrics, &epoch);
    }
  g_assert_true (dyno_metrics_write_csv (metrics, path, NULL));
}

static void
assert_same (const char *path, DynoMetrics *metrics)
{
  g_autofree char *text = NULL, *again = get_csv (metrics);

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_assert_cmpstr (again, ==, text);
}

/* Without the model, the table of metrics follows from the columns. */
static void
test_read (void)
{
  g_autofree char *folder = g_dir_make_tmp ("dyno-metrics-XXXXXX", NULL),
                  *path = g_build_filename (folder, "metrics.csv", NULL);
  const DynoMetricTable *const tables[] = { &classes, &values };

  for (guint i = 0; i < G_N_ELEMENTS (tables); i++)
    {
      g_autoptr (DynoMetrics) metrics = NULL;
      g_autoptr (GError) error = NULL;
      DynoMetricTable table;

      write_log (path, tables[i], 9);
      metrics = dyno_metrics_read (path, &error);
      g_assert_no_error (error);
      assert_same (path, metrics);
      dyno_metrics_get_table (metrics, &table);
      g_assert_cmpuint (table.n, ==, 2);
      g_assert_cmpint (table.infos[0].format, ==,
                       i == 0 ? DYNO_METRIC_FRACTION : DYNO_METRIC_NUMBER);
      g_assert_cmpstr (table.infos[1].title, ==, tables[i]->infos[1].title);
      g_assert_cmpstr (table.infos[1].part, ==, tables[i]->infos[1].part);
    }
  g_remove (path);
  g_remove (folder);
}

static double
value_of (guint64 step)
{
  return sin ((double) step * 0.7) * 1e-3 + 1 / (double) step;
}

/* A night of a small network: memory is bounded, and every row is read back exactly, also from the
 * file. */
static void
test_bounded_whatever_the_length (void)
{
  const guint64 n = 150000, each = 50;
  g_autofree char *folder = g_dir_make_tmp ("dyno-metrics-XXXXXX", NULL),
                  *path = g_build_filename (folder, "metrics.csv", NULL);
  g_autoptr (DynoMetrics) metrics = dyno_metrics_new (), again = NULL;
  g_autoptr (GError) error = NULL;
  DynoStepMetrics rows[1000];

  dyno_metrics_set_table (metrics, &classes);
  for (guint64 i = 1; i <= n; i++)
    {
      DynoStepMetrics step = {
        .step = i, .epoch = 1 + (i - 1) / each, .loss = value_of (i), .seconds = 1e-4 * (double) i
      };
      DynoEpochMetrics epoch = { .step = i, .epoch = step.epoch, .train_loss = value_of (i) };

      dyno_metrics_add_step (metrics, &step);
      if (i % each == 0)
        dyno_metrics_add_epoch (metrics, &epoch);
    }
  g_assert_cmpuint (n * sizeof (DynoStepMetrics), >, DYNO_METRICS_MOST_BYTES);
  g_assert_cmpuint (dyno_metrics_get_bytes (metrics), <, DYNO_METRICS_MOST_BYTES);
  g_assert_cmpuint (dyno_metrics_get_steps (metrics), ==, n);
  for (guint64 first = 0; first < n; first += 1000)
    {
      g_assert_cmpuint (dyno_metrics_copy_steps (metrics, first, 1000, rows), ==, 1000);
      for (guint64 i = 0; i < 1000; i++)
        g_assert_true (rows[i].step == first + i + 1 && rows[i].loss == value_of (rows[i].step)
                       && rows[i].seconds == 1e-4 * (double) rows[i].step);
    }
  g_assert_cmpuint (dyno_metrics_get_bytes (metrics), <, DYNO_METRICS_MOST_BYTES);

  /* Written, and read again like an old run. */
  dyno_metrics_write_csv (metrics, path, &error);
  g_assert_no_error (error);
  again = dyno_metrics_read (path, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (dyno_metrics_get_bytes (again), <, DYNO_METRICS_MOST_BYTES);
  g_assert_cmpuint (dyno_metrics_get_steps (again), ==, n);
  g_assert_cmpuint (dyno_metrics_get_epochs (again), ==, n / each);
  for (guint64 i = 0; i < n / each; i++)
    {
      DynoEpochMetrics epoch;

      g_assert_cmpuint (dyno_metrics_copy_epochs (again, i, 1, &epoch), ==, 1);
      g_assert_cmpuint (epoch.step, ==, (i + 1) * each);
      g_assert_cmpfloat_with_epsilon (epoch.train_loss, value_of (epoch.step), 1e-9);
    }
  g_remove (path);
  g_remove (folder);
}

static void
assert_read_fails (const char *path, const char *text, int code, const char *what)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  g_assert_null (dyno_metrics_read (path, &error));
  g_assert_error (error, DYNO_BASE_ERROR, code);
  g_assert_nonnull (strstr (error->message, what));
}

/* The last line of a running run may be incomplete; an earlier line may not. */
static void
test_read_broken (void)
{
  g_autofree char *folder = g_dir_make_tmp ("dyno-metrics-XXXXXX", NULL),
                  *path = g_build_filename (folder, "metrics.csv", NULL), *text = NULL, *cut = NULL,
                  *middle = NULL;
  g_autoptr (DynoMetrics) metrics = NULL;
  g_autoptr (GError) error = NULL;

  write_log (path, &classes, 5);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  cut = g_strndup (text, strlen (text) - 1);
  g_assert_true (g_file_set_contents (path, cut, -1, NULL));
  metrics = dyno_metrics_read (path, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (dyno_metrics_get_steps (metrics), ==, 4);

  middle = g_strconcat (text, "6,2,0.1\n", strchr (text, '\n') + 1, NULL);
  assert_read_fails (path, middle, DYNO_BASE_ERROR_CORRUPT, "line 7");
  assert_read_fails (path, "a,b\n1,2\n", DYNO_BASE_ERROR_CORRUPT, "no metrics.csv");
  assert_read_fails (path, "", DYNO_BASE_ERROR_CORRUPT, "no metrics.csv");
  g_remove (path);
  g_assert_null (dyno_metrics_read (path, &error));
  g_assert_error (error, DYNO_BASE_ERROR, DYNO_BASE_ERROR_IO);
  g_remove (folder);
}

static void
test_better (void)
{
  const DynoMetricInfo *accuracy = &classes.infos[0], *error = &values.infos[0];
  const double none = (double) NAN;

  g_assert_cmpint (dyno_metric_table_find_selecting (&classes), ==, 0);
  g_assert_cmpint (dyno_metric_table_find_selecting (&values), ==, -1);
  g_assert_true (dyno_metric_is_better (accuracy, 0.5, 0.25));
  g_assert_false (dyno_metric_is_better (accuracy, 0.25, 0.5));
  g_assert_true (dyno_metric_is_better (error, 0.25, 0.5));
  g_assert_false (dyno_metric_is_better (error, 0.5, 0.25));
  for (guint i = 0; i < 2; i++)
    {
      const DynoMetricInfo *metric = i ? accuracy : error;

      g_assert_false (dyno_metric_is_better (metric, 1, 1));
      g_assert_true (dyno_metric_is_better (metric, 1, none));
      g_assert_false (dyno_metric_is_better (metric, none, 1));
      g_assert_false (dyno_metric_is_better (metric, none, none));
    }
}

static void
test_label (void)
{
  g_autofree char *all = dyno_metric_get_label (&values.infos[0]),
                  *part = dyno_metric_get_label (&values.infos[1]);

  g_assert_cmpstr (all, ==, "Mean error");
  g_assert_cmpstr (part, ==, "Mean error (yaw)");
}

/* The best epoch of each fold, at any position; deviations are sample deviations.  The table has
 * columns of the test part where a fold has one. */
static void
test_folds (gconstpointer data)
{
  gboolean tested = data != NULL;
  const DynoTestResult none = { 0 },
                       tests[2] = { { .n_samples = 9, .loss = 0.25, .metrics = { 1 } },
                                    { .n_samples = 9, .loss = 0.75 } };
  const double losses[2][3] = { { 0.9, 0.5, 0.7 }, { 0.4, 0.3, 0.2 } };
  const guint64 best[2] = { 2, 3 };
  g_autoptr (DynoFoldTable) table = dyno_fold_table_new ();
  DynoMetricTable metrics = { .n = 1, .infos = { { .name = "accuracy" } } };
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("dyno-folds-XXXXXX", &error),
                  *path = g_build_filename (folder, "folds.csv", NULL), *text = NULL;
  double mean, deviation;

  dyno_fold_table_get (table, DYNO_FOLD_VALIDATION, 0, &mean, &deviation);
  g_assert_true (isnan (mean) && isnan (deviation));
  for (guint f = 0; f < 2; f++)
    {
      g_autoptr (DynoMetrics) log = dyno_metrics_new ();

      dyno_metrics_set_table (log, &metrics);
      for (guint e = 0; e < 3; e++)
        {
          DynoEpochMetrics epoch = { .epoch = e + 1, .val_loss = losses[f][e] };

          epoch.val_metrics[0] = 1 - losses[f][e];
          dyno_metrics_add_epoch (log, &epoch);
        }
      g_assert_false (dyno_fold_table_take (table, f + 1, log, 4, &tests[f]));
      g_assert_true (dyno_fold_table_take (table, f + 1, log, best[f], tested ? &tests[f] : &none));
      dyno_fold_table_get (table, DYNO_FOLD_VALIDATION, 0, &mean, &deviation);
      g_assert_true (isnan (deviation) == (f == 0));
    }
  g_assert_cmpfloat_with_epsilon (mean, 0.35, 1e-12);
  g_assert_cmpfloat_with_epsilon (deviation, 0.15 * sqrt (2), 1e-12);
  dyno_fold_table_get (table, DYNO_FOLD_VALIDATION, 1, &mean, &deviation);
  g_assert_cmpfloat_with_epsilon (mean, 0.65, 1e-12);
  g_assert_true (dyno_fold_table_write (table, path, &error));
  g_assert_true (g_file_get_contents (path, &text, NULL, &error));
  g_assert_cmpstr (text, ==,
                   tested ? "fold,epoch,val_loss,val_accuracy,test_loss,test_accuracy\n"
                            "1,2,0.5,0.5,0.25,1\n2,3,0.2,0.8,0.75,0\n"
                          : "fold,epoch,val_loss,val_accuracy\n1,2,0.5,0.5\n2,3,0.2,0.8\n");
  dyno_fold_table_get (table, DYNO_FOLD_TEST, 0, &mean, &deviation);
  g_assert_cmpint (isnan (mean), ==, !tested);
  g_assert_true (!tested || mean == 0.5);
  g_unlink (path);
  g_rmdir (folder);
}

/* test.ini gives back what was written, without values that are not numbers; without the file there
 * is no result. */
static void
test_test_result (void)
{
  DynoMetricTable metrics = { .n = 2, .infos = { { .name = "accuracy" }, { .name = "f1_macro" } } };
  DynoTestResult result = { .n_samples = 300,
                            .epoch = 4,
                            .step = 70,
                            .loss = 1.0 / 3,
                            .metrics = { 0.97, (double) NAN } },
                 read;
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("dyno-test-result-XXXXXX", &error),
                  *path = g_build_filename (folder, DYNO_TEST_RESULT_NAME, NULL), *text = NULL;

  g_assert_false (dyno_test_result_read (folder, &metrics, &read));
  g_assert_cmpuint (read.n_samples, ==, 0);
  g_assert_true (dyno_test_result_write (folder, &metrics, &result, &error));
  g_assert_true (dyno_test_result_read (folder, &metrics, &read));
  g_assert_cmpuint (read.n_samples, ==, 300);
  g_assert_cmpuint (read.epoch, ==, 4);
  g_assert_cmpuint (read.step, ==, 70);
  g_assert_true (read.loss == result.loss && read.metrics[0] == 0.97);
  for (guint i = 1; i < DYNO_MAX_RUN_METRICS; i++)
    g_assert_true (isnan (read.metrics[i]));
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_assert_cmpstr (text, ==,
                   "[test]\nsamples=300\nepoch=4\nstep=70\nloss=0.33333333333333331\n"
                   "accuracy=0.96999999999999997\n");
  /* Without samples there is no result; numbers that are not finite are none, whoever wrote them. */
  g_assert_true (g_file_set_contents (
      path, "[test]\nsamples=0\nloss=0.5\naccuracy=inf\nf1_macro=0.25\n", -1, NULL));
  g_assert_false (dyno_test_result_read (folder, &metrics, &read));
  g_assert_true (read.loss == 0.5 && isnan (read.metrics[0]) && read.metrics[1] == 0.25);
  g_assert_true (read.epoch == 0 && read.step == 0);
  /* A file of more than 64 KiB is no result. */
  {
    g_autofree char *blanks = g_strnfill (64 * 1024, '\n');
    g_autofree char *most = g_strconcat ("[test]\nsamples=3\n", blanks + 17, NULL),
                    *more = g_strconcat ("[test]\nsamples=3\n", blanks + 16, NULL);

    g_assert_true (g_file_set_contents (path, most, -1, NULL));
    g_assert_true (dyno_test_result_read (folder, &metrics, &read));
    g_assert_true (g_file_set_contents (path, more, -1, NULL));
    g_assert_false (dyno_test_result_read (folder, &metrics, &read));
  }
  g_unlink (path);
  g_rmdir (folder);
}

/* Steps and epochs are counted and copied apart, from any place on; both count for the memory; the
 * log lives as long as its last reference. */
static void
test_rows (void)
{
  g_autoptr (DynoMetrics) metrics = dyno_metrics_new ();
  DynoStepMetrics steps[4] = { 0 };
  DynoEpochMetrics epochs[4] = { 0 };
  gsize before, between;

  before = dyno_metrics_get_bytes (metrics);
  g_assert_cmpuint (dyno_metrics_copy_steps (metrics, 0, 4, steps), ==, 0);
  for (guint64 i = 1; i <= 5000; i++)
    dyno_metrics_add_step (metrics, &(DynoStepMetrics){ .step = i });
  between = dyno_metrics_get_bytes (metrics);
  g_assert_cmpuint (between, >=, before + 5000 * sizeof (DynoStepMetrics));
  for (guint64 i = 1; i <= 3000; i++)
    dyno_metrics_add_epoch (metrics, &(DynoEpochMetrics){ .epoch = i });
  g_assert_cmpuint (dyno_metrics_get_bytes (metrics), >=,
                    between + 3000 * sizeof (DynoEpochMetrics));
  dyno_metrics_unref (dyno_metrics_ref (metrics));
  g_assert_cmpuint (dyno_metrics_get_steps (metrics), ==, 5000);
  g_assert_cmpuint (dyno_metrics_get_epochs (metrics), ==, 3000);
  g_assert_cmpuint (dyno_metrics_copy_steps (metrics, 4998, 4, steps), ==, 2);
  g_assert_true (steps[0].step == 4999 && steps[1].step == 5000 && steps[2].step == 0);
  g_assert_cmpuint (dyno_metrics_copy_epochs (metrics, 1, 3, epochs), ==, 3);
  g_assert_true (epochs[0].epoch == 2 && epochs[2].epoch == 4 && epochs[3].epoch == 0);
  g_assert_cmpuint (dyno_metrics_copy_epochs (metrics, 3000, 4, epochs), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/record/metrics/csv", test_csv);
  g_test_add_func ("/record/metrics/csv-of-a-validation", test_csv_of_validation);
  g_test_add_func ("/record/metrics/csv-of-an-earlier-version", test_csv_earlier);
  g_test_add_func ("/record/metrics/read-without-the-model", test_read);
  g_test_add_func ("/record/metrics/read-up-to-a-line-that-is-not-whole", test_read_broken);
  g_test_add_func ("/record/metrics/better-follows-the-table", test_better);
  g_test_add_func ("/record/metrics/label-names-the-output", test_label);
  g_test_add_data_func ("/record/metrics/folds", NULL, test_folds);
  g_test_add_data_func ("/record/metrics/folds-with-a-test-part", "tested", test_folds);
  g_test_add_func ("/record/metrics/test-result-is-read-back", test_test_result);
  g_test_add_func ("/record/metrics/rows-are-copied-from-any-place", test_rows);
  g_test_add_func ("/record/metrics/bounded-whatever-the-length", test_bounded_whatever_the_length);
  return g_test_run ();
}
