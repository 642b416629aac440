#version 460
/* SPDX-License-Identifier: MIT */
/* dx[r] = invstd (g - mean (g) - xhat mean (g xhat)), g = dy[r] gamma, xhat = (x[r] - mean) invstd,
 * means over the C values of the row.  ACCUMULATE=1 adds to dx.  Workgroups are as in
 * layernorm_forward. */
#include "types.glsl"
#include "lanes.glsl"
#include "layernorm-push.h"
#include "layernorm.glsl"

DYNO_PUSH (DynoLayerNormBackwardPush, p);
DYNO_BUFFER_IN (Rows, vec2, 8);

void
main ()
{
  const uint place = gl_LocalInvocationID.x, lane = gl_LocalInvocationID.y;
  for (uint first = gl_WorkGroupID.x * LOCAL_Y; first < ROWS; first += gl_NumWorkGroups.x * LOCAL_Y)
    {
      const uint row = min (first + lane, ROWS - 1);
      const vec2 kept = Rows (p.rows).v[row];
      vec2 sums = vec2 (0.0);
      for (uint i = place; i < CVECS; i += LOCAL_X)
        {
          const Lanes x = lanes_load (p.x, row * CVECS + i),
                      dy = lanes_load (p.dy, row * CVECS + i),
                      gamma = lanes_load_floats (p.gamma, i);
          [[unroll]] for (uint j = 0; j < QUADS; j++)
            {
              const vec4 g = dy.q[j] * gamma.q[j], xhat = (x.q[j] - kept.x) * kept.y;
              sums += vec2 (g.x + g.y + (g.z + g.w), dot (g, xhat));
            }
        }
      sums = row_sum (sums) / float (C);
      for (uint i = place; i < CVECS && first + lane < ROWS; i += LOCAL_X)
        {
          Lanes x = lanes_load (p.x, row * CVECS + i);
          const Lanes dy = lanes_load (p.dy, row * CVECS + i),
                      gamma = lanes_load_floats (p.gamma, i);
          [[unroll]] for (uint j = 0; j < QUADS; j++)
            {
              const vec4 xhat = (x.q[j] - kept.x) * kept.y;
              x.q[j] = inside (i, j, kept.y * (dy.q[j] * gamma.q[j] - sums.x - xhat * sums.y));
            }
#ifdef ACCUMULATE
          lanes_store_sum (p.dx, row * CVECS + i, x);
#else
          lanes_store (p.dx, row * CVECS + i, x);
#endif
        }
    }
}
