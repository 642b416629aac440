#version 460
/* SPDX-License-Identifier: MIT */
/* y[n][oy][ox][c] = bias[c] + sum over ky, kx of
 *   x[n][oy * STRIDE_H + ky - PAD_H][ox * STRIDE_W + kx - PAD_W][c] * weight[ky][kx][c]
 * An invocation makes eight channels of STRIP neighbours in a row of y: it loads a tap's weights
 * once for all of them.  BIAS=1: there is one. */
#include "types.glsl"
#include "depthwise.glsl"

void
main ()
{
  const uint strips = (OW + STRIP - 1) / STRIP;
  for (uint i = gl_GlobalInvocationID.x; i < COUNT; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      const uint column = i % CVECS, first = i / CVECS % strips * STRIP,
                 row = i / (CVECS * strips), oy = row % OH, n = row / OH;
      Eight sums[STRIP];
#ifdef BIAS
      const Eight start = Eight (FloatLanesIn (p.bias).v[column * 2],
                                 FloatLanesIn (p.bias).v[column * 2 + 1]);
#else
      const Eight start = Eight (vec4 (0.0), vec4 (0.0));
#endif
      [[unroll]] for (uint k = 0; k < STRIP; k++)
        sums[k] = start;
      [[unroll]] for (uint ky = 0; ky < TAPS_H; ky++)
        {
          /* wraps where the tap leads before the image: that is not below H either */
          const uint y = oy * STRIDE_H + ky - PAD_H;
          if (y >= H)
            continue;
          [[unroll]] for (uint kx = 0; kx < TAPS_W; kx++)
            {
              const Eight weight = eight_load (p.b, (ky * TAPS_W + kx) * CVECS + column);
              [[unroll]] for (uint k = 0; k < STRIP; k++)
                {
                  const uint x = (first + k) * STRIDE_W + kx - PAD_W;
                  if (x < W)
                    eight_add_product (
                        sums[k], eight_load (p.a, ((n * H + y) * W + x) * CVECS + column), weight);
                }
            }
        }
      [[unroll]] for (uint k = 0; k < STRIP; k++)
        if (first + k < OW)
          eight_store (p.target, (row * OW + first + k) * CVECS + column, sums[k]);
    }
}
