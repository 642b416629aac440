/* SPDX-License-Identifier: MIT */
/* Push constants of layer norm. */
#ifndef DYNO_SHARED_LAYERNORM_PUSH_H
#define DYNO_SHARED_LAYERNORM_PUSH_H
#include "compat.h"

/* constant_id of each */
#define DYNO_LAYER_NORM_ROWS    0
#define DYNO_LAYER_NORM_CVECS   1 /* 16-byte accesses in a row */
#define DYNO_LAYER_NORM_C       2
#define DYNO_LAYER_NORM_EPSILON 3
#define DYNO_LAYER_NORM_SPLIT   3 /* for the parameters' gradients: rows of a workgroup */

DYNO_STRUCT (DynoLayerNormPush) {
  uint64_t x;
  uint64_t gamma; /* floats */
  uint64_t beta;
  uint64_t y;
  uint64_t rows; /* (mean, 1 / deviation) of each row */
};
DYNO_STRUCT_SIZE (DynoLayerNormPush, 40)

DYNO_STRUCT (DynoLayerNormBackwardPush) {
  uint64_t x;
  uint64_t dy;
  uint64_t gamma;
  uint64_t rows;
  uint64_t dx;
};
DYNO_STRUCT_SIZE (DynoLayerNormBackwardPush, 40)

DYNO_STRUCT (DynoLayerNormSumsPush) {
  uint64_t x;
  uint64_t dy;
  uint64_t rows;
  uint64_t gamma; /* floats, [group][CVECS * LANES] */
  uint64_t beta;
};
DYNO_STRUCT_SIZE (DynoLayerNormSumsPush, 40)
#endif
