/* SPDX-License-Identifier: MIT */
/* dynoctl convert: packs a data set into one file, and reports the gain. */
#include "cli.h"
#include "amount.h"
#include "convert.h"
#include "cores.h"
#include "inspect-augmented.h"
#include "loaderceiling.h"
#include "output.h"
#include "signals.h"
#include "text.h"
#include <math.h>

#define MEASURE_SECONDS 2.0
#define MEASURE_LIMIT_S 30

typedef struct {
  const char *data, *out;
  DynoConverted converted;
  GPtrArray *skipped;
  double before, after; /* samples/s of the loader; NAN: not measured */
} Outcome;

/* Measures the loader's rate on a data set at this size of its samples. */
static gboolean
measure (DynoDataset *dataset, guint32 image_size, double *rate, GError **error)
{
  g_autoptr (DynoJob) job = dyno_job_new ();
  g_autoptr (DynoDeadline) deadline =
      dyno_deadline_new (g_get_monotonic_time () + (gint64) (MEASURE_LIMIT_S * G_USEC_PER_SEC),
                         dyno_signals_get_cancellable (), error);
  g_autoptr (GArray) train = NULL, validation = NULL;
  DynoLoaderCeiling ceiling;

  if (!deadline)
    return FALSE;
  job->settings.image_size = dyno_dataset_get_info (dataset)->resizable ? image_size : 0;
  job->settings.workers = MAX (dyno_cores_count (), 1);
  dyno_dataset_split (dataset, 0, 0, &train, &validation);
  if (!dyno_loader_ceiling_measure (job, dataset, train, MEASURE_SECONDS, deadline, &ceiling,
                                    error))
    return FALSE;
  *rate = ceiling.rate.median;
  return TRUE;
}

static gboolean
measure_both (DynoDataset *dataset, Outcome *outcome, GError **error)
{
  const DynoDatasetParams params = { .one_class = TRUE };
  g_autoptr (DynoDataset) packed =
      dyno_dataset_open (outcome->out, &params, NULL, NULL, dyno_signals_get_cancellable (), error);
  const DynoDatasetInfo *info = packed ? dyno_dataset_get_info (packed) : NULL;
  /* Both data sets are measured at the same size if both can be resized. */
  guint32 size = info && dyno_dataset_get_info (dataset)->resizable
                     ? CLAMP (MIN (info->max_width, info->max_height), 32, 224)
                     : 0;

  return packed && measure (dataset, size, &outcome->before, error)
         && measure (packed, size, &outcome->after, error);
}

static void
print_json (const Outcome *o)
{
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "data", o->data);
  dyno_json_string (&json, "file", o->out);
  dyno_json_uint (&json, "samples", o->converted.n_written);
  dyno_json_uint (&json, "copied", o->converted.n_copied);
  dyno_json_uint (&json, "skipped", o->converted.n_skipped);
  dyno_json_uint (&json, "bytes", o->converted.bytes);
  dyno_json_double (&json, "samples_per_s_before", o->before);
  dyno_json_double (&json, "samples_per_s", o->after);
  dyno_json_begin_array (&json, "skipped_samples");
  for (guint i = 0; i < o->skipped->len; i++)
    dyno_json_string (&json, NULL, g_ptr_array_index (o->skipped, i));
  dyno_json_end_array (&json);
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

static void
print_text (const Outcome *o)
{
  g_autofree char *bytes = dyno_amount_bytes (o->converted.bytes, " ");

  dyno_out_line ("%" G_GUINT64_FORMAT " %s in %s, %s, written and read again",
                 o->converted.n_written, dyno_plural (o->converted.n_written, "sample", "samples"),
                 o->out, bytes);
  if (o->converted.n_copied < o->converted.n_written)
    dyno_out_line ("encoded anew %" G_GUINT64_FORMAT ", the other files are as they were",
                   o->converted.n_written - o->converted.n_copied);
  if (o->converted.n_skipped > 0)
    dyno_out_line ("skipped %" G_GUINT64_FORMAT " that cannot be read:", o->converted.n_skipped);
  for (guint i = 0; i < o->skipped->len; i++)
    dyno_out_line ("  %s", (char *) g_ptr_array_index (o->skipped, i));
  if (!isnan (o->before))
    {
      g_autofree char *before = dyno_text_rate (o->before), *after = dyno_text_rate (o->after);
      dyno_out_line ("the loader gives %s samples/s, and %s of what was there before", after,
                     before);
    }
}

