#version 460
/* SPDX-License-Identifier: MIT */
/* Cross entropy of rows of few logits (N, H, W, C), one invocation a row (pixel):
 *     q[c] = (1 - SMOOTHING) w[target] (c = target) + SMOOTHING / C w[c],  Q its sum
 *     loss = Q log sum exp (x) - sum q x,  dx = (Q softmax (x) - q) * norm * scale / loss_divisor
 * accuracy = 1 where the first of the largest logits is at the target; log_loss = -log2 softmax (x)
 * of the target.  A workgroup writes the sums over its rows; rows whose target is no class do not
 * count and get a zero gradient.  NORM=1: losses are multiplied by rows / sum of w[target], metrics
 * by rows / rows with a target, from pixel_weights.comp.  FOCAL_LOSS=1: loss and gradient are
 * multiplied by the factors of focal.glsl.  DICE_LOSS=1: the loss of the batch is (1 - DICE) times
 * the cross entropy plus DICE times the mean over the classes of 1 - 2 I / U, from dice_table.comp;
 * the first workgroup adds this mean.  WEIGHTS=1: with weights w of the classes, else w is 1.
 * GRADIENT=1 writes dx. */
#include "types.glsl"
#include "lanes.glsl"
#include "loss-push.h"
#include "random.h"
#include "samples.glsl"
#include "step.h"

layout (constant_id = DYNO_LOSS_ROWS) const uint ROWS = 1;
layout (constant_id = DYNO_LOSS_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_LOSS_C) const uint C = 1;
layout (constant_id = DYNO_LOSS_SMOOTHING) const float SMOOTHING = 0.0;
layout (constant_id = DYNO_LOSS_PARTS) const uint PARTS = 1;
#ifdef FOCAL_LOSS
layout (constant_id = DYNO_LOSS_FOCAL) const float FOCAL = 1.0;
#include "focal.glsl"
#endif
#ifdef DICE_LOSS
layout (constant_id = DYNO_LOSS_DICE) const float DICE = 1.0;
#endif
DYNO_PUSH (DynoPixelLossPush, p);
DYNO_BUFFER_IN (Logits, float, 4);
DYNO_BUFFER_IN (Weights, float, 4);
DYNO_BUFFER_IN (Parts, vec2, 8);
DYNO_BUFFER_OUT (Results, vec4, 16);
DYNO_BUFFER_IN (Scaler, DynoScalerState, 4);
#ifdef DICE_LOSS
DYNO_BUFFER_IN (Table, vec4, 16);
#endif
#ifdef HALF
DYNO_BUFFER_IN (HalfLogits, float16_t, 2);
#endif
#ifdef WEIGHTS
#define WEIGHT(c)  Weights (p.weights).v[c]
#define WEIGHT_SUM WEIGHT (C)
#else
#define WEIGHT(c)  1.0
#define WEIGHT_SUM float (C)
#endif
#include "softmax.glsl"
#include "targets.glsl"

shared vec4 parts[LOCAL_X];

float
logit_at (uint row, uint c)
{
#ifdef HALF
  return float (HalfLogits (p.logits).v[row * CVECS * LANES + c]);
#else
  return Logits (p.logits).v[row * CVECS * LANES + c];
#endif
}

/* The number of rows of the valid samples. */
uint
count_rows ()
{
#ifdef PER_SAMPLE
  return min (StepIn (p.step_input).v[0].n_valid * PER_SAMPLE, ROWS);
#else
  return min (StepIn (p.step_input).v[0].n_valid, ROWS);
#endif
}

/* (factor of the losses, factor of the metrics), see NORM. */
vec2
find_norm ()
{
#ifdef NORM
  const uint counted = count_rows ();
  vec4 sum = vec4 (0.0);
  for (uint i = gl_LocalInvocationIndex; i < PARTS; i += LOCAL_X)
    sum.xy += Parts (p.parts).v[i];
  parts[gl_LocalInvocationIndex] = sum;
  LANES_SUM (parts)
  sum = parts[0];
  barrier ();
  return vec2 (sum.x > 0.0 ? float (counted) / sum.x : 0.0,
               sum.y > 0.0 ? float (counted) / sum.y : 0.0);
#else
  return vec2 (1.0);
#endif
}

