/* SPDX-License-Identifier: MIT */
/* pad: a frame of one value around height, width and channels, of negative width where it crops:
 *     y[n][h][w][c] = x[n][h - top][w - left][c - front], the value where x has no such place
 * Input x (N, H, W, C); output y (N, H + top + bottom, W + left + right, C + front + back).
 * pad_backward: the same from dy with the pads negated, so that cropped elements get zero; added to
 * dx where dx has other contributors.  Input dy; output dx. */
#include "channels-private.h"
#include "elementwise.h"
#include "ops.h"
#include "pad-push.h"
#include <math.h>

#define LARGEST_HALF 65504.0

typedef struct {
  gint64 top, left, front;
  double value;
  gboolean accumulate;
} Pad;

/* The value in the target's type; values beyond the range of fp16, infinity too, are clamped to its
 * largest finite value. */
static float
value_in (DynoDtype dtype, double value)
{
  return (float) (dtype == DYNO_DTYPE_F16 ? CLAMP (value, -LARGEST_HALF, LARGEST_HALF) : value);
}

static void
lower_pass (DynoLowering *lowering, DynoNode *node, const char *pass)
{
  const Pad *attributes = node->attributes;
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  DynoTensor *source = node->inputs[0], *target = node->outputs[0];
  guint32 count = dyno_elementwise_count (lowering, target),
          lanes = dyno_dtype_lanes (target->dtype);
  DynoKernelSpec spec = { .shader = "pad/pad_copy.comp", .push_bytes = sizeof (DynoPadPush) };
  dyno_elementwise_count (lowering, source);
  spec.local_size[0] = dyno_elementwise_local (info);
  dyno_elementwise_type (&spec, target->dtype);
  dyno_elementwise_words (&spec, info);
  if (attributes->front % (gint64) lanes == 0)
    dyno_kernel_spec_macro (&spec, "ALIGNED=1");
  if (attributes->accumulate)
    dyno_kernel_spec_macro (&spec, "ACCUMULATE=1");
  const guint32 constants[] = {
    [DYNO_PAD_COUNT] = count,
    [DYNO_PAD_CVECS] = target->cp / lanes,
    [DYNO_PAD_H] = target->h,
    [DYNO_PAD_W] = target->w,
    [DYNO_PAD_C] = target->c,
    [DYNO_PAD_SOURCE_H] = source->h,
    [DYNO_PAD_SOURCE_W] = source->w,
    [DYNO_PAD_SOURCE_C] = source->c,
    [DYNO_PAD_SOURCE_CP] = source->cp,
    [DYNO_PAD_TOP] = (guint32) attributes->top,
    [DYNO_PAD_LEFT] = (guint32) attributes->left,
    [DYNO_PAD_FRONT] = (guint32) attributes->front,
  };
  for (guint i = 0; i < G_N_ELEMENTS (constants); i++)
    dyno_kernel_spec_set (&spec, i, constants[i]);
  dyno_kernel_spec_set_float (&spec, DYNO_PAD_VALUE, value_in (target->dtype, attributes->value));
  DynoDispatch *dispatch = dyno_lowering_dispatch (
      lowering, node, pass, &spec, dyno_elementwise_groups (info, count, spec.local_size[0]), 1, 1);
  dispatch->bytes = MIN (source->size_bytes, target->size_bytes)
                    + target->size_bytes * (attributes->accumulate ? 2 : 1);
  DYNO_BIND (dispatch, DynoPadPush, source, source, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoPadPush, target, target, dyno_access_sum (attributes->accumulate));
}

static void
lower_backward (DynoLowering *lowering, DynoNode *node)
{
  lower_pass (lowering, node, "backward");
}

static void
lower_forward (DynoLowering *lowering, DynoNode *node)
{
  lower_pass (lowering, node, "forward");
}

static const DynoAttribute pad_attributes[] = {
  DYNO_ATTRIBUTE (Pad, top),   DYNO_ATTRIBUTE (Pad, left),       DYNO_ATTRIBUTE (Pad, front),
  DYNO_ATTRIBUTE (Pad, value), DYNO_ATTRIBUTE (Pad, accumulate),
};

static const DynoOpClass backward_class = { .name = "pad_backward",
                                            DYNO_OP_ATTRIBUTES (pad_attributes),
                                            .lower = lower_backward,
                                            .flops = dyno_channels_flops };

static void
backward (DynoGraph *graph, DynoNode *node)
{
  const Pad *forward = node->attributes;
  DynoTensor *dy = dyno_graph_gradient (graph, node->outputs[0]);
  Pad attributes = { .top = -forward->top, .left = -forward->left, .front = -forward->front };
  DynoTensor *dx = dyno_graph_gradient_target (graph, node->inputs[0], &attributes.accumulate);
  if (!dx)
    return;
  dyno_graph_backward_node (graph, node, &backward_class, &dy, 1, &dx, 1, &attributes,
                            sizeof attributes);
}

static const DynoOpClass pad_class = { .name = "pad",
                                       .traits = { .restorable = TRUE },
                                       DYNO_OP_ATTRIBUTES (pad_attributes),
                                       .backward = backward,
                                       .lower = lower_forward,
                                       .flops = dyno_channels_flops };

/* The extent with its pads; 0: no element is left, or the extent is too large. */
static guint32
padded (guint32 extent, gint32 before, gint32 after)
{
  gint64 size = (gint64) extent + before + after;

  /* the crop at one end leaves no element */
  if ((gint64) extent + MIN (before, 0) <= 0 || (gint64) extent + MIN (after, 0) <= 0)
    return 0;
  return size < 1 || size > G_MAXINT32 ? 0 : (guint32) size;
}

DynoTensor *
dyno_pad (DynoGraph *graph, DynoTensor *x, const char *name, const DynoPadParams *params)
{
  if (!x)
    return NULL;
  guint32 h = padded (x->h, params->top, params->bottom),
          w = padded (x->w, params->left, params->right),
          c = padded (x->c, params->front, params->back);
  if (h == 0 || w == 0 || c == 0 || isnan (params->value))
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: pads of %d and %d rows, %d and %d columns, %d and %d channels, of "
                            "the value %g, do not fit (%u, %u, %u); one place or more of each side "
                            "must remain, and the value must be a number",
                            name, params->top, params->bottom, params->left, params->right,
                            params->front, params->back, params->value, x->h, x->w, x->c);
  if (!params->top && !params->bottom && !params->left && !params->right && !params->front
      && !params->back)
    return x;
  DynoTensor *y = dyno_graph_activation (graph, name, x->n, h, w, c);
  if (!y)
    return NULL;
  const Pad attributes = {
    .top = params->top,
    .left = params->left,
    .front = params->front,
    .value = (double) (float) params->value,
  };
  dyno_graph_node (graph, &pad_class, name, &x, 1, &y, 1, &attributes, sizeof attributes);
  return y;
}
