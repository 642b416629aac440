#version 460
/* SPDX-License-Identifier: MIT */
/* greys (N, SPLITS): sums of the grey of each sample's pixels after map and brightness, from which
 * prepare_apply computes the mean for the contrast.  A workgroup computes one sum, in a fixed
 * order; samples from n_valid on have no sums. */
#include "types.glsl"
#include "lanes.glsl"
#include "prepare-push.h"
#include "random.h"
#include "step.h"

layout (constant_id = DYNO_PREPARE_COUNT) const uint COUNT = 1; /* samples */
layout (constant_id = DYNO_PREPARE_H) const uint H = 1;
layout (constant_id = DYNO_PREPARE_W) const uint W = 1;
layout (constant_id = DYNO_PREPARE_C) const uint C = 1;
layout (constant_id = DYNO_PREPARE_FLIP) const float FLIP = 0.0;
layout (constant_id = DYNO_PREPARE_PAD) const uint PAD = 0;
layout (constant_id = DYNO_PREPARE_SPLITS) const uint SPLITS = 1;
DYNO_PUSH (DynoPreparePush, p);
DYNO_BUFFER_IN (Words, uint, 4);
DYNO_BUFFER_IN (Floats, float, 4);
DYNO_BUFFER_IN (Changes, vec4, 16);
DYNO_BUFFER_IN (StepIn, DynoStepInput, 4);
DYNO_BUFFER_OUT (Greys, float, 4);

#if !defined (RAW_U8) && !defined (RAW_F32)
const uint key = 0;
#endif
#include "pixels.glsl"

shared float parts[LOCAL_X];

void
main ()
{
  const uint lane = gl_LocalInvocationIndex, share = (W * H + SPLITS - 1) / SPLITS;
  const uint n_valid = min (StepIn (p.step_input).v[0].n_valid, COUNT);
  for (uint group = gl_WorkGroupID.x; group < n_valid * SPLITS; group += gl_NumWorkGroups.x)
    {
      const uint n = group / SPLITS, first = group % SPLITS * share;
      const DynoPrepareChange change = change_at (n);
      float sum = 0.0;
      for (uint i = first + lane; i < min (first + share, W * H); i += LOCAL_X)
        {
          /* a flip changes no sum */
#ifdef MAP
          const Lanes x = mapped_lanes (n, i % W, i / W, 0, change);
#else
          const Lanes x = raw_lanes (n * W * H + i, 0);
#endif
          sum += grey_of (brighten (x.q[0], change.brightness));
        }
      parts[lane] = sum;
      LANES_SUM (parts)
      if (lane == 0)
        Greys (p.greys).v[group] = parts[0];
      barrier ();
    }
}
