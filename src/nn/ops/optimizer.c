/* SPDX-License-Identifier: MIT */
/* optimizer: norm and Inf check of all gradients, the decision on the step, and the update, over
 * the flat parameter memory of P elements.
 *     g = gradient / loss scale * min (1, clip_norm / (norm + 1e-6)); norm is the norm of all
 *         gradients / loss scale
 *     g = max (-clip_value, min (g, clip_value)), up to the rounding of a division and a product
 *         (each of these two limits only where it is over 0)
 *     SGD:   g += decay * w; m = momentum * m + g (first step: m = g); w -= lr * m
 *     AdamW: w *= 1 - lr * decay; m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2;
 *            w -= lr * (m / (1 - b1^t)) / (sqrt (v / (1 - b2^t)) + eps)
 *     Adam:  as AdamW, but with g += decay * w instead of the first assignment
 *     RMSprop: g += decay * w; v = b2 v + (1 - b2) g^2; m = momentum * m + g / (sqrt (v) + eps);
 *            w -= lr * m
 *     Lion:  w *= 1 - lr * decay; w -= lr * sign (b1 m + (1 - b1) g); m = b2 m + (1 - b2) g
 * The lr of each parameter is multiplied by its factor (layerrates.h), as in parameter groups; with
 * undecayed_vectors decay is 0 for vectors.
 * With averages, a of each weight and running statistic x, after t updates:
 *     a += (1 - min (decay, (1 + t) / (10 + t))) * (x - a)
 * so that the start values, far from the learned ones, are soon forgotten.
 * A row of optimizers.c describes each optimizer and the moments that it keeps.
 * Input the table of the factors on lr (DynoRateRange[]; NULL: all are 1); outputs master w,
 * gradient, moment1 m (P F32 each), moment2 v (P F32), half (P F16, AMP), states and kept states
 * (batch norm's running statistics), averages, their F16 copy, averages of the states; from moment2
 * on NULL where there are none.  The decision reads nothing back: the scaler's state lies on the
 * device.  The update sets the gradients to zero.  Besides, a step whose gradients hold Inf or NaN
 * changes only the scaler, with AMP or without: weights, moments and the count for the bias
 * corrections stay, and the running statistics, which the forward passes of the step have already
 * moved, return to their values before the step. */
#include "elementwise.h"
#include "layerrates.h"
#include "ops.h"
#include "optimizer-push.h"

enum { RATES, N_INPUTS };

enum {
  MASTER,
  GRADIENT,
  MOMENT1,
  MOMENT2,
  HALF,
  STATES,
  KEPT_STATES,
  AVERAGE,
  AVERAGE_HALF,
  AVERAGE_STATES,
  N_OUTPUTS
};

typedef struct {
  DynoOptimizer optimizer;
  gboolean loss_scaling;
} Optimizer;

static DynoTensor *
lower_norm (DynoLowering *lowering, DynoNode *node, guint32 *groups)
{
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  DynoTensor *gradient = node->outputs[GRADIENT];
  guint64 count = gradient->size_bytes / 16;
  DynoKernelSpec spec = { .shader = "optimizer/optimizer_norm.comp",
                          .push_bytes = sizeof (DynoOptimizerNormPush) };
  spec.local_size[0] = dyno_info_is_software (info) ? 32 : dyno_elementwise_local (info);
  dyno_elementwise_words (&spec, info);
  *groups = MIN (dyno_elementwise_groups (info, count, spec.local_size[0]), 1024);
  dyno_kernel_spec_set (&spec, DYNO_OPTIMIZER_COUNT, (guint32) count);
  DynoTensor *partials =
      dyno_lowering_workspace (lowering, "norms", (guint64) *groups * 2 * sizeof (float));
  DynoDispatch *dispatch = dyno_lowering_dispatch (lowering, node, "norm", &spec, *groups, 1, 1);
  dispatch->flops = 2 * (gradient->size_bytes / 4);
  dispatch->bytes = gradient->size_bytes;
  DYNO_BIND (dispatch, DynoOptimizerNormPush, gradient, gradient, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoOptimizerNormPush, partials, partials, DYNO_ACCESS_WRITE);
  DYNO_BIND (dispatch, DynoOptimizerNormPush, scaler,
             dyno_graph_scaler (dyno_lowering_get_graph (lowering)), DYNO_ACCESS_READ);
  return partials;
}

