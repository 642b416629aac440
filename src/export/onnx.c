/* SPDX-License-Identifier: MIT */
/* ONNX files, from the graph of a model.
 *
 * Dyno's layout is NHWC, ONNX's NCHW, and weights are stored as PyTorch has them: so nothing is
 * transposed but a sequence at the input.  A batch norm goes into the convolution before it where
 * nobody else reads that: w' = w s, b' = beta - mean s, s = gamma / sqrt (variance + 1e-5), in
 * double.
 *
 * Adding an op: a row in `emitters` by the op's name, and a function that appends nodes and tells
 * the name of its output. */
#include "onnx.h"
#include "exporter.h"
#include "half.h"
#include "op.h"
#include "protobuf.h"
#include <math.h>
#include <string.h>

#define OPSET      17
#define IR_VERSION 8
#define EPSILON    1e-5
#define MAX_BYTES  G_MAXINT32 /* of a message of Protocol Buffers */

/* Fields of onnx.proto. */
enum {
  MODEL_IR = 1,
  MODEL_PRODUCER = 2,
  MODEL_VERSION = 3,
  MODEL_GRAPH = 7,
  MODEL_OPSET = 8,
  MODEL_METADATA = 14
};
enum { GRAPH_NODE = 1, GRAPH_NAME = 2, GRAPH_INITIALIZER = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12 };
enum { NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_NAME = 3, NODE_OP = 4, NODE_ATTRIBUTE = 5 };
enum {
  ATTRIBUTE_NAME = 1,
  ATTRIBUTE_F = 2,
  ATTRIBUTE_I = 3,
  ATTRIBUTE_INTS = 8,
  ATTRIBUTE_TYPE = 20
};
enum { ATTRIBUTE_IS_FLOAT = 1, ATTRIBUTE_IS_INT = 2, ATTRIBUTE_IS_INTS = 7 };
enum { TENSOR_DIMS = 1, TENSOR_TYPE = 2, TENSOR_NAME = 8, TENSOR_RAW = 9 };
enum { TYPE_FLOAT = 1, TYPE_INT64 = 7, TYPE_FLOAT16 = 10 };

typedef struct {
  const DynoSavedModel *model;
  const DynoOnnxParams *params;
  GByteArray *nodes, *initializers; /* fields of the graph's message */
  GByteArray *node;                 /* the one that is being written */
  GHashTable *values;               /* DynoTensor to the name of its value */
  GHashTable *folded;               /* DynoNode, a convolution, to the batch norm that it does */
  guint64 bytes;                    /* of initializers, as if they were written */
  GError *error;
} Onnx;

static gboolean G_GNUC_PRINTF (2, 3) refuse (Onnx *o, const char *format, ...)
{
  va_list arguments;
  g_autofree char *text = NULL;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  if (!o->error)
    o->error = g_error_new_literal (DYNO_EXPORT_ERROR, DYNO_EXPORT_ERROR_FORMAT, text);
  return FALSE;
}

/* --- pieces ----------------------------------------------------------------------------------- */

static void
begin_node (Onnx *o, const char *op, const char *name)
{
  g_byte_array_set_size (o->node, 0);
  dyno_proto_string (o->node, NODE_NAME, name);
  dyno_proto_string (o->node, NODE_OP, op);
}

static void
add_input (Onnx *o, const char *name)
{
  dyno_proto_string (o->node, NODE_INPUT, name);
}

static void
add_ints (Onnx *o, const char *name, const gint64 *values, guint n)
{
  g_autoptr (GByteArray) attribute = g_byte_array_new ();

  dyno_proto_string (attribute, ATTRIBUTE_NAME, name);
  for (guint i = 0; i < n; i++)
    dyno_proto_uint (attribute, ATTRIBUTE_INTS, (guint64) values[i]);
  dyno_proto_uint (attribute, ATTRIBUTE_TYPE, ATTRIBUTE_IS_INTS);
  dyno_proto_message (o->node, NODE_ATTRIBUTE, attribute);
}

