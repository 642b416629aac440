/* SPDX-License-Identifier: MIT */
/* Push constants of the batch norm kernels.  ROWS is N * H * W, CVECS the 16-byte accesses of a
 * pixel.  Partials are [group][2][cp] floats: (mean, M2) in the forward pass (or sums, see SUMS in
 * batchnorm_finish.comp), (sum dy, sum dy * xhat) in the backward pass. */
#ifndef DYNO_SHARED_BATCHNORM_PUSH_H
#define DYNO_SHARED_BATCHNORM_PUSH_H
#include "compat.h"

/* epsilon of a convolution that applies a batch norm (affine.glsl), unless a macro sets another */
#define DYNO_BATCH_NORM_EPSILON 1e-5f

/* constant_id of each: for the two kernels that reduce over rows; */
#define DYNO_BATCH_NORM_REDUCE_ROWS           0
#define DYNO_BATCH_NORM_REDUCE_CVECS          1
#define DYNO_BATCH_NORM_REDUCE_ROWS_PER_GROUP 2
/* for the two kernels that finish the reductions, the last three only for the forward pass; */
#define DYNO_BATCH_NORM_COLLECT_ROWS           0
#define DYNO_BATCH_NORM_COLLECT_CHANNELS       1 /* channels in memory */
#define DYNO_BATCH_NORM_COLLECT_ROWS_PER_GROUP 2
#define DYNO_BATCH_NORM_COLLECT_GROUPS         3
#define DYNO_BATCH_NORM_FINISH_EPSILON         4
#define DYNO_BATCH_NORM_FINISH_MOMENTUM        5
#define DYNO_BATCH_NORM_FINISH_UNBIASED        6 /* ROWS / (ROWS - 1) */
/* for the kernel that joins groups of sums; */
#define DYNO_BATCH_NORM_JOIN_GROUPS  0
#define DYNO_BATCH_NORM_JOIN_VECTORS 1 /* vectors of four floats in a group */
#define DYNO_BATCH_NORM_JOIN_EACH    2 /* groups that are joined into one */
/* for the applying kernels (EPSILON only with VARIANCE), where COUNT is the number of accesses in
 * the tensor, with max pooling strips x CVECS, with MASK groups of four rows x CVECS; */
#define DYNO_BATCH_NORM_APPLY_COUNT   0
#define DYNO_BATCH_NORM_APPLY_CVECS   1
#define DYNO_BATCH_NORM_APPLY_STRIDE  2 /* number of invocations, a multiple of CVECS */
#define DYNO_BATCH_NORM_APPLY_EPSILON 3
#define DYNO_BATCH_NORM_APPLY_ROWS    4 /* with MASK, forward */
/* and for max pooling, after COUNT, CVECS and STRIDE: the sizes of x and of the pooled y. */
#define DYNO_BATCH_NORM_POOL_H       3
#define DYNO_BATCH_NORM_POOL_W       4
#define DYNO_BATCH_NORM_POOL_OH      5
#define DYNO_BATCH_NORM_POOL_OW      6
#define DYNO_BATCH_NORM_POOL_EPSILON 7 /* forward */

DYNO_STRUCT (DynoBatchNormStatisticsPush) {
  uint64_t x;
  uint64_t partials;
};
DYNO_STRUCT_SIZE (DynoBatchNormStatisticsPush, 16)

DYNO_STRUCT (DynoBatchNormFinishPush) {
  uint64_t partials;
  uint64_t mean;
  uint64_t invstd;
  uint64_t running_mean;
  uint64_t running_variance;
  uint64_t gamma; /* this and the following members: with TABLE */
  uint64_t beta;
  uint64_t table; /* [4][cp] of x's type, see lib/gemm-load.glsl */
};
DYNO_STRUCT_SIZE (DynoBatchNormFinishPush, 64)

DYNO_STRUCT (DynoBatchNormJoinPush) {
  uint64_t partials;
  uint64_t joined;
};
DYNO_STRUCT_SIZE (DynoBatchNormJoinPush, 16)

/* The tensor that is added to y: x, or with DYNO_ADDED_ID_NORM the batch norm of x with the other
 * members. */
DYNO_STRUCT (DynoBatchNormAdded) {
  uint64_t x;
  uint64_t gamma;
  uint64_t beta;
  uint64_t mean;
  uint64_t invstd;
};
DYNO_STRUCT_SIZE (DynoBatchNormAdded, 40)

DYNO_STRUCT (DynoBatchNormApplyPush) {
  uint64_t x;
  uint64_t gamma;
  uint64_t beta;
  uint64_t mean;
  uint64_t spread;
  uint64_t y;
  uint64_t mask; /* lib/mask.glsl; the structs below have the same member */
  DynoBatchNormAdded added;
};
DYNO_STRUCT_SIZE (DynoBatchNormApplyPush, 96)

DYNO_STRUCT (DynoBatchNormReducePush) {
  uint64_t x;
  uint64_t gamma;
  uint64_t beta;
  uint64_t mean;
  uint64_t invstd;
  uint64_t y;
  uint64_t dy;
  uint64_t partials;
  uint64_t mask;
  DynoBatchNormAdded added;
};
DYNO_STRUCT_SIZE (DynoBatchNormReducePush, 112)

DYNO_STRUCT (DynoBatchNormCollectPush) {
  uint64_t partials;
  uint64_t sums; /* [2][cp]: mean of dy, mean of dy * xhat */
  uint64_t dgamma;
  uint64_t dbeta;
};
DYNO_STRUCT_SIZE (DynoBatchNormCollectPush, 32)

DYNO_STRUCT (DynoBatchNormGradientPush) {
  uint64_t x;
  uint64_t gamma;
  uint64_t beta;
  uint64_t mean;
  uint64_t invstd;
  uint64_t y;
  uint64_t dy;
  uint64_t sums;
  uint64_t dx;
  uint64_t dresidual;
  uint64_t mask;
  DynoBatchNormAdded added;
};
DYNO_STRUCT_SIZE (DynoBatchNormGradientPush, 128)

/* One of two batch norms whose outputs were added. */
DYNO_STRUCT (DynoBatchNormOne) {
  uint64_t x;
  uint64_t gamma;
  uint64_t beta;
  uint64_t mean;
  uint64_t invstd;
  uint64_t sums;
  uint64_t dx;
};
DYNO_STRUCT_SIZE (DynoBatchNormOne, 56)

DYNO_STRUCT (DynoBatchNormPairPush) {
  DynoBatchNormOne a;
  DynoBatchNormOne b;
  uint64_t dy;
  uint64_t y;
};
DYNO_STRUCT_SIZE (DynoBatchNormPairPush, 128)

/* With max pooling in one pass: macros WINDOW, STEP, PAD.  winners and argmax have y's shape: the
 * x at which the window has its largest value, and the byte of its place, row * WINDOW + column. */
DYNO_STRUCT (DynoBatchNormPoolPush) {
  uint64_t x;
  uint64_t gamma;
  uint64_t beta;
  uint64_t mean;
  uint64_t spread;
  uint64_t y;
  uint64_t argmax;
  uint64_t winners;
};
DYNO_STRUCT_SIZE (DynoBatchNormPoolPush, 64)

DYNO_STRUCT (DynoBatchNormUnpoolPush) {
  uint64_t x;
  uint64_t gamma;
  uint64_t mean;
  uint64_t invstd;
  uint64_t dy;
  uint64_t argmax;
  uint64_t sums;
  uint64_t dx;
};
DYNO_STRUCT_SIZE (DynoBatchNormUnpoolPush, 64)
#endif
