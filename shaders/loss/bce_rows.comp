#version 460
/* SPDX-License-Identifier: MIT */
/* One workgroup per row of logits (N, C) with a target t in [0, 1] for each class, targets (N, C)
 * floats, dense: loss = sum over the known labels of w t log (1 + exp (-x)) + (1 - t) log (1 + exp
 * (x)), divided by C; label_accuracy = share of the known labels for which x >= 0 where t >= 1/2,
 * and x < 0 elsewhere; exact_match = 1 where this holds for all of them.  A label is known where
 * its target is no NaN.
 * GRADIENT=1 writes ((1 - t) sigmoid (x) - w t sigmoid (-x)) / C * scale / loss_divisor.  Rows from
 * n_valid on, and labels that are not known, do not count and get a zero gradient.
 * WEIGHTS=1: w is a weight for each class; else it is 1.  SMOOTHING moves t to t (1 - SMOOTHING) +
 * SMOOTHING / 2, for the loss only.
 * MIX=1: t is the mean of the row's own target and the target of the sample before, which has the
 * share mix_target (DynoStepInput) unless it is not known; the metrics are of the target with the
 * larger share.
 * FOCAL_LOSS=1: each label's loss and gradient are multiplied by the factors of focal.glsl; not
 * with SMOOTHING or MIX. */
#include "types.glsl"
#include "lanes.glsl"
#include "loss-push.h"
#include "samples.glsl"
#include "step.h"

layout (constant_id = DYNO_LOSS_ROWS) const uint ROWS = 1;
layout (constant_id = DYNO_LOSS_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_LOSS_C) const uint C = 1;
layout (constant_id = DYNO_LOSS_SMOOTHING) const float SMOOTHING = 0.0;
#ifdef FOCAL_LOSS
layout (constant_id = DYNO_LOSS_FOCAL) const float FOCAL = 1.0;
#include "focal.glsl"
#endif
DYNO_PUSH (DynoLossRowsPush, p);
DYNO_BUFFER_IN (Targets, float, 4);
#ifdef WEIGHTS
DYNO_BUFFER_IN (Weights, float, 4);
#define WEIGHT(c) Weights (p.scale).v[c]
#else
#define WEIGHT(c) 1.0
#endif
DYNO_BUFFER_OUT (Results, vec4, 16);
DYNO_BUFFER_IN (StepIn, DynoStepInput, 4);
DYNO_BUFFER_IN (Scaler, DynoScalerState, 4);

shared vec3 parts[LOCAL_X]; /* loss, known labels, wrong labels */

/* log (1 + e) for e in [0, 1]; below 1/16 by its series, since 1 + e would lose digits. */
float
log_of_one_plus (float e)
{
  if (e < 0.0625)
    return e * (1.0 - e * (1.0 / 2 - e * (1.0 / 3 - e * (1.0 / 4 - e * (1.0 / 5 - e / 6)))));
  return log (1.0 + e);
}

/* The loss of a label that is there (x) and of one that is not there (y), and their gradients: the
 * negative probability of the other answer (z), and the probability (w). */
vec4
label_costs (float x)
{
  const float e = exp (-abs (x)), rest = log_of_one_plus (e);
  const float likely = 1.0 / (1.0 + e), unlikely = e / (1.0 + e);
  return vec4 (rest + max (-x, 0.0), rest + max (x, 0.0), x >= 0.0 ? -unlikely : -likely,
               x >= 0.0 ? likely : unlikely);
}

#ifdef MIX
/* The row of the same step of the sample before; for the first sample, of the last valid sample. */
uint
row_before (uint row, uint n_valid)
{
#ifdef PER_SAMPLE
  const uint step = PER_SAMPLE;
#else
  const uint step = 1;
#endif
  return row >= step ? row - step : row + (n_valid - 1) * step;
}
#endif

void
main ()
{
  const uint lane = gl_LocalInvocationID.x;
  const uint n_valid = StepIn (p.step_input).v[0].n_valid;
  for (uint row = gl_WorkGroupID.x; row < ROWS; row += gl_NumWorkGroups.x)
    {
      const bool valid = SAMPLE_OF (row) < n_valid;
#ifdef MIX
      const uint before = valid ? row_before (row, n_valid) : row;
      const float share = StepIn (p.step_input).v[0].mix_target;
#endif
#ifdef GRADIENT
      const float factor = SHARE_OF (Scaler (p.scaler).v[0].scale / float (C)
                                     / StepIn (p.step_input).v[0].loss_divisor);
#endif
      vec3 own = vec3 (0.0);
      for (uint i = lane; i < CVECS; i += LOCAL_X)
        {
          const Lanes x = lanes_load (p.logits, row * CVECS + i);
          Lanes g = lanes_fill (0.0);
          [[unroll]] for (uint j = 0; j < LANES; j++)
            if (valid && i * LANES + j < C)
              {
                const uint c = i * LANES + j;
                const float value = x.q[j / 4][j % 4];
                float t = Targets (p.targets).v[row * C + c], shown = t;
                if (!is_nan (t))
                  {
#ifdef MIX
                    const float other = Targets (p.targets).v[before * C + c];
                    if (!is_nan (other))
                      {
                        shown = share > 0.5 ? other : t;
                        t += share * (other - t);
                      }
#endif
                    t = t * (1.0 - SMOOTHING) + 0.5 * SMOOTHING;
                    vec4 costs = label_costs (value);
#ifdef FOCAL_LOSS
                    const vec2 there = focal_factors (costs.x), absent = focal_factors (costs.y);
                    costs *= vec4 (there.x, absent.x, there.y, absent.y);
#endif
                    costs.xz *= WEIGHT (c);
                    own += vec3 (t * costs.x + (1.0 - t) * costs.y, 1.0,
                                 (value >= 0.0) == (shown >= 0.5) ? 0.0 : 1.0);
#ifdef GRADIENT
                    g.q[j / 4][j % 4] = (t * costs.z + (1.0 - t) * costs.w) * factor;
#endif
                  }
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
          vec4 result = vec4 (0.0);
          if (valid)
            result.xyz = vec3 (own.x / float (C), own.y > 0.0 ? 1.0 - own.z / own.y : 1.0,
                               own.z == 0.0 ? 1.0 : 0.0);
          Results (p.rows).v[row] = SHARE_OF (result);
        }
      barrier ();
    }
}
