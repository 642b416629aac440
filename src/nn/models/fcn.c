/* SPDX-License-Identifier: MIT */
/* FCN with a dilated ResNet-50: a class for each pixel.
 * Long et al., "Fully Convolutional Networks for Semantic Segmentation" (2015), as torchvision has
 * it, with its names.  Its auxiliary classifier, which only adds a loss in training, is not built:
 * tensors "aux_classifier.*" of a weights file are left unused. */
#include "intl.h"
#include "models.h"

static DynoTensor *
build (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params)
{
  DynoTensor *y = dyno_model_dilated_resnet50 (graph, x, params->width);
  if (!y)
    return NULL;
  y = dyno_model_conv_norm (
      graph, y, "classifier.0", "classifier.1",
      &(DynoModelUnit){ .channels = dyno_model_channels (512, params->width), .kernel = 3 });
  y = dyno_relu (graph, y, "classifier.2");
  y = dyno_dropout (graph, y, "classifier.3", params->dropout);
  return dyno_model_classify_pixels (graph, y, params->n_outputs, x);
}

const DynoModel dyno_model_fcn_resnet50 = {
  .name = "fcn_resnet50",
  .title = "FCN, ResNet-50",
  .summary = N_ (
      "A class for each pixel: large sets of photographs; without torchvision's auxiliary loss"),
  .min_size = 32,
  .has_dropout = TRUE,
  .of_pixels = TRUE,
  .build = build
};
