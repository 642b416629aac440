#version 460
/* SPDX-License-Identifier: MIT */
/* y[n][i][c] = x[n][i][c] * s[n][c]; x, y (N, PIXELS, C), s (N, C). */
#include "types.glsl"
#include "lanes.glsl"
#include "elementwise-push.h"
#include "scale-push.h"

layout (constant_id = DYNO_ELEMENTWISE_COUNT) const uint COUNT = 1;
layout (constant_id = DYNO_SCALE_FORWARD_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_SCALE_FORWARD_PIXELS) const uint PIXELS = 1;
DYNO_PUSH (DynoElementwisePush, p);

void
main ()
{
  for (uint i = gl_GlobalInvocationID.x; i < COUNT; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      Lanes x = lanes_load (p.a, i);
      const Lanes s = lanes_load (p.b, i / (CVECS * PIXELS) * CVECS + i % CVECS);
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        x.q[j] *= s.q[j];
      lanes_store (p.target, i, x);
    }
}
