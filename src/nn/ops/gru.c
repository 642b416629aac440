/* SPDX-License-Identifier: MIT */
/* gru, PyTorch's nn.GRU, with the gates r, z, n, in fp32 but for the state h, which is rounded to
 * storage:
 *     gates[n][t] = W_ih x[n][t] + b_ih
 *     (r, z) = sigmoid (gates_rz[n][t] + W_hh h + b_hh);   q = W_hn h + b_hn
 *     n = tanh (gates_n[n][t] + r q);   y[n][t] = h = (1 - z) n + z h
 * The reset gate r is applied after the product, ONNX's linear_before_reset, so that one product
 * makes all gates.  A step keeps r, z, n and q.  Roles: see recurrent.c. */
#include "recurrent-private.h"

static const DynoRecurrentCell cell;

static void
lower_backward (DynoLowering *lowering, DynoNode *node)
{
  dyno_recurrent_lower_backward (lowering, node, &cell);
}

static void
lower_forward (DynoLowering *lowering, DynoNode *node)
{
  dyno_recurrent_lower (lowering, node, &cell);
}

static void
backward (DynoGraph *graph, DynoNode *node)
{
  dyno_recurrent_append_backward (graph, node, &cell);
}

static guint64
flops (const DynoNode *node)
{
  return dyno_recurrent_count_flops (node, &cell);
}

static const DynoAttribute gru_attributes[] = DYNO_RECURRENT_ATTRIBUTES;

static const DynoOpClass backward_class = { .name = "gru_backward",
                                            DYNO_OP_ATTRIBUTES (gru_attributes),
                                            .lower = lower_backward };

static const DynoOpClass gru_class = { .name = "gru",
                                       DYNO_OP_ATTRIBUTES (gru_attributes),
                                       .backward = backward,
                                       .lower = lower_forward,
                                       .flops = flops };

static const DynoRecurrentCell cell = { .title = "a GRU",
                                        .forward_shader = "gru/gru_forward.comp",
                                        .backward_shader = "gru/gru_backward.comp",
                                        .n_gates = 3,
                                        .has_cell = FALSE,
                                        .op = &gru_class,
                                        .backward_op = &backward_class };

DynoTensor *
dyno_gru (DynoGraph *graph, DynoTensor *x, const char *name, const DynoRecurrentParams *params)
{
  return dyno_recurrent_stack (graph, x, name, &cell, params);
}

DynoTensor *
dyno_gru_layer (DynoGraph *graph, DynoTensor *x, const char *name,
                const DynoRecurrentParams *params, const DynoRecurrentNames *names)
{
  return dyno_recurrent_layer (graph, x, name, &cell, params, names);
}
