/* SPDX-License-Identifier: MIT */
/* Networks of ONNX files: which graph they become, which files are refused, and by what words. */
#include "file.h"
#include "graph-private.h"
#include "network.h"
#include "onnx-test.h"
#include "op.h"
#include "summary.h"
#include "axisview.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

/* --- files ------------------------------------------------------------------------------------ */

static char *folder; /* of the test's files, and of what Dyno keeps */

static const DynoModel *
open_file (const char *name, const char *text, gboolean *has_weights, GError **error)
{
  g_autoptr (GByteArray) file = onnx_test_text (text);
  g_autofree char *path = g_build_filename (folder, name, NULL);

  g_assert_true (g_file_set_contents (path, (const char *) file->data, file->len, NULL));
  return dyno_model_open (path, has_weights, error);
}

typedef struct {
  guint32 batch, n_outputs, height, width, channels;
  DynoMode mode;
} Shape;

static DynoGraph *
build (const char *text, Shape shape, GError **error)
{
  const DynoModel *model = open_file ("net.onnx", text, NULL, error);
  DynoNetworkParams params = { .batch = shape.batch ? shape.batch : 2,
                               .n_outputs = shape.n_outputs,
                               .mode = shape.mode,
                               .no_fusion = TRUE };

  if (!model)
    return NULL;
  params.model = model->name;
  if (shape.mode != DYNO_MODE_PREDICT)
    params.loss = DYNO_LOSS_CROSS_ENTROPY;
  params.schema = dyno_schema_image (DYNO_ELEMENT_U8, shape.height, shape.width, shape.channels, 0);
  return dyno_network_build (&params, error);
}

/* "conv2d relu linear": the forward nodes' ops, without the preparation of the input. */
static char *
list_ops (DynoGraph *graph)
{
  g_autoptr (GString) ops = g_string_new (NULL);
  GPtrArray *nodes = dyno_graph_get_nodes (graph);

  for (guint i = 0; i < nodes->len; i++)
    {
      const DynoNode *node = g_ptr_array_index (nodes, i);
      if (strcmp (node->op->name, "prepare") != 0)
        g_string_append_printf (ops, "%s%s", ops->len ? " " : "", node->op->name);
    }
  return g_string_free (g_steal_pointer (&ops), FALSE);
}

/* "conv.weight[8,3,3,3] conv.bias[8]" */
static char *
list_parameters (DynoGraph *graph)
{
  g_autoptr (GString) list = g_string_new (NULL);
  GPtrArray *parameters = dyno_graph_get_parameters (graph);

  for (guint i = 0; i < parameters->len; i++)
    {
      const DynoParameter *parameter = g_ptr_array_index (parameters, i);
      g_string_append_printf (list, "%s%s[", i ? " " : "", parameter->name);
      for (guint k = 0; k < parameter->n_dims; k++)
        g_string_append_printf (list, "%s%u", k ? "," : "", parameter->dims[k]);
      g_string_append_c (list, ']');
    }
  return g_string_free (g_steal_pointer (&list), FALSE);
}

static void
assert_builds (const char *text, Shape shape, const char *ops, const char *parameters)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoGraph) graph = build (text, shape, &error);

  g_assert_no_error (error);
  g_autofree char *made_ops = list_ops (graph), *made_parameters = list_parameters (graph);
  g_assert_cmpstr (made_ops, ==, ops);
  if (parameters)
    g_assert_cmpstr (made_parameters, ==, parameters);
}

static void
assert_refused (const char *text, Shape shape, const char *pattern)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoGraph) graph = build (text, shape, &error);

  g_assert_null (graph);
  if (!g_pattern_match_simple (pattern, error->message))
    g_error ("“%s” is not “%s”", error->message, pattern);
}

/* A body between an input (N, 4, 8, 8) and a linear layer of 3 outputs; the body ends in h. */
#define AROUND(body)                                                                            \
  "in x N,4,8,8;" body ";GlobalAveragePool gap h pooled;Flatten - pooled flat;w head.weight 3," \
  "4;w head.bias 3;Gemm head flat,head.weight,head.bias y transB=1;out y N,3"
static const Shape around = {
  .n_outputs = 3, .height = 8, .width = 8, .channels = 4, .mode = DYNO_MODE_PREDICT
};

/* --- views ------------------------------------------------------------------------------------ */

static void
test_views (void)
{
  const DynoTensor x = { .n = 2, .h = 4, .w = 6, .c = 12 };
  DynoView image, view;

  dyno_view_init (&image, &x, 2, "N C H W");
  g_assert_true (dyno_view_is (&image, &x, "N C H W"));
  g_assert_false (dyno_view_is (&image, &x, "N H W C"));
  view = image;
  g_assert_true (dyno_view_reshape (&view, (gint64[]){ 2, 12 * 24 }, 2));
  g_assert_true (dyno_view_is (&view, &x, "N CHW"));
  view = image;
  g_assert_true (dyno_view_reshape (&view, (gint64[]){ 2, 12, 24 }, 3));
  dyno_view_transpose (&view, (guint[]){ 0, 2, 1 });
  g_assert_true (dyno_view_is (&view, &x, "N HW C"));
  /* heads: C is cut in two, and joined again */
  g_assert_true (dyno_view_reshape (&view, (gint64[]){ 2, 24, 3, 4 }, 4));
  dyno_view_transpose (&view, (guint[]){ 0, 2, 1, 3 });
  g_assert_cmpuint (dyno_view_dim (&view, 1), ==, 3);
  g_assert_false (dyno_view_is (&view, &x, "N HW C"));
  dyno_view_transpose (&view, (guint[]){ 0, 2, 1, 3 });
  g_assert_true (dyno_view_reshape (&view, (gint64[]){ 2, 24, 12 }, 3));
  g_assert_true (dyno_view_is (&view, &x, "N HW C"));
  /* groups of channels in the other order are not the channels */
  view = image;
  g_assert_true (dyno_view_reshape (&view, (gint64[]){ 2, 3, 4, 4, 6 }, 5));
  dyno_view_transpose (&view, (guint[]){ 0, 2, 1, 3, 4 });
  g_assert_true (dyno_view_reshape (&view, (gint64[]){ 2, 12, 4, 6 }, 4));
  g_assert_false (dyno_view_is (&view, &x, "N C H W"));
  /* an axis may not begin where no part can be cut */
  view = image;
  g_assert_false (dyno_view_reshape (&view, (gint64[]){ 2, 9, 4, 8 }, 4));
  g_assert_false (dyno_view_reshape (&view, (gint64[]){ 2, 12, 4, 3 }, 4));
  g_assert_false (dyno_view_reshape (&view, (gint64[]){ 2, 12, 4, 12 }, 4));
  g_assert_true (dyno_view_equal (&view, &image));
}

/* --- operators -------------------------------------------------------------------------------- */

