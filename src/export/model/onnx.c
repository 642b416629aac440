/* SPDX-License-Identifier: MIT */
/* Writes ONNX files from the graph of a model.
 *
 * Dyno's layout is NHWC, ONNX's NCHW, and weights are stored in PyTorch's layout: so only a
 * sequence is transposed (onnx-sequences.c).  A batch norm is merged into the convolution before it
 * where no other node reads the convolution's output: w' = w s, b' = beta - mean s, s = gamma /
 * sqrt (variance + eps), in double.
 *
 * To add an op, add a row with its name to `emitters`, and a function that appends nodes and gives
 * the name of its output. */
#include "onnx-private.h"
#include "op.h"
#include "wire.h"
#include <math.h>
#include <string.h>

#define OPSET      17
#define IR_VERSION 8

/* Fields of onnx.proto. */
/* --- ops -------------------------------------------------------------------------------------- */

/* For a batch norm: the factor of each channel and the term that is added after it. */
static gboolean
get_affine (DynoOnnxWriter *o, const DynoNode *norm, guint32 channels, double *factor, double *term)
{
  static const char *const kinds[] = { "weight", "bias", "running_mean", "running_var" };
  const float *values[G_N_ELEMENTS (kinds)];
  const DynoParameter *parameter;
  double eps = dyno_onnx_number (o, norm, "eps");

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      values[i] = dyno_saved_model_find (o->model, norm->name, kinds[i], &parameter);
      if (!values[i] || dyno_parameter_count (parameter) != channels)
        return dyno_onnx_refuse (o, "%s: batch norm without its %s", norm->name, kinds[i]);
    }
  for (guint32 c = 0; c < channels; c++)
    {
      factor[c] = (double) values[0][c] / sqrt ((double) values[3][c] + eps);
      term[c] = (double) values[1][c] - (double) values[2][c] * factor[c];
    }
  return TRUE;
}

/* Weight and bias of a convolution, with the batch norm after it merged in. */
static void
add_folded (DynoOnnxWriter *o, const DynoNode *node, const DynoNode *norm,
            const DynoParameter *parameter, const float *weight, const float *bias)
{
  gsize count = (gsize) dyno_parameter_count (parameter), row = count / parameter->dims[0];
  guint32 n = parameter->dims[0];
  g_autofree double *factor = g_new (double, n), *term = g_new (double, n);
  g_autofree float *folded = g_new (float, count), *offset = g_new (float, n);
  g_autofree char *bias_name = g_strconcat (node->name, ".bias", NULL);
  gint64 dims = n;

  if (!get_affine (o, norm, n, factor, term))
    return;
  for (guint32 c = 0; c < n; c++)
    {
      for (gsize i = 0; i < row; i++)
        folded[c * row + i] = (float) ((double) weight[c * row + i] * factor[c]);
      offset[c] = (float) (term[c] + (bias ? (double) bias[c] * factor[c] : 0));
    }
  dyno_onnx_parameter (o, parameter, folded);
  dyno_onnx_floats (o, bias_name, &dims, 1, offset, n);
}

