/* SPDX-License-Identifier: MIT */
/* Networks of ONNX files: operators that become several ops, and ops that replace several
 * operators. */
#include "graph-private.h"
#include "import-test.h"
#include "network.h"
#include "op.h"
#include <math.h>
#include <string.h>

/* --- activations that are composed ------------------------------------------------------------ */

static double
get_number (const DynoNode *node, const char *name)
{
  double value = NAN;

  g_assert_true (dyno_node_get_attribute (node, name, &value));
  return value;
}

/* Computes one input value through the graph up to the pool. */
static double
evaluate (DynoGraph *graph, double start)
{
  GPtrArray *nodes = dyno_graph_get_nodes (graph);
  g_autoptr (GHashTable) values = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  double last = start;

  for (guint i = 0; i < nodes->len; i++)
    {
      const DynoNode *node = g_ptr_array_index (nodes, i);
      const char *op = node->op->name;
      const double *a = node->n_inputs > 0 ? g_hash_table_lookup (values, node->inputs[0]) : NULL;
      if (g_str_equal (op, "global_avg_pool"))
        return last;
      if (g_str_equal (op, "affine"))
        last = get_number (node, "factor") * *a + get_number (node, "offset");
      else if (g_str_equal (op, "relu"))
        last = MAX (*a, 0);
      else if (g_str_equal (op, "relu6"))
        last = CLAMP (*a, 0, 6);
      else if (g_str_equal (op, "hard_sigmoid"))
        last = CLAMP (*a / 6 + 0.5, 0, 1);
      else if (g_str_equal (op, "elu"))
        last = *a > 0 ? *a : get_number (node, "parameter") * expm1 (*a);
      else if (g_str_equal (op, "add"))
        last = *a + *(const double *) g_hash_table_lookup (values, node->inputs[1]);
      else
        g_assert_cmpstr (op, ==, "prepare");
      g_hash_table_insert (values, node->outputs[0], g_memdup2 (&last, sizeof last));
    }
  g_return_val_if_reached (NAN);
}

static double
to_selu (double x)
{
  return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * expm1 (x));
}

static double
to_celu (double x)
{
  return MAX (x, 0) + MIN (0, 0.5 * expm1 (x / 0.5));
}

static double
to_hard_sigmoid (double x)
{
  return CLAMP (0.25 * x + 0.75, 0, 1);
}

static double
to_hard_tanh (double x)
{
  return CLAMP (x, -1, 1);
}

static double
to_relu_of_3 (double x)
{
  return CLAMP (x, 0, 3);
}

static double
to_least (double x)
{
  return MAX (x, -0.5);
}

static double
to_most (double x)
{
  return MIN (x, 1.5);
}

static double
to_itself (double x)
{
  return x;
}

static void
test_composed (void)
{
  static const struct {
    const char *text, *ops;
    double (*wanted) (double x);
  } rows[] = {
    { IMPORT_TEST_AROUND ("Selu r x h"), "elu affine", to_selu },
    { IMPORT_TEST_AROUND ("Celu r x h alpha=0.5"), "affine elu affine", to_celu },
    { IMPORT_TEST_AROUND ("HardSigmoid r x h alpha=0.25 beta=0.75"), "affine hard_sigmoid",
      to_hard_sigmoid },
    { IMPORT_TEST_AROUND ("f lo -1;f hi 1;Clip r x,lo,hi h"),
      "affine relu add affine relu affine add", to_hard_tanh },
    { IMPORT_TEST_AROUND ("f lo 0;f hi 3;Clip r x,lo,hi h"), "affine relu6 affine", to_relu_of_3 },
    { IMPORT_TEST_AROUND ("f lo -0.5;Clip r x,lo h"), "affine relu add", to_least },
    { IMPORT_TEST_AROUND ("f hi 1.5;Clip r x,,hi h"), "affine relu affine add", to_most },
    { IMPORT_TEST_AROUND ("Clip r x h"), "", to_itself },
    { IMPORT_TEST_AROUND ("f lo -0.5;Max r x,lo h"), "affine relu add", to_least },
    { IMPORT_TEST_AROUND ("f lo -0.5,;Max r lo,x h"), "affine relu add", to_least },
    { IMPORT_TEST_AROUND ("f hi 1.5;Min r x,hi h"), "affine relu affine add", to_most },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      g_test_message ("%s", rows[i].text);
      g_autoptr (DynoGraph) graph = import_test_build (rows[i].text, import_test_around, &error);
      g_assert_no_error (error);
      g_autofree char *ops = import_test_list_ops (graph),
                      *wanted = g_strconcat (rows[i].ops, *rows[i].ops ? " " : "",
                                             "global_avg_pool linear", NULL);
      g_assert_cmpstr (ops, ==, wanted);
      for (double x = -4; x <= 4; x += 0.125)
        g_assert_cmpfloat_with_epsilon (evaluate (graph, x), rows[i].wanted (x), 1e-6);
    }
}

