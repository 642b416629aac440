/* SPDX-License-Identifier: MIT */
/* Sums of tensors of the same shape (N, H, W, C): y = a + b, inputs a and b, output y; and target
 * += source, inputs target and source, output target.  Both use the same kernel. */
#include "sum.h"
#include "elementwise.h"

void
dyno_sum_lower (DynoLowering *lowering, DynoNode *node)
{
  dyno_elementwise_lower (lowering, node, "forward", "add/add_forward.comp", node->inputs[0],
                          node->inputs[1], node->outputs[0], FALSE, NULL, 0, FALSE);
}

static const DynoOpClass sum_class = { .name = "sum",
                                       .traits = { .elementwise = DYNO_ELEMENTWISE_SUM },
                                       .lower = dyno_sum_lower };

static const DynoOpClass accumulate_class = { .name = "accumulate",
                                              .traits = { .elementwise = DYNO_ELEMENTWISE_SUM },
                                              .lower = dyno_sum_lower };

gboolean
dyno_sum_fits (const DynoTensor *a, const DynoTensor *b)
{
  return a->n == b->n && a->h == b->h && a->w == b->w && a->c == b->c && a->dtype == b->dtype;
}

DynoTensor *
dyno_sum (DynoGraph *graph, DynoTensor *a, DynoTensor *b, const char *name)
{
  g_return_val_if_fail (dyno_sum_fits (a, b), NULL);
  DynoTensor *y = dyno_graph_activation (graph, name, a->n, a->h, a->w, a->c);
  if (y)
    dyno_graph_node (graph, &sum_class, name, (DynoTensor *[]){ a, b }, 2, &y, 1, NULL, 0);
  return y;
}

void
dyno_sum_accumulate (DynoGraph *graph, DynoTensor *source, DynoTensor *target)
{
  if (!source || !target)
    return;
  g_return_if_fail (dyno_sum_fits (source, target));
  g_autofree char *name = g_strconcat (target->name, ".accumulate", NULL);
  dyno_graph_node (graph, &accumulate_class, name, (DynoTensor *[]){ target, source }, 2, &target,
                   1, NULL, 0);
}