static void
test_operators (void)
{
  static const struct {
    const char *text, *ops;
  } rows[] = {
    { AROUND ("w c.weight 4,4,3,3;Conv c x,c.weight h pads=1,1,1,1"), "conv2d" },
    { AROUND ("w c.weight 4,1,3,3;Conv c x,c.weight h pads=1,1,1,1 group=4"), "depthwise" },
    { AROUND ("w c.weight 4,4,3,3;Conv c x,c.weight h auto_pad=SAME_UPPER"), "conv2d" },
    { AROUND ("w c.weight 4,4,3,3;Conv c x,c.weight h pads=0,0,1,1"), "pad conv2d" },
    { AROUND ("w c.weight 4,4,3,3;Conv c x,c.weight h auto_pad=SAME_LOWER strides=2,2"),
      "pad conv2d" },
    { AROUND ("w c.weight 4,1,5,5;Conv c x,c.weight h pads=1,2,2,2 group=4"), "pad depthwise" },
    { AROUND ("Pad p x h pads=0,0,1,1,0,0,1,1"), "pad" },
    { AROUND ("i z 0,0,1,-1,0,0,2,0;f v -1.5;Pad p x,z,v h"), "pad" },
    { AROUND ("i z 1,2;i a -1,;Pad p x,z,,a h"), "pad" },
    { AROUND ("i z 1,0,0,2;i a 1,3;Pad p x,z,,a b;i k -1,-2,0,0;Pad q b,k,,a h"), "pad pad" },
    { AROUND ("Transpose t x a perm=0,2,3,1;i z 0,1,0,0,0,1,2,0;Pad p a,z b;"
              "Transpose u b h perm=0,3,1,2"),
      "pad" },
    { AROUND ("i z 0,0,0,0,0,0,0,0;Pad p x,z h mode=reflect"), "" },
    /* an axis that is none of an image's: the pixels as channels */
    { AROUND ("i s 2,4,64;Reshape r x,s a;i z 1,-1;i o -1,;Pad p a,z,,o b;i t 2,4,8,8;"
              "Reshape q b,t h"),
      "permute pad permute" },
    { AROUND ("Pad p x h pads=0,0,0,0,0,0,0,0"), "" },
    /* along one axis of 64 pixels where the image has one row: the global pool's output */
    { AROUND ("GlobalAveragePool g x a;i z 0,0,1,2,0,0,3,4;Pad p a,z h"), "global_avg_pool pad" },
    { AROUND ("Relu r x h"), "relu" },
    { AROUND ("Sigmoid r x h"), "sigmoid" },
    { AROUND ("Tanh r x h"), "tanh" },
    { AROUND ("LeakyRelu r x h alpha=0.2"), "leaky_relu" },
    { AROUND ("Elu r x h"), "elu" },
    { AROUND ("Gelu r x h"), "gelu" },
    { AROUND ("Gelu r x h approximate=tanh"), "gelu_tanh" },
    { AROUND ("HardSwish r x h"), "hard_swish" },
    { AROUND ("HardSigmoid r x h alpha=0.16666667"), "hard_sigmoid" },
    { AROUND ("Softplus r x h"), "softplus" },
    { AROUND ("Mish r x h"), "mish" },
    { AROUND ("f lo 0;f hi 6;Clip r x,lo,hi h"), "relu6" },
    { AROUND ("Clip r x h min=0.0 max=6.0"), "relu6" },
    { AROUND ("f lo 0;Clip r x,lo h"), "relu" },
    { AROUND ("MaxPool p x h kernel_shape=2,2 strides=2,2"), "max_pool" },
    { AROUND ("MaxPool p x h kernel_shape=3,2 strides=2,1 pads=1,0,0,1"), "max_pool" },
    { AROUND ("MaxPool p x h kernel_shape=3,3 strides=2,2 ceil_mode=1"), "max_pool" },
    { AROUND ("AveragePool p x h kernel_shape=2,2 strides=2,2"), "avg_pool" },
    { AROUND ("AveragePool p x h kernel_shape=2,2 pads=0,0,1,1 count_include_pad=1"), "avg_pool" },
    { AROUND ("GlobalMaxPool p x a;Add s a,a h"), "max_pool add" },
    { AROUND ("i z 2,3;ReduceMax p x,z a;Mul s a,x h"), "max_pool scale" },
    { AROUND ("Relu r x a;Add s x,a h"), "relu add" },
    { AROUND ("Relu r x a;Mul s x,a h"), "relu multiply" },
    { AROUND ("GlobalAveragePool p x a;Mul s a,x h"), "global_avg_pool scale" },
    { AROUND ("w g 4,1,1;Mul s x,g h"), "scale_channels" },
    { AROUND ("w b 4,1,1;Add s b,x h"), "add_channels" },
    { AROUND ("f k 2;Mul s x,k h"), "affine" },
    { AROUND ("f k 2;Add s k,x h"), "affine" },
    { AROUND ("f k 2;Sub s x,k h"), "affine" },
    { AROUND ("f k 2;Div s x,k h"), "affine" },
    { AROUND ("Neg s x h"), "affine" },
    { AROUND ("f k 2;i t 1,4,1,1;Expand e k,t b;Mul s x,b h"), "affine" },
    { AROUND ("f k 1;Mul s x,k a;Div t a,k h"), "" },
    { AROUND ("f k 0;Sub s x,k a;Add t k,a h"), "" },
    { AROUND ("Relu r x a;Sub s x,a h"), "relu affine add" },
    { AROUND ("i n 1,3,;SplitToSequence s x,n q axis=1;i z 0;i o -1;SequenceAt a q,z b;"
              "SequenceAt c q,o d;Concat e d,b h axis=1"),
      "channels channels concat" },
    { AROUND ("i n 3;SplitToSequence s x,n q axis=1;i z 0;i o 1;SequenceAt a q,z b;"
              "SequenceAt c q,o d;Concat e d,b h axis=1"),
      "channels channels concat" },
    { AROUND ("i t 1,4,1,8;Expand e x,t h"), "" },
    { AROUND ("f k 0;CastLike l k,x b;w c.weight 4,4,1,1;Shape s c.weight d start=0 end=1;"
              "Expand e b,d f;Conv c x,c.weight,f h"),
      "conv2d" },
    { AROUND ("CastLike l x,x h"), "" },
    { AROUND ("GlobalAveragePool p x a;Shape t x s;Expand e a,s b;Mul m x,b h"),
      "global_avg_pool scale" },
    { AROUND ("GlobalAveragePool p x a;i t 2,1,4;Reshape r a,t c;w e.weight 1,1,3;"
              "Conv e c,e.weight d pads=1,1;i u 2,4,1,1;Reshape z d,u f;Shape t x s;Expand g f,s b;"
              "Mul m x,b h"),
      "global_avg_pool permute conv2d permute scale" },
    { AROUND ("GlobalAveragePool p x a;i s 8,8,;Expand e a,s b;Mul m b,x h"),
      "global_avg_pool scale" },
    { AROUND ("Split s x a,b axis=1;Concat c b,a h axis=1"), "channels channels concat" },
    { AROUND ("i z 3,1;Split s x,z a,b axis=1;Concat c b,a h axis=1"), "channels channels concat" },
    { AROUND ("i b 1,;i e 3,;i d 1,;Slice s x,b,e,d a;Concat c a,a h axis=1"), "channels concat" },
    { AROUND ("Dropout d x h"), "" },
    { AROUND ("Identity d x h"), "" },
    { AROUND ("Cast d x h to=1"), "" },
    { AROUND ("Sigmoid s x a;Mul m x,a h"), "silu" },
    { AROUND ("Sigmoid s x a;Mul m a,x h"), "silu" },
    { AROUND ("Sigmoid s x a;Mul m x,a b;Add t a,b h"), "sigmoid multiply add" },
    { AROUND ("HardSigmoid s x a alpha=0.16666667;Mul m x,a h"), "hard_swish" },
    { AROUND ("f t 3;f lo 0;f hi 6;Add s x,t a;Clip c a,lo,hi b;Mul m x,b d;Div v d,hi h"),
      "hard_swish" },
    { AROUND ("Softplus s x a;Tanh t a b;Mul m x,b h"), "mish" },
    { AROUND ("f r 1.4142135;f i 1;f o 0.5;Div s x,r a;Erf e a b;Add p b,i c;Mul m x,c d;"
              "Mul n d,o h"),
      "gelu" },
    { AROUND ("f r 1.4142135;f i 1;f o 0.5;Mul n x,o d;Div s x,r a;Erf e a b;Add p b,i c;"
              "Mul m d,c h"),
      "gelu" },
    { AROUND ("Transpose t x u perm=0,2,3,1;f two 2;f eps 0.000001;i l -1,;ReduceMean m u,l a;"
              "Sub d u,a b;Pow p b,two c;ReduceMean n c,l e;Add q e,eps f;Sqrt r f i;Div v b,i j;"
              "w n.weight 4;w n.bias 4;Mul w j,n.weight k;Add z k,n.bias o;"
              "Transpose tt o h perm=0,3,1,2"),
      "layer_norm" },
    { AROUND ("Transpose t x u perm=0,2,3,1;w m 4,4;MatMul mm u,m a;w b 4;Add p b,a c;"
              "Transpose tt c h perm=0,3,1,2"),
      "linear" },
    { AROUND ("i s 0,2,2,8,8;i t 0,4,8,8;Reshape r x,s a;Transpose q a b perm=0,2,1,3,4;"
              "Reshape u b,t h"),
      "channel_shuffle" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *ops =
          g_strdup_printf ("%s%sglobal_avg_pool linear", rows[i].ops, *rows[i].ops ? " " : "");
      g_test_message ("%s", rows[i].text);
      assert_builds (rows[i].text, around, ops, NULL);
    }
}

/* The pixels of a pool's output, of 8 x 8 pixels, and the pads before these. */
static void
test_windows (void)
{
  static const struct {
    const char *attributes;
    guint32 h, w, pad_h, pad_w;
  } rows[] = {
    { "kernel_shape=3,3 strides=2,2", 3, 3, 0, 0 },
    { "kernel_shape=3,3 strides=2,2 ceil_mode=1", 4, 4, 0, 0 },
    { "kernel_shape=3,3 strides=2,2 pads=0,0,1,1", 4, 4, 0, 0 },
    { "kernel_shape=3,3 strides=2,1 pads=1,0,0,1", 4, 7, 1, 0 },
    /* a last window that would begin in the pad is none */
    { "kernel_shape=2,2 strides=3,3 pads=1,1,1,1 ceil_mode=1", 3, 3, 1, 1 },
    { "kernel_shape=3,3 strides=3,2 auto_pad=SAME_UPPER", 3, 4, 0, 0 },
    { "kernel_shape=2,4 strides=1,3 auto_pad=SAME_LOWER", 8, 3, 1, 1 },
    { "kernel_shape=3,3 strides=2,2 auto_pad=VALID pads=1,1,1,1", 3, 3, 0, 0 },
  };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (rows); i++)
    {
      const char *op = i % 2 ? "AveragePool" : "MaxPool";
      g_autofree char *body = g_strdup_printf ("%s p x h %s", op, rows[i / 2].attributes),
                      *text = g_strdup_printf (AROUND ("%s"), body);
      g_autoptr (GError) error = NULL;
      double pad_h = 0, pad_w = 0;
      g_test_message ("%s", body);
      g_autoptr (DynoGraph) graph = build (text, around, &error);
      g_assert_no_error (error);
      const DynoNode *pool = g_ptr_array_index (dyno_graph_get_nodes (graph), 1);
      g_assert_true (g_str_has_suffix (pool->op->name, "_pool"));
      g_assert_cmpuint (pool->outputs[0]->h, ==, rows[i / 2].h);
      g_assert_cmpuint (pool->outputs[0]->w, ==, rows[i / 2].w);
      g_assert_true (dyno_node_get_attribute (pool, i % 2 ? "pad_h" : "window.pad_h", &pad_h)
                     && dyno_node_get_attribute (pool, i % 2 ? "pad_w" : "window.pad_w", &pad_w));
      g_assert_cmpfloat (pad_h, ==, rows[i / 2].pad_h);
      g_assert_cmpfloat (pad_w, ==, rows[i / 2].pad_w);
    }
}

/* Which side of which axis is padded, and by which value, of an image of 8 x 8 pixels and 4 channels;
 * h keeps the axes in the order of the file. */
