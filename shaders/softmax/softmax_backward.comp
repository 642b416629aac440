#version 460
/* SPDX-License-Identifier: MIT */
/* dx[r] = y[r] (dy[r] - sum (dy[r] y[r]) / sum (y[r])), sums over the C values of the row.  The sum
 * of y[r] is 1 but for the rounding of y to fp16, which the quotient takes out: where one y is near
 * 1, its factor is a small difference.  dx may be dy's own memory: each invocation writes only
 * values that it alone reads again.  ACCUMULATE=1 adds to dx.  Workgroups are as in
 * softmax_forward. */
#include "types.glsl"
#include "lanes.glsl"
#include "softmax-push.h"
#include "softmax-rows.glsl"

DYNO_PUSH (DynoSoftmaxBackwardPush, p);

void
main ()
{
  const uint place = gl_LocalInvocationID.x, lane = gl_LocalInvocationID.y;
  for (uint first = gl_WorkGroupID.x * LOCAL_Y; first < ROWS; first += gl_NumWorkGroups.x * LOCAL_Y)
    {
      const uint row = min (first + lane, ROWS - 1);
      vec2 sums = vec2 (0.0);
      for (uint i = place; i < CVECS; i += LOCAL_X)
        {
          const Lanes y = lanes_load (p.y, row * CVECS + i),
                      dy = lanes_load (p.dy, row * CVECS + i);
          [[unroll]] for (uint j = 0; j < QUADS; j++)
            sums += vec2 (dot (y.q[j], dy.q[j]), y.q[j].x + y.q[j].y + (y.q[j].z + y.q[j].w));
        }
      sums = row_sum (sums);
      const float mean = sums.x / sums.y;
      for (uint i = place; i < CVECS && first + lane < ROWS; i += LOCAL_X)
        {
          const Lanes y = lanes_load (p.y, row * CVECS + i);
          Lanes dy = lanes_load (p.dy, row * CVECS + i);
          [[unroll]] for (uint j = 0; j < QUADS; j++)
            dy.q[j] = inside (i, j, y.q[j] * (dy.q[j] - mean));
#ifdef ACCUMULATE
          lanes_store_sum (p.dx, row * CVECS + i, dy);
#else
          lanes_store (p.dx, row * CVECS + i, dy);
#endif
        }
    }
}
