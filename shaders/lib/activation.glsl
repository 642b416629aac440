/* SPDX-License-Identifier: MIT */
/* ACTIVATION=n, of shared/activation.h: f (x), and dy * f' (x), computed from x or from y = f (x);
 * ACTIVATION_PARAMETER is the slope of LEAKY_RELU and the alpha of ELU.  The slope at a bend is
 * zero, as in PyTorch; LEAKY_RELU and ELU have the slope of the left side there, and HARD_SWISH has
 * the slopes of its outer sides, and ABS has none.
 *
 * Every function is finite where f (x) is, also for the largest numbers of fp32: no infinity is
 * multiplied by zero.  GLSL's tanh need not be finite, and GLSL has no erf. */
#ifndef DYNO_ACTIVATION_GLSL
#define DYNO_ACTIVATION_GLSL
#include "activation.h"
#include "relu.glsl"

#if ACTIVATION == DYNO_ACTIVATION_ID_TANH
/* For small x the series is used, since 1 - exp (-2 x) has few digits there. */
vec4
tanh_of (vec4 x)
{
  const vec4 e = exp (-2.0 * abs (x)), t = (1.0 - e) / (1.0 + e), s = x * x;
  const vec4 series =
      x * (1.0 + s * (-1.0 / 3.0 + s * (2.0 / 15.0 + s * (-17.0 / 315.0 + s * (62.0 / 2835.0)))));
  return mix (mix (t, -t, lessThan (x, vec4 (0.0))), series, lessThan (abs (x), vec4 (0.25)));
}
#endif

#if ACTIVATION == DYNO_ACTIVATION_ID_ELU
/* exp (x) - 1; for small x the series is used */
vec4
expm1_of (vec4 x)
{
  const vec4 series =
      x * (1.0 + x / 2.0 * (1.0 + x / 3.0 * (1.0 + x / 4.0 * (1.0 + x / 5.0 * (1.0 + x / 6.0)))));
  return mix (exp (x) - 1.0, series, lessThan (abs (x), vec4 (0.125)));
}
#endif

#if ACTIVATION == DYNO_ACTIVATION_ID_SOFTPLUS
/* log (1 + e) for e from 0 to 1: 2 artanh (s), s = e / (2 + e), by its series. */
vec4
log1p_of (vec4 e)
{
  const vec4 s = e / (2.0 + e), q = s * s;
  return 2.0 * s
         * (1.0
            + q * (1.0 / 3.0
                   + q * (1.0 / 5.0
                          + q * (1.0 / 7.0
                                 + q * (1.0 / 9.0 + q * (1.0 / 11.0 + q * (1.0 / 13.0)))))));
}
#endif

#if ACTIVATION == DYNO_ACTIVATION_ID_GELU
/* The normal distribution P (x) = (1 + erf (x / sqrt (2))) / 2.  density: exp (-x^2 / 2).
 * P (-|x|) = density * q (t), t = 1 / (1 + 0.35 |x|), has the form of 26.2.17 of Abramowitz and
 * Stegun; q has nine coefficients of our own, fitted by weighted least squares for the smallest
 * relative error, 3.3e-8.  So small values in the tail keep the precision that 1 + erf would
 * lose. */
vec4
normal_distribution (vec4 x, vec4 density)
{
  const vec4 t = 1.0 / (1.0 + 0.35 * abs (x));
  vec4 q = vec4 (-0.0291477835);
  q = q * t + 0.143980132;
  q = q * t - 0.255730286;
  q = q * t + 0.159190632;
  q = q * t - 0.0231197134;
  q = q * t + 0.105511476;
  q = q * t + 0.119832192;
  q = q * t + 0.139861931;
  q = q * t + 0.139621403;
  q *= t * density;
  return mix (1.0 - q, q, lessThan (x, vec4 (0.0)));
}
#endif

#if ACTIVATION == DYNO_ACTIVATION_ID_GELU_TANH
/* (1 + tanh (u)) / 2 = 1 / (1 + exp (-2 u)) */
vec4
gelu_gate (vec4 x)
{
  return 1.0 / (1.0 + exp (x * (-1.5957691216 - 0.0713548163 * x * x)));
}
#endif

