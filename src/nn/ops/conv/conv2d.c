/* SPDX-License-Identifier: MIT */
/* 2-D convolution: builder, shape rule and backward nodes.
 *
 * x (N, H, W, C), weight (KH, KW, C, K), bias (K), y (N, OH, OW, K), OH = (H + 2 p - d (KH - 1) - 1)
 * / s + 1; with groups C is the number of channels of one group.  A gradient has the shape of its
 * tensor.
 *     y[n][oy][ox][k] = bias[k] + sum over ky, kx, c of
 *                       x[n][oy s + ky d - p][ox s + kx d - p][c] * weight[ky][kx][c][k]
 *     dweight[ky][kx][c][k] += sum over n, oy, ox of
 *                       x[n][oy s + ky d - p][ox s + kx d - p][c] * dy[n][oy][ox][k]
 *     dbias[k] += sum over n, oy, ox of dy[n][oy][ox][k]
 *     dx[n][iy][ix][c] (+)= sum over ky, kx, k with iy = oy s + ky d - p, ix = ox s + kx d - p of
 *                       dy[n][oy][ox][k] * weight[ky][kx][c][k]
 *
 * Roles.  conv2d: inputs x, weight (compute type), bias (master, or NULL), with statistics the
 * pivot (see fusions/column-sums.c), with affine the inputs of a batch norm that it applies, with
 * load the table of the batch norm before it; output y.
 *         conv2d.wgrad: inputs x, dy, with load the table; output the weight's gradient, added to.
 *         conv2d.bias: input dy; output the bias' gradient, added to.
 *         conv2d.dgrad: inputs dy, weight, and with norm the inputs of a batch norm, for whose
 *         backward pass it makes sums; output dx, overwritten or added to.
 * The forms with groups (the table `forms`) have the same roles.
 * wgrad, which reads x, comes before dgrad, so that x's memory is free as early as possible. */
#include "conv2d-private.h"
#include "ops.h"
#include <string.h>

const DynoAttribute dyno_conv2d_attributes[DYNO_CONV2D_N_ATTRIBUTES] = {
  DYNO_ATTRIBUTE (DynoConv2dShape, kernel_h),
  DYNO_ATTRIBUTE (DynoConv2dShape, kernel_w),
  DYNO_ATTRIBUTE (DynoConv2dShape, stride_h),
  DYNO_ATTRIBUTE (DynoConv2dShape, stride_w),
  DYNO_ATTRIBUTE (DynoConv2dShape, pad_h),
  DYNO_ATTRIBUTE (DynoConv2dShape, pad_w),
  DYNO_ATTRIBUTE (DynoConv2dShape, has_bias),
  DYNO_ATTRIBUTE (DynoConv2dShape, fused.statistics),
  DYNO_ATTRIBUTE (DynoConv2dShape, fused.norm),
  DYNO_ATTRIBUTE (DynoConv2dShape, fused.norm_activation),
  DYNO_ATTRIBUTE (DynoConv2dShape, accumulate),
  DYNO_ATTRIBUTE (DynoConv2dShape, fused.add_h),
  DYNO_ATTRIBUTE (DynoConv2dShape, fused.add_w),
  DYNO_ATTRIBUTE (DynoConv2dShape, groups),
  DYNO_ATTRIBUTE (DynoConv2dShape, dilation_h),
  DYNO_ATTRIBUTE (DynoConv2dShape, dilation_w),
  DYNO_ATTRIBUTE (DynoConv2dShape, fused.affine),
  DYNO_ATTRIBUTE (DynoConv2dShape, fused.affine_activation),
  DYNO_ATTRIBUTE (DynoConv2dShape, fused.affine_parameter),
  DYNO_ATTRIBUTE (DynoConv2dShape, fused.affine_eps),
  DYNO_ATTRIBUTE (DynoConv2dShape, fused.load),
};

guint64
dyno_conv2d_flops (const DynoNode *node)
{
  const DynoConv2dShape *s = node->attributes;
  return 2 * (guint64) s->n * s->oh * s->ow * s->kernel_h * s->kernel_w * (s->c / s->groups) * s->k;
}

