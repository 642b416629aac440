/* SPDX-License-Identifier: MIT */
/* Random numbers from counters, the same in C and in GLSL: a value depends only on
 * (seed, step, micro step, stream, index), so that a backward pass draws the same values as the
 * forward pass.  The mixer is Wellons' "lowbias32". */
#ifndef DYNO_SHARED_RANDOM_H
#define DYNO_SHARED_RANDOM_H
#include "compat.h"

#ifdef GL_core_profile
#define DYNO_RANDOM_FUNCTION
#else
#define DYNO_RANDOM_FUNCTION static inline
#endif

/* streams below this number belong to ops, by their index in the graph */
#define DYNO_RANDOM_STREAM_NOISE  0x80000000u
#define DYNO_RANDOM_STREAM_TARGET 0x80000001u
#define DYNO_RANDOM_STREAM_MIX    0x80000002u
/* draws from the seed of a sample; the sample's flip uses the seed itself */
#define DYNO_RANDOM_DRAW_BRIGHTNESS    1u
#define DYNO_RANDOM_DRAW_CONTRAST      2u
#define DYNO_RANDOM_DRAW_SATURATION    3u
#define DYNO_RANDOM_DRAW_HUE           4u
#define DYNO_RANDOM_DRAW_FLIP_VERTICAL 5u
#define DYNO_RANDOM_DRAW_ROTATE        6u
#define DYNO_RANDOM_DRAW_SHIFT         7u /* x; y uses 8 */
#define DYNO_RANDOM_DRAW_TIME_MASK     9u /* length; the first step uses 10 */
#define DYNO_RANDOM_DRAW_ERASE         11u
#define DYNO_RANDOM_DRAW_NOISE         12u /* the key of a sample's noise */
/* four draws for each of ten tries: area, ratio, x, y */
#define DYNO_RANDOM_DRAW_CROP_WINDOW  64u
#define DYNO_RANDOM_DRAW_ERASE_WINDOW 128u
#define DYNO_RANDOM_WINDOW_TRIES      10u

DYNO_RANDOM_FUNCTION uint32_t
dyno_random_mix (uint32_t x)
{
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  x ^= x >> 16;
  return x;
}

DYNO_RANDOM_FUNCTION uint32_t
dyno_random_key (uint32_t seed_low, uint32_t seed_high, uint32_t step, uint32_t micro_step,
                 uint32_t stream)
{
  uint32_t key = dyno_random_mix (seed_low + 0x9e3779b9u);
  key = dyno_random_mix (key ^ (seed_high + 0x7f4a7c15u));
  key = dyno_random_mix (key + step);
  key = dyno_random_mix (key ^ (micro_step * 0x9e3779b9u + stream));
  return key;
}

DYNO_RANDOM_FUNCTION uint32_t
dyno_random_at (uint32_t key, uint32_t index)
{
  return dyno_random_mix (key ^ dyno_random_mix (index * 0x9e3779b9u + 0x85ebca6bu));
}
#endif
