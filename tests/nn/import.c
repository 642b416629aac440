/* SPDX-License-Identifier: MIT */
/* Networks of ONNX files: the graphs that they become, the files that are refused, and the
 * messages. */
#include "file.h"
#include "graph-private.h"
#include "import-test.h"
#include "network.h"
#include "onnx-test.h"
#include "op.h"
#include "ops.h"
#include "summary.h"
#include "axisview.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

/* --- files ------------------------------------------------------------------------------------ */

static char *folder; /* for the test's files, and for those that Dyno stores */

static const DynoModel *
open_file (const char *name, const char *text, gboolean *has_weights, GError **error)
{
  g_autoptr (GByteArray) file = onnx_test_text (text);
  g_autofree char *path = g_build_filename (folder, name, NULL);

  g_assert_true (g_file_set_contents (path, (const char *) file->data, file->len, NULL));
  return dyno_model_open (path, has_weights, error);
}

const DynoModel *
import_test_open (const char *text, GError **error)
{
  return open_file ("net.onnx", text, NULL, error);
}

DynoGraph *
import_test_build (const char *text, ImportTestShape shape, GError **error)
{
  const DynoModel *model = import_test_open (text, error);
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

char *
import_test_list_ops (DynoGraph *graph)
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

char *
import_test_list_parameters (DynoGraph *graph)
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

void
import_test_assert_builds (const char *text, ImportTestShape shape, const char *ops,
                           const char *parameters)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoGraph) graph = import_test_build (text, shape, &error);

  g_assert_no_error (error);
  g_autofree char *made_ops = import_test_list_ops (graph),
                  *made_parameters = import_test_list_parameters (graph);
  g_assert_cmpstr (made_ops, ==, ops);
  if (parameters)
    g_assert_cmpstr (made_parameters, ==, parameters);
}

void
import_test_assert_refused (const char *text, ImportTestShape shape, const char *pattern)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoGraph) graph = import_test_build (text, shape, &error);

  g_assert_null (graph);
  if (!g_pattern_match_simple (pattern, error->message))
    g_error ("“%s” is not “%s”", error->message, pattern);
}

