#version 460
/* SPDX-License-Identifier: MIT */
/* c[i] = c[i] advanced 64 count times by a linear congruential step, to keep the device busy.
 * LANES is the number of elements.  count stays below 65535: llvmpipe ends an invocation's loops
 * there. */
#include "types.glsl"
#include "probe.h"

DYNO_BUFFER_INOUT (Words, uint, 4);
DYNO_PUSH (DynoProbePush, p);

void
main ()
{
  Words c = Words (p.c);
  uint i = gl_GlobalInvocationID.x;
  uint x;

  if (i >= LANES)
    return;
  x = c.v[i];
  for (uint k = 0; k < p.count; k++)
    [[unroll]] for (uint j = 0; j < 64; j++)
      x = x * 1664525u + 1013904223u;
  c.v[i] = x;
}
