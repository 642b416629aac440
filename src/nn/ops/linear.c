/* SPDX-License-Identifier: MIT */
/* Linear layer: y = x weight + bias over rows, a 1x1 convolution on images of one pixel.
 *
 * A row of x is H*W*C_p long, the pads of its channels included: the weight lies as
 * [H*W*C_p][out_p], its pad rows are zero (dyno_graph_parameter_linear), so that flattening moves
 * no memory.  Roles as in conv2d.c. */
#include "conv2d-private.h"
#include "ops.h"

static const DynoOpClass linear_op = {
  .name = "linear",
  .attributes = dyno_conv2d_attributes,
  .n_attributes = DYNO_CONV2D_N_ATTRIBUTES,
  .backward = dyno_conv2d_backward,
  .lower = dyno_conv2d_lower_forward,
};

DynoTensor *
dyno_linear (DynoGraph *graph, DynoTensor *x, const char *name, guint32 out, DynoInit init)
{
  if (!x)
    return NULL;
  guint64 columns = (guint64) x->h * x->w * x->cp;
  if (out == 0 || columns > G_MAXUINT32 / 2)
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: no linear layer from %u x %u x %u to %u", name, x->h, x->w, x->c,
                            out);

  g_autofree char *weight_name = g_strconcat (name, ".weight", NULL),
                  *bias_name = g_strconcat (name, ".bias", NULL);
  DynoInit bias_init =
      init == DYNO_INIT_KAIMING_UNIFORM ? DYNO_INIT_KAIMING_UNIFORM : DYNO_INIT_ZERO;
  DynoParameter *weight =
      dyno_graph_parameter_linear (graph, weight_name, out, x->h, x->w, x->c, init);
  DynoParameter *bias =
      weight ? dyno_graph_parameter (graph, bias_name, DYNO_LAYOUT_VECTOR, &out, bias_init, FALSE)
             : NULL;
  if (!bias)
    return NULL;
  bias->fan_in = weight->fan_in;
  DynoConv2dShape shape = {
    .n = x->n,
    .h = 1,
    .w = 1,
    .c = x->h * x->w * x->c,
    .cp = (guint32) columns,
    .oh = 1,
    .ow = 1,
    .k = out,
    .kp = (out + 7) & ~7u,
    .kernel_h = 1,
    .kernel_w = 1,
    .stride_h = 1,
    .stride_w = 1,
    .half = dyno_graph_get_compute (graph) == DYNO_DTYPE_F16,
    .has_bias = TRUE,
  };
  return dyno_conv2d_append (graph, &linear_op, name, x, weight, bias, &shape);
}
