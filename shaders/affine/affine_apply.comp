#version 460
/* SPDX-License-Identifier: MIT */
/* y = FACTOR * a + OFFSET; (N, H, W, C) both.  y may be a's own memory, as when dx overwrites dy.
 * ACCUMULATE=1 adds to y.  PADDED=1: channels from C on are pads and stay zero. */
#include "types.glsl"
#include "lanes.glsl"
#include "elementwise-push.h"

layout (constant_id = DYNO_ELEMENTWISE_COUNT) const uint COUNT = 1;
layout (constant_id = DYNO_AFFINE_FACTOR) const uint FACTOR = 0;
layout (constant_id = DYNO_AFFINE_OFFSET) const uint OFFSET = 0;
layout (constant_id = DYNO_AFFINE_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_AFFINE_C) const uint C = 1;
DYNO_PUSH (DynoElementwisePush, p);

void
main ()
{
  const float factor = uintBitsToFloat (FACTOR), offset = uintBitsToFloat (OFFSET);
  for (uint i = gl_GlobalInvocationID.x; i < COUNT; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      Lanes a = lanes_load (p.a, i);
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        {
          a.q[j] = a.q[j] * factor + offset;
#ifdef PADDED
          const uvec4 c = i % CVECS * LANES + j * 4 + uvec4 (0, 1, 2, 3);
          a.q[j] = mix (vec4 (0.0), a.q[j], lessThan (c, uvec4 (C)));
#endif
        }
#ifdef ACCUMULATE
      lanes_store_sum (p.target, i, a);
#else
      lanes_store (p.target, i, a);
#endif
    }
}
