/* SPDX-License-Identifier: MIT */
/* Push constants of the op that gives the elements of a sample another order. */
#ifndef DYNO_SHARED_PERMUTE_PUSH_H
#define DYNO_SHARED_PERMUTE_PUSH_H
#include "compat.h"

#define DYNO_PERMUTE_MOST_PARTS 8
#define DYNO_PERMUTE_SIDE       32 /* of a tile */

/* constant_id of each */
#define DYNO_PERMUTE_COUNT  0 /* 16-byte accesses in the target, or tiles */
#define DYNO_PERMUTE_CVECS  1 /* of a pixel of the target */
#define DYNO_PERMUTE_PIXELS 2 /* of a sample of the target */
#define DYNO_PERMUTE_C      3 /* channels of the target */
#define DYNO_PERMUTE_FROM   4 /* elements in memory of a sample of the source */
#define DYNO_PERMUTE_FROM_C 5 /* channels of the source, and those in memory */
#define DYNO_PERMUTE_FROM_P 6
/* extent and stride of part i, outermost first: + 2 i and + 2 i + 1 */
#define DYNO_PERMUTE_PARTS 7

DYNO_STRUCT (DynoPermutePush) {
  uint64_t source;
  uint64_t target;
};
DYNO_STRUCT_SIZE (DynoPermutePush, 16)
#endif
