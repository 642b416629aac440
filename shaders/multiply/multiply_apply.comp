#version 460
/* SPDX-License-Identifier: MIT */
/* y = a * b; (N, H, W, C) all.  y may be a's own memory, as when dx overwrites dy.
 * ACCUMULATE=1 adds to y. */
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
      const Lanes b = lanes_load (p.b, i);
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        a.q[j] *= b.q[j];
#ifdef ACCUMULATE
      lanes_store_sum (p.target, i, a);
#else
      lanes_store (p.target, i, a);
#endif
    }
}
