/* SPDX-License-Identifier: MIT */
/* MobileNetV2 with torchvision's names and start values.
 * Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks" (2018).  The width
 * scales channels as torchvision's width_mult: to multiples of 8; the channels of the last
 * convolution are only increased. */
#include "intl.h"
#include "models.h"

/* Inverted residual blocks of one size: their expansion, channels, number, and the stride of the
 * first block. */
static const struct {
  guint32 expand, channels, n, stride;
} stages[] = { { 1, 16, 1, 1 }, { 6, 24, 2, 2 },  { 6, 32, 3, 2 }, { 6, 64, 4, 2 },
               { 6, 96, 3, 1 }, { 6, 160, 3, 2 }, { 6, 320, 1, 1 } };

/* Expansion, depthwise convolution, projection without an activation; the input is added where it
 * has the output's shape. */
static DynoTensor *
inverted_residual (DynoGraph *graph, DynoTensor *x, const char *name, guint32 expand,
                   guint32 channels, guint32 stride)
{
  guint32 in = x ? x->c : 0, hidden = in * expand;
  DynoTensor *y = x;
  guint place = 0;
  if (expand != 1)
    y = dyno_model_unit (
        graph, y, name, "conv", place++,
        &(DynoModelUnit){ .channels = hidden, .kernel = 1, .activation = DYNO_ACTIVATION_RELU6 });
  y = dyno_model_unit (graph, y, name, "conv", place++,
                       &(DynoModelUnit){ .channels = hidden,
                                         .kernel = 3,
                                         .stride = stride,
                                         .groups = hidden,
                                         .activation = DYNO_ACTIVATION_RELU6 });
  g_autofree char *conv = g_strdup_printf ("%s.conv.%u", name, place),
                  *norm = g_strdup_printf ("%s.conv.%u", name, place + 1);
  y = dyno_model_conv_norm (graph, y, conv, norm,
                            &(DynoModelUnit){ .channels = channels, .kernel = 1 });
  if (stride != 1 || in != channels)
    return y;
  g_autofree char *add = g_strconcat (name, ".add", NULL);
  return dyno_add (graph, y, x, add);
}

static DynoTensor *
build (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params)
{
  guint place = 0;
  x = dyno_model_unit (graph, x, "features", NULL, place++,
                       &(DynoModelUnit){ .channels = dyno_model_channels_by_8 (32, params->width),
                                         .kernel = 3,
                                         .stride = 2,
                                         .activation = DYNO_ACTIVATION_RELU6 });
  for (guint stage = 0; stage < G_N_ELEMENTS (stages); stage++)
    for (guint i = 0; i < stages[stage].n; i++)
      {
        g_autofree char *name = g_strdup_printf ("features.%u", place++);
        x = inverted_residual (graph, x, name, stages[stage].expand,
                               dyno_model_channels_by_8 (stages[stage].channels, params->width),
                               i == 0 ? stages[stage].stride : 1);
      }
  x = dyno_model_unit (
      graph, x, "features", NULL, place,
      &(DynoModelUnit){ .channels = dyno_model_channels_by_8 (1280, MAX (params->width, 1.0)),
                        .kernel = 1,
                        .activation = DYNO_ACTIVATION_RELU6 });
  x = dyno_global_avg_pool (graph, x, "avgpool");
  x = dyno_dropout (graph, x, "classifier.0", params->dropout);
  return dyno_linear (graph, x, "classifier.1", params->n_outputs, DYNO_INIT_NORMAL_001);
}

const DynoModel dyno_model_mobilenetv2 = {
  .name = "mobilenetv2",
  .title = "MobileNetV2",
  .summary = N_ ("Depthwise convolutions in inverted residuals: small and quick at prediction"),
  .min_size = 32,
  .has_dropout = TRUE,
  .build = build
};
