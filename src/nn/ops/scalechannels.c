/* SPDX-License-Identifier: MIT */
/* scale_channels: y[r][c] = x[r][c] * weight[c] over the rows r of x (N, H, W, C), as ConvNeXt's
 * LayerScale.  Inputs x and weight (master); output y.
 * scale_channels_backward, in one pass over x and dy:
 *     dx[r][c] (+)= dy[r][c] * weight[c]
 *     dweight[c] += sum over r of dy[r][c] * x[r][c]
 * Inputs x, weight, dy; outputs dx, which is dy's memory where no other node reads dy, and dweight,
 * each NULL where it is not wanted.  The kernel is the kernel of scale with all rows as one sample;
 * its sums over parts of the rows are fp32 and are added up in a fixed order. */
#include "conv2d-private.h"
#include "elementwise.h"
#include "elementwise-push.h"
#include "modes.h"
#include "ops.h"
#include "scale-push.h"

/* rows that an invocation adds up, less than llvmpipe's loop limit */
#define MOST_ROWS 16384

typedef struct {
  gboolean accumulate;
} ScaleChannelsBackward;

enum { BACKWARD_X, BACKWARD_WEIGHT, BACKWARD_DY, BACKWARD_N_INPUTS };
enum { BACKWARD_DX, BACKWARD_DWEIGHT, BACKWARD_N_OUTPUTS };

static DynoPixelSums
split_rows (const DynoDeviceInfo *info, const DynoTensor *x, guint32 rows)
{
  DynoTensor one = *x;
  one.n = one.h = 1;
  one.w = rows;
  DynoPixelSums sums = dyno_elementwise_pixel_sums (info, &one);
  sums.split = (guint32) MIN (sums.split, (guint64) MOST_ROWS * sums.lanes);
  sums.splits = (rows + sums.split - 1) / sums.split;
  return sums;
}

static void
lower_backward (DynoLowering *lowering, DynoNode *node)
{
  const ScaleChannelsBackward *attributes = node->attributes;
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  DynoTensor *x = node->inputs[BACKWARD_X], *weight = node->inputs[BACKWARD_WEIGHT],
             *dy = node->inputs[BACKWARD_DY], *partials = NULL;
  DynoTensor *dx = node->outputs[BACKWARD_DX], *dweight = node->outputs[BACKWARD_DWEIGHT];
  guint32 rows = x->n * x->h * x->w;
  const DynoPixelSums sums = split_rows (info, x, rows);
  DynoKernelSpec spec = { .shader = "scale/scale_backward.comp",
                          .local_size = { sums.width, sums.lanes, 1 },
                          .push_bytes = sizeof (DynoScalePush) };
  if (dweight
      && !(partials = dyno_lowering_workspace (lowering, "partials",
                                               (guint64) sums.splits * x->cp * sizeof (float))))
    return;
  dyno_elementwise_type (&spec, x->dtype);
  dyno_elementwise_words (&spec, info);
  dyno_elementwise_count (lowering, x);
  dyno_kernel_spec_macro (&spec, "FLOAT_FACTORS=1");
  if (dx)
    dyno_kernel_spec_macro (&spec, "DX=%d",
                            attributes->accumulate ? DYNO_STORE_ID_SUM : DYNO_STORE_ID_PLAIN);
  if (dweight)
    dyno_kernel_spec_macro (&spec, "DS=%u", DYNO_STORE_ID_PARTS);
  dyno_kernel_spec_set (&spec, DYNO_SCALE_CVECS, x->cp / dyno_dtype_lanes (x->dtype));
  dyno_kernel_spec_set (&spec, DYNO_SCALE_PIXELS, rows);
  dyno_kernel_spec_set (&spec, DYNO_SCALE_SAMPLES, 1);
  dyno_kernel_spec_set (&spec, DYNO_SCALE_SPLIT, sums.split);
  DynoDispatch *dispatch =
      dyno_lowering_dispatch (lowering, node, "backward", &spec, sums.blocks, 1, sums.splits);
  dispatch->flops = dyno_tensor_elements (x) * ((dx != NULL) + 2 * (dweight != NULL));
  dispatch->bytes = dy->size_bytes + (dx ? dx->size_bytes * (attributes->accumulate ? 2 : 1) : 0)
                    + (dweight ? x->size_bytes : 0);
  DYNO_BIND (dispatch, DynoScalePush, dy, dy, DYNO_ACCESS_READ);
  if (dx)
    {
      DYNO_BIND (dispatch, DynoScalePush, s, weight, DYNO_ACCESS_READ);
      DYNO_BIND (dispatch, DynoScalePush, dx, dx, dyno_access_sum (attributes->accumulate));
    }
  if (!dweight)
    return;
  DYNO_BIND (dispatch, DynoScalePush, x, x, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoScalePush, ds, partials, DYNO_ACCESS_WRITE);
  dyno_conv2d_lower_reduce (lowering, node, partials, dweight, x->cp, sums.splits);
}

