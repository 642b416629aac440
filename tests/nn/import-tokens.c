/* SPDX-License-Identifier: MIT */
/* Networks of ONNX files: transformers; axes, copies and batches; constants, masks and training. */
#include "axisview.h"
#include "graph-private.h"
#include "import-test.h"
#include "network.h"
#include "op.h"
#include <math.h>
#include <string.h>

/* --- transformers ----------------------------------------------------------------------------- */

static const ImportTestShape two_patches = {
  .batch = 3, .n_outputs = 3, .height = 8, .width = 8, .channels = 4, .mode = DYNO_MODE_PREDICT
};

/* 16 tokens of 16 channels, then the body, which computes h from t (2, 16, 16), and a head on the
 * mean of the tokens or on the first token.  The file's batch size is 2, the graph's 3. */
#define PATCHES_BY(body, row)                                                               \
  "in x 2,4,8,8;w p.weight 16,4,2,2;w p.bias 16;Conv p x,p.weight,p.bias a strides=2,2;"    \
  "i flat 2,16,16;Reshape - a,flat b;Transpose - b t perm=0,2,1;" body ";" row              \
  ";w head.weight 3,16;Transpose - head.weight d perm=1,0;MatMul head c,d e;w head.bias 3;" \
  "Add - head.bias,e y;out y 2,3"
#define PATCHES(body)    PATCHES_BY (body, "i mid 1,;ReduceMean mean h,mid c keepdims=0")
#define PATCH_OPS        "conv2d "
#define PATCH_PARAMETERS "p.weight[16,4,2,2] p.bias[16] "
#define HEAD_PARAMETERS  "head.weight[3,16] head.bias[3]"

/* torchvision's form: one matrix, steps before samples, heads and samples in one axis. */
#define IN_PROJ                                                                                   \
  "Transpose - t s perm=1,0,2;w in_proj_weight 48,16;Transpose - in_proj_weight u perm=1,0;"      \
  "MatMul - s,u v;w in_proj_bias 48;Add - in_proj_bias,v w;i parts 16,2,3,16;Reshape - w,parts "  \
  "aa;i ax 0,;Unsqueeze - aa,ax ab;Transpose - ab ac perm=3,1,2,0,4;i gone 3,;Squeeze - ac,gone " \
  "ad;i k0 0;i k1 1;i k2 2;Gather - ad,k0 ae;Gather - ad,k1 af;Gather - ad,k2 ag;"                \
  "i heads 16,4,8;Reshape - ae,heads ah;Transpose - ah ai perm=1,0,2;Reshape - af,heads aj;"      \
  "Transpose - aj ak perm=1,0,2;Reshape - ag,heads al;Transpose - al am perm=1,0,2;"              \
  "i four 2,2,16,8;Reshape - ai,four an;Reshape - ak,four ao;Reshape - am,four ap;"               \
  "Transpose - ao aq perm=0,1,3,2;f root 0.59460356;Mul - an,root ar;Mul - aq,root as;"
#define OUT_PROJ                                                                           \
  "MatMul - ar,as at;Softmax - at au;MatMul attn au,ap av;Transpose - av aw perm=2,0,1,3;" \
  "i rows 32,16;Reshape - aw,rows ax1;w o.weight 16,16;w o.bias 16;"                       \
  "Gemm out ax1,o.weight,o.bias ay transB=1;i steps 16,2,16;Reshape - ay,steps az;"        \
  "Transpose - az h perm=1,0,2"

/* Three layers, each of which is split into heads separately. */
#define THREE(scale)                                                                             \
  "w q.weight 16,16;Transpose - q.weight qt perm=1,0;MatMul q t,qt qa;w k.weight 16,16;"         \
  "Transpose - k.weight kt perm=1,0;MatMul k t,kt ka;w v.weight 16,16;"                          \
  "Transpose - v.weight vt perm=1,0;MatMul v t,vt va;i heads -1,16,2,8;Reshape - qa,heads qb;"   \
  "Transpose - qb qc perm=0,2,1,3;Reshape - ka,heads kb;Transpose - kb kc perm=0,2,3,1;"         \
  "Reshape - va,heads vb;Transpose - vb vc perm=0,2,1,3;MatMul - qc,kc sa;f div " scale          \
  ";Div - sa,div sb;Softmax - sb sc axis=3;MatMul attn sc,vc sd;Transpose - sd se perm=0,2,1,3;" \
  "i whole 2,16,16;Reshape - se,whole h"

/* "16x1 heads=2 scale=0.25": the image and the attributes of the only attention op. */
static char *
describe_attention (const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoGraph) graph = import_test_build (text, two_patches, &error);

  g_assert_no_error (error);
  GPtrArray *nodes = dyno_graph_get_nodes (graph);
  for (guint i = 0; i < nodes->len; i++)
    {
      const DynoNode *node = g_ptr_array_index (nodes, i);
      double scale = -1, heads = 0, by_row = 0;
      if (!g_str_equal (node->op->name, "attention"))
        continue;
      g_assert_true (dyno_node_get_attribute (node, "heads", &heads));
      g_assert_true (dyno_node_get_attribute (node, "scale", &scale));
      g_assert_true (dyno_node_get_attribute (node, "by_row", &by_row));
      return g_strdup_printf ("%ux%u heads=%g scale=%g%s", node->outputs[0]->h, node->outputs[0]->w,
                              heads, scale, by_row != 0 ? " by row" : "");
    }
  g_assert_not_reached ();
}

