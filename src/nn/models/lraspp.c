/* SPDX-License-Identifier: MIT */
/* LR-ASPP with MobileNetV3-Large: a class for each pixel on weak processors.
 * Howard et al., "Searching for MobileNetV3" (2019), as torchvision has it, with its names.  The
 * logits are the sum of two layers: one reads the backbone's output, the other an earlier output of
 * higher resolution. */
#include "intl.h"
#include "models.h"

static DynoTensor *
classifier (DynoGraph *graph, DynoTensor *x, const char *name, guint32 n_outputs)
{
  return dyno_conv2d (graph, x, name,
                      &(DynoConv2dParams){ .out_channels = n_outputs,
                                           .kernel_h = 1,
                                           .kernel_w = 1,
                                           .bias = TRUE,
                                           .init = DYNO_INIT_KAIMING_UNIFORM });
}

/* A unit of x, times a factor for each channel that is computed from the channel means of x. */
static DynoTensor *
weigh (DynoGraph *graph, DynoTensor *x, guint32 channels)
{
  DynoTensor *y = dyno_model_named_unit (
      graph, x, "classifier.cbr",
      &(DynoModelUnit){ .channels = channels, .kernel = 1, .activation = DYNO_ACTIVATION_RELU });
  DynoTensor *factors = dyno_global_avg_pool (graph, x, "classifier.scale.0");
  factors = dyno_conv2d (graph, factors, "classifier.scale.1",
                         &(DynoConv2dParams){ .out_channels = channels,
                                              .kernel_h = 1,
                                              .kernel_w = 1,
                                              .init = DYNO_INIT_KAIMING_UNIFORM });
  factors = dyno_activation (graph, factors, DYNO_ACTIVATION_SIGMOID, "classifier.scale.2");
  return dyno_scale (graph, y, factors, "classifier.mul");
}

static DynoTensor *
build (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params)
{
  DynoTensor *low = NULL,
             *high = dyno_model_mobilenet_v3_dilated (graph, x, "backbone.", params->width, &low);
  if (!high || !low)
    return NULL;
  high = weigh (graph, high, dyno_model_channels_by_8 (128, params->width));
  high = dyno_model_resize_linear (graph, high, "classifier.resize", low->h, low->w);
  low = classifier (graph, low, "classifier.low_classifier", params->n_outputs);
  high = classifier (graph, high, "classifier.high_classifier", params->n_outputs);
  return dyno_model_resize_linear (graph, dyno_add (graph, low, high, "classifier.add"), "resize",
                                   x->h, x->w);
}

const DynoModel dyno_model_lraspp_mobilenet_v3_large = {
  .name = "lraspp_mobilenet_v3_large",
  .title = "LR-ASPP, MobileNetV3-Large",
  .summary = N_ ("A class for each pixel: photographs on weak processors"),
  .min_size = 32,
  .of_pixels = TRUE,
  .build = build
};
