/* SPDX-License-Identifier: MIT */
/* Models: their contents are those of the file, and those that cannot become networks are refused
 * by name. */
#include "onnx-test.h"
#include <fcntl.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* A graph with the nodes "OP NAME INPUTS OUTPUTS", separated by semicolons, from x to y. */
static GByteArray *
nodes (const char *text)
{
  GByteArray *graph = g_byte_array_new ();
  g_auto (GStrv) rows = g_strsplit (text, ";", -1);

  onnx_test_add (graph, DYNO_ONNX_GRAPH_INPUT, onnx_test_value ("x", 4));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_OUTPUT, onnx_test_value ("y", 4));
  for (guint i = 0; rows[i]; i++)
    {
      g_auto (GStrv) words = g_strsplit (rows[i], " ", 4);

      onnx_test_add (graph, DYNO_ONNX_GRAPH_NODE,
                     onnx_test_node (words[0], words[1], words[2], words[3]));
    }
  return graph;
}

static void
add_pair (GByteArray *file, const char *key, const char *value)
{
  GByteArray *pair = g_byte_array_new ();

  dyno_proto_string (pair, DYNO_ONNX_PAIR_KEY, key);
  dyno_proto_string (pair, DYNO_ONNX_PAIR_VALUE, value);
  onnx_test_add (file, DYNO_ONNX_MODEL_METADATA, pair);
}

static void
add_opset (GByteArray *file, const char *domain, guint version)
{
  GByteArray *opset = g_byte_array_new ();

  dyno_proto_string (opset, DYNO_ONNX_OPSET_DOMAIN, domain);
  dyno_proto_uint (opset, DYNO_ONNX_OPSET_VERSION, version);
  onnx_test_add (file, DYNO_ONNX_MODEL_OPSET, opset);
}

/* --- contents of a file ----------------------------------------------------------------------- */

static void
test_head (void)
{
  GByteArray *file = onnx_test_file (onnx_test_graph ());
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoOnnxModel) model = NULL;

  add_opset (file, "com.example", 3);
  add_pair (file, "task", "classes");
  add_pair (file, "note", "");
  model = onnx_test_parse (file, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (model->ir_version, ==, 8);
  g_assert_cmpstr (model->producer, ==, "tests");
  g_assert_cmpstr (model->producer_version, ==, "2");
  g_assert_cmpstr (model->graph_name, ==, "small");
  g_assert_cmpuint (model->n_opsets, ==, 2);
  g_assert_cmpint (dyno_onnx_model_get_opset (model, ""), ==, 17);
  g_assert_cmpint (dyno_onnx_model_get_opset (model, "com.example"), ==, 3);
  g_assert_cmpint (dyno_onnx_model_get_opset (model, "com"), ==, 0);
  g_assert_cmpuint (model->n_metadata, ==, 2);
  g_assert_cmpstr (model->metadata[0].key, ==, "task");
  g_assert_cmpstr (model->metadata[0].value, ==, "classes");
}

static void
test_values (void)
{
  GByteArray *graph = onnx_test_graph (), *bare = g_byte_array_new (), *unknown;
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoOnnxModel) model = NULL;

  dyno_proto_string (bare, DYNO_ONNX_VALUE_NAME, "bare");
  onnx_test_add (graph, DYNO_ONNX_GRAPH_VALUE, bare);
  unknown = onnx_test_value ("unknown", -7);
  onnx_test_add (graph, DYNO_ONNX_GRAPH_VALUE, unknown);
  model = onnx_test_parse (onnx_test_file (graph), NULL, &error);
  g_assert_no_error (error);
  g_assert_true (model->n_inputs == 1 && model->n_outputs == 1 && model->n_values == 2);
  g_assert_cmpstr (model->inputs[0].name, ==, "x");
  g_assert_cmpstr (model->outputs[0].name, ==, "y");
  g_assert_cmpuint (model->inputs[0].type, ==, DYNO_ONNX_FLOAT);
  g_assert_true (model->inputs[0].has_shape && model->inputs[0].n_dims == 2);
  g_assert_cmpint (model->inputs[0].dims[0].value, ==, -1);
  g_assert_cmpstr (model->inputs[0].dims[0].name, ==, "batch");
  g_assert_cmpint (model->inputs[0].dims[1].value, ==, 4);
  g_assert_cmpstr (model->inputs[0].dims[1].name, ==, "");
  g_assert_true (!model->values[0].has_shape && model->values[0].type == 0);
  g_assert_cmpint (model->values[1].dims[1].value, ==, -1);
}

static void
add_float_attribute (GByteArray *node, const char *name, float value)
{
  GByteArray *attribute = g_byte_array_new ();

  dyno_proto_string (attribute, DYNO_ONNX_ATTRIBUTE_NAME, name);
  dyno_proto_float (attribute, DYNO_ONNX_ATTRIBUTE_F, value); /* no type, as in old files */
  onnx_test_add (node, DYNO_ONNX_NODE_ATTRIBUTE, attribute);
}

/* An attribute with a list: ints as one field or many, floats, texts. */
static void
add_list (GByteArray *node, const char *name, guint type, gboolean packed)
{
  static const guint64 ints[] = { 3, G_MAXUINT64 };
  static const float floats[] = { 0.5f, -2 };
  GByteArray *attribute = g_byte_array_new ();

  dyno_proto_string (attribute, DYNO_ONNX_ATTRIBUTE_NAME, name);
  dyno_proto_uint (attribute, DYNO_ONNX_ATTRIBUTE_TYPE, type);
  if (type == DYNO_ONNX_IS_INTS && packed)
    dyno_proto_packed (attribute, DYNO_ONNX_ATTRIBUTE_INTS, ints, 2);
  if (type == DYNO_ONNX_IS_FLOATS && packed)
    dyno_proto_bytes (attribute, DYNO_ONNX_ATTRIBUTE_FLOATS, floats, sizeof floats);
  for (guint i = 0; i < 2; i++)
    {
      if (type == DYNO_ONNX_IS_INTS && !packed)
        dyno_proto_uint (attribute, DYNO_ONNX_ATTRIBUTE_INTS, ints[i]);
      if (type == DYNO_ONNX_IS_FLOATS && !packed)
        dyno_proto_float (attribute, DYNO_ONNX_ATTRIBUTE_FLOATS, floats[i]);
      if (type == DYNO_ONNX_IS_TEXTS)
        dyno_proto_string (attribute, DYNO_ONNX_ATTRIBUTE_TEXTS, i == 0 ? "Sigmoid" : "Tanh");
    }
  onnx_test_add (node, DYNO_ONNX_NODE_ATTRIBUTE, attribute);
}

static void
add_text_attribute (GByteArray *node, const char *name, const char *value)
{
  GByteArray *attribute = g_byte_array_new ();

  dyno_proto_string (attribute, DYNO_ONNX_ATTRIBUTE_NAME, name);
  dyno_proto_string (attribute, DYNO_ONNX_ATTRIBUTE_TEXT, value);
  dyno_proto_uint (attribute, DYNO_ONNX_ATTRIBUTE_TYPE, DYNO_ONNX_IS_TEXT);
  onnx_test_add (node, DYNO_ONNX_NODE_ATTRIBUTE, attribute);
}

static void
add_tensor_attribute (GByteArray *node, const char *name, gsize size)
{
  static const gint64 dims[] = { 2 };
  static const guint8 bytes[16] = { 1, 2, 3 };
  GByteArray *attribute = g_byte_array_new (),
             *tensor = onnx_test_tensor ("", DYNO_ONNX_INT64, dims, 1);

  dyno_proto_bytes (tensor, DYNO_ONNX_TENSOR_RAW, bytes, size);
  dyno_proto_string (attribute, DYNO_ONNX_ATTRIBUTE_NAME, name);
  onnx_test_add (attribute, DYNO_ONNX_ATTRIBUTE_TENSOR, tensor);
  dyno_proto_uint (attribute, DYNO_ONNX_ATTRIBUTE_TYPE, DYNO_ONNX_IS_TENSOR);
  onnx_test_add (node, DYNO_ONNX_NODE_ATTRIBUTE, attribute);
}

