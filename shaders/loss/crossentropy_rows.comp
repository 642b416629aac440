#version 460
/* SPDX-License-Identifier: MIT */
/* One workgroup per row of logits (N, C): loss = log sum exp (x) - sum q x, q = (1 - SMOOTHING)
 * one-hot + SMOOTHING / C; accuracy = 1 when the first of the largest logits is at the target;
 * log_loss = -log2 softmax (x) of the target; with TOP5=1, top5 = 1 when less than five classes
 * come before the target: classes with a larger logit, or with an equal logit and a smaller number.
 * GRADIENT=1 writes (softmax (x) - q) * scale / loss_divisor.  Rows from n_valid on, and rows whose
 * target is no class, do not count and get a zero gradient.
 * WEIGHTS=1: with weights w of the classes, q = (1 - SMOOTHING) w[target] one-hot + SMOOTHING / C
 * w, Q its sum: loss = (Q log sum exp (x) - sum q x) norm, and the gradient is (Q softmax (x) -
 * q) * norm * scale / loss_divisor, with norm from weight_norm.comp.
 * FOCAL_LOSS=1: loss and gradient are multiplied by the factors of focal.glsl; not with SMOOTHING
 * or MIX.
 * MIX=1: the target of the sample before has the share mix_target (DynoStepInput) in one-hot and in
 * w[target]; the metrics are of the target with the larger share.
 * RANDOM_TARGETS=1: the target is drawn from (seed, step, micro-step, row).  Each invocation takes
 * every LOCAL_X-th access; all invocations join the parts in a fixed order. */
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
#ifdef FOCAL_LOSS
layout (constant_id = DYNO_LOSS_FOCAL) const float FOCAL = 1.0;
#include "focal.glsl"
#endif
DYNO_PUSH (DynoLossRowsPush, p);
DYNO_BUFFER_IN (Logits, float, 4);
#ifdef WEIGHTS
DYNO_BUFFER_IN (Weights, float, 4);
DYNO_BUFFER_IN (Norm, float, 4);
#define WEIGHT(c) Weights (p.scale).v[c]
#else
#define WEIGHT(c) 1.0
#endif
DYNO_BUFFER_OUT (Results, vec4, 16);
DYNO_BUFFER_IN (Scaler, DynoScalerState, 4);
#ifdef HALF
DYNO_BUFFER_IN (HalfLogits, float16_t, 2);
#endif

#include "softmax.glsl"
#include "targets.glsl"

shared vec4 parts[LOCAL_X];
#ifdef TOP5
shared uint before[LOCAL_X]; /* number of classes that come before the target */
#endif

float
logit_at (uint row, uint c)
{
#ifdef HALF
  return float (HalfLogits (p.logits).v[row * CVECS * LANES + c]);
#else
  return Logits (p.logits).v[row * CVECS * LANES + c];
#endif
}

#ifdef TOP5
/* The number of classes from first on that come before the target. */
uint
count_before (Lanes x, uint first, uint target, float at_target)
{
  uint n = 0;
  [[unroll]] for (uint j = 0; j < LANES; j++)
    {
      const uint c = first + j;
      const float value = x.q[j / 4][j % 4];
      const bool behind = value < at_target || (value == at_target && c >= target);
      n += c < C && !behind ? 1 : 0;
    }
  return n;
}
#endif

