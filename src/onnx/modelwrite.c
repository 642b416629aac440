/* SPDX-License-Identifier: MIT */
/* Writes a model without its weights as a file. */
#include "model-private.h"
#include <string.h>

/* Values of at most this many elements in one axis are constants of the network, such as an
 * exponent or the bounds of a clip; larger values are weights. */
#define MOST_NUMBERS 4
/* A mask has 0 and one number of at most this. */
#define LEAST_MASKED -10.0f

#define MARK "dyno.network" /* the key in the metadata that marks a file without weights */

/* TRUE: the name is that of a module's parameter in PyTorch, of which a network may replace
 * elements by constants, as Swin V2 does with the bias of its keys. */
static gboolean
is_named_as_weight (const char *name)
{
  return g_str_has_suffix (name, ".weight") || g_str_has_suffix (name, ".bias");
}

/* TRUE: the name is that of a module's buffer, a table that PyTorch does not train: exporters write
 * buffers like weights. */
static gboolean
is_named_as_buffer (const char *name)
{
  static const char *const ends[] = { "attn_mask", "inv_freq", "relative_coords_table", NULL };

  for (guint i = 0; ends[i]; i++)
    if (g_str_has_suffix (name, ends[i]))
      return TRUE;
  return FALSE;
}

/* The names of the inputs of operators that only compute masks and tables.  Exporters evaluate
 * parts of such computations and write the results as floats of any size, which are no weights. */
static GHashTable *
find_tables (const DynoOnnxModel *model)
{
  static const char *const makers[] = { "ScatterND",   "Where",   "Equal",          "Less",
                                        "LessOrEqual", "Greater", "GreaterOrEqual", "Sin",
                                        "Cos",         "Floor",   "Ceil",           "CumSum",
                                        NULL };
  GHashTable *tables = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < model->n_nodes; i++)
    for (guint k = 0;
         k < model->nodes[i].n_inputs && g_strv_contains (makers, model->nodes[i].op_type); k++)
      if (!is_named_as_weight (model->nodes[i].inputs[k]))
        g_hash_table_add (tables, (gpointer) model->nodes[i].inputs[k]);
  return tables;
}

/* TRUE: all numbers are 0 or one other number that makes a softmax ignore an element, such as -100
 * or -infinity: the mask of an attention, which exporters write like a weight. */
static gboolean
is_mask (const DynoOnnxModel *model, const DynoOnnxTensor *tensor)
{
  g_autoptr (GBytes) values = dyno_onnx_tensor_read (model, tensor, NULL);
  gsize size;
  const guint8 *numbers = values ? g_bytes_get_data (values, &size) : NULL;
  float masked = 0, number;

  if (!numbers || tensor->type != DYNO_ONNX_FLOAT)
    return FALSE;
  for (gsize at = 0; at + sizeof number <= size; at += sizeof number)
    {
      memcpy (&number, numbers + at, sizeof number);
      if (number == 0 || number == masked)
        continue;
      if (masked != 0 || !(number <= LEAST_MASKED))
        return FALSE;
      masked = number;
    }
  return masked != 0;
}

static gboolean
is_weight (const DynoOnnxModel *model, const DynoOnnxTensor *tensor, GHashTable *tables)
{
  guint64 n, bytes;

  return !g_hash_table_contains (tables, tensor->name)
         && !g_str_has_suffix (tensor->name, DYNO_ONNX_CONSTANT)
         && !is_named_as_buffer (tensor->name) && dyno_onnx_type_is_float (tensor->type)
         && dyno_onnx_tensor_get_size (tensor, &n, &bytes)
         && (tensor->n_dims > 1 || n > MOST_NUMBERS) && !is_mask (model, tensor);
}

static GByteArray *
write_tensor (const DynoOnnxModel *model, const DynoOnnxTensor *tensor, GError **error)
{
  g_autoptr (GByteArray) message = g_byte_array_new ();
  g_autoptr (GBytes) values = dyno_onnx_tensor_read (model, tensor, error);
  gsize size;

  if (!values)
    return NULL;
  if (tensor->n_dims > 0)
    dyno_proto_packed (message, DYNO_ONNX_TENSOR_DIMS, tensor->dims, tensor->n_dims);
  dyno_proto_uint (message, DYNO_ONNX_TENSOR_TYPE, tensor->type);
  dyno_proto_string (message, DYNO_ONNX_TENSOR_NAME, tensor->name);
  const void *data = g_bytes_get_data (values, &size);
  dyno_proto_bytes (message, DYNO_ONNX_TENSOR_RAW, data, size);
  return g_steal_pointer (&message);
}

