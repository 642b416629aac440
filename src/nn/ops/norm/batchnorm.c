/* SPDX-License-Identifier: MIT */
/* batch_norm.  Roles of the tensors and fusion are described in batchnorm-private.h, statistics in
 * batchnorm-stats.c, the backward pass in batchnorm-backward.c.
 *
 * With xhat = (x - mean[c]) * invstd[c]:
 *     y = [activation] (gamma[c] * xhat + beta[c] [+ residual])
 * Inputs x and residual (N, H, W, C), gamma, beta, mean, invstd (C); output y (N, H, W, C).  In
 * evaluation mean and invstd come from the running statistics.
 *
 * Where both weight and bias are frozen, batch_norm uses its running statistics in training too,
 * and leaves them unchanged (as torchvision's FrozenBatchNorm2d does).
 *
 * With max pooling batch_norm writes the pooled y (N, OH, OW, C) and, where a backward pass
 * follows, the places of the largest values and x at these places (winners), of the same shape.
 *
 * Invariants:
 * - Pad lanes stay zero by themselves: x, gamma and beta are zero there.
 * - y may be dropped after the forward pass, and is then written again by the same expression; the
 *   mask of y, from which the slope after a sum is computed, stays. */
#include "batchnorm-private.h"
#include "elementwise.h"
#include "ops.h"
#include "batchnorm-push.h"
#include <stddef.h>

/* PyTorch's default values */
#define EPSILON  1e-5
#define MOMENTUM 0.1

/* The number of windows per invocation of the kernel with max pooling where windows overlap (across
 * and down), and where they do not (across): more windows share more loads and arithmetic, and need
 * more registers. */
#define POOL_COLUMNS       2
#define POOL_ROWS          8
#define POOL_COLUMNS_APART 2
#define ROWS_SOFTWARE      3
/* invocations that keep a large card busy: strips are shortened where there would be fewer */
#define STRIPS (1 << 17)

guint32
dyno_batch_norm_apply_geometry (DynoLowering *lowering, DynoKernelSpec *spec, const DynoTensor *x,
                                guint32 count, guint32 rounds)
{
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  guint32 cvecs = x->cp / dyno_dtype_lanes (x->dtype);
  guint32 local = dyno_elementwise_local (info);
  guint64 few = dyno_info_is_software (info) ? 16 : dyno_device_info_scale (info, 1024);
  guint64 groups = ((guint64) count + local - 1) / local;
  groups = MIN (groups, MAX (few, groups / rounds));
  groups = MAX (groups, (cvecs + local - 1) / local);
  groups = MIN (groups, info->max_groups_x);
  spec->local_size[0] = local;
  dyno_kernel_spec_set (spec, DYNO_BATCH_NORM_APPLY_COUNT, count);
  dyno_kernel_spec_set (spec, DYNO_BATCH_NORM_APPLY_CVECS, cvecs);
  dyno_kernel_spec_set (spec, DYNO_BATCH_NORM_APPLY_STRIDE,
                        (guint32) (groups * local / cvecs * cvecs));
  return (guint32) groups;
}

/* Forward -------------------------------------------------------------------------------------- */

guint32
dyno_batch_norm_pool_geometry (DynoLowering *lowering, DynoKernelSpec *spec,
                               const DynoPoolWindow *pool, const DynoTensor *x, const DynoTensor *y,
                               guint32 h, guint32 w, guint32 columns, guint32 rows)
{
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  gboolean software = dyno_info_is_software (info);
  guint64 strips = dyno_device_info_scale (info, STRIPS);
  while (w % columns != 0)
    columns--;
  rows = MIN (software ? MIN (rows, ROWS_SOFTWARE) : rows, h);
  guint32 across = x->n * (w / columns) * (x->cp / dyno_dtype_lanes (x->dtype));
  guint32 down = (h + rows - 1) / rows;
  while (!software && down < h && (guint64) across * down < strips)
    down = MIN (2 * down, h);
  rows = (h + down - 1) / down;
  down = (h + rows - 1) / rows;
  dyno_kernel_spec_macro (spec, "COLUMNS=%u", columns);
  dyno_kernel_spec_macro (spec, "ROWS=%u", rows);
  guint32 groups = dyno_batch_norm_apply_geometry (
      lowering, spec, x, across * down, MAX (1, DYNO_BATCH_NORM_ROUNDS / (columns * rows)));
  dyno_kernel_spec_macro (spec, "WINDOW=%u", pool->kernel_h);
  dyno_kernel_spec_macro (spec, "STEP=%u", pool->stride_h);
  dyno_kernel_spec_macro (spec, "PAD=%u", pool->pad_h);
  dyno_kernel_spec_set (spec, DYNO_BATCH_NORM_POOL_H, x->h);
  dyno_kernel_spec_set (spec, DYNO_BATCH_NORM_POOL_W, x->w);
  dyno_kernel_spec_set (spec, DYNO_BATCH_NORM_POOL_OH, y->h);
  dyno_kernel_spec_set (spec, DYNO_BATCH_NORM_POOL_OW, y->w);
  return groups;
}

