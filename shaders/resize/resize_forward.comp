#version 460
/* SPDX-License-Identifier: MIT */
/* y (N, OH, OW, C) = x (N, H, W, C) at the positions of y's pixels, see places.glsl: one pixel of
 * x, or with LINEAR=1 the weighted mean of the four pixels around the position. */
#include "types.glsl"
#include "lanes.glsl"
#include "places.glsl"

DYNO_PUSH (DynoResizePush, p);

void
main ()
{
  for (uint i = gl_GlobalInvocationID.x; i < COUNT; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      const uint column = i % CVECS, pixel = i / CVECS, n = pixel / (OW * OH);
      const Between row = between (pixel / OW % OH, H, STEP_H, BIAS_H, UNIT_H),
                    line = between (pixel % OW, W, STEP_W, BIAS_W, UNIT_W);
      const uint before = (n * H + row.before) * W;
#ifdef LINEAR
      const uint after = (n * H + row.after) * W;
      const Lanes a = lanes_load (p.source, (before + line.before) * CVECS + column),
                  b = lanes_load (p.source, (before + line.after) * CVECS + column),
                  c = lanes_load (p.source, (after + line.before) * CVECS + column),
                  d = lanes_load (p.source, (after + line.after) * CVECS + column);
      Lanes y;
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        y.q[j] = (a.q[j] * (1.0 - line.share) + b.q[j] * line.share) * (1.0 - row.share)
                 + (c.q[j] * (1.0 - line.share) + d.q[j] * line.share) * row.share;
      lanes_store (p.target, i, y);
#else
      words_store (p.target, i, words_load (p.source, (before + line.before) * CVECS + column));
#endif
    }
}
