/* SPDX-License-Identifier: MIT */
/* Factors on the learning rate: the layer-wise decay of fine-tuning (Clark et al. 2020; timm's
 * layer_decay) and the head's own factor.
 *
 * Parameters are grouped into layers, numbered from 0 (the embedding or stem) to n - 1 (the head),
 * and the learning rate of layer i is multiplied by layer_decay^(n - 1 - i).  The head's factor
 * multiplies that of the head.  The rule for the layers, by the names of the parameters and in
 * their order, which is that of the network:
 *   - A module is numbered if its name ends in a digit.  The first numbered module on the path of a
 *     parameter that has modules below it, with the numbered modules directly below that one which
 *     have modules below them too, is a block: "blocks.3" of "blocks.3.attn.qkv.weight", "layer1.0"
 *     of "layer1.0.downsample.0.weight", "features.1.0" of "features.1.0.block.2.bias".  A block is
 *     one layer.
 *   - Outside of blocks each module with a matrix (a weight of a convolution, a linear layer, an
 *     LSTM or a GRU, also of several layers) is one layer.
 *   - A block or module that has only vectors (biases, normalisations, a class token, positions) is
 *     a part of the layer before it, and of layer 0 where there is none before it.
 *   - The parameters of the head (dyno_graph_set_head), with those of its modules, are the last
 *     layer; where no head is known, the last layer is the last by these rules.
 * So a vision transformer has the layers of timm: patches, class token and positions are 0, block i
 * is i + 1 (the norm after the blocks belongs to the last one), and the head is the last.  Frozen
 * layers count. */
#pragma once
#include "graph.h"

G_BEGIN_DECLS

/* The factor on the parameter's learning rate; 1 for a running statistic.  The graph's parameters
 * are placed (dyno_graph_place_parameters). */
double dyno_graph_get_lr_factor (const DynoGraph *graph, const DynoParameter *parameter);

/* Makes the table of the factors in the order of the flat memory of the trained parameters,
 * DynoRateRange[] of shared/optimizer-push.h, after all other tensors of the scaler's space; the
 * program writes its values.  NULL: the factor is 1 everywhere, or the graph failed.  To be called
 * once, after the parameters are placed and the loss is made. */
DynoTensor *dyno_graph_make_rates (DynoGraph *graph);

/* The number of layers; 0 before the graph's parameters are placed. */
guint dyno_graph_get_n_layers (const DynoGraph *graph);

G_END_DECLS
