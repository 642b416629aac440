#version 460
/* SPDX-License-Identifier: MIT */
/* c[i] = a[i], stored as fp16, summed over the subgroup of i; c[count + i] = the subgroup's
 * size. */
#include "types.glsl"
#include "probe.h"

DYNO_BUFFER_IN (Halves, float16_t, 4);
DYNO_BUFFER_OUT (Target, float, 4);
DYNO_PUSH (DynoProbePush, p);

void
main ()
{
  Halves a = Halves (p.a);
  Target c = Target (p.c);
  uint i = gl_GlobalInvocationID.x;
  float sum = subgroupAdd (i < p.count ? float (a.v[i]) : 0.0);

  if (i >= p.count)
    return;
  c.v[i] = sum;
  c.v[p.count + i] = float (gl_SubgroupSize);
}
