/* SPDX-License-Identifier: MIT */
/* Networks of ONNX files: products and sums of any axes, repeated values, attention of other forms
 * than the fused one, and tokens that several nodes read. */
#include "axisview.h"
#include "graph-private.h"
#include "import-test.h"
#include "op.h"
#include <math.h>
#include <string.h>

typedef struct {
  const char *text, *ops;
} Row;

static void
check_rows (const Row *rows, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      g_test_message ("%s", rows[i].text);
      g_autofree char *ops =
          g_strconcat (rows[i].ops, *rows[i].ops ? " " : "", "global_avg_pool linear", NULL);
      import_test_assert_builds (rows[i].text, import_test_around, ops, NULL);
    }
}

static void
test_repeated (void)
{
  static const Row rows[] = {
    { IMPORT_TEST_AROUND ("Relu r x a;Div d x,a h"), "relu reciprocal contract" },
    { IMPORT_TEST_AROUND ("f k 2;Div d k,x h"), "reciprocal contract" },
    { IMPORT_TEST_AROUND ("GlobalAveragePool p x a;Shape t x s;Expand e a,s b;Add m x,b h"),
      "global_avg_pool contract permute add" },
    { IMPORT_TEST_AROUND ("GlobalAveragePool p x a;Shape t x s;Expand e a,s b;Mul m b,b h"),
      "global_avg_pool contract contract permute" },
    /* one factor for each pixel of a sample, for each column, for each pixel of all samples */
    { IMPORT_TEST_AROUND ("i c 1,;ReduceSum p x,c a;Mul m x,a h"), "contract contract" },
    { IMPORT_TEST_AROUND ("i c 1,2;ReduceSum p x,c a;Add m x,a h"), "contract contract add" },
    { IMPORT_TEST_AROUND ("w g 8,8;Mul m x,g h"), "gather contract" },
    { IMPORT_TEST_AROUND ("w g 8,8;Sub m x,g h"), "gather contract add" },
    { IMPORT_TEST_AROUND ("w g 8,8;Sub m g,x h"), "gather contract affine add" },
    { IMPORT_TEST_AROUND ("w g 4,1,1;Exp e g a;Mul m x,a h"), "gather exp contract" },
    /* a vector for two nodes becomes two */
    { IMPORT_TEST_AROUND ("w g 4,1,1;Mul m x,g a;Mul o a,g h"), "scale_channels scale_channels" },
    { IMPORT_TEST_AROUND ("i t 1,1,2,1;i c 2,;ReduceSum p x,c a;Tile r a,t h"),
      "contract contract permute" },
  };

  check_rows (rows, G_N_ELEMENTS (rows));
}

static void
test_sums (void)
{
  static const Row rows[] = {
    { IMPORT_TEST_AROUND ("ReduceL2 r x a axes=1,;Div d x,a h"),
      "contract sqrt affine reciprocal contract" },
    { IMPORT_TEST_AROUND ("ReduceSumSquare r x a axes=1,;Mul d x,a h"), "contract contract" },
    { IMPORT_TEST_AROUND ("ReduceMean r x a axes=1,;Sub d x,a h"), "contract contract add" },
    { IMPORT_TEST_AROUND ("ReduceMean r x a axes=-1,;Sub d x,a h"), "contract contract add" },
    { IMPORT_TEST_AROUND ("Einsum e x a equation=nchw->nhwc;Transpose - a h perm=0,3,1,2"),
      "contract" },
    { IMPORT_TEST_AROUND ("Einsum e x a equation=nchw->nch;i s 0,4,8,1;Reshape - a,s h"),
      "contract permute" },
  };

  check_rows (rows, G_N_ELEMENTS (rows));
}

/* 64 tokens of 4 channels; q, k and v have the heads and steps of the text, and sd is the
 * attention's result, which becomes h. */
#define TOKENS(q, k, v)                                                                          \
  "in x N,4,8,8;Transpose - x t perm=0,2,3,1;w a 4,24;MatMul p t,a u;" q ";" k ";" v             \
  ";MatMul - qa,ka sa;f half 0.5;Mul - sa,half sb;Softmax - sb sc axis=-1;MatMul attn sc,va sd;" \
  "Transpose - sd se perm=0,2,1,3;i l 0,64,24;Reshape - se,l sf;w n 24,4;MatMul o sf,n h;"       \
  "i mid 1,;ReduceMean gap h,mid p2 keepdims=0;w head.weight 3,4;w head.bias 3;"                 \
  "Gemm head p2,head.weight,head.bias y transB=1;out y N,3"
#define HEADS(name, shape, perm)                                                           \
  "i " name "s " shape ";Reshape - u," name "s " name "r;Transpose - " name "r " name "a " \
  "perm=" perm
/* the means of 4 x 4 windows: 4 tokens */
#define FEW(name, perm)                                                                        \
  "Transpose - u " name "i perm=0,3,1,2;AveragePool - " name "i " name "w kernel_shape=4,4 "   \
  "strides=4,4;i " name "s 0,2,12,4;Reshape - " name "w," name "s " name "r;Transpose - " name \
  "r " name "a perm=" perm

static void
test_attention (void)
{
  static const Row rows[] = {
    /* heads of 12 values, which the fused op does not have */
    { TOKENS (HEADS ("q", "0,64,2,12", "0,2,1,3"), HEADS ("k", "0,64,2,12", "0,2,3,1"),
              HEADS ("v", "0,64,2,12", "0,2,1,3")),
      "linear contract softmax contract linear" },
    { TOKENS (HEADS ("q", "0,64,3,8", "0,2,1,3"), HEADS ("k", "0,64,3,8", "0,2,3,1"),
              HEADS ("v", "0,64,3,8", "0,2,1,3")),
      "linear concat attention linear" },
    /* fewer keys than queries */
    { TOKENS (HEADS ("q", "0,64,2,12", "0,2,1,3"), FEW ("k", "0,1,2,3"), FEW ("v", "0,1,3,2")),
      "linear avg_pool avg_pool contract softmax contract linear" },
  };

  check_rows (rows, G_N_ELEMENTS (rows));
}

/* Tokens and constants that all samples share. */
static void
test_shared (void)
{
  static const Row rows[] = {
    /* a token behind the steps, and one that two nodes read */
    { IMPORT_TEST_AROUND ("i f 0,4,64;Reshape - x,f a;w k 1,4,1;Concat c a,k h axis=2"),
      "permute gather contract permute concat permute" },
    { IMPORT_TEST_AROUND ("w k 1,4,1,8;Concat c x,k a axis=2;Add b a,k h"),
      "permute gather contract permute concat contract add permute" },
    /* a parameter of parameters */
    { IMPORT_TEST_AROUND ("w k 2,1,1;w l 2,1,1;Concat c k,l a axis=0;Mul d x,a h"),
      "gather gather concat contract" },
  };

  check_rows (rows, G_N_ELEMENTS (rows));
}

void
import_test_add_products (void)
{
  g_test_add_func ("/nn/import/products/repeated-values", test_repeated);
  g_test_add_func ("/nn/import/products/sums-over-axes", test_sums);
  g_test_add_func ("/nn/import/products/attention", test_attention);
  g_test_add_func ("/nn/import/products/values-of-all-samples", test_shared);
}
