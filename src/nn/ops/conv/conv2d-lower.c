/* SPDX-License-Identifier: MIT */
/* The lowering of a convolution's nodes to dispatches.  The kernel is chosen here and specified in
 * conv2d-variants.c.
 *
 * Invariants: work and bytes are counted without pad channels.  Partial sums lie in a workspace of
 * the node; they are added up in a fixed order, so that a step gives the same bits every time. */
#include "conv2d-private.h"
#include "conv2d.h"
#include "elementwise.h"
#include <stddef.h>

#define REDUCE_INVOCATIONS 256
#define REDUCE_LANES       8
#define REDUCE_MOST_LANES  32
#define REDUCE_FEW         65536 /* number of vectors of 4 up to which REDUCE_LANES are used */
#define REDUCE_MAX_GROUPS  1024
#define JOIN_INVOCATIONS   256
#define JOIN_MAX_GROUPS    4096
#define JOIN_MOST_AT_ONCE  8
#define BIAS_INVOCATIONS   128
#define BIAS_CHUNKS        8 /* most chunks per workgroup, which has chunks x lanes invocations */
#define BIAS_MAX_GROUPS    64
#define BIAS_MIN_ROWS      256
/* For the bias of whole images, which have many rows and few channels. */
#define BIAS_MANY_ROWS   4096 /* rows of a group from which on more groups are used */
#define BIAS_MANY_GROUPS 1024

static guint64
count_weight (const DynoConv2dShape *s)
{
  return (guint64) s->kernel_h * s->kernel_w * (s->c / s->groups) * s->k;
}

static guint64
bytes_x (const DynoConv2dShape *s)
{
  return (guint64) s->n * s->h * s->w * s->c * dyno_dtype_size (s->dtype);
}

static guint64
bytes_y (const DynoConv2dShape *s)
{
  return (guint64) s->n * s->oh * s->ow * s->k * dyno_dtype_size (s->dtype);
}

/* The key: everything that a kernel's time depends on. */
static char *
choice_key (const DynoConv2dShape *s, DynoConv2dPass pass)
{
  g_autoptr (GString) special = g_string_new (NULL);
  if (s->groups > 1)
    g_string_append_printf (special, " g%u", s->groups);
  if (s->dilation_h > 1 || s->dilation_w > 1)
    g_string_append_printf (special, " d%ux%u", s->dilation_h, s->dilation_w);
  if (s->fused.load && pass != DYNO_CONV2D_DGRAD)
    g_string_append_printf (special, " load%u", s->fused.load);
  if (s->fused.add_h && pass == DYNO_CONV2D_DGRAD)
    g_string_append_printf (special, " add%ux%u", s->fused.add_h, s->fused.add_w);
  return g_strdup_printf (
      "conv2d.%s %s n%u h%u w%u c%u k%u r%ux%u s%ux%u p%ux%u%s%s%s%s%s",
      dyno_conv2d_pass_name (pass), dyno_dtype_name (s->dtype), s->n, s->h, s->w, s->cp, s->kp,
      s->kernel_h, s->kernel_w, s->stride_h, s->stride_w, s->pad_h, s->pad_w, special->str,
      s->has_bias && (pass == DYNO_CONV2D_FORWARD || (pass == DYNO_CONV2D_DGRAD && s->transposed))
          ? " bias"
          : "",
      pass == DYNO_CONV2D_FORWARD && s->fused.statistics ? " sums"
      : pass == DYNO_CONV2D_FORWARD && s->fused.affine   ? " norm"
                                                         : "",
      pass == DYNO_CONV2D_DGRAD && s->accumulate ? " add" : "",
      pass == DYNO_CONV2D_DGRAD && s->fused.norm
          ? (s->fused.norm == DYNO_NORM_ID_SLOPE_MASK ? " sums-mask" : " sums")
          : "");
}