static void
test_pads (void)
{
  static const struct {
    const char *text;
    guint32 h, w, c;
    double top, left, front, value;
  } rows[] = {
    { AROUND ("Pad p x h pads=0,0,1,2,0,0,3,4 value=0.5"), 12, 14, 4, 1, 2, 0, 0.5 },
    { AROUND ("i z 0,0,-1,0,0,0,0,-3;f v -2;Pad p x,z,v h"), 7, 5, 4, -1, 0, 0, -2 },
    { AROUND ("i z 1,2,3,-2;i a 3,1;Pad p x,z,,a b;w c.weight 4,4,1,1;Conv c b,c.weight h"), 8, 12,
      4, 0, 1, 2, 0 },
    { AROUND ("Transpose t x a perm=0,2,3,1;i z 0,1,2,3,0,0,0,-3;Pad p a,z b;"
              "Transpose u b h perm=0,3,1,2"),
      9, 10, 4, 1, 2, 3, 0 },
    { AROUND ("GlobalAveragePool g x a;i z 0,0,1,2,0,0,3,4;Pad p a,z h"), 5, 7, 4, 1, 2, 0, 0 },
    { AROUND (
          "GlobalAveragePool g x a;Transpose t a b perm=0,2,3,1;i z 0,1,2,0,0,0,0,0;Pad p b,z d;"
          "Transpose u d h perm=0,3,1,2"),
      2, 3, 4, 1, 2, 0, 0 },
    { AROUND ("Transpose t x b perm=0,2,3,1;i z 0,-3,0,0,0,-4,0,0;Pad p b,z d;"
              "Transpose u d h perm=0,3,1,2"),
      1, 8, 4, -3, 0, 0, 0 },
    { AROUND ("w c.weight 4,4,3,3;Conv c x,c.weight h pads=0,3,1,2"), 9, 9, 4, 0, 1, 0, 0 },
    { AROUND ("w c.weight 4,4,3,4;Conv c x,c.weight h auto_pad=SAME_LOWER"), 8, 9, 4, 0, 1, 0, 0 },
    { AROUND ("w c.weight 4,4,3,4;Conv c x,c.weight h auto_pad=SAME_UPPER"), 8, 9, 4, 0, 0, 0, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      const char *const names[] = { "top", "left", "front", "value" };
      const double wanted[] = { rows[i].top, rows[i].left, rows[i].front, rows[i].value };
      g_test_message ("%s", rows[i].text);
      g_autoptr (DynoGraph) graph = build (rows[i].text, around, &error);
      g_assert_no_error (error);
      GPtrArray *nodes = dyno_graph_get_nodes (graph);
      const DynoNode *pad = g_ptr_array_index (nodes, 1);
      if (g_str_equal (pad->op->name, "global_avg_pool"))
        pad = g_ptr_array_index (nodes, 2);
      g_assert_cmpstr (pad->op->name, ==, "pad");
      g_assert_cmpuint (pad->outputs[0]->h, ==, rows[i].h);
      g_assert_cmpuint (pad->outputs[0]->w, ==, rows[i].w);
      g_assert_cmpuint (pad->outputs[0]->c, ==, rows[i].c);
      for (guint k = 0; k < G_N_ELEMENTS (names); k++)
        {
          double value = 0;
          g_assert_true (dyno_node_get_attribute (pad, names[k], &value));
          g_assert_cmpfloat (value, ==, wanted[k]);
        }
    }
}

/* Parameters have the file's names, also where these are no module's, and its shapes. */
static void
test_parameters (void)
{
  assert_builds (
      "in x N,3,8,8;w stem.weight 8,3,3,3;w onnx::Conv_7 8;"
      "Conv /stem/Conv x,stem.weight,onnx::Conv_7 a strides=2,2;"
      "w n.w 8;w n.b 8;w n.m 8;w n.v 8;BatchNormalization n a,n.w,n.b,n.m,n.v b;"
      "i axes 2,3;ReduceMean m b,axes c keepdims=0;"
      "w onnx::MatMul_9 8,5;MatMul mm c,onnx::MatMul_9 y;out y N,5",
      (Shape){ .n_outputs = 5, .height = 8, .width = 8, .channels = 3, .mode = DYNO_MODE_PREDICT },
      "conv2d batch_norm global_avg_pool linear",
      "stem.weight[8,3,3,3] onnx::Conv_7[8] n.w[8] n.b[8] n.m[8] n.v[8] "
      "onnx::MatMul_9[8,5]");
  assert_builds (AROUND ("w gamma 4,1,1;Mul s x,gamma h"), around,
                 "scale_channels global_avg_pool linear",
                 "gamma[4,1,1] head.weight[3,4] head.bias[3]");
}

/* A merged bias may have the name of a layer that comes later. */
static void
test_names_of_modules (void)
{
  assert_builds (
      AROUND ("w a.weight 4,4,1,1;w b.bias 4;Conv k x,a.weight,b.bias g;w b.weight 4,4,1,1;"
              "Conv l g,b.weight,b.bias h"),
      around, "conv2d conv2d global_avg_pool linear",
      "a.weight[4,4,1,1] b.bias[4] b.weight[4,4,1,1] b.bias@2[4] head.weight[3,4] "
      "head.bias[3]");
}

/* The data's classes take the place of the file's, in whichever layer is the last. */
static void
test_head (void)
{
  Shape seven = around;
  seven.n_outputs = 7;

  assert_builds (AROUND ("Relu r x h"), seven, "relu global_avg_pool linear",
                 "head.weight[7,4] head.bias[7]");
  assert_builds ("in x N,4,8,8;w c.weight 3,4,1,1;w c.bias 3;Conv c x,c.weight,c.bias a;Relu r a b;"
                 "GlobalAveragePool g b d;Flatten f d e;Softmax s e y axis=1;out y N,3",
                 seven, "conv2d relu global_avg_pool", "c.weight[7,4,1,1] c.bias[7]");
  assert_builds ("in x N,4,8,8;GlobalAveragePool g x a;Flatten f a b;w m 4,3;MatMul mm b,m c;"
                 "w n 3;Add p n,c y;out y N,3",
                 seven, "global_avg_pool linear", "m[4,7] n[7]");
  assert_refused ("in x N,4,8,8;GlobalAveragePool g x a;Flatten f a b;w m.weight 4,4;w m.bias 4;"
                  "Gemm m b,m.weight,m.bias c transB=1;Tanh t c y;out y N,4",
                  seven, "*has 4 outputs, the data 7*");
}

/* Exports compute the shape of a Reshape from that of its input. */
static void
test_shapes_are_folded (void)
{
  static const char *const bodies[] = {
    /* x.view (x.size (0), -1) */
    "Shape s x a;i zero 0;Gather g a,zero b;i axis 0,;Unsqueeze u b,axis c;i rest -1,;"
    "Concat k c,rest d axis=0;Reshape r x,d e",
    /* the product of the last three axes */
    "Shape s x a;i one 1;i two 2;i three 3;Gather g a,one b;Gather g2 a,two c;Gather g3 a,three d;"
    "Mul m b,c o;Mul m2 o,d p;i axis 0,;Unsqueeze u p,axis q;i n -1,;Concat k n,q t axis=0;"
    "Reshape r x,t e",
    /* by Slice, opset 9 */
    "Shape s x a;Slice l a b starts=0, ends=1,;i rest -1,;Cast z b c to=7;"
    "Concat k c,rest d axis=0;Reshape r x,d e",
    "Flatten f x e axis=1",
    "i sh 0,-1;Reshape r x,sh e",
  };

  for (guint i = 0; i < G_N_ELEMENTS (bodies); i++)
    {
      g_autofree char *text = g_strdup_printf (
          "in x N,4,8,8;%s;w f.weight 3,256;w f.bias 3;Gemm f e,f.weight,f.bias y transB=1;"
          "out y N,3",
          bodies[i]);
      g_test_message ("%s", bodies[i]);
      assert_builds (text, around, "linear", "f.weight[3,256] f.bias[3]");
    }
}

/* --- transformers ----------------------------------------------------------------------------- */

static const Shape two_patches = {
  .batch = 3, .n_outputs = 3, .height = 8, .width = 8, .channels = 4, .mode = DYNO_MODE_PREDICT
};

/* 16 tokens of 16 channels, then the body, which makes h from t (2, 16, 16), and a head by the mean of
 * the tokens or by the first.  The file's batch is 2, the graph's 3. */
#define PATCHES_BY(body, row)                                                               \
  "in x 2,4,8,8;w p.weight 16,4,2,2;w p.bias 16;Conv p x,p.weight,p.bias a strides=2,2;"    \
  "i flat 2,16,16;Reshape - a,flat b;Transpose - b t perm=0,2,1;" body ";" row              \
  ";w head.weight 3,16;Transpose - head.weight d perm=1,0;MatMul head c,d e;w head.bias 3;" \
  "Add - head.bias,e y;out y 2,3"
#define PATCHES(body)    PATCHES_BY (body, "i mid 1,;ReduceMean mean h,mid c keepdims=0")
#define PATCH_OPS        "conv2d "
#define PATCH_PARAMETERS "p.weight[16,4,2,2] p.bias[16] "
#define HEAD_PARAMETERS  "head.weight[3,16] head.bias[3]"

/* torchvision's: one matrix, the steps before the samples, heads and samples in one axis. */
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

/* Three layers, of which each makes heads by itself. */
#define THREE(scale)                                                                             \
  "w q.weight 16,16;Transpose - q.weight qt perm=1,0;MatMul q t,qt qa;w k.weight 16,16;"         \
  "Transpose - k.weight kt perm=1,0;MatMul k t,kt ka;w v.weight 16,16;"                          \
  "Transpose - v.weight vt perm=1,0;MatMul v t,vt va;i heads -1,16,2,8;Reshape - qa,heads qb;"   \
  "Transpose - qb qc perm=0,2,1,3;Reshape - ka,heads kb;Transpose - kb kc perm=0,2,3,1;"         \
  "Reshape - va,heads vb;Transpose - vb vc perm=0,2,1,3;MatMul - qc,kc sa;f div " scale          \
  ";Div - sa,div sb;Softmax - sb sc axis=3;MatMul attn sc,vc sd;Transpose - sd se perm=0,2,1,3;" \
  "i whole 2,16,16;Reshape - se,whole h"

/* "16x1 heads=2 scale=0.25": the image and the attributes of the only attention. */
static char *
describe_attention (const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoGraph) graph = build (text, two_patches, &error);

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
  assert_builds (
      PATCHES (IN_PROJ OUT_PROJ), two_patches,
      PATCH_OPS "linear attention linear global_avg_pool linear",
      PATCH_PARAMETERS
      "in_proj_weight[48,16] in_proj_bias[48] o.weight[16,16] o.bias[16] " HEAD_PARAMETERS);
  assert_builds (PATCHES (THREE ("2.828427")), two_patches,
                 PATCH_OPS "linear linear linear concat attention global_avg_pool linear",
                 PATCH_PARAMETERS
                 "q.weight[16,16] k.weight[16,16] v.weight[16,16] " HEAD_PARAMETERS);
  /* 1 / sqrt (8), by whichever factors, is the op's own. */
  assert_attention (PATCHES (IN_PROJ OUT_PROJ), "4x4 heads=2 scale=0");
  assert_attention (PATCHES (THREE ("2.828427")), "4x4 heads=2 scale=0");
  assert_attention (PATCHES (THREE ("4")), "4x4 heads=2 scale=0.25");
}

