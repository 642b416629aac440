/* SPDX-License-Identifier: MIT */
/* What fusion needs to know of the batch norm node.  Private to the nn floor.
 *
 * Inputs:  [0] x, [1] weight (master, F32), [2] bias (master, F32), [3] residual or NULL, [4] running mean,
 *          [5] running variance (STATE, F32; read in evaluation, updated in training).
 * Outputs: [0] y = relu? (norm (x) * weight + bias + residual?), [1] saved mean, [2] saved inverse deviation
 *          (F32, (1, 1, 1, c), cp padded; NULL in evaluation graphs).
 * A fusion rule changes a forward node in place: it sets inputs[3], relu and outputs[0]. */
#pragma once
#include "graph.h"

G_BEGIN_DECLS

enum {
  DYNO_BATCH_NORM_X,
  DYNO_BATCH_NORM_WEIGHT,
  DYNO_BATCH_NORM_BIAS,
  DYNO_BATCH_NORM_RESIDUAL,
  DYNO_BATCH_NORM_RUNNING_MEAN,
  DYNO_BATCH_NORM_RUNNING_VARIANCE,
  DYNO_BATCH_NORM_N_INPUTS
};

enum { DYNO_BATCH_NORM_Y, DYNO_BATCH_NORM_SAVED_MEAN, DYNO_BATCH_NORM_SAVED_INVERSE_DEVIATION, DYNO_BATCH_NORM_N_OUTPUTS };

typedef struct {
  float eps;
  float momentum; /* of the running statistics: 0.1 */
  gboolean relu;
} DynoBatchNormAttributes;

/* Fusion finds nodes by their op's class name. */
#define DYNO_OP_BATCH_NORM "batch_norm"
#define DYNO_OP_RELU       "relu"
#define DYNO_OP_ADD        "add"

G_END_DECLS
