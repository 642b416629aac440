/* SPDX-License-Identifier: MIT */
/* 1-D CNN, for sequences (T, F): three blocks of convolution over five steps, batch norm, ReLU and
 * max pooling over two, with 64, 128 and 256 channels; the mean of the steps that count; a linear
 * layer.  An image is read as the sequence of its rows.  Parameter names are those of one
 * nn.Sequential: blocks begin at 0, 4, 8, then AdaptiveAvgPool1d, Flatten, and the linear layer
 * at 14; the width scales channels. */
#include "intl.h"
#include "models.h"

static DynoTensor *
build (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params)
{
  static const guint32 channels[] = { 64, 128, 256 };
  guint32 stride = 1;
  x = dyno_rows (graph, x, "rows");
  for (guint i = 0; i < G_N_ELEMENTS (channels); i++, stride *= DYNO_MODEL_STEPS)
    x = dyno_model_steps_block (graph, x, NULL, 4 * i,
                                dyno_model_channels (channels[i], params->width));
  x = dyno_mean_step (graph, x, "12",
                      &(DynoSequence){ .lengths = params->lengths, .stride = stride });
  return dyno_linear (graph, x, "14", params->n_outputs, DYNO_INIT_KAIMING_UNIFORM);
}

const DynoModel dyno_model_cnn1d = { .name = "cnn1d",
                                     .title = "1-D CNN",
                                     .summary = N_ ("Convolutions over time: sequences"),
                                     .min_size = 1,
                                     .reads_lengths = TRUE,
                                     .build = build };