const DynoOpClass dyno_conv2d_ops[DYNO_CONV2D_N_PASSES] = {
  [DYNO_CONV2D_FORWARD] = {
    .name = "conv2d",
    .traits = { .restorable = TRUE },
    DYNO_OP_ATTRIBUTES (dyno_conv2d_attributes),
    .backward = dyno_conv2d_backward,
    .lower = dyno_conv2d_lower_forward,
    .flops = dyno_conv2d_flops,
  },
  [DYNO_CONV2D_DGRAD] = {
    .name = "conv2d.dgrad",
    DYNO_OP_ATTRIBUTES (dyno_conv2d_attributes),
    .lower = dyno_conv2d_lower_dgrad,
    .flops = dyno_conv2d_flops,
  },
  [DYNO_CONV2D_WGRAD] = {
    .name = "conv2d.wgrad",
    DYNO_OP_ATTRIBUTES (dyno_conv2d_attributes),
    .lower = dyno_conv2d_lower_wgrad,
    .flops = dyno_conv2d_flops,
  },
};

gboolean
dyno_conv2d_is_depthwise (const DynoNode *node)
{
  return node->op >= dyno_depthwise_ops && node->op < dyno_depthwise_ops + DYNO_CONV2D_N_PASSES;
}

DynoConv2dShape *
dyno_conv2d_get_shape (DynoNode *node, DynoConv2dPass pass)
{
  return node->op == &dyno_conv2d_ops[pass] || node->op == &dyno_depthwise_ops[pass]
                 || (pass == DYNO_CONV2D_FORWARD && node->op == &dyno_linear_op)
             ? node->attributes
             : NULL;
}

static const DynoOpClass bias_op = {
  .name = "conv2d.bias",
  .lower = dyno_conv2d_lower_bias,
};

/* The output's extent along an axis; 0: the kernel does not fit. */
static guint32
output_side (guint32 size, guint32 kernel, guint32 stride, guint32 pad, guint32 dilation)
{
  guint64 padded = (guint64) size + 2 * (guint64) pad,
          reach = (guint64) (MAX (kernel, 1) - 1) * MAX (dilation, 1) + 1;
  return padded < reach ? 0 : (guint32) MIN ((padded - reach) / stride + 1, G_MAXUINT32);
}

/* The kernels count rows, and 16-byte chunks of a tensor, in 32 bits, with a sign where padding
 * reaches before the image. */
gboolean
dyno_conv2d_counts_fit (const DynoConv2dShape *shape)
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
                    DynoParameter *weight, DynoParameter *bias, const DynoConv2dShape *shape,
                    guint32 n, guint32 h, guint32 w)
{
  if (!dyno_conv2d_counts_fit (shape))
    return dyno_graph_fail (
        graph, DYNO_NN_ERROR_SHAPE,
        "%s: %u x %u x %u x %u is too large for one convolution; make the batch smaller", name,
        shape->n, shape->h, shape->w, shape->c);
  DynoTensor *y = dyno_graph_activation (graph, name, n, h, w, shape->k);
  if (!y)
    return NULL;
  DynoTensor *inputs[] = { x, weight->compute, bias ? bias->master : NULL };
  dyno_graph_node (graph, op, name, inputs, G_N_ELEMENTS (inputs), &y, 1, shape, sizeof *shape);
  return y;
}

static gboolean
dense_serves (const DynoConv2dShape *shape)
{
  return shape->groups == 1;
}

static DynoParameterLayout
dense_layout (const DynoConv2dShape *shape)
{
  return dyno_layout_conv (shape->k, shape->c, shape->kernel_h, shape->kernel_w);
}

static const DynoConv2dForm dense = { dense_serves, dense_layout,
                                      &dyno_conv2d_ops[DYNO_CONV2D_FORWARD] };

static gboolean
grouped_serves (const DynoConv2dShape *shape)
{
  return shape->c % shape->groups == 0 && shape->k % shape->groups == 0;
}

