/* SPDX-License-Identifier: MIT */
/* Words: the 16 bytes of an access as they lie in memory, so that many loads wait in few registers; unpacked where they are used.
 * Include after lanes.glsl, whose access it is. */
#ifndef DYNO_BATCHNORM_WORDS_GLSL
#define DYNO_BATCHNORM_WORDS_GLSL

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

#endif
