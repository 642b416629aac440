/* SPDX-License-Identifier: MIT */
/* dynoctl predict: prints classes with their probabilities, or values with their units, for files,
 * folders and arrays. */
#include "file.h"
#include "masks.h"
#include "output.h"
#include "predict-options.h"
#include "predictiontable.h"
#include "signals.h"
#include "text.h"
#include <errno.h>
#include <string.h>

#define DEFAULT_TOP G_MININT64 /* no number of classes was requested */

typedef struct {
  const DynoWeightsInfo *info;
  DynoDataset *dataset;
  guint top;
  gboolean json, csv;
  guint64 n_reported, n_unreadable;
  guint64 n_first; /* samples of the first batch, whose time includes compiling the kernels */
  gint64 warm_us;  /* when the first batch was reported; 0: not yet */
  guint32 *ranked; /* `top` class ids */
  /* for weights with a class for each pixel: */
  DynoMaskWriter *masks;
  gboolean of_network; /* write masks at the network's size, not at the size of their images */
  guint64 n_pixels;    /* of a predicted mask */
  GError *problem;     /* a mask could not be written */
} Printer;

static void
print_csv_head (const Printer *printer)
{
  g_autoptr (GString) line = g_string_new (NULL);

  dyno_prediction_table_append_head (line, printer->info, printer->top);
  g_string_truncate (line, line->len - 1);
  dyno_out_line ("%s", line->str);
}

static void
print_csv (const Printer *printer, const char *sample, const DynoPrediction *prediction)
{
  g_autoptr (GString) line = g_string_new (NULL);

  dyno_prediction_table_append (line, printer->info, printer->top, sample, prediction);
  g_string_truncate (line, line->len - 1);
  dyno_out_line ("%s", line->str);
}

/* The chosen labels, or the most likely ones where their number was requested. */
static GArray *
choose_labels (const Printer *printer, const DynoPrediction *prediction)
{
  GArray *chosen;

  if (printer->top == 0)
    return dyno_prediction_choose_labels (prediction->shares, printer->info);
  chosen = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_array_append_vals (chosen, printer->ranked, printer->top);
  return chosen;
}

static void
print_labels_json (DynoJson *json, const Printer *printer, const DynoPrediction *prediction)
{
  const DynoWeightsInfo *info = printer->info;
  g_autoptr (GArray) chosen = choose_labels (printer, prediction);

  dyno_json_begin_array (json, "labels");
  for (guint i = 0; i < chosen->len; i++)
    {
      guint32 id = g_array_index (chosen, guint32, i);

      dyno_json_begin_object (json, NULL);
      dyno_json_uint (json, "id", id);
      dyno_json_string (json, "label", info->class_names ? info->class_names[id] : NULL);
      dyno_json_double (json, "probability", (double) prediction->shares[id]);
      dyno_json_end_object (json);
    }
  dyno_json_end_array (json);
}

static void
print_labels (const Printer *printer, const char *sample, const DynoPrediction *prediction)
{
  g_autoptr (GArray) chosen = choose_labels (printer, prediction);
  g_autoptr (GString) line = g_string_new (sample);

  for (guint i = 0; i < chosen->len; i++)
    {
      guint32 id = g_array_index (chosen, guint32, i);
      g_autofree char *name = dyno_weights_info_name_class (printer->info, id);

      g_string_append_printf (line, "%s %s %.1f %%", i ? "," : ":", name,
                              100 * (double) prediction->shares[id]);
    }
  dyno_out_line ("%s%s", line->str, chosen->len > 0 ? "" : ": no label");
}