static void
check_attributes (const DynoOnnxModel *model)
{
  const DynoOnnxNode *node = &model->nodes[1];
  const DynoOnnxAttribute *a;
  g_autoptr (GBytes) values = NULL;

  g_assert_cmpuint (node->n_attributes, ==, 8);
  g_assert_null (dyno_onnx_node_find_attribute (node, "none"));
  a = dyno_onnx_node_find_attribute (node, "int");
  g_assert_true (a->type == DYNO_ONNX_IS_INT && a->i == -3);
  a = dyno_onnx_node_find_attribute (node, "float");
  g_assert_true (a->type == DYNO_ONNX_IS_FLOAT && a->f == 0.25f);
  a = dyno_onnx_node_find_attribute (node, "text");
  g_assert_true (a->type == DYNO_ONNX_IS_TEXT && g_str_equal (a->s, "SAME_UPPER"));
  for (guint i = 0; i < 2; i++)
    {
      a = dyno_onnx_node_find_attribute (node, i == 0 ? "ints" : "packed");
      g_assert_true (a->n == 2 && a->ints[0] == 3 && a->ints[1] == -1 && !a->floats);
    }
  a = dyno_onnx_node_find_attribute (node, "floats");
  g_assert_true (a->n == 2 && a->floats[0] == 0.5f && a->floats[1] == -2 && !a->ints);
  a = dyno_onnx_node_find_attribute (node, "texts");
  g_assert_true (a->n == 2 && g_str_equal (a->strings[0], "Sigmoid")
                 && g_str_equal (a->strings[1], "Tanh"));
  a = dyno_onnx_node_find_attribute (node, "tensor");
  values = dyno_onnx_tensor_read (model, a->t, NULL);
  g_assert_cmpuint (g_bytes_get_size (values), ==, 16);
}

static void
test_nodes (void)
{
  GByteArray *graph = onnx_test_graph (), *node = onnx_test_node ("Odd", "", "y,,x", "z,,t");
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoOnnxModel) model = NULL;

  onnx_test_attribute_int (node, "int", -3);
  add_float_attribute (node, "float", 0.25f);
  add_text_attribute (node, "text", "SAME_UPPER");
  add_list (node, "ints", DYNO_ONNX_IS_INTS, FALSE);
  add_list (node, "packed", DYNO_ONNX_IS_INTS, TRUE);
  add_list (node, "floats", DYNO_ONNX_IS_FLOATS, TRUE);
  add_list (node, "texts", DYNO_ONNX_IS_TEXTS, FALSE);
  add_tensor_attribute (node, "tensor", 16);
  dyno_proto_string (node, DYNO_ONNX_NODE_DOMAIN, "ai.onnx");
  onnx_test_add (graph, DYNO_ONNX_GRAPH_NODE, node);
  model = onnx_test_parse (onnx_test_file (graph), NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (model->n_nodes, ==, 2);
  g_assert_cmpstr (model->nodes[0].name, ==, "first");
  g_assert_cmpstr (model->nodes[1].op_type, ==, "Odd");
  g_assert_cmpstr (model->nodes[1].domain, ==, "");
  g_assert_true (model->nodes[1].n_inputs == 3 && model->nodes[1].n_outputs == 3);
  g_assert_cmpstr (model->nodes[1].inputs[1], ==, "");
  g_assert_cmpstr (model->nodes[1].inputs[2], ==, "x");
  g_assert_cmpstr (model->nodes[1].outputs[2], ==, "t");
  check_attributes (model);
}

/* A file that is truncated anywhere is never read as complete. */
static void
test_truncated (void)
{
  g_autoptr (GByteArray) file = NULL;
  GByteArray *graph = onnx_test_graph (), *node = onnx_test_node ("Odd", "n", "y", "z");

  add_list (node, "ints", DYNO_ONNX_IS_INTS, TRUE);
  add_tensor_attribute (node, "tensor", 16);
  onnx_test_add (graph, DYNO_ONNX_GRAPH_NODE, node);
  file = onnx_test_file (graph);
  for (gsize size = 0; size < file->len; size++)
    {
      GByteArray *part = g_byte_array_new ();

      g_byte_array_append (part, file->data, (guint) size);
      onnx_test_fails (part, NULL, DYNO_ONNX_ERROR_CORRUPT, "*");
    }
}

static void
test_references (void)
{
  DynoOnnxModel *model = onnx_test_parse (onnx_test_file (onnx_test_graph ()), NULL, NULL);

  g_assert_true (dyno_onnx_model_ref (model) == model);
  dyno_onnx_model_unref (model);
  g_assert_cmpstr (model->nodes[0].name, ==, "first");
  dyno_onnx_model_unref (model);
}

static void
test_opens (void)
{
  g_autofree char *folder = g_dir_make_tmp ("dyno-onnx-XXXXXX", NULL),
                  *path = g_build_filename (folder, "small.onnx", NULL), *expected = NULL;
  g_autoptr (GByteArray) file = onnx_test_file (onnx_test_graph ());
  g_autoptr (GError) error = NULL, missing = NULL;
  g_autoptr (DynoOnnxModel) model = NULL;

  g_assert_true (g_file_set_contents (path, (const char *) file->data, file->len, NULL));
  model = dyno_onnx_model_open (path, DYNO_ONNX_READ_ALL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (model->n_nodes, ==, 1);
  g_unlink (path);
  g_assert_null (dyno_onnx_model_open (path, DYNO_ONNX_READ_ALL, &missing));
  g_assert_error (missing, DYNO_ONNX_ERROR, DYNO_ONNX_ERROR_IO);
  expected = g_strdup_printf ("“%s”: No such file or directory", path);
  g_assert_cmpstr (missing->message, ==, expected);
  g_assert_null (dyno_onnx_model_open (folder, DYNO_ONNX_READ_ALL, NULL));
  g_rmdir (folder);
}

/* --- order ------------------------------------------------------------------------------------ */

static char *
order_of (GByteArray *graph)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoOnnxModel) model = onnx_test_parse (onnx_test_file (graph), NULL, &error);
  g_autoptr (GString) names = g_string_new (NULL);

  g_assert_no_error (error);
  for (guint i = 0; i < model->n_nodes; i++)
    g_string_append (names, model->nodes[i].name);
  return g_strdup (names->str);
}

static void
test_order (void)
{
  static const struct {
    const char *nodes, *order;
  } rows[] = {
    { "Relu a x m;Relu b x n;Add c m,n y", "abc" },
    { "Relu b x n;Relu a x m;Add c m,n y", "bac" }, /* in another valid order, which is kept */
    { "Add c m,n y;Relu a x m;Relu b x n", "abc" },
    { "Relu d r y;Relu c q r;Relu b p q;Relu a x p", "abcd" },
    { "Relu e x t;Add c m,n y;Relu a x m;Relu b m n", "eabc" },
    { "Add c m,m y;Relu a x m", "ac" },
    { "Odd c m,,m y;Relu a x m", "ac" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *order = order_of (nodes (rows[i].nodes));

      g_assert_cmpstr (order, ==, rows[i].order);
    }
}

/* A chain in the reverse order of the file, far longer than the call stack allows. */
static void
test_long_chain (void)
{
  const guint n = 200000;
  GByteArray *graph = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoOnnxModel) model = NULL;

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *in = g_strdup_printf ("v%u", n - i - 1),
                      *out = g_strdup_printf ("v%u", n - i);

      onnx_test_add (graph, DYNO_ONNX_GRAPH_NODE, onnx_test_node ("Relu", "", in, out));
    }
  onnx_test_add (graph, DYNO_ONNX_GRAPH_INPUT, onnx_test_value ("v0", 4));
  model = onnx_test_parse (onnx_test_file (graph), NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (model->nodes[0].inputs[0], ==, "v0");
  g_assert_cmpstr (model->nodes[n - 1].inputs[0], ==, "v199999");
}

