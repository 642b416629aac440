#version 460
/* SPDX-License-Identifier: MIT */
/* dx = dy * f' (x), f by ACTIVATION; (N, H, W, C) all.  a is y = f (x); with FROM_X=1 it is x.  dx
 * may be dy's own memory.  ACCUMULATE=1 adds to dx.  PADDED=1: f' (0) is not finite; channels from
 * C on are pads and stay zero. */
#include "types.glsl"
#include "lanes.glsl"
#include "activation.glsl"
#include "elementwise-push.h"

layout (constant_id = DYNO_ELEMENTWISE_COUNT) const uint COUNT = 1;
layout (constant_id = DYNO_ACTIVATION_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_ACTIVATION_C) const uint C = 1;
DYNO_PUSH (DynoElementwisePush, p);

void
main ()
{
  for (uint i = gl_GlobalInvocationID.x; i < COUNT; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      const Lanes a = lanes_load (p.a, i);
      Lanes dy = lanes_load (p.b, i);
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        {
#ifdef FROM_X
          dy.q[j] = activation_slope_of_x (a.q[j], dy.q[j]);
#else
          dy.q[j] = activation_slope_of_y (a.q[j], dy.q[j]);
#endif
#ifdef PADDED
          const uvec4 c = i % CVECS * LANES + j * 4 + uvec4 (0, 1, 2, 3);
          dy.q[j] = mix (vec4 (0.0), dy.q[j], lessThan (c, uvec4 (C)));
#endif
        }
#ifdef ACCUMULATE
      lanes_store_sum (p.target, i, dy);
#else
      lanes_store (p.target, i, dy);
#endif
    }
}
