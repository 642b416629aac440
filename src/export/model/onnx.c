/* SPDX-License-Identifier: MIT */
/* Writes ONNX files from the graph of a model.
 *
 * Each node of the model's graph becomes one or several nodes of the file, in its order.  Weights
 * are stored in the shapes of PyTorch, or of the ONNX file that the model was read from.  A batch
 * norm is merged into the convolution before it, unless it is to be kept.
 *
 * To add an op, add a row with its name to `emitters`, and its function to onnx-private.h. */
#include "onnx-private.h"
#include "op.h"
#include "wire.h"
#include <string.h>

#define OPSET      17
#define IR_VERSION 8

/* Ops with an activation as their trait are not listed. */
static const struct {
  const char *op;
  DynoOnnxEmit emit;
} emitters[] = {
  { "conv2d", dyno_onnx_emit_conv },
  { "depthwise", dyno_onnx_emit_conv },
  { "conv_transpose", dyno_onnx_emit_conv_transpose },
  { "linear", dyno_onnx_emit_linear },
  { "batch_norm", dyno_onnx_emit_batch_norm },
  { "layer_norm", dyno_onnx_emit_layer_norm },
  { "group_norm", dyno_onnx_emit_group_norm },
  { "add", dyno_onnx_emit_add },
  { "multiply", dyno_onnx_emit_multiply },
  { "softmax", dyno_onnx_emit_softmax },
  { "affine", dyno_onnx_emit_affine },
  { "scale", dyno_onnx_emit_scale },
  { "scale_channels", dyno_onnx_emit_scale_channels },
  { "add_channels", dyno_onnx_emit_add_channels },
  { "concat", dyno_onnx_emit_concat },
  { "channels", dyno_onnx_emit_channels },
  { "channel_shuffle", dyno_onnx_emit_channel_shuffle },
  { "permute", dyno_onnx_emit_permute },
  { "pad", dyno_onnx_emit_pad },
  { "resize", dyno_onnx_emit_resize },
  { "max_pool", dyno_onnx_emit_max_pool },
  { "avg_pool", dyno_onnx_emit_avg_pool },
  { "global_avg_pool", dyno_onnx_emit_global_avg_pool },
  { "rows", dyno_onnx_emit_rows },
  { "lstm", dyno_onnx_emit_recurrent },
  { "gru", dyno_onnx_emit_recurrent },
  { "last_step", dyno_onnx_emit_last_step },
  { "mean_step", dyno_onnx_emit_mean_step },
  { "tokens", dyno_onnx_emit_tokens },
  { "attention", dyno_onnx_emit_attention },
  { "first_step", dyno_onnx_emit_first_step },
  { "contract", dyno_onnx_emit_contract },
  { "gather", dyno_onnx_emit_gather },
};

/* --- input ------------------------------------------------------------------------------------ */

/* y = x factor + term for each channel: the normalisation of prepare, by the metadata. */
static const char *
emit_normalisation (DynoOnnxWriter *o, guint32 channels, guint n_dims, const char *input)
{
  const DynoNormalisation *n = &o->model->info->input.normalisation;
  g_autofree float *factors = g_new (float, channels), *terms = g_new (float, channels);
  const gint64 dims[] = { 1, channels, 1, 1 };
  const char *factor = dyno_onnx_name (o, "factor"), *term = dyno_onnx_name (o, "term"),
             *scaled = dyno_onnx_name (o, "scaled"), *output = dyno_onnx_name (o, "normalised");

  for (guint32 c = 0; c < channels; c++)
    {
      guint k = MIN (c, G_N_ELEMENTS (n->mean) - 1);
      double deviation = n->standardise ? (double) n->deviation[k] : 1,
             mean = n->standardise ? (double) n->mean[k] : 0;
      factors[c] = (float) ((n->scale_255 ? 1.0 / 255 : 1) / deviation);
      terms[c] = (float) (-mean / deviation);
    }
  dyno_onnx_floats (o, factor, dims, n_dims, factors, channels);
  dyno_onnx_floats (o, term, dims, n_dims, terms, channels);
  dyno_onnx_plain (o, "Mul", scaled, input, factor, scaled);
  dyno_onnx_plain (o, "Add", output, scaled, term, output);
  return output;
}

/* Converts the file's input to the network's, in the type of the computation: (N, C, H, W); of a
 * sequence (N, C, T); of a vector (N, C). */
static void
emit_input (DynoOnnxWriter *o, const DynoNode *node)
{
  static const gint64 swap[] = { 0, 2, 1 };
  static const DynoOnnxForm forms[] = { DYNO_ONNX_ROW, DYNO_ONNX_SEQUENCE, DYNO_ONNX_IMAGE };
  const DynoBatchField *field = &o->model->info->input;
  const DynoTensor *x = node->outputs[0];
  const char *at = "input";

  o->stem = at;
  if (o->params->half)
    {
      const char *half = dyno_onnx_name (o, "half");
      dyno_onnx_cast (o, at, DYNO_ONNX_FLOAT16, half);
      at = half;
    }
  if (field->n_axes == 2)
    {
      const char *turned = dyno_onnx_name (o, "turned");
      dyno_onnx_transpose (o, at, swap, 3, turned);
      at = turned;
    }
  if (o->params->normalise)
    at = emit_normalisation (o, x->c, field->n_axes + 1, at);
  dyno_onnx_set_value (o, x, at, forms[field->n_axes - 1]);
}

