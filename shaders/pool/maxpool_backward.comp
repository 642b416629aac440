#version 460
/* SPDX-License-Identifier: MIT */
/* dx (N, H, W, C) = sum of dy (N, OH, OW, C) over the windows whose largest value lies at this
 * place.  Every element of dx has its own sum, in scan order of the windows.
 * ACCUMULATE=1 adds to dx. */
#include "types.glsl"
#include "lanes.glsl"
#include "pool-push.h"

layout (constant_id = DYNO_MAX_POOL_COUNT) const uint COUNT = 1; /* accesses in dx */
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
DYNO_PUSH (DynoMaxPoolBackwardPush, p);
DYNO_BUFFER_IN (Bytes, uint, 4);

void
main ()
{
  for (uint i = gl_GlobalInvocationID.x; i < COUNT; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      const uint column = i % CVECS, pixel = i / CVECS;
      const uint w = pixel % W + PAD_W, h = pixel / W % H + PAD_H, n = pixel / (W * H);
      /* windows with o * STEP_H <= h < o * STEP_H + KERNEL_H */
      const uint first_h = h >= KERNEL_H ? (h - KERNEL_H) / STEP_H + 1 : 0,
                 last_h = min (h / STEP_H + 1, OH);
      const uint first_w = w >= KERNEL_W ? (w - KERNEL_W) / STEP_W + 1 : 0,
                 last_w = min (w / STEP_W + 1, OW);
      Lanes dx = lanes_fill (0.0);
      for (uint oh = first_h; oh < last_h; oh++)
        for (uint ow = first_w; ow < last_w; ow++)
          {
            const uint o = ((n * OH + oh) * OW + ow) * CVECS + column;
            const uint here = (h - oh * STEP_H) * KERNEL_W + w - ow * STEP_W;
            const Lanes dy = lanes_load (p.dy, o);
            [[unroll]] for (uint j = 0; j < QUADS; j++)
              {
                const uint places = Bytes (p.argmax).v[o * QUADS + j];
                const uvec4 place = (uvec4 (places) >> uvec4 (0, 8, 16, 24)) & 0xffu;
                dx.q[j] += mix (vec4 (0.0), dy.q[j], equal (place, uvec4 (here)));
              }
          }
#ifdef ACCUMULATE
      lanes_store_sum (p.dx, i, dx);
#else
      lanes_store (p.dx, i, dx);
#endif
    }
}