/* The column of an output has the inputs of all groups of its block, with zeros at the inputs of
 * the other groups: these zeros are not in torchvision's array and have no gradient. */
static DynoParameterLayout
grouped_layout (const DynoConv2dShape *shape)
{
  const DynoConv2dBlock block = dyno_conv2d_block (shape);
  DynoParameterLayout conv =
      dyno_layout_conv (shape->k, shape->c / shape->groups, shape->kernel_h, shape->kernel_w);
  conv.padded[1] = block.c;
  conv.merged = block.groups;
  conv.group_outputs = shape->k / shape->groups;
  return conv;
}

/* Uses the kernels of dense convolutions, one block of groups at a time. */
static const DynoConv2dForm grouped = { grouped_serves, grouped_layout,
                                        &dyno_conv2d_ops[DYNO_CONV2D_FORWARD] };

DynoParameterLayout
dyno_conv2d_layout (const DynoConv2dShape *shape)
{
  return dense_serves (shape) ? dense_layout (shape) : grouped_layout (shape);
}

static const DynoConv2dForm *const forms[] = {
  &dense,
  &dyno_conv2d_depthwise,
  &grouped,
};

static const DynoConv2dForm *
find_form (const DynoConv2dShape *shape)
{
  for (guint i = 0; i < G_N_ELEMENTS (forms); i++)
    if (forms[i]->serves (shape))
      return forms[i];
  return NULL;
}

gboolean
dyno_conv2d_parameters (DynoGraph *graph, const char *name, const DynoParameterLayout *layout,
                        guint32 n_biases, DynoInit init, DynoParameter **weight,
                        DynoParameter **bias)
{
  g_autofree char *weight_name = g_strconcat (name, ".weight", NULL),
                  *bias_name = g_strconcat (name, ".bias", NULL);
  const DynoParameterLayout vector = dyno_layout_vector (MAX (n_biases, 1));

  *bias = NULL;
  *weight = dyno_graph_parameter (graph, weight_name, layout, init, FALSE);
  if (!*weight)
    return FALSE;
  if (n_biases == 0)
    return TRUE;
  *bias = dyno_graph_parameter (
      graph, bias_name, &vector,
      init == DYNO_INIT_KAIMING_UNIFORM ? DYNO_INIT_KAIMING_UNIFORM : DYNO_INIT_ZERO, FALSE);
  if (!*bias)
    return FALSE;
  (*bias)->fan_in = (*weight)->fan_in;
  return TRUE;
}

/* n_dims: of the weight in PyTorch; 3 leaves out the height of 1. */
static DynoTensor *
append_convolution (DynoGraph *graph, DynoTensor *x, const char *name,
                    const DynoConv2dParams *params, guint n_dims)
{
  if (!x)
    return NULL;
  DynoConv2dShape shape = {
    .n = x->n,
    .h = x->h,
    .w = x->w,
    .c = x->c,
    .cp = x->cp,
    .k = params->out_channels,
    .kp = (params->out_channels + 7) & ~7u,
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
  };
  shape.oh = output_side (x->h, shape.kernel_h, shape.stride_h, shape.pad_h, shape.dilation_h);
  shape.ow = output_side (x->w, shape.kernel_w, shape.stride_w, shape.pad_w, shape.dilation_w);
  if (shape.kernel_h == 0 || shape.kernel_w == 0 || shape.k == 0 || shape.oh == 0 || shape.ow == 0)
    return dyno_graph_fail (
        graph, DYNO_NN_ERROR_SHAPE,
        "%s: a %u x %u kernel with %u channels does not fit an image of %u x %u", name,
        shape.kernel_h, shape.kernel_w, shape.k, x->h, x->w);
  const DynoConv2dForm *form = find_form (&shape);
  if (!form)
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: %u groups do not divide a convolution from %u to %u channels; "
                            "take a number that divides both",
                            name, shape.groups, shape.c, shape.k);

  DynoParameterLayout layout = form->layout (&shape);
  DynoParameter *weight, *bias;
  layout.n_dims = n_dims;
  if (!dyno_conv2d_parameters (graph, name, &layout, params->bias ? shape.k : 0, params->init,
                               &weight, &bias))
    return NULL;
  return dyno_conv2d_append (graph, form->op, name, x, weight, bias, &shape, shape.n, shape.oh,
                             shape.ow);
}