static const DynoAttribute backward_attributes[] = { DYNO_ATTRIBUTE (ScaleChannelsBackward,
                                                                     accumulate) };

static const DynoOpClass backward_class = { .name = "scale_channels_backward",
                                            DYNO_OP_ATTRIBUTES (backward_attributes),
                                            .lower = lower_backward };

static void
backward (DynoGraph *graph, DynoNode *node)
{
  ScaleChannelsBackward attributes = { FALSE };
  DynoTensor *x = node->inputs[0], *weight = node->inputs[1], *y = node->outputs[0];
  DynoTensor *dy = dyno_graph_gradient (graph, y), *outputs[BACKWARD_N_OUTPUTS] = { NULL };
  if (x->needs_gradient)
    outputs[BACKWARD_DX] = dyno_graph_gradient_target_over (graph, x, y, &attributes.accumulate);
  outputs[BACKWARD_DWEIGHT] = weight->parameter->gradient;
  if (!outputs[BACKWARD_DX] && !outputs[BACKWARD_DWEIGHT])
    return;
  dyno_graph_backward_node (graph, node, &backward_class, (DynoTensor *[]){ x, weight, dy },
                            BACKWARD_N_INPUTS, outputs, BACKWARD_N_OUTPUTS, &attributes,
                            sizeof attributes);
}

static void
lower (DynoLowering *lowering, DynoNode *node)
{
  const DynoTensor *x = node->inputs[0];
  const guint32 constants[] = { [DYNO_CHANNELWISE_CVECS - 1] =
                                    x->cp / dyno_dtype_lanes (x->dtype) };
  dyno_elementwise_lower (lowering, node, "forward", "channelwise/channelwise_apply.comp",
                          node->inputs[0], node->inputs[1], node->outputs[0], FALSE, constants,
                          G_N_ELEMENTS (constants), FALSE);
}

static const DynoOpClass scale_channels_class = {
  .name = "scale_channels", .traits = { .restorable = TRUE }, .backward = backward, .lower = lower
};

DynoParameter *
dyno_factor_parameter (DynoGraph *graph, const char *name, guint32 channels, DynoInit init)
{
  DynoParameterLayout layout = dyno_layout_vector (channels);
  layout.n_dims = 3;
  return dyno_graph_parameter (graph, name, &layout, init, FALSE);
}

DynoTensor *
dyno_scale_channels_by (DynoGraph *graph, DynoTensor *x, const char *name,
                        const DynoParameter *factors)
{
  if (!x || !factors)
    return NULL;
  if (factors->dims[0] != x->c)
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE, "%s: %u factors for %u channels", name,
                            factors->dims[0], x->c);
  if ((guint64) x->n * x->h * x->w > G_MAXINT32)
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: %u x %u x %u rows are too many; lower the batch", name, x->n, x->h,
                            x->w);
  DynoTensor *y = dyno_graph_activation (graph, name, x->n, x->h, x->w, x->c);
  if (!y)
    return NULL;
  dyno_graph_node (graph, &scale_channels_class, name, (DynoTensor *[]){ x, factors->master }, 2,
                   &y, 1, NULL, 0);
  return y;
}

DynoTensor *
dyno_scale_channels (DynoGraph *graph, DynoTensor *x, const char *name, DynoInit init)
{
  if (!x)
    return NULL;
  g_autofree char *weight_name = g_strconcat (name, ".weight", NULL);
  const DynoParameterLayout layout = dyno_layout_vector (x->c);
  return dyno_scale_channels_by (graph, x, name,
                                 dyno_graph_parameter (graph, weight_name, &layout, init, FALSE));
}
