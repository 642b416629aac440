/* SPDX-License-Identifier: MIT */
/* DenseNet-121 with torchvision's names and start values.
 * Huang et al., "Densely Connected Convolutional Networks" (2017): a layer reads the concatenated
 * outputs of all earlier layers of its block, and adds 32 channels; a transition between blocks
 * halves channels and sides.  The width scales the channels that a layer adds, and with them all
 * others.  torchvision initialises the last layer's bias with 0, this file with PyTorch's start
 * values. */
#include "intl.h"
#include "models.h"

#define GROWTH 32 /* channels that a layer adds */
/* channels between a layer's convolutions, as a multiple of the added channels */
#define BOTTLENECK 4

static const guint blocks[] = { 6, 12, 24, 16 }; /* layers of each block */

/* "name.part"; g_free. */
static char *
join (const char *name, const char *part)
{
  return g_strconcat (name, ".", part, NULL);
}

static DynoTensor *
convolution (DynoGraph *graph, DynoTensor *x, const char *name, guint32 channels, guint32 kernel,
             guint32 stride)
{
  const DynoConv2dParams params = { .out_channels = channels,
                                    .kernel_h = kernel,
                                    .kernel_w = kernel,
                                    .stride_h = stride,
                                    .stride_w = stride,
                                    .pad_h = kernel / 2,
                                    .pad_w = kernel / 2,
                                    .init = DYNO_INIT_KAIMING_NORMAL_IN };
  return dyno_conv2d (graph, x, name, &params);
}

/* Batch norm, ReLU and convolution, in this order: norm, relu and conv are the parts' names. */
static DynoTensor *
norm_conv (DynoGraph *graph, DynoTensor *x, const char *module, const char *const *parts,
           guint32 channels, guint32 kernel)
{
  g_autofree char *norm = join (module, parts[0]), *relu = join (module, parts[1]),
                  *conv = join (module, parts[2]);
  x = dyno_relu (graph, dyno_batch_norm (graph, x, norm), relu);
  return convolution (graph, x, conv, channels, kernel, 1);
}

static DynoTensor *
dense_layer (DynoGraph *graph, DynoTensor *x, const char *name, guint32 growth)
{
  static const char *const first[] = { "norm1", "relu1", "conv1" }, *const second[] = { "norm2",
                                                                                        "relu2",
                                                                                        "conv2" };
  DynoTensor *y = norm_conv (graph, x, name, first, BOTTLENECK * growth, 1);
  return norm_conv (graph, y, name, second, growth, 3);
}

/* Each layer's input is x and the outputs of the layers before it. */
static DynoTensor *
dense_block (DynoGraph *graph, DynoTensor *x, guint number, guint32 growth)
{
  for (guint i = 0; i < blocks[number]; i++)
    {
      g_autofree char *name =
                          g_strdup_printf ("features.denseblock%u.denselayer%u", number + 1, i + 1),
                      *concat = join (name, "concat");
      x = dyno_concat (graph, (DynoTensor *[]){ x, dense_layer (graph, x, name, growth) }, 2,
                       concat);
    }
  return x;
}

static DynoTensor *
transition (DynoGraph *graph, DynoTensor *x, guint number)
{
  static const char *const parts[] = { "norm", "relu", "conv" };
  g_autofree char *name = g_strdup_printf ("features.transition%u", number + 1),
                  *pool = join (name, "pool");
  x = norm_conv (graph, x, name, parts, x ? x->c / 2 : 1, 1);
  return dyno_avg_pool (graph, x, pool, &(DynoAvgPoolParams){ .kernel_h = 2, .kernel_w = 2 });
}

static DynoTensor *
build (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params)
{
  guint32 growth = dyno_model_channels (GROWTH, params->width);
  x = convolution (graph, x, "features.conv0", 2 * growth, 7, 2);
  x = dyno_relu (graph, dyno_batch_norm (graph, x, "features.norm0"), "features.relu0");
  x = dyno_max_pool (graph, x, "features.pool0", 3, 2, 1);
  for (guint i = 0; i < G_N_ELEMENTS (blocks); i++)
    {
      x = dense_block (graph, x, i, growth);
      if (i + 1 < G_N_ELEMENTS (blocks))
        x = transition (graph, x, i);
    }
  x = dyno_relu (graph, dyno_batch_norm (graph, x, "features.norm5"), "relu");
  x = dyno_global_avg_pool (graph, x, "avgpool");
  return dyno_linear (graph, x, "classifier", params->n_outputs, DYNO_INIT_KAIMING_UNIFORM);
}

const DynoModel dyno_model_densenet121 = {
  .name = "densenet121",
  .title = "DenseNet-121",
  .summary = N_ ("Layers that read all layers before them: medical pictures, much memory"),
  .min_size = 32,
  .build = build
};
