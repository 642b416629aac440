#version 460
/* SPDX-License-Identifier: MIT */
/* y (N, T, C) from x (N, T - 1, C): y[n][t] = (t > 0 ? x[n][t - 1] : class token) + positions[t].
 * Without CLASS_TOKEN=1 from x (N, T, C): y[n][t] = x[n][t] + positions[t]; without POSITIONS=1
 * nothing is added. */
#include "types.glsl"
#include "lanes.glsl"
#include "tokens-push.h"

layout (constant_id = DYNO_TOKENS_COUNT) const uint COUNT = 1;
layout (constant_id = DYNO_TOKENS_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_TOKENS_T) const uint T = 1;
DYNO_PUSH (DynoTokensPush, p);

void
main ()
{
  for (uint i = gl_GlobalInvocationID.x; i < COUNT; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      const uint column = i % CVECS, t = i / CVECS % T, n = i / (CVECS * T);
      Lanes y;
#ifdef CLASS_TOKEN
      if (t == 0)
        y = lanes_load_floats (p.class_token, column);
      else
        y = lanes_load (p.source, (n * (T - 1) + t - 1) * CVECS + column);
#else
      y = lanes_load (p.source, i);
#endif
#ifdef POSITIONS
      const Lanes position = lanes_load_floats (p.positions, t * CVECS + column);
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        y.q[j] += position.q[j];
#endif
      lanes_store (p.target, i, y);
    }
}
