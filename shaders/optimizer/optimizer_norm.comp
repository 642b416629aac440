#version 460
/* SPDX-License-Identifier: MIT */
/* The sum of squares of the unscaled gradients, and the number of accesses with an Inf or NaN, over
 * a workgroup's share of the flat memory. */
#include "types.glsl"
#include "lanes.glsl"
#include "optimizer-push.h"
#include "step.h"

layout (constant_id = DYNO_OPTIMIZER_COUNT) const uint COUNT = 1; /* accesses */
DYNO_PUSH (DynoOptimizerNormPush, p);
DYNO_BUFFER_OUT (Partials, vec2, 8);
DYNO_BUFFER_IN (Scaler, DynoScalerState, 4);

shared vec2 parts[LOCAL_X];

void
main ()
{
  const uint lane = gl_LocalInvocationID.x;
  const float unscale = 1.0 / Scaler (p.scaler).v[0].scale;
  vec2 sum = vec2 (0.0);
  for (uint i = gl_GlobalInvocationID.x; i < COUNT; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      const Lanes g = lanes_load (p.gradient, i);
      const vec4 value = g.q[0] * unscale;
      sum.x += dot (value, value);
      const uvec4 bits = floatBitsToUint (g.q[0]) & 0x7f800000u;
      sum.y += any (equal (bits, uvec4 (0x7f800000u))) ? 1.0 : 0.0;
    }
  parts[lane] = sum;
  LANES_SUM (parts)
  if (lane == 0)
    Partials (p.partials).v[gl_WorkGroupID.x] = parts[0];
}
