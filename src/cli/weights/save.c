/* SPDX-License-Identifier: MIT */
/* dynoctl save: writes a trained model in another program's format. */
#include "checkpoint.h"
#include "cli.h"
#include "file.h"
#include "amount.h"
#include "int8save.h"
#include "onnx.h"
#include "output.h"
#include "savecost.h"
#include "signals.h"
#include <string.h>

typedef struct {
  char *run, *weights, *to, *out, *data;
  gboolean half, keep_batch_norm, normalise, force, json;
} Options;

static void
options_clear (Options *options)
{
  g_free (options->run);
  g_free (options->weights);
  g_free (options->to);
  g_free (options->out);
  g_free (options->data);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static gboolean
to_int8 (const Options *o)
{
  return strcmp (o->to, "int8") == 0;
}

/* quantised NULL: the file is ONNX; cost NULL: the cost was not measured. */
static void
print_json (const Options *o, const DynoSavedModel *model, guint64 size,
            const DynoInt8Report *quantised, const DynoSaveCost *cost)
{
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", "saved");
  dyno_json_string (&json, "file", o->out);
  dyno_json_string (&json, "format", o->to);
  dyno_json_string (&json, "model", model->info->model);
  dyno_json_uint (&json, "bytes", size);
  if (quantised)
    {
      dyno_json_double (&json, "largest_error", quantised->worst);
      dyno_json_string (&json, "largest_error_tensor", quantised->worst_tensor);
    }
  if (cost)
    dyno_save_cost_print_json (cost, &json);
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

static void
print_text (const Options *o, const DynoSavedModel *model, guint64 size)
{
  g_autofree char *bytes = dyno_amount_bytes (size, " "),
                  *fed = dyno_normalisation_describe (&model->info->input);

  dyno_out_line ("%s: %s, %s, opset 17", o->out, model->info->model, bytes);
  if (o->normalise)
    dyno_out_line ("input: as the data has it; %s is done inside", fed);
  else
    dyno_out_line ("input: %s", fed);
}

static void
print_int8 (const Options *o, const DynoSavedModel *model, const DynoInt8Report *report,
            const DynoSaveCost *cost)
{
  g_autofree char *bytes = dyno_amount_bytes (report->bytes, " ");

  dyno_out_line ("%s: %s, %s, int8 weights", o->out, model->info->model, bytes);
  if (report->worst_tensor)
    dyno_out_line ("rounded by %.2f %% of its norm at most (%s)%s", 100 * report->worst,
                   report->worst_tensor, cost ? "" : "; --data DATA measures what that costs");
  if (cost)
    dyno_save_cost_print (cost);
}

static gboolean
save_int8 (const Options *o, const DynoSavedModel *model, GError **error)
{
  g_auto (DynoInt8Report) report = { 0 };
  DynoSaveCost cost = { 0 };
  gboolean ok =
      dyno_int8_save (model, o->out, &report, error)
      && (!o->data
          || dyno_save_cost_measure (&cost, "dynoctl save", o->weights, o->out, o->data, error));

  if (ok && o->json)
    print_json (o, model, report.bytes, &report, o->data ? &cost : NULL);
  else if (ok)
    print_int8 (o, model, &report, o->data ? &cost : NULL);
  dyno_save_cost_clear (&cost);
  return ok;
}

static gboolean
save (const Options *o, GError **error)
{
  DynoOnnxParams params = { o->half, o->keep_batch_norm, o->normalise };
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (DynoSavedModel) model = dyno_saved_model_open (o->weights, notes, error);
  g_autoptr (GByteArray) file = NULL;

  for (guint i = 0; i < notes->len; i++)
    dyno_error_line ("dynoctl save: warning: %s", (const char *) g_ptr_array_index (notes, i));
  if (model && to_int8 (o))
    return save_int8 (o, model, error);
  file = model ? dyno_onnx_write (model, &params, error) : NULL;
  if (!file || !dyno_file_write_atomic (o->out, file->data, file->len, error))
    return FALSE;
  if (o->json)
    print_json (o, model, file->len, NULL, NULL);
  else
    print_text (o, model, file->len);
  return TRUE;
}

/* Checks the options; FALSE: the process is to exit with *code. */
static gboolean
check (Options *o, const char *command, int *code)
{
  g_autofree char *folder = NULL;

  *code = DYNO_EXIT_USAGE;
  if (!o->run && !o->weights)
    dyno_cli_usage (command, "name the weights: --run DIR or --weights FILE");
  else if (o->run && o->weights)
    dyno_cli_usage (command, "--run and --weights are two ways to say the same: name one");
  else if (!o->to)
    dyno_cli_usage (command, "name the format: --to onnx or --to int8");
  else if (!to_int8 (o) && strcmp (o->to, "onnx") != 0)
    dyno_cli_usage (command, "--to %s: it is onnx or int8", o->to);
  else if (to_int8 (o) && (o->half || o->keep_batch_norm || o->normalise))
    dyno_cli_usage (command, "--half, --keep-batchnorm and --normalise are of --to onnx");
  else if (!to_int8 (o) && o->data)
    dyno_cli_usage (command, "--data measures what --to int8 costs");
  else
    *code = DYNO_EXIT_OK;
  if (*code != DYNO_EXIT_OK)
    return FALSE;
  if (o->run)
    o->weights = g_build_filename (o->run, DYNO_WEIGHTS_NAME, NULL);
  folder = g_path_get_dirname (o->weights);
  if (!o->out)
    o->out =
        g_build_filename (folder, to_int8 (o) ? "weights-int8.safetensors" : "model.onnx", NULL);
  if (!o->force && g_file_test (o->out, G_FILE_TEST_EXISTS)
      && !dyno_cli_ask ("“%s” is there; replace it?", o->out))
    *code = dyno_cli_usage (command, "“%s” is there; --force replaces it", o->out);
  return *code == DYNO_EXIT_OK;
}

int
dyno_verb_save (int argc, char **argv)
{
  g_auto (Options) o = { 0 };
  g_autoptr (GError) error = NULL;
  int code;
  const GOptionEntry entries[] = {
    { "run", 'r', 0, G_OPTION_ARG_FILENAME, &o.run, "Folder of a run: its best weights", "DIR" },
    { "weights", 'w', 0, G_OPTION_ARG_FILENAME, &o.weights, "A run's weights file", "FILE" },
    { "to", 0, 0, G_OPTION_ARG_FILENAME, &o.to, "The format: onnx, or int8 (weights)", "FORMAT" },
    { "out", 'o', 0, G_OPTION_ARG_FILENAME, &o.out,
      "The file (default: model.onnx or weights-int8.safetensors beside the weights)", "FILE" },
    { "half", 0, 0, G_OPTION_ARG_NONE, &o.half, "Weights and arithmetic in float16", NULL },
    { "keep-batchnorm", 0, 0, G_OPTION_ARG_NONE, &o.keep_batch_norm,
      "Batch norm as operators of its own, not within the convolutions", NULL },
    { "normalise", 0, 0, G_OPTION_ARG_NONE, &o.normalise,
      "The input's normalisation inside of the file", NULL },
    { "data", 'd', 0, G_OPTION_ARG_FILENAME, &o.data,
      "With --to int8: DATA to measure both weights on, and what int8 costs", "DATA" },
    { "force", 'f', 0, G_OPTION_ARG_NONE, &o.force, "Write over what is there", NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &o.json, "One JSON object on one line", NULL },
    { NULL },
  };

  if (!dyno_cli_parse (argc, argv, "--run DIR --to onnx",
                       "Writes a trained model for other programs, or with int8 weights.", entries,
                       NULL, NULL, 0, &code)
      || !check (&o, argv[0], &code))
    return code;
  dyno_signals_catch ();
  return save (&o, &error) ? DYNO_EXIT_OK : dyno_cli_fail (g_steal_pointer (&error), o.json);
}