static void
lower_decide (DynoLowering *lowering, DynoNode *node, DynoTensor *partials, guint32 groups,
              DynoTensor *corrections)
{
  const Optimizer *attributes = node->attributes;
  DynoGraph *graph = dyno_lowering_get_graph (lowering);
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  gboolean software = dyno_info_is_software (info);
  DynoKernelSpec spec = { .shader = "optimizer/optimizer_decide.comp",
                          .push_bytes = sizeof (DynoOptimizerDecidePush) };
  spec.local_size[0] = software ? 8 : dyno_elementwise_local (info);
  if (attributes->loss_scaling)
    dyno_kernel_spec_macro (&spec, "DYNAMIC_SCALE=1");
  if (corrections)
    dyno_kernel_spec_macro (&spec, "CORRECTIONS=1");
  dyno_kernel_spec_set (&spec, DYNO_OPTIMIZER_DECIDE_GROUPS, groups);
  DynoDispatch *dispatch = dyno_lowering_dispatch (lowering, node, "decide", &spec, 1, 1, 1);
  dispatch->flops = groups;
  dispatch->bytes = partials->size_bytes;
  DYNO_BIND (dispatch, DynoOptimizerDecidePush, partials, partials, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoOptimizerDecidePush, step_input, dyno_graph_step_input (graph),
             DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoOptimizerDecidePush, scaler, dyno_graph_scaler (graph),
             DYNO_ACCESS_READ_WRITE);
  DYNO_BIND (dispatch, DynoOptimizerDecidePush, step_output, dyno_graph_step_output (graph),
             DYNO_ACCESS_READ_WRITE);
  if (corrections)
    DYNO_BIND (dispatch, DynoOptimizerDecidePush, corrections, corrections, DYNO_ACCESS_WRITE);
}

static void
spec_optimizer (DynoKernelSpec *spec, const DynoOptimizerInfo *optimizer)
{
  if (optimizer->macro)
    dyno_kernel_spec_macro (spec, "%s=1", optimizer->macro);
  if (optimizer->n_moments > 1)
    dyno_kernel_spec_macro (spec, "MOMENT2=1");
  if (optimizer->has_corrections)
    dyno_kernel_spec_macro (spec, "CORRECTIONS=1");
}

/* Sets the constants for vectors that weight decay leaves out. */
static void
spec_undecayed (DynoKernelSpec *spec, DynoGraph *graph)
{
  guint64 start, end;

  dyno_graph_get_undecayed (graph, &start, &end);
  if (start == end)
    return;
  dyno_kernel_spec_macro (spec, "UNDECAYED=1");
  dyno_kernel_spec_set (spec, DYNO_OPTIMIZER_UNDECAYED_START, (guint32) (start / 8));
  dyno_kernel_spec_set (spec, DYNO_OPTIMIZER_UNDECAYED_END, (guint32) (end / 8));
}

/* Sets the macro and the decay for averages, which the same pass updates. */
static void
spec_average (DynoKernelSpec *spec, DynoGraph *graph, guint id, const DynoTensor *average)
{
  if (!average)
    return;
  dyno_kernel_spec_macro (spec, "AVERAGE=1");
  dyno_kernel_spec_set_float (spec, id, (float) dyno_graph_get_params (graph)->average_decay);
}

