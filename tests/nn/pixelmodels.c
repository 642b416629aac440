/* SPDX-License-Identifier: MIT */
/* Models that give a class for each pixel: the names and counts of their originals, logits of the
 * size of any image, their last layer, and gradients through skips and resizing. */
#include "fusion.h"
#include "graph-private.h"
#include "harness.h"
#include "network.h"
#include <math.h>
#include <string.h>

static DynoGraph *
build (const char *model, double width, guint32 height, guint32 w, guint32 n_outputs,
       const char *freeze)
{
  const DynoNetworkParams params = {
    .model = model,
    .model_width = width,
    .batch = 2,
    .schema = dyno_schema_image (DYNO_ELEMENT_U8, height, w, 3, 0),
    .n_outputs = n_outputs,
    .mode = DYNO_MODE_PREDICT,
    .no_fusion = TRUE,
    .freeze = freeze,
  };
  g_autoptr (GError) error = NULL;
  DynoGraph *graph = dyno_network_build (&params, &error);
  g_assert_no_error (error);
  return graph;
}

static const DynoParameter *
find (DynoGraph *graph, const char *name)
{
  GPtrArray *parameters = dyno_graph_get_parameters (graph);
  for (guint i = 0; i < parameters->len; i++)
    if (g_str_equal (((const DynoParameter *) parameters->pdata[i])->name, name))
      return parameters->pdata[i];
  g_error ("there is no parameter “%s”", name);
}

/* The names are torchvision's, and for U-Nets those of segmentation_models_pytorch, without an
 * auxiliary classifier: numbers of trained values, of running statistics, and of entries of
 * state_dict without num_batches_tracked. */
static void
test_names (void)
{
  static const struct {
    const char *model;
    guint32 n_outputs;
    guint64 trained, states;
    guint n;
    struct {
      const char *name;
      guint32 dims[4];
    } parameters[4];
  } cases[] = {
    { "unet_resnet18",
      1,
      14328209,
      11584,
      152,
      { { "encoder.conv1.weight", { 64, 3, 7, 7 } },
        { "encoder.layer4.1.conv2.weight", { 512, 512, 3, 3 } },
        { "decoder.blocks.0.conv1.0.weight", { 256, 768, 3, 3 } },
        { "segmentation_head.0.weight", { 1, 16, 3, 3 } } } },
    { "unet_resnet34",
      1,
      24436369,
      19008,
      232,
      { { "encoder.layer3.5.bn2.running_var", { 256 } },
        { "decoder.blocks.3.conv1.0.weight", { 32, 128, 3, 3 } },
        { "decoder.blocks.4.conv1.0.weight", { 16, 32, 3, 3 } },
        { "decoder.blocks.4.conv2.1.bias", { 16 } } } },
    { "fcn_resnet50",
      21,
      32957013,
      54144,
      272,
      { { "backbone.layer3.0.conv2.weight", { 256, 256, 3, 3 } },
        { "backbone.layer4.0.downsample.0.weight", { 2048, 1024, 1, 1 } },
        { "classifier.0.weight", { 512, 2048, 3, 3 } },
        { "classifier.4.weight", { 21, 512, 1, 1 } } } },
    { "deeplabv3_resnet50",
      21,
      39638869,
      56704,
      302,
      { { "classifier.0.convs.0.0.weight", { 256, 2048, 1, 1 } },
        { "classifier.0.convs.3.0.weight", { 256, 2048, 3, 3 } },
        { "classifier.0.convs.4.1.weight", { 256, 2048, 1, 1 } },
        { "classifier.0.project.0.weight", { 256, 1280, 1, 1 } } } },
    { "lraspp_mobilenet_v3_large",
      21,
      3221538,
      24656,
      272,
      { { "backbone.13.block.1.0.weight", { 672, 1, 5, 5 } },
        { "backbone.16.0.weight", { 960, 160, 1, 1 } },
        { "classifier.scale.1.weight", { 128, 960, 1, 1 } },
        { "classifier.low_classifier.weight", { 21, 40, 1, 1 } } } },
    { "unet_small",
      3,
      /* 3x3 convolutions with batch norms, from and to these numbers of channels, and the head */
      9
              * (3 * 8 + 8 * 8 + 8 * 16 + 16 * 16 + 16 * 32 + 32 * 32 + 32 * 64 + 64 * 64 + 96 * 32
                 + 32 * 32 + 48 * 16 + 16 * 16 + 24 * 8 + 8 * 8)
          + 2 * 2 * (8 + 16 + 32 + 64 + 32 + 16 + 8) + 27,
      2 * 2 * (8 + 16 + 32 + 64 + 32 + 16 + 8),
      14 * 5 + 2,
      { { "down.0.0.0.weight", { 8, 3, 3, 3 } },
        { "down.3.1.1.running_mean", { 64 } },
        { "up.1.0.0.weight", { 16, 48, 3, 3 } },
        { "head.weight", { 3, 8, 1, 1 } } } },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (DynoGraph) graph = build (cases[i].model, 1, 64, 64, cases[i].n_outputs, NULL);
      GPtrArray *parameters = dyno_graph_get_parameters (graph);
      guint64 trained = 0, states = 0;
      for (guint k = 0; k < parameters->len; k++)
        {
          const DynoParameter *parameter = g_ptr_array_index (parameters, k);
          *(parameter->is_state ? &states : &trained) += dyno_parameter_count (parameter);
        }
      g_test_message ("%s", cases[i].model);
      g_assert_cmpuint (trained, ==, cases[i].trained);
      g_assert_cmpuint (states, ==, cases[i].states);
      g_assert_cmpuint (parameters->len, ==, cases[i].n);
      for (guint k = 0; k < 4; k++)
        {
          const DynoParameter *one = find (graph, cases[i].parameters[k].name);
          const guint32 *dims = cases[i].parameters[k].dims;
          for (guint d = 0; d < 4; d++)
            g_assert_cmpuint (d < one->n_dims ? one->dims[d] : 0, ==, dims[d]);
        }
    }
}