static gboolean
write_attribute (const DynoOnnxModel *model, GByteArray *node, const DynoOnnxAttribute *a,
                 GError **error)
{
  g_autoptr (GByteArray) message = g_byte_array_new (), tensor = NULL;

  dyno_proto_string (message, DYNO_ONNX_ATTRIBUTE_NAME, a->name);
  switch (a->type)
    {
    case DYNO_ONNX_IS_FLOAT:
      dyno_proto_float (message, DYNO_ONNX_ATTRIBUTE_F, a->f);
      break;
    case DYNO_ONNX_IS_INT:
      dyno_proto_uint (message, DYNO_ONNX_ATTRIBUTE_I, (guint64) a->i);
      break;
    case DYNO_ONNX_IS_TEXT:
      dyno_proto_string (message, DYNO_ONNX_ATTRIBUTE_TEXT, a->s);
      break;
    case DYNO_ONNX_IS_TENSOR:
      tensor = write_tensor (model, a->t, error);
      if (!tensor)
        return FALSE;
      dyno_proto_message (message, DYNO_ONNX_ATTRIBUTE_TENSOR, tensor);
      break;
    case DYNO_ONNX_IS_FLOATS:
      for (guint i = 0; i < a->n; i++)
        dyno_proto_float (message, DYNO_ONNX_ATTRIBUTE_FLOATS, a->floats[i]);
      break;
    case DYNO_ONNX_IS_INTS:
      for (guint i = 0; i < a->n; i++)
        dyno_proto_uint (message, DYNO_ONNX_ATTRIBUTE_INTS, (guint64) a->ints[i]);
      break;
    case DYNO_ONNX_IS_TEXTS:
    default:
      for (guint i = 0; i < a->n; i++)
        dyno_proto_string (message, DYNO_ONNX_ATTRIBUTE_TEXTS, a->strings[i]);
      break;
    }
  dyno_proto_uint (message, DYNO_ONNX_ATTRIBUTE_TYPE, a->type);
  dyno_proto_message (node, DYNO_ONNX_NODE_ATTRIBUTE, message);
  return TRUE;
}

static gboolean
write_node (const DynoOnnxModel *model, GByteArray *graph, const DynoOnnxNode *node, GError **error)
{
  g_autoptr (GByteArray) message = g_byte_array_new ();

  for (guint i = 0; i < node->n_inputs; i++)
    dyno_proto_string (message, DYNO_ONNX_NODE_INPUT, node->inputs[i]);
  for (guint i = 0; i < node->n_outputs; i++)
    dyno_proto_string (message, DYNO_ONNX_NODE_OUTPUT, node->outputs[i]);
  dyno_proto_string (message, DYNO_ONNX_NODE_NAME, node->name);
  dyno_proto_string (message, DYNO_ONNX_NODE_OP, node->op_type);
  for (guint i = 0; i < node->n_attributes; i++)
    if (!write_attribute (model, message, &node->attributes[i], error))
      return FALSE;
  if (*node->domain)
    dyno_proto_string (message, DYNO_ONNX_NODE_DOMAIN, node->domain);
  dyno_proto_message (graph, DYNO_ONNX_GRAPH_NODE, message);
  return TRUE;
}

static void
write_value (GByteArray *graph, guint field, const char *name, guint type, gboolean has_shape,
             const DynoOnnxDim *dims, guint n_dims)
{
  g_autoptr (GByteArray) value = g_byte_array_new (), wrapped = g_byte_array_new (),
                         tensor = g_byte_array_new (), shape = g_byte_array_new (),
                         dim = g_byte_array_new ();

  for (guint i = 0; i < n_dims; i++)
    {
      if (dims[i].value >= 0)
        dyno_proto_uint (dim, DYNO_ONNX_DIM_VALUE, (guint64) dims[i].value);
      else if (*dims[i].name)
        dyno_proto_string (dim, DYNO_ONNX_DIM_NAME, dims[i].name);
      dyno_proto_message (shape, DYNO_ONNX_SHAPE_DIM, dim);
    }
  dyno_proto_uint (tensor, DYNO_ONNX_TENSOR_TYPE_ELEMENT, type);
  if (has_shape)
    dyno_proto_message (tensor, DYNO_ONNX_TENSOR_TYPE_SHAPE, shape);
  dyno_proto_message (wrapped, DYNO_ONNX_TYPE_TENSOR, tensor);
  dyno_proto_string (value, DYNO_ONNX_VALUE_NAME, name);
  dyno_proto_message (value, DYNO_ONNX_VALUE_TYPE, wrapped);
  dyno_proto_message (graph, field, value);
}