/* --- refusals --------------------------------------------------------------------------------- */

static void
test_node_refusals (void)
{
  static const struct {
    const char *nodes, *message;
  } rows[] = {
    { "Relu a m y", "Relu “a” reads the value “m”, which nothing makes" },
    { "Relu a x m", "output “y” is a value that nothing makes" },
    { "Relu a x y;Relu b x y", "value “y” is made twice: by Relu “a” and by Relu “b”" },
    { "Odd a x y,y", "value “y” is made twice: by Odd “a” and by Odd “a”" },
    { "Relu a x x;Relu b x y",
      "value “x” is made twice: by an input or initialiser and by Relu “a”" },
    { "Relu a y y", "nodes wait for each other's outputs in a circle: Relu “a”" },
    { "Add a x,n m;Relu b m n;Relu c m y",
      "nodes wait for each other's outputs in a circle: Add “a”, Relu “b”" },
    { "Relu d m y;Add a x,p m;Relu b m n;Relu c n p",
      "nodes wait for each other's outputs in a circle: Add “a”, Relu “c”, Relu “b”" },
    { " a x y", "node “a” has no operator" },
    { "  x y", "node “y” has no operator" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    onnx_test_fails (onnx_test_file (nodes (rows[i].nodes)), NULL, DYNO_ONNX_ERROR_CORRUPT,
                     rows[i].message);
}

/* A long cycle is not listed as a whole. */
static void
test_long_circle (void)
{
  g_autoptr (GString) text = g_string_new ("Relu z v0 y");

  for (guint i = 0; i < 12; i++)
    g_string_append_printf (text, ";Relu n%u v%u v%u", i, (i + 1) % 12, i);
  onnx_test_fails (onnx_test_file (nodes (text->str)), NULL, DYNO_ONNX_ERROR_CORRUPT,
                   "*circle: Relu “n0”, Relu “n1”, *, Relu “n7” and 4 more");
}

static GByteArray *
with_graph_field (guint field, GByteArray *inner)
{
  GByteArray *graph = onnx_test_graph ();

  onnx_test_add (graph, field, inner);
  return onnx_test_file (graph);
}

static GByteArray *
scalar (const char *name, guint type)
{
  GByteArray *tensor = onnx_test_tensor (name, type, NULL, 0);

  dyno_proto_bytes (tensor, DYNO_ONNX_TENSOR_RAW, "abcd", 4);
  return tensor;
}

static void
test_repeated_names (void)
{
  GByteArray *graph = onnx_test_graph ();
  g_autoptr (DynoOnnxModel) model = NULL;

  onnx_test_fails (with_graph_field (DYNO_ONNX_GRAPH_INPUT, onnx_test_value ("x", 4)), NULL,
                   DYNO_ONNX_ERROR_CORRUPT, "it has two inputs “x”");
  onnx_test_fails (with_graph_field (DYNO_ONNX_GRAPH_OUTPUT, onnx_test_value ("y", 4)), NULL,
                   DYNO_ONNX_ERROR_CORRUPT, "it has two outputs “y”");
  onnx_test_fails (with_graph_field (DYNO_ONNX_GRAPH_INPUT, onnx_test_value ("", 4)), NULL,
                   DYNO_ONNX_ERROR_CORRUPT, "input 1 has no name");
  onnx_test_fails (with_graph_field (DYNO_ONNX_GRAPH_INITIALIZER, scalar ("y", DYNO_ONNX_FLOAT)),
                   NULL, DYNO_ONNX_ERROR_CORRUPT, "value “y” is made twice: *");
  onnx_test_fails (with_graph_field (DYNO_ONNX_GRAPH_INITIALIZER, scalar ("", DYNO_ONNX_FLOAT)),
                   NULL, DYNO_ONNX_ERROR_CORRUPT, "initialiser 0 has no name");
  onnx_test_add (graph, DYNO_ONNX_GRAPH_INITIALIZER, scalar ("w", DYNO_ONNX_FLOAT));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_INITIALIZER, scalar ("w", DYNO_ONNX_FLOAT));
  onnx_test_fails (onnx_test_file (graph), NULL, DYNO_ONNX_ERROR_CORRUPT,
                   "it has two initialisers “w”");
  graph = onnx_test_graph ();
  onnx_test_add (graph, DYNO_ONNX_GRAPH_VALUE, onnx_test_value ("y", 4));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_VALUE, onnx_test_value ("y", 4));
  onnx_test_fails (onnx_test_file (graph), NULL, DYNO_ONNX_ERROR_CORRUPT,
                   "it describes the value “y” twice");
  /* The initializer is the default of an input. */
  model = onnx_test_parse (
      with_graph_field (DYNO_ONNX_GRAPH_INITIALIZER, scalar ("x", DYNO_ONNX_FLOAT)), NULL, NULL);
  g_assert_true (model && dyno_onnx_model_find_initializer (model, "x") == model->initializers);
  g_assert_null (dyno_onnx_model_find_initializer (model, "y"));
}

static GByteArray *
with_attribute (const char *name, guint type, guint field, gboolean reference)
{
  GByteArray *node = onnx_test_node ("If", "a", "x", "z"), *attribute = g_byte_array_new ();

  dyno_proto_string (attribute, DYNO_ONNX_ATTRIBUTE_NAME, name);
  if (type)
    dyno_proto_uint (attribute, DYNO_ONNX_ATTRIBUTE_TYPE, type);
  if (field == DYNO_ONNX_ATTRIBUTE_I)
    dyno_proto_uint (attribute, field, 1);
  else if (field)
    dyno_proto_bytes (attribute, field, "", 0);
  if (reference)
    dyno_proto_string (attribute, DYNO_ONNX_ATTRIBUTE_REFERENCE, "outer");
  onnx_test_add (node, DYNO_ONNX_NODE_ATTRIBUTE, attribute);
  return with_graph_field (DYNO_ONNX_GRAPH_NODE, node);
}

static void
test_attribute_refusals (void)
{
  GByteArray *node = onnx_test_node ("Odd", "a", "x", "z");

  onnx_test_fails (with_attribute ("", DYNO_ONNX_IS_INT, DYNO_ONNX_ATTRIBUTE_I, FALSE), NULL,
                   DYNO_ONNX_ERROR_CORRUPT, "If “a” has an attribute without a name");
  onnx_test_fails (with_attribute ("k", DYNO_ONNX_IS_INTS, DYNO_ONNX_ATTRIBUTE_I, FALSE), NULL,
                   DYNO_ONNX_ERROR_CORRUPT,
                   "attribute “k” of If “a” has a value of another type than it says");
  onnx_test_fails (with_attribute ("k", 0, 0, FALSE), NULL, DYNO_ONNX_ERROR_CORRUPT,
                   "attribute “k” of If “a” has no known type");
  onnx_test_fails (with_attribute ("k", 15, 0, FALSE), NULL, DYNO_ONNX_ERROR_CORRUPT,
                   "attribute “k” of If “a” has no known type");
  onnx_test_fails (with_attribute ("k", DYNO_ONNX_IS_TENSOR, 0, FALSE), NULL,
                   DYNO_ONNX_ERROR_CORRUPT, "attribute “k” of If has no tensor");
  onnx_test_fails (with_attribute ("k", DYNO_ONNX_IS_INT, DYNO_ONNX_ATTRIBUTE_I, TRUE), NULL,
                   DYNO_ONNX_ERROR_UNSUPPORTED,
                   "it has attributes that are not read: If “a” (k: a function's)");
  onnx_test_attribute_int (node, "k", 1);
  onnx_test_attribute_int (node, "k", 1);
  onnx_test_fails (with_graph_field (DYNO_ONNX_GRAPH_NODE, node), NULL, DYNO_ONNX_ERROR_CORRUPT,
                   "Odd “a” has two attributes “k”");
  node = onnx_test_node ("Odd", "a", "x", "z");
  add_tensor_attribute (node, "k", 12);
  onnx_test_fails (with_graph_field (DYNO_ONNX_GRAPH_NODE, node), NULL, DYNO_ONNX_ERROR_CORRUPT,
                   "the tensor of attribute “k” of Odd “a” has 12 bytes, its shape asks for 16");
}

