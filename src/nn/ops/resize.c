/* SPDX-License-Identifier: MIT */
/* resize: an image of another size, ONNX's Resize by the nearest pixel or by linear interpolation:
 *     y[n][oh][ow][c] = x[n][place of oh][place of ow][c]
 * Input x (N, H, W, C); output y (N, OH, OW, C).  resize_backward: dx[n][h][w][c] = sum of
 * dy[n][oh][ow][c] times the weight of pixel (h, w) in pixel (oh, ow); added to dx where dx has
 * other contributors.  Input dy (N, OH, OW, C); output dx (N, H, W, C).  The kernel gathers, so it
 * needs no atomics and its sums have a fixed order.
 *
 * A position is a fraction of integers (shaders/resize/places.glsl), since the factor of a side is
 * a fraction of integers.  So a pixel exactly halfway between two others is halfway on every
 * device. */
#include "elementwise.h"
#include "ops.h"
#include "resize-push.h"

/* The software driver (llvmpipe) ends an invocation's loops after 65535 iterations. */
#define MOST_PIXELS 65535
#define MOST_SIDE   G_MAXUINT16

typedef struct {
  guint32 mode, places;
  guint32 up_h, down_h, up_w, down_w; /* the factors up / down, which have no common divisor */
  gboolean accumulate;                /* backward */
} Resize;

static const DynoAttribute resize_attributes[] = {
  DYNO_ATTRIBUTE (Resize, mode),       DYNO_ATTRIBUTE (Resize, places),
  DYNO_ATTRIBUTE (Resize, up_h),       DYNO_ATTRIBUTE (Resize, down_h),
  DYNO_ATTRIBUTE (Resize, up_w),       DYNO_ATTRIBUTE (Resize, down_w),
  DYNO_ATTRIBUTE (Resize, accumulate),
};

/* A side: pixel o of y lies at (o * step + bias) / unit - 1 of x; without interpolation this is
 * rounded down, and bias includes the rounding of the mode. */
typedef struct {
  gint64 extent, out, step, bias, unit;
} Side;

static Side
side_of (guint32 extent, guint32 out, guint32 up, guint32 down, DynoResizePlaces places,
         DynoResizeMode mode)
{
  gboolean first = places == DYNO_RESIZE_ALIGN_CORNERS
                       ? out == 1 || extent == 1
                       : places == DYNO_RESIZE_PYTORCH_HALF_PIXEL && out == 1;
  /* All numbers are doubled, so that half a unit is an integer. */
  Side side = { extent, out, .step = 2 * (gint64) down, .unit = 2 * (gint64) up };

  if (first) /* the first pixel, or the only one */
    side.step = side.unit = 2;
  else if (places == DYNO_RESIZE_ALIGN_CORNERS)
    {
      side.step = 2 * ((gint64) extent - 1);
      side.unit = 2 * ((gint64) out - 1);
    }
  else if (places != DYNO_RESIZE_ASYMMETRIC) /* (o + 1/2) down / up - 1/2 */
    side.bias = (gint64) down - up;
  side.bias += side.unit;
  if (mode == DYNO_RESIZE_CEIL)
    side.bias += side.unit - 1;
  else if (mode == DYNO_RESIZE_PREFER_FLOOR)
    side.bias += side.unit / 2 - 1;
  else if (mode == DYNO_RESIZE_PREFER_CEIL)
    side.bias += side.unit / 2;
  return side;
}

static Side
rows_of (const Resize *s, const DynoTensor *x, guint32 out)
{
  return side_of (x->h, out, s->up_h, s->down_h, s->places, s->mode);
}

static Side
columns_of (const Resize *s, const DynoTensor *x, guint32 out)
{
  return side_of (x->w, out, s->up_w, s->down_w, s->places, s->mode);
}

