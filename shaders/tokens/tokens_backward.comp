#version 460
/* SPDX-License-Identifier: MIT */
/* dx (N, T - 1, C) from dy (N, T, C): dx[n][t] = dy[n][t + 1]; without CLASS_TOKEN=1 dx = dy, both
 * (N, T, C).  ACCUMULATE=1 adds to dx. */
#include "types.glsl"
#include "lanes.glsl"
#include "tokens-push.h"

layout (constant_id = DYNO_TOKENS_COUNT) const uint COUNT = 1;
layout (constant_id = DYNO_TOKENS_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_TOKENS_T) const uint T = 2;
DYNO_PUSH (DynoTokensPush, p);

void
main ()
{
  for (uint i = gl_GlobalInvocationID.x; i < COUNT; i += gl_NumWorkGroups.x * LOCAL_X)
    {
#ifdef CLASS_TOKEN
      const uint n = i / (CVECS * (T - 1)), from = i + (n + 1) * CVECS;
#else
      const uint from = i;
#endif
#ifdef ACCUMULATE
      lanes_store_sum (p.target, i, lanes_load (p.source, from));
#else
      words_store (p.target, i, words_load (p.source, from));
#endif
    }
}