static void
batch_norm_lower_pool (DynoLowering *lowering, DynoNode *node)
{
  const DynoBatchNormAttributes *attributes = node->attributes;
  DynoTensor *x = node->inputs[DYNO_BATCH_NORM_X], *y = node->outputs[DYNO_BATCH_NORM_Y];
  DynoTensor *argmax = node->outputs[DYNO_BATCH_NORM_ARGMAX],
             *winners = node->outputs[DYNO_BATCH_NORM_WINNERS];
  DynoKernelSpec spec = { .shader = "batchnorm/batchnorm_pool.comp",
                          .push_bytes = sizeof (DynoBatchNormPoolPush) };
  dyno_elementwise_type (&spec, x->dtype);
  dyno_elementwise_words (&spec, dyno_lowering_get_info (lowering));
  if (attributes->activation)
    dyno_kernel_spec_macro (&spec, "RELU=1");
  if (dyno_batch_norm_uses_running (node))
    dyno_kernel_spec_macro (&spec, "VARIANCE=1");
  if (argmax)
    dyno_kernel_spec_macro (&spec, "KEEP=1");
  dyno_elementwise_count (lowering, x); /* the kernel's indices fit 31 bits */
  gboolean overlap = attributes->pool.kernel_h > attributes->pool.stride_h;
  guint32 groups = dyno_batch_norm_pool_geometry (lowering, &spec, &attributes->pool, x, y, y->h,
                                                  y->w, overlap ? POOL_COLUMNS : POOL_COLUMNS_APART,
                                                  overlap ? POOL_ROWS : 1);
  dyno_kernel_spec_set_float (&spec, DYNO_BATCH_NORM_POOL_EPSILON, (float) attributes->eps);

  DynoDispatch *dispatch = dyno_lowering_dispatch (lowering, node, "pool", &spec, groups, 1, 1);
  dispatch->flops = 3 * dyno_tensor_elements (x);
  dispatch->bytes =
      x->size_bytes + y->size_bytes + (argmax ? argmax->size_bytes + winners->size_bytes : 0);
  static const guint16 offsets[] = {
    [DYNO_BATCH_NORM_X] = offsetof (DynoBatchNormPoolPush, x),
    [DYNO_BATCH_NORM_WEIGHT] = offsetof (DynoBatchNormPoolPush, gamma),
    [DYNO_BATCH_NORM_BIAS] = offsetof (DynoBatchNormPoolPush, beta),
    [DYNO_BATCH_NORM_MEAN] = offsetof (DynoBatchNormPoolPush, mean),
    [DYNO_BATCH_NORM_SPREAD] = offsetof (DynoBatchNormPoolPush, spread)
  };
  for (guint i = 0; i < G_N_ELEMENTS (offsets); i++)
    dyno_dispatch_bind (dispatch, offsets[i], node->inputs[i], DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoBatchNormPoolPush, y, y, DYNO_ACCESS_WRITE);
  if (!argmax)
    return;
  DYNO_BIND (dispatch, DynoBatchNormPoolPush, argmax, argmax, DYNO_ACCESS_WRITE);
  DYNO_BIND (dispatch, DynoBatchNormPoolPush, winners, winners, DYNO_ACCESS_WRITE);
}

/* The mask that this pass writes; NULL: none, as where y is computed again. */
static DynoTensor *
forward_mask (DynoLowering *lowering, const DynoNode *node)
{
  return node->n_outputs > DYNO_BATCH_NORM_MASK && !dyno_lowering_is_rematerialising (lowering)
             ? node->outputs[DYNO_BATCH_NORM_MASK]
             : NULL;
}

