/* SPDX-License-Identifier: MIT */
/* Graphs: the first error is kept, shapes are checked, gradients reach every contributor in
 * order. */
#include "graph-private.h"
#include "harness.h"
#include "infos.h"
#include "metric.h"
#include "network.h"
#include "summary.h"
#include <string.h>

static DynoGraph *
new_graph (gboolean training)
{
  return dyno_graph_new (&(DynoGraphParams){ .batch = 2, .training = training });
}

static void
assert_fails (DynoGraph *graph, DynoNnError code, const char *words)
{
  g_autoptr (GError) error = NULL;
  g_assert_false (dyno_graph_check (graph, &error));
  g_assert_error (error, DYNO_NN_ERROR, (gint) code);
  g_assert_nonnull (strstr (error->message, words));
}

static void
test_first_error_sticks (void)
{
  g_autoptr (DynoGraph) graph = new_graph (TRUE);
  DynoTensor *a = dyno_graph_activation (graph, "a", 2, 4, 4, 3),
             *b = dyno_graph_activation (graph, "b", 2, 4, 5, 3);
  DynoTensor *sum = dyno_add (graph, a, b, "sum");
  g_assert_null (sum);
  g_assert_null (dyno_relu (graph, sum, "relu"));
  g_assert_null (dyno_graph_fail (graph, DYNO_NN_ERROR_MODEL, "a later one"));
  assert_fails (graph, DYNO_NN_ERROR_SHAPE, "sum");
}

static void
test_rejects_overflow (void)
{
  g_autoptr (DynoGraph) graph = new_graph (FALSE);
  g_assert_null (dyno_graph_activation (graph, "huge", G_MAXUINT32, G_MAXUINT32, 4, 8));
  assert_fails (graph, DYNO_NN_ERROR_TOO_LARGE, "too large");
  g_autoptr (DynoGraph) empty = dyno_graph_new (&(DynoGraphParams){ .batch = 0 });
  assert_fails (empty, DYNO_NN_ERROR_SHAPE, "batch");
}

static void
test_rejects_parameters (void)
{
  const DynoParameterLayout c = dyno_layout_vector (5), zero = dyno_layout_vector (0),
                            large = dyno_layout_linear (1u << 20, 1, 1, 1u << 20);
  g_autoptr (DynoGraph) twice = new_graph (TRUE);
  g_assert_nonnull (dyno_graph_parameter (twice, "w", &c, DYNO_INIT_ONE, FALSE));
  g_assert_null (dyno_graph_parameter (twice, "w", &c, DYNO_INIT_ONE, FALSE));
  assert_fails (twice, DYNO_NN_ERROR_MODEL, "two parameters");
  g_autoptr (DynoGraph) empty = new_graph (TRUE);
  g_assert_null (dyno_graph_parameter (empty, "w", &zero, DYNO_INIT_ONE, FALSE));
  assert_fails (empty, DYNO_NN_ERROR_SHAPE, "empty");
  g_autoptr (DynoGraph) huge = new_graph (TRUE);
  g_assert_null (dyno_graph_parameter (huge, "w", &large, DYNO_INIT_ONE, FALSE));
  assert_fails (huge, DYNO_NN_ERROR_SHAPE, "too large");
}

static void
test_parameters_are_aligned (void)
{
  const DynoParameterLayout c = dyno_layout_vector (5), conv = dyno_layout_conv (10, 3, 3, 3);
  g_autoptr (DynoGraph) graph = dyno_graph_new (&(DynoGraphParams){
      .batch = 1, .precision = dyno_precision_of_amp (TRUE), .training = TRUE });
  dyno_graph_parameter (graph, "a", &c, DYNO_INIT_ONE, FALSE);
  DynoParameter *b = dyno_graph_parameter (graph, "b", &conv, DYNO_INIT_ONE, FALSE);
  DynoParameter *state = dyno_graph_parameter (graph, "s", &c, DYNO_INIT_ONE, TRUE);
  g_assert_cmpuint (b->element_offset, ==, 64);
  g_assert_cmpuint (b->n_elements, ==, 16 * 8 * 9);
  g_assert_cmpuint (b->master->offset, ==, 256);
  g_assert_cmpuint (b->compute->offset, ==, 128);
  g_assert_cmpint (b->compute->space, ==, DYNO_SPACE_HALF);
  g_assert_cmpuint (b->fan_in, ==, 27);
  g_assert_cmpuint (b->fan_out, ==, 90);
  g_assert_cmpuint (state->element_offset, ==, 0);
  g_assert_null (state->gradient);
  g_assert_cmpuint (dyno_graph_flat (graph, DYNO_SPACE_GRADIENT)->size_bytes, ==,
                    (64 + 16 * 8 * 9) * 4);
}

/* Many operands with gaps among them, and one added after them: none is lost. */
static void
test_operands_grow (void)
{
  static const DynoOpClass op = { .name = "wide" };
  DynoTensor *tensors[20];
  g_autoptr (DynoGraph) graph = new_graph (FALSE);
  for (guint i = 0; i < G_N_ELEMENTS (tensors); i++)
    {
      g_autofree char *name = g_strdup_printf ("t%u", i);
      tensors[i] = i % 5 == 3 ? NULL : dyno_graph_activation (graph, name, 1, 1, 1, 8);
    }
  DynoNode *node = dyno_graph_node (graph, &op, "wide", tensors, 20, tensors, 20, NULL, 0);
  dyno_node_set_input (node, 23, tensors[0]);
  dyno_node_set_output (node, 1, tensors[2]);
  g_assert_cmpuint (node->n_inputs, ==, 24);
  g_assert_cmpuint (node->n_outputs, ==, 20);
  for (guint i = 0; i < G_N_ELEMENTS (tensors); i++)
    {
      g_assert_true (node->inputs[i] == tensors[i]);
      g_assert_true (node->outputs[i] == tensors[i == 1 ? 2 : i]);
    }
  g_assert_null (node->inputs[20]);
  g_assert_null (node->inputs[22]);
  g_assert_true (node->inputs[23] == tensors[0]);
}

static double
attribute_of (const DynoNode *node, const char *name)
{
  double value;
  g_assert_true (dyno_node_get_attribute (node, name, &value));
  return value;
}