static void
assert_attention (const char *text, const char *wanted)
{
  g_autofree char *made = describe_attention (text);

  g_assert_cmpstr (made, ==, wanted);
}

static void
test_attention (void)
{
  import_test_assert_builds (
      PATCHES (IN_PROJ OUT_PROJ), two_patches,
      PATCH_OPS "linear attention linear global_avg_pool linear",
      PATCH_PARAMETERS
      "in_proj_weight[48,16] in_proj_bias[48] o.weight[16,16] o.bias[16] " HEAD_PARAMETERS);
  import_test_assert_builds (
      PATCHES (THREE ("2.828427")), two_patches,
      PATCH_OPS "linear linear linear concat attention global_avg_pool linear",
      PATCH_PARAMETERS "q.weight[16,16] k.weight[16,16] v.weight[16,16] " HEAD_PARAMETERS);
  /* A scale of 1 / sqrt (8), by any factors, is the op's default. */
  assert_attention (PATCHES (IN_PROJ OUT_PROJ), "4x4 heads=2 scale=0");
  assert_attention (PATCHES (THREE ("2.828427")), "4x4 heads=2 scale=0");
  assert_attention (PATCHES (THREE ("4")), "4x4 heads=2 scale=0.25");
}

/* One layer that a Reshape, a Transpose and another Reshape divide into three parts; the attention,
 * with transposed keys; and the nodes `back`, which make se of its output; se is reshaped to (2,
 * 16, 16). */
#define GROUPS(shape, perm, flat, turn, back)                                                     \
  "w m.weight 48,16;Transpose - m.weight mt perm=1,0;MatMul m t,mt u;i split " shape              \
  ";Reshape - u,split us;Transpose - us up perm=" perm ";i flat1 " flat ";Reshape - up,flat1 ut;" \
  "i k0 0;i k1 1;i k2 2;Gather - ut,k0 q;Gather - ut,k1 k;Gather - ut,k2 v;Transpose - k kt "     \
  "perm=" turn ";MatMul - q,kt sa;Softmax - sa sc axis=-1;MatMul attn sc,v sd;" back              \
  ";i whole 2,16,16;Reshape - se,whole h"
/* Separate layers of queries, keys and values; the nodes `keys` transpose the keys. */
#define APART(queries, keys, values, back)                                                    \
  "w m 16,16;MatMul ql t,m qa;w n 16,16;w o 16,16;MatMul vl t,o va;i heads 2,16,2,8;" queries \
  ";" keys ";" values ";MatMul - q,k sa;Softmax - sa sc axis=-1;MatMul attn sc,v sd;" back    \
  ";i whole 2,16,16;Reshape - se,whole h"