/* The sides may also be no multiples of 32, or the smallest that the model supports. */
static void
test_sizes (void)
{
  static const guint32 sizes[][2] = { { 64, 96 }, { 45, 71 }, { 0, 0 } };
  guint n = 0;
  for (const DynoModel *const *model = dyno_model_list (); *model; model++)
    for (guint i = 0; i < G_N_ELEMENTS (sizes) && (*model)->of_pixels; i++)
      {
        guint32 h = MAX (sizes[i][0], (*model)->min_size),
                w = MAX (sizes[i][1], (*model)->min_size);
        g_autoptr (DynoGraph) graph = build ((*model)->name, 0.25, h, w, 5, NULL);
        const DynoTensor *logits = dyno_network_get_logits (graph);
        g_assert_true (logits->n == 2 && logits->h == h && logits->w == w && logits->c == 5);
        n += i == 0;
      }
  g_assert_cmpuint (n, ==, 6);
}

/* The dilated networks keep an eighth of the side, the mobile one a sixteenth.  Each row has a
 * tensor, by the name of its op, and the dilation of its convolution. */
static void
test_dilation (void)
{
  static const struct {
    const char *model, *node;
    guint32 side, dilation;
  } cases[] = {
    { "fcn_resnet50", "backbone.layer3.0.conv2", 12, 0 },
    { "fcn_resnet50", "backbone.layer3.1.conv2", 12, 2 },
    { "fcn_resnet50", "backbone.layer4.0.conv2", 12, 2 },
    { "fcn_resnet50", "backbone.layer4.2.conv2", 12, 4 },
    { "deeplabv3_resnet50", "classifier.0.convs.2.0", 12, 24 },
    { "lraspp_mobilenet_v3_large", "backbone.4.block.3.0", 12, 0 },
    { "lraspp_mobilenet_v3_large", "backbone.12.block.1.0", 6, 0 },
    { "lraspp_mobilenet_v3_large", "backbone.13.block.1.0", 6, 2 },
    { "lraspp_mobilenet_v3_large", "backbone.15.block.1.0", 6, 2 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (DynoGraph) graph = build (cases[i].model, 0.25, 96, 96, 5, NULL);
      GPtrArray *nodes = dyno_graph_get_nodes (graph);
      guint found = 0;
      for (guint k = 0; k < nodes->len; k++)
        {
          const DynoNode *node = g_ptr_array_index (nodes, k);
          double dilation = -1;
          if (!g_str_equal (node->name, cases[i].node))
            continue;
          found++;
          g_assert_true (dyno_node_get_attribute (node, "dilation_h", &dilation));
          g_assert_cmpfloat (dilation, ==, cases[i].dilation);
          g_assert_cmpuint (node->outputs[0]->h, ==, cases[i].side);
        }
      g_test_message ("%s", cases[i].node);
      g_assert_cmpuint (found, ==, 1);
    }
}

/* A decoder's weight reads first the channels from the level below, by the nearest pixel, then
 * those of the encoder. */
static void
test_skips (void)
{
  static const char *const skips[] = { "encoder.layer3.1.relu", "encoder.layer2.1.relu",
                                       "encoder.layer1.1.relu", "encoder.relu" };
  g_autoptr (DynoGraph) graph = build ("unet_resnet18", 0.25, 64, 64, 5, NULL);
  GPtrArray *nodes = dyno_graph_get_nodes (graph);
  guint found = 0;
  for (guint i = 0; i < nodes->len; i++)
    {
      const DynoNode *node = g_ptr_array_index (nodes, i), *below;
      if (!g_str_equal (node->op->name, "concat"))
        continue;
      below = node->inputs[0]->producer;
      g_assert_cmpstr (below->op->name, ==, "resize");
      g_assert_cmpuint (2 * below->inputs[0]->h, ==, node->inputs[0]->h);
      g_assert_cmpstr (node->inputs[1]->name, ==, skips[found++]);
    }
  g_assert_cmpuint (found, ==, G_N_ELEMENTS (skips));
}

/* The head is the last convolution: other classes replace it, it has a learning rate of its own,
 * and the layers below it may be frozen.  LR-ASPP adds the outputs of two convolutions. */
static void
test_head (void)
{
  static const struct {
    const char *model, *weight, *added, *freeze;
    guint n_trained;
  } cases[] = {
    { "unet_small", "head.weight", NULL, "down,up", 2 },
    { "unet_resnet18", "segmentation_head.0.weight", NULL, "encoder,decoder", 2 },
    { "fcn_resnet50", "classifier.4.weight", NULL, "backbone,classifier.0,classifier.1", 2 },
    { "deeplabv3_resnet50", "classifier.4.weight", NULL,
      "backbone,classifier.0,classifier.1,classifier.2", 2 },
    { "lraspp_mobilenet_v3_large", "classifier.high_classifier.weight",
      "classifier.low_classifier.weight", "backbone,classifier.cbr,classifier.scale", 4 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (DynoGraph) graph = build (cases[i].model, 0.25, 64, 64, 5, cases[i].freeze);
      GPtrArray *parameters = dyno_graph_get_parameters (graph);
      guint trained = 0;
      DynoHead head;
      g_test_message ("%s", cases[i].model);
      g_assert_true (dyno_network_get_head (graph, &head));
      g_assert_cmpstr (head.weight->name, ==, cases[i].weight);
      g_assert_cmpuint (head.axis, ==, 0);
      g_assert_cmpuint (head.weight->dims[0], ==, 5);
      g_assert_cmpuint (head.bias->dims[0], ==, 5);
      g_assert_cmpstr (head.added_weight ? head.added_weight->name : NULL, ==, cases[i].added);
      g_assert_cmpint (head.added_bias != NULL, ==, cases[i].added != NULL);
      g_assert_cmpint (head.is_linear, ==, cases[i].added == NULL);
      for (guint k = 0; k < parameters->len; k++)
        {
          const DynoParameter *parameter = g_ptr_array_index (parameters, k);
          trained += !parameter->is_state && !parameter->is_frozen;
        }
      g_assert_cmpuint (trained, ==, cases[i].n_trained);
      /* all trained parameters have the head's learning rate */
      g_assert_cmpuint (graph->head_start, ==, 0);
    }
}

/* The range without the head's own rate ends before the first of two layers. */
static void
test_head_start (void)
{
  g_autoptr (DynoGraph) graph = build ("lraspp_mobilenet_v3_large", 0.25, 64, 64, 5, NULL);
  g_assert_cmpuint (graph->head_start, ==,
                    find (graph, "classifier.low_classifier.weight")->element_offset);
}

/* In training, batch norms whose outputs the decoder reads too still include the sum and the
 * activation, and the kernels that make the gradients add those of both readers.  Only the first
 * pooling has another reader of its input. */
static void
test_fusions (void)
{
  static const char *const gone[] = { "relu", "relu_backward", "add", "sum", "accumulate" };
  const DynoModel *model = dyno_model_find ("unet_resnet18", NULL);
  g_autoptr (DynoGraph) graph = dyno_graph_new (&(DynoGraphParams){ .batch = 2, .training = TRUE });
  DynoTensor *x = dyno_graph_activation (graph, "x", 2, 64, 64, 3),
             *y = model->build (graph, x, &(DynoModelParams){ .n_outputs = 5, .width = 0.25 });
  g_autoptr (GError) error = NULL;
  guint norms = 0, pools = 0;

  dyno_graph_place_parameters (graph);
  y->gradient = dyno_graph_activation (graph, "dy", y->n, y->h, y->w, y->c);
  dyno_fusion_apply_stage (DYNO_FUSION_FORWARD, graph);
  dyno_graph_backward (graph);
  dyno_fusion_apply_stage (DYNO_FUSION_BACKWARD, graph);
  dyno_graph_check (graph, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const DynoNode *node = g_ptr_array_index (graph->nodes, i);
      const DynoTensor *read = node->n_inputs > 0 ? node->inputs[0] : NULL;
      double statistics = 0;
      for (guint k = 0; k < G_N_ELEMENTS (gone); k++)
        g_assert_cmpstr (node->op->name, !=, gone[k]);
      pools += g_str_equal (node->op->name, "max_pool");
      if (!g_str_equal (node->op->name, "batch_norm_stats"))
        continue;
      norms++;
      g_assert_true (dyno_node_get_attribute (read->producer, "fused.statistics", &statistics));
      g_assert_cmpfloat (statistics, ==, 1);
    }
  g_assert_cmpuint (norms, ==, 30);
  g_assert_cmpuint (pools, ==, 1);
}

/* --- gradients -------------------------------------------------------------------------------- */

#define SIDE 13
#define OUT  3

typedef struct {
  double *x, *dy, loss, slope;
} Step;

static DynoTensor *
level (DynoGraph *graph, DynoTensor *x, const char *name)
{
  g_autofree char *norm = g_strconcat (name, ".norm", NULL),
                  *act = g_strconcat (name, ".act", NULL);
  const DynoConv2dParams params = { .out_channels = 8,
                                    .kernel_h = 3,
                                    .kernel_w = 3,
                                    .pad_h = 1,
                                    .pad_w = 1,
                                    .init = DYNO_INIT_KAIMING_UNIFORM };
  x = dyno_batch_norm (graph, dyno_conv2d (graph, x, name, &params), norm);
  return dyno_activation (graph, x, DYNO_ACTIVATION_SILU, act);
}

/* A U-Net of two levels without activations: the pooling and the second level, which is enlarged
 * from 6 to 13 pixels, both read its first level; the logits are enlarged from 13 to 20. */
static DynoTensor *
build_tiny (DynoGraph *graph, DynoTensor *x)
{
  const DynoConv2dParams last = { .out_channels = OUT,
                                  .kernel_h = 1,
                                  .kernel_w = 1,
                                  .bias = TRUE,
                                  .init = DYNO_INIT_KAIMING_UNIFORM };
  const DynoAvgPoolParams pool = { .kernel_h = 2, .kernel_w = 2 };
  DynoTensor *skip = level (graph, x, "first"),
             *low = level (graph, dyno_avg_pool (graph, skip, "pool", &pool), "second"),
             *up = dyno_resize (graph, low, "up",
                                &(DynoResizeParams){ .height = SIDE,
                                                     .width = SIDE,
                                                     .mode = DYNO_RESIZE_FLOOR,
                                                     .places = DYNO_RESIZE_ASYMMETRIC });
  up = dyno_concat (graph, (DynoTensor *[]){ up, skip }, 2, "cat");
  return dyno_resize (graph, dyno_conv2d (graph, level (graph, up, "third"), "head", &last),
                      "resize",
                      &(DynoResizeParams){ .height = 20,
                                           .width = 20,
                                           .mode = DYNO_RESIZE_LINEAR,
                                           .places = DYNO_RESIZE_HALF_PIXEL });
}

/* sum of dy * logits of the tiny network after moving x by `by` along a direction, and the slope
 * along that direction by its gradients. */
static void
run (Step *s, const double *direction, double by)
{
  const gsize nx = SIDE * SIDE * 3, ny = 20 * 20 * OUT;
  g_autofree double *moved = g_new (double, nx);
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = TRUE, .batch = 1 });
  for (gsize i = 0; i < nx; i++)
    moved[i] = s->x[i] + by * direction[i];
  DynoTensor *x = harness_input (h, "x", 1, SIDE, SIDE, 3, moved),
             *y = build_tiny (harness_graph (h), x);
  g_assert_nonnull (y);
  harness_set_gradient (h, y, s->dy);
  harness_run (h);
  g_autofree double *logits = harness_read (h, y), *dx = harness_read_gradient (h, x);
  s->loss = s->slope = 0;
  for (gsize i = 0; i < ny; i++)
    s->loss += logits[i] * s->dy[i];
  for (gsize i = 0; i < nx; i++)
    s->slope += dx[i] * direction[i];
}

