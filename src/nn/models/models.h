/* SPDX-License-Identifier: MIT */
/* The models of this folder, which the table in registry.c lists.  Private to the nn layer. */
#pragma once
#include "network.h"
#include "ops.h"

G_BEGIN_DECLS

extern const DynoModel dyno_model_simplecnn;
extern const DynoModel dyno_model_resnet18;
extern const DynoModel dyno_model_resnet34;
extern const DynoModel dyno_model_resnet50;
extern const DynoModel dyno_model_resnet101;
extern const DynoModel dyno_model_resnext50;
extern const DynoModel dyno_model_mobilenetv2;
extern const DynoModel dyno_model_mobilenet_v3_small;
extern const DynoModel dyno_model_mobilenet_v3_large;
extern const DynoModel dyno_model_efficientnet_b0;
extern const DynoModel dyno_model_efficientnet_v2_s;
extern const DynoModel dyno_model_densenet121;
extern const DynoModel dyno_model_regnet_x_400mf;
extern const DynoModel dyno_model_regnet_y_400mf;
extern const DynoModel dyno_model_convnext_tiny;
extern const DynoModel dyno_model_vit_tiny;
extern const DynoModel dyno_model_vit_small;
extern const DynoModel dyno_model_vit_b_16;
extern const DynoModel dyno_model_unet_small;
extern const DynoModel dyno_model_unet_resnet18;
extern const DynoModel dyno_model_unet_resnet34;
extern const DynoModel dyno_model_fcn_resnet50;
extern const DynoModel dyno_model_deeplabv3_resnet50;
extern const DynoModel dyno_model_lraspp_mobilenet_v3_large;
extern const DynoModel dyno_model_headpose_resnet18;
extern const DynoModel dyno_model_headpose_resnet50;
extern const DynoModel dyno_model_mlp;
extern const DynoModel dyno_model_cnnlstm;
extern const DynoModel dyno_model_lstm_stack;
extern const DynoModel dyno_model_gru_stack;
extern const DynoModel dyno_model_cnn1d;
extern const DynoModel dyno_model_cnn1d_dilated;
extern const DynoModel dyno_model_wavenet;

/* A convolution without bias, padded to keep the size, then batch norm and the activation. */
typedef struct {
  guint32 channels, kernel;
  guint32 stride, groups, dilation; /* 0 reads as 1 */
  DynoActivation activation;
  DynoBatchNormParams norm;
} DynoModelUnit;

/* A channel count scaled by a width factor, by torchvision's rule: a multiple of 8, at least 8, and
 * no less than nine tenths of the exact product. */
guint32 dyno_model_channels_by_8 (guint32 channels, double width);
DynoTensor *dyno_model_conv_norm (DynoGraph *graph, DynoTensor *x, const char *conv,
                                  const char *norm, const DynoModelUnit *unit);
/* The same with the activation, named like torchvision's Conv2dNormActivation at a place of a list:
 * "<block>.<list>.<place>.0", ".1" and ".2"; list NULL: "<block>.<place>.0". */
DynoTensor *dyno_model_unit (DynoGraph *graph, DynoTensor *x, const char *block, const char *list,
                             guint place, const DynoModelUnit *unit);

/* The same with a name of its own: "<name>.0", ".1" and ".2". */
DynoTensor *dyno_model_named_unit (DynoGraph *graph, DynoTensor *x, const char *name,
                                   const DynoModelUnit *unit);

/* The end of a residual block, x + branch, where a share of the samples skips the branch in
 * training.  Named "<block>.stochastic_depth" and "<block>.add". */
DynoTensor *dyno_model_residual (DynoGraph *graph, DynoTensor *branch, DynoTensor *x,
                                 const char *block, double share);

/* Squeeze-and-excitation, (N, H, W, C) -> (N, H, W, C): x times a factor for each channel, which
 * two 1x1 convolutions compute from the channels' means.  Named like torchvision's
 * SqueezeExcitation: "<name>.fc1" and ".fc2". */
typedef struct {
  guint32 squeezed; /* channels between the two convolutions */
  DynoActivation activation, factors;
} DynoModelExcitation;
DynoTensor *dyno_model_squeeze_excitation (DynoGraph *graph, DynoTensor *x, const char *name,
                                           const DynoModelExcitation *params);

/* A block of models over sequences: convolution over five steps without bias, batch norm, ReLU and
 * max pooling over DYNO_MODEL_STEPS, at consecutive places of a list from `place` on; list NULL:
 * the places are the names. */
#define DYNO_MODEL_STEPS 2
DynoTensor *dyno_model_steps_block (DynoGraph *graph, DynoTensor *x, const char *list, guint place,
                                    guint32 channels);

/* Backbones: networks without their last layers, for models of pixels. ------------------------- */

typedef enum {
  DYNO_MODEL_RESNET_18,
  DYNO_MODEL_RESNET_34,
  DYNO_MODEL_RESNET_50,
  DYNO_MODEL_RESNET_101,
  DYNO_MODEL_RESNEXT_50,
} DynoModelResnetKind;

typedef struct {
  DynoModelResnetKind kind;
  double width;
  const char *prefix; /* prefix of torchvision's names: "encoder."; "": none */
  /* torchvision's replace_stride_with_dilation (False, True, True), for kinds with bottlenecks: the
   * last two layers have an eighth of the picture's side, as the second layer has */
  gboolean dilated;
} DynoModelResnet;

/* (N, H, W, C) -> the outputs of the first convolution, with batch norm and ReLU, at half the side,
 * and of the four layers, at a quarter and so on. */
#define DYNO_MODEL_RESNET_STAGES 5
void dyno_model_resnet_stages (DynoGraph *graph, DynoTensor *x, const DynoModelResnet *params,
                               DynoTensor *stages[DYNO_MODEL_RESNET_STAGES]);

/* The last of these outputs, of a dilated ResNet-50 with the prefix "backbone."; NULL: the graph
 * has failed. */
DynoTensor *dyno_model_dilated_resnet50 (DynoGraph *graph, DynoTensor *x, double width);

/* torchvision's "classifier.4", a 1x1 convolution to n outputs, resized to the size of `input`. */
DynoTensor *dyno_model_classify_pixels (DynoGraph *graph, DynoTensor *x, guint32 n_outputs,
                                        const DynoTensor *input);

/* MobileNetV3-Large up to its last convolution, as torchvision's dilated=True has it: the last
 * blocks have a sixteenth of the picture's side.  Names are "<prefix>0.0.weight".  *low: the first
 * output at an eighth of the side. */
DynoTensor *dyno_model_mobilenet_v3_dilated (DynoGraph *graph, DynoTensor *x, const char *prefix,
                                             double width, DynoTensor **low);

/* x at another size by linear interpolation, PyTorch's interpolate with align_corners=False; or by
 * the nearest pixel, PyTorch's default. */
DynoTensor *dyno_model_resize_linear (DynoGraph *graph, DynoTensor *x, const char *name,
                                      guint32 height, guint32 width);
DynoTensor *dyno_model_resize_nearest (DynoGraph *graph, DynoTensor *x, const char *name,
                                       guint32 height, guint32 width);

/* A channel count scaled by a width factor: at least 1. */
static inline guint32
dyno_model_channels (guint32 channels, double width)
{
  double scaled = (double) channels * width + 0.5;
  return scaled < 1.0 ? 1 : (guint32) scaled;
}

G_END_DECLS
