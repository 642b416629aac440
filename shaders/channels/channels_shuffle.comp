#version 460
/* SPDX-License-Identifier: MIT */
/* y[pixel][i * GROUPS + g] = x[pixel][g * (C / GROUPS) + i] for i below C / GROUPS and g below
 * GROUPS; ACCUMULATE=1 adds to y.  The opposite direction is the same with C / GROUPS groups. */
#include "types.glsl"
#include "lanes.glsl"
#include "channels-push.h"
#include "elementwise-push.h"

layout (constant_id = DYNO_ELEMENTWISE_COUNT) const uint COUNT = 1;
layout (constant_id = DYNO_SHUFFLE_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_SHUFFLE_C) const uint C = 1;
layout (constant_id = DYNO_SHUFFLE_GROUPS) const uint GROUPS = 1;
DYNO_PUSH (DynoElementwisePush, p);
#ifdef HALF
DYNO_BUFFER_IN (Values, float16_t, 2);
#else
DYNO_BUFFER_IN (Values, float, 4);
#endif

float
value_at (Values pixel, uint c)
{
  return c < C ? float (pixel.v[c % GROUPS * (C / GROUPS) + c / GROUPS]) : 0.0;
}

void
main ()
{
  for (uint i = gl_GlobalInvocationID.x; i < COUNT; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      Values pixel = Values (p.a + uint64_t (i / CVECS) * (CVECS * 16));
      Lanes y;
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        [[unroll]] for (uint k = 0; k < 4; k++)
          y.q[j][k] = value_at (pixel, i % CVECS * LANES + 4 * j + k);
#ifdef ACCUMULATE
      lanes_store_sum (p.target, i, y);
#else
      lanes_store (p.target, i, y);
#endif
    }
}
