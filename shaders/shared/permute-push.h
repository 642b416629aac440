/* SPDX-License-Identifier: MIT */
/* Push constants of the op that gives the elements of a sample another order. */
#ifndef DYNO_SHARED_PERMUTE_PUSH_H
#define DYNO_SHARED_PERMUTE_PUSH_H
#include "compat.h"

#define DYNO_PERMUTE_MOST_PARTS 8
#define DYNO_PERMUTE_SIDE       32 /* elements along each side of a tile */

/* constant_id of each */
#define DYNO_PERMUTE_COUNT  0 /* 16-byte accesses in the target, or tiles */
#define DYNO_PERMUTE_CVECS  1 /* accesses in a pixel of the target */
#define DYNO_PERMUTE_PIXELS 2 /* pixels in a sample of the target */
#define DYNO_PERMUTE_C      3 /* channels of the target */
#define DYNO_PERMUTE_FROM   4 /* elements in memory of a sample of the source */
#define DYNO_PERMUTE_FROM_C 5 /* channels of the source */
#define DYNO_PERMUTE_FROM_P 6 /* channels of the source in memory, with pads */
/* The extent of part i is constant PARTS + 2 i, its stride PARTS + 2 i + 1; part 0 is outermost. */
#define DYNO_PERMUTE_PARTS 7

DYNO_STRUCT (DynoPermutePush) {
  uint64_t source;
  uint64_t target;
};
DYNO_STRUCT_SIZE (DynoPermutePush, 16)
#endif
