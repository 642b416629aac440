#version 460
/* SPDX-License-Identifier: MIT */
/* target[k][j] = source[j][k], k < GATES H, j < H: transposes the recurrent weight [H][GP], so that
 * in the backward pass neighbouring units read neighbouring weights. */
#include "types.glsl"
#include "recurrent-push.h"

layout (constant_id = DYNO_RECURRENT_H) const uint H = 1;
layout (constant_id = DYNO_RECURRENT_GP) const uint GP = 8;
DYNO_PUSH (DynoRecurrentTransposePush, p);
#ifdef HALF
DYNO_BUFFER_IN (StoredIn, float16_t, 2);
DYNO_BUFFER_OUT (StoredOut, float16_t, 2);
#else
DYNO_BUFFER_IN (StoredIn, float, 4);
DYNO_BUFFER_OUT (StoredOut, float, 4);
#endif

void
main ()
{
  for (uint i = gl_GlobalInvocationID.x; i < GATES * H * H; i += gl_NumWorkGroups.x * LOCAL_X)
    StoredOut (p.target).v[i] = StoredIn (p.source).v[i % H * GP + i / H];
}
