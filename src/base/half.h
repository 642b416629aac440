/* SPDX-License-Identifier: MIT */
/* Conversion to and from IEEE 754 binary16 on the host: rounded to nearest, ties to even; overflow
 * gives infinity. */
#pragma once
#include <glib.h>
#include <string.h>

static inline guint16
dyno_half_from_float (float value)
{
  guint32 bits;
  memcpy (&bits, &value, sizeof bits);
  guint32 sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude >= 0x7f800000u)
    return (guint16) (sign | 0x7c00u | (magnitude > 0x7f800000u ? 0x200u : 0));
  if (magnitude >= 0x477ff000u) /* 65520 and above round to infinity */
    return (guint16) (sign | 0x7c00u);
  if (magnitude < 0x33000000u) /* below half of the smallest subnormal */
    return (guint16) sign;
  guint32 exponent = magnitude >> 23, mantissa = (magnitude & 0x7fffffu) | 0x800000u;
  guint32 shift = exponent < 113 ? 126 - exponent : 13; /* bits that fall off */
  guint32 half = exponent < 113 ? mantissa >> shift
                                : ((exponent - 112) << 10) + ((mantissa & 0x7fffffu) >> 13);
  guint32 rest = mantissa & ((1u << shift) - 1), middle = 1u << (shift - 1);
  if (rest > middle || (rest == middle && (half & 1)))
    half++;
  return (guint16) (sign | half);
}

static inline float
dyno_half_to_float (guint16 half)
{
  guint32 sign = (guint32) (half & 0x8000u) << 16, exponent = (half >> 10) & 0x1fu,
          mantissa = half & 0x3ffu, bits;
  if (exponent == 31)
    bits = sign | 0x7f800000u | (mantissa << 13);
  else if (exponent > 0)
    bits = sign | ((exponent + 112) << 23) | (mantissa << 13);
  else
    {
      float value = (float) mantissa * 0x1p-24f;
      memcpy (&bits, &value, sizeof bits);
      bits |= sign;
    }
  float value;
  memcpy (&value, &bits, sizeof value);
  return value;
}