/* The slopes of channels are trained, with PyTorch's initial values; one slope for all channels is
 * a constant. */
static void
test_prelu (void)
{
  g_autoptr (GError) error = NULL;
  const char *text = IMPORT_TEST_AROUND ("w act.weight 4,1,1;PRelu r x,act.weight h");
  g_autoptr (DynoGraph) graph = import_test_build (text, import_test_around, &error);

  g_assert_no_error (error);
  g_autofree char *ops = import_test_list_ops (graph),
                  *parameters = import_test_list_parameters (graph);
  g_assert_cmpstr (ops, ==, "relu affine add scale_channels add global_avg_pool linear");
  g_assert_cmpstr (parameters, ==, "act.weight[4,1,1] head.weight[3,4] head.bias[3]");
  GPtrArray *nodes = dyno_graph_get_nodes (graph);
  g_assert_cmpfloat (get_number (g_ptr_array_index (nodes, 2), "factor"), ==, -1);
  g_assert_cmpfloat (get_number (g_ptr_array_index (nodes, 2), "offset"), ==, 0);
  float values[4];
  dyno_parameter_initialise (g_ptr_array_index (dyno_graph_get_parameters (graph), 0), 1, values);
  for (guint i = 0; i < 4; i++)
    g_assert_cmpfloat (values[i], ==, 0.25f);
  g_autoptr (DynoGraph) one =
      import_test_build (IMPORT_TEST_AROUND ("f s 0.3;PRelu r x,s h"), import_test_around, &error);
  g_assert_no_error (error);
  g_autofree char *one_ops = import_test_list_ops (one);
  g_assert_cmpstr (one_ops, ==, "leaky_relu global_avg_pool linear");
  g_assert_cmpfloat_with_epsilon (
      get_number (g_ptr_array_index (dyno_graph_get_nodes (one), 1), "parameter"), 0.3, 1e-6);
}

static void
test_sums (void)
{
  g_autoptr (GError) error = NULL;

  import_test_assert_builds (IMPORT_TEST_AROUND ("Relu - x a;Tanh - x b;Sum r a,b,x h"),
                             import_test_around, "relu tanh add add global_avg_pool linear", NULL);
  import_test_assert_builds (IMPORT_TEST_AROUND ("Sum r x h"), import_test_around,
                             "global_avg_pool linear", NULL);
  g_autoptr (DynoGraph) graph = import_test_build (
      IMPORT_TEST_AROUND ("Relu - x a;Tanh - x b;Mean r a,b,x h"), import_test_around, &error);
  g_assert_no_error (error);
  g_autofree char *ops = import_test_list_ops (graph);
  g_assert_cmpstr (ops, ==, "relu tanh add add affine global_avg_pool linear");
  g_assert_cmpfloat_with_epsilon (
      get_number (g_ptr_array_index (dyno_graph_get_nodes (graph), 5), "factor"), 1.0 / 3, 1e-9);
}

