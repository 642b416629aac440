/* SPDX-License-Identifier: MIT */
/* add: y = a + b, (N, H, W, C) all.  Inputs a, b; output y.
 * Backward: da = dy, db = dy: both gradients are y's gradient itself, so there is no backward
 * kernel. */
#include "ops.h"
#include "sum.h"

static void
add_backward (DynoGraph *graph, DynoNode *node)
{
  DynoTensor *dy = dyno_graph_gradient (graph, node->outputs[0]);
  dyno_graph_gradient_add (graph, node->inputs[0], dy);
  dyno_graph_gradient_add (graph, node->inputs[1], dy);
}

static const DynoOpClass add_class = { .name = "add",
                                       .traits = { .elementwise = DYNO_ELEMENTWISE_SUM,
                                                   .restorable = TRUE },
                                       .backward = add_backward,
                                       .lower = dyno_sum_lower };

DynoTensor *
dyno_add (DynoGraph *graph, DynoTensor *a, DynoTensor *b, const char *name)
{
  if (!a || !b)
    return NULL;
  if (!dyno_sum_fits (a, b))
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: cannot add (%u, %u, %u, %u) and (%u, %u, %u, %u)", name, a->n,
                            a->h, a->w, a->c, b->n, b->h, b->w, b->c);
  DynoTensor *y = dyno_graph_activation (graph, name, a->n, a->h, a->w, a->c);
  if (!y)
    return NULL;
  dyno_graph_node (graph, &add_class, name, (DynoTensor *[]){ a, b }, 2, &y, 1, NULL, 0);
  return y;
}