static gboolean
emit_conv (DynoOnnxWriter *o, const DynoNode *node, const char *output)
{
  gboolean sequence = g_hash_table_contains (o->sequences, node->inputs[0]);
  guint first = sequence ? 1 : 0, n = 2 - first; /* of height and width, or of the width only */
  const DynoNode *norm = g_hash_table_lookup (o->folded, node);
  const DynoParameter *parameter, *bias_parameter;
  const float *weight = dyno_saved_model_find (o->model, node->name, "weight", &parameter),
              *bias = dyno_saved_model_find (o->model, node->name, "bias", &bias_parameter);
  gint64 kernel[] = { dyno_onnx_attribute (o, node, "kernel_h"),
                      dyno_onnx_attribute (o, node, "kernel_w") },
         stride[] = { dyno_onnx_attribute (o, node, "stride_h"),
                      dyno_onnx_attribute (o, node, "stride_w") },
         dilation[] = { MAX (1, dyno_onnx_attribute (o, node, "dilation_h")),
                        MAX (1, dyno_onnx_attribute (o, node, "dilation_w")) };
  gint64 pad_h = dyno_onnx_attribute (o, node, "pad_h"),
         pad_w = dyno_onnx_attribute (o, node, "pad_w"), pads[] = { pad_h, pad_w, pad_h, pad_w },
         line_pads[] = { pad_w, pad_w };
  g_autofree char *bias_name = g_strconcat (node->name, ".bias", NULL);

  if (!weight)
    return dyno_onnx_refuse (o, "%s: a convolution without its weight", node->name);
  if (parameter->n_dims != n + 2)
    return dyno_onnx_refuse (o, "%s: a convolution over %s has no counterpart here", node->name,
                             sequence ? "a sequence as over an image" : "an image as over time");
  if (norm)
    add_folded (o, node, norm, parameter, weight, bias);
  else
    {
      dyno_onnx_parameter (o, parameter, weight);
      if (bias)
        dyno_onnx_parameter (o, bias_parameter, bias);
    }
  dyno_onnx_begin (o, "Conv", node->name);
  dyno_onnx_input (o, dyno_onnx_value (o, node->inputs[0]));
  dyno_onnx_input (o, parameter->name);
  if (norm || bias)
    dyno_onnx_input (o, bias_name);
  dyno_onnx_ints (o, "kernel_shape", kernel + first, n);
  dyno_onnx_ints (o, "strides", stride + first, n);
  dyno_onnx_ints (o, "pads", sequence ? line_pads : pads, 2 * n);
  dyno_onnx_int (o, "group", MAX (1, dyno_onnx_attribute (o, node, "groups")));
  if (dilation[0] > 1 || dilation[1] > 1)
    dyno_onnx_ints (o, "dilations", dilation + first, n);
  dyno_onnx_end (o, output);
  return TRUE;
}

/* Follows PyTorch's flatten, which for one pixel changes only the shape. */
static gboolean
emit_linear (DynoOnnxWriter *o, const DynoNode *node, const char *output)
{
  const DynoTensor *x = node->inputs[0], *y = node->outputs[0];
  const DynoParameter *parameter, *bias_parameter;
  const float *weight = dyno_saved_model_find (o->model, node->name, "weight", &parameter),
              *bias = dyno_saved_model_find (o->model, node->name, "bias", &bias_parameter);
  g_autofree char *flat = g_strconcat (node->name, "/flat", NULL);

  if (!weight || (!bias && dyno_onnx_attribute (o, node, "has_bias")))
    return dyno_onnx_refuse (o, "%s: a linear layer without its weight or bias", node->name);
  if (y->h != 1 || y->w != 1 || (guint64) x->h * x->w * x->c != parameter->dims[1])
    return dyno_onnx_refuse (o, "%s: a linear layer over each pixel has no counterpart here",
                             node->name);
  dyno_onnx_parameter (o, parameter, weight);
  if (bias)
    dyno_onnx_parameter (o, bias_parameter, bias);
  dyno_onnx_begin (o, "Flatten", flat);
  dyno_onnx_input (o, dyno_onnx_value (o, x));
  dyno_onnx_int (o, "axis", 1);
  dyno_onnx_end (o, flat);
  dyno_onnx_begin (o, "Gemm", node->name);
  dyno_onnx_input (o, flat);
  dyno_onnx_input (o, parameter->name);
  if (bias)
    dyno_onnx_input (o, bias_parameter->name);
  dyno_onnx_int (o, "transB", 1);
  dyno_onnx_end (o, output);
  return TRUE;
}

static gboolean
emit_batch_norm (DynoOnnxWriter *o, const DynoNode *node, const char *output)
{
  static const char *const kinds[] = { "weight", "bias", "running_mean", "running_var" };
  const DynoParameter *parameter;

  dyno_onnx_begin (o, "BatchNormalization", node->name);
  dyno_onnx_input (o, dyno_onnx_value (o, node->inputs[0]));
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      const float *values = dyno_saved_model_find (o->model, node->name, kinds[i], &parameter);
      if (!values)
        return dyno_onnx_refuse (o, "%s: batch norm without its %s", node->name, kinds[i]);
      dyno_onnx_parameter (o, parameter, values);
      dyno_onnx_input (o, parameter->name);
    }
  dyno_onnx_float (o, "epsilon", (float) dyno_onnx_number (o, node, "eps"));
  dyno_onnx_end (o, output);
  return TRUE;
}

