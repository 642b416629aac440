#version 460
/* SPDX-License-Identifier: MIT */
/* Adds up the groups' sums of every channel: dbeta += sum dy, dgamma += sum dy * xhat; and their means over ROWS for the gradient
 * of x.  Invocation (i, j): channel i of 8, every LOCAL_Y-th group; the order of the sums is fixed. */
#include "types.glsl"
#include "batchnorm-push.h"

layout (constant_id = 0) const uint ROWS = 1;
layout (constant_id = 1) const uint CHANNELS = 8;
layout (constant_id = 2) const uint ROWS_PER_GROUP = 1;
layout (constant_id = 3) const uint GROUPS = 1;
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
  vec2 sum = vec2 (0.0);
  for (uint g = lane; g < GROUPS; g += LOCAL_Y)
    sum += vec2 (partials.v[g * 2 * CHANNELS + channel], partials.v[(g * 2 + 1) * CHANNELS + channel]);
  parts[lane * LOCAL_X + place] = sum;
  barrier ();
  if (lane != 0)
    return;
  sum = vec2 (0.0);
  for (uint j = 0; j < LOCAL_Y; j++)
    sum += parts[j * LOCAL_X + place];
  Sums (p.sums).v[channel] = sum.x / float (ROWS);
  Sums (p.sums).v[CHANNELS + channel] = sum.y / float (ROWS);
  Gradient (p.dbeta).v[channel] += sum.x;
  Gradient (p.dgamma).v[channel] += sum.y;
}
