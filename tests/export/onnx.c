/* SPDX-License-Identifier: MIT */
/* ONNX files that Dyno writes are read as networks again: they have the same ops and parameters,
 * and written once more the same bytes. */
#include "exporter.h"
#include "file.h"
#include "model.h"
#include "network.h"
#include "onnx-test.h"
#include "onnx.h"
#include "onnx-private.h"
#include "op.h"
#include "ops.h"
#include <glib/gstdio.h>
#include <string.h>

static char *folder; /* for the test's files, and for those that Dyno stores */

/* --- a model by hand -------------------------------------------------------------------------- */

/* A graph with values; the values of a parameter depend on its name only. */
typedef struct {
  DynoSavedModel model;
  DynoWeightsInfo info;
  float **values;
} Made;

static void
made_clear (Made *made)
{
  g_strfreev ((char **) made->values);
  dyno_graph_free (made->model.graph);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Made, made_clear)

static void
make_values (Made *made, DynoGraph *graph, const DynoBatchField *field, guint32 n_outputs)
{
  GPtrArray *parameters = dyno_graph_get_parameters (graph);

  made->values = g_new0 (float *, parameters->len + 1);
  for (guint i = 0; i < parameters->len; i++)
    {
      const DynoParameter *parameter = g_ptr_array_index (parameters, i);
      gsize count = (gsize) dyno_parameter_count (parameter);
      made->values[i] = g_new (float, count);
      for (gsize k = 0; k < count; k++)
        made->values[i][k] = 0.1f + (float) ((g_str_hash (parameter->name) + 7 * k) % 1000) / 1000;
    }
  made->info = (DynoWeightsInfo){
    .model = (char *) "made", .n_outputs = n_outputs, .has_input = TRUE, .input = *field
  };
  made->model = (DynoSavedModel){ .info = &made->info, .graph = graph, .values = made->values };
}

/* Appends all attributes other than 0; a dilation of 0 means 1. */
static void
describe_attributes (GString *text, const DynoNode *node)
{
  for (guint i = 0; i < node->op->n_attributes; i++)
    {
      const char *name = node->op->attributes[i].name;
      double value = 0;
      g_assert_true (dyno_node_get_attribute (node, name, &value));
      if (value != (g_str_has_prefix (name, "dilation_") && value == 1))
        g_string_append_printf (text, " %s=%.7g", name, value);
    }
}

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp ((*(const DynoParameter *const *) a)->name,
                 (*(const DynoParameter *const *) b)->name);
}

/* "conv2d(2x8x8x4 kernel_h=3 ...) ... | name[3,4] ...": the ops with the shapes of their outputs
 * and their attributes, then the parameters sorted by name, since a model may create those of its
 * tokens before those of earlier layers. */
static char *
describe (DynoGraph *graph)
{
  GString *text = g_string_new (NULL);
  GPtrArray *nodes = dyno_graph_get_nodes (graph);
  g_autoptr (GPtrArray) parameters =
      g_ptr_array_copy (dyno_graph_get_parameters (graph), NULL, NULL);

  g_ptr_array_set_free_func (parameters, NULL); /* the graph owns them */
  g_ptr_array_sort (parameters, compare_names);
  for (guint i = 0; i < nodes->len; i++)
    {
      const DynoNode *node = g_ptr_array_index (nodes, i);
      const DynoTensor *y = node->outputs[0];
      g_string_append_printf (text, "%s(%ux%ux%ux%u", node->op->name, y->n, y->h, y->w, y->c);
      describe_attributes (text, node);
      g_string_append (text, ") ");
    }
  g_string_append (text, "|");
  for (guint i = 0; i < parameters->len; i++)
    {
      const DynoParameter *parameter = g_ptr_array_index (parameters, i);
      g_string_append_printf (text, " %s[", parameter->name);
      for (guint k = 0; k < parameter->n_dims; k++)
        g_string_append_printf (text, "%s%u", k ? "," : "", parameter->dims[k]);
      g_string_append_c (text, ']');
    }
  return g_string_free (text, FALSE);
}

static GByteArray *
write_file (const Made *made)
{
  const DynoOnnxParams params = { .keep_batch_norm = TRUE };
  g_autoptr (GError) error = NULL;
  GByteArray *file = dyno_onnx_write (&made->model, &params, &error);

  g_assert_no_error (error);
  return file;
}

static const DynoModel *
open_file (const GByteArray *file)
{
  g_autofree char *path = g_build_filename (folder, "net.onnx", NULL);
  g_autoptr (GError) error = NULL;
  const DynoModel *model;

  g_assert_true (g_file_set_contents (path, (const char *) file->data, file->len, NULL));
  model = dyno_model_open (path, NULL, &error);
  g_assert_no_error (error);
  return model;
}

static void
build (Made *made, const DynoModel *model, double width, const DynoBatchField *field,
       guint32 n_outputs)
{
  DynoNetworkParams params = { .model = model->name,
                               .model_width = width,
                               .batch = 1,
                               .n_outputs = n_outputs,
                               .mode = DYNO_MODE_PREDICT,
                               .no_fusion = TRUE };
  g_autoptr (GError) error = NULL;
  DynoGraph *graph;

  dyno_schema_add (&params.schema, field);
  graph = dyno_network_build (&params, &error);
  g_assert_no_error (error);
  make_values (made, graph, field, n_outputs);
  made->model.logits = dyno_network_get_logits (graph);
}

