#version 460
/* SPDX-License-Identifier: MIT */
/* y[r][c] = x[r][c] * v[c], with TERM=1 x[r][c] + v[c]; x, y (rows, C), v floats (C). */
#include "types.glsl"
#include "lanes.glsl"
#include "elementwise-push.h"

layout (constant_id = DYNO_ELEMENTWISE_COUNT) const uint COUNT = 1;
layout (constant_id = DYNO_CHANNELWISE_CVECS) const uint CVECS = 1;
DYNO_PUSH (DynoElementwisePush, p);

void
main ()
{
  for (uint i = gl_GlobalInvocationID.x; i < COUNT; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      Lanes x = lanes_load (p.a, i);
      const Lanes v = lanes_load_floats (p.b, i % CVECS);
      [[unroll]] for (uint j = 0; j < QUADS; j++)
#ifdef TERM
        x.q[j] += v.q[j];
#else
        x.q[j] *= v.q[j];
#endif
      lanes_store (p.target, i, x);
    }
}
