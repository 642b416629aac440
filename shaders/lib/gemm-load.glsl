/* SPDX-License-Identifier: MIT */
/* LOAD=n: A is gathered from the output of a batch norm, which is not in memory: the kernel loads
 * the batch norm's x, and computes the output from it before it writes it to shared memory (with
 * LANES: to registers), followed by RELU or RELU6 of shared/activation.h, or with another n by no
 * activation.
 *
 * p.norm_y is [4][C] of x's type, written by batchnorm_finish.comp:
 *   0  the mean, rounded to that type
 *   1  gamma * invstd
 *   2  beta - (mean - [0]) * [1]; in fp16 with RELU or RELU6 plus a correction for rounding [1]
 *   3  0; NaN where one of the eight channels of the group is not finite
 *
 * y = max ((x - [0]) * [1] + [2], [3]), for two fp16 channels at a time: 12 instructions for 16
 * bytes of x; in fp32 there would be 28, including unpacking and packing.  x - [0] is exact where
 * both are close, so that a mean that is large compared with the deviation costs no precision;
 * with one multiply-add (8 instructions) it would; the expression is `precise`, since a
 * driver may otherwise contract it to that multiply-add.  [3] is NaN where y may be, since the
 * maximum of NaN and 0 may be 0.  Afterwards zeros replace elements outside of a matrix or an
 * image, as without LOAD.
 *
 * The including file defines uint gemm_load_chunk (), the chunk of x's channels for this
 * invocation's chunk column of A's current tile. */
#ifndef DYNO_GEMM_LOAD_GLSL
#define DYNO_GEMM_LOAD_GLSL
#ifdef LOAD
#include "activation.h"

uint gemm_load_chunk ();

GemmChunk load_mean, load_factor, load_shift;
#if HALF
DYNO_BUFFER_IN (LoadLeast, f16vec2, 4);
f16vec2 load_least;
#else
DYNO_BUFFER_IN (LoadLeast, float, 4);
float load_least;
#endif

/* The batch norm's values of this invocation's channels. */
void
load_fetch ()
{
  const uint chunk = gemm_load_chunk ();
  load_mean = GemmChunks (p.norm_y).v[chunk];
  load_factor = GemmChunks (p.norm_y).v[C / CHUNK + chunk];
  load_shift = GemmChunks (p.norm_y).v[2 * (C / CHUNK) + chunk];
#if HALF
  load_least = LoadLeast (p.norm_y).v[3 * (C / 2) + chunk * (CHUNK / 2)];
#else
  load_least = LoadLeast (p.norm_y).v[3 * C + chunk * CHUNK];
#endif
}

#if HALF
uint
load_make (uint x, uint mean, uint factor, uint shift)
{
  precise const f16vec2 distance = unpackFloat2x16 (x) - unpackFloat2x16 (mean);
  f16vec2 y = distance * unpackFloat2x16 (factor) + unpackFloat2x16 (shift);
#if LOAD == DYNO_ACTIVATION_ID_RELU || LOAD == DYNO_ACTIVATION_ID_RELU6
  y = max (y, load_least);
#endif
#if LOAD == DYNO_ACTIVATION_ID_RELU6
  y = min (y, load_least + f16vec2 (6.0)); /* NaN too */
#endif
  return packFloat2x16 (y);
}
#else
vec4
load_make (vec4 x, vec4 mean, vec4 factor, vec4 shift)
{
  precise const vec4 distance = x - mean;
  vec4 y = distance * factor + shift;
#if LOAD == DYNO_ACTIVATION_ID_RELU || LOAD == DYNO_ACTIVATION_ID_RELU6
  y = max (y, vec4 (load_least));
#endif
#if LOAD == DYNO_ACTIVATION_ID_RELU6
  y = min (y, vec4 (load_least + 6.0));
#endif
  return y;
}
#endif

#ifdef LANES
vec4
load_floats (u64vec2 chunk)
{
  return uintBitsToFloat (uvec4 (unpack32 (chunk.x), unpack32 (chunk.y)));
}
#endif

/* Converts a loaded chunk of x to a chunk of A. */
GemmChunk
load_put (GemmChunk chunk, bool valid)
{
#ifdef LANES
  const uvec4 bits = floatBitsToUint (load_make (load_floats (chunk), load_floats (load_mean),
                                                 load_floats (load_factor),
                                                 load_floats (load_shift)));
  chunk = u64vec2 (pack64 (bits.xy), pack64 (bits.zw));
#elif HALF
  chunk = GemmChunk (load_make (chunk.x, load_mean.x, load_factor.x, load_shift.x),
                     load_make (chunk.y, load_mean.y, load_factor.y, load_shift.y),
                     load_make (chunk.z, load_mean.z, load_factor.z, load_shift.z),
                     load_make (chunk.w, load_mean.w, load_factor.w, load_shift.w));
#else
  chunk = floatBitsToUint (load_make (uintBitsToFloat (chunk), uintBitsToFloat (load_mean),
                                      uintBitsToFloat (load_factor),
                                      uintBitsToFloat (load_shift)));
#endif
  return valid ? chunk : GemmChunk (0);
}

#else
#define load_put(chunk, valid) GEMM_ZERO (chunk, valid)
#endif
#endif
