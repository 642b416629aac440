#version 460
/* SPDX-License-Identifier: MIT */
/* y (N, OH, OW, C) = mean of x (N, H, W, C) over the places of each window, see window.glsl. */
#include "types.glsl"
#include "lanes.glsl"
#include "window.glsl"

DYNO_PUSH (DynoAvgPoolPush, p);

void
main ()
{
  for (uint i = gl_GlobalInvocationID.x; i < COUNT; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      const uint column = i % CVECS, pixel = i / CVECS, n = pixel / (OW * OH);
      const uvec3 rows = window_rows (pixel / OW % OH), columns = window_columns (pixel % OW);
      Lanes sum = lanes_fill (0.0);
      for (uint h = rows.x; h < rows.y; h++)
        for (uint w = columns.x; w < columns.y; w++)
          {
            const Lanes x = lanes_load (p.source, ((n * H + h) * W + w) * CVECS + column);
            [[unroll]] for (uint j = 0; j < QUADS; j++)
              sum.q[j] += x.q[j];
          }
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        sum.q[j] *= 1.0 / float (rows.z * columns.z);
      lanes_store (p.target, i, sum);
    }
}
