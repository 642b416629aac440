/* SPDX-License-Identifier: MIT */
/* Assembles small models. */
#include "onnx-test.h"

static void
add_names (GByteArray *node, guint field, const char *names)
{
  g_auto (GStrv) parts = names && *names ? g_strsplit (names, ",", -1) : NULL;

  if (names && !parts)
    dyno_proto_string (node, field, "");
  for (guint i = 0; parts && parts[i]; i++)
    dyno_proto_string (node, field, parts[i]);
}

GByteArray *
onnx_test_node (const char *op, const char *name, const char *inputs, const char *outputs)
{
  GByteArray *node = g_byte_array_new ();

  add_names (node, DYNO_ONNX_NODE_INPUT, inputs);
  add_names (node, DYNO_ONNX_NODE_OUTPUT, outputs);
  dyno_proto_string (node, DYNO_ONNX_NODE_NAME, name);
  dyno_proto_string (node, DYNO_ONNX_NODE_OP, op);
  return node;
}

GByteArray *
onnx_test_tensor (const char *name, guint type, const gint64 *dims, guint n_dims)
{
  GByteArray *tensor = g_byte_array_new ();

  for (guint i = 0; i < n_dims; i++)
    dyno_proto_uint (tensor, DYNO_ONNX_TENSOR_DIMS, (guint64) dims[i]);
  dyno_proto_uint (tensor, DYNO_ONNX_TENSOR_TYPE, type);
  dyno_proto_string (tensor, DYNO_ONNX_TENSOR_NAME, name);
  return tensor;
}

GByteArray *
onnx_test_value (const char *name, gint64 width)
{
  GByteArray *value = g_byte_array_new (), *type = g_byte_array_new (),
             *tensor = g_byte_array_new (), *shape = g_byte_array_new (),
             *batch = g_byte_array_new (), *dim = g_byte_array_new ();

  dyno_proto_string (batch, DYNO_ONNX_DIM_NAME, "batch");
  onnx_test_add (shape, DYNO_ONNX_SHAPE_DIM, batch);
  dyno_proto_uint (dim, DYNO_ONNX_DIM_VALUE, (guint64) width);
  onnx_test_add (shape, DYNO_ONNX_SHAPE_DIM, dim);
  dyno_proto_uint (tensor, DYNO_ONNX_TENSOR_TYPE_ELEMENT, DYNO_ONNX_FLOAT);
  onnx_test_add (tensor, DYNO_ONNX_TENSOR_TYPE_SHAPE, shape);
  onnx_test_add (type, DYNO_ONNX_TYPE_TENSOR, tensor);
  dyno_proto_string (value, DYNO_ONNX_VALUE_NAME, name);
  onnx_test_add (value, DYNO_ONNX_VALUE_TYPE, type);
  return value;
}

void
onnx_test_add (GByteArray *message, guint field, GByteArray *inner)
{
  dyno_proto_message (message, field, inner);
  g_byte_array_unref (inner);
}

void
onnx_test_attribute_int (GByteArray *node, const char *name, gint64 value)
{
  GByteArray *attribute = g_byte_array_new ();

  dyno_proto_string (attribute, DYNO_ONNX_ATTRIBUTE_NAME, name);
  dyno_proto_uint (attribute, DYNO_ONNX_ATTRIBUTE_I, (guint64) value);
  dyno_proto_uint (attribute, DYNO_ONNX_ATTRIBUTE_TYPE, DYNO_ONNX_IS_INT);
  onnx_test_add (node, DYNO_ONNX_NODE_ATTRIBUTE, attribute);
}

GByteArray *
onnx_test_graph (void)
{
  GByteArray *graph = g_byte_array_new ();

  dyno_proto_string (graph, DYNO_ONNX_GRAPH_NAME, "small");
  onnx_test_add (graph, DYNO_ONNX_GRAPH_INPUT, onnx_test_value ("x", 4));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_OUTPUT, onnx_test_value ("y", 4));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_NODE, onnx_test_node ("Relu", "first", "x", "y"));
  return graph;
}

GByteArray *
onnx_test_file (GByteArray *graph)
{
  return onnx_test_file_of (graph, 17);
}

GByteArray *
onnx_test_file_of (GByteArray *graph, guint64 version)
{
  GByteArray *file = g_byte_array_new (), *opset = g_byte_array_new ();

  dyno_proto_uint (file, DYNO_ONNX_MODEL_IR, 8);
  dyno_proto_string (file, DYNO_ONNX_MODEL_PRODUCER, "tests");
  dyno_proto_string (file, DYNO_ONNX_MODEL_VERSION, "2");
  dyno_proto_string (opset, DYNO_ONNX_OPSET_DOMAIN, "");
  dyno_proto_uint (opset, DYNO_ONNX_OPSET_VERSION, version);
  onnx_test_add (file, DYNO_ONNX_MODEL_OPSET, opset);
  onnx_test_add (file, DYNO_ONNX_MODEL_GRAPH, graph);
  return file;
}

DynoOnnxModel *
onnx_test_parse (GByteArray *file, const char *folder, GError **error)
{
  /* A separate allocation, so that AddressSanitizer detects reads past the end. */
  g_autoptr (GBytes) bytes = g_bytes_new (file->data, file->len);

  g_byte_array_unref (file);
  return dyno_onnx_model_parse (bytes, folder, DYNO_ONNX_READ_ALL, error);
}

void
onnx_test_fails (GByteArray *file, const char *folder, DynoOnnxError code, const char *pattern)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoOnnxModel) model = onnx_test_parse (file, folder, &error);

  g_assert_null (model);
  g_assert_error (error, DYNO_ONNX_ERROR, (gint) code);
  if (!g_pattern_match_simple (pattern, error->message))
    g_error ("“%s” is not “%s”", error->message, pattern);
}
