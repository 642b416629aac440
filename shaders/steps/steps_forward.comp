#version 460
/* SPDX-License-Identifier: MIT */
/* y (N, C) = the last step that counts of x (N, T, C); FIRST=1: the first step; MEAN=1: the mean of
 * the steps that count, from four sums, each of every fourth step.  An invocation computes one
 * access of y. */
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
      const uint n = i / CVECS, first = n * T * CVECS + i % CVECS,
                 valid = steps_valid (p.lengths, n, STRIDE, T);
#ifdef MEAN
      Lanes sums[4];
      [[unroll]] for (uint k = 0; k < 4; k++)
        sums[k] = lanes_fill (0.0);
      for (uint t = 0; t < valid; t += 4)
        [[unroll]] for (uint k = 0; k < 4; k++)
          {
            const Lanes x = lanes_load (p.source, first + min (t + k, valid - 1) * CVECS);
            [[unroll]] for (uint j = 0; j < QUADS; j++)
              sums[k].q[j] += t + k < valid ? x.q[j] : vec4 (0.0);
          }
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        sums[0].q[j] =
            (sums[0].q[j] + sums[1].q[j] + (sums[2].q[j] + sums[3].q[j])) / float (valid);
      lanes_store (p.target, i, sums[0]);
#elif defined (FIRST)
      words_store (p.target, i, words_load (p.source, first));
#else
      words_store (p.target, i, words_load (p.source, first + (valid - 1) * CVECS));
#endif
    }
}
