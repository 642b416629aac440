/* SPDX-License-Identifier: MIT */
/* What a network is made of, layer by layer, from its graph alone: no device is needed. */
#pragma once
#include "graph.h"

G_BEGIN_DECLS

typedef struct {
  const char *name;     /* the graph's, "layer1.0.conv1" */
  const char *kind;     /* of its op, "conv2d" */
  guint32 n, h, w, c;   /* of its output */
  guint64 parameters;   /* learned values; running statistics are none */
  guint64 states;       /* running statistics */
  guint64 flops;        /* of the forward pass: a multiply-add is two */
  guint64 output_bytes; /* of its output in memory, pads included */
} DynoLayer;

/* DynoLayer of each forward node, in order; strings are the graph's.  A layer with a weight counts
 * two for each of the weight's values and place of its output, any other one for each value of its
 * larger side.  Layers that fusion made one are one. */
GArray *dyno_network_list_layers (DynoGraph *graph);

G_END_DECLS
