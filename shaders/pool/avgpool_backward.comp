#version 460
/* SPDX-License-Identifier: MIT */
/* dx (N, PIXELS, C) = dy (N, C) / PIXELS.  ACCUMULATE=1 adds to dx. */
#include "types.glsl"
#include "lanes.glsl"
#include "pool-push.h"

layout (constant_id = DYNO_AVG_POOL_COUNT) const uint COUNT = 1; /* accesses in dx */
layout (constant_id = DYNO_AVG_POOL_BACKWARD_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_AVG_POOL_BACKWARD_PIXELS) const uint PIXELS = 1;
DYNO_PUSH (DynoAvgPoolPush, p);

void
main ()
{
  for (uint i = gl_GlobalInvocationID.x; i < COUNT; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      Lanes dx = lanes_load (p.source, i / (CVECS * PIXELS) * CVECS + i % CVECS);
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        dx.q[j] *= 1.0 / float (PIXELS);
#ifdef ACCUMULATE
      lanes_store_sum (p.target, i, dx);
#else
      lanes_store (p.target, i, dx);
#endif
    }
}
