/* SPDX-License-Identifier: MIT */
/* 2-D convolution: builder, shape rule and backward nodes.
 *
 *   y[n][oy][ox][k] = bias[k] + sum over ky, kx, c of x[n][oy s + ky - p][ox s + kx - p][c]
 *   weight[ky][kx][c][k]
 *
 * Roles.  conv2d: inputs x, weight (compute type), bias (master, or NULL), and with statistics the
 * pivot (see fuse.c); output y.
 *         conv2d.wgrad: inputs x, dy; output the weight's gradient, added to.
 *         conv2d.bias: input dy; output the bias' gradient, added to.
 *         conv2d.dgrad: inputs dy, weight; output dx, overwritten or added to.
 * wgrad comes before dgrad, so that x's memory is free for dx' readers as early as can be. */
#include "conv2d-private.h"
#include "ops.h"
#include <string.h>

const DynoAttribute dyno_conv2d_attributes[DYNO_CONV2D_N_ATTRIBUTES] = {
  DYNO_ATTRIBUTE (DynoConv2dShape, kernel_h),   DYNO_ATTRIBUTE (DynoConv2dShape, kernel_w),
  DYNO_ATTRIBUTE (DynoConv2dShape, stride_h),   DYNO_ATTRIBUTE (DynoConv2dShape, stride_w),
  DYNO_ATTRIBUTE (DynoConv2dShape, pad_h),      DYNO_ATTRIBUTE (DynoConv2dShape, pad_w),
  DYNO_ATTRIBUTE (DynoConv2dShape, has_bias),   DYNO_ATTRIBUTE (DynoConv2dShape, statistics),
  DYNO_ATTRIBUTE (DynoConv2dShape, accumulate),
};

/* Sums for the batch norm that follows are made on the way, of a convolution without bias. */
static gboolean
absorb (DynoGraph *graph, DynoNode *node, const DynoNode *next)
{
  DynoConv2dShape *shape = node->attributes;
  (void) graph;
  if (!next->op->traits.reads_column_sums || shape->has_bias || shape->statistics)
    return FALSE;
  shape->statistics = TRUE;
  dyno_node_set_input (node, 3, next->inputs[1]);
  return TRUE;
}

static const DynoOpClass conv2d_op = {
  .name = "conv2d",
  .traits = { .emits_column_sums = TRUE },
  .attributes = dyno_conv2d_attributes,
  .n_attributes = DYNO_CONV2D_N_ATTRIBUTES,
  .backward = dyno_conv2d_backward,
  .lower = dyno_conv2d_lower_forward,
  .absorb = absorb,
};

static const DynoOpClass dgrad_op = {
  .name = "conv2d.dgrad",
  .attributes = dyno_conv2d_attributes,
  .n_attributes = DYNO_CONV2D_N_ATTRIBUTES,
  .lower = dyno_conv2d_lower_dgrad,
};

static const DynoOpClass wgrad_op = {
  .name = "conv2d.wgrad",
  .attributes = dyno_conv2d_attributes,
  .n_attributes = DYNO_CONV2D_N_ATTRIBUTES,
  .lower = dyno_conv2d_lower_wgrad,
};

static const DynoOpClass bias_op = {
  .name = "conv2d.bias",
  .lower = dyno_conv2d_lower_bias,
};

/* The size of an output side; 0: the kernel does not fit. */
static guint32
output_side (guint32 size, guint32 kernel, guint32 stride, guint32 pad)
{
  guint64 padded = (guint64) size + 2 * (guint64) pad;
  return padded < kernel ? 0 : (guint32) MIN ((padded - kernel) / stride + 1, G_MAXUINT32);
}

/* The kernels count rows, and 16-byte chunks of a tensor, in 32 bits, with a sign where padding
 * leads before the image. */
static gboolean
counts_fit (const DynoConv2dShape *shape)
{
  guint64 rows =
      (guint64) shape->n * MAX ((guint64) shape->h * shape->w, (guint64) shape->oh * shape->ow);
  guint64 depth = (guint64) shape->kernel_h * shape->kernel_w * MAX (shape->cp, shape->kp);
  return depth * MIN (shape->cp, shape->kp) < G_MAXINT32 && rows < G_MAXINT32 / 2
         && depth < G_MAXINT32 / 2 && (guint64) shape->h * shape->w < G_MAXINT32
         && rows * (MAX (shape->cp, shape->kp) / 4) < G_MAXINT32;
}

