#version 460
/* SPDX-License-Identifier: MIT */
/* target[i] += sum over s < n_splits of source[s * count + i], fp32, always in the order of s: the same bits every time. */
#include "types.glsl"
#include "conv2d.h"

DYNO_BUFFER_IN (Source4, vec4, 16);
DYNO_BUFFER_INOUT (Target4, vec4, 16);
DYNO_PUSH (DynoConv2dReducePush, p);

void
main ()
{
  Source4 source = Source4 (p.source);
  Target4 target = Target4 (p.target);
  uint count = p.count / 4;
  uint step = gl_NumWorkGroups.x * LOCAL_X;

  for (uint i = gl_GlobalInvocationID.x; i < count; i += step)
    {
      vec4 sum = vec4 (0.0);
      for (uint s = 0; s < p.n_splits; s++)
        sum += source.v[s * count + i];
      target.v[i] += sum;
    }
}