static void
add_int (Onnx *o, const char *name, gint64 value)
{
  g_autoptr (GByteArray) attribute = g_byte_array_new ();

  dyno_proto_string (attribute, ATTRIBUTE_NAME, name);
  dyno_proto_uint (attribute, ATTRIBUTE_I, (guint64) value);
  dyno_proto_uint (attribute, ATTRIBUTE_TYPE, ATTRIBUTE_IS_INT);
  dyno_proto_message (o->node, NODE_ATTRIBUTE, attribute);
}

static void
add_float (Onnx *o, const char *name, float value)
{
  g_autoptr (GByteArray) attribute = g_byte_array_new ();

  dyno_proto_string (attribute, ATTRIBUTE_NAME, name);
  dyno_proto_float (attribute, ATTRIBUTE_F, value);
  dyno_proto_uint (attribute, ATTRIBUTE_TYPE, ATTRIBUTE_IS_FLOAT);
  dyno_proto_message (o->node, NODE_ATTRIBUTE, attribute);
}

static void
end_node (Onnx *o, const char *output)
{
  dyno_proto_string (o->node, NODE_OUTPUT, output);
  dyno_proto_message (o->nodes, GRAPH_NODE, o->node);
}

static void
add_initializer (Onnx *o, const char *name, guint type, const gint64 *dims, guint n_dims,
                 const void *data, gsize size)
{
  g_autoptr (GByteArray) tensor = g_byte_array_new ();

  o->bytes += size + 1024;
  if (o->bytes > MAX_BYTES)
    {
      refuse (o, "The model is too large for an ONNX file: more than 2 GB; --half halves it");
      return;
    }
  for (guint i = 0; i < n_dims; i++)
    dyno_proto_uint (tensor, TENSOR_DIMS, (guint64) dims[i]);
  dyno_proto_uint (tensor, TENSOR_TYPE, type);
  dyno_proto_string (tensor, TENSOR_NAME, name);
  dyno_proto_bytes (tensor, TENSOR_RAW, data, size);
  dyno_proto_message (o->initializers, GRAPH_INITIALIZER, tensor);
}

/* In the type that the graph computes in; files are little-endian, as is every machine that Dyno
 * runs on. */
static void
add_floats (Onnx *o, const char *name, const gint64 *dims, guint n_dims, const float *values,
            gsize count)
{
  g_autofree guint16 *half = NULL;

  if (!o->params->half)
    {
      add_initializer (o, name, TYPE_FLOAT, dims, n_dims, values, 4 * count);
      return;
    }
  half = g_new (guint16, MAX (1, count));
  for (gsize i = 0; i < count; i++)
    half[i] = dyno_half_from_float (values[i]);
  add_initializer (o, name, TYPE_FLOAT16, dims, n_dims, half, 2 * count);
}

static void
add_parameter (Onnx *o, const DynoParameter *parameter, const float *values)
{
  gint64 dims[4];

  for (guint i = 0; i < parameter->n_dims; i++)
    dims[i] = parameter->dims[i];
  add_floats (o, parameter->name, dims, parameter->n_dims, values,
              (gsize) dyno_parameter_count (parameter));
}

static void
set_value (Onnx *o, const DynoTensor *tensor, const char *name)
{
  g_hash_table_insert (o->values, (gpointer) tensor, g_strdup (name));
}

static const char *
value_of (Onnx *o, const DynoTensor *tensor)
{
  const char *name = g_hash_table_lookup (o->values, tensor);

  if (!name)
    refuse (o, "The graph of %s has a value that nothing makes", o->model->info->model);
  return name ? name : "";
}

static guint32
attribute (Onnx *o, const DynoNode *node, const char *name)
{
  double value = 0;

  if (!dyno_node_get_attribute (node, name, &value))
    refuse (o, "%s: %s has no attribute %s", node->name, node->op->name, name);
  return (guint32) value;
}

/* --- ops -------------------------------------------------------------------------------------- */

