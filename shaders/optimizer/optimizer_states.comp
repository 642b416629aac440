#version 460
/* SPDX-License-Identifier: MIT */
/* The running statistics follow the decision: after an overflow they are what they were before the
 * step, else they are kept as what the next step may go back to.  COUNT accesses of 16 bytes. */
#include "types.glsl"
#include "optimizer-push.h"
#include "step.h"

layout (constant_id = DYNO_OPTIMIZER_COUNT) const uint COUNT = 1;
DYNO_PUSH (DynoOptimizerStatesPush, p);
DYNO_BUFFER_INOUT (Words, uvec4, 16);
DYNO_BUFFER_IN (Scaler, DynoScalerState, 4);

void
main ()
{
  const bool skip = Scaler (p.scaler).v[0].overflow != 0;
  Words to = Words (skip ? p.states : p.kept), from = Words (skip ? p.kept : p.states);
  for (uint i = gl_GlobalInvocationID.x; i < COUNT; i += gl_NumWorkGroups.x * LOCAL_X)
    to.v[i] = from.v[i];
}