/* All nodes with subgraphs are listed, up to a limit. */
static void
test_subgraphs (void)
{
  for (guint n = 1; n <= 12; n += 11)
    {
      GByteArray *graph = onnx_test_graph ();

      for (guint i = 0; i < n; i++)
        {
          g_autofree char *name = g_strdup_printf ("if%u", i);
          GByteArray *node = onnx_test_node ("If", name, "x", name),
                     *attribute = g_byte_array_new ();

          dyno_proto_string (attribute, DYNO_ONNX_ATTRIBUTE_NAME, "then_branch");
          dyno_proto_bytes (attribute, DYNO_ONNX_ATTRIBUTE_GRAPH, "anything", 8);
          dyno_proto_uint (attribute, DYNO_ONNX_ATTRIBUTE_TYPE, DYNO_ONNX_IS_GRAPH);
          onnx_test_add (node, DYNO_ONNX_NODE_ATTRIBUTE, attribute);
          onnx_test_add (graph, DYNO_ONNX_GRAPH_NODE, node);
        }
      onnx_test_fails (onnx_test_file (graph), NULL, DYNO_ONNX_ERROR_UNSUPPORTED,
                       n == 1
                           ? "it has attributes that are not read: If “if0” (then_branch: a graph)"
                           : "*: If “if0” (then_branch: a graph), *If “if7” (then_branch: a "
                             "graph) and 4 more");
    }
}

static void
test_head_refusals (void)
{
  GByteArray *file = g_byte_array_new (), *function = g_byte_array_new (),
             *node = onnx_test_node ("Relu", "a", "x", "z");

  dyno_proto_uint (file, DYNO_ONNX_MODEL_IR, 8);
  onnx_test_fails (file, NULL, DYNO_ONNX_ERROR_CORRUPT, "it has no graph");
  file = onnx_test_file (onnx_test_graph ());
  dyno_proto_uint (file, DYNO_ONNX_MODEL_IR, 0);
  onnx_test_fails (file, NULL, DYNO_ONNX_ERROR_CORRUPT, "it names no version of its format");
  file = onnx_test_file (onnx_test_graph ());
  onnx_test_add (file, DYNO_ONNX_MODEL_GRAPH, onnx_test_graph ());
  onnx_test_fails (file, NULL, DYNO_ONNX_ERROR_CORRUPT, "it has two graphs");
  file = onnx_test_file (onnx_test_graph ());
  add_opset (file, "ai.onnx", 18);
  onnx_test_fails (file, NULL, DYNO_ONNX_ERROR_CORRUPT,
                   "it names two versions of the operators “ai.onnx”");
  file = onnx_test_file (onnx_test_graph ());
  add_opset (file, "com.example", 0);
  onnx_test_fails (file, NULL, DYNO_ONNX_ERROR_CORRUPT,
                   "the version of the operators “com.example” is no positive number");
  file = onnx_test_file (onnx_test_graph ());
  dyno_proto_string (function, DYNO_ONNX_FUNCTION_NAME, "Gelu");
  onnx_test_add (file, DYNO_ONNX_MODEL_FUNCTION, function);
  onnx_test_fails (file, NULL, DYNO_ONNX_ERROR_UNSUPPORTED, "it has functions *, as “Gelu”");
  dyno_proto_string (node, DYNO_ONNX_NODE_DOMAIN, "com.example");
  onnx_test_fails (
      with_graph_field (DYNO_ONNX_GRAPH_NODE, node), NULL, DYNO_ONNX_ERROR_CORRUPT,
      "Relu “a” is of the operators “com.example”, of which the file names no version");
  onnx_test_fails (with_graph_field (DYNO_ONNX_GRAPH_SPARSE, g_byte_array_new ()), NULL,
                   DYNO_ONNX_ERROR_UNSUPPORTED, "it has sparse initialisers, which are not read");
}

static void
test_texts (void)
{
  static const guint fields[] = { DYNO_ONNX_NODE_INPUT, DYNO_ONNX_NODE_OUTPUT, DYNO_ONNX_NODE_NAME,
                                  DYNO_ONNX_NODE_OP, DYNO_ONNX_NODE_DOMAIN };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (fields); i++)
    {
      GByteArray *node = onnx_test_node ("Relu", "a", "x", "z");

      dyno_proto_bytes (node, fields[i / 2], i % 2 ? "a\xff" : "a\0b", i % 2 ? 2 : 3);
      onnx_test_fails (with_graph_field (DYNO_ONNX_GRAPH_NODE, node), NULL, DYNO_ONNX_ERROR_CORRUPT,
                       "a name or text is no UTF-8, at byte *, in a node");
    }
}

static void
test_input_types (void)
{
  GByteArray *value = g_byte_array_new (), *type = g_byte_array_new ();

  dyno_proto_string (value, DYNO_ONNX_VALUE_NAME, "list");
  dyno_proto_bytes (type, 4, "", 0); /* a sequence */
  onnx_test_add (value, DYNO_ONNX_VALUE_TYPE, type);
  onnx_test_fails (with_graph_field (DYNO_ONNX_GRAPH_INPUT, value), NULL,
                   DYNO_ONNX_ERROR_UNSUPPORTED, "input “list” is no tensor of a known type");
}

/* --- limits ----------------------------------------------------------------------------------- */

/* A graph with this many empty messages, none of which would be read. */
static GByteArray *
many (guint field, guint n)
{
  GByteArray *graph = g_byte_array_new ();

  for (guint i = 0; i < n; i++)
    dyno_proto_bytes (graph, field, "", 0);
  return onnx_test_file (graph);
}

