#version 460
/* SPDX-License-Identifier: MIT */
/* dx = y > 0 ? dy : 0; (N, H, W, C) all.  dx may be dy's own memory.  ACCUMULATE=1 adds to dx. */
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
      Lanes y = lanes_load (p.a, i);
      Lanes dy = lanes_load (p.b, i);
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        dy.q[j] = mix (vec4 (0.0), dy.q[j], greaterThan (y.q[j], vec4 (0.0)));
#ifdef ACCUMULATE
      lanes_store_sum (p.target, i, dy);
#else
      lanes_store (p.target, i, dy);
#endif
    }
}
