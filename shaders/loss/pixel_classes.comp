#version 460
/* SPDX-License-Identifier: MIT */
/* A byte for each row of logits (N, H, W, C), C <= 255: its class.  An invocation makes a word of
 * four rows. */
#include "types.glsl"
#include "lanes.glsl"
#include "loss-push.h"

layout (constant_id = DYNO_LOSS_ROWS) const uint ROWS = 1;
layout (constant_id = DYNO_LOSS_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_LOSS_C) const uint C = 1;
DYNO_PUSH (DynoPixelLossPush, p);
DYNO_BUFFER_OUT (Words, uint, 4);
#include "argmax.glsl"

void
main ()
{
  for (uint i = gl_GlobalInvocationID.x; i * 4 < ROWS; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      uint word = 0;
      for (uint k = 0; k < 4 && i * 4 + k < ROWS; k++)
        word |= class_of (i * 4 + k) << (k * 8);
      Words (p.result).v[i] = word;
    }
}