/* One invocation for 16 bytes of the target. */
static void
lower_pass (DynoLowering *lowering, DynoNode *node, const char *pass, const char *shader,
            const DynoTensor *x, const DynoTensor *y)
{
  const Resize *attributes = node->attributes;
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  DynoTensor *source = node->inputs[0], *target = node->outputs[0];
  const Side rows = rows_of (attributes, x, y->h), columns = columns_of (attributes, x, y->w);
  gboolean linear = attributes->mode == DYNO_RESIZE_LINEAR;
  guint32 count = dyno_elementwise_count (lowering, target);
  DynoKernelSpec spec = { .shader = shader, .push_bytes = sizeof (DynoResizePush) };
  dyno_elementwise_count (lowering, source);
  spec.local_size[0] = dyno_elementwise_local (info);
  dyno_elementwise_type (&spec, target->dtype);
  dyno_elementwise_words (&spec, info);
  if (linear)
    dyno_kernel_spec_macro (&spec, "LINEAR=1");
  if (attributes->accumulate)
    dyno_kernel_spec_macro (&spec, "ACCUMULATE=1");
  const guint32 constants[] = {
    [DYNO_RESIZE_COUNT] = count,
    [DYNO_RESIZE_CVECS] = x->cp / dyno_dtype_lanes (x->dtype),
    [DYNO_RESIZE_H] = x->h,
    [DYNO_RESIZE_W] = x->w,
    [DYNO_RESIZE_OH] = y->h,
    [DYNO_RESIZE_OW] = y->w,
    [DYNO_RESIZE_STEP_H] = (guint32) rows.step,
    [DYNO_RESIZE_BIAS_H] = (guint32) rows.bias,
    [DYNO_RESIZE_UNIT_H] = (guint32) rows.unit,
    [DYNO_RESIZE_STEP_W] = (guint32) columns.step,
    [DYNO_RESIZE_BIAS_W] = (guint32) columns.bias,
    [DYNO_RESIZE_UNIT_W] = (guint32) columns.unit,
  };
  for (guint i = 0; i < G_N_ELEMENTS (constants); i++)
    dyno_kernel_spec_set (&spec, i, constants[i]);
  DynoDispatch *dispatch = dyno_lowering_dispatch (
      lowering, node, pass, &spec, dyno_elementwise_groups (info, count, spec.local_size[0]), 1, 1);
  dispatch->flops = node->op->flops (node);
  dispatch->bytes = source->size_bytes + target->size_bytes * (attributes->accumulate ? 2 : 1);
  DYNO_BIND (dispatch, DynoResizePush, source, source, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoResizePush, target, target, dyno_access_sum (attributes->accumulate));
}

/* With linear interpolation four products and sums for each pixel of y, in both directions; else
 * nothing in the forward pass, and one sum for each pixel of dy in the backward pass. */
static guint64
forward_flops (const DynoNode *node)
{
  const Resize *attributes = node->attributes;

  return attributes->mode == DYNO_RESIZE_LINEAR ? 8 * dyno_tensor_elements (node->outputs[0]) : 0;
}

static guint64
backward_flops (const DynoNode *node)
{
  const Resize *attributes = node->attributes;

  return (attributes->mode == DYNO_RESIZE_LINEAR ? 8 : 1) * dyno_tensor_elements (node->inputs[0]);
}

static void
lower_backward (DynoLowering *lowering, DynoNode *node)
{
  lower_pass (lowering, node, "backward", "resize/resize_backward.comp", node->outputs[0],
              node->inputs[0]);
}

static const DynoOpClass backward_class = { .name = "resize_backward",
                                            DYNO_OP_ATTRIBUTES (resize_attributes),
                                            .lower = lower_backward,
                                            .flops = backward_flops };

static void
backward (DynoGraph *graph, DynoNode *node)
{
  Resize attributes = *(const Resize *) node->attributes;
  DynoTensor *dy = dyno_graph_gradient (graph, node->outputs[0]);
  DynoTensor *dx = dyno_graph_gradient_target (graph, node->inputs[0], &attributes.accumulate);
  if (!dx)
    return;
  dyno_graph_backward_node (graph, node, &backward_class, &dy, 1, &dx, 1, &attributes,
                            sizeof attributes);
}

