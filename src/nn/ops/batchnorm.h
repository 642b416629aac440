/* SPDX-License-Identifier: MIT */
/* Batch norm as the fusion rules see it: its nodes, its attributes and the roles of its tensors.  Private to the nn floor.
 *
 * dyno_batch_norm appends, in a training graph,
 *   batch_norm_stats: x -> mean, inverse deviation (F32, (1, 1, 1, cp)), and the update of the running statistics.  Never computed
 *     again, since the running statistics would move twice; its outputs are a few KiB;
 *   batch_norm: y = relu? ((x - mean) * inverse deviation * weight + bias + residual?).  May be computed again: all that it
 *     reads is kept or may be computed again too.
 * In an evaluation graph there is the second node alone, and it reads the running mean and variance.
 *
 * A fusion rule changes the batch_norm node in place: it sets inputs[DYNO_BATCH_NORM_RESIDUAL], relu and outputs[0], and moves the
 * node to the place of the last node it replaces. */
#pragma once
#include "graph.h"

G_BEGIN_DECLS

/* inputs of a batch_norm node; its output 0 is y */
enum {
  DYNO_BATCH_NORM_X,
  DYNO_BATCH_NORM_WEIGHT,   /* MASTER, F32 */
  DYNO_BATCH_NORM_BIAS,     /* MASTER, F32 */
  DYNO_BATCH_NORM_MEAN,     /* of the batch; in evaluation running, STATE */
  DYNO_BATCH_NORM_SPREAD,   /* 1 / sqrt (variance + eps) of the batch; in evaluation the running variance itself, STATE */
  DYNO_BATCH_NORM_RESIDUAL, /* NULL: none */
  DYNO_BATCH_NORM_N_INPUTS
};

typedef struct {
  gboolean relu;
} DynoBatchNormAttributes;

/* Fusion finds nodes by their op's class name. */
#define DYNO_OP_BATCH_NORM "batch_norm"
#define DYNO_OP_RELU       "relu"
#define DYNO_OP_ADD        "add"

G_END_DECLS
