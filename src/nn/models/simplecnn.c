/* SPDX-License-Identifier: MIT */
/* SimpleCNN: four blocks of 3x3 convolution, batch norm, ReLU and 2x2 max pooling with 32, 64, 128
 * and 256 channels, global average pool, linear.  Parameter names are those of one nn.Sequential:
 * blocks begin at 0, 4, 8, 12; the linear layer is 18. */
#include "intl.h"
#include "models.h"

static DynoTensor *
block (DynoGraph *graph, DynoTensor *x, guint index, guint32 channels)
{
  g_autofree char *conv = g_strdup_printf ("%u", index), *norm = g_strdup_printf ("%u", index + 1);
  g_autofree char *relu = g_strdup_printf ("%u", index + 2),
                  *pool = g_strdup_printf ("%u", index + 3);
  DynoConv2dParams params = { .out_channels = channels,
                              .kernel_h = 3,
                              .kernel_w = 3,
                              .pad_h = 1,
                              .pad_w = 1,
                              .init = DYNO_INIT_KAIMING_UNIFORM };
  x = dyno_conv2d (graph, x, conv, &params);
  x = dyno_batch_norm (graph, x, norm);
  x = dyno_relu (graph, x, relu);
  return dyno_max_pool (graph, x, pool, 2, 2, 0);
}

static DynoTensor *
build (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params)
{
  static const guint32 channels[] = { 32, 64, 128, 256 };
  for (guint i = 0; i < G_N_ELEMENTS (channels); i++)
    x = block (graph, x, 4 * i, dyno_model_channels (channels[i], params->width));
  x = dyno_global_avg_pool (graph, x, "16");
  return dyno_linear (graph, x, "18", params->n_outputs, DYNO_INIT_KAIMING_UNIFORM);
}

const DynoModel dyno_model_simplecnn = {
  .name = "simplecnn",
  .title = "SimpleCNN",
  .summary = N_ ("Four convolution blocks and a linear layer: small images, first steps"),
  .min_size = 16,
  .build = build
};
