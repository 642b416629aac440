/* SPDX-License-Identifier: MIT */
/* add: y = a + b.  Inputs a, b; output y.  The gradient of both is y's own, so there is no backward
 * kernel.  accumulate: target += source, the same kernel; inputs source and target, output
 * target. */
#include "batchnorm.h"
#include "elementwise.h"
#include "ops.h"

static void
add_backward (DynoGraph *graph, DynoNode *node)
{
  DynoTensor *dy = dyno_graph_gradient (graph, node->outputs[0]);
  dyno_graph_gradient_add (graph, node->inputs[0], dy);
  dyno_graph_gradient_add (graph, node->inputs[1], dy);
}

static void
add_lower (DynoLowering *lowering, DynoNode *node)
{
  dyno_elementwise_lower (lowering, node, "forward", "add/add_forward.comp", node->inputs[0],
                          node->inputs[1], node->outputs[0], FALSE, NULL, 0, FALSE);
}

static gboolean
add_can_rematerialise (const DynoNode *node)
{
  return TRUE;
}

static const DynoOpClass add_class = { .name = DYNO_OP_ADD,
                                       .backward = add_backward,
                                       .lower = add_lower,
                                       .can_rematerialise = add_can_rematerialise };

static const DynoOpClass accumulate_class = { .name = "accumulate", .lower = add_lower };

static gboolean
shapes_equal (const DynoTensor *a, const DynoTensor *b)
{
  return a->n == b->n && a->h == b->h && a->w == b->w && a->c == b->c && a->dtype == b->dtype;
}

DynoTensor *
dyno_add (DynoGraph *graph, DynoTensor *a, DynoTensor *b, const char *name)
{
  if (!a || !b)
    return NULL;
  if (!shapes_equal (a, b))
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: cannot add (%u, %u, %u, %u) and (%u, %u, %u, %u)", name, a->n,
                            a->h, a->w, a->c, b->n, b->h, b->w, b->c);
  DynoTensor *y = dyno_graph_activation (graph, name, a->n, a->h, a->w, a->c);
  if (!y)
    return NULL;
  dyno_graph_node (graph, &add_class, name, (DynoTensor *[]){ a, b }, 2, &y, 1, NULL, 0);
  return y;
}

void
dyno_accumulate (DynoGraph *graph, DynoTensor *source, DynoTensor *target)
{
  if (!source || !target)
    return;
  g_return_if_fail (shapes_equal (source, target));
  g_autofree char *name = g_strconcat (target->name, ".accumulate", NULL);
  dyno_graph_node (graph, &accumulate_class, name, (DynoTensor *[]){ target, source }, 2, &target,
                   1, NULL, 0);
}
