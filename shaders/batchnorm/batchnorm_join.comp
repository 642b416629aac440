#version 460
/* SPDX-License-Identifier: MIT */
/* joined[g] = sum of EACH of partials[GROUPS][VECTORS]: many groups of sums become few before
 * batchnorm_finish.  Invocation (i, j) takes vector i, of 4 floats, of a block of LOCAL_X vectors,
 * in every LOCAL_Y-th group; the order of the sums is fixed. */
#include "types.glsl"
#include "batchnorm-push.h"

layout (constant_id = DYNO_BATCH_NORM_JOIN_GROUPS) const uint GROUPS = 1;
layout (constant_id = DYNO_BATCH_NORM_JOIN_VECTORS) const uint VECTORS = 4;
layout (constant_id = DYNO_BATCH_NORM_JOIN_EACH) const uint EACH = 1;
DYNO_PUSH (DynoBatchNormJoinPush, p);
DYNO_BUFFER_IN (Partials, vec4, 16);
DYNO_BUFFER_OUT (Joined, vec4, 16);

shared vec4 sums[LOCAL_X * LOCAL_Y];

void
main ()
{
  const uint place = gl_LocalInvocationID.x, lane = gl_LocalInvocationID.y;
  const uint vector = gl_WorkGroupID.y * LOCAL_X + place;
  const uint end = min ((gl_WorkGroupID.x + 1) * EACH, GROUPS);
  vec4 sum = vec4 (0.0);
  if (vector < VECTORS)
    for (uint g = gl_WorkGroupID.x * EACH + lane; g < end; g += LOCAL_Y)
      sum += Partials (p.partials).v[g * VECTORS + vector];
  sums[lane * LOCAL_X + place] = sum;
  barrier ();
  if (lane != 0 || vector >= VECTORS)
    return;
  for (uint j = 1; j < LOCAL_Y; j++)
    sum += sums[j * LOCAL_X + place];
  Joined (p.joined).v[gl_WorkGroupID.x * VECTORS + vector] = sum;
}
