/* SPDX-License-Identifier: MIT */
/* Conversions between the bits of fp32 and fp16, in integers: packHalf2x16 and unpackHalf2x16 may
 * round differently on some devices and drop subnormals, but exchanged values must not depend on
 * the device.  The results equal those of dyno_half_from_float and dyno_half_to_float. */
#ifndef DYNO_WIRE_GLSL
#define DYNO_WIRE_GLSL

/* Rounds to nearest, ties to even; overflow gives infinity, and NaN stays NaN. */
uint
to_half (uint bits)
{
  const uint sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
  const uint exponent = magnitude >> 23, mantissa = (magnitude & 0x7fffffu) | 0x800000u;
  const bool small = exponent < 113; /* subnormal in fp16 */
  const uint shift = small ? min (126u - exponent, 31u) : 13u; /* bits that are dropped */
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
#endif
