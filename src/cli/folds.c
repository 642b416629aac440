/* SPDX-License-Identifier: MIT */
/* Trains the folds of a job one after another.  Invariant: settings.ini in the folder of the whole
 * job is written before the first fold begins, so that --resume finds it. */
#include "folds.h"
#include "checkpoint.h"
#include "file.h"
#include "output.h"
#include "parts.h"
#include "progress.h"
#include "runwriter.h"
#include "text.h"
#include <errno.h>
#include <glib/gstdio.h>
#include <math.h>

#define TABLE_NAME "folds.csv"

static char *
find_folder (const char *folder, gint64 fold)
{
  g_autofree char *name = g_strdup_printf ("fold-%" G_GINT64_FORMAT, fold);

  return folder ? g_build_filename (folder, name, NULL) : NULL;
}

gboolean
dyno_folds_are_in (const char *folder)
{
  g_autofree char *first = find_folder (folder, 1);

  return first && g_file_test (first, G_FILE_TEST_IS_DIR);
}

static void
print_fold (gint64 fold, gint64 n, gboolean as_json)
{
  DynoJson json;

  if (!as_json)
    {
      dyno_out_line ("fold %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT, fold, n);
      return;
    }
  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", "fold");
  dyno_json_uint (&json, "fold", (guint64) fold);
  dyno_json_uint (&json, "folds", (guint64) n);
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

/* The name of a value in the table: "val_loss", "test_accuracy". */
static char *
get_name (const DynoFoldTable *table, DynoFoldPart part, guint value)
{
  return g_strconcat (dyno_fold_part_get_prefix (part),
                      value == 0 ? "loss" : table->metrics.infos[value - 1].name, NULL);
}

static void
add_json (DynoJson *json, const DynoFoldTable *table, DynoFoldPart part, guint value)
{
  g_autofree char *name = get_name (table, part, value);
  double mean, deviation;

  dyno_fold_table_get (table, part, value, &mean, &deviation);
  dyno_json_begin_object (json, name);
  dyno_json_double (json, "mean", mean);
  dyno_json_double (json, "deviation", deviation);
  dyno_json_begin_array (json, "values");
  for (guint i = 0; i < table->results->len; i++)
    dyno_json_double (json, NULL,
                      g_array_index (table->results, DynoFoldResult, i).values[part][value]);
  dyno_json_end_array (json);
  dyno_json_end_object (json);
}

static void
print_json (const DynoFoldTable *table)
{
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", "folds");
  dyno_json_uint (&json, "folds", table->results->len);
  for (guint p = 0; p < table->n_parts; p++)
    for (guint v = 0; v <= table->metrics.n; v++)
      add_json (&json, table, p, v);
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

static char *
describe_value (const DynoFoldTable *table, guint value, double amount)
{
  return value == 0 ? g_strdup_printf ("%.4f", amount)
                    : dyno_text_metric_number (&table->metrics.infos[value - 1], amount);
}

/* Prints a line for each value that the folds have on the part. */
static void
print_part (const DynoFoldTable *table, DynoFoldPart part)
{
  g_autoptr (DynoTable) shown = dyno_table_new (part == DYNO_FOLD_TEST ? "test" : "validation",
                                                "mean", "deviation", "lowest", "highest", NULL);

  for (guint v = 0; v <= table->metrics.n; v++)
    {
      g_autofree char *title =
          v == 0 ? g_strdup ("loss") : dyno_metric_get_label (&table->metrics.infos[v - 1]);
      double mean, deviation, least = (double) INFINITY, most = -(double) INFINITY;

      dyno_fold_table_get (table, part, v, &mean, &deviation);
      if (isnan (mean))
        continue;
      for (guint i = 0; i < table->results->len; i++)
        {
          double amount = g_array_index (table->results, DynoFoldResult, i).values[part][v];

          least = MIN (least, amount);
          most = MAX (most, amount);
        }
      dyno_table_add (shown, dyno_text_title (title), describe_value (table, v, mean),
                      describe_value (table, v, deviation), describe_value (table, v, least),
                      describe_value (table, v, most), NULL);
    }
  dyno_table_print (shown);
}

static void
print_text (const DynoFoldTable *table)
{
  dyno_out_line ("The best epoch of each of %u folds:", table->results->len);
  for (guint p = 0; p < table->n_parts; p++)
    print_part (table, p);
}

/* Prepares the folder before the first fold.  FALSE: an error was printed; *code is its exit
 * code. */
static gboolean
begin (const DynoCliJob *cli_job, gboolean as_json, int *code)
{
  const DynoJob *job = cli_job->job;
  g_autofree char *first = find_folder (job->out_dir, 1); /* marks a cross-validation */
  g_autoptr (GError) error = NULL;
  gboolean good = dyno_job_check_parts (job, dyno_dataset_get_info (cli_job->dataset), &error);

  if (good && first && !dyno_dir_make (first))
    {
      dyno_file_set_error (&error, errno, first);
      good = FALSE;
    }
  if (good
      && (!job->out_dir
          || dyno_run_writer_write_settings (job->out_dir, job, cli_job->device.name, &error)))
    return TRUE;
  *code = dyno_cli_fail (g_steal_pointer (&error), as_json);
  return FALSE;
}

/* The job of one fold, in its folder. */
static DynoJob *
make_job (const DynoJob *whole, gint64 fold)
{
  DynoJob *job = dyno_job_copy (whole);
  g_autofree char *checkpoint = NULL;

  job->settings.data_fold = fold;
  g_free (job->out_dir);
  g_clear_pointer (&job->resume, g_free);
  job->out_dir = find_folder (whole->out_dir, fold);
  if (whole->name)
    {
      g_free (job->name);
      job->name = g_strdup_printf ("%s, fold %" G_GINT64_FORMAT, whole->name, fold);
    }
  checkpoint = job->out_dir ? g_build_filename (job->out_dir, DYNO_CHECKPOINT_NAME, NULL) : NULL;
  if (whole->resume && checkpoint && g_file_test (checkpoint, G_FILE_TEST_EXISTS))
    job->resume = g_strdup (job->out_dir);
  return job;
}

static gboolean
write_table (const DynoFoldTable *table, const char *folder, GError **error)
{
  g_autofree char *path = folder ? g_build_filename (folder, TABLE_NAME, NULL) : NULL;

  return !path || dyno_fold_table_write (table, path, error);
}

int
dyno_folds_train (const char *command, const DynoCliJob *cli_job, gboolean as_json, gboolean quiet,
                  DynoFoldFunc train, gpointer data)
{
  g_autoptr (DynoFoldTable) results = dyno_fold_table_new ();
  const DynoJob *job = cli_job->job;
  gint64 n = job->settings.data_folds;
  g_autoptr (GError) error = NULL;
  int code = DYNO_EXIT_OK;

  if (!begin (cli_job, as_json, &code))
    return code;
  for (gint64 fold = 1; fold <= n; fold++)
    {
      g_autoptr (DynoJob) one = make_job (job, fold);
      DynoCliJob part = *cli_job;

      part.job = one;
      if (as_json || !quiet)
        print_fold (fold, n, as_json);
      code = train (&part, results, data);
      if (code != DYNO_EXIT_OK)
        return code;
      if (!write_table (results, job->out_dir, &error))
        return dyno_cli_fail (g_steal_pointer (&error), as_json);
    }
  if (results->results->len < (guint) n)
    dyno_error_line ("%s: warning: only %u of %" G_GINT64_FORMAT
                     " folds were validated; an epoch must end in each",
                     command, results->results->len, n);
  if (as_json)
    print_json (results);
  else if (!quiet)
    print_text (results);
  if (!as_json && !quiet && job->out_dir)
    {
      g_autofree char *shown = g_filename_display_name (job->out_dir);

      dyno_out_line ("in %s: " TABLE_NAME
                     " and a run of each fold, fold-1 to fold-%" G_GINT64_FORMAT,
                     shown, n);
    }
  return DYNO_EXIT_OK;
}
