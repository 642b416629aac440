/* SPDX-License-Identifier: MIT */
/* group_norm: PyTorch's GroupNorm without factors and terms, which are scale_channels and
 * add_channels.  For each sample n of x (N, H, W, C) and each group g of C / groups channels:
 *     y = xhat = (x - mean) invstd, invstd = 1 / sqrt (variance + eps)
 *     dx (+)= invstd (dy - mean (dy) - xhat mean (dy xhat))
 * Means and the variance (the mean of squares) are over the group's channels and all pixels, in
 * fp32; their sums have a fixed order.
 *
 * Roles.  group_norm: input x; outputs y and rows (N, 1, groups, 2) fp32, mean and invstd.
 *         group_norm_backward: inputs y, dy, rows; output dx, which is dy's memory where no other
 * node reads dy. */
#include "elementwise.h"
#include "groupnorm-push.h"
#include "ops.h"
#include <stddef.h>

#define EPSILON              1e-5
#define INVOCATIONS          512
#define INVOCATIONS_SOFTWARE 64
/* accesses of an invocation in one of its two passes, less than llvmpipe's loop limit */
#define MOST_ACCESSES 16384

typedef struct {
  guint32 groups;
  double eps;
  gboolean accumulate;
} GroupNorm;

static void
set_shape (DynoKernelSpec *spec, const DynoTensor *x, guint32 groups)
{
  dyno_elementwise_type (spec, x->dtype);
  dyno_kernel_spec_set (spec, DYNO_GROUP_NORM_UNITS, x->n * groups);
  dyno_kernel_spec_set (spec, DYNO_GROUP_NORM_GROUPS, groups);
  dyno_kernel_spec_set (spec, DYNO_GROUP_NORM_CHANNELS, x->c / groups);
  dyno_kernel_spec_set (spec, DYNO_GROUP_NORM_PIXELS, x->h * x->w);
  dyno_kernel_spec_set (spec, DYNO_GROUP_NORM_CVECS, x->cp / dyno_dtype_lanes (x->dtype));
}

/* The number of invocations of a group's workgroup; on a CPU large groups get more of them. */
static guint32
choose_local (DynoLowering *lowering, const DynoTensor *x, guint32 groups)
{
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  gboolean software = dyno_info_is_software (info);
  guint32 local = MIN (software ? INVOCATIONS_SOFTWARE : INVOCATIONS, info->max_invocations);
  guint64 accesses =
      (guint64) x->h * x->w * ((x->c / groups - 1) / dyno_dtype_lanes (x->dtype) + 2);

  if (!software)
    return local;
  while (accesses / local >= MOST_ACCESSES && local * 2 <= info->max_invocations)
    local *= 2;
  if (accesses / local >= MOST_ACCESSES)
    dyno_graph_fail (dyno_lowering_get_graph (lowering), DYNO_NN_ERROR_UNSUPPORTED,
                     "%s: groups of %u x %u pixels of %u channels are too large for a CPU", x->name,
                     x->h, x->w, x->c / groups);
  return local;
}

/* The pass over each group.  dy: NULL in the forward pass; in the backward pass x is y. */
static void
lower_sums (DynoLowering *lowering, DynoNode *node, DynoTensor *x, DynoTensor *dy,
            DynoTensor *target)
{
  const GroupNorm *attributes = node->attributes;
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  DynoKernelSpec spec = { .shader = "groupnorm/groupnorm_statistics.comp",
                          .push_bytes = sizeof (DynoGroupNormPush),
                          .local_size = { choose_local (lowering, x, attributes->groups), 1, 1 } };

  set_shape (&spec, x, attributes->groups);
  dyno_elementwise_words (&spec, info);
  if (dy)
    dyno_kernel_spec_macro (&spec, "BACKWARD=1");
  else
    dyno_kernel_spec_set_float (&spec, DYNO_GROUP_NORM_EPSILON, (float) attributes->eps);
  DynoDispatch *dispatch =
      dyno_lowering_dispatch (lowering, node, dy ? "sums" : "statistics", &spec,
                              MIN (x->n * attributes->groups, info->max_groups_x), 1, 1);
  dispatch->flops = 4 * dyno_tensor_elements (x);
  dispatch->bytes = 2 * x->size_bytes;
  DYNO_BIND (dispatch, DynoGroupNormPush, x, x, DYNO_ACCESS_READ);
  if (dy)
    DYNO_BIND (dispatch, DynoGroupNormPush, dy, dy, DYNO_ACCESS_READ);
  dyno_dispatch_bind (dispatch,
                      dy ? offsetof (DynoGroupNormPush, sums) : offsetof (DynoGroupNormPush, rows),
                      target, DYNO_ACCESS_WRITE);
}