static gboolean
emit_add (DynoOnnxWriter *o, const DynoNode *node, const char *output)
{
  dyno_onnx_plain (o, "Add", node->name, dyno_onnx_value (o, node->inputs[0]),
                   dyno_onnx_value (o, node->inputs[1]), output);
  return TRUE;
}

/* (N, C, H, W) times (N, C, 1, 1) */
static gboolean
emit_scale (DynoOnnxWriter *o, const DynoNode *node, const char *output)
{
  dyno_onnx_plain (o, "Mul", node->name, dyno_onnx_value (o, node->inputs[0]),
                   dyno_onnx_value (o, node->inputs[1]), output);
  return TRUE;
}

static gboolean
emit_max_pool (DynoOnnxWriter *o, const DynoNode *node, const char *output)
{
  gint64 kernel = dyno_onnx_attribute (o, node, "window.kernel"),
         stride = dyno_onnx_attribute (o, node, "window.stride"),
         pad = dyno_onnx_attribute (o, node, "window.pad");
  gboolean flat = dyno_onnx_attribute (o, node, "window.flat") != 0,
           sequence = g_hash_table_contains (o->sequences, node->inputs[0]);
  guint n = sequence ? 1 : 2;
  const gint64 kernels[] = { kernel, kernel }, strides[] = { stride, stride },
               pads[] = { pad, pad, pad, pad };

  if (flat != sequence)
    return dyno_onnx_refuse (o, "%s: a pool over time of an image has no counterpart here",
                             node->name);
  dyno_onnx_begin (o, "MaxPool", node->name);
  dyno_onnx_input (o, dyno_onnx_value (o, node->inputs[0]));
  dyno_onnx_ints (o, "kernel_shape", kernels, n);
  dyno_onnx_ints (o, "strides", strides, n);
  dyno_onnx_ints (o, "pads", pads, 2 * n);
  dyno_onnx_end (o, output);
  return TRUE;
}

static gboolean
emit_global_avg_pool (DynoOnnxWriter *o, const DynoNode *node, const char *output)
{
  dyno_onnx_plain (o, "GlobalAveragePool", node->name, dyno_onnx_value (o, node->inputs[0]), NULL,
                   output);
  return TRUE;
}

static gboolean
emit_activation (DynoOnnxWriter *o, const DynoNode *node, const char *output)
{
  const char *x = dyno_onnx_value (o, node->inputs[0]);
  g_autofree char *low = g_strconcat (node->name, "/low", NULL),
                  *high = g_strconcat (node->name, "/high", NULL),
                  *gate = g_strconcat (node->name, "/gate", NULL);
  const float zero = 0, six = 6;

  switch (node->op->traits.activation)
    {
    case DYNO_ACTIVATION_RELU:
      dyno_onnx_plain (o, "Relu", node->name, x, NULL, output);
      return TRUE;
    case DYNO_ACTIVATION_RELU6:
      dyno_onnx_floats (o, low, NULL, 0, &zero, 1);
      dyno_onnx_floats (o, high, NULL, 0, &six, 1);
      dyno_onnx_begin (o, "Clip", node->name);
      dyno_onnx_input (o, x);
      dyno_onnx_input (o, low);
      dyno_onnx_input (o, high);
      dyno_onnx_end (o, output);
      return TRUE;
    case DYNO_ACTIVATION_SIGMOID:
      dyno_onnx_plain (o, "Sigmoid", node->name, x, NULL, output);
      return TRUE;
    case DYNO_ACTIVATION_SILU:
      dyno_onnx_plain (o, "Sigmoid", gate, x, NULL, gate);
      dyno_onnx_plain (o, "Mul", node->name, x, gate, output);
      return TRUE;
    case DYNO_ACTIVATION_NONE:
    default:
      return dyno_onnx_refuse (o, "%s: %s has no counterpart here", node->name, node->op->name);
    }
}

