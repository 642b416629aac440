#version 460
/* SPDX-License-Identifier: MIT */
/* target[i] = fp32 (source[i]), 4 * count values of fp16. */
#include "types.glsl"
#include "wire.glsl"
#include "wire-push.h"

DYNO_BUFFER_IN (Source, uvec2, 8);
DYNO_BUFFER_OUT (Target, uvec4, 16);
DYNO_PUSH (DynoWirePush, p);

void
main ()
{
  Source source = Source (p.source);
  Target target = Target (p.target);

  for (uint i = gl_GlobalInvocationID.x; i < p.count; i += gl_NumWorkGroups.x * LOCAL_X)
    {
      const uvec2 x = source.v[i];
      target.v[i] = uvec4 (from_half (x.x & 0xffffu), from_half (x.x >> 16), from_half (x.y & 0xffffu),
                           from_half (x.y >> 16));
    }
}