static void
test_limits (void)
{
  GByteArray *file, *shape = g_byte_array_new (), *type = g_byte_array_new (),
                    *value = g_byte_array_new (), *tensor = g_byte_array_new ();

  onnx_test_fails (many (DYNO_ONNX_GRAPH_NODE, DYNO_ONNX_MAX_NODES + 1), NULL,
                   DYNO_ONNX_ERROR_LIMIT, "it has more than 1000000 nodes");
  onnx_test_fails (many (DYNO_ONNX_GRAPH_NODE, DYNO_ONNX_MAX_NODES), NULL, DYNO_ONNX_ERROR_CORRUPT,
                   "node “” has no operator");
  onnx_test_fails (many (DYNO_ONNX_GRAPH_INITIALIZER, DYNO_ONNX_MAX_TENSORS + 1), NULL,
                   DYNO_ONNX_ERROR_LIMIT, "it has more than 1000000 tensors");
  onnx_test_fails (many (DYNO_ONNX_GRAPH_VALUE, DYNO_ONNX_MAX_VALUES + 1), NULL,
                   DYNO_ONNX_ERROR_LIMIT, "it has more than 4000000 values");
  file = onnx_test_file (onnx_test_graph ());
  for (guint i = 0; i < DYNO_ONNX_MAX_OPSETS; i++)
    add_opset (file, "a", 1);
  onnx_test_fails (file, NULL, DYNO_ONNX_ERROR_LIMIT, "it has more than 100 sets of operators");
  file = onnx_test_file (onnx_test_graph ());
  for (guint i = 0; i <= DYNO_ONNX_MAX_PAIRS; i++)
    add_pair (file, "", "");
  onnx_test_fails (file, NULL, DYNO_ONNX_ERROR_LIMIT,
                   "it has more than 100000 entries of metadata");
  for (guint i = 0; i <= DYNO_ONNX_MAX_DIMS; i++)
    dyno_proto_bytes (shape, DYNO_ONNX_SHAPE_DIM, "", 0);
  dyno_proto_string (value, DYNO_ONNX_VALUE_NAME, "deep");
  onnx_test_add (tensor, DYNO_ONNX_TENSOR_TYPE_SHAPE, shape);
  onnx_test_add (type, DYNO_ONNX_TYPE_TENSOR, tensor);
  onnx_test_add (value, DYNO_ONNX_VALUE_TYPE, type);
  onnx_test_fails (with_graph_field (DYNO_ONNX_GRAPH_VALUE, value), NULL, DYNO_ONNX_ERROR_LIMIT,
                   "value “deep” has more than 16 axes");
}

static GByteArray *
many_in_node (guint field, guint n)
{
  GByteArray *node = onnx_test_node ("Odd", "a", "x", "z");

  for (guint i = 0; i < n; i++)
    dyno_proto_bytes (node, field, "", 0);
  return with_graph_field (DYNO_ONNX_GRAPH_NODE, node);
}

static void
test_limits_of_nodes (void)
{
  GByteArray *node = onnx_test_node ("Odd", "a", "x", "z"), *attribute = g_byte_array_new ();
  g_autofree guint8 *zeros = g_malloc0 (DYNO_ONNX_MAX_NUMBERS + 1);

  onnx_test_fails (many_in_node (DYNO_ONNX_NODE_ATTRIBUTE, DYNO_ONNX_MAX_ATTRIBUTES + 1), NULL,
                   DYNO_ONNX_ERROR_LIMIT, "it has more than 4000000 attributes");
  onnx_test_fails (many_in_node (DYNO_ONNX_NODE_OUTPUT, DYNO_ONNX_MAX_LINKS - 2), NULL,
                   DYNO_ONNX_ERROR_LIMIT, "it has more than 16000000 inputs and outputs of nodes");
  dyno_proto_string (attribute, DYNO_ONNX_ATTRIBUTE_NAME, "k");
  dyno_proto_uint (attribute, DYNO_ONNX_ATTRIBUTE_TYPE, DYNO_ONNX_IS_INTS);
  dyno_proto_bytes (attribute, DYNO_ONNX_ATTRIBUTE_INTS, zeros, DYNO_ONNX_MAX_NUMBERS + 1);
  onnx_test_add (node, DYNO_ONNX_NODE_ATTRIBUTE, attribute);
  onnx_test_fails (with_graph_field (DYNO_ONNX_GRAPH_NODE, node), NULL, DYNO_ONNX_ERROR_LIMIT,
                   "it has more than 16000000 numbers in attributes");
}

/* --- weights only ----------------------------------------------------------------------------- */

/* Nodes are not examined if only tensors are requested. */
static void
test_tensors_only (void)
{
  GByteArray *graph = onnx_test_graph (), *node = onnx_test_node ("", "", "nothing", "x");
  g_autoptr (GByteArray) file = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoOnnxModel) model = NULL;

  dyno_proto_bytes (node, DYNO_ONNX_NODE_ATTRIBUTE, "\xff", 1);
  onnx_test_add (graph, DYNO_ONNX_GRAPH_NODE, node);
  dyno_proto_bytes (graph, DYNO_ONNX_GRAPH_INPUT, "\xff", 1);
  onnx_test_add (graph, DYNO_ONNX_GRAPH_INITIALIZER, scalar ("w", DYNO_ONNX_FLOAT));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_INITIALIZER, scalar ("w", DYNO_ONNX_FLOAT));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_INITIALIZER, scalar ("odd", 99));
  file = onnx_test_file (graph);
  dyno_proto_bytes (file, DYNO_ONNX_MODEL_FUNCTION, "\xff", 1);
  bytes = g_bytes_new (file->data, file->len);
  model = dyno_onnx_model_parse (bytes, NULL, DYNO_ONNX_READ_TENSORS, &error);
  g_assert_no_error (error);
  g_assert_true (model->n_initializers == 3 && model->n_nodes == 0 && model->n_inputs == 0);
  g_assert_cmpstr (model->producer, ==, "tests");
  g_assert_null (dyno_onnx_tensor_read (model, &model->initializers[2], &error));
  g_assert_error (error, DYNO_ONNX_ERROR, DYNO_ONNX_ERROR_UNSUPPORTED);
}

/* --- weights of nodes ------------------------------------------------------------------------- */

static DynoOnnxModel *
parse_network (GByteArray *file)
{
  g_autoptr (GBytes) bytes = g_byte_array_free_to_bytes (file);
  g_autoptr (GError) error = NULL;
  DynoOnnxModel *model = dyno_onnx_model_parse (bytes, NULL, DYNO_ONNX_READ_NETWORK, &error);

  g_assert_no_error (error);
  return model;
}

static const float eight[] = { 1, 2, 3, 4, 5, 6, 7, 8 };

/* A vector "b" and a matrix "w", which several nodes read. */
static GByteArray *
shared_weights (void)
{
  static const gint64 vector[] = { 8 }, matrix[] = { 2, 4 };
  GByteArray *graph = g_byte_array_new (), *b, *w;

  onnx_test_add (graph, DYNO_ONNX_GRAPH_INPUT, onnx_test_value ("x", 2));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_OUTPUT, onnx_test_value ("y", 2));
  b = onnx_test_tensor ("b", DYNO_ONNX_FLOAT, vector, 1);
  dyno_proto_bytes (b, DYNO_ONNX_TENSOR_RAW, eight, sizeof eight);
  onnx_test_add (graph, DYNO_ONNX_GRAPH_INITIALIZER, b);
  w = onnx_test_tensor ("w", DYNO_ONNX_FLOAT, matrix, 2);
  dyno_proto_bytes (w, DYNO_ONNX_TENSOR_RAW, eight, sizeof eight);
  onnx_test_add (graph, DYNO_ONNX_GRAPH_INITIALIZER, w);
  onnx_test_add (graph, DYNO_ONNX_GRAPH_NODE, onnx_test_node ("Identity", "i", "b", "c"));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_NODE, onnx_test_node ("Identity", "j", "c", "d"));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_NODE, onnx_test_node ("Identity", "k", "x", "x1"));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_NODE, onnx_test_node ("MatMul", "m", "x1,w", "t"));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_NODE, onnx_test_node ("MatMul", "n", "t,w", "u"));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_NODE, onnx_test_node ("Add", "o", "u,b", "v"));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_NODE, onnx_test_node ("Add", "p", "v,b", "q"));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_NODE, onnx_test_node ("Add", "r", "q,d", "s"));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_NODE, onnx_test_node ("Add", "z", "b,s", "y"));
  return onnx_test_file (graph);
}

static void
assert_inputs (const DynoOnnxNode *node, const char *a, const char *b)
{
  g_assert_cmpuint (node->n_inputs, ==, 2);
  g_assert_cmpstr (node->inputs[0], ==, a);
  g_assert_cmpstr (node->inputs[1], ==, b);
}

