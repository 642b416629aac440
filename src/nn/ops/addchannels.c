/* SPDX-License-Identifier: MIT */
/* add_channels: y[r][c] = x[r][c] + bias[c] over the rows r of x (N, H, W, C).  Inputs x and bias
 * (master); output y.
 * Backward: dx is dy itself, as in add, and the node for the gradient of a convolution's bias
 * computes dbias[c] += sum over r of dy[r][c]. */
#include "conv2d-private.h"
#include "elementwise.h"
#include "elementwise-push.h"
#include "ops.h"

static void
backward (DynoGraph *graph, DynoNode *node)
{
  DynoTensor *x = node->inputs[0], *dy = dyno_graph_gradient (graph, node->outputs[0]);
  const DynoConv2dShape shape = dyno_linear_shape (graph, x->n * x->h * x->w, x->c, x->c);
  dyno_conv2d_append_bias_gradient (graph, node->name, dy, node->inputs[1]->parameter, &shape);
  dyno_graph_gradient_add (graph, x, dy);
}

static void
lower (DynoLowering *lowering, DynoNode *node)
{
  const DynoTensor *x = node->inputs[0];
  const guint32 constants[] = { [DYNO_CHANNELWISE_CVECS - 1] =
                                    x->cp / dyno_dtype_lanes (x->dtype) };
  DynoKernelSpec spec = { .shader = "channelwise/channelwise_apply.comp" };
  dyno_kernel_spec_macro (&spec, "TERM=1");
  dyno_elementwise_lower_spec (lowering, node, "forward", &spec, node->inputs[0], node->inputs[1],
                               node->outputs[0], FALSE, constants, G_N_ELEMENTS (constants), FALSE);
}

static const DynoOpClass add_channels_class = {
  .name = "add_channels", .traits = { .restorable = TRUE }, .backward = backward, .lower = lower
};

DynoTensor *
dyno_add_channels (DynoGraph *graph, DynoTensor *x, const char *name, DynoInit init)
{
  if (!x)
    return NULL;
  if ((guint64) x->n * x->h * x->w > G_MAXINT32)
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: %u x %u x %u rows are too many; lower the batch", name, x->n, x->h,
                            x->w);
  g_autofree char *bias_name = g_strconcat (name, ".bias", NULL);
  const DynoParameterLayout layout = dyno_layout_vector (x->c);
  const DynoParameter *bias = dyno_graph_parameter (graph, bias_name, &layout, init, FALSE);
  DynoTensor *y = bias ? dyno_graph_activation (graph, name, x->n, x->h, x->w, x->c) : NULL;
  if (!y)
    return NULL;
  dyno_graph_node (graph, &add_channels_class, name, (DynoTensor *[]){ x, bias->master }, 2, &y, 1,
                   NULL, 0);
  return y;
}
