/* SPDX-License-Identifier: MIT */
/* max_pool: y[n][oy][ox][c] = the largest of x[n][oy s + ky - p][ox s + kx - p][c], with the
 * kernel, the stride s and the pad p of each axis.  Positions outside of x are skipped, so that
 * windows may reach past the end of x; each window has a position inside.
 * Input x (N, H, W, C); outputs y (N, OH, OW, C) and, in training where x needs a gradient, argmax
 * (N, OH, OW, C): one byte per element, ky * kernel_w + kx of the largest value.
 * max_pool_backward: dx[n][y][x][c] = sum of dy[n][oy][ox][c] over the windows whose argmax is this
 * place.  Inputs dy and argmax (N, OH, OW, C); output dx (N, H, W, C).  The kernel gathers, so it
 * needs no atomics and its sums have a fixed order. */
#include "elementwise.h"
#include "ops.h"
#include "pool-push.h"

#define MOST_PLACES 256 /* positions of a window, since a position is stored as a byte */

typedef struct {
  DynoPoolWindow window; /* must be first: see window_maximum in op.h */
  gboolean accumulate;   /* backward */
} MaxPool;

static void
max_pool_spec (DynoLowering *lowering, DynoKernelSpec *spec, const MaxPool *attributes,
               const DynoTensor *x, const DynoTensor *y, guint32 count)
{
  dyno_elementwise_count (lowering, x); /* y is mostly smaller than x */
  spec->local_size[0] = dyno_elementwise_local (dyno_lowering_get_info (lowering));
  dyno_elementwise_type (spec, x->dtype);
  dyno_elementwise_words (spec, dyno_lowering_get_info (lowering));
  const guint32 constants[] = {
    [DYNO_MAX_POOL_COUNT] = count,
    [DYNO_MAX_POOL_CVECS] = x->cp / dyno_dtype_lanes (x->dtype),
    [DYNO_MAX_POOL_H] = x->h,
    [DYNO_MAX_POOL_W] = x->w,
    [DYNO_MAX_POOL_OH] = y->h,
    [DYNO_MAX_POOL_OW] = y->w,
    [DYNO_MAX_POOL_KERNEL_H] = attributes->window.kernel_h,
    [DYNO_MAX_POOL_KERNEL_W] = attributes->window.kernel_w,
    [DYNO_MAX_POOL_STEP_H] = attributes->window.stride_h,
    [DYNO_MAX_POOL_STEP_W] = attributes->window.stride_w,
    [DYNO_MAX_POOL_PAD_H] = attributes->window.pad_h,
    [DYNO_MAX_POOL_PAD_W] = attributes->window.pad_w,
  };
  for (guint i = 0; i < G_N_ELEMENTS (constants); i++)
    dyno_kernel_spec_set (spec, i, constants[i]);
}

static void
max_pool_lower_backward (DynoLowering *lowering, DynoNode *node)
{
  const MaxPool *attributes = node->attributes;
  DynoTensor *dy = node->inputs[0], *argmax = node->inputs[1], *dx = node->outputs[0];
  guint32 count = dyno_elementwise_count (lowering, dx);
  DynoKernelSpec spec = { .shader = "pool/maxpool_backward.comp",
                          .push_bytes = sizeof (DynoMaxPoolBackwardPush) };
  max_pool_spec (lowering, &spec, attributes, dx, dy, count);
  if (attributes->accumulate)
    dyno_kernel_spec_macro (&spec, "ACCUMULATE=1");
  guint32 groups =
      dyno_elementwise_groups (dyno_lowering_get_info (lowering), count, spec.local_size[0]);
  DynoDispatch *dispatch = dyno_lowering_dispatch (lowering, node, "backward", &spec, groups, 1, 1);
  dispatch->flops = dyno_tensor_elements (dy);
  dispatch->bytes =
      dy->size_bytes + argmax->size_bytes + dx->size_bytes * (attributes->accumulate ? 2 : 1);
  DYNO_BIND (dispatch, DynoMaxPoolBackwardPush, dy, dy, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoMaxPoolBackwardPush, argmax, argmax, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoMaxPoolBackwardPush, dx, dx, dyno_access_sum (attributes->accumulate));
}