static void
print_json (const Printer *printer, const char *sample, const DynoPrediction *prediction)
{
  const DynoWeightsInfo *info = printer->info;
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", prediction->problem ? "unreadable" : "prediction");
  dyno_json_string (&json, "sample", sample);
  dyno_json_uint (&json, "index", prediction->index);
  if (prediction->problem)
    dyno_json_string (&json, "text", prediction->problem);
  else if (info->is_values)
    {
      dyno_json_begin_array (&json, "values");
      for (guint i = 0; i < info->n_outputs; i++)
        {
          dyno_json_begin_object (&json, NULL);
          dyno_json_string (&json, "name", info->target_names ? info->target_names[i] : NULL);
          dyno_json_double (&json, "value", (double) prediction->logits[i]);
          dyno_json_string (&json, "unit", info->target_units ? info->target_units[i] : NULL);
          dyno_json_end_object (&json);
        }
      dyno_json_end_array (&json);
    }
  else if (info->is_labels)
    print_labels_json (&json, printer, prediction);
  else
    {
      dyno_json_begin_array (&json, "classes");
      for (guint i = 0; i < printer->top; i++)
        {
          guint32 id = printer->ranked[i];
          dyno_json_begin_object (&json, NULL);
          dyno_json_uint (&json, "id", id);
          dyno_json_string (&json, "class", info->class_names ? info->class_names[id] : NULL);
          dyno_json_double (&json, "probability", (double) prediction->shares[id]);
          dyno_json_end_object (&json);
        }
      dyno_json_end_array (&json);
    }
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

static void
print_text (const Printer *printer, const char *sample, const DynoPrediction *prediction)
{
  const DynoWeightsInfo *info = printer->info;
  g_autoptr (GString) line = g_string_new (sample);
  guint n = info->is_values ? info->n_outputs : printer->top;

  for (guint i = 0; i < n; i++)
    {
      guint32 id = info->is_values ? i : printer->ranked[i];
      g_autofree char *name = info->is_values ? dyno_weights_info_name_value (info, id)
                                              : dyno_weights_info_name_class (info, id);
      if (info->is_values)
        g_string_append_printf (line, "%s %s %.6g", i ? "," : ":", name,
                                (double) prediction->logits[id]);
      else
        g_string_append_printf (line, "%s %s %.1f %%", i ? "," : ":", name,
                                100 * (double) prediction->shares[id]);
    }
  dyno_out_line ("%s", line->str);
}

/* Prints a mask's file, and the shares of the classes in it. */
static void
print_mask (Printer *printer, const char *sample, const char *path,
            const DynoPrediction *prediction)
{
  const DynoWeightsInfo *info = printer->info;
  g_autofree guint64 *counts =
      dyno_mask_count_classes (prediction->mask, printer->n_pixels, info->n_outputs);
  g_autoptr (GString) line = g_string_new (sample);
  double all = (double) printer->n_pixels;
  const char *before = ": ";
  DynoJson json;

  if (!printer->json)
    {
      for (guint32 i = 0; i < info->n_outputs; i++)
        if (counts[i] > 0)
          {
            g_autofree char *name = dyno_weights_info_name_class (info, i);
            g_string_append_printf (line, "%s%s %.1f %%", before, name,
                                    100 * (double) counts[i] / all);
            before = ", ";
          }
      dyno_out_line ("%s; %s", line->str, path);
      return;
    }
  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", "prediction");
  dyno_json_string (&json, "sample", sample);
  dyno_json_uint (&json, "index", prediction->index);
  dyno_json_string (&json, "mask", path);
  dyno_json_begin_array (&json, "classes");
  for (guint32 i = 0; i < info->n_outputs; i++)
    {
      dyno_json_begin_object (&json, NULL);
      dyno_json_uint (&json, "id", i);
      dyno_json_string (&json, "class", info->class_names ? info->class_names[i] : NULL);
      dyno_json_double (&json, "share", (double) counts[i] / all);
      dyno_json_end_object (&json);
    }
  dyno_json_end_array (&json);
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

static gboolean
on_mask (Printer *printer, const char *sample, const DynoPrediction *prediction)
{
  g_autofree char *path = dyno_mask_writer_write (printer->masks, sample, prediction->index,
                                                  prediction->mask, &printer->problem);

  if (!path)
    return FALSE;
  print_mask (printer, sample, path, prediction);
  return dyno_out_has_reader ();
}

static gboolean
on_prediction (const DynoPrediction *prediction, gpointer data)
{
  Printer *printer = data;
  g_autofree char *sample = dyno_dataset_describe_sample (printer->dataset, prediction->index);

  printer->n_reported++;
  if (printer->n_reported == printer->n_first)
    printer->warm_us = g_get_monotonic_time ();
  printer->n_unreadable += prediction->problem != NULL;
  if (prediction->mask)
    return on_mask (printer, sample, prediction);
  if (prediction->shares && printer->top > 0)
    dyno_prediction_rank (prediction->shares, printer->info->n_outputs, printer->top,
                          printer->ranked);
  if (printer->json)
    print_json (printer, sample, prediction);
  else if (printer->csv)
    print_csv (printer, sample, prediction);
  else if (prediction->problem)
    dyno_error_line ("dynoctl predict: %s cannot be read: %s", sample, prediction->problem);
  else if (printer->info->is_labels)
    print_labels (printer, sample, prediction);
  else
    print_text (printer, sample, prediction);
  return dyno_out_has_reader ();
}

/* Prints the files that the scan refused; the text of each begins with the file's name. */
static void
print_refused (Printer *printer)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (printer->dataset);
  const char *const *list = dyno_dataset_get_unreadable (printer->dataset);

  printer->n_unreadable += info->n_unreadable;
  for (guint i = 0; list[i]; i++)
    if (printer->json)
      {
        DynoJson json;

        dyno_json_init (&json, 0);
        dyno_json_begin_object (&json, NULL);
        dyno_json_string (&json, "event", "unreadable");
        dyno_json_null (&json, "sample");
        dyno_json_null (&json, "index");
        dyno_json_string (&json, "text", list[i]);
        dyno_json_end_object (&json);
        dyno_out_json (&json);
        dyno_json_clear (&json);
      }
    else
      dyno_error_line ("dynoctl predict: not read: %s", list[i]);
}

/* Samples/s, without the first batch if there are more, since drivers compile at the first use. */
static double
get_rate (const Printer *printer, double seconds, gint64 now_us)
{
  gboolean several = printer->warm_us > 0 && printer->n_reported > printer->n_first;
  guint64 n = printer->n_reported - (several ? printer->n_first : 0);
  double time = several ? (double) (now_us - printer->warm_us) / G_USEC_PER_SEC : seconds;

  return (double) n / MAX (time, 1e-9);
}

static void
print_end (const Printer *printer, const char *device, gint64 began_us)
{
  gint64 now_us = g_get_monotonic_time ();
  double seconds = (double) (now_us - began_us) / G_USEC_PER_SEC;
  guint64 n = printer->n_reported;
  double per_s = get_rate (printer, seconds, now_us);
  g_autofree char *rate = dyno_text_rate (per_s), *time = dyno_text_duration (seconds);
  DynoJson json;

  if (!printer->json)
    {
      dyno_error_line ("dynoctl predict: %" G_GUINT64_FORMAT " %s in %s, %s samples/s on %s; "
                       "%" G_GUINT64_FORMAT " could not be read",
                       n, dyno_plural (n, "sample", "samples"), time, rate, device,
                       printer->n_unreadable);
      return;
    }
  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", "done");
  dyno_json_string (&json, "device", device);
  dyno_json_uint (&json, "samples", n);
  dyno_json_uint (&json, "unreadable", printer->n_unreadable);
  dyno_json_double (&json, "seconds", seconds);
  dyno_json_double (&json, "samples_per_s", per_s);
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

/* Weights with a class for each pixel need a folder for their masks; for other weights a folder is
 * refused. */
static gboolean
open_masks (Printer *printer, DynoPredictor *predictor, const char *folder, GError **error)
{
  guint32 width, height;

  dyno_predictor_get_mask_size (predictor, &width, &height);
  printer->n_pixels = (guint64) width * height;
  if (printer->n_pixels > 0 && (!folder || printer->csv))
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 "The weights have a class for each pixel: %s",
                 folder ? "--csv has a line for a sample; leave it out, or take --json"
                        : "name a folder for the masks with --masks");
  else if (printer->n_pixels == 0 && folder)
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 "--masks: the weights have one answer for a sample, and no masks");
  else if (folder && (!dyno_dir_make (folder) || !dyno_dir_test_writable (folder)))
    dyno_file_set_error (error, errno, folder);
  else
    {
      printer->masks = folder ? dyno_mask_writer_new (
                           folder, printer->of_network ? NULL : printer->dataset, width, height)
                              : NULL;
      return TRUE;
    }
  return FALSE;
}