/* One layer, of which a Reshape, a Transpose and another Reshape make three parts; the attention, of
 * turned keys; and what makes se of its output, which becomes (2, 16, 16) again. */
#define GROUPS(shape, perm, flat, turn, back)                                                     \
  "w m.weight 48,16;Transpose - m.weight mt perm=1,0;MatMul m t,mt u;i split " shape              \
  ";Reshape - u,split us;Transpose - us up perm=" perm ";i flat1 " flat ";Reshape - up,flat1 ut;" \
  "i k0 0;i k1 1;i k2 2;Gather - ut,k0 q;Gather - ut,k1 k;Gather - ut,k2 v;Transpose - k kt "     \
  "perm=" turn ";MatMul - q,kt sa;Softmax - sa sc axis=-1;MatMul attn sc,v sd;" back              \
  ";i whole 2,16,16;Reshape - se,whole h"
/* The layers of queries, keys and values apart; the keys turned, by the nodes `keys`. */
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
    /* rows of the image, which lie as the op has them */
    { PATCHES (GROUPS ("2,4,4,3,2,8", "3,0,1,4,2,5", "3,2,4,2,4,8", "0,1,2,4,3",
                       "Transpose - sd se perm=0,1,3,2,4")),
      "linear attention ", "4x4 heads=2 scale=1 by row" },
    /* in one axis with the samples */
    { PATCHES (GROUPS ("8,4,3,2,8", "2,0,3,1,4", "3,8,2,4,8", "0,1,3,2",
                       "Transpose - sd se perm=0,2,1,3")),
      "linear attention ", "4x4 heads=2 scale=1 by row" },
    /* in two axes, the inner one first */
    { PATCHES (GROUPS ("2,2,2,4,3,2,8", "4,0,2,1,5,3,6", "3,2,2,2,2,4,8", "0,1,2,3,5,4",
                       "Transpose - sd se perm=0,2,1,4,3,5")),
      "linear attention ", "4x4 heads=2 scale=1 by row" },
    /* columns, and the samples behind them */
    { PATCHES (GROUPS ("2,4,4,3,2,8", "3,2,0,4,1,5", "3,4,2,2,4,8", "0,1,2,4,3",
                       "Transpose - sd se perm=1,3,0,2,4")),
      "linear permute attention ", "4x4 heads=2 scale=1 by row" },
    /* windows of 2 x 2 tokens, of 4 x 2 before the heads, and of one head */
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
    /* all pixels as rows of one: every token is a group */
    { PATCHES (GROUPS ("32,1,3,2,8", "2,0,3,1,4", "3,32,2,1,8", "0,1,3,2",
                       "Transpose - sd se perm=0,2,1,3")),
      "linear permute attention ", "16x1 heads=2 scale=1 by row" },
    /* keys of which the steps are channels are laid as the queries are */
    { PATCHES (APART ("Reshape - qa,heads qb;Transpose - qb q perm=0,2,1,3",
                      "MatMul kl b,n ka;i ks 2,2,8,16;Reshape - ka,ks k",
                      "Reshape - va,heads vb;Transpose - vb v perm=0,2,1,3",
                      "Transpose - sd se perm=0,2,1,3")),
      "linear linear permute linear permute concat attention ", "4x4 heads=2 scale=1" },
    /* channels that attend to each other, of which the tokens are the values */
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
      assert_builds (rows[i].text, two_patches, ops, NULL);
      assert_attention (rows[i].text, rows[i].attention);
    }
}

static void
test_attention_refusals (void)
{
  assert_refused (PATCHES (THREE ("0")), two_patches, "*MatMul “attn”: the factor “div”*");
  /* Keys in the order of queries, and a softmax over the queries. */
  g_auto (GStrv) parts = g_strsplit (PATCHES (THREE ("4")), "kc perm=0,2,3,1", -1);
  g_autofree char *turned = g_strjoinv ("kc perm=0,2,1,3", parts);
  assert_refused (turned, two_patches, "*MatMul “attn”: it is an attention over (2, 2, 16, 8), *");
  g_auto (GStrv) softmax = g_strsplit (PATCHES (THREE ("4")), "axis=3", -1);
  g_autofree char *other = g_strjoinv ("axis=2", softmax);
  assert_refused (other, two_patches, "*MatMul “attn”: its softmax is not over the keys*");
  /* Keys of other groups than the queries', and samples that attend to each other. */
  assert_refused (
      PATCHES (APART ("i qs 2,4,4,2,8;Reshape - qa,qs qb;Transpose - qb q perm=0,1,3,2,4",
                      "MatMul kl t,n ka;Reshape - ka,qs kb;Transpose - kb k "
                      "perm=0,1,3,4,2;i vs 2,8,2,2,8",
                      "Reshape - va,vs vb;Transpose - vb v perm=0,1,3,2,4",
                      "Transpose - sd se perm=0,1,3,2,4")),
      two_patches, "*MatMul “attn”: it is an attention over (2, 4, 2, 4, 8), *");
  assert_refused (PATCHES (GROUPS ("2,16,3,2,8", "2,1,3,0,4", "3,16,2,2,8", "0,1,3,2",
                                   "Transpose - sd se perm=2,0,1,3")),
                  two_patches, "*MatMul “attn”: it is an attention over (16, 2, 2, 8), *");
  assert_refused (PATCHES ("w kv 1,2,8,16;i heads -1,16,2,8;Reshape - t,heads qb;"
                           "Transpose - qb q perm=0,2,1,3;MatMul - q,kv sa;Softmax - sa sc axis=3;"
                           "MatMul attn sc,kv h"),
                  two_patches, "*MatMul “attn”: its keys or values do not depend on the input*");
  /* The latent queries of a network's own. */
  assert_refused (PATCHES ("w lq 1,2,4,8;i heads -1,16,2,8;Reshape - t,heads kb;"
                           "Transpose - kb k perm=0,2,3,1;MatMul - lq,k sa;Softmax - sa sc axis=3;"
                           "Transpose - kb v perm=0,2,1,3;MatMul attn sc,v h"),
                  two_patches,
                  "*MatMul “attn”: it reads “lq”, which does not depend on the input*");
}

static void
test_class_token (void)
{
#define TOKEN(positions)                                                                \
  "w cls 1,1,16;i samples 2,-1,-1;i one 1,;Shape - samples n;ConstantOfShape - n ones;" \
  "i over 2,1,16;Expand - cls,over e1;Concat - e1,t e2 axis=1;w pos " positions         \
  ";Add sum e2,pos h"
  assert_builds (PATCHES_BY (TOKEN ("1,17,16"), "i zero 0;Gather first h,zero c axis=1"),
                 two_patches, PATCH_OPS "tokens first_step linear",
                 PATCH_PARAMETERS "cls[1,1,16] pos[1,17,16] " HEAD_PARAMETERS);
  assert_builds (PATCHES ("w cls 1,1,16;i over 2,1,16;Expand - cls,over e1;Concat c e1,t h axis=1"),
                 two_patches, PATCH_OPS "tokens global_avg_pool linear",
                 PATCH_PARAMETERS "cls[1,1,16] " HEAD_PARAMETERS);
  assert_refused (PATCHES ("w cls 1,1,16;Concat c cls,t h axis=2"), two_patches,
                  "*Concat “c”: Dyno joins a parameter to the front of steps only*");
  assert_refused (PATCHES ("w cls 1,1,8;Concat c cls,t h axis=1"), two_patches,
                  "*Concat “c”: “cls” is not (1, 1, 16)*");
  assert_refused (PATCHES (TOKEN ("1,16,16")), two_patches,
                  "*Add “sum”: “pos” is not (1, 17, 16)*");
}

