#version 460
/* SPDX-License-Identifier: MIT */
/* An image's rows as the steps of a sequence: y[n][h][w * C + c] = x[n][h][w][c]; BACKWARD=1: the
 * opposite direction, dx from dy, added to dx with ACCUMULATE=1.  An invocation gathers one access
 * of the target. */
#include "types.glsl"
#include "lanes.glsl"
#include "steps-push.h"

layout (constant_id = DYNO_ROWS_COUNT) const uint COUNT = 1;
layout (constant_id = DYNO_ROWS_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_ROWS_W) const uint W = 1;
layout (constant_id = DYNO_ROWS_C) const uint C = 1;
layout (constant_id = DYNO_ROWS_CP) const uint CP = 8;
layout (constant_id = DYNO_ROWS_YP) const uint YP = 8;
DYNO_PUSH (DynoRowsPush, p);
#ifdef HALF
DYNO_BUFFER_IN (Values, float16_t, 2);
#else
DYNO_BUFFER_IN (Values, float, 4);
#endif

float
value_at (uint pixel, uint c)
{
#ifdef BACKWARD
  return c < C ? float (Values (p.source).v[pixel / W * YP + pixel % W * C + c]) : 0.0;
#else
  return c < W * C ? float (Values (p.source).v[(pixel * W + c / C) * CP + c % C]) : 0.0;
#endif
}

void
main ()
{
  for (uint i = gl_GlobalInvocationID.x; i < COUNT; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      Lanes y;
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        [[unroll]] for (uint k = 0; k < 4; k++)
          y.q[j][k] = value_at (i / CVECS, i % CVECS * LANES + 4 * j + k);
#ifdef ACCUMULATE
      lanes_store_sum (p.target, i, y);
#else
      lanes_store (p.target, i, y);
#endif
    }
}
