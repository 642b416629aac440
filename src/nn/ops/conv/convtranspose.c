/* SPDX-License-Identifier: MIT */
/* conv_transpose: the data gradient of a convolution as a layer, computed by the kernels of conv2d.
 *
 * x (N, H, W, C), weight (KH, KW, K, C), bias (K), y (N, OH, OW, K).  The attributes of all nodes
 * here are the shape of that convolution, which reads y and writes x: h, w, c are those of y, and
 * oh, ow, k those of x.
 *     y[n][iy][ix][k] = bias[k] + sum over oy, ky, ox, kx, c with iy = oy s + ky d - p, ix likewise, of
 *                       x[n][oy][ox][c] * weight[ky][kx][k][c]
 *
 * Roles.  conv_transpose: inputs x, weight (compute type), bias (master, or NULL); output y;
 * lowered as conv2d.dgrad.
 *         conv_transpose.dgrad: inputs dy, weight, NULL; output dx, overwritten; lowered as conv2d.
 *         The weight's gradient is a node conv2d.wgrad with inputs dy, x. */
#include "conv2d-private.h"
#include "ops.h"
#include "sum.h"

static const DynoAttribute attributes[] = {
  DYNO_ATTRIBUTE (DynoConv2dShape, kernel_h),   DYNO_ATTRIBUTE (DynoConv2dShape, kernel_w),
  DYNO_ATTRIBUTE (DynoConv2dShape, stride_h),   DYNO_ATTRIBUTE (DynoConv2dShape, stride_w),
  DYNO_ATTRIBUTE (DynoConv2dShape, pad_h),      DYNO_ATTRIBUTE (DynoConv2dShape, pad_w),
  DYNO_ATTRIBUTE (DynoConv2dShape, has_bias),   DYNO_ATTRIBUTE (DynoConv2dShape, groups),
  DYNO_ATTRIBUTE (DynoConv2dShape, dilation_h), DYNO_ATTRIBUTE (DynoConv2dShape, dilation_w),
};

static const DynoOpClass backward_class = {
  .name = "conv_transpose.dgrad",
  DYNO_OP_ATTRIBUTES (attributes),
  .lower = dyno_conv2d_lower_forward,
  .flops = dyno_conv2d_flops,
};

/* The kernels of a forward pass overwrite their output: where dx has other contributors, the result
 * is added by a separate node. */
static void
append_data_gradient (DynoGraph *graph, DynoNode *node, DynoTensor *dy,
                      const DynoConv2dShape *shape)
{
  gboolean accumulate;
  DynoTensor *x = node->inputs[0], *dx = dyno_graph_gradient_target (graph, x, &accumulate);
  g_autofree char *name = g_strconcat (node->name, ".dgrad", NULL);

  if (!dx)
    return;
  DynoTensor *target =
      accumulate ? dyno_graph_activation (graph, name, x->n, x->h, x->w, x->c) : dx;
  if (!target)
    return;
  dyno_graph_node (graph, &backward_class, name, (DynoTensor *[]){ dy, node->inputs[1], NULL }, 3,
                   &target, 1, shape, sizeof *shape);
  if (accumulate)
    dyno_sum_accumulate (graph, target, dx);
}

static void
backward (DynoGraph *graph, DynoNode *node)
{
  DynoTensor *x = node->inputs[0], *y = node->outputs[0],
             *bias = node->inputs[DYNO_CONV2D_TRANSPOSED_BIAS];
  DynoTensor *dy = dyno_graph_gradient (graph, y);
  DynoConv2dShape shape = *(const DynoConv2dShape *) node->attributes;
  const DynoConv2dShape rows = dyno_linear_shape (graph, y->n * y->h * y->w, y->c, y->c);

  if (!dy)
    return;
  shape.has_bias = shape.transposed = FALSE;
  dyno_conv2d_append_weight_gradients (graph, node->name, &dyno_conv2d_ops[DYNO_CONV2D_WGRAD], dy,
                                       x, node->inputs[1]->parameter, NULL, &shape);
  if (bias)
    dyno_conv2d_append_bias_gradient (graph, node->name, dy, bias->parameter, &rows);
  append_data_gradient (graph, node, dy, &shape);
}

static const DynoOpClass conv_transpose_class = {
  .name = "conv_transpose",
  .traits = { .restorable = TRUE },
  DYNO_OP_ATTRIBUTES (attributes),
  .backward = backward,
  .lower = dyno_conv2d_lower_dgrad,
  .flops = dyno_conv2d_flops,
};

