/* SPDX-License-Identifier: MIT */
/* Push constants and specialisation constants of shaders/depthwise, for C and GLSL.
 * x is (N, H, W, C), y is (N, OH, OW, C), the weight [KH][KW][C], C padded to 8.  Macros: TAPS_H
 * and TAPS_W, the kernel's sides, STEP_H and STEP_W, its stride; forward: BAND and STRIP, rows and
 * columns of y in a piece of work; wgrad: the same for dy, and TAP_ROWS, the rows of taps whose
 * sums an invocation holds.  The forward kernel also makes dgrad where the stride is 1: x is then
 * dy and y is dx. */
#ifndef DYNO_SHARED_DEPTHWISE_H
#define DYNO_SHARED_DEPTHWISE_H
#include "compat.h"

/* constant_id of each */
#define DYNO_DEPTHWISE_PIECES      0 /* pieces of work */
#define DYNO_DEPTHWISE_PER_GROUP   1 /* pieces per workgroup */
#define DYNO_DEPTHWISE_CVECS       2 /* groups of 4 channels */
#define DYNO_DEPTHWISE_H           3
#define DYNO_DEPTHWISE_W           4
#define DYNO_DEPTHWISE_OH          5
#define DYNO_DEPTHWISE_OW          6
#define DYNO_DEPTHWISE_PAD_H       7
#define DYNO_DEPTHWISE_PAD_W       8
#define DYNO_DEPTHWISE_N_CONSTANTS 9

DYNO_STRUCT (DynoDepthwisePush)
{
  uint64_t a;        /* forward: x; dgrad: dy; wgrad: x */
  uint64_t b;        /* forward and dgrad: weight; wgrad: dy */
  uint64_t target;   /* y; dx; wgrad: fp32 partial sums [group][KH][KW][C] */
  uint64_t bias;     /* forward with BIAS, fp32 [C] */
  uint64_t pivot;    /* forward with STATISTICS, fp32 [C] */
  uint64_t partials; /* with STATISTICS or NORM, fp32 [groups][2][C] */
  /* dgrad with NORM (lib/norm.glsl): the batch norm's x, of target's shape */
  uint64_t norm_x;
  uint64_t mean;     /* this and the following members are fp32 [C]: dgrad with NORM, forward with
                      * AFFINE (lib/affine.glsl), forward and wgrad with LOAD (load.glsl) */
  uint64_t invstd;   /* AFFINE: the variance */
  uint64_t gamma;    /* with NORM: only for DYNO_NORM_ID_SLOPE_X */
  uint64_t beta;
};
DYNO_STRUCT_SIZE (DynoDepthwisePush, 88)

#endif