static void
lower_update (DynoLowering *lowering, DynoNode *node, DynoTensor *corrections)
{
  const Optimizer *attributes = node->attributes;
  const DynoOptimizerInfo *optimizer = dyno_optimizer_get_info (attributes->optimizer);
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  DynoGraph *graph = dyno_lowering_get_graph (lowering);
  DynoTensor *master = node->outputs[MASTER], *moment2 = node->outputs[MOMENT2],
             *half = node->outputs[HALF];
  guint64 elements = master->size_bytes / 4;
  DynoKernelSpec spec = { .shader = "optimizer/optimizer_update.comp",
                          .push_bytes = sizeof (DynoOptimizerUpdatePush) };
  spec.local_size[0] = dyno_elementwise_local (info);
  spec_optimizer (&spec, optimizer);
  if (half)
    dyno_kernel_spec_macro (&spec, "HALF_COPY=1");
  dyno_kernel_spec_set (&spec, DYNO_OPTIMIZER_COUNT, (guint32) (elements / 8));
  if (node->inputs[RATES])
    dyno_kernel_spec_macro (&spec, "RATES=1");
  spec_undecayed (&spec, graph);
  spec_average (&spec, graph, DYNO_OPTIMIZER_DECAY, node->outputs[AVERAGE]);
  DynoDispatch *dispatch = dyno_lowering_dispatch (
      lowering, node, "update", &spec,
      dyno_elementwise_groups (info, elements / 8, spec.local_size[0]), 1, 1);
  dispatch->flops = elements * optimizer->flops;
  dispatch->bytes = master->size_bytes * ((moment2 ? 8 : 6) + (node->outputs[AVERAGE] ? 2 : 0))
                    + (half ? half->size_bytes * (node->outputs[AVERAGE] ? 2 : 1) : 0);
  DYNO_BIND (dispatch, DynoOptimizerUpdatePush, master, master, DYNO_ACCESS_READ_WRITE);
  if (half)
    DYNO_BIND (dispatch, DynoOptimizerUpdatePush, half_copy, half, DYNO_ACCESS_WRITE);
  DYNO_BIND (dispatch, DynoOptimizerUpdatePush, gradient, node->outputs[GRADIENT],
             DYNO_ACCESS_READ_WRITE);
  DYNO_BIND (dispatch, DynoOptimizerUpdatePush, moment1, node->outputs[MOMENT1],
             DYNO_ACCESS_READ_WRITE);
  if (moment2)
    DYNO_BIND (dispatch, DynoOptimizerUpdatePush, moment2, moment2, DYNO_ACCESS_READ_WRITE);
  DYNO_BIND (dispatch, DynoOptimizerUpdatePush, step_input, dyno_graph_step_input (graph),
             DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoOptimizerUpdatePush, scaler, dyno_graph_scaler (graph),
             DYNO_ACCESS_READ);
  if (corrections)
    DYNO_BIND (dispatch, DynoOptimizerUpdatePush, corrections, corrections, DYNO_ACCESS_READ);
  if (node->inputs[RATES])
    DYNO_BIND (dispatch, DynoOptimizerUpdatePush, rates, node->inputs[RATES], DYNO_ACCESS_READ);
  if (node->outputs[AVERAGE])
    DYNO_BIND (dispatch, DynoOptimizerUpdatePush, average, node->outputs[AVERAGE],
               DYNO_ACCESS_READ_WRITE);
  if (node->outputs[AVERAGE_HALF])
    DYNO_BIND (dispatch, DynoOptimizerUpdatePush, average_half, node->outputs[AVERAGE_HALF],
               DYNO_ACCESS_WRITE);
}