const ImportTestShape import_test_around = {
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
  /* heads: C is divided in two, and joined again */
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
  /* an axis may not begin within a part that cannot be divided there */
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
    { IMPORT_TEST_AROUND ("w c.weight 4,4,3,3;Conv c x,c.weight h pads=1,1,1,1"), "conv2d" },
    { IMPORT_TEST_AROUND ("w c.weight 4,1,3,3;Conv c x,c.weight h pads=1,1,1,1 group=4"),
      "depthwise" },
    { IMPORT_TEST_AROUND ("w c.weight 4,4,3,3;Conv c x,c.weight h auto_pad=SAME_UPPER"), "conv2d" },
    { IMPORT_TEST_AROUND ("w c.weight 4,4,3,3;Conv c x,c.weight h pads=0,0,1,1"), "pad conv2d" },
    { IMPORT_TEST_AROUND ("w c.weight 4,4,3,3;Conv c x,c.weight h auto_pad=SAME_LOWER strides=2,2"),
      "pad conv2d" },
    { IMPORT_TEST_AROUND ("w c.weight 4,1,5,5;Conv c x,c.weight h pads=1,2,2,2 group=4"),
      "pad depthwise" },
    { IMPORT_TEST_AROUND ("Pad p x h pads=0,0,1,1,0,0,1,1"), "pad" },
    { IMPORT_TEST_AROUND ("i z 0,0,1,-1,0,0,2,0;f v -1.5;Pad p x,z,v h"), "pad" },
    /* two nodes share one list of factors, and no node reads the roi */
    { IMPORT_TEST_AROUND ("f s 1,1,2,2;f roi 0,0,0,0,1,1,1,1;Resize r x,roi,s a;Upsample u a,s h"),
      "resize resize" },
    { IMPORT_TEST_AROUND ("f s 1,1,1,1;Resize r x,,s a mode=linear;Relu u a h"), "relu" },
    { IMPORT_TEST_AROUND ("i u 0,4,64;Reshape q x,u a;f s 1,1,0.25;Resize r a,,s b mode=linear;"
                          "i v 0,4,4,4;Reshape p b,v h"),
      "permute resize permute" },
    { IMPORT_TEST_AROUND ("i z 1,2;i a -1,;Pad p x,z,,a h"), "pad" },
    { IMPORT_TEST_AROUND ("i z 1,0,0,2;i a 1,3;Pad p x,z,,a b;i k -1,-2,0,0;Pad q b,k,,a h"),
      "pad pad" },
    { IMPORT_TEST_AROUND ("Transpose t x a perm=0,2,3,1;i z 0,1,0,0,0,1,2,0;Pad p a,z b;"
                          "Transpose u b h perm=0,3,1,2"),
      "pad" },
    { IMPORT_TEST_AROUND ("i z 0,0,0,0,0,0,0,0;Pad p x,z h mode=reflect"), "" },
    /* an axis that images do not have: the pixels as channels */
    { IMPORT_TEST_AROUND ("i s 2,4,64;Reshape r x,s a;i z 1,-1;i o -1,;Pad p a,z,,o b;i t 2,4,8,8;"
                          "Reshape q b,t h"),
      "permute pad permute" },
    { IMPORT_TEST_AROUND ("Pad p x h pads=0,0,0,0,0,0,0,0"), "" },
    /* along one axis of 64 pixels where the image has one row: the global pool's output */
    { IMPORT_TEST_AROUND ("GlobalAveragePool g x a;i z 0,0,1,2,0,0,3,4;Pad p a,z h"),
      "global_avg_pool pad" },
    { IMPORT_TEST_AROUND ("Relu r x h"), "relu" },
    { IMPORT_TEST_AROUND ("Sigmoid r x h"), "sigmoid" },
    { IMPORT_TEST_AROUND ("Tanh r x h"), "tanh" },
    { IMPORT_TEST_AROUND ("LeakyRelu r x h alpha=0.2"), "leaky_relu" },
    { IMPORT_TEST_AROUND ("Elu r x h"), "elu" },
    { IMPORT_TEST_AROUND ("Gelu r x h"), "gelu" },
    { IMPORT_TEST_AROUND ("Gelu r x h approximate=tanh"), "gelu_tanh" },
    { IMPORT_TEST_AROUND ("HardSwish r x h"), "hard_swish" },
    { IMPORT_TEST_AROUND ("HardSigmoid r x h alpha=0.16666667"), "hard_sigmoid" },
    { IMPORT_TEST_AROUND ("Softplus r x h"), "softplus" },
    { IMPORT_TEST_AROUND ("Mish r x h"), "mish" },
    { IMPORT_TEST_AROUND ("f lo 0;f hi 6;Clip r x,lo,hi h"), "relu6" },
    { IMPORT_TEST_AROUND ("Clip r x h min=0.0 max=6.0"), "relu6" },
    { IMPORT_TEST_AROUND ("f lo 0;Clip r x,lo h"), "relu" },
    { IMPORT_TEST_AROUND ("MaxPool p x h kernel_shape=2,2 strides=2,2"), "max_pool" },
    { IMPORT_TEST_AROUND ("MaxPool p x h kernel_shape=3,2 strides=2,1 pads=1,0,0,1"), "max_pool" },
    { IMPORT_TEST_AROUND ("MaxPool p x h kernel_shape=3,3 strides=2,2 ceil_mode=1"), "max_pool" },
    { IMPORT_TEST_AROUND ("AveragePool p x h kernel_shape=2,2 strides=2,2"), "avg_pool" },
    { IMPORT_TEST_AROUND ("AveragePool p x h kernel_shape=2,2 pads=0,0,1,1 count_include_pad=1"),
      "avg_pool" },
    { IMPORT_TEST_AROUND ("GlobalMaxPool p x a;Add s a,a h"), "max_pool add" },
    { IMPORT_TEST_AROUND ("i z 2,3;ReduceMax p x,z a;Mul s a,x h"), "max_pool scale" },
    { IMPORT_TEST_AROUND ("Relu r x a;Add s x,a h"), "relu add" },
    { IMPORT_TEST_AROUND ("Relu r x a;Mul s x,a h"), "relu multiply" },
    { IMPORT_TEST_AROUND ("GlobalAveragePool p x a;Mul s a,x h"), "global_avg_pool scale" },
    { IMPORT_TEST_AROUND ("w g 4,1,1;Mul s x,g h"), "scale_channels" },
    { IMPORT_TEST_AROUND ("w b 4,1,1;Add s b,x h"), "add_channels" },
    { IMPORT_TEST_AROUND ("f k 2;Mul s x,k h"), "affine" },
    { IMPORT_TEST_AROUND ("f k 2;Add s k,x h"), "affine" },
    { IMPORT_TEST_AROUND ("f k 2;Sub s x,k h"), "affine" },
    { IMPORT_TEST_AROUND ("f k 2;Div s x,k h"), "affine" },
    { IMPORT_TEST_AROUND ("Neg s x h"), "affine" },
    { IMPORT_TEST_AROUND ("f k 2;i t 1,4,1,1;Expand e k,t b;Mul s x,b h"), "affine" },
    { IMPORT_TEST_AROUND ("f k 1;Mul s x,k a;Div t a,k h"), "" },
    { IMPORT_TEST_AROUND ("f k 0;Sub s x,k a;Add t k,a h"), "" },
    { IMPORT_TEST_AROUND ("Relu r x a;Sub s x,a h"), "relu affine add" },
    { IMPORT_TEST_AROUND ("i n 1,3,;SplitToSequence s x,n q axis=1;i z 0;i o -1;SequenceAt a q,z b;"
                          "SequenceAt c q,o d;Concat e d,b h axis=1"),
      "channels channels concat" },
    { IMPORT_TEST_AROUND ("i n 3;SplitToSequence s x,n q axis=1;i z 0;i o 1;SequenceAt a q,z b;"
                          "SequenceAt c q,o d;Concat e d,b h axis=1"),
      "channels channels concat" },
    { IMPORT_TEST_AROUND ("i t 1,4,1,8;Expand e x,t h"), "" },
    { IMPORT_TEST_AROUND (
          "f k 0;CastLike l k,x b;w c.weight 4,4,1,1;Shape s c.weight d start=0 end=1;"
          "Expand e b,d f;Conv c x,c.weight,f h"),
      "conv2d" },
    { IMPORT_TEST_AROUND ("CastLike l x,x h"), "" },
    { IMPORT_TEST_AROUND ("GlobalAveragePool p x a;Shape t x s;Expand e a,s b;Mul m x,b h"),
      "global_avg_pool scale" },
    { IMPORT_TEST_AROUND (
          "GlobalAveragePool p x a;i t 2,1,4;Reshape r a,t c;w e.weight 1,1,3;"
          "Conv e c,e.weight d pads=1,1;i u 2,4,1,1;Reshape z d,u f;Shape t x s;Expand g f,s b;"
          "Mul m x,b h"),
      "global_avg_pool permute conv2d permute scale" },
    /* causal: all pads before the sequence, so that it keeps its length */
    { IMPORT_TEST_AROUND (
          "GlobalAveragePool p x a;i t 2,1,4;Reshape r a,t c;w e.weight 1,1,3;"
          "Conv e c,e.weight d pads=2,0;i u 2,4,1,1;Reshape z d,u f;Shape t x s;Expand g f,s b;"
          "Mul m x,b h"),
      "global_avg_pool permute pad conv2d permute scale" },
    { IMPORT_TEST_AROUND ("GlobalAveragePool p x a;i s 8,8,;Expand e a,s b;Mul m b,x h"),
      "global_avg_pool scale" },
    { IMPORT_TEST_AROUND ("Split s x a,b axis=1;Concat c b,a h axis=1"),
      "channels channels concat" },
    { IMPORT_TEST_AROUND ("i z 3,1;Split s x,z a,b axis=1;Concat c b,a h axis=1"),
      "channels channels concat" },
    { IMPORT_TEST_AROUND ("i b 1,;i e 3,;i d 1,;Slice s x,b,e,d a;Concat c a,a h axis=1"),
      "channels concat" },
    { IMPORT_TEST_AROUND ("Dropout d x h"), "" },
    { IMPORT_TEST_AROUND ("Identity d x h"), "" },
    { IMPORT_TEST_AROUND ("Cast d x h to=1"), "" },
    { IMPORT_TEST_AROUND ("Sigmoid s x a;Mul m x,a h"), "silu" },
    { IMPORT_TEST_AROUND ("Sigmoid s x a;Mul m a,x h"), "silu" },
    { IMPORT_TEST_AROUND ("Sigmoid s x a;Mul m x,a b;Add t a,b h"), "sigmoid multiply add" },
    { IMPORT_TEST_AROUND ("HardSigmoid s x a alpha=0.16666667;Mul m x,a h"), "hard_swish" },
    { IMPORT_TEST_AROUND (
          "f t 3;f lo 0;f hi 6;Add s x,t a;Clip c a,lo,hi b;Mul m x,b d;Div v d,hi h"),
      "hard_swish" },
    { IMPORT_TEST_AROUND ("Softplus s x a;Tanh t a b;Mul m x,b h"), "mish" },
    { IMPORT_TEST_AROUND (
          "f r 1.4142135;f i 1;f o 0.5;Div s x,r a;Erf e a b;Add p b,i c;Mul m x,c d;"
          "Mul n d,o h"),
      "gelu" },
    { IMPORT_TEST_AROUND (
          "f r 1.4142135;f i 1;f o 0.5;Mul n x,o d;Div s x,r a;Erf e a b;Add p b,i c;"
          "Mul m d,c h"),
      "gelu" },
    { IMPORT_TEST_AROUND (
          "Transpose t x u perm=0,2,3,1;f two 2;f eps 0.000001;i l -1,;ReduceMean m u,l a;"
          "Sub d u,a b;Pow p b,two c;ReduceMean n c,l e;Add q e,eps f;Sqrt r f i;Div v b,i j;"
          "w n.weight 4;w n.bias 4;Mul w j,n.weight k;Add z k,n.bias o;"
          "Transpose tt o h perm=0,3,1,2"),
      "layer_norm" },
    { IMPORT_TEST_AROUND ("Transpose t x u perm=0,2,3,1;w m 4,4;MatMul mm u,m a;w b 4;Add p b,a c;"
                          "Transpose tt c h perm=0,3,1,2"),
      "linear" },
    { IMPORT_TEST_AROUND (
          "i s 0,2,2,8,8;i t 0,4,8,8;Reshape r x,s a;Transpose q a b perm=0,2,1,3,4;"
          "Reshape u b,t h"),
      "channel_shuffle" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *ops =
          g_strdup_printf ("%s%sglobal_avg_pool linear", rows[i].ops, *rows[i].ops ? " " : "");
      g_test_message ("%s", rows[i].text);
      import_test_assert_builds (rows[i].text, import_test_around, ops, NULL);
    }
}

