/* SPDX-License-Identifier: MIT */
/* 2-D convolution: builder, shape rule and backward nodes.
 *
 * x (N, H, W, C), weight (KH, KW, C, K), bias (K), y (N, OH, OW, K), OH = (H + 2 p - d (KH - 1) - 1)
 * / s + 1; with groups C is the channels of one of them.  Gradients have the shape of what they are
 * of.
 *     y[n][oy][ox][k] = bias[k] + sum over ky, kx, c of
 *                       x[n][oy s + ky d - p][ox s + kx d - p][c] * weight[ky][kx][c][k]
 *     dweight[ky][kx][c][k] += sum over n, oy, ox of
 *                       x[n][oy s + ky d - p][ox s + kx d - p][c] * dy[n][oy][ox][k]
 *     dbias[k] += sum over n, oy, ox of dy[n][oy][ox][k]
 *     dx[n][iy][ix][c] (+)= sum over ky, kx, k with iy = oy s + ky d - p, ix = ox s + kx d - p of
 *                       dy[n][oy][ox][k] * weight[ky][kx][c][k]
 *
 * Roles.  conv2d: inputs x, weight (compute type), bias (master, or NULL), with statistics the pivot
 * (see fuse.c), with affine those of a batch norm that it applies, with load the table of the one
 * before it; output y.
 *         conv2d.wgrad: inputs x, dy, with load the table; output the weight's gradient, added to.
 *         conv2d.bias: input dy; output the bias' gradient, added to.
 *         conv2d.dgrad: inputs dy, weight, and with norm those of a batch norm, for whose backward
 *         pass it makes sums; output dx, overwritten or added to.
 * Forms of it with groups (the table `forms`) have the same roles.
 * wgrad comes before dgrad, so that x's memory is free for dx' readers as early as can be. */
#include "conv2d-private.h"
#include "ops.h"
#include <string.h>

const DynoAttribute dyno_conv2d_attributes[DYNO_CONV2D_N_ATTRIBUTES] = {
  DYNO_ATTRIBUTE (DynoConv2dShape, kernel_h),   DYNO_ATTRIBUTE (DynoConv2dShape, kernel_w),
  DYNO_ATTRIBUTE (DynoConv2dShape, stride_h),   DYNO_ATTRIBUTE (DynoConv2dShape, stride_w),
  DYNO_ATTRIBUTE (DynoConv2dShape, pad_h),      DYNO_ATTRIBUTE (DynoConv2dShape, pad_w),
  DYNO_ATTRIBUTE (DynoConv2dShape, has_bias),   DYNO_ATTRIBUTE (DynoConv2dShape, statistics),
  DYNO_ATTRIBUTE (DynoConv2dShape, norm),       DYNO_ATTRIBUTE (DynoConv2dShape, norm_activation),
  DYNO_ATTRIBUTE (DynoConv2dShape, accumulate), DYNO_ATTRIBUTE (DynoConv2dShape, add_h),
  DYNO_ATTRIBUTE (DynoConv2dShape, add_w),      DYNO_ATTRIBUTE (DynoConv2dShape, groups),
  DYNO_ATTRIBUTE (DynoConv2dShape, dilation_h), DYNO_ATTRIBUTE (DynoConv2dShape, dilation_w),
  DYNO_ATTRIBUTE (DynoConv2dShape, affine),     DYNO_ATTRIBUTE (DynoConv2dShape, affine_activation),
  DYNO_ATTRIBUTE (DynoConv2dShape, load),
};

/* Sums for the batch norm that follows are made on the way, of a convolution without bias. */
gboolean
dyno_conv2d_absorb (DynoGraph *graph, DynoNode *node, const DynoNode *next)
{
  DynoConv2dShape *shape = node->attributes;
  (void) graph;
  if (!next->op->traits.reads_column_sums || shape->has_bias || shape->statistics)
    return FALSE;
  shape->statistics = TRUE;
  dyno_node_set_input (node, 3, next->inputs[1]);
  return TRUE;
}