/* Of a batch norm: the factor of each channel and what is added behind it. */
static gboolean
get_affine (Onnx *o, const char *name, guint32 channels, double *factor, double *term)
{
  static const char *const kinds[] = { "weight", "bias", "running_mean", "running_var" };
  const float *values[G_N_ELEMENTS (kinds)];
  const DynoParameter *parameter;

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      values[i] = dyno_saved_model_find (o->model, name, kinds[i], &parameter);
      if (!values[i] || dyno_parameter_count (parameter) != channels)
        return refuse (o, "%s: batch norm without its %s", name, kinds[i]);
    }
  for (guint32 c = 0; c < channels; c++)
    {
      factor[c] = (double) values[0][c] / sqrt ((double) values[3][c] + EPSILON);
      term[c] = (double) values[1][c] - (double) values[2][c] * factor[c];
    }
  return TRUE;
}

/* Weight and bias of a convolution with the batch norm behind it. */
static void
add_folded (Onnx *o, const DynoNode *node, const DynoNode *norm, const DynoParameter *parameter,
            const float *weight, const float *bias)
{
  gsize count = (gsize) dyno_parameter_count (parameter), row = count / parameter->dims[0];
  guint32 n = parameter->dims[0];
  g_autofree double *factor = g_new (double, n), *term = g_new (double, n);
  g_autofree float *folded = g_new (float, count), *offset = g_new (float, n);
  g_autofree char *bias_name = g_strconcat (node->name, ".bias", NULL);
  gint64 dims = n;

  if (!get_affine (o, norm->name, n, factor, term))
    return;
  for (guint32 c = 0; c < n; c++)
    {
      for (gsize i = 0; i < row; i++)
        folded[c * row + i] = (float) ((double) weight[c * row + i] * factor[c]);
      offset[c] = (float) (term[c] + (bias ? (double) bias[c] * factor[c] : 0));
    }
  add_parameter (o, parameter, folded);
  add_floats (o, bias_name, &dims, 1, offset, n);
}

static gboolean
emit_conv (Onnx *o, const DynoNode *node, const char *output)
{
  const DynoNode *norm = g_hash_table_lookup (o->folded, node);
  const DynoParameter *parameter, *bias_parameter;
  const float *weight = dyno_saved_model_find (o->model, node->name, "weight", &parameter),
              *bias = dyno_saved_model_find (o->model, node->name, "bias", &bias_parameter);
  gint64 kernel[] = { attribute (o, node, "kernel_h"), attribute (o, node, "kernel_w") },
         stride[] = { attribute (o, node, "stride_h"), attribute (o, node, "stride_w") };
  gint64 pad_h = attribute (o, node, "pad_h"), pad_w = attribute (o, node, "pad_w"),
         pads[] = { pad_h, pad_w, pad_h, pad_w };
  g_autofree char *bias_name = g_strconcat (node->name, ".bias", NULL);

  if (!weight)
    return refuse (o, "%s: a convolution without its weight", node->name);
  if (norm)
    add_folded (o, node, norm, parameter, weight, bias);
  else
    {
      add_parameter (o, parameter, weight);
      if (bias)
        add_parameter (o, bias_parameter, bias);
    }
  begin_node (o, "Conv", node->name);
  add_input (o, value_of (o, node->inputs[0]));
  add_input (o, parameter->name);
  if (norm || bias)
    add_input (o, bias_name);
  add_ints (o, "kernel_shape", kernel, 2);
  add_ints (o, "strides", stride, 2);
  add_ints (o, "pads", pads, 4);
  add_int (o, "group", MAX (1, attribute (o, node, "groups")));
  end_node (o, output);
  return TRUE;
}

/* Behind PyTorch's flatten, which for one pixel changes nothing but the shape. */
static gboolean
emit_linear (Onnx *o, const DynoNode *node, const char *output)
{
  const DynoTensor *x = node->inputs[0], *y = node->outputs[0];
  const DynoParameter *parameter, *bias_parameter;
  const float *weight = dyno_saved_model_find (o->model, node->name, "weight", &parameter),
              *bias = dyno_saved_model_find (o->model, node->name, "bias", &bias_parameter);
  g_autofree char *flat = g_strconcat (node->name, "/flat", NULL);

  if (!weight || !bias)
    return refuse (o, "%s: a linear layer without its weight or bias", node->name);
  if (y->h != 1 || y->w != 1 || (guint64) x->h * x->w * x->c != parameter->dims[1])
    return refuse (o, "%s: a linear layer over each pixel has no counterpart here", node->name);
  add_parameter (o, parameter, weight);
  add_parameter (o, bias_parameter, bias);
  begin_node (o, "Flatten", flat);
  add_input (o, value_of (o, x));
  add_int (o, "axis", 1);
  end_node (o, flat);
  begin_node (o, "Gemm", node->name);
  add_input (o, flat);
  add_input (o, parameter->name);
  add_input (o, bias_parameter->name);
  add_int (o, "transB", 1);
  end_node (o, output);
  return TRUE;
}

