/* SPDX-License-Identifier: MIT */
/* Networks of ONNX files: elements that are picked by constant indices, of tensors and of
 * parameters. */
#include "graph-private.h"
#include "import-private.h"
#include "import-test.h"
#include "op.h"
#include <string.h>

static const DynoNode *
find_gather (DynoGraph *graph)
{
  GPtrArray *nodes = dyno_graph_get_nodes (graph);

  for (guint i = 0; i < nodes->len; i++)
    {
      const DynoNode *node = g_ptr_array_index (nodes, i);
      if (g_str_equal (node->op->name, "gather"))
        return node;
    }
  g_assert_not_reached ();
}

/* The index in a dense sample of the source, whose channels are padded from c to cp, of value i of
 * a dense sample of the result; -1: it is 0. */
static gint32
read_index (DynoGraph *graph, const DynoNode *node, guint32 i, guint32 c, guint32 cp)
{
  const DynoTensor *y = node->outputs[0], *table = node->inputs[1];
  const gint32 *indices = (const gint32 *) (gconstpointer) (graph->constants->data + table->offset);
  guint32 place = i / y->c * y->cp + i % y->c, lanes = y->h * y->w * y->cp / table->c;
  gint32 at = indices[place / lanes];

  at = at < 0 ? -1 : at * (gint32) lanes + (gint32) (place % lanes);
  return at < 0 ? -1 : at / (gint32) cp * (gint32) c + at % (gint32) cp;
}

/* --- tensors ---------------------------------------------------------------------------------- */

#define MOST 16

/* The result of the body has the elements h, w and c of these axes of the input (N, 4, 8, 8). */
typedef struct {
  const char *text;
  guint n_h, n_w, n_c;
  guint8 h[MOST], w[MOST], c[MOST];
} Picked;

#define WHOLE              \
  {                        \
    0, 1, 2, 3, 4, 5, 6, 7 \
  }
#define WHOLE_C \
  {             \
    0, 1, 2, 3  \
  }

static void
check_picked (const Picked *s)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoGraph) graph = import_test_build (s->text, import_test_around, &error);

  g_assert_no_error (error);
  g_autofree char *ops = import_test_list_ops (graph);
  g_assert_cmpstr (ops, ==, "gather global_avg_pool linear");
  const DynoNode *node = find_gather (graph);
  const DynoTensor *x = node->inputs[0], *y = node->outputs[0];
  g_assert_true (y->n == 2 && y->h == s->n_h && y->w == s->n_w && y->c == s->n_c);
  for (guint32 i = 0; i < y->h * y->w * y->c; i++)
    {
      guint c = s->c[i % y->c], w = s->w[i / y->c % y->w], h = s->h[i / y->c / y->w];
      g_assert_cmpint (read_index (graph, node, i, x->c, x->cp), ==, (gint) ((h * 8 + w) * 4 + c));
    }
}

