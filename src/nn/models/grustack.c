/* SPDX-License-Identifier: MIT */
/* A stack of GRUs, for sequences (T, F): two layers with 128 units, and a linear layer on the last
 * step that counts.  An image is read as the sequence of its rows.  Parameter names are those of
 * the PyTorch module (gru: nn.GRU with num_layers=2, fc); the width scales units. */
#include "intl.h"
#include "models.h"

#define LAYERS 2
#define UNITS  128

static DynoTensor *
build (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params)
{
  const DynoSequence sequence = { .lengths = params->lengths };
  x = dyno_rows (graph, x, "rows");
  x = dyno_gru (graph, x, "gru",
                &(DynoRecurrentParams){ .hidden = dyno_model_channels (UNITS, params->width),
                                        .layers = LAYERS,
                                        .sequence = sequence });
  x = dyno_last_step (graph, x, "last", &sequence);
  return dyno_linear (graph, x, "fc", params->n_outputs, DYNO_INIT_KAIMING_UNIFORM);
}

const DynoModel dyno_model_gru_stack = { .name = "gru_stack",
                                         .title = "GRU stack",
                                         .summary =
                                             N_ ("Two layers of GRU: sequences at full rate"),
                                         .min_size = 1,
                                         .reads_lengths = TRUE,
                                         .build = build };
