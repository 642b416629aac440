#version 460
/* SPDX-License-Identifier: MIT */
/* y = x / (1 - P) with probability 1 - P, else 0; (N, H, W, C) both.  The forward and the backward
 * pass use this kernel: the mask is drawn again from (seed, step, micro-step, STREAM, element).
 * BY_SAMPLE=1 draws one value for each sample n, which is kept or dropped as a whole.  y may be
 * x's own memory.  ACCUMULATE=1 adds to y. */
#include "types.glsl"
#include "lanes.glsl"
#include "elementwise-push.h"
#include "random.h"
#include "step.h"

layout (constant_id = DYNO_ELEMENTWISE_COUNT) const uint COUNT = 1;
layout (constant_id = DYNO_DROPOUT_STREAM) const uint STREAM = 0;
/* An element is dropped when its 32 random bits are below THRESHOLD. */
layout (constant_id = DYNO_DROPOUT_THRESHOLD) const uint THRESHOLD = 0;
layout (constant_id = DYNO_DROPOUT_KEEP_SCALE) const float KEEP_SCALE = 1.0;
#ifdef BY_SAMPLE
layout (constant_id = DYNO_DROPOUT_SAMPLE) const uint SAMPLE = 1;
#endif
DYNO_PUSH (DynoElementwisePush, p);
DYNO_BUFFER_IN (StepIn, DynoStepInput, 4);

void
main ()
{
  StepIn step_input = StepIn (p.step_input);
  uint key = dyno_random_key (step_input.v[0].seed_low, step_input.v[0].seed_high,
                              step_input.v[0].step, step_input.v[0].micro_step, STREAM);
  for (uint i = gl_GlobalInvocationID.x; i < COUNT; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      Lanes x = lanes_load (p.a, i);
#ifdef BY_SAMPLE
      const bool dropped = dyno_random_at (key, i / SAMPLE) < THRESHOLD;
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        x.q[j] = dropped ? vec4 (0.0) : x.q[j] * KEEP_SCALE;
#else
      [[unroll]] for (uint j = 0; j < QUADS; j++) [[unroll]] for (uint k = 0; k < 4; k++)
          x.q[j][k] =
          dyno_random_at (key, i * LANES + j * 4 + k) < THRESHOLD ? 0.0 : x.q[j][k] * KEEP_SCALE;
#endif
#ifdef ACCUMULATE
      lanes_store_sum (p.target, i, x);
#else
      lanes_store (p.target, i, x);
#endif
    }
}
