/* SPDX-License-Identifier: MIT */
/* dynoctl model: lists the models, or the layers of one with shapes, parameters, FLOPs and memory.
 * Needs no device. */
#include "cli.h"
#include "amount.h"
#include "network.h"
#include "output.h"
#include "summary.h"
#include <stdio.h>

#define DEFAULT_SIDE     224
#define DEFAULT_STEPS    256 /* steps of a sequence */
#define DEFAULT_FEATURES 64
#define DEFAULT_CLASSES  1000
#define DEFAULT_PIXELS   21 /* classes of masks, as in Pascal VOC */
#define UNSET            (-1)

typedef struct {
  char *size;
  int batch, classes;
  double width, layer_decay;
  gboolean amp, as_json;
} Options;

typedef struct {
  guint64 parameters, states, flops, output_bytes;
} Totals;

static void
list_models (gboolean as_json)
{
  g_autoptr (DynoTable) table = dyno_table_new ("model", "name", "for", NULL);

  for (const DynoModel *const *model = dyno_model_list (); *model; model++)
    {
      DynoJson json;

      if (!as_json)
        {
          dyno_table_add (table, g_strdup ((*model)->name), g_strdup ((*model)->title),
                          g_strdup ((*model)->summary), NULL);
          continue;
        }
      dyno_json_init (&json, 0);
      dyno_json_begin_object (&json, NULL);
      dyno_json_string (&json, "model", (*model)->name);
      dyno_json_string (&json, "title", (*model)->title);
      dyno_json_string (&json, "summary", (*model)->summary);
      dyno_json_uint (&json, "min_size", (*model)->min_size);
      dyno_json_bool (&json, "of_pixels", (*model)->of_pixels);
      dyno_json_end_object (&json);
      dyno_out_json (&json);
      dyno_json_clear (&json);
    }
  if (!as_json)
    dyno_table_print (table);
}

static Totals
add_up (const GArray *layers)
{
  Totals totals = { 0 };

  for (guint i = 0; i < layers->len; i++)
    {
      const DynoLayer *layer = &g_array_index (layers, DynoLayer, i);
      totals.parameters += layer->parameters;
      totals.states += layer->states;
      totals.flops += layer->flops;
      totals.output_bytes += layer->output_bytes;
    }
  return totals;
}

static void
print_json (const DynoModel *model, const DynoNetworkParams *params, const GArray *layers,
            const GPtrArray *notes)
{
  const Totals totals = add_up (layers);
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "model", model->name);
  dyno_json_string (&json, "title", model->title);
  dyno_json_uint (&json, "batch", params->batch);
  dyno_json_uint (&json, "outputs", params->n_outputs);
  dyno_json_uint (&json, "parameters", totals.parameters);
  dyno_json_uint (&json, "states", totals.states);
  dyno_json_uint (&json, "flops", totals.flops);
  dyno_json_uint (&json, "activation_bytes", totals.output_bytes);
  dyno_json_begin_array (&json, "layers");
  for (guint i = 0; i < layers->len; i++)
    {
      const DynoLayer *layer = &g_array_index (layers, DynoLayer, i);

      dyno_json_begin_object (&json, NULL);
      dyno_json_string (&json, "name", layer->name);
      dyno_json_string (&json, "kind", layer->kind);
      dyno_json_begin_array (&json, "shape");
      dyno_json_uint (&json, NULL, layer->n);
      dyno_json_uint (&json, NULL, layer->h);
      dyno_json_uint (&json, NULL, layer->w);
      dyno_json_uint (&json, NULL, layer->c);
      dyno_json_end_array (&json);
      dyno_json_uint (&json, "parameters", layer->parameters);
      dyno_json_uint (&json, "states", layer->states);
      dyno_json_uint (&json, "flops", layer->flops);
      dyno_json_uint (&json, "activation_bytes", layer->output_bytes);
      if (params->layer_decay < 1 && layer->lr_factor > 0)
        dyno_json_double (&json, "lr_factor", layer->lr_factor);
      dyno_json_end_object (&json);
    }
  dyno_json_end_array (&json);
  dyno_json_begin_array (&json, "notes");
  for (guint i = 0; i < notes->len; i++)
    dyno_json_string (&json, NULL, g_ptr_array_index (notes, i));
  dyno_json_end_array (&json);
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

static void
print_text (const DynoModel *model, const DynoNetworkParams *params, const GArray *layers,
            const GPtrArray *notes)
{
  gboolean decays = params->layer_decay < 1;
  g_autoptr (DynoTable) table = dyno_table_new ("layer", "kind", "output", "parameters", "FLOP",
                                                "memory", decays ? "lr" : NULL, NULL);
  const Totals totals = add_up (layers);
  g_autofree char *parameters = dyno_amount_count ((double) totals.parameters, " "),
                  *flops = dyno_amount_count ((double) totals.flops, " "),
                  *bytes = dyno_amount_bytes (totals.output_bytes, " ");

  for (guint i = 0; i < layers->len; i++)
    {
      const DynoLayer *layer = &g_array_index (layers, DynoLayer, i);
      dyno_table_add (table, g_strdup (layer->name), g_strdup (layer->kind),
                      g_strdup_printf ("%ux%ux%u", layer->h, layer->w, layer->c),
                      layer->parameters ? g_strdup_printf ("%" G_GUINT64_FORMAT, layer->parameters)
                                        : g_strdup (""),
                      dyno_amount_count ((double) layer->flops, " "),
                      dyno_amount_bytes (layer->output_bytes, " "),
                      !decays                ? NULL
                      : layer->lr_factor > 0 ? g_strdup_printf ("x %.4g", layer->lr_factor)
                                             : g_strdup (""),
                      NULL);
    }
  dyno_table_print (table);
  dyno_out_line ("%s", "");
  dyno_out_line ("%s: %" G_GUINT64_FORMAT " parameters (%s), %s FLOP forward, %s of outputs, "
                 "batch %u, %s",
                 model->title, totals.parameters, parameters, flops, bytes, params->batch,
                 params->precision.name);
  for (guint i = 0; i < notes->len; i++)
    dyno_out_line ("%s", (const char *) g_ptr_array_index (notes, i));
}

