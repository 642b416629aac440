/* SPDX-License-Identifier: MIT */
/* conv2d.dgrad -> batch_norm_backward: the kernel that completes dy, the gradient of a batch norm's
 * output, also makes the sums with which the batch norm's backward pass begins (norm.glsl), and
 * stores dy multiplied by the activation's slope.
 *
 * The kernel variant decides whether it makes the sums; the lowering passes them on by
 * dyno_lowering_set_column_sums under the batch norm's mean. */
#include "batchnorm-private.h"
#include "conv2d-private.h"
#include "fusion.h"
#include "rewrite.h"

/* The rewrite is not made where there is an activation and other nodes read dy, since they need dy
 * without the slope, and not where dx is not wanted, since only the pass for dx can rematerialise
 * y. */
static gboolean
wants_sums (const DynoNode *node)
{
  if (node->op != &dyno_batch_norm_backward_op)
    return FALSE;
  const DynoNormBackward *attributes = node->attributes;
  return !attributes->running && !attributes->pool.kernel_h && node->outputs[DYNO_NORM_BACKWARD_DX]
         && attributes->activation <= DYNO_ACTIVATION_RELU6
         && (!attributes->activation || attributes->own_dy);
}

/* The gradient that the convolution writes must be the gradient of the batch norm's output in the
 * same layout. */
static gboolean
match (DynoGraph *graph, DynoNode *node, DynoNode **other)
{
  if (!wants_sums (node))
    return FALSE;
  const DynoTensor *dy = node->inputs[DYNO_NORM_BACKWARD_DY],
                   *x = node->inputs[DYNO_NORM_BACKWARD_X];
  *other = dyno_rewrite_last_writer (graph, dy, node);
  const DynoConv2dShape *s = *other ? dyno_conv2d_get_shape (*other, DYNO_CONV2D_DGRAD) : NULL;
  return s && !s->fused.norm && (*other)->outputs[0] == dy && x->n == s->n && x->h == s->h
         && x->w == s->w && x->cp == s->cp
         && x->dtype == s->dtype
         /* no depthwise kernel computes the slope from a mask */
         && !(node->inputs[DYNO_NORM_BACKWARD_MASK] && dyno_conv2d_is_depthwise (*other));
}

static void
apply (DynoGraph *graph, DynoNode *node, DynoNode *other)
{
  const DynoNormBackward *attributes = node->attributes;
  DynoConv2dFused *fused = &dyno_conv2d_get_shape (other, DYNO_CONV2D_DGRAD)->fused;
  DynoTensor *mask = node->inputs[DYNO_NORM_BACKWARD_MASK];
  (void) graph;
  fused->norm = mask                     ? DYNO_NORM_ID_SLOPE_MASK
                : attributes->activation ? DYNO_NORM_ID_SLOPE_X
                                         : DYNO_NORM_ID_PLAIN;
  fused->norm_activation = attributes->activation;
  dyno_node_set_input (other, DYNO_CONV2D_NORM_X, node->inputs[DYNO_NORM_BACKWARD_X]);
  dyno_node_set_input (other, DYNO_CONV2D_NORM_MEAN, node->inputs[DYNO_NORM_BACKWARD_MEAN]);
  dyno_node_set_input (other, DYNO_CONV2D_NORM_INVSTD, node->inputs[DYNO_NORM_BACKWARD_INVSTD]);
  dyno_node_set_input (other, DYNO_CONV2D_NORM_GAMMA, node->inputs[DYNO_NORM_BACKWARD_GAMMA]);
  dyno_node_set_input (other, DYNO_CONV2D_NORM_BETA, node->inputs[DYNO_NORM_BACKWARD_BETA]);
  if (mask)
    dyno_node_set_input (other, DYNO_CONV2D_NORM_MASK, mask);
}

const DynoFusion dyno_fusion_gradient_sums = { "gradient-sums", DYNO_FUSION_BACKWARD, match,
                                               apply };
