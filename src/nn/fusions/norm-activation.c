/* SPDX-License-Identifier: MIT */
/* batch_norm -> activation: the batch norm applies the activation to the values that it stores.
 * This holds only for functions that keep pads zero, and after a residual only for ReLU, whose
 * slope is stored in a mask. */
#include "batchnorm-private.h"
#include "elementwise.h"
#include "fusion.h"
#include "rewrite.h"

static gboolean
can_take (DynoActivation activation, gboolean has_residual)
{
  return activation == DYNO_ACTIVATION_RELU
         || (!has_residual && dyno_activation_keeps_zero (activation));
}

static gboolean
match (DynoGraph *graph, DynoNode *node, DynoNode **other)
{
  if (node->op->traits.activation == DYNO_ACTIVATION_NONE)
    return FALSE;
  *other = dyno_rewrite_only_producer (graph, node->inputs[0], node);
  if (!*other || (*other)->op != &dyno_batch_norm_op)
    return FALSE;
  const DynoBatchNormAttributes *attributes = (*other)->attributes;
  return !attributes->activation && !attributes->pool.kernel_h
         && can_take (node->op->traits.activation,
                      (*other)->inputs[DYNO_BATCH_NORM_RESIDUAL] != NULL);
}

static void
apply (DynoGraph *graph, DynoNode *node, DynoNode *other)
{
  DynoBatchNormAttributes *attributes = other->attributes;
  attributes->activation = node->op->traits.activation;
  if (!dyno_node_get_attribute (node, "parameter", &attributes->parameter))
    attributes->parameter = 0;
  dyno_rewrite_take_over (graph, other, node);
}

const DynoFusion dyno_fusion_norm_activation = { "norm-activation", DYNO_FUSION_FORWARD, match,
                                                 apply };
