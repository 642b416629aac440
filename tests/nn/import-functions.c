/* SPDX-License-Identifier: MIT */
/* Networks of ONNX files: functions of single values, and softmax inside of a network. */
#include "graph-private.h"
#include "import-test.h"
#include <math.h>
#include <string.h>

static void
assert_builds (const char *text, const char *ops)
{
  g_test_message ("%s", text);
  import_test_assert_builds (text, import_test_around, ops, NULL);
}

/* --- functions of single values --------------------------------------------------------------- */

#define END " global_avg_pool linear"

static void
test_functions (void)
{
  static const struct {
    const char *text, *ops;
  } rows[] = {
    { IMPORT_TEST_AROUND ("Exp r x h"), "exp" END },
    { IMPORT_TEST_AROUND ("Sqrt r x h"), "sqrt" END },
    { IMPORT_TEST_AROUND ("Reciprocal r x h"), "reciprocal" END },
    { IMPORT_TEST_AROUND ("Log r x h"), "log" END },
    { IMPORT_TEST_AROUND ("Abs r x h"), "abs" END },
    { IMPORT_TEST_AROUND ("Sin r x h"), "sin" END },
    { IMPORT_TEST_AROUND ("Cos r x h"), "cos" END },
    { IMPORT_TEST_AROUND ("f p 2;Pow r x,p h"), "multiply" END },
    { IMPORT_TEST_AROUND ("f p 0.5;Pow r x,p h"), "sqrt" END },
    { IMPORT_TEST_AROUND ("f p -1,;Pow r x,p h"), "reciprocal" END },
    { IMPORT_TEST_AROUND ("i p 1;Pow r x,p h"), "global_avg_pool linear" },
    { IMPORT_TEST_AROUND ("f c 0;Max r x,c h"), "relu" END },
    { IMPORT_TEST_AROUND ("Max r x h"), "global_avg_pool linear" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    assert_builds (rows[i].text, rows[i].ops);
}

/* The factor of x is computed before the network runs. */
static void
test_constants (void)
{
  static const struct {
    const char *text;
    double factor;
  } rows[] = {
    { IMPORT_TEST_AROUND ("f c 1;Exp e c f;Mul m x,f h"), G_E },
    { IMPORT_TEST_AROUND ("f c 16;Sqrt e c f;Mul m x,f h"), 4 },
    { IMPORT_TEST_AROUND ("f c 4;f p -1;Pow e c,p f;Mul m x,f h"), 0.25 },
    { IMPORT_TEST_AROUND ("f c 4;f p 7;Max e c,p f;Mul m x,f h"), 7 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      double factor;
      g_test_message ("%s", rows[i].text);
      g_autoptr (DynoGraph) graph = import_test_build (rows[i].text, import_test_around, &error);
      g_assert_no_error (error);
      const DynoNode *node = g_ptr_array_index (dyno_graph_get_nodes (graph), 1);
      g_assert_cmpstr (node->op->name, ==, "affine");
      g_assert_true (dyno_node_get_attribute (node, "factor", &factor));
      g_assert_cmpfloat_with_epsilon (factor, rows[i].factor, 1e-6);
    }
}

/* --- softmax ---------------------------------------------------------------------------------- */

static void
test_softmax (void)
{
  static const struct {
    const char *text, *ops;
  } rows[] = {
    { IMPORT_TEST_AROUND ("Softmax s x h axis=1"), "softmax" END },
    { IMPORT_TEST_AROUND ("Softmax s x h axis=-3"), "softmax" END },
    { IMPORT_TEST_AROUND ("LogSoftmax s x h axis=1"), "softmax log" END },
    /* the last axis is made the channels, and the pool needs the image again */
    { IMPORT_TEST_AROUND ("Softmax s x h"), "permute softmax permute" END },
    { "opset 11;" IMPORT_TEST_AROUND ("Softmax s x h axis=3"), "permute softmax permute" END },
    /* before opset 13: all axes from the second one on, which here are the channels */
    { "opset 11;" IMPORT_TEST_AROUND ("GlobalAveragePool p x a;Softmax s a b;Mul m x,b h"),
      "global_avg_pool softmax scale" END },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    assert_builds (rows[i].text, rows[i].ops);
}

/* A layer of 3 outputs, and the body from its outputs o to y. */
#define BEHIND(body)                                                                      \
  "in x N,4,8,8;GlobalAveragePool gap x pooled;Flatten - pooled flat;w head.weight 3,4;w" \
  " head.bias 3;Gemm head flat,head.weight,head.bias o transB=1;" body ";out y N,3"

/* The loss computes the softmax of the outputs, and no other softmax. */
static void
test_softmax_at_the_end (void)
{
  static const struct {
    const char *text, *ops;
  } rows[] = {
    { BEHIND ("Softmax s o y"), "global_avg_pool linear" },
    { BEHIND ("Softmax s o a;Identity i a y"), "global_avg_pool linear" },
    { BEHIND ("Softmax s o a;i t 0,3;Reshape r a,t y"), "global_avg_pool linear" },
    { BEHIND ("Softmax s o a;w n.weight 3,3;w n.bias 3;Gemm n a,n.weight,n.bias y transB=1"),
      "global_avg_pool linear softmax linear" },
    { BEHIND ("Softmax s o a;Softmax t a y"), "global_avg_pool linear softmax" },
    /* the axes are changed before and after it */
    { "in x N,4,8,8;GlobalAveragePool gap x pooled;Flatten - pooled flat;w head.weight 3,4;Gemm "
      "head flat,head.weight o transB=1;i s 0,3,1;Reshape r o,s a;Softmax p a b axis=1;i t 0,3;"
      "Reshape q b,t y;out y N,3",
      "global_avg_pool linear" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    assert_builds (rows[i].text, rows[i].ops);
}

/* The logits are weighted means of a layer's outputs only without a softmax between them. */
static void
test_softmax_before_a_mean (void)
{
  static const struct {
    const char *text;
    gboolean is_linear;
  } rows[] = {
    { "in x N,4,8,8;w c.weight 3,4,1,1;Conv c x,c.weight a;GlobalAveragePool p a b;Flatten f b y;"
      "out y N,3",
      TRUE },
    { "in x N,4,8,8;w c.weight 3,4,1,1;Conv c x,c.weight a;GlobalAveragePool p a b;Flatten f b d;"
      "Softmax s d y;out y N,3",
      TRUE },
    { "in x N,4,8,8;w c.weight 3,4,1,1;Conv c x,c.weight a;Softmax s a d axis=1;"
      "GlobalAveragePool p d b;Flatten f b y;out y N,3",
      FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      g_test_message ("%s", rows[i].text);
      g_autoptr (DynoGraph) graph = import_test_build (rows[i].text, import_test_around, &error);
      g_assert_no_error (error);
      g_assert_nonnull (graph->head_layer.weight);
      g_assert_cmpint (graph->head_layer.is_linear, ==, rows[i].is_linear);
    }
}

/* --- the guard of PyTorch's exporter ---------------------------------------------------------- */

/* An attention of two heads of 8 channels over the pixels, its softmax from sb to sc. */
#define ATTENTION(softmax)                                                                        \
  "in x N,4,8,8;Transpose - x t perm=0,2,3,1;w m 4,48;MatMul p t,m u;i s 0,64,3,2,8;Reshape - "   \
  "u,s us;Transpose - us ut perm=2,0,3,1,4;i k0 0;i k1 1;i k2 2;Gather - ut,k0 qa;Gather - ut,k1" \
  " ka;Gather - ut,k2 va;Transpose - ka kt perm=0,1,3,2;MatMul - qa,kt sa;f half 0.5;Mul - "      \
  "sa,half sb;" softmax ";MatMul attn sc,va sd;Transpose - sd se perm=0,2,1,3;i l 0,64,16;"       \
  "Reshape - se,l sf;w n 16,4;MatMul o sf,n h;i mid 1,;ReduceMean gap h,mid p2 keepdims=0;"       \
  "w head.weight 3,4;w head.bias 3;Gemm head p2,head.weight,head.bias y transB=1;out y N,3"

static void
test_guards (void)
{
  static const struct {
    const char *text, *ops;
  } rows[] = {
    { IMPORT_TEST_AROUND ("f nil 0;IsNaN n x b;Where w b,nil,x h"), "global_avg_pool linear" },
    { IMPORT_TEST_AROUND ("Softmax s x a axis=1;f nil 0;IsNaN n a b;Where w b,nil,a h"),
      "softmax" END },
    { ATTENTION ("Softmax - sb sc axis=-1"), "linear attention linear global_avg_pool linear" },
    /* a mask that hides nothing */
    { ATTENTION ("i o 1,1,64,64;ConstantOfShape - o mask;Add - mask,sb ma;Softmax - ma g axis=-1;"
                 "f nil 0;IsNaN n g b;Where w b,nil,g sc"),
      "linear attention linear global_avg_pool linear" },
    { ATTENTION ("Softmax - sb g axis=-1;f nil 0;IsNaN n g b;Where w b,nil,g sc"),
      "linear attention linear global_avg_pool linear" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    assert_builds (rows[i].text, rows[i].ops);
}

/* --- refusals --------------------------------------------------------------------------------- */

static void
test_refusals (void)
{
  static const struct {
    const char *text, *pattern;
  } rows[] = {
    { IMPORT_TEST_AROUND ("f p 3.5;Pow r x,p h"), "*Pow “r”: its exponent is 3.5; Dyno*" },
    { IMPORT_TEST_AROUND ("f p 1,2;Pow r x,p h"), "*Pow “r”: its exponent is not a number*" },
    { IMPORT_TEST_AROUND ("Pow r x,x h"), "*Pow “r”: its exponent is not a number*" },
    { IMPORT_TEST_AROUND ("f p 2;Pow r p,x h"), "*Pow “r”: its exponent is not a number*" },
    { IMPORT_TEST_AROUND ("Relu - x a;Max r x,a h"), "*Max “r”: Dyno compares a tensor only*" },
    { IMPORT_TEST_AROUND ("f c 1;f d 2;Min r x,c,d h"), "*Min “r”: Dyno compares a tensor only*" },
    { IMPORT_TEST_AROUND ("f c inf;Max r x,c h"), "*Max “r”: *one finite number*" },
    { IMPORT_TEST_AROUND ("Softmax s x h axis=0"),
      "*Softmax “s”: its axis cannot be the channels*" },
    { IMPORT_TEST_AROUND ("Softmax s x h axis=4"), "*Softmax “s”: its axis is out of range*" },
    { "opset 11;" IMPORT_TEST_AROUND ("Softmax s x h"),
      "*Softmax “s”: Dyno computes it over one axis*" },
    { IMPORT_TEST_AROUND ("Relu - x a;f nil 0;IsNaN n x b;Where w b,nil,a h"), "*IsNaN “n”*" },
    { IMPORT_TEST_AROUND ("IsNaN n x b;Where w b,x,x h"), "*IsNaN “n”*" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_test_message ("%s", rows[i].text);
      import_test_assert_refused (rows[i].text, import_test_around, rows[i].pattern);
    }
}

void
import_test_add_functions (void)
{
  g_test_add_func ("/nn/import/functions", test_functions);
  g_test_add_func ("/nn/import/functions-of-constants", test_constants);
  g_test_add_func ("/nn/import/softmax-inside", test_softmax);
  g_test_add_func ("/nn/import/softmax-at-the-end", test_softmax_at_the_end);
  g_test_add_func ("/nn/import/softmax-before-a-mean", test_softmax_before_a_mean);
  g_test_add_func ("/nn/import/softmax-with-a-guard", test_guards);
  g_test_add_func ("/nn/import/functions-that-are-refused", test_refusals);
}
