/* SPDX-License-Identifier: MIT */
/* Push constants of the pooling kernels. */
#ifndef DYNO_SHARED_POOL_PUSH_H
#define DYNO_SHARED_POOL_PUSH_H
#include "compat.h"

/* constant_id of each: for max pooling in both directions, and for average pooling */
#define DYNO_MAX_POOL_COUNT           0 /* 16-byte accesses in y; backward: in dx */
#define DYNO_MAX_POOL_CVECS           1 /* accesses in a pixel */
#define DYNO_MAX_POOL_H               2
#define DYNO_MAX_POOL_W               3
#define DYNO_MAX_POOL_OH              4
#define DYNO_MAX_POOL_OW              5
#define DYNO_MAX_POOL_KERNEL_H        6
#define DYNO_MAX_POOL_KERNEL_W        7
#define DYNO_MAX_POOL_STEP_H          8
#define DYNO_MAX_POOL_STEP_W          9
#define DYNO_MAX_POOL_PAD_H           10
#define DYNO_MAX_POOL_PAD_W           11
#define DYNO_AVG_POOL_CVECS           0
#define DYNO_AVG_POOL_PIXELS          1
#define DYNO_AVG_POOL_SAMPLES         2
#define DYNO_AVG_POOL_SPLIT           3 /* pixels that a workgroup adds up */
#define DYNO_AVG_POOL_COUNT           0 /* 16-byte accesses in dx */
#define DYNO_AVG_POOL_BACKWARD_CVECS  1
#define DYNO_AVG_POOL_BACKWARD_PIXELS 2
/* for average pooling by windows, in both directions */
#define DYNO_AVG_WINDOW_COUNT         0 /* 16-byte accesses in y; backward: in dx */
#define DYNO_AVG_WINDOW_CVECS         1
#define DYNO_AVG_WINDOW_H             2
#define DYNO_AVG_WINDOW_W             3
#define DYNO_AVG_WINDOW_OH            4
#define DYNO_AVG_WINDOW_OW            5
#define DYNO_AVG_WINDOW_KERNEL_H      6 /* this and all following: not for adaptive windows */
#define DYNO_AVG_WINDOW_KERNEL_W      7
#define DYNO_AVG_WINDOW_STEP_H        8
#define DYNO_AVG_WINDOW_STEP_W        9
#define DYNO_AVG_WINDOW_PAD_H         10
#define DYNO_AVG_WINDOW_PAD_W         11
#define DYNO_AVG_WINDOW_END_H         12 /* pads at the end */
#define DYNO_AVG_WINDOW_END_W         13
#define DYNO_AVG_WINDOW_EXCLUDE_PAD   14 /* 1: positions in the pad do not count */

/* argmax: one byte per element of y, the place of the largest value in the window, row * KERNEL_W +
 * column. */
DYNO_STRUCT (DynoMaxPoolPush)
{
  uint64_t x;
  uint64_t y;
  uint64_t argmax;
};
DYNO_STRUCT_SIZE (DynoMaxPoolPush, 24)

DYNO_STRUCT (DynoMaxPoolBackwardPush)
{
  uint64_t dy;
  uint64_t argmax;
  uint64_t dx;
};
DYNO_STRUCT_SIZE (DynoMaxPoolBackwardPush, 24)

DYNO_STRUCT (DynoAvgPoolPush)
{
  uint64_t source;
  uint64_t target;
};
DYNO_STRUCT_SIZE (DynoAvgPoolPush, 16)
#endif
