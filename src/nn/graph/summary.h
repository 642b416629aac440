/* SPDX-License-Identifier: MIT */
/* The layers of a network, from its graph: no device is needed. */
#pragma once
#include "graph.h"

G_BEGIN_DECLS

typedef struct {
  const char *name;     /* of the graph's node, "layer1.0.conv1" */
  const char *kind;     /* of its op, "conv2d" */
  guint32 n, h, w, c;   /* of its output */
  guint64 parameters;   /* learned values, without running statistics */
  guint64 states;       /* running statistics */
  guint64 flops;        /* of the forward pass: a multiply-add is two */
  guint64 output_bytes; /* bytes of its output in memory, pads included */
  double lr_factor;     /* on the learning rate of its parameters; 0: it has none */
} DynoLayer;

/* DynoLayer of each forward node, in order; strings are the graph's.  A layer with a weight counts
 * two FLOP for each value of the weight at each position of its output; any other layer counts one
 * FLOP for each value of its larger side.  Layers that a fusion has joined are one layer. */
GArray *dyno_network_list_layers (DynoGraph *graph);

G_END_DECLS