static int
predict (const char *command, const DynoPredictOptions *options, Printer *printer, gint64 top,
         const char *masks)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoPredictor) predictor = NULL;
  gint64 began_us;
  gboolean whole;

  predictor = dyno_predict_options_open (options, command, printer->dataset, &error);
  if (!predictor)
    return dyno_predict_fail (g_steal_pointer (&error), command, options->json);
  printer->info = dyno_predictor_get_info (predictor);
  if (!open_masks (printer, predictor, masks, &error))
    return error->domain == G_OPTION_ERROR && !options->json
               ? dyno_cli_usage (command, "%s", error->message)
               : dyno_predict_fail (g_steal_pointer (&error), command, options->json);
  /* Without a number, labels are chosen by their probabilities. */
  printer->top =
      (guint) CLAMP (top, printer->info->is_labels ? 0 : 1, (gint64) printer->info->n_outputs);
  printer->ranked = g_new0 (guint32, printer->top + 1);
  if (printer->csv)
    print_csv_head (printer);
  print_refused (printer);
  printer->n_first = dyno_predictor_get_batch (predictor);
  began_us = g_get_monotonic_time ();
  whole = dyno_predictor_run (predictor, NULL, on_prediction, printer,
                              dyno_signals_get_cancellable (), &error);
  print_end (printer, dyno_predictor_get_device (predictor), began_us);
  g_free (printer->ranked);
  g_clear_pointer (&printer->masks, dyno_mask_writer_free);
  if (printer->problem)
    {
      g_clear_error (&error);
      error = g_steal_pointer (&printer->problem);
      whole = FALSE;
    }
  return whole ? DYNO_EXIT_OK
               : dyno_predict_fail (g_steal_pointer (&error), command, options->json);
}

