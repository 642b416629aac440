#version 460
/* SPDX-License-Identifier: MIT */
/* The running statistics follow the decision on the step: after an overflow they return to their
 * values before the step, else they are copied, so that they can be restored after the next step.
 * COUNT accesses of 16 bytes.  AVERAGE=1: the moving average of the running statistics is updated,
 * except after an overflow. */
#include "types.glsl"
#include "optimizer-push.h"
#include "step.h"
#ifdef AVERAGE
#include "average.glsl"
layout (constant_id = DYNO_OPTIMIZER_DECAY) const float AVERAGE_DECAY = 0.0;
#endif

layout (constant_id = DYNO_OPTIMIZER_COUNT) const uint COUNT = 1;
DYNO_PUSH (DynoOptimizerStatesPush, p);
DYNO_BUFFER_INOUT (Words, uvec4, 16);
DYNO_BUFFER_INOUT (Floats, vec4, 16);
DYNO_BUFFER_IN (Scaler, DynoScalerState, 4);

void
main ()
{
  const bool skip = Scaler (p.scaler).v[0].overflow != 0;
  Words to = Words (skip ? p.states : p.kept), from = Words (skip ? p.kept : p.states);
#ifdef AVERAGE
  const float share = average_share (AVERAGE_DECAY, Scaler (p.scaler).v[0].applied);
#endif
  for (uint i = gl_GlobalInvocationID.x; i < COUNT; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      const uvec4 value = from.v[i];
      to.v[i] = value;
#ifdef AVERAGE
      if (!skip)
        {
          const vec4 a = Floats (p.average).v[i];
          Floats (p.average).v[i] = a + share * (uintBitsToFloat (value) - a);
        }
#endif
    }
}
