/* SPDX-License-Identifier: MIT */
/* affine: y = factor * x + offset with two numbers that are not trained, (N, H, W, C) both.  Input
 * x; output y.
 * affine_backward: dx (+)= factor * dy.  Input dy; output dx, which is dy's memory where no other
 * node reads dy. */
#include "elementwise.h"
#include "elementwise-push.h"
#include "ops.h"
#include <math.h>

typedef struct {
  double factor, offset;
  gboolean accumulate;
} Affine;

static guint32
to_bits (double number)
{
  const union {
    float number;
    guint32 bits;
  } exact = { (float) number };

  return exact.bits;
}

/* Pad channels need care only where the offset is not 0. */
static void
lower (DynoLowering *lowering, DynoNode *node)
{
  const Affine *attributes = node->attributes;
  DynoTensor *target = node->outputs[0];
  gboolean padded = attributes->offset != 0 && target->c != target->cp;
  const guint32 constants[] = {
    [DYNO_AFFINE_FACTOR - 1] = to_bits (attributes->factor),
    [DYNO_AFFINE_OFFSET - 1] = to_bits (attributes->offset),
    [DYNO_AFFINE_CVECS - 1] = target->cp / dyno_dtype_lanes (target->dtype),
    [DYNO_AFFINE_C - 1] = target->c,
  };
  DynoKernelSpec spec = { .shader = "affine/affine_apply.comp" };

  if (padded)
    dyno_kernel_spec_macro (&spec, "PADDED=1");
  dyno_elementwise_lower_spec (lowering, node, node->op->backward ? "forward" : "backward", &spec,
                               node->inputs[0], NULL, target, attributes->accumulate, constants,
                               padded ? G_N_ELEMENTS (constants) : 2, FALSE);
}

static const DynoAttribute attributes_schema[] = { DYNO_ATTRIBUTE (Affine, factor),
                                                   DYNO_ATTRIBUTE (Affine, offset),
                                                   DYNO_ATTRIBUTE (Affine, accumulate) };

static const DynoOpClass backward_class = { .name = "affine_backward",
                                            DYNO_OP_ATTRIBUTES (attributes_schema),
                                            .lower = lower };

static void
backward (DynoGraph *graph, DynoNode *node)
{
  Affine attributes = { .factor = ((const Affine *) node->attributes)->factor };
  DynoTensor *x = node->inputs[0], *y = node->outputs[0], *dy = dyno_graph_gradient (graph, y);
  DynoTensor *dx = dyno_graph_gradient_target_over (graph, x, y, &attributes.accumulate);
  if (!dx)
    return;
  dyno_graph_backward_node (graph, node, &backward_class, &dy, 1, &dx, 1, &attributes,
                            sizeof attributes);
}

static const DynoOpClass affine_class = {
  .name = "affine",
  .traits = { .elementwise = DYNO_ELEMENTWISE_MAP, .restorable = TRUE },
  DYNO_OP_ATTRIBUTES (attributes_schema),
  .backward = backward,
  .lower = lower,
};

DynoTensor *
dyno_affine (DynoGraph *graph, DynoTensor *x, double factor, double offset, const char *name)
{
  const Affine attributes = { .factor = factor, .offset = offset };

  if (!x)
    return NULL;
  if (!isfinite ((float) factor) || !isfinite ((float) offset))
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE, "%s: needs finite numbers, not %g and %g",
                            name, factor, offset);
  DynoTensor *y = dyno_graph_activation (graph, name, x->n, x->h, x->w, x->c);
  if (!y)
    return NULL;
  dyno_graph_node (graph, &affine_class, name, &x, 1, &y, 1, &attributes, sizeof attributes);
  return y;
}