void
main ()
{
  const uint lane = gl_LocalInvocationID.x;
  for (uint row = gl_WorkGroupID.x; row < ROWS; row += gl_NumWorkGroups.x)
    {
      /* Loads are issued before the sums, to hide their latency. */
#ifdef MIX
      uint target = row_target (row), other = target != NO_CLASS ? row_other (row) : NO_CLASS;
      float other_share = other != NO_CLASS ? StepIn (p.step_input).v[0].mix_target : 0.0;
      if (other_share > 0.5)
        {
          const uint first = target;
          target = other;
          other = first;
          other_share = 1.0 - other_share;
        }
#else
      const uint target = row_target (row);
#endif
#ifdef GRADIENT
      float factor =
          SHARE_OF (Scaler (p.scaler).v[0].scale / StepIn (p.step_input).v[0].loss_divisor);
#endif
#ifdef WEIGHTS
      const float norm = Norm (p.norm).v[0];
#ifdef GRADIENT
      factor *= norm;
#endif
#endif
      const float at_target = target != NO_CLASS ? logit_at (row, target) : 0.0;
#ifdef MIX
      const float at_other = other_share > 0.0 ? logit_at (row, other) : 0.0;
#endif
      vec4 own = EMPTY_PART;
      uint n_before = 0;
      for (uint i = lane; i < CVECS; i += LOCAL_X)
        {
          const Lanes x = lanes_load (p.logits, row * CVECS + i);
          own = take (own, x, i * LANES);
#ifdef TOP5
          n_before += count_before (x, i * LANES, target, at_target);
#endif
        }
      parts[lane] = own;
#ifdef TOP5
      before[lane] = n_before;
#endif
      barrier ();
      vec4 all = parts[0];
      for (uint i = 1; i < min (LOCAL_X, CVECS); i++)
        all = join (all, parts[i]);
      const float log_sum = all.x + log (all.z);
#ifdef MIX
      const float other_q =
          other_share > 0.0 ? (1.0 - SMOOTHING) * other_share * WEIGHT (other) : 0.0;
      const float own_share = 1.0 - other_share;
#else
      const float other_q = 0.0, own_share = 1.0;
#endif
#ifdef WEIGHTS
      const float own_q =
          target != NO_CLASS ? (1.0 - SMOOTHING) * own_share * WEIGHT (target) : 0.0;
      const float all_q = own_q + other_q + SMOOTHING / float (C) * WEIGHT (C);
#else
      const float own_q = (1.0 - SMOOTHING) * own_share;
      const float all_q = 1.0;
#endif
#ifdef FOCAL_LOSS
      const vec2 focal = target != NO_CLASS ? focal_factors (log_sum - at_target) : vec2 (0.0);
#ifdef GRADIENT
      factor *= focal.y;
#endif
#endif

      if (lane == 0)
        {
          vec4 result = vec4 (0.0);
          if (target != NO_CLASS)
            {
#ifdef FOCAL_LOSS
              result.x = own_q * focal.x * (log_sum - at_target);
#elif defined WEIGHTS
              result.x = own_q * (log_sum - at_target)
                         + SMOOTHING / float (C) * (WEIGHT (C) * log_sum - all.w);
#else
              result.x = log_sum - own_q * at_target - SMOOTHING / float (C) * all.w;
#endif
#ifdef MIX
#ifdef WEIGHTS
              result.x += other_q * (log_sum - at_other);
#else
              result.x -= other_q * at_other;
#endif
#endif
#ifdef WEIGHTS
              result.x *= norm;
#endif
              result.y = uint (all.y) == target ? 1.0 : 0.0;
              result.z = (log_sum - at_target) * 1.4426950408889634;
#ifdef TOP5
              for (uint i = 1; i < min (LOCAL_X, CVECS); i++)
                n_before += before[i];
              result.w = n_before < 5 ? 1.0 : 0.0;
#endif
            }
          Results (p.rows).v[row] = SHARE_OF (result);
        }
#ifdef GRADIENT
      for (uint i = lane; i < CVECS; i += LOCAL_X)
        {
          Lanes g = lanes_fill (0.0);
          if (target != NO_CLASS)
            {
              const Lanes x = lanes_load (p.logits, row * CVECS + i);
              [[unroll]] for (uint j = 0; j < LANES; j++)
                {
                  const uint c = i * LANES + j;
                  if (c < C)
                    {
                      float q = SMOOTHING / float (C) * WEIGHT (c) + (c == target ? own_q : 0.0);
#ifdef MIX
                      q += c == other ? other_q : 0.0;
#endif
                      g.q[j / 4][j % 4] =
                          (all_q * exp (x.q[j / 4][j % 4] - log_sum) - q) * factor;
                    }
                }
            }
          lanes_store (p.gradient, row * CVECS + i, g);
        }
#endif
      barrier ();
    }
}
