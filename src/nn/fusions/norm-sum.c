/* SPDX-License-Identifier: MIT */
/* batch_norm -> add: the batch norm adds the other summand as its residual.  Where both summands
 * come from batch norms, the first batch norm adds the second. */
#include "batchnorm-private.h"
#include "fusion.h"
#include "rewrite.h"

static gboolean
match (DynoGraph *graph, DynoNode *node, DynoNode **other)
{
  if (node->op->traits.elementwise != DYNO_ELEMENTWISE_SUM)
    return FALSE;
  for (guint side = 0; side < 2; side++)
    {
      *other = dyno_rewrite_only_producer (graph, node->inputs[side], node);
      if (!*other || (*other)->op != &dyno_batch_norm_op)
        continue;
      const DynoBatchNormAttributes *attributes = (*other)->attributes;
      if (!attributes->activation && !attributes->pool.kernel_h
          && !(*other)->inputs[DYNO_BATCH_NORM_RESIDUAL])
        return TRUE;
    }
  return FALSE;
}

static void
apply (DynoGraph *graph, DynoNode *node, DynoNode *other)
{
  gboolean is_first = node->inputs[0] == other->outputs[DYNO_BATCH_NORM_Y];
  dyno_node_set_input (other, DYNO_BATCH_NORM_RESIDUAL, node->inputs[is_first]);
  dyno_rewrite_take_over (graph, other, node);
}

const DynoFusion dyno_fusion_norm_sum = { "norm-sum", DYNO_FUSION_FORWARD, match, apply };
