/* SPDX-License-Identifier: MIT */
/* LOAD=n, RELU or RELU6 of shared/activation.h: the x that a kernel convolves is the output of a
 * batch norm with this activation, which is not in memory: p.a is the batch norm's input, and the
 * output is computed from it right after loading, by one multiply-add.  p has mean, invstd, gamma
 * and beta, fp32 [C].
 *
 * With RELU6 the output is divided by 6, since clamping to 0 .. 1 costs nothing, and x_unit
 * compensates for this.  For a pixel outside of the image x is an infinity whose output is zero.
 * Where the statistics are not finite, the output is NaN; where the statistics are finite, all of x
 * is finite. */
#ifndef DYNO_DEPTHWISE_LOAD_GLSL
#define DYNO_DEPTHWISE_LOAD_GLSL
#ifdef LOAD
#include "activation.h"

#define LOAD_SIXTHS (LOAD == DYNO_ACTIVATION_ID_RELU6)

Words x_pad;
vec4 load_factor, load_shift, load_least;
/* the factor that products are multiplied by, 6 with RELU6; NaN where the statistics are not
 * finite */
vec4 x_unit;

void
load_begin (uint column)
{
  column = min (column, CVECS - 1);
  const float unit = LOAD_SIXTHS ? 6.0 : 1.0;
  const vec4 mean = FloatLanesIn (p.mean).v[column], beta = FloatLanesIn (p.beta).v[column];
  vec4 factor = FloatLanesIn (p.gamma).v[column] * FloatLanesIn (p.invstd).v[column];
  const bvec4 bad = equal (floatBitsToUint (mean + factor + beta) & 0x7f800000u,
                           uvec4 (0x7f800000u));
  load_least = mix (vec4 (0.0), uintBitsToFloat (uvec4 (0x7fc00000u)), bad);
  /* Infinity times zero would be NaN: a factor near zero becomes 1e-30, or with a zero beta, zero,
   * and then the pad is zero too. */
  const bvec4 none = lessThan (abs (factor), vec4 (1e-30));
  factor = mix (factor, mix (vec4 (1e-30), vec4 (0.0), equal (beta, vec4 (0.0))), none);
  const uvec4 below = mix (uvec4 (0xff800000u), uvec4 (0x7f800000u), lessThan (factor, vec4 (0.0)));
  x_pad = quad_pack (uintBitsToFloat (mix (below, uvec4 (0u), equal (factor, vec4 (0.0)))));
  load_factor = factor / unit;
  load_shift = (beta - mean * factor) / unit + load_least;
  x_unit = load_least + unit;
}

vec4
x_unpack (Words words)
{
  const vec4 x = quad_unpack (words) * load_factor + load_shift;
#if LOAD_SIXTHS
  return clamp (x, 0.0, 1.0);
#else
  return max (x, load_least);
#endif
}

#else
#define LOAD_SIXTHS         0
#define x_pad               Words (0)
#define x_unpack(words)     quad_unpack (words)
#define load_begin(column)
#endif
#endif