/* Writes the model, reads it, and writes it again. */
static void
assert_comes_back (const DynoModel *model, double width, const DynoBatchField *field,
                   guint32 n_outputs)
{
  g_auto (Made) made = { 0 }, back = { 0 };

  build (&made, model, width, field, n_outputs);
  g_autoptr (GByteArray) file = write_file (&made);
  build (&back, open_file (file), 1, field, n_outputs);
  g_autoptr (GByteArray) again = write_file (&back);
  g_autofree char *before = describe (made.model.graph), *after = describe (back.model.graph);
  g_assert_cmpstr (after, ==, before);
  g_assert_cmpmem (again->data, again->len, file->data, file->len);
}

/* --- models ----------------------------------------------------------------------------------- */

static DynoBatchField
image (guint32 height, guint32 width, guint32 channels)
{
  return dyno_schema_image (DYNO_ELEMENT_F32, height, width, channels, 0).fields[0];
}

static void
test_models (void)
{
  const DynoBatchField field = image (64, 64, 3);

  for (const DynoModel *const *model = dyno_model_list (); *model; model++)
    /* Imported networks have no lengths; see test_sequence_models. */
    if (!(*model)->reads_lengths)
      {
        g_test_message ("%s", (*model)->name);
        assert_comes_back (*model, 0.25, &field, (*model)->n_values ? (*model)->n_values : 5);
      }
}

/* Models of sequences without lengths. */
static void
test_sequence_models (void)
{
  static const char *const names[] = { "cnnlstm", "lstm_stack", "gru_stack" };
  const DynoBatchField field = { .name = "sequence",
                                 .role = DYNO_FIELD_INPUT,
                                 .element = DYNO_ELEMENT_F32,
                                 .n_axes = 2,
                                 .shape = { 32, 4 },
                                 .axes = "TF" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_test_message ("%s", names[i]);
      assert_comes_back (dyno_model_find (names[i], NULL), 0.1, &field, 5);
    }
}

/* A body between an input (N, 4, 8, 8) and a linear layer of 3 outputs; the body ends in h. */
#define AROUND(body)                                                                            \
  "in x N,4,8,8;" body ";GlobalAveragePool gap h pooled;Flatten - pooled flat;w head.weight 3," \
  "4;w head.bias 3;Gemm head flat,head.weight,head.bias y transB=1;out y N,3"
/* The same for a body whose h has its channels last, with a head of a matrix and a vector. */
#define TOKENS(body)                                                                             \
  "in x N,4,8,8;Transpose - x t perm=0,2,3,1;" body ";i mid 1,2;ReduceMean gap h,mid p keepdims" \
  "=0;w onnx::MatMul_9 4,3;MatMul /head p,onnx::MatMul_9 q;w bare 3;Add /bias bare,q y;out y N,3"

/* Attention of two heads of 8 channels: `shape` and `perm` give queries, keys and values, which are
 * then reshaped to `form`; `turn` transposes the keys, and `back` transposes the output. */
#define ATTENTION(shape, perm, form, turn, back)                                                  \
  TOKENS ("w m 4,48;MatMul p t,m u;i s " shape ";Reshape - u,s us;Transpose - us ut perm=" perm   \
          ";i k0 0;i k1 1;i k2 2;Gather - ut,k0 qa;Gather - ut,k1 ka;Gather - ut,k2 va;i f " form \
          ";Reshape - qa,f qb;Reshape - ka,f kb;Reshape - va,f vb;Transpose - kb kt perm=" turn   \
          ";MatMul - qb,kt sa;f half 0.5;Mul - sa,half sb;Softmax - sb sc axis=-1;MatMul attn "   \
          "sc,vb sd;Transpose - sd se perm=" back ";i l 0,8,8,16;Reshape - se,l sf;w n 16,4;"     \
          "MatMul o sf,n h")

static void
assert_all_come_back (const char *const *texts, guint n, const DynoBatchField *field)
{
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GByteArray) file = onnx_test_text (texts[i]);
      g_test_message ("%s", texts[i]);
      assert_comes_back (open_file (file), 1, field, 3);
    }
}

