/* SPDX-License-Identifier: MIT */
/* layer_norm: PyTorch's LayerNorm over the last axis.  For each row r of x (N, H, W, C):
 *     y[r] = xhat gamma + beta, xhat = (x[r] - mean) invstd, invstd = 1 / sqrt (variance + eps)
 *     dx[r] (+)= invstd (g - mean (g) - xhat mean (g xhat)), g = dy[r] gamma
 *     dgamma += sum over r of dy[r] xhat;   dbeta += sum over r of dy[r]
 * Means and the variance (the mean of squares) are over the row's C values, in fp32.
 *
 * Roles.  layer_norm: inputs x, gamma, beta (masters); outputs y and, in training, rows
 * (N, H, W, 2) fp32: mean and invstd of each row.
 *         layer_norm_sums: inputs x, dy, rows; outputs dgamma, dbeta, added to (NULL: frozen).
 * Groups of rows are added up first, then the groups, both in a fixed order.
 *         layer_norm_backward: inputs x, dy, rows, gamma; output dx. */
#include "conv2d-private.h"
#include "elementwise.h"
#include "layernorm-push.h"
#include "ops.h"

#define EPSILON              1e-5
#define INVOCATIONS          256
#define INVOCATIONS_SOFTWARE 64
#define MOST_WIDTH           32   /* invocations per row */
#define WORKGROUPS           1024 /* workgroups that keep a large card busy */
#define WORKGROUPS_SOFTWARE  4
#define LEAST_ROWS           4 /* least rows per invocation */

typedef struct {
  double eps;
} LayerNorm;

typedef struct {
  gboolean accumulate;
} LayerNormBackward;

static guint32
count_rows (const DynoTensor *x)
{
  return x->n * x->h * x->w;
}

static DynoKernelSpec
make_spec (DynoLowering *lowering, const char *shader, guint32 push_bytes, const DynoTensor *x)
{
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  guint32 invocations = MIN (dyno_info_is_software (info) ? INVOCATIONS_SOFTWARE : INVOCATIONS,
                             info->max_invocations);
  DynoKernelSpec spec = { .shader = shader, .push_bytes = push_bytes };
  guint32 cvecs = x->cp / dyno_dtype_lanes (x->dtype);
  spec.local_size[0] = MIN (cvecs, MOST_WIDTH);
  spec.local_size[1] = invocations / spec.local_size[0];
  dyno_elementwise_count (lowering, x);
  dyno_elementwise_type (&spec, x->dtype);
  dyno_elementwise_words (&spec, info);
  dyno_kernel_spec_set (&spec, DYNO_LAYER_NORM_ROWS, count_rows (x));
  dyno_kernel_spec_set (&spec, DYNO_LAYER_NORM_CVECS, cvecs);
  dyno_kernel_spec_set (&spec, DYNO_LAYER_NORM_C, x->c);
  return spec;
}

static guint32
count_groups (DynoLowering *lowering, const DynoKernelSpec *spec, const DynoTensor *x)
{
  return dyno_elementwise_groups (dyno_lowering_get_info (lowering), count_rows (x),
                                  spec->local_size[1]);
}

/* Backward ------------------------------------------------------------------------------------- */

static void
lower_backward (DynoLowering *lowering, DynoNode *node)
{
  const LayerNormBackward *attributes = node->attributes;
  DynoTensor *x = node->inputs[0], *dx = node->outputs[0];
  DynoKernelSpec spec = make_spec (lowering, "layernorm/layernorm_backward.comp",
                                   sizeof (DynoLayerNormBackwardPush), x);
  if (attributes->accumulate)
    dyno_kernel_spec_macro (&spec, "ACCUMULATE=1");
  DynoDispatch *dispatch = dyno_lowering_dispatch (lowering, node, "backward", &spec,
                                                   count_groups (lowering, &spec, x), 1, 1);
  dispatch->flops = 8 * dyno_tensor_elements (x);
  dispatch->bytes = x->size_bytes * (attributes->accumulate ? 4 : 3) + node->inputs[2]->size_bytes;
  DYNO_BIND (dispatch, DynoLayerNormBackwardPush, x, x, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoLayerNormBackwardPush, dy, node->inputs[1], DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoLayerNormBackwardPush, rows, node->inputs[2], DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoLayerNormBackwardPush, gamma, node->inputs[3], DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoLayerNormBackwardPush, dx, dx, dyno_access_sum (attributes->accumulate));
}

