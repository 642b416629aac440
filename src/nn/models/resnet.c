/* SPDX-License-Identifier: MIT */
/* ResNet-18, -34, -50 and -101 and ResNeXt-50 with torchvision's names and start values.
 * He et al., "Deep Residual Learning for Image Recognition" (2015); the stride lies in the 3x3
 * convolution of a bottleneck (torchvision's "v1.5").
 * Xie et al., "Aggregated Residual Transformations for Deep Neural Networks" (2016): the 3x3
 * convolution has groups and more channels.
 * The head pose models are ResNet-18 and -50 with three outputs, the angles of a head in degrees:
 * torchvision's resnet18 (num_classes=3) has the same parameters.
 * Models of pixels use the part before the pooling as their backbone or encoder. */
#include "intl.h"
#include "models.h"

typedef struct {
  gboolean bottleneck;
  guint blocks[4];
  /* groups of the 3x3 convolutions of bottlenecks, and their channels in the first layer; 0: one
   * group as wide as the block */
  guint32 groups, group_channels;
} Variant;

static const Variant variants[] = {
  [DYNO_MODEL_RESNET_18] = { FALSE, { 2, 2, 2, 2 }, 0, 0 },
  [DYNO_MODEL_RESNET_34] = { FALSE, { 3, 4, 6, 3 }, 0, 0 },
  [DYNO_MODEL_RESNET_50] = { TRUE, { 3, 4, 6, 3 }, 0, 0 },
  [DYNO_MODEL_RESNET_101] = { TRUE, { 3, 4, 23, 3 }, 0, 0 },
  [DYNO_MODEL_RESNEXT_50] = { TRUE, { 3, 4, 6, 3 }, 32, 4 },
};

typedef struct {
  DynoGraph *graph;
  const Variant *variant;
  double width;
  const char *prefix; /* prefix of all names */
} Builder;

/* "first.second"; g_free. */
static char *
join (const char *first, const char *second)
{
  return g_strconcat (first, ".", second, NULL);
}

/* The parameters of a convolution. */
typedef struct {
  guint32 channels, kernel, stride;
  guint32 groups, dilation; /* 0 reads as 1 */
} Conv;

/* Convolution without bias, then batch norm, with these names. */
static DynoTensor *
conv_norm (Builder *b, DynoTensor *x, const char *conv, const char *norm, Conv c)
{
  DynoConv2dParams params = { .out_channels = c.channels,
                              .kernel_h = c.kernel,
                              .kernel_w = c.kernel,
                              .stride_h = c.stride,
                              .stride_w = c.stride,
                              .pad_h = c.kernel / 2 * MAX (c.dilation, 1),
                              .pad_w = c.kernel / 2 * MAX (c.dilation, 1),
                              .groups = c.groups,
                              .dilation_h = c.dilation,
                              .dilation_w = c.dilation,
                              .init = DYNO_INIT_KAIMING_NORMAL_OUT };
  return dyno_batch_norm (b->graph, dyno_conv2d (b->graph, x, conv, &params), norm);
}

/* The same inside of a block: "<block>.conv<i>" and "<block>.bn<i>", followed by a ReLU except in a
 * block's last unit. */
static DynoTensor *
unit (Builder *b, DynoTensor *x, const char *block, guint index, Conv c, gboolean relu)
{
  g_autofree char *conv = g_strdup_printf ("%s.conv%u", block, index),
                  *norm = g_strdup_printf ("%s.bn%u", block, index);
  g_autofree char *act = g_strdup_printf ("%s.relu%u", block, index);
  x = conv_norm (b, x, conv, norm, c);
  return relu ? dyno_relu (b->graph, x, act) : x;
}

/* The channels of a bottleneck whose groups have group_channels channels for every 64 channels of
 * the block. */
static guint32
grouped_channels (const Builder *b, guint32 channels)
{
  const Variant *v = b->variant;
  return v->groups * dyno_model_channels (v->group_channels * (channels / 64), b->width);
}

/* dilation: of the 3x3 convolution of a bottleneck, 0 reads as 1 */
static DynoTensor *
residual_block (Builder *b, DynoTensor *x, const char *name, guint32 channels, guint32 stride,
                guint32 dilation)
{
  guint32 inner = dyno_model_channels (channels, b->width);
  guint32 outer = b->variant->bottleneck ? dyno_model_channels (channels * 4, b->width) : inner;
  DynoTensor *identity = x, *y;
  if (b->variant->groups > 1)
    inner = grouped_channels (b, channels);
  if (b->variant->bottleneck)
    {
      y = unit (b, x, name, 1, (Conv){ inner, 1, 1, 1, 0 }, TRUE);
      y = unit (b, y, name, 2, (Conv){ inner, 3, stride, b->variant->groups, dilation }, TRUE);
      y = unit (b, y, name, 3, (Conv){ outer, 1, 1, 1, 0 }, FALSE);
    }
  else
    {
      y = unit (b, x, name, 1, (Conv){ inner, 3, stride, 1, 0 }, TRUE);
      y = unit (b, y, name, 2, (Conv){ outer, 3, 1, 1, 0 }, FALSE);
    }
  if (x && (stride != 1 || x->c != outer))
    {
      g_autofree char *conv = join (name, "downsample.0"), *norm = join (name, "downsample.1");
      identity = conv_norm (b, x, conv, norm, (Conv){ outer, 1, stride, 1, 0 });
    }
  g_autofree char *add = join (name, "add"), *relu = join (name, "relu");
  return dyno_relu (b->graph, dyno_add (b->graph, y, identity, add), relu);
}

/* The blocks of a layer.  dilated: its stride is 1, and the taps of all blocks but the first are
 * twice as far apart as before; *dilation is updated. */