DynoTensor *
dyno_conv2d (DynoGraph *graph, DynoTensor *x, const char *name, const DynoConv2dParams *params)
{
  return append_convolution (graph, x, name, params, 4);
}

DynoTensor *
dyno_conv1d (DynoGraph *graph, DynoTensor *x, const char *name, const DynoConv2dParams *params)
{
  DynoConv2dParams flat = *params;
  flat.kernel_h = flat.stride_h = 1;
  flat.pad_h = 0;
  if (x && x->h != 1)
    return dyno_graph_fail (
        graph, DYNO_NN_ERROR_SHAPE,
        "%s: (%u, %u, %u, %u) is not a sequence; a convolution over one takes (N, 1, T, C)", name,
        x->n, x->h, x->w, x->c);
  return append_convolution (graph, x, name, &flat, 3);
}

void
dyno_conv2d_append_bias_gradient (DynoGraph *graph, const char *name, DynoTensor *dy,
                                  const DynoParameter *bias, const DynoConv2dShape *shape)
{
  g_autofree char *own = g_strconcat (name, ".bias", NULL);
  if (bias->gradient)
    dyno_graph_node (graph, &bias_op, own, &dy, 1, (DynoTensor *[]){ bias->gradient }, 1, shape,
                     sizeof *shape);
}

void
dyno_conv2d_append_weight_gradients (DynoGraph *graph, const char *name, const DynoOpClass *wgrad,
                                     DynoTensor *x, DynoTensor *dy, const DynoParameter *weight,
                                     const DynoParameter *bias, const DynoConv2dShape *shape)
{
  if (weight->gradient)
    {
      g_autofree char *own = g_strconcat (name, ".wgrad", NULL);
      dyno_graph_node (graph, wgrad, own, (DynoTensor *[]){ x, dy }, 2,
                       (DynoTensor *[]){ weight->gradient }, 1, shape, sizeof *shape);
    }
  if (bias)
    dyno_conv2d_append_bias_gradient (graph, name, dy, bias, shape);
}

void
dyno_conv2d_append_gradients (DynoGraph *graph, DynoNode *node, const DynoOpClass *ops)
{
  DynoTensor *x = node->inputs[0], *weight = node->inputs[1], *bias = node->inputs[2];
  DynoTensor *dy = dyno_graph_gradient (graph, node->outputs[0]);
  DynoConv2dShape shape = *(const DynoConv2dShape *) node->attributes;

  shape.fused = (DynoConv2dFused){ 0 };
  if (!dy)
    return;
  dyno_conv2d_append_weight_gradients (graph, node->name, &ops[DYNO_CONV2D_WGRAD], x, dy,
                                       weight->parameter, bias ? bias->parameter : NULL, &shape);
  DynoTensor *dx = dyno_graph_gradient_target (graph, x, &shape.accumulate);
  if (dx)
    {
      g_autofree char *name = g_strconcat (node->name, ".dgrad", NULL);
      DynoTensor *inputs[] = { dy, weight };
      dyno_graph_node (graph, &ops[DYNO_CONV2D_DGRAD], name, inputs, 2, &dx, 1, &shape,
                       sizeof shape);
    }
}

void
dyno_linear_append_weight_gradients (DynoGraph *graph, const char *name, DynoTensor *x,
                                     DynoTensor *dy, const DynoParameter *weight,
                                     const DynoParameter *bias)
{
  const DynoConv2dShape shape = dyno_linear_shape (graph, x->n * x->h * x->w, x->c, dy->c);
  dyno_conv2d_append_weight_gradients (graph, name, &dyno_conv2d_ops[DYNO_CONV2D_WGRAD], x, dy,
                                       weight, bias, &shape);
}

void
dyno_conv2d_backward (DynoGraph *graph, DynoNode *node)
{
  dyno_conv2d_append_gradients (graph, node, dyno_conv2d_ops);
}
