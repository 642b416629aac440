/* SPDX-License-Identifier: MIT */
/* conv2d -> batch_norm by running statistics: the convolution stores
 *     activation ((product - mean) / sqrt (variance + eps) * gamma + beta + residual),
 * which is the batch norm's output.  The backward pass reads the product, so training graphs keep
 * both nodes. */
#include "batchnorm-private.h"
#include "conv2d-private.h"
#include "fusion.h"
#include "rewrite.h"

static gboolean
match (DynoGraph *graph, DynoNode *node, DynoNode **other)
{
  if (node->op != &dyno_batch_norm_op || dyno_graph_get_params (graph)->training
      || !dyno_batch_norm_uses_running (node)
      || ((const DynoBatchNormAttributes *) node->attributes)->pool.kernel_h)
    return FALSE;
  const DynoTensor *x = node->inputs[DYNO_BATCH_NORM_X];
  *other = dyno_rewrite_only_producer (graph, x, node);
  const DynoConv2dShape *shape =
      *other ? dyno_conv2d_get_shape (*other, DYNO_CONV2D_FORWARD) : NULL;
  return shape && !shape->has_bias && !shape->fused.affine
         && x->dtype == shape->dtype
         /* the depthwise kernels read no residual */
         && !(node->inputs[DYNO_BATCH_NORM_RESIDUAL] && dyno_conv2d_is_depthwise (*other));
}

static void
apply (DynoGraph *graph, DynoNode *node, DynoNode *other)
{
  const DynoBatchNormAttributes *attributes = node->attributes;
  DynoConv2dFused *fused = &dyno_conv2d_get_shape (other, DYNO_CONV2D_FORWARD)->fused;
  DynoTensor *residual = node->inputs[DYNO_BATCH_NORM_RESIDUAL];
  fused->affine = residual ? DYNO_AFFINE_ID_RESIDUAL : DYNO_AFFINE_ID_PLAIN;
  fused->affine_activation = attributes->activation;
  fused->affine_parameter = attributes->parameter;
  fused->affine_eps = attributes->eps;
  dyno_node_set_input (other, DYNO_CONV2D_AFFINE_RESIDUAL, residual);
  dyno_node_set_input (other, DYNO_CONV2D_AFFINE_MEAN, node->inputs[DYNO_BATCH_NORM_MEAN]);
  dyno_node_set_input (other, DYNO_CONV2D_AFFINE_VARIANCE, node->inputs[DYNO_BATCH_NORM_SPREAD]);
  dyno_node_set_input (other, DYNO_CONV2D_AFFINE_GAMMA, node->inputs[DYNO_BATCH_NORM_WEIGHT]);
  dyno_node_set_input (other, DYNO_CONV2D_AFFINE_BETA, node->inputs[DYNO_BATCH_NORM_BIAS]);
  dyno_rewrite_take_over (graph, other, node);
}

const DynoFusion dyno_fusion_running_norm = { "running-norm", DYNO_FUSION_FORWARD, match, apply };