/* The attributes of an op can be read by name, and are part of its printed form. */
static void
test_attributes_have_a_schema (void)
{
  g_autoptr (DynoGraph) graph = new_graph (TRUE);
  DynoTensor *x = dyno_graph_activation (graph, "x", 2, 9, 9, 3);
  DynoConv2dParams params = {
    .out_channels = 8, .kernel_h = 3, .kernel_w = 5, .stride_w = 2, .pad_w = 2, .bias = TRUE
  };
  x = dyno_dropout (graph, dyno_conv2d (graph, x, "conv", &params), "dropout", 0.25);
  x = dyno_max_pool (graph, x, "pool", 3, 2, 1);
  x = dyno_batch_norm_with_params (graph, x, "norm",
                                   &(DynoBatchNormParams){ .eps = 1e-3, .momentum = 0.01 });
  g_assert_nonnull (x);
  GPtrArray *nodes = dyno_graph_get_nodes (graph);
  const DynoNode *conv = nodes->pdata[0], *dropout = nodes->pdata[1], *pool = nodes->pdata[2],
                 *norm = x->producer;
  g_assert_cmpfloat (attribute_of (conv, "kernel_h"), ==, 3);
  g_assert_cmpfloat (attribute_of (conv, "kernel_w"), ==, 5);
  g_assert_cmpfloat (attribute_of (conv, "stride_w"), ==, 2);
  g_assert_cmpfloat (attribute_of (conv, "pad_h"), ==, 0);
  g_assert_cmpfloat (attribute_of (conv, "has_bias"), ==, 1);
  g_assert_cmpfloat (attribute_of (dropout, "probability"), ==, 0.25);
  g_assert_cmpfloat (attribute_of (pool, "window.kernel_w"), ==, 3);
  double value;
  g_assert_false (dyno_node_get_attribute (pool, "kernel_h", &value));
  g_autofree char *text = dyno_graph_print (graph);
  g_assert_nonnull (strstr (text, "kernel_h=3 kernel_w=5 stride_h=1 stride_w=2 pad_w=2 has_bias"));
  g_assert_nonnull (
      strstr (text, "window.kernel_h=3 window.kernel_w=3 window.stride_h=2 window.stride_w=2"));
  g_assert_nonnull (strstr (text, "probability=0.25"));
  g_assert_cmpfloat (attribute_of (norm, "eps"), ==, 0.001);
  g_assert_cmpfloat (attribute_of (norm->inputs[3]->producer, "momentum"), ==, 0.01);
  g_assert_nonnull (strstr (text, "eps=0.001 momentum=0.01:"));
}

/* The optimizer's node of a graph with one parameter. */
static const DynoNode *
optimizer_of (DynoGraph *graph)
{
  const DynoParameterLayout layout = dyno_layout_vector (8);
  g_assert_nonnull (dyno_graph_parameter (graph, "w", &layout, DYNO_INIT_ONE, FALSE));
  dyno_optimizer_update (graph);
  GPtrArray *nodes = dyno_graph_get_nodes (graph);
  return nodes->pdata[nodes->len - 1];
}

/* Each member of a precision is used independently: no code depends on the precision's name, or on
 * AMP. */
static void
test_precision_members (void)
{
  static const DynoPrecision fp32 = { .name = "fp32" };
  const DynoPrecision amp = dyno_precision_of_amp (TRUE), none = dyno_precision_of_amp (FALSE);
  g_assert_cmpmem (&none.storage, sizeof none - G_STRUCT_OFFSET (DynoPrecision, storage),
                   &fp32.storage, sizeof fp32 - G_STRUCT_OFFSET (DynoPrecision, storage));
  g_assert_true (amp.storage == DYNO_DTYPE_F16 && amp.compute == DYNO_DTYPE_F16);
  g_assert_true (amp.accumulate == DYNO_DTYPE_F32 && amp.loss_scaling);
  for (guint i = 0; i < 4; i++)
    {
      DynoPrecision precision = { .storage = i & 1 ? DYNO_DTYPE_F16 : DYNO_DTYPE_F32,
                                  .compute = i & 1 ? DYNO_DTYPE_F16 : DYNO_DTYPE_F32,
                                  .loss_scaling = (i & 2) != 0 };
      g_autoptr (DynoGraph) graph = dyno_graph_new (
          &(DynoGraphParams){ .batch = 1, .training = TRUE, .precision = precision });
      const DynoTensor *x = dyno_graph_activation (graph, "x", 1, 1, 1, 8);
      const DynoNode *optimizer = optimizer_of (graph);
      const DynoParameter *w = dyno_graph_get_parameters (graph)->pdata[0];
      g_assert_cmpint (x->dtype, ==, precision.storage);
      g_assert_cmpint (w->master->dtype, ==, DYNO_DTYPE_F32);
      g_assert_cmpint (w->compute->dtype, ==, precision.storage);
      g_assert_cmpint (w->compute != w->master, ==, i & 1);
      DynoDeviceInfo info = info_cpu;
      g_autoptr (GError) error = NULL;
      g_autoptr (DynoLowering) lowering = dyno_lowering_new (graph, &info, NULL, &error);
      g_assert_no_error (error);
      GPtrArray *dispatches = dyno_lowering_get_dispatches (lowering);
      for (guint k = 0; k < dispatches->len; k++)
        {
          const DynoDispatch *dispatch = dispatches->pdata[k];
          if (g_str_equal (dispatch->pass, "decide"))
            g_assert_cmpint (strstr (dispatch->spec.macros, "DYNAMIC_SCALE=1") != NULL, ==,
                             precision.loss_scaling);
          if (g_str_equal (dispatch->pass, "update"))
            g_assert_cmpint (strstr (dispatch->spec.macros, "HALF_COPY=1") != NULL, ==, i & 1);
        }
      g_assert_cmpfloat (attribute_of (optimizer, "loss_scaling"), ==, precision.loss_scaling);
      info.fp16 = FALSE;
      g_assert_cmpint (dyno_precision_unusable (&precision, &info) != NULL, ==, i & 1);
    }
}

static void
test_network_rejects (void)
{
  DynoNetworkParams params = { .model = "simplecnn", .batch = 2, .n_outputs = 10 };
  const struct {
    const char *model;
    guint32 batch, height, n_outputs;
    double width;
    DynoNnError code;
  } cases[] = { { "vgg99", 2, 32, 10, 1, DYNO_NN_ERROR_MODEL },
                { "simplecnn", 0, 32, 10, 1, DYNO_NN_ERROR_SHAPE },
                { "simplecnn", 2, 15, 10, 1, DYNO_NN_ERROR_SHAPE },
                { "simplecnn", 2, 32, 0, 1, DYNO_NN_ERROR_SHAPE },
                { "simplecnn", 2, 32, 10, -1, DYNO_NN_ERROR_MODEL },
                { "simplecnn", 1u << 31, 65536, 10, 1, DYNO_NN_ERROR_TOO_LARGE } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      params.model = cases[i].model;
      params.batch = cases[i].batch;
      params.schema = dyno_schema_image (DYNO_ELEMENT_U8, cases[i].height, 32, 3, 0);
      params.n_outputs = cases[i].n_outputs;
      params.model_width = cases[i].width;
      g_assert_null (dyno_network_build (&params, &error));
      g_assert_error (error, DYNO_NN_ERROR, (gint) cases[i].code);
    }
}

