/* SPDX-License-Identifier: MIT */
/* Small models, written as text. */
#include "onnx-test.h"
#include <string.h>

static void
add_dims (GByteArray *graph, guint field, const char *name, const char *list)
{
  GByteArray *value = g_byte_array_new (), *type = g_byte_array_new (),
             *tensor = g_byte_array_new (), *shape = g_byte_array_new ();
  g_auto (GStrv) dims = g_strsplit (list, ",", -1);

  for (guint i = 0; dims[i]; i++)
    {
      GByteArray *dim = g_byte_array_new ();
      if (g_ascii_isalpha (*dims[i]))
        dyno_proto_string (dim, DYNO_ONNX_DIM_NAME, strcmp (dims[i], "N") ? dims[i] : "batch");
      else
        dyno_proto_uint (dim, DYNO_ONNX_DIM_VALUE, g_ascii_strtoull (dims[i], NULL, 10));
      onnx_test_add (shape, DYNO_ONNX_SHAPE_DIM, dim);
    }
  dyno_proto_uint (tensor, DYNO_ONNX_TENSOR_TYPE_ELEMENT, DYNO_ONNX_FLOAT);
  if (strcmp (list, "?") != 0)
    dyno_proto_message (tensor, DYNO_ONNX_TENSOR_TYPE_SHAPE, shape);
  g_byte_array_unref (shape);
  onnx_test_add (type, DYNO_ONNX_TYPE_TENSOR, tensor);
  dyno_proto_string (value, DYNO_ONNX_VALUE_NAME, name);
  onnx_test_add (value, DYNO_ONNX_VALUE_TYPE, type);
  onnx_test_add (graph, field, value);
}

/* Adds a weight of zeros (type w), integers (i) or floats (f); numbers without a comma are a
 * scalar, unless the list ends with one. */
static void
add_initializer (GByteArray *graph, char type, const char *name, const char *list)
{
  g_auto (GStrv) words = g_strsplit (list, ",", -1);
  gint64 dims[8];
  guint n = g_strv_length (words);
  g_autoptr (GByteArray) values = g_byte_array_new ();
  GByteArray *tensor;

  if (type == 'w')
    {
      gsize count = 1;
      for (guint i = 0; i < n; i++)
        count *= (gsize) (dims[i] = g_ascii_strtoll (words[i], NULL, 10));
      g_byte_array_set_size (values, (guint) (count * sizeof (float)));
      memset (values->data, 0, values->len);
    }
  for (guint i = 0; type != 'w' && i < n && *words[i]; i++)
    {
      gint64 number = g_ascii_strtoll (words[i], NULL, 10);
      float real = (float) g_ascii_strtod (words[i], NULL);
      if (type == 'i')
        g_byte_array_append (values, (const guint8 *) &number, sizeof number);
      else
        g_byte_array_append (values, (const guint8 *) &real, sizeof real);
    }
  if (type != 'w')
    {
      dims[0] = (gint64) (values->len / (type == 'i' ? 8 : 4));
      n = strchr (list, ',') ? 1 : 0;
    }
  tensor = onnx_test_tensor (name, type == 'i' ? DYNO_ONNX_INT64 : DYNO_ONNX_FLOAT, dims, n);
  dyno_proto_bytes (tensor, DYNO_ONNX_TENSOR_RAW, values->data, values->len);
  onnx_test_add (graph, DYNO_ONNX_GRAPH_INITIALIZER, tensor);
}

/* "group=2", "pads=1,1,1,1", "axes=1,", "alpha=0.5", "auto_pad=VALID", "activations=Sigmoid,Tanh":
 * the type follows from the form of the value. */
static void
add_attribute (GByteArray *node, const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, "=", 2);
  g_auto (GStrv) words = g_strsplit (parts[1], ",", -1);
  GByteArray *a = g_byte_array_new ();
  guint type = DYNO_ONNX_IS_INT;

  dyno_proto_string (a, DYNO_ONNX_ATTRIBUTE_NAME, parts[0]);
  if (g_ascii_isalpha (*parts[1]) && words[1])
    {
      type = DYNO_ONNX_IS_TEXTS;
      for (guint i = 0; words[i]; i++)
        dyno_proto_string (a, DYNO_ONNX_ATTRIBUTE_TEXTS, words[i]);
    }
  else if (g_ascii_isalpha (*parts[1]))
    {
      type = DYNO_ONNX_IS_TEXT;
      dyno_proto_string (a, DYNO_ONNX_ATTRIBUTE_TEXT, parts[1]);
    }
  else if (words[1])
    {
      type = DYNO_ONNX_IS_INTS;
      for (guint i = 0; words[i] && *words[i]; i++)
        dyno_proto_uint (a, DYNO_ONNX_ATTRIBUTE_INTS,
                         (guint64) g_ascii_strtoll (words[i], NULL, 10));
    }
  else if (strchr (parts[1], '.'))
    {
      type = DYNO_ONNX_IS_FLOAT;
      dyno_proto_float (a, DYNO_ONNX_ATTRIBUTE_F, (float) g_ascii_strtod (parts[1], NULL));
    }
  else
    dyno_proto_uint (a, DYNO_ONNX_ATTRIBUTE_I, (guint64) g_ascii_strtoll (parts[1], NULL, 10));
  dyno_proto_uint (a, DYNO_ONNX_ATTRIBUTE_TYPE, type);
  onnx_test_add (node, DYNO_ONNX_NODE_ATTRIBUTE, a);
}

GByteArray *
onnx_test_text (const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, ";", -1);
  GByteArray *graph = g_byte_array_new (), *node;
  guint64 version = 17;

  for (guint i = 0; lines[i]; i++)
    {
      g_auto (GStrv) words = g_strsplit (g_strstrip (lines[i]), " ", -1);
      if (strcmp (words[0], "in") == 0)
        add_dims (graph, DYNO_ONNX_GRAPH_INPUT, words[1], words[2]);
      else if (strcmp (words[0], "out") == 0)
        add_dims (graph, DYNO_ONNX_GRAPH_OUTPUT, words[1], words[2]);
      else if (strcmp (words[0], "opset") == 0)
        version = g_ascii_strtoull (words[1], NULL, 10);
      else if (strlen (words[0]) == 1)
        add_initializer (graph, *words[0], words[1], words[2]);
      else
        {
          node =
              onnx_test_node (words[0], strcmp (words[1], "-") ? words[1] : "", words[2], words[3]);
          for (guint k = 4; words[k]; k++)
            add_attribute (node, words[k]);
          onnx_test_add (graph, DYNO_ONNX_GRAPH_NODE, node);
        }
    }
  return onnx_test_file_of (graph, version);
}