/* --- groups of channels ----------------------------------------------------------------------- */

/* An image of 12 channels between two convolutions. */
#define OF_TWELVE(body)                                                \
  IMPORT_TEST_AROUND ("w c.weight 12,4,1,1;Conv c x,c.weight y0;" body \
                      ";w d.weight 4,12,1,1;Conv d z0,"                \
                      "d.weight h")
/* A GroupNorm as exporters write it; k and l are the factors and offsets of its groups. */
#define EXPORTED(groups, kl)                                                                  \
  "i s 0," groups ",-1;Reshape r y0,s a;" kl ";InstanceNormalization n a,k,l b;Shape v y0 c;" \
  "Reshape t b,c e;w m 12,1,1;Mul u e,m g;w o 12,1,1;Add p g,o z0"
#define ONES(ones, zeros) \
  "f one " ones ";f nil " zeros ";i two 2,;Expand - one,two k;Expand - nil,two l"

static void
test_group_norms (void)
{
  static const struct {
    const char *text, *ops, *parameters;
    double groups;
  } rows[] = {
    { IMPORT_TEST_AROUND (
          "w n.weight 4;w n.bias 4;GroupNormalization n x,n.weight,n.bias h num_groups=2"),
      "group_norm scale_channels add_channels global_avg_pool linear",
      "n.weight[4] n.bias[4] head.weight[3,4] head.bias[3]", 2 },
    { IMPORT_TEST_AROUND ("w n.weight 4;w n.bias 4;InstanceNormalization n x,n.weight,n.bias h"),
      "group_norm scale_channels add_channels global_avg_pool linear",
      "n.weight[4] n.bias[4] head.weight[3,4] head.bias[3]", 4 },
    { IMPORT_TEST_AROUND ("f one 1;f nil 0;i n 4,;Expand - one,n k;Expand - nil,n l;"
                          "InstanceNormalization n x,k,l h"),
      "group_norm global_avg_pool linear", "head.weight[3,4] head.bias[3]", 4 },
    { OF_TWELVE (EXPORTED ("2", ONES ("1", "0"))),
      "conv2d group_norm scale_channels add_channels conv2d global_avg_pool linear",
      "c.weight[12,4,1,1] m[12,1,1] o[12,1,1] d.weight[4,12,1,1] head.weight[3,4] head.bias[3]",
      2 },
    { OF_TWELVE (EXPORTED ("1", "f k 1;f l 0")),
      "conv2d group_norm scale_channels add_channels conv2d global_avg_pool linear", NULL, 1 },
    /* A file without weights has no known constants. */
    { OF_TWELVE (EXPORTED ("6", "w k 6;w l 6")),
      "conv2d group_norm scale_channels add_channels conv2d global_avg_pool linear",
      "c.weight[12,4,1,1] m[12,1,1] o[12,1,1] d.weight[4,12,1,1] head.weight[3,4] head.bias[3]",
      6 },
    { OF_TWELVE (EXPORTED ("12", "w k 12;w l 12")),
      "conv2d group_norm scale_channels add_channels conv2d global_avg_pool linear",
      "c.weight[12,4,1,1] m[12,1,1] o[12,1,1] d.weight[4,12,1,1] head.weight[3,4] head.bias[3]",
      12 },
    /* a normalisation with factors for each channel, and a second factor and offset for each */
    { OF_TWELVE ("w k 12;w l 12;InstanceNormalization n y0,k,l b;w m 12,1,1;Mul u b,m g;"
                 "w o 12,1,1;Add p g,o z0"),
      "conv2d group_norm scale_channels add_channels scale_channels add_channels conv2d "
      "global_avg_pool linear",
      NULL, 12 },
    { OF_TWELVE ("w k 12;w l 12;i s 0,12,-1;Reshape r y0,s a;InstanceNormalization n a,k,l b;"
                 "i t 0,12,8,8;Reshape q b,t z0"),
      "conv2d group_norm scale_channels add_channels conv2d global_avg_pool linear", NULL, 12 },
    { OF_TWELVE ("w k 12;w l 12;i s 0,12,-1;Reshape r y0,s a;Relu q a b;"
                 "InstanceNormalization n b,k,l c;w m 12,1;Mul u c,m e;w o 12,1;Add p e,o g;"
                 "i t 0,12,8,8;Reshape v g,t z0"),
      "conv2d relu group_norm scale_channels add_channels scale_channels add_channels conv2d "
      "global_avg_pool linear",
      NULL, 12 },
    /* the channels last */
    { IMPORT_TEST_AROUND (
          "Transpose t x a perm=0,3,1,2;w k 8;w l 8;InstanceNormalization n a,k,l b;"
          "Transpose u b h perm=0,2,3,1"),
      "permute group_norm scale_channels add_channels permute global_avg_pool linear", NULL, 8 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      double groups = 0;
      g_test_message ("%s", rows[i].text);
      g_autoptr (DynoGraph) graph = import_test_build (rows[i].text, import_test_around, &error);
      g_assert_no_error (error);
      g_autofree char *ops = import_test_list_ops (graph),
                      *parameters = import_test_list_parameters (graph);
      g_assert_cmpstr (ops, ==, rows[i].ops);
      if (rows[i].parameters)
        g_assert_cmpstr (parameters, ==, rows[i].parameters);
      GPtrArray *nodes = dyno_graph_get_nodes (graph);
      for (guint k = 0; k < nodes->len; k++)
        if (g_str_equal (((DynoNode *) g_ptr_array_index (nodes, k))->op->name, "group_norm"))
          g_assert_true (dyno_node_get_attribute (g_ptr_array_index (nodes, k), "groups", &groups));
      g_assert_cmpfloat (groups, ==, rows[i].groups);
    }
}

static void
test_group_norm_refusals (void)
{
  static const struct {
    const char *text, *pattern;
  } rows[] = {
    { IMPORT_TEST_AROUND ("w k 4;w l 4;GroupNormalization n x,k,l h num_groups=3"),
      "*GroupNormalization “n”: its 4 channels cannot be 3 groups*" },
    { IMPORT_TEST_AROUND ("w k 4;w l 4;GroupNormalization n x,k,l h"),
      "*its 4 channels cannot be 0 groups*" },
    { IMPORT_TEST_AROUND ("GroupNormalization n x h num_groups=2"),
      "*“n”: its scale and bias are neither 1*" },
    { OF_TWELVE ("w k 6;w l 6;GroupNormalization n y0,k,l z0 num_groups=6"),
      "*“n”: “k” and “l” are not one value for each of 12 channels*" },
    { OF_TWELVE ("i s 0,6,-1;Reshape r y0,s a;w k 6;w l 6;InstanceNormalization n a,k,l b;"
                 "i t 0,12,8,8;Reshape q b,t z0"),
      "*“n”: “k” and “l” are not one value for each of 12 channels*" },
    { OF_TWELVE (EXPORTED ("2", ONES ("2", "0"))),
      "*“n”: its scale and bias are neither 1 and 0*" },
    { OF_TWELVE (EXPORTED ("2", ONES ("1", "1"))),
      "*“n”: its scale and bias are neither 1 and 0*" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    import_test_assert_refused (rows[i].text, import_test_around, rows[i].pattern);
}

void
import_test_add_composed (void)
{
  g_test_add_func ("/nn/import/composed-activations", test_composed);
  g_test_add_func ("/nn/import/slopes-of-channels", test_prelu);
  g_test_add_func ("/nn/import/sums-of-several", test_sums);
  g_test_add_func ("/nn/import/group-norms", test_group_norms);
  g_test_add_func ("/nn/import/group-norms-that-are-refused", test_group_norm_refusals);
}
