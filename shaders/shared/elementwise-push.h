/* SPDX-License-Identifier: MIT */
/* Push constants of the ops that go over elements: relu, add, dropout. */
#ifndef DYNO_SHARED_ELEMENTWISE_PUSH_H
#define DYNO_SHARED_ELEMENTWISE_PUSH_H
#include "compat.h"

/* Constant 0 of these kernels is the number of 16-byte accesses in a tensor. */
DYNO_STRUCT (DynoElementwisePush) {
  uint64_t a;
  uint64_t b;
  uint64_t target;
  uint64_t step_input; /* struct DynoStepInput; dropout alone reads it */
};
DYNO_STRUCT_SIZE (DynoElementwisePush, 32)
#endif