/* The gradient that the node writes must be that of the batch norm's output as it lies in memory. */
gboolean
dyno_conv2d_make_gradient_sums (DynoNode *node, const DynoGradientSums *sums)
{
  DynoConv2dShape *shape = node->attributes;
  const DynoTensor *x = sums->x;
  if (shape->norm || node->outputs[0] != sums->dy || x->n != shape->n || x->h != shape->h
      || x->w != shape->w || x->cp != shape->cp || x->dtype != shape->dtype)
    return FALSE;
  shape->norm = sums->mask         ? DYNO_CONV2D_NORM_SLOPE_MASK
                : sums->activation ? DYNO_CONV2D_NORM_SLOPE_X
                                   : DYNO_CONV2D_NORM_PLAIN;
  shape->norm_activation = sums->activation;
  dyno_node_set_input (node, DYNO_CONV2D_NORM_X, sums->x);
  dyno_node_set_input (node, DYNO_CONV2D_NORM_MEAN, sums->mean);
  dyno_node_set_input (node, DYNO_CONV2D_NORM_INVSTD, sums->invstd);
  dyno_node_set_input (node, DYNO_CONV2D_NORM_GAMMA, sums->gamma);
  dyno_node_set_input (node, DYNO_CONV2D_NORM_BETA, sums->beta);
  if (sums->mask)
    dyno_node_set_input (node, DYNO_CONV2D_NORM_MASK, sums->mask);
  return TRUE;
}

gboolean
dyno_conv2d_apply_running_norm (DynoNode *node, const DynoRunningNorm *norm)
{
  DynoConv2dShape *shape = node->attributes;
  if (shape->has_bias || shape->affine || norm->x->dtype != shape->dtype)
    return FALSE;
  shape->affine = norm->residual ? 2 : 1;
  shape->affine_activation = norm->activation;
  dyno_node_set_input (node, DYNO_CONV2D_AFFINE_RESIDUAL, norm->residual);
  dyno_node_set_input (node, DYNO_CONV2D_AFFINE_MEAN, norm->mean);
  dyno_node_set_input (node, DYNO_CONV2D_AFFINE_VARIANCE, norm->variance);
  dyno_node_set_input (node, DYNO_CONV2D_AFFINE_GAMMA, norm->gamma);
  dyno_node_set_input (node, DYNO_CONV2D_AFFINE_BETA, norm->beta);
  return TRUE;
}

/* Does this convolution make the batch norm's output in its loads?  The batch norm's pass falls away
 * then, and every 16 bytes of x take 12 instructions more (gemm-load.glsl), in tiles without a patch
 * once for each tap.  All do until a card says where that is too much; DYNO_NORM_LOADS is for
 * measuring it. */
static gboolean
takes_norm_load (const DynoConv2dShape *shape)
{
  const char *wish = g_getenv ("DYNO_NORM_LOADS");
  if (wish && g_str_equal (wish, "0"))
    return FALSE;
  if (wish && g_str_equal (wish, "1x1"))
    return shape->kernel_h == 1 && shape->kernel_w == 1;
  return TRUE;
}

/* A linear layer's rows are all pixels of x, or its images where these are one pixel.  The kernels
 * for few channels cannot. */
gboolean
dyno_conv2d_load_norm (DynoNode *node, guint input, const DynoNormLoad *load, gboolean apply)
{
  DynoConv2dShape *shape = node->attributes;
  const DynoTensor *x = load->x;
  if (input > 0 || shape->load || shape->c <= 4 || x->cp != shape->cp || x->dtype != shape->dtype
      || (guint64) x->n * x->h * x->w != (guint64) shape->n * shape->h * shape->w
      || !takes_norm_load (shape))
    return FALSE;
  if (!apply)
    return TRUE;
  shape->load = load->activation ? load->activation : DYNO_CONV2D_LOAD_PLAIN;
  dyno_node_set_input (node, 0, load->x);
  dyno_node_set_input (node, DYNO_CONV2D_LOAD_TABLE, load->table);
  return TRUE;
}

