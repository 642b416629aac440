/* SPDX-License-Identifier: MIT */
/* Lanes: the channels of one access of 16 bytes, 8 halves with HALF=1 and 4 floats without; they
 * are fp32 after loading.  Include after types.glsl.  index counts accesses of 16 bytes from the
 * address, for floats accesses of LANES floats; it stays below 2^31, which is 32 GiB.  With
 * WORDS64=1 an access is two words of 64 bits instead of four of 32: a device on a CPU (llvmpipe)
 * runs a loop over its lanes for every word, whatever the word's length. */
#ifndef DYNO_LANES_GLSL
#define DYNO_LANES_GLSL
#include "finite.glsl"
#include "relu.glsl"

#ifdef HALF
#define LANES 8
#define QUADS 2
DYNO_BUFFER_IN (LanesIn, uvec4, 16);
DYNO_BUFFER_OUT (LanesOut, uvec4, 16);
#else
#define LANES 4
#define QUADS 1
DYNO_BUFFER_IN (LanesIn, vec4, 16);
DYNO_BUFFER_OUT (LanesOut, vec4, 16);
#endif
#ifdef WORDS64
DYNO_BUFFER_IN (LongWordsIn, u64vec2, 16);
DYNO_BUFFER_OUT (LongWordsOut, u64vec2, 16);
#endif
DYNO_BUFFER_IN (FloatLanesIn, vec4, 16);
DYNO_BUFFER_OUT (FloatLanesOut, vec4, 16);

struct Lanes {
  vec4 q[QUADS];
};

Lanes
lanes_fill (float value)
{
  Lanes lanes;
  [[unroll]] for (uint i = 0; i < QUADS; i++)
    lanes.q[i] = vec4 (value);
  return lanes;
}

/* Loads 16 bytes, without a conversion. */
uvec4
words_load (uint64_t address, uint index)
{
#ifdef WORDS64
  const u64vec2 words = LongWordsIn (address).v[index];
  return uvec4 (unpack32 (words.x), unpack32 (words.y));
#elif defined (HALF)
  return LanesIn (address).v[index];
#else
  return floatBitsToUint (LanesIn (address).v[index]);
#endif
}

void
words_store (uint64_t address, uint index, uvec4 words)
{
#ifdef WORDS64
  LongWordsOut (address).v[index] = u64vec2 (pack64 (words.xy), pack64 (words.zw));
#elif defined (HALF)
  LanesOut (address).v[index] = words;
#else
  LanesOut (address).v[index] = uintBitsToFloat (words);
#endif
}

/* Kernels keep values packed in words while many loads are pending, which needs fewer registers,
 * and unpack them where they use them. */
Lanes
words_unpack (uvec4 words)
{
  Lanes lanes;
#ifdef HALF
  lanes.q[0] = vec4 (vec2 (unpackFloat2x16 (words.x)), vec2 (unpackFloat2x16 (words.y)));
  lanes.q[1] = vec4 (vec2 (unpackFloat2x16 (words.z)), vec2 (unpackFloat2x16 (words.w)));
#else
  lanes.q[0] = uintBitsToFloat (words);
#endif
  return lanes;
}

uvec4
words_pack (Lanes lanes)
{
#ifdef HALF
  return uvec4 (packFloat2x16 (f16vec2 (lanes.q[0].xy)), packFloat2x16 (f16vec2 (lanes.q[0].zw)),
                packFloat2x16 (f16vec2 (lanes.q[1].xy)), packFloat2x16 (f16vec2 (lanes.q[1].zw)));
#else
  return floatBitsToUint (lanes.q[0]);
#endif
}

Lanes
lanes_load (uint64_t address, uint index)
{
  return words_unpack (words_load (address, index));
}

void
lanes_store (uint64_t address, uint index, Lanes lanes)
{
  words_store (address, index, words_pack (lanes));
}

Lanes
lanes_load_floats (uint64_t address, uint index)
{
  Lanes lanes;
  [[unroll]] for (uint i = 0; i < QUADS; i++)
#ifdef WORDS64
    lanes.q[i] = uintBitsToFloat (words_load (address, index * QUADS + i));
#else
    lanes.q[i] = FloatLanesIn (address).v[index * QUADS + i];
#endif
  return lanes;
}

void
lanes_store_floats (uint64_t address, uint index, Lanes lanes)
{
  [[unroll]] for (uint i = 0; i < QUADS; i++)
    FloatLanesOut (address).v[index * QUADS + i] = lanes.q[i];
}

/* Stores the sum of `lanes` and the present values. */
void
lanes_store_sum (uint64_t address, uint index, Lanes lanes)
{
  Lanes old = lanes_load (address, index);
  [[unroll]] for (uint i = 0; i < QUADS; i++)
    lanes.q[i] += old.q[i];
  lanes_store (address, index, lanes);
}

/* parts[0] becomes the sum of parts[LOCAL_X], in a fixed order; all invocations of the workgroup
 * must call it. */
#define LANES_SUM(parts)                                             \
  for (uint n_parts = LOCAL_X; n_parts > 1;)                         \
    {                                                                \
      const uint half_parts = (n_parts + 1) / 2;                     \
      barrier ();                                                    \
      if (gl_LocalInvocationIndex < n_parts - half_parts)            \
        parts[gl_LocalInvocationIndex] += parts[gl_LocalInvocationIndex + half_parts]; \
      n_parts = half_parts;                                          \
    }                                                                \
  barrier ();

#endif
