#version 460
/* SPDX-License-Identifier: MIT */
/* dx (N, H, W, C) = sum over the windows that contain this place of dy (N, OH, OW, C) / number of
 * places of the window, see window.glsl.  Every element of dx has its own sum, in scan order of the
 * windows.  ACCUMULATE=1 adds to dx. */
#include "types.glsl"
#include "lanes.glsl"
#include "window.glsl"

DYNO_PUSH (DynoAvgPoolPush, p);

void
main ()
{
  for (uint i = gl_GlobalInvocationID.x; i < COUNT; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      const uint column = i % CVECS, pixel = i / CVECS, n = pixel / (W * H);
      const uvec2 rows = windows_with (pixel / W % H, H, OH, KERNEL_H, STEP_H, PAD_H),
                  columns = windows_with (pixel % W, W, OW, KERNEL_W, STEP_W, PAD_W);
      Lanes sum = lanes_fill (0.0);
      for (uint oh = rows.x; oh < rows.y; oh++)
        {
          const uint height = window_rows (oh).z;
          for (uint ow = columns.x; ow < columns.y; ow++)
            {
              const float share = 1.0 / float (height * window_columns (ow).z);
              const Lanes dy = lanes_load (p.source, ((n * OH + oh) * OW + ow) * CVECS + column);
              [[unroll]] for (uint j = 0; j < QUADS; j++)
                sum.q[j] += dy.q[j] * share;
            }
        }
#ifdef ACCUMULATE
      lanes_store_sum (p.target, i, sum);
#else
      lanes_store (p.target, i, sum);
#endif
    }
}
