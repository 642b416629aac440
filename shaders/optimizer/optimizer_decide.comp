#version 460
/* SPDX-License-Identifier: MIT */
/* One workgroup: the global norm, whether the step is skipped, the clipping factor min (1, clip /
 * (norm + 1e-6)), the next loss scale (as PyTorch's GradScaler: halved on overflow, doubled after
 * scale_growth_interval good steps) and the bias corrections (CORRECTIONS=1), whose t is
 * the number of applied updates.  Without DYNAMIC_SCALE=1 the scale stays. */
#include "types.glsl"
#include "lanes.glsl"
#include "optimizer-push.h"
#include "step.h"

layout (constant_id = DYNO_OPTIMIZER_DECIDE_GROUPS) const uint GROUPS = 1;
DYNO_PUSH (DynoOptimizerDecidePush, p);
DYNO_BUFFER_IN (Partials, vec2, 8);
DYNO_BUFFER_OUT (Corrections, float, 4);
DYNO_BUFFER_IN (StepIn, DynoStepInput, 4);
DYNO_BUFFER_INOUT (Scaler, DynoScalerState, 4);
DYNO_BUFFER_OUT (StepOut, DynoStepOutput, 4);

shared vec2 parts[LOCAL_X];

/* 1 - beta^t.  For beta near 1 the difference would have few digits in fp32: there it is computed
 * by series of log and exp. */
float
correction (float beta, uint t)
{
  if (beta <= 0.0)
    return 1.0;
  const float d = 1.0 - beta;
  float logarithm = log (beta);
  if (d < 0.25)
    {
      float power = d;
      logarithm = 0.0;
      for (uint k = 1; k <= 14; k++)
        {
          logarithm -= power / float (k);
          power *= d;
        }
    }
  const float x = logarithm * float (t);
  if (x < -0.5)
    return 1.0 - exp (x);
  float term = x, sum = 0.0;
  for (uint k = 2; k <= 11; k++)
    {
      sum += term;
      term *= x / float (k);
    }
  return -sum;
}

float
next_scale (bool overflow, DynoScalerState old, DynoStepInput step_input)
{
  float scale = old.scale;
  uint good_steps = overflow ? 0 : old.good_steps + 1;
  const uint interval = step_input.scale_growth_interval;
#ifdef DYNAMIC_SCALE
  if (interval > 0)
    {
      if (overflow)
        scale *= 0.5;
      else if (good_steps >= interval)
        {
          if (!is_nonfinite (scale * 2.0))
            scale *= 2.0;
          good_steps = 0;
        }
      if (step_input.loss_scale_max > 0.0)
        scale = min (scale, step_input.loss_scale_max);
      scale = max (scale, step_input.loss_scale_min);
    }
#endif
  Scaler (p.scaler).v[0].good_steps = good_steps;
  return scale;
}

void
main ()
{
  const uint lane = gl_LocalInvocationID.x;
  /* All inputs are read early and together: waiting for them one after the other would take longer
   * than the sum. */
  const DynoScalerState old = Scaler (p.scaler).v[0];
  const DynoStepInput step_input = StepIn (p.step_input).v[0];
  vec2 sum = vec2 (0.0);
  for (uint i = lane; i < GROUPS; i += LOCAL_X)
    sum += Partials (p.partials).v[i];
  parts[lane] = sum;
  LANES_SUM (parts)
  if (lane != 0)
    return;
  sum = parts[0];

  Scaler scaler = Scaler (p.scaler);
  const bool overflow = sum.y > 0.0;
  const float norm = sqrt (sum.x);
  const float clip = step_input.clip_norm;
  const float factor = clip > 0.0 ? min (1.0, clip / (norm + 1e-6)) : 1.0;
  const uint applied = old.applied + (overflow ? 0 : 1);
  const uint skipped = old.skipped + (overflow ? 1 : 0);
  scaler.v[0].update_scale = factor / old.scale;
  scaler.v[0].overflow = overflow ? 1 : 0;
  scaler.v[0].grad_norm = norm;
  scaler.v[0].applied = applied;
  scaler.v[0].skipped = skipped;
  const float scale = next_scale (overflow, old, step_input);
  scaler.v[0].scale = scale;
#ifdef CORRECTIONS
  Corrections (p.corrections).v[0] = correction (step_input.momentum, applied);
  Corrections (p.corrections).v[1] = correction (step_input.beta2, applied);
#endif
  StepOut step_output = StepOut (p.step_output);
  step_output.v[0].grad_norm = norm;
  step_output.v[0].overflow = overflow ? 1 : 0;
  step_output.v[0].loss_scale = scale;
  step_output.v[0].skipped = skipped;
}
