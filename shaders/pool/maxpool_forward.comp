#version 460
/* SPDX-License-Identifier: MIT */
/* y (N, OH, OW, C) = the largest of x (N, H, W, C) in a window of KERNEL_H x KERNEL_W; positions
 * outside x, which are never all positions of a window, count as -inf; the first of equal values in
 * scan order wins, and NaN (the last one) wins over all numbers, as in PyTorch.  ARGMAX=1 keeps the
 * place in the window, one byte per element. */
#include "types.glsl"
#include "lanes.glsl"
#include "pool-push.h"

layout (constant_id = DYNO_MAX_POOL_COUNT) const uint COUNT = 1; /* accesses in y */
layout (constant_id = DYNO_MAX_POOL_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_MAX_POOL_H) const uint H = 1;
layout (constant_id = DYNO_MAX_POOL_W) const uint W = 1;
layout (constant_id = DYNO_MAX_POOL_OH) const uint OH = 1;
layout (constant_id = DYNO_MAX_POOL_OW) const uint OW = 1;
layout (constant_id = DYNO_MAX_POOL_KERNEL_H) const uint KERNEL_H = 1;
layout (constant_id = DYNO_MAX_POOL_KERNEL_W) const uint KERNEL_W = 1;
layout (constant_id = DYNO_MAX_POOL_STEP_H) const uint STEP_H = 1;
layout (constant_id = DYNO_MAX_POOL_STEP_W) const uint STEP_W = 1;
layout (constant_id = DYNO_MAX_POOL_PAD_H) const uint PAD_H = 0;
layout (constant_id = DYNO_MAX_POOL_PAD_W) const uint PAD_W = 0;
DYNO_PUSH (DynoMaxPoolPush, p);
DYNO_BUFFER_OUT (Bytes, uint, 4);

void
main ()
{
  for (uint i = gl_GlobalInvocationID.x; i < COUNT; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      const uint column = i % CVECS, pixel = i / CVECS;
      const uint ow = pixel % OW, oh = pixel / OW % OH, n = pixel / (OW * OH);
      Lanes best = lanes_fill (uintBitsToFloat (0xff800000u));
      uvec4 place[QUADS];
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        place[j] = uvec4 (0xffffffffu);
      for (uint r = 0; r < KERNEL_H; r++)
        for (uint s = 0; s < KERNEL_W; s++)
          {
            /* a negative position wraps to a large number */
            const uint h = oh * STEP_H + r - PAD_H, w = ow * STEP_W + s - PAD_W;
            if (h >= H || w >= W)
              continue;
            const Lanes x = lanes_load (p.x, ((n * H + h) * W + w) * CVECS + column);
            [[unroll]] for (uint j = 0; j < QUADS; j++)
              [[unroll]] for (uint k = 0; k < 4; k++)
                {
                  const uint bits = floatBitsToUint (x.q[j][k]) & 0x7fffffffu;
                  if (x.q[j][k] > best.q[j][k] || bits > 0x7f800000u || place[j][k] == 0xffffffffu)
                    {
                      best.q[j][k] = x.q[j][k];
                      place[j][k] = r * KERNEL_W + s;
                    }
                }
          }
      lanes_store (p.y, i, best);
#ifdef ARGMAX
      [[unroll]] for (uint j = 0; j < QUADS; j++) Bytes (p.argmax).v[i * QUADS + j] =
          place[j].x | place[j].y << 8 | place[j].z << 16 | place[j].w << 24;
#endif
    }
}
