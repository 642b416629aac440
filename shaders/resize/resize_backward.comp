#version 460
/* SPDX-License-Identifier: MIT */
/* dx (N, H, W, C) = sum of dy (N, OH, OW, C) over the pixels of y to which this pixel of x
 * contributes, each times the weight of the pixel of x in it, see places.glsl.  Every element of dx
 * has its own sum, in scan order of dy.  ACCUMULATE=1 adds to dx. */
#include "types.glsl"
#include "lanes.glsl"
#include "places.glsl"

DYNO_PUSH (DynoResizePush, p);

void
main ()
{
  for (uint i = gl_GlobalInvocationID.x; i < COUNT; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      const uint column = i % CVECS, pixel = i / CVECS, n = pixel / (W * H), h = pixel / W % H,
                 w = pixel % W;
      const uvec2 rows = pixels_with (h, H, OH, STEP_H, BIAS_H, UNIT_H),
                  lines = pixels_with (w, W, OW, STEP_W, BIAS_W, UNIT_W);
      Lanes sum = lanes_fill (0.0);
      for (uint oh = rows.x; oh < rows.y; oh++)
        {
#ifdef LINEAR
          const float part = part_of (h, between (oh, H, STEP_H, BIAS_H, UNIT_H));
#endif
          for (uint ow = lines.x; ow < lines.y; ow++)
            {
              const Lanes dy = lanes_load (p.source, ((n * OH + oh) * OW + ow) * CVECS + column);
#ifdef LINEAR
              const float share = part * part_of (w, between (ow, W, STEP_W, BIAS_W, UNIT_W));
#else
              const float share = 1.0;
#endif
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
