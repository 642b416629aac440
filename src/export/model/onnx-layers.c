/* SPDX-License-Identifier: MIT */
/* Writes ops with parameters into ONNX files.  A parameter is an initialiser under its own name, in
 * its own shape, whatever the name of its op is: a network that was read from an ONNX file has the
 * names of that file.
 *
 * A batch norm is merged into the convolution before it where no other node reads the convolution's
 * output: w' = w s, b' = beta - mean s, s = gamma / sqrt (variance + eps), in double. */
#include "onnx-private.h"
#include "op.h"
#include <math.h>
#include <string.h>

/* inputs of a convolution and of a linear layer (ops/conv/conv2d.c); BIAS is NULL where there is
 * none */
enum { WEIGHT = 1, BIAS };
/* inputs of a batch norm by running statistics (ops/norm/batchnorm-private.h); a layer norm has
 * only the first two */
enum { NORM_WEIGHT = 1, NORM_BIAS, NORM_MEAN, NORM_VARIANCE, NORM_END };

/* NULL: the node has no bias. */
static const DynoTensor *
bias_of (const DynoNode *node)
{
  return node->n_inputs > BIAS ? node->inputs[BIAS] : NULL;
}

/* For a batch norm: the factor of each channel and the term that is added after it. */
static gboolean
get_affine (DynoOnnxWriter *o, const DynoNode *norm, guint32 channels, double *factor, double *term)
{
  const float *values[NORM_END];
  double eps = dyno_onnx_number (o, norm, "eps");

  for (guint i = NORM_WEIGHT; i < NORM_END; i++)
    {
      const DynoParameter *parameter;
      values[i] = dyno_saved_model_get (o->model, norm->inputs[i], &parameter);
      if (!values[i] || dyno_parameter_count (parameter) != channels)
        return dyno_onnx_refuse (o, "%s: batch norm without one of its parameters", norm->name);
    }
  for (guint32 c = 0; c < channels; c++)
    {
      factor[c] = (double) values[NORM_WEIGHT][c] / sqrt ((double) values[NORM_VARIANCE][c] + eps);
      term[c] = (double) values[NORM_BIAS][c] - (double) values[NORM_MEAN][c] * factor[c];
    }
  return TRUE;
}

/* Writes weight and bias of a convolution, with the batch norm after it merged in. */
static void
add_folded (DynoOnnxWriter *o, const DynoNode *norm, const DynoParameter *parameter,
            const float *weight, const float *bias, const char *bias_name)
{
  gsize count = (gsize) dyno_parameter_count (parameter), row = count / parameter->dims[0];
  guint32 n = parameter->dims[0];
  g_autofree double *factor = g_new (double, n), *term = g_new (double, n);
  g_autofree float *folded = g_new (float, count), *offset = g_new (float, n);
  gint64 dims = n;

  if (!get_affine (o, norm, n, factor, term))
    return;
  for (guint32 c = 0; c < n; c++)
    {
      for (gsize i = 0; i < row; i++)
        folded[c * row + i] = (float) ((double) weight[c * row + i] * factor[c]);
      offset[c] = (float) (term[c] + (bias ? (double) bias[c] * factor[c] : 0));
    }
  dyno_onnx_parameter (o, parameter, folded);
  dyno_onnx_floats (o, bias_name, &dims, 1, offset, n);
}

/* Writes the parameters of a convolution; returns the name of its bias, NULL: it has none. */
static const char *
add_conv_parameters (DynoOnnxWriter *o, const DynoNode *node, const DynoParameter *parameter,
                     const float *weight)
{
  const DynoNode *norm = g_hash_table_lookup (o->folded, node);
  const DynoTensor *bias = bias_of (node);
  const DynoParameter *bias_parameter;

  if (!norm)
    {
      dyno_onnx_parameter (o, parameter, weight);
      return bias ? dyno_onnx_write_parameter (o, bias) : NULL;
    }
  const float *values = bias ? dyno_saved_model_get (o->model, bias, &bias_parameter) : NULL;
  g_autofree char *wanted = g_strconcat (o->stem, ".bias", NULL);
  const char *name = values ? bias_parameter->name : dyno_onnx_unique (o, wanted);
  add_folded (o, norm, parameter, weight, values, name);
  return name;
}

