/* SPDX-License-Identifier: MIT */
/* dynoctl bench --loader: the data pipeline without a device, by batch and workers. */
#include "bench.h"
#include "cores.h"
#include "loaderceiling.h"
#include "output.h"
#include "parts.h"
#include "signals.h"
#include <math.h>

#define ROW_SECONDS 2.0
#define ROW_LIMIT_S 60 /* limit for a very slow pipeline */

/* Prints the rate with the settings that it depends on. */
static void
print_json (const DynoSettings *s, const DynoLoaderCeiling *c)
{
  static const char *const keys[] = { "batch_size", "workers", "prefetch",
                                      "cache",      "pinned",  "persistent_workers",
                                      "image_size" };
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", "ceiling");
  dyno_json_string (&json, "of", "loader");
  dyno_json_begin_object (&json, "settings");
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    if (dyno_setting_find (keys[i])->type == DYNO_SETTING_BOOL)
      dyno_json_bool (&json, keys[i], dyno_settings_get_number (s, keys[i]) != 0);
    else
      dyno_json_int (&json, keys[i], (gint64) dyno_settings_get_number (s, keys[i]));
  dyno_json_end_object (&json);
  dyno_json_double (&json, "samples_per_s", c->rate.median);
  dyno_json_double (&json, "low", c->rate.low);
  dyno_json_double (&json, "high", c->rate.high);
  dyno_json_double (&json, "uncached_samples_per_s", c->uncached_rate);
  dyno_json_begin_object (&json, "stages_us");
  dyno_json_double (&json, "read", c->stages.read);
  dyno_json_double (&json, "decode", c->stages.decode);
  dyno_json_double (&json, "resample", c->stages.resample);
  dyno_json_double (&json, "stage", c->stages.stage);
  dyno_json_double (&json, "copy", c->stages.copy);
  dyno_json_end_object (&json);
  dyno_json_double (&json, "outside_cpu", c->outside_cpu);
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
  dyno_out_flush ();
}

static char *
stage_text (double us)
{
  return g_strdup_printf (us < 9.95 ? "%.1f" : "%.0f", us);
}

static void
add_row (DynoTable *table, const DynoSettings *s, const DynoLoaderCeiling *c)
{
  g_autofree char *low = dyno_text_rate (c->rate.low), *high = dyno_text_rate (c->rate.high);

  dyno_table_add (
      table, g_strdup_printf ("%" G_GINT64_FORMAT, s->batch_size),
      g_strdup_printf ("%" G_GINT64_FORMAT, s->workers), dyno_text_rate (c->rate.median),
      g_strdup_printf ("%s to %s", low, high),
      isnan (c->uncached_rate) ? g_strdup ("-") : dyno_text_rate (c->uncached_rate),
      stage_text (c->stages.read), stage_text (c->stages.decode), stage_text (c->stages.resample),
      stage_text (c->stages.stage), stage_text (c->stages.copy),
      isnan (c->outside_cpu) ? g_strdup ("-") : g_strdup_printf ("%.0f %%", 100 * c->outside_cpu),
      NULL);
}

static gboolean
measure_row (const DynoCliJob *cli_job, const GArray *indices, guint32 batch, guint32 workers,
             DynoTable *table, GError **error)
{
  gint64 deadline_us = g_get_monotonic_time () + (gint64) (ROW_LIMIT_S * G_USEC_PER_SEC);
  g_autoptr (DynoDeadline) deadline =
      dyno_deadline_new (deadline_us, dyno_signals_get_cancellable (), error);
  g_autoptr (DynoJob) job = dyno_job_copy (cli_job->job);
  DynoLoaderCeiling ceiling;

  job->settings.batch_size = batch;
  job->settings.workers = workers;
  if (!deadline
      || !dyno_loader_ceiling_measure (job, cli_job->dataset, indices, ROW_SECONDS, deadline,
                                       &ceiling, error))
    return FALSE;
  if (table)
    add_row (table, &job->settings, &ceiling);
  else
    print_json (&job->settings, &ceiling);
  return TRUE;
}

static gboolean
measure_rows (const DynoCliJob *cli_job, const GArray *batches, const GArray *workers,
              DynoTable *table, GError **error)
{
  g_auto (DynoDatasetParts) parts = { 0 };

  if (dyno_dataset_get_info (cli_job->dataset)->schema.generated)
    {
      g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA,
                   "“%s” is made by the device: there is no loader to measure; name a data set "
                   "that is decoded, such as builtin:shapes",
                   cli_job->job->data);
      return FALSE;
    }
  dyno_settings_divide (&cli_job->job->settings, cli_job->dataset, &parts);
  for (guint b = 0; b < batches->len; b++)
    for (guint w = 0; w < workers->len; w++)
      if (!measure_row (cli_job, parts.train, g_array_index (batches, guint32, b),
                        g_array_index (workers, guint32, w), table, error))
        return FALSE;
  return TRUE;
}

int
dyno_bench_loader (const char *command, DynoJobOptions *options, const char *batches,
                   const char *workers)
{
  g_autoptr (GArray) batch_list = g_array_new (FALSE, FALSE, sizeof (guint32)),
                     worker_list = workers ? g_array_new (FALSE, FALSE, sizeof (guint32))
                                           : dyno_loader_list_workers (dyno_cores_count ());
  g_autoptr (DynoTable) table =
      options->json ? NULL
                    : dyno_table_new ("batch", "workers", "samples/s", "95 % interval",
                                      "first epoch", "read us", "decode us", "resample us",
                                      "stage us", "copy us", "other programs", NULL);
  g_auto (DynoCliJob) cli_job = { 0 };
  g_autoptr (GError) error = NULL;
  int code = DYNO_EXIT_OK;

  if ((batches
       && !dyno_bench_parse_list (command, "batch", batches, 1, DYNO_BENCH_MOST_BATCH, batch_list))
      || (workers
          && !dyno_bench_parse_list (command, "workers", workers, 0,
                                     (guint32) dyno_setting_find ("workers")->maximum,
                                     worker_list)))
    return DYNO_EXIT_USAGE;
  if (!dyno_job_options_resolve (command, options, &cli_job, &code))
    return code;
  if (!batches)
    {
      guint32 batch = (guint32) cli_job.job->settings.batch_size;
      g_array_append_val (batch_list, batch);
    }
  if (!measure_rows (&cli_job, batch_list, worker_list, table, &error))
    code = g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED) && dyno_signals_get ()
               ? (int) dyno_signals_exit_code (dyno_signals_get ())
               : dyno_cli_fail (g_steal_pointer (&error), options->json);
  if (table && code == DYNO_EXIT_OK)
    dyno_table_print (table);
  return code;
}
