/* SPDX-License-Identifier: MIT */
/* Activations: y = f (x), f of shaders/shared/activation.h.  Input x; output y; (N, H, W, C) both.
 * <name>_backward: dx = dy * f' (x).  Inputs y, or x where the slope is computed from x, and dy;
 * output dx, which is dy's memory where no other node reads dy; (N, H, W, C) all. */
#include "elementwise.h"
#include "elementwise-push.h"
#include "ops.h"
#include <math.h>

typedef struct {
  guint32 activation;
  double parameter; /* of the activation; 0 where it has none */
  gboolean accumulate;
} Activation;

/* PyTorch's default values */
#define LEAKY_RELU_SLOPE 0.01
#define ELU_ALPHA        1.0

static gboolean
has_parameter (DynoActivation activation)
{
  return activation == DYNO_ACTIVATION_LEAKY_RELU || activation == DYNO_ACTIVATION_ELU;
}

/* TRUE: the slope, as it is computed, is not finite at 0, so that its product with the zero of a
 * pad is NaN. */
static gboolean
has_pole (DynoActivation activation)
{
  return activation == DYNO_ACTIVATION_SQRT || activation == DYNO_ACTIVATION_LOG;
}

gboolean
dyno_activation_keeps_zero (DynoActivation activation)
{
  /* f (0) is not 0 */
  static const gboolean moves[DYNO_N_ACTIVATIONS] = {
    [DYNO_ACTIVATION_SIGMOID] = TRUE,    [DYNO_ACTIVATION_HARD_SIGMOID] = TRUE,
    [DYNO_ACTIVATION_SOFTPLUS] = TRUE,   [DYNO_ACTIVATION_EXP] = TRUE,
    [DYNO_ACTIVATION_RECIPROCAL] = TRUE, [DYNO_ACTIVATION_LOG] = TRUE,
    [DYNO_ACTIVATION_COS] = TRUE,
  };

  return !moves[activation] && !has_pole (activation);
}

void
dyno_elementwise_activation (DynoKernelSpec *spec, DynoActivation activation, double parameter)
{
  const union {
    float number;
    guint32 bits;
  } exact = { (float) parameter };
  if (activation == DYNO_ACTIVATION_NONE)
    return;
  dyno_kernel_spec_macro (spec, "ACTIVATION=%u", activation);
  if (has_parameter (activation))
    dyno_kernel_spec_macro (spec, "ACTIVATION_PARAMETER=uintBitsToFloat(0x%08xu)", exact.bits);
}

/* TRUE: the slope is computed from x.  The slope of the other functions follows from y. */
static gboolean
reads_x (const Activation *attributes)
{
  switch (attributes->activation)
    {
    case DYNO_ACTIVATION_RELU:
    case DYNO_ACTIVATION_RELU6:
    case DYNO_ACTIVATION_SIGMOID:
    case DYNO_ACTIVATION_TANH:
    case DYNO_ACTIVATION_HARD_SIGMOID:
    case DYNO_ACTIVATION_EXP:
    case DYNO_ACTIVATION_SQRT:
    case DYNO_ACTIVATION_RECIPROCAL:
      return FALSE;
    case DYNO_ACTIVATION_LEAKY_RELU:
      return !(attributes->parameter > 0);
    default:
      return TRUE;
    }
}

/* Appends the kernel of a pass, with the macros for the node's function. */
static void
lower (DynoLowering *lowering, DynoNode *node, const char *pass, const char *shader, DynoTensor *a,
       DynoTensor *b)
{
  const Activation *attributes = node->attributes;
  DynoTensor *target = node->outputs[0];
  gboolean padded = target->c != target->cp
                    && (b ? has_pole (attributes->activation)
                          : !dyno_activation_keeps_zero (attributes->activation));
  const guint32 constants[] = { [DYNO_ACTIVATION_CVECS - 1] =
                                    target->cp / dyno_dtype_lanes (target->dtype),
                                [DYNO_ACTIVATION_C - 1] = target->c };
  DynoKernelSpec spec = { .shader = shader };
  dyno_elementwise_activation (&spec, attributes->activation, attributes->parameter);
  if (padded)
    dyno_kernel_spec_macro (&spec, "PADDED=1");
  if (b && reads_x (attributes))
    dyno_kernel_spec_macro (&spec, "FROM_X=1");
  dyno_elementwise_lower_spec (lowering, node, pass, &spec, a, b, target, attributes->accumulate,
                               constants, padded ? G_N_ELEMENTS (constants) : 0, FALSE);
}