/* --- the graph -------------------------------------------------------------------------------- */

/* The only node that reads a tensor; NULL: no node reads it, or several do. */
static DynoNode *
only_reader (GPtrArray *nodes, const DynoTensor *tensor)
{
  DynoNode *reader = NULL;

  for (guint i = 0; i < nodes->len; i++)
    {
      DynoNode *node = g_ptr_array_index (nodes, i);
      for (guint k = 0; k < node->n_inputs; k++)
        if (node->inputs[k] == tensor)
          {
            if (reader)
              return NULL;
            reader = node;
          }
    }
  return reader;
}

static void
find_folded (DynoOnnxWriter *o, GPtrArray *nodes)
{
  for (guint i = 0; i < nodes->len && !o->params->keep_batch_norm; i++)
    {
      DynoNode *node = g_ptr_array_index (nodes, i), *norm;

      if (!g_str_equal (node->op->name, "conv2d") && !g_str_equal (node->op->name, "depthwise"))
        continue;
      norm = node->outputs[0] == o->model->logits ? NULL : only_reader (nodes, node->outputs[0]);
      if (norm && g_str_equal (norm->op->name, "batch_norm"))
        g_hash_table_insert (o->folded, node, norm);
    }
}

static gboolean
emit_node (DynoOnnxWriter *o, const DynoNode *node)
{
  const DynoTensor *x = node->n_inputs > 0 ? node->inputs[0] : NULL;

  if (g_str_equal (node->op->name, "prepare"))
    {
      emit_input (o, node);
      return TRUE;
    }
  /* The output of the file is the logits: a program computes the largest, or probabilities,
     itself. */
  if (g_hash_table_contains (o->inside, node) || x == o->model->logits)
    return TRUE;
  if (x && x->producer && g_hash_table_lookup (o->folded, x->producer) == node)
    {
      DynoOnnxForm form = dyno_onnx_form (o, x);
      return dyno_onnx_set_value (o, node->outputs[0], dyno_onnx_value (o, x, form), form);
    }
  o->stem = dyno_onnx_unique (o, node->name);
  if (node->op->traits.activation != DYNO_ACTIVATION_NONE)
    return dyno_onnx_emit_activation (o, node);
  for (guint i = 0; i < G_N_ELEMENTS (emitters); i++)
    if (g_str_equal (emitters[i].op, node->op->name))
      return emitters[i].emit (o, node);
  return dyno_onnx_refuse (o, "%s: %s cannot be written to an ONNX file yet", node->name,
                           node->op->name);
}

/* A value of the graph: its name, its type, and its shape after the batch axis. */
static void
add_value (GByteArray *graph, guint field, const char *name, guint element, const guint32 *shape,
           guint n)
{
  g_autoptr (GByteArray) value = g_byte_array_new (), type = g_byte_array_new (),
                         tensor = g_byte_array_new (), dims = g_byte_array_new (),
                         dim = g_byte_array_new ();

  dyno_proto_string (dim, DYNO_ONNX_DIM_NAME, "batch");
  dyno_proto_message (dims, DYNO_ONNX_SHAPE_DIM, dim);
  for (guint i = 0; i < n; i++)
    {
      dyno_proto_uint (dim, DYNO_ONNX_DIM_VALUE, shape[i]);
      dyno_proto_message (dims, DYNO_ONNX_SHAPE_DIM, dim);
    }
  dyno_proto_uint (tensor, DYNO_ONNX_TENSOR_TYPE_ELEMENT, element);
  dyno_proto_message (tensor, DYNO_ONNX_TENSOR_TYPE_SHAPE, dims);
  dyno_proto_message (type, DYNO_ONNX_TYPE_TENSOR, tensor);
  dyno_proto_string (value, DYNO_ONNX_VALUE_NAME, name);
  dyno_proto_message (value, DYNO_ONNX_VALUE_TYPE, type);
  dyno_proto_message (graph, field, value);
}

/* (N, C), or (N, C, H, W) of a model of pixels. */
static DynoOnnxForm
logits_form (const DynoOnnxWriter *o)
{
  return dyno_onnx_is_pixel (o->model->logits) ? DYNO_ONNX_ROW : DYNO_ONNX_IMAGE;
}