static void
test_operators (void)
{
  static const char *const texts[] = {
    AROUND ("w c.weight 4,4,3,3;Conv c x,c.weight h pads=1,1,1,1"),
    AROUND ("w onnx::Conv_1 4,2,3,1;w onnx::Conv_2 4;Conv /c/Conv x,onnx::Conv_1,onnx::Conv_2 h "
            "group=2 strides=2,1 dilations=2,1 pads=1,0,1,0"),
    AROUND ("w c.weight 4,4,3,3;Conv c x,c.weight h pads=0,1,1,2 strides=2,1"),
    AROUND ("w c.weight 4,4,3,3;Conv c x,c.weight h auto_pad=SAME_LOWER strides=2,2"),
    AROUND ("w c.weight 4,4,2,2;w c.bias 4;ConvTranspose c x,c.weight,c.bias h strides=2,2"),
    AROUND ("w onnx::C_1 4,4,3,4;ConvTranspose /c/C x,onnx::C_1 h strides=2,3 pads=1,0,1,0 "
            "output_padding=1,2"),
    AROUND ("w c.weight 4,2,3,3;ConvTranspose c x,c.weight h group=2 dilations=2,1 pads=0,1,1,2"),
    AROUND ("w c.weight 4,4,3,3;ConvTranspose c x,c.weight h strides=2,2 auto_pad=SAME_UPPER"),
    AROUND ("w c.weight 4,4,3,3;ConvTranspose c x,c.weight h strides=2,2 output_padding=0,1"),
    AROUND ("i z 0,0,1,-1,0,0,2,0;f v -1.5;Pad p x,z,v h"),
    AROUND ("i z 1,2;i a 1,;Pad p x,z,,a u;w c.weight 4,7,1,1;Conv c u,c.weight h"),
    AROUND ("f v -inf;i z 0,0,1,1,0,0,0,0;Pad p x,z,v b;MaxPool m b h kernel_shape=3,3"),
    AROUND ("w k 4,1,3,3;w c.bias 4;Conv c x,k,c.bias h pads=1,1,1,1 group=4"),
    AROUND ("w n.w 4;w n.b 4;w n.m 4;w n.v 4;BatchNormalization n x,n.w,n.b,n.m,n.v h "
            "epsilon=0.001"),
    AROUND ("w n.weight 4;w n.bias 4;GroupNormalization n x,n.weight,n.bias h num_groups=2 "
            "epsilon=0.001"),
    AROUND ("w c.weight 12,4,1,1;Conv c x,c.weight a;w n.weight 12;w n.bias 12;"
            "InstanceNormalization n a,n.weight,n.bias b;w d.weight 4,12,1,1;Conv d b,d.weight h"),
    AROUND ("w c.weight 12,4,1,1;Conv c x,c.weight a;f one 1;f nil 0;i six 6,;Expand - one,six k;"
            "Expand - nil,six l;i s 0,6,-1;Reshape - a,s b;InstanceNormalization n b,k,l d;"
            "i t 0,12,8,8;Reshape - d,t e;w g 12,1,1;Mul m e,g p;w q 12,1,1;Add r p,q u;"
            "w v.weight 4,12,1,1;Conv v u,v.weight h"),
    AROUND ("Relu r x h"),
    AROUND ("Sigmoid r x h"),
    AROUND ("Tanh r x h"),
    AROUND ("LeakyRelu r x h alpha=0.2"),
    AROUND ("LeakyRelu r x h"),
    AROUND ("Elu r x h alpha=0.3"),
    AROUND ("Gelu r x h"),
    AROUND ("HardSwish r x h"),
    AROUND ("HardSigmoid r x h alpha=0.16666667"),
    AROUND ("Softplus r x h"),
    AROUND ("Mish r x h"),
    AROUND ("Exp r x a;Sqrt s a h"),
    AROUND ("Log r x a;Reciprocal s a h"),
    AROUND ("Abs r x a;Sin s a b;Cos c b h"),
    AROUND ("Softmax s x h axis=1"),
    AROUND ("GlobalAveragePool p x a;Flatten f a b;Softmax s b c;i ax 2,3;Unsqueeze u c,ax d;"
            "Mul m x,d h"),
    AROUND ("LogSoftmax s x h axis=1"),
    AROUND ("f lo 0;f hi 6;Clip r x,lo,hi h"),
    AROUND ("f lo -1;f hi 2;Clip r x,lo,hi h"),
    AROUND ("Selu r x h"),
    AROUND ("Celu r x h alpha=0.5"),
    AROUND ("w act.weight 4,1,1;PRelu r x,act.weight h"),
    AROUND ("Relu - x a;Mean r a,x,x h"),
    AROUND ("Sigmoid s x a;Mul m x,a h"),
    AROUND ("Sigmoid s x a;Mul m x,a b;Add t a,b h"),
    AROUND ("MaxPool p x h kernel_shape=3,3 strides=2,2 pads=1,1,1,1"),
    AROUND ("MaxPool p x h kernel_shape=3,2 strides=1,2 pads=1,0,1,0"),
    AROUND ("MaxPool p x h kernel_shape=3,3 strides=2,2 pads=0,0,1,1"),
    AROUND ("MaxPool p x h kernel_shape=3,2 strides=2,1 pads=1,0,0,1"),
    AROUND ("MaxPool p x h kernel_shape=3,3 strides=2,2 ceil_mode=1"),
    AROUND ("f s 1,1,2,2;Resize r x,,s h mode=linear coordinate_transformation_mode=align_corners"),
    AROUND ("f s 1,1,0.7,1.3;Resize r x,,s h coordinate_transformation_mode=asymmetric "
            "nearest_mode=ceil"),
    AROUND ("i z 0,4,7,11;i n 0,2;w c.weight 4,4,1,1;Shape - x u;Slice - u b starts=0, ends=2,;"
            "i e 7,11;Concat - b,e v axis=0;Resize r x,,,v a mode=linear;Conv c a,c.weight h"),
    /* 7 times the float nearest to 31/7 is less than 31 pixels */
    AROUND ("AveragePool p x a kernel_shape=2,2;i z 31,31;Resize r a,,,z b axes=2,3 mode=linear;"
            "w c.weight 4,4,1,1;Conv c b,c.weight h"),
    AROUND ("f s 1,1,1.5,0.5;Resize r x,,s h nearest_mode=round_prefer_ceil"),
    AROUND ("MaxPool p x a kernel_shape=8,8;f s 1,1,6,5;Resize r a,,s b mode=linear "
            "coordinate_transformation_mode=pytorch_half_pixel;w c.weight 4,4,1,1;Conv c b,c.weight"
            " h"),
    AROUND ("GlobalMaxPool p x a;Mul s a,x h"),
    AROUND ("AveragePool p x h kernel_shape=2,3 strides=2,1"),
    AROUND ("AveragePool p x h kernel_shape=3,3 strides=2,2 pads=0,1,1,0 count_include_pad=1"),
    AROUND ("AveragePool p x h kernel_shape=3,3 strides=2,2 pads=0,0,1,1 ceil_mode=1"),
    AROUND ("AveragePool p x h kernel_shape=3,3 strides=2,2 pads=1,1,1,1 count_include_pad=1"),
    AROUND ("AveragePool p x h kernel_shape=3,3 strides=2,2 ceil_mode=1"),
    AROUND ("AveragePool p x h kernel_shape=8,3 strides=1,2 ceil_mode=1"),
    AROUND ("Relu r x a;Add s x,a h"),
    AROUND ("Relu r x a;Mul s x,a h"),
    AROUND ("f k 2;Mul s x,k h"),
    AROUND ("f k 2;Add s x,k h"),
    AROUND ("f k 2;Sub s k,x h"),
    AROUND ("GlobalAveragePool p x a;Mul s a,x h"),
    AROUND ("w g 4,1,1;Mul s x,g h"),
    AROUND ("w g 1,4,1,1;Mul s x,g h"),
    AROUND ("w b 4,1,1;Add s b,x h"),
    AROUND ("i z 3,1;Split s x,z a,b axis=1;Concat c b,a,x u axis=1;i f 2,;i e 6,;i d 1,;"
            "Slice l u,f,e,d h"),
    AROUND ("Dropout d x h"),
    AROUND ("i s 0,2,2,8,8;i t 0,4,8,8;Reshape r x,s a;Transpose q a b perm=0,2,1,3,4;"
            "Reshape u b,t h"),
    /* a gate by linear layers, whose rows are no images */
    AROUND ("GlobalAveragePool p x a;Flatten f a b;w m 4,2;MatMul - b,m c;w n 2;Add - c,n d;"
            "Relu r d e;w o.weight 4,2;Gemm o e,o.weight g transB=1;Sigmoid s g i;i ax 2,3;"
            "Unsqueeze u i,ax j;Mul k x,j h"),
    /* an axis that is flattened in the middle, with a factor (C, 1) */
    AROUND ("i s 0,4,64;Reshape r x,s a;w g 4,1;Mul m a,g b;i t 0,4,8,8;Reshape q b,t h"),
    "in x N,4,8,8;Flatten f x a;w f.weight 3,256;w f.bias 3;Gemm f a,f.weight,f.bias y transB=1;"
    "out y N,3",
    "in x N,4,8,8;GlobalAveragePool p x a;Flatten f a b;w q 4,3;w r 3;Gemm g b,q,r y;out y N,3",
    "in x N,4,8,8;w c.weight 3,4,8,8;w onnx::b 3;Conv c x,c.weight,onnx::b a;Flatten f a y;"
    "out y N,3",
  };
  const DynoBatchField field = image (8, 8, 4);

  assert_all_come_back (texts, G_N_ELEMENTS (texts), &field);
}

