/* SPDX-License-Identifier: MIT */
/* Push constants of the optimizer.  Partials are (sum of squares of unscaled gradients, number
 * of 16-byte accesses with an Inf or NaN) per workgroup. */
#ifndef DYNO_SHARED_OPTIMIZER_PUSH_H
#define DYNO_SHARED_OPTIMIZER_PUSH_H
#include "compat.h"

/* constant_id of each */
#define DYNO_OPTIMIZER_COUNT         0 /* norm and states: 16-byte accesses; update: elements / 8 */
#define DYNO_OPTIMIZER_DECIDE_GROUPS 0 /* number of partials */
#define DYNO_OPTIMIZER_DECAY         1 /* update and states: decay of the moving averages */
/* update: elements / 8 before the range without weight decay, and before the end of this range */
#define DYNO_OPTIMIZER_UNDECAYED_START 2
#define DYNO_OPTIMIZER_UNDECAYED_END   3

/* A range of the flat memory from the end of the range before it, in elements / 8: the factor on
 * its learning rate.  The last range ends with the memory. */
DYNO_STRUCT (DynoRateRange) {
  uint32_t end;
  float factor;
};
DYNO_STRUCT_SIZE (DynoRateRange, 8)

DYNO_STRUCT (DynoOptimizerNormPush) {
  uint64_t gradient;
  uint64_t partials;
  uint64_t scaler; /* struct DynoScalerState */
};
DYNO_STRUCT_SIZE (DynoOptimizerNormPush, 24)

DYNO_STRUCT (DynoOptimizerDecidePush) {
  uint64_t partials;
  uint64_t step_input;  /* struct DynoStepInput */
  uint64_t scaler;      /* struct DynoScalerState */
  uint64_t step_output; /* struct DynoStepOutput */
  uint64_t corrections; /* 1 - beta1^t, 1 - beta2^t; for optimizers that have them */
};
DYNO_STRUCT_SIZE (DynoOptimizerDecidePush, 40)

DYNO_STRUCT (DynoOptimizerUpdatePush) {
  uint64_t master;
  uint64_t half_copy;
  uint64_t gradient;
  uint64_t moment1;
  uint64_t moment2;
  uint64_t step_input;  /* struct DynoStepInput */
  uint64_t scaler;      /* struct DynoScalerState */
  uint64_t corrections;
  uint64_t average;
  uint64_t average_half;
  uint64_t rates; /* DynoRateRange[] */
};
DYNO_STRUCT_SIZE (DynoOptimizerUpdatePush, 88)

DYNO_STRUCT (DynoOptimizerStatesPush) {
  uint64_t states;
  uint64_t kept;   /* values after the last step that was not skipped */
  uint64_t scaler; /* struct DynoScalerState */
  uint64_t average;
};
DYNO_STRUCT_SIZE (DynoOptimizerStatesPush, 32)
#endif