static void
lower_states (DynoLowering *lowering, DynoNode *node)
{
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  DynoTensor *states = node->outputs[STATES], *kept = node->outputs[KEPT_STATES];
  guint64 count = states->size_bytes / 16;
  DynoKernelSpec spec = { .shader = "optimizer/optimizer_states.comp",
                          .push_bytes = sizeof (DynoOptimizerStatesPush) };
  spec.local_size[0] = dyno_elementwise_local (info);
  dyno_kernel_spec_set (&spec, DYNO_OPTIMIZER_COUNT, (guint32) count);
  spec_average (&spec, dyno_lowering_get_graph (lowering), DYNO_OPTIMIZER_DECAY,
                node->outputs[AVERAGE_STATES]);
  DynoDispatch *dispatch =
      dyno_lowering_dispatch (lowering, node, "states", &spec,
                              dyno_elementwise_groups (info, count, spec.local_size[0]), 1, 1);
  dispatch->bytes = 2 * states->size_bytes;
  DYNO_BIND (dispatch, DynoOptimizerStatesPush, states, states, DYNO_ACCESS_READ_WRITE);
  DYNO_BIND (dispatch, DynoOptimizerStatesPush, kept, kept, DYNO_ACCESS_READ_WRITE);
  DYNO_BIND (dispatch, DynoOptimizerStatesPush, scaler,
             dyno_graph_scaler (dyno_lowering_get_graph (lowering)), DYNO_ACCESS_READ);
  if (node->outputs[AVERAGE_STATES])
    DYNO_BIND (dispatch, DynoOptimizerStatesPush, average, node->outputs[AVERAGE_STATES],
               DYNO_ACCESS_READ_WRITE);
}

static void
optimizer_lower (DynoLowering *lowering, DynoNode *node)
{
  const Optimizer *attributes = node->attributes;
  DynoTensor *corrections =
      dyno_optimizer_get_info (attributes->optimizer)->has_corrections
          ? dyno_lowering_workspace (lowering, "corrections", 2 * sizeof (float))
          : NULL;
  guint32 groups;
  DynoTensor *partials = lower_norm (lowering, node, &groups);
  lower_decide (lowering, node, partials, groups, corrections);
  lower_update (lowering, node, corrections);
  if (node->outputs[STATES])
    lower_states (lowering, node);
}

static const DynoAttribute optimizer_attributes[] = { DYNO_ATTRIBUTE (Optimizer, optimizer),
                                                      DYNO_ATTRIBUTE (Optimizer, loss_scaling) };

static const DynoOpClass optimizer_class = { .name = "optimizer",
                                             DYNO_OP_ATTRIBUTES (optimizer_attributes),
                                             .lower = optimizer_lower };

void
dyno_optimizer_update (DynoGraph *graph)
{
  const DynoGraphParams *params = dyno_graph_get_params (graph);
  Optimizer attributes = { params->optimizer, params->precision.loss_scaling };
  DynoTensor *outputs[N_OUTPUTS] = { [MASTER] = dyno_graph_flat (graph, DYNO_SPACE_MASTER),
                                     [GRADIENT] = dyno_graph_flat (graph, DYNO_SPACE_GRADIENT),
                                     [MOMENT1] = dyno_graph_flat (graph, DYNO_SPACE_MOMENT1) };
  if (dyno_optimizer_get_info (params->optimizer)->n_moments > 1)
    outputs[MOMENT2] = dyno_graph_flat (graph, DYNO_SPACE_MOMENT2);
  if (params->precision.storage != DYNO_DTYPE_F32)
    outputs[HALF] = dyno_graph_flat (graph, DYNO_SPACE_HALF);
  dyno_graph_flat_states (graph, &outputs[STATES], &outputs[KEPT_STATES]);
  dyno_graph_flat_averages (graph, &outputs[AVERAGE], &outputs[AVERAGE_HALF],
                            &outputs[AVERAGE_STATES]);
  DynoTensor *inputs[N_INPUTS] = { [RATES] = dyno_graph_make_rates (graph) };
  if (!dyno_graph_check (graph, NULL))
    return;
  dyno_graph_node (graph, &optimizer_class, "optimizer", inputs, N_INPUTS, outputs, N_OUTPUTS,
                   &attributes, sizeof attributes);
}
