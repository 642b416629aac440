/* SPDX-License-Identifier: MIT */
/* EfficientNet-B0 and EfficientNetV2-S with torchvision's names.
 * Tan and Le, "EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks" (2019),
 * and "EfficientNetV2: Smaller Models and Faster Training" (2021), whose first stages have one
 * dense convolution in place of the expansion and the depthwise convolution.
 * The width scales channels to multiples of 8.  In training a share of the samples, which grows
 * with the index of the block, skips the blocks of V2; blocks of B0, which torchvision skips with
 * up to 0.2, always run.  The classifier has the start values of PyTorch's linear layers. */
#include "intl.h"
#include "models.h"

/* Blocks of one size; the stride is that of the first block. */
typedef struct {
  guint32 expand, kernel, stride, channels, n;
  gboolean fused; /* torchvision's FusedMBConv */
} Stage;

typedef struct {
  const Stage *stages;
  guint n_stages, n_blocks;
  guint32 first_channels;
  guint32 last_channels; /* 0: four times the last stage's channels */
  gboolean skips;        /* stochastic depth */
  DynoBatchNormParams norm;
} Variant;

static const Stage b0_stages[] = { { 1, 3, 1, 16, 1 }, { 6, 3, 2, 24, 2 },  { 6, 5, 2, 40, 2 },
                                   { 6, 3, 2, 80, 3 }, { 6, 5, 1, 112, 3 }, { 6, 5, 2, 192, 4 },
                                   { 6, 3, 1, 320, 1 } };

static const Stage v2_s_stages[] = { { 1, 3, 1, 24, 2, TRUE },   { 4, 3, 2, 48, 4, TRUE },
                                     { 4, 3, 2, 64, 4, TRUE },   { 4, 3, 2, 128, 6, FALSE },
                                     { 6, 3, 1, 160, 9, FALSE }, { 6, 3, 2, 256, 15, FALSE } };

static const Variant b0 = { b0_stages, G_N_ELEMENTS (b0_stages), 16, 32, 0, FALSE, { 0 } };
static const Variant v2_s = { v2_s_stages,     G_N_ELEMENTS (v2_s_stages), 40, 24, 1280, TRUE,
                              { .eps = 0.001 } };

/* torchvision's MBConv, without the residual. */
static DynoTensor *
expand_deep (DynoGraph *graph, DynoTensor *x, const char *name, const Stage *stage, guint32 stride,
             guint32 channels, const DynoBatchNormParams *norm)
{
  guint32 in = x ? x->c : 0, hidden = dyno_model_channels_by_8 (in * stage->expand, 1.0);
  guint place = 0;
  if (hidden != in)
    x = dyno_model_unit (
        graph, x, name, "block", place++,
        &(DynoModelUnit){
            .channels = hidden, .kernel = 1, .activation = DYNO_ACTIVATION_SILU, .norm = *norm });
  x = dyno_model_unit (graph, x, name, "block", place++,
                       &(DynoModelUnit){ .channels = hidden,
                                         .kernel = stage->kernel,
                                         .stride = stride,
                                         .groups = hidden,
                                         .activation = DYNO_ACTIVATION_SILU,
                                         .norm = *norm });
  g_autofree char *squeeze = g_strdup_printf ("%s.block.%u", name, place++);
  x = dyno_model_squeeze_excitation (graph, x, squeeze,
                                     &(DynoModelExcitation){ .squeezed = MAX (1, in / 4),
                                                             .activation = DYNO_ACTIVATION_SILU,
                                                             .factors = DYNO_ACTIVATION_SIGMOID });
  return dyno_model_unit (graph, x, name, "block", place,
                          &(DynoModelUnit){ .channels = channels, .kernel = 1, .norm = *norm });
}

/* torchvision's FusedMBConv, without the residual; without an expansion it is one convolution. */
static DynoTensor *
expand_dense (DynoGraph *graph, DynoTensor *x, const char *name, const Stage *stage, guint32 stride,
              guint32 channels, const DynoBatchNormParams *norm)
{
  guint32 in = x ? x->c : 0, hidden = dyno_model_channels_by_8 (in * stage->expand, 1.0);
  x = dyno_model_unit (graph, x, name, "block", 0,
                       &(DynoModelUnit){ .channels = hidden != in ? hidden : channels,
                                         .kernel = stage->kernel,
                                         .stride = stride,
                                         .activation = DYNO_ACTIVATION_SILU,
                                         .norm = *norm });
  return hidden == in ? x
                      : dyno_model_unit (
                          graph, x, name, "block", 1,
                          &(DynoModelUnit){ .channels = channels, .kernel = 1, .norm = *norm });
}

static DynoTensor *
block (DynoGraph *graph, DynoTensor *x, const char *name, const Stage *stage, guint32 stride,
       guint32 channels, const DynoBatchNormParams *norm, double share)
{
  DynoTensor *y = stage->fused ? expand_dense (graph, x, name, stage, stride, channels, norm)
                               : expand_deep (graph, x, name, stage, stride, channels, norm);
  return y && stride == 1 && x->c == channels ? dyno_model_residual (graph, y, x, name, share) : y;
}

static DynoTensor *
build (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params, const Variant *v)
{
  double depth = v->skips ? params->stochastic_depth : 0;
  guint number = 0;
  x = dyno_model_unit (
      graph, x, "features", NULL, 0,
      &(DynoModelUnit){ .channels = dyno_model_channels_by_8 (v->first_channels, params->width),
                        .kernel = 3,
                        .stride = 2,
                        .activation = DYNO_ACTIVATION_SILU,
                        .norm = v->norm });
  for (guint s = 0; s < v->n_stages; s++)
    for (guint i = 0; i < v->stages[s].n; i++)
      {
        g_autofree char *name = g_strdup_printf ("features.%u.%u", s + 1, i);
        x = block (graph, x, name, &v->stages[s], i == 0 ? v->stages[s].stride : 1,
                   dyno_model_channels_by_8 (v->stages[s].channels, params->width), &v->norm,
                   depth * number++ / v->n_blocks);
      }
  guint32 last = v->last_channels ? dyno_model_channels_by_8 (v->last_channels, params->width)
                 : x              ? 4 * x->c
                                  : 0;
  x = dyno_model_unit (
      graph, x, "features", NULL, v->n_stages + 1,
      &(DynoModelUnit){
          .channels = last, .kernel = 1, .activation = DYNO_ACTIVATION_SILU, .norm = v->norm });
  x = dyno_global_avg_pool (graph, x, "avgpool");
  x = dyno_dropout (graph, x, "classifier.0", params->dropout);
  return dyno_linear (graph, x, "classifier.1", params->n_outputs, DYNO_INIT_KAIMING_UNIFORM);
}

static DynoTensor *
build_b0 (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params)
{
  return build (graph, x, params, &b0);
}

static DynoTensor *
build_v2_s (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params)
{
  return build (graph, x, params, &v2_s);
}

const DynoModel dyno_model_efficientnet_b0 = {
  .name = "efficientnet_b0",
  .title = "EfficientNet-B0",
  .summary = N_ ("Inverted residuals with squeeze-and-excitation: photographs, few parameters"),
  .min_size = 32,
  .has_dropout = TRUE,
  .build = build_b0
};
const DynoModel dyno_model_efficientnet_v2_s = {
  .name = "efficientnet_v2_s",
  .title = "EfficientNetV2-S",
  .summary = N_ ("Dense convolutions first, then inverted residuals: large sets of photographs"),
  .min_size = 32,
  .has_dropout = TRUE,
  .has_stochastic_depth = TRUE,
  .build = build_v2_s
};
