/* SPDX-License-Identifier: MIT */
/* multiply: y = a * b, (N, H, W, C) all.  Inputs a, b; output y.
 * multiply_backward, one for each input that needs a gradient:
 *     da (+)= dy * b,  db (+)= dy * a
 * Inputs dy and the other factor; output the gradient.  The last gradient takes dy's memory where
 * no other node reads dy. */
#include "elementwise.h"
#include "ops.h"
#include "sum.h"

typedef struct {
  gboolean accumulate;
} MultiplyBackward;

static void
lower_backward (DynoLowering *lowering, DynoNode *node)
{
  const MultiplyBackward *attributes = node->attributes;
  dyno_elementwise_lower (lowering, node, "backward", "multiply/multiply_apply.comp",
                          node->inputs[0], node->inputs[1], node->outputs[0],
                          attributes->accumulate, NULL, 0, FALSE);
}

static const DynoAttribute backward_attributes[] = { DYNO_ATTRIBUTE (MultiplyBackward,
                                                                     accumulate) };

static const DynoOpClass backward_class = { .name = "multiply_backward",
                                            DYNO_OP_ATTRIBUTES (backward_attributes),
                                            .lower = lower_backward };

/* The first factor's gradient comes last, and may then overwrite dy. */
static void
backward (DynoGraph *graph, DynoNode *node)
{
  DynoTensor *y = node->outputs[0], *dy = dyno_graph_gradient (graph, y);
  for (guint i = 2; i-- > 0;)
    {
      MultiplyBackward attributes = { FALSE };
      DynoTensor *x = node->inputs[i], *other = node->inputs[1 - i];
      gboolean is_last = i == 0 || !node->inputs[0]->needs_gradient;
      if (!x->needs_gradient)
        continue;
      DynoTensor *dx = is_last && dyno_graph_gradient_in_place (graph, x, y)
                           ? dy
                           : dyno_graph_gradient_target (graph, x, &attributes.accumulate);
      if (!dx)
        return;
      g_autofree char *name = g_strdup_printf ("%s.backward.%u", node->name, i);
      dyno_graph_node (graph, &backward_class, name, (DynoTensor *[]){ dy, other }, 2, &dx, 1,
                       &attributes, sizeof attributes);
    }
}

static void
lower (DynoLowering *lowering, DynoNode *node)
{
  dyno_elementwise_lower (lowering, node, "forward", "multiply/multiply_apply.comp",
                          node->inputs[0], node->inputs[1], node->outputs[0], FALSE, NULL, 0,
                          FALSE);
}

static const DynoOpClass multiply_class = {
  .name = "multiply", .traits = { .restorable = TRUE }, .backward = backward, .lower = lower
};

DynoTensor *
dyno_multiply (DynoGraph *graph, DynoTensor *a, DynoTensor *b, const char *name)
{
  if (!a || !b)
    return NULL;
  if (!dyno_sum_fits (a, b))
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: cannot multiply (%u, %u, %u, %u) and (%u, %u, %u, %u)", name, a->n,
                            a->h, a->w, a->c, b->n, b->h, b->w, b->c);
  DynoTensor *y = dyno_graph_activation (graph, name, a->n, a->h, a->w, a->c);
  if (!y)
    return NULL;
  dyno_graph_node (graph, &multiply_class, name, (DynoTensor *[]){ a, b }, 2, &y, 1, NULL, 0);
  return y;
}
