/* SPDX-License-Identifier: MIT */
/* RegNetX-400MF and RegNetY-400MF with torchvision's names and start values.
 * Radosavovic et al., "Designing Network Design Spaces" (2020): residual blocks whose 3x3
 * convolution has groups of a fixed width; RegNetY also scales the channels by
 * squeeze-and-excitation.  The stages' channels follow the paper's rule (w_a, w_0, w_m) and are
 * constants here.  The width scales channels to multiples of a group's.  torchvision initialises
 * the biases of the excitation with PyTorch's uniform start values, this file with 0. */
#include "intl.h"
#include "models.h"

typedef struct {
  guint32 channels;
  guint n;
} Stage;

#define STAGES 4

typedef struct {
  Stage stages[STAGES];
  guint32 group;       /* channels of a group */
  gboolean excitation; /* squeezes to a quarter of the block's input channels */
} Variant;

#define STEM_CHANNELS 32

/* The channels of a stage, scaled by a width factor: whole groups, at least one. */
static guint32
whole_groups (guint32 channels, guint32 group, double width)
{
  return group * dyno_model_channels (channels / group, width);
}

static DynoTensor *
residual_block (DynoGraph *graph, DynoTensor *x, const char *name, const Variant *variant,
                guint32 channels, guint32 stride)
{
  g_autofree char *f = g_strconcat (name, ".f", NULL), *a = g_strconcat (f, ".a", NULL),
                  *b = g_strconcat (f, ".b", NULL), *se = g_strconcat (f, ".se", NULL),
                  *c = g_strconcat (f, ".c", NULL), *proj = g_strconcat (name, ".proj", NULL),
                  *add = g_strconcat (name, ".add", NULL),
                  *relu = g_strconcat (name, ".activation", NULL);
  DynoTensor *identity = x, *y;
  /* in torchvision's order the projection's parameters come before the branch's parameters */
  if (x && (x->c != channels || stride != 1))
    identity = dyno_model_named_unit (
        graph, x, proj, &(DynoModelUnit){ .channels = channels, .kernel = 1, .stride = stride });
  y = dyno_model_named_unit (
      graph, x, a,
      &(DynoModelUnit){ .channels = channels, .kernel = 1, .activation = DYNO_ACTIVATION_RELU });
  y = dyno_model_named_unit (graph, y, b,
                             &(DynoModelUnit){ .channels = channels,
                                               .kernel = 3,
                                               .stride = stride,
                                               .groups = channels / variant->group,
                                               .activation = DYNO_ACTIVATION_RELU });
  if (variant->excitation && x)
    y = dyno_model_squeeze_excitation (
        graph, y, se,
        &(DynoModelExcitation){ .squeezed = x->c / 4,
                                .activation = DYNO_ACTIVATION_RELU,
                                .factors = DYNO_ACTIVATION_SIGMOID });
  y = dyno_model_named_unit (graph, y, c, &(DynoModelUnit){ .channels = channels, .kernel = 1 });
  return dyno_relu (graph, dyno_add (graph, y, identity, add), relu);
}

static DynoTensor *
build (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params, const Variant *variant)
{
  x = dyno_model_named_unit (
      graph, x, "stem",
      &(DynoModelUnit){ .channels = dyno_model_channels_by_8 (STEM_CHANNELS, params->width),
                        .kernel = 3,
                        .stride = 2,
                        .activation = DYNO_ACTIVATION_RELU });
  for (guint s = 0; s < STAGES; s++)
    for (guint i = 0; i < variant->stages[s].n; i++)
      {
        g_autofree char *name =
            g_strdup_printf ("trunk_output.block%u.block%u-%u", s + 1, s + 1, i);
        x = residual_block (
            graph, x, name, variant,
            whole_groups (variant->stages[s].channels, variant->group, params->width),
            i == 0 ? 2 : 1);
      }
  x = dyno_global_avg_pool (graph, x, "avgpool");
  return dyno_linear (graph, x, "fc", params->n_outputs, DYNO_INIT_NORMAL_001);
}

static DynoTensor *
build_x (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params)
{
  return build (graph, x, params,
                &(Variant){ { { 32, 1 }, { 64, 2 }, { 160, 7 }, { 400, 12 } }, 16, FALSE });
}

static DynoTensor *
build_y (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params)
{
  return build (graph, x, params,
                &(Variant){ { { 48, 1 }, { 104, 3 }, { 208, 6 }, { 440, 6 } }, 8, TRUE });
}

const DynoModel dyno_model_regnet_x_400mf = {
  .name = "regnet_x_400mf",
  .title = "RegNetX-400MF",
  .summary =
      N_ ("Residual network whose widths follow one rule, 5 million parameters: photographs"),
  .min_size = 32,
  .build = build_x
};
const DynoModel dyno_model_regnet_y_400mf = {
  .name = "regnet_y_400mf",
  .title = "RegNetY-400MF",
  .summary = N_ ("RegNet with squeeze-and-excitation: photographs, few parameters"),
  .min_size = 32,
  .build = build_y
};
