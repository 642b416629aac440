#version 460
/* SPDX-License-Identifier: MIT */
/* For each workgroup and class c, over the workgroup's pixels whose target is a class: (sum of
 * softmax (x)[c] where the target is c, sum of softmax (x)[c], number of pixels whose target is c,
 * 0). */
#include "types.glsl"
#include "lanes.glsl"
#include "loss-push.h"
#include "random.h"
#include "samples.glsl"
#include "step.h"

layout (constant_id = DYNO_LOSS_ROWS) const uint ROWS = 1;
layout (constant_id = DYNO_LOSS_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_LOSS_C) const uint C = 1;
DYNO_PUSH (DynoPixelLossPush, p);
DYNO_BUFFER_OUT (Sums, vec4, 16);
#define WEIGHT(c) 0.0 /* the sum of w x is not used */
#include "softmax.glsl"
#include "targets.glsl"

shared vec4 parts[LOCAL_X];

void
main ()
{
  float own[CVECS * LANES], all[CVECS * LANES], there[CVECS * LANES];
  for (uint c = 0; c < CVECS * LANES; c++)
    own[c] = all[c] = there[c] = 0.0;
  for (uint row = gl_GlobalInvocationID.x; row < ROWS; row += gl_NumWorkGroups.x * LOCAL_X)
    {
      const uint target = row_target (row);
      if (target == NO_CLASS)
        continue;
      vec4 part = EMPTY_PART;
      for (uint i = 0; i < CVECS; i++)
        part = take (part, lanes_load (p.logits, row * CVECS + i), i * LANES);
      const float log_sum = part.x + log (part.z);
      for (uint i = 0; i < CVECS; i++)
        {
          const Lanes x = lanes_load (p.logits, row * CVECS + i);
          [[unroll]] for (uint j = 0; j < LANES; j++)
            {
              const uint c = i * LANES + j;
              const float share = c < C ? exp (x.q[j / 4][j % 4] - log_sum) : 0.0;
              all[c] += share;
              own[c] += c == target ? share : 0.0;
              there[c] += c == target ? 1.0 : 0.0;
            }
        }
    }
  for (uint c = 0; c < C; c++)
    {
      parts[gl_LocalInvocationIndex] = vec4 (own[c], all[c], there[c], 0.0);
      LANES_SUM (parts)
      if (gl_LocalInvocationIndex == 0)
        Sums (p.dice_sums).v[gl_WorkGroupID.x * C + c] = parts[0];
      barrier ();
    }
}
