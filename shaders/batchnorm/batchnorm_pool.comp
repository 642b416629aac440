#version 460
/* SPDX-License-Identifier: MIT */
/* y (N, OH, OW, C) = the largest, in a window of WINDOW x WINDOW, of (x - mean) * gamma * invstd + beta [max (., 0) with RELU=1]; x
 * is (N, H, W, C).  Places outside x count as -inf (PAD > 0 only); of equal values the first in scan order, and NaN wins.  Values
 * are compared as y holds them, rounded to half with HALF=1.
 * KEEP=1 keeps for the backward pass the place in the window, a byte an element, NOWHERE where the relu stops the gradient; and
 * x at that place.  VARIANCE=1 and STRIDE as in batchnorm_apply. */
#include "types.glsl"
#include "lanes.glsl"
#include "batchnorm-push.h"

layout (constant_id = 0) const uint COUNT = 1; /* accesses in y */
layout (constant_id = 1) const uint CVECS = 1;
layout (constant_id = 2) const uint STRIDE = 1;
layout (constant_id = 3) const uint H = 1;
layout (constant_id = 4) const uint W = 1;
layout (constant_id = 5) const uint OH = 1;
layout (constant_id = 6) const uint OW = 1;
layout (constant_id = 7) const float EPSILON = 1e-5;
DYNO_PUSH (DynoBatchNormPoolPush, p);
DYNO_BUFFER_OUT (Bytes, uint, 4);

#define NOWHERE 0xffu
#define FIRST   int (0x80000000u)
#define NAN     0x7fffffff

Lanes mean, factor, beta, winner;
ivec4 best[QUADS];
uvec4 place[QUADS];

vec4
value_of (Lanes x, uint j) /* before the relu */
{
  return (x.q[j] - mean.q[j]) * factor.q[j] + beta.q[j];
}

vec4
activation (vec4 value)
{
#ifdef RELU
  return relu (value);
#else
  return value;
#endif
}

/* Integers in the order of the values as y will hold them; by their bits, since compilers leave out a rounding to half and back. */
ivec4
order_of (vec4 value)
{
#ifdef HALF
  const uvec2 words = uvec2 (packFloat2x16 (f16vec2 (value.xy)), packFloat2x16 (f16vec2 (value.zw)));
  const uvec4 bits = uvec4 (words.x & 0xffffu, words.x >> 16, words.y & 0xffffu, words.y >> 16);
  const ivec4 size = ivec4 (bits & 0x7fffu);
  const ivec4 order = mix (size, -size, greaterThan (bits, uvec4 (0x7fffu)));
  return mix (order, ivec4 (NAN), greaterThan (size, ivec4 (0x7c00)));
#else
  const uvec4 bits = floatBitsToUint (value);
  const ivec4 size = ivec4 (bits & 0x7fffffffu);
  const ivec4 order = mix (size, -size, greaterThan (bits, uvec4 (0x7fffffffu)));
  return mix (order, ivec4 (NAN), greaterThan (size, ivec4 (0x7f800000)));
#endif
}

void
take (Lanes x, uint here)
{
  [[unroll]] for (uint j = 0; j < QUADS; j++)
    {
      const vec4 value = value_of (x, j);
      const ivec4 order = order_of (activation (value));
      [[unroll]] for (uint k = 0; k < 4; k++)
        if (order[k] > best[j][k] || order[k] == NAN)
          {
            best[j][k] = order[k];
            winner.q[j][k] = x.q[j][k];
#ifdef RELU
            place[j][k] = value[k] > 0.0 ? here : NOWHERE;
#else
            place[j][k] = here;
#endif
          }
    }
}

void
main ()
{
  const uint first = gl_GlobalInvocationID.x;
  if (first >= STRIDE)
    return;
  const uint column = first % CVECS;
  mean = lanes_load_floats (p.mean, column);
  beta = lanes_load_floats (p.beta, column);
  factor = lanes_load_floats (p.gamma, column);
  const Lanes spread = lanes_load_floats (p.spread, column);
  [[unroll]] for (uint j = 0; j < QUADS; j++)
#ifdef VARIANCE
    factor.q[j] *= inversesqrt (spread.q[j] + EPSILON);
#else
    factor.q[j] *= spread.q[j];
#endif

  for (uint i = first; i < COUNT; i += STRIDE)
    {
      const uint pixel = i / CVECS;
      const uint w = pixel % OW * STEP, h = pixel / OW % OH * STEP, n = pixel / (OW * OH);
      winner = lanes_fill (0.0);
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        {
          best[j] = ivec4 (FIRST);
          place[j] = uvec4 (NOWHERE);
        }
      [[unroll]] for (uint r = 0; r < WINDOW; r++)
        {
          /* with a pad a place outside is loaded from the edge, so that loads wait for nothing, and left out; h + r - PAD wraps */
          Lanes x[WINDOW];
          [[unroll]] for (uint s = 0; s < WINDOW; s++)
#if PAD > 0
            x[s] = lanes_load (p.x, ((n * H + min (max (h + r, PAD) - PAD, H - 1)) * W
                                     + min (max (w + s, PAD) - PAD, W - 1)) * CVECS + column);
#else
            x[s] = lanes_load (p.x, ((n * H + h + r) * W + w + s) * CVECS + column);
#endif
          [[unroll]] for (uint s = 0; s < WINDOW; s++)
#if PAD > 0
            if (h + r - PAD < H && w + s - PAD < W)
#endif
              take (x[s], r * WINDOW + s);
        }
      Lanes y;
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        y.q[j] = activation (value_of (winner, j));
      lanes_store (p.y, i, y);
#ifdef KEEP
      lanes_store (p.winners, i, winner);
      [[unroll]] for (uint j = 0; j < QUADS; j++)
        Bytes (p.argmax).v[i * QUADS + j] = place[j].x | place[j].y << 8 | place[j].z << 16 | place[j].w << 24;
#endif
    }
}
