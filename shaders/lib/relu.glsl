/* SPDX-License-Identifier: MIT */
#ifndef DYNO_RELU_GLSL
#define DYNO_RELU_GLSL

/* max (x, 0), but NaN stays NaN: x is tested by its bits, since compilers may turn any comparison
 * into a maximum that drops NaN.  Bits from 0x80000000 (-0) to 0xff800000 (-infinity) are the
 * negative numbers. */
vec4
relu (vec4 x)
{
  const uvec4 bits = floatBitsToUint (x);
  return uintBitsToFloat (
      mix (bits, uvec4 (0u), lessThanEqual (bits - 0x80000000u, uvec4 (0x7f800000u))));
}

#endif