static const struct {
  const char *op;
  gboolean (*emit) (DynoOnnxWriter *o, const DynoNode *node, const char *output);
} emitters[] = {
  { "conv2d", emit_conv },
  { "depthwise", emit_conv },
  { "linear", emit_linear },
  { "batch_norm", emit_batch_norm },
  { "add", emit_add },
  { "scale", emit_scale },
  { "max_pool", emit_max_pool },
  { "global_avg_pool", emit_global_avg_pool },
  { "rows", dyno_onnx_emit_rows },
  { "lstm", dyno_onnx_emit_lstm },
  { "last_step", dyno_onnx_emit_last_step },
  { "mean_step", dyno_onnx_emit_mean_step },
};

/* --- input ------------------------------------------------------------------------------------ */

/* y = x factor + term for each channel: the normalisation of prepare, by the metadata. */
static void
emit_normalisation (DynoOnnxWriter *o, guint32 channels, guint n_dims, const char *input,
                    const char *output)
{
  const DynoNormalisation *n = &o->model->info->input.normalisation;
  g_autofree float *factor = g_new (float, channels), *term = g_new (float, channels);
  const gint64 dims[] = { 1, channels, 1, 1 };

  for (guint32 c = 0; c < channels; c++)
    {
      guint k = MIN (c, G_N_ELEMENTS (n->mean) - 1);
      double deviation = n->standardise ? (double) n->deviation[k] : 1,
             mean = n->standardise ? (double) n->mean[k] : 0;
      factor[c] = (float) ((n->scale_255 ? 1.0 / 255 : 1) / deviation);
      term[c] = (float) (-mean / deviation);
    }
  dyno_onnx_floats (o, "input/factor", dims, n_dims, factor, channels);
  dyno_onnx_floats (o, "input/term", dims, n_dims, term, channels);
  dyno_onnx_plain (o, "Mul", "input/scaled", input, "input/factor", "input/scaled");
  dyno_onnx_plain (o, "Add", "input/normalised", "input/scaled", "input/term", output);
}

/* Appends a node that changes axes at the input, by attribute or by a constant; returns its
 * output. */
static const char *
emit_axes (DynoOnnxWriter *o, const char *op, const char *input, const gint64 *axes, gint64 n,
           const char *output)
{
  if (g_str_equal (op, "Transpose"))
    {
      dyno_onnx_begin (o, op, output);
      dyno_onnx_input (o, input);
      dyno_onnx_ints (o, "perm", axes, (guint) n);
      dyno_onnx_end (o, output);
      return output;
    }
  dyno_onnx_indices (o, "input/axes", &n, 1, axes, (gsize) n);
  dyno_onnx_plain (o, op, output, input, "input/axes", output);
  return output;
}

/* TRUE where a model over sequences takes the input unchanged: there is no node `rows`. */
static gboolean
is_sequence (DynoOnnxWriter *o, const DynoTensor *x)
{
  const DynoModel *model = dyno_model_find (o->model->info->model, NULL);

  return model && model->reads_lengths && x->h == 1;
}

/* From the file's input to the network's, in the type of the computation: (N, C, H, W), or (N, C,
 * T). */
static void
emit_input (DynoOnnxWriter *o, const DynoNode *node)
{
  const DynoBatchField *field = &o->model->info->input;
  const DynoTensor *x = node->outputs[0];
  const gint64 swap[] = { 0, 2, 1 }, places[] = { 2, 3 };
  gboolean sequence = is_sequence (o, x);
  const char *at = "input";

  if (o->params->half)
    dyno_onnx_cast (o, at, DYNO_ONNX_FLOAT16, "input/half");
  if (o->params->half)
    at = "input/half";
  if (field->n_axes == 2)
    at = emit_axes (o, "Transpose", at, swap, 3, "input/turned");
  if (field->n_axes == 2 && !sequence)
    at = emit_axes (o, "Unsqueeze", at, places, 1, "input/image");
  else if (field->n_axes == 1)
    at = emit_axes (o, "Unsqueeze", at, places, sequence ? 1 : 2, "input/image");
  else if (field->n_axes == 3 && sequence)
    at = emit_axes (o, "Squeeze", at, places, 1, "input/sequence");
  if (o->params->normalise)
    {
      emit_normalisation (o, x->c, sequence ? 3 : 4, at, "input/normalised");
      at = "input/normalised";
    }
  dyno_onnx_set_value (o, x, at);
  if (sequence)
    g_hash_table_add (o->sequences, (gpointer) x);
}

