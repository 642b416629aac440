#version 460
/* SPDX-License-Identifier: MIT */
/* One workgroup per row of the prediction (N, C): loss = mean over C of (x - t)^2, first metric =
 * mean of |x - t|; with PER_OUTPUT=1 the C other metrics are |x - t| of each output; t (N, C)
 * floats, dense.  STANDARD=1: x stands for x * deviation + mean, with a deviation and a mean for
 * each output: loss and metrics are computed from this value, in the targets' unit, and the
 * gradient is that of (x - (t - mean) / deviation)^2 / 8, whose curvature equals the largest
 * curvature of cross entropy, so that one learning rate suits both.  GRADIENT=1 writes 2 (x - t) /
 * C * scale / loss_divisor.  SMOOTH_L1=1: (x - t)^2 / 2 where |x - t| < 1, |x - t| - 1/2 elsewhere,
 * in place of the square; with STANDARD=1 the same function of x - (t - mean) / deviation, times
 * the deviation, which becomes linear where the difference in the targets' unit reaches the
 * deviation.  Rows from n_valid on do not count and get a zero gradient. */
#include "types.glsl"
#include "lanes.glsl"
#include "loss-push.h"
#include "samples.glsl"
#include "step.h"

layout (constant_id = DYNO_LOSS_ROWS) const uint ROWS = 1;
layout (constant_id = DYNO_LOSS_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_LOSS_C) const uint C = 1;
DYNO_PUSH (DynoLossRowsPush, p);
DYNO_BUFFER_IN (Targets, float, 4);
DYNO_BUFFER_IN (Standard, float, 4);
DYNO_BUFFER_OUT (Results, float, 4);
DYNO_BUFFER_IN (StepIn, DynoStepInput, 4);
DYNO_BUFFER_IN (Scaler, DynoScalerState, 4);

#ifdef STANDARD
#define SLOPE 0.25
#elif defined (SMOOTH_L1)
#define SLOPE 1.0
#else
#define SLOPE 2.0
#endif

/* For a difference d in units of `deviation`, COST is its loss in the targets' unit and DIRECTION
 * its gradient without the constant factors. */
#ifdef SMOOTH_L1
#define COST(d, deviation) \
  ((deviation) * (abs (d) < 1.0 ? 0.5 * (d) * (d) : abs (d) - 0.5))
#define DIRECTION(d) (abs (d) < 1.0 ? (d) : sign (d))
#else
#define COST(d, deviation) ((d) * (deviation) * ((d) * (deviation)))
#define DIRECTION(d)       (d)
#endif

#ifdef PER_OUTPUT
#define METRICS (1 + C)
#else
#define METRICS 1
#endif
#define STRIDE ((1 + METRICS + 3) / 4 * 4) /* results of a row, with the zeros after them */

shared vec2 parts[LOCAL_X];

void
main ()
{
  const uint lane = gl_LocalInvocationID.x;
  const uint n_valid = StepIn (p.step_input).v[0].n_valid;
  for (uint row = gl_WorkGroupID.x; row < ROWS; row += gl_NumWorkGroups.x)
    {
      const bool valid = SAMPLE_OF (row) < n_valid;
#ifdef GRADIENT
      const float factor = SHARE_OF (SLOPE / float (C) * Scaler (p.scaler).v[0].scale
                                     / StepIn (p.step_input).v[0].loss_divisor);
#endif
      vec2 own = vec2 (0.0);
      for (uint i = lane; i < CVECS; i += LOCAL_X)
        {
          const Lanes x = lanes_load (p.logits, row * CVECS + i);
          Lanes g = lanes_fill (0.0);
          [[unroll]] for (uint j = 0; j < LANES; j++)
            if (valid && i * LANES + j < C)
              {
                const uint c = i * LANES + j;
                float absolute;
#ifdef STANDARD
                const float deviation = Standard (p.scale).v[C + c];
                const float d =
                    x.q[j / 4][j % 4]
                    - (Targets (p.targets).v[row * C + c] - Standard (p.scale).v[c]) / deviation;
                absolute = abs (d) * deviation;
                own += vec2 (COST (d, deviation), absolute);
#else
                const float d = x.q[j / 4][j % 4] - Targets (p.targets).v[row * C + c];
                absolute = abs (d);
                own += vec2 (COST (d, 1.0), absolute);
#endif
#ifdef PER_OUTPUT
                Results (p.rows).v[row * STRIDE + 2 + c] = SHARE_OF (absolute);
#endif
#ifdef GRADIENT
                g.q[j / 4][j % 4] = DIRECTION (d) * factor;
#endif
              }
#ifdef GRADIENT
          lanes_store (p.gradient, row * CVECS + i, g);
#endif
        }
      parts[lane] = own;
      barrier ();
      if (lane == 0)
        {
          for (uint i = 1; i < LOCAL_X; i++)
            own += parts[i];
          own /= float (C);
          Results (p.rows).v[row * STRIDE] = SHARE_OF (own.x);
          Results (p.rows).v[row * STRIDE + 1] = SHARE_OF (own.y);
          for (uint i = valid ? 1 + METRICS : 2; i < STRIDE; i++)
            Results (p.rows).v[row * STRIDE + i] = 0.0;
        }
      barrier ();
    }
}