/* The size of a pool's output for 8 x 8 pixels, and the pads before them. */
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
    /* no last window begins in the pad */
    { "kernel_shape=2,2 strides=3,3 pads=1,1,1,1 ceil_mode=1", 3, 3, 1, 1 },
    { "kernel_shape=3,3 strides=3,2 auto_pad=SAME_UPPER", 3, 4, 0, 0 },
    { "kernel_shape=2,4 strides=1,3 auto_pad=SAME_LOWER", 8, 3, 1, 1 },
    { "kernel_shape=3,3 strides=2,2 auto_pad=VALID pads=1,1,1,1", 3, 3, 0, 0 },
  };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (rows); i++)
    {
      const char *op = i % 2 ? "AveragePool" : "MaxPool";
      g_autofree char *body = g_strdup_printf ("%s p x h %s", op, rows[i / 2].attributes),
                      *text = g_strdup_printf (IMPORT_TEST_AROUND ("%s"), body);
      g_autoptr (GError) error = NULL;
      double pad_h = 0, pad_w = 0;
      g_test_message ("%s", body);
      g_autoptr (DynoGraph) graph = import_test_build (text, import_test_around, &error);
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

/* A mean excludes the pad, unless the file includes it. */
static void
test_means_leave_out_the_pad (void)
{
  static const char *const attributes[] = { "", " count_include_pad=0", " count_include_pad=1" };

  for (guint i = 0; i < G_N_ELEMENTS (attributes); i++)
    {
      g_autofree char *text = g_strdup_printf (
          IMPORT_TEST_AROUND ("AveragePool p x h kernel_shape=3,3 strides=2,2 pads=1,1,1,1%s"),
          attributes[i]);
      g_autoptr (GError) error = NULL;
      double exclude_pad;
      g_autoptr (DynoGraph) graph = import_test_build (text, import_test_around, &error);

      g_assert_no_error (error);
      g_assert_true (dyno_node_get_attribute (g_ptr_array_index (dyno_graph_get_nodes (graph), 1),
                                              "exclude_pad", &exclude_pad));
      g_assert_cmpfloat (exclude_pad, ==, i < 2);
    }
}

/* The padded side of each axis, and the value, for an image of 8 x 8 pixels and 4 channels; h keeps
 * the file's order of axes. */
static void
test_pads (void)
{
  static const struct {
    const char *text;
    guint32 h, w, c;
    double top, left, front, value;
  } rows[] = {
    { IMPORT_TEST_AROUND ("Pad p x h pads=0,0,1,2,0,0,3,4 value=0.5"), 12, 14, 4, 1, 2, 0, 0.5 },
    { IMPORT_TEST_AROUND ("i z 0,0,-1,0,0,0,0,-3;f v -2;Pad p x,z,v h"), 7, 5, 4, -1, 0, 0, -2 },
    { IMPORT_TEST_AROUND (
          "i z 1,2,3,-2;i a 3,1;Pad p x,z,,a b;w c.weight 4,4,1,1;Conv c b,c.weight h"),
      8, 12, 4, 0, 1, 2, 0 },
    { IMPORT_TEST_AROUND ("Transpose t x a perm=0,2,3,1;i z 0,1,2,3,0,0,0,-3;Pad p a,z b;"
                          "Transpose u b h perm=0,3,1,2"),
      9, 10, 4, 1, 2, 3, 0 },
    { IMPORT_TEST_AROUND ("GlobalAveragePool g x a;i z 0,0,1,2,0,0,3,4;Pad p a,z h"), 5, 7, 4, 1, 2,
      0, 0 },
    { IMPORT_TEST_AROUND (
          "GlobalAveragePool g x a;Transpose t a b perm=0,2,3,1;i z 0,1,2,0,0,0,0,0;Pad p b,z d;"
          "Transpose u d h perm=0,3,1,2"),
      2, 3, 4, 1, 2, 0, 0 },
    { IMPORT_TEST_AROUND ("Transpose t x b perm=0,2,3,1;i z 0,-3,0,0,0,-4,0,0;Pad p b,z d;"
                          "Transpose u d h perm=0,3,1,2"),
      1, 8, 4, -3, 0, 0, 0 },
    { IMPORT_TEST_AROUND ("w c.weight 4,4,3,3;Conv c x,c.weight h pads=0,3,1,2"), 9, 9, 4, 0, 1, 0,
      0 },
    { IMPORT_TEST_AROUND ("w c.weight 4,4,3,4;Conv c x,c.weight h auto_pad=SAME_LOWER"), 8, 9, 4, 0,
      1, 0, 0 },
    { IMPORT_TEST_AROUND ("w c.weight 4,4,3,4;Conv c x,c.weight h auto_pad=SAME_UPPER"), 8, 9, 4, 0,
      0, 0, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      const char *const names[] = { "top", "left", "front", "value" };
      const double wanted[] = { rows[i].top, rows[i].left, rows[i].front, rows[i].value };
      g_test_message ("%s", rows[i].text);
      g_autoptr (DynoGraph) graph = import_test_build (rows[i].text, import_test_around, &error);
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

/* The size of an image of 8 x 8 pixels, the position of its pixels, and the factors as
 * fractions. */
static void
test_resizes (void)
{
#define RESIZE "coordinate_transformation_mode="
  static const struct {
    const char *text;
    guint32 h, w;
    DynoResizeMode mode;
    DynoResizePlaces places;
    double factors[4];
  } rows[] = {
    { IMPORT_TEST_AROUND ("f s 1,1,2,3;Resize r x,,s h"),
      16,
      24,
      DYNO_RESIZE_PREFER_FLOOR,
      DYNO_RESIZE_HALF_PIXEL,
      { 2, 1, 3, 1 } },
    { IMPORT_TEST_AROUND ("f roi ,;f s ,;i z 2,4,12,6;Resize r x,roi,s,z h mode=linear"),
      12,
      6,
      DYNO_RESIZE_LINEAR,
      DYNO_RESIZE_HALF_PIXEL,
      { 3, 2, 3, 4 } },
    { IMPORT_TEST_AROUND ("i z 2,4,15,3;Resize r x,,,z h mode=linear " RESIZE "align_corners"),
      15,
      3,
      DYNO_RESIZE_LINEAR,
      DYNO_RESIZE_ALIGN_CORNERS,
      { 15, 8, 3, 8 } },
    { IMPORT_TEST_AROUND ("f s 1,1,2,2;Resize r x,,s h nearest_mode=floor " RESIZE "asymmetric"),
      16,
      16,
      DYNO_RESIZE_FLOOR,
      DYNO_RESIZE_ASYMMETRIC,
      { 2, 1, 2, 1 } },
    { IMPORT_TEST_AROUND ("f s 1,1,2,2;Resize r x,,s h nearest_mode=ceil"),
      16,
      16,
      DYNO_RESIZE_CEIL,
      DYNO_RESIZE_HALF_PIXEL,
      { 2, 1, 2, 1 } },
    { IMPORT_TEST_AROUND ("f s 1,1,2,2;Resize r x,,s h nearest_mode=round_prefer_ceil " RESIZE
                          "pytorch_half_pixel"),
      16,
      16,
      DYNO_RESIZE_PREFER_CEIL,
      DYNO_RESIZE_PYTORCH_HALF_PIXEL,
      { 2, 1, 2, 1 } },
    /* factors that give no whole number of pixels; 8 * 0.3 and 8 * 1.7 */
    { IMPORT_TEST_AROUND ("f s 1,1,0.3,1.7;Resize r x,,s h mode=linear"),
      2,
      13,
      DYNO_RESIZE_LINEAR,
      DYNO_RESIZE_HALF_PIXEL,
      { 3, 10, 17, 10 } },
    /* 8 * 0.875 and 8 * 1.125; a float near 9/8 is not read as another fraction */
    { IMPORT_TEST_AROUND ("f s 1,1,0.875,1.1250001;Resize r x,,s h mode=linear"),
      7,
      9,
      DYNO_RESIZE_LINEAR,
      DYNO_RESIZE_HALF_PIXEL,
      { 7, 8, 9, 8 } },
    /* 10 * 0.7 is 7 pixels, though the float 0.7 is less than that */
    { IMPORT_TEST_AROUND ("i z 2,4,10,10;Resize r x,,,z a;f s 1,1,0.7,1;Resize q a,,s h"),
      7,
      10,
      DYNO_RESIZE_PREFER_FLOOR,
      DYNO_RESIZE_HALF_PIXEL,
      { 7, 10, 1, 1 } },
    /* some axes only, from the end */
    { "opset 18;" IMPORT_TEST_AROUND ("i z 10,;Resize r x,,,z h axes=-1,"),
      8,
      10,
      DYNO_RESIZE_PREFER_FLOOR,
      DYNO_RESIZE_HALF_PIXEL,
      { 1, 1, 5, 4 } },
    { "opset 18;" IMPORT_TEST_AROUND ("f s 3,2;Resize r x,,s h axes=3,2 antialias=1"),
      16,
      24,
      DYNO_RESIZE_PREFER_FLOOR,
      DYNO_RESIZE_HALF_PIXEL,
      { 2, 1, 3, 1 } },
    { "opset 19;" IMPORT_TEST_AROUND ("f s 1,1,2,2;Resize r x,,s h mode=linear " RESIZE
                                      "half_pixel_symmetric"),
      16,
      16,
      DYNO_RESIZE_LINEAR,
      DYNO_RESIZE_HALF_PIXEL,
      { 2, 1, 2, 1 } },
    /* sizes that the file computes from the shape */
    { IMPORT_TEST_AROUND (
          "Shape - x u;Slice - u b starts=0, ends=2,;i e 11,9;Concat - b,e v axis=0;"
          "Resize r x,,,v h mode=linear"),
      11,
      9,
      DYNO_RESIZE_LINEAR,
      DYNO_RESIZE_HALF_PIXEL,
      { 11, 8, 9, 8 } },
    /* before opset 11 */
    { "opset 10;" IMPORT_TEST_AROUND ("f s 1,1,2,1.5;Resize r x,s h mode=nearest"),
      16,
      12,
      DYNO_RESIZE_FLOOR,
      DYNO_RESIZE_ASYMMETRIC,
      { 2, 1, 3, 2 } },
    { "opset 10;" IMPORT_TEST_AROUND ("f s 1,1,0.5,2;Resize r x,s h"),
      4,
      16,
      DYNO_RESIZE_FLOOR,
      DYNO_RESIZE_ASYMMETRIC,
      { 1, 2, 2, 1 } },
    { "opset 9;" IMPORT_TEST_AROUND ("f s 1,1,2,2;Upsample r x,s h mode=linear"),
      16,
      16,
      DYNO_RESIZE_LINEAR,
      DYNO_RESIZE_ASYMMETRIC,
      { 2, 1, 2, 1 } },
  };
#undef RESIZE

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      static const char *const names[] = { "mode", "places", "up_h", "down_h", "up_w", "down_w" };
      const double wanted[] = { rows[i].mode,       rows[i].places,     rows[i].factors[0],
                                rows[i].factors[1], rows[i].factors[2], rows[i].factors[3] };
      g_autoptr (GError) error = NULL;
      g_test_message ("%s", rows[i].text);
      g_autoptr (DynoGraph) graph = import_test_build (rows[i].text, import_test_around, &error);
      g_assert_no_error (error);
      GPtrArray *nodes = dyno_graph_get_nodes (graph);
      const DynoNode *node = NULL; /* the last node that resizes */
      for (guint k = 0; k < nodes->len; k++)
        if (g_str_equal (((DynoNode *) nodes->pdata[k])->op->name, "resize"))
          node = nodes->pdata[k];
      g_assert_nonnull (node);
      g_assert_cmpuint (node->outputs[0]->h, ==, rows[i].h);
      g_assert_cmpuint (node->outputs[0]->w, ==, rows[i].w);
      for (guint k = 0; k < G_N_ELEMENTS (names); k++)
        {
          double value = NAN;
          g_assert_true (dyno_node_get_attribute (node, names[k], &value));
          g_assert_cmpfloat (value, ==, wanted[k]);
        }
    }
}

/* Parameters have the names of the file, also where these are not names of modules, and its
 * shapes. */
static void
test_parameters (void)
{
  import_test_assert_builds (
      "in x N,3,8,8;w stem.weight 8,3,3,3;w onnx::Conv_7 8;"
      "Conv /stem/Conv x,stem.weight,onnx::Conv_7 a strides=2,2;"
      "w n.w 8;w n.b 8;w n.m 8;w n.v 8;BatchNormalization n a,n.w,n.b,n.m,n.v b;"
      "i axes 2,3;ReduceMean m b,axes c keepdims=0;"
      "w onnx::MatMul_9 8,5;MatMul mm c,onnx::MatMul_9 y;out y N,5",
      (ImportTestShape){
          .n_outputs = 5, .height = 8, .width = 8, .channels = 3, .mode = DYNO_MODE_PREDICT },
      "conv2d batch_norm global_avg_pool linear",
      "stem.weight[8,3,3,3] onnx::Conv_7[8] n.w[8] n.b[8] n.m[8] n.v[8] "
      "onnx::MatMul_9[8,5]");
  import_test_assert_builds (IMPORT_TEST_AROUND ("w gamma 4,1,1;Mul s x,gamma h"),
                             import_test_around, "scale_channels global_avg_pool linear",
                             "gamma[4,1,1] head.weight[3,4] head.bias[3]");
}

/* A merged bias may have the name of a layer that comes later. */
static void
test_names_of_modules (void)
{
  import_test_assert_builds (
      IMPORT_TEST_AROUND (
          "w a.weight 4,4,1,1;w b.bias 4;Conv k x,a.weight,b.bias g;w b.weight 4,4,1,1;"
          "Conv l g,b.weight,b.bias h"),
      import_test_around, "conv2d conv2d global_avg_pool linear",
      "a.weight[4,4,1,1] b.bias[4] b.weight[4,4,1,1] b.bias@2[4] head.weight[3,4] "
      "head.bias[3]");
}

/* The data's classes replace those of the file, in whichever layer is the last. */
static void
test_head (void)
{
  ImportTestShape seven = import_test_around;
  seven.n_outputs = 7;

  import_test_assert_builds (IMPORT_TEST_AROUND ("Relu r x h"), seven,
                             "relu global_avg_pool linear", "head.weight[7,4] head.bias[7]");
  import_test_assert_builds (
      "in x N,4,8,8;w c.weight 3,4,1,1;w c.bias 3;Conv c x,c.weight,c.bias a;Relu r a b;"
      "GlobalAveragePool g b d;Flatten f d e;Softmax s e y axis=1;out y N,3",
      seven, "conv2d relu global_avg_pool", "c.weight[7,4,1,1] c.bias[7]");
  import_test_assert_builds (
      "in x N,4,8,8;GlobalAveragePool g x a;Flatten f a b;w m 4,3;MatMul mm b,m c;"
      "w n 3;Add p n,c y;out y N,3",
      seven, "global_avg_pool linear", "m[4,7] n[7]");
  import_test_assert_refused (
      "in x N,4,8,8;GlobalAveragePool g x a;Flatten f a b;w m.weight 4,4;w m.bias 4;"
      "Gemm m b,m.weight,m.bias c transB=1;Tanh t c y;out y N,4",
      seven, "*has 4 outputs, the data 7*");
}

/* The file's outputs are counted in the right axis of the last layer's weight. */
static void
test_outputs_of_the_file_are_counted (void)
{
#define POOLED "in x N,4,8,8;GlobalAveragePool g x a;Flatten f a b;"
  static const char *const texts[] = {
    POOLED "w m 3,4;Gemm l b,m y transB=1;out y N,3",
    POOLED "w m 4,3;Gemm l b,m y;out y N,3",
    POOLED "w m 4,3;MatMul l b,m y;out y N,3",
    POOLED "w m 3,4;Transpose t m n perm=1,0;MatMul l b,n y;out y N,3",
    POOLED "w m 3,4;Transpose t m n perm=1,0;Gemm l b,n y;out y N,3",
    POOLED "w m 4,3;Transpose t m n perm=1,0;Gemm l b,n y transB=1;out y N,3",
    "in x N,4,8,8;w m 3,4,1,1;Conv l x,m a;GlobalAveragePool g a b;Flatten f b y;out y N,3",
  };
#undef POOLED

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GError) error = NULL;
      const DynoModel *model = open_file ("outputs.onnx", texts[i], NULL, &error);

      g_test_message ("%s", texts[i]);
      g_assert_no_error (error);
      g_assert_cmpuint (model->n_file_outputs, ==, 3);
    }
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
      import_test_assert_builds (text, import_test_around, "linear", "f.weight[3,256] f.bias[3]");
    }
}
/* --- refusals --------------------------------------------------------------------------------- */