/* --- the graph -------------------------------------------------------------------------------- */

/* The only reader of a tensor; NULL: it has no reader, or several. */
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
  g_autofree char *output = g_strconcat (node->name, "/out", NULL);

  if (g_str_equal (node->op->name, "prepare"))
    {
      emit_input (o, node);
      return TRUE;
    }
  if (g_hash_table_contains (o->inside, node))
    return TRUE;
  if (x && x->producer && g_hash_table_lookup (o->folded, x->producer) == node)
    {
      dyno_onnx_set_value (o, node->outputs[0], dyno_onnx_value (o, x));
      if (g_hash_table_contains (o->sequences, x))
        g_hash_table_add (o->sequences, node->outputs[0]);
      return TRUE;
    }
  dyno_onnx_set_value (o, node->outputs[0], output);
  if ((x && g_hash_table_contains (o->sequences, x)) || g_str_equal (node->op->name, "rows")
      || g_str_equal (node->op->name, "lstm"))
    g_hash_table_add (o->sequences, node->outputs[0]);
  if (node->op->traits.activation != DYNO_ACTIVATION_NONE)
    return emit_activation (o, node, output);
  for (guint i = 0; i < G_N_ELEMENTS (emitters); i++)
    if (g_str_equal (emitters[i].op, node->op->name))
      return emitters[i].emit (o, node, output);
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

static void
add_values (DynoOnnxWriter *o, GByteArray *graph)
{
  const DynoBatchField *field = &o->model->info->input;
  const guint32 *s = field->shape;
  const guint32 image[] = { s[2], s[0], s[1] };

  add_value (graph, DYNO_ONNX_GRAPH_INPUT, "input", DYNO_ONNX_FLOAT, field->n_axes == 3 ? image : s,
             field->n_axes);
  if (dyno_onnx_has_lengths (o))
    add_value (graph, DYNO_ONNX_GRAPH_INPUT, "length", DYNO_ONNX_INT32, NULL, 0);
  add_value (graph, DYNO_ONNX_GRAPH_OUTPUT, "output", DYNO_ONNX_FLOAT, &o->model->info->n_outputs,
             1);
}

static gboolean
emit_graph (DynoOnnxWriter *o)
{
  GPtrArray *nodes = dyno_graph_get_nodes (o->model->graph);

  find_folded (o, nodes);
  dyno_onnx_find_inside (o, nodes);
  for (guint i = 0; i < nodes->len && !o->error; i++)
    emit_node (o, g_ptr_array_index (nodes, i));
  if (o->error)
    return FALSE;
  /* The last value under the name of the output, in its type. */
  dyno_onnx_begin (o, o->params->half ? "Cast" : "Identity", "output");
  dyno_onnx_input (o, dyno_onnx_value (o, o->model->logits));
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
  g_autoptr (GHashTable) values = g_hash_table_new_full (NULL, NULL, NULL, g_free),
                         folded = g_hash_table_new (NULL, NULL),
                         inside = g_hash_table_new (NULL, NULL),
                         sequences = g_hash_table_new (NULL, NULL),
                         lengths = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  DynoOnnxWriter o = { .model = model,
                       .params = params,
                       .nodes = nodes,
                       .initializers = initializers,
                       .node = node,
                       .values = values,
                       .folded = folded,
                       .inside = inside,
                       .sequences = sequences,
                       .lengths = lengths };

  if (emit_graph (&o))
    return assemble (&o);
  g_propagate_error (error, o.error);
  return NULL;
}