static void
test_tensors (void)
{
  static const Picked rows[] = {
    /* Slice of several axes, with steps, backwards, and past the ends */
    { IMPORT_TEST_AROUND ("i a 0,1;i b 8,8;i c 2,3;i d 2,2;Slice s x,a,b,c,d h"),
      4,
      4,
      4,
      { 0, 2, 4, 6 },
      { 1, 3, 5, 7 },
      WHOLE_C },
    { IMPORT_TEST_AROUND ("i a 3,-3;i b 9223372036854775807,-1;i c 2,-1;Slice s x,a,b,c h"),
      5,
      2,
      4,
      { 3, 4, 5, 6, 7 },
      { 5, 6 },
      WHOLE_C },
    { IMPORT_TEST_AROUND (
          "i a 9223372036854775807,;i b -9223372036854775808,;i c 3,;i d -1,;Slice s x,a,b,c,d h"),
      8,
      8,
      4,
      WHOLE,
      { 7, 6, 5, 4, 3, 2, 1, 0 },
      WHOLE_C },
    { IMPORT_TEST_AROUND ("i a 6,;i b 0,;i c 2,;i d -3,;Slice s x,a,b,c,d h"),
      2,
      8,
      4,
      { 6, 3 },
      WHOLE,
      WHOLE_C },
    { IMPORT_TEST_AROUND ("i a 1,;i b 8,;i c 2,;i d 9223372036854775807,;Slice s x,a,b,c,d h"),
      1,
      8,
      4,
      { 1 },
      WHOLE,
      WHOLE_C },
    /* Pad, where each side has another width */
    { IMPORT_TEST_AROUND ("i z 0,0,1,2,0,0,3,0;Pad p x,z h mode=reflect"),
      12,
      10,
      4,
      { 1, 0, 1, 2, 3, 4, 5, 6, 7, 6, 5, 4 },
      { 2, 1, 0, 1, 2, 3, 4, 5, 6, 7 },
      WHOLE_C },
    { IMPORT_TEST_AROUND ("i z 2,1;i a -1,;Pad p x,z,,a h mode=edge"),
      8,
      11,
      4,
      WHOLE,
      { 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 7 },
      WHOLE_C },
    { IMPORT_TEST_AROUND ("i z 0,0,2,0,0,0,0,-1;Pad p x,z h mode=wrap"),
      10,
      7,
      4,
      { 6, 7, 0, 1, 2, 3, 4, 5, 6, 7 },
      { 0, 1, 2, 3, 4, 5, 6 },
      WHOLE_C },
    /* Gather of pixels and of channels, and by an index of two axes */
    { IMPORT_TEST_AROUND ("i a 7,0,-8,3;Gather g x,a h axis=2"),
      4,
      8,
      4,
      { 7, 0, 0, 3 },
      WHOLE,
      WHOLE_C },
    { IMPORT_TEST_AROUND ("i a 3,1,0,0;Gather g x,a h axis=1"),
      8,
      8,
      4,
      WHOLE,
      WHOLE,
      { 3, 1, 0, 0 } },
    { IMPORT_TEST_AROUND ("i a 4,5,6,0,1,2;i s 2,3;Reshape - a,s b;Gather g x,b c axis=-1;"
                          "i t 0,4,8,6;Reshape - c,t h"),
      8,
      6,
      4,
      WHOLE,
      { 4, 5, 6, 0, 1, 2 },
      WHOLE_C },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    check_picked (&rows[i]);
}

/* The axes of windows: (N, 2, 4, 2, 4, 4) of a value (N, H / 4, W / 4, 4, 4, C). */
static void
test_windows (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoGraph) graph = import_test_build (
      IMPORT_TEST_AROUND ("Transpose - x a perm=0,2,3,1;i s 0,2,4,2,4,4;Reshape - a,s b;"
                          "Transpose - b c perm=0,1,3,2,4,5;i p 0,3;i q 1,3;Gather g c,p d axis=3;"
                          "Gather f d,q e axis=4;Transpose - e i perm=0,5,1,3,2,4;i t 0,4,4,4;"
                          "Reshape - i,t h"),
      import_test_around, &error);

  g_assert_no_error (error);
  const DynoNode *node = find_gather (graph);
  const DynoTensor *y = node->outputs[0];
  /* The last two axes of the window are the innermost ones of the tensor, after the channels. */
  g_assert_true (y->h == 2 * 2 * 2 && y->w == 4 && y->c == 4);
  for (guint32 i = 0; i < y->h * y->w * y->c; i++)
    {
      guint32 c = i % 4, inner_w = i / 4 % 4, outer_w = i / 16 % 2, at_h = i / 32 % 2,
              outer_h = i / 64;
      guint32 h = outer_h * 4 + (at_h ? 3 : 0), w = outer_w * 4 + inner_w;
      g_assert_cmpint (read_index (graph, node, i, 4, node->inputs[0]->cp), ==,
                       (gint) ((h * 8 + w) * 4 + c));
    }
}

/* --- parameters ------------------------------------------------------------------------------- */

/* A table (5, 8) by the node `gather`, which reads the index (1, 4, 8) or (1, 4, 8, 1). */
#define TABLE(shape, gather)                                                              \
  IMPORT_TEST_AROUND (                                                                    \
      "w table 5,8;i at 4,0,1,2,3,3,3,0,1,2,1,1,0,0,0,4,4,2,1,0,0,1,2,3,4,1,2,3,0,0,1,4;" \
      "i s " shape ";Reshape - at,s index;" gather " bias table,index b;Add sum x,b h")

static void
check_table (const char *text)
{
  static const ImportTestShape one = {
    .batch = 1, .n_outputs = 3, .height = 8, .width = 8, .channels = 4, .mode = DYNO_MODE_TRAIN
  };
  static const gint32 rows[] = { 4, 0, 1, 2, 3, 3, 3, 0, 1, 2, 1 };
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoGraph) graph = import_test_build (text, one, &error);

  g_assert_no_error (error);
  g_autofree char *ops = import_test_list_ops (graph),
                  *parameters = import_test_list_parameters (graph);
  g_assert_true (g_str_has_prefix (ops, "gather permute add global_avg_pool linear"));
  g_assert_cmpstr (parameters, ==, "table[5,8] head.weight[3,4] head.bias[3]");
  const DynoNode *node = find_gather (graph);
  const DynoParameter *table = node->inputs[0]->parameter;
  g_assert_true (table->master == node->inputs[0] && table->init == DYNO_INIT_NORMAL_002);
  g_assert_true (node->outputs[0]->needs_gradient && node->outputs[0]->n == 1);
  for (guint32 i = 0; i < 8 * G_N_ELEMENTS (rows); i++)
    g_assert_cmpint (read_index (graph, node, i, 8, 8), ==, rows[i / 8] * 8 + (gint32) (i % 8));
}

