#version 460
/* SPDX-License-Identifier: MIT */
/* target[i] = fp16 (source[i]), 4 * count values: to nearest, ties to even; overflow gives
 * infinity, NaN stays one.  In integers, as dyno_half_from_float: packHalf2x16 may round otherwise
 * and drop subnormals, and what travels must not depend on the device. */
#include "types.glsl"
#include "wire-push.h"

DYNO_BUFFER_IN (Source, uvec4, 16);
DYNO_BUFFER_OUT (Target, uvec2, 8);
DYNO_PUSH (DynoWirePush, p);

uint
to_half (uint bits)
{
  const uint sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
  const uint exponent = magnitude >> 23, mantissa = (magnitude & 0x7fffffu) | 0x800000u;
  const bool small = exponent < 113; /* subnormal there */
  const uint shift = small ? min (126u - exponent, 31u) : 13u; /* bits that fall off */
  uint half_bits = small ? mantissa >> shift
                         : ((exponent - 112) << 10) + ((mantissa & 0x7fffffu) >> 13);
  const uint rest = mantissa & ((1u << shift) - 1), middle = 1u << (shift - 1);

  if (rest > middle || (rest == middle && (half_bits & 1u) != 0))
    half_bits++;
  if (magnitude < 0x33000000u) /* below half of the smallest subnormal */
    half_bits = 0;
  if (magnitude >= 0x477ff000u) /* 65520 and above round to infinity */
    half_bits = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
  return sign | half_bits;
}

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