/* A class for each pixel: by a convolution, by the sum of two, by a transposed one, and with
 * resizing. */
static void
test_pixels (void)
{
  static const char *const texts[] = {
    "in x N,4,8,8;w c.weight 3,4,1,1;w c.bias 3;Conv c x,c.weight,c.bias y;out y N,3,8,8",
    "in x N,4,8,8;MaxPool p x a kernel_shape=2,2 strides=2,2;w c.weight 4,3,2,2;w c.bias 3;"
    "ConvTranspose c a,c.weight,c.bias y strides=2,2;out y N,3,8,8",
    "in x N,4,8,8;MaxPool p x a kernel_shape=2,2 strides=2,2;w c.weight 3,4,3,3;"
    "Conv c a,c.weight b pads=1,1,1,1;f s 1,1,2,2;Resize r b,,s y mode=linear;out y N,3,8,8",
    "in x N,4,8,8;w c.weight 3,4,1,1;Conv c x,c.weight a;w d.weight 3,4,3,3;"
    "Conv d x,d.weight b pads=1,1,1,1;Add e a,b y;out y N,3,8,8",
  };
  const DynoBatchField field = image (8, 8, 4);

  assert_all_come_back (texts, G_N_ELEMENTS (texts), &field);
}

/* The file's output has the axes (N, C, H, W), by names and numbers. */
static void
test_output_of_pixels (void)
{
  const DynoBatchField field = image (24, 40, 3);
  g_auto (Made) made = { 0 };
  g_autoptr (GError) error = NULL;

  build (&made, dyno_model_find ("unet_small", NULL), 0.25, &field, 5);
  g_autoptr (GByteArray) file = write_file (&made);
  g_autoptr (GBytes) bytes = g_bytes_new (file->data, file->len);
  g_autoptr (DynoOnnxModel) onnx =
      dyno_onnx_model_parse (bytes, NULL, DYNO_ONNX_READ_NETWORK, &error);
  g_assert_no_error (error);
  const DynoOnnxValue *output = &onnx->outputs[0];
  g_assert_cmpstr (output->name, ==, "output");
  g_assert_cmpuint (output->n_dims, ==, 4);
  g_assert_cmpstr (output->dims[0].name, ==, "batch");
  g_assert_cmpint (output->dims[1].value, ==, 5);
  g_assert_cmpint (output->dims[2].value, ==, 24);
  g_assert_cmpint (output->dims[3].value, ==, 40);
}