/* A sequence (T, F) is an image of one row; the MLP does not read the length. */
static void
test_network_reads_sequences (void)
{
  const DynoBatchField fields[] = {
    { .name = "sequence",
      .role = DYNO_FIELD_INPUT,
      .element = DYNO_ELEMENT_F32,
      .n_axes = 2,
      .shape = { 20, 3 },
      .axes = "TF",
      .variable = TRUE },
    { .name = "length", .role = DYNO_FIELD_LENGTH, .element = DYNO_ELEMENT_I32 }
  };
  DynoNetworkParams params = {
    .model = "mlp", .batch = 4, .n_outputs = 5, .mode = DYNO_MODE_TRAIN
  };
  g_autoptr (GError) error = NULL;

  dyno_schema_add (&params.schema, &fields[0]);
  dyno_schema_add (&params.schema, &fields[1]);
  dyno_schema_add_target (&params.schema, 0);
  g_autoptr (DynoGraph) graph = dyno_network_build (&params, &error);
  g_assert_no_error (error);
  const DynoTensor *input = dyno_network_get_input (graph, 0);
  g_assert_cmpuint (input->n, ==, 4);
  g_assert_cmpuint (input->h, ==, 1);
  g_assert_cmpuint (input->w, ==, 20);
  g_assert_cmpuint (input->c, ==, 3);
  g_assert_cmpuint (input->size_bytes, ==, 4 * 20 * 3 * sizeof (float));
  g_assert_null (dyno_network_get_input (graph, 1));
  g_assert_true (dyno_network_get_input (graph, 2)
                 == dyno_network_find_input (graph, DYNO_FIELD_TARGET));
}

/* Steps past a length do not count for a sequence model: it reads the lengths, in prediction too,
 * and noise has no lengths. */
static void
test_sequence_models_read_lengths (void)
{
  static const char *const models[] = { "cnnlstm", "cnn1d",      "cnn1d_dilated",
                                        "wavenet", "lstm_stack", "gru_stack" };
  const DynoBatchField fields[] = {
    { .name = "sequence",
      .role = DYNO_FIELD_INPUT,
      .element = DYNO_ELEMENT_F32,
      .n_axes = 2,
      .shape = { 20, 3 },
      .axes = "TF",
      .variable = TRUE },
    { .name = "length", .role = DYNO_FIELD_LENGTH, .element = DYNO_ELEMENT_I32 }
  };
  for (guint i = 0; i < 2 * G_N_ELEMENTS (models); i++)
    {
      DynoNetworkParams params = { .model = models[i / 2],
                                   .batch = 4,
                                   .n_outputs = 5,
                                   .mode = i % 2 ? DYNO_MODE_PREDICT : DYNO_MODE_TRAIN };
      g_autoptr (GError) error = NULL;
      dyno_schema_add (&params.schema, &fields[0]);
      dyno_schema_add (&params.schema, &fields[1]);
      dyno_schema_add_target (&params.schema, 0);
      g_autoptr (DynoGraph) graph = dyno_network_build (&params, &error);
      g_assert_no_error (error);
      const DynoTensor *lengths = dyno_network_get_input (graph, 1);
      g_assert_nonnull (lengths);
      g_assert_cmpint (lengths->dtype, ==, DYNO_DTYPE_I32);
      g_assert_cmpuint (lengths->size_bytes, ==, 4 * 4);
      params.schema.generated = TRUE;
      g_autoptr (DynoGraph) noise = dyno_network_build (&params, &error);
      g_assert_no_error (error);
      g_assert_null (dyno_network_get_input (noise, 1));
    }
}

/* The shapes and the order of an LSTM's parameters are PyTorch's. */
static void
test_lstm_parameters (void)
{
  static const struct {
    const char *name;
    guint n_dims;
    guint32 dims[2];
  } wanted[] = { { "lstm.weight_ih_l0", 2, { 512, 128 } },
                 { "lstm.weight_hh_l0", 2, { 512, 128 } },
                 { "lstm.bias_ih_l0", 1, { 512 } },
                 { "lstm.bias_hh_l0", 1, { 512 } },
                 { "fc.weight", 2, { 10, 128 } } };
  DynoNetworkParams params = { .model = "cnnlstm",
                               .batch = 1,
                               .schema = dyno_schema_image (DYNO_ELEMENT_U8, 28, 28, 1, 0),
                               .n_outputs = 10 };
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoGraph) graph = dyno_network_build (&params, &error);
  g_assert_no_error (error);
  GPtrArray *parameters = dyno_graph_get_parameters (graph);
  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
    {
      const DynoParameter *p =
          g_ptr_array_index (parameters, parameters->len - 1 - G_N_ELEMENTS (wanted) + i);
      g_assert_cmpstr (p->name, ==, wanted[i].name);
      g_assert_cmpuint (p->n_dims, ==, wanted[i].n_dims);
      g_assert_cmpmem (p->dims, p->n_dims * 4, wanted[i].dims, wanted[i].n_dims * 4);
      if (i < 4)
        g_assert_cmpuint (p->fan_in, ==, 128); /* initial values within 1 / sqrt (hidden) */
    }
}

