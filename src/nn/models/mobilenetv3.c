/* SPDX-License-Identifier: MIT */
/* MobileNetV3-Small and -Large with torchvision's names and start values.
 * Howard et al., "Searching for MobileNetV3" (2019).  The width scales channels as torchvision's
 * width_mult: to multiples of 8.  The channels are listed for each block, since an architecture
 * search found them.  Batch norms are torchvision's for this network: eps 0.001, momentum 0.01.
 * LR-ASPP has the convolutions of MobileNetV3-Large as its backbone, the last ones dilated. */
#include "intl.h"
#include "models.h"

static const DynoBatchNormParams norm = { .eps = 0.001, .momentum = 0.01 };

/* An inverted residual block: its expanded channels and its output channels, its depthwise kernel
 * and stride. */
typedef struct {
  guint32 expanded, channels, kernel, stride;
  gboolean excitation; /* squeeze-and-excitation after the depthwise convolution */
  DynoActivation activation;
} Block;

typedef struct {
  const Block *blocks;
  guint n_blocks;
  guint32 last_channels; /* of the first linear layer */
} Variant;

#define RE DYNO_ACTIVATION_RELU
#define HS DYNO_ACTIVATION_HARD_SWISH

static const Block small_blocks[] = { { 16, 16, 3, 2, TRUE, RE },  { 72, 24, 3, 2, FALSE, RE },
                                      { 88, 24, 3, 1, FALSE, RE }, { 96, 40, 5, 2, TRUE, HS },
                                      { 240, 40, 5, 1, TRUE, HS }, { 240, 40, 5, 1, TRUE, HS },
                                      { 120, 48, 5, 1, TRUE, HS }, { 144, 48, 5, 1, TRUE, HS },
                                      { 288, 96, 5, 2, TRUE, HS }, { 576, 96, 5, 1, TRUE, HS },
                                      { 576, 96, 5, 1, TRUE, HS } };

static const Block large_blocks[] = {
  { 16, 16, 3, 1, FALSE, RE },  { 64, 24, 3, 2, FALSE, RE },  { 72, 24, 3, 1, FALSE, RE },
  { 72, 40, 5, 2, TRUE, RE },   { 120, 40, 5, 1, TRUE, RE },  { 120, 40, 5, 1, TRUE, RE },
  { 240, 80, 3, 2, FALSE, HS }, { 200, 80, 3, 1, FALSE, HS }, { 184, 80, 3, 1, FALSE, HS },
  { 184, 80, 3, 1, FALSE, HS }, { 480, 112, 3, 1, TRUE, HS }, { 672, 112, 3, 1, TRUE, HS },
  { 672, 160, 5, 2, TRUE, HS }, { 960, 160, 5, 1, TRUE, HS }, { 960, 160, 5, 1, TRUE, HS }
};

#define FIRST_CHANNELS 16

/* In large_blocks: the first block whose output has an eighth of the picture's side, and the first
 * block that is dilated, with its dilation. */
#define LOW_BLOCK     3
#define DILATED_BLOCK 12
#define DILATION      2

/* Expansion (unless it would keep the number of channels), depthwise convolution, excitation,
 * projection without an activation; the input is added where it has the output's shape.  dilation:
 * of the depthwise convolution, in place of its stride; 0: none. */
static DynoTensor *
inverted_residual (DynoGraph *graph, DynoTensor *x, const char *name, const Block *block,
                   double width, guint32 dilation)
{
  guint32 in = x ? x->c : 0, expanded = dyno_model_channels_by_8 (block->expanded, width),
          channels = dyno_model_channels_by_8 (block->channels, width);
  DynoTensor *y = x;
  guint place = 0;
  if (expanded != in)
    y = dyno_model_unit (
        graph, y, name, "block", place++,
        &(DynoModelUnit){
            .channels = expanded, .kernel = 1, .activation = block->activation, .norm = norm });
  y = dyno_model_unit (graph, y, name, "block", place++,
                       &(DynoModelUnit){ .channels = expanded,
                                         .kernel = block->kernel,
                                         .stride = dilation ? 1 : block->stride,
                                         .groups = expanded,
                                         .dilation = dilation,
                                         .activation = block->activation,
                                         .norm = norm });
  if (block->excitation)
    {
      g_autofree char *squeeze = g_strdup_printf ("%s.block.%u", name, place++);
      const DynoModelExcitation excitation = { .squeezed =
                                                   dyno_model_channels_by_8 (expanded / 4, 1.0),
                                               .activation = DYNO_ACTIVATION_RELU,
                                               .factors = DYNO_ACTIVATION_HARD_SIGMOID };
      y = dyno_model_squeeze_excitation (graph, y, squeeze, &excitation);
    }
  y = dyno_model_unit (graph, y, name, "block", place,
                       &(DynoModelUnit){ .channels = channels, .kernel = 1, .norm = norm });
  if (block->stride != 1 || in != channels)
    return y;
  g_autofree char *add = g_strconcat (name, ".add", NULL);
  return dyno_add (graph, y, x, add);
}

