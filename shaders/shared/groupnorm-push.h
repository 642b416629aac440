/* SPDX-License-Identifier: MIT */
/* Push constants of group norm. */
#ifndef DYNO_SHARED_GROUPNORM_PUSH_H
#define DYNO_SHARED_GROUPNORM_PUSH_H
#include "compat.h"

/* constant_id of each */
#define DYNO_GROUP_NORM_UNITS    0 /* groups of all samples */
#define DYNO_GROUP_NORM_GROUPS   1 /* groups of a sample */
#define DYNO_GROUP_NORM_CHANNELS 2 /* channels of a group */
#define DYNO_GROUP_NORM_PIXELS   3 /* pixels of a sample */
#define DYNO_GROUP_NORM_CVECS    4 /* 16-byte accesses in a pixel */
#define DYNO_GROUP_NORM_EPSILON  5

DYNO_STRUCT (DynoGroupNormPush) {
  uint64_t x;    /* backward: the normalised values, which forward wrote */
  uint64_t dy;   /* backward only */
  uint64_t rows; /* (mean, 1 / deviation) of each group of each sample */
  uint64_t sums; /* backward only: means of (dy, dy xhat) of each group of each sample */
  uint64_t y;    /* backward: dx */
};
DYNO_STRUCT_SIZE (DynoGroupNormPush, 40)
#endif
