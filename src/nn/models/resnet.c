/* SPDX-License-Identifier: MIT */
/* ResNet-18, -34, -50 and -101 and ResNeXt-50 with torchvision's names and start values.
 * He et al., "Deep Residual Learning for Image Recognition" (2015); the stride lies in the 3x3
 * convolution of a bottleneck (torchvision's "v1.5").
 * Xie et al., "Aggregated Residual Transformations for Deep Neural Networks" (2016): the 3x3
 * convolution has groups, and more channels for it.
 * The head pose models are ResNet-18 and -50 with three outputs, the angles of a head in degrees:
 * torchvision's resnet18 (num_classes=3) has the same parameters. */
#include "models.h"

typedef struct {
  gboolean bottleneck;
  guint blocks[4];
  /* groups of the 3x3 convolutions of bottlenecks, and their channels in the first layer; 0: one
   * group as wide as the block */
  guint32 groups, group_channels;
} Variant;

typedef struct {
  DynoGraph *graph;
  const Variant *variant;
  double width;
} Builder;

/* "prefix.suffix"; g_free. */
static char *
join (const char *prefix, const char *suffix)
{
  return g_strconcat (prefix, ".", suffix, NULL);
}

/* The parameters of a convolution. */
typedef struct {
  guint32 channels, kernel, stride;
  guint32 groups; /* 0 reads as 1 */
} Conv;

/* Convolution without bias and batch norm, named prefix.conv and prefix.norm. */
static DynoTensor *
conv_norm (Builder *b, DynoTensor *x, const char *conv, const char *norm, Conv c)
{
  DynoConv2dParams params = { .out_channels = c.channels,
                              .kernel_h = c.kernel,
                              .kernel_w = c.kernel,
                              .stride_h = c.stride,
                              .stride_w = c.stride,
                              .pad_h = c.kernel / 2,
                              .pad_w = c.kernel / 2,
                              .groups = c.groups,
                              .init = DYNO_INIT_KAIMING_NORMAL_OUT };
  return dyno_batch_norm (b->graph, dyno_conv2d (b->graph, x, conv, &params), norm);
}

/* The same inside of a block: "<block>.conv<i>" and "<block>.bn<i>", with a ReLU unless it is the
 * last. */
static DynoTensor *
unit (Builder *b, DynoTensor *x, const char *block, guint index, Conv c, gboolean relu)
{
  g_autofree char *conv = g_strdup_printf ("%s.conv%u", block, index),
                  *norm = g_strdup_printf ("%s.bn%u", block, index);
  g_autofree char *act = g_strdup_printf ("%s.relu%u", block, index);
  x = conv_norm (b, x, conv, norm, c);
  return relu ? dyno_relu (b->graph, x, act) : x;
}

/* The channels of a bottleneck whose groups have so many channels for each 64 of the block's
 * channels. */
static guint32
grouped_channels (const Builder *b, guint32 channels)
{
  const Variant *v = b->variant;
  return v->groups * dyno_model_channels (v->group_channels * (channels / 64), b->width);
}

static DynoTensor *
residual_block (Builder *b, DynoTensor *x, const char *name, guint32 channels, guint32 stride)
{
  guint32 inner = dyno_model_channels (channels, b->width);
  guint32 outer = b->variant->bottleneck ? dyno_model_channels (channels * 4, b->width) : inner;
  DynoTensor *identity = x, *y;
  if (b->variant->groups > 1)
    inner = grouped_channels (b, channels);
  if (b->variant->bottleneck)
    {
      y = unit (b, x, name, 1, (Conv){ inner, 1, 1, 1 }, TRUE);
      y = unit (b, y, name, 2, (Conv){ inner, 3, stride, b->variant->groups }, TRUE);
      y = unit (b, y, name, 3, (Conv){ outer, 1, 1, 1 }, FALSE);
    }
  else
    {
      y = unit (b, x, name, 1, (Conv){ inner, 3, stride, 1 }, TRUE);
      y = unit (b, y, name, 2, (Conv){ outer, 3, 1, 1 }, FALSE);
    }
  if (x && (stride != 1 || x->c != outer))
    {
      g_autofree char *conv = join (name, "downsample.0"), *norm = join (name, "downsample.1");
      identity = conv_norm (b, x, conv, norm, (Conv){ outer, 1, stride, 1 });
    }
  g_autofree char *add = join (name, "add"), *relu = join (name, "relu");
  return dyno_relu (b->graph, dyno_add (b->graph, y, identity, add), relu);
}