static const DynoAttribute max_pool_attributes[] = {
  DYNO_ATTRIBUTE (MaxPool, window.kernel_h), DYNO_ATTRIBUTE (MaxPool, window.kernel_w),
  DYNO_ATTRIBUTE (MaxPool, window.stride_h), DYNO_ATTRIBUTE (MaxPool, window.stride_w),
  DYNO_ATTRIBUTE (MaxPool, window.pad_h),    DYNO_ATTRIBUTE (MaxPool, window.pad_w),
  DYNO_ATTRIBUTE (MaxPool, accumulate),
};

static const DynoOpClass max_pool_backward_class = { .name = "max_pool_backward",
                                                     DYNO_OP_ATTRIBUTES (max_pool_attributes),
                                                     .lower = max_pool_lower_backward };

static void
max_pool_backward (DynoGraph *graph, DynoNode *node)
{
  MaxPool attributes = *(const MaxPool *) node->attributes;
  DynoTensor *dy = dyno_graph_gradient (graph, node->outputs[0]);
  DynoTensor *dx = dyno_graph_gradient_target (graph, node->inputs[0], &attributes.accumulate);
  if (!dx)
    return;
  dyno_graph_backward_node (graph, node, &max_pool_backward_class,
                            (DynoTensor *[]){ dy, node->outputs[1] }, 2, &dx, 1, &attributes,
                            sizeof attributes);
}

static void
max_pool_lower (DynoLowering *lowering, DynoNode *node)
{
  DynoTensor *x = node->inputs[0], *y = node->outputs[0], *argmax = node->outputs[1];
  guint32 count = dyno_elementwise_count (lowering, y);
  DynoKernelSpec spec = { .shader = "pool/maxpool_forward.comp",
                          .push_bytes = sizeof (DynoMaxPoolPush) };
  max_pool_spec (lowering, &spec, node->attributes, x, y, count);
  if (argmax)
    dyno_kernel_spec_macro (&spec, "ARGMAX=1");
  guint32 groups =
      dyno_elementwise_groups (dyno_lowering_get_info (lowering), count, spec.local_size[0]);
  DynoDispatch *dispatch = dyno_lowering_dispatch (lowering, node, "forward", &spec, groups, 1, 1);
  dispatch->flops = dyno_tensor_elements (x);
  dispatch->bytes = x->size_bytes + y->size_bytes + (argmax ? argmax->size_bytes : 0);
  DYNO_BIND (dispatch, DynoMaxPoolPush, x, x, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoMaxPoolPush, y, y, DYNO_ACCESS_WRITE);
  if (argmax)
    DYNO_BIND (dispatch, DynoMaxPoolPush, argmax, argmax, DYNO_ACCESS_WRITE);
}

static const DynoOpClass max_pool_class = { .name = "max_pool",
                                            .traits = { .restorable = TRUE,
                                                        .window_maximum = TRUE },
                                            DYNO_OP_ATTRIBUTES (max_pool_attributes),
                                            .backward = max_pool_backward,
                                            .lower = max_pool_lower };

/* The number of windows along a side, at least 1; 0: a window could have no position inside, the
 * kernel or the stride is 0, or the side is too long. */
static guint32
count_windows (guint32 size, guint32 kernel, guint32 stride, guint32 pad, guint32 end,
               gboolean round_up)
{
  guint64 padded = (guint64) size + pad + end;
  if (kernel == 0 || stride == 0 || pad > kernel / 2 || end >= kernel || padded < kernel
      || padded > G_MAXINT32)
    return 0;
  guint32 room = (guint32) padded - kernel, count = room / stride + 1;
  /* A window that would begin in the pad at the end of the axis is left out. */
  if (round_up && room % stride != 0 && (guint64) count * stride < (guint64) size + pad)
    count++;
  return count;
}