static void
test_split_weights (void)
{
  static const char *const copies[] = { "b", "c", "d", "b@2", "b@3" };
  g_autoptr (DynoOnnxModel) model = parse_network (shared_weights ());

  /* The Identity nodes of weights are removed, that of a tensor is not. */
  g_assert_cmpuint (model->n_nodes, ==, 7);
  g_assert_cmpstr (model->nodes[0].op_type, ==, "Identity");
  assert_inputs (&model->nodes[1], "x1", "w");
  assert_inputs (&model->nodes[2], "t", "w");
  assert_inputs (&model->nodes[3], "u", "b");
  assert_inputs (&model->nodes[4], "v", "b@2");
  assert_inputs (&model->nodes[5], "q", "d");
  assert_inputs (&model->nodes[6], "b@3", "s");
  g_assert_cmpuint (model->n_initializers, ==, 6);
  for (guint i = 0; i < G_N_ELEMENTS (copies); i++)
    {
      const DynoOnnxTensor *tensor = dyno_onnx_model_find_initializer (model, copies[i]);
      g_autoptr (GBytes) bytes = dyno_onnx_tensor_read (model, tensor, NULL);
      g_assert_cmpstr (tensor->name, ==, copies[i]);
      g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), eight,
                       sizeof eight);
    }
}

/* A tensor of the floats 0, 1, 2 and so on. */
static GByteArray *
numbered_tensor (const char *name, const gint64 *dims, guint n_dims)
{
  GByteArray *tensor = onnx_test_tensor (name, DYNO_ONNX_FLOAT, dims, n_dims);
  g_autoptr (GByteArray) values = g_byte_array_new ();
  gint64 count = 1;

  for (guint i = 0; i < n_dims; i++)
    count *= dims[i];
  for (gint64 i = 0; i < count; i++)
    {
      const float value = (float) i;
      g_byte_array_append (values, (const guint8 *) &value, sizeof value);
    }
  dyno_proto_bytes (tensor, DYNO_ONNX_TENSOR_RAW, values->data, values->len);
  return tensor;
}

/* An initialiser of `rows` rows whose first values are wanted; the values of a row follow each
 * other. */
static void
assert_rows (const DynoOnnxModel *model, const char *name, const guint64 *dims, guint n_dims,
             const float *wanted)
{
  const DynoOnnxTensor *tensor = dyno_onnx_model_find_initializer (model, name);
  g_autoptr (GError) error = NULL;
  guint64 columns = n_dims > 1 ? dims[1] : 1;

  g_assert_nonnull (tensor);
  g_assert_cmpuint (tensor->n_dims, ==, n_dims);
  g_assert_cmpmem (tensor->dims, n_dims * sizeof *dims, dims, n_dims * sizeof *dims);
  g_autoptr (GBytes) bytes = dyno_onnx_tensor_read (model, tensor, &error);
  g_assert_no_error (error);
  const float *values = g_bytes_get_data (bytes, NULL);
  g_assert_cmpuint (g_bytes_get_size (bytes), ==, dims[0] * columns * sizeof *values);
  for (guint64 row = 0; row < dims[0]; row++)
    for (guint64 k = 0; k < columns; k++)
      g_assert_cmpfloat (values[row * columns + k], ==, wanted[row] + (float) k);
}

/* Two units: a GRU of both directions on three values, after an LSTM without biases on one value,
 * with a zero state, which old files name as inputs. */
static GByteArray *
recurrent_graph (void)
{
  static const gint64 w[] = { 1, 8, 1 }, r[] = { 1, 8, 2 }, v[] = { 2, 6, 3 }, u[] = { 2, 6, 2 },
                      b[] = { 2, 12 }, state[] = { 1, 1, 2 };
  GByteArray *graph = g_byte_array_new (),
             *zeros = onnx_test_tensor ("h0", DYNO_ONNX_FLOAT, state, 3);

  dyno_proto_bytes (zeros, DYNO_ONNX_TENSOR_RAW, "\0\0\0\0\0\0\0", 8);
  onnx_test_add (graph, DYNO_ONNX_GRAPH_INPUT, onnx_test_value ("x", 2));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_INPUT, onnx_test_value ("w", 2));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_INPUT, onnx_test_value ("h0", 2));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_OUTPUT, onnx_test_value ("z", 2));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_INITIALIZER, numbered_tensor ("w", w, 3));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_INITIALIZER, numbered_tensor ("r", r, 3));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_INITIALIZER, numbered_tensor ("v", v, 3));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_INITIALIZER, numbered_tensor ("u", u, 3));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_INITIALIZER, numbered_tensor ("b", b, 2));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_INITIALIZER, zeros);
  onnx_test_add (graph, DYNO_ONNX_GRAPH_NODE,
                 onnx_test_node ("LSTM", "/a/b/LSTM_2", "x,w,r,,,h0", "y"));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_NODE, onnx_test_node ("GRU", "gru", "y,v,u,b", "z"));
  return graph;
}

static GByteArray *
external_tensor (const char *name, const gint64 *dims, guint n_dims)
{
  GByteArray *tensor = onnx_test_tensor (name, DYNO_ONNX_FLOAT, dims, n_dims),
             *pair = g_byte_array_new ();

  dyno_proto_string (pair, DYNO_ONNX_PAIR_KEY, "location");
  dyno_proto_string (pair, DYNO_ONNX_PAIR_VALUE, "data");
  onnx_test_add (tensor, DYNO_ONNX_TENSOR_EXTERNAL, pair);
  pair = g_byte_array_new ();
  dyno_proto_string (pair, DYNO_ONNX_PAIR_KEY, "offset");
  dyno_proto_string (pair, DYNO_ONNX_PAIR_VALUE, "0");
  onnx_test_add (tensor, DYNO_ONNX_TENSOR_EXTERNAL, pair);
  pair = g_byte_array_new ();
  gint64 bytes = 4;
  for (guint i = 0; i < n_dims; i++)
    bytes *= dims[i];
  g_autofree char *length = g_strdup_printf ("%" G_GINT64_FORMAT, bytes);
  dyno_proto_string (pair, DYNO_ONNX_PAIR_KEY, "length");
  dyno_proto_string (pair, DYNO_ONNX_PAIR_VALUE, length);
  onnx_test_add (tensor, DYNO_ONNX_TENSOR_EXTERNAL, pair);
  dyno_proto_uint (tensor, DYNO_ONNX_TENSOR_LOCATION, 1);
  return tensor;
}

/* A small file of many layers that share an external file would need rows without end: the 977th of
 * these layers passes the limit of 16,000,000 numbers. */