/* Names and counts of torchvision's resnet18 and of SimpleCNN's nn.Sequential. */
static void
test_names_are_torchvisions (void)
{
  DynoNetworkParams params = {
    .model = "resnet18",
    .batch = 1,
    .schema = dyno_schema_image (DYNO_ELEMENT_U8, 224, 224, 3, 0),
    .n_outputs = 1000,
  };
  g_autoptr (GError) error = NULL;
  const struct {
    const char *model;
    guint64 count;
    const char *names[4];
  } cases[] = {
    { "resnet18",
      11689512,
      { "conv1.weight", "layer2.0.downsample.0.weight", "layer4.1.bn2.running_var", "fc.bias" } },
    { "resnet34",
      21797672,
      { "bn1.bias", "layer3.5.conv2.weight", "layer2.0.downsample.1.weight", "fc.weight" } },
    { "resnet50",
      25557032,
      { "layer1.0.conv3.weight", "layer1.0.downsample.0.weight", "layer4.2.bn3.weight",
        "fc.bias" } },
    { "resnet101",
      44549160,
      { "layer1.0.downsample.0.weight", "layer3.22.conv3.weight", "layer4.2.bn3.running_mean",
        "fc.weight" } },
    { "resnext50_32x4d",
      25028904,
      { "layer1.0.conv2.weight", "layer1.0.downsample.0.weight", "layer4.2.bn2.running_var",
        "fc.weight" } },
    { "mobilenetv2",
      3504872,
      { "features.1.conv.0.0.weight", "features.1.conv.1.weight", "features.17.conv.3.running_var",
        "classifier.1.bias" } },
    { "mobilenet_v3_small",
      2542856,
      { "features.1.block.1.fc1.bias", "features.11.block.2.fc2.weight",
        "features.12.1.running_var", "classifier.3.bias" } },
    { "mobilenet_v3_large",
      5483032,
      { "features.1.block.1.0.weight", "features.15.block.3.1.weight", "features.16.0.weight",
        "classifier.0.weight" } },
    { "efficientnet_b0",
      5288548,
      { "features.1.0.block.1.fc2.bias", "features.7.0.block.3.1.weight",
        "features.2.1.block.1.0.weight", "classifier.1.weight" } },
    { "regnet_y_400mf",
      4344144,
      { "stem.0.weight", "trunk_output.block1.block1-0.proj.0.weight",
        "trunk_output.block3.block3-5.f.se.fc2.bias", "fc.weight" } },
    { "regnet_x_400mf",
      5495976,
      { "stem.1.running_mean", "trunk_output.block2.block2-1.f.b.0.weight",
        "trunk_output.block4.block4-11.f.c.1.weight", "fc.bias" } },
    { "densenet121",
      7978856,
      { "features.conv0.weight", "features.denseblock4.denselayer16.conv2.weight",
        "features.transition3.norm.running_var", "classifier.bias" } },
    { "efficientnet_v2_s",
      21458488,
      { "features.1.1.block.0.0.weight", "features.3.3.block.1.1.bias",
        "features.6.14.block.2.fc1.bias", "classifier.1.bias" } },
    { "convnext_tiny",
      28589128,
      { "features.0.1.bias", "features.1.0.layer_scale", "features.5.8.block.5.weight",
        "classifier.2.weight" } },
    { "vit_tiny_patch16_224",
      5717416,
      { "cls_token", "patch_embed.proj.bias", "blocks.11.attn.qkv.weight", "head.bias" } },
    { "vit_small_patch16_224",
      22050664,
      { "pos_embed", "blocks.0.norm1.bias", "blocks.3.mlp.fc2.weight", "norm.weight" } },
    { "vit_b_16",
      86567656,
      { "class_token", "encoder.layers.encoder_layer_11.self_attention.in_proj_weight",
        "encoder.layers.encoder_layer_0.mlp.3.bias", "heads.head.weight" } },
    { "simplecnn",
      387936 + 960 + 257000,
      { "0.weight", "13.running_mean", "18.weight", "18.bias" } },
    { "mlp",
      3 * 224 * 224 * 256 + 256 + 256 * 128 + 128 + 129000,
      { "1.weight", "3.bias", "5.weight", "5.bias" } },
    { "cnnlstm", /* 672 features: rows of 224 x 3 values */
      64 * 672 * 5 + 128 + 128 * 64 * 5 + 256 + 4 * 128 * (128 + 128 + 2) + 129000,
      { "conv.4.weight", "conv.5.running_var", "lstm.weight_hh_l0", "fc.bias" } },
    { "lstm_stack",
      4 * 128 * (672 + 128 + 2) + 4 * 128 * (128 + 128 + 2) + 129000,
      { "lstm.weight_ih_l0", "lstm.weight_hh_l1", "lstm.bias_hh_l1", "fc.bias" } },
    { "gru_stack",
      3 * 128 * (672 + 128 + 2) + 3 * 128 * (128 + 128 + 2) + 129000,
      { "gru.weight_ih_l0", "gru.weight_hh_l1", "gru.bias_hh_l1", "fc.bias" } },
    { "cnn1d",
      64 * 672 * 5 + 128 + 128 * 64 * 5 + 256 + 256 * 128 * 5 + 512 + 257000,
      { "0.weight", "5.bias", "9.running_mean", "14.weight" } },
    { "cnn1d_dilated",
      64 * 672 * 3 + 4 * 64 * 64 * 3 + 5 * 128 + 65000,
      { "0.weight", "4.bias", "13.running_mean", "17.weight" } },
    { "wavenet",
      672 * 32 + 32 + 10 * (2 * 32 * 64 + 64 + 32 * 64 + 64) + 9 * (32 * 32 + 32) + 64 * 65 + 65000,
      { "input.weight", "layers.9.skip.bias", "layers.8.residual.weight", "output.bias" } },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      params.model = cases[i].model;
      g_autoptr (DynoGraph) graph = dyno_network_build (&params, &error);
      g_assert_no_error (error);
      GPtrArray *parameters = dyno_graph_get_parameters (graph);
      guint64 count = 0;
      guint found = 0;
      for (guint k = 0; k < parameters->len; k++)
        {
          const DynoParameter *parameter = g_ptr_array_index (parameters, k);
          count += parameter->is_state ? 0 : dyno_parameter_count (parameter);
          for (guint n = 0; n < 4; n++)
            found += g_str_equal (parameter->name, cases[i].names[n]);
        }
      g_assert_cmpuint (count, ==, cases[i].count);
      g_assert_cmpuint (found, ==, 4);
    }
}

/* torchvision's shapes where an axis could be wrong, its rounding of scaled channels of mobile
 * networks, and the number of entries of its state_dict without num_batches_tracked. */
