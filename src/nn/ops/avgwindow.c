/* SPDX-License-Identifier: MIT */
/* avg_pool: y[n][oy][ox][c] = sum of x[n][iy][ix][c] over the places of window (oy, ox), divided by
 * the number of places; pads count as places unless they are excluded.  Windows belong to a sliding
 * kernel, or are adaptive and divide each side; the rule is in shaders/pool/window.glsl.  Input x
 * (N, H, W, C); output y (N, OH, OW, C).  avg_pool_backward: dx[n][iy][ix][c] = sum of
 * dy[n][oy][ox][c] / places of the window over the windows that have (iy, ix).  Input dy
 * (N, OH, OW, C); output dx (N, H, W, C).  The kernel gathers, so it needs no atomics and its sums
 * have a fixed order. */
#include "elementwise.h"
#include "ops.h"
#include "pool-push.h"

/* The software driver (llvmpipe) ends an invocation's loops after 65535 iterations. */
#define MAX_SIDE 255

typedef struct {
  gboolean adaptive; /* TRUE: all of the following members but accumulate are 0 */
  guint32 kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, end_h, end_w;
  gboolean exclude_pad;
  gboolean accumulate; /* backward */
} AvgPool;

static const DynoAttribute avg_pool_attributes[] = {
  DYNO_ATTRIBUTE (AvgPool, adaptive),   DYNO_ATTRIBUTE (AvgPool, kernel_h),
  DYNO_ATTRIBUTE (AvgPool, kernel_w),   DYNO_ATTRIBUTE (AvgPool, stride_h),
  DYNO_ATTRIBUTE (AvgPool, stride_w),   DYNO_ATTRIBUTE (AvgPool, pad_h),
  DYNO_ATTRIBUTE (AvgPool, pad_w),      DYNO_ATTRIBUTE (AvgPool, end_h),
  DYNO_ATTRIBUTE (AvgPool, end_w),      DYNO_ATTRIBUTE (AvgPool, exclude_pad),
  DYNO_ATTRIBUTE (AvgPool, accumulate),
};

/* One invocation for 16 bytes of the target. */
static DynoDispatch *
dispatch_windows (DynoLowering *lowering, DynoNode *node, const char *pass, const char *shader,
                  const DynoTensor *x, const DynoTensor *y, DynoTensor *source, DynoTensor *target)
{
  const AvgPool *attributes = node->attributes;
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  guint32 count = dyno_elementwise_count (lowering, target);
  DynoKernelSpec spec = { .shader = shader, .push_bytes = sizeof (DynoAvgPoolPush) };
  dyno_elementwise_count (lowering, source);
  spec.local_size[0] = dyno_elementwise_local (info);
  dyno_elementwise_type (&spec, x->dtype);
  dyno_elementwise_words (&spec, info);
  if (attributes->adaptive)
    dyno_kernel_spec_macro (&spec, "ADAPTIVE=1");
  if (attributes->accumulate)
    dyno_kernel_spec_macro (&spec, "ACCUMULATE=1");
  const guint32 constants[] = {
    [DYNO_AVG_WINDOW_COUNT] = count,
    [DYNO_AVG_WINDOW_CVECS] = x->cp / dyno_dtype_lanes (x->dtype),
    [DYNO_AVG_WINDOW_H] = x->h,
    [DYNO_AVG_WINDOW_W] = x->w,
    [DYNO_AVG_WINDOW_OH] = y->h,
    [DYNO_AVG_WINDOW_OW] = y->w,
    [DYNO_AVG_WINDOW_KERNEL_H] = attributes->kernel_h,
    [DYNO_AVG_WINDOW_KERNEL_W] = attributes->kernel_w,
    [DYNO_AVG_WINDOW_STEP_H] = attributes->stride_h,
    [DYNO_AVG_WINDOW_STEP_W] = attributes->stride_w,
    [DYNO_AVG_WINDOW_PAD_H] = attributes->pad_h,
    [DYNO_AVG_WINDOW_PAD_W] = attributes->pad_w,
    [DYNO_AVG_WINDOW_END_H] = attributes->end_h,
    [DYNO_AVG_WINDOW_END_W] = attributes->end_w,
    [DYNO_AVG_WINDOW_EXCLUDE_PAD] = attributes->exclude_pad != FALSE,
  };
  for (guint i = 0; i < G_N_ELEMENTS (constants); i++)
    dyno_kernel_spec_set (&spec, i, constants[i]);
  DynoDispatch *dispatch = dyno_lowering_dispatch (
      lowering, node, pass, &spec, dyno_elementwise_groups (info, count, spec.local_size[0]), 1, 1);
  /* one addition for each position of each window */
  dispatch->flops = MAX (dyno_tensor_elements (x), dyno_tensor_elements (y));
  if (!attributes->adaptive)
    dispatch->flops = dyno_tensor_elements (y) * attributes->kernel_h * attributes->kernel_w;
  dispatch->bytes = source->size_bytes + target->size_bytes * (attributes->accumulate ? 2 : 1);
  DYNO_BIND (dispatch, DynoAvgPoolPush, source, source, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoAvgPoolPush, target, target, dyno_access_sum (attributes->accumulate));
  return dispatch;
}