/* Rows of channels: layers of transformers and of ConvNeXt. */
static void
test_last_axes (void)
{
  static const char *const texts[] = {
    TOKENS ("w m 4,8;MatMul a t,m u;w b 8;Add - u,b v;Gelu g v e;w n 8,4;MatMul c e,n h"),
    TOKENS ("w g.weight 4;w g.bias 4;LayerNormalization g t,g.weight,g.bias h epsilon=0.000001"),
    TOKENS ("i z 0,1,0,0,0,0,2,0;Pad p t,z h"),
    TOKENS ("w s 4;Mul m t,s a;w b 1,1,4;Add p a,b h"),
    TOKENS ("w n.w 4;w n.b 4;LayerNormalization n t,n.w,n.b a;w m 4,4;MatMul q a,m b;w s 4;"
            "Mul r b,s c;Add z c,t h"),
    TOKENS ("w pos 8,8,4;Add p t,pos h"),
    "in x N,4,8,8;i s 0,4,64;Reshape r x,s a;Transpose t a b perm=0,2,1;w cls 1,1,4;Shape - x n;"
    "i z 0,;i o 1,;Slice - n,z,o m;i c 1,4;Concat - m,c g axis=0;Expand - cls,g e;"
    "Concat k e,b d axis=1;i f 0;Gather q d,f h axis=1;w w 4,3;MatMul v h,w y;out y N,3",
    TOKENS ("i s 0,64,4;Reshape r t,s a;w pos 64,4;Add p pos,a b;i l 0,8,8,4;Reshape q b,l h"),
    /* attention over all tokens with a scale of its own, over each row, and over each window */
    ATTENTION ("0,8,8,3,2,8", "3,0,4,1,2,5", "0,2,64,8", "0,1,3,2", "0,2,1,3"),
    ATTENTION ("0,8,8,3,2,8", "3,0,1,4,2,5", "0,8,2,8,8", "0,1,2,4,3", "0,1,3,2,4"),
    ATTENTION ("0,2,4,4,2,3,2,8", "5,0,1,3,6,2,4,7", "0,8,2,8,8", "0,1,2,4,3", "0,1,3,2,4"),
    /* tokens in one row, as in a ViT */
    "in x N,4,8,8;i s 0,4,64;Reshape r x,s a;Transpose t a b perm=0,2,1;w n.w 4;w n.b 4;"
    "LayerNormalization n b,n.w,n.b c;w m 4,3;MatMul q c,m d;i one 1;ReduceMean p d,one y "
    "keepdims=0;out y N,3",
  };
  const DynoBatchField field = image (8, 8, 4);

  assert_all_come_back (texts, G_N_ELEMENTS (texts), &field);
}

/* Tensors that are copied into another layout. */
static void
test_copies (void)
{
  static const char *const texts[] = {
    /* a layer along the tokens, and one along the channels */
    AROUND ("i s 0,4,64;Reshape - x,s a;Transpose - a t perm=0,2,1;w m 64,6;MatMul p a,m b;w n 6;"
            "Add - b,n c;Gelu g c d;w o 6,64;MatMul - d,o e;Transpose - e f perm=0,2,1;Add q t,f i;"
            "w k 4,4;MatMul - i,k j;Transpose - j l perm=0,2,1;i u 0,4,8,8;Reshape - l,u h"),
    /* windows */
    AROUND ("i s 0,4,2,4,2,4;Reshape - x,s a;Transpose - a b perm=0,2,4,3,5,1;i u -1,16,4;"
            "Reshape - b,u c;w n 16,1;Mul q c,n e;i k -1,2,2,4,4,4;Reshape - e,k f;"
            "Transpose - f g perm=0,5,1,3,2,4;i j 0,4,8,8;Reshape - g,j h"),
    /* flattened with the channels last */
    "in x N,4,8,8;Transpose t x a perm=0,2,3,1;Flatten f a b;w m 256,3;MatMul p b,m y;out y N,3",
    "in x N,4,8,8;w k 5,4,3,3;Conv e x,k d;Transpose t d a perm=0,2,3,1;Flatten f a b;w m 3,180;"
    "Gemm p b,m y transB=1;out y N,3",
    /* pixel shuffle, for two readers */
    AROUND ("i s 0,1,2,2,8,8;Reshape - x,s a;Transpose - a b perm=0,1,4,2,5,3;i u 0,1,16,16;"
            "Reshape - b,u c;w k 4,1,2,2;Conv e c,k d strides=2,2;w l 4,1,2,2;"
            "Conv f c,l g strides=2,2;Add q d,g h"),
    AROUND ("Concat p x,x h axis=2"),
    AROUND ("Split p x a,b axis=3;Add q a,b h"),
    /* a factor, a bias and a norm along the width */
    AROUND ("w a 8;Mul p x,a b;w c 8;Add q b,c d;w e.weight 8;w e.bias 8;"
            "LayerNormalization n d,e.weight,e.bias h"),
    /* a parameter for each element, channels first, and for each pixel of windows */
    AROUND ("w pos 1,4,8,8;Add sum x,pos h"),
    AROUND ("i s 0,4,2,4,2,4;Reshape - x,s a;Transpose - a b perm=0,2,4,3,5,1;i u 0,4,16,4;"
            "Reshape - b,u c;w pos 1,4,16,4;Add sum c,pos e;i k 0,2,2,4,4,4;Reshape - e,k f;"
            "Transpose - f g perm=0,5,1,3,2,4;i j 0,4,8,8;Reshape - g,j l;MaxPool z l h "
            "kernel_shape=2,2 strides=2,2"),
    /* a reshape whose old and new axes have no boundary in common */
    AROUND ("w k 6,4,3,3;Conv c x,k a strides=2,2 pads=1,1,1,1;i u 0,8,12;Reshape - a,u b;"
            "w m 12,12;MatMul p b,m d;i s 0,6,4,4;Reshape - d,s e;w j 4,6,1,1;Conv - e,j h"),
  };
  const DynoBatchField field = image (8, 8, 4);

  assert_all_come_back (texts, G_N_ELEMENTS (texts), &field);
}