/* The pass over all values.  dy and sums: NULL in the forward pass; in the backward pass x is y. */
static void
lower_apply (DynoLowering *lowering, DynoNode *node, DynoTensor *x, DynoTensor *dy,
             DynoTensor *rows, DynoTensor *sums, DynoTensor *target)
{
  const GroupNorm *attributes = node->attributes;
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  guint32 local = dyno_elementwise_local (info);
  DynoKernelSpec spec = { .shader = "groupnorm/groupnorm_apply.comp",
                          .push_bytes = sizeof (DynoGroupNormPush),
                          .local_size = { local, 1, 1 } };
  guint32 count = dyno_elementwise_count (lowering, x);

  set_shape (&spec, x, attributes->groups);
  dyno_elementwise_words (&spec, info);
  if (dy)
    dyno_kernel_spec_macro (&spec, "BACKWARD=1");
  if (attributes->accumulate)
    dyno_kernel_spec_macro (&spec, "ACCUMULATE=1");
  DynoDispatch *dispatch =
      dyno_lowering_dispatch (lowering, node, dy ? "backward" : "forward", &spec,
                              dyno_elementwise_groups (info, count, local), 1, 1);
  dispatch->flops = (dy ? 4 : 2) * dyno_tensor_elements (x);
  dispatch->bytes = x->size_bytes * ((dy ? 3 : 2) + (guint) attributes->accumulate);
  DYNO_BIND (dispatch, DynoGroupNormPush, x, x, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoGroupNormPush, rows, rows, DYNO_ACCESS_READ);
  if (dy)
    {
      DYNO_BIND (dispatch, DynoGroupNormPush, dy, dy, DYNO_ACCESS_READ);
      DYNO_BIND (dispatch, DynoGroupNormPush, sums, sums, DYNO_ACCESS_READ);
    }
  DYNO_BIND (dispatch, DynoGroupNormPush, y, target, dyno_access_sum (attributes->accumulate));
}

/* Backward ------------------------------------------------------------------------------------- */

static void
lower_backward (DynoLowering *lowering, DynoNode *node)
{
  DynoTensor *y = node->inputs[0], *dy = node->inputs[1], *rows = node->inputs[2];
  DynoTensor *sums = dyno_lowering_workspace (lowering, "sums", rows->size_bytes);

  if (!sums)
    return;
  lower_sums (lowering, node, y, dy, sums);
  lower_apply (lowering, node, y, dy, rows, sums, node->outputs[0]);
}

static const DynoAttribute attributes_schema[] = { DYNO_ATTRIBUTE (GroupNorm, groups),
                                                   DYNO_ATTRIBUTE (GroupNorm, eps),
                                                   DYNO_ATTRIBUTE (GroupNorm, accumulate) };

static const DynoOpClass backward_class = { .name = "group_norm_backward",
                                            DYNO_OP_ATTRIBUTES (attributes_schema),
                                            .lower = lower_backward };

static void
backward (DynoGraph *graph, DynoNode *node)
{
  GroupNorm attributes = *(const GroupNorm *) node->attributes;
  DynoTensor *x = node->inputs[0], *y = node->outputs[0], *dy = dyno_graph_gradient (graph, y);
  DynoTensor *dx = dyno_graph_gradient_target_over (graph, x, y, &attributes.accumulate);
  if (!dx)
    return;
  dyno_graph_backward_node (graph, node, &backward_class,
                            (DynoTensor *[]){ y, dy, node->outputs[1] }, 3, &dx, 1, &attributes,
                            sizeof attributes);
}

/* Forward -------------------------------------------------------------------------------------- */

static void
lower_forward (DynoLowering *lowering, DynoNode *node)
{
  DynoTensor *x = node->inputs[0], *y = node->outputs[0], *rows = node->outputs[1];

  lower_sums (lowering, node, x, NULL, rows);
  lower_apply (lowering, node, x, NULL, rows, NULL, y);
}

static const DynoOpClass group_norm_class = {
  .name = "group_norm",
  .traits = { .reads_own_output = TRUE, .restorable = TRUE },
  DYNO_OP_ATTRIBUTES (attributes_schema),
  .backward = backward,
  .lower = lower_forward,
};

DynoTensor *
dyno_group_norm (DynoGraph *graph, DynoTensor *x, const char *name, guint32 groups, double eps)
{
  const GroupNorm attributes = { .groups = groups, .eps = eps == 0 ? EPSILON : eps };

  if (!x)
    return NULL;
  if (!(attributes.eps > 0 && attributes.eps < G_MAXFLOAT))
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: the eps of a group norm is positive and finite, not %g", name,
                            eps);
  if (groups == 0 || x->c % groups != 0)
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: %u channels cannot be %u groups of equal size", name, x->c,
                            groups);
  if ((guint64) x->n * groups > G_MAXINT32 || (guint64) x->n * x->h * x->w > G_MAXINT32)
    return dyno_graph_fail (
        graph, DYNO_NN_ERROR_SHAPE,
        "%s: %u samples of %u x %u pixels and %u groups are too many; lower the "
        "batch",
        name, x->n, x->h, x->w, groups);
  g_autofree char *rows_name = g_strconcat (name, ".rows", NULL);
  DynoTensor *outputs[2] = { dyno_graph_activation (graph, name, x->n, x->h, x->w, x->c), NULL };
  if (!outputs[0])
    return NULL;
  outputs[1] =
      dyno_graph_tensor (graph, rows_name, DYNO_DTYPE_F32, DYNO_SPACE_ARENA, x->n, 1, groups, 2, 2);
  if (!outputs[1])
    return NULL;
  dyno_graph_node (graph, &group_norm_class, name, &x, 1, outputs, 2, &attributes,
                   sizeof attributes);
  return outputs[0];
}
