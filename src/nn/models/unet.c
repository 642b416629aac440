/* SPDX-License-Identifier: MIT */
/* U-Net with a ResNet as its encoder: a class for each pixel.
 * Ronneberger et al., "U-Net: Convolutional Networks for Biomedical Image Segmentation" (2015).
 * Names, shapes and order of the channels are those of Unet in segmentation_models_pytorch with
 * encoder_name="resnet34" and its other parameters by default: the encoder is torchvision's ResNet
 * without its last layer.
 *
 * A block of the decoder enlarges its input by nearest-neighbour interpolation to the size of the
 * encoder's output that is concatenated to it; the last block enlarges it to the size of the
 * picture.  Where the picture's sides are multiples of 32, as that package requires, each block
 * doubles the size; here other sides work too. */
#include "intl.h"
#include "models.h"

#define N_BLOCKS 5

static const guint32 decoder_channels[N_BLOCKS] = { 256, 128, 64, 32, 16 };

/* 3x3 convolution, batch norm and ReLU, "<block>.conv<i>.0" and so on. */
static DynoTensor *
unit (DynoGraph *graph, DynoTensor *x, const char *block, guint i, guint32 channels)
{
  g_autofree char *conv = g_strdup_printf ("%s.conv%u.0", block, i),
                  *norm = g_strdup_printf ("%s.conv%u.1", block, i),
                  *relu = g_strdup_printf ("%s.conv%u.2", block, i);
  const DynoConv2dParams params = { .out_channels = channels,
                                    .kernel_h = 3,
                                    .kernel_w = 3,
                                    .pad_h = 1,
                                    .pad_w = 1,
                                    .init = DYNO_INIT_KAIMING_NORMAL_IN };
  x = dyno_batch_norm (graph, dyno_conv2d (graph, x, conv, &params), norm);
  return dyno_relu (graph, x, relu);
}

/* skip: concatenated to x; NULL: none.  size: a tensor of the block's size. */
static DynoTensor *
decoder_block (DynoGraph *graph, DynoTensor *x, DynoTensor *skip, const DynoTensor *size, guint i,
               guint32 channels)
{
  g_autofree char *block = g_strdup_printf ("decoder.blocks.%u", i),
                  *up = g_strconcat (block, ".up", NULL), *cat = g_strconcat (block, ".cat", NULL);
  if (!x || !size)
    return NULL;
  x = dyno_model_resize_nearest (graph, x, up, size->h, size->w);
  if (skip)
    x = dyno_concat (graph, (DynoTensor *[]){ x, skip }, 2, cat);
  return unit (graph, unit (graph, x, block, 1, channels), block, 2, channels);
}

static DynoTensor *
build (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params, DynoModelResnetKind kind)
{
  DynoTensor *stages[DYNO_MODEL_RESNET_STAGES], *y;
  const DynoConv2dParams head = { .out_channels = params->n_outputs,
                                  .kernel_h = 3,
                                  .kernel_w = 3,
                                  .pad_h = 1,
                                  .pad_w = 1,
                                  .bias = TRUE,
                                  .init = DYNO_INIT_KAIMING_UNIFORM };
  dyno_model_resnet_stages (
      graph, x, &(DynoModelResnet){ .kind = kind, .width = params->width, .prefix = "encoder." },
      stages);
  y = stages[DYNO_MODEL_RESNET_STAGES - 1];
  for (guint i = 0; i < N_BLOCKS; i++)
    {
      guint32 channels = dyno_model_channels (decoder_channels[i], params->width);
      DynoTensor *skip = i + 1 < N_BLOCKS ? stages[N_BLOCKS - 2 - i] : NULL;
      y = decoder_block (graph, y, skip, skip ? skip : x, i, channels);
    }
  return dyno_conv2d (graph, y, "segmentation_head.0", &head);
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

const DynoModel dyno_model_unet_resnet18 = {
  .name = "unet_resnet18",
  .title = "U-Net, ResNet-18",
  .summary = N_ ("A class for each pixel: fine outlines, few pictures"),
  .min_size = 32,
  .of_pixels = TRUE,
  .build = build_18
};
const DynoModel dyno_model_unet_resnet34 = {
  .name = "unet_resnet34",
  .title = "U-Net, ResNet-34",
  .summary = N_ ("A class for each pixel: fine outlines, more pictures"),
  .min_size = 32,
  .of_pixels = TRUE,
  .build = build_34
};