static void
test_sequences (void)
{
  static const char *const texts[] = {
    "in x N,9,4;Transpose t x a perm=0,2,1;w c.weight 6,4,3;w onnx::b 6;"
    "Conv c a,c.weight,onnx::b b pads=1,1;MaxPool p b d kernel_shape=2, strides=2,;w n.w 6;w n.b 6;"
    "w n.m 6;w n.v 6;BatchNormalization n d,n.w,n.b,n.m,n.v e;w g 6,1;Mul s e,g h;"
    "GlobalAveragePool q h f;Flatten - f i;w o 6,3;MatMul z i,o y;out y N,3",
    "in x N,9,4;Transpose t x a perm=0,2,1;i z 0,1,2,0,0,-1;f v 3;Pad o a,z,v b;w c.weight 6,5,3;"
    "Conv c b,c.weight d pads=2,0;GlobalAveragePool q d f;Flatten - f i;w m 6,3;MatMul z i,m y;"
    "out y N,3",
    "in x N,9,4;Transpose t x a perm=0,2,1;MaxPool p a b kernel_shape=3, strides=2, pads=0,1;"
    "AveragePool q b c kernel_shape=2, pads=1,0 count_include_pad=1;GlobalMaxPool m c f;"
    "Flatten - f i;w o 4,3;MatMul z i,o y;out y N,3",
    "in x N,9,4;w m 4,6;MatMul a x,m b;w n 6;Add c b,n d;Relu r d e;w l.weight 6;w l.bias 6;"
    "LayerNormalization l e,l.weight,l.bias f;w o.weight 3,54;Transpose t f g perm=0,2,1;"
    "Flatten k g h;w o.bias 3;Gemm o h,o.weight,o.bias y transB=1;out y N,3",
    /* layers in both directions, without biases, and with the last states */
    "in x N,9,4;Transpose - x t perm=1,0,2;w a 2,20,4;w b 2,20,5;w c 2,40;LSTM /rnn/LSTM t,a,b,c "
    "d,e "
    "hidden_size=5 direction=bidirectional;Transpose - d f perm=0,2,1,3;i all 0,0,-1;"
    "Reshape - f,all g;w h 1,18,10;w i 1,18,6;GRU /gru/GRU g,h,i j,k hidden_size=6 "
    "linear_before_reset=1;i l -1;Gather - k,l m axis=0;i n 0;Gather - e,n p axis=0;Concat q m,p r "
    "axis=1;w o.weight 3,11;Gemm o r,o.weight y transB=1;out y N,3",
  };
  static const char *const rows[] = {
    "in x N,4;i z 0,1,0,1;Pad p x,z a;w m 6,3;Gemm o a,m y;out y N,3",
    "in x N,4;w m 4,6;Gemm a x,m b;Tanh r b e;w n.w 6;w n.b 6;w n.m 6;w n.v 6;"
    "BatchNormalization n e,n.w,n.b,n.m,n.v f;w s 6;Add q f,s g;w l.weight 6;w l.bias 6;"
    "LayerNormalization l g,l.weight,l.bias h;w o.weight 3,6;Gemm o h,o.weight y transB=1;"
    "out y N,3",
  };
  const DynoBatchField sequence = { .name = "sequence",
                                    .role = DYNO_FIELD_INPUT,
                                    .element = DYNO_ELEMENT_F32,
                                    .n_axes = 2,
                                    .shape = { 9, 4 },
                                    .axes = "TF" },
                       vector = { .name = "values",
                                  .role = DYNO_FIELD_INPUT,
                                  .element = DYNO_ELEMENT_F32,
                                  .n_axes = 1,
                                  .shape = { 4 },
                                  .axes = "C" };

  assert_all_come_back (texts, G_N_ELEMENTS (texts), &sequence);
  assert_all_come_back (rows, G_N_ELEMENTS (rows), &vector);
}

