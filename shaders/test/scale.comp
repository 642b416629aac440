#version 460
/* SPDX-License-Identifier: MIT */
/* c[i] = (a[i] OP b[i]) * scale + K0 + K1 for i < count, for the tests of the gpu layer.  The macro
 * OP is + or *; K0 (int) and K1 (float) are constants 0 and 1. */
#include "types.glsl"
#include "probe.h"

#ifdef BROKEN
this is no GLSL
#endif

layout (constant_id = 0) const int K0 = 0;
layout (constant_id = 1) const float K1 = 0.0;

DYNO_BUFFER_IN (Source, float, 4);
DYNO_BUFFER_OUT (Target, float, 4);
DYNO_PUSH (DynoProbePush, p);

void
main ()
{
  Source a = Source (p.a), b = Source (p.b);
  Target c = Target (p.c);
  uint i = gl_GlobalInvocationID.x;

  if (i >= p.count)
    return;
  c.v[i] = (a.v[i] OP b.v[i]) * p.scale + float (K0) + K1;
}