static void
test_mobile_shapes (void)
{
  const struct {
    const char *model, *name;
    double width;
    guint32 dims[4];
    guint n;
  } cases[] = {
    { "resnext50_32x4d", "layer1.0.conv2.weight", 1, { 128, 4, 3, 3 }, 161 + 106 },
    { "resnext50_32x4d", "layer4.2.conv2.weight", 1, { 1024, 32, 3, 3 }, 161 + 106 },
    { "resnext50_32x4d", "layer3.0.conv2.weight", 0.25, { 128, 4, 3, 3 }, 161 + 106 },
    { "mobilenetv2", "features.2.conv.1.0.weight", 1, { 96, 1, 3, 3 }, 158 + 104 },
    { "mobilenetv2", "features.18.0.weight", 0.35, { 1280, 112, 1, 1 }, 158 + 104 },
    { "mobilenetv2", "features.2.conv.2.weight", 1.4, { 32, 144, 1, 1 }, 158 + 104 },
    { "mobilenet_v3_small", "features.4.block.2.fc1.weight", 1, { 24, 96, 1, 1 }, 142 + 68 },
    { "mobilenet_v3_small", "features.4.block.1.0.weight", 0.75, { 72, 1, 5, 5 }, 142 + 68 },
    { "mobilenet_v3_large", "features.16.0.weight", 1.25, { 1200, 200, 1, 1 }, 174 + 92 },
    { "regnet_y_400mf",
      "trunk_output.block1.block1-0.f.se.fc1.weight",
      1,
      { 8, 48, 1, 1 },
      225 + 106 },
    { "regnet_y_400mf",
      "trunk_output.block2.block2-1.f.b.0.weight",
      0.5,
      { 56, 8, 3, 3 },
      225 + 106 },
    { "regnet_x_400mf",
      "trunk_output.block4.block4-0.f.b.0.weight",
      1,
      { 400, 16, 3, 3 },
      215 + 142 },
    { "densenet121",
      "features.denseblock2.denselayer12.conv1.weight",
      1,
      { 128, 480, 1, 1 },
      364 + 242 },
    { "densenet121",
      "features.denseblock4.denselayer1.conv2.weight",
      0.25,
      { 8, 32, 3, 3 },
      364 + 242 },
    { "efficientnet_b0", "features.3.0.block.1.0.weight", 1, { 144, 1, 5, 5 }, 213 + 98 },
    { "efficientnet_b0", "features.4.0.block.2.fc1.weight", 1, { 10, 240, 1, 1 }, 213 + 98 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      DynoNetworkParams params = {
        .model = cases[i].model,
        .model_width = cases[i].width,
        .batch = 1,
        .schema = dyno_schema_image (DYNO_ELEMENT_U8, 64, 64, 3, 0),
        .n_outputs = 10,
      };
      g_autoptr (GError) error = NULL;
      g_autoptr (DynoGraph) graph = dyno_network_build (&params, &error);
      g_assert_no_error (error);
      GPtrArray *parameters = dyno_graph_get_parameters (graph);
      g_assert_cmpuint (parameters->len, ==, cases[i].n);
      const DynoParameter *found = NULL;
      for (guint k = 0; k < parameters->len; k++)
        if (g_str_equal (((DynoParameter *) parameters->pdata[k])->name, cases[i].name))
          found = parameters->pdata[k];
      g_assert_nonnull (found);
      g_assert_cmpmem (found->dims, sizeof found->dims, cases[i].dims, sizeof cases[i].dims);
    }
}

static const DynoParameter *
find_parameter (DynoGraph *graph, const char *name)
{
  GPtrArray *parameters = dyno_graph_get_parameters (graph);
  for (guint i = 0; i < parameters->len; i++)
    if (g_str_equal (((const DynoParameter *) parameters->pdata[i])->name, name))
      return parameters->pdata[i];
  g_error ("there is no %s", name);
}

/* Each patch and the class token have a position; the number of heads does not depend on the width
 * factor; each block has a softmax node; sides that are no multiples of a patch are refused with a
 * message. */
static void
test_vision_transformers (void)
{
  static const struct {
    const char *model, *positions, *qkv, *first[3]; /* first: the first of all parameters */
    double width;
    guint32 h, w, tokens, channels;
    double heads;
  } cases[] = {
    { "vit_tiny_patch16_224",
      "pos_embed",
      "blocks.5.attn.qkv.weight",
      { "cls_token", "pos_embed", "patch_embed.proj.weight" },
      1,
      224,
      224,
      197,
      192,
      3 },
    { "vit_small_patch16_224",
      "pos_embed",
      "blocks.0.attn.qkv.weight",
      { "cls_token", "pos_embed", "patch_embed.proj.weight" },
      0.3,
      48,
      32,
      7,
      96,
      6 },
    { "vit_b_16",
      "encoder.pos_embedding",
      "encoder.layers.encoder_layer_0.self_attention.in_proj_weight",
      { "class_token", "conv_proj.weight", "conv_proj.bias" },
      0.01,
      16,
      16,
      2,
      96,
      12 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      DynoNetworkParams params = {
        .model = cases[i].model,
        .model_width = cases[i].width,
        .batch = 1,
        .schema = dyno_schema_image (DYNO_ELEMENT_U8, cases[i].h, cases[i].w, 3, 0),
        .n_outputs = 10,
      };
      g_autoptr (GError) error = NULL;
      g_autoptr (DynoGraph) graph = dyno_network_build (&params, &error);
      g_assert_no_error (error);
      const DynoParameter *positions = find_parameter (graph, cases[i].positions),
                          *qkv = find_parameter (graph, cases[i].qkv);
      const guint32 dims[] = { 1, cases[i].tokens, cases[i].channels };
      guint blocks = 0;
      g_assert_cmpuint (positions->n_dims, ==, 3);
      g_assert_cmpmem (positions->dims, sizeof dims, dims, sizeof dims);
      g_assert_cmpuint (qkv->dims[0], ==, 3 * cases[i].channels);
      g_assert_cmpuint (qkv->dims[1], ==, cases[i].channels);
      for (guint k = 0; k < 3; k++)
        g_assert_cmpstr (
            ((const DynoParameter *) dyno_graph_get_parameters (graph)->pdata[k])->name, ==,
            cases[i].first[k]);
      GPtrArray *nodes = dyno_graph_get_nodes (graph);
      for (guint k = 0; k < nodes->len; k++)
        {
          const DynoNode *node = nodes->pdata[k];
          double value = 0;
          if (g_str_equal (node->op->name, "attention"))
            {
              g_assert_true (dyno_node_get_attribute (node, "heads", &value));
              g_assert_cmpfloat (value, ==, cases[i].heads);
              blocks++;
            }
          else if (g_str_equal (node->op->name, "layer_norm"))
            {
              g_assert_true (dyno_node_get_attribute (node, "eps", &value));
              g_assert_cmpfloat (value, ==, 1e-6);
            }
        }
      g_assert_cmpuint (blocks, ==, 12);
      params.schema = dyno_schema_image (DYNO_ELEMENT_U8, 32, 40, 3, 0);
      g_assert_null (dyno_network_build (&params, &error));
      g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE);
      g_assert_nonnull (strstr (error->message, "multiples of 16 pixels, not 40 x 32"));
    }
}

/* The norms of torchvision's networks: eps, and momentum where there is one. */
static void
test_norms (void)
{
  static const struct {
    const char *model, *op;
    double eps, momentum;
  } cases[] = {
    { "efficientnet_b0", "batch_norm_stats", 1e-5, 0.1 },
    { "mobilenet_v3_small", "batch_norm_stats", 1e-3, 0.01 },
    { "mobilenet_v3_large", "batch_norm_stats", 1e-3, 0.01 },
    { "efficientnet_v2_s", "batch_norm_stats", 1e-3, 0.1 },
    { "convnext_tiny", "layer_norm", 1e-6, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const DynoNetworkParams params = {
        .model = cases[i].model,
        .batch = 1,
        .schema = dyno_schema_image (DYNO_ELEMENT_U8, 64, 64, 3, 0),
        .n_outputs = 10,
        .mode = DYNO_MODE_TRAIN,
        .no_fusion = TRUE,
      };
      g_autoptr (GError) error = NULL;
      g_autoptr (DynoGraph) graph = dyno_network_build (&params, &error);
      guint found = 0;

      g_assert_no_error (error);
      GPtrArray *nodes = dyno_graph_get_nodes (graph);
      for (guint k = 0; k < nodes->len; k++)
        {
          const DynoNode *node = nodes->pdata[k];
          if (!g_str_equal (node->op->name, cases[i].op))
            continue;
          found++;
          g_assert_cmpfloat (attribute_of (node, "eps"), ==, cases[i].eps);
          if (cases[i].momentum > 0)
            g_assert_cmpfloat (attribute_of (node, "momentum"), ==, cases[i].momentum);
        }
      g_assert_cmpuint (found, >, 10);
    }
}

/* The share of samples that skip a block grows evenly from 0 in the first block, which always runs,
 * to the setting in the last one. */
static void
test_stochastic_depth_grows (void)
{
  static const struct {
    const char *model;
    guint blocks; /* number of blocks over which the share grows */
    double last;
  } cases[] = { { "convnext_tiny", 17, 0.3 }, { "efficientnet_v2_s", 40, 0.3 * 39 / 40 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const DynoNetworkParams params = {
        .model = cases[i].model,
        .stochastic_depth = 0.3,
        .batch = 2,
        .schema = dyno_schema_image (DYNO_ELEMENT_U8, 32, 32, 3, 0),
        .n_outputs = 10,
        .mode = DYNO_MODE_TRAIN,
      };
      g_autoptr (GError) error = NULL;
      g_autoptr (DynoGraph) graph = dyno_network_build (&params, &error);
      double last = 0;

      g_assert_no_error (error);
      GPtrArray *nodes = dyno_graph_get_nodes (graph);
      for (guint k = 0; k < nodes->len; k++)
        {
          const DynoNode *node = nodes->pdata[k];
          if (!g_str_equal (node->op->name, "stochastic_depth"))
            continue;
          double share = attribute_of (node, "probability"), steps = share / 0.3 * cases[i].blocks;
          g_assert_cmpfloat (share, >, last);
          g_assert_cmpfloat (ABS (steps - (guint) (steps + 0.5)), <, 1e-4);
          last = share;
        }
      g_test_message ("%s: %g", cases[i].model, last);
      g_assert_cmpfloat (ABS (last - cases[i].last), <, 1e-6);
    }
}

/* The taps of WaveNet's layers are 1 to 512 steps apart, and no tap is later than its output. */
static void
test_wavenet_looks_back (void)
{
  const DynoBatchField field = { .name = "sequence",
                                 .role = DYNO_FIELD_INPUT,
                                 .element = DYNO_ELEMENT_F32,
                                 .n_axes = 2,
                                 .shape = { 20, 3 },
                                 .axes = "TF" };
  DynoNetworkParams params = {
    .model = "wavenet", .batch = 1, .n_outputs = 5, .mode = DYNO_MODE_PREDICT
  };
  g_autoptr (GError) error = NULL;
  double dilation = 1;

  dyno_schema_add (&params.schema, &field);
  g_autoptr (DynoGraph) graph = dyno_network_build (&params, &error);
  g_assert_no_error (error);
  GPtrArray *nodes = dyno_graph_get_nodes (graph);
  for (guint k = 0; k < nodes->len; k++)
    {
      const DynoNode *node = nodes->pdata[k], *pad = node->inputs[0]->producer;
      if (!g_str_equal (node->op->name, "conv2d") || attribute_of (node, "kernel_w") != 2)
        continue;
      g_assert_cmpfloat (MAX (1, attribute_of (node, "dilation_w")), ==, dilation);
      g_assert_cmpstr (pad->op->name, ==, "pad");
      g_assert_cmpfloat (attribute_of (pad, "left"), ==, dilation);
      g_assert_cmpuint (node->outputs[0]->w, ==, 20);
      dilation *= 2;
    }
  g_assert_cmpfloat (dilation, ==, 1024);
}

/* A layer of DenseNet appends its channels to those that it reads. */
static void
test_dense_order (void)
{
  const DynoNetworkParams params = {
    .model = "densenet121",
    .model_width = 0.25,
    .batch = 1,
    .schema = dyno_schema_image (DYNO_ELEMENT_U8, 32, 32, 3, 0),
    .n_outputs = 10,
    .no_fusion = TRUE,
  };
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoGraph) graph = dyno_network_build (&params, &error);
  guint joined = 0;

  g_assert_no_error (error);
  GPtrArray *nodes = dyno_graph_get_nodes (graph);
  for (guint k = 0; k < nodes->len; k++)
    {
      const DynoNode *node = nodes->pdata[k];
      if (!g_str_equal (node->op->name, "concat"))
        continue;
      g_assert_cmpstr (node->inputs[1]->producer->op->name, ==, "conv2d");
      g_assert_cmpuint (node->inputs[1]->c, ==, 8);
      g_assert_cmpstr (node->inputs[0]->producer->op->name, !=, "conv2d");
      joined++;
    }
  g_assert_cmpuint (joined, ==, 6 + 12 + 24 + 16);
}

/* Head pose has three angles, each with a metric of its name; other targets are refused with a
 * message. */
static void
test_head_pose (void)
{
  DynoNetworkParams params = {
    .model = "headpose_resnet18",
    .model_width = 0.125,
    .batch = 2,
    .schema = dyno_schema_image (DYNO_ELEMENT_U8, 32, 32, 3, 3),
    .n_outputs = 3,
    .loss = DYNO_LOSS_SMOOTH_L1,
    .mode = DYNO_MODE_TRAIN,
  };
  static const char *const names[] = { "mean_abs_error", "mean_abs_error_yaw",
                                       "mean_abs_error_pitch", "mean_abs_error_roll" };
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoGraph) graph = dyno_network_build (&params, &error);
  g_assert_no_error (error);
  const DynoMetricInfo *metrics;
  g_assert_cmpuint (dyno_network_get_metrics (graph, &metrics), ==, G_N_ELEMENTS (names));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_assert_cmpstr (metrics[i].name, ==, names[i]);
      g_assert_cmpstr (metrics[i].unit, ==, "degrees");
    }
  g_assert_cmpstr (metrics[2].part, ==, "pitch");
  params.schema = dyno_schema_image (DYNO_ELEMENT_U8, 32, 32, 3, 4);
  params.n_outputs = 4;
  g_assert_null (dyno_network_build (&params, &error));
  g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE);
  g_assert_nonnull (strstr (error->message, "yaw, pitch, roll"));
  g_clear_error (&error);
  params.loss = DYNO_LOSS_CROSS_ENTROPY;
  params.schema = dyno_schema_image (DYNO_ELEMENT_U8, 32, 32, 3, 0);
  params.n_outputs = 3;
  g_assert_null (dyno_network_build (&params, &error));
  g_assert_nonnull (strstr (error->message, "the data has 3 classes"));
}