/* Binds the table of the batch norm that the loads of a forward or wgrad dispatch apply to x. */
static void
bind_load (DynoNode *node, DynoDispatch *dispatch)
{
  const DynoConv2dShape *shape = node->attributes;
  if (!shape->fused.load)
    return;
  DYNO_BIND (dispatch, DynoConv2dPush, norm_y, node->inputs[DYNO_CONV2D_LOAD_TABLE],
             DYNO_ACCESS_READ);
  dispatch->flops += 2 * (guint64) shape->n * shape->h * shape->w * shape->c;
}

static DynoConv2dVariant
choose (DynoLowering *lowering, DynoNode *node, DynoConv2dPass pass)
{
  const DynoConv2dShape *shape = node->attributes;
  DynoConv2dVariant variants[DYNO_CONV2D_MAX_VARIANTS];
  DynoVariant ways[DYNO_CONV2D_MAX_VARIANTS];
  g_autofree char *key = choice_key (shape, pass);
  guint n = dyno_conv2d_variants (dyno_lowering_get_info (lowering), shape, pass, variants);

  for (guint i = 0; i < n; i++)
    ways[i] = variants[i].variant;
  guint index = dyno_lowering_choose (lowering, node, key, ways, n);
  return n > 0 ? variants[index] : (DynoConv2dVariant){ .tile = NULL };
}

_Static_assert(offsetof (DynoConv2dLanesPush, n) + sizeof (DynoConv2dSizes)
                   == sizeof (DynoConv2dLanesPush),
               "the sizes are not the end of the push constants");
_Static_assert(offsetof (DynoConv2dLanesPush, added) == offsetof (DynoConv2dPush, added),
               "the addresses differ");

static DynoDispatch *
product (DynoLowering *lowering, DynoNode *node, DynoConv2dPass pass,
         const DynoConv2dVariant *variant)
{
  DynoKernelSpec spec;
  guint32 groups[3];
  DynoConv2dSizes sizes;
  dyno_conv2d_spec (dyno_lowering_get_info (lowering), node->attributes, pass, variant, &spec,
                    groups, &sizes);
  DynoDispatch *dispatch = dyno_lowering_dispatch (lowering, node, dyno_conv2d_pass_name (pass),
                                                   &spec, groups[0], groups[1], groups[2]);
  dispatch->flops = dyno_conv2d_flops (node);
  if (variant->tile->kind == DYNO_TILE_LANES)
    dyno_dispatch_push (dispatch, offsetof (DynoConv2dLanesPush, n), &sizes, sizeof sizes);
  return dispatch;
}

void
dyno_conv2d_lower_reduce (DynoLowering *lowering, DynoNode *node, DynoTensor *partial,
                          DynoTensor *target, guint32 count, guint32 splits)
{
  DynoKernelSpec spec = { .shader = "conv2d/reduce.comp",
                          .push_bytes = sizeof (DynoConv2dReducePush) };
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  spec.local_size[0] = MIN (REDUCE_INVOCATIONS, info->max_invocations);
  /* Few elements with many splits each take several invocations per element: a single invocation
   * would wait for one split after the other, and most of a card would be idle. */
  guint32 lanes = 1;
  for (guint32 l = REDUCE_LANES; l <= REDUCE_MOST_LANES; l *= REDUCE_MOST_LANES / REDUCE_LANES)
    if (info->type != DYNO_DEVICE_TYPE_SOFTWARE && splits >= 2 * l
        && count / 4 <= REDUCE_FEW * REDUCE_LANES / l && spec.local_size[0] % l == 0)
      lanes = l;
  guint32 elements = spec.local_size[0] / lanes;
  guint32 groups = (count / 4 + elements - 1) / elements;
  dyno_kernel_spec_macro (&spec, "SPLIT_LANES=%u", lanes);
  DynoDispatch *dispatch = dyno_lowering_dispatch (lowering, node, "reduce", &spec,
                                                   MIN (groups, REDUCE_MAX_GROUPS), 1, 1);
  DYNO_BIND (dispatch, DynoConv2dReducePush, source, partial, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoConv2dReducePush, target, target, DYNO_ACCESS_READ_WRITE);
  DYNO_PUSH (dispatch, DynoConv2dReducePush, count, count);
  DYNO_PUSH (dispatch, DynoConv2dReducePush, n_splits, splits);
  dispatch->flops = (guint64) count * splits;
  dispatch->bytes = (guint64) count * 4 * (splits + 2);
}