static gboolean
emit_batch_norm (Onnx *o, const DynoNode *node, const char *output)
{
  static const char *const kinds[] = { "weight", "bias", "running_mean", "running_var" };
  const DynoParameter *parameter;

  begin_node (o, "BatchNormalization", node->name);
  add_input (o, value_of (o, node->inputs[0]));
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      const float *values = dyno_saved_model_find (o->model, node->name, kinds[i], &parameter);
      if (!values)
        return refuse (o, "%s: batch norm without its %s", node->name, kinds[i]);
      add_parameter (o, parameter, values);
      add_input (o, parameter->name);
    }
  add_float (o, "epsilon", (float) EPSILON);
  end_node (o, output);
  return TRUE;
}

static void
emit_plain (Onnx *o, const char *op, const char *name, const char *a, const char *b,
            const char *output)
{
  begin_node (o, op, name);
  add_input (o, a);
  if (b)
    add_input (o, b);
  end_node (o, output);
}

static gboolean
emit_add (Onnx *o, const DynoNode *node, const char *output)
{
  emit_plain (o, "Add", node->name, value_of (o, node->inputs[0]), value_of (o, node->inputs[1]),
              output);
  return TRUE;
}

/* (N, C, H, W) times (N, C, 1, 1) */
static gboolean
emit_scale (Onnx *o, const DynoNode *node, const char *output)
{
  emit_plain (o, "Mul", node->name, value_of (o, node->inputs[0]), value_of (o, node->inputs[1]),
              output);
  return TRUE;
}

static gboolean
emit_max_pool (Onnx *o, const DynoNode *node, const char *output)
{
  gint64 kernel = attribute (o, node, "window.kernel"),
         stride = attribute (o, node, "window.stride"), pad = attribute (o, node, "window.pad");
  gint64 kernels[] = { kernel, kernel }, strides[] = { stride, stride },
         pads[] = { pad, pad, pad, pad };

  begin_node (o, "MaxPool", node->name);
  add_input (o, value_of (o, node->inputs[0]));
  add_ints (o, "kernel_shape", kernels, 2);
  add_ints (o, "strides", strides, 2);
  add_ints (o, "pads", pads, 4);
  end_node (o, output);
  return TRUE;
}

static gboolean
emit_global_avg_pool (Onnx *o, const DynoNode *node, const char *output)
{
  emit_plain (o, "GlobalAveragePool", node->name, value_of (o, node->inputs[0]), NULL, output);
  return TRUE;
}

static gboolean
emit_activation (Onnx *o, const DynoNode *node, const char *output)
{
  const char *x = value_of (o, node->inputs[0]);
  g_autofree char *low = g_strconcat (node->name, "/low", NULL),
                  *high = g_strconcat (node->name, "/high", NULL),
                  *gate = g_strconcat (node->name, "/gate", NULL);
  const float zero = 0, six = 6;

  switch (node->op->traits.activation)
    {
    case DYNO_ACTIVATION_RELU:
      emit_plain (o, "Relu", node->name, x, NULL, output);
      return TRUE;
    case DYNO_ACTIVATION_RELU6:
      add_floats (o, low, NULL, 0, &zero, 1);
      add_floats (o, high, NULL, 0, &six, 1);
      begin_node (o, "Clip", node->name);
      add_input (o, x);
      add_input (o, low);
      add_input (o, high);
      end_node (o, output);
      return TRUE;
    case DYNO_ACTIVATION_SIGMOID:
      emit_plain (o, "Sigmoid", node->name, x, NULL, output);
      return TRUE;
    case DYNO_ACTIVATION_SILU:
      emit_plain (o, "Sigmoid", gate, x, NULL, gate);
      emit_plain (o, "Mul", node->name, x, gate, output);
      return TRUE;
    case DYNO_ACTIVATION_NONE:
    default:
      return refuse (o, "%s: %s has no counterpart here", node->name, node->op->name);
    }
}