/* A convolution over a sequence where the weight is (out, in, kernel), else over an image. */
gboolean
dyno_onnx_emit_conv (DynoOnnxWriter *o, const DynoNode *node)
{
  const DynoParameter *parameter;
  const float *weight = dyno_saved_model_get (o->model, node->inputs[WEIGHT], &parameter);
  gint64 kernel[] = { dyno_onnx_attribute (o, node, "kernel_h"),
                      dyno_onnx_attribute (o, node, "kernel_w") },
         stride[] = { dyno_onnx_attribute (o, node, "stride_h"),
                      dyno_onnx_attribute (o, node, "stride_w") },
         dilation[] = { MAX (1, dyno_onnx_attribute (o, node, "dilation_h")),
                        MAX (1, dyno_onnx_attribute (o, node, "dilation_w")) };
  gint64 pad_h = dyno_onnx_attribute (o, node, "pad_h"),
         pad_w = dyno_onnx_attribute (o, node, "pad_w"), pads[] = { pad_h, pad_w, pad_h, pad_w },
         line_pads[] = { pad_w, pad_w };

  if (!weight || parameter->n_dims < 3)
    return dyno_onnx_refuse (o, "%s: a convolution without its weight", node->name);
  gboolean sequence = parameter->n_dims == 3;
  DynoOnnxForm form = sequence ? DYNO_ONNX_SEQUENCE : DYNO_ONNX_IMAGE;
  /* n and first select height and width, or only the width */
  guint first = sequence ? 1 : 0, n = 2 - first;
  const char *x = dyno_onnx_value (o, node->inputs[0], form), *output = dyno_onnx_name (o, "out"),
             *bias = add_conv_parameters (o, node, parameter, weight);
  dyno_onnx_begin (o, "Conv", o->stem);
  dyno_onnx_input (o, x);
  dyno_onnx_input (o, parameter->name);
  if (bias)
    dyno_onnx_input (o, bias);
  dyno_onnx_ints (o, "kernel_shape", kernel + first, n);
  dyno_onnx_ints (o, "strides", stride + first, n);
  dyno_onnx_ints (o, "pads", sequence ? line_pads : pads, 2 * n);
  dyno_onnx_int (o, "group", MAX (1, dyno_onnx_attribute (o, node, "groups")));
  if (dilation[0] > 1 || dilation[1] > 1)
    dyno_onnx_ints (o, "dilations", dilation + first, n);
  dyno_onnx_end (o, output);
  return dyno_onnx_set_value (o, node->outputs[0], output, form);
}

/* output_padding is the size of the output less the size that follows from the window. */
gboolean
dyno_onnx_emit_conv_transpose (DynoOnnxWriter *o, const DynoNode *node)
{
  const DynoTensor *x = node->inputs[0], *y = node->outputs[0];
  const gint64 kernel[] = { dyno_onnx_attribute (o, node, "kernel_h"),
                            dyno_onnx_attribute (o, node, "kernel_w") },
               stride[] = { dyno_onnx_attribute (o, node, "stride_h"),
                            dyno_onnx_attribute (o, node, "stride_w") },
               dilation[] = { MAX (1, dyno_onnx_attribute (o, node, "dilation_h")),
                              MAX (1, dyno_onnx_attribute (o, node, "dilation_w")) },
               pad[] = { dyno_onnx_attribute (o, node, "pad_h"),
                         dyno_onnx_attribute (o, node, "pad_w") },
               pads[] = { pad[0], pad[1], pad[0], pad[1] }, extent[] = { x->h, x->w },
               size[] = { y->h, y->w };
  gint64 more[2];

  for (guint i = 0; i < 2; i++)
    more[i] =
        size[i] - ((extent[i] - 1) * stride[i] - 2 * pad[i] + dilation[i] * (kernel[i] - 1) + 1);
  const char *value = dyno_onnx_value (o, x, DYNO_ONNX_IMAGE), *output = dyno_onnx_name (o, "out"),
             *weight = dyno_onnx_write_parameter (o, node->inputs[WEIGHT]),
             *bias = bias_of (node) ? dyno_onnx_write_parameter (o, bias_of (node)) : NULL;
  dyno_onnx_begin (o, "ConvTranspose", o->stem);
  dyno_onnx_input (o, value);
  dyno_onnx_input (o, weight);
  if (bias)
    dyno_onnx_input (o, bias);
  dyno_onnx_ints (o, "kernel_shape", kernel, 2);
  dyno_onnx_ints (o, "strides", stride, 2);
  dyno_onnx_ints (o, "pads", pads, 4);
  dyno_onnx_int (o, "group", MAX (1, dyno_onnx_attribute (o, node, "groups")));
  if (dilation[0] > 1 || dilation[1] > 1)
    dyno_onnx_ints (o, "dilations", dilation, 2);
  if (more[0] || more[1])
    dyno_onnx_ints (o, "output_padding", more, 2);
  dyno_onnx_end (o, output);
  return dyno_onnx_set_value (o, y, output, DYNO_ONNX_IMAGE);
}

