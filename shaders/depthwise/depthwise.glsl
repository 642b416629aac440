/* SPDX-License-Identifier: MIT */
/* Code shared by the passes of the depthwise convolution: constants, and the access to four
 * channels at once, of 8 bytes in fp16 and of 16 in fp32; values are fp32 after loading.  These
 * kernels wait for memory: loads are issued without a branch around them, so that many are
 * pending, and four channels need fewer registers than eight, so that more invocations run at a
 * time. */
#ifndef DYNO_DEPTHWISE_GLSL
#define DYNO_DEPTHWISE_GLSL
#include "lanes.glsl"
#include "depthwise.h"

#ifndef NORM
#define NORM 0
#endif
#ifndef AFFINE
#define AFFINE 0
#endif

layout (constant_id = DYNO_DEPTHWISE_CVECS) const uint CVECS = 1;
layout (constant_id = DYNO_DEPTHWISE_H) const uint H = 1;
layout (constant_id = DYNO_DEPTHWISE_W) const uint W = 1;
layout (constant_id = DYNO_DEPTHWISE_OH) const uint OH = 1;
layout (constant_id = DYNO_DEPTHWISE_OW) const uint OW = 1;
layout (constant_id = DYNO_DEPTHWISE_PAD_H) const uint PAD_H = 0;
layout (constant_id = DYNO_DEPTHWISE_PAD_W) const uint PAD_W = 0;
layout (constant_id = DYNO_DEPTHWISE_PIECES) const uint PIECES = 1;
layout (constant_id = DYNO_DEPTHWISE_PER_GROUP) const uint PER_GROUP = 1;
DYNO_PUSH (DynoDepthwisePush, p);

/* Four channels as they lie in memory. */
#ifdef HALF
#define Words uvec2
#ifdef WORDS64
DYNO_BUFFER_IN (QuadsIn, uint64_t, 8);
DYNO_BUFFER_OUT (QuadsOut, uint64_t, 8);
#else
DYNO_BUFFER_IN (QuadsIn, uvec2, 8);
DYNO_BUFFER_OUT (QuadsOut, uvec2, 8);
#endif
#else
#define Words uvec4
#endif

Words
quad_words (uint64_t address, uint index)
{
#ifndef HALF
  return words_load (address, index);
#elif defined (WORDS64)
  return unpack32 (QuadsIn (address).v[index]);
#else
  return QuadsIn (address).v[index];
#endif
}

vec4
quad_unpack (Words words)
{
#ifdef HALF
  return vec4 (vec2 (unpackFloat2x16 (words.x)), vec2 (unpackFloat2x16 (words.y)));
#else
  return uintBitsToFloat (words);
#endif
}

Words
quad_pack (vec4 quad)
{
#ifdef HALF
  return uvec2 (packFloat2x16 (f16vec2 (quad.xy)), packFloat2x16 (f16vec2 (quad.zw)));
#else
  return floatBitsToUint (quad);
#endif
}

vec4
quad_load (uint64_t address, uint index)
{
  return quad_unpack (quad_words (address, index));
}

void
quad_store (uint64_t address, uint index, vec4 quad)
{
  const Words words = quad_pack (quad);
#ifndef HALF
  words_store (address, index, words);
#elif defined (WORDS64)
  QuadsOut (address).v[index] = pack64 (words);
#else
  QuadsOut (address).v[index] = words;
#endif
}

/* The value as it is read back after it has been stored. */
vec4
quad_rounded (vec4 quad)
{
  return quad_unpack (quad_pack (quad));
}

/* DILATION_H, DILATION_W: an image has DILATION_H x DILATION_W phases, each of the pixels at these
 * distances: n counts the phases of all images, y and x the pixels of a phase, and PHASE_H, PHASE_W
 * are the sides of the largest phase of y. */
