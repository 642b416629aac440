#version 460
/* SPDX-License-Identifier: MIT */
/* target[i] += sum over s < n_splits of source[s * count + i], fp32, always in the same order, so
 * that the bits are the same every time.  SPLIT_LANES invocations share an element: each takes
 * every SPLIT_LANES-th split, and the first one adds up their sums. */
#include "types.glsl"
#include "conv2d.h"

DYNO_BUFFER_IN (Source4, vec4, 16);
DYNO_BUFFER_INOUT (Target4, vec4, 16);
DYNO_PUSH (DynoConv2dReducePush, p);

#define ELEMENTS (LOCAL_X / SPLIT_LANES)

#if SPLIT_LANES > 1
shared vec4 parts[LOCAL_X];
#endif

void
main ()
{
  Source4 source = Source4 (p.source);
  Target4 target = Target4 (p.target);
  const uint count = p.count / 4, element = gl_LocalInvocationIndex % ELEMENTS,
             lane = gl_LocalInvocationIndex / ELEMENTS;

  for (uint first = gl_WorkGroupID.x * ELEMENTS; first < count;
       first += gl_NumWorkGroups.x * ELEMENTS)
    {
      const uint i = first + element;
      vec4 sum = vec4 (0.0);
      if (i < count)
        for (uint s = lane; s < p.n_splits; s += SPLIT_LANES)
          sum += source.v[s * count + i];
#if SPLIT_LANES > 1
      parts[gl_LocalInvocationIndex] = sum;
      barrier ();
      if (lane == 0)
        [[unroll]] for (uint k = 1; k < SPLIT_LANES; k++)
          sum += parts[k * ELEMENTS + element];
      barrier ();
#endif
      if (lane == 0 && i < count)
        target.v[i] += sum;
    }
}
