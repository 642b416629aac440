/* SPDX-License-Identifier: MIT */
/* ConvNeXt-Tiny with torchvision's names and start values.
 * Liu et al., "A ConvNet for the 2020s" (2022): four stages of blocks x + scale * f (x), f a
 * depthwise convolution, a layer norm over the channels, and two linear layers on each pixel; a
 * layer norm and a convolution with stride 2 lie between the stages.  In training a share of the
 * samples skips a block; the share grows from 0 in the first block to the setting in the last one.
 * The width scales channels to multiples of 8. */
#include "intl.h"
#include "models.h"

#define EPS 1e-6

static const struct {
  guint32 channels;
  guint n;
} stages[] = { { 96, 3 }, { 192, 3 }, { 384, 9 }, { 768, 3 } };

#define BLOCKS 18 /* in all stages */

/* "name.place"; g_free. */
static char *
at (const char *name, guint place)
{
  return g_strdup_printf ("%s.%u", name, place);
}

/* A convolution over squares that do not overlap: the stride equals the kernel. */
static DynoTensor *
patches (DynoGraph *graph, DynoTensor *x, const char *name, guint32 side, guint32 channels)
{
  const DynoConv2dParams params = { .out_channels = channels,
                                    .kernel_h = side,
                                    .kernel_w = side,
                                    .stride_h = side,
                                    .stride_w = side,
                                    .bias = TRUE,
                                    .init = DYNO_INIT_NORMAL_002 };
  return dyno_conv2d (graph, x, name, &params);
}

static DynoTensor *
block (DynoGraph *graph, DynoTensor *x, const char *name, double share)
{
  guint32 channels = x ? x->c : 1;
  g_autofree char *scale = g_strconcat (name, ".layer_scale", NULL),
                  *list = g_strconcat (name, ".block", NULL), *depthwise = at (list, 0),
                  *norm = at (list, 2), *wide = at (list, 3), *gelu = at (list, 4),
                  *narrow = at (list, 5);
  const DynoConv2dParams params = { .out_channels = channels,
                                    .kernel_h = 7,
                                    .kernel_w = 7,
                                    .pad_h = 3,
                                    .pad_w = 3,
                                    .groups = channels,
                                    .bias = TRUE,
                                    .init = DYNO_INIT_NORMAL_002 };
  /* in torchvision's order this parameter comes before the layers' parameters */
  const DynoParameter *factors =
      dyno_factor_parameter (graph, scale, channels, DYNO_INIT_MILLIONTH);
  DynoTensor *y = dyno_conv2d (graph, x, depthwise, &params);
  y = dyno_layer_norm_with_eps (graph, y, norm, EPS);
  y = dyno_linear (graph, y, wide, 4 * channels, DYNO_INIT_NORMAL_002);
  y = dyno_activation (graph, y, DYNO_ACTIVATION_GELU, gelu);
  y = dyno_linear (graph, y, narrow, channels, DYNO_INIT_NORMAL_002);
  y = dyno_scale_channels_by (graph, y, scale, factors);
  return dyno_model_residual (graph, y, x, name, share);
}

static DynoTensor *
build (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params)
{
  guint place = 0, number = 0;
  for (guint stage = 0; stage < G_N_ELEMENTS (stages); stage++)
    {
      guint32 channels = dyno_model_channels_by_8 (stages[stage].channels, params->width);
      g_autofree char *between = at ("features", place++), *first = at (between, 0),
                      *second = at (between, 1), *list = at ("features", place++);
      if (stage == 0)
        {
          x = patches (graph, x, first, 4, channels);
          x = dyno_layer_norm_with_eps (graph, x, second, EPS);
        }
      else
        {
          x = dyno_layer_norm_with_eps (graph, x, first, EPS);
          x = patches (graph, x, second, 2, channels);
        }
      for (guint i = 0; i < stages[stage].n; i++)
        {
          g_autofree char *name = at (list, i);
          x = block (graph, x, name, params->stochastic_depth * number++ / (BLOCKS - 1));
        }
    }
  x = dyno_global_avg_pool (graph, x, "avgpool");
  x = dyno_layer_norm_with_eps (graph, x, "classifier.0", EPS);
  return dyno_linear (graph, x, "classifier.2", params->n_outputs, DYNO_INIT_NORMAL_002);
}

const DynoModel dyno_model_convnext_tiny = {
  .name = "convnext_tiny",
  .title = "ConvNeXt-Tiny",
  .summary = N_ ("Large depthwise convolutions and layer norms: large sets of photographs"),
  .min_size = 32,
  .has_stochastic_depth = TRUE,
  .build = build
};