static const struct {
  const char *op;
  gboolean (*emit) (Onnx *o, const DynoNode *node, const char *output);
} emitters[] = {
  { "conv2d", emit_conv },       { "depthwise", emit_conv },
  { "linear", emit_linear },     { "batch_norm", emit_batch_norm },
  { "add", emit_add },           { "scale", emit_scale },
  { "max_pool", emit_max_pool }, { "global_avg_pool", emit_global_avg_pool },
};

/* --- input ------------------------------------------------------------------------------------ */

/* y = x factor + term for each channel: the normalisation of prepare, as the metadata have it. */
static void
emit_normalisation (Onnx *o, guint32 channels, const char *input, const char *output)
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
  add_floats (o, "input/factor", dims, 4, factor, channels);
  add_floats (o, "input/term", dims, 4, term, channels);
  emit_plain (o, "Mul", "input/scaled", input, "input/factor", "input/scaled");
  emit_plain (o, "Add", "input/normalised", "input/scaled", "input/term", output);
}

/* From the file's input to the network's: (N, C, H, W) in the type that is computed in. */
static void
emit_input (Onnx *o, const DynoNode *node)
{
  const DynoBatchField *field = &o->model->info->input;
  const gint64 swap[] = { 0, 2, 1 }, line[] = { 2 }, point[] = { 2, 3 };
  const gint64 one = 1, two = 2;
  const char *at = "input";

  if (o->params->half)
    {
      begin_node (o, "Cast", "input/half");
      add_input (o, at);
      add_int (o, "to", TYPE_FLOAT16);
      end_node (o, "input/half");
      at = "input/half";
    }
  if (field->n_axes == 2)
    {
      begin_node (o, "Transpose", "input/turned");
      add_input (o, at);
      add_ints (o, "perm", swap, 3);
      end_node (o, "input/turned");
      add_initializer (o, "input/axes", TYPE_INT64, &one, 1, line, sizeof line);
      emit_plain (o, "Unsqueeze", "input/image", "input/turned", "input/axes", "input/image");
      at = "input/image";
    }
  else if (field->n_axes == 1)
    {
      add_initializer (o, "input/axes", TYPE_INT64, &two, 1, point, sizeof point);
      emit_plain (o, "Unsqueeze", "input/image", at, "input/axes", "input/image");
      at = "input/image";
    }
  if (o->params->normalise)
    {
      emit_normalisation (o, node->outputs[0]->c, at, "input/normalised");
      at = "input/normalised";
    }
  set_value (o, node->outputs[0], at);
}

/* --- the graph -------------------------------------------------------------------------------- */

/* The only reader of a tensor; NULL: there are none or more. */
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
find_folded (Onnx *o, GPtrArray *nodes)
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
emit_node (Onnx *o, const DynoNode *node)
{
  const DynoTensor *x = node->n_inputs > 0 ? node->inputs[0] : NULL;
  g_autofree char *output = g_strconcat (node->name, "/out", NULL);

  if (g_str_equal (node->op->name, "prepare"))
    {
      emit_input (o, node);
      return TRUE;
    }
  if (x && x->producer && g_hash_table_lookup (o->folded, x->producer) == node)
    {
      set_value (o, node->outputs[0], value_of (o, x));
      return TRUE;
    }
  set_value (o, node->outputs[0], output);
  if (node->op->traits.activation != DYNO_ACTIVATION_NONE)
    return emit_activation (o, node, output);
  for (guint i = 0; i < G_N_ELEMENTS (emitters); i++)
    if (g_str_equal (emitters[i].op, node->op->name))
      return emitters[i].emit (o, node, output);
  return refuse (o, "%s: %s cannot be written to an ONNX file yet", node->name, node->op->name);
}

