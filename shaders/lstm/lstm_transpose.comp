#version 460
/* SPDX-License-Identifier: MIT */
/* target[k][j] = source[j][k], k < 4 H, j < H: transposes the recurrent weight [H][KP], so that in
 * lstm_backward neighbouring units read neighbouring weights. */
#include "types.glsl"
#include "lstm-push.h"

layout (constant_id = DYNO_LSTM_H) const uint H = 1;
layout (constant_id = DYNO_LSTM_KP) const uint KP = 8;
DYNO_PUSH (DynoLstmTransposePush, p);
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
  for (uint i = gl_GlobalInvocationID.x; i < 4 * H * H; i += gl_NumWorkGroups.x * LOCAL_X)
    StoredOut (p.target).v[i] = StoredIn (p.source).v[i % H * KP + i / H];
}
