#version 460
/* SPDX-License-Identifier: MIT */
/* y = a + b; (N, H, W, C) all.  y may be a's own memory, as when a gradient is added to another. */
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
      Lanes a = lanes_load (p.a, i);
      Lanes b = lanes_load (p.b, i);
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        a.q[j] += b.q[j];
      lanes_store (p.target, i, a);
    }
}
