/* SPDX-License-Identifier: MIT */
/* dropout: y = x / (1 - p) with probability 1 - p, else 0; x itself in evaluation.  Input x; output
 * y; (N, H, W, C) both.
 * dropout_backward: dx = dy / (1 - p) where x was kept, else 0.  Input dy; output dx, which is dy's
 * memory where no other node reads dy; (N, H, W, C) both.
 * stochastic_depth, stochastic_depth_backward: the same, but each sample is kept or dropped as a
 * whole.
 * The mask is drawn again in the backward pass; its random stream is the node's index in the graph
 * when the node is made, so that equal models draw equal masks. */
#include "elementwise.h"
#include "elementwise-push.h"
#include "ops.h"

typedef struct {
  guint32 stream;
  guint32 threshold; /* of 2^32 */
  float keep_scale;
  float probability;
  gboolean by_sample; /* one draw for each sample */
  gboolean accumulate;
} Dropout;

static void
dropout_lower (DynoLowering *lowering, DynoNode *node)
{
  const Dropout *attributes = node->attributes;
  const DynoTensor *x = node->inputs[0];
  DynoKernelSpec spec = { .shader = "dropout/dropout_apply.comp" };
  guint32 keep_scale;
  memcpy (&keep_scale, &attributes->keep_scale, sizeof keep_scale);
  const guint32 constants[] = { [DYNO_DROPOUT_STREAM - 1] = attributes->stream,
                                [DYNO_DROPOUT_THRESHOLD - 1] = attributes->threshold,
                                [DYNO_DROPOUT_KEEP_SCALE - 1] = keep_scale,
                                [DYNO_DROPOUT_SAMPLE - 1] =
                                    x->h * x->w * (x->cp / dyno_dtype_lanes (x->dtype)) };
  if (attributes->by_sample)
    dyno_kernel_spec_macro (&spec, "BY_SAMPLE=1");
  dyno_elementwise_lower_spec (lowering, node, "apply", &spec, node->inputs[0], NULL,
                               node->outputs[0], attributes->accumulate, constants,
                               G_N_ELEMENTS (constants) - !attributes->by_sample, TRUE);
}

static const DynoAttribute dropout_attributes[] = { DYNO_ATTRIBUTE (Dropout, probability),
                                                    DYNO_ATTRIBUTE (Dropout, stream),
                                                    DYNO_ATTRIBUTE (Dropout, accumulate) };

static const DynoOpClass dropout_backward_class = { .name = "dropout_backward",
                                                    DYNO_OP_ATTRIBUTES (dropout_attributes),
                                                    .lower = dropout_lower };
static const DynoOpClass depth_backward_class = { .name = "stochastic_depth_backward",
                                                  DYNO_OP_ATTRIBUTES (dropout_attributes),
                                                  .lower = dropout_lower };

static void
dropout_backward (DynoGraph *graph, DynoNode *node)
{
  DynoTensor *x = node->inputs[0], *y = node->outputs[0], *dy = dyno_graph_gradient (graph, y);
  Dropout attributes = *(const Dropout *) node->attributes;
  DynoTensor *dx = dyno_graph_gradient_target_over (graph, x, y, &attributes.accumulate);
  if (!dx)
    return;
  dyno_graph_backward_node (graph, node,
                            attributes.by_sample ? &depth_backward_class : &dropout_backward_class,
                            &dy, 1, &dx, 1, &attributes, sizeof attributes);
}

static const DynoOpClass dropout_class = { .name = "dropout",
                                           .traits = { .elementwise = DYNO_ELEMENTWISE_MAP,
                                                       .restorable = TRUE },
                                           DYNO_OP_ATTRIBUTES (dropout_attributes),
                                           .backward = dropout_backward,
                                           .lower = dropout_lower };

static const DynoOpClass depth_class = { .name = "stochastic_depth",
                                         .traits = { .elementwise = DYNO_ELEMENTWISE_MAP,
                                                     .restorable = TRUE },
                                         DYNO_OP_ATTRIBUTES (dropout_attributes),
                                         .backward = dropout_backward,
                                         .lower = dropout_lower };

static DynoTensor *
append (DynoGraph *graph, DynoTensor *x, const char *name, double probability, gboolean by_sample)
{
  if (!x)
    return NULL;
  if (!(probability >= 0 && probability < 1))
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: a probability of %g to drop is not in [0, 1)", name, probability);
  if (!dyno_graph_get_params (graph)->training || probability == 0)
    return x;
  DynoTensor *y = dyno_graph_activation (graph, name, x->n, x->h, x->w, x->c);
  if (!y)
    return NULL;
  Dropout attributes = { .stream = dyno_graph_get_nodes (graph)->len,
                         .threshold = (guint32) (probability * 4294967296.0),
                         .keep_scale = (float) (1 / (1 - probability)),
                         .probability = (float) probability,
                         .by_sample = by_sample };
  dyno_graph_node (graph, by_sample ? &depth_class : &dropout_class, name, &x, 1, &y, 1,
                   &attributes, sizeof attributes);
  return y;
}

DynoTensor *
dyno_dropout (DynoGraph *graph, DynoTensor *x, const char *name, double probability)
{
  return append (graph, x, name, probability, FALSE);
}

DynoTensor *
dyno_stochastic_depth (DynoGraph *graph, DynoTensor *x, const char *name, double probability)
{
  return append (graph, x, name, probability, TRUE);
}