static void
test_parameters (void)
{
  check_table (TABLE ("1,4,8", "Gather"));
  check_table (TABLE ("1,4,8,1", "GatherND"));
}

/* Two nodes may read one parameter; it may have been transposed. */
static void
test_shared (void)
{
  static const ImportTestShape one = {
    .batch = 1, .n_outputs = 3, .height = 8, .width = 8, .channels = 4, .mode = DYNO_MODE_TRAIN
  };
  const char *text = IMPORT_TEST_AROUND (
      "w p 32,8;i s 4,8,8,1;i at 1,0,2,3;i one 1;Transpose - p q perm=1,0;i a 0,0,;i b 4,8,;"
      "i c 0,1,;Slice cut q,a,b,c d;i e 7,6,5,4,3,2,1,0;Gather rows d,e f axis=1;"
      "i t 1,4,8,1;Reshape - f,t g;i k 0,0,0,0,0,0,0,0;Gather wide g,k u axis=3;Add sum x,u j;"
      "Gather more p,at m;i r 1,4,8,1;Reshape - m,r l;Gather wider l,k v axis=3;Add all j,v h");
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoGraph) graph = import_test_build (text, one, &error);

  g_assert_no_error (error);
  g_autofree char *parameters = import_test_list_parameters (graph);
  g_assert_cmpstr (parameters, ==, "p[32,8] head.weight[3,4] head.bias[3]");
  const DynoNode *node = find_gather (graph);
  const DynoTensor *y = node->outputs[0];
  /* The slice (4, 8) of (8, 32) lies in the order of the file, as (8, 4). */
  g_assert_true (y->h == 1 && y->w == 8 && y->c == 4);
  for (guint32 i = 0; i < 32; i++)
    g_assert_cmpint (read_index (graph, node, i, 8, 8), ==, (gint32) (i / 4 * 8 + i % 4));
}

/* --- tensors of parameters and constants ------------------------------------------------------ */

typedef struct {
  DynoGraph *graph;
  DynoImport import;
} Fixture;

static void
fixture_init (Fixture *f, gboolean amp)
{
  f->graph = dyno_graph_new (
      &(DynoGraphParams){ .batch = 2, .training = TRUE, .precision = dyno_precision_of_amp (amp) });
  f->import =
      (DynoImport){ .graph = f->graph,
                    .batch = 2,
                    .values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free),
                    .refusals = g_ptr_array_new_with_free_func (g_free) };
}

static void
fixture_clear (Fixture *f)
{
  g_hash_table_unref (f->import.values);
  g_ptr_array_unref (f->import.refusals);
  dyno_graph_free (f->graph);
}

static DynoImportValue *
add_value (Fixture *f, const char *name)
{
  DynoImportValue *value = g_new0 (DynoImportValue, 1);

  g_hash_table_insert (f->import.values, g_strdup (name), value);
  return value;
}

static void
assert_shape (const DynoImportValue *value, guint32 h, guint32 w, guint32 c, const char *view)
{
  g_autofree char *print = dyno_view_print (&value->view);

  g_assert_cmpstr (print, ==, view);
  g_assert_cmpuint (value->view.batch, ==, 1);
  g_assert_true (value->tensor->n == 1 && value->tensor->h == h && value->tensor->w == w
                 && value->tensor->c == c);
}