static void
lower_backward (DynoLowering *lowering, DynoNode *node)
{
  lower (lowering, node, "backward", "activation/activation_backward.comp", node->inputs[0],
         node->inputs[1]);
}

static void
lower_forward (DynoLowering *lowering, DynoNode *node)
{
  lower (lowering, node, "forward", "activation/activation_forward.comp", node->inputs[0], NULL);
}

static const DynoAttribute activation_attributes[] = { DYNO_ATTRIBUTE (Activation, parameter),
                                                       DYNO_ATTRIBUTE (Activation, accumulate) };

#define BACKWARD(label)                                 \
  {                                                     \
    .name = label "_backward", .lower = lower_backward, \
    DYNO_OP_ATTRIBUTES (activation_attributes),         \
  }
static const DynoOpClass backward_classes[DYNO_N_ACTIVATIONS] = {
  [DYNO_ACTIVATION_RELU] = BACKWARD ("relu"),
  [DYNO_ACTIVATION_RELU6] = BACKWARD ("relu6"),
  [DYNO_ACTIVATION_SILU] = BACKWARD ("silu"),
  [DYNO_ACTIVATION_SIGMOID] = BACKWARD ("sigmoid"),
  [DYNO_ACTIVATION_TANH] = BACKWARD ("tanh"),
  [DYNO_ACTIVATION_LEAKY_RELU] = BACKWARD ("leaky_relu"),
  [DYNO_ACTIVATION_ELU] = BACKWARD ("elu"),
  [DYNO_ACTIVATION_GELU] = BACKWARD ("gelu"),
  [DYNO_ACTIVATION_GELU_TANH] = BACKWARD ("gelu_tanh"),
  [DYNO_ACTIVATION_HARD_SWISH] = BACKWARD ("hard_swish"),
  [DYNO_ACTIVATION_HARD_SIGMOID] = BACKWARD ("hard_sigmoid"),
  [DYNO_ACTIVATION_SOFTPLUS] = BACKWARD ("softplus"),
  [DYNO_ACTIVATION_MISH] = BACKWARD ("mish"),
  [DYNO_ACTIVATION_EXP] = BACKWARD ("exp"),
  [DYNO_ACTIVATION_SQRT] = BACKWARD ("sqrt"),
  [DYNO_ACTIVATION_RECIPROCAL] = BACKWARD ("reciprocal"),
  [DYNO_ACTIVATION_LOG] = BACKWARD ("log"),
  [DYNO_ACTIVATION_ABS] = BACKWARD ("abs"),
  [DYNO_ACTIVATION_SIN] = BACKWARD ("sin"),
  [DYNO_ACTIVATION_COS] = BACKWARD ("cos"),
};

static void
backward (DynoGraph *graph, DynoNode *node)
{
  Activation attributes = *(const Activation *) node->attributes;
  DynoTensor *x = node->inputs[0], *y = node->outputs[0], *dy = dyno_graph_gradient (graph, y);
  DynoTensor *dx = dyno_graph_gradient_target_over (graph, x, y, &attributes.accumulate);
  if (!dx)
    return;
  DynoTensor *from = reads_x (&attributes) ? x : y;
  dyno_graph_backward_node (graph, node, &backward_classes[attributes.activation],
                            (DynoTensor *[]){ from, dy }, 2, &dx, 1, &attributes,
                            sizeof attributes);
}

/* from_y: the slope may be computed from y */
#define FORWARD(label, kind, from_y)                             \
  {                                                              \
    .name = label, .backward = backward, .lower = lower_forward, \
    DYNO_OP_ATTRIBUTES (activation_attributes),                  \
    .traits = {                                                  \
      .activation = kind,                                        \
      .elementwise = DYNO_ELEMENTWISE_MAP,                       \
      .reads_own_output = from_y,                                \
      .restorable = TRUE,                                        \
    },                                                           \
  }