static void
test_positions (void)
{
  assert_builds (PATCHES ("w pos 1,16,16;Add sum t,pos h"), two_patches,
                 PATCH_OPS "tokens global_avg_pool linear",
                 PATCH_PARAMETERS "pos[1,16,16] " HEAD_PARAMETERS);
  assert_builds (PATCHES ("w pos 16,16;Add sum pos,t h"), two_patches,
                 PATCH_OPS "tokens global_avg_pool linear",
                 PATCH_PARAMETERS "pos[16,16] " HEAD_PARAMETERS);
  assert_refused (PATCHES ("w pos 2,16,16;Add sum t,pos h"), two_patches,
                  "*Add “sum”: its parameter “pos” is neither*");
  assert_refused (PATCHES ("w pos 1,4,16;Add sum t,pos h"), two_patches,
                  "*Add “sum”: its parameter “pos” is neither*");
  /* The channels before the steps, of a sequence and of an image; windows. */
  assert_builds (PATCHES ("w pos 1,16,16;Add sum b,pos h1;Transpose - h1 h perm=0,2,1"),
                 two_patches, PATCH_OPS "permute tokens permute global_avg_pool linear",
                 PATCH_PARAMETERS "pos[1,16,16] " HEAD_PARAMETERS);
  assert_builds (AROUND ("w pos 1,4,8,8;Add sum x,pos e;Relu r e f;w k 4,4,1,1;Conv c f,k g;"
                         "Add q g,f h"),
                 around, "permute tokens permute relu conv2d add global_avg_pool linear",
                 "pos[1,4,8,8] k[4,4,1,1] head.weight[3,4] head.bias[3]");
  assert_builds (AROUND ("i s 0,4,2,4,2,4;Reshape - x,s a;Transpose - a b perm=0,2,4,3,5,1;"
                         "i u 0,4,16,4;Reshape - b,u c;w pos 1,4,16,4;Add sum c,pos e;"
                         "i k 0,2,2,4,4,4;Reshape - e,k f;Transpose - f g perm=0,5,1,3,2,4;"
                         "i j 0,4,8,8;Reshape - g,j h"),
                 around, "permute tokens permute global_avg_pool linear",
                 "pos[1,4,16,4] head.weight[3,4] head.bias[3]");
}

/* Views of parameters: (C, 1) for (C), and matrices that are turned twice. */
static void
test_views_of_parameters (void)
{
  assert_builds (PATCHES ("w g 16;i s 1,1,16;Reshape - g,s g1;Mul m t,g1 t1;w bb 1,16,1;"
                          "Transpose - bb b1 perm=0,2,1;Add sum t1,b1 h"),
                 two_patches, PATCH_OPS "scale_channels add_channels global_avg_pool linear",
                 PATCH_PARAMETERS "g[16] bb[1,16,1] " HEAD_PARAMETERS);
  assert_builds (PATCHES ("w m 16,16;Transpose - m m1 perm=1,0;Transpose - m1 m2 perm=1,0;"
                          "MatMul mm t,m2 h"),
                 two_patches, PATCH_OPS "linear global_avg_pool linear",
                 PATCH_PARAMETERS "m[16,16] " HEAD_PARAMETERS);
  assert_refused (PATCHES ("w m 2,8,16;Transpose - m m1 perm=1,0,2;Mul mm t,m1 h"), two_patches,
                  "*Transpose “m1”: Dyno transposes parameters of two axes only*");
  assert_refused (PATCHES ("w cc 16,16;Transpose - cc c1 perm=1,0;i s 16,16,1;Reshape - c1,s c2;"
                           "Conv k t,c2 h"),
                  two_patches, "*Reshape “c2”: Dyno cannot reshape (16, 16)*");
  assert_refused (PATCHES ("w ee 1,1,16;i s 2,16,16;Expand e ee,s e1;Add sum t,e1 h"), two_patches,
                  "*Expand “e”: Dyno expands parameters over the samples only*");
}

/* Runs of channels that no op asks for by themselves cost nothing. */
static void
test_runs (void)
{
  assert_builds (PATCHES ("i s 2,16,2,8;Reshape - t,s r;i at 0;Gather - r,at u axis=2;i to 1;"
                          "Gather - r,to v axis=2;Concat - v,u h axis=2"),
                 two_patches, PATCH_OPS "channels channels concat global_avg_pool linear", NULL);
  assert_builds (PATCHES ("i s 2,16,2,8;Reshape - t,s r;Split - r u,v axis=2;i ax 2,;"
                          "Squeeze - u,ax u1;Relu - u1 u2;Concat - u2,u2 h axis=2"),
                 two_patches, PATCH_OPS "channels relu concat global_avg_pool linear", NULL);
  /* One step that is not the first: the steps become the channels, and the channels the steps. */
  assert_builds (PATCHES_BY ("Relu r t h", "i at 3;Gather g h,at c axis=1"), two_patches,
                 PATCH_OPS "relu permute channels permute linear", NULL);
  /* torch.as_strided: (2, 2, 2) of the pixels' 8 means, the first two axes the other way round */
  assert_builds ("in x 2,4,8,8;GlobalAveragePool p x a;i all -1,;Reshape - a,all b;"
                 "i at 0,1,4,5,2,3,6,7;i two 2,2,2;Reshape - at,two ats;Gather g b,ats c;"
                 "Transpose - c d perm=1,0,2;i s 2,4;Reshape - d,s e;w o 4,3;MatMul m e,o y;"
                 "out y 2,3",
                 two_patches, "global_avg_pool linear", NULL);
  /* an order that is not its own inverse: (2, 2, 2) of (N, c, c) as (c, c, N) */
  assert_builds ("in x 2,4,8,8;GlobalAveragePool p x a;i all -1,;Reshape - a,all b;"
                 "i at 0,4,1,5,2,6,3,7;i two 2,2,2;Reshape - at,two ats;Gather g b,ats c;"
                 "Transpose - c d perm=2,0,1;i s 2,4;Reshape - d,s e;w o 4,3;MatMul m e,o y;"
                 "out y 2,3",
                 two_patches, "global_avg_pool linear", NULL);
  assert_refused ("in x 2,4,8,8;GlobalAveragePool p x a;i all -1,;Reshape - a,all b;"
                  "i at 0,1,4,5,2,3,7,6;i two 2,2,2;Reshape - at,two ats;Gather g b,ats c;"
                  "Flatten - c d;w o 4,3;MatMul m d,o y;out y 2,3",
                  two_patches, "*Gather “g”: Dyno takes one index*");
  assert_refused (PATCHES ("i at 16;Gather g t,at h axis=1"), two_patches,
                  "*Gather “g”: index 16*");
  assert_refused (PATCHES ("i at 0,1;Gather g t,at h axis=1"), two_patches, "*Gather “g”: *");
}

/* "1x4x64: 4/1 64/4": the shapes and the parts, extent and stride, of the copies into another
 * order. */
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

