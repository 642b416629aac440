/* SPDX-License-Identifier: MIT */
/* global_avg_pool: y[n][c] = sum over h, w of x[n][h][w][c] / (H * W).  Input x (N, H, W, C);
 * output y (N, 1, 1, C).
 * If there are few images, their pixels are cut into splits, whose sums are added up in a fixed
 * order.
 * global_avg_pool_backward: dx[n][h][w][c] = dy[n][c] / (H * W).  Input dy (N, 1, 1, C); output dx
 * (N, H, W, C). */
#include "conv2d-private.h"
#include "elementwise.h"
#include "ops.h"
#include "pool-push.h"

typedef struct {
  gboolean accumulate;
} AvgPoolBackward;

static void
avg_pool_lower_backward (DynoLowering *lowering, DynoNode *node)
{
  const AvgPoolBackward *attributes = node->attributes;
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  DynoTensor *dy = node->inputs[0], *dx = node->outputs[0];
  guint32 count = dyno_elementwise_count (lowering, dx);
  DynoKernelSpec spec = { .shader = "pool/avgpool_backward.comp",
                          .push_bytes = sizeof (DynoAvgPoolPush) };
  spec.local_size[0] = dyno_elementwise_local (info);
  dyno_elementwise_type (&spec, dx->dtype);
  dyno_elementwise_words (&spec, info);
  if (attributes->accumulate)
    dyno_kernel_spec_macro (&spec, "ACCUMULATE=1");
  dyno_kernel_spec_set (&spec, DYNO_AVG_POOL_COUNT, count);
  dyno_kernel_spec_set (&spec, DYNO_AVG_POOL_BACKWARD_CVECS, dx->cp / dyno_dtype_lanes (dx->dtype));
  dyno_kernel_spec_set (&spec, DYNO_AVG_POOL_BACKWARD_PIXELS, dx->h * dx->w);
  DynoDispatch *dispatch =
      dyno_lowering_dispatch (lowering, node, "backward", &spec,
                              dyno_elementwise_groups (info, count, spec.local_size[0]), 1, 1);
  dispatch->flops = dyno_tensor_elements (dx);
  dispatch->bytes = dy->size_bytes + dx->size_bytes * (attributes->accumulate ? 2 : 1);
  DYNO_BIND (dispatch, DynoAvgPoolPush, source, dy, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoAvgPoolPush, target, dx, dyno_access_sum (attributes->accumulate));
}

static const DynoAttribute avg_pool_backward_attributes[] = { DYNO_ATTRIBUTE (AvgPoolBackward,
                                                                              accumulate) };

static const DynoOpClass avg_pool_backward_class = {
  .name = "global_avg_pool_backward",
  DYNO_OP_ATTRIBUTES (avg_pool_backward_attributes),
  .lower = avg_pool_lower_backward,
};

static void
avg_pool_backward (DynoGraph *graph, DynoNode *node)
{
  AvgPoolBackward attributes = { FALSE };
  DynoTensor *dy = dyno_graph_gradient (graph, node->outputs[0]);
  DynoTensor *dx = dyno_graph_gradient_target (graph, node->inputs[0], &attributes.accumulate);
  if (!dx)
    return;
  dyno_graph_backward_node (graph, node, &avg_pool_backward_class, &dy, 1, &dx, 1, &attributes,
                            sizeof attributes);
}

static void
avg_pool_lower (DynoLowering *lowering, DynoNode *node)
{
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  DynoTensor *x = node->inputs[0], *y = node->outputs[0];
  const DynoPixelSums sums = dyno_elementwise_pixel_sums (info, x);
  DynoKernelSpec spec = { .shader = "pool/avgpool_forward.comp",
                          .push_bytes = sizeof (DynoAvgPoolPush) };
  DynoTensor *partials = NULL;
  if (sums.splits > 1)
    {
      partials = dyno_lowering_workspace (lowering, "partials",
                                          (guint64) sums.splits * x->n * x->cp * sizeof (float));
      if (!partials)
        return;
      dyno_kernel_spec_macro (&spec, "PARTIALS=1");
    }
  spec.local_size[0] = sums.width;
  spec.local_size[1] = sums.lanes;
  dyno_elementwise_type (&spec, x->dtype);
  dyno_elementwise_words (&spec, info);
  dyno_elementwise_count (lowering, x);
  dyno_kernel_spec_set (&spec, DYNO_AVG_POOL_CVECS, x->cp / dyno_dtype_lanes (x->dtype));
  dyno_kernel_spec_set (&spec, DYNO_AVG_POOL_PIXELS, x->h * x->w);
  dyno_kernel_spec_set (&spec, DYNO_AVG_POOL_SAMPLES, x->n);
  dyno_kernel_spec_set (&spec, DYNO_AVG_POOL_SPLIT, sums.split);
  DynoDispatch *dispatch = dyno_lowering_dispatch (lowering, node, "forward", &spec, sums.blocks,
                                                   MIN (x->n, 65535), sums.splits);
  dispatch->flops = dyno_tensor_elements (x);
  dispatch->bytes = x->size_bytes + (partials ? partials : y)->size_bytes;
  DYNO_BIND (dispatch, DynoAvgPoolPush, source, x, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoAvgPoolPush, target, partials ? partials : y, DYNO_ACCESS_WRITE);
  if (partials)
    dyno_conv2d_lower_join (lowering, node, partials, y, NULL, sums.splits, FALSE);
}

static const DynoOpClass avg_pool_class = { .name = "global_avg_pool",
                                            .traits = { .restorable = TRUE },
                                            .backward = avg_pool_backward,
                                            .lower = avg_pool_lower };

DynoTensor *
dyno_global_avg_pool (DynoGraph *graph, DynoTensor *x, const char *name)
{
  if (!x)
    return NULL;
  if ((guint64) x->h * x->w > G_MAXINT32)
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE, "%s: an image of %ux%u is too large", name,
                            x->h, x->w);
  DynoTensor *y = dyno_graph_activation (graph, name, x->n, 1, 1, x->c);
  if (!y)
    return NULL;
  dyno_graph_node (graph, &avg_pool_class, name, &x, 1, &y, 1, NULL, 0);
  return y;
}