/* The metrics depend on the targets, where there are any. */
static void
test_validation_metrics (void)
{
  static const struct {
    DynoLoss loss;
    guint32 n_values;
    DynoMode mode;
    const DynoMetricInfo *expected;
    gboolean labels;
  } cases[] = {
    { DYNO_LOSS_CROSS_ENTROPY, 0, DYNO_MODE_EVALUATE, dyno_class_validation_metrics },
    { DYNO_LOSS_CROSS_ENTROPY, 0, DYNO_MODE_TRAIN, dyno_class_validation_metrics },
    { DYNO_LOSS_MSE, 4, DYNO_MODE_EVALUATE, dyno_value_validation_metrics },
    { DYNO_LOSS_SMOOTH_L1, 4, DYNO_MODE_EVALUATE, dyno_value_validation_metrics },
    { DYNO_LOSS_CROSS_ENTROPY, 0, DYNO_MODE_PREDICT, NULL },
    { DYNO_LOSS_BCE, 0, DYNO_MODE_EVALUATE, dyno_label_validation_metrics, TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      DynoNetworkParams params = {
        .model = "mlp",
        .batch = 2,
        .schema = cases[i].labels ? dyno_schema_image_with_labels (DYNO_ELEMENT_U8, 8, 8, 3, 4)
                                  : dyno_schema_image (DYNO_ELEMENT_U8, 8, 8, 3, cases[i].n_values),
        .n_outputs = 4,
        .loss = cases[i].loss,
        .mode = cases[i].mode,
      };
      g_autoptr (GError) error = NULL;
      g_autoptr (DynoGraph) graph = dyno_network_build (&params, &error);

      g_assert_no_error (error);
      g_assert_true (dyno_network_get_validation_metrics (graph) == cases[i].expected);
    }
}

/* Labels are no values: each loss of floats takes only its own kind of target. */
static void
test_loss_fits_target (void)
{
  static const struct {
    DynoLoss loss;
    gboolean labels;
    guint32 n;
    const char *problem; /* NULL: the network is built */
  } cases[] = {
    { DYNO_LOSS_BCE, TRUE, 4, NULL },
    { DYNO_LOSS_BCE, FALSE, 4,
      "mlp: the loss needs a label for each output as the target of each "
      "sample" },
    { DYNO_LOSS_BCE, TRUE, 3,
      "mlp: the loss needs a label for each output as the target of each "
      "sample" },
    { DYNO_LOSS_MSE, TRUE, 4,
      "mlp: the loss needs a float for each output as the target of each "
      "sample" },
    { DYNO_LOSS_CROSS_ENTROPY, TRUE, 4,
      "mlp: the loss needs a class id as the target of each "
      "sample" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      DynoNetworkParams params = {
        .model = "mlp",
        .batch = 2,
        .schema = cases[i].labels
                      ? dyno_schema_image_with_labels (DYNO_ELEMENT_U8, 8, 8, 3, cases[i].n)
                      : dyno_schema_image (DYNO_ELEMENT_U8, 8, 8, 3, cases[i].n),
        .n_outputs = 4,
        .loss = cases[i].loss,
        .mode = DYNO_MODE_TRAIN,
      };
      g_autoptr (GError) error = NULL;
      g_autoptr (DynoGraph) graph = dyno_network_build (&params, &error);

      g_assert_cmpstr (error ? error->message : NULL, ==, cases[i].problem);
      g_assert_true ((graph != NULL) == (cases[i].problem == NULL));
    }
}

/* The layers are listed without fusion; the sums are those that torchvision documents. */
static void
test_layers (void)
{
  const struct {
    const char *model;
    guint64 parameters, states;
    double mega_products; /* torchvision's "GFLOPS" are multiply-adds */
  } cases[] = {
    { "resnet18", 11689512, 9600, 1814 },
    { "resnext50_32x4d", 25028904, 68224, 4230 },
    { "mobilenetv2", 3504872, 34112, 301 },
    { "mobilenet_v3_small", 2542856, 12112, 56.5 },
    { "mobilenet_v3_large", 5483032, 24400, 217 },
    { "efficientnet_b0", 5288548, 42016, 386 },
    { "regnet_y_400mf", 4344144, 27152, 402 },
    { "regnet_x_400mf", 5495976, 37856, 414 },
    { "densenet121", 7978856, 83648, 2834 },
    { "efficientnet_v2_s", 21458488, 153872, 8366.0 * 224 * 224 / 384 / 384 },
    { "convnext_tiny", 28589128, 0, 4456 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      DynoNetworkParams params = { .model = cases[i].model,
                                   .batch = 1,
                                   .schema = dyno_schema_image (DYNO_ELEMENT_U8, 224, 224, 3, 0),
                                   .n_outputs = 1000,
                                   .mode = DYNO_MODE_PREDICT,
                                   .no_fusion = TRUE };
      g_autoptr (GError) error = NULL;
      g_autoptr (DynoGraph) graph = dyno_network_build (&params, &error);
      g_assert_no_error (error);
      g_autoptr (GArray) layers = dyno_network_list_layers (graph);
      guint64 parameters = 0, states = 0, products = 0;
      for (guint k = 0; k < layers->len; k++)
        {
          const DynoLayer *layer = &g_array_index (layers, DynoLayer, k);
          parameters += layer->parameters;
          states += layer->states;
          products += layer->parameters > 0 && layer->states == 0 ? layer->flops / 2 : 0;
        }
      const DynoLayer *last = &g_array_index (layers, DynoLayer, layers->len - 1);
      g_assert_cmpstr (last->kind, ==, "linear");
      g_assert_true (last->h == 1 && last->w == 1 && last->c == 1000);
      g_assert_cmpuint (last->output_bytes, ==, 4000);
      g_assert_cmpuint (parameters, ==, cases[i].parameters);
      g_assert_cmpuint (states, ==, cases[i].states);
      g_assert_cmpfloat (ABS ((double) products / 1e6 / cases[i].mega_products - 1), <, 0.005);
    }
}

/* There are three paths from x to y, whose gradients are summed. */
static void
test_residual_gradients_add_up (void)
{
  const gsize n = 2 * 3 * 3 * 5;
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = TRUE, .batch = 2 });
  g_autofree double *x = harness_random (1, n, 1.0), *dy = harness_random (2, n, 1.0),
                    *expected = g_new (double, n);
  DynoTensor *input = harness_input (h, "x", 2, 3, 3, 5, x);
  DynoTensor *relu = dyno_relu (harness_graph (h), input, "relu");
  DynoTensor *inner = dyno_add (harness_graph (h), input, relu, "inner");
  DynoTensor *y = dyno_add (harness_graph (h), inner, input, "outer");
  harness_set_gradient (h, y, dy);
  harness_run (h);
  g_autofree double *got = harness_read_gradient (h, input);
  for (gsize i = 0; i < n; i++)
    expected[i] = 2 * dy[i] + (x[i] > 0 ? dy[i] : 0);
  harness_assert_close (got, expected, n, harness_tolerance (h), "dx");
}

/* b's gradient shares memory with a's, and gets a contribution before a's producer has read it. */
static void
test_shared_gradient_is_copied (void)
{
  const gsize n = 2 * 2 * 2 * 8;
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = TRUE, .batch = 2 });
  DynoGraph *graph = harness_graph (h);
  g_autofree double *x1 = harness_random (1, n, 1.0), *x2 = harness_random (2, n, 1.0),
                    *dy = harness_random (3, n, 1.0);
  g_autofree double *e1 = g_new (double, n), *e2 = g_new (double, n);
  DynoTensor *in1 = harness_input (h, "x1", 2, 2, 2, 8, x1),
             *in2 = harness_input (h, "x2", 2, 2, 2, 8, x2);
  DynoTensor *b = dyno_relu (graph, in1, "b"), *a = dyno_relu (graph, in2, "a"),
             *c = dyno_relu (graph, b, "c");
  DynoTensor *y = dyno_add (graph, dyno_add (graph, a, b, "z"), c, "y");
  harness_set_gradient (h, y, dy);
  harness_run (h);
  g_autofree double *got1 = harness_read_gradient (h, in1), *got2 = harness_read_gradient (h, in2);
  for (gsize i = 0; i < n; i++)
    {
      e1[i] = x1[i] > 0 ? 2 * dy[i] : 0;
      e2[i] = x2[i] > 0 ? dy[i] : 0;
    }
  harness_assert_close (got1, e1, n, harness_tolerance (h), "dx1");
  harness_assert_close (got2, e2, n, harness_tolerance (h), "dx2");
}

