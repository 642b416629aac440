/* SPDX-License-Identifier: MIT */
/* The weights of a model in host memory.  Private to the layers up to train. */
#pragma once
#include "graph.h"

G_BEGIN_DECLS

/* A float array for each parameter of the graph, in its order and in torchvision's layout,
 * including running statistics. */
typedef struct {
  guint n;
  float **values;
  guint64 batches_tracked; /* num_batches_tracked of the batch norms */
} DynoWeights;

/* All values are 0.  NULL: no memory (DYNO_GPU_ERROR_OUT_OF_HOST_MEMORY). */
DynoWeights *dyno_weights_new (DynoGraph *graph, GError **error);
void dyno_weights_free (DynoWeights *weights);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoWeights, dyno_weights_free)

G_END_DECLS
