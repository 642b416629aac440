#version 460
/* SPDX-License-Identifier: MIT */
/* y = f (x), f by ACTIVATION, NaN passes; (N, H, W, C) both.  PADDED=1: f (0) is not 0; channels
 * from C on are pads and stay zero. */
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
      Lanes x = lanes_load (p.a, i);
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        {
          x.q[j] = activate (x.q[j]);
#ifdef PADDED
          const uvec4 c = i % CVECS * LANES + j * 4 + uvec4 (0, 1, 2, 3);
          x.q[j] = mix (vec4 (0.0), x.q[j], lessThan (c, uvec4 (C)));
#endif
        }
      lanes_store (p.target, i, x);
    }
}
