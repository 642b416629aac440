/* SPDX-License-Identifier: MIT */
/* Push constants of the losses.  A row's results are floats: its loss, then its metrics in the
 * order that the op declares them, then zeros up to a multiple of four. */
#ifndef DYNO_SHARED_LOSS_PUSH_H
#define DYNO_SHARED_LOSS_PUSH_H
#include "compat.h"

/* constant_id of each: for the kernels over rows (for weight_norm only ROWS and C), and for
 * loss_sum */
#define DYNO_LOSS_ROWS        0
#define DYNO_LOSS_CVECS       1 /* 16-byte accesses in a row */
#define DYNO_LOSS_C           2
#define DYNO_LOSS_SMOOTHING   3 /* cross entropy, BCE */
#define DYNO_LOSS_PARTS       4 /* pixel_rows: sums of weights; dice_table: dice_sums' workgroups */
#define DYNO_LOSS_FOCAL       5 /* exponent of the focal loss */
#define DYNO_LOSS_DICE        6 /* share of the Dice loss */
#define DYNO_LOSS_SUM_ROWS    0
#define DYNO_LOSS_SUM_METRICS 1

/* constant_id of each: for flip_targets */
#define DYNO_FLIP_TARGETS_COUNT      0 /* values */
#define DYNO_FLIP_TARGETS_PER_SAMPLE 1
#define DYNO_FLIP_TARGETS_C          2
#define DYNO_FLIP_TARGETS_NEGATED    3 /* bit c: channel c is negated */
#define DYNO_FLIP_TARGETS_FLIP       4 /* probability */

DYNO_STRUCT (DynoLossRowsPush) {
  uint64_t logits;
  uint64_t targets;
  uint64_t gradient;
  uint64_t rows;
  uint64_t step_input; /* struct DynoStepInput */
  uint64_t scaler;     /* struct DynoScalerState */
  /* mse_rows with STANDARD: (mean, deviation) of the targets, C floats each; crossentropy_rows with
   * WEIGHTS: C weights of classes, then their sum; bce_rows with WEIGHTS: C weights of positive
   * labels */
  uint64_t scale;
  uint64_t norm; /* crossentropy_rows with WEIGHTS: a factor for all rows */
};
DYNO_STRUCT_SIZE (DynoLossRowsPush, 64)

/* The loss of pixels, and the results that are computed from their logits. */
DYNO_STRUCT (DynoPixelLossPush) {
  uint64_t logits;
  uint64_t targets;
  uint64_t gradient;
  uint64_t parts;      /* by workgroup: sum of the weights of its pixels that count, their number */
  uint64_t rows;       /* by workgroup: results in the layout of a row's results */
  uint64_t step_input; /* struct DynoStepInput */
  uint64_t scaler;     /* struct DynoScalerState */
  uint64_t weights;    /* C weights of classes, then their sum */
  uint64_t result;     /* pixel_classes: a byte a pixel; pixel_counts: C x C numbers of pixels */
  uint64_t dice_sums;  /* by workgroup and class, 4 floats */
  uint64_t dice_table; /* by class, 4 floats */
};
DYNO_STRUCT_SIZE (DynoPixelLossPush, 88)

DYNO_STRUCT (DynoLossNormPush) {
  uint64_t targets;
  uint64_t step_input; /* struct DynoStepInput */
  uint64_t weights;    /* C weights of classes */
  uint64_t norm;
};
DYNO_STRUCT_SIZE (DynoLossNormPush, 32)

DYNO_STRUCT (DynoLossSumPush) {
  uint64_t rows;
  uint64_t step_input;  /* struct DynoStepInput */
  uint64_t scaler;      /* struct DynoScalerState */
  uint64_t step_output; /* struct DynoStepOutput */
};
DYNO_STRUCT_SIZE (DynoLossSumPush, 32)

DYNO_STRUCT (DynoFlipTargetsPush) {
  uint64_t targets;
  uint64_t seeds; /* a word per sample */
  uint64_t flipped;
};
DYNO_STRUCT_SIZE (DynoFlipTargetsPush, 24)
#endif
