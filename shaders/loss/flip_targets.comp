#version 460
/* SPDX-License-Identifier: MIT */
/* flipped (N, H, W, C) = targets (N, H, W, C) floats, dense; a value is negated where bit c of
 * NEGATED is set and prepare_apply.comp mirrors sample n left to right, that is, where the sample's
 * seed, as a number in [0, 1), is below FLIP. */
#include "types.glsl"
#include "loss-push.h"

layout (constant_id = DYNO_FLIP_TARGETS_COUNT) const uint COUNT = 1;
layout (constant_id = DYNO_FLIP_TARGETS_PER_SAMPLE) const uint PER_SAMPLE = 1;
layout (constant_id = DYNO_FLIP_TARGETS_C) const uint C = 1;
layout (constant_id = DYNO_FLIP_TARGETS_NEGATED) const uint NEGATED = 0;
layout (constant_id = DYNO_FLIP_TARGETS_FLIP) const float FLIP = 0.0;
DYNO_PUSH (DynoFlipTargetsPush, p);
DYNO_BUFFER_IN (Seeds, uint, 4);
DYNO_BUFFER_IN (Targets, float, 4);
DYNO_BUFFER_OUT (Flipped, float, 4);

void
main ()
{
  for (uint i = gl_GlobalInvocationID.x; i < COUNT; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      const float value = Targets (p.targets).v[i];
      const uint c = i % C, seed = Seeds (p.seeds).v[i / PER_SAMPLE];
      const bool mirrored = float (seed >> 8) / 16777216.0 < FLIP;
      Flipped (p.flipped).v[i] = mirrored && c < 32 && (NEGATED >> c & 1) != 0 ? -value : value;
    }
}