static DynoTensor *
residual_layer (Builder *b, DynoTensor *x, guint layer, gboolean dilated, guint32 *dilation)
{
  guint32 before = *dilation, stride = layer > 0 && !dilated ? 2 : 1;
  if (dilated)
    *dilation *= 2;
  for (guint i = 0; i < b->variant->blocks[layer]; i++)
    {
      guint32 apart = i == 0 ? before : *dilation;
      g_autofree char *name = g_strdup_printf ("%slayer%u.%u", b->prefix, layer + 1, i);
      x = residual_block (b, x, name, 64u << layer, i == 0 ? stride : 1, apart > 1 ? apart : 0);
    }
  return x;
}

void
dyno_model_resnet_stages (DynoGraph *graph, DynoTensor *x, const DynoModelResnet *params,
                          DynoTensor *stages[DYNO_MODEL_RESNET_STAGES])
{
  Builder b = { graph, &variants[params->kind], params->width, params->prefix };
  const guint32 channels = dyno_model_channels (64, params->width);
  guint32 dilation = 1;
  g_autofree char *conv = g_strconcat (b.prefix, "conv1", NULL),
                  *norm = g_strconcat (b.prefix, "bn1", NULL),
                  *relu = g_strconcat (b.prefix, "relu", NULL),
                  *pool = g_strconcat (b.prefix, "maxpool", NULL);
  x = conv_norm (&b, x, conv, norm, (Conv){ channels, 7, 2, 1, 0 });
  stages[0] = dyno_relu (graph, x, relu);
  x = dyno_max_pool (graph, stages[0], pool, 3, 2, 1);
  for (guint layer = 0; layer < 4; layer++)
    {
      gboolean dilated = params->dilated && layer >= 2;
      stages[layer + 1] = x = residual_layer (&b, x, layer, dilated, &dilation);
    }
}

DynoTensor *
dyno_model_dilated_resnet50 (DynoGraph *graph, DynoTensor *x, double width)
{
  DynoTensor *stages[DYNO_MODEL_RESNET_STAGES];
  const DynoModelResnet params = {
    .kind = DYNO_MODEL_RESNET_50, .width = width, .prefix = "backbone.", .dilated = TRUE
  };

  dyno_model_resnet_stages (graph, x, &params, stages);
  return stages[DYNO_MODEL_RESNET_STAGES - 1];
}

static DynoTensor *
build (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params, DynoModelResnetKind kind)
{
  DynoTensor *stages[DYNO_MODEL_RESNET_STAGES];
  dyno_model_resnet_stages (
      graph, x, &(DynoModelResnet){ .kind = kind, .width = params->width, .prefix = "" }, stages);
  x = dyno_global_avg_pool (graph, stages[DYNO_MODEL_RESNET_STAGES - 1], "avgpool");
  return dyno_linear (graph, x, "fc", params->n_outputs, DYNO_INIT_KAIMING_UNIFORM);
}

static DynoTensor *
build_18 (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params)
{
  return build (graph, x, params, DYNO_MODEL_RESNET_18);
}

static DynoTensor *
build_34 (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params)
{
  return build (graph, x, params, DYNO_MODEL_RESNET_34);
}

static DynoTensor *
build_50 (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params)
{
  return build (graph, x, params, DYNO_MODEL_RESNET_50);
}

static DynoTensor *
build_101 (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params)
{
  return build (graph, x, params, DYNO_MODEL_RESNET_101);
}

static DynoTensor *
build_next_50 (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params)
{
  return build (graph, x, params, DYNO_MODEL_RESNEXT_50);
}

const DynoModel dyno_model_resnet18 = { .name = "resnet18",
                                        .title = "ResNet-18",
                                        .summary =
                                            N_ ("Residual network of 18 layers: photographs"),
                                        .min_size = 32,
                                        .build = build_18 };
const DynoModel dyno_model_resnet34 = {
  .name = "resnet34",
  .title = "ResNet-34",
  .summary = N_ ("Residual network of 34 layers: photographs, more of them"),
  .min_size = 32,
  .build = build_34
};
const DynoModel dyno_model_resnet50 = {
  .name = "resnet50",
  .title = "ResNet-50",
  .summary = N_ ("Residual network of 50 layers with bottlenecks: large sets of photographs"),
  .min_size = 32,
  .build = build_50
};
const DynoModel dyno_model_resnet101 = {
  .name = "resnet101",
  .title = "ResNet-101",
  .summary = N_ ("Residual network of 101 layers with bottlenecks: large sets, much memory"),
  .min_size = 32,
  .build = build_101
};
const DynoModel dyno_model_resnext50 = {
  .name = "resnext50_32x4d",
  .title = "ResNeXt-50 32x4d",
  .summary = N_ ("ResNet-50 with 32 groups a bottleneck: large sets, better than its size"),
  .min_size = 32,
  .build = build_next_50
};

/* Head pose */

static const char *const angles[] = { "yaw", "pitch", "roll" };

const DynoModel dyno_model_headpose_resnet18 = {
  .name = "headpose_resnet18",
  .title = "Head pose, ResNet-18",
  .summary = N_ ("Yaw, pitch and roll of a head in degrees, from its picture"),
  .min_size = 32,
  .n_values = G_N_ELEMENTS (angles),
  .value_names = angles,
  .value_unit = "degrees",
  .build = build_18
};
const DynoModel dyno_model_headpose_resnet50 = {
  .name = "headpose_resnet50",
  .title = "Head pose, ResNet-50",
  .summary = N_ ("Yaw, pitch and roll of a head in degrees, from many pictures"),
  .min_size = 32,
  .n_values = G_N_ELEMENTS (angles),
  .value_names = angles,
  .value_unit = "degrees",
  .build = build_50
};