static void
test_too_many_rows (void)
{
  static const gint64 w[] = { 1, 4096, 1 }, r[] = { 1, 4096, 1024 }, b[] = { 1, 8192 };
  g_autofree char *folder = g_dir_make_tmp ("dyno-onnx-XXXXXX", NULL),
                  *path = g_build_filename (folder, "data", NULL);
  int fd = g_open (path, O_RDWR | O_CREAT, 0600);

  g_assert_cmpint (ftruncate (fd, 16 << 20), ==, 0);
  g_close (fd, NULL);
  for (guint n = 976; n <= 977; n++)
    {
      GByteArray *graph = g_byte_array_new ();

      onnx_test_add (graph, DYNO_ONNX_GRAPH_INPUT, onnx_test_value ("x", 2));
      onnx_test_add (graph, DYNO_ONNX_GRAPH_OUTPUT, onnx_test_value ("y0", 2));
      for (guint i = 0; i < n; i++)
        {
          g_autofree char *inputs = g_strdup_printf ("x,w%u,r%u,b%u", i, i, i),
                          *output = g_strdup_printf ("y%u", i);

          onnx_test_add (graph, DYNO_ONNX_GRAPH_NODE,
                         onnx_test_node ("LSTM", output, inputs, output));
          output[0] = 'w';
          onnx_test_add (graph, DYNO_ONNX_GRAPH_INITIALIZER, external_tensor (output, w, 3));
          output[0] = 'r';
          onnx_test_add (graph, DYNO_ONNX_GRAPH_INITIALIZER, external_tensor (output, r, 3));
          output[0] = 'b';
          onnx_test_add (graph, DYNO_ONNX_GRAPH_INITIALIZER, external_tensor (output, b, 2));
        }
      g_autoptr (GBytes) bytes = g_byte_array_free_to_bytes (onnx_test_file (graph));
      g_autoptr (GError) error = NULL;
      g_autoptr (DynoOnnxModel) model =
          dyno_onnx_model_parse (bytes, folder, DYNO_ONNX_READ_NETWORK, &error);
      g_assert_true ((model != NULL) == (n == 976));
      if (n == 976)
        g_assert_no_error (error);
      else
        g_assert_error (error, DYNO_ONNX_ERROR, DYNO_ONNX_ERROR_LIMIT);
    }
  g_unlink (path);
  g_rmdir (folder);
}

/* The weights of LSTM and GRU nodes become those of PyTorch's modules. */
static void
test_split_recurrent (void)
{
  static const char *const gone[] = { "w", "r", "v", "u", "b", "h0" };
  /* gates i, f, g, o from i, o, f, c; r, z, n from z, r, h, of the second direction */
  static const float lstm_w[] = { 0, 1, 4, 5, 6, 7, 2, 3 },
                     lstm_r[] = { 0, 2, 8, 10, 12, 14, 4, 6 }, gru_v[] = { 24, 27, 18, 21, 30, 33 },
                     gru_b[] = { 20, 21, 18, 19, 22, 23 };
  g_autoptr (DynoOnnxModel) model = parse_network (onnx_test_file (recurrent_graph ()));
  g_autoptr (GError) error = NULL;

  assert_rows (model, "a.b.weight_ih_l2", (guint64[]){ 8, 1 }, 2, lstm_w);
  assert_rows (model, "a.b.weight_hh_l2", (guint64[]){ 8, 2 }, 2, lstm_r);
  assert_rows (model, "v.weight_ih_l0_reverse", (guint64[]){ 6, 3 }, 2, gru_v);
  assert_rows (model, "v.bias_hh_l0_reverse", (guint64[]){ 6 }, 1, gru_b);
  for (guint i = 0; i < G_N_ELEMENTS (gone); i++)
    g_assert_null (dyno_onnx_model_find_initializer (model, gone[i]));
  g_assert_cmpuint (model->n_inputs, ==, 1);
  /* Gather, Gather, LSTM; three times Concat and Gather, GRU */
  g_assert_cmpuint (model->n_nodes, ==, 10);
  const DynoOnnxNode *lstm = &model->nodes[2], *gather = &model->nodes[0];
  g_assert_cmpstr (lstm->op_type, ==, "LSTM");
  g_assert_cmpstr (lstm->inputs[1], ==, gather->outputs[0]);
  g_assert_cmpstr (lstm->inputs[5], ==, "");
  g_assert_cmpstr (gather->inputs[0], ==, "a.b.weight_ih_l2");
  g_autoptr (GBytes) rows = dyno_onnx_tensor_read (
      model, dyno_onnx_model_find_initializer (model, gather->inputs[1]), &error);
  g_assert_no_error (error);
  static const gint64 wanted[] = { 0, 1, 6, 7, 2, 3, 4, 5 };
  g_assert_cmpmem (g_bytes_get_data (rows, NULL), g_bytes_get_size (rows), wanted, sizeof wanted);
  /* The file without weights is not split again. */
  g_autoptr (GBytes) bare = dyno_onnx_model_write_network (model, &error);
  g_autoptr (DynoOnnxModel) again =
      dyno_onnx_model_parse (bare, NULL, DYNO_ONNX_READ_NETWORK, &error);
  g_assert_no_error (error);
  g_autoptr (GBytes) third = dyno_onnx_model_write_network (again, &error);
  g_assert_cmpuint (again->n_nodes, ==, 10);
  g_autoptr (DynoOnnxModel) last =
      dyno_onnx_model_parse (third, NULL, DYNO_ONNX_READ_NETWORK, &error);
  g_assert_no_error (error);
  g_autoptr (GBytes) fourth = dyno_onnx_model_write_network (last, &error);
  g_assert_true (g_bytes_equal (third, fourth));
}

/* Nodes that are not split: weights that two of them read, or of another shape. */
static void
test_recurrent_as_it_is (void)
{
  GByteArray *graph = recurrent_graph ();

  onnx_test_add (graph, DYNO_ONNX_GRAPH_NODE, onnx_test_node ("GRU", "gru", "y,v,u,b", "q"));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_NODE, onnx_test_node ("GRU", "odd", "y,w,r", "s"));
  g_autoptr (DynoOnnxModel) model = parse_network (onnx_test_file (graph));
  g_assert_cmpuint (model->n_nodes, ==, 4);
  g_assert_cmpstr (model->nodes[0].inputs[1], ==, "w");
  g_assert_cmpstr (model->nodes[1].inputs[1], ==, "v");
  g_assert_nonnull (dyno_onnx_model_find_initializer (model, "b"));
}

/* Without splitting, the model is read unchanged. */
static void
test_shared_weights (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoOnnxModel) model = onnx_test_parse (shared_weights (), NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (model->n_nodes, ==, 9);
  g_assert_cmpuint (model->n_initializers, ==, 2);
  assert_inputs (&model->nodes[6], "v", "b");
}

/* The name of a copy may belong to another value: then the nodes go on sharing the weight. */
static void
test_split_names (void)
{
  GByteArray *graph = g_byte_array_new ();
  static const gint64 vector[] = { 1, 2, 1 };
  GByteArray *b = onnx_test_tensor ("b", DYNO_ONNX_FLOAT, vector, 3);

  dyno_proto_bytes (b, DYNO_ONNX_TENSOR_RAW, "12345678", 8);
  onnx_test_add (graph, DYNO_ONNX_GRAPH_INPUT, onnx_test_value ("x", 2));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_OUTPUT, onnx_test_value ("c", 2));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_INITIALIZER, b);
  onnx_test_add (graph, DYNO_ONNX_GRAPH_NODE, onnx_test_node ("Add", "o", "x,b", "b@2"));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_NODE, onnx_test_node ("Add", "p", "b@2,b", "a"));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_NODE, onnx_test_node ("Add", "q", "a,b", "d"));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_NODE, onnx_test_node ("Identity", "i", "b", "c"));
  g_autoptr (DynoOnnxModel) model = parse_network (onnx_test_file (graph));
  assert_inputs (&model->nodes[1], "b@2", "b");
  assert_inputs (&model->nodes[2], "a", "b@3");
  /* A weight that is an output of the graph stays one. */
  g_assert_cmpuint (model->n_nodes, ==, 4);
}

/* The inputs of a network without weights are split; reading it again changes nothing. */
static void
test_split_network (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoOnnxModel) shared = onnx_test_parse (shared_weights (), NULL, &error);
  g_autoptr (GBytes) bare = dyno_onnx_model_write_network (shared, &error);
  g_autoptr (DynoOnnxModel) first =
      dyno_onnx_model_parse (bare, NULL, DYNO_ONNX_READ_NETWORK, &error);
  g_autoptr (GBytes) again = dyno_onnx_model_write_network (first, &error);
  g_autoptr (DynoOnnxModel) second =
      dyno_onnx_model_parse (again, NULL, DYNO_ONNX_READ_NETWORK, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (first->n_nodes, ==, 7);
  g_assert_cmpuint (first->n_inputs, ==, 7);
  g_assert_cmpstr (first->inputs[6].name, ==, "b@3");
  g_assert_cmpint (first->inputs[6].dims[0].value, ==, 8);
  g_autoptr (GBytes) third = dyno_onnx_model_write_network (second, &error);
  g_assert_true (g_bytes_equal (again, third));
}

