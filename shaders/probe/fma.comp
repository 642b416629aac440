#version 460
/* SPDX-License-Identifier: MIT */
/* c[i] = sum over CHAINS of x_j, where x_j = x_j * scale + addend, count * UNROLL times: only fused
 * multiply-adds, in registers.
 * count stays far below 65535: llvmpipe ends an invocation's loops there. */
#include "types.glsl"
#include "probe.h"

DYNO_BUFFER_OUT (Target, float, 4);
DYNO_PUSH (DynoProbePush, p);

void
main ()
{
  Target c = Target (p.c);
  float addend = 1.0 - p.scale, sum = 0.0;
  float x[CHAINS];

  [[unroll]] for (uint j = 0; j < CHAINS; j++)
    x[j] = float (gl_LocalInvocationIndex + j);
  for (uint k = 0; k < p.count; k++)
    [[unroll]] for (uint u = 0; u < UNROLL; u++)
      [[unroll]] for (uint j = 0; j < CHAINS; j++)
        x[j] = fma (x[j], p.scale, addend);
  [[unroll]] for (uint j = 0; j < CHAINS; j++)
    sum += x[j];
  c.v[gl_GlobalInvocationID.x] = sum;
}
