/* SPDX-License-Identifier: MIT */
/* Dilated 1-D CNN, for sequences (T, F): five blocks of convolution over three steps, batch norm
 * and ReLU with 64 channels, whose taps are 1, 2, 4, 8 and 16 steps apart, so that an output sees
 * 63 steps and no step is pooled away; the mean of the steps that count; a linear layer.  An image
 * is read as the sequence of its rows.  Parameter names are those of one nn.Sequential: blocks
 * begin at 0, 3, 6, 9, 12, then AdaptiveAvgPool1d, Flatten, and the linear layer at 17; the width
 * scales channels.
 * Yu and Koltun, "Multi-Scale Context Aggregation by Dilated Convolutions" (2015). */
#include "intl.h"
#include "models.h"

#define BLOCKS 5

static DynoTensor *
append_block (DynoGraph *graph, DynoTensor *x, guint place, guint32 channels, guint32 dilation)
{
  g_autofree char *conv = g_strdup_printf ("%u", place), *norm = g_strdup_printf ("%u", place + 1),
                  *relu = g_strdup_printf ("%u", place + 2);
  const DynoConv2dParams params = { .out_channels = channels,
                                    .kernel_w = 3,
                                    .pad_w = dilation,
                                    .dilation_w = dilation,
                                    .init = DYNO_INIT_KAIMING_UNIFORM };
  x = dyno_batch_norm (graph, dyno_conv1d (graph, x, conv, &params), norm);
  return dyno_relu (graph, x, relu);
}

static DynoTensor *
build (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params)
{
  guint32 channels = dyno_model_channels (64, params->width);
  x = dyno_rows (graph, x, "rows");
  for (guint i = 0; i < BLOCKS; i++)
    x = append_block (graph, x, 3 * i, channels, 1u << i);
  x = dyno_mean_step (graph, x, "15", &(DynoSequence){ .lengths = params->lengths });
  return dyno_linear (graph, x, "17", params->n_outputs, DYNO_INIT_KAIMING_UNIFORM);
}

const DynoModel dyno_model_cnn1d_dilated = {
  .name = "cnn1d_dilated",
  .title = "Dilated 1-D CNN",
  .summary = N_ ("Dilated convolutions over time, wide receptive field at full rate: sequences"),
  .min_size = 1,
  .reads_lengths = TRUE,
  .build = build
};
