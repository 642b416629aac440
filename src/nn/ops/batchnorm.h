/* SPDX-License-Identifier: MIT */
/* Batch norm as the fusion rules see it: its nodes, its attributes and the roles of its tensors.
 * Private to the nn layer.
 *
 * dyno_batch_norm appends, in a training graph,
 *   batch_norm_stats: x -> mean, inverse deviation (F32, (1, 1, 1, cp)), and the update of the
 *   running statistics.  Never computed
 *     again, since the running statistics would move twice; its outputs are a few KiB;
 *   batch_norm: y = relu? ((x - mean) * inverse deviation * weight + bias + residual?).  May be
 *   computed again: all that it
 *     reads is kept or may be computed again too.
 * In an evaluation graph there is the second node alone, and it reads the running mean and
 * variance.
 *
 * A fusion rule changes the batch_norm node in place: it sets inputs[DYNO_BATCH_NORM_RESIDUAL],
 * relu, pool and the outputs, and moves the node to the place of the last node it replaces. */
#pragma once
#include "maxpool.h"

G_BEGIN_DECLS

/* inputs of a batch_norm node; its output 0 is y */
enum {
  DYNO_BATCH_NORM_X,
  DYNO_BATCH_NORM_WEIGHT, /* MASTER, F32 */
  DYNO_BATCH_NORM_BIAS,   /* MASTER, F32 */
  DYNO_BATCH_NORM_MEAN,   /* of the batch; in evaluation running, STATE */
  /* 1 / sqrt (variance + eps) of the batch; in evaluation the running variance itself, STATE */
  DYNO_BATCH_NORM_SPREAD,
  DYNO_BATCH_NORM_RESIDUAL, /* NULL: none */
  DYNO_BATCH_NORM_N_INPUTS
};

/* outputs; the last two only with max pooling and where a backward pass follows */
enum {
  DYNO_BATCH_NORM_Y,
  /* the largest value's place in the window, 255 where the relu stops the gradient; U8, y's
   * shape */
  DYNO_BATCH_NORM_ARGMAX,
  DYNO_BATCH_NORM_WINNERS, /* x at that place: what the backward pass reduces over; y's shape */
  DYNO_BATCH_NORM_N_OUTPUTS
};

typedef struct {
  gboolean relu;
  DynoMaxPoolAttributes pool; /* kernel 0: none; never with a residual */
} DynoBatchNormAttributes;

/* Windows whose kernels there are: their loops are unrolled, and below a stride of 2 there is less
 * to gain than to keep. */
static inline gboolean
dyno_batch_norm_can_pool (const DynoMaxPoolAttributes *pool)
{
  return pool->kernel >= 2 && pool->kernel <= 3 && pool->stride >= 2 && pool->stride <= 3;
}

/* Fusion finds nodes by their op's class name. */
#define DYNO_OP_BATCH_NORM       "batch_norm"
#define DYNO_OP_BATCH_NORM_STATS "batch_norm_stats" /* inputs x, running mean, running variance */
#define DYNO_OP_RELU             "relu"
#define DYNO_OP_ADD              "add"
#define DYNO_OP_CONV2D           "conv2d"

G_END_DECLS
