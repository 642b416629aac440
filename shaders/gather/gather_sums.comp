#version 460
/* SPDX-License-Identifier: MIT */
/* target[n][i] = the sum of source[n][lists[k]] for k from indices[i] to before indices[i + 1], for
 * all elements i in memory of a sample of the target, in fp32 and in this order.  ACCUMULATE=1 adds
 * to the target.  An invocation sums up one access, whose elements take their next four values at
 * the same time. */
#include "types.glsl"
#include "gather.glsl"

DYNO_BUFFER_IN (Indices, uint, 4);

#define STEPS 4

void
main ()
{
  for (uint i = gl_GlobalInvocationID.x; i < COUNT; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      Values source = Values (sample_of (i));
      Indices begins = Indices (p.indices), lists = Indices (p.lists);
      const uint place = i % SAMPLE * LANES;
      uint begin[LANES + 1], longest = 0;
      Lanes y = lanes_fill (0.0);
      [[unroll]] for (uint lane = 0; lane <= LANES; lane++)
        begin[lane] = begins.v[place + lane];
      [[unroll]] for (uint lane = 0; lane < LANES; lane++)
        longest = max (longest, begin[lane + 1] - begin[lane]);
      for (uint step = 0; step < longest; step += STEPS)
        [[unroll]] for (uint j = 0; j < QUADS; j++)
          [[unroll]] for (uint k = 0; k < 4; k++)
            [[unroll]] for (uint next = 0; next < STEPS; next++)
              {
                const uint at = begin[4 * j + k] + step + next;
                if (at < begin[4 * j + k + 1])
                  y.q[j][k] += float (source.v[lists.v[at]]);
              }
      store (i, y);
    }
}
