#version 460
/* SPDX-License-Identifier: MIT */
/* For each workgroup: (sum of w[target], number of pixels) over its pixels whose target is a class.
 * WEIGHTS=1: with weights of the classes, else w is 1. */
#include "types.glsl"
#include "lanes.glsl"
#include "loss-push.h"
#include "random.h"
#include "samples.glsl"
#include "step.h"

layout (constant_id = DYNO_LOSS_ROWS) const uint ROWS = 1;
layout (constant_id = DYNO_LOSS_C) const uint C = 1;
DYNO_PUSH (DynoPixelLossPush, p);
DYNO_BUFFER_IN (Weights, float, 4);
DYNO_BUFFER_OUT (Parts, vec2, 8);
#include "targets.glsl"

shared vec2 parts[LOCAL_X];

void
main ()
{
  vec2 sum = vec2 (0.0);
  for (uint row = gl_GlobalInvocationID.x; row < ROWS; row += gl_NumWorkGroups.x * LOCAL_X)
    {
      const uint target = row_target (row);
      if (target == NO_CLASS)
        continue;
#ifdef WEIGHTS
      sum += vec2 (Weights (p.weights).v[target], 1.0);
#else
      sum += vec2 (1.0);
#endif
    }
  parts[gl_LocalInvocationIndex] = sum;
  LANES_SUM (parts)
  if (gl_LocalInvocationIndex == 0)
    Parts (p.parts).v[gl_WorkGroupID.x] = parts[0];
}
