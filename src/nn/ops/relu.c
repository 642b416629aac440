/* SPDX-License-Identifier: MIT */
/* relu: y = max (x, 0).  Input x; output y; (N, H, W, C) both.
 * relu_backward: dx = y > 0 ? dy : 0.  Inputs y, dy; output dx, which is dy's memory where nobody
 * else reads that; (N, H, W, C) all. */
#include "elementwise.h"
#include "ops.h"

typedef struct {
  gboolean accumulate;
} ReluBackward;

static void
relu_lower_backward (DynoLowering *lowering, DynoNode *node)
{
  const ReluBackward *attributes = node->attributes;
  dyno_elementwise_lower (lowering, node, "backward", "relu/relu_backward.comp", node->inputs[0],
                          node->inputs[1], node->outputs[0], attributes->accumulate, NULL, 0,
                          FALSE);
}

static const DynoAttribute relu_backward_attributes[] = { DYNO_ATTRIBUTE (ReluBackward,
                                                                          accumulate) };

static const DynoOpClass relu_backward_class = { .name = "relu_backward",
                                                 DYNO_OP_ATTRIBUTES (relu_backward_attributes),
                                                 .lower = relu_lower_backward };

static void
relu_backward (DynoGraph *graph, DynoNode *node)
{
  DynoTensor *x = node->inputs[0], *y = node->outputs[0], *dy = dyno_graph_gradient (graph, y);
  if (!x->needs_gradient)
    return;
  ReluBackward attributes = { FALSE };
  DynoTensor *dx = dyno_graph_gradient_in_place (graph, x, y)
                       ? dy
                       : dyno_graph_gradient_target (graph, x, &attributes.accumulate);
  if (!dx)
    return;
  g_autofree char *name = g_strconcat (node->name, ".backward", NULL);
  dyno_graph_node (graph, &relu_backward_class, name, (DynoTensor *[]){ y, dy }, 2, &dx, 1,
                   &attributes, sizeof attributes);
}

static void
relu_lower (DynoLowering *lowering, DynoNode *node)
{
  dyno_elementwise_lower (lowering, node, "forward", "relu/relu_forward.comp", node->inputs[0],
                          NULL, node->outputs[0], FALSE, NULL, 0, FALSE);
}

static const DynoOpClass relu_class = { .name = "relu",
                                        .traits = { .activation = DYNO_ACTIVATION_RELU,
                                                    .elementwise = DYNO_ELEMENTWISE_MAP,
                                                    .reads_own_output = TRUE,
                                                    .restorable = TRUE },
                                        .backward = relu_backward,
                                        .lower = relu_lower };

DynoTensor *
dyno_relu (DynoGraph *graph, DynoTensor *x, const char *name)
{
  if (!x)
    return NULL;
  DynoTensor *y = dyno_graph_activation (graph, name, x->n, x->h, x->w, x->c);
  if (!y)
    return NULL;
  dyno_graph_node (graph, &relu_class, name, &x, 1, &y, 1, NULL, 0);
  return y;
}