static DynoTensor *
append_argmax (DynoGraph *graph, const DynoTensor *y, const char *name)
{
  g_autofree char *argmax_name = g_strconcat (name, ".argmax", NULL);

  return dyno_graph_tensor (graph, argmax_name, DYNO_DTYPE_U8, DYNO_SPACE_ARENA, y->n, y->h, y->w,
                            y->cp, y->cp);
}

DynoTensor *
dyno_max_pool_with_params (DynoGraph *graph, DynoTensor *x, const char *name,
                           const DynoMaxPoolParams *params)
{
  const DynoPoolWindow *w = &params->window;
  DynoTensor *outputs[2] = { NULL };
  if (!x)
    return NULL;
  guint32 out_h = count_windows (x->h, w->kernel_h, w->stride_h, w->pad_h, params->end_h,
                                 params->round_up),
          out_w = count_windows (x->w, w->kernel_w, w->stride_w, w->pad_w, params->end_w,
                                 params->round_up);
  if (out_h == 0 || out_w == 0 || (guint64) w->kernel_h * w->kernel_w > MOST_PLACES)
    return dyno_graph_fail (
        graph, DYNO_NN_ERROR_SHAPE,
        "%s: a max pool cannot have a kernel of %ux%u, a stride of %ux%u and a pad of %ux%u over "
        "an image of %ux%u; a kernel has 1 to %u places and is no larger than the padded image, a "
        "stride is 1 or more, and a pad is at most half of the kernel",
        name, w->kernel_h, w->kernel_w, w->stride_h, w->stride_w, w->pad_h, w->pad_w, x->h, x->w,
        MOST_PLACES);
  outputs[0] = dyno_graph_activation (graph, name, x->n, out_h, out_w, x->c);
  if (!outputs[0])
    return NULL;
  if (dyno_graph_get_params (graph)->training && x->needs_gradient
      && !(outputs[1] = append_argmax (graph, outputs[0], name)))
    return NULL;
  const MaxPool attributes = { .window = *w };
  dyno_graph_node (graph, &max_pool_class, name, &x, 1, outputs, 2, &attributes, sizeof attributes);
  return outputs[0];
}

DynoTensor *
dyno_max_pool (DynoGraph *graph, DynoTensor *x, const char *name, guint32 kernel, guint32 stride,
               guint32 pad)
{
  const DynoMaxPoolParams params = { .window = { kernel, kernel, stride, stride, pad, pad },
                                     .end_h = pad,
                                     .end_w = pad };
  return dyno_max_pool_with_params (graph, x, name, &params);
}

DynoTensor *
dyno_max_pool1d (DynoGraph *graph, DynoTensor *x, const char *name, guint32 kernel, guint32 stride,
                 guint32 pad)
{
  const DynoMaxPoolParams params = { .window = { 1, kernel, 1, stride, 0, pad }, .end_w = pad };
  return dyno_max_pool_with_params (graph, x, name, &params);
}

DynoTensor *
dyno_global_max_pool (DynoGraph *graph, DynoTensor *x, const char *name)
{
  if (!x)
    return NULL;
  if ((guint64) x->h * x->w <= MOST_PLACES)
    return dyno_max_pool_with_params (graph, x, name,
                                      &(DynoMaxPoolParams){ .window = { x->h, x->w, 1, 1, 0, 0 } });
  /* The largest value of each row, then the largest of these values: of equal values still the
   * first one is found. */
  g_autofree char *rows = g_strconcat (name, ".rows", NULL);
  DynoTensor *y = dyno_max_pool_with_params (
      graph, x, rows, &(DynoMaxPoolParams){ .window = { 1, x->w, 1, 1, 0, 0 } });
  return dyno_max_pool_with_params (graph, y, name,
                                    &(DynoMaxPoolParams){ .window = { x->h, 1, 1, 1, 0, 0 } });
}
