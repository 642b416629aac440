/* SPDX-License-Identifier: MIT */
/* Push constants and specialisation constants of shaders/conv2d, for C and GLSL. */
#ifndef DYNO_SHARED_CONV2D_H
#define DYNO_SHARED_CONV2D_H
#include "compat.h"

/* constant_id of each; channels include pads.  With LANES the sizes are members of the push
 * constants instead. */
#define DYNO_CONV2D_N          0
#define DYNO_CONV2D_H          1  /* H, W and C are the size of x */
#define DYNO_CONV2D_W          2
#define DYNO_CONV2D_C          3
#define DYNO_CONV2D_OH         4  /* OH, OW and K are the size of y */
#define DYNO_CONV2D_OW         5
#define DYNO_CONV2D_K          6
#define DYNO_CONV2D_KH         7
#define DYNO_CONV2D_KW         8
#define DYNO_CONV2D_STRIDE_H   9
#define DYNO_CONV2D_STRIDE_W   10
#define DYNO_CONV2D_PAD_H      11
#define DYNO_CONV2D_PAD_W      12
#define DYNO_CONV2D_ACCUMULATE 13 /* 1: the target is added to; 0: it is overwritten */
#define DYNO_CONV2D_HAS_BIAS   14 /* forward */
/* length of the K axis that a split sums up, a multiple of the K tile; wgrad: pixels of y
 * (first_wgrad and strip_wgrad: tiles) */
#define DYNO_CONV2D_K_SPLIT    15
/* tiles of the product per z; the grid's x and y may be larger */
#define DYNO_CONV2D_TILES      16
#define DYNO_CONV2D_TILES_N    17 /* tiles along the columns */
/* with GROUPED or DILATED */
#define DYNO_CONV2D_BLOCK_C    18 /* channels of x in a block of groups */
#define DYNO_CONV2D_BLOCK_K    19 /* channels of y in a block of groups */
#define DYNO_CONV2D_GROUP_C    20 /* channels of x in a group */
#define DYNO_CONV2D_GROUP_K    21 /* channels of y in a group */
#define DYNO_CONV2D_DILATION_H 22
#define DYNO_CONV2D_DILATION_W 23
/* dgrad: distance from a tap to the next tap that applies to the same pixel: the stride divided by
 * its greatest common divisor with the dilation */
#define DYNO_CONV2D_TAP_STEP_H 24
#define DYNO_CONV2D_TAP_STEP_W 25
#define DYNO_CONV2D_N_CONSTANTS 26

/* forward, dgrad and wgrad: target = a * b */
DYNO_STRUCT (DynoConv2dPush)
{
  uint64_t a;      /* forward: x; dgrad: dy; wgrad: x */
  uint64_t b;      /* forward and dgrad: weight; wgrad: dy */
  uint64_t target; /* y; dx; the weight's gradient, or fp32 partial sums [split][KH*KW*C][K] */
  uint64_t bias;   /* forward, fp32 [K]; dgrad with BIAS, fp32 [C]; else 0 */
  /* this and the following members are for dgrad with NORM (lib/norm.glsl) and forward with AFFINE
   * (lib/affine.glsl), if no other use is named: the batch norm's x, or with
   * DYNO_AFFINE_ID_RESIDUAL the residual; both have target's shape */
  uint64_t norm_x;
  /* with DYNO_NORM_ID_SLOPE_MASK the mask (lib/mask.glsl); forward and wgrad with LOAD
   * (lib/gemm-load.glsl): the table of the batch norm before x, [4][C] of x's type */
  uint64_t norm_y;
  uint64_t mean;   /* fp32, a value per channel of target, as the next three members */
  uint64_t invstd; /* AFFINE: the variance */
  uint64_t gamma;  /* with NORM: for DYNO_NORM_ID_SLOPE_X */
  uint64_t beta;
  uint64_t added; /* dgrad with ADD_STEP_H */
  /* forward with STATISTICS, fp32 [K]: subtracted from the values that are summed */
  uint64_t pivot;
  uint64_t partials; /* forward with STATISTICS, [groups][2][K]; dgrad with NORM, [groups][2][C] */
};
DYNO_STRUCT_SIZE (DynoConv2dPush, 104)

/* DynoConv2dPush with LANES, without the members for the sums of a batch norm. */
DYNO_STRUCT (DynoConv2dLanesPush)
{
  uint64_t a;
  uint64_t b;
  uint64_t target;
  uint64_t bias;
  uint64_t norm_x;
  uint64_t norm_y;
  uint64_t mean;
  uint64_t invstd;
  uint64_t gamma;
  uint64_t beta;
  uint64_t added;
  /* DYNO_CONV2D_N and so on */
  uint32_t n;
  uint32_t h;
  uint32_t w;
  uint32_t c;
  uint32_t oh;
  uint32_t ow;
  uint32_t k;
  uint32_t k_split;
  uint32_t tiles;
  uint32_t tiles_n;
};
DYNO_STRUCT_SIZE (DynoConv2dLanesPush, 128)

/* bias: partial[g][k] = sum over the rows of group g of dy[row][k] */
DYNO_STRUCT (DynoConv2dBiasPush)
{
  uint64_t dy;
  uint64_t target; /* fp32 [groups][channels]; with one group it may be the gradient itself */
  uint32_t rows;
  uint32_t channels; /* padded */
  uint32_t rows_per_group;
  uint32_t accumulate;
};
DYNO_STRUCT_SIZE (DynoConv2dBiasPush, 32)

/* join: target[i] (+)= bias[i % columns] + sum over s of source[s * count + i]; with AFFINE a
 * batch norm is applied to the result, as in DynoConv2dPush */
DYNO_STRUCT (DynoConv2dJoinPush)
{
  uint64_t source;
  uint64_t target;
  uint64_t bias;  /* 0: none */
  uint32_t count; /* a multiple of 8 */
  uint32_t columns;
  uint32_t n_splits;
  uint32_t accumulate;
  uint64_t norm_x;
  uint64_t mean;
  uint64_t invstd;
  uint64_t gamma;
  uint64_t beta;
  uint64_t added; /* with ADD_STEP_H */
};
DYNO_STRUCT_SIZE (DynoConv2dJoinPush, 88)

/* reduce: target[i] += sum over s of source[s * count + i] */
DYNO_STRUCT (DynoConv2dReducePush)
{
  uint64_t source;
  uint64_t target;
  uint32_t count; /* floats, a multiple of 8 */
  uint32_t n_splits;
};
DYNO_STRUCT_SIZE (DynoConv2dReducePush, 24)

#endif
