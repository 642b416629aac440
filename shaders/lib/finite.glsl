/* SPDX-License-Identifier: MIT */
/* Inf and NaN, found by their bits: comparisons with NaN are the compiler's to fold. */
#ifndef DYNO_FINITE_GLSL
#define DYNO_FINITE_GLSL

bool
is_nonfinite (float value)
{
  return (floatBitsToUint (value) & 0x7f800000u) == 0x7f800000u;
}

/* Zero where a value is Inf or NaN. */
vec4
finite_or_zero (vec4 value)
{
  return mix (value, vec4 (0.0), equal (floatBitsToUint (value) & 0x7f800000u, uvec4 (0x7f800000u)));
}

#endif
