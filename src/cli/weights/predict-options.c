/* SPDX-License-Identifier: MIT */
/* The options of predict and evaluate. */
#include "predict-options.h"
#include "checkpoint.h"
#include "output.h"
#include "signals.h"
#include <string.h>

#define MOST_BATCH 65536
#define MOST_SIDE  65536

void
dyno_predict_options_init (DynoPredictOptions *options)
{
  *options = (DynoPredictOptions){ .device = -1 };
}

void
dyno_predict_options_clear (DynoPredictOptions *options)
{
  g_free (options->run);
  g_free (options->weights);
  g_free (options->model);
  g_strfreev (options->data);
  memset (options, 0, sizeof *options);
}

GOptionEntry *
dyno_predict_options_entries (DynoPredictOptions *o, const GOptionEntry *own)
{
  const GOptionEntry shared[] = {
    { "run", 'r', 0, G_OPTION_ARG_FILENAME, &o->run, "Folder of a run: its best weights", "DIR" },
    { "weights", 'w', 0, G_OPTION_ARG_FILENAME, &o->weights, "A weights file instead of a run",
      "FILE" },
    { "model", 'm', 0, G_OPTION_ARG_FILENAME, &o->model,
      "The model of the weights, where the file does not state it", "MODEL" },
    { "data", 'd', 0, G_OPTION_ARG_FILENAME_ARRAY, &o->data,
      "DATA; may be given many times for files", "DATA" },
    { "batch", 'b', 0, G_OPTION_ARG_INT64, &o->batch, "Samples at once (default 32)", "N" },
    { "image-size", 0, 0, G_OPTION_ARG_INT64, &o->image_size,
      "Height and width that images are brought to (default: as trained)", "N" },
    { "amp", 0, 0, G_OPTION_ARG_NONE, &o->amp, "Compute in fp16 where the device can", NULL },
    { "mirror", 0, 0, G_OPTION_ARG_NONE, &o->mirror,
      "Average with the prediction of the mirror image, in twice the time", NULL },
    { "workers", 0, 0, G_OPTION_ARG_INT, &o->workers, "Threads that decode (default: the cores)",
      "N" },
    { "device", 0, 0, G_OPTION_ARG_INT, &o->device,
      "Device by its number in 'dynoctl devices' (default: the best)", "N" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &o->json, "One JSON object a line on standard output",
      NULL },
  };
  guint n_own = 0;
  GOptionEntry *entries;

  while (own[n_own].long_name)
    n_own++;
  entries = g_new0 (GOptionEntry, G_N_ELEMENTS (shared) + n_own + 1);
  memcpy (entries, shared, sizeof shared);
  memcpy (entries + G_N_ELEMENTS (shared), own, n_own * sizeof *own);
  return entries;
}

/* Arguments without an option are data, too, after the data given by an option. */
static void
take_rest (DynoPredictOptions *o, char **rest)
{
  g_autoptr (GStrvBuilder) all = g_strv_builder_new ();

  if (o->data)
    g_strv_builder_addv (all, (const char **) o->data);
  if (rest)
    g_strv_builder_addv (all, (const char **) rest);
  g_strfreev (o->data);
  o->data = g_strv_builder_end (all);
}

gboolean
dyno_predict_options_parse (DynoPredictOptions *o, int argc, char **argv, const char *arguments,
                            const char *summary, const GOptionEntry *entries, int *code)
{
  g_auto (GStrv) rest = NULL;

  if (!dyno_cli_parse (argc, argv, arguments, summary, entries, NULL, &rest, G_MAXUINT, code))
    return FALSE;
  take_rest (o, rest);
  *code = DYNO_EXIT_USAGE;
  if (!o->run == !o->weights)
    dyno_cli_usage (argv[0], o->run ? "--run and --weights are two ways to say the same: name one"
                                    : "name the weights: --run DIR or --weights FILE");
  else if (!o->data[0])
    dyno_cli_usage (argv[0], "name the data: files, a folder, or any DATA");
  else if (o->batch < 0 || o->batch > MOST_BATCH)
    dyno_cli_usage (argv[0], "--batch %" G_GINT64_FORMAT ": it is from 1 to %d", o->batch,
                    MOST_BATCH);
  else if (o->image_size < 0 || o->image_size > MOST_SIDE)
    dyno_cli_usage (argv[0], "--image-size %" G_GINT64_FORMAT ": it is from 1 to %d", o->image_size,
                    MOST_SIDE);
  else if (o->workers < 0 || o->workers > 256)
    dyno_cli_usage (argv[0], "--workers %d: it is from 1 to 256", o->workers);
  else
    *code = DYNO_EXIT_OK;
  if (*code == DYNO_EXIT_OK && o->run)
    o->weights = g_build_filename (o->run, DYNO_WEIGHTS_NAME, NULL);
  return *code == DYNO_EXIT_OK;
}

DynoPredictor *
dyno_predict_options_open (const DynoPredictOptions *o, const char *command, DynoDataset *dataset,
                           GError **error)
{
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  DynoPredictorParams params = { .weights = o->weights,
                                 .model = o->model,
                                 .image_size = (guint32) o->image_size,
                                 .batch = (guint32) o->batch,
                                 .amp = o->amp,
                                 .mirror = o->mirror,
                                 .workers = (guint) o->workers,
                                 .device = o->device };
  DynoPredictor *predictor =
      dyno_predictor_new (&params, dataset, notes, dyno_signals_get_cancellable (), error);

  for (guint i = 0; i < notes->len; i++)
    dyno_error_line ("%s: warning: %s", command, (const char *) g_ptr_array_index (notes, i));
  return predictor;
}

int
dyno_predict_fail (GError *error, const char *command, gboolean json)
{
  if (!g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED) || !dyno_signals_get ())
    return dyno_cli_fail (error, json);
  g_error_free (error);
  dyno_error_line ("%s: stopped", command);
  return dyno_signals_exit_code (dyno_signals_get ());
}