#if ACTIVATION == DYNO_ACTIVATION_ID_SQRT || ACTIVATION == DYNO_ACTIVATION_ID_LOG
/* y, but NaN where x is a negative number, of which GLSL defines neither root nor logarithm. */
vec4
nan_below_zero (vec4 x, vec4 y)
{
  const bvec4 negative =
      lessThanEqual (floatBitsToUint (x) - 0x80000001u, uvec4 (0x7f7fffffu));
  return uintBitsToFloat (mix (floatBitsToUint (y), uvec4 (0x7fc00000u), negative));
}
#endif

#if ACTIVATION == DYNO_ACTIVATION_ID_SIN || ACTIVATION == DYNO_ACTIVATION_ID_COS
/* sin (x + quarters pi / 2).  GLSL's functions have few digits, and need not be defined outside of
 * -pi to pi.  x is reduced to r from -pi / 4 to pi / 4 by pi / 2 in three parts, of which the first
 * has 8 bits, so that its multiples are exact up to 2^16; polynomials of Cephes give the result to
 * fp32.  Past that the result has fewer and fewer digits, but stays between -1 and 1, and it is NaN
 * where x is not finite. */
vec4
sin_of (vec4 x, float quarters)
{
  const vec4 n = round (x * 0.6366197724), m = n + quarters, quadrant = m - 4.0 * floor (m * 0.25);
  const vec4 r =
      clamp (((x - n * 1.5703125) - n * 4.837512969970703125e-4) - n * 7.54978994e-8, -0.8, 0.8);
  const vec4 z = r * r;
  const vec4 s = r + r * z * (-0.16666654611 + z * (8.3321608736e-3 + z * -1.9515295891e-4));
  const vec4 c =
      1.0 - 0.5 * z + z * z * (0.04166664568 + z * (-1.388731625e-3 + z * 2.443315712e-5));
  const vec4 y = mix (s, c, equal (mod (quadrant, 2.0), vec4 (1.0)));
  const uvec4 bits = floatBitsToUint (mix (y, -y, greaterThan (quadrant, vec4 (1.5))));
  return uintBitsToFloat (mix (bits, uvec4 (0x7fc00000u),
                               equal (floatBitsToUint (x) & 0x7f800000u, uvec4 (0x7f800000u))));
}
#endif

#if ACTIVATION == DYNO_ACTIVATION_ID_MISH
/* tanh (log (1 + exp (x))) = (e^2 + 2 e) / (e^2 + 2 e + 2), e = exp (x), without an exp that may be
 * infinite: w = exp (-|x|). */
vec4
mish_gate (vec4 x, vec4 w)
{
  const bvec4 negative = lessThan (x, vec4 (0.0));
  return mix (1.0 + 2.0 * w, w * (w + 2.0), negative)
         / mix (1.0 + 2.0 * w * (1.0 + w), w * (w + 2.0) + 2.0, negative);
}
#endif

