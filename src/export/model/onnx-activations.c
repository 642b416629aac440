/* SPDX-License-Identifier: MIT */
/* Writes activations into ONNX files: as the operator of opset 17, or, where it has none, as the
 * nodes of the formula that PyTorch's exporter writes. */
#include "onnx-private.h"
#include "op.h"

/* Writes a node of a formula, and returns its name, which is also its output's. */
static const char *
step (DynoOnnxWriter *o, const char *op, const char *part, const char *a, const char *b)
{
  const char *name = dyno_onnx_name (o, part);

  dyno_onnx_plain (o, op, name, a, b, name);
  return name;
}

static const char *
number (DynoOnnxWriter *o, const char *part, double value)
{
  const char *name = dyno_onnx_name (o, part);

  dyno_onnx_number_of (o, name, value);
  return name;
}

/* The product of x and a value that depends only on x. */
static void
emit_gated (DynoOnnxWriter *o, const char *x, const char *gate, const char *output)
{
  dyno_onnx_plain (o, "Mul", o->stem, x, gate, output);
}

static void
emit_relu6 (DynoOnnxWriter *o, const char *x, const char *output)
{
  const char *low = number (o, "low", 0), *high = number (o, "high", 6);

  dyno_onnx_begin (o, "Clip", o->stem);
  dyno_onnx_input (o, x);
  dyno_onnx_input (o, low);
  dyno_onnx_input (o, high);
  dyno_onnx_end (o, output);
}

/* x (1 + erf (x / sqrt (2))) / 2 */
static void
emit_gelu (DynoOnnxWriter *o, const char *x, const char *output)
{
  const char *root = number (o, "root", G_SQRT2), *one = number (o, "one", 1),
             *half = number (o, "half", 0.5);
  const char *erf = step (o, "Erf", "erf", step (o, "Div", "scaled", x, root), NULL);
  const char *product = step (o, "Mul", "product", x, step (o, "Add", "sum", erf, one));

  dyno_onnx_plain (o, "Mul", o->stem, product, half, output);
}

/* x (1 + tanh (sqrt (2 / pi) (x + 0.044715 x^3))) / 2 */
static void
emit_gelu_tanh (DynoOnnxWriter *o, const char *x, const char *output)
{
  const char *share = number (o, "share", 0.044715),
             *scale = number (o, "scale", 0.7978845608028654), *one = number (o, "one", 1),
             *half = number (o, "half", 0.5);
  const char *cube = step (o, "Mul", "cube", step (o, "Mul", "square", x, x), x);
  const char *inner = step (o, "Add", "inner", x, step (o, "Mul", "part", cube, share));
  const char *tanh = step (o, "Tanh", "tanh", step (o, "Mul", "scaled", inner, scale), NULL);
  const char *product = step (o, "Mul", "product", x, step (o, "Add", "sum", tanh, one));

  dyno_onnx_plain (o, "Mul", o->stem, product, half, output);
}

/* Writes an operator with one or two attributes. */
static void
emit_sloped (DynoOnnxWriter *o, const char *op, const char *x, double alpha, const double *beta,
             const char *output)
{
  dyno_onnx_begin (o, op, o->stem);
  dyno_onnx_input (o, x);
  dyno_onnx_float (o, "alpha", (float) alpha);
  if (beta)
    dyno_onnx_float (o, "beta", (float) *beta);
  dyno_onnx_end (o, output);
}

gboolean
dyno_onnx_emit_activation (DynoOnnxWriter *o, const DynoNode *node)
{
  static const char *const plain[DYNO_N_ACTIVATIONS] = {
    [DYNO_ACTIVATION_RELU] = "Relu",         [DYNO_ACTIVATION_SIGMOID] = "Sigmoid",
    [DYNO_ACTIVATION_TANH] = "Tanh",         [DYNO_ACTIVATION_HARD_SWISH] = "HardSwish",
    [DYNO_ACTIVATION_SOFTPLUS] = "Softplus", [DYNO_ACTIVATION_EXP] = "Exp",
    [DYNO_ACTIVATION_SQRT] = "Sqrt",         [DYNO_ACTIVATION_RECIPROCAL] = "Reciprocal",
    [DYNO_ACTIVATION_LOG] = "Log",           [DYNO_ACTIVATION_ABS] = "Abs",
    [DYNO_ACTIVATION_SIN] = "Sin",           [DYNO_ACTIVATION_COS] = "Cos",
  };
  const double middle = 0.5;
  DynoActivation activation = node->op->traits.activation;
  DynoOnnxForm form = dyno_onnx_form (o, node->inputs[0]);
  const char *x = dyno_onnx_value (o, node->inputs[0], form), *output = dyno_onnx_name (o, "out");

  if (plain[activation])
    dyno_onnx_plain (o, plain[activation], o->stem, x, NULL, output);
  else if (activation == DYNO_ACTIVATION_RELU6)
    emit_relu6 (o, x, output);
  else if (activation == DYNO_ACTIVATION_SILU)
    emit_gated (o, x, step (o, "Sigmoid", "gate", x, NULL), output);
  else if (activation == DYNO_ACTIVATION_MISH)
    emit_gated (o, x, step (o, "Tanh", "gate", step (o, "Softplus", "softplus", x, NULL), NULL),
                output);
  else if (activation == DYNO_ACTIVATION_LEAKY_RELU)
    emit_sloped (o, "LeakyRelu", x, dyno_onnx_number (o, node, "parameter"), NULL, output);
  else if (activation == DYNO_ACTIVATION_ELU)
    emit_sloped (o, "Elu", x, dyno_onnx_number (o, node, "parameter"), NULL, output);
  else if (activation == DYNO_ACTIVATION_HARD_SIGMOID)
    emit_sloped (o, "HardSigmoid", x, 1.0 / 6, &middle, output);
  else if (activation == DYNO_ACTIVATION_GELU)
    emit_gelu (o, x, output);
  else if (activation == DYNO_ACTIVATION_GELU_TANH)
    emit_gelu_tanh (o, x, output);
  else
    return dyno_onnx_refuse (o, "%s: %s has no counterpart here", node->name, node->op->name);
  return dyno_onnx_set_value (o, node->outputs[0], output, form);
}