static int
convert (DynoDataset *dataset, Outcome *outcome, guint32 size, gboolean measured, gboolean as_json)
{
  g_autoptr (GError) error = NULL;

  if (!dyno_dataset_convert (dataset, outcome->out, size, NULL, NULL,
                             dyno_signals_get_cancellable (), outcome->skipped, &outcome->converted,
                             &error)
      || (measured && !measure_both (dataset, outcome, &error)))
    return g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED) && dyno_signals_get ()
               ? (int) dyno_signals_exit_code (dyno_signals_get ())
               : dyno_cli_fail (g_steal_pointer (&error), as_json);
  if (as_json)
    print_json (outcome);
  else
    print_text (outcome);
  return DYNO_EXIT_OK;
}

int
dyno_verb_convert (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoDataset) dataset = NULL;
  g_auto (GStrv) names = NULL, set = NULL;
  g_autofree char *targets = NULL;
  gboolean as_json = FALSE, force = FALSE, no_measure = FALSE;
  g_autoptr (DynoJob) job = dyno_job_new ();
  DynoDatasetParams params;
  DynoInspectSet purpose;
  Outcome outcome = { .before = NAN, .after = NAN };
  int code, size = 0;
  const GOptionEntry entries[] = {
    { "size", 0, 0, G_OPTION_ARG_INT, &size,
      "Scale images down to this shorter side (JPEG of quality 95)", "N" },
    { "targets", 0, 0, G_OPTION_ARG_FILENAME, &targets,
      "Targets of an X.npy (default: found beside it)", "FILE" },
    { "set", 's', 0, G_OPTION_ARG_STRING_ARRAY, &set,
      "A setting of how DATA is read (data.task=values); may be given many times", "KEY=VALUE" },
    { "force", 0, 0, G_OPTION_ARG_NONE, &force, "Replace OUT where it is there", NULL },
    { "no-measure", 0, 0, G_OPTION_ARG_NONE, &no_measure,
      "Do not measure the loader's rate of both", NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &as_json, "One JSON object on one line", NULL },
    { NULL },
  };

  if (!dyno_cli_parse (argc, argv, "DATA OUT",
                       "Packs a data set into one file, a WebDataset shard: it opens at "
                       "once and is read in one place.",
                       entries, NULL, &names, 2, &code))
    return code;
  if (!names || g_strv_length (names) < 2)
    return dyno_cli_usage (argv[0],
                           "DATA and OUT are needed: the data set to pack, and the file to write");
  if (size < 0 || size > 8192)
    return dyno_cli_usage (argv[0], "--size must be from 0 (as they are) to 8192, not %d", size);
  if (!force && g_file_test (names[1], G_FILE_TEST_EXISTS))
    return dyno_cli_usage (argv[0], "“%s” is there already; --force replaces it", names[1]);
  if (!dyno_inspect_apply (&job->settings, set, &purpose, &error))
    return dyno_cli_fail (g_steal_pointer (&error), as_json);
  if (purpose != DYNO_INSPECT_OPENS)
    return dyno_cli_usage (
        argv[0], "--set takes only settings of how DATA is read, such as data.task or data.layout");
  job->targets = g_steal_pointer (&targets);
  dyno_job_get_dataset_params (job, &params);
  params.one_class = TRUE;
  dataset =
      dyno_dataset_open (names[0], &params, NULL, NULL, dyno_signals_get_cancellable (), &error);
  if (!dataset)
    return dyno_cli_fail (g_steal_pointer (&error), as_json);
  outcome.data = names[0];
  outcome.out = names[1];
  outcome.skipped = g_ptr_array_new_with_free_func (g_free);
  code = convert (dataset, &outcome, (guint32) size, !no_measure, as_json);
  g_ptr_array_unref (outcome.skipped);
  return code;
}
