#version 460
/* SPDX-License-Identifier: MIT */
/* y = max (x, 0), NaN passes; (N, H, W, C) both. */
#include "types.glsl"
#include "lanes.glsl"
#include "elementwise-push.h"

layout (constant_id = DYNO_ELEMENTWISE_COUNT) const uint COUNT = 1;
DYNO_PUSH (DynoElementwisePush, p);

void
main ()
{
  for (uint i = gl_GlobalInvocationID.x; i < COUNT; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      Lanes x = lanes_load (p.a, i);
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        x.q[j] = relu (x.q[j]);
      lanes_store (p.target, i, x);
    }
}
