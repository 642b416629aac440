#version 460
/* SPDX-License-Identifier: MIT */
/* dx (N, T, C) is dy (N, C) at the last step that counts, or with FIRST=1 at the first step, and 0
 * at the others.  MEAN=1: dx is dy / the number of steps that count, at each step that counts.
 * ACCUMULATE=1 adds to dx. */
#include "types.glsl"
#include "lanes.glsl"
#include "steps-push.h"
#include "steps.glsl"

layout (constant_id = DYNO_STEPS_COUNT) const uint COUNT = 1;
layout (constant_id = DYNO_STEPS_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_STEPS_T) const uint T = 1;
layout (constant_id = DYNO_STEPS_STRIDE) const uint STRIDE = 1;
DYNO_PUSH (DynoStepsPush, p);

void
main ()
{
  for (uint i = gl_GlobalInvocationID.x; i < COUNT; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      const uint column = i % CVECS, t = i / CVECS % T, n = i / (CVECS * T),
                 valid = steps_valid (p.lengths, n, STRIDE, T);
      Lanes dx = lanes_load (p.source, n * CVECS + column);
      [[unroll]] for (uint j = 0; j < QUADS; j++)
#ifdef MEAN
        dx.q[j] = t < valid ? dx.q[j] / float (valid) : vec4 (0.0);
#elif defined (FIRST)
        dx.q[j] = t == 0 ? dx.q[j] : vec4 (0.0);
#else
        dx.q[j] = t == valid - 1 ? dx.q[j] : vec4 (0.0);
#endif
#ifdef ACCUMULATE
      lanes_store_sum (p.target, i, dx);
#else
      lanes_store (p.target, i, dx);
#endif
    }
}