/* Writes the inputs of the network, after them an input for each weight, and the other
 * initialisers. */
static gboolean
write_sources (const DynoOnnxModel *model, GByteArray *graph, GError **error)
{
  g_autoptr (GHashTable) tables = find_tables (model);

  for (guint i = 0; i < model->n_inputs; i++)
    if (!dyno_onnx_model_find_initializer (model, model->inputs[i].name))
      write_value (graph, DYNO_ONNX_GRAPH_INPUT, model->inputs[i].name, model->inputs[i].type,
                   model->inputs[i].has_shape, model->inputs[i].dims, model->inputs[i].n_dims);
  for (guint i = 0; i < model->n_initializers; i++)
    {
      const DynoOnnxTensor *tensor = &model->initializers[i];
      DynoOnnxDim dims[DYNO_ONNX_MAX_DIMS];
      g_autoptr (GByteArray) values = NULL;

      if (!is_weight (model, tensor, tables))
        {
          values = write_tensor (model, tensor, error);
          if (!values)
            return FALSE;
          dyno_proto_message (graph, DYNO_ONNX_GRAPH_INITIALIZER, values);
          continue;
        }
      for (guint k = 0; k < tensor->n_dims; k++)
        dims[k] = (DynoOnnxDim){ (gint64) tensor->dims[k], "" };
      write_value (graph, DYNO_ONNX_GRAPH_INPUT, tensor->name, DYNO_ONNX_FLOAT, TRUE, dims,
                   tensor->n_dims);
    }
  return TRUE;
}

gboolean
dyno_onnx_model_is_network (const DynoOnnxModel *model)
{
  for (guint i = 0; i < model->n_metadata; i++)
    if (g_str_equal (model->metadata[i].key, MARK))
      return TRUE;
  return FALSE;
}

GBytes *
dyno_onnx_model_write_network (const DynoOnnxModel *model, GError **error)
{
  g_autoptr (GByteArray) graph = g_byte_array_new (), inner = g_byte_array_new ();
  GByteArray *file;

  for (guint i = 0; i < model->n_nodes; i++)
    if (!write_node (model, graph, &model->nodes[i], error))
      return NULL;
  dyno_proto_string (graph, DYNO_ONNX_GRAPH_NAME, model->graph_name);
  if (!write_sources (model, graph, error))
    return NULL;
  for (guint i = 0; i < model->n_outputs; i++)
    write_value (graph, DYNO_ONNX_GRAPH_OUTPUT, model->outputs[i].name, model->outputs[i].type,
                 model->outputs[i].has_shape, model->outputs[i].dims, model->outputs[i].n_dims);
  file = g_byte_array_new ();
  dyno_proto_uint (file, DYNO_ONNX_MODEL_IR, (guint64) model->ir_version);
  dyno_proto_string (file, DYNO_ONNX_MODEL_PRODUCER, model->producer);
  dyno_proto_message (file, DYNO_ONNX_MODEL_GRAPH, graph);
  for (guint i = 0; i < model->n_opsets; i++)
    {
      dyno_proto_string (inner, DYNO_ONNX_OPSET_DOMAIN, model->opsets[i].domain);
      dyno_proto_uint (inner, DYNO_ONNX_OPSET_VERSION, (guint64) model->opsets[i].version);
      dyno_proto_message (file, DYNO_ONNX_MODEL_OPSET, inner);
    }
  dyno_proto_string (inner, DYNO_ONNX_PAIR_KEY, MARK);
  dyno_proto_string (inner, DYNO_ONNX_PAIR_VALUE, "1");
  dyno_proto_message (file, DYNO_ONNX_MODEL_METADATA, inner);
  return g_byte_array_free_to_bytes (file);
}