static void
test_parameter_tensor (void)
{
  const char *const inputs[] = { "a", "b", "c" }, *const outputs[] = { "y" };
  const DynoOnnxNode node = { .name = "add",
                              .op_type = "Add",
                              .domain = "",
                              .inputs = inputs,
                              .outputs = outputs,
                              .n_inputs = 3,
                              .n_outputs = 1 };
  const DynoOnnxDim dims[] = { { 6, "" }, { 5, "" } };
  const DynoOnnxValue file = { .name = "p", .n_dims = 2, .dims = dims };
  const gint64 axes[][4] = { { 6, 5 }, { 1, 5, 6 }, { 1, 30, 1, 1 } };
  Fixture f;

  fixture_init (&f, TRUE);
  for (guint i = 0; i < 3; i++)
    {
      DynoImportValue *value = add_value (&f, inputs[i]);
      value->parameter = &file;
      value->n_dims = i + 2;
      memcpy (value->dims, axes[i], sizeof axes[i]);
      value->transposed = i == 1;
    }
  DynoImportValue *a = dyno_import_parameter_tensor (&f.import, &node, 0),
                  *b = dyno_import_parameter_tensor (&f.import, &node, 1),
                  *c = dyno_import_parameter_tensor (&f.import, &node, 2);
  assert_shape (a, 1, 6, 5, "(6, 5)");
  assert_shape (b, 1, 6, 5, "(1, 5, 6)");
  g_assert_true (b->view.parts[0].axis == 'C' && b->view.parts[1].axis == 'W');
  assert_shape (c, 1, 1, 30, "(1, 30, 1, 1)");
  g_assert_true (a->tensor->dtype == DYNO_DTYPE_F16 && a->tensor->needs_gradient);
  g_assert_true (a == dyno_import_parameter_tensor (&f.import, &node, 0));
  g_assert_cmpuint (dyno_graph_get_parameters (f.graph)->len, ==, 1);
  g_autofree char *parameters = import_test_list_parameters (f.graph);
  g_assert_cmpstr (parameters, ==, "p[6,5]");
  fixture_clear (&f);
}

static void
test_constant_tensor (void)
{
  const char *const inputs[] = { "a", "b" }, *const outputs[] = { "y" };
  const DynoOnnxNode node = { .name = "add",
                              .op_type = "Add",
                              .domain = "",
                              .inputs = inputs,
                              .outputs = outputs,
                              .n_inputs = 2,
                              .n_outputs = 1 };
  const gint64 dims[] = { 1, 2, 3 };
  Fixture f;

  fixture_init (&f, TRUE);
  g_autoptr (DynoConstant) constant = dyno_constant_new (FALSE, dims, 3);
  for (guint i = 0; i < 6; i++)
    constant->floats[i] = i + 0.5;
  add_value (&f, "a")->constant = constant;
  add_value (&f, "b");
  DynoImportValue *a = dyno_import_constant_tensor (&f.import, &node, 0);
  assert_shape (a, 1, 2, 3, "(1, 2, 3)");
  g_assert_true (a->tensor->dtype == DYNO_DTYPE_F32 && a->tensor->space == DYNO_SPACE_CONSTANT
                 && !a->tensor->needs_gradient);
  const float *numbers =
      (const float *) (gconstpointer) (f.graph->constants->data + a->tensor->offset);
  g_assert_true (numbers[2] == 2.5f && numbers[3] == 0 && numbers[8] == 3.5f);
  g_assert_true (a == dyno_import_constant_tensor (&f.import, &node, 0));
  g_assert_null (dyno_import_constant_tensor (&f.import, &node, 1));
  g_assert_null (dyno_import_parameter_tensor (&f.import, &node, 0));
  g_assert_cmpuint (f.import.refusals->len, ==, 2);
  fixture_clear (&f);
}

/* --- blurs ------------------------------------------------------------------------------------ */

/* A binomial kernel of 3 x 3 for the four channels, with this value in the middle. */
#define BLUR(middle, attributes)                                           \
  IMPORT_TEST_AROUND (                                                     \
      "i a 1,2,1,2," middle ",2,1,2,1;Cast - a g to=1;f q 16;Div - g,q d;" \
      "i s 1,1,3,3;Reshape - d,s b;i e 4,1,3,3;Expand - b,e k;Conv c x,k h " attributes)

static void
test_blurs (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoGraph) graph = import_test_build (BLUR ("4", "group=4 strides=2,2 pads=1,1,1,1"),
                                                   import_test_around, &error);

  g_assert_no_error (error);
  g_autofree char *ops = import_test_list_ops (graph);
  g_assert_cmpstr (ops, ==, "pad avg_pool avg_pool global_avg_pool linear");
  GPtrArray *nodes = dyno_graph_get_nodes (graph);
  for (guint i = 0, n = 0; i < nodes->len; i++)
    {
      const DynoNode *node = g_ptr_array_index (nodes, i);
      if (!g_str_equal (node->op->name, "avg_pool"))
        continue;
      g_assert_cmpuint (node->outputs[0]->h, ==, n++ == 0 ? 9 : 4);
    }
  import_test_assert_refused (BLUR ("5", "group=4"), import_test_around,
                              "*Conv “c”: its input 1 is not a parameter*");
  import_test_assert_refused (BLUR ("4", "group=1"), import_test_around,
                              "*Conv “c”: its constant kernel*");
}

/* --- refusals --------------------------------------------------------------------------------- */