#ifdef DICE_LOSS
/* The mean of the gradient with respect to the softmax, weighted by the probabilities. */
float
dice_mean (uint row, uint target, float log_sum, float at_target)
{
  float mean = -Table (p.dice_table).v[target].y * exp (at_target - log_sum);
  for (uint i = 0; i < CVECS; i++)
    {
      const Lanes x = lanes_load (p.logits, row * CVECS + i);
      [[unroll]] for (uint j = 0; j < LANES; j++)
        if (i * LANES + j < C)
          mean += Table (p.dice_table).v[i * LANES + j].x * exp (x.q[j / 4][j % 4] - log_sum);
    }
  return mean;
}
#endif

/* Returns (loss, accuracy, log loss) of a row and writes its gradient; dice: the factor of the Dice
 * loss's gradient. */
vec4
take_row (uint row, uint target, float factor, float dice)
{
  vec4 all = EMPTY_PART;
  for (uint i = 0; i < CVECS; i++)
    all = take (all, lanes_load (p.logits, row * CVECS + i), i * LANES);
  const float log_sum = all.x + log (all.z), at_target = logit_at (row, target);
  const float each_q = SMOOTHING / float (C);
#ifdef FOCAL_LOSS
  const vec2 focal = focal_factors (log_sum - at_target);
  const float own_q = WEIGHT (target) * focal.x;
#else
  const float own_q = (1.0 - SMOOTHING) * WEIGHT (target);
#endif
#ifdef GRADIENT
#ifdef FOCAL_LOSS
  const float own_g = WEIGHT (target) * focal.y, all_g = own_g;
#else
  const float own_g = own_q, all_g = own_q + each_q * WEIGHT_SUM;
#endif
#ifdef DICE_LOSS
  const float mean = dice_mean (row, target, log_sum, at_target);
#endif
  for (uint i = 0; i < CVECS; i++)
    {
      const Lanes x = lanes_load (p.logits, row * CVECS + i);
      Lanes g = lanes_fill (0.0);
      [[unroll]] for (uint j = 0; j < LANES; j++)
        {
          const uint c = i * LANES + j;
          if (c < C)
            g.q[j / 4][j % 4] = (all_g * exp (x.q[j / 4][j % 4] - log_sum)
                                 - (each_q * WEIGHT (c) + (c == target ? own_g : 0.0)))
                                * factor;
#ifdef DICE_LOSS
          if (c < C)
            g.q[j / 4][j % 4] += (Table (p.dice_table).v[c].x
                                  - (c == target ? Table (p.dice_table).v[c].y : 0.0) - mean)
                                 * exp (x.q[j / 4][j % 4] - log_sum) * dice;
#endif
        }
      lanes_store (p.gradient, row * CVECS + i, g);
    }
#endif
  return vec4 (own_q * (log_sum - at_target) + each_q * (WEIGHT_SUM * log_sum - all.w),
               uint (all.y) == target ? 1.0 : 0.0, (log_sum - at_target) * 1.4426950408889634,
               0.0);
}

void
main ()
{
  vec2 norm = find_norm ();
  float factor = 0.0, dice_factor = 0.0;
#ifdef DICE_LOSS
  const float dice = DICE * float (count_rows ());
  norm.x *= 1.0 - DICE;
  dice_factor =
      SHARE_OF (dice * Scaler (p.scaler).v[0].scale / StepIn (p.step_input).v[0].loss_divisor);
#endif
#ifdef GRADIENT
  factor = SHARE_OF (norm.x * Scaler (p.scaler).v[0].scale
                     / StepIn (p.step_input).v[0].loss_divisor);
#endif
  vec4 sum = vec4 (0.0);
  for (uint row = gl_GlobalInvocationID.x; row < ROWS; row += gl_NumWorkGroups.x * LOCAL_X)
    {
      const uint target = row_target (row);
      if (target != NO_CLASS)
        sum += take_row (row, target, factor, dice_factor);
#ifdef GRADIENT
      else
        for (uint i = 0; i < CVECS; i++)
          lanes_store (p.gradient, row * CVECS + i, lanes_fill (0.0));
#endif
    }
  parts[gl_LocalInvocationIndex] = sum;
  LANES_SUM (parts)
  if (gl_LocalInvocationIndex == 0)
    {
      vec4 result = parts[0] * vec4 (norm.x, norm.y, norm.y, 0.0);
#ifdef DICE_LOSS
      for (uint c = 0; c < C && gl_WorkGroupID.x == 0; c++)
        result.x += dice * Table (p.dice_table).v[c].z;
#endif
      Results (p.rows).v[gl_WorkGroupID.x] = SHARE_OF (result);
    }
}
