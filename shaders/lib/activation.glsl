/* SPDX-License-Identifier: MIT */
/* ACTIVATION=n, of shared/activation.h: f (x), and dy * f' (x), computed from x or from y = f (x).
 * The slope at a bend is zero, as in PyTorch. */
#ifndef DYNO_ACTIVATION_GLSL
#define DYNO_ACTIVATION_GLSL
#include "activation.h"
#include "relu.glsl"

/* NaN stays NaN; see `relu`. */
vec4
activate (vec4 x)
{
#if ACTIVATION == DYNO_ACTIVATION_ID_RELU
  return relu (x);
#elif ACTIVATION == DYNO_ACTIVATION_ID_RELU6
  /* numbers from 6 to infinity have the larger bits */
  const uvec4 bits = floatBitsToUint (relu (x));
  return uintBitsToFloat (mix (bits, uvec4 (0x40c00000u),
                               lessThanEqual (bits - 0x40c00000u, uvec4 (0x3ec00000u))));
#elif ACTIVATION == DYNO_ACTIVATION_ID_SILU
  return x / (1.0 + exp (-x));
#elif ACTIVATION == DYNO_ACTIVATION_ID_SIGMOID
  return 1.0 / (1.0 + exp (-x));
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
#else
  const vec4 s = 1.0 / (1.0 + exp (-x));
#if ACTIVATION == DYNO_ACTIVATION_ID_SILU
  return dy * (s * (1.0 + x * (1.0 - s)));
#else
  return dy * (s * (1.0 - s));
#endif
#endif
}

#if ACTIVATION != DYNO_ACTIVATION_ID_SILU
vec4
activation_slope_of_y (vec4 y, vec4 dy)
{
#if ACTIVATION == DYNO_ACTIVATION_ID_SIGMOID
  return dy * (y * (1.0 - y));
#else
  return activation_slope_of_x (y, dy);
#endif
}
#endif

#endif