/* Names of nodes and parameters that clash with the file's own values, or with each other. */
static void
test_names (void)
{
  static const char *const texts[] = {
    AROUND ("w b.weight 4,4,1,1;Conv b x,b.weight c;Relu b c a;Tanh output a d;Tanh input d e;"
            "Sigmoid input/out e h"),
    AROUND ("w r/out 4,4,1,1;Conv r x,r/out a;w length 4,1,1;Mul head a,length h"),
    AROUND ("Relu r x output;i f 1,;i e 4,;i d 1,;Slice l output,f,e,d r_2;Concat c r_2,output u "
            "axis=1;w c.weight 4,7,1,1;Conv r_2 u,c.weight h"),
  };
  const DynoBatchField field = image (8, 8, 4);

  assert_all_come_back (texts, G_N_ELEMENTS (texts), &field);
  g_autoptr (GByteArray) file = onnx_test_text (AROUND ("w input 4,1,1;Mul s x,input h"));
  g_auto (Made) made = { 0 };
  const DynoOnnxParams params = { 0 };
  g_autoptr (GError) error = NULL;
  build (&made, open_file (file), 1, &field, 3);
  g_assert_null (dyno_onnx_write (&made.model, &params, &error));
  g_assert_error (error, DYNO_EXPORT_ERROR, DYNO_EXPORT_ERROR_FORMAT);
  g_assert_nonnull (strstr (error->message, "“input”"));
}

/* Parameters are found by the op that reads them, also a bias without the name of a layer. */
static void
test_parameters (void)
{
  g_autoptr (GByteArray) source =
      onnx_test_text (AROUND ("w onnx::Conv_1 4,4,1,1;w onnx::Conv_2 4;"
                              "Conv c x,onnx::Conv_1,onnx::Conv_2 a;w scale 4;w shift 4;w mean 4;"
                              "w variance 4;BatchNormalization n a,scale,shift,mean,variance b;"
                              "w onnx::Mul_3 4,1,1;Mul m b,onnx::Mul_3 h"));
  const DynoBatchField field = image (8, 8, 4);
  g_auto (Made) made = { 0 };
  g_autoptr (GError) error = NULL;

  build (&made, open_file (source), 1, &field, 3);
  g_autoptr (DynoOnnxModel) model = onnx_test_parse (write_file (&made), NULL, &error);
  g_assert_no_error (error);
  GPtrArray *parameters = dyno_graph_get_parameters (made.model.graph);
  g_assert_cmpuint (parameters->len, ==, 9);
  for (guint i = 0; i < parameters->len; i++)
    {
      const DynoParameter *parameter = g_ptr_array_index (parameters, i);
      const DynoOnnxTensor *tensor = dyno_onnx_model_find_initializer (model, parameter->name);
      gsize count = (gsize) dyno_parameter_count (parameter);
      g_test_message ("%s", parameter->name);
      g_assert_nonnull (tensor);
      g_assert_cmpuint (tensor->n_dims, ==, parameter->n_dims);
      for (guint k = 0; k < tensor->n_dims; k++)
        g_assert_cmpuint (tensor->dims[k], ==, parameter->dims[k]);
      g_autoptr (GBytes) values = dyno_onnx_tensor_read (model, tensor, &error);
      g_assert_no_error (error);
      gsize size;
      const void *data = g_bytes_get_data (values, &size);
      g_assert_cmpmem (data, size, made.values[i], count * sizeof (float));
    }
}

/* --- ops that imported networks do not have --------------------------------------------------- */

typedef DynoTensor *(*Append) (DynoGraph *graph, DynoTensor *x);

static DynoTensor *
append_gelu_tanh (DynoGraph *graph, DynoTensor *x)
{
  return dyno_activation (graph, x, DYNO_ACTIVATION_GELU_TANH, "a");
}

static DynoTensor *
append_divided (DynoGraph *graph, DynoTensor *x)
{
  return dyno_adaptive_avg_pool (graph, x, "a", 2, 4);
}

static DynoTensor *
append_uneven (DynoGraph *graph, DynoTensor *x)
{
  return dyno_adaptive_avg_pool (graph, x, "a", 3, 4);
}

static DynoTensor *
append_linear (DynoGraph *graph, DynoTensor *x)
{
  return dyno_linear (graph, x, "a", 3, DYNO_INIT_ZERO);
}

static DynoTensor *
append_flat_pool (DynoGraph *graph, DynoTensor *x)
{
  return dyno_max_pool1d (graph, x, "a", 2, 2, 0);
}

static DynoTensor *
append_affine (DynoGraph *graph, DynoTensor *x)
{
  return dyno_affine (graph, x, 2, 3, "a");
}

static DynoTensor *
append_group_norm (DynoGraph *graph, DynoTensor *x)
{
  return dyno_group_norm (graph, x, "a", 5, 0.5);
}

/* The file of a single op over (N, H, W, C), which ends in Identity. */
static DynoOnnxModel *
write_op (Append append)
{
  const DynoGraphParams params = { .batch = 1, .precision = dyno_precision_of_amp (FALSE) };
  const DynoBatchField field = image (4, 8, 5);
  g_auto (Made) made = { 0 };
  g_autoptr (GError) error = NULL;
  DynoGraph *graph = dyno_graph_new (&params);
  DynoTensor *y = append (graph, dyno_prepare (graph, NULL, NULL, &field, NULL));

  g_assert_nonnull (y);
  make_values (&made, graph, &field, y->c);
  made.model.logits = y;
  DynoOnnxModel *model = onnx_test_parse (write_file (&made), NULL, &error);
  g_assert_no_error (error);
  return model;
}

