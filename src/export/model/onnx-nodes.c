/* SPDX-License-Identifier: MIT */
/* Writes nodes and initialisers of an ONNX file. */
#include "exporter.h"
#include "half.h"
#include "onnx-private.h"
#include "op.h"
#include "wire.h"

#define MAX_BYTES G_MAXINT32 /* of a message of Protocol Buffers */

gboolean
dyno_onnx_refuse (DynoOnnxWriter *o, const char *format, ...)
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

void
dyno_onnx_begin (DynoOnnxWriter *o, const char *op, const char *name)
{
  g_byte_array_set_size (o->node, 0);
  dyno_proto_string (o->node, DYNO_ONNX_NODE_NAME, name);
  dyno_proto_string (o->node, DYNO_ONNX_NODE_OP, op);
}

void
dyno_onnx_input (DynoOnnxWriter *o, const char *name)
{
  dyno_proto_string (o->node, DYNO_ONNX_NODE_INPUT, name);
}

void
dyno_onnx_ints (DynoOnnxWriter *o, const char *name, const gint64 *values, guint n)
{
  g_autoptr (GByteArray) attribute = g_byte_array_new ();

  dyno_proto_string (attribute, DYNO_ONNX_ATTRIBUTE_NAME, name);
  for (guint i = 0; i < n; i++)
    dyno_proto_uint (attribute, DYNO_ONNX_ATTRIBUTE_INTS, (guint64) values[i]);
  dyno_proto_uint (attribute, DYNO_ONNX_ATTRIBUTE_TYPE, DYNO_ONNX_IS_INTS);
  dyno_proto_message (o->node, DYNO_ONNX_NODE_ATTRIBUTE, attribute);
}

void
dyno_onnx_int (DynoOnnxWriter *o, const char *name, gint64 value)
{
  g_autoptr (GByteArray) attribute = g_byte_array_new ();

  dyno_proto_string (attribute, DYNO_ONNX_ATTRIBUTE_NAME, name);
  dyno_proto_uint (attribute, DYNO_ONNX_ATTRIBUTE_I, (guint64) value);
  dyno_proto_uint (attribute, DYNO_ONNX_ATTRIBUTE_TYPE, DYNO_ONNX_IS_INT);
  dyno_proto_message (o->node, DYNO_ONNX_NODE_ATTRIBUTE, attribute);
}

void
dyno_onnx_float (DynoOnnxWriter *o, const char *name, float value)
{
  g_autoptr (GByteArray) attribute = g_byte_array_new ();

  dyno_proto_string (attribute, DYNO_ONNX_ATTRIBUTE_NAME, name);
  dyno_proto_float (attribute, DYNO_ONNX_ATTRIBUTE_F, value);
  dyno_proto_uint (attribute, DYNO_ONNX_ATTRIBUTE_TYPE, DYNO_ONNX_IS_FLOAT);
  dyno_proto_message (o->node, DYNO_ONNX_NODE_ATTRIBUTE, attribute);
}

void
dyno_onnx_text (DynoOnnxWriter *o, const char *name, const char *value)
{
  g_autoptr (GByteArray) attribute = g_byte_array_new ();

  dyno_proto_string (attribute, DYNO_ONNX_ATTRIBUTE_NAME, name);
  dyno_proto_string (attribute, DYNO_ONNX_ATTRIBUTE_TEXT, value);
  dyno_proto_uint (attribute, DYNO_ONNX_ATTRIBUTE_TYPE, DYNO_ONNX_IS_TEXT);
  dyno_proto_message (o->node, DYNO_ONNX_NODE_ATTRIBUTE, attribute);
}

void
dyno_onnx_end (DynoOnnxWriter *o, const char *output)
{
  dyno_proto_string (o->node, DYNO_ONNX_NODE_OUTPUT, output);
  dyno_proto_message (o->nodes, DYNO_ONNX_GRAPH_NODE, o->node);
}

