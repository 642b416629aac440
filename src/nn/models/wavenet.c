/* SPDX-License-Identifier: MIT */
/* WaveNet, for sequences (T, F): ten layers whose two taps are 1, 2, 4 ... 512 steps apart, so that
 * an output sees 1024 steps, none of them later than itself; steps past a sequence's length do not
 * influence earlier ones.  A layer computes tanh (a) * sigmoid (b) from the halves of its
 * convolution's output, and passes it through one 1x1 convolution to the next layer, as a residual,
 * and through another to the sum of all layers.  After the sum: ReLU, 1x1 convolution, ReLU; the
 * mean of the steps that count; a linear layer.  An image is read as the sequence of its rows.
 * Van den Oord et al., "WaveNet: A Generative Model for Raw Audio" (2016).
 * Parameter names are those of the PyTorch module: input, layers.0.conv, layers.0.skip,
 * layers.0.residual (not in the last layer, which has no next layer), output, fc.  The width scales
 * channels. */
#include "intl.h"
#include "models.h"

#define LAYERS        10
#define CHANNELS      32
#define SKIP_CHANNELS 64

typedef struct {
  DynoGraph *graph;
  guint32 channels, skip_channels;
} Builder;

/* 1x1 */
static DynoTensor *
point (Builder *b, DynoTensor *x, const char *name, guint32 channels)
{
  return dyno_conv1d (b->graph, x, name,
                      &(DynoConv2dParams){ .out_channels = channels,
                                           .kernel_w = 1,
                                           .bias = TRUE,
                                           .init = DYNO_INIT_KAIMING_UNIFORM });
}

/* A convolution with taps at the step and at `dilation` steps before it. */
static DynoTensor *
causal_convolution (Builder *b, DynoTensor *x, const char *name, guint32 channels, guint32 dilation)
{
  g_autofree char *pad = g_strconcat (name, ".pad", NULL);
  x = dyno_pad (b->graph, x, pad, &(DynoPadParams){ .left = (gint32) dilation });
  return dyno_conv1d (b->graph, x, name,
                      &(DynoConv2dParams){ .out_channels = channels,
                                           .kernel_w = 2,
                                           .dilation_w = dilation,
                                           .bias = TRUE,
                                           .init = DYNO_INIT_KAIMING_UNIFORM });
}

/* Adds the layer's output to *sum, which is NULL before the first layer; returns the next layer's
 * input. */
static DynoTensor *
layer (Builder *b, DynoTensor *x, guint number, DynoTensor **sum)
{
  g_autofree char *name = g_strdup_printf ("layers.%u", number),
                  *conv = g_strconcat (name, ".conv", NULL),
                  *filter = g_strconcat (name, ".filter", NULL),
                  *gate = g_strconcat (name, ".gate", NULL),
                  *tanh = g_strconcat (name, ".tanh", NULL),
                  *sigmoid = g_strconcat (name, ".sigmoid", NULL),
                  *gated = g_strconcat (name, ".gated", NULL),
                  *skip = g_strconcat (name, ".skip", NULL),
                  *total = g_strconcat (name, ".sum", NULL),
                  *residual = g_strconcat (name, ".residual", NULL),
                  *add = g_strconcat (name, ".add", NULL);
  DynoTensor *y = causal_convolution (b, x, conv, 2 * b->channels, 1u << number), *a, *s;
  a = dyno_activation (b->graph, dyno_channels (b->graph, y, filter, 0, b->channels),
                       DYNO_ACTIVATION_TANH, tanh);
  s = dyno_activation (b->graph, dyno_channels (b->graph, y, gate, b->channels, b->channels),
                       DYNO_ACTIVATION_SIGMOID, sigmoid);
  y = dyno_multiply (b->graph, a, s, gated);
  DynoTensor *part = point (b, y, skip, b->skip_channels);
  *sum = *sum ? dyno_add (b->graph, *sum, part, total) : part;
  return number + 1 < LAYERS ? dyno_add (b->graph, point (b, y, residual, b->channels), x, add)
                             : NULL;
}

static DynoTensor *
build (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params)
{
  Builder b = { graph, dyno_model_channels (CHANNELS, params->width),
                dyno_model_channels (SKIP_CHANNELS, params->width) };
  DynoTensor *sum = NULL;
  x = dyno_rows (graph, x, "rows");
  x = point (&b, x, "input", b.channels);
  for (guint i = 0; i < LAYERS; i++)
    x = layer (&b, x, i, &sum);
  x = point (&b, dyno_relu (graph, sum, "relu1"), "output", b.skip_channels);
  x = dyno_relu (graph, x, "relu2");
  x = dyno_mean_step (graph, x, "mean", &(DynoSequence){ .lengths = params->lengths });
  return dyno_linear (graph, x, "fc", params->n_outputs, DYNO_INIT_KAIMING_UNIFORM);
}

const DynoModel dyno_model_wavenet = {
  .name = "wavenet",
  .title = "WaveNet",
  .summary = N_ ("Gated causal convolutions, receptive field of 1024 steps: long sequences, sound"),
  .min_size = 1,
  .reads_lengths = TRUE,
  .build = build
};
