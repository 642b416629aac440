/* SPDX-License-Identifier: MIT */
/* conv2d -> batch_norm_stats: while the convolution stores its output, it sums up the columns, less
 * a pivot (the running mean), so that the statistics need not read the output.
 *
 * A kernel that cannot make the sums leaves them out, and the statistics read the output as before.
 * A convolution with a bias, which has no effect before a batch norm, is not rewritten. */
#include "batchnorm-private.h"
#include "conv2d-private.h"
#include "fusion.h"

static gboolean
match (DynoGraph *graph, DynoNode *node, DynoNode **other)
{
  (void) graph;
  if (node->op != &dyno_batch_norm_stats_op)
    return FALSE;
  *other = node->inputs[DYNO_BATCH_NORM_STATS_X]->producer;
  const DynoConv2dShape *shape =
      *other ? dyno_conv2d_get_shape (*other, DYNO_CONV2D_FORWARD) : NULL;
  return shape && !shape->has_bias && !shape->fused.statistics;
}

static void
apply (DynoGraph *graph, DynoNode *node, DynoNode *other)
{
  (void) graph;
  dyno_conv2d_get_shape (other, DYNO_CONV2D_FORWARD)->fused.statistics = TRUE;
  dyno_node_set_input (other, DYNO_CONV2D_PIVOT, node->inputs[DYNO_BATCH_NORM_STATS_RUNNING_MEAN]);
}

const DynoFusion dyno_fusion_column_sums = { "column-sums", DYNO_FUSION_FORWARD, match, apply };