void
dyno_onnx_initializer (DynoOnnxWriter *o, const char *name, guint type, const gint64 *dims,
                       guint n_dims, const void *data, gsize size)
{
  g_autoptr (GByteArray) tensor = g_byte_array_new ();

  o->bytes += size + 1024;
  if (o->bytes > MAX_BYTES)
    {
      dyno_onnx_refuse (
          o, "The model is too large for an ONNX file: more than 2 GB; --half halves it");
      return;
    }
  for (guint i = 0; i < n_dims; i++)
    dyno_proto_uint (tensor, DYNO_ONNX_TENSOR_DIMS, (guint64) dims[i]);
  dyno_proto_uint (tensor, DYNO_ONNX_TENSOR_TYPE, type);
  dyno_proto_string (tensor, DYNO_ONNX_TENSOR_NAME, name);
  dyno_proto_bytes (tensor, DYNO_ONNX_TENSOR_RAW, data, size);
  dyno_proto_message (o->initializers, DYNO_ONNX_GRAPH_INITIALIZER, tensor);
}

/* Written in the type that the graph computes in; files are little-endian, as is every machine that
 * Dyno runs on. */
void
dyno_onnx_floats (DynoOnnxWriter *o, const char *name, const gint64 *dims, guint n_dims,
                  const float *values, gsize count)
{
  g_autofree guint16 *half = NULL;

  if (!o->params->half)
    {
      dyno_onnx_initializer (o, name, DYNO_ONNX_FLOAT, dims, n_dims, values, 4 * count);
      return;
    }
  half = g_new (guint16, MAX (1, count));
  for (gsize i = 0; i < count; i++)
    half[i] = dyno_half_from_float (values[i]);
  dyno_onnx_initializer (o, name, DYNO_ONNX_FLOAT16, dims, n_dims, half, 2 * count);
}

void
dyno_onnx_parameter (DynoOnnxWriter *o, const DynoParameter *parameter, const float *values)
{
  gint64 dims[4];

  for (guint i = 0; i < parameter->n_dims; i++)
    dims[i] = parameter->dims[i];
  dyno_onnx_floats (o, parameter->name, dims, parameter->n_dims, values,
                    (gsize) dyno_parameter_count (parameter));
}

const char *
dyno_onnx_write_parameter (DynoOnnxWriter *o, const DynoTensor *tensor)
{
  const DynoParameter *parameter;
  const float *values = dyno_saved_model_get (o->model, tensor, &parameter);

  if (!values)
    {
      dyno_onnx_refuse (o, "%s: an op without one of its parameters", o->stem);
      return "";
    }
  dyno_onnx_parameter (o, parameter, values);
  return parameter->name;
}

void
dyno_onnx_number_of (DynoOnnxWriter *o, const char *name, double value)
{
  const float single = (float) value;

  dyno_onnx_floats (o, name, NULL, 0, &single, 1);
}

double
dyno_onnx_number (DynoOnnxWriter *o, const DynoNode *node, const char *name)
{
  double value = 0;

  if (!dyno_node_get_attribute (node, name, &value))
    dyno_onnx_refuse (o, "%s: %s has no attribute %s", node->name, node->op->name, name);
  return value;
}

guint32
dyno_onnx_attribute (DynoOnnxWriter *o, const DynoNode *node, const char *name)
{
  return (guint32) dyno_onnx_number (o, node, name);
}

void
dyno_onnx_plain (DynoOnnxWriter *o, const char *op, const char *name, const char *a, const char *b,
                 const char *output)
{
  dyno_onnx_begin (o, op, name);
  dyno_onnx_input (o, a);
  if (b)
    dyno_onnx_input (o, b);
  dyno_onnx_end (o, output);
}

void
dyno_onnx_cast (DynoOnnxWriter *o, const char *input, guint type, const char *output)
{
  dyno_onnx_begin (o, "Cast", output);
  dyno_onnx_input (o, input);
  dyno_onnx_int (o, "to", type);
  dyno_onnx_end (o, output);
}

void
dyno_onnx_indices (DynoOnnxWriter *o, const char *name, const gint64 *dims, guint n_dims,
                   const gint64 *values, gsize count)
{
  dyno_onnx_initializer (o, name, DYNO_ONNX_INT64, dims, n_dims, values, count * sizeof *values);
}
