/* SPDX-License-Identifier: MIT */
/* Activations and other functions of single values, Softmax, and Dropout. */
#include "import-private.h"
#include <math.h>

static gboolean
append (DynoImport *import, const DynoOnnxNode *node, DynoActivation activation, double parameter)
{
  DynoImportValue *x = dyno_import_tensor (import, node, 0);

  if (!x)
    return FALSE;
  const char *name = dyno_import_shown_name (node);
  return dyno_import_output (
      import, node, 0,
      dyno_activation_with_parameter (import->graph, x->tensor, activation, parameter, name),
      &x->view, NULL);
}

gboolean
dyno_import_activation (DynoImport *import, const DynoOnnxNode *node)
{
  static const struct {
    const char *op_type;
    DynoActivation activation;
  } rows[] = { { "Relu", DYNO_ACTIVATION_RELU },
               { "Sigmoid", DYNO_ACTIVATION_SIGMOID },
               { "Tanh", DYNO_ACTIVATION_TANH },
               { "HardSwish", DYNO_ACTIVATION_HARD_SWISH },
               { "Softplus", DYNO_ACTIVATION_SOFTPLUS },
               { "Mish", DYNO_ACTIVATION_MISH },
               { "Exp", DYNO_ACTIVATION_EXP },
               { "Sqrt", DYNO_ACTIVATION_SQRT },
               { "Reciprocal", DYNO_ACTIVATION_RECIPROCAL },
               { "Log", DYNO_ACTIVATION_LOG },
               { "Abs", DYNO_ACTIVATION_ABS },
               { "Sin", DYNO_ACTIVATION_SIN },
               { "Cos", DYNO_ACTIVATION_COS } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (g_str_equal (rows[i].op_type, node->op_type))
      return append (import, node, rows[i].activation, 0);
  g_return_val_if_reached (FALSE);
}

gboolean
dyno_import_function (DynoImport *import, const DynoOnnxNode *node)
{
  return dyno_import_is_constant (import, node, 0) ? dyno_import_fold (import, node)
                                                   : dyno_import_activation (import, node);
}

/* x to the power of a constant number, as one op. */
gboolean
dyno_import_pow (DynoImport *import, const DynoOnnxNode *node)
{
  const char *name = dyno_import_shown_name (node);
  double power = 0;

  if (dyno_import_is_constant (import, node, 0) && dyno_import_is_constant (import, node, 1))
    return dyno_import_fold (import, node);
  DynoImportValue *x = dyno_import_tensor (import, node, 0);
  if (!x)
    return FALSE;
  if (!dyno_import_number (import, node, 1, &x->view, &power))
    return dyno_import_refuse (
        import, node, "its exponent is not a number that is known before the network runs");
  if (power == 1)
    return dyno_import_pass (import, node, 0);
  if (power == 2)
    return dyno_import_output (
        import, node, 0, dyno_multiply (import->graph, x->tensor, x->tensor, name), &x->view, NULL);
  if (power == 0.5)
    return append (import, node, DYNO_ACTIVATION_SQRT, 0);
  if (power == -1)
    return append (import, node, DYNO_ACTIVATION_RECIPROCAL, 0);
  return dyno_import_refuse (
      import, node, "its exponent is %g; Dyno computes the powers 2, 1, 0.5 and -1", power);
}

gboolean
dyno_import_leaky_relu (DynoImport *import, const DynoOnnxNode *node)
{
  return append (import, node, DYNO_ACTIVATION_LEAKY_RELU, dyno_import_float (node, "alpha", 0.01));
}

gboolean
dyno_import_elu (DynoImport *import, const DynoOnnxNode *node)
{
  return append (import, node, DYNO_ACTIVATION_ELU, dyno_import_float (node, "alpha", 1));
}

gboolean
dyno_import_gelu (DynoImport *import, const DynoOnnxNode *node)
{
  gboolean tanh = g_str_equal (dyno_import_text (node, "approximate", "none"), "tanh");

  return append (import, node, tanh ? DYNO_ACTIVATION_GELU_TANH : DYNO_ACTIVATION_GELU, 0);
}

/* factor * f (inner * x + shift) + offset: an activation between two affine ops, each left out
 * where it changes nothing. */
typedef struct {
  DynoActivation activation;
  double parameter;
  double inner, shift, factor, offset;
} Composed;

static gboolean
append_composed (DynoImport *import, const DynoOnnxNode *node, const Composed *c)
{
  DynoImportValue *x = dyno_import_tensor (import, node, 0);
  const char *name = dyno_import_shown_name (node);
  g_autofree char *before = g_strconcat (name, ".before", NULL),
                  *inside = g_strconcat (name, ".inside", NULL);
  gboolean enters = c->inner != 1 || c->shift != 0, leaves = c->factor != 1 || c->offset != 0;

  if (!x)
    return FALSE;
  DynoTensor *y = x->tensor;
  if (enters)
    y = dyno_affine (import->graph, y, c->inner, c->shift, before);
  y = dyno_activation_with_parameter (import->graph, y, c->activation, c->parameter,
                                      leaves ? inside : name);
  if (leaves)
    y = dyno_affine (import->graph, y, c->factor, c->offset, name);
  return dyno_import_output (import, node, 0, y, &x->view, NULL);
}

gboolean
dyno_import_selu (DynoImport *import, const DynoOnnxNode *node)
{
  const Composed c = { .activation = DYNO_ACTIVATION_ELU,
                       .parameter = dyno_import_float (node, "alpha", 1.6732631921768188),
                       .inner = 1,
                       .factor = dyno_import_float (node, "gamma", 1.0507010221481323) };

  return append_composed (import, node, &c);
}

/* x where x > 0, else alpha (exp (x / alpha) - 1) */
gboolean
dyno_import_celu (DynoImport *import, const DynoOnnxNode *node)
{
  double alpha = dyno_import_float (node, "alpha", 1);
  const Composed c = {
    .activation = DYNO_ACTIVATION_ELU, .parameter = 1, .inner = 1 / alpha, .factor = alpha
  };

  if (!(alpha > 0))
    return dyno_import_refuse (import, node, "its alpha is %g, not above 0", alpha);
  return append_composed (import, node, &c);
}

/* Dyno's HardSigmoid is PyTorch's, with alpha 1/6; ONNX's default is 0.2. */
gboolean
dyno_import_hard_sigmoid (DynoImport *import, const DynoOnnxNode *node)
{
  double alpha = dyno_import_float (node, "alpha", 0.2),
         beta = dyno_import_float (node, "beta", 0.5);

  if (fabs (alpha - 1.0 / 6) < 1e-6 && beta == 0.5)
    return append (import, node, DYNO_ACTIVATION_HARD_SIGMOID, 0);
  const Composed c = { .activation = DYNO_ACTIVATION_HARD_SIGMOID,
                       .inner = 6 * alpha,
                       .shift = 6 * (beta - 0.5),
                       .factor = 1 };
  return append_composed (import, node, &c);
}

/* A bound of a Clip: an input or, until opset 10, an attribute. */
static double
get_bound (DynoImport *import, const DynoOnnxNode *node, guint i, const char *name,
           double otherwise)
{
  const DynoImportValue *value = dyno_import_input (import, node, i);

  if (value && value->constant && value->constant->count == 1)
    return dyno_constant_float (value->constant, 0);
  return value ? (double) NAN : dyno_import_float (node, name, otherwise);
}

/* x + max (bound - x, 0), or, for an upper bound, x - max (x - bound, 0): values inside the bound
 * equal x bit for bit, even if the bound is large. */
static DynoTensor *
append_bound (DynoGraph *graph, DynoTensor *x, double bound, gboolean is_upper, const char *name)
{
  const char *end = is_upper ? ".high" : ".low";
  g_autofree char *past_name = g_strconcat (name, end, ".past", NULL),
                  *relu_name = g_strconcat (name, end, ".relu", NULL),
                  *minus_name = g_strconcat (name, end, ".minus", NULL),
                  *sum_name = g_strconcat (name, end, NULL);
  DynoTensor *past =
      dyno_affine (graph, x, is_upper ? 1 : -1, is_upper ? -bound : bound, past_name);
  DynoTensor *excess = dyno_relu (graph, past, relu_name);

  if (is_upper)
    excess = dyno_affine (graph, excess, -1, 0, minus_name);
  return excess ? dyno_add (graph, x, excess, sum_name) : NULL;
}

gboolean
dyno_import_clip (DynoImport *import, const DynoOnnxNode *node)
{
  const char *name = dyno_import_shown_name (node);
  DynoImportValue *x = dyno_import_input (import, node, 0);
  double low = get_bound (import, node, 1, "min", (double) -INFINITY),
         high = get_bound (import, node, 2, "max", (double) INFINITY);

  if (x && x->constant && !x->tensor)
    return dyno_import_fold (import, node);
  if (low == 0 && high == 6)
    return append (import, node, DYNO_ACTIVATION_RELU6, 0);
  if (low == 0 && high > 1e30)
    return append (import, node, DYNO_ACTIVATION_RELU, 0);
  if (low < -1e30 && high > 1e30)
    return dyno_import_pass (import, node, 0);
  if (!(low < high))
    return dyno_import_refuse (
        import, node, "its lower bound %g is not below its upper bound %g%s", low, high,
        isnan (low) || isnan (high) ? ": a bound is not known before the network runs" : "");
  if (low == 0)
    return append_composed (
        import, node,
        &(Composed){ .activation = DYNO_ACTIVATION_RELU6, .inner = 6 / high, .factor = high / 6 });
  if (!(x = dyno_import_tensor (import, node, 0)))
    return FALSE;
  DynoTensor *y =
      low < -1e30 ? x->tensor : append_bound (import->graph, x->tensor, low, FALSE, name);
  y = high > 1e30 ? y : append_bound (import->graph, y, high, TRUE, name);
  return dyno_import_output (import, node, 0, y, &x->view, NULL);
}

/* Max or Min of a tensor and a number, in either order. */
gboolean
dyno_import_bound (DynoImport *import, const DynoOnnxNode *node)
{
  gboolean is_upper = g_str_equal (node->op_type, "Min");
  double bound = 0;
  guint i = 0;

  if (dyno_import_is_constant (import, node, 0)
      && (node->n_inputs < 2 || dyno_import_is_constant (import, node, 1)))
    return dyno_import_fold (import, node);
  if (node->n_inputs == 1)
    return dyno_import_pass (import, node, 0);
  if (dyno_import_is_constant (import, node, 0))
    i = 1;
  DynoImportValue *x = dyno_import_tensor (import, node, i);
  if (!x)
    return FALSE;
  if (node->n_inputs != 2 || !dyno_import_number (import, node, 1 - i, &x->view, &bound)
      || !isfinite ((float) bound))
    return dyno_import_refuse (
        import, node,
        "Dyno compares a tensor only with one finite number that is known before the network runs");
  const char *name = dyno_import_shown_name (node);
  DynoTensor *y = bound == 0 && !is_upper
                      ? dyno_relu (import->graph, x->tensor, name)
                      : append_bound (import->graph, x->tensor, bound, is_upper, name);
  return dyno_import_output (import, node, 0, y, &x->view, NULL);
}

/* Softmax over an axis.  Before opset 13 it is over all axes from that one on, which is the same
 * where the following axes have one element each. */
static gboolean
append_softmax (DynoImport *import, const DynoOnnxNode *node, gint64 otherwise)
{
  DynoImportValue *x = dyno_import_tensor (import, node, 0);
  gboolean is_log = g_str_equal (node->op_type, "LogSoftmax");
  const char *name = dyno_import_shown_name (node);
  g_autofree char *inside = g_strconcat (name, ".softmax", NULL);
  guint axis;

  if (!x || !dyno_import_axis (import, node, x->view.n_dims, otherwise, &axis))
    return FALSE;
  for (guint i = axis + 1; i < x->view.n_dims; i++)
    if (dyno_onnx_model_get_opset (import->model, "") < 13 && dyno_view_dim (&x->view, i) != 1)
      return dyno_import_refuse (import, node, "Dyno computes it over one axis, not over several");
  if (!(x = dyno_import_with_channels (import, node, x, axis)))
    return dyno_import_refuse (import, node, "its axis cannot be the channels of a tensor");
  DynoTensor *y = dyno_softmax (import->graph, x->tensor, is_log ? inside : name);
  if (is_log)
    y = dyno_activation (import->graph, y, DYNO_ACTIVATION_LOG, name);
  return dyno_import_output (import, node, 0, y, &x->view, NULL);
}

/* TRUE: one axis covers all elements of a sample, so that no Reshape separates the outputs. */
static gboolean
is_row (const DynoImportValue *x)
{
  guint n = 0;

  for (guint i = 0; i < x->view.n_dims; i++)
    n += dyno_view_dim (&x->view, i) > 1;
  return (guint64) x->tensor->h * x->tensor->w * x->tensor->c == x->tensor->c && n <= 2;
}

/* At the end of the network the loss computes the softmax. */
gboolean
dyno_import_softmax (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoImportValue *x = dyno_import_input (import, node, 0);
  gboolean flattens = dyno_onnx_model_get_opset (import->model, "") < 13;
  /* before opset 13 Softmax without an axis is over all axes from the second on: 0 stands for
   * them */
  gint64 otherwise = flattens ? 0 : -1;

  if (!dyno_import_ends_network (import->model, node)
      || (!dyno_import_is_last (import, node) && !(x && x->tensor && is_row (x))))
    return append_softmax (import, node, flattens ? 1 : -1);
  if (x && x->tensor && x->view.n_dims == 4 && dyno_import_int (node, "axis", otherwise) != 1)
    return dyno_import_refuse (import, node, "its axis is not that of the outputs");
  dyno_import_note (import,
                    "%s at the end is left out: the loss computes it, and the outputs are logits",
                    node->op_type);
  return dyno_import_pass (import, node, 0);
}

/* The probability of a Dropout: an input since opset 12, an attribute before. */
gboolean
dyno_import_dropout (DynoImport *import, const DynoOnnxNode *node)
{
  const DynoImportValue *ratio = dyno_import_input (import, node, 1);
  DynoImportValue *x = dyno_import_tensor (import, node, 0);
  double p = ratio && ratio->constant && ratio->constant->count == 1
                 ? dyno_constant_float (ratio->constant, 0)
                 : dyno_import_float (node, "ratio", 0.5);

  if (!x)
    return FALSE;
  if (!(p >= 0 && p < 1))
    return dyno_import_refuse (import, node, "its probability is %g", p);
  const char *name = dyno_import_shown_name (node);
  return dyno_import_output (import, node, 0, dyno_dropout (import->graph, x->tensor, name, p),
                             &x->view, NULL);
}
