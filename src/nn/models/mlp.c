/* SPDX-License-Identifier: MIT */
/* MLP: flatten, linear 256, ReLU, linear 128, ReLU, linear.  Parameter names are those of
 * nn.Sequential (Flatten, Linear, ReLU, Linear, ReLU, Linear); the first layer's columns are in
 * PyTorch's order C, H, W. */
#include "intl.h"
#include "models.h"

static DynoTensor *
build (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params)
{
  x = dyno_linear_flattened (graph, x, "1", dyno_model_channels (256, params->width),
                             DYNO_INIT_KAIMING_UNIFORM);
  x = dyno_relu (graph, x, "2");
  x = dyno_linear (graph, x, "3", dyno_model_channels (128, params->width),
                   DYNO_INIT_KAIMING_UNIFORM);
  x = dyno_relu (graph, x, "4");
  return dyno_linear (graph, x, "5", params->n_outputs, DYNO_INIT_KAIMING_UNIFORM);
}

const DynoModel dyno_model_mlp = { .name = "mlp",
                                   .title = "MLP",
                                   .summary =
                                       N_ ("Three linear layers: vectors, tables and tiny images"),
                                   .min_size = 1,
                                   .build = build };