/* Block i of the network, features.1 and so on. */
static DynoTensor *
block_of (DynoGraph *graph, DynoTensor *x, const char *list, const Variant *variant, guint i,
          double width, guint32 dilation)
{
  g_autofree char *name = g_strdup_printf ("%s%u", list, i + 1);
  return inverted_residual (graph, x, name, &variant->blocks[i], width, dilation);
}

static DynoTensor *
first_unit (DynoGraph *graph, DynoTensor *x, const char *list, double width)
{
  g_autofree char *name = g_strconcat (list, "0", NULL);
  return dyno_model_named_unit (
      graph, x, name,
      &(DynoModelUnit){ .channels = dyno_model_channels_by_8 (FIRST_CHANNELS, width),
                        .kernel = 3,
                        .stride = 2,
                        .activation = HS,
                        .norm = norm });
}

static DynoTensor *
last_unit (DynoGraph *graph, DynoTensor *x, const char *list, const Variant *variant)
{
  g_autofree char *name = g_strdup_printf ("%s%u", list, variant->n_blocks + 1);
  return dyno_model_named_unit (
      graph, x, name,
      &(DynoModelUnit){
          .channels = x ? 6 * x->c : 0, .kernel = 1, .activation = HS, .norm = norm });
}

static const Variant large = { large_blocks, G_N_ELEMENTS (large_blocks), 1280 };

DynoTensor *
dyno_model_mobilenet_v3_dilated (DynoGraph *graph, DynoTensor *x, const char *prefix, double width,
                                 DynoTensor **low)
{
  x = first_unit (graph, x, prefix, width);
  for (guint i = 0; i < large.n_blocks; i++)
    {
      x = block_of (graph, x, prefix, &large, i, width, i >= DILATED_BLOCK ? DILATION : 0);
      if (i == LOW_BLOCK)
        *low = x;
    }
  return last_unit (graph, x, prefix, &large);
}

static DynoTensor *
build (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params, const Variant *variant)
{
  static const char list[] = "features.";
  x = first_unit (graph, x, list, params->width);
  for (guint i = 0; i < variant->n_blocks; i++)
    x = block_of (graph, x, list, variant, i, params->width, 0);
  x = last_unit (graph, x, list, variant);
  x = dyno_global_avg_pool (graph, x, "avgpool");
  x = dyno_linear (graph, x, "classifier.0",
                   dyno_model_channels_by_8 (variant->last_channels, params->width),
                   DYNO_INIT_NORMAL_001);
  x = dyno_activation (graph, x, HS, "classifier.1");
  x = dyno_dropout (graph, x, "classifier.2", params->dropout);
  return dyno_linear (graph, x, "classifier.3", params->n_outputs, DYNO_INIT_NORMAL_001);
}

static DynoTensor *
build_small (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params)
{
  return build (graph, x, params, &(Variant){ small_blocks, G_N_ELEMENTS (small_blocks), 1024 });
}

static DynoTensor *
build_large (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params)
{
  return build (graph, x, params, &large);
}

const DynoModel dyno_model_mobilenet_v3_small = {
  .name = "mobilenet_v3_small",
  .title = "MobileNetV3-Small",
  .summary = N_ ("Inverted residuals for weak processors: the quickest at prediction"),
  .min_size = 32,
  .has_dropout = TRUE,
  .build = build_small
};
const DynoModel dyno_model_mobilenet_v3_large = {
  .name = "mobilenet_v3_large",
  .title = "MobileNetV3-Large",
  .summary = N_ ("Inverted residuals with squeeze-and-excitation: quick at prediction"),
  .min_size = 32,
  .has_dropout = TRUE,
  .build = build_large
};