static void
test_groups (void)
{
  static const struct {
    const char *text, *ops, *attention;
  } rows[] = {
    /* rows of the image, in the op's own layout */
    { PATCHES (GROUPS ("2,4,4,3,2,8", "3,0,1,4,2,5", "3,2,4,2,4,8", "0,1,2,4,3",
                       "Transpose - sd se perm=0,1,3,2,4")),
      "linear attention ", "4x4 heads=2 scale=1 by row" },
    /* rows in one axis with the samples */
    { PATCHES (GROUPS ("8,4,3,2,8", "2,0,3,1,4", "3,8,2,4,8", "0,1,3,2",
                       "Transpose - sd se perm=0,2,1,3")),
      "linear attention ", "4x4 heads=2 scale=1 by row" },
    /* rows in two axes, the inner axis first */
    { PATCHES (GROUPS ("2,2,2,4,3,2,8", "4,0,2,1,5,3,6", "3,2,2,2,2,4,8", "0,1,2,3,5,4",
                       "Transpose - sd se perm=0,2,1,4,3,5")),
      "linear attention ", "4x4 heads=2 scale=1 by row" },
    /* columns, followed by the samples */
    { PATCHES (GROUPS ("2,4,4,3,2,8", "3,2,0,4,1,5", "3,4,2,2,4,8", "0,1,2,4,3",
                       "Transpose - sd se perm=1,3,0,2,4")),
      "linear permute attention ", "4x4 heads=2 scale=1 by row" },
    /* windows of 2 x 2 tokens, windows of 4 x 2 with the axis before the heads, and one head */
    { PATCHES (GROUPS ("2,2,2,2,2,3,2,8", "5,0,1,3,6,2,4,7", "3,8,2,4,8", "0,1,3,2",
                       "i g 2,2,2,2,2,2,8;Reshape - sd,g sg;Transpose - sg se "
                       "perm=0,1,4,2,5,3,6")),
      "linear permute attention ", "4x4 heads=2 scale=1 by row" },
    { PATCHES (GROUPS ("2,4,2,2,3,2,8", "4,2,0,5,1,3,6", "3,2,2,2,8,8", "0,1,2,4,3",
                       "i g 2,2,2,4,2,8;Reshape - sd,g sg;Transpose - sg se perm=1,3,0,4,2,5")),
      "linear permute attention ", "2x8 heads=2 scale=1 by row" },
    { PATCHES (GROUPS ("2,2,2,2,2,3,16", "5,0,1,3,2,4,6", "3,8,4,16", "0,2,1",
                       "i g 2,2,2,2,2,16;Reshape - sd,g sg;Transpose - sg se perm=0,1,3,2,4,5")),
      "linear permute attention ", "4x4 heads=1 scale=1 by row" },
    /* all pixels as rows of one token: every token is a group */
    { PATCHES (GROUPS ("32,1,3,2,8", "2,0,3,1,4", "3,32,2,1,8", "0,1,3,2",
                       "Transpose - sd se perm=0,2,1,3")),
      "linear permute attention ", "16x1 heads=2 scale=1 by row" },
    /* keys whose steps are channels get the layout of the queries */
    { PATCHES (APART ("Reshape - qa,heads qb;Transpose - qb q perm=0,2,1,3",
                      "MatMul kl b,n ka;i ks 2,2,8,16;Reshape - ka,ks k",
                      "Reshape - va,heads vb;Transpose - vb v perm=0,2,1,3",
                      "Transpose - sd se perm=0,2,1,3")),
      "linear linear permute linear permute concat attention ", "4x4 heads=2 scale=1" },
    /* attention between channels, whose values are the tokens */
    { PATCHES (APART ("Reshape - qa,heads qb;Transpose - qb q perm=0,2,3,1",
                      "MatMul kl t,n ka;Reshape - ka,heads kb;Transpose - kb k perm=0,2,1,3",
                      "Reshape - va,heads vb;Transpose - vb v perm=0,2,3,1",
                      "Transpose - sd se perm=0,3,1,2")),
      "linear linear linear permute permute permute concat attention permute ",
      "1x8 heads=2 scale=1" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *ops = g_strconcat (PATCH_OPS, rows[i].ops, "global_avg_pool linear", NULL);
      g_test_message ("%s", rows[i].text);
      import_test_assert_builds (rows[i].text, two_patches, ops, NULL);
      assert_attention (rows[i].text, rows[i].attention);
    }
}

static void
test_attention_refusals (void)
{
  import_test_assert_refused (PATCHES (THREE ("0")), two_patches,
                              "*MatMul “attn”: the factor “div”*");
  /* Keys in the layout of queries, and a softmax over the queries. */
  g_auto (GStrv) parts = g_strsplit (PATCHES (THREE ("4")), "kc perm=0,2,3,1", -1);
  g_autofree char *turned = g_strjoinv ("kc perm=0,2,1,3", parts);
  import_test_assert_refused (turned, two_patches,
                              "*MatMul “attn”: it is an attention over (2, 2, 16, 8), *");
  g_auto (GStrv) softmax = g_strsplit (PATCHES (THREE ("4")), "axis=3", -1);
  g_autofree char *other = g_strjoinv ("axis=2", softmax);
  import_test_assert_refused (other, two_patches,
                              "*MatMul “attn”: its softmax is not over the keys*");
  /* Keys in other groups than the queries, and attention between samples. */
  import_test_assert_refused (
      PATCHES (APART ("i qs 2,4,4,2,8;Reshape - qa,qs qb;Transpose - qb q perm=0,1,3,2,4",
                      "MatMul kl t,n ka;Reshape - ka,qs kb;Transpose - kb k "
                      "perm=0,1,3,4,2;i vs 2,8,2,2,8",
                      "Reshape - va,vs vb;Transpose - vb v perm=0,1,3,2,4",
                      "Transpose - sd se perm=0,1,3,2,4")),
      two_patches, "*MatMul “attn”: it is an attention over (2, 4, 2, 4, 8), *");
  import_test_assert_refused (PATCHES (GROUPS ("2,16,3,2,8", "2,1,3,0,4", "3,16,2,2,8", "0,1,3,2",
                                               "Transpose - sd se perm=2,0,1,3")),
                              two_patches,
                              "*MatMul “attn”: it is an attention over (16, 2, 2, 8), *");
  import_test_assert_refused (
      PATCHES ("w kv 1,2,8,16;i heads -1,16,2,8;Reshape - t,heads qb;"
               "Transpose - qb q perm=0,2,1,3;MatMul - q,kv sa;Softmax - sa sc axis=3;"
               "MatMul attn sc,kv h"),
      two_patches, "*MatMul “attn”: its keys or values do not depend on the input*");
  /* Latent queries that are parameters of the network. */
  import_test_assert_refused (
      PATCHES ("w lq 1,2,4,8;i heads -1,16,2,8;Reshape - t,heads kb;"
               "Transpose - kb k perm=0,2,3,1;MatMul - lq,k sa;Softmax - sa sc axis=3;"
               "Transpose - kb v perm=0,2,1,3;MatMul attn sc,v h"),
      two_patches, "*MatMul “attn”: it reads “lq”, which does not depend on the input*");
}

static void
test_class_token (void)
{
#define TOKEN(positions)                                                                \
  "w cls 1,1,16;i samples 2,-1,-1;i one 1,;Shape - samples n;ConstantOfShape - n ones;" \
  "i over 2,1,16;Expand - cls,over e1;Concat - e1,t e2 axis=1;w pos " positions         \
  ";Add sum e2,pos h"
  import_test_assert_builds (
      PATCHES_BY (TOKEN ("1,17,16"), "i zero 0;Gather first h,zero c axis=1"), two_patches,
      PATCH_OPS "tokens first_step linear",
      PATCH_PARAMETERS "cls[1,1,16] pos[1,17,16] " HEAD_PARAMETERS);
  import_test_assert_builds (
      PATCHES ("w cls 1,1,16;i over 2,1,16;Expand - cls,over e1;Concat c e1,t h axis=1"),
      two_patches, PATCH_OPS "tokens global_avg_pool linear",
      PATCH_PARAMETERS "cls[1,1,16] " HEAD_PARAMETERS);
  /* with a distillation token */
  import_test_assert_builds (PATCHES ("w cls 1,1,16;w dst 1,1,16;Concat c cls,dst,t h axis=1"),
                             two_patches, PATCH_OPS "tokens tokens global_avg_pool linear",
                             PATCH_PARAMETERS "cls[1,1,16] dst[1,1,16] " HEAD_PARAMETERS);
  import_test_assert_refused (
      PATCHES ("w cls 1,1,16;Concat c cls,t h axis=2"), two_patches,
      "*Concat “c”: Dyno joins tensors along one axis, of equal other axes*");
  import_test_assert_refused (PATCHES ("w cls 1,1,8;Concat c cls,t h axis=1"), two_patches,
                              "*Concat “c”: “cls” is not (1, 1, 16)*");
  import_test_assert_refused (PATCHES (TOKEN ("1,16,16")), two_patches,
                              "*Add “sum”: “pos” is not (1, 17, 16)*");
}

static void
test_positions (void)
{
  import_test_assert_builds (PATCHES ("w pos 1,16,16;Add sum t,pos h"), two_patches,
                             PATCH_OPS "tokens global_avg_pool linear",
                             PATCH_PARAMETERS "pos[1,16,16] " HEAD_PARAMETERS);
  import_test_assert_builds (PATCHES ("w pos 16,16;Add sum pos,t h"), two_patches,
                             PATCH_OPS "tokens global_avg_pool linear",
                             PATCH_PARAMETERS "pos[16,16] " HEAD_PARAMETERS);
  import_test_assert_refused (PATCHES ("w pos 2,16,16;Add sum t,pos h"), two_patches,
                              "*Add “sum”: it adds*, whose axes do not fit");
  import_test_assert_refused (PATCHES ("w pos 1,4,16;Add sum t,pos h"), two_patches,
                              "*Add “sum”: it adds*, whose axes do not fit");
  /* Channels before steps, in a sequence and in an image; windows. */
  import_test_assert_builds (PATCHES ("w pos 1,16,16;Add sum b,pos h1;Transpose - h1 h perm=0,2,1"),
                             two_patches, PATCH_OPS "permute tokens permute global_avg_pool linear",
                             PATCH_PARAMETERS "pos[1,16,16] " HEAD_PARAMETERS);
  import_test_assert_builds (
      IMPORT_TEST_AROUND ("w pos 1,4,8,8;Add sum x,pos e;Relu r e f;w k 4,4,1,1;Conv c f,k g;"
                          "Add q g,f h"),
      import_test_around, "permute tokens permute relu conv2d add global_avg_pool linear",
      "pos[1,4,8,8] k[4,4,1,1] head.weight[3,4] head.bias[3]");
  import_test_assert_builds (
      IMPORT_TEST_AROUND ("i s 0,4,2,4,2,4;Reshape - x,s a;Transpose - a b perm=0,2,4,3,5,1;"
                          "i u 0,4,16,4;Reshape - b,u c;w pos 1,4,16,4;Add sum c,pos e;"
                          "i k 0,2,2,4,4,4;Reshape - e,k f;Transpose - f g perm=0,5,1,3,2,4;"
                          "i j 0,4,8,8;Reshape - g,j h"),
      import_test_around, "permute tokens permute global_avg_pool linear",
      "pos[1,4,16,4] head.weight[3,4] head.bias[3]");
}

/* Views of parameters: (C, 1) for (C), and matrices that are transposed twice. */
static void
test_views_of_parameters (void)
{
  import_test_assert_builds (
      PATCHES ("w g 16;i s 1,1,16;Reshape - g,s g1;Mul m t,g1 t1;w bb 1,16,1;"
               "Transpose - bb b1 perm=0,2,1;Add sum t1,b1 h"),
      two_patches, PATCH_OPS "scale_channels add_channels global_avg_pool linear",
      PATCH_PARAMETERS "g[16] bb[1,16,1] " HEAD_PARAMETERS);
  import_test_assert_builds (
      PATCHES ("w m 16,16;Transpose - m m1 perm=1,0;Transpose - m1 m2 perm=1,0;"
               "MatMul mm t,m2 h"),
      two_patches, PATCH_OPS "linear global_avg_pool linear",
      PATCH_PARAMETERS "m[16,16] " HEAD_PARAMETERS);
  import_test_assert_refused (PATCHES ("w m 2,8,16;Transpose - m m1 perm=1,0,2;Mul mm t,m1 h"),
                              two_patches, "*Mul “mm”: it multiplies*, whose axes do not fit");
  import_test_assert_refused (
      PATCHES ("w cc 16,16;Transpose - cc c1 perm=1,0;i s 16,16,1;Reshape - c1,s c2;"
               "Conv k t,c2 h"),
      two_patches, "*Reshape “c2”: Dyno cannot reshape (16, 16)*");
  /* repeated over the steps, and by the sum over the samples */
  import_test_assert_builds (PATCHES ("w ee 1,1,16;i s 2,16,16;Expand e ee,s e1;Add sum t,e1 h"),
                             two_patches,
                             PATCH_OPS "gather contract contract add global_avg_pool linear",
                             PATCH_PARAMETERS "ee[1,1,16] " HEAD_PARAMETERS);
}

/* Ranges of channels that no op reads separately cost nothing. */
static void
test_runs (void)
{
  import_test_assert_builds (
      PATCHES ("i s 2,16,2,8;Reshape - t,s r;i at 0;Gather - r,at u axis=2;i to 1;"
               "Gather - r,to v axis=2;Concat - v,u h axis=2"),
      two_patches, PATCH_OPS "channels channels concat global_avg_pool linear", NULL);
  import_test_assert_builds (PATCHES ("i s 2,16,2,8;Reshape - t,s r;Split - r u,v axis=2;i ax 2,;"
                                      "Squeeze - u,ax u1;Relu - u1 u2;Concat - u2,u2 h axis=2"),
                             two_patches, PATCH_OPS "channels relu concat global_avg_pool linear",
                             NULL);
  /* One step that is not the first: steps and channels exchange their places. */
  import_test_assert_builds (PATCHES_BY ("Relu r t h", "i at 3;Gather g h,at c axis=1"),
                             two_patches, PATCH_OPS "relu permute channels permute linear", NULL);
  /* torch.as_strided: (2, 2, 2) of the 8 means over the pixels, with the first two axes
   * exchanged */
  import_test_assert_builds (
      "in x 2,4,8,8;GlobalAveragePool p x a;i all -1,;Reshape - a,all b;"
      "i at 0,1,4,5,2,3,6,7;i two 2,2,2;Reshape - at,two ats;Gather g b,ats c;"
      "Transpose - c d perm=1,0,2;i s 2,4;Reshape - d,s e;w o 4,3;MatMul m e,o y;"
      "out y 2,3",
      two_patches, "global_avg_pool linear", NULL);
  /* an order that is not its own inverse: (2, 2, 2) of (N, c, c) as (c, c, N) */
  import_test_assert_builds (
      "in x 2,4,8,8;GlobalAveragePool p x a;i all -1,;Reshape - a,all b;"
      "i at 0,4,1,5,2,6,3,7;i two 2,2,2;Reshape - at,two ats;Gather g b,ats c;"
      "Transpose - c d perm=2,0,1;i s 2,4;Reshape - d,s e;w o 4,3;MatMul m e,o y;"
      "out y 2,3",
      two_patches, "global_avg_pool linear", NULL);
  import_test_assert_refused (
      "in x 2,4,8,8;GlobalAveragePool p x a;i all -1,;Reshape - a,all b;"
      "i at 0,1,4,5,2,3,7,6;i two 2,2,2;Reshape - at,two ats;Gather g b,ats c;"
      "Flatten - c d;w o 4,3;MatMul m d,o y;out y 2,3",
      two_patches, "*Gather “g”: Dyno picks elements of samples only, not samples of (8)*");
  import_test_assert_refused (PATCHES ("i at 16;Gather g t,at h axis=1"), two_patches,
                              "*Gather “g”: index 16*");
}

/* "1x4x64: 4/1 64/4": the shapes and the parts, as extent and stride, of the copies into another
 * layout. */
static char *
list_copies (DynoGraph *graph)
{
  g_autoptr (GString) list = g_string_new (NULL);
  GPtrArray *nodes = dyno_graph_get_nodes (graph);

  for (guint i = 0; i < nodes->len; i++)
    {
      const DynoNode *node = g_ptr_array_index (nodes, i);
      const DynoTensor *y = node->outputs[0];
      double n, extent, stride;
      if (strcmp (node->op->name, "permute") != 0)
        continue;
      g_string_append_printf (list, "%s%ux%ux%u:", list->len ? ", " : "", y->h, y->w, y->c);
      g_assert_true (dyno_node_get_attribute (node, "n", &n));
      for (guint k = 0; k < n; k++)
        {
          g_autofree char *of_extent = g_strdup_printf ("extent[%u]", k),
                          *of_stride = g_strdup_printf ("stride[%u]", k);
          g_assert_true (dyno_node_get_attribute (node, of_extent, &extent));
          g_assert_true (dyno_node_get_attribute (node, of_stride, &stride));
          g_string_append_printf (list, " %g/%g", extent, stride);
        }
    }
  return g_string_free (g_steal_pointer (&list), FALSE);
}

#define TOKENS(body) "i s 0,4,64;Reshape - x,s a;Transpose - a t perm=0,2,1;" body
#define IMAGE(body)  "in x N,4,8,8;" body ";w o 4,3;MatMul z g,o y;out y N,3"

/* Where no view is possible, tensors are copied: with these shapes and layouts. */
static void
test_copies (void)
{
  static const struct {
    const char *text, *ops, *copies;
  } rows[] = {
    /* a layer along the tokens, as in MLP-Mixer: copied there and back */
    { IMPORT_TEST_AROUND (
          TOKENS ("w m 64,64;MatMul p a,m b;w n 64;Add - b,n c;Transpose - c d perm=0,2,1;"
                  "Add q t,d e;Transpose - e f perm=0,2,1;i u 0,4,8,8;Reshape - f,u h")),
      "permute linear permute add global_avg_pool linear", "1x4x64: 4/1 64/4, 8x8x4: 64/1 4/64" },
    /* the same with a matrix of rows */
    { IMPORT_TEST_AROUND (
          "i s -1,64;Reshape - x,s a;w m 64,64;Gemm p a,m b;i u -1,4,8,8;Reshape - b,u h"),
      "permute linear permute global_avg_pool linear", "1x4x64: 4/1 64/4, 8x8x4: 64/1 4/64" },
    /* windows of 4 x 4 pixels, a factor for each of their pixels */
    { IMPORT_TEST_AROUND (
          "i s 0,4,2,4,2,4;Reshape - x,s a;Transpose - a b perm=0,2,4,3,5,1;i u -1,16,4;"
          "Reshape - b,u c;w m 4,4;MatMul p c,m d;w n 16,1;Mul q d,n e;i v 0,0,4;"
          "i k -1,2,2,4,4,4;Reshape - e,k f;Transpose - f g perm=0,5,1,3,2,4;i j 0,4,8,8;"
          "Reshape - g,j h"),
      "linear permute scale_channels permute global_avg_pool linear",
      "1x16x16: 2/128 2/16 4/1 4/32 4/4, 8x8x4: 2/128 4/4 2/64 4/1 4/16" },
    /* flattened with the channels last */
    { "in x N,4,8,8;Transpose t x a perm=0,2,3,1;Flatten f a b;w m 256,3;MatMul p b,m y;out y N,3",
      "permute linear", "1x1x256: 256/1" },
    { "in x N,4,8,8;Transpose t x a perm=0,2,3,1;Flatten f a b;w m 3,256;Gemm p b,m y transB=1;"
      "out y N,3",
      "permute linear", "1x1x256: 256/1" },
    /* pixel shuffle and back, once for two readers */
    { IMPORT_TEST_AROUND (
          "i s 0,1,2,2,8,8;Reshape - x,s a;Transpose - a b perm=0,1,4,2,5,3;i u 0,1,16,16;"
          "Reshape - b,u c;w k 4,1,2,2;Conv e c,k d strides=2,2;w l 4,1,2,2;"
          "Conv f c,l g strides=2,2;Add q d,g h"),
      "permute conv2d conv2d add global_avg_pool linear", "16x16x1: 8/32 2/2 8/4 2/1" },
    /* along other axes than the channels */
    { IMPORT_TEST_AROUND ("Concat p x,x h axis=2"), "permute concat permute global_avg_pool linear",
      "4x8x8: 4/1 8/4 8/32, 16x8x4: 16/1 8/16 4/128" },
    { IMPORT_TEST_AROUND ("Split p x a,b axis=3;Add q a,b h"),
      "permute channels channels add permute global_avg_pool linear",
      "4x8x8: 4/1 64/4, 8x4x4: 32/1 4/32" },
    { IMPORT_TEST_AROUND ("i a 1,;i b -2,;i c 2,;Slice p x,a,b,c h"),
      "permute channels permute global_avg_pool linear",
      "4x8x8: 4/1 8/4 8/32, 5x8x4: 5/1 8/5 4/40" },
    { IMPORT_TEST_AROUND ("i a 0,;i b 8,;i c 2,;Slice p x,a,b,c h"), "global_avg_pool linear", "" },
    /* the mean over the columns of a product, which lie along the channels */
    { IMAGE ("i s 0,4,64;Reshape - x,s a;w m 64,5;MatMul p a,m b;i ax 2;ReduceMean q b,ax g "
             "keepdims=0"),
      "permute linear permute global_avg_pool linear", "1x4x64: 4/1 64/4, 1x5x4: 5/1 4/5" },
    /* a factor, a bias and a norm along the last axis, which is the width */
    { IMPORT_TEST_AROUND ("w a 8;Mul p x,a b;w c 8;Add q b,c d;w e.weight 8;w e.bias 8;"
                          "LayerNormalization n d,e.weight,e.bias h"),
      "permute scale_channels add_channels layer_norm permute global_avg_pool linear",
      "4x8x8: 4/1 64/4, 8x8x4: 64/1 4/64" },
    { IMPORT_TEST_AROUND ("i s 0,32,8;Reshape - x,s a;w b 32;w c 32;w d 32;w e 32;"
                          "BatchNormalization n a,b,c,d,e f;i u 0,4,8,8;Reshape - f,u h"),
      "permute batch_norm permute global_avg_pool linear", "1x8x32: 32/1 8/32, 8x8x4: 8/1 32/8" },
    /* a reshape whose old and new axes have no boundary in common */
    { IMPORT_TEST_AROUND (
          "w k 6,4,3,3;Conv c x,k a strides=2,2 pads=1,1,1,1;i u 0,8,12;Reshape - a,u b;"
          "w m 12,12;MatMul p b,m d;i s 0,6,4,4;Reshape - d,s e;w j 4,6,1,1;Conv - e,j h"),
      "conv2d permute permute linear permute permute conv2d global_avg_pool linear",
      "1x1x96: 6/1 16/6, 1x8x12: 96/1, 1x1x96: 96/1, 4x4x6: 16/1 6/16" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      g_test_message ("%s", rows[i].text);
      g_autoptr (DynoGraph) graph = import_test_build (rows[i].text, import_test_around, &error);
      g_assert_no_error (error);
      g_autofree char *ops = import_test_list_ops (graph), *copies = list_copies (graph);
      g_assert_cmpstr (ops, ==, rows[i].ops);
      g_assert_cmpstr (copies, ==, rows[i].copies);
    }
}

/* A file that was exported for a batch of 1 has 1 in its shapes. */
static void
test_fixed_batch (void)
{
  ImportTestShape five = import_test_around;
  five.batch = 5;

  import_test_assert_builds ("in x 1,4,8,8;i sh 1,256;Reshape r x,sh e;w f.weight 3,256;w f.bias 3;"
                             "Gemm f e,f.weight,f.bias y transB=1;out y 1,3",
                             five, "linear", NULL);
}

/* The batch size is a factor of an axis, separately or with other factors: windows, and heads after
 * tokens.  The graph is the same for all batch sizes. */
static void
test_fixed_batch_inside (void)
{
#define WINDOWS(shape)                                                                       \
  "in x 2,4,8,8;i s 2,4,2,4,2,4;Reshape - x,s a;Transpose - a b perm=0,2,4,3,5,1;i u " shape \
  ";Reshape - b,u c;Transpose - c cc perm=0,2,1;w m 16,16;MatMul p cc,m d;"                  \
  "i k 2,2,2,4,4,4;Reshape - d,k f;Transpose - f g perm=0,3,1,4,2,5;i j 2,4,8,8;"            \
  "Reshape - g,j h;GlobalAveragePool - h l;Flatten - l n;w o 4,3;MatMul z n,o y;out y 2,3"
#define HEADS(shape)                                                                            \
  "in x 2,4,8,8;i s 2,4,64;Reshape - x,s a;Transpose - a b perm=2,0,1;i u " shape               \
  ";Reshape - b,u c;Transpose - c d perm=1,0,2;Relu r d e;Transpose - e f perm=1,0,2;i v 64,2," \
  "4;Reshape - f,v g;w m 4,4;MatMul p g,m h;i ax 0,;ReduceMean - h,ax l keepdims=0;w o 4,3;"    \
  "MatMul z l,o y;out y 2,3"
  static const struct {
    const char *text, *ops, *copies;
  } rows[] = {
    { WINDOWS ("8,16,4"), "permute linear permute global_avg_pool linear",
      "1x16x16: 2/128 2/16 4/1 4/32 4/4, 8x8x4: 2/128 4/4 2/64 4/1 4/16" },
    { WINDOWS ("-1,16,4"), "permute linear permute global_avg_pool linear",
      "1x16x16: 2/128 2/16 4/1 4/32 4/4, 8x8x4: 2/128 4/4 2/64 4/1 4/16" },
    { WINDOWS ("8,-1,4"), "permute linear permute global_avg_pool linear",
      "1x16x16: 2/128 2/16 4/1 4/32 4/4, 8x8x4: 2/128 4/4 2/64 4/1 4/16" },
    /* no view has these axes */
    { "in x 2,4,8,8;w k 6,4,3,3;Conv c x,k a strides=2,2 pads=1,1,1,1;i u 16,12;Reshape - a,u b;"
      "w m 12,12;MatMul p b,m d;i s 2,6,4,4;Reshape - d,s h;GlobalAveragePool - h l;Flatten - l n;"
      "w o 6,3;MatMul z n,o y;out y 2,3",
      "conv2d permute permute linear permute permute global_avg_pool linear",
      "1x1x96: 6/1 16/6, 1x8x12: 96/1, 1x1x96: 96/1, 4x4x6: 16/1 6/16" },
    { HEADS ("64,4,2"), "relu linear global_avg_pool linear", "" },
    { HEADS ("-1,4,2"), "relu linear global_avg_pool linear", "" },
    { HEADS ("64,-1,2"), "relu linear global_avg_pool linear", "" },
  };
  static const guint32 batches[] = { 1, 2, 3, 8 };

  for (guint i = 0; i < G_N_ELEMENTS (rows) * G_N_ELEMENTS (batches); i++)
    {
      ImportTestShape shape = import_test_around;
      g_autoptr (GError) error = NULL;
      guint row = i / G_N_ELEMENTS (batches);
      shape.batch = batches[i % G_N_ELEMENTS (batches)];
      g_test_message ("%u samples: %s", shape.batch, rows[row].text);
      g_autoptr (DynoGraph) graph = import_test_build (rows[row].text, shape, &error);
      g_assert_no_error (error);
      g_autofree char *ops = import_test_list_ops (graph), *copies = list_copies (graph);
      g_assert_cmpstr (ops, ==, rows[row].ops);
      g_assert_cmpstr (copies, ==, rows[row].copies);
    }
}

/* Nodes that the output does not depend on make no parameters. */
static void
test_unneeded_nodes (void)
{
  import_test_assert_builds (
      IMPORT_TEST_AROUND ("Relu r x h;w aux.weight 9,4,3,3;Conv aux h,aux.weight z"),
      import_test_around, "relu global_avg_pool linear", "head.weight[3,4] head.bias[3]");
}

/* The constants of the ops that replace sums and products with constants. */
static void
test_numbers (void)
{
  static const struct {
    const char *text;
    double factor, offset;
  } rows[] = {
    { IMPORT_TEST_AROUND ("f k 4;Mul s x,k h"), 4, 0 },
    { IMPORT_TEST_AROUND ("f k 4;Add s x,k h"), 1, 4 },
    { IMPORT_TEST_AROUND ("f k 4;Sub s x,k h"), 1, -4 },
    { IMPORT_TEST_AROUND ("f k 4;Sub s k,x h"), -1, 4 },
    { IMPORT_TEST_AROUND ("f k 4;Div s x,k h"), 0.25, 0 },
    { IMPORT_TEST_AROUND ("Neg s x h"), -1, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (DynoGraph) graph = import_test_build (rows[i].text, import_test_around, &error);
      guint n = 0;
      double factor = 0, offset = 0;
      g_assert_no_error (error);
      GPtrArray *nodes = dyno_graph_get_nodes (graph);
      for (guint k = 0; k < nodes->len; k++)
        {
          const DynoNode *node = g_ptr_array_index (nodes, k);
          if (!g_str_equal (node->op->name, "affine"))
            continue;
          n++;
          g_assert_true (dyno_node_get_attribute (node, "factor", &factor));
          g_assert_true (dyno_node_get_attribute (node, "offset", &offset));
        }
      g_assert_cmpuint (n, ==, 1);
      g_assert_cmpfloat (factor, ==, rows[i].factor);
      g_assert_cmpfloat (offset, ==, rows[i].offset);
    }
}

/* Stochastic depth in torchvision's form, and dropout as elementary operators. */
static void
test_random_masks (void)
{
#define DEPTH(a, x, y)                                                                             \
  "i " a "s 2,1,1,1;ConstantOfShape - " a "s " a "0;RandomUniformLike - " a "0 " a "1 low=0.0 "    \
  "high=1.0;Less - " a "1,p " a "2;Cast - " a "2 " a "3 to=1;Div - " a "3,p " a "4;Mul - " x "," a \
  "4 " y
  ImportTestShape training = import_test_around;
  g_autoptr (GError) error = NULL;
  training.mode = DYNO_MODE_TRAIN;

  g_autoptr (DynoGraph) graph =
      import_test_build (IMPORT_TEST_AROUND ("f p 0.8;Relu - x a;" DEPTH ("u", "a", "b") ";" DEPTH (
                             "v", "b", "c") ";Add - c,x h"),
                         training, &error);
  g_assert_no_error (error);
  const GPtrArray *notes = dyno_network_get_notes (graph);
  g_assert_cmpuint (notes->len, ==, 1);
  g_assert_true (
      g_str_has_prefix (g_ptr_array_index (notes, 0), "stochastic depth is left out: 2 branches"));
  import_test_assert_builds (
      IMPORT_TEST_AROUND ("f p 0.8;Relu - x a;" DEPTH ("u", "a", "b") ";Add - b,x h"),
      import_test_around, "relu add global_avg_pool linear", NULL);
  /* random numbers for each value of x */
  g_autoptr (DynoGraph) dropped = import_test_build (
      IMPORT_TEST_AROUND ("f p 0.75;RandomUniformLike - x a low=0.0 high=1.0;Less - a,p b;"
                          "Cast - b c to=1;Div - c,p d;Mul - d,x h"),
      training, &error);
  g_assert_no_error (error);
  g_autofree char *ops = import_test_list_ops (dropped);
  g_assert_nonnull (strstr (ops, "dropout global_avg_pool"));
  GPtrArray *nodes = dyno_graph_get_nodes (dropped);
  for (guint i = 0; i < nodes->len; i++)
    {
      const DynoNode *node = g_ptr_array_index (nodes, i);
      double probability = 0.25;
      dyno_node_get_attribute (node, "probability", &probability);
      g_assert_cmpfloat (probability, ==, 0.25);
    }
  g_assert_null (dyno_network_get_notes (dropped)->len ? "a note" : NULL);
  /* another factor than 1 / share of the kept values, and a mask with another reader */
  import_test_assert_refused (
      IMPORT_TEST_AROUND ("f p 0.8;f q 0.5;i s 2,1,1,1;ConstantOfShape - s o;"
                          "RandomUniformLike - o a;Less - a,p b;Cast - b c to=1;Div - c,q d;"
                          "Mul - d,x h"),
      import_test_around, "*RandomUniformLike “a”: Dyno has no such operator*");
  import_test_assert_refused (
      IMPORT_TEST_AROUND ("f p 0.8;i s 2,1,1,1;ConstantOfShape - s o;RandomUniformLike - o a;"
                          "Less - a,p b;Cast - b c to=1;Div - c,p d;Mul - d,x e;Mul - d,e h"),
      import_test_around, "*RandomUniformLike “a”: Dyno has no such operator*");
}

/* For training, the softmax at the end is removed, and every parameter has a gradient. */
static void
test_trains (void)
{
  ImportTestShape training = import_test_around;
  g_autoptr (GError) error = NULL;
  training.mode = DYNO_MODE_TRAIN;

  g_autoptr (DynoGraph) graph = import_test_build (
      "in x N,4,8,8;w c.weight 4,4,3,3;Conv c x,c.weight a pads=1,1,1,1;Gelu g a h;"
      "GlobalAveragePool p h b;Flatten f b d;w m 4,3;MatMul mm d,m e;w n 3;Add s e,n o;"
      "Softmax z o y;out y N,3",
      training, &error);
  g_assert_no_error (error);
  GPtrArray *parameters = dyno_graph_get_parameters (graph);
  g_assert_cmpuint (parameters->len, ==, 3);
  for (guint i = 0; i < parameters->len; i++)
    g_assert_nonnull (((DynoParameter *) g_ptr_array_index (parameters, i))->gradient);
  const GPtrArray *notes = dyno_network_get_notes (graph);
  g_assert_cmpuint (notes->len, ==, 1);
  g_assert_nonnull (strstr (g_ptr_array_index (notes, 0), "Softmax"));
}

void
import_test_add_tokens (void)
{
  g_test_add_func ("/nn/import/attention", test_attention);
  g_test_add_func ("/nn/import/attention-of-groups", test_groups);
  g_test_add_func ("/nn/import/attentions-that-are-refused", test_attention_refusals);
  g_test_add_func ("/nn/import/class-token", test_class_token);
  g_test_add_func ("/nn/import/positions", test_positions);
  g_test_add_func ("/nn/import/views-of-parameters", test_views_of_parameters);
  g_test_add_func ("/nn/import/runs-of-channels", test_runs);
  g_test_add_func ("/nn/import/copies-in-another-order", test_copies);
  g_test_add_func ("/nn/import/fixed-batch", test_fixed_batch);
  g_test_add_func ("/nn/import/fixed-batch-inside-of-axes", test_fixed_batch_inside);
  g_test_add_func ("/nn/import/unneeded-nodes", test_unneeded_nodes);
  g_test_add_func ("/nn/import/numbers", test_numbers);
  g_test_add_func ("/nn/import/random-masks", test_random_masks);
  g_test_add_func ("/nn/import/trains", test_trains);
}
