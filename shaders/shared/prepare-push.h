/* SPDX-License-Identifier: MIT */
/* Push constants and specialisation constants of the preparation of the input. */
#ifndef DYNO_SHARED_PREPARE_PUSH_H
#define DYNO_SHARED_PREPARE_PUSH_H
#include "compat.h"

/* constant_id of each: for the kernels that read pixels (apply, grey, mask) */
#define DYNO_PREPARE_COUNT         0 /* apply: 16-byte accesses in x; grey: samples; mask: pixels */
#define DYNO_PREPARE_CVECS         1 /* accesses in a pixel */
#define DYNO_PREPARE_H             2
#define DYNO_PREPARE_W             3
#define DYNO_PREPARE_C             4
#define DYNO_PREPARE_FACTOR0       5 /* factors and offsets of the first four channels */
#define DYNO_PREPARE_FACTOR1       6
#define DYNO_PREPARE_FACTOR2       7
#define DYNO_PREPARE_FACTOR3       8
#define DYNO_PREPARE_OFFSET0       9
#define DYNO_PREPARE_OFFSET1       10
#define DYNO_PREPARE_OFFSET2       11
#define DYNO_PREPARE_OFFSET3       12
#define DYNO_PREPARE_FLIP          13 /* probabilities */
#define DYNO_PREPARE_FLIP_VERTICAL 14
#define DYNO_PREPARE_PAD           15 /* DYNO_PREPARE_PAD_... */
#define DYNO_PREPARE_SPLITS        16 /* sums of greys per sample; 0: the contrast is unchanged */
#define DYNO_PREPARE_SATURATE      17 /* 1: saturation or hue changes */
#define DYNO_PREPARE_NOISE         18 /* standard deviation */

#define DYNO_PREPARE_PAD_ZERO    0 /* the values of DynoPadMode */
#define DYNO_PREPARE_PAD_REFLECT 1
#define DYNO_PREPARE_PAD_WRAP    2

#define DYNO_PREPARE_MASK_OUTSIDE 255 /* DYNO_MASK_IGNORED */

/* constant_id of each: for the kernel that draws the changes */
#define DYNO_PREPARE_DRAW_COUNT         0 /* samples */
#define DYNO_PREPARE_DRAW_H             1
#define DYNO_PREPARE_DRAW_W             2
#define DYNO_PREPARE_DRAW_CROP          3
#define DYNO_PREPARE_DRAW_CROP_RATIO    4
#define DYNO_PREPARE_DRAW_SHIFT_X       5
#define DYNO_PREPARE_DRAW_SHIFT_Y       6
#define DYNO_PREPARE_DRAW_ROTATE        7
#define DYNO_PREPARE_DRAW_FLIP          8
#define DYNO_PREPARE_DRAW_FLIP_VERTICAL 9
#define DYNO_PREPARE_DRAW_BRIGHTNESS    10
#define DYNO_PREPARE_DRAW_CONTRAST      11
#define DYNO_PREPARE_DRAW_SATURATION    12
#define DYNO_PREPARE_DRAW_HUE           13
#define DYNO_PREPARE_DRAW_ERASE         14
#define DYNO_PREPARE_DRAW_TIME_MASK     15

/* The change of a sample, which is drawn once and read for each of its pixels, in accesses of 16
 * bytes. */
struct DynoPrepareChange {
  /* the pixel's place in the raw image: (xx * x + xy * y + x0, yx * x + yy * y + y0), whole numbers
   * at the centres of pixels */
  float xx, xy, x0, yx, yy, y0;
  float left, top, right, bottom; /* the outermost pixels of the crop */
  float brightness, contrast, saturation, hue;
  float erase_left, erase_top, erase_right, erase_bottom; /* right and bottom are exclusive */
  float reserved0, reserved1;
};
#define DYNO_PREPARE_CHANGE_QUADS 5
#ifndef GL_core_profile
_Static_assert (sizeof (struct DynoPrepareChange) == 16 * DYNO_PREPARE_CHANGE_QUADS,
                "a change is read by whole accesses");
#endif

DYNO_STRUCT (DynoPreparePush) {
  uint64_t raw;
  uint64_t seeds; /* a word per sample */
  uint64_t target;
  uint64_t step_input; /* struct DynoStepInput */
  uint64_t changes;    /* struct DynoPrepareChange per sample */
  uint64_t greys;      /* sums of grey after brightness: SPLITS per sample */
};
DYNO_STRUCT_SIZE (DynoPreparePush, 48)
#endif