static DynoTensor *
build (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params, const Variant *variant)
{
  Builder b = { graph, variant, params->width };
  x = conv_norm (&b, x, "conv1", "bn1", (Conv){ dyno_model_channels (64, params->width), 7, 2, 1 });
  x = dyno_relu (graph, x, "relu");
  x = dyno_max_pool (graph, x, "maxpool", 3, 2, 1);
  for (guint layer = 0; layer < 4; layer++)
    for (guint i = 0; i < variant->blocks[layer]; i++)
      {
        g_autofree char *name = g_strdup_printf ("layer%u.%u", layer + 1, i);
        x = residual_block (&b, x, name, 64u << layer, layer > 0 && i == 0 ? 2 : 1);
      }
  x = dyno_global_avg_pool (graph, x, "avgpool");
  return dyno_linear (graph, x, "fc", params->n_outputs, DYNO_INIT_KAIMING_UNIFORM);
}

static DynoTensor *
build_18 (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params)
{
  return build (graph, x, params, &(Variant){ FALSE, { 2, 2, 2, 2 }, 0, 0 });
}

static DynoTensor *
build_34 (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params)
{
  return build (graph, x, params, &(Variant){ FALSE, { 3, 4, 6, 3 }, 0, 0 });
}

static DynoTensor *
build_50 (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params)
{
  return build (graph, x, params, &(Variant){ TRUE, { 3, 4, 6, 3 }, 0, 0 });
}

static DynoTensor *
build_101 (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params)
{
  return build (graph, x, params, &(Variant){ TRUE, { 3, 4, 23, 3 }, 0, 0 });
}

static DynoTensor *
build_next_50 (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params)
{
  return build (graph, x, params, &(Variant){ TRUE, { 3, 4, 6, 3 }, 32, 4 });
}

const DynoModel dyno_model_resnet18 = { .name = "resnet18",
                                        .title = "ResNet-18",
                                        .summary = "Residual network of 18 layers: photographs",
                                        .min_size = 32,
                                        .build = build_18 };
const DynoModel dyno_model_resnet34 = {
  .name = "resnet34",
  .title = "ResNet-34",
  .summary = "Residual network of 34 layers: photographs, more of them",
  .min_size = 32,
  .build = build_34
};
const DynoModel dyno_model_resnet50 = {
  .name = "resnet50",
  .title = "ResNet-50",
  .summary = "Residual network of 50 layers with bottlenecks: large sets of photographs",
  .min_size = 32,
  .build = build_50
};
const DynoModel dyno_model_resnet101 = {
  .name = "resnet101",
  .title = "ResNet-101",
  .summary = "Residual network of 101 layers with bottlenecks: large sets, much memory",
  .min_size = 32,
  .build = build_101
};
const DynoModel dyno_model_resnext50 = {
  .name = "resnext50_32x4d",
  .title = "ResNeXt-50 32x4d",
  .summary = "ResNet-50 with 32 groups a bottleneck: large sets, better than its size",
  .min_size = 32,
  .build = build_next_50
};

/* Head pose */

static const char *const angles[] = { "yaw", "pitch", "roll" };

const DynoModel dyno_model_headpose_resnet18 = {
  .name = "headpose_resnet18",
  .title = "Head pose, ResNet-18",
  .summary = "Yaw, pitch and roll of a head in degrees, from its picture",
  .min_size = 32,
  .n_values = G_N_ELEMENTS (angles),
  .value_names = angles,
  .value_unit = "degrees",
  .build = build_18
};
const DynoModel dyno_model_headpose_resnet50 = {
  .name = "headpose_resnet50",
  .title = "Head pose, ResNet-50",
  .summary = "Yaw, pitch and roll of a head in degrees, from many pictures",
  .min_size = 32,
  .n_values = G_N_ELEMENTS (angles),
  .value_names = angles,
  .value_unit = "degrees",
  .build = build_50
};