/* Where no view does, tensors are copied: into which shapes, and in which orders. */
static void
test_copies (void)
{
  static const struct {
    const char *text, *ops, *copies;
  } rows[] = {
    /* a layer along the tokens, as of MLP-Mixer: there and back */
    { AROUND (TOKENS ("w m 64,64;MatMul p a,m b;w n 64;Add - b,n c;Transpose - c d perm=0,2,1;"
                      "Add q t,d e;Transpose - e f perm=0,2,1;i u 0,4,8,8;Reshape - f,u h")),
      "permute linear permute add global_avg_pool linear", "1x4x64: 4/1 64/4, 8x8x4: 64/1 4/64" },
    /* the same by a matrix of rows */
    { AROUND ("i s -1,64;Reshape - x,s a;w m 64,64;Gemm p a,m b;i u -1,4,8,8;Reshape - b,u h"),
      "permute linear permute global_avg_pool linear", "1x4x64: 4/1 64/4, 8x8x4: 64/1 4/64" },
    /* windows of 4 x 4 pixels, a factor for each of their pixels */
    { AROUND ("i s 0,4,2,4,2,4;Reshape - x,s a;Transpose - a b perm=0,2,4,3,5,1;i u -1,16,4;"
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
    { AROUND ("i s 0,1,2,2,8,8;Reshape - x,s a;Transpose - a b perm=0,1,4,2,5,3;i u 0,1,16,16;"
              "Reshape - b,u c;w k 4,1,2,2;Conv e c,k d strides=2,2;w l 4,1,2,2;"
              "Conv f c,l g strides=2,2;Add q d,g h"),
      "permute conv2d conv2d add global_avg_pool linear", "16x16x1: 8/32 2/2 8/4 2/1" },
    /* along other axes than the channels */
    { AROUND ("Concat p x,x h axis=2"), "permute concat permute global_avg_pool linear",
      "4x8x8: 4/1 8/4 8/32, 16x8x4: 16/1 8/16 4/128" },
    { AROUND ("Split p x a,b axis=3;Add q a,b h"),
      "permute channels channels add permute global_avg_pool linear",
      "4x8x8: 4/1 64/4, 8x4x4: 32/1 4/32" },
    { AROUND ("i a 1,;i b -2,;i c 2,;Slice p x,a,b,c h"),
      "permute channels permute global_avg_pool linear",
      "4x8x8: 4/1 8/4 8/32, 5x8x4: 5/1 8/5 4/40" },
    { AROUND ("i a 0,;i b 8,;i c 2,;Slice p x,a,b,c h"), "global_avg_pool linear", "" },
    /* the mean of what lies along the channels */
    { IMAGE ("i s 0,4,64;Reshape - x,s a;w m 64,5;MatMul p a,m b;i ax 2;ReduceMean q b,ax g "
             "keepdims=0"),
      "permute linear permute global_avg_pool linear", "1x4x64: 4/1 64/4, 1x5x4: 5/1 4/5" },
    /* a factor, a bias and a norm along the last axis, which is the width */
    { AROUND ("w a 8;Mul p x,a b;w c 8;Add q b,c d;w e.weight 8;w e.bias 8;"
              "LayerNormalization n d,e.weight,e.bias h"),
      "permute scale_channels add_channels layer_norm permute global_avg_pool linear",
      "4x8x8: 4/1 64/4, 8x8x4: 64/1 4/64" },
    { AROUND ("i s 0,32,8;Reshape - x,s a;w b 32;w c 32;w d 32;w e 32;"
              "BatchNormalization n a,b,c,d,e f;i u 0,4,8,8;Reshape - f,u h"),
      "permute batch_norm permute global_avg_pool linear", "1x8x32: 32/1 8/32, 8x8x4: 8/1 32/8" },
    /* axes that no part of the view ends at */
    { AROUND ("w k 6,4,3,3;Conv c x,k a strides=2,2 pads=1,1,1,1;i u 0,8,12;Reshape - a,u b;"
              "w m 12,12;MatMul p b,m d;i s 0,6,4,4;Reshape - d,s e;w j 4,6,1,1;Conv - e,j h"),
      "conv2d permute permute linear permute permute conv2d global_avg_pool linear",
      "1x1x96: 6/1 16/6, 1x8x12: 96/1, 1x1x96: 96/1, 4x4x6: 16/1 6/16" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      g_test_message ("%s", rows[i].text);
      g_autoptr (DynoGraph) graph = build (rows[i].text, around, &error);
      g_assert_no_error (error);
      g_autofree char *ops = list_ops (graph), *copies = list_copies (graph);
      g_assert_cmpstr (ops, ==, rows[i].ops);
      g_assert_cmpstr (copies, ==, rows[i].copies);
    }
}

/* A file that was exported for a batch of 1 has 1 in its shapes. */
static void
test_fixed_batch (void)
{
  Shape five = around;
  five.batch = 5;

  assert_builds ("in x 1,4,8,8;i sh 1,256;Reshape r x,sh e;w f.weight 3,256;w f.bias 3;"
                 "Gemm f e,f.weight,f.bias y transB=1;out y 1,3",
                 five, "linear", NULL);
}

/* The batch as a factor of an axis, by itself or beside others: windows, and heads behind tokens.  The
 * graph is the same for all batches. */
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
      Shape shape = around;
      g_autoptr (GError) error = NULL;
      guint row = i / G_N_ELEMENTS (batches);
      shape.batch = batches[i % G_N_ELEMENTS (batches)];
      g_test_message ("%u samples: %s", shape.batch, rows[row].text);
      g_autoptr (DynoGraph) graph = build (rows[row].text, shape, &error);
      g_assert_no_error (error);
      g_autofree char *ops = list_ops (graph), *copies = list_copies (graph);
      g_assert_cmpstr (ops, ==, rows[row].ops);
      g_assert_cmpstr (copies, ==, rows[row].copies);
    }
}

/* Nodes that the output does not depend on make no parameters. */
static void
test_unneeded_nodes (void)
{
  assert_builds (AROUND ("Relu r x h;w aux.weight 9,4,3,3;Conv aux h,aux.weight z"), around,
                 "relu global_avg_pool linear", "head.weight[3,4] head.bias[3]");
}

/* The numbers of the ops that sums and products by numbers become. */
static void
test_numbers (void)
{
  static const struct {
    const char *text;
    double factor, offset;
  } rows[] = {
    { AROUND ("f k 4;Mul s x,k h"), 4, 0 },    { AROUND ("f k 4;Add s x,k h"), 1, 4 },
    { AROUND ("f k 4;Sub s x,k h"), 1, -4 },   { AROUND ("f k 4;Sub s k,x h"), -1, 4 },
    { AROUND ("f k 4;Div s x,k h"), 0.25, 0 }, { AROUND ("Neg s x h"), -1, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (DynoGraph) graph = build (rows[i].text, around, &error);
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

/* Stochastic depth, as torchvision has it, and dropout written out. */
static void
test_random_masks (void)
{
#define DEPTH(a, x, y)                                                                             \
  "i " a "s 2,1,1,1;ConstantOfShape - " a "s " a "0;RandomUniformLike - " a "0 " a "1 low=0.0 "    \
  "high=1.0;Less - " a "1,p " a "2;Cast - " a "2 " a "3 to=1;Div - " a "3,p " a "4;Mul - " x "," a \
  "4 " y
  Shape training = around;
  g_autoptr (GError) error = NULL;
  training.mode = DYNO_MODE_TRAIN;

  g_autoptr (DynoGraph) graph = build (
      AROUND ("f p 0.8;Relu - x a;" DEPTH ("u", "a", "b") ";" DEPTH ("v", "b", "c") ";Add - c,x h"),
      training, &error);
  g_assert_no_error (error);
  const GPtrArray *notes = dyno_network_get_notes (graph);
  g_assert_cmpuint (notes->len, ==, 1);
  g_assert_true (
      g_str_has_prefix (g_ptr_array_index (notes, 0), "stochastic depth is left out: 2 branches"));
  assert_builds (AROUND ("f p 0.8;Relu - x a;" DEPTH ("u", "a", "b") ";Add - b,x h"), around,
                 "relu add global_avg_pool linear", NULL);
  /* numbers for each value of x */
  g_autoptr (DynoGraph) dropped =
      build (AROUND ("f p 0.75;RandomUniformLike - x a low=0.0 high=1.0;Less - a,p b;"
                     "Cast - b c to=1;Div - c,p d;Mul - d,x h"),
             training, &error);
  g_assert_no_error (error);
  g_autofree char *ops = list_ops (dropped);
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
  /* another factor than that of the values that stay, and a mask that something else reads */
  assert_refused (AROUND ("f p 0.8;f q 0.5;i s 2,1,1,1;ConstantOfShape - s o;"
                          "RandomUniformLike - o a;Less - a,p b;Cast - b c to=1;Div - c,q d;"
                          "Mul - d,x h"),
                  around, "*RandomUniformLike “a”: Dyno has no such operator*");
  assert_refused (AROUND ("f p 0.8;i s 2,1,1,1;ConstantOfShape - s o;RandomUniformLike - o a;"
                          "Less - a,p b;Cast - b c to=1;Div - c,p d;Mul - d,x e;Mul - d,e h"),
                  around, "*RandomUniformLike “a”: Dyno has no such operator*");
}

/* Training: the softmax at the end is left out, and every parameter has a gradient. */
static void
test_trains (void)
{
  Shape training = around;
  g_autoptr (GError) error = NULL;
  training.mode = DYNO_MODE_TRAIN;

  g_autoptr (DynoGraph) graph =
      build ("in x N,4,8,8;w c.weight 4,4,3,3;Conv c x,c.weight a pads=1,1,1,1;Gelu g a h;"
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

/* --- activations that are composed ------------------------------------------------------------ */

static double
get_number (const DynoNode *node, const char *name)
{
  double value = NAN;

  g_assert_true (dyno_node_get_attribute (node, name, &value));
  return value;
}

/* What becomes of one value of the input before the pool. */
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
    { AROUND ("Selu r x h"), "elu affine", to_selu },
    { AROUND ("Celu r x h alpha=0.5"), "affine elu affine", to_celu },
    { AROUND ("HardSigmoid r x h alpha=0.25 beta=0.75"), "affine hard_sigmoid", to_hard_sigmoid },
    { AROUND ("f lo -1;f hi 1;Clip r x,lo,hi h"), "affine relu add affine relu affine add",
      to_hard_tanh },
    { AROUND ("f lo 0;f hi 3;Clip r x,lo,hi h"), "affine relu6 affine", to_relu_of_3 },
    { AROUND ("f lo -0.5;Clip r x,lo h"), "affine relu add", to_least },
    { AROUND ("f hi 1.5;Clip r x,,hi h"), "affine relu affine add", to_most },
    { AROUND ("Clip r x h"), "", to_itself },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      g_test_message ("%s", rows[i].text);
      g_autoptr (DynoGraph) graph = build (rows[i].text, around, &error);
      g_assert_no_error (error);
      g_autofree char *ops = list_ops (graph),
                      *wanted = g_strconcat (rows[i].ops, *rows[i].ops ? " " : "",
                                             "global_avg_pool linear", NULL);
      g_assert_cmpstr (ops, ==, wanted);
      for (double x = -4; x <= 4; x += 0.125)
        g_assert_cmpfloat_with_epsilon (evaluate (graph, x), rows[i].wanted (x), 1e-6);
    }
}

/* Slopes of channels are trained, and begin as PyTorch's; one slope for all channels is a number. */
static void
test_prelu (void)
{
  g_autoptr (GError) error = NULL;
  const char *text = AROUND ("w act.weight 4,1,1;PRelu r x,act.weight h");
  g_autoptr (DynoGraph) graph = build (text, around, &error);

  g_assert_no_error (error);
  g_autofree char *ops = list_ops (graph), *parameters = list_parameters (graph);
  g_assert_cmpstr (ops, ==, "relu affine add scale_channels add global_avg_pool linear");
  g_assert_cmpstr (parameters, ==, "act.weight[4,1,1] head.weight[3,4] head.bias[3]");
  GPtrArray *nodes = dyno_graph_get_nodes (graph);
  g_assert_cmpfloat (get_number (g_ptr_array_index (nodes, 2), "factor"), ==, -1);
  g_assert_cmpfloat (get_number (g_ptr_array_index (nodes, 2), "offset"), ==, 0);
  float values[4];
  dyno_parameter_initialise (g_ptr_array_index (dyno_graph_get_parameters (graph), 0), 1, values);
  for (guint i = 0; i < 4; i++)
    g_assert_cmpfloat (values[i], ==, 0.25f);
  g_autoptr (DynoGraph) one = build (AROUND ("f s 0.3;PRelu r x,s h"), around, &error);
  g_assert_no_error (error);
  g_autofree char *one_ops = list_ops (one);
  g_assert_cmpstr (one_ops, ==, "leaky_relu global_avg_pool linear");
  g_assert_cmpfloat_with_epsilon (
      get_number (g_ptr_array_index (dyno_graph_get_nodes (one), 1), "parameter"), 0.3, 1e-6);
}

static void
test_sums (void)
{
  g_autoptr (GError) error = NULL;

  assert_builds (AROUND ("Relu - x a;Tanh - x b;Sum r a,b,x h"), around,
                 "relu tanh add add global_avg_pool linear", NULL);
  assert_builds (AROUND ("Sum r x h"), around, "global_avg_pool linear", NULL);
  g_autoptr (DynoGraph) graph =
      build (AROUND ("Relu - x a;Tanh - x b;Mean r a,b,x h"), around, &error);
  g_assert_no_error (error);
  g_autofree char *ops = list_ops (graph);
  g_assert_cmpstr (ops, ==, "relu tanh add add affine global_avg_pool linear");
  g_assert_cmpfloat_with_epsilon (
      get_number (g_ptr_array_index (dyno_graph_get_nodes (graph), 5), "factor"), 1.0 / 3, 1e-9);
}

/* --- groups of channels ----------------------------------------------------------------------- */

/* Of an image of 12 channels, between two convolutions. */
#define OF_TWELVE(body)                                                                      \
  AROUND ("w c.weight 12,4,1,1;Conv c x,c.weight y0;" body ";w d.weight 4,12,1,1;Conv d z0," \
          "d.weight h")
/* As exports write a GroupNorm; k and l are the factors and terms of its groups. */
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
    { AROUND ("w n.weight 4;w n.bias 4;GroupNormalization n x,n.weight,n.bias h num_groups=2"),
      "group_norm scale_channels add_channels global_avg_pool linear",
      "n.weight[4] n.bias[4] head.weight[3,4] head.bias[3]", 2 },
    { AROUND ("w n.weight 4;w n.bias 4;InstanceNormalization n x,n.weight,n.bias h"),
      "group_norm scale_channels add_channels global_avg_pool linear",
      "n.weight[4] n.bias[4] head.weight[3,4] head.bias[3]", 4 },
    { AROUND ("f one 1;f nil 0;i n 4,;Expand - one,n k;Expand - nil,n l;"
              "InstanceNormalization n x,k,l h"),
      "group_norm global_avg_pool linear", "head.weight[3,4] head.bias[3]", 4 },
    { OF_TWELVE (EXPORTED ("2", ONES ("1", "0"))),
      "conv2d group_norm scale_channels add_channels conv2d global_avg_pool linear",
      "c.weight[12,4,1,1] m[12,1,1] o[12,1,1] d.weight[4,12,1,1] head.weight[3,4] head.bias[3]",
      2 },
    { OF_TWELVE (EXPORTED ("1", "f k 1;f l 0")),
      "conv2d group_norm scale_channels add_channels conv2d global_avg_pool linear", NULL, 1 },
    /* Numbers of a file without weights are not known. */
    { OF_TWELVE (EXPORTED ("6", "w k 6;w l 6")),
      "conv2d group_norm scale_channels add_channels conv2d global_avg_pool linear",
      "c.weight[12,4,1,1] m[12,1,1] o[12,1,1] d.weight[4,12,1,1] head.weight[3,4] head.bias[3]",
      6 },
    { OF_TWELVE (EXPORTED ("12", "w k 12;w l 12")),
      "conv2d group_norm scale_channels add_channels conv2d global_avg_pool linear",
      "c.weight[12,4,1,1] m[12,1,1] o[12,1,1] d.weight[4,12,1,1] head.weight[3,4] head.bias[3]",
      12 },
    /* factors of channels that have factors of their own */
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
    { AROUND ("Transpose t x a perm=0,3,1,2;w k 8;w l 8;InstanceNormalization n a,k,l b;"
              "Transpose u b h perm=0,2,3,1"),
      "permute group_norm scale_channels add_channels permute global_avg_pool linear", NULL, 8 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      double groups = 0;
      g_test_message ("%s", rows[i].text);
      g_autoptr (DynoGraph) graph = build (rows[i].text, around, &error);
      g_assert_no_error (error);
      g_autofree char *ops = list_ops (graph), *parameters = list_parameters (graph);
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
    { AROUND ("w k 4;w l 4;GroupNormalization n x,k,l h num_groups=3"),
      "*GroupNormalization “n”: its 4 channels cannot be 3 groups*" },
    { AROUND ("w k 4;w l 4;GroupNormalization n x,k,l h"), "*its 4 channels cannot be 0 groups*" },
    { AROUND ("GroupNormalization n x h num_groups=2"), "*“n”: its factors and terms are not 1*" },
    { OF_TWELVE ("w k 6;w l 6;GroupNormalization n y0,k,l z0 num_groups=6"),
      "*“n”: “k” and “l” are not one value for each of 12 channels*" },
    { OF_TWELVE ("i s 0,6,-1;Reshape r y0,s a;w k 6;w l 6;InstanceNormalization n a,k,l b;"
                 "i t 0,12,8,8;Reshape q b,t z0"),
      "*“n”: “k” and “l” are not one value for each of 12 channels*" },
    { OF_TWELVE (EXPORTED ("2", ONES ("2", "0"))), "*“n”: its factors and terms are not 1 and 0*" },
    { OF_TWELVE (EXPORTED ("2", ONES ("1", "1"))), "*“n”: its factors and terms are not 1 and 0*" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    assert_refused (rows[i].text, around, rows[i].pattern);
}

/* --- refusals --------------------------------------------------------------------------------- */

static void
test_refusals (void)
{
  static const struct {
    const char *text, *pattern;
  } rows[] = {
    { AROUND ("w c.weight 4,3,3,3;Conv c x,c.weight h"), "*Conv “c”: *takes 3 channels*has 4*" },
    { AROUND ("w c.weight 4,4,3,3;Conv c x,c.weight h pads=0,0,1,-1"),
      "*Conv “c”: its pad is -1*" },
    { AROUND ("i z 0,0,1,1,0,0,1,1;Pad p x,z h mode=reflect"),
      "*Pad “p”: it pads by the mode “reflect”*" },
    { AROUND ("i z 1,0,0,0,0,0,0,0;Pad p x,z h"), "*Pad “p”: *not axis 0 of (2, 4, 8, 8)*" },
    { AROUND ("i z 0,0,1,0,0,1;Pad p x,z h"), "*Pad “p”: 6 pads for 4 axes*" },
    { AROUND ("i z 1,1,1,1;i a 2,-2;Pad p x,z,,a h"), "*Pad “p”: its axes*" },
    { AROUND ("i z 1,0;i a 4,;Pad p x,z,,a h"), "*Pad “p”: its axes*" },
    { AROUND ("i z 0,0,9999999999,0,0,0,0,0;Pad p x,z h"), "*Pad “p”: its pads are 9999999999*" },
    { AROUND ("i z 0,0,-8,0,0,0,9,0;Pad p x,z h"), "*a side keeps a place of its own*" },
    { AROUND ("w z 8;Pad p x,z h"), "*Pad “p”: its pads are not known*" },
    { AROUND ("f v 1,2;i z 0,0,1,1,0,0,1,1;Pad p x,z,v h"), "*Pad “p”: its value is not one*" },
    { AROUND ("i s 2,2,2,8,8;Reshape r x,s a;i z 1,1,0,0;i c 1,2;Pad p a,z,,c h"),
      "*Pad “p”: *not axis 2 of (2, 2, 2, 8, 8)*" },
    { AROUND ("i s 2,2,2,8,8;Reshape r x,s a;i b 8,64;Reshape q a,b c;i z 1,0;i o 0,;"
              "Pad p c,z,,o h"),
      "*Pad “p”: *not axis 0 of (8, 64)*" },
    { AROUND ("w c.weight 4,4,3,3;Conv c x,c.weight h group=3"), "*Conv “c”:*" },
    { AROUND ("f lo 6;f hi 1;Clip r x,lo,hi h"), "*Clip “r”: it clips to 6 and 1*" },
    { AROUND ("f hi 6;w lo 8;Clip r x,lo,hi h"), "*Clip “r”: *bounds are not known*" },
    { AROUND ("Celu r x h alpha=-1.0"), "*Celu “r”: its alpha is -1*" },
    { AROUND ("w s 8,1,1;PRelu r x,s h"),
      "*PRelu “r”: its slopes “s” are not one value a channel*" },
    { AROUND ("Relu - x s;PRelu r x,s h"), "*PRelu “r”: its slopes are no parameter*" },
    { AROUND ("GlobalAveragePool g x a;Sum r x,a h"), "*Sum “r”: it adds *, whose axes differ*" },
    { AROUND ("MaxPool p x h kernel_shape=3,3 dilations=1,2"), "*MaxPool “p”: *dilation 1x2*" },
    { AROUND ("MaxPool p x h kernel_shape=3,3 auto_pad=SAME"), "*MaxPool “p”: auto_pad SAME*" },
    { AROUND ("MaxPool p x h"), "*MaxPool “p”: it has no kernel_shape*" },
    { AROUND ("MaxPool p x h kernel_shape=9,3"), "*MaxPool “p”: its window is larger*" },
    { AROUND ("MaxPool p x h kernel_shape=2,2 pads=0,0,-1,1"), "*MaxPool “p”: its pad is -1*" },
    { AROUND ("MaxPool p x h kernel_shape=65535,2 dilations=65535,1 auto_pad=SAME_UPPER"),
      "*MaxPool “p”: its window of * is too large*" },
    { AROUND ("i z 2,;ReduceMax p x,z h"), "*ReduceMax “p”: Dyno has a maximum*" },
    { AROUND ("Relu r x a;Div d x,a h"), "*Div “d”: Dyno divides a tensor by one known number*" },
    { AROUND ("f k 0;Div d x,k h"), "*Div “d”: its number is not finite, or it divides by 0*" },
    { AROUND ("f k 2;Div d k,x h"), "*Div “d”: Dyno divides a tensor by one known number*" },
    { AROUND ("f k 1,2,3;Mul m x,k h"), "*Mul “m”: its parameter “k” is not one value a channel*" },
    { AROUND ("f k 2;i t 2,1,1,1,1;Expand e k,t b;Mul s x,b h"), "*Mul “s”: its input 1 is a co*" },
    { AROUND ("GlobalAveragePool p x a;Shape t x s;Expand e a,s b;Add m x,b h"),
      "*Add “m”: its input 1 is a tensor with repeated values*" },
    { AROUND ("GlobalAveragePool p x a;i s 8,9,;Expand e a,s b;Mul m x,b h"),
      "*Expand “e”: Dyno does not repeat*" },
    { AROUND ("GlobalAveragePool p x a;Shape t x s;Expand e a,s b;Mul m b,b h"),
      "*Mul “m”: its input 1 is a tensor with repeated values*" },
    { AROUND ("i t 2,4,8,8,2;Expand e x,t h"), "*Expand “e”: Dyno does not repeat*" },
    { AROUND ("i t 2,4,16,8;Expand e x,t h"), "*Expand “e”: Dyno does not repeat*" },
    { AROUND ("i n 2,;SplitToSequence s x,n q axis=1;i z 1;SequenceAt a q,z h"),
      "*SequenceAt “a”: it takes a part that the sequence does not have*" },
    { AROUND ("i n 2,9,;SplitToSequence s x,n q axis=1;i z 1;SequenceAt a q,z h"),
      "*SequenceAt “a”: the sizes of the sequence do not fit its axis*" },
    { AROUND ("i n -9223372036854775808;SplitToSequence s x,n q axis=1;i z 1;SequenceAt a q,z h"),
      "*SequenceAt “a”: it takes a part that the sequence does not have*" },
    { AROUND ("i z 1;SequenceAt a x,z h"), "*SequenceAt “a”: *no known part*" },
    { AROUND ("SplitToSequence s x q axis=1 keepdims=0;i z 1;SequenceAt a q,z h"),
      "*SplitToSequence “s”: *its axis would go*" },
    { AROUND ("Softmax p x h"), "*Softmax “p”: *last node*" },
    { AROUND ("i s 2,-1,5;Reshape p x,s h"), "*Reshape “p”: *(2, 4, 8, 8)*" },
    { AROUND ("Transpose p x q perm=0,1,1,2;Relu r q h"), "*Transpose “p”: perm*" },
    { AROUND ("MaxPool m x a kernel_shape=2,2 strides=2,2;Concat p x,a h axis=1"),
      "*Concat “p”: Dyno joins tensors along one axis*" },
    { AROUND ("i a 8,;i b 9,;i c 2,;Slice p x,a,b,c h"), "*Slice “p”: it takes no elements*" },
    { AROUND ("MaxPool m x a kernel_shape=2,2 strides=2,2;Add p x,a h"),
      "*Add “p”: it adds (2, 4, 8, 8) and (2, 4, 4, 4)*" },
    /* the batch would move into the samples */
    { AROUND ("Transpose t x a perm=1,0,2,3;w c.weight 4,2,1,1;Conv c a,c.weight h"),
      "*Conv “c”: the axes of its input 0, (4, 2, 8, 8), are not N C H W*" },
    { AROUND ("Transpose t x a perm=3,1,2,0;w m 2,5;MatMul p a,m h"),
      "*MatMul “p”: *(8, 4, 8, 2)*cannot be the channels*" },
    /* all at once, and not those that wait for a refused one */
    { AROUND ("Softmax p x a;Relu r a b;f lo 6;f hi 1;Clip q x,lo,hi c;Add s b,c h"),
      "*Softmax “p”: *\n  Clip “q”: *" },
    { AROUND ("w c.weight 4,4,1,1;Conv c x,c.weight a;Conv d a,c.weight h"),
      "*Conv “d”: it shares the parameter “c.weight”*" },
    /* the file */
    { AROUND ("GridSample w x a;GridSample v a b;Det d b h"),
      "*net.onnx*2 GridSample (first: “w”), 1 Det*" },
    { "in x N,4,8,8;in z N,4;w a.weight 3,4;Gemm g z,a.weight y transB=1;out y N,3",
      "*2 inputs beside its weights*" },
    { "in x 4;Relu r x y;out y N,3", "*its input “x” has 1 axes*" },
    { "in x N,4,8,8;Relu r x y;out y N,3", "*output “y”*(2, 4, 8, 8)*one row of outputs*" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_test_message ("%s", rows[i].text);
      assert_refused (rows[i].text, around, rows[i].pattern);
    }
  /* as many samples as channels */
  Shape four = around;
  four.batch = 4;
  assert_refused (AROUND ("Transpose t x a perm=1,0,2,3;w c.weight 4,4,1,1;Conv c a,c.weight h"),
                  four, "*Conv “c”: the axes of its input 0, (4, 4, 8, 8), are not N C H W*");
  assert_refused (
      AROUND ("Relu r x h"),
      (Shape){ .n_outputs = 3, .height = 8, .width = 8, .channels = 3, .mode = DYNO_MODE_PREDICT },
      "*takes samples of 4 channels, the data has 3*");
}

/* An unknown node with neither name nor output is refused as any other. */
static void
test_nameless_node (void)
{
  GByteArray *graph = onnx_test_graph ();
  g_autofree char *path = g_build_filename (folder, "nameless.onnx", NULL);
  g_autoptr (GError) error = NULL;

  onnx_test_add (graph, DYNO_ONNX_GRAPH_NODE, onnx_test_node ("Det", "", "x", NULL));
  g_autoptr (GByteArray) file = onnx_test_file (graph);
  g_assert_true (g_file_set_contents (path, (const char *) file->data, file->len, NULL));
  g_assert_null (dyno_model_open (path, NULL, &error));
  g_assert_nonnull (strstr (error->message, "1 Det (first: “”)"));
}

/* --- the registry ----------------------------------------------------------------------------- */

static void
test_names (void)
{
  g_autoptr (GError) error = NULL;
  gboolean has_weights = FALSE;
  const DynoModel *model =
      open_file ("my net (2).onnx", AROUND ("Relu r x h"), &has_weights, &error);

  g_assert_no_error (error);
  g_assert_true (has_weights);
  g_assert_true (g_str_has_prefix (model->name, "my_net__2_@"));
  g_assert_cmpstr (model->title, ==, "my_net__2_");
  g_assert_cmpuint (model->height, ==, 8);
  g_assert_cmpuint (model->channels, ==, 4);
  g_assert_cmpuint (model->n_file_outputs, ==, 3);
  /* the name finds it; the same content is the same model, other content another */
  g_assert_true (dyno_model_find (model->name, NULL) == model);
  g_assert_true (open_file ("my net (2).onnx", AROUND ("Relu r x h"), NULL, NULL) == model);
  g_assert_true (open_file ("my net (2).onnx", AROUND ("Tanh r x h"), NULL, NULL) != model);
  /* a run's copy, without weights, is the same */
  g_assert_true (dyno_model_adopt (model->name, dyno_model_get_file (model), NULL) == model);
  g_autofree char *networks = dyno_data_dir ("networks"),
                  *base = g_strconcat (model->name, ".onnx", NULL),
                  *kept = g_build_filename (networks, base, NULL);
  g_assert_true (g_file_test (kept, G_FILE_TEST_IS_REGULAR));
  g_assert_true (dyno_model_open (kept, &has_weights, &error) == model);
  g_assert_no_error (error);
  g_assert_false (has_weights);
}

static void
test_unknown_names (void)
{
  static const char *const names[] = { "gone@0123456789abcdef", "other@0123456789abcdef" };
  g_autofree char *networks = dyno_data_dir ("networks"),
                  *path = g_build_filename (networks, "other@0123456789abcdef.onnx", NULL);
  g_autoptr (GError) error = NULL;
  const DynoModel *model = open_file ("net.onnx", AROUND ("Relu r x h"), NULL, &error);

  g_assert_no_error (error);
  /* another network under the name of one that is not known */
  gsize size;
  const char *data = g_bytes_get_data (dyno_model_get_file (model), &size);
  g_assert_true (g_file_set_contents (path, data, (gssize) size, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_assert_null (dyno_model_find (names[i], &error));
      g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_MODEL);
      g_assert_nonnull (strstr (error->message, i ? "another network" : "name its ONNX file"));
      g_clear_error (&error);
    }
  g_assert_null (dyno_model_find ("/no/such/net.onnx", &error));
  g_assert_nonnull (strstr (error->message, "net.onnx"));
}

static void
remove_tree (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir && (name = g_dir_read_name (dir)))
    {
      g_autofree char *child = g_build_filename (path, name, NULL);
      remove_tree (child);
    }
  g_remove (path);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("dyno-import-XXXXXX", NULL);
  g_assert_true (dyno_state_dir_set (folder, NULL));
  g_test_add_func ("/nn/import/views", test_views);
  g_test_add_func ("/nn/import/operators", test_operators);
  g_test_add_func ("/nn/import/windows", test_windows);
  g_test_add_func ("/nn/import/pads", test_pads);
  g_test_add_func ("/nn/import/parameters-have-the-files-names", test_parameters);
  g_test_add_func ("/nn/import/names-of-modules", test_names_of_modules);
  g_test_add_func ("/nn/import/head-gets-the-datas-classes", test_head);
  g_test_add_func ("/nn/import/shapes-are-folded", test_shapes_are_folded);
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
  g_test_add_func ("/nn/import/composed-activations", test_composed);
  g_test_add_func ("/nn/import/slopes-of-channels", test_prelu);
  g_test_add_func ("/nn/import/sums-of-several", test_sums);
  g_test_add_func ("/nn/import/group-norms", test_group_norms);
  g_test_add_func ("/nn/import/group-norms-that-are-refused", test_group_norm_refusals);
  g_test_add_func ("/nn/import/refusals", test_refusals);
  g_test_add_func ("/nn/import/nameless-node", test_nameless_node);
  g_test_add_func ("/nn/import/names", test_names);
  g_test_add_func ("/nn/import/unknown-names", test_unknown_names);
  int status = g_test_run ();
  remove_tree (folder);
  g_free (folder);
  return status;
}
