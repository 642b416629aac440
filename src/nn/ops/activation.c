/* SPDX-License-Identifier: MIT */
/* relu, relu6, silu and sigmoid: y = f (x), f of shaders/shared/activation.h.  Input x; output y;
 * (N, H, W, C) both.
 * <name>_backward: dx = dy * f' (x).  Inputs y (silu: x) and dy; output dx, which is dy's memory
 * where no other node reads dy; (N, H, W, C) all. */
#include "elementwise.h"
#include "elementwise-push.h"
#include "ops.h"

typedef struct {
  guint32 activation;
  gboolean accumulate;
} Activation;

/* The macros of the kernel for the node's function; the elementwise lowering selects the shader by
 * them. */
static void
lower (DynoLowering *lowering, DynoNode *node, const char *pass, const char *shader, DynoTensor *a,
       DynoTensor *b)
{
  const Activation *attributes = node->attributes;
  DynoTensor *target = node->outputs[0];
  gboolean padded =
      attributes->activation == DYNO_ACTIVATION_SIGMOID && !b && target->c != target->cp;
  const guint32 constants[] = { [DYNO_ACTIVATION_CVECS - 1] =
                                    target->cp / dyno_dtype_lanes (target->dtype),
                                [DYNO_ACTIVATION_C - 1] = target->c };
  DynoKernelSpec spec = { .shader = shader };
  dyno_kernel_spec_macro (&spec, "ACTIVATION=%u", attributes->activation);
  if (padded)
    dyno_kernel_spec_macro (&spec, "PADDED=1");
  if (b && attributes->activation == DYNO_ACTIVATION_SILU)
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

static const DynoAttribute backward_attributes[] = { DYNO_ATTRIBUTE (Activation, accumulate) };

#define BACKWARD(label)                                                                           \
  {                                                                                               \
    .name = label "_backward", DYNO_OP_ATTRIBUTES (backward_attributes), .lower = lower_backward, \
  }
static const DynoOpClass backward_classes[] = {
  [DYNO_ACTIVATION_RELU] = BACKWARD ("relu"),
  [DYNO_ACTIVATION_RELU6] = BACKWARD ("relu6"),
  [DYNO_ACTIVATION_SILU] = BACKWARD ("silu"),
  [DYNO_ACTIVATION_SIGMOID] = BACKWARD ("sigmoid"),
};

static void
backward (DynoGraph *graph, DynoNode *node)
{
  Activation attributes = *(const Activation *) node->attributes;
  DynoTensor *x = node->inputs[0], *y = node->outputs[0], *dy = dyno_graph_gradient (graph, y);
  if (!x->needs_gradient)
    return;
  DynoTensor *dx = dyno_graph_gradient_in_place (graph, x, y)
                       ? dy
                       : dyno_graph_gradient_target (graph, x, &attributes.accumulate);
  if (!dx)
    return;
  g_autofree char *name = g_strconcat (node->name, ".backward", NULL);
  DynoTensor *from = attributes.activation == DYNO_ACTIVATION_SILU ? x : y;
  dyno_graph_node (graph, &backward_classes[attributes.activation], name,
                   (DynoTensor *[]){ from, dy }, 2, &dx, 1, &attributes, sizeof attributes);
}

#define FORWARD(label, kind, from_y)                             \
  {                                                              \
    .name = label, .backward = backward, .lower = lower_forward, \
    .traits = {                                                  \
      .activation = kind,                                        \
      .elementwise = DYNO_ELEMENTWISE_MAP,                       \
      .reads_own_output = from_y,                                \
      .restorable = TRUE,                                        \
    },                                                           \
  }
static const DynoOpClass classes[] = {
  [DYNO_ACTIVATION_RELU] = FORWARD ("relu", DYNO_ACTIVATION_RELU, TRUE),
  [DYNO_ACTIVATION_RELU6] = FORWARD ("relu6", DYNO_ACTIVATION_RELU6, TRUE),
  [DYNO_ACTIVATION_SILU] = FORWARD ("silu", DYNO_ACTIVATION_SILU, FALSE),
  [DYNO_ACTIVATION_SIGMOID] = FORWARD ("sigmoid", DYNO_ACTIVATION_SIGMOID, TRUE),
};

DynoTensor *
dyno_activation (DynoGraph *graph, DynoTensor *x, DynoActivation activation, const char *name)
{
  g_return_val_if_fail (
      activation != DYNO_ACTIVATION_NONE && (guint) activation < G_N_ELEMENTS (classes), NULL);
  if (!x)
    return NULL;
  DynoTensor *y = dyno_graph_activation (graph, name, x->n, x->h, x->w, x->c);
  if (!y)
    return NULL;
  const Activation attributes = { .activation = activation };
  dyno_graph_node (graph, &classes[activation], name, &x, 1, &y, 1, &attributes, sizeof attributes);
  return y;
}

DynoTensor *
dyno_relu (DynoGraph *graph, DynoTensor *x, const char *name)
{
  return dyno_activation (graph, x, DYNO_ACTIVATION_RELU, name);
}