/* The same tensor on both sides of an addition. */
static void
test_add_to_itself (void)
{
  const gsize n = 8;
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = TRUE });
  g_autofree double *x = harness_random (1, n, 1.0), *dy = harness_random (2, n, 1.0),
                    *expected = g_new (double, n);
  DynoTensor *input = harness_input (h, "x", 1, 1, 1, 8, x);
  DynoTensor *relu = dyno_relu (harness_graph (h), input, "relu");
  DynoTensor *y = dyno_add (harness_graph (h), relu, relu, "y");
  harness_set_gradient (h, y, dy);
  harness_run (h);
  g_autofree double *got = harness_read_gradient (h, input);
  for (gsize i = 0; i < n; i++)
    expected[i] = x[i] > 0 ? 2 * dy[i] : 0;
  harness_assert_close (got, expected, n, harness_tolerance (h), "dx");
}

/* The dropout that a model declares is that of its graph. */
static void
test_models_say_their_dropout (void)
{
  for (guint m = 0; dyno_model_list ()[m]; m++)
    {
      const DynoModel *model = dyno_model_list ()[m];
      g_autoptr (GError) error = NULL;
      gboolean found = FALSE, skips = FALSE;
      DynoNetworkParams params = {
        .model = model->name,
        .dropout = 0.5,
        .stochastic_depth = 0.5,
        .batch = 2,
        .schema = dyno_schema_image (DYNO_ELEMENT_U8, 64, 64, 3, model->n_values),
        .n_outputs = model->n_values ? model->n_values : 10,
        .loss = model->n_values ? DYNO_LOSS_MSE : DYNO_LOSS_CROSS_ENTROPY,
        .mode = DYNO_MODE_TRAIN,
      };
      if (model->of_pixels)
        params.schema = dyno_schema_image_with_mask (DYNO_ELEMENT_U8, 64, 64, 3);
      g_autoptr (DynoGraph) graph = dyno_network_build (&params, &error);
      g_assert_no_error (error);
      GPtrArray *nodes = dyno_graph_get_nodes (graph);
      for (guint i = 0; i < nodes->len; i++)
        {
          const char *op = ((const DynoNode *) nodes->pdata[i])->op->name;
          found |= strstr (op, "dropout") != NULL;
          skips |= g_str_equal (op, "stochastic_depth");
        }
      g_test_message ("%s", model->name);
      g_assert_cmpint (model->has_dropout, ==, found);
      g_assert_cmpint (model->has_stochastic_depth, ==, skips);
    }
}

