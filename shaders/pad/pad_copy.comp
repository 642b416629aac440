#version 460
/* SPDX-License-Identifier: MIT */
/* target (N, H, W, C): target[n][h][w][c] = source[n][h - TOP][w - LEFT][c - FRONT] where the
 * source (N, SOURCE_H, SOURCE_W, SOURCE_C) has that position, else VALUE.  A negative pad, which
 * crops, is stored modulo 2^32; a position before the source wraps likewise, and so is larger than
 * the source.  ALIGNED=1: FRONT is a multiple of an access.  ACCUMULATE=1 adds to the target. */
#include "types.glsl"
#include "lanes.glsl"
#include "pad-push.h"

layout (constant_id = DYNO_PAD_COUNT) const uint COUNT = 1;
layout (constant_id = DYNO_PAD_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_PAD_H) const uint H = 1;
layout (constant_id = DYNO_PAD_W) const uint W = 1;
layout (constant_id = DYNO_PAD_C) const uint C = 1;
layout (constant_id = DYNO_PAD_SOURCE_H) const uint SOURCE_H = 1;
layout (constant_id = DYNO_PAD_SOURCE_W) const uint SOURCE_W = 1;
layout (constant_id = DYNO_PAD_SOURCE_C) const uint SOURCE_C = 1;
layout (constant_id = DYNO_PAD_SOURCE_CP) const uint SOURCE_CP = 8;
layout (constant_id = DYNO_PAD_TOP) const uint TOP = 0;
layout (constant_id = DYNO_PAD_LEFT) const uint LEFT = 0;
layout (constant_id = DYNO_PAD_FRONT) const uint FRONT = 0;
layout (constant_id = DYNO_PAD_VALUE) const float VALUE = 0.0;
DYNO_PUSH (DynoPadPush, p);
#ifdef HALF
#define BYTES 2
DYNO_BUFFER_IN (Values, float16_t, 2);
#else
#define BYTES 4
DYNO_BUFFER_IN (Values, float, 4);
#endif

/* Loads an access of a pixel of the source, from channel c on; the values of channels that do not
 * exist are undefined. */
Lanes
load (uint pixel, uint c)
{
#ifdef ALIGNED
  return c < SOURCE_CP ? lanes_load (p.source, pixel * (SOURCE_CP / LANES) + c / LANES)
                       : lanes_fill (0.0);
#else
  Values values = Values (p.source + uint64_t (pixel) * (SOURCE_CP * BYTES));
  Lanes x = lanes_fill (0.0);
  [[unroll]] for (uint j = 0; j < QUADS; j++)
    [[unroll]] for (uint k = 0; k < 4; k++)
      if (c + 4 * j + k < SOURCE_C)
        x.q[j][k] = float (values.v[c + 4 * j + k]);
  return x;
#endif
}

void
main ()
{
  for (uint i = gl_GlobalInvocationID.x; i < COUNT; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      const uint pixel = i / CVECS, c = i % CVECS * LANES;
      const uint w = pixel % W - LEFT, h = pixel / W % H - TOP, n = pixel / (W * H);
      const bool inside = h < SOURCE_H && w < SOURCE_W;
      Lanes y = lanes_fill (VALUE);
      if (inside)
        {
          const Lanes x = load ((n * SOURCE_H + h) * SOURCE_W + w, c - FRONT);
          [[unroll]] for (uint j = 0; j < QUADS; j++)
            [[unroll]] for (uint k = 0; k < 4; k++)
              if (c - FRONT + 4 * j + k < SOURCE_C)
                y.q[j][k] = x.q[j][k];
        }
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        [[unroll]] for (uint k = 0; k < 4; k++)
          if (c + 4 * j + k >= C)
            y.q[j][k] = 0.0;
#ifdef ACCUMULATE
      lanes_store_sum (p.target, i, y);
#else
      lanes_store (p.target, i, y);
#endif
    }
}
