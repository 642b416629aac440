/* SPDX-License-Identifier: MIT */
/* Tests for Inf and NaN by their bits, since compilers may fold comparisons with NaN. */
#ifndef DYNO_FINITE_GLSL
#define DYNO_FINITE_GLSL

bool
is_nonfinite (float value)
{
  return (floatBitsToUint (value) & 0x7f800000u) == 0x7f800000u;
}

bool
is_nan (float value)
{
  return (floatBitsToUint (value) & 0x7fffffffu) > 0x7f800000u;
}

/* Clamps to zero a sum of squares that was computed as a difference, which rounding can leave below
 * zero.  Where the terms overflowed, the difference is Inf or NaN, and the result is infinite: the
 * maximum of NaN and zero may be zero. */
float
spread_or_infinity (float difference)
{
  return is_nonfinite (difference) ? uintBitsToFloat (0x7f800000u) : max (difference, 0.0);
}

vec4
spread_or_infinity (vec4 difference)
{
  return mix (max (difference, vec4 (0.0)), uintBitsToFloat (uvec4 (0x7f800000u)),
              equal (floatBitsToUint (difference) & 0x7f800000u, uvec4 (0x7f800000u)));
}

/* Zero where a value is Inf or NaN. */
vec4
finite_or_zero (vec4 value)
{
  return mix (value, vec4 (0.0),
              equal (floatBitsToUint (value) & 0x7f800000u, uvec4 (0x7f800000u)));
}

#endif
