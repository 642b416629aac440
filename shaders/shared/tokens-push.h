/* SPDX-License-Identifier: MIT */
/* Push constants of the op that puts a class token before an image's tokens. */
#ifndef DYNO_SHARED_TOKENS_PUSH_H
#define DYNO_SHARED_TOKENS_PUSH_H
#include "compat.h"

/* constant_id of each */
#define DYNO_TOKENS_COUNT 0 /* 16-byte accesses in the target; tokens_sums: in a sample of dy */
#define DYNO_TOKENS_CVECS 1 /* accesses in a token */
#define DYNO_TOKENS_T     2 /* tokens of y, including the class token */
#define DYNO_TOKENS_N     3 /* samples; only for tokens_sums */

DYNO_STRUCT (DynoTokensPush) {
  uint64_t source;
  uint64_t class_token; /* this and positions are floats; tokens_sums: their gradients */
  uint64_t positions;
  uint64_t target;
};
DYNO_STRUCT_SIZE (DynoTokensPush, 32)
#endif