DynoTensor *
dyno_conv2d_append (DynoGraph *graph, const DynoOpClass *op, const char *name, DynoTensor *x,
                    DynoParameter *weight, DynoParameter *bias, const DynoConv2dShape *shape)
{
  if (!counts_fit (shape))
    return dyno_graph_fail (
        graph, DYNO_NN_ERROR_SHAPE,
        "%s: %u x %u x %u x %u is too large for one convolution; make the batch smaller", name,
        shape->n, shape->h, shape->w, shape->c);
  DynoTensor *y = dyno_graph_activation (graph, name, shape->n, shape->oh, shape->ow, shape->k);
  if (!y)
    return NULL;
  DynoTensor *inputs[] = { x, weight->compute, bias ? bias->master : NULL };
  dyno_graph_node (graph, op, name, inputs, G_N_ELEMENTS (inputs), &y, 1, shape, sizeof *shape);
  return y;
}

DynoTensor *
dyno_conv2d (DynoGraph *graph, DynoTensor *x, const char *name, const DynoConv2dParams *params)
{
  if (!x)
    return NULL;
  guint32 stride_h = MAX (params->stride_h, 1), stride_w = MAX (params->stride_w, 1);
  guint32 oh = output_side (x->h, params->kernel_h, stride_h, params->pad_h);
  guint32 ow = output_side (x->w, params->kernel_w, stride_w, params->pad_w);
  if (params->kernel_h == 0 || params->kernel_w == 0 || params->out_channels == 0 || oh == 0
      || ow == 0)
    return dyno_graph_fail (
        graph, DYNO_NN_ERROR_SHAPE,
        "%s: a %u x %u kernel with %u channels does not fit an image of %u x %u", name,
        params->kernel_h, params->kernel_w, params->out_channels, x->h, x->w);

  g_autofree char *weight_name = g_strconcat (name, ".weight", NULL),
                  *bias_name = g_strconcat (name, ".bias", NULL);
  guint32 dims[4] = { params->out_channels, x->c, params->kernel_h, params->kernel_w };
  DynoParameter *weight = dyno_graph_parameter (graph, weight_name, DYNO_LAYOUT_CONV, dims,
                                                params->init, FALSE),
                *bias = NULL;
  if (!weight)
    return NULL;
  if (params->bias)
    {
      bias = dyno_graph_parameter (graph, bias_name, DYNO_LAYOUT_VECTOR, dims,
                                   DYNO_INIT_KAIMING_UNIFORM, FALSE);
      if (!bias)
        return NULL;
      bias->fan_in = weight->fan_in;
    }
  DynoConv2dShape shape = {
    .n = x->n,
    .h = x->h,
    .w = x->w,
    .c = x->c,
    .cp = x->cp,
    .oh = oh,
    .ow = ow,
    .k = params->out_channels,
    .kp = (params->out_channels + 7) & ~7u,
    .kernel_h = params->kernel_h,
    .kernel_w = params->kernel_w,
    .stride_h = stride_h,
    .stride_w = stride_w,
    .pad_h = params->pad_h,
    .pad_w = params->pad_w,
    .half = dyno_graph_get_compute (graph) == DYNO_DTYPE_F16,
    .has_bias = bias != NULL,
  };
  return dyno_conv2d_append (graph, &conv2d_op, name, x, weight, bias, &shape);
}

void
dyno_conv2d_backward (DynoGraph *graph, DynoNode *node)
{
  DynoTensor *x = node->inputs[0], *weight = node->inputs[1], *bias = node->inputs[2];
  DynoTensor *dy = dyno_graph_gradient (graph, node->outputs[0]);
  DynoConv2dShape shape = *(const DynoConv2dShape *) node->attributes;

  shape.statistics = FALSE;
  if (!dy)
    return;
  if (weight->parameter->gradient)
    {
      g_autofree char *name = g_strconcat (node->name, ".wgrad", NULL);
      DynoTensor *inputs[] = { x, dy };
      dyno_graph_node (graph, &wgrad_op, name, inputs, 2, &weight->parameter->gradient, 1, &shape,
                       sizeof shape);
    }
  if (bias && bias->parameter->gradient)
    {
      g_autofree char *name = g_strconcat (node->name, ".bias", NULL);
      dyno_graph_node (graph, &bias_op, name, &dy, 1, &bias->parameter->gradient, 1, &shape,
                       sizeof shape);
    }
  DynoTensor *dx = dyno_graph_gradient_target (graph, x, &shape.accumulate);
  if (dx)
    {
      g_autofree char *name = g_strconcat (node->name, ".dgrad", NULL);
      DynoTensor *inputs[] = { dy, weight };
      dyno_graph_node (graph, &dgrad_op, name, inputs, 2, &dx, 1, &shape, sizeof shape);
    }
}
