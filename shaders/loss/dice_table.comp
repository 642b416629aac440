#version 460
/* SPDX-License-Identifier: MIT */
/* One workgroup per class.  I is the sum over the batch of the class's softmax at the pixels whose
 * target is the class; U is the sum of its softmax at all pixels whose target is a class, plus the
 * number of pixels with this target.  The table has (2 I / U^2, 2 / U, 1 - 2 I / U, 0) / C, from
 * which pixel_rows.comp takes loss and gradient; zeros for a class without a target. */
#include "types.glsl"
#include "lanes.glsl"
#include "loss-push.h"

layout (constant_id = DYNO_LOSS_C) const uint C = 1;
layout (constant_id = DYNO_LOSS_PARTS) const uint PARTS = 1;
DYNO_PUSH (DynoPixelLossPush, p);
DYNO_BUFFER_IN (Sums, vec4, 16);
DYNO_BUFFER_OUT (Table, vec4, 16);

shared vec4 parts[LOCAL_X];

void
main ()
{
  for (uint c = gl_WorkGroupID.x; c < C; c += gl_NumWorkGroups.x)
    {
      vec4 sum = vec4 (0.0);
      for (uint i = gl_LocalInvocationIndex; i < PARTS; i += LOCAL_X)
        sum += Sums (p.dice_sums).v[i * C + c];
      parts[gl_LocalInvocationIndex] = sum;
      LANES_SUM (parts)
      if (gl_LocalInvocationIndex == 0)
        {
          const float both = 2.0 * parts[0].x, whole = parts[0].y + parts[0].z;
          Table (p.dice_table).v[c] =
              parts[0].z > 0.0
                  ? vec4 (both / (whole * whole), 2.0 / whole, 1.0 - both / whole, 0.0) / float (C)
                  : vec4 (0.0);
        }
      barrier ();
    }
}
