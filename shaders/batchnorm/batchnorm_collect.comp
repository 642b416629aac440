#version 460
/* SPDX-License-Identifier: MIT */
/* Adds up the groups' sums of every channel, partials (GROUPS, 2, C): dbeta (C) += sum dy, dgamma
 * (C) += sum dy * xhat; and their means over ROWS, sums (2, C), for the gradient of x.  Invocation
 * (i, j) takes channel i of 8 and every LOCAL_Y-th group, ROUNDS groups in all, which it loads at
 * once.  The order of the sums is fixed. */
#include "types.glsl"
#include "batchnorm-push.h"

layout (constant_id = DYNO_BATCH_NORM_COLLECT_ROWS) const uint ROWS = 1;
layout (constant_id = DYNO_BATCH_NORM_COLLECT_CHANNELS) const uint CHANNELS = 8;
layout (constant_id = DYNO_BATCH_NORM_COLLECT_ROWS_PER_GROUP) const uint ROWS_PER_GROUP = 1;
layout (constant_id = DYNO_BATCH_NORM_COLLECT_GROUPS) const uint GROUPS = 1;
DYNO_PUSH (DynoBatchNormCollectPush, p);
DYNO_BUFFER_IN (Partials, float, 4);
DYNO_BUFFER_OUT (Sums, float, 4);
DYNO_BUFFER_INOUT (Gradient, float, 4);

shared vec2 parts[LOCAL_X * LOCAL_Y];

void
main ()
{
  const uint lane = gl_LocalInvocationID.y;
  const uint place = gl_LocalInvocationID.x;
  const uint channel = gl_WorkGroupID.x * LOCAL_X + place;
  Partials partials = Partials (p.partials);
  vec2 part[ROUNDS], sum = vec2 (0.0);
  [[unroll]] for (uint k = 0; k < ROUNDS; k++)
    {
      const uint g = min (lane + k * LOCAL_Y, GROUPS - 1);
      part[k] = vec2 (partials.v[g * 2 * CHANNELS + channel],
                      partials.v[(g * 2 + 1) * CHANNELS + channel]);
    }
  [[unroll]] for (uint k = 0; k < ROUNDS; k++)
    sum += lane + k * LOCAL_Y < GROUPS ? part[k] : vec2 (0.0);
  parts[lane * LOCAL_X + place] = sum;
  barrier ();
  for (uint n = LOCAL_Y; n > 1; n = (n + 1) / 2)
    {
      if (lane < n / 2)
        parts[lane * LOCAL_X + place] += parts[(lane + (n + 1) / 2) * LOCAL_X + place];
      barrier ();
    }
  if (lane != 0)
    return;
  sum = parts[place];
  Sums (p.sums).v[channel] = sum.x / float (ROWS);
  Sums (p.sums).v[CHANNELS + channel] = sum.y / float (ROWS);
  Gradient (p.dbeta).v[channel] += sum.x;
  Gradient (p.dgamma).v[channel] += sum.y;
}