static gboolean
read_mask_size (const char *command, const char *text, const char *masks, Printer *printer)
{
  if (!text)
    return TRUE;
  printer->of_network = strcmp (text, "network") == 0;
  if (!printer->of_network && strcmp (text, "image") != 0)
    dyno_cli_usage (command, "--mask-size %s: it is image or network", text);
  else if (!masks)
    dyno_cli_usage (command, "--mask-size is of the masks that --masks writes; name a folder");
  else
    return TRUE;
  return FALSE;
}

int
dyno_verb_predict (int argc, char **argv)
{
  g_auto (DynoPredictOptions) options = { 0 };
  g_autofree GOptionEntry *entries = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoDataset) dataset = NULL;
  g_autofree char *masks = NULL, *mask_size = NULL;
  Printer printer = { 0 };
  gint64 top = DEFAULT_TOP;
  int code;
  const GOptionEntry own[] = {
    { "top", 'k', 0, G_OPTION_ARG_INT64, &top,
      "Classes per sample, most likely first (default 1; labels: all of at least 50 %)", "K" },
    { "csv", 0, 0, G_OPTION_ARG_NONE, &printer.csv, "A table as CSV on standard output", NULL },
    { "masks", 0, 0, G_OPTION_ARG_FILENAME, &masks,
      "Folder for the masks of weights with a class for each pixel, PNG files of class ids",
      "DIR" },
    { "mask-size", 0, 0, G_OPTION_ARG_STRING, &mask_size,
      "Size of these: image (default), as each image has it, or network, as it is read",
      "image|network" },
    { NULL },
  };

  dyno_predict_options_init (&options);
  entries = dyno_predict_options_entries (&options, own);
  if (!dyno_predict_options_parse (&options, argc, argv, "--run DIR --data DATA|FILE...",
                                   "Predicts samples with trained weights: classes with their "
                                   "probabilities, values, or masks.",
                                   entries, &code))
    return code;
  if (top < 1 && top != DEFAULT_TOP)
    return dyno_cli_usage (argv[0], "--top %" G_GINT64_FORMAT ": it is 1 or more", top);
  if (options.json && printer.csv)
    return dyno_cli_usage (argv[0], "--json and --csv are two forms of one output: name one");
  if (!read_mask_size (argv[0], mask_size, masks, &printer))
    return DYNO_EXIT_USAGE;
  printer.json = options.json;
  dyno_signals_catch ();
  dataset = dyno_predictor_open_data (options.weights, (const char *const *) options.data,
                                      dyno_signals_get_cancellable (), &error);
  if (!dataset)
    return dyno_predict_fail (g_steal_pointer (&error), argv[0], options.json);
  printer.dataset = dataset;
  return predict (argv[0], &options, &printer, top, masks);
}
