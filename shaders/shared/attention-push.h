/* SPDX-License-Identifier: MIT */
/* Push constants of attention. */
#ifndef DYNO_SHARED_ATTENTION_PUSH_H
#define DYNO_SHARED_ATTENTION_PUSH_H
#include "compat.h"

/* constant_id of each */
#define DYNO_ATTENTION_T      0
#define DYNO_ATTENTION_HEADS  1
#define DYNO_ATTENTION_ITEMS  2 /* blocks of rows of all heads of all samples */
#define DYNO_ATTENTION_SCALE  3 /* makes q . k an exponent of 2: log2 (e) / sqrt (HEAD_DIM) */
#define DYNO_ATTENTION_STRIDE 4 /* steps of the lengths' sequence in one token */

DYNO_STRUCT (DynoAttentionPush) {
  uint64_t qkv;
  uint64_t y;
  uint64_t sums;    /* base-2 logarithm of each row's sum of exponentials, [n][head][t] floats */
  uint64_t lengths; /* N int32 */
};
DYNO_STRUCT_SIZE (DynoAttentionPush, 32)

DYNO_STRUCT (DynoAttentionBackwardPush) {
  uint64_t qkv;
  uint64_t y;
  uint64_t dy;
  uint64_t sums;
  uint64_t deltas; /* dy . y of each row of each head, [n][head][t] floats */
  uint64_t dqkv;
  uint64_t lengths;
};
DYNO_STRUCT_SIZE (DynoAttentionBackwardPush, 56)
#endif