static void
test_refusals (void)
{
  static const struct {
    const char *text, *pattern;
  } rows[] = {
    { IMPORT_TEST_AROUND ("i a 0,0;Gather g x,a h"), "*Gather “g”: *not samples of (2, 4, 8, 8)*" },
    { IMPORT_TEST_AROUND ("i a 0,8;Gather g x,a h axis=2"), "*Gather “g”: index 8 of 8*" },
    { IMPORT_TEST_AROUND ("i a 0,1;Gather g x,a h axis=4"), "*Gather “g”: its axis is out of*" },
    { IMPORT_TEST_AROUND ("Gather g x,x h axis=2"), "*Gather “g”: its indices are not known*" },
    { IMPORT_TEST_AROUND ("i a 0,1,2,3,4,5,6,7;i s 1,1,1,1,1,1,1,8;Reshape - a,s b;"
                          "Gather g x,b h axis=2"),
      "*Gather “g”: its output has 11 axes*" },
    { IMPORT_TEST_AROUND ("w p 1,2,3,4,5;i a 0,0;Gather g p,a h"),
      "*Gather “g”: its parameter “p” has 5 axes*" },
    { IMPORT_TEST_AROUND ("w p 4,4,1,1;Conv c x,p b;i a 0,0;Gather g p,a q;Add s b,q h"),
      "*Gather “g”: it shares the parameter “p”*" },
    { IMPORT_TEST_AROUND ("w p 2,3;i a 0,0;GatherND g p,a h"), "*GatherND “g”: *first axis*" },
    { IMPORT_TEST_AROUND ("w p 2,3;i a 2,;GatherND g p,a h"), "*GatherND “g”: index 2 of 2*" },
    { IMPORT_TEST_AROUND ("i a 0,0;i b 8,8;i c 2,2;Slice s x,a,b,c h"), "*Slice “s”: its axes*" },
    { IMPORT_TEST_AROUND ("i a 0,0;i b 8,8;i c 2,4;Slice s x,a,b,c h"), "*Slice “s”: its axes*" },
    { IMPORT_TEST_AROUND ("i a 0,0;i b 8,8,8;i c 2,3;Slice s x,a,b,c h"), "*Slice “s”: *length*" },
    { IMPORT_TEST_AROUND ("i a 0,;i b 8,;i c 2,;i d 0,;Slice s x,a,b,c,d h"),
      "*Slice “s”: it has a step of 0*" },
    { IMPORT_TEST_AROUND ("i a 0,;i b 8,;i c 2,;i d -1,;Slice s x,a,b,c,d h"),
      "*Slice “s”: its slice is empty*" },
    { IMPORT_TEST_AROUND ("i a 0,0;i b 1,1;i c 0,2;Slice s x,a,b,c h"),
      "*Slice “s”: *not samples of*" },
    { IMPORT_TEST_AROUND ("i z 1,0,0,0,0,0,0,0;Pad p x,z h mode=edge"), "*Pad “p”: *not samples*" },
    { IMPORT_TEST_AROUND ("i z 0,0,1,0,0,1;Pad p x,z h mode=edge"), "*Pad “p”: 6 pads for 4*" },
    { IMPORT_TEST_AROUND ("i z 0,0,-8,0,0,0,0,0;Pad p x,z h mode=edge"),
      "*Pad “p”: its pads are*" },
    { IMPORT_TEST_AROUND ("i z 0,0,2000000000,0,0,0,2000000000,0;Pad p x,z h mode=wrap"),
      "*Pad “p”: *more than 67108864 numbers*" },
    { IMPORT_TEST_AROUND ("i z 0,0,9000,9000,0,0,0,0;Pad p x,z h mode=edge"),
      "*Pad “p”: it has no elements, or too many*" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    import_test_assert_refused (rows[i].text, import_test_around, rows[i].pattern);
}

void
import_test_add_gather (void)
{
  g_test_add_func ("/nn/import/gather/picks-elements-of-tensors", test_tensors);
  g_test_add_func ("/nn/import/gather/picks-elements-of-windows", test_windows);
  g_test_add_func ("/nn/import/gather/picks-elements-of-parameters", test_parameters);
  g_test_add_func ("/nn/import/gather/shares-parameters", test_shared);
  g_test_add_func ("/nn/import/gather/parameters-become-tensors", test_parameter_tensor);
  g_test_add_func ("/nn/import/gather/constants-become-tensors", test_constant_tensor);
  g_test_add_func ("/nn/import/gather/blurs-are-means", test_blurs);
  g_test_add_func ("/nn/import/gather/bad-indices-are-refused", test_refusals);
}
