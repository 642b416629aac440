#version 460
/* SPDX-License-Identifier: MIT */
/* Adds up the rows' results (loss, then METRICS metrics, four to a vector) in a fixed order, in one
 * workgroup, into the step's output; the fields that only an optimizer computes are set to the
 * values for a step without an optimizer.  SAMPLES=n: there are n samples, whatever the number of
 * rows. */
#include "types.glsl"
#include "lanes.glsl"
#include "loss-push.h"
#include "samples.glsl"
#include "step.h"

layout (constant_id = DYNO_LOSS_SUM_ROWS) const uint ROWS = 1;
layout (constant_id = DYNO_LOSS_SUM_METRICS) const uint METRICS = 1;
DYNO_PUSH (DynoLossSumPush, p);
DYNO_BUFFER_IN (Results, vec4, 16);
DYNO_BUFFER_IN (StepIn, DynoStepInput, 4);
DYNO_BUFFER_IN (Scaler, DynoScalerState, 4);
DYNO_BUFFER_OUT (StepOut, DynoStepOutput, 4);

#define VECTORS ((1 + METRICS + 3) / 4) /* vectors of a row */

shared vec4 parts[LOCAL_X];

void
main ()
{
  const uint lane = gl_LocalInvocationID.x;
  const DynoScalerState scaler = Scaler (p.scaler).v[0];
  const uint n_valid = StepIn (p.step_input).v[0].n_valid;
  StepOut step_output = StepOut (p.step_output);
  for (uint i = 0; i < VECTORS; i++)
    {
      vec4 sum = vec4 (0.0);
      for (uint row = lane; row < ROWS; row += LOCAL_X)
        sum += Results (p.rows).v[row * VECTORS + i];
      parts[lane] = sum;
      LANES_SUM (parts)
      if (lane == 0)
        {
          sum = parts[0];
          if (i == 0)
            {
              step_output.v[0].loss_sum = sum.x;
              step_output.v[0].nonfinite_loss = is_nonfinite (sum.x) ? 1 : 0;
            }
          for (uint j = 0; j < 4; j++)
            if (i * 4 + j >= 1 && i * 4 + j <= METRICS)
              step_output.v[0].metric_sums[i * 4 + j - 1] = sum[j];
        }
    }
  if (lane != 0)
    return;
#ifdef SAMPLES
  step_output.v[0].n_valid = min (n_valid, SAMPLES);
#else
  step_output.v[0].n_valid = min (n_valid, SAMPLE_OF (ROWS));
#endif
  step_output.v[0].grad_norm = 0.0;
  step_output.v[0].overflow = 0;
  step_output.v[0].loss_scale = scaler.scale;
  step_output.v[0].skipped = scaler.skipped;
}