static const DynoOpClass conv2d_op = {
  .name = "conv2d",
  .traits = { .restorable = TRUE, .emits_column_sums = TRUE, .loads_by_table = TRUE },
  .attributes = dyno_conv2d_attributes,
  .n_attributes = DYNO_CONV2D_N_ATTRIBUTES,
  .backward = dyno_conv2d_backward,
  .lower = dyno_conv2d_lower_forward,
  .absorb = dyno_conv2d_absorb,
  .apply_running_norm = dyno_conv2d_apply_running_norm,
  .load_norm = dyno_conv2d_load_norm,
};

/* A kernel of one pixel meets every stride-th pixel of x, which is one of y. */
static gboolean
sparse_gradient (DynoNode *node, DynoSparseGradient *sparse)
{
  DynoConv2dShape *shape = node->attributes;
  if (sparse->pixels)
    {
      shape->h = shape->oh;
      shape->w = shape->ow;
      shape->stride_h = shape->stride_w = 1;
      node->outputs[0] = sparse->pixels;
      return TRUE;
    }
  if (shape->kernel_h != 1 || shape->kernel_w != 1 || shape->pad_h || shape->pad_w
      || shape->stride_h * shape->stride_w == 1 || shape->groups > 1 || shape->accumulate
      || shape->norm)
    return FALSE;
  *sparse = (DynoSparseGradient){ .gradient = node->outputs[0],
                                  .step_h = shape->stride_h,
                                  .step_w = shape->stride_w };
  return TRUE;
}

/* Where every pixel of dx meets a tap: then all are written. */
static gboolean
add_sparse_gradient (DynoNode *node, const DynoSparseGradient *sparse)
{
  DynoConv2dShape *shape = node->attributes;
  const DynoTensor *dx = node->outputs[0];
  if (!shape->accumulate || shape->groups > 1 || shape->dilation_h > 1 || shape->dilation_w > 1
      || shape->kernel_h < shape->stride_h || shape->kernel_w < shape->stride_w
      || dx != sparse->gradient || dx->n != shape->n || dx->h != shape->h || dx->w != shape->w)
    return FALSE;
  if (sparse->pixels)
    {
      shape->accumulate = FALSE;
      shape->add_h = sparse->step_h;
      shape->add_w = sparse->step_w;
      dyno_node_set_input (node, DYNO_CONV2D_ADDED, sparse->pixels);
    }
  return TRUE;
}

static const DynoOpClass dgrad_op = {
  .name = "conv2d.dgrad",
  .attributes = dyno_conv2d_attributes,
  .n_attributes = DYNO_CONV2D_N_ATTRIBUTES,
  .lower = dyno_conv2d_lower_dgrad,
  .make_gradient_sums = dyno_conv2d_make_gradient_sums,
  .sparse_gradient = sparse_gradient,
  .add_sparse_gradient = add_sparse_gradient,
};

static const DynoOpClass wgrad_op = {
  .name = "conv2d.wgrad",
  .traits = { .loads_by_table = TRUE },
  .attributes = dyno_conv2d_attributes,
  .n_attributes = DYNO_CONV2D_N_ATTRIBUTES,
  .lower = dyno_conv2d_lower_wgrad,
  .load_norm = dyno_conv2d_load_norm,
};

static const DynoOpClass bias_op = {
  .name = "conv2d.bias",
  .lower = dyno_conv2d_lower_bias,
};