static void
lower_sums (DynoLowering *lowering, DynoNode *node)
{
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  DynoTensor *x = node->inputs[0];
  DynoKernelSpec spec =
      make_spec (lowering, "layernorm/layernorm_sums.comp", sizeof (DynoLayerNormSumsPush), x);
  guint32 rows = count_rows (x), lanes = spec.local_size[1],
          blocks =
              (x->cp / dyno_dtype_lanes (x->dtype) + spec.local_size[0] - 1) / spec.local_size[0],
          wanted = dyno_info_is_software (info) ? WORKGROUPS_SOFTWARE
                                                : dyno_device_info_scale (info, WORKGROUPS);
  guint32 groups = CLAMP (wanted / blocks, 1, MAX (1, rows / (lanes * LEAST_ROWS))),
          split = (rows + groups - 1) / groups;
  groups = (rows + split - 1) / split;
  DynoTensor *parts[2];
  for (guint i = 0; i < 2; i++)
    if (!(parts[i] = dyno_lowering_workspace (lowering, i ? "beta" : "gamma",
                                              (guint64) groups * x->cp * sizeof (float))))
      return;
  dyno_kernel_spec_set (&spec, DYNO_LAYER_NORM_SPLIT, split);
  DynoDispatch *dispatch =
      dyno_lowering_dispatch (lowering, node, "sums", &spec, blocks, groups, 1);
  dispatch->flops = 5 * dyno_tensor_elements (x);
  dispatch->bytes = 2 * x->size_bytes + node->inputs[2]->size_bytes + 2 * parts[0]->size_bytes;
  DYNO_BIND (dispatch, DynoLayerNormSumsPush, x, x, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoLayerNormSumsPush, dy, node->inputs[1], DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoLayerNormSumsPush, rows, node->inputs[2], DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoLayerNormSumsPush, gamma, parts[0], DYNO_ACCESS_WRITE);
  DYNO_BIND (dispatch, DynoLayerNormSumsPush, beta, parts[1], DYNO_ACCESS_WRITE);
  for (guint i = 0; i < 2; i++)
    if (node->outputs[i])
      dyno_conv2d_lower_reduce (lowering, node, parts[i], node->outputs[i], x->cp, groups);
}

static const DynoAttribute backward_attributes[] = { DYNO_ATTRIBUTE (LayerNormBackward,
                                                                     accumulate) };

static const DynoOpClass backward_class = { .name = "layer_norm_backward",
                                            DYNO_OP_ATTRIBUTES (backward_attributes),
                                            .lower = lower_backward };

static const DynoOpClass sums_class = { .name = "layer_norm_sums", .lower = lower_sums };

static void
backward (DynoGraph *graph, DynoNode *node)
{
  LayerNormBackward attributes = { FALSE };
  DynoTensor *x = node->inputs[0], *gamma = node->inputs[1], *beta = node->inputs[2];
  DynoTensor *dy = dyno_graph_gradient (graph, node->outputs[0]), *rows = node->outputs[1];
  g_autofree char *name = g_strconcat (node->name, ".backward", NULL),
                  *sums = g_strconcat (node->name, ".sums", NULL);
  if (gamma->parameter->gradient || beta->parameter->gradient)
    dyno_graph_node (graph, &sums_class, sums, (DynoTensor *[]){ x, dy, rows }, 3,
                     (DynoTensor *[]){ gamma->parameter->gradient, beta->parameter->gradient }, 2,
                     NULL, 0);
  DynoTensor *dx = dyno_graph_gradient_target (graph, x, &attributes.accumulate);
  if (dx)
    dyno_graph_node (graph, &backward_class, name, (DynoTensor *[]){ x, dy, rows, gamma }, 4, &dx,
                     1, &attributes, sizeof attributes);
}