static void
batch_norm_lower (DynoLowering *lowering, DynoNode *node)
{
  const DynoBatchNormAttributes *attributes = node->attributes;
  if (attributes->pool.kernel_h)
    {
      batch_norm_lower_pool (lowering, node);
      return;
    }
  DynoTensor *x = node->inputs[DYNO_BATCH_NORM_X],
             *residual = node->inputs[DYNO_BATCH_NORM_RESIDUAL],
             *mask = forward_mask (lowering, node);
  DynoKernelSpec spec = { .shader = "batchnorm/batchnorm_apply.comp",
                          .push_bytes = sizeof (DynoBatchNormApplyPush) };
  dyno_elementwise_type (&spec, x->dtype);
  dyno_elementwise_words (&spec, dyno_lowering_get_info (lowering));
  dyno_elementwise_activation (&spec, attributes->activation, attributes->parameter);
  if (residual)
    dyno_kernel_spec_macro (&spec, "ADDED=%d",
                            node->inputs[DYNO_BATCH_NORM_RESIDUAL_MEAN] ? DYNO_ADDED_ID_NORM
                                                                        : DYNO_ADDED_ID_TENSOR);
  if (dyno_batch_norm_uses_running (node))
    dyno_kernel_spec_macro (&spec, "VARIANCE=1");
  if (mask)
    dyno_kernel_spec_macro (&spec, "MASK=1");
  guint32 count = dyno_elementwise_count (lowering, x);
  guint32 groups = dyno_batch_norm_apply_geometry (
      lowering, &spec, x, mask ? (guint32) (mask->size_bytes / 4) : count,
      mask ? DYNO_BATCH_NORM_ROUNDS / DYNO_MASK_ROWS : DYNO_BATCH_NORM_ROUNDS);
  dyno_kernel_spec_set_float (&spec, DYNO_BATCH_NORM_APPLY_EPSILON, (float) attributes->eps);
  if (mask)
    dyno_kernel_spec_set (&spec, DYNO_BATCH_NORM_APPLY_ROWS, x->n * x->h * x->w);

  DynoDispatch *dispatch = dyno_lowering_dispatch (lowering, node, "apply", &spec, groups, 1, 1);
  dispatch->flops = 2 * dyno_tensor_elements (x);
  dispatch->bytes = x->size_bytes * (residual ? 3 : 2) + (mask ? mask->size_bytes : 0);
  static const guint16 offsets[] = {
    [DYNO_BATCH_NORM_X] = offsetof (DynoBatchNormApplyPush, x),
    [DYNO_BATCH_NORM_WEIGHT] = offsetof (DynoBatchNormApplyPush, gamma),
    [DYNO_BATCH_NORM_BIAS] = offsetof (DynoBatchNormApplyPush, beta),
    [DYNO_BATCH_NORM_MEAN] = offsetof (DynoBatchNormApplyPush, mean),
    [DYNO_BATCH_NORM_SPREAD] = offsetof (DynoBatchNormApplyPush, spread),
    [DYNO_BATCH_NORM_RESIDUAL] = offsetof (DynoBatchNormApplyPush, added.x),
    [DYNO_BATCH_NORM_RESIDUAL_WEIGHT] = offsetof (DynoBatchNormApplyPush, added.gamma),
    [DYNO_BATCH_NORM_RESIDUAL_BIAS] = offsetof (DynoBatchNormApplyPush, added.beta),
    [DYNO_BATCH_NORM_RESIDUAL_MEAN] = offsetof (DynoBatchNormApplyPush, added.mean),
    [DYNO_BATCH_NORM_RESIDUAL_INVSTD] = offsetof (DynoBatchNormApplyPush, added.invstd)
  };
  for (guint i = 0; i < DYNO_BATCH_NORM_N_INPUTS; i++)
    if (node->inputs[i])
      dyno_dispatch_bind (dispatch, offsets[i], node->inputs[i], DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoBatchNormApplyPush, y, node->outputs[0], DYNO_ACCESS_WRITE);
  if (mask)
    DYNO_BIND (dispatch, DynoBatchNormApplyPush, mask, mask, DYNO_ACCESS_WRITE);
}

