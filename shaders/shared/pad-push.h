/* SPDX-License-Identifier: MIT */
/* Push constants of the kernel that pads and crops. */
#ifndef DYNO_SHARED_PAD_PUSH_H
#define DYNO_SHARED_PAD_PUSH_H
#include "compat.h"

/* constant_id of each; a negative pad, which crops, is stored modulo 2^32 */
#define DYNO_PAD_COUNT     0 /* 16-byte accesses in the target */
#define DYNO_PAD_CVECS     1 /* accesses in a pixel of the target */
#define DYNO_PAD_H         2 /* this and the next two: size of the target */
#define DYNO_PAD_W         3
#define DYNO_PAD_C         4
#define DYNO_PAD_SOURCE_H  5
#define DYNO_PAD_SOURCE_W  6
#define DYNO_PAD_SOURCE_C  7
#define DYNO_PAD_SOURCE_CP 8 /* elements of a pixel of the source */
#define DYNO_PAD_TOP       9
#define DYNO_PAD_LEFT      10
#define DYNO_PAD_FRONT     11 /* before the channels */
#define DYNO_PAD_VALUE     12 /* a float */

DYNO_STRUCT (DynoPadPush) {
  uint64_t source;
  uint64_t target;
};
DYNO_STRUCT_SIZE (DynoPadPush, 16)
#endif
