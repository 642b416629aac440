/* SPDX-License-Identifier: MIT */
/* first_step, last_step, mean_step: one step y (N, 1, 1, C) of a sequence x (N, 1, T, C), of which
 * the first L[n] steps count (DynoSequence in ops.h):
 *     first_step: y[n][c] = x[n][0][c]
 *     last_step: y[n][c] = x[n][L[n] - 1][c]
 *     mean_step: y[n][c] = sum over t < L[n] of x[n][t][c] / L[n]
 * Inputs x and the lengths (N int32, NULL: L[n] = T); output y.
 * The backward pass: dx[n][t][c] (+)= dy[n][c] at the first or last step; dy[n][c] / L[n] at each
 * step that counts.  Inputs dy and the lengths; output dx. */
#include "elementwise.h"
#include "steps.h"
#include "steps-push.h"

typedef struct {
  gboolean mean, first, accumulate;
  guint32 stride;
} Steps;

static void
lower (DynoLowering *lowering, DynoNode *node, const char *pass, const char *shader,
       const DynoTensor *x)
{
  const Steps *attributes = node->attributes;
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  DynoTensor *source = node->inputs[0], *lengths = node->inputs[1], *target = node->outputs[0];
  guint32 count = dyno_elementwise_count (lowering, target);
  DynoKernelSpec spec = { .shader = shader, .push_bytes = sizeof (DynoStepsPush) };
  dyno_elementwise_count (lowering, x);
  spec.local_size[0] = dyno_elementwise_local (info);
  dyno_elementwise_type (&spec, x->dtype);
  dyno_elementwise_words (&spec, info);
  if (attributes->mean)
    dyno_kernel_spec_macro (&spec, "MEAN=1");
  if (attributes->first)
    dyno_kernel_spec_macro (&spec, "FIRST=1");
  if (attributes->accumulate)
    dyno_kernel_spec_macro (&spec, "ACCUMULATE=1");
  if (lengths)
    dyno_kernel_spec_macro (&spec, "LENGTHS=1");
  dyno_kernel_spec_set (&spec, DYNO_STEPS_COUNT, count);
  dyno_kernel_spec_set (&spec, DYNO_STEPS_CVECS, x->cp / dyno_dtype_lanes (x->dtype));
  dyno_kernel_spec_set (&spec, DYNO_STEPS_T, x->w);
  dyno_kernel_spec_set (&spec, DYNO_STEPS_STRIDE, attributes->stride);
  DynoDispatch *dispatch = dyno_lowering_dispatch (
      lowering, node, pass, &spec, dyno_elementwise_groups (info, count, spec.local_size[0]), 1, 1);
  dispatch->flops = attributes->mean ? dyno_tensor_elements (x) : 0;
  dispatch->bytes = target->size_bytes * (attributes->accumulate ? 2 : 1)
                    + (attributes->mean ? source : node->outputs[0])->size_bytes;
  DYNO_BIND (dispatch, DynoStepsPush, source, source, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoStepsPush, target, target, dyno_access_sum (attributes->accumulate));
  if (lengths)
    DYNO_BIND (dispatch, DynoStepsPush, lengths, lengths, DYNO_ACCESS_READ);
}

static void
lower_backward (DynoLowering *lowering, DynoNode *node)
{
  lower (lowering, node, "backward", "steps/steps_backward.comp", node->outputs[0]);
}

static void
lower_forward (DynoLowering *lowering, DynoNode *node)
{
  lower (lowering, node, "forward", "steps/steps_forward.comp", node->inputs[0]);
}

static const DynoAttribute steps_attributes[] = { DYNO_ATTRIBUTE (Steps, mean),
                                                  DYNO_ATTRIBUTE (Steps, first),
                                                  DYNO_ATTRIBUTE (Steps, accumulate),
                                                  DYNO_ATTRIBUTE (Steps, stride) };

static const DynoOpClass backward_class = { .name = "step_backward",
                                            DYNO_OP_ATTRIBUTES (steps_attributes),
                                            .lower = lower_backward };

static void
backward (DynoGraph *graph, DynoNode *node)
{
  Steps attributes = *(const Steps *) node->attributes;
  DynoTensor *dy = dyno_graph_gradient (graph, node->outputs[0]);
  DynoTensor *dx = dyno_graph_gradient_target (graph, node->inputs[0], &attributes.accumulate);
  if (!dx)
    return;
  dyno_graph_backward_node (graph, node, &backward_class, (DynoTensor *[]){ dy, node->inputs[1] },
                            2, &dx, 1, &attributes, sizeof attributes);
}

static const DynoOpClass first_class = { .name = "first_step",
                                         .traits = { .restorable = TRUE },
                                         DYNO_OP_ATTRIBUTES (steps_attributes),
                                         .backward = backward,
                                         .lower = lower_forward };

static const DynoOpClass last_class = { .name = "last_step",
                                        .traits = { .restorable = TRUE },
                                        DYNO_OP_ATTRIBUTES (steps_attributes),
                                        .backward = backward,
                                        .lower = lower_forward };

static const DynoOpClass mean_class = { .name = "mean_step",
                                        .traits = { .restorable = TRUE },
                                        DYNO_OP_ATTRIBUTES (steps_attributes),
                                        .backward = backward,
                                        .lower = lower_forward };

gboolean
dyno_sequence_check (DynoGraph *graph, const char *name, const DynoTensor *x,
                     const DynoSequence *sequence)
{
  const DynoTensor *lengths = sequence->lengths;
  if (x->h != 1)
    dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                     "%s: (%u, %u, %u, %u) is not a sequence; it takes (N, 1, T, C)", name, x->n,
                     x->h, x->w, x->c);
  else if (lengths
           && (lengths->dtype != DYNO_DTYPE_I32 || lengths->size_bytes != 4 * (guint64) x->n))
    dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                     "%s: lengths (%u, %u, %u, %u) do not fit %u sequences; each has one", name,
                     lengths->n, lengths->h, lengths->w, lengths->c, x->n);
  else
    return TRUE;
  return FALSE;
}

static DynoTensor *
append (DynoGraph *graph, const DynoOpClass *op, DynoTensor *x, const char *name,
        const DynoSequence *sequence)
{
  if (!x || !dyno_sequence_check (graph, name, x, sequence))
    return NULL;
  DynoTensor *y = dyno_graph_activation (graph, name, x->n, 1, 1, x->c);
  if (!y)
    return NULL;
  const Steps attributes = { .mean = op == &mean_class,
                             .first = op == &first_class,
                             /* without lengths it has no effect */
                             .stride = sequence->lengths ? MAX (sequence->stride, 1) : 1 };
  dyno_graph_node (graph, op, name, (DynoTensor *[]){ x, sequence->lengths }, 2, &y, 1, &attributes,
                   sizeof attributes);
  return y;
}

DynoTensor *
dyno_first_step (DynoGraph *graph, DynoTensor *x, const char *name)
{
  return append (graph, &first_class, x, name, &(DynoSequence){ NULL, 0 });
}

DynoTensor *
dyno_last_step (DynoGraph *graph, DynoTensor *x, const char *name, const DynoSequence *sequence)
{
  return append (graph, &last_class, x, name, sequence);
}

DynoTensor *
dyno_mean_step (DynoGraph *graph, DynoTensor *x, const char *name, const DynoSequence *sequence)
{
  return append (graph, &mean_class, x, name, sequence);
}
