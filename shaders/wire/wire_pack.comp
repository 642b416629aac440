#version 460
/* SPDX-License-Identifier: MIT */
/* target[i] = fp16 (source[i]), 4 * count values. */
#include "types.glsl"
#include "wire.glsl"
#include "wire-push.h"

DYNO_BUFFER_IN (Source, uvec4, 16);
DYNO_BUFFER_OUT (Target, uvec2, 8);
DYNO_PUSH (DynoWirePush, p);

void
main ()
{
  Source source = Source (p.source);
  Target target = Target (p.target);

  for (uint i = gl_GlobalInvocationID.x; i < p.count; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      const uvec4 x = source.v[i];
      target.v[i] = uvec2 (to_half (x.x) | to_half (x.y) << 16, to_half (x.z) | to_half (x.w) << 16);
    }
}