#ifdef DILATION_H
#define PHASE_H         ((OH + DILATION_H - 1) / DILATION_H)
#define PHASE_W         ((OW + DILATION_W - 1) / DILATION_W)
#define IMAGE_OF(n)     ((n) / (DILATION_H * DILATION_W))
#define ROW_OF(n, y)    ((y) * DILATION_H + (n) / DILATION_W % DILATION_H)
#define COLUMN_OF(n, x) ((x) * DILATION_W + (n) % DILATION_W)
#else
#define PHASE_H         OH
#define PHASE_W         OW
#define IMAGE_OF(n)     (n)
#define ROW_OF(n, y)    (y)
#define COLUMN_OF(n, x) (x)
#endif

/* Pixel (y, x) of image n of h x w, `pad` where it lies outside, also where a negative y or x
 * wrapped.  The load is always made, from a position inside, so that no branch delays the following
 * loads. */
Words
pixel_words_or (uint64_t address, uint n, uint y, uint x, uint h, uint w, uint column, Words pad)
{
  const uint row = ROW_OF (n, y), place = COLUMN_OF (n, x); /* too large if y or x wrapped */
  const bool inside = row < h && place < w;
  const uint pixel = inside ? (IMAGE_OF (n) * h + row) * w + place : 0;
  const Words words = quad_words (address, pixel * CVECS + column);
  return inside ? words : pad;
}

Words
pixel_words (uint64_t address, uint n, uint y, uint x, uint h, uint w, uint column)
{
  return pixel_words_or (address, n, y, x, h, w, column, Words (0));
}

#include "load.glsl"

/* The weights of a tap. */
vec4
weight_load (uint ky, uint kx, uint column)
{
#ifdef FLIP
  return quad_load (p.b, ((TAPS_H - 1 - ky) * TAPS_W + TAPS_W - 1 - kx) * CVECS + column);
#else
  return quad_load (p.b, (ky * TAPS_W + kx) * CVECS + column);
#endif
}

#if AFFINE
#include "affine.glsl"
#endif

#if NORM
#include "norm.glsl"

shared vec4 parts[2][LOCAL_X * LOCAL_Y];
NormColumns norm_of;
vec4 norm_sum, norm_product;

void
norm_clear (uint column)
{
  norm_of = norm_columns (min (column, CVECS - 1));
  norm_sum = norm_product = vec4 (0.0);
}

/* Rounds four channels of dy, applies the slope, and adds them to the sums; returns the values to
 * be stored. */
vec4
norm_quad (vec4 dy, Words x)
{
  return norm_take (norm_of, quad_rounded (dy), quad_unpack (x), 0, norm_sum, norm_product);
}
#endif

/* Adds up each of n parts[][LOCAL_X * LOCAL_Y] over y, in a fixed order, into the parts of y 0;
 * all invocations of the workgroup must call it.  The loop is written in a form that Mesa unrolls:
 * Mesa unrolls no loop around one that it does not unroll, and sums with a loop's index would then
 * lie in memory and not in registers. */
#define QUADS_ADD_UP(parts, n)                                                   \
  [[unroll]] for (uint halving = 0; halving < 10; halving++)                     \
    {                                                                            \
      const uint n_parts = (LOCAL_Y + (1u << halving) - 1) >> halving,           \
                 half_parts = (n_parts + 1) / 2, here = gl_LocalInvocationIndex; \
      if (n_parts > 1)                                                           \
        barrier ();                                                              \
      if (n_parts > 1 && gl_LocalInvocationID.y < n_parts - half_parts)          \
        [[unroll]] for (uint i = 0; i < n; i++)                                  \
          parts[i][here] += parts[i][here + half_parts * LOCAL_X];               \
    }

#if NORM
/* Stores the workgroup's sums, partials[group][2][c]; all invocations of the workgroup must call
 * it. */
void
norm_store (uint column)
{
  parts[0][gl_LocalInvocationIndex] = norm_sum;
  parts[1][gl_LocalInvocationIndex] = norm_product;
  QUADS_ADD_UP (parts, 2);
  if (gl_LocalInvocationID.y != 0 || column >= CVECS)
    return;
  const uint here = gl_LocalInvocationIndex, first = gl_WorkGroupID.x * 2 * CVECS;
  FloatLanesOut (p.partials).v[first + column] = parts[0][here];
  FloatLanesOut (p.partials).v[first + CVECS + column] = norm_finish (column, parts[1][here]);
}
#endif

#endif