/* The workspace for the partial sums that a split forward or dgrad writes instead of its target. */
static DynoTensor *
parts_of (DynoLowering *lowering, const DynoTensor *target, guint32 splits)
{
  return dyno_lowering_workspace (
      lowering, "parts", (guint64) target->n * target->h * target->w * target->cp * 4 * splits);
}

static void
bind_added (const DynoNode *node, DynoDispatch *dispatch, guint16 offset)
{
  DynoTensor *added = node->inputs[DYNO_CONV2D_ADDED];
  dyno_dispatch_bind (dispatch, offset, added, DYNO_ACCESS_READ);
  dispatch->bytes += added->size_bytes;
}

void
dyno_conv2d_bind_affine (DynoNode *node, DynoDispatch *dispatch, const guint16 *offsets)
{
  const DynoTensor *y = node->outputs[0];
  for (guint i = DYNO_CONV2D_AFFINE_RESIDUAL; i < DYNO_CONV2D_AFFINE_END; i++)
    if (node->inputs[i])
      dyno_dispatch_bind (dispatch, offsets[i], node->inputs[i], DYNO_ACCESS_READ);
  dispatch->flops += 2 * dyno_tensor_elements (y);
  dispatch->bytes += node->inputs[DYNO_CONV2D_AFFINE_RESIDUAL] ? y->size_bytes : 0;
}

/* special: the shape of a forward node that applies a batch norm to its product, or of a dgrad node
 * that adds another gradient; NULL: the node does neither. */
static void
join (DynoLowering *lowering, DynoNode *node, DynoTensor *parts, DynoTensor *target,
      DynoTensor *bias, guint32 splits, gboolean adds, const DynoConv2dShape *special)
{
  static const guint16 offsets[] = {
    [DYNO_CONV2D_AFFINE_RESIDUAL] = offsetof (DynoConv2dJoinPush, norm_x),
    [DYNO_CONV2D_AFFINE_MEAN] = offsetof (DynoConv2dJoinPush, mean),
    [DYNO_CONV2D_AFFINE_VARIANCE] = offsetof (DynoConv2dJoinPush, invstd),
    [DYNO_CONV2D_AFFINE_GAMMA] = offsetof (DynoConv2dJoinPush, gamma),
    [DYNO_CONV2D_AFFINE_BETA] = offsetof (DynoConv2dJoinPush, beta),
  };
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  guint32 count = target->n * target->h * target->w * target->cp,
          lanes = target->dtype == DYNO_DTYPE_F16 ? 8 : 4, accumulate = adds != FALSE;
  DynoKernelSpec spec = { .shader = "conv2d/join.comp",
                          .local_size = { MIN (JOIN_INVOCATIONS, info->max_invocations), 1, 1 },
                          .push_bytes = sizeof (DynoConv2dJoinPush) };
  dyno_kernel_spec_macro (&spec, "HALF=%d", target->dtype == DYNO_DTYPE_F16);
  if (splits <= JOIN_MOST_AT_ONCE)
    dyno_kernel_spec_macro (&spec, "SPLITS=%u", splits);
  if (special && special->fused.affine)
    dyno_conv2d_affine_macros (special, &spec);
  if (special && special->fused.add_h)
    {
      dyno_conv2d_add_macros (special, &spec);
      dyno_kernel_spec_macro (&spec, "H=%u W=%u", special->h, special->w);
    }
  guint32 groups = (count / lanes + spec.local_size[0] - 1) / spec.local_size[0];
  DynoDispatch *dispatch =
      dyno_lowering_dispatch (lowering, node, "join", &spec, MIN (groups, JOIN_MAX_GROUPS), 1, 1);
  DYNO_BIND (dispatch, DynoConv2dJoinPush, source, parts, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoConv2dJoinPush, target, target, dyno_access_sum (accumulate));
  if (bias)
    DYNO_BIND (dispatch, DynoConv2dJoinPush, bias, bias, DYNO_ACCESS_READ);
  DYNO_PUSH (dispatch, DynoConv2dJoinPush, count, count);
  DYNO_PUSH (dispatch, DynoConv2dJoinPush, columns, target->cp);
  DYNO_PUSH (dispatch, DynoConv2dJoinPush, n_splits, splits);
  DYNO_PUSH (dispatch, DynoConv2dJoinPush, accumulate, accumulate);
  dispatch->flops = (guint64) count * splits;
  dispatch->bytes = parts->size_bytes + target->size_bytes * (accumulate ? 2 : 1);
  if (special && special->fused.affine)
    dyno_conv2d_bind_affine (node, dispatch, offsets);
  if (special && special->fused.add_h)
    bind_added (node, dispatch, offsetof (DynoConv2dJoinPush, added));
}

