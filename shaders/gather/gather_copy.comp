#version 460
/* SPDX-License-Identifier: MIT */
/* target[n][i] = source[n][indices[i]] for all elements i in memory of a sample of the target,
 * where a negative index gives 0.  ALIGNED=1: there is one index for each access of the target, and
 * it counts accesses of the source.  ACCUMULATE=1 adds to the target.  An invocation gathers one
 * access. */
#include "types.glsl"
#include "gather.glsl"

#ifdef ALIGNED
DYNO_BUFFER_IN (Indices, int, 4);
#else
DYNO_BUFFER_IN (Indices, ivec4, 16);
#endif

void
main ()
{
  for (uint i = gl_GlobalInvocationID.x; i < COUNT; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      const uint place = i % SAMPLE;
      const uint64_t source = sample_of (i);
      Lanes y = lanes_fill (0.0);
#ifdef ALIGNED
      const int at = Indices (p.indices).v[place];
      if (at >= 0)
#ifdef FROM_FLOATS
        y = lanes_load_floats (source, uint (at));
#else
        y = lanes_load (source, uint (at));
#endif
#else
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        {
          const ivec4 at = Indices (p.indices).v[place * QUADS + j];
          [[unroll]] for (uint k = 0; k < 4; k++)
            if (at[k] >= 0)
              y.q[j][k] = float (Values (source).v[at[k]]);
        }
#endif
      store (i, y);
    }
}