/* "224", "224x160" (height x width) or "224x160x1". */
static gboolean
read_size (const char *text, guint32 size[3])
{
  char rest;
  int n = sscanf (text, "%5ux%5ux%4u%c", &size[0], &size[1], &size[2], &rest);

  if (n == 1 && !g_ascii_isdigit (text[strlen (text) - 1]))
    return FALSE;
  if (n == 1)
    size[1] = size[0];
  return n >= 1 && n <= 3 && strspn (text, "0123456789x") == strlen (text);
}

static gboolean
describe (const DynoModel *model, const Options *options, const guint32 size[3], GError **error)
{
  guint32 values = model->n_values;
  DynoNetworkParams params = { .model = model->name,
                               .model_width = options->width,
                               .layer_decay = options->layer_decay,
                               .batch = (guint32) options->batch,
                               .n_outputs = values ? values : (guint32) options->classes,
                               .loss = values ? DYNO_LOSS_MSE : DYNO_LOSS_CROSS_ENTROPY,
                               .precision = dyno_precision_of_amp (options->amp),
                               .mode = DYNO_MODE_PREDICT,
                               .no_fusion = TRUE };

  if (options->classes == UNSET)
    params.n_outputs = values                  ? values
                       : model->n_file_outputs ? model->n_file_outputs
                       : model->of_pixels      ? DEFAULT_PIXELS
                                               : DEFAULT_CLASSES;
  params.schema = dyno_schema_image (DYNO_ELEMENT_U8, size[0], size[1], size[2], values);
  g_autoptr (DynoGraph) graph = dyno_network_build (&params, error);
  if (!graph)
    return FALSE;
  g_autoptr (GArray) layers = dyno_network_list_layers (graph);
  if (options->as_json)
    print_json (model, &params, layers, dyno_network_get_notes (graph));
  else
    print_text (model, &params, layers, dyno_network_get_notes (graph));
  return TRUE;
}

int
dyno_verb_model (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) names = NULL;
  g_autofree char *size_text = NULL;
  Options options = { .batch = 1, .classes = UNSET, .width = 1, .layer_decay = 1 };
  guint32 size[3] = { DEFAULT_SIDE, DEFAULT_SIDE, 3 };
  int code;
  const GOptionEntry entries[] = {
    { "size", 's', 0, G_OPTION_ARG_FILENAME, &size_text,
      "Input, height x width x channels (224x224x3, or that of the file), of a model for sequences "
      "steps x features x 1 (256x64x1)",
      "SIZE" },
    { "classes", 0, 0, G_OPTION_ARG_INT, &options.classes,
      "Outputs (1000, of pixels 21, or those of the file)", "N" },
    { "batch", 'b', 0, G_OPTION_ARG_INT, &options.batch, "Batch size (1)", "N" },
    { "width", 0, 0, G_OPTION_ARG_DOUBLE, &options.width, "Scales the channels (1)", "FACTOR" },
    { "layer-decay", 0, 0, G_OPTION_ARG_DOUBLE, &options.layer_decay,
      "Also the factor on each layer's learning rate with this layer_decay", "DECAY" },
    { "amp", 0, 0, G_OPTION_ARG_NONE, &options.amp, "Sizes with mixed precision", NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &options.as_json, "JSON objects on standard output", NULL },
    { NULL },
  };

  if (!dyno_cli_parse (argc, argv, "[MODEL | FILE.onnx]",
                       "Lists the models, or the layers of one: shapes, parameters, work and "
                       "memory of the forward pass.",
                       entries, NULL, &names, 1, &code))
    return code;
  if (!names || !names[0])
    {
      list_models (options.as_json);
      return DYNO_EXIT_OK;
    }
  if (size_text && !read_size (size_text, size))
    return dyno_cli_usage (argv[0], "--size takes 224, 224x160 or 224x160x1, not “%s”", size_text);
  if (options.batch < 1 || (options.classes < 1 && options.classes != UNSET))
    return dyno_cli_usage (argv[0], "--batch and --classes take numbers from 1");
  if (!(options.layer_decay >= 0.01 && options.layer_decay <= 1))
    return dyno_cli_usage (argv[0], "--layer-decay takes a number from 0.01 to 1");
  const DynoModel *model = dyno_model_find (names[0], &error);
  if (model && !size_text && model->height > 0 && model->width > 0)
    {
      size[0] = model->height;
      size[1] = model->width;
    }
  if (model && !size_text && model->channels > 0)
    size[2] = model->channels;
  if (model && (model->reads_lengths || model->sequences) && !size_text)
    {
      size[0] = DEFAULT_STEPS;
      size[1] = DEFAULT_FEATURES;
      size[2] = 1;
    }
  if (!model || !describe (model, &options, size, &error))
    return dyno_cli_fail (g_steal_pointer (&error), options.as_json);
  return DYNO_EXIT_OK;
}
