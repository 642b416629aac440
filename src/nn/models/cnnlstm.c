/* SPDX-License-Identifier: MIT */
/* CNN-LSTM, for sequences (T, F): two blocks of convolution over five steps, batch norm, ReLU and
 * max pooling over two, with 64 and 128 channels; an LSTM with 128 units; a linear layer on its
 * last step that counts.  An image is read as the sequence of its rows.  Parameter names are those
 * of the PyTorch module (conv: nn.Sequential, lstm, fc); the width scales channels and units. */
#include "intl.h"
#include "models.h"

static DynoTensor *
build (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params)
{
  const DynoSequence sequence = { .lengths = params->lengths,
                                  .stride = DYNO_MODEL_STEPS * DYNO_MODEL_STEPS };
  x = dyno_rows (graph, x, "rows");
  x = dyno_model_steps_block (graph, x, "conv", 0, dyno_model_channels (64, params->width));
  x = dyno_model_steps_block (graph, x, "conv", 4, dyno_model_channels (128, params->width));
  x = dyno_lstm (graph, x, "lstm",
                 &(DynoRecurrentParams){ .hidden = dyno_model_channels (128, params->width),
                                         .sequence = sequence });
  x = dyno_last_step (graph, x, "last", &sequence);
  return dyno_linear (graph, x, "fc", params->n_outputs, DYNO_INIT_KAIMING_UNIFORM);
}

const DynoModel dyno_model_cnnlstm = { .name = "cnnlstm",
                                       .title = "CNN-LSTM",
                                       .summary =
                                           N_ ("Convolutions over time and an LSTM: sequences"),
                                       .min_size = 1,
                                       .reads_lengths = TRUE,
                                       .build = build };
