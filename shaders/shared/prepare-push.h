/* SPDX-License-Identifier: MIT */
/* Push constants and specialisation constants of the preparation of the input. */
#ifndef DYNO_SHARED_PREPARE_PUSH_H
#define DYNO_SHARED_PREPARE_PUSH_H
#include "compat.h"

/* constant_id of each */
#define DYNO_PREPARE_COUNT            0 /* 16-byte accesses in x */
#define DYNO_PREPARE_CVECS            1 /* of a pixel */
#define DYNO_PREPARE_H                2
#define DYNO_PREPARE_W                3
#define DYNO_PREPARE_C                4
#define DYNO_PREPARE_FACTOR0          5 /* of four channels */
#define DYNO_PREPARE_FACTOR1          6
#define DYNO_PREPARE_FACTOR2          7
#define DYNO_PREPARE_FACTOR3          8
#define DYNO_PREPARE_OFFSET0          9
#define DYNO_PREPARE_OFFSET1          10
#define DYNO_PREPARE_OFFSET2          11
#define DYNO_PREPARE_OFFSET3          12
#define DYNO_PREPARE_FLIP_PROBABILITY 13
#define DYNO_PREPARE_MOST_BRIGHTNESS  14

DYNO_STRUCT (DynoPreparePush) {
  uint64_t raw;
  uint64_t seeds; /* a word per sample */
  uint64_t target;
  uint64_t step_input; /* struct DynoStepInput */
};
DYNO_STRUCT_SIZE (DynoPreparePush, 32)
#endif