/* The size of an output side; 0: the kernel does not fit. */
static guint32
output_side (guint32 size, guint32 kernel, guint32 stride, guint32 pad, guint32 dilation)
{
  guint64 padded = (guint64) size + 2 * (guint64) pad,
          reach = (guint64) (MAX (kernel, 1) - 1) * MAX (dilation, 1) + 1;
  return padded < reach ? 0 : (guint32) MIN ((padded - reach) / stride + 1, G_MAXUINT32);
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
                    DynoParameter *weight, DynoParameter *bias, const DynoConv2dShape *shape,
                    guint32 n, guint32 h, guint32 w)
{
  if (!counts_fit (shape))
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

static const DynoConv2dForm dense = { dense_serves, dense_layout, &conv2d_op };

static gboolean
grouped_serves (const DynoConv2dShape *shape)
{
  return shape->c % shape->groups == 0 && shape->k % shape->groups == 0;
}

/* An output's column has the inputs of the groups of its block, and zeros at those of the others:
 * these are neither in torchvision's array nor have they a gradient. */
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

/* By the kernels of dense ones, a block of groups at a time. */
static const DynoConv2dForm grouped = { grouped_serves, grouped_layout, &conv2d_op };

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

/* n_dims: of the weight as PyTorch has it; 3 leaves the height of 1 out. */
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

  g_autofree char *weight_name = g_strconcat (name, ".weight", NULL),
                  *bias_name = g_strconcat (name, ".bias", NULL);
  DynoParameterLayout weight_layout = form->layout (&shape);
  const DynoParameterLayout bias_layout = dyno_layout_vector (shape.k);
  weight_layout.n_dims = n_dims;
  DynoParameter *bias = NULL, *weight = dyno_graph_parameter (graph, weight_name, &weight_layout,
                                                              params->init, FALSE);
  if (!weight)
    return NULL;
  if (params->bias)
    {
      bias = dyno_graph_parameter (
          graph, bias_name, &bias_layout,
          params->init == DYNO_INIT_KAIMING_UNIFORM ? DYNO_INIT_KAIMING_UNIFORM : DYNO_INIT_ZERO,
          FALSE);
      if (!bias)
        return NULL;
      bias->fan_in = weight->fan_in;
    }
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
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: (%u, %u, %u, %u) is no sequence; a convolution over one takes "
                            "(N, 1, T, C)",
                            name, x->n, x->h, x->w, x->c);
  return append_convolution (graph, x, name, &flat, 3);
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
  if (bias && bias->gradient)
    {
      g_autofree char *own = g_strconcat (name, ".bias", NULL);
      dyno_graph_node (graph, &bias_op, own, &dy, 1, (DynoTensor *[]){ bias->gradient }, 1, shape,
                       sizeof *shape);
    }
}

void
dyno_conv2d_append_gradients (DynoGraph *graph, DynoNode *node, const DynoOpClass *wgrad,
                              const DynoOpClass *dgrad)
{
  DynoTensor *x = node->inputs[0], *weight = node->inputs[1], *bias = node->inputs[2];
  DynoTensor *dy = dyno_graph_gradient (graph, node->outputs[0]);
  DynoConv2dShape shape = *(const DynoConv2dShape *) node->attributes;

  shape.statistics = FALSE;
  if (!dy)
    return;
  dyno_conv2d_append_weight_gradients (graph, node->name, wgrad, x, dy, weight->parameter,
                                       bias ? bias->parameter : NULL, &shape);
  DynoTensor *dx = dyno_graph_gradient_target (graph, x, &shape.accumulate);
  if (dx)
    {
      g_autofree char *name = g_strconcat (node->name, ".dgrad", NULL);
      DynoTensor *inputs[] = { dy, weight };
      dyno_graph_node (graph, dgrad, name, inputs, 2, &dx, 1, &shape, sizeof shape);
    }
}

void
dyno_linear_append_weight_gradients (DynoGraph *graph, const char *name, DynoTensor *x,
                                     DynoTensor *dy, const DynoParameter *weight,
                                     const DynoParameter *bias)
{
  const DynoConv2dShape shape = dyno_linear_shape (graph, x->n * x->h * x->w, x->c, dy->c);
  dyno_conv2d_append_weight_gradients (graph, name, &wgrad_op, x, dy, weight, bias, &shape);
}

void
dyno_conv2d_backward (DynoGraph *graph, DynoNode *node)
{
  dyno_conv2d_append_gradients (graph, node, &wgrad_op, &dgrad_op);
}
