#version 460
/* SPDX-License-Identifier: MIT */
/* The sum over n of dy (N, T, C) is added to the gradient of the positions (POSITIONS=1); the sum
 * for the first token is also added to the gradient of the class token (CLASS_TOKEN=1).  An
 * invocation has one access of a token, and adds up four sums, each of every fourth sample. */
#include "types.glsl"
#include "lanes.glsl"
#include "tokens-push.h"

layout (constant_id = DYNO_TOKENS_COUNT) const uint COUNT = 1;
layout (constant_id = DYNO_TOKENS_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_TOKENS_N) const uint N = 1;
DYNO_PUSH (DynoTokensPush, p);

void
add (uint64_t gradient, uint i, Lanes sum)
{
  const Lanes old = lanes_load_floats (gradient, i);
  [[unroll]] for (uint j = 0; j < QUADS; j++)
    sum.q[j] += old.q[j];
  lanes_store_floats (gradient, i, sum);
}

void
main ()
{
  for (uint i = gl_GlobalInvocationID.x; i < COUNT; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      Lanes sums[4];
      [[unroll]] for (uint k = 0; k < 4; k++)
        sums[k] = lanes_fill (0.0);
      for (uint n = 0; n < N; n += 4)
        [[unroll]] for (uint k = 0; k < 4; k++)
          {
            const Lanes dy = lanes_load (p.source, min (n + k, N - 1) * COUNT + i);
            [[unroll]] for (uint j = 0; j < QUADS; j++)
              sums[k].q[j] += n + k < N ? dy.q[j] : vec4 (0.0);
          }
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        sums[0].q[j] += sums[1].q[j] + (sums[2].q[j] + sums[3].q[j]);
#ifdef POSITIONS
      add (p.positions, i, sums[0]);
#endif
#ifdef CLASS_TOKEN
      if (i < CVECS)
        add (p.class_token, i, sums[0]);
#endif
    }
}
