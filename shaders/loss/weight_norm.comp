#version 460
/* SPDX-License-Identifier: MIT */
/* norm = number of valid rows / sum over these rows of w[target], in one workgroup and a fixed
 * order: the factor that turns the mean over rows of cross entropy into the weighted mean, as in
 * PyTorch.  Rows whose target is no class have no weight; where no row has a weight, norm is 0, and
 * so are the loss and the gradient of the batch.  MIX=1: the weight of a row is the mean of its two
 * targets' weights, weighted by their shares. */
#include "types.glsl"
#include "lanes.glsl"
#include "loss-push.h"
#include "random.h"
#include "samples.glsl"
#include "step.h"

layout (constant_id = DYNO_LOSS_ROWS) const uint ROWS = 1;
layout (constant_id = DYNO_LOSS_C) const uint C = 1;
DYNO_PUSH (DynoLossNormPush, p);
DYNO_BUFFER_IN (Weights, float, 4);
DYNO_BUFFER_OUT (Norm, float, 4);
#include "targets.glsl"

shared float parts[LOCAL_X];

void
main ()
{
  const uint lane = gl_LocalInvocationID.x;
  const uint n_valid = StepIn (p.step_input).v[0].n_valid;
  float sum = 0.0;
  for (uint row = lane; row < ROWS; row += LOCAL_X)
    {
      const uint target = row_target (row);
      if (target == NO_CLASS)
        continue;
      float weight = Weights (p.weights).v[target];
#ifdef MIX
      const uint other = row_other (row);
      if (other != NO_CLASS)
        weight = mix (weight, Weights (p.weights).v[other], StepIn (p.step_input).v[0].mix_target);
#endif
      sum += weight;
    }
  parts[lane] = sum;
  LANES_SUM (parts)
  if (lane != 0)
    return;
  sum = parts[0];
#ifdef PER_SAMPLE
  const float rows = float (min (n_valid * PER_SAMPLE, ROWS));
#else
  const float rows = float (min (n_valid, ROWS));
#endif
  Norm (p.norm).v[0] = sum > 0.0 ? rows / sum : 0.0;
}
