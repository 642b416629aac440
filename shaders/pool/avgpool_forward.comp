#version 460
/* SPDX-License-Identifier: MIT */
/* y (N, C) = mean of x (N, PIXELS, C) over the pixels.  A workgroup takes one sample, LOCAL_X
 * accesses of its channels and SPLIT of its pixels (z); invocation (i, j) takes every LOCAL_Y-th of
 * these pixels; the order of the sums is fixed.  PARTIALS=1 writes fp32 shares of the mean,
 * [split][n][c], for conv2d/join.comp. */
#include "types.glsl"
#include "lanes.glsl"
#include "pool-push.h"

layout (constant_id = DYNO_AVG_POOL_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_AVG_POOL_PIXELS) const uint PIXELS = 1;
layout (constant_id = DYNO_AVG_POOL_SAMPLES) const uint SAMPLES = 1;
layout (constant_id = DYNO_AVG_POOL_SPLIT) const uint SPLIT = 1;
DYNO_PUSH (DynoAvgPoolPush, p);

shared vec4 sums[LOCAL_X * LOCAL_Y * QUADS];

void
main ()
{
  const uint lane = gl_LocalInvocationID.y, place = gl_LocalInvocationID.x;
  const uint column = gl_WorkGroupID.x * LOCAL_X + place, first = gl_WorkGroupID.z * SPLIT;
  const uint end = min (first + SPLIT, PIXELS);
  for (uint n = gl_WorkGroupID.y; n < SAMPLES; n += gl_NumWorkGroups.y)
    {
      Lanes sum = lanes_fill (0.0);
      if (column < CVECS)
        for (uint i = first + lane; i < end; i += LOCAL_Y)
          {
            const Lanes x = lanes_load (p.source, (n * PIXELS + i) * CVECS + column);
            [[unroll]] for (uint j = 0; j < QUADS; j++)
              sum.q[j] += x.q[j];
          }
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        sums[(lane * LOCAL_X + place) * QUADS + j] = sum.q[j];
      barrier ();
      if (lane == 0 && column < CVECS)
        {
          for (uint i = 1; i < LOCAL_Y; i++)
            [[unroll]] for (uint j = 0; j < QUADS; j++)
              sum.q[j] += sums[(i * LOCAL_X + place) * QUADS + j];
          [[unroll]] for (uint j = 0; j < QUADS; j++)
            sum.q[j] *= 1.0 / float (PIXELS);
#ifdef PARTIALS
          lanes_store_floats (p.target, (gl_WorkGroupID.z * SAMPLES + n) * CVECS + column, sum);
#else
          lanes_store (p.target, n * CVECS + column, sum);
#endif
        }
      barrier ();
    }
}
