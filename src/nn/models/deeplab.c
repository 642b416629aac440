/* SPDX-License-Identifier: MIT */
/* DeepLabV3 with a dilated ResNet-50: a class for each pixel.
 * Chen et al., "Rethinking Atrous Convolution for Semantic Image Segmentation" (2017), as
 * torchvision has it, with its names.  Its auxiliary classifier, which only adds a loss in
 * training, is not built: tensors "aux_classifier.*" of a weights file are left unused. */
#include "intl.h"
#include "models.h"

#define N_RATES 3

static const guint32 rates[N_RATES] = { 12, 24, 36 };

/* Parallel units over the same input: a 1x1 unit, three dilated 3x3 units, and one over the mean of
 * all pixels; their outputs are concatenated and projected.  "classifier.0". */
static DynoTensor *
pyramid (DynoGraph *graph, DynoTensor *x, guint32 channels, double dropout)
{
  DynoModelUnit unit = { .channels = channels, .kernel = 1, .activation = DYNO_ACTIVATION_RELU };
  DynoTensor *branches[N_RATES + 2];
  branches[0] = dyno_model_named_unit (graph, x, "classifier.0.convs.0", &unit);
  for (guint i = 0; i < N_RATES; i++)
    branches[i + 1] = dyno_model_unit (graph, x, "classifier.0.convs", NULL, i + 1,
                                       &(DynoModelUnit){ .channels = channels,
                                                         .kernel = 3,
                                                         .dilation = rates[i],
                                                         .activation = DYNO_ACTIVATION_RELU });
  DynoTensor *mean = dyno_global_avg_pool (graph, x, "classifier.0.convs.4.0");
  mean =
      dyno_model_conv_norm (graph, mean, "classifier.0.convs.4.1", "classifier.0.convs.4.2", &unit);
  mean = dyno_relu (graph, mean, "classifier.0.convs.4.3");
  branches[N_RATES + 1] =
      dyno_model_resize_linear (graph, mean, "classifier.0.convs.4.resize", x->h, x->w);
  x = dyno_concat (graph, branches, G_N_ELEMENTS (branches), "classifier.0.cat");
  x = dyno_model_named_unit (graph, x, "classifier.0.project", &unit);
  return dyno_dropout (graph, x, "classifier.0.project.3", dropout);
}

static DynoTensor *
build (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params)
{
  const guint32 channels = dyno_model_channels (256, params->width);
  DynoTensor *y = dyno_model_dilated_resnet50 (graph, x, params->width);
  if (!y)
    return NULL;
  y = pyramid (graph, y, channels, params->dropout);
  y = dyno_model_conv_norm (graph, y, "classifier.1", "classifier.2",
                            &(DynoModelUnit){ .channels = channels, .kernel = 3 });
  y = dyno_relu (graph, y, "classifier.3");
  return dyno_model_classify_pixels (graph, y, params->n_outputs, x);
}

const DynoModel dyno_model_deeplabv3_resnet50 = {
  .name = "deeplabv3_resnet50",
  .title = "DeepLabV3, ResNet-50",
  .summary = N_ ("A class for each pixel: photographs with large and small things; without "
                 "torchvision's auxiliary loss"),
  .min_size = 32,
  .has_dropout = TRUE,
  .of_pixels = TRUE,
  .build = build
};
