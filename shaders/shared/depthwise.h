/* SPDX-License-Identifier: MIT */
/* Push constants and specialisation constants of shaders/depthwise, one source for C and GLSL.
 * x is (N, H, W, C), y is (N, OH, OW, C), the weight [KH][KW][C], C padded to 8.  Macros: TAPS_H
 * and TAPS_W, the kernel's sides; forward: STRIP, columns of y that an invocation makes. */
#ifndef DYNO_SHARED_DEPTHWISE_H
#define DYNO_SHARED_DEPTHWISE_H
#include "compat.h"

/* constant_id of each */
#define DYNO_DEPTHWISE_COUNT          0 /* forward and dgrad: pieces of work, one an invocation */
#define DYNO_DEPTHWISE_CVECS          1 /* groups of 8 channels */
#define DYNO_DEPTHWISE_H              2
#define DYNO_DEPTHWISE_W              3
#define DYNO_DEPTHWISE_OH             4
#define DYNO_DEPTHWISE_OW             5
#define DYNO_DEPTHWISE_STRIDE_H       6
#define DYNO_DEPTHWISE_STRIDE_W       7
#define DYNO_DEPTHWISE_PAD_H          8
#define DYNO_DEPTHWISE_PAD_W          9
#define DYNO_DEPTHWISE_ROWS           10 /* wgrad: N * OH * OW */
#define DYNO_DEPTHWISE_ROWS_PER_GROUP 11 /* wgrad: of them, what a workgroup adds up */
#define DYNO_DEPTHWISE_N_CONSTANTS    12

DYNO_STRUCT (DynoDepthwisePush)
{
  uint64_t a;      /* forward: x; dgrad: dy; wgrad: x */
  uint64_t b;      /* forward and dgrad: weight; wgrad: dy */
  uint64_t target; /* y; dx; wgrad: fp32 partial sums [group][KH][KW][C] */
  uint64_t bias;   /* forward with BIAS, fp32 [C] */
};
DYNO_STRUCT_SIZE (DynoDepthwisePush, 32)

#endif