/* A value of the graph: its name, float32, and its shape behind the batch. */
static void
add_value (GByteArray *graph, guint field, const char *name, const guint32 *shape, guint n)
{
  g_autoptr (GByteArray) value = g_byte_array_new (), type = g_byte_array_new (),
                         tensor = g_byte_array_new (), dims = g_byte_array_new (),
                         dim = g_byte_array_new ();

  dyno_proto_string (dim, 2, "batch");
  dyno_proto_message (dims, 1, dim);
  for (guint i = 0; i < n; i++)
    {
      dyno_proto_uint (dim, 1, shape[i]);
      dyno_proto_message (dims, 1, dim);
    }
  dyno_proto_uint (tensor, 1, TYPE_FLOAT);
  dyno_proto_message (tensor, 2, dims);
  dyno_proto_message (type, 1, tensor);
  dyno_proto_string (value, 1, name);
  dyno_proto_message (value, 2, type);
  dyno_proto_message (graph, field, value);
}

static void
add_values (const DynoSavedModel *model, GByteArray *graph)
{
  const DynoBatchField *field = &model->info->input;
  const guint32 *s = field->shape;
  const guint32 image[] = { s[2], s[0], s[1] };

  add_value (graph, GRAPH_INPUT, "input", field->n_axes == 3 ? image : s, field->n_axes);
  add_value (graph, GRAPH_OUTPUT, "output", &model->info->n_outputs, 1);
}

static gboolean
emit_graph (Onnx *o)
{
  GPtrArray *nodes = dyno_graph_get_nodes (o->model->graph);

  find_folded (o, nodes);
  for (guint i = 0; i < nodes->len && !o->error; i++)
    emit_node (o, g_ptr_array_index (nodes, i));
  if (o->error)
    return FALSE;
  /* The last value under the name of the output, in its type. */
  begin_node (o, o->params->half ? "Cast" : "Identity", "output");
  add_input (o, value_of (o, o->model->logits));
  if (o->params->half)
    add_int (o, "to", TYPE_FLOAT);
  end_node (o, "output");
  return !o->error;
}

static GByteArray *
assemble (Onnx *o)
{
  GByteArray *file = g_byte_array_new ();
  g_autoptr (GByteArray) graph = g_byte_array_new (), inner = g_byte_array_new ();
  g_autoptr (GPtrArray) pairs = g_ptr_array_new_with_free_func (g_free);

  g_byte_array_append (graph, o->nodes->data, o->nodes->len);
  g_byte_array_set_size (o->nodes, 0);
  dyno_proto_string (graph, GRAPH_NAME, o->model->info->model);
  g_byte_array_append (graph, o->initializers->data, o->initializers->len);
  g_byte_array_set_size (o->initializers, 0);
  add_values (o->model, graph);
  dyno_proto_uint (file, MODEL_IR, IR_VERSION);
  dyno_proto_string (file, MODEL_PRODUCER, "Dyno");
  dyno_proto_string (file, MODEL_VERSION, DYNO_VERSION);
  dyno_proto_message (file, MODEL_GRAPH, graph);
  dyno_proto_string (inner, 1, "");
  dyno_proto_uint (inner, 2, OPSET);
  dyno_proto_message (file, MODEL_OPSET, inner);
  dyno_weights_info_append (o->model->info, pairs);
  for (guint i = 0; i + 1 < pairs->len; i += 2)
    {
      dyno_proto_string (inner, 1, g_ptr_array_index (pairs, i));
      dyno_proto_string (inner, 2, g_ptr_array_index (pairs, i + 1));
      dyno_proto_message (file, MODEL_METADATA, inner);
    }
  return file;
}

GByteArray *
dyno_onnx_write (const DynoSavedModel *model, const DynoOnnxParams *params, GError **error)
{
  g_autoptr (GByteArray) nodes = g_byte_array_new (), initializers = g_byte_array_new (),
                         node = g_byte_array_new ();
  g_autoptr (GHashTable) values = g_hash_table_new_full (NULL, NULL, NULL, g_free),
                         folded = g_hash_table_new (NULL, NULL);
  Onnx o = { model, params, nodes, initializers, node, values, folded, 0, NULL };

  if (emit_graph (&o))
    return assemble (&o);
  g_propagate_error (error, o.error);
  return NULL;
}
