/* SPDX-License-Identifier: MIT */
/* max_pool: y[n][oy][ox][c] = the largest of x[n][oy s + ky - p][ox s + kx - p][c].  A flat window
 * is one pixel high and moves along the width only.
 * Input x (N, H, W, C); outputs y (N, OH, OW, C), OH = (H + 2 p - kernel) / s + 1, and, in
 * training, argmax (N, OH, OW, C): one byte per element, ky * kernel + kx of the largest value.
 * max_pool_backward: dx[n][y][x][c] = sum of dy[n][oy][ox][c] over the windows whose argmax is this
 * place.  Inputs dy and argmax (N, OH, OW, C); output dx (N, H, W, C).  The kernel gathers, so it
 * needs no atomics and its sums have a fixed order. */
#include "elementwise.h"
#include "ops.h"
#include "pool-push.h"
#include <stddef.h>

typedef struct {
  DynoPoolWindow window; /* first: see window_maximum in op.h */
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
    [DYNO_MAX_POOL_KERNEL] = attributes->window.kernel,
    [DYNO_MAX_POOL_STEP] = attributes->window.stride,
    [DYNO_MAX_POOL_PAD] = attributes->window.pad,
    [DYNO_MAX_POOL_FLAT] = attributes->window.flat,
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
  dyno_dispatch_bind (dispatch, offsetof (DynoMaxPoolBackwardPush, dy), dy, DYNO_ACCESS_READ);
  dyno_dispatch_bind (dispatch, offsetof (DynoMaxPoolBackwardPush, argmax), argmax,
                      DYNO_ACCESS_READ);
  dyno_dispatch_bind (dispatch, offsetof (DynoMaxPoolBackwardPush, dx), dx,
                      attributes->accumulate ? DYNO_ACCESS_READ_WRITE : DYNO_ACCESS_WRITE);
}

static const DynoAttribute max_pool_attributes[] = { DYNO_ATTRIBUTE (MaxPool, window.kernel),
                                                     DYNO_ATTRIBUTE (MaxPool, window.stride),
                                                     DYNO_ATTRIBUTE (MaxPool, window.pad),
                                                     DYNO_ATTRIBUTE (MaxPool, window.flat),
                                                     DYNO_ATTRIBUTE (MaxPool, accumulate) };

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
  g_autofree char *name = g_strconcat (node->name, ".backward", NULL);
  dyno_graph_node (graph, &max_pool_backward_class, name, (DynoTensor *[]){ dy, node->outputs[1] },
                   2, &dx, 1, &attributes, sizeof attributes);
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
  dyno_dispatch_bind (dispatch, offsetof (DynoMaxPoolPush, x), x, DYNO_ACCESS_READ);
  dyno_dispatch_bind (dispatch, offsetof (DynoMaxPoolPush, y), y, DYNO_ACCESS_WRITE);
  if (argmax)
    dyno_dispatch_bind (dispatch, offsetof (DynoMaxPoolPush, argmax), argmax, DYNO_ACCESS_WRITE);
}

static const DynoOpClass max_pool_class = { .name = "max_pool",
                                            .traits = { .restorable = TRUE,
                                                        .window_maximum = TRUE },
                                            DYNO_OP_ATTRIBUTES (max_pool_attributes),
                                            .backward = max_pool_backward,
                                            .lower = max_pool_lower };

static DynoTensor *
append (DynoGraph *graph, DynoTensor *x, const char *name, guint32 kernel, guint32 stride,
        guint32 pad, gboolean flat)
{
  if (!x)
    return NULL;
  if (kernel == 0 || kernel > 15 || stride == 0 || pad > kernel / 2)
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: max pool takes a kernel of 1 to 15, a stride of 1 or more and a "
                            "pad of at most half the "
                            "kernel, not kernel %u, stride %u, pad %u",
                            name, kernel, stride, pad);
  if ((!flat && (guint64) x->h + 2 * pad < kernel) || (guint64) x->w + 2 * pad < kernel)
    return dyno_graph_fail (
        graph, DYNO_NN_ERROR_SHAPE,
        "%s: an image of %ux%u is smaller than the window of %u; use a larger image", name, x->h,
        x->w, kernel);
  DynoTensor *outputs[2] = { NULL };
  outputs[0] = dyno_graph_activation (graph, name, x->n,
                                      flat ? x->h : (x->h + 2 * pad - kernel) / stride + 1,
                                      (x->w + 2 * pad - kernel) / stride + 1, x->c);
  if (!outputs[0])
    return NULL;
  if (dyno_graph_get_params (graph)->training && x->needs_gradient)
    {
      g_autofree char *argmax_name = g_strconcat (name, ".argmax", NULL);
      const DynoTensor *y = outputs[0];
      outputs[1] = dyno_graph_tensor (graph, argmax_name, DYNO_DTYPE_U8, DYNO_SPACE_ARENA, y->n,
                                      y->h, y->w, y->cp, y->cp);
      if (!outputs[1])
        return NULL;
    }
  MaxPool attributes = { .window = { kernel, stride, pad, flat } };
  dyno_graph_node (graph, &max_pool_class, name, &x, 1, outputs, 2, &attributes, sizeof attributes);
  return outputs[0];
}

DynoTensor *
dyno_max_pool (DynoGraph *graph, DynoTensor *x, const char *name, guint32 kernel, guint32 stride,
               guint32 pad)
{
  return append (graph, x, name, kernel, stride, pad, FALSE);
}

DynoTensor *
dyno_max_pool1d (DynoGraph *graph, DynoTensor *x, const char *name, guint32 kernel, guint32 stride,
                 guint32 pad)
{
  return append (graph, x, name, kernel, stride, pad, TRUE);
}