static void
test_other_ops (void)
{
  static const struct {
    Append append;
    const char *ops;
  } rows[] = {
    { append_gelu_tanh, "Mul Mul Mul Add Mul Tanh Add Mul Mul Identity" },
    { append_affine, "Mul Add Identity" },
    { append_divided, "AveragePool Identity" },
    { append_uneven, "MatMul MatMul Identity" },
    { append_linear, "Transpose Transpose MatMul Add Transpose Identity" },
    { append_group_norm, "Expand Expand Reshape InstanceNormalization Reshape Identity" },
    { append_flat_pool, "MaxPool Identity" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (DynoOnnxModel) model = write_op (rows[i].append);
      g_autoptr (GString) ops = g_string_new (NULL);
      for (guint k = 0; k < model->n_nodes; k++)
        g_string_append_printf (ops, "%s%s", k ? " " : "", model->nodes[k].op_type);
      g_assert_cmpstr (ops->str, ==, rows[i].ops);
    }
}

static void
assert_floats (const DynoOnnxModel *model, const char *name, const float *wanted, guint n)
{
  const DynoOnnxTensor *tensor = dyno_onnx_model_find_initializer (model, name);
  gsize size;

  g_assert_nonnull (tensor);
  g_autoptr (GBytes) values = dyno_onnx_tensor_read (model, tensor, NULL);
  const void *data = g_bytes_get_data (values, &size);
  g_assert_cmpmem (data, size, wanted, n * sizeof *wanted);
}

/* Windows that do not divide the image, as in PyTorch's AdaptiveAvgPool2d: 4 rows as 0..1, 1..2,
 * 2..3, and 8 columns in pairs. */
static void
test_adaptive_windows (void)
{
  static const float rows[] = { 0.5f, 0.5f, 0, 0, 0, 0.5f, 0.5f, 0, 0, 0, 0.5f, 0.5f };
  float columns[8 * 4] = { 0 };
  g_autoptr (DynoOnnxModel) model = write_op (append_uneven);

  for (guint i = 0; i < 8; i++)
    columns[i * 4 + i / 2] = 0.5f;
  assert_floats (model, "a/rows", rows, G_N_ELEMENTS (rows));
  assert_floats (model, "a/columns", columns, G_N_ELEMENTS (columns));
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

/* Initialisers up to 2 GB in all are written, and the first reason of a refusal is kept; values of
 * half precision have half the bytes. */
static void
test_initialisers (void)
{
  DynoOnnxParams params = { 0 };
  g_autoptr (GByteArray) initializers = g_byte_array_new ();
  DynoOnnxWriter o = { .params = &params,
                       .initializers = initializers,
                       .bytes = (guint64) G_MAXINT32 - 1024 - 4 };
  guint one, both;

  dyno_onnx_number_of (&o, "a", 1.5);
  g_assert_no_error (o.error);
  one = initializers->len;
  g_assert_cmpuint (one, >, 4);
  dyno_onnx_number_of (&o, "b", 1.5);
  g_assert_error (o.error, DYNO_EXPORT_ERROR, DYNO_EXPORT_ERROR_FORMAT);
  g_assert_cmpuint (initializers->len, ==, one);
  g_assert_false (dyno_onnx_refuse (&o, "another %s", "reason"));
  g_assert_cmpstr (o.error->message, ==,
                   "The model is too large for an ONNX file: more than 2 GB; --half halves it");
  g_clear_error (&o.error);
  o.bytes = 0;
  params.half = TRUE;
  dyno_onnx_number_of (&o, "c", 1.5);
  both = initializers->len;
  g_assert_cmpuint (both - one, ==, one - 2);
  g_assert_cmpmem (initializers->data + both - 2, 2, "\x00\x3e", 2);
  g_assert_cmpmem (initializers->data + one - 4, 4, "\x00\x00\xc0\x3f", 4);
  g_assert_cmpuint (o.bytes, ==, 1024 + 2);
  g_assert_no_error (o.error);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("dyno-onnx-XXXXXX", NULL);
  g_assert_true (dyno_state_dir_set (folder, NULL));
  g_test_add_func ("/export/onnx/models-come-back", test_models);
  g_test_add_func ("/export/onnx/models-of-sequences-come-back", test_sequence_models);
  g_test_add_func ("/export/onnx/operators-come-back", test_operators);
  g_test_add_func ("/export/onnx/pixels-come-back", test_pixels);
  g_test_add_func ("/export/onnx/output-of-pixels-is-an-image", test_output_of_pixels);
  g_test_add_func ("/export/onnx/last-axes-come-back", test_last_axes);
  g_test_add_func ("/export/onnx/copies-come-back", test_copies);
  g_test_add_func ("/export/onnx/sequences-come-back", test_sequences);
  g_test_add_func ("/export/onnx/names-of-values-are-unique", test_names);
  g_test_add_func ("/export/onnx/parameters-keep-names-shapes-values", test_parameters);
  g_test_add_func ("/export/onnx/ops-that-no-file-brings", test_other_ops);
  g_test_add_func ("/export/onnx/adaptive-windows", test_adaptive_windows);
  g_test_add_func ("/export/onnx/initialisers-up-to-the-limit", test_initialisers);
  int status = g_test_run ();
  remove_tree (folder);
  g_free (folder);
  return status;
}