static const DynoOpClass classes[DYNO_N_ACTIVATIONS] = {
  [DYNO_ACTIVATION_RELU] = FORWARD ("relu", DYNO_ACTIVATION_RELU, TRUE),
  [DYNO_ACTIVATION_RELU6] = FORWARD ("relu6", DYNO_ACTIVATION_RELU6, TRUE),
  [DYNO_ACTIVATION_SILU] = FORWARD ("silu", DYNO_ACTIVATION_SILU, FALSE),
  [DYNO_ACTIVATION_SIGMOID] = FORWARD ("sigmoid", DYNO_ACTIVATION_SIGMOID, TRUE),
  [DYNO_ACTIVATION_TANH] = FORWARD ("tanh", DYNO_ACTIVATION_TANH, TRUE),
  [DYNO_ACTIVATION_LEAKY_RELU] = FORWARD ("leaky_relu", DYNO_ACTIVATION_LEAKY_RELU, TRUE),
  [DYNO_ACTIVATION_ELU] = FORWARD ("elu", DYNO_ACTIVATION_ELU, FALSE),
  [DYNO_ACTIVATION_GELU] = FORWARD ("gelu", DYNO_ACTIVATION_GELU, FALSE),
  [DYNO_ACTIVATION_GELU_TANH] = FORWARD ("gelu_tanh", DYNO_ACTIVATION_GELU_TANH, FALSE),
  [DYNO_ACTIVATION_HARD_SWISH] = FORWARD ("hard_swish", DYNO_ACTIVATION_HARD_SWISH, FALSE),
  [DYNO_ACTIVATION_HARD_SIGMOID] = FORWARD ("hard_sigmoid", DYNO_ACTIVATION_HARD_SIGMOID, TRUE),
  [DYNO_ACTIVATION_SOFTPLUS] = FORWARD ("softplus", DYNO_ACTIVATION_SOFTPLUS, FALSE),
  [DYNO_ACTIVATION_MISH] = FORWARD ("mish", DYNO_ACTIVATION_MISH, FALSE),
  [DYNO_ACTIVATION_EXP] = FORWARD ("exp", DYNO_ACTIVATION_EXP, TRUE),
  [DYNO_ACTIVATION_SQRT] = FORWARD ("sqrt", DYNO_ACTIVATION_SQRT, TRUE),
  [DYNO_ACTIVATION_RECIPROCAL] = FORWARD ("reciprocal", DYNO_ACTIVATION_RECIPROCAL, TRUE),
  [DYNO_ACTIVATION_LOG] = FORWARD ("log", DYNO_ACTIVATION_LOG, FALSE),
  [DYNO_ACTIVATION_ABS] = FORWARD ("abs", DYNO_ACTIVATION_ABS, FALSE),
  [DYNO_ACTIVATION_SIN] = FORWARD ("sin", DYNO_ACTIVATION_SIN, FALSE),
  [DYNO_ACTIVATION_COS] = FORWARD ("cos", DYNO_ACTIVATION_COS, FALSE),
};

DynoTensor *
dyno_activation_with_parameter (DynoGraph *graph, DynoTensor *x, DynoActivation activation,
                                double parameter, const char *name)
{
  const Activation attributes = { .activation = activation,
                                  .parameter = has_parameter (activation) ? parameter : 0 };
  g_return_val_if_fail (
      activation != DYNO_ACTIVATION_NONE && (guint) activation < G_N_ELEMENTS (classes), NULL);
  if (!x)
    return NULL;
  if (!isfinite ((float) attributes.parameter))
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE, "%s: %s needs a finite number, not %g",
                            name, classes[activation].name, parameter);
  DynoTensor *y = dyno_graph_activation (graph, name, x->n, x->h, x->w, x->c);
  if (!y)
    return NULL;
  dyno_graph_node (graph, &classes[activation], name, &x, 1, &y, 1, &attributes, sizeof attributes);
  return y;
}

DynoTensor *
dyno_activation (DynoGraph *graph, DynoTensor *x, DynoActivation activation, const char *name)
{
  return dyno_activation_with_parameter (
      graph, x, activation, activation == DYNO_ACTIVATION_ELU ? ELU_ALPHA : LEAKY_RELU_SLOPE, name);
}

DynoTensor *
dyno_relu (DynoGraph *graph, DynoTensor *x, const char *name)
{
  return dyno_activation (graph, x, DYNO_ACTIVATION_RELU, name);
}
