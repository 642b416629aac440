#version 460
/* SPDX-License-Identifier: MIT */
/* counts[target][class] += the number of rows of logits (N, H, W, C) with this target and this
 * class; rows whose target is not a class are not counted.  The sums are integers, so their order
 * does not matter.  CLEAR=1: sets the counts to zero instead.  TABLE=n: n = C * C counts fit
 * into shared memory, where a workgroup counts first. */
#include "types.glsl"
#include "lanes.glsl"
#include "loss-push.h"
#include "random.h"
#include "samples.glsl"
#include "step.h"

layout (constant_id = DYNO_LOSS_ROWS) const uint ROWS = 1;
layout (constant_id = DYNO_LOSS_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_LOSS_C) const uint C = 1;
DYNO_PUSH (DynoPixelLossPush, p);
DYNO_BUFFER_INOUT (Counts, uint, 4);
#include "argmax.glsl"
#include "targets.glsl"

#ifdef TABLE
shared uint table[TABLE];
#define COUNT(at, n) atomicAdd (table[at], n)
#else
#define COUNT(at, n) atomicAdd (Counts (p.result).v[at], n)
#endif

void
main ()
{
#ifdef CLEAR
  for (uint i = gl_GlobalInvocationID.x; i < C * C; i += gl_NumWorkGroups.x * LOCAL_X)
    Counts (p.result).v[i] = 0;
#else
#ifdef TABLE
  for (uint i = gl_LocalInvocationIndex; i < C * C; i += LOCAL_X)
    table[i] = 0;
  barrier ();
#endif
  for (uint row = gl_GlobalInvocationID.x; row < ROWS; row += gl_NumWorkGroups.x * LOCAL_X)
    {
      const uint target = row_target (row);
      if (target != NO_CLASS)
        COUNT (target * C + class_of (row), 1);
    }
#ifdef TABLE
  barrier ();
  for (uint i = gl_LocalInvocationIndex; i < C * C; i += LOCAL_X)
    if (table[i] > 0)
      atomicAdd (Counts (p.result).v[i], table[i]);
#endif
#endif
}