void
dyno_conv2d_lower_join (DynoLowering *lowering, DynoNode *node, DynoTensor *parts,
                        DynoTensor *target, DynoTensor *bias, guint32 splits, gboolean adds)
{
  join (lowering, node, parts, target, bias, splits, adds, NULL);
}

void
dyno_conv2d_lower_forward (DynoLowering *lowering, DynoNode *node)
{
  static const guint16 offsets[] = {
    [DYNO_CONV2D_AFFINE_RESIDUAL] = offsetof (DynoConv2dPush, norm_x),
    [DYNO_CONV2D_AFFINE_MEAN] = offsetof (DynoConv2dPush, mean),
    [DYNO_CONV2D_AFFINE_VARIANCE] = offsetof (DynoConv2dPush, invstd),
    [DYNO_CONV2D_AFFINE_GAMMA] = offsetof (DynoConv2dPush, gamma),
    [DYNO_CONV2D_AFFINE_BETA] = offsetof (DynoConv2dPush, beta),
  };
  const DynoConv2dShape *shape = node->attributes;
  DynoConv2dVariant variant = choose (lowering, node, DYNO_CONV2D_FORWARD);
  if (!variant.tile)
    return;
  DynoTensor *y = node->outputs[0],
             *parts = variant.splits > 1 ? parts_of (lowering, y, variant.splits) : NULL;
  if (variant.splits > 1 && !parts)
    return;
  DynoDispatch *dispatch = product (lowering, node, DYNO_CONV2D_FORWARD, &variant);
  bind_load (node, dispatch);
  DYNO_BIND (dispatch, DynoConv2dPush, a, node->inputs[0], DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoConv2dPush, b, node->inputs[1], DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoConv2dPush, target, parts ? parts : y, DYNO_ACCESS_WRITE);
  if (parts)
    {
      dispatch->bytes = bytes_x (shape) + parts->size_bytes
                        + count_weight (shape) * dyno_dtype_size (shape->dtype);
      join (lowering, node, parts, y, node->inputs[2], variant.splits, FALSE,
            shape->fused.affine ? shape : NULL);
      return;
    }
  if (node->inputs[2])
    DYNO_BIND (dispatch, DynoConv2dPush, bias, node->inputs[2], DYNO_ACCESS_READ);
  dispatch->bytes =
      bytes_x (shape) + bytes_y (shape) + count_weight (shape) * dyno_dtype_size (shape->dtype);
  if (shape->fused.affine)
    dyno_conv2d_bind_affine (node, dispatch, offsets);

  DynoColumnSums sums = { .groups = dyno_conv2d_statistics_groups (
                              dyno_lowering_get_info (lowering), shape, &variant) };
  if (sums.groups == 0)
    return;
  sums.partials = dyno_lowering_workspace (lowering, "sums",
                                           (guint64) sums.groups * 2 * shape->kp * sizeof (float));
  if (!sums.partials)
    return;
  DYNO_BIND (dispatch, DynoConv2dPush, pivot, node->inputs[DYNO_CONV2D_PIVOT], DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoConv2dPush, partials, sums.partials, DYNO_ACCESS_WRITE);
  dispatch->flops += 3 * (guint64) shape->n * shape->oh * shape->ow * shape->k;
  dispatch->bytes += sums.partials->size_bytes;
  dyno_lowering_set_column_sums (lowering, node->outputs[0], &sums);
}

