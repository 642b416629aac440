#version 460
/* SPDX-License-Identifier: MIT */
/* dx = gamma * invstd * (g - mean (g) - xhat * mean (g * xhat)), where g (N, H, W, C) gathers dy (N, OH, OW, C) from the windows
 * whose largest value lay here (batchnorm_pool keeps where).  An invocation takes a cell of STEP x STEP pixels and all windows that reach
 * into it: per axis WINDOWS of them, the first one FIRST after the cell's own number; so dy is loaded once a cell.  Sums in scan
 * order of the windows.  ACCUMULATE=1 adds to dx.  STRIDE as in batchnorm_apply. */
#include "types.glsl"
#include "lanes.glsl"
#include "batchnorm-push.h"

layout (constant_id = 0) const uint COUNT = 1; /* cells x CVECS */
layout (constant_id = 1) const uint CVECS = 1;
layout (constant_id = 2) const uint STRIDE = 1;
layout (constant_id = 3) const uint H = 1;
layout (constant_id = 4) const uint W = 1;
layout (constant_id = 5) const uint OH = 1;
layout (constant_id = 6) const uint OW = 1;
DYNO_PUSH (DynoBatchNormUnpoolPush, p);
DYNO_BUFFER_IN (Bytes, uint, 4);

#define CELLS_H ((H + STEP - 1) / STEP)
#define CELLS_W ((W + STEP - 1) / STEP)

void
main ()
{
  const uint first = gl_GlobalInvocationID.x;
  if (first >= STRIDE)
    return;
  const uint column = first % CVECS;
  const Lanes mean = lanes_load_floats (p.mean, column);
  const Lanes invstd = lanes_load_floats (p.invstd, column);
  const Lanes mean_dy = lanes_load_floats (p.sums, column);
  const Lanes mean_product = lanes_load_floats (p.sums, CVECS + column);
  Lanes factor = lanes_load_floats (p.gamma, column), slope, offset;
  [[unroll]] for (uint j = 0; j < QUADS; j++)
    {
      factor.q[j] *= invstd.q[j];
      slope.q[j] = factor.q[j] * invstd.q[j] * mean_product.q[j];
      offset.q[j] = factor.q[j] * mean_dy.q[j];
    }

  for (uint i = first; i < COUNT; i += STRIDE)
    {
      const uint cell = i / CVECS;
      const uint cw = cell % CELLS_W, ch = cell / CELLS_W % CELLS_H, n = cell / (CELLS_W * CELLS_H);
      Lanes dy[WINDOWS * WINDOWS];
      uint places[WINDOWS * WINDOWS * QUADS];
      [[unroll]] for (int a = 0; a < WINDOWS * WINDOWS; a++)
        {
          const uint oh = ch + (a / WINDOWS + FIRST), ow = cw + (a % WINDOWS + FIRST); /* wraps before the edge */
          const bool there = oh < OH && ow < OW;
          const uint o = there ? ((n * OH + oh) * OW + ow) * CVECS + column : column;
          dy[a] = lanes_load (p.dy, o);
          [[unroll]] for (uint j = 0; j < QUADS; j++)
            {
              const uint kept = Bytes (p.argmax).v[o * QUADS + j];
              places[a * QUADS + j] = there ? kept : 0xffffffffu;
            }
        }
      [[unroll]] for (int r = 0; r < STEP; r++)
        [[unroll]] for (int s = 0; s < STEP; s++)
          {
            const uint h = ch * STEP + r, w = cw * STEP + s;
            if (h >= H || w >= W)
              continue;
            const uint at = ((n * H + h) * W + w) * CVECS + column;
            const Lanes x = lanes_load (p.x, at);
            Lanes g = lanes_fill (0.0);
            [[unroll]] for (int a = 0; a < WINDOWS * WINDOWS; a++)
              {
                const int wr = r + PAD - (a / WINDOWS + FIRST) * STEP, ws = s + PAD - (a % WINDOWS + FIRST) * STEP;
                if (wr < 0 || wr >= WINDOW || ws < 0 || ws >= WINDOW)
                  continue;
                [[unroll]] for (uint j = 0; j < QUADS; j++)
                  {
                    const uvec4 place = (uvec4 (places[a * QUADS + j]) >> uvec4 (0, 8, 16, 24)) & 0xffu;
                    g.q[j] += mix (vec4 (0.0), dy[a].q[j], equal (place, uvec4 (wr * WINDOW + ws)));
                  }
              }
            [[unroll]] for (uint j = 0; j < QUADS; j++)
              g.q[j] = factor.q[j] * g.q[j] - (x.q[j] - mean.q[j]) * slope.q[j] - offset.q[j];
#ifdef ACCUMULATE
            lanes_store_sum (p.dx, at, g);
#else
            lanes_store (p.dx, at, g);
#endif
          }
    }
}