/* The output's extent along an axis; 0: the extent is invalid. */
static guint32
output_side (guint32 size, guint32 kernel, guint32 stride, guint32 pad, guint32 dilation,
             guint32 more)
{
  guint64 whole =
              (guint64) (size - 1) * stride + (guint64) (MAX (kernel, 1) - 1) * dilation + 1 + more,
          left_out = 2 * (guint64) pad;
  return whole <= left_out || whole - left_out > G_MAXINT32 ? 0 : (guint32) (whole - left_out);
}

/* TRUE: the shape is valid; else the graph has failed. */
static gboolean
check_shape (DynoGraph *graph, const char *name, const DynoConvTransposeParams *params,
             const DynoConv2dShape *shape)
{
  if (shape->c == 0 || shape->h == 0 || shape->w == 0 || shape->kernel_h == 0
      || shape->kernel_w == 0)
    dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                     "%s: a transposed convolution of %u x %u taps with pads of %u and %u makes no "
                     "image with %u channels out of one of %u x %u",
                     name, shape->kernel_h, shape->kernel_w, shape->pad_h, shape->pad_w, shape->c,
                     shape->oh, shape->ow);
  else if (shape->c % shape->groups || shape->k % shape->groups)
    dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                     "%s: %u groups do not divide a transposed convolution from %u to %u channels; "
                     "take a number that divides both",
                     name, shape->groups, shape->k, shape->c);
  else if ((params->more_h && params->more_h >= MAX (shape->stride_h, shape->dilation_h))
           || (params->more_w && params->more_w >= MAX (shape->stride_w, shape->dilation_w)))
    dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                     "%s: %u rows and %u columns at the end are not less than the stride or the "
                     "dilation",
                     name, params->more_h, params->more_w);
  else if (!dyno_conv2d_counts_fit (shape))
    dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                     "%s: %u x %u x %u x %u is too large for one transposed convolution; make the "
                     "batch smaller",
                     name, shape->n, shape->h, shape->w, shape->c);
  else
    return TRUE;
  return FALSE;
}

static DynoConv2dShape
shape_of (DynoGraph *graph, const DynoTensor *x, const DynoConvTransposeParams *params)
{
  DynoConv2dShape shape = {
    .n = x->n,
    .c = params->out_channels,
    .cp = (params->out_channels + 7) & ~7u,
    .oh = x->h,
    .ow = x->w,
    .k = x->c,
    .kp = x->cp,
    .kernel_h = params->kernel_h,
    .kernel_w = params->kernel_w,
    .stride_h = MAX (params->stride_h, 1),
    .stride_w = MAX (params->stride_w, 1),
    .pad_h = params->pad_h,
    .pad_w = params->pad_w,
    .groups = MAX (params->groups, 1),
    .dilation_h = params->kernel_h > 1 ? params->dilation_h : 0,
    .dilation_w = params->kernel_w > 1 ? params->dilation_w : 0,
    .dtype = dyno_graph_get_params (graph)->precision.compute,
    .has_bias = params->bias != FALSE,
    .transposed = TRUE,
  };
  shape.h = output_side (x->h, shape.kernel_h, shape.stride_h, shape.pad_h,
                         MAX (shape.dilation_h, 1), params->more_h);
  shape.w = output_side (x->w, shape.kernel_w, shape.stride_w, shape.pad_w,
                         MAX (shape.dilation_w, 1), params->more_w);
  return shape;
}

DynoTensor *
dyno_conv_transpose (DynoGraph *graph, DynoTensor *x, const char *name,
                     const DynoConvTransposeParams *params)
{
  if (!x)
    return NULL;
  const DynoConv2dShape shape = shape_of (graph, x, params);
  if (!check_shape (graph, name, params, &shape))
    return NULL;
  const DynoParameterLayout layout = dyno_conv2d_layout (&shape);
  DynoParameter *weight, *bias;
  if (!dyno_conv2d_parameters (graph, name, &layout, params->bias ? shape.c : 0, params->init,
                               &weight, &bias))
    return NULL;
  DynoTensor *y = dyno_graph_activation (graph, name, shape.n, shape.h, shape.w, shape.c);
  if (!y)
    return NULL;
  dyno_graph_node (graph, &conv_transpose_class, name,
                   (DynoTensor *[]){ x, weight->compute, bias ? bias->master : NULL }, 3, &y, 1,
                   &shape, sizeof shape);
  return y;
}