/* NaN stays NaN; see `relu`. */
vec4
activate (vec4 x)
{
#if ACTIVATION == DYNO_ACTIVATION_ID_RELU
  return relu (x);
#elif ACTIVATION == DYNO_ACTIVATION_ID_RELU6
  /* tests by bits for numbers from 6 to infinity, so that NaN stays NaN */
  const uvec4 bits = floatBitsToUint (relu (x));
  return uintBitsToFloat (mix (bits, uvec4 (0x40c00000u),
                               lessThanEqual (bits - 0x40c00000u, uvec4 (0x3ec00000u))));
#elif ACTIVATION == DYNO_ACTIVATION_ID_SILU
  return x / (1.0 + exp (-x));
#elif ACTIVATION == DYNO_ACTIVATION_ID_SIGMOID
  return 1.0 / (1.0 + exp (-x));
#elif ACTIVATION == DYNO_ACTIVATION_ID_TANH
  return tanh_of (x);
#elif ACTIVATION == DYNO_ACTIVATION_ID_LEAKY_RELU
  return x * mix (vec4 (ACTIVATION_PARAMETER), vec4 (1.0), greaterThan (x, vec4 (0.0)));
#elif ACTIVATION == DYNO_ACTIVATION_ID_ELU
  return mix (ACTIVATION_PARAMETER * expm1_of (x), x, greaterThan (x, vec4 (0.0)));
#elif ACTIVATION == DYNO_ACTIVATION_ID_GELU
  return x * normal_distribution (x, exp (-0.5 * x * x));
#elif ACTIVATION == DYNO_ACTIVATION_ID_GELU_TANH
  return x * gelu_gate (x);
#elif ACTIVATION == DYNO_ACTIVATION_ID_HARD_SWISH
  return x * (clamp (x + 3.0, 0.0, 6.0) * (1.0 / 6.0));
#elif ACTIVATION == DYNO_ACTIVATION_ID_HARD_SIGMOID
  /* tests by bits for numbers from 1 to infinity, so that NaN stays NaN */
  const uvec4 bits = floatBitsToUint (relu (x * (1.0 / 6.0) + 0.5));
  return uintBitsToFloat (mix (bits, uvec4 (0x3f800000u),
                               lessThanEqual (bits - 0x3f800000u, uvec4 (0x40000000u))));
#elif ACTIVATION == DYNO_ACTIVATION_ID_SOFTPLUS
  return relu (x) + log1p_of (exp (-abs (x)));
#elif ACTIVATION == DYNO_ACTIVATION_ID_MISH
  return x * mish_gate (x, exp (-abs (x)));
#elif ACTIVATION == DYNO_ACTIVATION_ID_EXP
  return exp (x);
#elif ACTIVATION == DYNO_ACTIVATION_ID_SQRT
  return nan_below_zero (x, sqrt (x));
#elif ACTIVATION == DYNO_ACTIVATION_ID_RECIPROCAL
  return 1.0 / x;
#elif ACTIVATION == DYNO_ACTIVATION_ID_LOG
  return nan_below_zero (
      x, mix (log (x), vec4 (uintBitsToFloat (0xff800000u)), equal (x, vec4 (0.0))));
#elif ACTIVATION == DYNO_ACTIVATION_ID_ABS
  return abs (x);
#elif ACTIVATION == DYNO_ACTIVATION_ID_SIN
  return sin_of (x, 0.0);
#elif ACTIVATION == DYNO_ACTIVATION_ID_COS
  return sin_of (x, 1.0);
#else
#error "no such activation"
#endif
}