static void
test_refusals (void)
{
  static const struct {
    const char *text, *pattern;
  } rows[] = {
    { IMPORT_TEST_AROUND ("w c.weight 4,3,3,3;Conv c x,c.weight h"),
      "*Conv “c”: *takes 3 channels*has 4*" },
    { IMPORT_TEST_AROUND ("w c.weight 4,4,3,3;Conv c x,c.weight h pads=0,0,1,-1"),
      "*Conv “c”: its pad is -1*" },
    { IMPORT_TEST_AROUND ("i z 0,0,1,1,0,0,1,1;Pad p x,z h mode=around"),
      "*Pad “p”: Dyno does not pad by the mode “around”*" },
    { IMPORT_TEST_AROUND ("i z 1,0,0,0,0,0,0,0;Pad p x,z h"),
      "*Pad “p”: *not axis 0 of (2, 4, 8, 8)*" },
    { IMPORT_TEST_AROUND ("i z 0,0,1,0,0,1;Pad p x,z h"), "*Pad “p”: 6 pads for 4 axes*" },
    { IMPORT_TEST_AROUND ("i z 1,1,1,1;i a 2,-2;Pad p x,z,,a h"), "*Pad “p”: its axes*" },
    { IMPORT_TEST_AROUND ("i z 1,0;i a 4,;Pad p x,z,,a h"), "*Pad “p”: its axes*" },
    { IMPORT_TEST_AROUND ("i z 0,0,9999999999,0,0,0,0,0;Pad p x,z h"),
      "*Pad “p”: its pads are 9999999999*" },
    { IMPORT_TEST_AROUND ("i z 0,0,-8,0,0,0,9,0;Pad p x,z h"),
      "*one place or more of each side must remain*" },
    { IMPORT_TEST_AROUND ("w z 8;Pad p x,z h"), "*Pad “p”: its pads are not known*" },
    { IMPORT_TEST_AROUND ("f v 1,2;i z 0,0,1,1,0,0,1,1;Pad p x,z,v h"),
      "*Pad “p”: its value is not one*" },
    { IMPORT_TEST_AROUND ("i s 2,2,2,8,8;Reshape r x,s a;i z 1,1,0,0;i c 1,2;Pad p a,z,,c h"),
      "*Pad “p”: *not axis 2 of (2, 2, 2, 8, 8)*" },
    { IMPORT_TEST_AROUND ("i s 2,2,2,8,8;Reshape r x,s a;i b 8,64;Reshape q a,b c;i z 1,0;i o 0,;"
                          "Pad p c,z,,o h"),
      "*Pad “p”: *not axis 0 of (8, 64)*" },
    { IMPORT_TEST_AROUND ("w c.weight 4,4,3,3;Conv c x,c.weight h group=3"), "*Conv “c”:*" },
    { IMPORT_TEST_AROUND ("f lo 6;f hi 1;Clip r x,lo,hi h"),
      "*Clip “r”: its lower bound 6 is not below its upper bound 1*" },
    { IMPORT_TEST_AROUND ("f hi 6;w lo 8;Clip r x,lo,hi h"), "*Clip “r”: *a bound is not known*" },
    { IMPORT_TEST_AROUND ("Celu r x h alpha=-1.0"), "*Celu “r”: its alpha is -1*" },
    { IMPORT_TEST_AROUND ("w s 8,1,1;PRelu r x,s h"),
      "*PRelu “r”: its slopes “s” do not have one value per channel*" },
    { IMPORT_TEST_AROUND ("Relu - x s;PRelu r x,s h"),
      "*PRelu “r”: its slopes are not a parameter*" },
    { IMPORT_TEST_AROUND ("GlobalAveragePool g x a;Sum r x,a h"),
      "*Sum “r”: it adds *, whose axes differ*" },
    { IMPORT_TEST_AROUND ("MaxPool p x h kernel_shape=3,3 dilations=1,2"),
      "*MaxPool “p”: *dilation 1x2*" },
    { IMPORT_TEST_AROUND ("MaxPool p x h kernel_shape=3,3 auto_pad=SAME"),
      "*MaxPool “p”: auto_pad SAME*" },
    { IMPORT_TEST_AROUND ("MaxPool p x h"), "*MaxPool “p”: it has no kernel_shape*" },
    { IMPORT_TEST_AROUND ("MaxPool p x h kernel_shape=9,3"),
      "*MaxPool “p”: its window is larger*" },
    { IMPORT_TEST_AROUND ("MaxPool p x h kernel_shape=2,2 pads=0,0,-1,1"),
      "*MaxPool “p”: its pad is -1*" },
    { IMPORT_TEST_AROUND (
          "MaxPool p x h kernel_shape=65535,2 dilations=65535,1 auto_pad=SAME_UPPER"),
      "*MaxPool “p”: its window of * is too large*" },
    { IMPORT_TEST_AROUND ("i z 2,;ReduceMax p x,z h"), "*ReduceMax “p”: Dyno computes a maximum*" },
    { IMPORT_TEST_AROUND ("f k 0;Div d x,k h"),
      "*Div “d”: its number is not finite, or it divides by 0*" },
    { IMPORT_TEST_AROUND ("f k 1,2,3;Mul m x,k h"),
      "*Mul “m”: it multiplies (2, 4, 8, 8) and (3), whose axes do not fit*" },
    { IMPORT_TEST_AROUND ("GlobalAveragePool p x a;i s 8,9,;Expand e a,s b;Mul m x,b h"),
      "*Mul “m”: it multiplies (2, 4, 8, 8) and (2, 4, 8, 9), whose axes do not fit*" },
    { IMPORT_TEST_AROUND ("i t 2,4,8,8,2;Expand e x,t h"),
      "*Expand “e”: it repeats an axis of 2 elements to 4*" },
    { IMPORT_TEST_AROUND ("i t 2,4,16,8;Expand e x,t h"),
      "*Expand “e”: it repeats an axis of 8 elements to 16*" },
    { IMPORT_TEST_AROUND ("i n 2,;SplitToSequence s x,n q axis=1;i z 1;SequenceAt a q,z h"),
      "*SequenceAt “a”: its position is outside of the sequence*" },
    { IMPORT_TEST_AROUND ("i n 2,9,;SplitToSequence s x,n q axis=1;i z 1;SequenceAt a q,z h"),
      "*SequenceAt “a”: the sizes of the sequence do not fit its axis*" },
    { IMPORT_TEST_AROUND (
          "i n -9223372036854775808;SplitToSequence s x,n q axis=1;i z 1;SequenceAt a q,z h"),
      "*SequenceAt “a”: its position is outside of the sequence*" },
    { IMPORT_TEST_AROUND ("i z 1;SequenceAt a x,z h"),
      "*SequenceAt “a”: *not the output of a SplitToSequence*" },
    { IMPORT_TEST_AROUND ("SplitToSequence s x q axis=1 keepdims=0;i z 1;SequenceAt a q,z h"),
      "*SplitToSequence “s”: *or keepdims is 0*" },
    { IMPORT_TEST_AROUND ("f s 1,1,2,2;Resize r x,,s h mode=cubic"),
      "*Resize “r”: its mode “cubic” is not read*" },
    { IMPORT_TEST_AROUND ("f s 1,1,2,2;Resize r x,,s h nearest_mode=simple"),
      "*Resize “r”: its nearest_mode “simple” is not read*" },
    { IMPORT_TEST_AROUND ("f s 1,1,2,2;f roi 0,0,0,0,1,1,1,1;Resize r x,roi,s h "
                          "coordinate_transformation_mode=tf_crop_and_resize"),
      "*Resize “r”: its coordinate_transformation_mode “tf_crop_and_resize” is not read*" },
    { IMPORT_TEST_AROUND ("f s 1,1,1.2,2;Resize r x,,s h mode=linear "
                          "coordinate_transformation_mode=half_pixel_symmetric"),
      "*Resize “r”: half_pixel_symmetric by a factor*" },
    { IMPORT_TEST_AROUND ("f s 1,1,0.5,2;Resize r x,,s h antialias=1"),
      "*Resize “r”: Dyno does not shrink with antialias*" },
    { IMPORT_TEST_AROUND ("i z 9,9;Resize r x,,,z h axes=2,3 keep_aspect_ratio_policy=not_larger"),
      "*Resize “r”: its keep_aspect_ratio_policy “not_larger” is not read*" },
    { IMPORT_TEST_AROUND ("i z 9,9;Resize r x,,,z h axes=3,-1"),
      "*Resize “r”: its axes are out of range, or name one twice*" },
    { IMPORT_TEST_AROUND ("i z 9,9;Resize r x,,,z h axes=2,4"),
      "*Resize “r”: its axes are out of range, or name one twice*" },
    { IMPORT_TEST_AROUND ("Resize r x h"), "*Resize “r”: the size of its output is not known*" },
    { IMPORT_TEST_AROUND ("Resize r x,,x h"), "*Resize “r”: the size of its output is not known*" },
    { IMPORT_TEST_AROUND ("f s 2,2;Resize r x,,s h"), "*Resize “r”: 2 numbers for 4 axes*" },
    { IMPORT_TEST_AROUND ("f s 1,2,2,2;Resize r x,,s h"),
      "*Resize “r”: Dyno resizes height and width only, not axis 1*" },
    { IMPORT_TEST_AROUND ("i z 4,4,9,9;Resize r x,,,z h"),
      "*Resize “r”: Dyno resizes height and width only, not axis 0*" },
    { IMPORT_TEST_AROUND ("i z 2,4,0,9;Resize r x,,,z h"), "*Resize “r”: its size is 0*" },
    { IMPORT_TEST_AROUND ("f s 1,1,0.1,1;Resize r x,,s h"),
      "*Resize “r”: its factor 0.1 cannot scale a side of 8 pixels*" },
    { IMPORT_TEST_AROUND ("f s 1,1,inf,1;Resize r x,,s h"),
      "*Resize “r”: its factor inf cannot scale*" },
    { IMPORT_TEST_AROUND ("f s 1,1,1.0000037,1;Resize r x,,s h"),
      "*Resize “r”: its factor 1 is not a fraction*" },
    { IMPORT_TEST_AROUND ("GlobalAveragePool p x a;i z 2,4,900,900;Resize r a,,,z h"),
      "*r: an image of 1x1 cannot become one of 900x900*" },
    { "opset 10;" IMPORT_TEST_AROUND ("f s 1,1,0.75,1;Resize r x,s h"),
      "*Resize “r”: before opset 11 ONNX does not define how 8 pixels become 6*" },
    { "opset 8;" IMPORT_TEST_AROUND ("Upsample r x h"),
      "*Upsample “r”: the size of its output is not known*" },
    { IMPORT_TEST_AROUND ("i s 2,-1,5;Reshape p x,s h"), "*Reshape “p”: *(2, 4, 8, 8)*" },
    { IMPORT_TEST_AROUND ("Transpose p x q perm=0,1,1,2;Relu r q h"), "*Transpose “p”: perm*" },
    { IMPORT_TEST_AROUND ("MaxPool m x a kernel_shape=2,2 strides=2,2;Concat p x,a h axis=1"),
      "*Concat “p”: Dyno joins tensors along one axis*" },
    { IMPORT_TEST_AROUND ("i a 8,;i b 9,;i c 2,;Slice p x,a,b,c h"),
      "*Slice “p”: its slice is empty*" },
    { IMPORT_TEST_AROUND ("MaxPool m x a kernel_shape=2,2 strides=2,2;Add p x,a h"),
      "*Add “p”: it adds (2, 4, 8, 8) and (2, 4, 4, 4)*" },
    /* the batch axis would be exchanged with another */
    { IMPORT_TEST_AROUND ("Transpose t x a perm=1,0,2,3;w c.weight 4,2,1,1;Conv c a,c.weight h"),
      "*Conv “c”: the axes of its input 0, (4, 2, 8, 8), are not N C H W*" },
    { IMPORT_TEST_AROUND ("Transpose t x a perm=3,1,2,0;w m 2,5;MatMul p a,m h"),
      "*MatMul “p”: *(8, 4, 8, 2)*cannot be the channels*" },
    /* all refusals at once, without nodes that depend on a refused one */
    { IMPORT_TEST_AROUND (
          "Softmax p x a axis=0;Relu r a b;f lo 6;f hi 1;Clip q x,lo,hi c;Add s b,c h"),
      "*Softmax “p”: *\n  Clip “q”: *" },
    { IMPORT_TEST_AROUND ("w c.weight 4,4,1,1;Conv c x,c.weight a;Conv d a,c.weight h"),
      "*Conv “d”: it shares the parameter “c.weight”*" },
    /* the name of the file */
    { IMPORT_TEST_AROUND ("GridSample w x a;GridSample v a b;Det d b h"),
      "*net.onnx*2 GridSample (first: “w”), 1 Det*" },
    { "in x N,4,8,8;in z N,4;w a.weight 3,4;Gemm g z,a.weight y transB=1;out y N,3",
      "*2 inputs beside its weights*" },
    { "in x 4;Relu r x y;out y N,3", "*its input “x” has 1 axes*" },
    { "in x N,4,8,8;Relu r x y;out y N,3", "*output “y”*(2, 4, 8, 8)*one row of outputs*" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_test_message ("%s", rows[i].text);
      import_test_assert_refused (rows[i].text, import_test_around, rows[i].pattern);
    }
  /* the batch size equals the number of channels */
  ImportTestShape four = import_test_around;
  four.batch = 4;
  import_test_assert_refused (
      IMPORT_TEST_AROUND ("Transpose t x a perm=1,0,2,3;w c.weight 4,4,1,1;Conv c a,c.weight h"),
      four, "*Conv “c”: the axes of its input 0, (4, 4, 8, 8), are not N C H W*");
  import_test_assert_refused (
      IMPORT_TEST_AROUND ("Relu r x h"),
      (ImportTestShape){
          .n_outputs = 3, .height = 8, .width = 8, .channels = 3, .mode = DYNO_MODE_PREDICT },
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
      open_file ("my net (2).onnx", IMPORT_TEST_AROUND ("Relu r x h"), &has_weights, &error);

  g_assert_no_error (error);
  g_assert_true (has_weights);
  g_assert_true (g_str_has_prefix (model->name, "my_net__2_@"));
  g_assert_cmpstr (model->title, ==, "my_net__2_");
  g_assert_cmpuint (model->height, ==, 8);
  g_assert_cmpuint (model->channels, ==, 4);
  g_assert_cmpuint (model->n_file_outputs, ==, 3);
  /* a model is found by its name; equal contents give the same model, others another one */
  g_assert_true (dyno_model_find (model->name, NULL) == model);
  g_assert_true (open_file ("my net (2).onnx", IMPORT_TEST_AROUND ("Relu r x h"), NULL, NULL)
                 == model);
  g_assert_true (open_file ("my net (2).onnx", IMPORT_TEST_AROUND ("Tanh r x h"), NULL, NULL)
                 != model);
  /* a run's copy, without weights, is the same model */
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
  const DynoModel *model = open_file ("net.onnx", IMPORT_TEST_AROUND ("Relu r x h"), NULL, &error);

  g_assert_no_error (error);
  /* another network under the name of an unknown one */
  gsize size;
  const char *data = g_bytes_get_data (dyno_model_get_file (model), &size);
  g_assert_true (g_file_set_contents (path, data, (gssize) size, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_assert_null (dyno_model_find (names[i], &error));
      g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_MODEL);
      g_assert_nonnull (strstr (error->message, i ? "that its name states" : "name its ONNX file"));
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
  g_test_add_func ("/nn/import/means-leave-out-the-pad", test_means_leave_out_the_pad);
  g_test_add_func ("/nn/import/pads", test_pads);
  g_test_add_func ("/nn/import/resizes", test_resizes);
  g_test_add_func ("/nn/import/parameters-have-the-files-names", test_parameters);
  g_test_add_func ("/nn/import/names-of-modules", test_names_of_modules);
  g_test_add_func ("/nn/import/head-gets-the-datas-classes", test_head);
  g_test_add_func ("/nn/import/outputs-of-the-file-are-counted",
                   test_outputs_of_the_file_are_counted);
  g_test_add_func ("/nn/import/shapes-are-folded", test_shapes_are_folded);
  import_test_add_tokens ();
  import_test_add_composed ();
  import_test_add_gather ();
  import_test_add_functions ();
  import_test_add_products ();
  import_test_add_pixels ();
  import_test_add_recurrent ();
  g_test_add_func ("/nn/import/refusals", test_refusals);
  g_test_add_func ("/nn/import/nameless-node", test_nameless_node);
  g_test_add_func ("/nn/import/names", test_names);
  g_test_add_func ("/nn/import/unknown-names", test_unknown_names);
  int status = g_test_run ();
  remove_tree (folder);
  g_free (folder);
  return status;
}
