/* SPDX-License-Identifier: MIT */
/* The code that the ops lstm and gru share; recurrent.c has their roles. */
#pragma once
#include "graph-private.h"
#include "lowering.h"
#include "op.h"
#include "ops.h"

G_BEGIN_DECLS

/* An op over the steps of a sequence. */
typedef struct {
  const char *title; /* in messages: "an LSTM" */
  const char *forward_shader, *backward_shader;
  guint32 n_gates;
  /* TRUE: there is a cell beside the state, and the gates are a sum of the two products, so that
   * both have the same gradient. */
  gboolean has_cell;
  const DynoOpClass *op, *backward_op;
} DynoRecurrentCell;

/* The attributes of both ops. */
typedef struct {
  guint32 hidden, stride;
  gboolean reverse; /* backward: the direction of the node */
} DynoRecurrent;

#define DYNO_RECURRENT_ATTRIBUTES                                                   \
  {                                                                                 \
    DYNO_ATTRIBUTE (DynoRecurrent, hidden), DYNO_ATTRIBUTE (DynoRecurrent, stride), \
        DYNO_ATTRIBUTE (DynoRecurrent, reverse)                                     \
  }

/* For the classes of the ops. */
void dyno_recurrent_lower (DynoLowering *lowering, DynoNode *node, const DynoRecurrentCell *op);
void dyno_recurrent_lower_backward (DynoLowering *lowering, DynoNode *node,
                                    const DynoRecurrentCell *op);
void dyno_recurrent_append_backward (DynoGraph *graph, const DynoNode *node,
                                     const DynoRecurrentCell *op);
/* FLOPs of the products with the hidden state; the products with x belong to a linear layer. */
guint64 dyno_recurrent_count_flops (const DynoNode *node, const DynoRecurrentCell *op);

/* The layer of a name with the parameters of these names, one set for each direction. */
DynoTensor *dyno_recurrent_layer (DynoGraph *graph, DynoTensor *x, const char *name,
                                  const DynoRecurrentCell *op, const DynoRecurrentParams *params,
                                  const DynoRecurrentNames *names);
/* Layers one after the other, with PyTorch's names. */
DynoTensor *dyno_recurrent_stack (DynoGraph *graph, DynoTensor *x, const char *name,
                                  const DynoRecurrentCell *op, const DynoRecurrentParams *params);

G_END_DECLS
