/* SPDX-License-Identifier: MIT */
/* EfficientNet-B0 with torchvision's names.
 * Tan and Le, "EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks" (2019).
 * The width scales channels to multiples of 8.  Stochastic depth, which torchvision has in training
 * with up to 0.2, is left out: every block always runs.  The classifier has the start values of
 * PyTorch's linear layers. */
#include "models.h"

static const struct {
  guint32 expand, kernel, stride, channels, n;
} stages[] = { { 1, 3, 1, 16, 1 },  { 6, 3, 2, 24, 2 },  { 6, 5, 2, 40, 2 }, { 6, 3, 2, 80, 3 },
               { 6, 5, 1, 112, 3 }, { 6, 5, 2, 192, 4 }, { 6, 3, 1, 320, 1 } };

/* torchvision's MBConv. */
static DynoTensor *
block (DynoGraph *graph, DynoTensor *x, const char *name, guint32 expand, guint32 kernel,
       guint32 stride, guint32 channels)
{
  guint32 in = x ? x->c : 0, hidden = dyno_model_channels_by_8 (in * expand, 1.0);
  DynoTensor *y = x;
  guint place = 0;
  if (hidden != in)
    y = dyno_model_unit (
        graph, y, name, "block", place++,
        &(DynoModelUnit){ .channels = hidden, .kernel = 1, .activation = DYNO_ACTIVATION_SILU });
  y = dyno_model_unit (graph, y, name, "block", place++,
                       &(DynoModelUnit){ .channels = hidden,
                                         .kernel = kernel,
                                         .stride = stride,
                                         .groups = hidden,
                                         .activation = DYNO_ACTIVATION_SILU });
  g_autofree char *squeeze = g_strdup_printf ("%s.block.%u", name, place++),
                  *add = g_strconcat (name, ".add", NULL);
  y = dyno_model_squeeze_excitation (graph, y, squeeze,
                                     &(DynoModelExcitation){ .squeezed = MAX (1, in / 4),
                                                             .activation = DYNO_ACTIVATION_SILU,
                                                             .factors = DYNO_ACTIVATION_SIGMOID });
  y = dyno_model_unit (graph, y, name, "block", place,
                       &(DynoModelUnit){ .channels = channels, .kernel = 1 });
  return stride == 1 && in == channels ? dyno_add (graph, y, x, add) : y;
}

static DynoTensor *
build (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params)
{
  guint32 last = dyno_model_channels_by_8 (320, params->width);
  x = dyno_model_unit (graph, x, "features", NULL, 0,
                       &(DynoModelUnit){ .channels = dyno_model_channels_by_8 (32, params->width),
                                         .kernel = 3,
                                         .stride = 2,
                                         .activation = DYNO_ACTIVATION_SILU });
  for (guint stage = 0; stage < G_N_ELEMENTS (stages); stage++)
    for (guint i = 0; i < stages[stage].n; i++)
      {
        g_autofree char *name = g_strdup_printf ("features.%u.%u", stage + 1, i);
        x = block (graph, x, name, stages[stage].expand, stages[stage].kernel,
                   i == 0 ? stages[stage].stride : 1,
                   dyno_model_channels_by_8 (stages[stage].channels, params->width));
      }
  x = dyno_model_unit (
      graph, x, "features", NULL, G_N_ELEMENTS (stages) + 1,
      &(DynoModelUnit){ .channels = 4 * last, .kernel = 1, .activation = DYNO_ACTIVATION_SILU });
  x = dyno_global_avg_pool (graph, x, "avgpool");
  x = dyno_dropout (graph, x, "classifier.0", params->dropout);
  return dyno_linear (graph, x, "classifier.1", params->n_outputs, DYNO_INIT_KAIMING_UNIFORM);
}

const DynoModel dyno_model_efficientnet_b0 = {
  .name = "efficientnet_b0",
  .title = "EfficientNet-B0",
  .summary = "Inverted residuals that weigh their channels: photographs, few parameters",
  .min_size = 32,
  .has_dropout = TRUE,
  .build = build
};
