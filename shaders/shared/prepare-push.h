/* SPDX-License-Identifier: MIT */
/* Push constants of the preparation of the input. */
#ifndef DYNO_SHARED_PREPARE_PUSH_H
#define DYNO_SHARED_PREPARE_PUSH_H
#include "compat.h"

DYNO_STRUCT (DynoPreparePush) {
  uint64_t raw;
  uint64_t seeds; /* a word per sample */
  uint64_t target;
  uint64_t step_input; /* struct DynoStepInput */
};
DYNO_STRUCT_SIZE (DynoPreparePush, 32)
#endif
