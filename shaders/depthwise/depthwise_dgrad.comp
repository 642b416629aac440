#version 460
/* SPDX-License-Identifier: MIT */
/* dx[n][y][x][c] = sum over ky, kx of dy[n][oy][ox][c] * weight[ky][kx][c], where
 *   oy * STEP_H = y + PAD_H - ky and ox * STEP_W = x + PAD_W - kx have a solution inside of dy
 * Where steps are 1 depthwise_forward makes it.  An invocation makes eight channels of a pixel:
 * every element of dx collects its own, in the order of the taps.  ACCUMULATE=1 adds to dx. */
#include "types.glsl"
#include "depthwise.glsl"

void
main ()
{
  for (uint i = gl_GlobalInvocationID.x; i < PIECES; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      const uint column = i % CVECS, pixel = i / CVECS;
      const uint x = pixel % W, y = pixel / W % H, n = pixel / (W * H);
#ifdef ACCUMULATE
      Eight sum = eight_load (p.target, i);
#else
      Eight sum = Eight (vec4 (0.0), vec4 (0.0));
#endif
      [[unroll]] for (uint ky = 0; ky < TAPS_H; ky++)
        {
          /* wraps below zero, to rows that dy does not have */
          const uint from_y = y + PAD_H - ky, oy = from_y / STEP_H;
          if (from_y % STEP_H != 0 || oy >= OH)
            continue;
          [[unroll]] for (uint kx = 0; kx < TAPS_W; kx++)
            {
              const uint from_x = x + PAD_W - kx, ox = from_x / STEP_W;
              if (from_x % STEP_W == 0 && ox < OW)
                eight_add_product (sum,
                                   eight_load (p.a, ((n * OH + oy) * OW + ox) * CVECS + column),
                                   weight_load (ky, kx, column));
            }
        }
      eight_store (p.target, i, sum);
    }
}