static const DynoAttribute batch_norm_attributes[] = {
  DYNO_ATTRIBUTE (DynoBatchNormAttributes, activation),
  DYNO_ATTRIBUTE (DynoBatchNormAttributes, parameter),
  DYNO_ATTRIBUTE (DynoBatchNormAttributes, pool.kernel_h),
  DYNO_ATTRIBUTE (DynoBatchNormAttributes, pool.stride_h),
  DYNO_ATTRIBUTE (DynoBatchNormAttributes, pool.pad_h),
  DYNO_ATTRIBUTE (DynoBatchNormAttributes, eps),
};

const DynoOpClass dyno_batch_norm_op = { .name = "batch_norm",
                                         .traits = { .reads_own_output = TRUE, .restorable = TRUE },
                                         DYNO_OP_ATTRIBUTES (batch_norm_attributes),
                                         .backward = dyno_batch_norm_backward,
                                         .lower = batch_norm_lower };

/* Builder -------------------------------------------------------------------------------------- */

static DynoTensor *
vector_parameter (DynoGraph *graph, const char *name, const char *suffix, guint32 c, DynoInit init,
                  gboolean is_state)
{
  g_autofree char *full = g_strconcat (name, suffix, NULL);
  const DynoParameterLayout layout = dyno_layout_vector (c);
  DynoParameter *parameter = dyno_graph_parameter (graph, full, &layout, init, is_state);
  return parameter ? parameter->master : NULL;
}

DynoTensor *
dyno_batch_norm_with_params (DynoGraph *graph, DynoTensor *x, const char *name,
                             const DynoBatchNormParams *params)
{
  const DynoBatchNormStatistics numbers = {
    .eps = params && params->eps != 0 ? params->eps : EPSILON,
    .momentum = params && params->momentum != 0 ? params->momentum : MOMENTUM
  };
  if (!x)
    return NULL;
  if (!(numbers.eps > 0 && numbers.eps < G_MAXFLOAT && numbers.momentum > 0
        && numbers.momentum <= 1))
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: the eps of a batch norm is positive and finite, not %g, and its "
                            "momentum lies above 0 and is at most 1, unlike %g",
                            name, numbers.eps, numbers.momentum);
  guint64 rows = (guint64) x->n * x->h * x->w;
  if (rows > G_MAXUINT32)
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: (%u, %u, %u, %u) is too large for batch norm; lower the batch",
                            name, x->n, x->h, x->w, x->c);
  DynoTensor *gamma = vector_parameter (graph, name, ".weight", x->c, DYNO_INIT_ONE, FALSE);
  DynoTensor *beta = vector_parameter (graph, name, ".bias", x->c, DYNO_INIT_ZERO, FALSE);
  DynoTensor *mean = vector_parameter (graph, name, ".running_mean", x->c, DYNO_INIT_ZERO, TRUE);
  DynoTensor *spread = vector_parameter (graph, name, ".running_var", x->c, DYNO_INIT_ONE, TRUE);
  DynoTensor *y = dyno_graph_activation (graph, name, x->n, x->h, x->w, x->c);
  if (!gamma || !beta || !mean || !spread || !y)
    return NULL;
  gboolean of_batch = dyno_graph_get_params (graph)->training
                      && !(gamma->parameter->is_frozen && beta->parameter->is_frozen);
  if (of_batch && rows < 2)
    return dyno_graph_fail (
        graph, DYNO_NN_ERROR_SHAPE,
        "%s: batch norm needs more than one value a channel in training, (%u, %u, %u, %u) has one; "
        "raise the batch or the image size",
        name, x->n, x->h, x->w, x->c);
  if (of_batch && !dyno_batch_norm_append_stats (graph, x, name, &numbers, &mean, &spread))
    return NULL;
  DynoTensor *inputs[DYNO_BATCH_NORM_N_INPUTS] = { x, gamma, beta, mean, spread, NULL };
  DynoTensor *outputs[DYNO_BATCH_NORM_N_OUTPUTS] = { y };
  dyno_graph_node (graph, &dyno_batch_norm_op, name, inputs, DYNO_BATCH_NORM_N_INPUTS, outputs,
                   DYNO_BATCH_NORM_N_OUTPUTS, &(DynoBatchNormAttributes){ .eps = numbers.eps },
                   sizeof (DynoBatchNormAttributes));
  return y;
}

DynoTensor *
dyno_batch_norm (DynoGraph *graph, DynoTensor *x, const char *name)
{
  return dyno_batch_norm_with_params (graph, x, name, NULL);
}
