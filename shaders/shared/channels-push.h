/* SPDX-License-Identifier: MIT */
/* Push constants of the kernel that copies runs of channels; the kernel that shuffles channels uses
 * those of elementwise-push.h. */
#ifndef DYNO_SHARED_CHANNELS_PUSH_H
#define DYNO_SHARED_CHANNELS_PUSH_H
#include "compat.h"

/* the most channels of an access, each of which may be in another run */
#define DYNO_CHANNELS_MOST_RUNS 8

/* constant_id of each; a kernel writes only the target's accesses in the range */
#define DYNO_CHANNELS_COUNT  0 /* accesses that are written */
#define DYNO_CHANNELS_FIRST  1 /* first access of a pixel in the range */
#define DYNO_CHANNELS_RANGE  2 /* accesses of a pixel in the range */
#define DYNO_CHANNELS_CVECS  3 /* accesses of a pixel */
#define DYNO_CHANNELS_START  4 /* first channel of the target in run 0 */
#define DYNO_CHANNELS_OFFSET 5 /* the channel of source 0 that is copied to START */
#define DYNO_CHANNELS_PITCH  6 /* channels of a pixel of source 0 in memory */
#define DYNO_CHANNELS_END_0  7 /* END_i: first channel of the target after run i */
#define DYNO_CHANNELS_END_1  8
#define DYNO_CHANNELS_END_2  9
#define DYNO_CHANNELS_END_3  10
#define DYNO_CHANNELS_END_4  11
#define DYNO_CHANNELS_END_5  12
#define DYNO_CHANNELS_END_6  13
#define DYNO_CHANNELS_END_7  14
/* constants of a shuffle, after DYNO_ELEMENTWISE_COUNT */
#define DYNO_SHUFFLE_CVECS  1
#define DYNO_SHUFFLE_C      2
#define DYNO_SHUFFLE_GROUPS 3

DYNO_STRUCT (DynoChannelsPush) {
  uint64_t target;
  uint64_t sources[DYNO_CHANNELS_MOST_RUNS];
};
DYNO_STRUCT_SIZE (DynoChannelsPush, 72)
#endif