/* Adds the sums for a batch norm to a dispatch whose kernel makes them. */
static void
bind_norm (DynoLowering *lowering, DynoNode *node, DynoDispatch *dispatch, guint32 groups)
{
  const DynoConv2dShape *shape = node->attributes;
  static const guint16 offsets[] = {
    [DYNO_CONV2D_NORM_X] = offsetof (DynoConv2dPush, norm_x),
    [DYNO_CONV2D_NORM_MEAN] = offsetof (DynoConv2dPush, mean),
    [DYNO_CONV2D_NORM_INVSTD] = offsetof (DynoConv2dPush, invstd),
    [DYNO_CONV2D_NORM_GAMMA] = offsetof (DynoConv2dPush, gamma),
    [DYNO_CONV2D_NORM_BETA] = offsetof (DynoConv2dPush, beta),
    [DYNO_CONV2D_NORM_MASK] = offsetof (DynoConv2dPush, norm_y),
  };
  DynoColumnSums sums = { .groups = groups };
  sums.partials =
      dyno_lowering_workspace (lowering, "sums", (guint64) groups * 2 * shape->cp * sizeof (float));
  if (!sums.partials)
    return;
  for (guint i = DYNO_CONV2D_NORM_X; i < MIN (node->n_inputs, DYNO_CONV2D_NORM_END); i++)
    if (node->inputs[i])
      dyno_dispatch_bind (dispatch, offsets[i], node->inputs[i], DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoConv2dPush, partials, sums.partials, DYNO_ACCESS_WRITE);
  dispatch->flops += 4 * (guint64) shape->n * shape->h * shape->w * shape->c;
  dispatch->bytes += bytes_x (shape) + sums.partials->size_bytes;
  if (shape->fused.norm == DYNO_NORM_ID_SLOPE_MASK)
    dispatch->bytes += node->inputs[DYNO_CONV2D_NORM_MASK]->size_bytes;
  dyno_lowering_set_column_sums (lowering, node->inputs[DYNO_CONV2D_NORM_MEAN], &sums);
}

void
dyno_conv2d_lower_dgrad (DynoLowering *lowering, DynoNode *node)
{
  const DynoConv2dShape *shape = node->attributes;
  DynoConv2dVariant variant = choose (lowering, node, DYNO_CONV2D_DGRAD);
  if (!variant.tile)
    return;
  DynoTensor *dx = node->outputs[0],
             *parts = variant.splits > 1 ? parts_of (lowering, dx, variant.splits) : NULL,
             *bias = shape->transposed ? node->inputs[DYNO_CONV2D_TRANSPOSED_BIAS] : NULL;
  if (variant.splits > 1 && !parts)
    return;
  DynoDispatch *dispatch = product (lowering, node, DYNO_CONV2D_DGRAD, &variant);
  DYNO_BIND (dispatch, DynoConv2dPush, a, node->inputs[0], DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoConv2dPush, b, node->inputs[1], DYNO_ACCESS_READ);
  if (parts)
    {
      DYNO_BIND (dispatch, DynoConv2dPush, target, parts, DYNO_ACCESS_WRITE);
      dispatch->bytes = bytes_y (shape) + parts->size_bytes
                        + count_weight (shape) * dyno_dtype_size (shape->dtype);
      join (lowering, node, parts, dx, bias, variant.splits, shape->accumulate,
            shape->fused.add_h ? shape : NULL);
      return;
    }
  DYNO_BIND (dispatch, DynoConv2dPush, target, dx, dyno_access_sum (shape->accumulate));
  dispatch->bytes = bytes_x (shape) * (shape->accumulate ? 2 : 1) + bytes_y (shape)
                    + count_weight (shape) * dyno_dtype_size (shape->dtype);
  if (bias)
    DYNO_BIND (dispatch, DynoConv2dPush, bias, bias, DYNO_ACCESS_READ);
  if (shape->fused.add_h)
    bind_added (node, dispatch, offsetof (DynoConv2dPush, added));
  guint32 groups = dyno_conv2d_norm_groups (dyno_lowering_get_info (lowering), shape, &variant);
  if (groups > 0)
    bind_norm (lowering, node, dispatch, groups);
}

