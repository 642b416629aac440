/* SPDX-License-Identifier: MIT */
/* Push constants of the pooling kernels. */
#ifndef DYNO_SHARED_POOL_PUSH_H
#define DYNO_SHARED_POOL_PUSH_H
#include "compat.h"

/* argmax: one byte an element of y: the place in the window, row * KERNEL + column. */
DYNO_STRUCT (DynoMaxPoolPush) {
  uint64_t x;
  uint64_t y;
  uint64_t argmax;
};
DYNO_STRUCT_SIZE (DynoMaxPoolPush, 24)

DYNO_STRUCT (DynoMaxPoolBackwardPush) {
  uint64_t dy;
  uint64_t argmax;
  uint64_t dx;
};
DYNO_STRUCT_SIZE (DynoMaxPoolBackwardPush, 24)

DYNO_STRUCT (DynoAvgPoolPush) {
  uint64_t source;
  uint64_t target;
};
DYNO_STRUCT_SIZE (DynoAvgPoolPush, 16)
#endif
