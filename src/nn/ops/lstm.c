/* SPDX-License-Identifier: MIT */
/* lstm, with the gates i, f, g, o, in fp32 but for the state h, which is rounded to storage:
 *     gates[n][t] = W_ih x[n][t] + b_ih
 *     (i, f, g, o) = gates[n][t] + W_hh h + b_hh
 *     c = sigmoid (f) c + sigmoid (i) tanh (g);   y[n][t] = h = sigmoid (o) tanh (c)
 * A step keeps the gates after their functions, and c.  Roles: see recurrent.c. */
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

static const DynoAttribute lstm_attributes[] = DYNO_RECURRENT_ATTRIBUTES;

static const DynoOpClass backward_class = { .name = "lstm_backward",
                                            DYNO_OP_ATTRIBUTES (lstm_attributes),
                                            .lower = lower_backward };

static const DynoOpClass lstm_class = { .name = "lstm",
                                        DYNO_OP_ATTRIBUTES (lstm_attributes),
                                        .backward = backward,
                                        .lower = lower_forward,
                                        .flops = flops };

static const DynoRecurrentCell cell = { .title = "an LSTM",
                                        .forward_shader = "lstm/lstm_forward.comp",
                                        .backward_shader = "lstm/lstm_backward.comp",
                                        .n_gates = 4,
                                        .has_cell = TRUE,
                                        .op = &lstm_class,
                                        .backward_op = &backward_class };

DynoTensor *
dyno_lstm (DynoGraph *graph, DynoTensor *x, const char *name, const DynoRecurrentParams *params)
{
  return dyno_recurrent_stack (graph, x, name, &cell, params);
}

DynoTensor *
dyno_lstm_layer (DynoGraph *graph, DynoTensor *x, const char *name,
                 const DynoRecurrentParams *params, const DynoRecurrentNames *names)
{
  return dyno_recurrent_layer (graph, x, name, &cell, params, names);
}
