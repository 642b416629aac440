/* SPDX-License-Identifier: MIT */
/* Push constants of softmax. */
#ifndef DYNO_SHARED_SOFTMAX_PUSH_H
#define DYNO_SHARED_SOFTMAX_PUSH_H
#include "compat.h"

/* constant_id of each */
#define DYNO_SOFTMAX_ROWS  0
#define DYNO_SOFTMAX_CVECS 1 /* 16-byte accesses in a row */
#define DYNO_SOFTMAX_C     2

DYNO_STRUCT (DynoSoftmaxPush)
{
  uint64_t x;
  uint64_t y;
};
DYNO_STRUCT_SIZE (DynoSoftmaxPush, 16)

DYNO_STRUCT (DynoSoftmaxBackwardPush)
{
  uint64_t y;
  uint64_t dy;
  uint64_t dx;
};
DYNO_STRUCT_SIZE (DynoSoftmaxBackwardPush, 24)
#endif
