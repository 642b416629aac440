/* SPDX-License-Identifier: MIT */
/* The input of a step, its output, and the state kept between steps.  Read by C and by GLSL (scalar
 * layout: every member 4 bytes). */
#ifndef DYNO_SHARED_STEP_H
#define DYNO_SHARED_STEP_H
#include "compat.h"

/* Written by the host before each submit. */
struct DynoStepInput {
  /* optimizer steps since the start of training; part of the key of random numbers */
  uint32_t step;
  uint32_t micro_step; /* index of the batch in the gradient accumulation, 0 .. accumulate - 1 */
  uint32_t seed_low, seed_high;
  uint32_t n_valid; /* samples in this batch; the loss ignores the rest */
  /* n_valid * accumulate: the gradient is that of the mean over the effective batch */
  float loss_divisor;
  float lr;
  float momentum; /* momentum of optimizers that have it, else beta1 */
  float beta2;
  float weight_decay;
  float epsilon;
  /* 1 - beta1^t; t counts steps that were not skipped, as far as the host knows */
  float bias_correction1;
  float bias_correction2;
  float clip_norm;  /* 0: no clipping; else the limit of the global gradient norm */
  float clip_value; /* 0: no clipping; else the limit of the absolute value of each element */
  /* 1: SGD's momentum buffer starts as the gradient (PyTorch's first step) */
  uint32_t first_update;
  float loss_scale_min, loss_scale_max;
  /* steps without overflow before the scale doubles; 0: the scale stays */
  uint32_t scale_growth_interval;
  /* Each sample is mixed with the one before it, the first with the last valid one; all 0: no
   * mixing.  mix_other is the share of the sample before in pixels outside of the box (inside the
   * box its share is 1), mix_target its share in the target. */
  float mix_other, mix_target;
  uint32_t mix_left, mix_top, mix_right, mix_bottom; /* right and bottom are exclusive */
};

#define DYNO_MAX_METRICS 8 /* most metrics of one loss */

/* Written by the device. */
struct DynoStepOutput {
  float loss_sum; /* sum over the valid samples, unscaled */
  uint32_t n_valid;
  /* global norm, unscaled, before clipping; 0 when the step had no optimizer stage */
  float grad_norm;
  uint32_t overflow;       /* 1: a gradient was Inf or NaN, the update was skipped */
  float loss_scale;        /* after this step */
  uint32_t skipped;        /* updates skipped since the start */
  uint32_t nonfinite_loss; /* 1: the loss itself was Inf or NaN */
  uint32_t reserved;
  /* sums over the valid samples of the metrics that the loss declares (metric.h), then zeros */
  float metric_sums[DYNO_MAX_METRICS];
};

/* Lives on the device across steps. */
struct DynoScalerState {
  float scale;         /* loss scale; 1 without AMP */
  uint32_t good_steps; /* steps since the last overflow or doubling of scale */
  uint32_t skipped;
  uint32_t overflow;  /* of the current step */
  float grad_norm;    /* of the current step */
  float update_scale; /* 1 / scale, times the clipping factor */
  uint32_t applied;   /* updates applied since the start: t of bias corrections */
  uint32_t reserved;
};

#ifndef GL_core_profile
_Static_assert(sizeof (struct DynoStepOutput) == 4 * (8 + DYNO_MAX_METRICS),
               "the step's output has members of 4 bytes alone");
#endif
#endif