static void
add_values (DynoOnnxWriter *o, GByteArray *graph)
{
  const DynoBatchField *field = &o->model->info->input;
  const guint32 *s = field->shape;
  const DynoTensor *logits = o->model->logits;
  const guint32 image[] = { s[2], s[0], s[1] },
                outputs[] = { o->model->info->n_outputs, logits->h, logits->w };

  add_value (graph, DYNO_ONNX_GRAPH_INPUT, "input", DYNO_ONNX_FLOAT, field->n_axes == 3 ? image : s,
             field->n_axes);
  if (dyno_onnx_has_lengths (o))
    add_value (graph, DYNO_ONNX_GRAPH_INPUT, "length", DYNO_ONNX_INT32, NULL, 0);
  add_value (graph, DYNO_ONNX_GRAPH_OUTPUT, "output", DYNO_ONNX_FLOAT, outputs,
             logits_form (o) == DYNO_ONNX_IMAGE ? 3 : 1);
}

/* Reserves the names of the file's values, and the names of all parameters, which keep them. */
static void
take_names (DynoOnnxWriter *o)
{
  static const char *const own[] = { "input", "output" };
  GPtrArray *parameters = dyno_graph_get_parameters (o->model->graph);

  for (guint i = 0; i < parameters->len; i++)
    g_hash_table_add (o->names,
                      g_strdup (((const DynoParameter *) g_ptr_array_index (parameters, i))->name));
  for (guint i = 0; i < G_N_ELEMENTS (own); i++)
    if (!g_hash_table_add (o->names, g_strdup (own[i])))
      dyno_onnx_refuse (o, "A parameter of the model has the name of the file's %s, “%s”", own[i],
                        own[i]);
  /* Only models of Dyno's own read lengths, so no parameter of a file is checked for this name. */
  g_hash_table_add (o->names, g_strdup ("length"));
}

static gboolean
emit_graph (DynoOnnxWriter *o)
{
  GPtrArray *nodes = dyno_graph_get_nodes (o->model->graph);

  take_names (o);
  find_folded (o, nodes);
  dyno_onnx_find_inside (o, nodes);
  for (guint i = 0; i < nodes->len && !o->error; i++)
    emit_node (o, g_ptr_array_index (nodes, i));
  if (o->error)
    return FALSE;
  /* The last value becomes the output, under its name and in its type. */
  const char *logits = dyno_onnx_value (o, o->model->logits, logits_form (o));
  dyno_onnx_begin (o, o->params->half ? "Cast" : "Identity", "output");
  dyno_onnx_input (o, logits);
  if (o->params->half)
    dyno_onnx_int (o, "to", DYNO_ONNX_FLOAT);
  dyno_onnx_end (o, "output");
  return !o->error;
}

static GByteArray *
assemble (DynoOnnxWriter *o)
{
  GByteArray *file = g_byte_array_new ();
  g_autoptr (GByteArray) graph = g_byte_array_new (), inner = g_byte_array_new ();
  g_autoptr (GPtrArray) pairs = g_ptr_array_new_with_free_func (g_free);

  g_byte_array_append (graph, o->nodes->data, o->nodes->len);
  g_byte_array_set_size (o->nodes, 0);
  dyno_proto_string (graph, DYNO_ONNX_GRAPH_NAME, o->model->info->model);
  g_byte_array_append (graph, o->initializers->data, o->initializers->len);
  g_byte_array_set_size (o->initializers, 0);
  add_values (o, graph);
  dyno_proto_uint (file, DYNO_ONNX_MODEL_IR, IR_VERSION);
  dyno_proto_string (file, DYNO_ONNX_MODEL_PRODUCER, "Dyno");
  dyno_proto_string (file, DYNO_ONNX_MODEL_VERSION, DYNO_VERSION);
  dyno_proto_message (file, DYNO_ONNX_MODEL_GRAPH, graph);
  dyno_proto_string (inner, DYNO_ONNX_OPSET_DOMAIN, "");
  dyno_proto_uint (inner, DYNO_ONNX_OPSET_VERSION, OPSET);
  dyno_proto_message (file, DYNO_ONNX_MODEL_OPSET, inner);
  dyno_weights_info_append (o->model->info, pairs);
  for (guint i = 0; i + 1 < pairs->len; i += 2)
    {
      dyno_proto_string (inner, DYNO_ONNX_PAIR_KEY, g_ptr_array_index (pairs, i));
      dyno_proto_string (inner, DYNO_ONNX_PAIR_VALUE, g_ptr_array_index (pairs, i + 1));
      dyno_proto_message (file, DYNO_ONNX_MODEL_METADATA, inner);
    }
  return file;
}

GByteArray *
dyno_onnx_write (const DynoSavedModel *model, const DynoOnnxParams *params, GError **error)
{
  g_autoptr (GByteArray) nodes = g_byte_array_new (), initializers = g_byte_array_new (),
                         node = g_byte_array_new ();
  g_autoptr (GHashTable) names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
                         values = dyno_onnx_values_new (), folded = g_hash_table_new (NULL, NULL),
                         inside = g_hash_table_new (NULL, NULL),
                         lengths = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  DynoOnnxWriter o = { .model = model,
                       .params = params,
                       .nodes = nodes,
                       .initializers = initializers,
                       .node = node,
                       .names = names,
                       .values = values,
                       .folded = folded,
                       .inside = inside,
                       .lengths = lengths };

  if (emit_graph (&o))
    return assemble (&o);
  g_propagate_error (error, o.error);
  return NULL;
}
