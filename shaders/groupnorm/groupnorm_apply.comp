#version 460
/* SPDX-License-Identifier: MIT */
/* y = (x - mean) invstd, with mean and invstd of each group of each sample; BACKWARD=1:
 * dx = invstd (dy - mean (dy) - xhat mean (dy xhat)), ACCUMULATE=1 adds to dx.  Pad channels are
 * zero. */
#include "types.glsl"
#include "lanes.glsl"
#include "groupnorm-push.h"
#include "groupnorm.glsl"

/* The results for a quad of x (and dy in the backward pass); unit: each channel's group. */
vec4
normalise (vec4 x, vec4 dy, uvec4 unit)
{
  vec4 result;
  [[unroll]] for (uint k = 0; k < 4; k++)
    {
      const vec2 row = PairsIn (p.rows).v[unit[k]];
#ifdef BACKWARD
      const vec2 mean = PairsIn (p.sums).v[unit[k]];
      result[k] = row.y * (dy[k] - mean.x - x[k] * mean.y);
#else
      result[k] = (x[k] - row.x) * row.y;
#endif
    }
  return result;
}

void
main ()
{
  const uint samples = UNITS / GROUPS, count = samples * PIXELS * CVECS;
  for (uint i = gl_GlobalInvocationID.x; i < count; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      const uint access = i % CVECS, unit = i / (PIXELS * CVECS) * GROUPS;
      Lanes x = lanes_load (p.x, i);
#ifdef BACKWARD
      const Lanes dy = lanes_load (p.dy, i);
#else
      const Lanes dy = x;
#endif
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        {
          const uvec4 c = quad_channels (access, j), group = min (c / CHANNELS, uvec4 (GROUPS - 1));
          x.q[j] = mix (vec4 (0.0), normalise (x.q[j], dy.q[j], unit + group),
                        lessThan (c, uvec4 (GROUPS * CHANNELS)));
        }
#ifdef ACCUMULATE
      lanes_store_sum (p.y, i, x);
#else
      lanes_store (p.y, i, x);
#endif
    }
}
