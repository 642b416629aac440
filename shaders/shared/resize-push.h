/* SPDX-License-Identifier: MIT */
/* Push constants of the kernels that resize images. */
#ifndef DYNO_SHARED_RESIZE_PUSH_H
#define DYNO_SHARED_RESIZE_PUSH_H
#include "compat.h"

/* constant_id of each; steps, biases and units of the positions are explained in places.glsl */
#define DYNO_RESIZE_COUNT  0 /* 16-byte accesses in the target */
#define DYNO_RESIZE_CVECS  1 /* accesses in a pixel */
#define DYNO_RESIZE_H      2 /* H and W are the size of x */
#define DYNO_RESIZE_W      3
#define DYNO_RESIZE_OH     4 /* OH and OW are the size of y */
#define DYNO_RESIZE_OW     5
#define DYNO_RESIZE_STEP_H 6
#define DYNO_RESIZE_BIAS_H 7
#define DYNO_RESIZE_UNIT_H 8
#define DYNO_RESIZE_STEP_W 9
#define DYNO_RESIZE_BIAS_W 10
#define DYNO_RESIZE_UNIT_W 11

DYNO_STRUCT (DynoResizePush) {
  uint64_t source;
  uint64_t target;
};
DYNO_STRUCT_SIZE (DynoResizePush, 16)
#endif
