/* SPDX-License-Identifier: MIT */
/* Push constants of the ops that reduce a sequence to one step, and of the op that reads an image's
 * rows as steps. */
#ifndef DYNO_SHARED_STEPS_PUSH_H
#define DYNO_SHARED_STEPS_PUSH_H
#include "compat.h"

/* constant_id of each: for the reduction of a sequence to one step, */
#define DYNO_STEPS_COUNT  0 /* 16-byte accesses in y; backward: in dx */
#define DYNO_STEPS_CVECS  1 /* accesses in a step */
#define DYNO_STEPS_T      2
#define DYNO_STEPS_STRIDE 3 /* steps of the lengths' sequence in one step of x */
/* and for the rows of an image. */
#define DYNO_ROWS_COUNT 0 /* 16-byte accesses in the target */
#define DYNO_ROWS_CVECS 1 /* accesses in a pixel of the target */
#define DYNO_ROWS_W     2
#define DYNO_ROWS_C     3
#define DYNO_ROWS_CP    4 /* elements of a pixel of the image */
#define DYNO_ROWS_YP    5 /* elements of a step of the sequence */

DYNO_STRUCT (DynoStepsPush) {
  uint64_t source;
  uint64_t target;
  uint64_t lengths; /* N int32 */
};
DYNO_STRUCT_SIZE (DynoStepsPush, 24)

DYNO_STRUCT (DynoRowsPush) {
  uint64_t source;
  uint64_t target;
};
DYNO_STRUCT_SIZE (DynoRowsPush, 16)
#endif
