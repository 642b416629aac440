#version 460
/* SPDX-License-Identifier: MIT */
/* For each group of CHANNELS channels of each sample of x (N, H, W, C): the mean and 1 / sqrt
 * (variance + EPSILON), where the variance is the mean of the squared distances from the mean,
 * computed in a second pass.  BACKWARD=1: x is xhat, and the means are of dy and of dy xhat.
 * A workgroup takes a group at a time; sums are joined in a fixed order. */
#include "types.glsl"
#include "lanes.glsl"
#include "groupnorm-push.h"
#include "groupnorm.glsl"

layout (constant_id = DYNO_GROUP_NORM_EPSILON) const float EPSILON = 1e-5;
DYNO_BUFFER_OUT (PairsOut, vec2, 8);

shared vec2 parts[LOCAL_X];

/* The mean over the group from the sums of the invocations; each invocation gets it. */
vec2
group_mean (vec2 part)
{
  barrier (); /* the previous mean has been read */
  parts[gl_LocalInvocationIndex] = part;
  LANES_SUM (parts);
  return parts[0] / (float (PIXELS) * float (CHANNELS));
}

/* Values of quad j of an access, zero outside of the group. */
vec4
inside (uint access, uint j, uint first, vec4 x)
{
  const uvec4 c = quad_channels (access, j) - first; /* wraps for the channels before the group */
  return mix (vec4 (0.0), x, lessThan (c, uvec4 (CHANNELS)));
}

void
main ()
{
  for (uint unit = gl_WorkGroupID.x; unit < UNITS; unit += gl_NumWorkGroups.x)
    {
      const uint pixel = unit / GROUPS * PIXELS, first = unit % GROUPS * CHANNELS;
      const uint begin = first / LANES, width = (first + CHANNELS - 1) / LANES - begin + 1;
      vec2 sums = vec2 (0.0);
      for (uint i = gl_LocalInvocationIndex; i < PIXELS * width; i += LOCAL_X)
        {
          const uint access = begin + i % width, at = (pixel + i / width) * CVECS + access;
          const Lanes x = lanes_load (p.x, at);
#ifdef BACKWARD
          const Lanes dy = lanes_load (p.dy, at);
#endif
          [[unroll]] for (uint j = 0; j < QUADS; j++)
            {
#ifdef BACKWARD
              const vec4 d = inside (access, j, first, dy.q[j]);
              sums += vec2 (d.x + d.y + (d.z + d.w), dot (d, x.q[j]));
#else
              const vec4 d = inside (access, j, first, x.q[j]);
              sums.x += d.x + d.y + (d.z + d.w);
#endif
            }
        }
      const vec2 mean = group_mean (sums);
#ifdef BACKWARD
      if (gl_LocalInvocationIndex == 0)
        PairsOut (p.sums).v[unit] = mean;
#else
      float square = 0.0;
      for (uint i = gl_LocalInvocationIndex; i < PIXELS * width; i += LOCAL_X)
        {
          const uint access = begin + i % width;
          const Lanes x = lanes_load (p.x, (pixel + i / width) * CVECS + access);
          [[unroll]] for (uint j = 0; j < QUADS; j++)
            {
              const vec4 d = inside (access, j, first, x.q[j] - mean.x);
              square += dot (d, d);
            }
        }
      const float variance = group_mean (vec2 (square, 0.0)).x;
      if (gl_LocalInvocationIndex == 0)
        PairsOut (p.rows).v[unit] = vec2 (mean.x, inversesqrt (variance + EPSILON));
#endif
    }
}