/* A linear layer over one row a sample, which may be a flattened image. */
static gboolean
emit_gemm (DynoOnnxWriter *o, const DynoNode *node, gboolean in_first)
{
  const char *x = dyno_onnx_value (o, node->inputs[0], DYNO_ONNX_ROW),
             *output = dyno_onnx_name (o, "out"),
             *weight = dyno_onnx_write_parameter (o, node->inputs[WEIGHT]),
             *bias = bias_of (node) ? dyno_onnx_write_parameter (o, bias_of (node)) : NULL;

  dyno_onnx_begin (o, "Gemm", o->stem);
  dyno_onnx_input (o, x);
  dyno_onnx_input (o, weight);
  if (bias)
    dyno_onnx_input (o, bias);
  if (!in_first)
    dyno_onnx_int (o, "transB", 1);
  dyno_onnx_end (o, output);
  return dyno_onnx_set_value (o, node->outputs[0], output, DYNO_ONNX_ROW);
}

/* A linear layer over each pixel.  A weight (out, in) gets a Transpose node, which a runtime
 * evaluates once. */
static gboolean
emit_matmul (DynoOnnxWriter *o, const DynoNode *node, gboolean in_first)
{
  static const gint64 turn[] = { 1, 0 };
  const char *x = dyno_onnx_value (o, node->inputs[0], DYNO_ONNX_LAST),
             *output = dyno_onnx_name (o, "out"),
             *weight = dyno_onnx_write_parameter (o, node->inputs[WEIGHT]),
             *bias = bias_of (node) ? dyno_onnx_write_parameter (o, bias_of (node)) : NULL,
             *product = output;

  if (!in_first)
    {
      const char *turned = dyno_onnx_name (o, "weight");
      dyno_onnx_transpose (o, weight, turn, 2, turned);
      weight = turned;
    }
  if (bias)
    product = dyno_onnx_name (o, "product");
  dyno_onnx_plain (o, "MatMul", o->stem, x, weight, product);
  if (bias)
    dyno_onnx_plain (o, "Add", output, product, bias, output);
  return dyno_onnx_set_value (o, node->outputs[0], output, DYNO_ONNX_LAST);
}

gboolean
dyno_onnx_emit_linear (DynoOnnxWriter *o, const DynoNode *node)
{
  const DynoParameter *parameter;

  if (!dyno_saved_model_get (o->model, node->inputs[WEIGHT], &parameter))
    return dyno_onnx_refuse (o, "%s: a linear layer without its weight", node->name);
  /* TRUE where the memory is [in][out]; see weight_layout_of in ops/conv/linear.c */
  gboolean in_first = parameter->layout.order[3] == 1;
  return dyno_onnx_is_pixel (node->outputs[0]) ? emit_gemm (o, node, in_first)
                                               : emit_matmul (o, node, in_first);
}

/* A normalisation of x with its parameters, the inputs from 1 to end. */
static gboolean
emit_norm (DynoOnnxWriter *o, const DynoNode *node, const char *op, guint end, DynoOnnxForm form)
{
  const char *x = dyno_onnx_value (o, node->inputs[0], form), *output = dyno_onnx_name (o, "out");

  dyno_onnx_begin (o, op, o->stem);
  dyno_onnx_input (o, x);
  for (guint i = NORM_WEIGHT; i < end; i++)
    dyno_onnx_input (o, dyno_onnx_write_parameter (o, node->inputs[i]));
  dyno_onnx_float (o, "epsilon", (float) dyno_onnx_number (o, node, "eps"));
  dyno_onnx_end (o, output);
  return dyno_onnx_set_value (o, node->outputs[0], output, form);
}

gboolean
dyno_onnx_emit_batch_norm (DynoOnnxWriter *o, const DynoNode *node)
{
  DynoOnnxForm form = dyno_onnx_form (o, node->inputs[0]);
  gboolean first = form == DYNO_ONNX_ROW || (form == DYNO_ONNX_SEQUENCE && node->inputs[0]->h == 1);

  return emit_norm (o, node, "BatchNormalization", NORM_END, first ? form : DYNO_ONNX_IMAGE);
}

/* Writes a layer norm over the last axis, ONNX's default. */
gboolean
dyno_onnx_emit_layer_norm (DynoOnnxWriter *o, const DynoNode *node)
{
  DynoOnnxForm form = dyno_onnx_form (o, node->inputs[0]);

  return emit_norm (o, node, "LayerNormalization", NORM_MEAN,
                    form == DYNO_ONNX_ROW ? form : DYNO_ONNX_LAST);
}

