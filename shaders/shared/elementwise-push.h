/* SPDX-License-Identifier: MIT */
/* Push constants of the ops that go over elements, such as activations, add, affine and dropout. */
#ifndef DYNO_SHARED_ELEMENTWISE_PUSH_H
#define DYNO_SHARED_ELEMENTWISE_PUSH_H
#include "compat.h"

/* constant_id of each; each constant after the first belongs to one op */
#define DYNO_ELEMENTWISE_COUNT  0 /* 16-byte accesses in a tensor */
#define DYNO_ACTIVATION_CVECS   1 /* with PADDED: accesses in a pixel */
#define DYNO_ACTIVATION_C       2
#define DYNO_CHANNELWISE_CVECS  1 /* accesses in a pixel */
#define DYNO_AFFINE_FACTOR      1 /* the bits of a float */
#define DYNO_AFFINE_OFFSET      2
#define DYNO_AFFINE_CVECS       3 /* with PADDED: accesses in a pixel */
#define DYNO_AFFINE_C           4
#define DYNO_DROPOUT_STREAM     1
#define DYNO_DROPOUT_THRESHOLD  2
#define DYNO_DROPOUT_KEEP_SCALE 3
#define DYNO_DROPOUT_SAMPLE     4 /* with BY_SAMPLE: accesses in a sample */

DYNO_STRUCT (DynoElementwisePush) {
  uint64_t a;
  uint64_t b;
  uint64_t target;
  uint64_t step_input; /* struct DynoStepInput; only dropout reads it */
};
DYNO_STRUCT_SIZE (DynoElementwisePush, 32)
#endif