static void
lower_forward (DynoLowering *lowering, DynoNode *node)
{
  lower_pass (lowering, node, "forward", "resize/resize_forward.comp", node->inputs[0],
              node->outputs[0]);
}

static const DynoOpClass resize_class = { .name = "resize",
                                          .traits = { .restorable = TRUE },
                                          DYNO_OP_ATTRIBUTES (resize_attributes),
                                          .backward = backward,
                                          .lower = lower_forward,
                                          .flops = forward_flops };

/* --- the builder ------------------------------------------------------------------------------ */

/* Reduces the factor to lowest terms; FALSE: it does not turn the extent into `out` pixels. */
static gboolean
take_factor (guint32 extent, guint32 out, guint32 up, guint32 down, guint32 *up_to,
             guint32 *down_to)
{
  guint32 a = up ? up : out, b = up ? down : extent;

  *up_to = a;
  *down_to = b;
  if (a == 0 || b == 0 || extent > MOST_SIDE || out > MOST_SIDE || (guint64) extent * a / b != out)
    return FALSE;
  while (b)
    {
      guint32 rest = a % b;
      a = b;
      b = rest;
    }
  *up_to /= a;
  *down_to /= a;
  return TRUE;
}

/* The largest number of pixels of y to which one pixel of x contributes; 0: the kernels' integers
 * would overflow. */
static guint64
most_pixels (const Side *side, gboolean linear)
{
  gint64 begin = 0, end = 0, most = 0;

  if (side->out * side->step + side->bias > G_MAXINT32
      || (side->extent + 2) * side->unit > G_MAXINT32)
    return 0;
  /* pixel i contributes to positions from i - 1 (nearest pixel: from i) to before i + 1 */
  for (gint64 i = 0; i < side->extent; i++)
    {
      while (begin < side->out && i > 0
             && begin * side->step + side->bias < (i + !linear) * side->unit)
        begin++;
      while (end < side->out
             && (i == side->extent - 1 || end * side->step + side->bias < (i + 2) * side->unit))
        end++;
      most = MAX (most, end - begin);
    }
  return (guint64) most;
}

/* TRUE: every pixel keeps its position. */
static gboolean
is_identity (const Side *side, gboolean linear)
{
  return side->extent == side->out && side->step == side->unit && side->bias >= side->unit
         && side->bias < (linear ? side->unit + 1 : 2 * side->unit);
}

DynoTensor *
dyno_resize (DynoGraph *graph, DynoTensor *x, const char *name, const DynoResizeParams *params)
{
  if (!x)
    return NULL;
  Resize attributes = { .mode = params->mode, .places = params->places };
  gboolean linear = params->mode == DYNO_RESIZE_LINEAR;
  if (!take_factor (x->h, params->height, params->up_h, params->down_h, &attributes.up_h,
                    &attributes.down_h)
      || !take_factor (x->w, params->width, params->up_w, params->down_w, &attributes.up_w,
                       &attributes.down_w))
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: an image of %ux%u does not become one of %ux%u by the factors "
                            "%u/%u and %u/%u; a side has 1 to %u pixels",
                            name, x->h, x->w, params->height, params->width, attributes.up_h,
                            attributes.down_h, attributes.up_w, attributes.down_w, MOST_SIDE);
  const Side rows = rows_of (&attributes, x, params->height),
             columns = columns_of (&attributes, x, params->width);
  if (is_identity (&rows, linear) && is_identity (&columns, linear))
    return x;
  guint64 h = most_pixels (&rows, linear), w = most_pixels (&columns, linear);
  if (h == 0 || w == 0 || h * (w + 1) > MOST_PIXELS)
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: an image of %ux%u cannot become one of %ux%u; one pixel may be a "
                            "part of %u others, and the factors are of small numbers",
                            name, x->h, x->w, params->height, params->width, MOST_PIXELS);
  DynoTensor *y = dyno_graph_activation (graph, name, x->n, params->height, params->width, x->c);
  if (!y)
    return NULL;
  dyno_graph_node (graph, &resize_class, name, &x, 1, &y, 1, &attributes, sizeof attributes);
  return y;
}