void
dyno_conv2d_lower_wgrad (DynoLowering *lowering, DynoNode *node)
{
  const DynoConv2dShape *shape = node->attributes;
  DynoTensor *gradient = node->outputs[0], *partial = NULL;
  guint32 count = shape->kernel_h * shape->kernel_w * dyno_conv2d_block (shape).c * shape->kp;
  DynoConv2dVariant variant = choose (lowering, node, DYNO_CONV2D_WGRAD);
  if (!variant.tile)
    return;
  if (variant.splits > 1)
    {
      partial = dyno_lowering_workspace (lowering, "partial", (guint64) count * 4 * variant.splits);
      if (!partial)
        return;
    }
  DynoDispatch *dispatch = product (lowering, node, DYNO_CONV2D_WGRAD, &variant);
  bind_load (node, dispatch);
  DYNO_BIND (dispatch, DynoConv2dPush, a, node->inputs[0], DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoConv2dPush, b, node->inputs[1], DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoConv2dPush, target, partial ? partial : gradient,
             partial ? DYNO_ACCESS_WRITE : DYNO_ACCESS_READ_WRITE);
  dispatch->bytes =
      bytes_x (shape) + bytes_y (shape) + count_weight (shape) * 4 * (partial ? variant.splits : 2);
  if (partial)
    dyno_conv2d_lower_reduce (lowering, node, partial, gradient, count, variant.splits);
}

void
dyno_conv2d_lower_bias (DynoLowering *lowering, DynoNode *node)
{
  const DynoConv2dShape *shape = node->attributes;
  guint32 rows = shape->n * shape->oh * shape->ow, chunk = 16 / dyno_dtype_size (shape->dtype),
          chunks = 1, accumulate;
  guint32 groups = MAX (CLAMP (rows / BIAS_MIN_ROWS, 1, BIAS_MAX_GROUPS),
                        MIN (rows / BIAS_MANY_ROWS, BIAS_MANY_GROUPS)),
          each = (rows + groups - 1) / groups;
  DynoKernelSpec spec = { .shader = "conv2d/bias.comp",
                          .local_size = { BIAS_INVOCATIONS, 1, 1 },
                          .push_bytes = sizeof (DynoConv2dBiasPush) };
  DynoTensor *gradient = node->outputs[0], *target = gradient;

  while (chunks < BIAS_CHUNKS && chunks < shape->kp / chunk)
    chunks *= 2;
  groups = (rows + each - 1) / each;
  accumulate = groups == 1;
  if (groups > 1)
    target = dyno_lowering_workspace (lowering, "partial", (guint64) groups * shape->kp * 4);
  if (!target)
    return;
  dyno_kernel_spec_macro (&spec, "HALF=%d", shape->dtype == DYNO_DTYPE_F16);
  dyno_kernel_spec_macro (&spec, "LANES=%u", BIAS_INVOCATIONS / chunks);
  DynoDispatch *dispatch = dyno_lowering_dispatch (lowering, node, "bias", &spec, groups,
                                                   (shape->kp / chunk + chunks - 1) / chunks, 1);
  DYNO_BIND (dispatch, DynoConv2dBiasPush, dy, node->inputs[0], DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoConv2dBiasPush, target, target, dyno_access_sum (accumulate));
  DYNO_PUSH (dispatch, DynoConv2dBiasPush, rows, rows);
  DYNO_PUSH (dispatch, DynoConv2dBiasPush, channels, shape->kp);
  DYNO_PUSH (dispatch, DynoConv2dBiasPush, rows_per_group, each);
  DYNO_PUSH (dispatch, DynoConv2dBiasPush, accumulate, accumulate);
  dispatch->flops = (guint64) rows * shape->k;
  dispatch->bytes = bytes_y (shape) + (guint64) shape->k * 4 * 2;
  if (groups > 1)
    dyno_conv2d_lower_reduce (lowering, node, target, gradient, shape->kp, groups);
}