/* Forward -------------------------------------------------------------------------------------- */

static void
lower_forward (DynoLowering *lowering, DynoNode *node)
{
  const LayerNorm *attributes = node->attributes;
  DynoTensor *x = node->inputs[0], *y = node->outputs[0], *rows = node->outputs[1];
  DynoKernelSpec spec =
      make_spec (lowering, "layernorm/layernorm_forward.comp", sizeof (DynoLayerNormPush), x);
  dyno_kernel_spec_set_float (&spec, DYNO_LAYER_NORM_EPSILON, (float) attributes->eps);
  if (rows)
    dyno_kernel_spec_macro (&spec, "KEEP=1");
  DynoDispatch *dispatch = dyno_lowering_dispatch (lowering, node, "forward", &spec,
                                                   count_groups (lowering, &spec, x), 1, 1);
  dispatch->flops = 7 * dyno_tensor_elements (x);
  dispatch->bytes = x->size_bytes + y->size_bytes + (rows ? rows->size_bytes : 0);
  DYNO_BIND (dispatch, DynoLayerNormPush, x, x, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoLayerNormPush, gamma, node->inputs[1], DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoLayerNormPush, beta, node->inputs[2], DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoLayerNormPush, y, y, DYNO_ACCESS_WRITE);
  if (rows)
    DYNO_BIND (dispatch, DynoLayerNormPush, rows, rows, DYNO_ACCESS_WRITE);
}

static const DynoAttribute layer_norm_attributes[] = { DYNO_ATTRIBUTE (LayerNorm, eps) };

static const DynoOpClass layer_norm_class = { .name = "layer_norm",
                                              .traits = { .restorable = TRUE },
                                              DYNO_OP_ATTRIBUTES (layer_norm_attributes),
                                              .backward = backward,
                                              .lower = lower_forward };

DynoTensor *
dyno_layer_norm_with_eps (DynoGraph *graph, DynoTensor *x, const char *name, double eps)
{
  const LayerNorm attributes = { .eps = eps == 0 ? EPSILON : eps };
  if (!x)
    return NULL;
  if (!(attributes.eps > 0 && attributes.eps < G_MAXFLOAT))
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: the eps of a layer norm is positive and finite, not %g", name,
                            eps);
  if ((guint64) x->n * x->h * x->w > G_MAXINT32)
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: %u x %u x %u rows are too many; lower the batch", name, x->n, x->h,
                            x->w);
  g_autofree char *weight_name = g_strconcat (name, ".weight", NULL),
                  *bias_name = g_strconcat (name, ".bias", NULL),
                  *rows_name = g_strconcat (name, ".rows", NULL);
  const DynoParameterLayout layout = dyno_layout_vector (x->c);
  DynoParameter *gamma = dyno_graph_parameter (graph, weight_name, &layout, DYNO_INIT_ONE, FALSE),
                *beta =
                    gamma ? dyno_graph_parameter (graph, bias_name, &layout, DYNO_INIT_ZERO, FALSE)
                          : NULL;
  DynoTensor *outputs[2] = { NULL };
  outputs[0] = beta ? dyno_graph_activation (graph, name, x->n, x->h, x->w, x->c) : NULL;
  if (!outputs[0])
    return NULL;
  if (dyno_graph_get_params (graph)->training)
    {
      outputs[1] = dyno_graph_tensor (graph, rows_name, DYNO_DTYPE_F32, DYNO_SPACE_ARENA, x->n,
                                      x->h, x->w, 2, 2);
      if (!outputs[1])
        return NULL;
    }
  dyno_graph_node (graph, &layer_norm_class, name,
                   (DynoTensor *[]){ x, gamma->master, beta->master }, 3, outputs, 2, &attributes,
                   sizeof attributes);
  return outputs[0];
}

DynoTensor *
dyno_layer_norm (DynoGraph *graph, DynoTensor *x, const char *name)
{
  return dyno_layer_norm_with_eps (graph, x, name, EPSILON);
}