/* The gradient of the image, through the skip, the pooling and both resizes, gives the slope of the
 * logits along some directions. */
static void
test_gradients (void)
{
  const gsize nx = SIDE * SIDE * 3, ny = 20 * 20 * OUT;
  const double by = 2e-3;
  g_autofree double *x = harness_random (1, nx, 1), *dy = harness_random (2, ny, 1);
  for (guint i = 0; i < 3; i++)
    {
      g_autofree double *direction = harness_random (10 + i, nx, 1);
      Step s = { x, dy, 0, 0 }, before = s, after = s;
      run (&s, direction, 0);
      run (&before, direction, -by);
      run (&after, direction, by);
      double slope = (after.loss - before.loss) / (2 * by);
      g_test_message ("by gradients %g, by differences %g", s.slope, slope);
      g_assert_cmpfloat (fabs (slope), >, 0.1);
      g_assert_cmpfloat (fabs (slope - s.slope), <, 0.01 * fabs (slope) + 0.01);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/pixel-models/names-and-counts-are-the-originals", test_names);
  g_test_add_func ("/nn/pixel-models/logits-have-the-size-of-the-picture", test_sizes);
  g_test_add_func ("/nn/pixel-models/dilated-stages-keep-their-size", test_dilation);
  g_test_add_func ("/nn/pixel-models/decoders-read-what-is-below-first", test_skips);
  g_test_add_func ("/nn/pixel-models/last-layer-is-the-head", test_head);
  g_test_add_func ("/nn/pixel-models/head-begins-with-the-first-of-two", test_head_start);
  g_test_add_func ("/nn/pixel-models/fusions-reach-the-encoder", test_fusions);
  g_test_add_func ("/nn/pixel-models/gradients-pass-skips-and-resizing", test_gradients);
  return g_test_run ();
}