static void
avg_pool_lower_backward (DynoLowering *lowering, DynoNode *node)
{
  DynoTensor *dy = node->inputs[0], *dx = node->outputs[0];
  dispatch_windows (lowering, node, "backward", "pool/avgwindow_backward.comp", dx, dy, dy, dx);
}

static const DynoOpClass avg_pool_backward_class = { .name = "avg_pool_backward",
                                                     DYNO_OP_ATTRIBUTES (avg_pool_attributes),
                                                     .lower = avg_pool_lower_backward };

static void
avg_pool_backward (DynoGraph *graph, DynoNode *node)
{
  AvgPool attributes = *(const AvgPool *) node->attributes;
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
  DynoTensor *x = node->inputs[0], *y = node->outputs[0];
  dispatch_windows (lowering, node, "forward", "pool/avgwindow_forward.comp", x, y, x, y);
}

static const DynoOpClass avg_pool_class = { .name = "avg_pool",
                                            .traits = { .restorable = TRUE },
                                            DYNO_OP_ATTRIBUTES (avg_pool_attributes),
                                            .backward = avg_pool_backward,
                                            .lower = avg_pool_lower };

static DynoTensor *
append (DynoGraph *graph, DynoTensor *x, const char *name, guint32 out_h, guint32 out_w,
        const AvgPool *attributes)
{
  DynoTensor *y = dyno_graph_activation (graph, name, x->n, out_h, out_w, x->c);
  if (!y)
    return NULL;
  dyno_graph_node (graph, &avg_pool_class, name, &x, 1, &y, 1, attributes, sizeof *attributes);
  return y;
}

/* The number of windows along a side, at least 1; 0: the kernel, stride or pad is invalid, or the
 * side is too long. */
static guint32
count_windows (guint32 size, guint32 kernel, guint32 stride, guint32 pad, guint32 end,
               gboolean round_up)
{
  if (kernel == 0 || kernel > MAX_SIDE || stride > G_MAXINT32 || pad > kernel / 2 || end >= kernel
      || (guint64) size + pad + end < kernel || size > G_MAXINT32 / 2)
    return 0;
  guint32 room = size + pad + end - kernel, count = room / stride + 1;
  /* A window that would begin in the pad at the end of the axis is left out. */
  if (round_up && room % stride != 0 && (guint64) count * stride < (guint64) size + pad)
    count++;
  return count;
}

DynoTensor *
dyno_avg_pool (DynoGraph *graph, DynoTensor *x, const char *name, const DynoAvgPoolParams *params)
{
  if (!x)
    return NULL;
  const AvgPool attributes = {
    .kernel_h = params->kernel_h,
    .kernel_w = params->kernel_w,
    .stride_h = params->stride_h ? params->stride_h : params->kernel_h,
    .stride_w = params->stride_w ? params->stride_w : params->kernel_w,
    .pad_h = params->pad_h,
    .pad_w = params->pad_w,
    .end_h = params->end_h,
    .end_w = params->end_w,
    .exclude_pad = params->exclude_pad != FALSE,
  };
  guint32 out_h = count_windows (x->h, attributes.kernel_h, attributes.stride_h, attributes.pad_h,
                                 params->end_h, params->round_up),
          out_w = count_windows (x->w, attributes.kernel_w, attributes.stride_w, attributes.pad_w,
                                 params->end_w, params->round_up);
  if (out_h == 0 || out_w == 0)
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: an average pool cannot have a kernel of %ux%u and a pad of %ux%u "
                            "over an image of %ux%u; a kernel has 1 to %u places a side, no more "
                            "than the padded image, and the pad is at most half of it",
                            name, params->kernel_h, params->kernel_w, params->pad_h, params->pad_w,
                            x->h, x->w, MAX_SIDE);
  return append (graph, x, name, out_h, out_w, &attributes);
}

/* TRUE: neither the positions of a window nor the windows of a position exceed the loops of the
 * kernels. */
static gboolean
sides_fit (guint32 size, guint32 out)
{
  return out > 0 && (guint64) size <= (guint64) out * (MAX_SIDE - 1)
         && (guint64) out <= (guint64) size * (MAX_SIDE - 1)
         && ((guint64) size + 1) * ((guint64) out + 1) < G_MAXUINT32;
}

DynoTensor *
dyno_adaptive_avg_pool (DynoGraph *graph, DynoTensor *x, const char *name, guint32 out_h,
                        guint32 out_w)
{
  if (!x)
    return NULL;
  if (out_h == x->h && out_w == x->w)
    return x;
  if (out_h == 1 && out_w == 1)
    return dyno_global_avg_pool (graph, x, name);
  if (!sides_fit (x->h, out_h) || !sides_fit (x->w, out_w))
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: an average pool cannot go from %ux%u to %ux%u; a side is at most "
                            "%u times as long as the other",
                            name, x->h, x->w, out_h, out_w, MAX_SIDE - 1);
  return append (graph, x, name, out_h, out_w, &(AvgPool){ .adaptive = TRUE });
}