vec4
activation_slope_of_x (vec4 x, vec4 dy)
{
#if ACTIVATION == DYNO_ACTIVATION_ID_RELU
  return mix (vec4 (0.0), dy, greaterThan (x, vec4 (0.0)));
#elif ACTIVATION == DYNO_ACTIVATION_ID_RELU6
  return mix (vec4 (0.0), mix (vec4 (0.0), dy, lessThan (x, vec4 (6.0))),
              greaterThan (x, vec4 (0.0)));
#elif ACTIVATION == DYNO_ACTIVATION_ID_TANH
  const vec4 t = tanh_of (x);
  return dy * (1.0 - t * t);
#elif ACTIVATION == DYNO_ACTIVATION_ID_LEAKY_RELU
  return dy * mix (vec4 (ACTIVATION_PARAMETER), vec4 (1.0), greaterThan (x, vec4 (0.0)));
#elif ACTIVATION == DYNO_ACTIVATION_ID_ELU
  return dy * mix (ACTIVATION_PARAMETER * exp (x), vec4 (1.0), greaterThan (x, vec4 (0.0)));
#elif ACTIVATION == DYNO_ACTIVATION_ID_GELU
  const vec4 density = exp (-0.5 * x * x);
  return dy * (normal_distribution (x, density) + 0.3989422804 * x * density);
#elif ACTIVATION == DYNO_ACTIVATION_ID_GELU_TANH
  /* past +-16 the gate is 0 or 1 and its slope is 0; the clamp keeps the factor of the slope
   * finite */
  const vec4 inner = clamp (x, -16.0, 16.0), s = gelu_gate (inner);
  return dy * (s + inner * s * (1.0 - s) * (1.5957691216 + 0.2140644488 * inner * inner));
#elif ACTIVATION == DYNO_ACTIVATION_ID_HARD_SWISH
  return dy
         * mix (mix (vec4 (0.0), x * (1.0 / 3.0) + 0.5, greaterThan (x, vec4 (-3.0))), vec4 (1.0),
                greaterThanEqual (x, vec4 (3.0)));
#elif ACTIVATION == DYNO_ACTIVATION_ID_HARD_SIGMOID
  return mix (vec4 (0.0), dy * (1.0 / 6.0), lessThan (abs (x), vec4 (3.0)));
#elif ACTIVATION == DYNO_ACTIVATION_ID_SOFTPLUS
  return dy / (1.0 + exp (-x));
#elif ACTIVATION == DYNO_ACTIVATION_ID_MISH
  const vec4 w = exp (-abs (x)), t = mish_gate (x, w);
  const vec4 sigmoid = mix (vec4 (1.0), w, lessThan (x, vec4 (0.0))) / (1.0 + w);
  return dy * (t + x * sigmoid * (1.0 - t * t));
#elif ACTIVATION == DYNO_ACTIVATION_ID_EXP
  return dy * exp (x);
#elif ACTIVATION == DYNO_ACTIVATION_ID_SQRT
  return mix (dy * 0.5 / sqrt (x), vec4 (0.0), equal (x, vec4 (0.0)));
#elif ACTIVATION == DYNO_ACTIVATION_ID_RECIPROCAL
  return -dy / (x * x);
#elif ACTIVATION == DYNO_ACTIVATION_ID_LOG
  return dy / x;
#elif ACTIVATION == DYNO_ACTIVATION_ID_ABS
  return dy * sign (x);
#elif ACTIVATION == DYNO_ACTIVATION_ID_SIN
  return dy * sin_of (x, 1.0);
#elif ACTIVATION == DYNO_ACTIVATION_ID_COS
  return -dy * sin_of (x, 0.0);
#else
  const vec4 s = 1.0 / (1.0 + exp (-x));
#if ACTIVATION == DYNO_ACTIVATION_ID_SILU
  return dy * (s * (1.0 + x * (1.0 - s)));
#else
  return dy * (s * (1.0 - s));
#endif
#endif
}

/* Exists for the functions whose slope can be computed from y; for LEAKY_RELU its parameter must be
 * above 0. */
#if ACTIVATION == DYNO_ACTIVATION_ID_SIGMOID
vec4
activation_slope_of_y (vec4 y, vec4 dy)
{
  return dy * (y * (1.0 - y));
}
#elif ACTIVATION == DYNO_ACTIVATION_ID_TANH
vec4
activation_slope_of_y (vec4 y, vec4 dy)
{
  return dy * (1.0 - y * y);
}
#elif ACTIVATION == DYNO_ACTIVATION_ID_HARD_SIGMOID
vec4
activation_slope_of_y (vec4 y, vec4 dy)
{
  return mix (vec4 (0.0), mix (vec4 (0.0), dy * (1.0 / 6.0), lessThan (y, vec4 (1.0))),
              greaterThan (y, vec4 (0.0)));
}
#elif ACTIVATION == DYNO_ACTIVATION_ID_EXP
vec4
activation_slope_of_y (vec4 y, vec4 dy)
{
  return dy * y;
}
#elif ACTIVATION == DYNO_ACTIVATION_ID_SQRT
vec4
activation_slope_of_y (vec4 y, vec4 dy)
{
  return mix (dy / (2.0 * y), vec4 (0.0), equal (y, vec4 (0.0)));
}
#elif ACTIVATION == DYNO_ACTIVATION_ID_RECIPROCAL
vec4
activation_slope_of_y (vec4 y, vec4 dy)
{
  return -dy * (y * y);
}
#elif ACTIVATION == DYNO_ACTIVATION_ID_RELU || ACTIVATION == DYNO_ACTIVATION_ID_RELU6 \
    || ACTIVATION == DYNO_ACTIVATION_ID_LEAKY_RELU
vec4
activation_slope_of_y (vec4 y, vec4 dy)
{
  return activation_slope_of_x (y, dy);
}
#endif

#endif
