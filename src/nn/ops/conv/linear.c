/* SPDX-License-Identifier: MIT */
/* Linear layer, a 1x1 convolution: for each row r of x (R, I) and of y (R, O)
 *     y[r][o] = [bias[o] +] sum over i of x[r][i] * weight[i][o]
 *     dweight[i][o] += sum over r of x[r][i] * dy[r][o]
 *     dbias[o] += sum over r of dy[r][o]
 *     dx[r][i] (+)= sum over o of dy[r][o] * weight[i][o]
 *
 * Rows are the pixels of x, or, flattened, its samples: a row is then H*W*C_p long, the pads of its
 * channels included, and the weight lies as [H*W*C_p][out_p] with zero pad rows, so that flattening
 * moves no memory.  Roles as in conv2d.c; a layer without bias has a NULL input in its place. */
#include "conv2d-private.h"
#include "ops.h"

const DynoOpClass dyno_linear_op = {
  .name = "linear",
  .traits = { .restorable = TRUE },
  DYNO_OP_ATTRIBUTES (dyno_conv2d_attributes),
  .backward = dyno_conv2d_backward,
  .lower = dyno_conv2d_lower_forward,
  .flops = dyno_conv2d_flops,
};

DynoConv2dShape
dyno_linear_shape (DynoGraph *graph, guint32 rows, guint32 in, guint32 out)
{
  return (DynoConv2dShape){
    .n = rows,
    .h = 1,
    .w = 1,
    .c = in,
    .cp = (in + 7) & ~7u,
    .oh = 1,
    .ow = 1,
    .k = out,
    .kp = (out + 7) & ~7u,
    .kernel_h = 1,
    .kernel_w = 1,
    .stride_h = 1,
    .stride_w = 1,
    .groups = 1,
    .dtype = dyno_graph_get_params (graph)->precision.compute,
    .has_bias = TRUE,
  };
}

DynoTensor *
dyno_linear_append (DynoGraph *graph, DynoTensor *x, const char *name, DynoParameter *weight,
                    DynoParameter *bias, gboolean flattened)
{
  if (!x || !weight)
    return NULL;
  guint32 h = flattened ? x->h : 1, w = flattened ? x->w : 1, out = weight->fan_out;
  guint64 columns = (guint64) h * w * x->cp, rows = flattened ? x->n : (guint64) x->n * x->h * x->w;
  if (out == 0 || columns > G_MAXUINT32 / 2 || rows > G_MAXUINT32)
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: a linear layer cannot map %u x %u x %u values to %u", name, x->h,
                            x->w, x->c, out);
  DynoConv2dShape shape = dyno_linear_shape (graph, (guint32) rows, h * w * x->c, out);
  shape.cp = (guint32) columns;
  shape.has_bias = bias != NULL;
  return dyno_conv2d_append (graph, &dyno_linear_op, name, x, weight, bias, &shape, x->n,
                             flattened ? 1 : x->h, flattened ? 1 : x->w);
}

/* With in_by_out or without, the weight lies as [h][w][c_p][out_p] in memory. */
static DynoParameterLayout
weight_layout_of (const DynoTensor *x, const DynoLinearParams *params)
{
  guint32 out = params->out;
  if (!params->in_by_out)
    return dyno_layout_linear (out, params->flattened ? x->h : 1, params->flattened ? x->w : 1,
                               x->c);
  return (DynoParameterLayout){ .n_dims = 2,
                                .extent = { x->c, out, 1, 1 },
                                .padded = { (x->c + 7) & ~7u, (out + 7) & ~7u, 1, 1 },
                                .order = { 2, 3, 0, 1 } };
}

DynoTensor *
dyno_linear_with_params (DynoGraph *graph, DynoTensor *x, const char *name,
                         const DynoLinearParams *params)
{
  g_return_val_if_fail (!(params->flattened && params->in_by_out), NULL);
  if (!x)
    return NULL;
  g_autofree char *weight_name = params->weight_name ? g_strdup (params->weight_name)
                                                     : g_strconcat (name, ".weight", NULL),
                  *bias_name = params->bias_name ? g_strdup (params->bias_name)
                                                 : g_strconcat (name, ".bias", NULL);
  DynoInit bias_init =
      params->init == DYNO_INIT_KAIMING_UNIFORM ? DYNO_INIT_KAIMING_UNIFORM : DYNO_INIT_ZERO;
  const DynoParameterLayout bias_layout = dyno_layout_vector (params->out),
                            weight_layout = weight_layout_of (x, params);
  DynoParameter *bias = NULL, *weight = dyno_graph_parameter (graph, weight_name, &weight_layout,
                                                              params->init, FALSE);
  if (!weight)
    return NULL;
  if (params->in_by_out)
    {
      weight->fan_in = x->c;
      weight->fan_out = params->out;
    }
  if (!params->no_bias)
    {
      bias = dyno_graph_parameter (graph, bias_name, &bias_layout, bias_init, FALSE);
      if (!bias)
        return NULL;
      bias->fan_in = weight->fan_in;
    }
  return dyno_linear_append (graph, x, name, weight, bias, params->flattened);
}

DynoTensor *
dyno_linear (DynoGraph *graph, DynoTensor *x, const char *name, guint32 out, DynoInit init)
{
  return dyno_linear_with_params (graph, x, name, &(DynoLinearParams){ .out = out, .init = init });
}

DynoTensor *
dyno_linear_flattened (DynoGraph *graph, DynoTensor *x, const char *name, guint32 out,
                       DynoInit init)
{
  return dyno_linear_with_params (
      graph, x, name, &(DynoLinearParams){ .out = out, .init = init, .flattened = TRUE });
}
