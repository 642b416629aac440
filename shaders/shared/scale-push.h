/* SPDX-License-Identifier: MIT */
/* Push constants of the product of an image and a factor for each of its channels; its forward pass
 * uses the push constants of elementwise-push.h. */
#ifndef DYNO_SHARED_SCALE_PUSH_H
#define DYNO_SHARED_SCALE_PUSH_H
#include "compat.h"

/* constant_id of each: forward, after DYNO_ELEMENTWISE_COUNT; */
#define DYNO_SCALE_FORWARD_CVECS  1 /* accesses in a pixel */
#define DYNO_SCALE_FORWARD_PIXELS 2 /* pixels of an image */
/* backward */
#define DYNO_SCALE_CVECS   0
#define DYNO_SCALE_PIXELS  1
#define DYNO_SCALE_SAMPLES 2
#define DYNO_SCALE_SPLIT   3 /* pixels that a workgroup adds up */

DYNO_STRUCT (DynoScalePush) {
  uint64_t x;
  uint64_t s;
  uint64_t dy;
  uint64_t dx;
  uint64_t ds; /* with DYNO_STORE_ID_PARTS fp32 [split][N][C] */
};
DYNO_STRUCT_SIZE (DynoScalePush, 40)
#endif
