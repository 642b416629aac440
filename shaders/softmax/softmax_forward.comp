#version 460
/* SPDX-License-Identifier: MIT */
/* y[r] = exp (x[r] - max (x[r])) / sum (exp (x[r] - max (x[r]))), maximum and sum over the C values
 * of the row.  A workgroup takes LOCAL_Y rows at a time, each by LOCAL_X invocations; sums are
 * joined in a fixed order.  A row with NaN becomes NaN, since its sum is NaN. */
#include "types.glsl"
#include "lanes.glsl"
#include "softmax-push.h"
#include "softmax-rows.glsl"

DYNO_PUSH (DynoSoftmaxPush, p);

void
main ()
{
  const uint place = gl_LocalInvocationID.x, lane = gl_LocalInvocationID.y;
  const float lowest = uintBitsToFloat (0xff800000u);
  for (uint first = gl_WorkGroupID.x * LOCAL_Y; first < ROWS; first += gl_NumWorkGroups.x * LOCAL_Y)
    {
      const uint row = min (first + lane, ROWS - 1);
      float largest = lowest, sum = 0.0;
      for (uint i = place; i < CVECS; i += LOCAL_X)
        {
          const Lanes x = lanes_load (p.x, row * CVECS + i);
          [[unroll]] for (uint j = 0; j < QUADS; j++)
            {
              const vec4 q = inside_or (i, j, x.q[j], lowest);
              largest = max (largest, max (max (q.x, q.y), max (q.z, q.w)));
            }
        }
      largest = row_max (largest);
      for (uint i = place; i < CVECS; i += LOCAL_X)
        {
          const Lanes x = lanes_load (p.x, row * CVECS + i);
          [[unroll]] for (uint j = 0; j < QUADS; j++)
            {
              const vec4 e = inside (i, j, exp (x.q[j] - largest));
              sum += e.x + e.y + (e.z + e.w);
            }
        }
      const float factor = 1.0 / row_sum (vec2 (sum, 0.0)).x;
      for (uint i = place; i < CVECS && first + lane < ROWS; i += LOCAL_X)
        {
          Lanes x = lanes_load (p.x, row * CVECS + i);
          [[unroll]] for (uint j = 0; j < QUADS; j++)
            x.q[j] = inside (i, j, exp (x.q[j] - largest) * factor);
          lanes_store (p.y, row * CVECS + i, x);
        }
    }
}