/* A value of n equal numbers.  It is an Expand node of one number, which a file without weights
 * keeps, too. */
static const char *
emit_equal (DynoOnnxWriter *o, const char *part, double number, gint64 n)
{
  g_autofree char *of_one = g_strconcat (part, "/one", NULL),
                  *count = g_strconcat (part, "/count", NULL);
  const char *value = dyno_onnx_name (o, of_one), *shape = dyno_onnx_name (o, count),
             *output = dyno_onnx_name (o, part);
  const gint64 length = 1;

  dyno_onnx_number_of (o, value, number);
  dyno_onnx_indices (o, shape, &length, 1, &n, 1);
  dyno_onnx_plain (o, "Expand", output, value, shape, output);
  return output;
}

/* Each group as one channel of an instance norm, as PyTorch's exporters write it. */
gboolean
dyno_onnx_emit_group_norm (DynoOnnxWriter *o, const DynoNode *node)
{
  const DynoTensor *x = node->inputs[0];
  const gint64 groups = dyno_onnx_attribute (o, node, "groups"),
               apart[] = { 0, groups, (gint64) x->c / groups * x->h * x->w },
               joined[] = { 0, x->c, x->h, x->w };
  const char *value = dyno_onnx_value (o, x, DYNO_ONNX_IMAGE),
             *split = dyno_onnx_name (o, "groups"), *normed = dyno_onnx_name (o, "normalised"),
             *output = dyno_onnx_name (o, "out");
  const char *ones = emit_equal (o, "factors", 1, groups),
             *zeros = emit_equal (o, "terms", 0, groups);

  dyno_onnx_reshape (o, value, apart, 3, split);
  dyno_onnx_begin (o, "InstanceNormalization", o->stem);
  dyno_onnx_input (o, split);
  dyno_onnx_input (o, ones);
  dyno_onnx_input (o, zeros);
  dyno_onnx_float (o, "epsilon", (float) dyno_onnx_number (o, node, "eps"));
  dyno_onnx_end (o, normed);
  dyno_onnx_reshape (o, normed, joined, 4, output);
  return dyno_onnx_set_value (o, node->outputs[0], output, DYNO_ONNX_IMAGE);
}

/* TRUE: a parameter of one value for each channel lies along the channels of the form. */
static gboolean
is_along (const DynoParameter *parameter, const DynoTensor *x, DynoOnnxForm form)
{
  static const guint n_dims[] = { 4, 3, 2, 4 };
  static const guint after[] = { 2, 1, 0, 0 }; /* axes after the channels */
  guint n = parameter->n_dims;

  if (n > n_dims[form] || n <= after[form] || (form == DYNO_ONNX_ROW && !dyno_onnx_is_pixel (x)))
    return FALSE;
  return parameter->dims[n - 1 - after[form]] == x->c;
}

/* Writes an operator on x and a parameter of its channels, in the form that has the channels at the
 * same axis as the parameter: (C, 1, 1) fits an image, (C) channels last. */
static gboolean
emit_by_channel (DynoOnnxWriter *o, const DynoNode *node, const char *op)
{
  const DynoTensor *x = node->inputs[0];
  const DynoParameter *parameter;
  guint form = dyno_onnx_form (o, x);

  if (!dyno_saved_model_get (o->model, node->inputs[WEIGHT], &parameter))
    return dyno_onnx_refuse (o, "%s: %s without its parameter", node->name, node->op->name);
  if (!is_along (parameter, x, form))
    for (form = 0; form < DYNO_ONNX_N_FORMS && !is_along (parameter, x, form);)
      form++;
  if (form == DYNO_ONNX_N_FORMS)
    return dyno_onnx_refuse (o, "%s: the shape of “%s” has no counterpart here", node->name,
                             parameter->name);
  const char *value = dyno_onnx_value (o, x, form), *output = dyno_onnx_name (o, "out");
  dyno_onnx_plain (o, op, o->stem, value, dyno_onnx_write_parameter (o, node->inputs[WEIGHT]),
                   output);
  return dyno_onnx_set_value (o, node->outputs[0], output, form);
}

gboolean
dyno_onnx_emit_scale_channels (DynoOnnxWriter *o, const DynoNode *node)
{
  return emit_by_channel (o, node, "Mul");
}

gboolean
dyno_onnx_emit_add_channels (DynoOnnxWriter *o, const DynoNode *node)
{
  return emit_by_channel (o, node, "Add");
}