/* A mask that an exporter partly computed stays a constant; a layer's weight of the same size does
 * not. */
static void
test_tables_are_no_weights (void)
{
  static const gint64 dims[] = { 1, 2 };
  static const char *const names[] = { "mask", "weight" };
  GByteArray *graph = g_byte_array_new ();
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      GByteArray *tensor = onnx_test_tensor (names[i], DYNO_ONNX_FLOAT, dims, 2);
      dyno_proto_bytes (tensor, DYNO_ONNX_TENSOR_RAW, "12345678", 8);
      onnx_test_add (graph, DYNO_ONNX_GRAPH_INITIALIZER, tensor);
    }
  onnx_test_add (graph, DYNO_ONNX_GRAPH_INPUT, onnx_test_value ("x", 2));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_OUTPUT, onnx_test_value ("y", 2));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_NODE, onnx_test_node ("Sin", "w", "mask", "m"));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_NODE, onnx_test_node ("Add", "a", "x,m", "b"));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_NODE, onnx_test_node ("Mul", "c", "b,weight", "y"));
  g_autoptr (DynoOnnxModel) model = parse_network (onnx_test_file (graph));
  g_autoptr (GBytes) bare = dyno_onnx_model_write_network (model, &error);
  g_assert_no_error (error);
  g_autoptr (DynoOnnxModel) network =
      dyno_onnx_model_parse (bare, NULL, DYNO_ONNX_READ_NETWORK, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (network->n_inputs, ==, 2);
  g_assert_cmpstr (network->inputs[1].name, ==, "weight");
  g_assert_cmpuint (network->n_initializers, ==, 1);
  g_assert_cmpstr (network->initializers[0].name, ==, "mask");
}

/* Masks are known by their values, buffers by their names; a bias into which a network writes stays
 * a weight, and the nodes that write into it or ask for its size read the same one. */
static void
test_masks_and_buffers (void)
{
  static const struct {
    const char *name;
    float values[3];
    gboolean is_weight;
  } rows[] = {
    { "hidden", { 0, -100, 0 }, FALSE },     { "infinite", { -INFINITY, 0, 0 }, FALSE },
    { "zeros", { 0, 0, 0 }, TRUE },          { "small", { 0, -9, 0 }, TRUE },
    { "two", { 0, -100, -50 }, TRUE },       { "positive", { 100, 0, 0 }, TRUE },
    { "a.attn_mask", { 1, 2, 3 }, FALSE },   { "relative_coords_table", { 0.5f, 1, 2 }, FALSE },
    { "a.bias", { 0, 0, 0 }, TRUE },         { "table", { 0, 0, 0 }, FALSE },
    { "b/constant", { 0.5f, 1, 2 }, FALSE },
  };
  static const gint64 dims[] = { 1, 3 };
  g_autoptr (GString) sum = g_string_new ("x");
  GByteArray *graph = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  guint n_weights = 0;

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      GByteArray *tensor = onnx_test_tensor (rows[i].name, DYNO_ONNX_FLOAT, dims, 2);
      dyno_proto_bytes (tensor, DYNO_ONNX_TENSOR_RAW, rows[i].values, sizeof rows[i].values);
      onnx_test_add (graph, DYNO_ONNX_GRAPH_INITIALIZER, tensor);
      if (!strstr ("a.bias table", rows[i].name))
        g_string_append_printf (sum, ",%s", rows[i].name);
      n_weights += rows[i].is_weight ? 1 : 0;
    }
  onnx_test_add (graph, DYNO_ONNX_GRAPH_INPUT, onnx_test_value ("x", 2));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_OUTPUT, onnx_test_value ("y", 2));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_NODE, onnx_test_node ("Shape", "h", "a.bias", "n"));
  onnx_test_add (graph, DYNO_ONNX_GRAPH_NODE,
                 onnx_test_node ("ScatterND", "s", "a.bias,n,table", "z"));
  g_string_append (sum, ",z");
  onnx_test_add (graph, DYNO_ONNX_GRAPH_NODE, onnx_test_node ("Sum", "a", sum->str, "y"));
  g_autoptr (DynoOnnxModel) model = parse_network (onnx_test_file (graph));
  g_autoptr (GBytes) bare = dyno_onnx_model_write_network (model, &error);
  g_assert_no_error (error);
  g_autoptr (DynoOnnxModel) network =
      dyno_onnx_model_parse (bare, NULL, DYNO_ONNX_READ_NETWORK, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if ((dyno_onnx_model_find_initializer (network, rows[i].name) == NULL) != rows[i].is_weight)
      g_error ("%s is %s weight", rows[i].name, rows[i].is_weight ? "no" : "a");
  g_assert_cmpuint (network->n_inputs, ==, 1 + n_weights);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/onnx/model/head-and-metadata", test_head);
  g_test_add_func ("/onnx/model/values-with-names-of-axes", test_values);
  g_test_add_func ("/onnx/model/nodes-and-attributes", test_nodes);
  g_test_add_func ("/onnx/model/truncated-at-every-byte", test_truncated);
  g_test_add_func ("/onnx/model/lives-until-the-last-reference", test_references);
  g_test_add_func ("/onnx/model/opens-a-file", test_opens);
  g_test_add_func ("/onnx/model/nodes-are-sorted", test_order);
  g_test_add_func ("/onnx/model/long-chains-are-sorted", test_long_chain);
  g_test_add_func ("/onnx/model/nodes-that-contradict-each-other", test_node_refusals);
  g_test_add_func ("/onnx/model/long-circles-are-shortened", test_long_circle);
  g_test_add_func ("/onnx/model/repeated-names", test_repeated_names);
  g_test_add_func ("/onnx/model/attributes-that-contradict-themselves", test_attribute_refusals);
  g_test_add_func ("/onnx/model/graphs-in-attributes", test_subgraphs);
  g_test_add_func ("/onnx/model/heads-that-are-refused", test_head_refusals);
  g_test_add_func ("/onnx/model/texts-are-utf8", test_texts);
  g_test_add_func ("/onnx/model/inputs-are-tensors", test_input_types);
  g_test_add_func ("/onnx/model/limits", test_limits);
  g_test_add_func ("/onnx/model/limits-of-nodes", test_limits_of_nodes);
  g_test_add_func ("/onnx/model/tensors-only-for-weights", test_tensors_only);
  g_test_add_func ("/onnx/model/each-node-has-weights-of-its-own", test_split_weights);
  g_test_add_func ("/onnx/model/weights-of-recurrent-layers", test_split_recurrent);
  g_test_add_func ("/onnx/model/recurrent-layers-as-they-are", test_recurrent_as_it_is);
  g_test_add_func ("/onnx/model/too-many-recurrent-layers", test_too_many_rows);
  g_test_add_func ("/onnx/model/shared-weights-as-they-are", test_shared_weights);
  g_test_add_func ("/onnx/model/copies-have-free-names", test_split_names);
  g_test_add_func ("/onnx/model/networks-are-split-once", test_split_network);
  g_test_add_func ("/onnx/model/masks-are-no-weights", test_tables_are_no_weights);
  g_test_add_func ("/onnx/model/masks-and-buffers", test_masks_and_buffers);
  return g_test_run ();
}