/* Constants have pads of zeros; equal ones share their memory, and the plan counts each once. */
static void
test_constants (void)
{
  static const float table[] = { 1, 2, 3, 4, 5, 6 }, other[] = { 1, 2, 3, 4, 5, 7 };
  static const gint32 places[] = { 3, 1, 2 };
  g_autoptr (DynoGraph) graph = new_graph (FALSE);
  DynoTensor *a = dyno_graph_constant (graph, "a", DYNO_DTYPE_F32, 1, 2, 3, table),
             *b = dyno_graph_constant (graph, "b", DYNO_DTYPE_F32, 1, 2, 3, other),
             *c = dyno_graph_constant (graph, "c", DYNO_DTYPE_F32, 1, 2, 3, table),
             *d = dyno_graph_constant (graph, "d", DYNO_DTYPE_I32, 1, 1, 3, places);

  g_assert_true (a->cp == 8 && a->size_bytes == 64 && d->cp == 3 && d->size_bytes == 12);
  g_assert_cmpuint (a->offset, ==, 0);
  g_assert_cmpuint (b->offset, ==, 256);
  g_assert_cmpuint (c->offset, ==, 0);
  g_assert_cmpuint (d->offset, ==, 512);
  g_assert_cmpuint (graph->constants->len, ==, 524);
  const float *values = (const float *) (gpointer) graph->constants->data;
  g_assert_true (values[2] == 3 && values[3] == 0 && values[7] == 0 && values[8] == 4);
  g_assert_false (a->needs_gradient);
  g_assert_null (dyno_graph_constant (graph, "large", DYNO_DTYPE_F32, 1, 1 << 20, 129, NULL));
  assert_fails (graph, DYNO_NN_ERROR_SHAPE, "large");
}

static void
test_space_names (void)
{
  for (DynoSpace space = 0; space < DYNO_SPACE_N; space++)
    g_assert_nonnull (dyno_space_name (space));
  g_assert_cmpstr (dyno_space_name (DYNO_SPACE_AVERAGE), ==, "average");
  g_assert_cmpstr (dyno_space_name (DYNO_SPACE_STEP_OUT), ==, "step_out");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/graph/models-over-sequences-read-lengths",
                   test_sequence_models_read_lengths);
  g_test_add_func ("/nn/graph/constants-are-shared", test_constants);
  g_test_add_func ("/nn/graph/space-names", test_space_names);
  g_test_add_func ("/nn/graph/lstm-parameters-are-pytorchs", test_lstm_parameters);
  g_test_add_func ("/nn/precision/each-member-decides-by-itself", test_precision_members);
  g_test_add_func ("/nn/graph/operands-grow", test_operands_grow);
  g_test_add_func ("/nn/graph/attributes-have-a-schema", test_attributes_have_a_schema);
  g_test_add_func ("/nn/graph/first-error-sticks", test_first_error_sticks);
  g_test_add_func ("/nn/graph/rejects-overflow", test_rejects_overflow);
  g_test_add_func ("/nn/graph/rejects-bad-parameters", test_rejects_parameters);
  g_test_add_func ("/nn/graph/parameters-are-aligned", test_parameters_are_aligned);
  g_test_add_func ("/nn/network/rejects-bad-params", test_network_rejects);
  g_test_add_func ("/nn/network/names-and-counts-are-torchvisions", test_names_are_torchvisions);
  g_test_add_func ("/nn/network/mobile-networks-have-torchvisions-shapes", test_mobile_shapes);
  g_test_add_func ("/nn/network/vision-transformers", test_vision_transformers);
  g_test_add_func ("/nn/network/norms-are-torchvisions", test_norms);
  g_test_add_func ("/nn/network/stochastic-depth-grows", test_stochastic_depth_grows);
  g_test_add_func ("/nn/network/dense-layers-come-last", test_dense_order);
  g_test_add_func ("/nn/network/wavenet-looks-back", test_wavenet_looks_back);
  g_test_add_func ("/nn/network/metrics-of-a-validation", test_validation_metrics);
  g_test_add_func ("/nn/graph/loss-fits-target", test_loss_fits_target);
  g_test_add_func ("/nn/network/head-pose-has-three-angles", test_head_pose);
  g_test_add_func ("/nn/network/layers-add-up", test_layers);
  g_test_add_func ("/nn/autograd/residual-gradients-add-up", test_residual_gradients_add_up);
  g_test_add_func ("/nn/autograd/shared-gradient-is-copied-before-a-late-sum",
                   test_shared_gradient_is_copied);
  g_test_add_func ("/nn/autograd/tensor-added-to-itself", test_add_to_itself);
  g_test_add_func ("/nn/network/reads-sequences-as-rows", test_network_reads_sequences);
  g_test_add_func ("/nn/models/say-their-dropout", test_models_say_their_dropout);
  return g_test_run ();
}
