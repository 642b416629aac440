#version 460
/* SPDX-License-Identifier: MIT */
/* target[i] = fp32 (source[i]), 4 * count values of fp16; as dyno_half_to_float, subnormals
 * included, which unpackHalf2x16 may drop. */
#include "types.glsl"
#include "wire-push.h"

DYNO_BUFFER_IN (Source, uvec2, 8);
DYNO_BUFFER_OUT (Target, uvec4, 16);
DYNO_PUSH (DynoWirePush, p);

uint
from_half (uint bits)
{
  const uint sign = (bits & 0x8000u) << 16, exponent = (bits >> 10) & 0x1fu, mantissa = bits & 0x3ffu;

  if (exponent == 31)
    return sign | 0x7f800000u | mantissa << 13;
  if (exponent > 0)
    return sign | (exponent + 112) << 23 | mantissa << 13;
  return sign | floatBitsToUint (float (mantissa) * (1.0 / 16777216.0));
}

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
