#version 460
/* SPDX-License-Identifier: MIT */
/* c = a, count chunks of 16 bytes: the cost of reading and writing memory without computation.  An
 * invocation copies EACH chunks, a workgroup a contiguous range of LOCAL_X * EACH chunks; all
 * chunks are loaded before the first is stored. */
#include "types.glsl"
#include "probe.h"

DYNO_BUFFER_IN (Source, uvec4, 16);
DYNO_BUFFER_OUT (Target, uvec4, 16);
DYNO_PUSH (DynoProbePush, p);

void
main ()
{
  Source a = Source (p.a);
  Target c = Target (p.c);
  uint first = gl_WorkGroupID.x * (LOCAL_X * EACH) + gl_LocalInvocationIndex;
  uvec4 chunks[EACH];

  if (first + (EACH - 1) * LOCAL_X >= p.count)
    return;
  [[unroll]] for (uint i = 0; i < EACH; i++)
    chunks[i] = a.v[first + i * LOCAL_X];
  [[unroll]] for (uint i = 0; i < EACH; i++)
    c.v[first + i * LOCAL_X] = chunks[i];
}
