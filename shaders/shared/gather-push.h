/* SPDX-License-Identifier: MIT */
/* Push constants of the op that picks the elements of a sample by constant indices. */
#ifndef DYNO_SHARED_GATHER_PUSH_H
#define DYNO_SHARED_GATHER_PUSH_H
#include "compat.h"

/* constant_id of each */
#define DYNO_GATHER_COUNT  0 /* 16-byte accesses in the target; each is LANES elements */
#define DYNO_GATHER_SAMPLE 1 /* accesses in a sample of the target */
#define DYNO_GATHER_FROM   2 /* elements in memory of a sample of the source */

DYNO_STRUCT (DynoGatherPush)
{
  uint64_t source;
  /* gather_copy: the index of each element, or of each access, of a sample of the target;
   * gather_sums: the beginning of each element's list, and the end of the last one */
  uint64_t indices;
  uint64_t lists; /* gather_sums: indices in a sample of the source */
  uint64_t target;
};
DYNO_STRUCT_SIZE (DynoGatherPush, 32)
#endif
